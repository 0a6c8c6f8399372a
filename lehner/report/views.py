"""Views: which rows of the results stand in which table; `report.toml` has those that are plain."""

import math
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from lehner.core.errors import Warning
from lehner.core.estimate import NUMBERS, IntervalEstimate
from lehner.core.results import Results, read_value
from lehner.core.text import DASH, format_number, format_p, to_decimal, to_short
from lehner.estimation.methods import get_method
from lehner.performance import measures
from lehner.report.table import Cell, Column, Table

REPORT = tomllib.loads(Path(__file__).with_name("report.toml").read_text(encoding="utf-8"))
# Stands for any value of a column.
ANY = "\0any"
ACCURACIES, SHORT_NAMES = REPORT["accuracies"], REPORT["short_names"]
WITH_GOLD = "with the gold labels"
MISLED = ("nobody_misled", "system_too", "raters_alone")
EVIDENCE = ("estimate", "P(sign)", "Bayes factor", "verdict")
# Numbers that agree in these columns are one number, whatever the method.
SAME = ("quantity", *NUMBERS, "probability")
# Bayes factors beyond it, or below its inverse, are not told apart.
LARGEST = 1000

# A row of the results.
type Record = dict[str, Any]

# Heading, label, name of the column, and cell of a number.
type Placed = tuple[str, str, str, Cell]


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
        return self._list_records(self.results.final)

    @cached_property
    def uncorrected(self) -> list[Record]:
        """The numbers that methods gave without gold labels, where these correct them."""
        corrected = {(row["method"], row["quantity"]) for row in self.rows if row["corrected"]}
        return [
            row
            for row in self._list_records(self.results.table)
            if not row["corrected"] and (row["method"], row["quantity"]) in corrected
        ]

    def _list_records(self, table: Any) -> list[Record]:
        kept = table[table["system"] == self.system]
        # `to_dict` of pandas takes several times as long where most columns are text.
        columns = [kept[name].tolist() for name in kept]
        return [dict(zip(kept, values, strict=True)) for values in zip(*columns, strict=True)]

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
        """Give the first such row, if there is one."""
        return next(iter(self.pick(quantity, **columns)), None)

    def number(self, quantity: str, **columns: Any) -> float:
        """Its estimate; NaN if there is none."""
        row = self.first(quantity, **columns)
        return math.nan if row is None else float(row["estimate"])

    @cached_property
    def reported(self) -> str:
        """The method of the accuracy to report: if one allows for correlated errors, that one."""
        accuracies = self.pick("system_accuracy_in_sample")
        names = [row["method"] for row in accuracies if not math.isnan(row["estimate"])]
        first = [name for name in names if get_method(name).allows_correlated_errors]
        return [*first, *names, ""][0]

    @cached_property
    def detailed(self) -> str:
        """The method of the recall to show: that of the accuracy, or the last with intervals."""
        rows = self.pick("recall")
        names = [row["method"] for row in rows if not math.isnan(row["lower"])]
        names = names or [row["method"] for row in rows]
        return self.reported if self.reported in names else (names or [""])[-1]

    @cached_property
    def ranked_by(self) -> str:
        """The method by which systems are ranked: that of the accuracy to report, or the last."""
        names = [row["method"] for row in self.pick("system_accuracy_rank")]
        return self.reported if self.reported in names else [self.reported, *names][-1]

    @property
    def rank(self) -> float:
        """Rank of the system among several; infinite if it has none."""
        rank = self.number("system_accuracy_rank", method=self.ranked_by)
        return math.inf if math.isnan(rank) else rank

    @property
    def gold(self) -> Record | None:
        """What the items with a gold label say alone."""
        return self.first("accuracy_on_known_items", method="")

    @property
    def gold_alone(self) -> str:
        """How many items with a gold label the system got right, and whether they are a sample."""
        codes = {warning.code for warning in self.list_warnings("data")}
        right, gold = self.first("right_on_known_items", method=""), self.gold
        parts = [] if right is None else [f"{right['estimate']:g}/{right['n_items']:g} right"]
        parts += ["weighted"] if gold and "weight" in gold["kind"] else []
        return ", ".join([*parts, *(["no random sample"] if "truths-not-random" in codes else [])])

    @property
    def is_corrected(self) -> bool:
        """Whether gold labels correct the accuracy of a method."""
        return any(row["quantity"] in ACCURACIES for row in self.uncorrected)

    @cached_property
    def positive(self) -> measures.PositiveCategory | None:
        """The positive category, if there are two."""
        asked: measures.PositiveCategory | None = getattr(self.results.options, "positive", None)
        return asked or measures.find_positive(self.results.ratings)

    @cached_property
    def test_measures(self) -> dict[tuple[str, str], str]:
        """What further measures are called, by quantity and category: of two those of a test."""
        if self.positive is None:
            names = map(str, self.results.ratings.categories)
            return {("recall", name): f"recall of {name}" for name in names}
        both = {True: str(self.positive.name), False: str(self.positive.negative)}
        named = measures.NAMES | {"specificity": ("recall", False)}
        return {
            (quantity, both[of]): SHORT_NAMES.get(name, name)
            for name, (quantity, of) in named.items()
        }

    def find_column(self, grouping: str) -> Any:
        """Give the column of the file by which items are grouped; None if there is none."""
        return getattr(self.results.options, f"{grouping}s", None)

    def list_warnings(self, *about: str) -> list[Warning]:
        """List what should be known of the numbers of some questions."""
        own = [warning for warning in self.results.warnings if warning.system in ("", self.system)]
        return [warning for warning in own if warning.about in about or "any" in about]


