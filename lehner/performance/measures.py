"""Measures of a classifier: from base rates and a confusion matrix, and with intervals as rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Booleans, Floats
from lehner.core.errors import InputError, Warning, compose, find, list_few, warn
from lehner.core.estimate import NUMBERS_AT_ONCE, RATIOS, Draws, Estimate, Row, tabulate_draws
from lehner.data.columns import Label
from lehner.data.ratings import Ratings

# A smaller proportion of the items is a rounding error, because no sample has so many items.
ROUNDING = 1e-12


def find_occurring(proportions: ArrayLike) -> Booleans:
    """Tell which categories occur: those whose proportion is not 0, to within rounding error.

    Parameters
    ----------
    proportions : array_like, shape (..., n_categories)
        Of the items, by true category or by answer. NaN, an unknown proportion, is not 0.

    Returns
    -------
    ndarray of bool, shape (..., n_categories)

    Examples
    --------
    >>> find_occurring([0.4, 0.6, 1e-17]).tolist()
    [True, True, False]
    """
    return ~(np.asarray(proportions, dtype=float) <= ROUNDING)


def measure_performance(
    base_rates: ArrayLike,
    confusion: ArrayLike,
    *,
    rated: Booleans | bool = True,
    answered: Booleans | bool = True,
) -> dict[str, Floats]:
    r"""Compute measures of a classifier's performance, as scikit-learn defines them.

    With :math:`q_{kl} = \pi_k \theta_{kl}` the probability that the truth is k and the answer l,
    recall (sensitivity) of k is :math:`q_{kk} / q_{k\cdot}`, its precision
    :math:`q_{kk} / q_{\cdot k}`, its specificity the proportion of items of other categories that
    are not answered k, and F1 the harmonic mean of precision and recall. The positive likelihood
    ratio of k is recall / (1 - specificity), the negative one (1 - recall) / specificity. Balanced
    accuracy is the mean recall of the categories that occur, as `find_occurring` tells. The
    correlation of Matthews (MCC) is Gorodkin's for any number of categories, and `kappa_with_truth`
    is Cohen's kappa of answer and truth.

    Parameters
    ----------
    base_rates : array_like, shape (..., n_categories)
        π, the probability of each true category.
    confusion : array_like, shape (..., n_categories, n_categories)
        θ, the probability of each answer (last axis) given the true category.
    rated : ndarray of bool, shape (n_categories,)
        Whether the data say that a category occurs. Where they do not, recall is undefined whatever
        its base rate is, as that of a posterior draw, which is never 0.
    answered : ndarray of bool, shape (n_categories,)
        Whether the system ever gives this answer. Where it does not, precision is undefined.

    Returns
    -------
    dict of str to ndarray
        `recall`, `precision`, `specificity`, `f1`, `positive_likelihood_ratio` and
        `negative_likelihood_ratio`, shape (..., n_categories);
        `balanced_accuracy`, `mcc` and `kappa_with_truth`, shape (...). NaN if a measure divides
        zero by zero, as does the precision of a category that is never answered. A likelihood
        ratio is infinite if only its denominator is zero.

    References
    ----------
    Gorodkin (2004), Comparing two K-category assignments by a K-category correlation coefficient,
    https://doi.org/10.1016/j.compbiolchem.2004.09.006; Cohen (1960),
    https://doi.org/10.1177/001316446002000104; scikit-learn's user guide, "Classification metrics".

    Examples
    --------
    >>> measures = measure_performance([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]])
    >>> measures["recall"].tolist(), measures["precision"].round(3).tolist()
    ([0.9, 0.7], [0.75, 0.875])
    """
    rates, confusion = np.asarray(base_rates, dtype=float), np.asarray(confusion, dtype=float)
    n = len(confusion) // 2
    if confusion.size > NUMBERS_AT_ONCE and confusion.ndim > 2 and len(rates) == len(confusion) > 1:
        first = measure_performance(rates[:n], confusion[:n], rated=rated, answered=answered)
        second = measure_performance(rates[n:], confusion[n:], rated=rated, answered=answered)
        return {name: np.concatenate([first[name], second[name]]) for name in first}
    occurs = find_occurring(rates)
    # The errors in a category that does not occur may be unknown.
    joint = np.where(occurs[..., None], rates[..., None] * confusion, 0.0)
    is_answered = find_occurring(joint.sum(axis=-2))
    joint = np.where(is_answered[..., None, :], joint, 0.0)
    occurs, is_answered = occurs & rated, is_answered & answered
    right = np.diagonal(joint, axis1=-2, axis2=-1)
    true, answers, whole = joint.sum(axis=-1), joint.sum(axis=-2), joint.sum(axis=(-2, -1))
    elsewhere = occurs.sum(axis=-1, keepdims=True) > occurs
    n_others = np.where(elsewhere, whole[..., None] - true, 0.0)
    other_answers = is_answered.sum(axis=-1, keepdims=True) > is_answered
    chance = (true * answers).sum(axis=-1)
    beyond_chance = right.sum(axis=-1) * whole - chance
    spread = (whole**2 - (true**2).sum(axis=-1)) * (whole**2 - (answers**2).sum(axis=-1))
    recall = _divide(right, np.where(occurs, true, 0.0))
    specificity = _divide(n_others - (answers - right), n_others)
    above, below = _find_ratio(recall, 1 - specificity), _find_ratio(1 - recall, specificity)
    total = np.where(occurs, recall, 0.0).sum(axis=-1)
    return {
        "recall": recall,
        "precision": _divide(right, np.where(is_answered, answers, 0.0)),
        "specificity": specificity,
        "positive_likelihood_ratio": np.where(is_answered, above, np.nan),
        "negative_likelihood_ratio": np.where(other_answers, below, np.nan),
        "f1": _divide(2 * right, np.where(occurs | is_answered, true + answers, 0.0)),
        "balanced_accuracy": _divide(total, occurs.sum(axis=-1, dtype=float)),
        "mcc": _divide(beyond_chance, np.sqrt(np.maximum(spread, 0.0))),
        "kappa_with_truth": _divide(beyond_chance, whole**2 - chance),
    }


# What measures are called by which systems are compared; the first four are of a category.
OF_CATEGORY = {"f1": "F1", "recall": "recall", "precision": "precision"}
OF_CATEGORY |= {"specificity": "specificity"}
LOSS = "weighted_loss"
MOST_DRAWS = 4000
COMPARED_BY = OF_CATEGORY | {"balanced_accuracy": "balanced accuracy", "mcc": "MCC"}
COMPARED_BY |= {"kappa_with_truth": "kappa with the truth", LOSS: "weighted loss"}


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measure by which systems are compared.

    Parameters
    ----------
    name : str
        "system_accuracy", or one of `COMPARED_BY`. A weighted loss is the mean distance of the
        answer from the truth in ordered categories, where the greatest distance counts as 1.
    category : str
        The positive one of two categories; empty if the measure is of all categories, or the mean
        of those of each.
    """

    name: str
    category: str = ""

    def compute(self, parameters: Mapping[str, Floats], categories: Sequence[Any]) -> Floats:
        """Compute it from base rates, (..., n_categories), and confusion matrices."""
        rates, confusion = parameters["base_rates"], parameters["confusion"]
        if self.name == LOSS:
            place = np.arange(len(categories)) / max(len(categories) - 1, 1)
            joint = np.where(find_occurring(rates)[..., None], rates[..., None] * confusion, 0.0)
            return np.asarray((joint * np.abs(place[:, None] - place)).sum(axis=(-2, -1)))
        if self.name == "system_accuracy":
            right = np.diagonal(confusion, axis1=-2, axis2=-1)
            return np.asarray(np.where(find_occurring(rates), rates * right, 0.0).sum(axis=-1))
        values = measure_performance(rates, confusion)[self.name]
        if self.name not in OF_CATEGORY:
            return values
        if self.category:
            return np.asarray(values[..., list(map(str, categories)).index(self.category)])
        defined = ~np.isnan(values)
        return _divide(np.where(defined, values, 0.0).sum(axis=-1), defined.sum(axis=-1) * 1.0)


