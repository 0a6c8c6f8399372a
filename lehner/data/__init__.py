"""Ratings: reading, checking and collapsing them."""
