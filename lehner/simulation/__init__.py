"""Simulated ratings, and the estimate of each method in the limit of infinitely many items."""
