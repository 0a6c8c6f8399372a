"""Views: which rows of the results stand in which table; `report.toml` has those that are plain."""

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from experiments.report.table import Cell, Column, Table, plain_number
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import probability, short
from lehner.core.warning import Warning
from lehner.estimation.methods import get_method
from lehner.estimation.results import Results, value_of
from lehner.performance.positive import PositiveCategory, find_positive

REPORT = tomllib.loads(Path(__file__).with_name("report.toml").read_text(encoding="utf-8"))
ANY = "\0any"
"""Stands for any value of a column."""
ACCURACIES = {
    "system_accuracy_in_sample": "on these items",
    "system_accuracy": "on items like these",
}

type Record = dict[str, Any]
"""A row of the results."""
type Row = tuple[Cell, ...]


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


write_short = partial(short, digits=2)


def make_cell(row: Record) -> Cell:
    """The number of a row, as its quantity is written."""
    value, chance = value_of(row), row["probability"]
    if row["quantity"].endswith("_rank"):
        shown = Column("", format="{:.0f}".format).write(value)
        return (f"{shown}, {probability(chance)}",)
    if row["quantity"] == "study_right":
        return (f"{value.estimate:.4g}/{row['n_items']:.4g}",)
    if row["quantity"] == "rater_accuracy_lowest":
        return (probability(chance, 2),)
    if row["quantity"].endswith("_difference") and not math.isnan(chance):
        return value, chance
    return value


def plain_cell(row: Record) -> Cell:
    """The number of a row whose heading says that gold labels correct it."""
    return make_cell(row | {"corrected": False})


def make_table(columns: Sequence[Column], rows: Sequence[Row], keys: int = 1) -> list[Table]:
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
    title : str
        Above the labels.
    cell : callable
        From a row to its cell.

    Returns
    -------
    list of Table
        None where there are no numbers.
    """
    blocks: dict[str, dict[str, dict[str, Cell]]] = {}
    for row in rows:
        block = blocks.setdefault(heading(row), {})
        block.setdefault(label(row), {})[across(row)] = cell(row)
    made: list[Row] = [
        (name, shown, *(cells.get(column.name) for column in columns))
        for name, block in blocks.items()
        for shown, cells in block.items()
    ]
    if len(blocks) == 1 and not title:
        (title,) = blocks
        made = [("", *row[1:]) for row in made]
    return make_table([Column("quantity", ""), Column("label", title), *columns], made, keys=2)


def tabulate(
    view: View,
    name: str,
    rows: Iterable[Record] | None = None,
    *,
    methods: int | None = None,
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
    methods : int, optional
        How many methods have a column.
    cut : callable
        Shortens names.
    **of
        Values of columns, as for `View.pick`.

    Returns
    -------
    list of Table
    """
    table = REPORT["table"][name]
    titles: Mapping[str, str] = table.get("blocks") or table["columns"]
    # Of two categories another table has the words of diagnostic tests.
    left_out = () if view.positive is None else table.get("several", ())
    titles = {one: title for one, title in titles.items() if one not in left_out}
    of |= {"rater": ANY} if table.get("raters") else {}
    picked = [row for one in titles for row in view.pick(one, of=rows, **of)]
    write = partial(short, digits=table["digits"]) if "digits" in table else write_cell

    def label(row: Record) -> str:
        size = "" if math.isnan(row["n_items"]) else f" ({row['n_items']:g})"
        names = {name: cut(row[name]) for name in ("group", "versus", "rater", "system")}
        return str(table["label"].format_map(row | names | {"size": size})).strip()

    if "blocks" in table:
        columns = [Column(one, view.names(one), write) for one in view.methods[:methods]]
        keys: Any = (lambda row: titles[row["quantity"]], label, lambda row: row["method"])
    else:
        columns = [Column(one, title, write) for one, title in titles.items()]
        keys = (lambda row: view.names(row["method"]), label, lambda row: row["quantity"])
    return pivot(picked, columns, *keys, title=table.get("title", ""))
