"""Views: which rows of the results stand in which table; `report.toml` has those that are plain."""

import math
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from experiments.report.table import Cell, Column, Table
from lehner.core.errors import Warning
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import DASH, decimal, plain_number, probability, short
from lehner.estimation.methods import get_method
from lehner.estimation.results import Results, value_of
from lehner.performance.measures import NAMES as OF_POSITIVE
from lehner.performance.measures import PositiveCategory, find_positive

REPORT = tomllib.loads(Path(__file__).with_name("report.toml").read_text(encoding="utf-8"))
ANY = "\0any"
"""Stands for any value of a column."""
ACCURACIES = {
    "system_accuracy_in_sample": "on these items",
    "system_accuracy": "on items like these",
}
TITLES = {
    "positive_predictive_value": "PPV",
    "negative_predictive_value": "NPV",
    "positive_likelihood_ratio": "LR+",
    "negative_likelihood_ratio": "LR−",
}
RANK = "{:.0f}".format
APPROXIMATELY = "≈"
LARGEST = 1000
"""Bayes factors beyond it, or below its inverse, are not told apart."""

type Record = dict[str, Any]
"""A row of the results."""


@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """The rows about one system, or about none if `system` is empty.

    Parameters
    ----------
    results : Results
    system : str
    names : callable
        From the name of a method to what people read.
    """

    results: Results
    system: str = ""
    names: Callable[[str], str] = field(default=str)

    @cached_property
    def rows(self) -> list[Record]:
        """Each number once, corrected by gold labels where that is possible."""
        return self._records(self.results.final)

    @cached_property
    def uncorrected(self) -> list[Record]:
        """The numbers that methods gave without gold labels, where these correct them."""
        corrected = {(row["method"], row["quantity"]) for row in self.rows if row["corrected"]}
        return [
            row
            for row in self._records(self.results.table)
            if not row["corrected"] and (row["method"], row["quantity"]) in corrected
        ]

    def _records(self, table: Any) -> list[Record]:
        return table[table["system"] == self.system].to_dict("records")

    @cached_property
    def methods(self) -> list[str]:
        """Names of the methods, in their order."""
        return list(dict.fromkeys(row["method"] for row in self.rows if row["method"]))

    @property
    def level(self) -> float:
        """Probability of the intervals."""
        return float(self.results.options.level)

    def pick(
        self, *quantities: str, of: Iterable[Record] | None = None, **columns: Any
    ) -> list[Record]:
        """Choose rows by their quantities; columns that are not named are empty, or `ANY`."""
        wanted = {"grouping": "", "group": "", "rater": ""} | columns
        wanted = {name: value for name, value in wanted.items() if value != ANY}
        return [
            row
            for row in (self.rows if of is None else of)
            if row["quantity"] in quantities and all(row[k] == v for k, v in wanted.items())
        ]

    def first(self, quantity: str, **columns: Any) -> Record | None:
        """The first such row, if there is one."""
        return next(iter(self.pick(quantity, **columns)), None)

    def value(self, quantity: str, **columns: Any) -> IntervalEstimate:
        """Its number; one without an estimate if there is no such row."""
        row = self.first(quantity, **columns)
        return IntervalEstimate(estimate=None) if row is None else value_of(row)

    def number(self, quantity: str, **columns: Any) -> float:
        """Its estimate; NaN if there is none."""
        row = self.first(quantity, **columns)
        return math.nan if row is None else float(row["estimate"])

    @cached_property
    def reported(self) -> str:
        """The method of the accuracy to report: if one allows for correlated errors, that one."""
        accuracies = self.pick("system_accuracy_in_sample")
        known = [row["method"] for row in accuracies if not math.isnan(row["estimate"])]
        return min(known, key=lambda name: not allows_correlated_errors(name), default="")

    @cached_property
    def detailed(self) -> str:
        """The method of the recall to show: that of the accuracy, or the last with intervals."""
        rows = self.pick("recall")
        names = [row["method"] for row in rows if not math.isnan(row["lower"])]
        names = names or [row["method"] for row in rows]
        return self.reported if self.reported in names else (names or [""])[-1]

    @property
    def rank(self) -> float:
        """Rank of the system among several by the method to report; infinite if it has none."""
        ranks = {row["method"]: row["estimate"] for row in self.pick("system_accuracy_rank")}
        rank = ranks.get(self.reported, [math.inf, *ranks.values()][-1])
        return math.inf if math.isnan(rank) else rank

    @property
    def gold(self) -> Record | None:
        """What the items with a gold label say alone."""
        return self.first("accuracy_on_known_items", method="")

    @property
    def is_corrected(self) -> bool:
        """Whether gold labels correct the accuracy of a method."""
        return any(row["quantity"] in ACCURACIES for row in self.uncorrected)

    @cached_property
    def positive(self) -> PositiveCategory | None:
        """The positive category, if there are two."""
        given: PositiveCategory | None = getattr(self.results.options, "positive", None)
        return given or find_positive(self.results.ratings)

    def column_of(self, grouping: str) -> Any:
        """The column of the file by which items are grouped; None if there is none."""
        return getattr(self.results.options, f"{grouping}s", None)

    def warnings(self, *about: str) -> list[Warning]:
        """List what should be known of the numbers of some questions."""
        given = self.results.warnings
        return [one for one in given if one.about in about and one.system in ("", self.system)]


