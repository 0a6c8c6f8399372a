"""What gold labels say: of the labelled items alone, of what corrects a method, and of one judge.

Corrected numbers are rows beside those of the method, with `corrected=True`: the accuracy in all
items and in parts of them (the items that got one answer of the system, whose accuracy is the
precision of that answer, and groups of items), measures by category, and base rates. One judge is a
rater, whose answers `compare` corrects, or a system without raters.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np

from lehner.contrasts.contrast import find_trend_weights
from lehner.contrasts.groups import list_measured, take_groups
from lehner.contrasts.labelled_systems import draw_labelled_systems, draw_tables
from lehner.contrasts.systems import find_common
from lehner.core.arrays import Floats, derive_seeds, make_rng
from lehner.core.errors import InputError, Warning, compose, list_few, warn
from lehner.core.estimate import (
    ESTIMANDS,
    Draws,
    Estimate,
    IntervalEstimate,
    Row,
    make_rows,
    row,
    summarise_draws,
    tabulate_draws,
)
from lehner.core.resampling import check_tables, estimate_wilson, find_wilson_n, wilson_interval
from lehner.core.text import to_decimal, write_p
from lehner.data import estimable
from lehner.data.checks import say_columns
from lehner.data.counts import count_codes
from lehner.data.ratings import Ratings
from lehner.data.roles import MOST_LABELLED, list_free
from lehner.empirical_prior.learned_prior import estimate_learned_prior
from lehner.estimation.questions import Answer, Fit, Options, contrast_systems, drop_chances
from lehner.interrater.coefficients import warn_of_raters
from lehner.known_truths import correction, one_judge, partly_known
from lehner.known_truths.anytime import estimate_anytime, list_items, require_sequence, share_votes
from lehner.known_truths.correction import draw_order
from lehner.known_truths.one_judge import JudgedItems
from lehner.performance.measures import Measure, draw_measure, list_performance
from lehner.performance.replicates import correct_measures, draw_corrected

# Name of the method that takes the labelled items alone.
METHOD = "gold_labels"
MOST_NAMED = 5
NAME_RATERS = compose("name raters ({raters}), or further systems ({system})")
# This is how numbers of one judge are made of its answers and of labelled items.
BY_ANSWERS = "weighted by answers"
# With fewer labelled items of a category its recall rests mostly on a prior.
FEW_LABELS = 5
# The p-value below which the judge is said to err otherwise in some group, and the probability
# with which a difference is to be seen that is said to be seen.
UNLIKELY, POWER = 0.05, 0.8

# Answers with the columns, and the field `about` of warnings, that say whose each is.
type Answers = list[tuple[dict[str, str], Answer]]


def ask_data(fit: Fit, options: Options) -> Answer:
    """Score the system on the labelled items, and warn of clusters."""
    yield from _score_labelled(fit.ratings, options)
    if estimable.count_truths(fit.ratings) == fit.ratings.n_items and not options.truths_in_model:
        yield from _score_groups(fit.ratings, options)
        yield _say_that_all_are_labelled(fit.ratings, options)
    yield from (*warn_of_raters(fit.ratings), *estimable.warn_of_clusters(fit.ratings))


def _score_labelled(ratings: Ratings, options: Options) -> Iterator[Row]:
    """Score a system on the items with a gold label."""
    if ratings.truth is None or ratings.system is None or not (ratings.system >= 0).any():
        return
    # The labelled items alone need no method, so that any probabilities will do.
    items = partly_known.collect_right(ratings, np.zeros(len(ratings.system)))
    alone = partly_known.estimate_alone(items, options.level)
    if alone.estimate is None:
        return
    if not estimable.is_partly_labelled(ratings):  # All are labelled, and the proportion is exact.
        alone = IntervalEstimate(estimate=alone.estimate)
    yield row("accuracy_on_known_items", alone, n_items=items.n_known)
    right = {"estimate": items.n_holding, "n_items": items.n_known}
    yield {"quantity": "right_on_known_items"} | right
    for quantity, counts in _count_right(ratings).items():
        for category, right, n_items in zip(ratings.categories, *counts, strict=True):
            share = {"estimate": right / n_items if n_items else None, "n_items": n_items}
            yield {"quantity": f"{quantity}_on_known_items", "category": category} | share


def _say_that_all_are_labelled(ratings: Ratings, options: Options) -> Warning:
    """Say that methods were not told the labels that all items have, and what others are like."""
    items = partly_known.collect_right(ratings, np.zeros(ratings.n_rows))
    n_effective = correction.count_effective_items(items, options.level)
    expected = estimate_wilson(items.n_holding / items.n_known, n_effective, options.level)
    text = (
        f"all items have a gold label: {ratings.systems[0]} is right on {items.n_holding} of the "
        f"{items.n_known} that it answered, which makes {expected} in items like these; methods "
        "were not told the labels, so that you can compare"
    )
    return warn("all-labelled", text)


def _count_right(ratings: Ratings) -> dict[str, tuple[Floats, Floats]]:
    """Count for recall and precision of each category the items that are right, of how many."""
    assert ratings.system is not None and ratings.truth is not None
    labelled = (ratings.system >= 0) & (ratings.truth >= 0)
    cells = ratings.truth[labelled], ratings.system[labelled]
    labels = np.zeros((ratings.n_categories, ratings.n_categories))
    np.add.at(labels, cells, ratings.weights[labelled])
    right = labels.diagonal()
    return {"recall": (right, labels.sum(axis=1)), "precision": (right, labels.sum(axis=0))}


def ask_known_truths(fit: Fit, options: Options) -> Answer:
    """Correct an estimate by gold labels that the method has not seen."""
    if fit.ratings.truth is None or not fit.can_be_corrected():
        return
    ratings, estimate, level = fit.ratings, fit.estimate, options.level
    corrected = correction.correct_accuracy(ratings, estimate, level=level)
    for name in ESTIMANDS:
        yield row(name, getattr(corrected, name), n_items=fit.n_answered, corrected=True)
    unweighted = drop_chances(ratings, options)
    for part in correct_measures(unweighted, estimate, level=level, seed=options.seed):
        if part["quantity"] != "precision":
            yield part
    truth = estimate.arrays["truth_probabilities"].values
    values = correction.correct_base_rates(ratings, truth, level)
    kind = partly_known.RECALIBRATED if ratings.truth_probability is None else partly_known.WEIGHTED
    about: Row = {"level": level, "kind": kind, "corrected": True}
    yield from make_rows("base_rates", values, {"category": ratings.categories}, **about)
    answers = {str(name): ratings.system == k for k, name in enumerate(ratings.categories)}
    by_answer = _correct_parts(replace(fit, ratings=unweighted), level, answers)
    for name, precision in by_answer.items():
        yield row("precision", precision.system_accuracy_in_sample, category=name, corrected=True)
    yield from _correct_groups(fit, options)
    labelled = {"n_items": corrected.n_known}
    yield row("prediction_powered", corrected.prediction_powered, **labelled)
    yield {"quantity": "known_truths_test", "probability": corrected.p_value} | labelled
    # `estimate` warns of a sample that is not random, whatever the method.
    yield from (text for text in corrected.warnings if text.code != "truths-not-random")
    yield from _warn_of_few_labels(ratings, level)


def _correct_parts(
    fit: Fit, level: float, parts: Mapping[str, Any]
) -> dict[str, correction.TruthCorrection]:
    """Correct the accuracy in parts of the items, those with gold labels, by their rows."""
    ratings, estimate = fit.ratings, fit.estimate
    assert ratings.system is not None and ratings.truth is not None
    right = correction.predict_correctness(ratings, estimate)
    variance = correction.find_variance(estimate.system_accuracy_in_sample)
    answered = ratings.system >= 0
    labelled = answered & (ratings.truth >= 0) & (ratings.weights > 0)
    return {
        name: correction.correct_accuracy(
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
    groups = {name: names == name for name in take_groups(ratings, options.groups).populations}
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
                values = [getattr(part, quantity) for part in both]
                difference, higher = add_independent(values, [1.0, -1.0])
            between: Row = {"group": pair[0], "versus": pair[1], "probability": higher}
            yield row(f"{quantity}_difference", difference, **between, **about)
    place = np.flatnonzero([name in corrected for name in groups])
    for quantity in ESTIMANDS if options.with_trend and len(place) > 1 else ():
        values = [getattr(part, quantity) for part in corrected.values()]
        change, higher = add_independent(values, find_trend_weights(place).tolist())
        ends = next(iter(corrected)), next(reversed(corrected))
        over: Row = {"versus": " to ".join(ends), "probability": higher}
        yield row(f"{quantity}_trend", change, **over, **about)
    if options.measure is not None:
        yield from _correct_measure(fit, options, options.measure, groups)


def _correct_measure(
    fit: Fit, options: Options, measure: Measure, groups: Mapping[str, Any]
) -> Iterator[Row]:
    """Give a corrected measure of groups, of those without gold labels none."""
    ratings, parts = drop_chances(fit.ratings, options), list[Draws | None]()
    labelled = (np.asarray(ratings.system) >= 0) & (np.asarray(ratings.truth) >= 0)
    for rows, seed in zip(groups.values(), derive_seeds(options.seed, len(groups)), strict=True):
        tables = draw_corrected(ratings, fit.estimate, seed=seed, rows=rows)
        drawn = Draws(point={}, drawn=tables, posterior=True)
        parts.append(drawn if (rows & labelled).any() else None)
    fields: dict[str, Any] = {"coords": {"group": tuple(groups)}, "corrected": True}
    fields["kind"] = partly_known.RECALIBRATED
    draws = draw_measure(parts, measure, ratings.categories, **fields)
    asked: Row = {"level": options.level, "with_trend": options.with_trend}
    yield from list_measured(draws, measure, grouping="group", **asked)


def follow_trends(ratings: Ratings, methods: Any, options: Options) -> Answers:
    """Estimate by gold labels how each system changes, with an interval for any number of looks.

    Parameters
    ----------
    ratings : Ratings
        With systems, and gold labels of some items. Raters' votes make intervals narrower.
    methods : object
        Those that are asked for, of which there may be none but gold labels.
    options : Options
        With groups.

    Returns
    -------
    list of (mapping, iterable of dict)
        Whose each answer is, and the answer.

    Raises
    ------
    InputError
        If there are no gold labels, or more is asked for than these say at any time.
    """
    by_labels = methods in (None, METHOD) and options.measure is None
    if not (by_labels and estimable.count_truths(ratings)):
        problem = "a change at any time is one of the accuracy, by gold labels alone"
        raise InputError(problem, compose("name these ({truth}), and no other method or measure"))
    require_sequence(ratings)
    assert options.groups is not None
    # Rows are often in the order of groups, in which no labels are drawn.
    order = draw_order(ratings, options.seed)
    column = replace(options.groups, names=options.groups.names[order])
    drawn = take_groups(ratings.take(order), column)
    described = ({"system": system, "method": METHOD} for system in ratings.systems)
    return [(x, bet_on_trend(drawn.select_system(x["system"]), options.level)) for x in described]


def bet_on_trend(ratings: Ratings, level: float) -> Iterator[Row]:
    """Give the change of the accuracy in these items, which is a mean over all of them."""
    rows, names = list_items(ratings, np.asarray(ratings.system) >= 0), ratings.populations
    group, said = np.asarray(ratings.population)[rows], np.asarray(ratings.system)[rows]
    truth, n_items = np.asarray(ratings.truth)[rows], np.bincount(group, minlength=len(names))
    place = np.flatnonzero(n_items)
    if len(place) < 2:
        return
    weight = np.zeros(len(names))
    weight[place] = find_trend_weights(place) * len(rows) / n_items[place]
    most = float(np.abs(weight).max())
    # Weights sum to 0 over all items, so that 1/2 may be subtracted; without raters a system that
    # is always right predicts as well as can be.
    right = np.where(truth >= 0, said == truth, np.nan)
    predicted = share_votes(ratings)[rows, said] if ratings.n_raters else np.ones(len(rows))
    values, control = (0.5 + weight[group] * (x - 0.5) / most for x in (right, predicted))
    ends = (most * (estimate_anytime(values, control, level) - 0.5)).tolist()
    value = IntervalEstimate(ends[0], ends[1], ends[2], level, "confidence sequence")
    over: Row = {"versus": f"{names[place[0]]} to {names[place[-1]]}", "grouping": "group"}
    yield row(f"{ESTIMANDS[1]}_trend", replace(value, corrected=True), **over)


def add_independent(
    values: Sequence[IntervalEstimate], weights: Sequence[float]
) -> tuple[IntervalEstimate, float]:
    """Add corrected proportions of different items, each with its weight; P(the sum is positive).

    The ends are those of Zou & Donner (2008), https://doi.org/10.1002/sim.3095: the distances of
    all from their estimates are squared and added.
    """
    ends = np.array([[x.lower, x.estimate, x.upper] for x in values], dtype=float)
    ends *= np.array(weights)[:, None]
    estimate = float(ends[:, 1].sum())
    distances = np.sort(ends - ends[:, [1]], axis=1)
    lower = estimate - float(np.sqrt((distances[:, 0] ** 2).sum()))
    upper = estimate + float(np.sqrt((distances[:, 2] ** 2).sum()))
    one_side = NormalDist().inv_cdf((1 + float(values[0].level or 0)) / 2)
    spread = (estimate - lower if estimate > 0 else upper - estimate) / one_side
    total = replace(values[0], estimate=estimate, lower=lower, upper=upper, kind="independent")
    return total, NormalDist().cdf(estimate / spread) if spread else 0.5


def _warn_of_few_labels(ratings: Ratings, level: float) -> Iterator[Warning]:
    few, recall = [], _count_right(ratings)["recall"]
    for category, right, n in zip(ratings.categories, *recall, strict=True):
        if not n:
            few.append(f"{category} (none)")
        elif n < FEW_LABELS:
            value = estimate_wilson(right / n, n, level)
            few.append(f"{category} ({right:.0f}/{n:.0f} right, {value} by Wilson)")
    if few:
        text = f"too few labelled items are of {list_few(few, MOST_NAMED)}: do not report this "
        text += "recall, which rests mostly on a prior"
        yield warn("few-truths-of-category", text)


def expect_widths(
    ratings: Ratings, half_width: float, *, n: int = 1, level: float = 0.9, **options: Any
) -> tuple[float, float, int] | None:
    """Tell what more gold labels would make of the interval of a system's accuracy.

    How many are needed is counted by Wilson's interval of the gold labels alone, which holds
    whatever the ratings are worth. The accuracy that it starts from is that of the method
    `learned_prior`, which uses the gold labels that there are; without raters, of these labels.

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
    **options
        Of `estimate_learned_prior`, as `raters_are`.

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
    6
    """
    if ratings.n_raters:
        ratings, _ = partly_known.weigh_labels(estimable.count_rated(ratings))
    items = partly_known.collect_right(ratings, np.zeros(ratings.n_rows))
    now = partly_known.estimate_alone(items, level)
    if ratings.n_raters:
        found = estimate_learned_prior(ratings, level=level, in_sample_alone=True, **options)
        now = found.system_accuracy_in_sample
    if now.estimate is None or now.lower is None or now.upper is None:
        return None
    # Weighted or clustered labels count as a random sample that tells as much.
    n_known = partly_known.count_effective(items, items.effect_of_known)[0] if items.n_known else 0
    z, n_items = NormalDist().inv_cdf((1 + level) / 2), items.n_items
    lower, upper = wilson_interval(now.estimate, min(n_known + n, n_items), z=z, population=n_items)
    needed = find_wilson_n(now.estimate, 2 * half_width, z=z, population=n_items) - n_known
    return now.upper - now.lower, float(upper - lower), max(0, needed)


def is_only_labelled(ratings: Ratings) -> bool:
    """Tell whether gold labels alone tell how accurate systems are.

    They do if there are no two raters, or if half of the items or more have a gold label and nobody
    said that the other columns are raters, which may be rivals of the systems.
    """
    n_labelled = estimable.count_truths(ratings)
    enough = n_labelled >= MOST_LABELLED * ratings.n_items and estimable.are_raters_unnamed(ratings)
    return bool(ratings.systems) and n_labelled > 0 and (ratings.n_raters < 2 or enough)


def leave_out_raters(ratings: Ratings) -> Ratings:
    """Leave out the raters, whose ratings tell nothing that the gold labels do not."""
    if not ratings.n_raters:
        return ratings
    notes, names = list(ratings.reading_notes), list_few(ratings.raters, MOST_NAMED)
    text: str = f"gold labels alone tell, and these count as no raters: {names}"
    if estimable.are_raters_unnamed(ratings):
        text = compose("{}; {}", text, NAME_RATERS)
        table, roles = ratings.source
        ignored = [name for name in list_free(table, roles) if name not in ratings.raters]
        notes[0] = say_columns((), ignored, roles)
    notes.insert(1, text)
    nothing = count_codes(np.empty((ratings.n_rows, 0), dtype=np.int64), ratings.n_categories)
    return ratings.replace(entries=nothing, raters=(), reading_notes=notes)


def warn_of_unnamed(ratings: Ratings) -> Iterator[Warning]:
    """Warn of raters who may be systems, if neither an option nor their names say who they are."""
    if estimable.are_raters_unnamed(ratings):
        names = list_few(ratings.raters, MOST_NAMED)
        text = compose("nothing says that {} are raters; {}", names, NAME_RATERS)
        yield warn("raters-unnamed", text)


def require_answers_or_labels(ratings: Ratings, *, by_one: bool = False) -> None:
    """Raise an InputError unless raters, or gold labels, tell how accurate the systems are."""
    if not is_only_labelled(ratings) or (by_one and ratings.n_raters):
        estimable.require_estimable(ratings, by_one=by_one)


def ask_labels_alone(
    ratings: Ratings, options: Options
) -> tuple[Answers, dict[tuple[str, str], Estimate]]:
    """Estimate how accurate systems are from the gold labels of a random sample of items.

    Labelled items weigh as often as the system gives their answer, so that they may be chosen by
    it. Intervals are those of draws.

    Parameters
    ----------
    ratings : Ratings
        With one system or several, the truth of some items, and no raters.
    options : Options

    Returns
    -------
    answers : list of (mapping, iterable of dict or Warning)
        Whose each answer is, and the answer.
    estimates : dict of (str, str) to Estimate
        By system and method.
    """
    answers: Answers = []
    estimates = {}
    for system in ratings.systems:
        of_system, estimates[system, METHOD] = _ask_system(ratings.select_system(system), options)
        answers += of_system
    if len(ratings.systems) > 1:
        draws = [partial(_draw_labelled, ratings, options)]
        compared = contrast_systems(ratings, draws, options.level, options.measure)
        answers.append(({"method": METHOD, "about": "systems"}, compared))
    return answers, estimates


def _draw_labelled(ratings: Ratings, options: Options, names: Sequence[str]) -> Draws | None:
    """Draw systems by the labelled items that all of them answered, if there are any."""
    labelled = find_common(ratings, names) & (np.asarray(ratings.truth) >= 0)
    if not labelled.any():
        return None
    asked: dict[str, Any] = {"level": options.level, "seed": options.seed}
    draws, measure = draw_labelled_systems(ratings, names, **asked), options.measure
    if measure is None:
        return draws
    tables = draw_tables(ratings, names, **asked)
    point = {measure.name: measure.compute(tables.point, ratings.categories)}
    drawn = {measure.name: measure.compute(tables.drawn, ratings.categories)}
    return replace(draws, point={**draws.point, **point}, drawn={**draws.drawn, **drawn})


def _ask_system(ratings: Ratings, options: Options) -> tuple[Answers, Estimate]:
    """Estimate how accurate one system is."""
    (system,), level, seed = ratings.systems, options.level, options.seed
    judged = count_codes(ratings.answers, ratings.n_categories)
    judge = ratings.without_system().replace(entries=judged, raters=(system,))
    whole = judge.with_populations(["all items"] * ratings.n_rows)
    items = one_judge.count_judged(whole, level)
    accuracies: dict[str, Any] = {}
    for name in ESTIMANDS:
        finite = name == "system_accuracy_in_sample"
        drawn = one_judge.estimate_accuracy(items, make_rng(seed), finite=finite)[:, 0]
        estimate, lower, upper = summarise_draws(drawn[1:], drawn[0], level).tolist()
        value = IntervalEstimate(estimate, lower, upper, level, BY_ANSWERS)
        if finite and (items.labelled[:, :-1][items.answers[:, :-1] > 0] >= 1).all():
            value = IntervalEstimate(estimate)
        accuracies[name] = replace(value, corrected=True)
    n_answered = int(ratings.weights[ratings.system >= 0].sum())  # type: ignore[operator]
    rates = one_judge.estimate_judged("post_stratified", items, whole, seed=seed)
    described = {"system": system, "method": METHOD}
    answers: Answers = [
        (described, [row(name, value, n_items=n_answered) for name, value in accuracies.items()]),
        ({"system": system}, _score_labelled(ratings, options)),
        (described, _measure(ratings, options)),
        (described, tabulate_draws(rates, "base_rates", level=level, group="")),
        (described, warn_of_answers(ratings, items, system)),
        (described, _warn_of_few_labels(ratings, level)),
        (described, _score_groups(ratings, options)),
    ]
    return answers, Estimate(method=METHOD, system=system, **accuracies)


def warn_of_answers(ratings: Ratings, items: JudgedItems, judge: str) -> Iterator[Warning]:
    """Warn if one judge's answers probably decided which items of a group are labelled."""
    n_labelled = items.independent * items.labelled
    n_known, n = (items.answers * items.labelled).sum(axis=0), items.answers.sum(axis=0)
    answers = [f"{judge} says {str(name)!r}" for name in ratings.categories]
    answers.append(f"{judge} gives no answer")
    p_value = check_tables(np.stack([n_labelled, items.independent - n_labelled], axis=1))
    if ratings.truth_probability is None and p_value <= partly_known.NOT_RANDOM:
        most = int(np.abs(n_known / n_known.sum() - n / n.sum()).argmax())
        text = (
            f"the items with gold labels are probably not a random sample: {answers[most]} on "
            f"{n_known[most]:.0f} of {n_known.sum():.0f} of them, but on {n[most]:.0f} of all "
            f"{n.sum():.0f} items. The labels alone mislead; numbers weighted by answers hold if "
            "only the answer decided which items were labelled"
        )
        yield warn("truths-not-random", text)
    unseen = np.flatnonzero((n_known == 0) & (n > 0))
    if unseen.size:
        names = list_few((answers[code] for code in unseen), MOST_NAMED)
        text = f"no gold label is of items where {names}: what is true there is unknown"
        yield warn("answer-unlabelled", text)


