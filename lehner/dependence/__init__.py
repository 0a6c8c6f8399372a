"""Correlated errors: what ratings show of them, and what they do to an estimate."""
