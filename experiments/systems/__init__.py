"""Comparisons of systems: their error and coverage by simulation."""
