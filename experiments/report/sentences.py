"""Sentences that read the results: for a paper, and on how to read each section."""

import math
from collections.abc import Sequence

from experiments.report.details import rank_base_rates
from experiments.report.options import data_notes, header_lines
from experiments.report.style import method_label
from experiments.report.views import (
    ANY,
    REPORT,
    View,
    allows_correlated_errors,
    assumption,
    view_systems,
)
from lehner import __version__
from lehner.contrasts.systems import answered_the_same, n_common_items
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import counted, counted_categories, decimal, first_few, percent, short
from lehner.dependence.bounds import MistakesNeeded
from lehner.estimation.results import Results, value_of

MOST_NAMED, MOST_SHOWN = 4, 12
TEXT: dict[str, str] = REPORT["text"]
MISLED = (
    "What the system's accuracy would be if {:.3g}% of the items misled the raters, with the "
    "system or alone{}."
)


def write_sentences(results: Results) -> list[str]:
    """Report each system's accuracy on these items in a sentence for a paper.

    Parameters
    ----------
    results : Results

    Returns
    -------
    list of str
        One for each system, by the method to report, or why there is no estimate.
    """
    return [_write_sentence(view) for view in view_systems(results)]


def _write_sentence(view: View) -> str:
    ratings = view.results.ratings
    if not view.reported:
        return f"The accuracy of {view.system} cannot be estimated from these ratings."
    value = view.value("system_accuracy_in_sample", method=view.reported)
    rated = f"{counted(ratings.n_ratings, 'rating')} by {counted(ratings.n_raters, 'rater')}"
    if view.gold is not None and value.corrected:
        rated += f" and {counted(int(view.gold['n_items']), 'gold label')}"
    return (
        f"On these {counted(ratings.n_items, 'item')} the accuracy of {view.system} was estimated "
        f"at {write_apa(value)} from {rated}, {_by_method(view, value)} (lehner {__version__})."
    )


def write_apa(value: IntervalEstimate, digits: int = 2) -> str:
    """Write a proportion as APA style does.

    Examples
    --------
    >>> write_apa(IntervalEstimate(estimate=0.65, lower=0.56, upper=0.74, level=0.95))
    '.65, 95% CI [.56, .74]'
    """
    if value.lower is None or value.level is None:
        return short(value.estimate, digits)
    ends = f"[{short(value.lower, digits)}, {short(value.upper, digits)}]"
    return f"{short(value.estimate, digits)}, {percent(value.level)} CI {ends}"


def _by_method(view: View, value: IntervalEstimate) -> str:
    learned = on_crowds(view, view.reported)
    if learned:
        agreement = view.results.fits[view.system, view.reported].diagnostics["agreement"]
        return f"given its agreement of {short(agreement, 2)} with the majority, by {learned}"
    assumed = assumption(view.reported)
    rests = f", if {assumed}" if assumed else ""
    corrected = ", corrected by the gold labels" if value.corrected else ""
    return f"by the method “{method_label(view.reported)}”{corrected}{rests}"


def on_crowds(view: View, method: str) -> str:
    """Say what a method learned on which crowds; nothing of one that learned nothing."""
    told = view.results.fits[view.system, method].diagnostics
    if "system_is" not in told:
        return ""
    return (
        f"an empirical prior learned on {told['crowds']} public crowds ({told['families']} "
        f"families) whose true categories are known, {REPORT['system_is'][told['system_is']]}"
    )


def on_data(results: Results) -> list[str]:
    """Say how much raters agree, if it was asked."""
    first = view_systems(results)[0]
    names = ("percent_agreement", "brennan_prediger", "n_pairs")
    agree, kappa, pairs = (first.number(name, method="", versus="") for name in names)
    if math.isnan(pairs):
        return []
    return [
        f"Raters agree on {decimal(agree)} of {counted(int(pairs), 'pair')} of ratings; "
        f"beyond the chance of 1/{results.ratings.n_categories} that is kappa {decimal(kappa)}"
    ]


def describe_data(results: Results) -> list[str]:
    """Say what the data are, the system first."""
    ratings = results.ratings
    names = [str(name) for name in ratings.systems]
    whom = f"{first_few(names, MOST_NAMED)}; " if names else ""
    categories = counted_categories(ratings.n_categories, ordered=ratings.ordered)
    return [
        f"{results.options.name}: {whom}{counted(ratings.n_items, 'item')}, "
        f"{counted(ratings.n_raters, 'rater')}, {categories} "
        f"({first_few(ratings.categories, MOST_SHOWN)}), {counted(ratings.n_ratings, 'rating')}",
        *header_lines(data_notes(ratings)),
        *on_data(results),
    ]


def on_accuracy(view: View) -> list[str]:
    """Say how to read the accuracies of the methods."""
    lines = [on_gold_labels(view)]
    if any(not math.isnan(row["estimate"]) for row in view.pick("prediction_powered")):
        lines.append(TEXT["by_ppi"])
    if any(one.code == "truths-not-random" for one in view.results.warnings):
        lines.append(TEXT["not_random"])
    for method in view.methods:
        if learned := on_crowds(view, method):
            lines.append(
                f"{view.names(method)}: the accuracy that is probable given how often the system "
                f"agrees with the majority, by {learned} (--system-is). The name says nothing of "
                "calibrated probabilities."
            )
    needed = find_needed(view)
    if needed is not None:
        lines.append(
            f"Without any model, {needed} (lehner bounds). Gold labels of items drawn at random "
            "would settle it (lehner ask)."
        )
    return list(filter(None, lines))


