"""Simulated crowds for labels: raters alike, apart, few ratings each, errors unequal or shared."""

import numpy as np

from lehner import Ratings, Scenario, simulate
from lehner.core.seeds import child_seeds

APART = (0.9, 0.6, 0.5, 0.5, 0.4)
SCENARIOS = {
    "alike": Scenario(n_categories=3, n_items=300, initial_rater_accuracy=(0.7,) * 5),
    "apart": Scenario(n_categories=4, n_items=300, initial_rater_accuracy=APART),
    "sparse crowd": Scenario(
        n_categories=4,
        n_items=600,
        initial_rater_accuracy=tuple(np.linspace(0.35, 0.95, 80).round(3).tolist()),
        missing=0.94,
    ),
    "unequal errors": Scenario(
        n_categories=4,
        n_items=500,
        initial_rater_accuracy=(0.6,) * 8,
        asymmetric_dispersion=4.0,
        proportional_error_range=0.9,
    ),
    "difficulty": Scenario(
        n_categories=3, n_items=400, initial_rater_accuracy=(0.65,) * 12, easiness=(-0.3, 0.0, 0.3)
    ),
    "copying": Scenario(
        n_categories=3,
        n_items=300,
        initial_rater_accuracy=(0.6, 0.7, 0.7, 0.7, 0.7),
        copying=(0.0, 0.7, 0.7, 0.0, 0.0),
    ),
    "copying, four raters": Scenario(
        n_categories=2,
        n_items=300,
        initial_rater_accuracy=(0.65, 0.75, 0.75, 0.8),
        copying=(0.0, 0.8, 0.0, 0.0),
    ),
    "copying, seven raters": Scenario(
        n_categories=4,
        n_items=200,
        initial_rater_accuracy=(0.55, 0.7, 0.7, 0.7, 0.7, 0.7, 0.6),
        copying=(0.0, 0.8, 0.5, 0.5, 0.0, 0.0, 0.0),
    ),
    "misleading items": Scenario(
        n_categories=2,
        n_items=400,
        initial_rater_accuracy=(0.75,) * 20,
        missing=0.5,
        misleading=0.1,
    ),
}
"""What breaks the models: each is right somewhere."""


def simulate_crowds(name: str, replicates: int, seed: int) -> list[Ratings]:
    """Simulate crowds.

    Parameters
    ----------
    name : str
        Among `SCENARIOS`.
    replicates : int
    seed : int

    Returns
    -------
    list of Ratings
        With truth, without a system.
    """
    seeds = child_seeds(seed, replicates)
    return [simulate(SCENARIOS[name], one).without_system() for one in seeds]