def draw_measure(
    parts: Sequence[Draws | None], measure: Measure, categories: Sequence[Any], **fields: Any
) -> Draws:
    """Put draws of a measure side by side, NaN where a part has no draws of what it follows from.

    Parameters
    ----------
    parts : sequence of (Draws or None)
        Of each system or group: base rates and confusion matrix.
    measure : Measure
    categories : sequence
    **fields
        Others of the result.

    Returns
    -------
    Draws
        Of this measure by part, as many draws as the part with the fewest has.
    """
    point, drawn = np.full(len(parts), np.nan), list[Floats]()
    for i, part in enumerate(parts):
        values = np.full(MOST_DRAWS, np.nan)
        if part is not None and "confusion" in part.drawn:
            values = measure.compute(part.drawn, categories).ravel()
            whole = values if part.posterior else measure.compute(part.point, categories)
            point[i] = np.nanmean(whole) if not np.isnan(whole).all() else np.nan
        drawn.append(values)
    fewest = min(map(len, drawn))
    values = np.stack([values[:fewest] for values in drawn], axis=1)
    return Draws(point={measure.name: point}, drawn={measure.name: values}, **fields)


def find_measure(
    name: str | None, ratings: Ratings, positive: "PositiveCategory | None"
) -> Measure | None:
    """Find the measure by which systems are compared; None for the accuracy.

    Raises
    ------
    InputError
        If there is no such measure, or a loss is asked for of categories without an order.
    """
    if name in (None, "accuracy"):
        return None
    find("measure", str(name), {"accuracy": "", **COMPARED_BY})
    if name == LOSS and not ratings.ordered:
        remedy = compose("say that they are in order ({ordered}), and name them ({categories})")
        raise InputError("a weighted loss is of ordered categories", remedy)
    category = str(positive.name) if positive and name in OF_CATEGORY else ""
    return Measure(name=str(name), category=category)


