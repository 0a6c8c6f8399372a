"""Checks for mistakes in data: an error if a mistake is certain, else a warning."""