def view_systems(results: Results, names: Callable[[str], str] = str) -> list[View]:
    """Make a view of each system; of ratings without a system one of all rows."""
    systems = [str(name) for name in results.ratings.systems]
    return [View(results=results, system=one, names=names) for one in systems or [""]]


def allows_correlated_errors(method: str) -> bool:
    """Whether a method's interval is meant to cover though errors of raters are correlated."""
    known = get_method(method)
    return known is not None and "shared_mistakes" in known.gives


def assumption(method: str) -> str:
    """What a method's estimate rests on, to be read after "if"."""
    known = get_method(method)
    return "" if known is None else known.assumes


def write_cell(value: float | IntervalEstimate, chance: float = math.nan) -> str:
    """Write a number, an estimate with its interval, or a difference and its P(higher)."""
    shown = str(value) if isinstance(value, IntervalEstimate) else plain_number(value)
    return shown if math.isnan(chance) else f"{shown}, {probability(chance, 2)}"


def make_cell(row: Record) -> Cell:
    """The number of a row, as its quantity is written."""
    value, chance, quantity = value_of(row), row["probability"], row["quantity"]
    if quantity.endswith("_rank"):
        return (f"{Column('', format=RANK).write(value)}, {probability(chance)}",)
    if quantity == "study_right":
        return (f"{value.estimate:.4g}/{row['n_items']:.4g}",)
    if quantity.endswith("_on_known_items"):
        return (count_right(row),)
    if quantity == "rater_accuracy_lowest":
        return (probability(chance, 2),)
    if quantity.startswith("bayes_factor"):
        return (write_bayes_factor(value),)
    if quantity.endswith("_difference") and not math.isnan(chance):
        return value, chance
    return value


def plain_cell(row: Record) -> Cell:
    """The number of a row whose heading says that gold labels correct it."""
    return make_cell(row | {"corrected": False})


def count_right(row: Record | None) -> str:
    """Write how many of the labelled items are right, as 19/25."""
    if row is None or not row["n_items"]:
        return "" if row is None else "0/0"
    return f"{round(row['estimate'] * row['n_items'])}/{row['n_items']:g}"


def write_bayes_factor(value: IntervalEstimate) -> str:
    """Write a Bayes factor; with a probability of 90% it differs by less than what follows "±".

    Examples
    --------
    >>> write_bayes_factor(IntervalEstimate(estimate=2.72, lower=2.22, upper=3.22))
    '2.72 ± 0.50'
    >>> write_bayes_factor(IntervalEstimate(estimate=None, lower=30))
    '> 30'
    """
    if value.estimate is None:
        return "" if value.lower is None else f"> {value.lower:.3g}"
    if not 1 / LARGEST < value.estimate < LARGEST:
        return f"> {LARGEST}" if value.estimate > 1 else f"< 1/{LARGEST}"
    if value.lower is None or value.upper is None:
        return decimal(value.estimate, 2)
    return f"{decimal(value.estimate, 2)} ± {decimal((value.upper - value.lower) / 2, 2)}"


def make_table(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], keys: int = 1
) -> list[Table]:
    """Make a table without empty columns; none without numbers."""
    used = [j for j in range(len(columns)) if any(row[j] not in (None, "") for row in rows)]
    if not any(j >= keys for j in used):
        return []
    shown = [tuple(row[j] for j in used) for row in rows]
    n_keys = sum(j < keys for j in used)
    return [Table(columns=[columns[j] for j in used], rows=shown, keys=max(n_keys, 1))]


