"""The system's confusion matrix by the algebra, in the sample and in resamples of the items."""

import numpy as np

from lehner.algebra.algebraic import first_steps
from lehner.algebra.system_confusion import confusion_from_truth
from lehner.core.arrays import Floats
from lehner.core.replicates import Parameters, Replicates
from lehner.core.seeds import Seed, generator
from lehner.data.ratings import Ratings
from lehner.data.votes import CollapsedVotes, collapse_votes

RESAMPLED_CELLS_AT_ONCE = 2_000_000


def algebraic_replicates(ratings: Ratings, *, resamples: int = 2000, seed: Seed = 1) -> Replicates:
    """Estimate base rates, rater accuracy and the system's confusion matrix, with resamples.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    resamples : int
        Number of bootstrap resamples of the items. In each of them two answers in each category are
        drawn from the matrix toward which the ridge shrinks, that is the ridge has this weight and
        its matrix has a Dirichlet distribution, so that intervals are wide for categories with few
        items, of which resamples would otherwise be too alike.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    Replicates
        The estimates and their resamples; NaN if raters agree at or below chance.
    """
    collapsed = collapse_votes(ratings)
    weights = collapsed.weights
    point = _estimate(collapsed, weights[None, :].astype(float), ratings.n_raters, None)
    rng = generator(seed)
    cells = len(collapsed.table.votes) * (ratings.n_categories + 1)
    size = max(1, RESAMPLED_CELLS_AT_ONCE // cells)
    parts = []
    for start in range(0, resamples, size):
        n = min(size, resamples - start)
        drawn = rng.multinomial(weights.sum(), weights / weights.sum(), size=n)
        parts.append(_estimate(collapsed, drawn.astype(float), ratings.n_raters, rng))
    return Replicates(
        point=Parameters(**{name: values[0] for name, values in vars(point).items()}),
        drawn=Parameters(
            **{name: np.concatenate([vars(part)[name] for part in parts]) for name in vars(point)}
        ),
        kind="percentile bootstrap",
    )


def _estimate(
    collapsed: CollapsedVotes, weights: Floats, n_raters: int, rng: np.random.Generator | None
) -> Parameters:
    counts = collapsed.counts(weights)
    steps = first_steps(collapsed.table, counts.sum(axis=-1))
    answers = counts[..., :-1]
    return Parameters(
        base_rates=steps.base_rates,
        confusion=confusion_from_truth(steps.truth, answers, rng),
        rater_accuracy=np.repeat(steps.accuracy[:, None], n_raters, axis=1),
    )
