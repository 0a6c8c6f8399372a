"""Tables that put rows of several kinds beside one another, and so are more than a view."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from experiments.report.table import Cell, Column, Table
from experiments.report.views import (
    ACCURACIES,
    ANY,
    REPORT,
    Record,
    Row,
    View,
    allows_correlated_errors,
    assumption,
    make_cell,
    make_table,
    pivot,
    plain_cell,
    tabulate,
    write_cell,
    write_short,
)
from lehner.core.text import decimal, probability
from lehner.estimation.results import value_of
from lehner.performance.positive import NAMES as OF_POSITIVE

MOST_DIFFERENCES = 6
APPROXIMATELY = "≈"
TITLES = {
    "positive_predictive_value": "PPV",
    "negative_predictive_value": "NPV",
    "positive_likelihood_ratio": "LR+",
    "negative_likelihood_ratio": "LR−",
}


def tabulate_accuracies(view: View) -> list[Table]:
    """Make the table of the system's accuracy by each method, beside what methods assume."""
    every = [*view.rows, *view.uncorrected]
    with_gold = "with the gold labels"
    rows: list[Row] = []
    for corrected in (True, False):
        for method in view.methods:
            found = view.pick(*ACCURACIES, of=every, method=method)
            own = {
                row["quantity"]: plain_cell(row) for row in found if row["corrected"] == corrected
            }
            assumed = f"if {assumption(method)}" if assumption(method) else "without gold labels"
            if own:
                names = (with_gold if corrected else assumed, view.names(method))
                rows.append((*names, *(own.get(name) for name in ACCURACIES)))
        if corrected and rows:
            for row in view.pick("prediction_powered"):
                name = f"PPI++ of {view.names(row['method'])}"
                rows.append((with_gold, name, None, plain_cell(row)))
            alone = view.value("accuracy_on_known_items", method="")
            rows.append((with_gold, "gold labels alone", alone, None))
    order = list(dict.fromkeys(row[0] for row in rows))
    columns = [Column("assumes", ""), Column("method")]
    columns += [Column(quantity, title) for quantity, title in ACCURACIES.items()]
    return make_table(columns, sorted(rows, key=lambda row: order.index(row[0])), keys=2)


def tabulate_confusion(view: View) -> list[Table]:
    """Make the table of the confusion matrices, one method below the other."""
    answers = [str(name) for name in view.results.ratings.categories]
    columns = [Column(name, name, write_short) for name in answers]
    return pivot(
        view.pick("confusion"),
        columns,
        lambda row: view.names(row["method"]),
        lambda row: row["category"],
        lambda row: row["response"],
        title="truth \\ answer",
    )


def tabulate_tests(view: View) -> list[Table]:
    """Make one table of every test: the raters, with two categories also the system.

    With two categories sensitivity, specificity, predictive values and likelihood ratios; else the
    accuracy, and the recall of each category.
    """
    positive = view.positive
    titles = {("system_accuracy", ""): "accuracy", ("rater_accuracy", ""): "accuracy"}
    if positive is None:
        names = map(str, view.results.ratings.categories)
        titles |= {("recall", name): f"recall of {name}" for name in names}
    else:
        both = {True: str(positive.name), False: str(positive.negative)}
        for name, (quantity, of) in (OF_POSITIVE | {"specificity": ("recall", False)}).items():
            titles[quantity, both[of]] = TITLES.get(name, name.replace("_", " "))
    titles["rater_accuracy_lowest", ""] = "P(least accurate)"
    rows = [
        row
        for row in view.rows
        if (row["quantity"], row["category"]) in titles and not row["grouping"]
    ]
    return pivot(
        [row for row in rows if row["rater"] or positive is not None],
        [Column(title, title, write_short) for title in dict.fromkeys(titles.values())],
        lambda row: view.names(row["method"]),
        lambda row: row["rater"] or view.system,
        lambda row: titles[row["quantity"], row["category"]],
    )


def tabulate_prevalence(view: View) -> list[Table]:
    """Make the table of the base rate of the positive category, in all items and by population."""
    positive = view.positive
    if positive is None:
        return []
    rows = view.pick("base_rates", grouping=ANY, group=ANY, category=str(positive.name))
    columns = [Column(name, view.names(name)) for name in view.methods]
    return pivot(
        [row for row in rows if row["grouping"] != "group"],
        columns,
        lambda row: "prevalence",
        lambda row: row["group"] or "all items",
        lambda row: row["method"],
    )


