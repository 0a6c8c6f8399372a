"""What gold labels say: of the labelled items alone, of what corrects a method, and of one judge.

Corrected numbers are rows beside those of the method, with `corrected=True`: the accuracy in all
items and in parts of them (the items that got one answer of the system, whose accuracy is the
precision of that answer, and groups of items), measures by category, and base rates. One judge is a
rater, whose answers `compare` corrects, or a system without raters.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.contrasts.contrast import contrast
from lehner.core import estimate as core
from lehner.core import lazy
from lehner.core.arrays import Floats, make_rng
from lehner.core.errors import Warning, warn
from lehner.core.estimate import ESTIMANDS, IntervalEstimate, Row, row
from lehner.core.resampling import estimate_wilson, find_wilson_n, wilson_interval
from lehner.core.text import list_few, to_decimal, write_p
from lehner.data.patterns import count_rated, flatten, warn_of_clusters
from lehner.data.ratings import Ratings
from lehner.estimation.questions import Answer, Fit, Options
from lehner.estimation.results import Results, collect
from lehner.interrater.doubts import warn_of_raters
from lehner.known_truths import correction, partly_known
from lehner.latent_class.em import count_truths, is_partly_labelled
from lehner.performance.corrected import correct_measures
from lehner.performance.measures import list_performance
from lehner.performance.replicates import tabulate_parameters

if TYPE_CHECKING:
    from lehner.contrasts.one_judge import JudgedItems

base_rates = lazy.load("lehner.contrasts.base_rates")
by_column = lazy.load("lehner.contrasts.groups")
one_judge = lazy.load("lehner.contrasts.one_judge")
crowds = lazy.load("lehner.empirical_prior.calibrated")

# Name of the method that takes the labelled items alone.
METHOD = "gold_labels"
MOST_NAMED = 5
# With fewer labelled items of a category its recall rests mostly on a prior.
FEW_LABELS = 5
# The p-value below which the judge is said to err otherwise in some group, and the probability
# with which a difference is to be seen that is said to be seen.
UNLIKELY, POWER = 0.05, 0.8


def ask_data(fit: Fit, options: Options) -> Answer:
    """Score the system on the labelled items, and warn of clusters."""
    yield from _score_labelled(fit.ratings, options)
    yield from _say_that_all_are_labelled(fit.ratings, options)
    yield from (*warn_of_raters(fit.ratings), *warn_of_clusters(fit.ratings))


def _score_labelled(ratings: Ratings, options: Options) -> Iterator[Row]:
    """Score a system on the items with a gold label."""
    if ratings.truth is None or ratings.system is None or not (ratings.system >= 0).any():
        return
    # The labelled items alone need no method, so that any probabilities will do.
    items = partly_known.collect_right(ratings, np.zeros(len(ratings.system)))
    alone = partly_known.estimate_alone(items, options.level)
    if alone.estimate is None:
        return
    if not is_partly_labelled(ratings):  # All are labelled, and the proportion is exact.
        alone = IntervalEstimate(estimate=alone.estimate)
    yield row("accuracy_on_known_items", alone, n_items=items.n_known)
    right = {"estimate": items.n_holding, "n_items": items.n_known}
    yield {"quantity": "right_on_known_items"} | right
    for quantity, counts in _count_right(_tabulate_labels(ratings)).items():
        for category, right, n_items in zip(ratings.categories, *counts, strict=True):
            share = {"estimate": right / n_items if n_items else None, "n_items": n_items}
            yield {"quantity": f"{quantity}_on_known_items", "category": category} | share


def _say_that_all_are_labelled(ratings: Ratings, options: Options) -> Iterator[Warning]:
    """Say that methods were not told the labels if all items have one, and what others are like."""
    if count_truths(ratings) < ratings.n_items or options.truths_in_model:
        return
    items = partly_known.collect_right(ratings, np.zeros(ratings.n_rows))
    n_effective = correction.count_effective_items(items, options.level)
    expected = estimate_wilson(items.n_holding / items.n_known, n_effective, options.level)
    text = (
        f"all items have a gold label: {ratings.systems[0]} is right on {items.n_holding} of the "
        f"{items.n_known} that it answered, which makes {expected} in items like these; methods "
        "were not told the labels, so that you can compare"
    )
    yield warn("all-labelled", text)


def _tabulate_labels(ratings: Ratings) -> Floats:
    """Count labelled items by their category and the system's answer, (n_categories, same)."""
    assert ratings.system is not None and ratings.truth is not None
    labelled = (ratings.system >= 0) & (ratings.truth >= 0)
    cells = ratings.truth[labelled], ratings.system[labelled]
    labels = np.zeros((ratings.n_categories, ratings.n_categories))
    np.add.at(labels, cells, ratings.weights[labelled])
    return labels


