"""Lehner (2015), reproduced: every printed number and figure beside ours."""

from experiments.paper.figure_scenarios import FIGURES, PaperFigure, simulate_figure
from experiments.paper.replication import replicate_paper

__all__ = ["FIGURES", "PaperFigure", "replicate_paper", "simulate_figure"]
