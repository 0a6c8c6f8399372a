"""The `lehner` command as `python -m lehner`."""

from lehner.command.main import main

main()