def _find_ratio(part: Floats, whole: Floats) -> Floats:
    """Divide, infinite where only the denominator is zero."""
    infinite = (np.abs(whole) <= ROUNDING) & (part > ROUNDING)
    return np.where(infinite, np.inf, _divide(part, whole))


def _divide(part: Floats, whole: Floats) -> Floats:
    possible = np.abs(whole) > ROUNDING
    return np.asarray(np.divide(part, whole, where=possible, out=np.full_like(part, np.nan)))


# Names of categories, in lower case, that are positive beside any other name.
POSITIVE = frozenset(
    "yes y true t positive pos + present abnormal malignant disease diseased case sick ill "
    "infected cancer tumor tumour spam toxic pass passed correct".split()
)
# Names of categories, in lower case, beside which any other name is positive.
NEGATIVE = frozenset(
    "0 -1 no n false f negative neg - absent normal benign healthy control none ham fail "
    "failed incorrect".split()
)
# What measures by category are called if there are two: whether of the positive category.
NAMES = {
    "sensitivity": ("recall", True),
    "specificity": ("specificity", True),
    "positive_predictive_value": ("precision", True),
    "negative_predictive_value": ("precision", False),
    "positive_likelihood_ratio": ("positive_likelihood_ratio", True),
    "negative_likelihood_ratio": ("negative_likelihood_ratio", True),
}


# Why a category that nobody chose is taken for the positive one.
GUESSED = {"name": "by its name", "rarer": "raters give it less often"}


@dataclass(frozen=True, kw_only=True)
class PositiveCategory:
    """Which of two categories is the positive one, and why.

    Parameters
    ----------
    name : str or int
    negative : str or int
        The other category.
    chosen_by : {"argument", "name", "rarer"}
        The user's choice; or its name, as "malignant" or "yes"; or, if names say nothing, that it
        is the one that raters give less often.
    """

    name: Label
    negative: Label
    chosen_by: str

    def __str__(self) -> str:
        if self.chosen_by not in GUESSED:
            return f"positive category: {self.name}"
        return compose(
            "positive category: {} ({}; {} makes the other one positive)",
            str(self.name),
            GUESSED[self.chosen_by],
            {"positive": str(self.negative)},
        )


def find_positive(ratings: Ratings, positive: Any = None) -> PositiveCategory | None:
    """Find the positive category; None unless there are two categories.

    Parameters
    ----------
    ratings : Ratings
    positive : str or int, optional
        The category that the user says is positive. By default it is guessed: by names such as
        "yes", "1", "malignant" or "present", or beside names such as "no", "0", "benign" or
        "absent"; if these say nothing, the category that raters (without any, gold labels) give
        less often, and the second if both are as frequent.

    Returns
    -------
    PositiveCategory or None

    Raises
    ------
    InputError
        If `positive` is no category, or if there are not two categories.

    Examples
    --------
    >>> ratings = Ratings([[0, 0], [1, 1]], ["benign", "malignant"])
    >>> print(find_positive(ratings))
    positive category: malignant (by its name; positive='benign' makes the other one positive)
    """
    names = list(map(str, ratings.categories))
    if positive is not None and len(names) != 2:
        problem = f"positive is {positive!r}, and there are {len(names)} categories"
        remedy = "leave it out: recall and precision are given for each category"
        raise InputError(problem, remedy)
    if positive is not None and str(positive) not in names:
        remedy = f"choose {names[0]} or {names[1]}"
        raise InputError(f"positive is {positive!r}, which is no category", remedy)
    if len(names) != 2:
        return None
    code, chosen_by = _guess(ratings)
    if positive is not None:
        code, chosen_by = names.index(str(positive)), "argument"
    name, negative = ratings.categories[code], ratings.categories[1 - code]
    return PositiveCategory(name=name, negative=negative, chosen_by=chosen_by)