def view_systems(results: Results, names: Callable[[str], str] = str) -> list[View]:
    """Make a view of each system; of ratings without a system one of all rows."""
    systems = [str(name) for name in results.ratings.systems] or [""]
    return [View(results=results, system=system, names=names) for system in systems]


def order_rows(each: Iterable[View]) -> list[Record]:
    """List the rows of several systems, those of the best system first."""
    return [row for view in sorted(each, key=lambda view: view.rank) for row in view.rows]


def write_cell(value: float | IntervalEstimate, chance: float = math.nan) -> str:
    """Write a number, an estimate with its interval, or a difference and its P(higher)."""
    shown = str(value) if isinstance(value, IntervalEstimate) else format_number(value)
    return shown if math.isnan(chance) else f"{shown}, {format_p(chance, 2)}"


def make_cells(rows: Sequence[Record], *, plain: bool = False) -> list[Cell]:
    """Give the number of each row, as its quantity is written.

    Parameters
    ----------
    rows : sequence of dict
    plain : bool
        Whether no mark is needed, because a heading says that gold labels correct them.

    Returns
    -------
    list
    """
    values = list(map(read_value, rows))
    values = [replace(value, corrected=value.corrected and not plain) for value in values]
    return [_make_cell(row, value) for row, value in zip(rows, values, strict=True)]


def _make_cell(row: Record, value: IntervalEstimate) -> Cell:
    chance, quantity = row["probability"], row["quantity"]
    if quantity.endswith("_rank"):
        return (f"{Column('', format='{:.0f}'.format).write(value)}, {format_p(chance)}",)
    if quantity == "study_right":
        return (f"{value.estimate:.4g}/{row['n_items']:.4g}",)
    if quantity.endswith("_on_known_items"):
        # A share of these items, whatever weights they have otherwise.
        right = round(row["estimate"] * row["n_items"]) if row["n_items"] else 0
        return (f"{right}/{row['n_items']:g}",) if row["n_items"] else None
    if quantity == "rater_accuracy_lowest":
        return (format_p(chance, 2),)
    if quantity.startswith("bayes_factor"):
        return (write_bayes_factor(value),)
    if quantity.endswith("_difference") and not math.isnan(chance):
        return value, chance
    return value


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
        return to_decimal(value.estimate, 2)
    return f"{to_decimal(value.estimate, 2)} ± {to_decimal((value.upper - value.lower) / 2, 2)}"


def pivot(
    placed: Iterable[Placed], columns: Sequence[Column], *, head: str = "", title: str = ""
) -> list[Table]:
    """Put numbers with one heading and one label into a row.

    Parameters
    ----------
    placed : iterable of Placed
    columns : sequence of Column
    head, title : str
        Above the headings and the labels.

    Returns
    -------
    list of Table
        Without empty columns; none where there are no numbers.
    """
    by_keys: dict[tuple[str, str], dict[str, Cell]] = {}
    for heading, label, name, cell in placed:
        by_keys.setdefault((heading, label), {})[name] = cell
    headings = list(dict.fromkeys(heading for heading, _ in by_keys))
    alone = len(headings) == 1 and not title
    rows = [
        ("" if alone else heading, label, *(cells.get(column.name) for column in columns))
        for (heading, label), cells in sorted(
            by_keys.items(), key=lambda item: headings.index(item[0][0])
        )
    ]
    every = [Column("quantity", head), Column("label", headings[0] if alone else title), *columns]
    used = [j for j in range(len(every)) if any(row[j] not in (None, "") for row in rows)]
    if not any(j > 1 for j in used):
        return []
    shown = [tuple(row[j] for j in used) for row in rows]
    return [
        Table(columns=[every[j] for j in used], rows=shown, keys=max(1, sum(j < 2 for j in used)))
    ]