def tabulate_differences(views: Sequence[View], every: list[Record]) -> list[Table]:
    """Make the table of differences of systems; of many systems those to the best one."""
    first = views[0]
    in_sample = {
        (row["method"], row["system"], row["versus"]): value_of(row)
        for row in first.pick("system_accuracy_in_sample_difference", of=every)
    }
    rows: list[Row] = []
    for method in first.methods:
        pairs = first.pick("system_accuracy_difference", of=every, method=method)
        if len(pairs) > MOST_DIFFERENCES:
            ranks = first.pick("system_accuracy_rank", of=every, method=method)
            best = {row["system"] for row in ranks if row["estimate"] == 1}
            pairs = [row for row in pairs if not best or best & {row["system"], row["versus"]}]
        for row in pairs[: max(MOST_DIFFERENCES, len(views))]:
            chance = probability(row["probability"]) if row["probability"] >= 0 else ""
            near = in_sample.get((method, row["system"], row["versus"]))
            names = (first.names(method), f"{row['system']} – {row['versus']}")
            rows.append((*names, value_of(row), (chance,), near, row["n_items"]))
    signed = partial(decimal, sign=True)
    columns = [Column("method", ""), Column("systems"), Column("difference", format=signed)]
    columns += [Column("probability", "P(better)", str)]
    columns += [Column("in_sample", "on these items", signed)]
    return make_table([*columns, Column("n_items", "items of both", "{:g}".format)], rows, keys=2)


def tabulate_misled(view: View) -> list[Table]:
    """Make the table of what the accuracy would be if items misled the raters."""
    rows: list[Row] = []
    for method in view.methods:
        too = view.number("system_accuracy_if_all_misled", method=method)
        if allows_correlated_errors(method) or math.isnan(too):
            continue
        before = view.pick("system_accuracy", of=[*view.uncorrected, *view.rows], method=method)
        alone = view.number("system_accuracy_if_raters_misled", method=method)
        exact = view.first("system_accuracy_if_raters_misled_bounds", method=method) is not None
        shown = f"{'' if exact else APPROXIMATELY}{decimal(alone)}"
        last = None if math.isnan(alone) else (shown,)
        rows.append((view.names(method), before[0]["estimate"], too, last))
    names = ("method", "nobody_misled", "system_too")
    return make_table([*map(Column, names), Column("raters_alone", format=str)], rows)


def tabulate_k_properties(view: View) -> list[Table]:
    """Make the table of the evidence on each K-property."""
    rows: list[Row] = []
    for factor in view.pick("bayes_factor_against_zero", grouping=ANY, group=ANY, rater=ANY):
        name, _, group = factor["versus"].partition("[")
        of = {"grouping": "rater_group", "group": group.rstrip("]")} if group else {}
        row = view.first(name, method=factor["method"], **of)
        if row is not None:
            chance = row["probability"]
            sign = None if math.isnan(chance) else (probability(chance),)
            evidence = ((_write_factor(factor),), (factor["kind"],))
            rows.append((row["versus"], factor["versus"], value_of(row), sign, *evidence))
    columns = [Column("k_property", "K-property"), Column("parameter"), Column("estimate")]
    titles = {"sign": "P(sign)", "bayes_factor": "Bayes factor", "verdict": "verdict"}
    return make_table([*columns, *(Column(*one, str) for one in titles.items())], rows, keys=2)


def _write_factor(row: Record) -> str:
    if math.isnan(row["estimate"]):
        return "" if math.isnan(row["lower"]) else f"> {row['lower']:.3g}"
    half = (row["upper"] - row["lower"]) / 2
    return decimal(row["estimate"], 2) + ("" if math.isnan(half) else f" ± {decimal(half, 2)}")


def tabulate_pair(view: View) -> list[Table]:
    """Make the table of the accuracy if a pair of raters shares answers, and if it does not."""
    in_sample = "system_accuracy_in_sample_if"
    rows: list[Row] = []
    for row in view.pick(f"{in_sample}_dependent", rater=ANY):
        at = {name: row[name] for name in ("method", "rater", "versus")}
        factor = view.value("bayes_factor_dependent", **at)
        log, upper = math.log(factor.estimate or 1), math.log(factor.upper or 1)
        error = (upper - log) / 1.645
        names = (view.names(row["method"]), f"{row['rater']} and {row['versus']}")
        without = view.value(f"{in_sample}_independent", **at)
        rows.append((*names, value_of(row), without, (write_bayes_factor(log, error),)))
    columns = [Column("method"), Column("pair"), Column("if_dependent", "accuracy if dependent")]
    columns += [Column("if_independent"), Column("bayes_factor", "Bayes factor", str)]
    return make_table(columns, rows, keys=2)