def _measure(ratings: Ratings, options: Options) -> Answer:
    """Give the measures of the system; labelled items weigh as often as it gives their answer."""
    draws = draw_tables(ratings, ratings.systems, level=options.level, seed=options.seed)
    point = {name: value[0] for name, value in draws.point.items()}
    point["rater_accuracy"] = np.empty(0)
    drawn = {name: value[:, 0] for name, value in draws.drawn.items()}
    coords = {"category": ratings.categories}
    weighted = replace(draws, point=point, drawn=drawn, coords=coords, kind=BY_ANSWERS)
    asked: dict[str, Any] = {"positive": options.positive, "level": options.level}
    for part in list_performance(ratings, weighted, **asked):
        if isinstance(part, Warning) or part["quantity"] != "base_rates":
            yield part


def _score_groups(ratings: Ratings, options: Options) -> Iterator[Row]:
    """Give the accuracy and the measure in each group and population, by the labels alone."""
    for grouping, column in (("group", options.groups), ("population", options.populations)):
        if column is not None:
            yield from _score_grouping(take_groups(ratings, column), grouping, options)


def _score_grouping(ratings: Ratings, grouping: str, options: Options) -> Iterator[Row]:
    """Give the accuracy and the measure in each group, the differences, and the trend."""
    names, parts = ratings.populations, list[Draws | None]()
    for group, seed in enumerate(derive_seeds(options.seed, len(names))):
        members = ratings.take(np.asarray(ratings.population) == group)
        labelled = (find_common(members, ratings.systems) & (np.asarray(members.truth) >= 0)).any()
        asked: dict[str, Any] = {"level": options.level, "seed": seed}
        parts.append(draw_tables(members, ratings.systems, **asked) if labelled else None)
    fields: dict[str, Any] = {"coords": {"group": names}, "kind": BY_ANSWERS, "corrected": True}
    for measure in filter(None, (Measure(name="system_accuracy"), options.measure)):
        draws = draw_measure(parts, measure, ratings.categories, **fields)
        described: Row = {"grouping": grouping, "level": options.level, "method": METHOD}
        yield from list_measured(draws, measure, with_trend=options.with_trend is True, **described)


