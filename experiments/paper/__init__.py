"""Lehner (2015), reproduced: every printed number beside ours."""

from experiments.paper.numbers import replicate_paper
from experiments.paper.printed import FIGURES, PaperFigure, simulate_figure

__all__ = ["FIGURES", "PaperFigure", "replicate_paper", "simulate_figure"]
