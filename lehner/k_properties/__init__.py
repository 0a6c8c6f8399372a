"""Tests of the K-properties."""