def _list_rows(quantity: str, values: Floats, coords: Any, **columns: Any) -> list[Row]:
    """Make rows of draws, of which the first is the estimate."""
    point, drawn = {quantity: values[0]}, {quantity: values[1:]}
    draws = Draws(point=point, drawn=drawn, coords=coords, kind=BY_ANSWERS, corrected=True)
    return tabulate_draws(draws, quantity, **columns)


def ask_judge(
    ratings: Ratings,
    items: JudgedItems,
    sets: Mapping[str, Sequence[int]],
    options: Options,
    method: str,
) -> Answer:
    """Give the accuracy and the recalls of the only rater, and whether it errs alike everywhere.

    Parameters
    ----------
    ratings : Ratings
        With one rater, the truth of some items, and populations.
    items : JudgedItems
        As `count_judged` counts them.
    sets : mapping of str to sequence of int
        Codes of the categories that are asked for together. If there is one set, whether the judge
        errs alike is a question of what is of it and what is not.
    options : Options
    method : str
        Beside whose numbers the rows stand.

    Yields
    ------
    dict or Warning
    """
    (judge,), groups, seed = ratings.raters, ratings.populations, options.seed
    categories, whole = list(map(str, ratings.categories)), one_judge.pool_groups(items)
    described: Row = {"rater": judge, "method": method}
    accuracy = one_judge.estimate_accuracy(whole, make_rng(seed))
    recall = one_judge.estimate_recall(whole, seed)
    coords = {"rater": [judge], "category": categories, "group": list(groups)}
    rows = _list_rows("rater_accuracy", accuracy, coords, level=options.level)
    rows += _list_rows("rater_recall", recall, coords, level=options.level)
    if len(groups) > 1:
        by_group = one_judge.estimate_recall(items, seed)[:, :, None]
        asked: Row = {"grouping": "group", "level": options.level}
        rows += _list_rows("rater_recall", by_group, coords, **asked)
    named = {"rater_accuracy": "rater_accuracy", "rater_recall": "recall"}
    yield from (part | {"quantity": named[part["quantity"]]} | described for part in rows)
    if len(groups) > 1:
        labels = items.labels
        if len(sets) == 1:
            good = np.isin(np.arange(len(categories)), next(iter(sets.values())))
            labels = one_judge.join_categories(items, good)[1]
            categories = [" or ".join(np.array(categories)[which]) for which in (~good, good)]
        p_value = check_tables(labels.swapaxes(0, 1), seed=seed)
        test: Row = {"quantity": "judge_differs_test", "probability": p_value}
        yield test | described | {"level": options.level}
        yield _say_whether_alike(judge, categories, labels, p_value)


