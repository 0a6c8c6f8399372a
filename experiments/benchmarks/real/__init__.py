"""A benchmark of real ratings with gold labels: error and coverage of every method."""
