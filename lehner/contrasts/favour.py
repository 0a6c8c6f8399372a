"""Whether one of several raters favours a group of items, by the others and by gold labels."""

from collections.abc import Sequence

import numpy as np

from lehner.contrasts.groups import UNLIKELY
from lehner.core.arrays import Booleans, Floats, Integers, make_rng
from lehner.core.errors import Warning, list_few, warn
from lehner.core.estimate import IntervalEstimate, Row, row
from lehner.core.lazy import stats
from lehner.core.text import to_decimal, write_p
from lehner.data.ratings import Ratings
from lehner.dependence.score_test import adjust_by_holm
from lehner.known_truths.one_judge import count_judged, join_categories

# A rater of less than this share of the items is left out; so many others must remain.
LEAST_RATED, FEWEST_RATERS, MOST_RATERS = 0.5, 3, 30
# So often a rater must be expected to differ from others in a group, and in all other groups.
FEWEST_DIFFERENT = 5
DRAWS, TIED = 10_000, 1e-9
BLOCKS, STEPS, DOUBT, MOST_NAMED = 50, 100, 3.0, 4


def find_favours(
    ratings: Ratings, good: Sequence[int], label: str, level: float = 0.9
) -> tuple[list[Row], list[Warning]]:
    """Test whether a rater calls items of one group good more, or less, often than the others do.

    The rate at which a rater calls the items of a group good is compared with what the answers of
    the others to the same items let expect, and the difference with that in all other groups.

    Parameters
    ----------
    ratings : Ratings
        With populations, which are the groups.
    good : sequence of int
        Codes of the categories that are good.
    label : str
        What these are called.
    level : float
        Probability of the intervals.

    Returns
    -------
    rows : list of dict
        The difference of each rater and group, its interval, and its p-value, adjusted for the
        number of tests by Holm's method. None with fewer than three raters of most items.
    warnings : list of Warning
        Of p-values up to 0.05, of each group that of the rater who differs most.

    Notes
    -----
    A rater who is more accurate than others calls more items good than they do where more items are
    good. The mean of the others is therefore multiplied by how much more the rater's answers tell
    of the truth than theirs, which covariances within groups show: a factor analysis with one
    factor. In simulations in which errors of raters are correlated, this number's distance to 1 had
    to be up to 2.4 times as large; 3 times what it changes is therefore added to the standard
    error, which is that of a jackknife over blocks of clusters (Shao & Tu 1995, The Jackknife and
    Bootstrap, chapter 2).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> votes = (rng.random((400, 3)) < 0.2) ^ (rng.random(400) < 0.5)[:, None]
    >>> votes[:200, 0] |= rng.random(200) < 0.4
    >>> ratings = Ratings(votes.astype(int), ["bad", "good"], raters=["Ann", "Bo", "Cy"])
    >>> ratings = ratings.with_populations(["x"] * 200 + ["y"] * 200)
    >>> rows, (warning,) = find_favours(ratings, [1], "good")
    >>> warning.text.partition(" by ")[0]
    'Ann calls items of x good more often than the other raters let expect,'
    """
    n_groups, flat = len(ratings.populations), ratings.votes
    codes = np.full((ratings.n_rows, ratings.n_raters), -1)
    codes[flat.item_index, flat.rater_index] = flat.category_index
    raters = np.flatnonzero(ratings.weights @ (codes >= 0) >= LEAST_RATED * ratings.n_items)
    if ratings.anonymous or n_groups < 2 or not FEWEST_RATERS <= len(raters) <= MOST_RATERS:
        return [], []
    group, codes = np.asarray(ratings.population), codes[:, raters]
    items = np.repeat(np.arange(ratings.n_rows), ratings.weights * (codes >= 0).all(axis=1))
    if not items.size:  # No item was rated by all of them.
        return [], []
    items = items[np.argsort(group[items], kind="stable")]
    called, group = np.isin(codes[items], good).astype(float), group[items]
    unit = np.arange(len(items)) if ratings.cluster is None else ratings.cluster[items]
    found, error, freedom, tested = _test_groups(called, group, n_groups, unit)
    rows = []
    for g, j in tested:
        half = stats.t.ppf((1 + level) / 2, freedom[g]) * error[g, j]
        ends = found[g, j] - half, found[g, j] + half
        value = IntervalEstimate(found[g, j], *ends, level, "jackknife")
        columns = {"rater": ratings.raters[raters[j]], "group": ratings.populations[g]}
        columns["n_items"] = int((group == g).sum())
        columns["probability"] = float(2 * stats.t.sf(abs(found[g, j]) / error[g, j], freedom[g]))
        rows.append(row("favour", value, category=label, grouping="group", **columns))
    return _adjust(rows, "the other raters")


