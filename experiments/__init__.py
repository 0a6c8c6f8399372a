"""Methods side by side: the registry, studies, comparisons, figures and the `lehner` command."""
