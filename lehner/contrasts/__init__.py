"""Differences and ranks of groups of items, populations and systems."""
