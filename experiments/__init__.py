"""Methods side by side: the registry, comparisons, figures and the `lehner` command."""
