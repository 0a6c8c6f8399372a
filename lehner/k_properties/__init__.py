"""Tests of the K-properties, and what a violation does to the estimate."""