def find_favours_by_truths(
    ratings: Ratings, good: Sequence[int], label: str, level: float = 0.9, *, seed: int = 1
) -> tuple[list[Row], list[Warning]]:
    """Test by gold labels whether a rater calls items of one group good more, or less, often.

    Items of one group are compared with those of all others that have the same truth, good or not.
    The difference is weighted by how often each truth occurs among the group's labelled items.

    Parameters
    ----------
    ratings, good, label, level
        As `find_favours` takes them; some items have gold labels.

    Returns
    -------
    rows : list of dict
        As those of `find_favours`, with Agresti and Caffo's intervals
        (https://doi.org/10.1080/00031305.2000.10474560) and an exact test: how often as large a
        difference is drawn among tables with the same margins. None of anonymous raters, or many.
    warnings : list of Warning

    Examples
    --------
    >>> ratings = Ratings([[1, 0]] * 30 + [[0, 0]] * 30, ["bad", "good"], truth=[0] * 60)
    >>> ratings = ratings.with_populations(["x"] * 30 + ["y"] * 30)
    >>> rows, _ = find_favours_by_truths(ratings, [1], "good")
    >>> [(row["rater"], row["estimate"], round(row["probability"], 3)) for row in rows]
    [('1', 1.0, 0.0), ('2', 0.0, 1.0)]
    """
    n_groups, is_good = len(ratings.populations), np.isin(np.arange(ratings.n_categories), good)
    if ratings.anonymous or n_groups < 2 or ratings.n_raters > MOST_RATERS:
        return [], []
    rows = []
    for rater in ratings.raters:
        labels = _count_labels(ratings, rater, is_good, level)
        # Of two groups, the second has the first's difference with another sign.
        for g in range(n_groups if n_groups > 2 else 1):
            tables = np.rint([labels[g], labels.sum(axis=0) - labels[g]])
            n, called = tables.sum(axis=2), tables[..., 1]
            comparable = (n > 0).all(axis=0)
            if not comparable.any():
                continue
            share = np.where(comparable, n[0], 0) / n[0, comparable].sum()
            found = float(_subtract(called[0], called.sum(axis=0), n) @ share)
            near = (called + 1) / (n + 2)
            error = np.sqrt((near * (1 - near) / (n + 2)).sum(axis=0) @ share**2)
            every, size = called.sum(axis=0).astype(int), n.astype(int)
            rest = size.sum(axis=0) - every
            drawn = make_rng(seed).hypergeometric(every, rest, size[0], (DRAWS, len(share)))
            distances = np.abs(_subtract(drawn.astype(float), every, n) @ share)
            by_chance = distances >= abs(found) - TIED
            half = stats.norm.ppf((1 + level) / 2) * error
            ends = float(max(found - half, -1.0)), float(min(found + half, 1.0))
            value = IntervalEstimate(found, *ends, level, "Agresti-Caffo")
            columns: Row = {"rater": rater, "group": ratings.populations[g]}
            columns["n_items"] = float(n[0].sum())
            columns["probability"] = float((1 + by_chance.sum()) / (1 + DRAWS))
            rows.append(row("favour_by_truths", value, category=label, grouping="group", **columns))
    return _adjust(rows, "the gold labels")


def _subtract(called: Floats, every: Floats, n: Floats) -> Floats:
    """Subtract the rate elsewhere from that in a group, of what is called good in both."""
    return called / np.maximum(n[0], 1) - (every - called) / np.maximum(n[1], 1)


def _count_labels(ratings: Ratings, rater: str, good: Booleans, level: float) -> Floats:
    """Count labelled items by group, whether they are good, and whether a rater says so."""
    entries = ratings.entries.take_raters(np.array([ratings.raters.index(rater)]))
    alone = ratings.replace(entries=entries, raters=(rater,))
    rated = (np.asarray(alone.truth) >= 0) & alone.count_votes().any(axis=1)
    if not alone.weights[rated].any():
        return np.zeros((len(ratings.populations), 2, 2))
    items = count_judged(alone, level)
    items.labels[..., -1] = 0  # No answer favours no group.
    return join_categories(items, good)[1]


