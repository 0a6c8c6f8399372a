"""The `lehner` command as `python -m experiments`."""

from experiments.cli.main import main

main()
