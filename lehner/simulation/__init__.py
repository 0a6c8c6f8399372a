"""Simulated ratings, and the exact value of each method with ever more of them."""
