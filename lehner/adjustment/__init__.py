"""Violations of the K-properties, fitted to the ratings, and estimates adjusted for them."""
