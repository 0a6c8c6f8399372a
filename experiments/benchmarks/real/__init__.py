"""A benchmark of real ratings with known truth: error and coverage of every method."""
