"""Judges of pairs of answers: both orders of presentation, and the bias towards a position."""