def name_rows(
    template: str, rows: Sequence[Record], cut: Callable[[str], str] = str
) -> Iterator[str]:
    """Name what rows are about; `{of}` is a row's category where others of its group have one."""
    several = len({row["category"] for row in rows}) > 1
    for row in rows:
        of = f": {row['category']}" if several and row["group"] else ""
        names = {name: cut(row[name]) for name in ("versus", "rater", "system")}
        group = cut(row["group"]) or ("all items" if "{of}" not in template else row["category"])
        yield template.format_map(row | names | {"group": group, "of": of})


def tabulate(
    view: View,
    name: str,
    rows: Iterable[Record] | None = None,
    *,
    cut: Callable[[str], str] = str,
    **of: Any,
) -> list[Table]:
    """Make a table by its name, of `report.toml` or of `TABLES`.

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
    if name in TABLES:
        return TABLES[name](view)
    table = REPORT["table"][name]
    picked = _pick_rows(view, table, rows, of)
    labels = [label.strip() for label in name_rows(table["label"], picked, cut)]
    headings = _name_headings(view, table, picked, labels)
    if table.get("sized"):
        # Ranks count no items, and of the others with one label the first says how many.
        sized = [(x, row["n_items"]) for x, row in zip(labels, picked, strict=True)]
        sizes = dict(reversed([(x, n) for x, n in sized if not math.isnan(n)]))
        labels = [f"{x} ({sizes[x]:g})" if x in sizes else x for x in labels]
    across = table.get("across", "method")
    titles = {
        "method": {name: view.names(name) for name in view.methods},
        "quantity": table["quantities"],
        "response": {str(name): str(name) for name in view.results.ratings.categories},
    }[across]
    write = partial(to_short, digits=table["digits"]) if "digits" in table else write_cell
    cells = make_cells(picked, plain=table.get("plain", False))
    column = view.find_column(of.get("grouping", ""))
    return pivot(
        zip(headings, labels, (str(row[across]) for row in picked), cells, strict=True),
        [Column(name, title, write) for name, title in titles.items()],
        head="" if across == "method" else "method",
        title=table.get("title", "").format(group="" if column is None else cut(column.column)),
    )


def _pick_rows(
    view: View, table: Mapping[str, Any], rows: Iterable[Record] | None, of: Mapping[str, Any]
) -> list[Record]:
    """Pick the rows of a plain table, ranks first."""
    columns, quantities = dict(of) | dict.fromkeys(table.get("any", ()), ANY), table["quantities"]
    if table.get("of_positive"):
        if view.positive is None:
            return []
        columns["category"] = str(view.positive.name)
    if view.positive is not None:
        # Of two categories another table has the words of diagnostic tests.
        quantities = [name for name in quantities if name not in table.get("several", ())]
    first = sorted(quantities, key=lambda quantity: not quantity.endswith("_rank"))
    return [row for quantity in first for row in view.pick(quantity, of=rows, **columns)]


def _name_headings(
    view: View, table: Mapping[str, Any], picked: Sequence[Record], labels: Sequence[str]
) -> list[str]:
    """Name the block of each row: its quantity or, where these stand side by side, its method."""
    if table.get("across", "method") == "method":
        return [str(table["quantities"][row["quantity"]]) for row in picked]
    several = len({row["method"] for row in picked}) > 1
    headings = [view.names(row["method"]) if several else "" for row in picked]
    if not table.get("once"):
        return headings
    keys = [(x, *(row[name] for name in SAME)) for x, row in zip(labels, picked, strict=True)]
    return [
        WITH_GOLD if row["corrected"] and keys.count(key) > 1 else heading
        for row, key, heading in zip(picked, keys, headings, strict=True)
    ]


def tabulate_accuracies(view: View) -> list[Table]:
    """Make the table of the system's accuracy by each method, beside what methods assume."""
    every = view.pick(*ACCURACIES, of=[*view.rows, *view.uncorrected])
    every.sort(key=lambda row: view.methods.index(row["method"]))
    with_labels, without = list[Placed](), list[Placed]()
    for row, cell in zip(every, make_cells(every, plain=True), strict=True):
        name, assumed = view.names(row["method"]), get_method(row["method"]).assumes
        heading = f"if {assumed}" if assumed else "without gold labels"
        if row["corrected"]:
            with_labels.append((WITH_GOLD, name, row["quantity"], cell))
        else:
            without.append((heading, name, row["quantity"], cell))
    in_sample, expected = ACCURACIES
    if with_labels:
        # What rests on gold labels in another way stands below what these correct.
        with_labels += [
            (WITH_GOLD, f"PPI++ of {view.names(row['method'])}", expected, read_value(row))
            for row in view.pick("prediction_powered")
        ]
        # Without raters the only method is the gold labels alone.
        if view.gold and view.results.ratings.n_raters:
            about = view.gold_alone.partition(", ")[2]
            name = f"gold labels alone ({about})" if about else "gold labels alone"
            with_labels.append((WITH_GOLD, name, in_sample, read_value(view.gold)))
    columns = [Column(name, title) for name, title in ACCURACIES.items()]
    return pivot([*with_labels, *without], columns, title="method")


