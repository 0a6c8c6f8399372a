"""One judge and the gold labels of some items: how accurate the judge is, and whether everywhere.

The judge may be a rater, whose answers `compare` corrects, or a system without raters.
"""

from dataclasses import replace
from statistics import NormalDist

import numpy as np

from lehner.contrasts.base_rates import DRAWS, PSEUDO_ITEMS
from lehner.contrasts.contrast import contrast
from lehner.contrasts.one_judge import (
    JudgedItems,
    count_judged,
    has_gold_labels,
    judge_differs,
    judged_base_rates,
)
from lehner.core.arrays import Floats
from lehner.core.estimate import (
    ESTIMANDS,
    Estimate,
    IntervalEstimate,
    Parameters,
    Replicates,
    require_systems,
)
from lehner.core.resampling import interval_of_draws, wilson_interval
from lehner.core.rows import Row, row, rows_of
from lehner.core.seeds import generator
from lehner.core.text import decimal, printed_p_value
from lehner.core.warning import Warning, warn
from lehner.data.ratings import Ratings
from lehner.estimation.accuracy import count_answered
from lehner.estimation.question import Answer, Options
from lehner.estimation.ratings_rows import known_items
from lehner.estimation.results import Results, merge_warnings, tabulate
from lehner.known_truths.partly_known import known_items_alone, rightness
from lehner.known_truths.random_sample import examine_known
from lehner.performance.rows import performance_rows

METHOD = "gold_labels"
"""Name of the method that takes the labelled items alone."""
UNLIKELY, POWER = 0.05, 0.8
"""The p-value below which the judge is said to err otherwise in some group, and the probability
with which a difference is to be seen that is said to be seen."""
ALL = "all items"


def is_only_labelled(ratings: Ratings) -> bool:
    """Tell whether there is a system and gold labels of some items, and no raters."""
    return ratings.n_raters == 0 and len(ratings.systems) == 1 and has_gold_labels(ratings)


def require_answers_or_labels(ratings: Ratings) -> None:
    """Raise an InputError unless raters, or gold labels, tell how accurate the systems are."""
    if not is_only_labelled(ratings):
        require_systems(ratings)


def ask_judge(ratings: Ratings, options: Options) -> Answer:
    """Give the recalls of the only rater by the gold labels, and whether it errs alike everywhere.

    Parameters
    ----------
    ratings : Ratings
        With one rater, the truth of some items, and populations.
    options : Options

    Yields
    ------
    dict or Warning
    """
    items, level, rater = count_judged(ratings, options.level), options.level, ratings.raters[0]
    labels, several = items.labels.sum(axis=0), len(ratings.populations) > 1
    tables = {"": labels}
    if several:
        tables |= dict(zip(ratings.populations, items.labels, strict=True))
    accuracy = _wilson(np.trace(labels), labels.sum(), level)
    yield row("rater_accuracy", accuracy, rater=rater, n_items=labels.sum())
    for group, table in tables.items():
        of: Row = {"rater": rater, "grouping": "group" if group else "", "group": group}
        for name, answers, right in zip(ratings.categories, table, table.diagonal(), strict=True):
            value = _wilson(right, answers.sum(), level)
            yield row("recall", value, category=str(name), n_items=answers.sum(), **of)
    if several:
        p_value = judge_differs(items, seed=options.seed)
        yield {"quantity": "judge_differs_test", "rater": rater, "probability": p_value}
        yield _say_whether_alike(ratings, items, p_value)


def _wilson(right: float, n: float, level: float) -> IntervalEstimate:
    if not n:
        return IntervalEstimate(estimate=None)
    lower, upper = wilson_interval(right / n, n, z=NormalDist().inv_cdf((1 + level) / 2)).tolist()
    estimate = float(right / n)
    return IntervalEstimate(
        estimate=estimate, lower=lower, upper=upper, level=level, kind="Wilson", corrected=True
    )


