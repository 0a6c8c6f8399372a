"""Sentences that read the results: for a paper, and on how to read each section."""

import math
from collections.abc import Sequence
from typing import Any

from experiments.report.style import method_label
from experiments.report.views import (
    ANY,
    REPORT,
    View,
    allows_correlated_errors,
    assumption,
    rank_base_rates,
    view_systems,
)
from experiments.report.words import data_notes, header_lines
from lehner import __version__
from lehner.contrasts.systems import answered_the_same, n_common_items
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import counted, counted_categories, decimal, first_few, percent, short
from lehner.dependence.bounds import MistakesNeeded
from lehner.estimation.results import Results, value_of

MOST_NAMED, MOST_SHOWN = 4, 12
TEXT: dict[str, str] = REPORT["text"]


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
    ratings, method = view.results.ratings, view.reported
    if not method:
        return f"The accuracy of {view.system} cannot be estimated from these ratings."
    value = view.value("system_accuracy_in_sample", method=method)
    rated = f"{counted(ratings.n_ratings, 'rating')} by {counted(ratings.n_raters, 'rater')}"
    if view.gold is not None and value.corrected:
        rated += f" and {counted(int(view.gold['n_items']), 'gold label')}"
    learned, assumed = on_crowds(view, method), assumption(method)
    if learned:
        agreement = view.results.fits[view.system, method].diagnostics["agreement"]
        by = f"given its agreement of {short(agreement, 2)} with the majority, by {learned}"
    else:
        corrected = ", corrected by the gold labels" if value.corrected else ""
        by = f"by the method “{method_label(method)}”{corrected}"
        by += f", if {assumed}" if assumed else ""
    return (
        f"On these {counted(ratings.n_items, 'item')} the accuracy of {view.system} was estimated "
        f"at {write_apa(value)} from {rated}, {by} (lehner {__version__})."
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


def on_crowds(view: View, method: str) -> str:
    """Say what a method learned on which crowds; nothing of one that learned nothing."""
    told = view.results.fits[view.system, method].diagnostics
    if "system_is" not in told:
        return ""
    return (
        f"an empirical prior learned on {told['crowds']} public crowds ({told['families']} "
        f"families) whose true categories are known, {REPORT['system_is'][told['system_is']]}"
    )


def describe_data(results: Results) -> list[str]:
    """Say what the data are, the system first, and how much raters agree, if it was asked."""
    ratings = results.ratings
    names = [str(name) for name in ratings.systems]
    whom = f"{first_few(names, MOST_NAMED)}; " if names else ""
    categories = counted_categories(ratings.n_categories, ordered=ratings.ordered)
    lines = [
        f"{results.options.name}: {whom}{counted(ratings.n_items, 'item')}, "
        f"{counted(ratings.n_raters, 'rater')}, {categories} "
        f"({first_few(ratings.categories, MOST_SHOWN)}), {counted(ratings.n_ratings, 'rating')}",
        *header_lines(data_notes(ratings)),
    ]
    first = view_systems(results)[0]
    agreed = ("percent_agreement", "brennan_prediger", "n_pairs")
    agree, kappa, pairs = (first.number(name, method="", versus="") for name in agreed)
    if not math.isnan(pairs):
        lines.append(
            f"Raters agree on {decimal(agree)} of {counted(int(pairs), 'pair')} of "
            f"ratings; beyond the chance of 1/{ratings.n_categories} that is kappa {decimal(kappa)}"
        )
    return lines


def on_accuracy(view: View) -> list[str]:
    """Say how to read the accuracies of the methods."""
    lines = [on_gold_labels(view)]
    if any(not math.isnan(row["estimate"]) for row in view.pick("prediction_powered")):
        lines.append(TEXT["by_ppi"])
    if any(one.code == "truths-not-random" for one in view.results.warnings):
        lines.append(TEXT["not_random"])
    for method in view.methods:
        if learned := on_crowds(view, method):
            lines.append(TEXT["calibrated"].format(method=view.names(method), learned=learned))
    needed = find_needed(view)
    if needed is not None:
        lines.append(TEXT["without_model"].format(needed=needed))
    return list(filter(None, lines))


def on_positive(view: View) -> list[str]:
    """Say which category is the positive one."""
    return [] if view.positive is None else [str(view.positive)]


def on_gold_labels(view: View) -> str:
    """Say how the system does on the items with a gold label, and what these are used for."""
    if view.gold is None:
        return ""
    value, judged = value_of(view.gold), view.results.ratings.n_raters
    if value.level is None:
        shown = f"{value}, exact for these items"
    else:
        by = "with weights" if "weight" in value.kind else "by Wilson"
        shown = f"{value} ({percent(value.level)} interval {by} for all these items)"
    if view.is_corrected:
        use = "; these labels correct the estimates"
    elif any(row["corrected"] for row in view.pick("system_accuracy")):
        use = "; the models use these labels" if judged else ""
    elif value.level is None:
        use = "; all items have one, and the methods do not use them"
    else:
        use = "; no estimate here uses these labels"
    n = counted(int(view.gold["n_items"]), "item")
    return (
        f"On the {n} with a gold label, whose true category is known, the system's accuracy is "
        f"{shown}{use}."
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
    lines = [TEXT["misled"].format(100 * share, without)]
    tests = view.pick("pair_agreement_test", rater=ANY)
    apart = [f"{row['rater']} and {row['versus']}" for row in tests if row["kind"]]
    if apart:
        lines.append(f"More than their accuracies explain agree {first_few(apart, MOST_NAMED)}.")
    else:
        lines.append(TEXT["pairs_agree" if tests else "not_tested"])
    worth = on_effective_raters(view)
    lines += [worth] if worth else []
    exact = {row["method"] for row in view.pick("system_accuracy_if_raters_misled_bounds")}
    alone = {row["method"] for row in view.pick("system_accuracy_if_raters_misled")}
    if any(not allows_correlated_errors(method) for method in alone - exact):
        lines.append(TEXT["approximation"])
    return lines


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
    method, of = view.methods[0], dict[str, Any](grouping="group", group=ANY)
    rates = [row for row in rank_base_rates(view) if row["method"] == method]
    ranked = view.pick("base_rates_rank", method=method, **of)
    lines = []
    for row in rates[: 1 if ranked else None]:
        where = f" in {row['group']}" if row["group"] else ""
        value = write_apa(value_of(row))
        lines.append(f"{row['category']}{where}: {value}, by {method_label(method)}.")
    for row in view.pick("base_rates_difference", method=method, **of)[:MOST_NAMED]:
        lines.append(f"{row['group']} minus {row['versus']}: {write_apa(value_of(row))}.")
    return lines
