"""Simulation studies: every method on the same data, nothing is lost and nothing repeated."""

from experiments.study.definition import read_study
from experiments.study.performance import compare_methods, measure
from experiments.study.run import read_results, run_study

__all__ = ["compare_methods", "measure", "read_results", "read_study", "run_study"]
