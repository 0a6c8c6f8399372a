"""The tables of a report of estimates: a function for each, which picks rows and lays them out."""

import math
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from lehner.core.estimate import ESTIMANDS
from lehner.core.results import read_value
from lehner.core.table import PrintedTable, TableColumn
from lehner.core.text import format_p
from lehner.estimation import views
from lehner.estimation.views import TWO_DIGITS, View
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
    return tables + views.lay_out(view, {f"{name}_trend": "change, P(rise)"}, "{versus}", **columns)


def tabulate_categories(view: View) -> list[PrintedTable]:
    """Make the table of recall, precision and base rates; of two categories it is that of tests."""
    if view.positive is not None:
        return []
    return views.lay_out(view, TITLES["categories"], "{category}", title="category")


def tabulate_tests(view: View) -> list[PrintedTable]:
    """Make one table of the raters, and with two categories of the system, as tests."""
    titles = {("system_accuracy", ""): "accuracy", ("rater_accuracy", ""): "accuracy"}
    titles |= view.test_measures | {("rater_accuracy_lowest", ""): "P(least accurate)"}
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
