"""Scores of a system, as its probability of a category: how well they rank and how calibrated."""
