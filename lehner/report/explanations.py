"""Sentences on how to read the numbers of each section, and what the data are."""

import math
from collections.abc import Iterator, Sequence

from lehner.contrasts import systems
from lehner.core.results import read_value
from lehner.core.text import count_categories, list_few, pluralise, to_decimal, to_percent
from lehner.dependence.bounds import TippingPoint
from lehner.estimation.summary import describe_prior
from lehner.estimation.views import ANY, View
from lehner.report.tables import REPORT
from lehner.report.terminal import cut, write_data_lines

MOST_NAMED, MOST_SHOWN, LONGEST_FILE = 4, 12, 36
TEXT: dict[str, str] = REPORT["text"]


def describe_data(view: View) -> list[str]:
    """Say what the data are, the system first, and how much raters agree, if it was asked."""
    ratings = view.results.ratings
    lines = [_describe(view, "data"), *write_data_lines(ratings)]
    agreed = ("percent_agreement", "brennan_prediger", "n_pairs")
    agree, kappa, pairs = (view.number(name, method="", versus="") for name in agreed)
    if not math.isnan(pairs):
        lines.append(
            f"Raters agree on {to_decimal(agree)} of {pluralise(int(pairs), 'pair')} of ratings; "
            f"beyond the chance of 1/{ratings.n_categories} that is kappa {to_decimal(kappa)}"
        )
    return lines


def describe_briefly(view: View) -> str:
    """Say in a line what the data are, and what is compared if no system is evaluated."""
    return _describe(view, "data_briefly" if view.system else "comparison")


def _describe(view: View, name: str) -> str:
    """Fill a text of `report.toml` with the file, the systems, groups, and numbers of the data."""
    results, ratings, gold = view.results, view.results.ratings, view.gold
    groups, table, n_ratings = results.options.groups, results.table, ratings.n_ratings
    rates = table[table["quantity"] == "base_rates"]["category"].unique()
    n_systems = len(ratings.systems)
    short_file, system = cut(results.name, LONGEST_FILE), cut(view.system)
    n_groups = pluralise(len(ratings.populations) or 1, "group")
    return TEXT[name].format(
        file=results.name,
        short_file=short_file,
        systems=list_few(ratings.systems, MOST_NAMED),
        evaluated=system if n_systems < 2 else f"{n_systems} systems",
        items=pluralise(ratings.n_items, "item"),
        raters=pluralise(ratings.n_raters, "rater"),
        ratings=pluralise(n_ratings, "rating"),
        categories=count_categories(ratings.n_categories, ordered=ratings.ordered),
        names=list_few(ratings.categories, MOST_SHOWN),
        gold="" if gold is None else f", {pluralise(int(gold['n_items']), 'gold label')}",
        grouped="" if groups is None else f" in {n_groups} by {groups.column}",
        compared=f"proportion of {rates[0]}" if len(rates) == 1 else "base rates",
        corrected=", corrected by gold labels" if table["corrected"].any() else "",
    )


def explain_accuracy(view: View) -> Iterator[str]:
    """Say how to read the accuracies of the methods."""
    if view.gold is not None:
        yield _read_gold_labels(view)
    if any(not math.isnan(row["estimate"]) for row in view.pick("prediction_powered")):
        yield TEXT["by_ppi"]
    for method in view.methods:
        if learned := describe_prior(view, method):
            yield TEXT["learned_prior"].format(method=view.names(method), learned=learned)
    needed = find_needed(view)
    if needed is not None:
        yield TEXT["without_model"].format(needed=needed)


