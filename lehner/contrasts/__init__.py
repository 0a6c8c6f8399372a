"""Differences and ranks of whatever has names, and groups and systems, which have them."""
