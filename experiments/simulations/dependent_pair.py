"""A pair of rater and system that is named as dependent: rightly, and wrongly, by simulation.

The system repeats the first rater's answer, right or wrong, on 35% of the items, or on none. All
errors are equally probable, and else raters are independent given the truth. Models are fitted with
the pair named; the fit without it is part of that.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from experiments.simulations.methods import LEVEL
from experiments.study.cells import result_row
from lehner import Ratings
from lehner.core.estimate import ESTIMANDS
from lehner.core.seeds import child_seeds

N_ITEMS = 200
COPIED = (0.35, 0.0)
MODELS = ("dawid_skene", "one_coin_by_rater")
FITTED: dict[str, Any] = {"chains": 2, "draws": 600, "tries": 1}
ACCURACY = (0.65, 0.75)
"""Of raters, and of the system where it does not copy: uniform around .7."""


def draw_copies(
    copied: float, n_raters: int, k: int, rng: np.random.Generator
) -> tuple[Ratings, float]:
    """Draw ratings with truths, and give the system's expected accuracy.

    Parameters
    ----------
    copied : float
        Share of the items on which the system repeats the first rater.
    n_raters, k : int
        Numbers of raters and categories.
    rng : numpy.random.Generator

    Returns
    -------
    ratings : Ratings
    accuracy : float
    """
    base_rates = rng.dirichlet(np.full(k, 4.0))
    truth = rng.choice(k, N_ITEMS, p=base_rates)
    accuracy = rng.uniform(*ACCURACY, n_raters + 1)
    shape = (N_ITEMS, n_raters + 1)
    wrong = (truth[:, None] + rng.integers(1, k, size=shape)) % k
    codes = np.where(rng.random(shape) < accuracy, truth[:, None], wrong)
    codes[:, -1] = np.where(rng.random(N_ITEMS) < copied, codes[:, 0], codes[:, -1])
    names = [str(one) for one in range(k)]
    expected = copied * accuracy[0] + (1 - copied) * accuracy[-1]
    return Ratings(codes[:, :-1], names, system=codes[:, -1], truth=truth), float(expected)


def estimate(seed: int, copied: float, raters: int, categories: int) -> Iterator[dict[str, Any]]:
    """Estimate the system's accuracies with the pair named and without."""
    import bayes_models
    from bayes_models.methods import fit_as_in_studies

    data, of_fit = child_seeds(seed, 2)
    ratings, expected = draw_copies(copied, raters, categories, np.random.default_rng(data))
    truths = (expected, float(np.mean(np.asarray(ratings.truth) == ratings.system)))
    pair = (ratings.raters[0], "system")
    named = ratings.with_truth(None).with_dependent_pair(pair)
    for model in MODELS:
        tree = fit_as_in_studies(model, named, int(of_fit.generate_state(1)[0]), **FITTED)
        found = bayes_models.estimate_from_draws(tree, level=LEVEL)
        without = found.diagnostics["dependent_pair"]["if_independent"]
        for estimand, value in zip(ESTIMANDS, truths, strict=True):
            columns = {"method": model, "quantity": estimand}
            yield result_row(value, getattr(found, estimand), **columns, named=True)
            yield result_row(value, without[estimand], **columns, named=False)