def pivot(
    rows: Iterable[Record],
    columns: Sequence[Column],
    heading: Callable[[Record], str],
    label: Callable[[Record], str],
    across: Callable[[Record], str],
    *,
    head: str = "",
    title: str = "",
    cell: Callable[[Record], Cell] = make_cell,
) -> list[Table]:
    """Put numbers with one heading and one label into a row.

    Parameters
    ----------
    rows : iterable of dict
    columns : sequence of Column
    heading, label, across : callable
        From a row to its keys, and to the name of its column.
    head, title : str
        Above the headings and the labels.
    cell : callable
        From a row to its cell.

    Returns
    -------
    list of Table
        None where there are no numbers.
    """
    by_keys: dict[tuple[str, str], dict[str, Cell]] = {}
    for row in rows:
        by_keys.setdefault((heading(row), label(row)), {})[across(row)] = cell(row)
    headings = list(dict.fromkeys(name for name, _ in by_keys))
    alone = len(headings) == 1 and not title
    made = [
        ("" if alone else name, shown, *(cells.get(column.name) for column in columns))
        for (name, shown), cells in sorted(by_keys.items(), key=lambda x: headings.index(x[0][0]))
    ]
    keys = [Column("quantity", head), Column("label", headings[0] if alone else title)]
    return make_table([*keys, *columns], made, keys=2)


def tabulate(
    view: View,
    name: str,
    rows: Iterable[Record] | None = None,
    *,
    cut: Callable[[str], str] = str,
    **of: Any,
) -> list[Table]:
    """Make a table of `report.toml`.

    Parameters
    ----------
    view : View
    name : str
    rows : iterable of dict, optional
        By default those of the view.
    cut : callable
        Shortens names.
    **of
        Values of columns, as for `View.pick`.

    Returns
    -------
    list of Table
    """
    table, positive = REPORT["table"][name], view.positive
    if table.get("of_positive"):
        if positive is None:
            return []
        of["category"] = str(positive.name)
    # Of two categories another table has the words of diagnostic tests.
    left_out = () if positive is None else table.get("several", ())
    titles = {one: text for one, text in table["quantities"].items() if one not in left_out}
    of |= dict.fromkeys(table.get("any", ()), ANY)
    picked = [row for one in titles for row in view.pick(one, of=rows, **of)]
    write = partial(short, digits=table["digits"]) if "digits" in table else write_cell

    def label(row: Record) -> str:
        size = "" if math.isnan(row["n_items"]) else f" ({row['n_items']:g})"
        names = {name: cut(row[name]) for name in ("versus", "rater", "system")}
        names |= {"group": cut(row["group"]) or "all items", "size": size}
        return str(table["label"].format_map(row | names)).strip()

    across = table.get("across", "method")
    shown = {
        "method": {one: view.names(one) for one in view.methods},
        "quantity": titles,
        "response": {str(one): str(one) for one in view.results.ratings.categories},
    }[across]
    columns = [Column(one, title, write) for one, title in shown.items()]

    several = len({row["method"] for row in picked}) > 1

    def heading(row: Record) -> str:
        if across == "method":
            return titles[row["quantity"]]
        return view.names(row["method"]) if several else ""

    return pivot(
        picked,
        columns,
        heading,
        label,
        lambda row: row[across],
        head="" if across == "method" else "method",
        title=table.get("title", ""),
    )