def _say_whether_alike(rater: str, names: Sequence[str], labels: Floats, p_value: float) -> Warning:
    """Warn of a judge who favours a group, or say which favour the labels would not show."""
    p = write_p(p_value)
    if p_value <= UNLIKELY:
        text = (
            f"gold labels show that {rater} errs otherwise in some groups than in others ({p}): "
            "methods that assume it does not are biased"
        )
        return warn("judge-differs", text)
    total, right = labels.sum(axis=-1), np.diagonal(labels, axis1=1, axis2=2)
    recall = (right.sum(axis=0) + 1) / (total.sum(axis=0) + 2)
    fewest = np.sort(total, axis=0)[:2]
    with np.errstate(divide="ignore"):
        spread = np.sqrt(recall * (1 - recall) * (1 / fewest).sum(axis=0))
    z = NormalDist().inv_cdf(1 - UNLIKELY / 2) + NormalDist().inv_cdf(POWER)
    unseen = np.minimum(z * spread, 1.0)
    what = f"its recall of {names[int(unseen.argmax())]}"
    text = f"gold labels do not show that {rater} favours a group ({p}), and so few would not: a "
    text += f"difference between two groups of less than {to_decimal(float(unseen.max()), 2)} in "
    text += f"{what} would often be missed"
    if unseen.max() >= 1:
        text = f"so few gold labels cannot show whether {rater} favours a group in {what}"
    return warn("favour-unseen", text)
