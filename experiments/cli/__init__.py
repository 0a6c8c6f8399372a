"""The `lehner` command: a file for each subcommand."""