def _say_whether_alike(ratings: Ratings, items: JudgedItems, p_value: float) -> Warning:
    """Warn of a judge who favours a group, or say which favour the labels would not show."""
    if p_value <= UNLIKELY:
        text = (
            f"gold labels show that {ratings.raters[0]} errs otherwise in some groups than in "
            f"others ({printed_p_value(p_value)}): methods that assume it does not are biased"
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
        f"gold labels do not show that {ratings.raters[0]} favours a group "
        f"({printed_p_value(p_value)}), and so few would not: a difference between two groups of "
        f"less than {decimal(float(unseen.max()), 2)} in its recall of "
        f"{ratings.categories[int(unseen.argmax())]} would often be missed"
    )
    return warn("favour-unseen", text)


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
    answers, changes = np.asarray(ratings.system)[:, None], {"system": None, "systems": None}
    judged = ratings._replace(codes=answers, raters=list(ratings.systems), **changes)
    everywhere = judged.with_populations([ALL] * ratings.n_rows)
    labels = count_judged(everywhere, options.level).labels[0]
    in_sample = known_items_alone(rightness(ratings, np.zeros(ratings.n_rows)), options.level)
    estimate = Estimate(
        method=METHOD,
        system=ratings.systems[0],
        system_accuracy=_wilson(np.trace(labels), labels.sum(), options.level),
        system_accuracy_in_sample=replace(in_sample, corrected=True),
    )
    n_items = count_answered(ratings)
    found: list[Row | Warning] = [
        row(name, getattr(estimate, name), n_items=n_items) for name in ESTIMANDS
    ]
    alone = [one for one in known_items(ratings, options) if not isinstance(one, Warning)]
    found += [{"method": ""} | one for one in alone]
    found += _measures(ratings, labels, options)
    found += _base_rates(everywhere, options)
    for grouping, column in (("group", options.groups), ("population", options.populations)):
        if column is not None:
            members = judged.take(column.names != "")
            names = column.names[column.names != ""]
            found += _accuracies_of(members.with_populations(names), grouping, options)
    if not (sample := examine_known(ratings)).random:
        text = f"{sample.doubt}, and they are taken for one: {sample}"
        found.append(warn("truths-not-random", text))
    names_of: Row = {"system": ratings.systems[0], "method": METHOD}
    rows = [names_of | one for one in found if not isinstance(one, Warning)]
    warnings = (one for one in found if isinstance(one, Warning))
    return Results(
        ratings=ratings,
        table=tabulate(rows),
        warnings=merge_warnings(warnings, [], []),
        fits={(ratings.systems[0], METHOD): estimate},
        options=options,
    )


def _measures(ratings: Ratings, labels: Floats, options: Options) -> Answer:
    """Give the measures of the system: proportions by Wilson, others by Jeffreys' prior."""
    total, truth, said, right = labels.sum(), labels.sum(1), labels.sum(0), labels.diagonal()
    counts = {
        "recall": (right, truth),
        "precision": (right, said),
        "specificity": (total - truth - said + right, total - truth),
    }
    for quantity, (numbers, of) in counts.items():
        for name, number, n in zip(ratings.categories, numbers, of, strict=True):
            value = _wilson(number, n, options.level)
            yield row(quantity, value, category=str(name), n_items=n)
    drawn = generator(options.seed).standard_gamma(labels + PSEUDO_ITEMS, (DRAWS, *labels.shape))
    replicates = Replicates(point=_parameters(labels), drawn=_parameters(drawn), kind="Jeffreys")
    asked: Row = {"positive": options.positive, "level": options.level}
    for one in performance_rows(ratings, replicates, **asked):
        if isinstance(one, Warning) or one["quantity"] not in (*counts, "base_rates"):
            yield one


def _parameters(labels: Floats) -> Parameters:
    """Base rates and confusion matrix of a table of truths and answers, or of several."""
    truth = labels.sum(axis=-1)
    return Parameters(
        base_rates=truth / truth.sum(axis=-1, keepdims=True),
        confusion=labels / np.maximum(truth, np.finfo(float).tiny)[..., None],
        rater_accuracy=np.empty((*labels.shape[:-2], 0)),
    )


def _base_rates(judged: Ratings, options: Options) -> Answer:
    level = options.level
    rates = judged_base_rates("post_stratified", judged, level=level, seed=options.seed)
    values = interval_of_draws(rates.drawn_base_rates[:, 0], rates.base_rates[0], level)
    of: Row = {"level": level, "kind": rates.kind, "corrected": True}
    yield from rows_of("base_rates", values, {"category": judged.categories}, **of)


def _accuracies_of(judged: Ratings, grouping: str, options: Options) -> Answer:
    """Give the accuracy in each group, and the differences."""
    level, rng = options.level, generator(options.seed)
    points: dict[str, float] = {}
    drawn: dict[str, Floats] = {}
    each = zip(judged.populations, count_judged(judged, level).labels, strict=True)
    for name, labels in each:
        n, right = labels.sum(), np.trace(labels)
        value = _wilson(right, n, level)
        yield row("system_accuracy", value, grouping=grouping, group=name, n_items=n)
        points[name] = np.nan if value.estimate is None else value.estimate
        drawn[name] = rng.beta(right + PSEUDO_ITEMS, n - right + PSEUDO_ITEMS, DRAWS)
    of: Row = {"grouping": grouping, "level": level, "kind": "Jeffreys"}
    yield from contrast("system_accuracy", "group", points, drawn, **of)