def write_bayes_factor(log: float, error: float) -> str:
    """Write a Bayes factor; with a probability of 90% it differs by less than what follows "±".

    Examples
    --------
    >>> write_bayes_factor(1.0, 0.1), write_bayes_factor(-2.0, 0.05), write_bayes_factor(20.0, 0.5)
    ('2.7 ± 0.5', '0.14 ± 0.01', '> 1000')
    """
    if abs(log) - 3 * error > math.log(1000):
        return "> 1000" if log > 0 else "< 1/1000"
    value = math.exp(log)
    digits = 0 if value >= 10 else 1 - min(0, math.floor(math.log10(value)))
    return f"{value:.{digits}f} ± {value * math.expm1(1.645 * error):.{digits}f}"


def rank_base_rates(view: View) -> tuple[list[Record], dict[str, Record]]:
    """List the base rates in groups, the highest first, and the rank of each group."""
    of: Any = {"grouping": "group", "group": ANY}
    ranked = view.pick("base_rates_rank", method=view.methods[0], **of)
    ranks = {row["group"]: row for row in ranked}
    rates = view.pick("base_rates", **of)
    return sorted(rates, key=lambda row: ranks[row["group"]]["estimate"] if ranks else 0), ranks


def name_base_rate(row: Record, rates: Sequence[Record], cut: Callable[[str], str] = str) -> str:
    """Name a group, and the category if several have rows in it or there are no groups."""
    several = len({other["category"] for other in rates}) > 1
    category = [row["category"]] if several or not row["group"] else []
    return ": ".join([*([cut(row["group"])] if row["group"] else []), *category])


def tabulate_base_rates(
    view: View, methods: int | None = None, cut: Callable[[str], str] = str
) -> list[Table]:
    """Make the tables of `lehner compare`: proportions in groups, differences, and raters.

    Parameters
    ----------
    view : View
    methods : int, optional
        How many methods have a column.
    cut : callable
        Shortens names.

    Returns
    -------
    list of Table
    """
    of: Any = {"grouping": "group", "group": ANY}
    rates, ranks = rank_base_rates(view)
    gold = {
        (row["group"], row["category"]): row for row in view.pick("base_rates_on_known_items", **of)
    }
    groups: dict[tuple[str, str], dict[str, Cell]] = {}
    for row in rates:
        cells = groups.setdefault((row["group"], row["category"]), {})
        cells[row["method"]] = plain_cell(row)
        known = gold.get((row["group"], row["category"]))
        cells |= {"": name_base_rate(row, rates, cut), "n_items": (f"{row['n_items']:g}",)}
        if known is not None and known["n_items"] > 0:
            cells["gold"] = (f"{round(known['estimate'] * known['n_items'])}/{known['n_items']:g}",)
        if row["group"] in ranks:
            cells["rank"] = make_cell(ranks[row["group"]] | {"corrected": False})
    raters = "judge" if view.results.ratings.n_raters == 1 else "rater_accuracies"
    column = view.column_of("group")
    columns = [Column("", "" if column is None else cut(column.column))]
    columns += [Column("n_items", "items", str), Column("gold", "gold labels", str)]
    columns += [Column(name, view.names(name), write_cell) for name in view.methods[:methods]]
    columns.append(Column("rank", "rank, P(best)", str))
    rows = [tuple(cells.get(one.name) for one in columns) for cells in groups.values()]
    return [
        *make_table(columns, rows),
        *tabulate(view, "base_rate_differences", methods=methods and 1, cut=cut, **of),
        *tabulate(view, raters, methods=methods, cut=cut),
    ]


def tabulate_systems(views: Sequence[View]) -> list[Table]:
    """Make the tables of several systems: accuracies, ranks and differences."""
    every = [row for view in views for row in view.rows]
    names = ("systems", "ranks")
    plain = [table for name in names for table in tabulate(views[0], name, every)]
    return [*plain, *tabulate_differences(views, every)]


def make_tables(view: View, name: str, of: dict[str, Any]) -> list[Table]:
    """Make the tables of a name, of `report.toml` or of details.py."""
    if name in REPORT["table"]:
        return tabulate(view, name, **of)
    return list(globals()[f"tabulate_{name}"](view))