def _count_right(labels: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Count for recall and precision of each category the items that are right, of how many."""
    right = labels.diagonal()
    return {"recall": (right, labels.sum(axis=1)), "precision": (right, labels.sum(axis=0))}


def ask_known_truths(fit: Fit, options: Options) -> Answer:
    """Correct an estimate by gold labels that the method has not seen."""
    if fit.ratings.truth is None or not fit.can_be_corrected():
        return
    ratings, estimate, level = fit.ratings, fit.estimate, options.level
    corrected = correction.correct_by_truth(ratings, estimate, level=level)
    for name in ESTIMANDS:
        yield row(name, getattr(corrected, name), n_items=fit.n_answered, corrected=True)
    # Among items with one answer, what the votes say of the truth also says who was labelled.
    unweighted = ratings.with_truth(ratings.truth) if options.chances_estimated else ratings
    for part in correct_measures(unweighted, estimate, level=level, seed=options.seed):
        if part["quantity"] != "precision":
            yield part
    rates = correction.correct_base_rates(ratings, estimate.truth_probabilities, level=level)  # type: ignore[arg-type]
    values = np.stack([rates[end] for end in ("estimate", "lower", "upper")], axis=-1)
    kind = partly_known.RECALIBRATED if ratings.truth_probability is None else partly_known.WEIGHTED
    about: Row = {"level": level, "kind": kind, "corrected": True}
    yield from core.make_rows("base_rates", values, {"category": ratings.categories}, **about)
    answers = {str(name): ratings.system == k for k, name in enumerate(ratings.categories)}
    by_answer = _correct_parts(replace(fit, ratings=unweighted), level, answers)
    for name, precision in by_answer.items():
        yield row("precision", precision.system_accuracy_in_sample, category=name, corrected=True)
    yield from _correct_groups(fit, options)
    labelled = {"n_items": corrected.n_known}
    yield row("prediction_powered", corrected.prediction_powered, **labelled)
    yield {"quantity": "known_truths_test", "probability": corrected.p_value} | labelled
    # `estimate` warns of a sample that is not random, whatever the method.
    yield from (each for each in corrected.warnings if each.code != "truths-not-random")
    yield from _warn_of_few_labels(ratings, level)


def _correct_parts(
    fit: Fit, level: float, parts: Mapping[str, Any]
) -> dict[str, correction.TruthCorrection]:
    """Correct the accuracy in parts of the items, those with gold labels, by their rows."""
    ratings, estimate = fit.ratings, fit.estimate
    assert ratings.system is not None and ratings.truth is not None
    right = correction.predict_right(ratings, estimate)
    variance = correction.own_variance(estimate)
    answered = ratings.system >= 0
    labelled = answered & (ratings.truth >= 0) & (ratings.weights > 0)
    return {
        name: correction.correct_by_truth(
            ratings.take(rows & answered), right[rows & answered], variance=variance, level=level
        )
        for name, rows in parts.items()
        if (rows & labelled).any()
    }


def _correct_groups(fit: Fit, options: Options) -> Iterator[Row]:
    """Give corrected accuracies of groups, and their differences."""
    if options.groups is None:
        return
    names, ratings = options.groups.names, fit.ratings
    groups = {str(name): names == name for name in np.unique(names[names != ""])}
    corrected = _correct_parts(fit, options.level, groups)
    about: Row = {"grouping": "group", "corrected": True}
    for name, part in corrected.items():
        n_items = int(ratings.weights[groups[name] & (np.asarray(ratings.system) >= 0)].sum())
        for quantity in ESTIMANDS:
            yield row(quantity, getattr(part, quantity), group=name, n_items=n_items, **about)
    for pair in combinations(groups, 2):
        both = [corrected[name] for name in pair if name in corrected]
        for quantity in ESTIMANDS if both else ():
            # What is corrected is not subtracted from what is not.
            difference, higher = IntervalEstimate(estimate=None), None
            if len(both) == 2:
                difference, higher = subtract_independent(*(getattr(p, quantity) for p in both))
            between: Row = {"group": pair[0], "versus": pair[1], "probability": higher}
            yield row(f"{quantity}_difference", difference, **between, **about)


def subtract_independent(
    first: IntervalEstimate, second: IntervalEstimate
) -> tuple[IntervalEstimate, float]:
    """Subtract corrected proportions of different items; the probability that the first is higher.

    The ends are those of Zou & Donner (2008), https://doi.org/10.1002/sim.3095: the distances of
    both from their estimates are squared and added.
    """
    a, b = (
        np.array([each.lower, each.estimate, each.upper], dtype=float) for each in (first, second)
    )
    estimate = float(a[1] - b[1])
    lower = estimate - float(np.hypot(a[1] - a[0], b[2] - b[1]))
    upper = estimate + float(np.hypot(a[2] - a[1], b[1] - b[0]))
    one_side = NormalDist().inv_cdf((1 + float(first.level or 0)) / 2)
    spread = (estimate - lower if estimate > 0 else upper - estimate) / one_side
    difference = replace(first, estimate=estimate, lower=lower, upper=upper, kind="independent")
    return difference, NormalDist().cdf(estimate / spread) if spread else 0.5


def _warn_of_few_labels(ratings: Ratings, level: float) -> Iterator[Warning]:
    few, recall = [], _count_right(_tabulate_labels(ratings))["recall"]
    for category, right, n in zip(ratings.categories, *recall, strict=True):
        if not n:
            few.append(f"{category} (none)")
        elif n < FEW_LABELS:
            value = estimate_wilson(right / n, n, level)
            few.append(f"{category} ({right:.0f}/{n:.0f} right, {value} by Wilson)")
    if few:
        text = (
            f"too few labelled items are of {list_few(few, MOST_NAMED)}: recall rests mostly on "
            "the prior of the method's bias"
        )
        yield warn("few-truths-of-category", text)


def expect_widths(
    ratings: Ratings, half_width: float, *, n: int = 1, level: float = 0.9
) -> tuple[float, float, int] | None:
    """Tell what more gold labels would make of the interval of a system's accuracy.

    How many are needed is counted by Wilson's interval of the gold labels alone, which holds
    whatever the ratings are worth. The accuracy that it starts from is that of the method
    `calibrated`, which uses the gold labels that there are; without raters, of these labels.

    Parameters
    ----------
    ratings : Ratings
        With one system.
    half_width : float
        How far the interval may reach from its middle.
    n : int
        Number of further gold labels, 1 or more.
    level : float
        Probability of the intervals.

    Returns
    -------
    width_before, expected_width, n_until
        The width now, that of Wilson's interval with `n` more labels, and how many more labels
        lead to `half_width`. None if nothing tells what accuracy to expect.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> ratings = load_dataset("lehner_table2", system="System")
    >>> expect_widths(ratings, 0.2)[2]
    7
    """
    if ratings.n_raters:
        ratings, _ = partly_known.weigh_labels(count_rated(ratings))
    items = partly_known.collect_right(ratings, np.zeros(ratings.n_rows))
    now = partly_known.estimate_alone(items, level)
    if ratings.n_raters:
        now = crowds.estimate_calibrated(ratings, level=level).system_accuracy_in_sample
    if now.estimate is None or now.lower is None or now.upper is None:
        return None
    # Weighted or clustered labels count as a random sample that tells as much.
    effect, n_known = items.effect_of_known, 0
    if items.n_known:
        n_known = partly_known.count_effective(items, effect)[0]
    asked: dict[str, Any] = {
        "z": NormalDist().inv_cdf((1 + level) / 2),
        "population": items.n_items,
    }
    lower, upper = wilson_interval(now.estimate, min(n_known + n, items.n_items), **asked)
    needed = find_wilson_n(now.estimate, 2 * half_width, **asked) - n_known
    return now.upper - now.lower, float(upper - lower), max(0, needed)


def is_only_labelled(ratings: Ratings) -> bool:
    """Tell whether there is a system and gold labels of some items, and no raters."""
    alone = ratings.n_raters == 0 and len(ratings.systems) == 1
    return alone and one_judge.has_gold_labels(ratings)


def require_answers_or_labels(ratings: Ratings) -> None:
    """Raise an InputError unless raters, or gold labels, tell how accurate the systems are."""
    if not is_only_labelled(ratings):
        core.require_estimable(ratings)


def estimate_by_labels(ratings: Ratings, options: Options) -> Results:
    """Estimate how accurate a system is from the gold labels of a random sample of items.

    Parameters
    ----------
    ratings : Ratings
        With one system, the truth of some items, and no raters.
    options : Options

    Returns
    -------
    Results
        Accuracy, recall, precision and specificity with Wilson's intervals, other measures with
        Jeffreys', and base rates that are post-stratified by the system's answers.
    """
    (system,), level = ratings.systems, options.level
    judged, _, _ = flatten(ratings.answers, ratings.n_categories)
    judge = ratings.without_system().replace(ratings=judged, raters=(system,))
    whole = judge.with_populations(["all items"] * ratings.n_rows)
    items = one_judge.count_judged(whole, level)
    labels, alone = items.labels[0], partly_known.collect_right(ratings, np.zeros(ratings.n_rows))
    in_sample = replace(partly_known.estimate_alone(alone, level), corrected=True)
    accuracies: dict[str, Any] = dict(
        zip(ESTIMANDS, (_share_right(labels, level), in_sample), strict=True)
    )
    rates = one_judge.estimate_judged("post_stratified", items, whole, seed=options.seed)
    points = (rates.drawn_base_rates[:, 0], rates.base_rates[0], {"category": ratings.categories})
    about: Row = {"level": level, "kind": rates.kind, "corrected": True}
    whose = {"system": system, "method": METHOD}
    parts: list[tuple[dict[str, str], Answer]] = [
        (whose, [row(name, value, n_items=alone.n_items) for name, value in accuracies.items()]),
        ({"system": system}, _score_labelled(ratings, options)),
        (whose, _measure(ratings, labels, options)),
        (whose, core.make_rows_of_draws("base_rates", *points, **about)),
        (whose, warn_of_sample(ratings)),
    ]
    for grouping, column in (("group", options.groups), ("population", options.populations)):
        if column is not None:
            members = by_column.take_groups(judge, column)
            parts.append((whose, _score_groups(members, grouping, options)))
    estimate = core.Estimate(method=METHOD, system=system, **accuracies)
    return collect(ratings, parts, options, {(system, METHOD): estimate})


def warn_of_sample(ratings: Ratings) -> Iterator[Warning]:
    """Warn if the labelled items are probably no random sample."""
    if ratings.truth is not None and not (sample := partly_known.examine_known(ratings)).random:
        yield warn("truths-not-random", f"{sample.doubt}, which numbers by them assume: {sample}")


def _share_right(labels: Floats, level: float) -> IntervalEstimate:
    """Give the proportion of labelled items on which the judge is right."""
    return _estimate_wilson(np.trace(labels), labels.sum(), level)


def _estimate_wilson(right: float, n: float, level: float) -> IntervalEstimate:
    return replace(estimate_wilson(right / n if n else 0.0, n, level), corrected=bool(n))


def _give_shares(
    quantity: str, counts: tuple[Floats, Floats], ratings: Ratings, level: float, **of: Any
) -> Iterator[Row]:
    """Give for each category the share of so many labelled items that is right, by Wilson."""
    for name, right, n in zip(ratings.categories, *counts, strict=True):
        yield row(quantity, _estimate_wilson(right, n, level), category=str(name), n_items=n, **of)


def _measure(ratings: Ratings, labels: Floats, options: Options) -> Answer:
    """Give the measures of the system: proportions by Wilson, others by Jeffreys' prior."""
    others = labels.sum() - labels.sum(axis=1)
    shares = _count_right(labels)
    shares["specificity"] = (others - labels.sum(axis=0) + labels.diagonal(), others)
    for quantity, counts in shares.items():
        yield from _give_shares(quantity, counts, ratings, options.level)
    drawn = make_rng(options.seed).standard_gamma(
        labels + base_rates.PSEUDO_ITEMS, (base_rates.DRAWS, *labels.shape)
    )
    point, replicates = (tabulate_parameters(table, 0) for table in (labels, drawn))
    jeffreys = core.Replicates(point=point, drawn=replicates, kind="Jeffreys")
    asked: Row = {"positive": options.positive, "level": options.level}
    for part in list_performance(ratings, jeffreys, **asked):
        if isinstance(part, Warning) or part["quantity"] not in (*shares, "base_rates"):
            yield part


def _score_groups(judge: Ratings, grouping: str, options: Options) -> Answer:
    """Give the accuracy in each group, and the differences."""
    level, rng, names = options.level, make_rng(options.seed), judge.populations
    points: dict[str, float] = {}
    drawn: dict[str, Floats] = {}
    for name, labels in zip(names, one_judge.count_judged(judge, level).labels, strict=True):
        n, right, value = labels.sum(), np.trace(labels), _share_right(labels, level)
        yield row("system_accuracy", value, grouping=grouping, group=name, n_items=n)
        points[name] = np.nan if value.estimate is None else value.estimate
        both = right + base_rates.PSEUDO_ITEMS, n - right + base_rates.PSEUDO_ITEMS
        drawn[name] = rng.beta(*both, base_rates.DRAWS)
    about: Row = {"grouping": grouping, "level": level, "kind": "Jeffreys"}
    yield from contrast("system_accuracy", "group", points, drawn, **about)


def ask_judge(ratings: Ratings, items: "JudgedItems", options: Options, method: str) -> Answer:
    """Give the recalls of the only rater by the gold labels, and whether it errs alike everywhere.

    Parameters
    ----------
    ratings : Ratings
        With one rater, the truth of some items, and populations.
    items : JudgedItems
        As `count_judged` counts them.
    options : Options
    method : str
        Beside whose numbers the rows stand.

    Yields
    ------
    dict or Warning
    """
    level, labels = options.level, items.labels.sum(axis=0)
    of = {"rater": ratings.raters[0], "method": method}
    yield row("rater_accuracy", _share_right(labels, level), n_items=labels.sum(), **of)
    yield from _give_shares("recall", _count_right(labels)["recall"], ratings, level, **of)
    if len(ratings.populations) > 1:
        for group, own in zip(ratings.populations, items.labels, strict=True):
            in_group = of | {"grouping": "group", "group": group}
            recall = _count_right(own)["recall"]
            yield from _give_shares("recall", recall, ratings, level, **in_group)
        p_value = one_judge.judge_differs(items, seed=options.seed)
        yield {"quantity": "judge_differs_test", "probability": p_value} | of
        yield _say_whether_alike(ratings, items, p_value)


def _say_whether_alike(ratings: Ratings, items: "JudgedItems", p_value: float) -> Warning:
    """Warn of a judge who favours a group, or say which favour the labels would not show."""
    rater, p = ratings.raters[0], write_p(p_value)
    if p_value <= UNLIKELY:
        text = (
            f"gold labels show that {rater} errs otherwise in some groups than in others ({p}): "
            "methods that assume it does not are biased"
        )
        return warn("judge-differs", text)
    total, right = items.labels.sum(axis=-1), np.diagonal(items.labels, axis1=1, axis2=2)
    recall = (right.sum(axis=0) + 1) / (total.sum(axis=0) + 2)
    fewest = np.sort(total, axis=0)[:2]
    with np.errstate(divide="ignore"):
        spread = np.sqrt(recall * (1 - recall) * (1 / fewest).sum(axis=0))
    z = NormalDist().inv_cdf(1 - UNLIKELY / 2) + NormalDist().inv_cdf(POWER)
    unseen = np.minimum(z * spread, 1.0)
    text = (
        f"gold labels do not show that {rater} favours a group ({p}), and so few would not: a "
        f"difference between two groups of less than {to_decimal(float(unseen.max()), 2)} in its "
        f"recall of {ratings.categories[int(unseen.argmax())]} would often be missed"
    )
    return warn("favour-unseen", text)