def tabulate_accuracies(view: View) -> list[Table]:
    """Make the table of the system's accuracy by each method, beside what methods assume."""
    with_gold = "with the gold labels"

    def heading(row: Record) -> str:
        assumed = assumption(row["method"])
        with_labels = row["corrected"] or row["quantity"] == "prediction_powered"
        if with_labels:
            return with_gold
        return f"if {assumed}" if assumed else "without gold labels"

    def label(row: Record) -> str:
        name = view.names(row["method"]) or "gold labels alone"
        return f"PPI++ of {name}" if row["quantity"] == "prediction_powered" else name

    def across(row: Record) -> str:
        quantity = str(row["quantity"])
        return {
            "prediction_powered": "system_accuracy",
            "accuracy_on_known_items": "system_accuracy_in_sample",
        }.get(quantity, quantity)

    every = view.pick(*ACCURACIES, of=[*view.rows, *view.uncorrected])
    every.sort(key=lambda row: view.methods.index(row["method"]))
    rows = [row for row in every if row["corrected"]]
    if rows:
        rows += view.pick("prediction_powered")
        # Without raters the only method is the gold labels alone.
        alone = view.gold if view.results.ratings.n_raters else None
        rows += [alone | {"corrected": True}] if alone else []
    rows += [row for row in every if not row["corrected"]]
    columns = [Column(*one) for one in ACCURACIES.items()]
    return pivot(
        rows,
        columns,
        heading,
        label,
        across,
        title="method",
        cell=lambda row: value_of(row | {"corrected": False}),
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
    write = partial(short, digits=2)
    return pivot(
        [row for row in rows if row["rater"] or positive is not None],
        [Column(title, title, write) for title in dict.fromkeys(titles.values())],
        lambda row: view.names(row["method"]),
        lambda row: row["rater"] or view.system,
        lambda row: titles[row["quantity"], row["category"]],
        head="method",
        title="test",
    )


def tabulate_misled(view: View) -> list[Table]:
    """Make the table of what the accuracy would be if items misled the raters."""
    rows: list[tuple[Cell, ...]] = []
    for row in view.pick("system_accuracy_if_all_misled"):
        of = {"method": row["method"]}
        if allows_correlated_errors(row["method"]) or math.isnan(row["estimate"]):
            continue
        before = view.pick("system_accuracy", of=[*view.uncorrected, *view.rows], **of)
        alone = decimal(view.number("system_accuracy_if_raters_misled", **of))
        exact = view.first("system_accuracy_if_raters_misled_bounds", **of) is not None
        last = None if alone == DASH else (f"{'' if exact else APPROXIMATELY}{alone}",)
        rows.append((view.names(row["method"]), before[0]["estimate"], row["estimate"], last))
    names = ("method", "nobody_misled", "system_too", "raters_alone")
    return make_table([*map(Column, names)], rows)


def tabulate_k_properties(view: View) -> list[Table]:
    """Make the table of the evidence on each K-property."""
    rows: list[tuple[Cell, ...]] = []
    for factor in view.pick("bayes_factor_against_zero", grouping=ANY, group=ANY, rater=ANY):
        name, _, group = factor["versus"].partition("[")
        of = {"grouping": "rater_group", "group": group.rstrip("]")} if group else {}
        row = view.first(name, method=factor["method"], **of)
        if row is not None:
            chance = row["probability"]
            sign = None if math.isnan(chance) else (probability(chance),)
            evidence = (make_cell(factor), (factor["kind"],))
            rows.append((row["versus"], factor["versus"], value_of(row), sign, *evidence))
    titles = ("K-property", "parameter", "estimate", "P(sign)", "Bayes factor", "verdict")
    return make_table([Column(one, one) for one in titles], rows, keys=2)


def rank_base_rates(view: View) -> list[Record]:
    """List the base rates in groups, those of the group with the first rank first."""
    of: Any = {"grouping": "group", "group": ANY}
    ranked = view.pick("base_rates_rank", method=view.methods[0], **of)
    ranks = {row["group"]: row["estimate"] for row in ranked}
    return sorted(view.pick("base_rates", **of), key=lambda row: ranks.get(row["group"], 0))


def name_base_rate(row: Record, rates: Sequence[Record], cut: Callable[[str], str] = str) -> str:
    """Name a group, and the category if several have rows in it or there are no groups."""
    several = len({other["category"] for other in rates}) > 1
    category = [row["category"]] if several or not row["group"] else []
    return ": ".join([*([cut(row["group"])] if row["group"] else []), *category])


def tabulate_base_rates(view: View, cut: Callable[[str], str] = str) -> list[Table]:
    """Make the tables of `lehner compare`: proportions in groups, differences, and raters.

    Parameters
    ----------
    view : View
    cut : callable
        Shortens names.

    Returns
    -------
    list of Table
    """
    of: Any = {"grouping": "group", "group": ANY}
    rates, column = rank_base_rates(view), view.column_of("group")
    labelled = view.pick("base_rates_on_known_items", **of)
    more = [row for row in labelled if row["n_items"]]
    more += view.pick("base_rates_rank", method=view.methods[0], **of)
    own = {"base_rates_on_known_items": "gold labels", "base_rates_rank": "rank, P(best)"}
    columns = [Column(name, view.names(name), write_cell) for name in view.methods]
    columns = [Column("gold labels"), *columns, Column("rank, P(best)")]
    sizes = {(row["group"], row["category"]): row["n_items"] for row in rates}

    def label(row: Record) -> str:
        size = sizes.get((row["group"], row["category"]), math.nan)
        return name_base_rate(row, rates, cut) + ("" if math.isnan(size) else f" ({size:g})")

    return [
        *pivot(
            [*rates, *more],
            columns,
            lambda row: "" if column is None else cut(column.column),
            label,
            lambda row: own.get(row["quantity"], str(row["method"])),
            cell=plain_cell,
        ),
        *tabulate(view, "base_rate_differences", cut=cut, **of),
        *tabulate(view, "judge" if view.results.ratings.n_raters == 1 else "raters", cut=cut),
    ]


def make_tables(view: View, name: str, **of: Any) -> list[Table]:
    """Make the tables of a name, of `report.toml` or of a function of this file."""
    if name in REPORT["table"]:
        return tabulate(view, name, **of)
    return list(globals()[f"tabulate_{name}"](view))
