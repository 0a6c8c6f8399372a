"""Whether the system may replace a rater: the alternative annotator test."""

from collections.abc import Sequence

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.lazy import special, stats
from lehner.core.rows import rows_of
from lehner.data.ratings import Ratings
from lehner.estimation.question import Answer, Fit, Options

EPSILONS = (0.1, 0.15, 0.2)
"""What raters may be better by, since a system costs less: for crowd workers, skilled raters and
experts, as the authors suggest."""
FEWEST_RATERS, FEWEST_ITEMS, FALSE_DISCOVERIES = 3, 30, 0.05


def ask_annotators(fits: Sequence[Fit], options: Options) -> Answer:
    """Test for each rater whether the system agrees with the others as well as this rater does.

    On each item the system and one rater are compared by how many of the other raters give the same
    answer. The advantage probability of the system is the proportion of the items on which it
    agrees with as many as the rater does, or more. The winning rate is the proportion of raters for
    whom a t-test, by the procedure of Benjamini and Yekutieli with a false discovery rate of .05,
    says that this probability is above that of the rater less ε. With .5 or more the system may
    replace a rater.

    Parameters
    ----------
    fits : sequence of Fit
        Of one system, whose ratings are used: of three raters or more, who are named.
    options : Options

    Yields
    ------
    dict
        `advantage_probability` and `advantage_difference` (the system's less the rater's, by
        Student's t) for each rater with 30 items or more; `advantage_probability_mean`, and
        `winning_rate` for each ε. Items are taken to be independent.

    References
    ----------
    Calderon, Reichart & Dror (2025), The alternative annotator test for LLM-as-a-judge,
    https://arxiv.org/abs/2501.10970, section 3.
    """
    ratings, level = fits[0].ratings, options.level
    if ratings.anonymous or ratings.n_raters < FEWEST_RATERS:
        return
    n, wins, difference, error = _compare(ratings)
    tested = np.flatnonzero(n >= FEWEST_ITEMS)
    if not tested.size:
        return
    n, wins, difference, error = n[tested], wins[tested], difference[tested], error[tested]
    half = special.stdtrit(n - 1, (1 + level) / 2) * error
    values = np.stack([difference, difference - half, difference + half], axis=-1)
    names = {"rater": [ratings.raters[j] for j in tested]}
    without_ends = np.pad(wins[:, None], ((0, 0), (0, 2)), constant_values=np.nan)
    yield from rows_of("advantage_probability", without_ends, names)
    yield from rows_of("advantage_difference", values, names, level=level, kind="Student")
    yield {"quantity": "advantage_probability_mean", "estimate": wins.mean()}
    for epsilon in EPSILONS:
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (-difference - epsilon) / error
        p_values = np.nan_to_num(special.stdtr(n - 1, t), nan=1.0)
        won = stats.false_discovery_control(p_values, method="by") <= FALSE_DISCOVERIES
        about = {"versus": f"epsilon={epsilon:g}", "estimate": won.mean()}
        yield {"quantity": "winning_rate"} | about


def _compare(ratings: Ratings) -> tuple[Floats, Floats, Floats, Floats]:
    """Number of items of each rater, the system's advantage, its difference and standard error."""
    flat, system, votes = ratings.flat, np.asarray(ratings.system), ratings.votes()
    item = flat.item_index
    used = (system[item] >= 0) & (votes[item].sum(axis=1) >= 2)
    item, rater, answer = item[used], flat.rater_index[used], flat.category_index[used]
    of_system = votes[item, system[item]] - (answer == system[item])
    of_rater = votes[item, answer] - 1
    ahead = np.sign(of_system - of_rater)

    def total(values: Floats) -> Floats:
        return np.bincount(rater, ratings.weights[item] * values, ratings.n_raters)

    n = total(np.ones(len(item)))
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = total(ahead) / n
        variance = (total(ahead**2) - n * difference**2) / (n - 1)
        return n, total(ahead >= 0) / n, difference, np.sqrt(np.maximum(variance, 0) / n)
