"""The `lehner` command: its subcommands, their options, and how a run ends."""