def on_positive(view: View) -> list[str]:
    """Say which category is the positive one."""
    positive = view.positive
    return [] if positive is None else [str(positive)]


def on_gold_labels(view: View) -> str:
    """Say how the system does on the items with a gold label, and what these are used for."""
    if view.gold is None:
        return ""
    value = value_of(view.gold)
    if value.level is None:
        shown = f"{value}, exact for these items"
    else:
        by = "with weights" if "weight" in value.kind else "by Wilson"
        shown = f"{value} ({percent(value.level)} interval {by} for all these items)"
    if view.is_corrected:
        use = "these labels correct the estimates"
    elif any(row["corrected"] for row in view.pick("system_accuracy")):
        use = "the models use these labels"
    elif value.level is None:
        use = "all items have one, and the methods do not use them"
    else:
        use = "no estimate here uses these labels"
    n = counted(int(view.gold["n_items"]), "item")
    return (
        f"On the {n} with a gold label, whose true category is known, the system's accuracy is "
        f"{shown}; {use}."
    )


def find_needed(view: View) -> MistakesNeeded | None:
    """Read how much errors must correlate for the accuracy to be low, if it was computed."""
    above = view.first("system_accuracy_above", method="")
    crowds = view.first("crowds_beyond", method="")
    if above is None or crowds is None:
        return None
    correlation = view.number("mistake_correlation_needed", method="")
    return MistakesNeeded(
        above=above["estimate"],
        correlation=None if math.isnan(correlation) else correlation,
        crowds_beyond=int(crowds["estimate"]),
        n_crowds=int(crowds["n_items"]),
    )


def on_groups(view: View, grouping: str) -> list[str]:
    """Say what is special about groups."""
    column = view.column_of(grouping)
    told = {row["method"] for row in view.rows if row["grouping"] == grouping}
    without = ", ".join(view.names(name) for name in view.methods if name not in told)
    lines = [column.note] if column is not None and column.note else []
    return [*lines, *([REPORT["without_groups"][grouping].format(without)] if without else [])]


def on_correlated_errors(view: View) -> list[str]:
    """Say what is known of correlated errors of raters, and how to read what they would do."""
    rows = view.pick("system_accuracy_if_all_misled")
    share = next((float(row["versus"].partition("=")[2]) for row in rows), 0.1)
    without = ", of the estimates without gold labels" if view.is_corrected else ""
    lines = [MISLED.format(100 * share, without), on_pairs(view), on_effective_raters(view)]
    exact = {row["method"] for row in view.pick("system_accuracy_if_raters_misled_bounds")}
    alone = {row["method"] for row in view.pick("system_accuracy_if_raters_misled")}
    if any(not allows_correlated_errors(method) for method in alone - exact):
        lines.append(TEXT["approximation"])
    return list(filter(None, lines))


def on_effective_raters(view: View) -> str:
    """Say how many independent raters would tell as much."""
    row = view.first("effective_raters", method="")
    if row is None:
        return ""
    if not math.isnan(row["lower"]):
        known = "by_crowds"
    elif math.isnan(row["estimate"]):
        known = "unknown"
    else:
        known = "by_gold_labels" if "gold labels" in row["kind"] else "by_agreement"
    return str(REPORT["effective_raters"][known]).format(
        **row,
        raters=f"{round(view.number('raters_per_item', method=''), 2):.10g} raters of an item",
        percent=percent(row["level"]) if row["level"] > 0 else "",
        correlation=decimal(view.number("mistake_correlation", method=""), 2),
    )


def on_pairs(view: View) -> str:
    """Say whether two raters agree more than their accuracies explain."""
    tests = view.pick("pair_agreement_test", rater=ANY)
    if not tests:
        return "Whether errors of raters are correlated was not tested."
    apart = [f"{row['rater']} and {row['versus']}" for row in tests if row["kind"]]
    if apart:
        return f"More than their accuracies explain agree {first_few(apart, MOST_NAMED)}."
    return (
        "No two raters agree more than their accuracies explain; errors that all of them have in "
        "common cannot be detected."
    )


def on_systems(results: Results) -> list[str]:
    """Say by whom systems are judged, and on which items differences rest."""
    ratings = results.ratings
    names: Sequence[str] = [str(name) for name in ratings.systems]
    lines = [TEXT["judged_by_raters"]]
    if answered_the_same(ratings, names):
        n_items = counted(n_common_items(ratings, names), "item")
        return [*lines, f"Differences rest on the same {n_items} and raters."]
    own = (f"{name} {n_common_items(ratings, [name])}" for name in names)
    lines.append(
        f"The systems answered different items ({first_few(own, MOST_NAMED)} of "
        f"{ratings.n_items}). The accuracy of each is that on its own items."
    )
    return [*lines, TEXT["common_items"]]


def on_proportions(view: View) -> list[str]:
    """Say which group has the highest proportion, and by how much."""
    method = view.methods[0]
    rates, ranks = rank_base_rates(view)
    own = [row for row in rates if row["method"] == method]
    best = own[: 1 if ranks else None]
    lines = []
    for row in best:
        where = f" in {row['group']}" if row["group"] else ""
        value = write_apa(value_of(row))
        lines.append(f"{row['category']}{where}: {value}, by {method_label(method)}.")
    differences = view.pick("base_rates_difference", grouping="group", group=ANY, method=method)
    for row in differences[:MOST_NAMED]:
        lines.append(f"{row['group']} minus {row['versus']}: {write_apa(value_of(row))}.")
    return lines
