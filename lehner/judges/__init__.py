"""Judges of pairs of answers: both orders of presentation, and position bias."""