def tabulate_tests(view: View) -> list[Table]:
    """Make one table of the raters, and with two categories of the system, as tests."""
    titles = {("system_accuracy", ""): "accuracy", ("rater_accuracy", ""): "accuracy"}
    titles |= view.test_measures | {("rater_accuracy_lowest", ""): "P(least accurate)"}
    with_system = view.positive is not None and bool(view.system)
    shown = [row for row in view.rows if not row["grouping"] and (row["rater"] or with_system)]
    rows = [row for row in shown if (row["quantity"], row["category"]) in titles]
    names = [titles[row["quantity"], row["category"]] for row in rows]
    placed = [
        (view.names(row["method"]), row["rater"] or view.system, name, cell)
        for row, name, cell in zip(rows, names, make_cells(rows), strict=True)
    ]
    write = partial(to_short, digits=2)
    columns = [Column(title, title, write) for title in dict.fromkeys(titles.values())]
    return pivot(
        placed, columns, head="method", title="system or rater" if with_system else "rater"
    )


def tabulate_misled(view: View) -> list[Table]:
    """Make the table of what the accuracy would be if items misled the raters."""
    placed: list[Placed] = []
    for row in view.pick("system_accuracy_if_all_misled"):
        of = {"method": row["method"]}
        if get_method(row["method"]).allows_correlated_errors or math.isnan(row["estimate"]):
            continue
        before = view.pick("system_accuracy", of=[*view.uncorrected, *view.rows], **of)
        alone = to_decimal(view.number("system_accuracy_if_raters_misled", **of))
        exact = view.first("system_accuracy_if_raters_misled_bounds", **of) is not None
        last = None if alone == DASH else (f"{'' if exact else '≈'}{alone}",)
        cells = (before[0]["estimate"], row["estimate"], last)
        name = view.names(row["method"])
        placed += [("", name, title, cell) for title, cell in zip(MISLED, cells, strict=True)]
    return pivot(placed, list(map(Column, MISLED)), title="method")


def tabulate_k_properties(view: View) -> list[Table]:
    """Make the table of the evidence on each K-property."""
    placed: list[Placed] = []
    for factor in view.pick("bayes_factor_against_zero"):
        row = view.first(factor["versus"], method=factor["method"])
        if row is not None:
            chance = row["probability"]
            sign = None if math.isnan(chance) else (format_p(chance),)
            cells = (read_value(row), sign, *make_cells([factor]), (factor["kind"],))
            keys = row["versus"], factor["versus"]
            placed += [(*keys, title, cell) for title, cell in zip(EVIDENCE, cells, strict=True)]
    columns = [Column(title, title) for title in EVIDENCE]
    return pivot(placed, columns, head="K-property", title="parameter")


# Tables that are more than rows beside one another.
TABLES: Mapping[str, Callable[[View], list[Table]]] = {
    "accuracies": tabulate_accuracies,
    "tests": tabulate_tests,
    "misled": tabulate_misled,
    "k_properties": tabulate_k_properties,
}
