"""The tables of a report of estimates, a function for each, and sentences on how to read them."""

import math
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lehner.contrasts import systems
from lehner.core.errors import list_few
from lehner.core.estimate import ESTIMANDS
from lehner.core.results import read_value
from lehner.core.table import PrintedTable, TableColumn
from lehner.core.text import (
    count_categories,
    cut,
    format_p,
    pluralise,
    to_decimal,
    to_percent,
    write_data_lines,
)
from lehner.dependence.bounds import TippingPoint
from lehner.estimation import views
from lehner.estimation.summary import describe_prior
from lehner.estimation.views import ANY, TWO_DIGITS, View
from lehner.performance.measures import LOSS

REPORT = tomllib.loads(Path(__file__).with_name("report.toml").read_text(encoding="utf-8"))
TITLES: dict[str, dict[str, str]] = REPORT["columns"]
EVIDENCE = ("estimate", "P(sign)", "Bayes factor", "verdict")


def define_table(name: str, label: str, **options: Any) -> Callable[..., list[PrintedTable]]:
    """Give the function that makes a table of quantities, which `report.toml` names.

    Parameters
    ----------
    name : str
        A key of `columns` in `report.toml`.
    label, **options
        As `views.lay_out` takes them.

    Returns
    -------
    callable
    """
    return partial(views.lay_out, titles=TITLES[name], label=label, **options)


# These tables have a column for each method.
SYSTEMS = partial(views.lay_out, titles=views.ACCURACIES, label="{system}")
GROUPS = partial(views.lay_out, titles=views.ACCURACIES, label="{group}", sized=True)
GROUP_BASE_RATES = define_table("group_base_rates", "{group}: {category}")
# The confusion matrix has a column for each answer.
MATRIX: dict[str, Any] = {"title": "truth \\ answer", "across": "response", "write": TWO_DIGITS}
CONFUSION = define_table("confusion", "{category}", **MATRIX)
# These tables have a column for each quantity.
BESIDE: dict[str, Any] = {"across": "quantity", "rater": views.ANY}
STUDIES = define_table("studies", "{rater} {category}", title="study of", **BESIDE)
WITHOUT_STUDIES = define_table("without_studies", "without the studies", across="quantity")
REFERENCE = define_table("reference", "{category}", title="category", across="quantity")
ANNOTATORS = define_table("annotators", "{rater}", title="rater", **BESIDE)
WINNING_RATES = define_table("winning_rates", "{versus}", across="quantity")
PAIRS: dict[str, Any] = {"title": "systems (items of both)", "across": "quantity", "sized": True}


def tabulate_system_ranks(view: View, **columns: Any) -> list[PrintedTable]:
    """Make the table of ranks by the measure by which systems are compared."""
    return views.lay_out(view, {f"{view.compared}_rank": "rank, P(best)"}, "{system}", **columns)


def tabulate_pairs(view: View, *, short: bool = False, **columns: Any) -> list[PrintedTable]:
    """Make the table of differences of systems by the measure by which they are compared."""
    accuracy = view.compared == ESTIMANDS[0]
    by = f" in {view.compared_title}" * (not accuracy)
    better = "higher" if view.compared == LOSS else "better"
    titles = {f"{view.compared}_difference": f"difference{by}, P({better})"}
    if accuracy and not short:
        titles["system_accuracy_in_sample_difference"] = "on these items"
    return views.lay_out(view, titles, "{system} – {versus}", once=not short, **PAIRS, **columns)


def tabulate_compared(view: View, **columns: Any) -> list[PrintedTable]:
    """Make the tables of the measure by which groups are compared, and of how it changes."""
    name, tables = view.compared, GROUPS(view, **columns)
    if name != ESTIMANDS[0]:
        tables += views.lay_out(view, {name: view.compared_title}, "{group}", **columns)
    titles = {f"{name}_difference": "difference, P(higher)"}
    tables += views.lay_out(view, titles, "{group} – {versus}", **columns)
    columns |= {"title": f"change in {view.compared_title}"}
    titles = {f"{name}_trend": "change, P(rise)"}
    if view.results.options.with_trend == "anytime":
        titles = {f"{ESTIMANDS[1]}_trend": "change in these items"}
    return tables + views.lay_out(view, titles, "{versus}", **columns)


