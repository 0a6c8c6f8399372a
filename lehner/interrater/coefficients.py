"""Coefficients of agreement with their sampling errors, each linearised in the items.

All but Krippendorff's are (observed − chance) / (1 − chance) with the same observed
agreement, the mean over items with two or more raters, and differ in their chance agreement. Items
with one rating count towards how often categories occur (Gwet 2014, chapter 2).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.errors import InputError, Warning, compose, find, list_few, make_error, warn
from lehner.core.estimate import Row, number
from lehner.core.lazy import special
from lehner.core.text import to_percent, with_interval
from lehner.data.checks import FEW_RATINGS, FEWEST_TO_JUDGE, MOST_NAMED
from lehner.data.columns import Label, to_numbers
from lehner.data.ratings import Ratings
from lehner.data.reading import to_names
from lehner.interrater.votes import (
    STANDS_FOR_0,
    ItemVotes,
    Linearised,
    correct_for_chance,
    count_votes,
    standard_error,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class AgreementWeights:
    """Weights of pairs of categories.

    Parameters
    ----------
    name : str
        A key of `WEIGHTS`, or the measure of the similarity of sets.
    matrix : ndarray of float, shape (n_categories, n_categories)
        Symmetric, between 0 and 1; 1 on the diagonal.
    """

    name: str
    matrix: Floats


def _distance(x: Floats) -> Floats:
    return np.asarray(np.abs(x[:, None] - x))


def _ratio(x: Floats) -> Floats:
    total = x[:, None] + x
    return np.divide(_distance(x), total, out=np.zeros_like(total), where=total > 0) ** 2


type Scale = Literal["names", "position", "value"]

# Disagreement, up to a factor, and its argument: the positions of the categories, or their values.
# `nominal` is Krippendorff's name for `identity`. `linear` and `quadratic` are Cohen's (1968),
# `ordinal` is that of Gwet (2014, chapter 3), `interval` and `ratio` are Krippendorff's (2011).
# R's irrCAC uses weights by value if categories are numbers.
WEIGHTS: dict[str, tuple[Callable[[Floats], Floats], Scale]] = {
    **dict.fromkeys(("identity", "nominal"), (lambda x: (_distance(x) > 0).astype(float), "names")),
    "linear": (_distance, "position"),
    "quadratic": (lambda x: _distance(x) ** 2, "position"),
    "ordinal": (lambda x: _distance(x) * (_distance(x) + 1), "position"),
    "linear_by_value": (_distance, "value"),
    "interval": (lambda x: _distance(x) ** 2, "value"),
    "ratio": (_ratio, "value"),
}
# Weights of names, two words for the same.
BY_NAME = frozenset({"identity", "nominal"})
BY_VALUE = {"linear": "linear_by_value", "quadratic": "interval"}


def find_weights(weights: str, categories: Sequence[Label], *, ordered: bool) -> AgreementWeights:
    """Find agreement weights by name.

    Parameters
    ----------
    weights : str
        A key of `WEIGHTS`.
    categories : sequence of str or int
    ordered : bool
        Whether the order of the categories is meaningful.

    Returns
    -------
    AgreementWeights

    Raises
    ------
    InputError
        If there are no such weights, or if they depend on the order of categories without order, or
        on values of categories that are not numbers.

    References
    ----------
    Cohen (1968), Psychological Bulletin 70(4), 213-220. Gwet (2014), Handbook of Inter-Rater
    Reliability, 4th edition, chapter 3. Krippendorff (2011), Computing Krippendorff's
    Alpha-Reliability.

    Examples
    --------
    >>> find_weights("quadratic", [1, 2, 4], ordered=True).matrix.tolist()
    [[1.0, 0.75, 0.0], [0.75, 1.0, 0.75], [0.0, 0.75, 1.0]]
    >>> find_weights("interval", [1, 2, 4], ordered=True).matrix.round(3).tolist()
    [[1.0, 0.889, 0.0], [0.889, 1.0, 0.556], [0.0, 0.556, 1.0]]
    """
    if not isinstance(weights, str):
        raise make_error("weights", weights, f"choose among {', '.join(WEIGHTS)}")
    disagreement, scale = find("kind of weights", weights, WEIGHTS)
    x = np.arange(len(categories), dtype=float)
    if scale == "position":
        _require_order(weights, categories, ordered=ordered)
    if scale == "value":
        x = _require_numbers(weights, categories)
    disagreements = disagreement(x)
    return AgreementWeights(
        name=weights, matrix=1 - disagreements / max(disagreements.max(initial=0), 1e-300)
    )


def name_weights(kind: AgreementWeights) -> str:
    """Name weights as the table of results does: those of names only are empty."""
    return "" if kind.name in BY_NAME else kind.name


def note_weights(
    weights: Sequence[AgreementWeights], categories: Sequence[Label]
) -> Iterator[Warning]:
    """Tell which weights depend on positions although categories are unequally spaced numbers.

    Parameters
    ----------
    weights : sequence of AgreementWeights
        All that are used.
    categories : sequence of str or int
        In order.

    Yields
    ------
    Warning
        About these weights.
    """
    numbers = to_numbers(categories)
    names = [kind.name for kind in weights if kind.name in BY_VALUE]
    if names and numbers and len(numbers) > 2 and np.ptp(np.diff(numbers)) >= 1e-9:
        text = f"{', '.join(names)} weights depend on the order of the categories, not on their "
        text += "values, which are not equally spaced; weights by value are "
        yield warn("weights-by-position", text + ", ".join(BY_VALUE[name] for name in names))


def _require_order(weights: str, categories: Sequence[Label], *, ordered: bool) -> None:
    if not ordered and to_numbers(categories) is None:
        problem = f"weights {weights!r} need ordered categories, and it is not known that "
        problem += f"{', '.join(map(str, categories))} is their order"
        remedy = compose(
            "give all categories in order ({categories}) and say that they are ordered "
            "({ordered=True})"
        )
        raise InputError(problem, remedy)


def _require_numbers(weights: str, categories: Sequence[Label]) -> Floats:
    numbers, listed = to_numbers(categories), ", ".join(map(str, categories))
    need, remedy = f"weights {weights!r} need", "choose other weights"
    if numbers is None:
        raise InputError(f"{need} categories that are numbers, and these are {listed}", remedy)
    if len(set(numbers)) < len(numbers):
        remedy = "choose weights by position, or make categories of equal value one"
        raise InputError(f"{need} different numbers, and these are {listed}", remedy)
    if weights == "ratio" and min(numbers) < 0:
        problem = f"{need} numbers from 0 up, and the least is {min(numbers):g}"
        raise InputError(problem, remedy)
    return np.array(numbers)


def find_all_weights(
    weights: Any, categories: Sequence[Label], *, ordered: bool
) -> tuple[AgreementWeights, ...]:
    """Find one or several agreement weights.

    Parameters
    ----------
    weights : str, sequence of str, or None
        As in `find_weights`, or several names. None means identity and, if the categories are
        ordered, linear, quadratic and ordinal.
    categories : sequence of str or int
    ordered : bool

    Returns
    -------
    tuple of AgreementWeights

    Examples
    --------
    >>> [kind.name for kind in find_all_weights(None, ["low", "high"], ordered=True)]
    ['identity', 'linear', 'quadratic', 'ordinal']
    """
    if weights is None:
        weights = ["identity", *(["linear", "quadratic", "ordinal"] if ordered else [])]
    kinds = list(weights) if isinstance(weights, list | tuple) else [weights]
    if not kinds:
        raise InputError("there are no weights", f"choose among {', '.join(WEIGHTS)}")
    return tuple(find_weights(kind, categories, ordered=ordered) for kind in kinds)


PRINTED_NAMES = {
    "brennan_prediger_kappa": "Brennan and Prediger’s κ",
    "cohen_kappa": "Cohen’s κ",
    "fleiss_kappa": "Fleiss’ κ",
    "gwet_ac1": "Gwet’s AC1",
    "gwet_ac2": "Gwet’s AC2",
    "krippendorff_alpha": "Krippendorff’s α",
    "percent_agreement": "percent agreement",
    "scott_pi": "Scott’s π",
}
PROPORTION = "percent_agreement"
# How intervals of coefficients are made.
INTERVAL = "Student"
NO_PAIRS = "undefined: no item was rated by two raters"
ONE_CATEGORY = "undefined: there is one category"
NOTHING_VARIES = "undefined: chance agreement is 1, because nothing varies"


def name_coefficient(name: str, category: str = "") -> str:
    """Name of a coefficient as people write it.

    Examples
    --------
    >>> name_coefficient("krippendorff_alpha"), name_coefficient("fleiss_kappa", "yes")
    ('Krippendorff’s α', 'Fleiss’ κ [yes]')
    """
    printed = PRINTED_NAMES.get(name, name)
    return f"{printed} [{category}]" if category else printed


def choose_coefficients(every: Iterable[Row], names: str | Sequence[str] | None) -> tuple[Row, ...]:
    """Choose coefficients by their names, under each of the weights in the order of the names.

    Parameters
    ----------
    every : iterable of dict
        As `compute_coefficient` gives them.
    names : str or sequence of str, optional
        As "fleiss_kappa" and "fleiss_kappa[category]", or a word that no other name has, as
        "alpha". By default all.

    Returns
    -------
    tuple of dict

    Raises
    ------
    InputError
        If there is no coefficient of one of the names; the error lists those that there are.
    """
    every = tuple(every)
    if names is None:
        return every
    by_key = {(_name_whole(row), row["weights"]): row for row in every}
    whole = list(dict.fromkeys(name for name, _ in by_key))
    words = [(word, name) for name in whole if "[" not in name for word in name.split("_")]
    times = Counter(word for word, _ in words)
    full_name = {word: name for word, name in words if times[word] == 1}
    full_name |= {name: name for name in whole}
    selected = []
    for name in to_names(names):
        key = full_name.get(name) or full_name.get(name.lower())
        if key is None:
            remedy = f"choose among {', '.join(whole)}"
            raise InputError(f"there is no coefficient {name!r}", remedy)
        selected.append(key)
    weights = dict.fromkeys(kind for _, kind in by_key)
    wanted = ((name, kind) for kind in weights for name in dict.fromkeys(selected))
    return tuple(by_key[key] for key in wanted if key in by_key)


def _name_whole(row: Row) -> str:
    category = f"[{row['category']}]" if row["category"] else ""
    return f"{row['quantity']}{category}"


def percent_agreement(items: ItemVotes, weights: AgreementWeights) -> Linearised:
    """Average, over items, the agreement of two of their raters drawn at random.

    Parameters
    ----------
    items : ItemVotes
        At least one rated by two raters.
    weights : AgreementWeights

    Returns
    -------
    Linearised
    """
    paired = items.n_raters > 1
    pairs = np.where(paired, items.n_raters * (items.n_raters - 1), 1)
    agreement = items.sum_pairs(weights.matrix) / pairs
    value = items.weights[paired] @ agreement[paired] / items.n_paired
    influence = np.where(paired, agreement - value, 0) * items.n_items / items.n_paired
    return Linearised(value=value, influence=influence)


def brennan_prediger_kappa(items: ItemVotes, weights: AgreementWeights) -> Linearised:
    """Correct for raters who choose every category equally often (Brennan & Prediger 1981)."""
    chance = Linearised(value=weights.matrix.mean(), influence=np.zeros_like(items.weights))
    return correct_for_chance(percent_agreement(items, weights), chance)


def fleiss_kappa(items: ItemVotes, weights: AgreementWeights) -> Linearised:
    """Correct for raters who choose categories with the frequencies of all raters (Fleiss 1971).

    For two raters of all items it is Scott's (1955) pi.
    """
    shares, prevalence = _find_prevalence(items)
    value = prevalence @ weights.matrix @ prevalence
    chance = Linearised(value=value, influence=2 * (shares @ weights.matrix @ prevalence - value))
    return correct_for_chance(percent_agreement(items, weights), chance)


def _gwet_ac(items: ItemVotes, weights: AgreementWeights) -> Linearised:
    """Correct for raters who choose at random on some items (Gwet 2008): AC1, weighted AC2."""
    shares, prevalence = _find_prevalence(items)
    scale = weights.matrix.sum() / (items.n_categories * (items.n_categories - 1))
    influence = scale * ((shares - prevalence) @ (1 - 2 * prevalence))
    chance = Linearised(scale * (prevalence @ (1 - prevalence)), influence)
    return correct_for_chance(percent_agreement(items, weights), chance)


def _find_prevalence(items: ItemVotes) -> tuple[Floats, Floats]:
    """Find how often each category is chosen on each item, and on average."""
    shares = items.votes / items.n_raters[:, None]
    return shares, items.weights @ shares / items.n_items


def conger_kappa(items: ItemVotes, weights: AgreementWeights) -> Linearised:
    """Correct for raters who each choose categories with their own frequencies (Conger 1980).

    For two raters of all items it is Cohen's kappa.
    """
    row, category = items.ratings.item_index, items.ratings.category_index
    raters, rater = np.unique(items.ratings.rater_index, return_inverse=True)
    cell = rater * items.n_categories + category
    size = len(raters) * items.n_categories
    weighted = items.fraction * items.weights[row]
    margins = np.bincount(cell, weights=weighted, minlength=size).reshape(len(raters), -1)
    n_rated = margins.sum(axis=1)
    margins /= n_rated[:, None]
    expected = (margins.sum(axis=0) - margins) @ weights.matrix
    pairs = len(raters) * (len(raters) - 1)
    gain = (expected - (margins * expected).sum(axis=1, keepdims=True)) / n_rated[:, None]
    moved = items.fraction * gain[rater, category]
    influence = np.bincount(row, moved, len(items.weights)) * 2 * items.n_items / pairs
    chance = Linearised((margins * expected).sum() / pairs, influence)
    return correct_for_chance(percent_agreement(items, weights), chance)


def krippendorff_alpha(items: ItemVotes, weights: AgreementWeights) -> Linearised:
    """Compare observed with expected disagreement of pairs of ratings (Krippendorff 2011).

    Items with one rating are left out; the others are weighted by their number of ratings.

    Parameters
    ----------
    items : ItemVotes
        At least one rated by two raters.
    weights : AgreementWeights
        The squared difference function is 1 minus the weights. For ordinal weights it is
        Krippendorff's function of the differences between mean ranks, which depend on the ratings.

    Returns
    -------
    Linearised
    """
    pairable = items.n_raters > 1
    paired = items.select_rows(pairable)
    n_votes = paired.weights @ paired.n_raters
    prevalence = paired.weights @ paired.votes / n_votes
    pull_observed = pull_expected = np.zeros(items.n_categories)
    disagreement = 1 - weights.matrix
    if weights.name == "ordinal":
        below = np.tri(items.n_categories, k=-1) + np.eye(items.n_categories) / 2
        rank = below @ prevalence
        disagreement = (rank[:, None] - rank) ** 2
        pull_observed = 4 * (prevalence * rank - _sum_partners(paired, rank) / n_votes) @ below
        pull_expected = 4 * (prevalence * (rank - prevalence @ rank)) @ below
    observed = paired.sum_pairs(disagreement) / (paired.n_raters - 1)
    mean_observed = paired.weights @ observed / n_votes
    expected = disagreement @ prevalence
    mean_expected = prevalence @ expected
    scale = items.n_items / n_votes
    moved = observed - mean_observed * paired.n_raters + paired.votes @ pull_observed
    agreement = Linearised(1 - mean_observed, -moved * scale)
    moved = 2 * (paired.votes @ expected - mean_expected * paired.n_raters)
    moved += paired.votes @ pull_expected
    pooled = correct_for_chance(agreement, Linearised(1 - mean_expected, -moved * scale))
    # Expected pairs are drawn without replacement: the second vote is one of N − 1.
    left = 1 - 1 / n_votes
    moved_left = paired.n_raters * scale / n_votes
    influence = np.zeros(len(pairable))
    influence[pairable] = pooled.influence * left - (1 - pooled.value) * moved_left
    return Linearised(1 - (1 - pooled.value) * left, influence, pooled.chance)


def _sum_partners(paired: ItemVotes, rank: Floats) -> Floats:
    """Sum, for each category, the ranks of the votes with which its votes are paired."""
    weights = paired.weights / (paired.n_raters - 1)
    with_category = np.eye(paired.n_categories)[:, :, None] * rank
    return np.array([weights @ paired.sum_pairs(matrix) for matrix in with_category])


# Coefficients by name. Cohen's kappa and Scott's pi use what both raters rated.
STATISTICS: dict[str, Callable[[ItemVotes, AgreementWeights], Linearised]] = {
    PROPORTION: percent_agreement,
    "brennan_prediger_kappa": brennan_prediger_kappa,
    "cohen_kappa": conger_kappa,
    "scott_pi": fleiss_kappa,
    "fleiss_kappa": fleiss_kappa,
    "krippendorff_alpha": krippendorff_alpha,
    "gwet_ac1": _gwet_ac,
    "gwet_ac2": _gwet_ac,
}


def compute_coefficient(
    name: str,
    items: ItemVotes,
    weights: AgreementWeights,
    level: float,
    *,
    category: str = "",
    reason: str = "",
    note: str = "",
) -> Row:
    """Compute a coefficient of agreement.

    Parameters
    ----------
    name : str
        A key of `STATISTICS`.
    items : ItemVotes
    weights : AgreementWeights
    level : float
        Probability of the interval.
    category : str
        The category to which the items were collapsed, if they were.
    reason : str
        The reason why it is undefined for these raters, if it is.
    note : str

    Returns
    -------
    dict
        Columns of the table of results, where the interval is by a t distribution whose degrees of
        freedom are the number of items minus one, clipped to the coefficient's range, and
        `probability` is the two-sided p-value of the hypothesis that the coefficient is 0 (Gwet
        2014), which proportions do not have; and beside them `chance`, the agreement by chance for
        which the coefficient is corrected, and `note`, what the user should know before using the
        numbers, as why it is undefined.
    """
    row: Row = {"quantity": name, "category": category, "weights": name_weights(weights)}
    row |= {"estimate": None, "chance": None, "note": reason}
    if reason:
        return row
    if items.n_paired == 0:
        return row | {"note": NO_PAIRS}
    if items.n_categories < 2 and name != PROPORTION:
        return row | {"note": ONE_CATEGORY}
    statistic = STATISTICS[name](items, weights)
    estimate, lowest = number(statistic.value), 0.0 if name == PROPORTION else -1.0
    if estimate is None:
        return row | {"note": NOTHING_VARIES}
    if abs(estimate - lowest) < STANDS_FOR_0:  # rounding, which would leave the interval unclipped
        estimate = lowest
    chance = None if statistic.chance is None else number(statistic.chance)
    error = number(standard_error(statistic, items.weights, items.n_sampled, items.cluster))
    row |= {"estimate": estimate, "chance": chance, "note": note}
    if error is None:
        what = "items" if items.cluster is None else "clusters"
        why = "no standard error: no item differs from the others in its effect"
        if items.n_sampled < 2:
            why = f"no standard error: the number of {what} is unknown or below 2"
        return row | {"note": "; ".join(filter(None, (note, why)))}
    half = error * float(special.stdtrit(items.n_sampled - 1, (1 + level) / 2))
    p_value = 2 * float(special.stdtr(items.n_sampled - 1, -abs(estimate) / error))
    # A weighted kappa can be below −1, and its interval is not clipped there.
    lower = estimate - half if estimate < lowest else max(estimate - half, lowest)
    interval = {"lower": lower, "upper": min(estimate + half, 1.0), "level": level}
    probability = {} if name == PROPORTION else {"probability": p_value}
    return row | interval | probability | {"standard_error": error, "kind": INTERVAL}


# What chance would do less often is no chance.
UNLIKELY = 0.01


# Kappas below this are small, correlations below this are no chance of a scale in use.
SMALL_KAPPA, REVERSED = 0.1, -0.3


BLOCK = 1_000_000


def warn_of_raters(ratings: Ratings) -> Iterator[Warning]:
    """Warn of raters who give one answer only, agree by chance, or use a scale in reverse.

    Parameters
    ----------
    ratings : Ratings

    Yields
    ------
    Warning

    Examples
    --------
    >>> ratings = Ratings([[0, 1], [1, 0], [2, 2]] * 20, [1, 2, 3])
    >>> [warning.code for warning in warn_of_raters(ratings)]
    ['agreement-at-chance']
    """
    yield from _warn_of_one_answer(ratings)
    items = count_votes(ratings.votes, ratings.weights, ratings.cluster)
    weights = identity(items)
    # The interval needs SciPy, whose import takes longer than all else that is asked here.
    if items.n_paired >= FEWEST_TO_JUDGE and fleiss_kappa(items, weights).value < SMALL_KAPPA:
        kappa = compute_coefficient("fleiss_kappa", items, weights, 0.9)
        if kappa.get("lower", 1) <= 0:
            text = "raters do not agree clearly more often than by chance: Fleiss' κ is "
            shown = with_interval(kappa["estimate"], kappa["lower"], kappa["upper"])
            yield warn("agreement-at-chance", f"{text}{shown}")
    yield from _warn_of_reversal(ratings)


def identity(items: ItemVotes) -> AgreementWeights:
    """Give the weights by which only equal categories agree."""
    return AgreementWeights(name="identity", matrix=np.eye(items.n_categories))


def _warn_of_one_answer(ratings: Ratings) -> Iterator[Warning]:
    """Warn of raters and systems who always give an answer that others give less often."""
    people = ratings.all_raters
    uses = ratings.uses[: len(people)]
    n, rest = uses.sum(axis=1), uses.sum(axis=0) - uses
    shares = rest / np.maximum(rest.sum(axis=1, keepdims=True), 1)
    always = (uses == n[:, None]) & (n[:, None] >= FEW_RATINGS) & rest.any(axis=1, keepdims=True)
    said = [
        f"{people[j]} gave {str(ratings.categories[k])!r} in all {n[j]} answers, and others in "
        f"{to_percent(shares[j, k], 0)} of theirs"
        for j, k in np.argwhere(always & (shares ** n[:, None] < UNLIKELY))
    ]
    if said and len(uses) == len(people):
        yield warn("one-answer", list_few(said, MOST_NAMED))


def _warn_of_reversal(ratings: Ratings) -> Iterator[Warning]:
    """Warn of raters and systems whose answers correlate negatively with the raters' means."""
    numbers, people = to_numbers(ratings.categories), ratings.all_raters
    if numbers is None and (ratings.ordered or ratings.n_categories == 2):
        numbers = list(range(ratings.n_categories))
    if numbers is None or ratings.anonymous or not people:
        return
    votes, flat = ratings.all_votes, ratings.votes
    values, moments = np.array(numbers) - np.mean(numbers), np.zeros((6, len(people)))
    totals = np.bincount(flat.item_index, values[flat.category_index], ratings.n_rows)
    for start in range(0, len(votes.item_index), BLOCK):  # else there are arrays of all ratings
        block = slice(start, start + BLOCK)
        item, rater = votes.item_index[block], votes.rater_index[block]
        x, rated = values[votes.category_index[block]], rater < ratings.n_raters
        n_others = flat.n_ratings[item] - rated
        y = (totals[item] - x * rated) / np.maximum(n_others, 1)
        weights = ratings.weights[item] * (n_others > 0)
        weighted = (weights * z for z in (1, x, y, x * x, y * y, x * y))
        moments += [np.bincount(rater, moment, len(people)) for moment in weighted]
    n, sx, sy, sxx, syy, sxy = moments
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (sxy - sx * sy / n) / np.sqrt((sxx - sx * sx / n) * (syy - sy * sy / n))
        surely = np.arctanh(r) * np.sqrt(n - 3) < NormalDist().inv_cdf(UNLIKELY / len(people))
    found = [f"{people[j]} ({r[j]:.2f})" for j in np.flatnonzero(surely & (r < REVERSED))]
    if found:
        text = "answers run against those of the other raters, with the correlation: "
        yield warn("scale-reversed", text + list_few(found, MOST_NAMED))
