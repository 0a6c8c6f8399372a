"""Simulation studies: every method on the same data, nothing is lost and nothing repeated."""

from lehner.study.performance import compare_methods, measure

__all__ = ["compare_methods", "measure"]