def _read_gold_labels(view: View) -> str:
    """Say how the system does on the items with a gold label, and what these are used for."""
    gold = view.gold or {}
    value = read_value(gold)
    shown = f"{value}, exact for these items"
    if value.level is not None:
        by = "with weights" if "weight" in value.kind else "by Wilson"
        shown = f"{value} ({to_percent(value.level)} interval {by} for all these items)"
    if view.is_corrected:
        use = "; these labels correct the estimates"
    elif any(row["corrected"] for row in view.pick("system_accuracy")):
        use = "; the models use these labels" if view.results.ratings.n_raters else ""
    elif value.level is None:
        use = "; all items have one, and the methods do not use them"
    else:
        use = "; no estimate here uses these labels"
    return (
        f"On the {pluralise(int(gold['n_items']), 'item')} with a gold label, whose true category "
        f"is known, the system's accuracy is {shown}{use}."
    )


def find_needed(view: View) -> TippingPoint | None:
    """Read how much errors must correlate for the accuracy to be low, if it was computed."""
    above = view.first("system_accuracy_above", method="")
    crowds = view.first("crowds_beyond", method="")
    if above is None or crowds is None:
        return None
    correlation = view.number("mistake_correlation_needed", method="")
    return TippingPoint(
        above=above["estimate"],
        correlation=None if math.isnan(correlation) else correlation,
        crowds_beyond=int(crowds["estimate"]),
        n_crowds=int(crowds["n_items"]),
    )


def explain_positive(view: View) -> Iterator[str]:
    """Say which category is the positive one."""
    if view.positive is not None:
        yield str(view.positive)


def explain_groups(view: View, grouping: str) -> Iterator[str]:
    """Say what is special about groups, and which methods have no numbers of them."""
    column = view.find_column(grouping)
    if column is not None and column.note:
        yield column.note
    having = {row["method"] for row in view.rows if row["grouping"] == grouping}
    without = ", ".join(view.names(name) for name in view.methods if name not in having)
    if without:
        yield REPORT["without_groups"][grouping].format(without)


def explain_correlated_errors(view: View) -> Iterator[str]:
    """Say what is known of correlated errors of raters."""
    if not view.results.ratings.raters:
        return
    tests = view.pick("pair_agreement_test", rater=ANY)
    apart = [f"{row['rater']} and {row['versus']}" for row in tests if row["kind"]]
    if apart:
        yield f"More than their accuracies explain agree {list_few(apart, MOST_NAMED)}."
    else:
        yield TEXT["pairs_agree" if tests else "not_tested"]
    yield from describe_effective_raters(view)


def describe_effective_raters(view: View, *, briefly: bool = False) -> Iterator[str]:
    """Say how many independent raters would tell as much, if it is known."""
    row = view.first("effective_raters", method="")
    if row is None:
        return
    source = "by_gold_labels" if math.isnan(row["lower"]) else "by_crowds"
    texts = REPORT["effective_raters_briefly" if briefly else "effective_raters"]
    n_raters = view.number("raters_per_item", method="")
    correlation = view.number("mistake_correlation", method="")
    yield str(texts[source]).format(
        **row,
        raters=f"{round(n_raters, 2):.10g} raters of an item",
        percent=to_percent(row["level"]) if row["level"] > 0 else "",
        correlation=to_decimal(correlation, 2),
    )


def explain_systems(view: View) -> Iterator[str]:
    """Say by whom systems are judged, and on which items differences rest."""
    ratings = view.results.ratings
    names: Sequence[str] = [str(name) for name in ratings.systems]
    if ratings.n_raters:
        yield TEXT["judged_by_raters"]
    differences = view.pick("system_accuracy_difference")
    if view.is_corrected and any(row["corrected"] for row in differences):
        yield TEXT["differences_by_prior"]
    if systems.have_same_items(ratings, names):
        n_items = pluralise(systems.count_common(ratings, names), "item")
        yield f"Differences rest on the same {n_items}{' and raters' if ratings.n_raters else ''}."
        return
    numbers = list_few(
        (f"{name} {systems.count_common(ratings, [name])}" for name in names), MOST_NAMED
    )
    yield (
        f"The systems answered different items ({numbers} of {ratings.n_items}). The accuracy of "
        "each is that on its own items."
    )
    yield TEXT["common_items"]