def tabulate_categories(view: View) -> list[PrintedTable]:
    """Make the table of recall, precision and base rates; of two categories it is that of tests."""
    if view.positive is not None:
        return []
    return views.lay_out(view, TITLES["categories"], "{category}", title="category")


def tabulate_tests(view: View) -> list[PrintedTable]:
    """Make one table of the raters, and with two categories of the system, as tests."""
    titles = {("system_accuracy", ""): "accuracy", ("rater_accuracy", ""): "accuracy"}
    titles |= view.test_measures
    with_system = view.positive is not None and bool(view.system)
    shown = [row for row in view.rows if not row["grouping"] and (row["rater"] or with_system)]
    rows = [row for row in shown if (row["quantity"], row["category"]) in titles]
    cells = [
        (
            view.names(row["method"]),
            row["rater"] or view.system,
            titles[row["quantity"], row["category"]],
            cell,
        )
        for row, cell in zip(rows, views.make_cells(rows), strict=True)
    ]
    columns = [TableColumn(title, title, TWO_DIGITS) for title in dict.fromkeys(titles.values())]
    title = "system or rater" if with_system else "rater"
    return views.arrange(cells, columns, head="method", title=title)


def tabulate_prevalence(view: View) -> list[PrintedTable]:
    """Make the table of the base rate of the positive category, if there are two."""
    if view.positive is None:
        return []
    return views.lay_out(view, TITLES["prevalence"], "{group}", category=str(view.positive.name))


def tabulate_measures(view: View) -> list[PrintedTable]:
    """Make the table of further measures; of two categories that of tests has the specificity."""
    titles = dict(TITLES["measures"])
    if view.positive is not None:
        titles.pop("specificity")
    return views.lay_out(view, titles, "{category}", title="category", write=TWO_DIGITS)


def tabulate_k_properties(view: View) -> list[PrintedTable]:
    """Make the table of the evidence on each K-property."""
    cells: list[views.PlacedCell] = []
    for factor in view.pick("bayes_factor_against_zero"):
        row = view.first(factor["versus"], method=factor["method"])
        if row is not None:
            chance = row["probability"]
            sign = None if math.isnan(chance) else (format_p(chance),)
            values = (read_value(row), sign, *views.make_cells([factor]), (factor["kind"],))
            cells += [
                (row["versus"], factor["versus"], title, value)
                for title, value in zip(EVIDENCE, values, strict=True)
            ]
    columns = [TableColumn(title, title) for title in EVIDENCE]
    return views.arrange(cells, columns, head="K-property", title="parameter")


MOST_NAMED, MOST_SHOWN, LONGEST_FILE = 4, 12, 36
TEXT: dict[str, str] = REPORT["text"]


def describe_data(view: View) -> list[str]:
    """Say what the data are, the system first, and how much raters agree, if it was asked."""
    ratings = view.results.ratings
    lines = [_describe(view, "data"), *write_data_lines(ratings.notes)]
    agreed = ("percent_agreement", "brennan_prediger", "n_pairs")
    agree, kappa, pairs = (view.number(name, method="", versus="") for name in agreed)
    if not math.isnan(pairs):
        text = f"Raters agree on {to_decimal(agree)} of {pluralise(int(pairs), 'pair')} of ratings"
        beyond = f"beyond the chance of 1/{ratings.n_categories} that is kappa {to_decimal(kappa)}"
        lines.append(f"{text}; {beyond}")
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
    items = f"{pluralise(int(gold['n_items']), 'item')} with a gold label"
    text = f"On the {items}, whose true category is known, the system's accuracy is "
    return f"{text}{shown}{use}."


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
    text = f"The systems answered different items ({numbers} of {ratings.n_items})"
    yield f"{text}. The accuracy of each is that on its own items."
    yield TEXT["common_items"]
