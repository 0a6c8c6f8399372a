"""Simulation-based calibration of every model, and its results."""