def _guess(ratings: Ratings) -> tuple[int, str]:
    names = [str(name).strip().casefold() for name in ratings.categories]
    for listed, code in ((POSITIVE, 0), (NEGATIVE, 1)):
        are_listed = [name in listed for name in names]
        if sum(are_listed) == 1:
            return abs(code - are_listed.index(True)), "name"
    counts: Any = ratings.weights @ ratings.count_votes()
    if ratings.truth is not None and not ratings.n_raters:
        counts = np.bincount(ratings.truth + 1, ratings.weights, minlength=3)[1:]
    return int(counts[1] <= counts[0]), "rarer"


MOST_NAMED = 5
NOTICEABLE = 0.01
# Measures of raters by category, if there are two.
OF_TWO = ("recall", "precision", "specificity", *RATIOS)

# Arrays of measures by name, each with or without a leading dimension of replicates.
type Measures = dict[str, Floats]


def list_performance(
    ratings: Ratings, draws: Draws, *, positive: PositiveCategory | None, level: float
) -> list[Row | Warning]:
    """Give the system's confusion matrix, recall, precision and other measures, with intervals.

    For a Bayesian model each measure is computed in each posterior draw; its mean and equal-tailed
    interval are given. For others the interval is that of resamples.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    draws : Draws
        Base rates, and the system's confusion matrix.
    positive : PositiveCategory, optional
        The positive one of two categories.
    level : float
        Probability of the intervals.

    Returns
    -------
    list of (dict or Warning)
        Rows of the table of results, and what is to be known of them.
    """
    _, rated = _find_answers(ratings)
    answers = np.asarray(ratings.system)[ratings.weights > 0]
    answered = np.isin(np.arange(ratings.n_categories), answers)
    if not ratings.n_raters:
        # Draws by gold labels have a label more for each answer of the system.
        rated |= answered
    measured = not np.isnan(draws.point["rater_accuracy"]).all()

    def measure(parameters: Mapping[str, Floats]) -> Measures:
        rates, confusion = parameters["base_rates"], parameters["confusion"]
        occurs = find_occurring(rates) & rated
        if not occurs.all():
            confusion = np.where(occurs[..., None], confusion, np.nan)
        named = measure_performance(rates, confusion, rated=rated, answered=answered)
        named = {"confusion": confusion} | named | {"base_rates": rates}
        return named | ({"rater_accuracy": parameters["rater_accuracy"]} if measured else {})

    rows = _tabulate(_compute_in_draws(measure, draws), level)
    no_rater = "no rater or gold label says {}: recall is undefined, and averages leave it out"
    no_answer = "the system never answers {}: precision is undefined there"
    undefined = [
        warn("measure-undefined", reason.format(list_few(missing, MOST_NAMED)))
        for occurs, reason in ((rated, no_rater), (answered, no_answer))
        if (missing := [ratings.categories[k] for k in np.flatnonzero(~occurs)])
    ]
    return [*rows, *draws.warnings, *undefined, *_warn_of_infinite(rows, positive)]


def list_raters(
    ratings: Ratings, draws: Draws, *, positive: PositiveCategory | None, level: float
) -> list[Row | Warning]:
    """Give each rater's recall, and with two categories what else follows from it.

    Parameters
    ----------
    ratings, draws, positive, level
        As of `list_performance`; the draws have the raters' recall.

    Returns
    -------
    list of (dict or Warning)
        Rows of the table of results, and what is to be known of them.
    """
    answered, rated = _find_answers(ratings)

    def measure(parameters: Mapping[str, Floats]) -> Measures:
        rates, recall = parameters["base_rates"][..., None, :], parameters["rater_recall"]
        if recall.shape[-1] != 2:
            return {"recall": np.where(find_occurring(rates) & rated, recall, np.nan)}
        right = recall[..., None]
        matrices = np.where(np.eye(2), right, 1 - right)
        measures = measure_performance(rates, matrices, rated=rated, answered=answered)
        return {name: measures[name] for name in OF_TWO}

    coords = {"rater": ratings.raters, "category": ratings.categories}
    measured = _compute_in_draws(measure, replace(draws, coords=coords))
    rows, warnings = _tabulate(measured, level), list[Warning]()
    text = "no ratings tell how {} rate items of {}: recall is undefined there"
    unknown = np.isnan(measured.point["recall"])
    warnings += _warn_of_raters(ratings, unknown, text, every="all raters")
    if "precision" in measured.point:
        text = "{} never answered {}: what it means is undefined"
        warnings += _warn_of_raters(ratings, ~answered, text)
    return [*rows, *warnings, *_warn_of_infinite(rows, positive)]


