"""Simulation studies: every method on the same simulated data, nothing lost, nothing repeated."""
