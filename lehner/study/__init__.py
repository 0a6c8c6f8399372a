"""Simulation studies: every method on the same data, nothing is lost and nothing repeated."""

from lehner.study.definition import read_study
from lehner.study.performance import compare_methods, measure
from lehner.study.run import read_results, run_study

__all__ = ["compare_methods", "measure", "read_results", "read_study", "run_study"]
