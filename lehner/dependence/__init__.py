"""Raters who share mistakes: what ratings show of them, and what they do to an estimate."""
