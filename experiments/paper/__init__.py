"""Lehner (2015), reproduced: every printed number beside ours."""

from experiments.paper.numbers import FIGURES, replicate_paper, simulate_figure

__all__ = ["FIGURES", "replicate_paper", "simulate_figure"]
