"""Simulation studies: every method on the same data, nothing is lost and nothing repeated."""

from lehner.study.performance import compare_methods, measure
from lehner.study.report import StudyResults
from lehner.study.study import Study

__all__ = ["Study", "StudyResults", "compare_methods", "measure"]