def _test_groups(
    called: Floats, group: Integers, n_groups: int, unit: Integers
) -> tuple[Floats, Floats, Integers, list[list[int]]]:
    """Give differences by group and rater, their standard errors, and which are tested."""
    sizes, _, _ = totals = _sum_blocks(called, group, n_groups, unit)
    found, corrected = _contrast(*(total.sum(axis=0) for total in totals))
    without, _ = _contrast(*(total.sum(axis=0) - total for total in totals))
    variance = ((without - without.mean(axis=0)) ** 2).mean(axis=0) * (len(without) - 1)
    error = np.sqrt(variance + (DOUBT * corrected) ** 2)
    elsewhere = sizes.sum(axis=1, keepdims=True) - sizes
    freedom = np.minimum((sizes > 0).sum(axis=0), (elsewhere > 0).sum(axis=0)) - 1
    by_rest = (called.sum(axis=1, keepdims=True) - called) / (called.shape[1] - 1)
    fewest = np.minimum(sizes.sum(axis=0), elsewhere.sum(axis=0))
    enough = np.outer(fewest, (called != by_rest).mean(axis=0)) >= FEWEST_DIFFERENT
    tested = np.argwhere(enough & (error > 0) & (freedom > 0)[:, None]).tolist()
    # Of two groups, the second has the first's difference with another sign.
    return found, error, freedom, [[g, j] for g, j in tested if n_groups > 2 or g == 0]


def _sum_blocks(
    called: Floats, group: Integers, n_groups: int, unit: Integers
) -> tuple[Floats, Floats, Floats]:
    """Sum up items, answers and their products by block of whole clusters (and by group)."""
    _, first, unit = np.unique(unit, return_index=True, return_inverse=True)
    block, n_blocks = np.argsort(np.argsort(first))[unit] % BLOCKS, min(BLOCKS, len(first))
    sizes = np.zeros((n_blocks, n_groups))
    sums = np.zeros((n_blocks, n_groups, called.shape[1]))
    np.add.at(sizes, (block, group), 1)
    np.add.at(sums, (block, group), called)
    products = [called[block == b].T @ called[block == b] for b in range(n_blocks)]
    return sizes, sums, np.array(products)


def _contrast(sizes: Floats, sums: Floats, products: Floats) -> tuple[Floats, Floats]:
    """Compute by how much raters differ from the others in each group, less than elsewhere.

    Returns
    -------
    differences : ndarray, shape (..., n_groups, n_raters)
    corrected : ndarray, shape (..., n_groups, n_raters)
        How much of each the factor of the others' mean makes.
    """
    n_raters = sums.shape[-1]
    with np.errstate(all="ignore"):
        within = np.einsum("...gj,...gk->...jk", sums / sizes[..., None], sums)
        covariance = (products - within) * (1 - np.eye(n_raters))
        slopes = np.ones(covariance.shape[:-1])
        for _ in range(STEPS):
            squares = (slopes**2).sum(axis=-1, keepdims=True) - slopes**2
            fitted = np.einsum("...jk,...k->...j", covariance, slopes) / squares
            slopes += fitted / fitted.mean(axis=-1, keepdims=True)
            slopes /= slopes.mean(axis=-1, keepdims=True)
        factor = slopes * (n_raters - 1) / (slopes.sum(axis=-1, keepdims=True) - slopes)
        elsewhere = sums.sum(axis=-2, keepdims=True) - sums
        n_elsewhere = sizes.sum(axis=-1, keepdims=True) - sizes
        rates = sums / sizes[..., None] - elsewhere / n_elsewhere[..., None]
    by_others = (rates.sum(axis=-1, keepdims=True) - rates) / (n_raters - 1)
    part = (factor[..., None, :] - 1) * by_others
    return rates - by_others - part, part


def _adjust(rows: Sequence[Row], by: str) -> tuple[list[Row], list[Warning]]:
    """Adjust p-values, and warn of the rater who differs most in each group, if one is low."""
    p_values = {str(number): test["probability"] for number, test in enumerate(rows)}
    adjusted = adjust_by_holm(p_values)
    tests = [test | {"probability": adjusted[str(n)]} for n, test in enumerate(rows)]
    most: dict[str, Row] = {}
    for test in sorted(tests, key=lambda test: test["probability"]):
        if test["probability"] <= UNLIKELY:
            most.setdefault(test["group"], test)
    texts = [
        f"{test['rater']} calls items of {test['group']} {test['category']} "
        f"{'more' if test['estimate'] > 0 else 'less'} often than {by} let expect, by "
        f"{to_decimal(abs(test['estimate']), 2)} ({write_p(test['probability'])})"
        for test in most.values()
    ]
    return tests, [warn("rater-favours", list_few(texts, MOST_NAMED))] if texts else []
