"""Lehner (2015), reproduced: every printed number beside ours."""

from experiments.paper.numbers import FIGURES, PaperFigure, replicate_paper, simulate_figure

__all__ = ["FIGURES", "PaperFigure", "replicate_paper", "simulate_figure"]
