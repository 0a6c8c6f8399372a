"""Base rates in populations of items, and the raters' accuracy, by methods that need no system."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from lehner.algebra.algebraic import credit_majority
from lehner.core.arrays import Floats, Seed, make_rng
from lehner.core.errors import Warning, warn
from lehner.core.estimate import Draws
from lehner.core.lazy import sparse, special
from lehner.core.text import list_few
from lehner.data.estimable import find_mean_widening, name_coords
from lehner.data.ratings import Ratings
from lehner.known_truths.one_judge import DRAWS, PSEUDO_ITEMS

# In a population of fewer items the prior counts much, and agreement is not tested.
FEW_ITEMS = 30
ROUNDING = 1e-9
# With a greater adjusted p-value the raters are not said to differ between populations.
UNLIKELY = 0.05


def group_by_majority(ratings: Ratings, *, level: float, seed: Seed = 1) -> Draws:
    """Take the majority of the raters for the truth; tied categories share the item.

    Parameters
    ----------
    ratings : Ratings
        With populations. Items without ratings are left out.
    level : float
        Probability of the intervals, on which the allowance for few clusters depends.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    Draws
        By group; draws are from Dirichlet distributions with Jeffreys' prior, as if the majority
        were never wrong.

    References
    ----------
    Brown, Cai & DasGupta (2001), https://doi.org/10.1214/ss/1009213286, for Jeffreys' interval.
    """
    rng, votes = make_rng(seed), ratings.count_votes()
    share = credit_majority(votes)
    counts = np.zeros((len(ratings.populations), ratings.n_categories))
    np.add.at(counts, np.asarray(ratings.population), share * ratings.weights[:, None])
    with np.errstate(invalid="ignore"):
        rates = counts / counts.sum(axis=1, keepdims=True)
    drawn = [rng.dirichlet(of_group + PSEUDO_ITEMS, size=DRAWS) for of_group in counts]
    draws = Draws(
        point={"base_rates": rates, "truth_probabilities": share},
        drawn={"base_rates": np.stack(drawn, axis=1)},
        coords=name_coords(ratings),
        kind="Jeffreys",
    )
    return allow_for_clusters(draws, ratings, level)


def allow_for_clusters(draws: Draws, ratings: Ratings, level: float) -> Draws:
    """Widen draws of base rates for clusters of items.

    The base rate of a category is the mean of its probabilities over items, whose design effect is
    the factor of the variance; see `lehner.core.resampling.design_effect`.

    Parameters
    ----------
    draws : Draws
        By group, with truth probabilities.
    ratings : Ratings
        With populations, and perhaps clusters.
    level : float
        Probability of the intervals, on which the allowance for few clusters depends.

    Returns
    -------
    Draws
    """
    if ratings.cluster is None:
        return draws
    drawn, truth = draws.drawn["base_rates"].copy(), draws.point["truth_probabilities"]
    for g, k in np.ndindex(drawn.shape[1:]):
        n_items = (ratings.weights * (ratings.population == g)).astype(float)
        factor = find_mean_widening(ratings, truth[:, k], n_items, level)
        mean = drawn[:, g, k].mean()
        drawn[:, g, k] = np.clip(mean + factor * (drawn[:, g, k] - mean), 0.0, 1.0)
    return replace(draws, drawn={**draws.drawn, "base_rates": drawn})


def warn_of_accuracy(ratings: Ratings, draws: Draws) -> Iterator[Warning]:
    """Warn of raters who are worse than chance, and of raters who differ between populations."""
    confusion, rates = draws.point.get("rater_confusion"), draws.point["base_rates"]
    if confusion is None or np.isnan(rates).any():
        return
    # A rater who guesses has equal rows, whose diagonal sums to 1.
    below = np.flatnonzero(np.trace(confusion, axis1=1, axis2=2) < 1)
    if below.size:
        names = list_few((ratings.raters[j] for j in below), 4)
        text = f"{names}: right less often than by guessing, as if categories were mixed up"
        yield warn("rater-below-chance", text)
    p_value, population = check_agreement(ratings, rates, confusion)
    if p_value <= UNLIKELY:
        text = (
            f"raters agree otherwise in {population} than the model expects, as if they were not "
            "as accurate there as elsewhere, which biases proportions and differences"
        )
        yield warn("raters-differ", text)


def check_agreement(ratings: Ratings, base_rates: Floats, confusion: Floats) -> tuple[float, str]:
    """Test whether raters agree in some population more or less often than a model expects.

    Parameters
    ----------
    ratings : Ratings
        With populations.
    base_rates : ndarray, shape (n_populations, n_categories)
    confusion : ndarray, shape (n_raters, n_categories, n_categories)

    Returns
    -------
    p_value : float
        Of the population in which agreement is farthest from what is expected, two-sided, adjusted
        by Bonferroni's method; 1 with one population. It is too large rather than too small,
        because the model was fitted to the same ratings.
    population : str
        Its name.
    """
    group, n, flat = np.asarray(ratings.population), len(ratings.populations), ratings.votes
    cells = (flat.item_index, flat.rater_index)
    rated = sparse.csr_array(
        (np.ones(len(flat.item_index)), cells), (ratings.n_rows, len(confusion))
    )
    expected = np.zeros(ratings.n_rows)
    for category, rates in enumerate(base_rates.T):
        response = confusion[:, category]
        by_category = np.asarray(rated @ response)
        alone = np.asarray(rated @ (response**2).sum(axis=1))
        expected += rates[group] * ((by_category**2).sum(axis=1) - alone) / 2
    votes = ratings.count_votes()
    pairs = votes.sum(axis=1) * (votes.sum(axis=1) - 1) / 2
    surplus = (votes * (votes - 1) / 2).sum(axis=1) - expected
    # What the model gets wrong in all populations alike is no difference between them.
    surplus -= pairs * (ratings.weights @ surplus) / max(float(ratings.weights @ pairs), 1.0)
    total, square, n_items = (
        np.bincount(group, ratings.weights * values, n)
        for values in (surplus, surplus**2, np.ones(len(surplus)))
    )
    variance = np.maximum(square - total**2 / n_items, ROUNDING)
    z = np.where(n_items < FEW_ITEMS, 0.0, np.abs(total) / np.sqrt(variance))
    p_value = min(1.0, 2 * n * float(special.ndtr(-z.max()))) if n > 1 else 1.0
    return p_value, ratings.populations[int(z.argmax())]