def _compute_in_draws(measure: Callable[[Mapping[str, Floats]], Measures], draws: Draws) -> Draws:
    """Compute measures of the estimates, and of each draw.

    The estimate of a posterior is the mean of its draws; that of a likelihood ratio is their
    median, because a mean of ratios need not exist.
    """
    point, drawn = measure(draws.point), measure(draws.drawn) if draws.drawn else {}
    for quantity, sample in drawn.items() if draws.posterior else ():
        if quantity in RATIOS:
            middle = np.quantile(sample, 0.5, 0, method="inverted_cdf")
        else:
            middle = sample.mean(axis=0)
        point[quantity] = np.where(np.isnan(sample).any(axis=0), np.nan, middle)
    return replace(draws, point=point, drawn=drawn)


def _tabulate(measured: Draws, level: float) -> list[Row]:
    """Give rows of measures with their intervals."""
    parts = (tabulate_draws(measured, quantity, level=level) for quantity in measured.point)
    return list(chain.from_iterable(parts))


def _find_answers(ratings: Ratings) -> tuple[Booleans, Booleans]:
    """Find which answers each rater gives, (n_raters, n_categories), and what is ever the truth.

    That is a category that a rater gives, or a gold label, (n_categories,).
    """
    votes, counted = ratings.votes, ratings.weights > 0
    used = counted[votes.item_index]
    answered = np.zeros((ratings.n_raters, ratings.n_categories), dtype=bool)
    answered[votes.rater_index[used], votes.category_index[used]] = True
    rated = answered.any(axis=0)
    if ratings.truth is not None:
        rated |= np.isin(np.arange(ratings.n_categories), ratings.truth[counted])
    return answered, rated


def _warn_of_raters(
    ratings: Ratings, undefined: Booleans, text: str, every: str = ""
) -> Iterator[Warning]:
    """Say of each category of which raters a measure is undefined, (n_raters, n_categories)."""
    for category, of_raters in zip(ratings.categories, undefined.T, strict=True):
        names = [ratings.raters[j] for j in np.flatnonzero(of_raters)]
        if names:
            who = every if every and of_raters.all() else list_few(names, MOST_NAMED)
            yield warn("measure-undefined", text.format(who, category))


def _warn_of_infinite(rows: Sequence[Row], positive: PositiveCategory | None) -> Iterator[Warning]:
    """Say if a likelihood ratio of the positive category, or an end of it, divides by zero."""
    name = None if positive is None else str(positive.name)
    of_positive = [part for part in rows if part.get("category") == name]
    infinite = {part["quantity"] for part in of_positive if np.inf in part.values()}
    for i, quantity in enumerate(RATIOS):
        if quantity in infinite:
            what, divisor = quantity.replace("_", " "), f"specificity may be {1 - i}"
            text = f"{what}: where it is infinite, {divisor}; JSON has null there"
            yield warn("measure-undefined", text)


def warn_of_two_accuracies(estimate: Estimate, point: Mapping[str, Floats]) -> Iterator[Warning]:
    """Warn if base rates and recall imply another accuracy than step 4 of the algebra."""
    accuracy = estimate.system_accuracy.estimate
    if not estimate.by_raters_alone or accuracy is None:
        return
    right = np.where(find_occurring(point["base_rates"]), np.diagonal(point["confusion"]), 0.0)
    implied = float(point["base_rates"] @ right)
    if abs(implied - accuracy) > NOTICEABLE:
        text = (
            f"base rates and recall imply a system accuracy of {implied:.3f}; step 4, "
            f"which assumes that all errors are equally probable, gives {accuracy:.3f}"
        )
        yield warn("two-accuracies", text)
