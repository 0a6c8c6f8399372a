"""Estimates of several methods side by side."""
