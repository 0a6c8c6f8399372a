"""Views: which rows of the results stand in which table, for a system or for groups of items."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from lehner.core.errors import Warning
from lehner.core.estimate import NUMBERS, IntervalEstimate
from lehner.core.lazy import pd
from lehner.core.results import Results, read_value
from lehner.core.table import PrintedTable, TableCell, TableColumn, pivot
from lehner.core.text import format_number, format_p, to_decimal, to_short, write_p
from lehner.estimation.methods import get_method
from lehner.performance import measures

# Stands for any value of a column.
ANY = "\0any"
ACCURACIES = {
    "system_accuracy_in_sample": "on these items",
    "system_accuracy": "on items like these",
}
SHORT_NAMES = {
    "positive_predictive_value": "PPV",
    "negative_predictive_value": "NPV",
    "positive_likelihood_ratio": "LR+",
    "negative_likelihood_ratio": "LR−",
}
WITH_GOLD = "with the gold labels"
TWO_DIGITS = partial(to_short, digits=2)
# Numbers that agree in these columns are one number, whatever the method.
SAME = ("quantity", *NUMBERS, "probability")
# Bayes factors beyond it, or below its inverse, are not told apart.
LARGEST = 1000

# A row of the results.
type Record = dict[str, Any]

# Heading, label, name of the column, and the cell.
type PlacedCell = tuple[str, str, str, TableCell]


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
        return self.results.by_system.get(self.system, [])

    @cached_property
    def uncorrected(self) -> list[Record]:
        """The numbers that methods gave without gold labels, where these correct them."""
        corrected = {(row["method"], row["quantity"]) for row in self.rows if row["corrected"]}
        table = self.results.table
        rows = table[(table["system"] == self.system) & ~table["corrected"]].to_dict("records")
        return [row for row in rows if (row["method"], row["quantity"]) in corrected]

    @cached_property
    def methods(self) -> list[str]:
        """Names of the methods, in their order."""
        return list(dict.fromkeys(row["method"] for row in self.rows if row["method"]))

    @property
    def level(self) -> float:
        """Probability of the intervals."""
        return float(self.results.options.level)

    def pick(
        self, *quantities: str, rows: Iterable[Record] | None = None, **columns: Any
    ) -> list[Record]:
        """Choose rows by their quantities; columns that are not named are empty, or `ANY`."""
        wanted = {"grouping": "", "group": "", "rater": ""} | columns
        wanted = {name: value for name, value in wanted.items() if value != ANY}
        return [
            row
            for row in (self.rows if rows is None else rows)
            if row["quantity"] in quantities
            and all(row[name] == value for name, value in wanted.items())
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
        robust = [name for name in names if get_method(name).assumes == ""]
        return [*robust, *names, ""][0]

    @cached_property
    def detailed(self) -> str:
        """The method of the recall to show: that of the accuracy, or the last with intervals."""
        rows = self.pick("recall")
        names = [row["method"] for row in rows if not math.isnan(row["lower"])]
        names = names or [row["method"] for row in rows]
        return self.reported if self.reported in names else (names or [""])[-1]

    @cached_property
    def compared(self) -> str:
        """The quantity by which systems and groups are compared."""
        measure = getattr(self.results.options, "measure", None)
        return "system_accuracy" if measure is None else str(measure.name)

    @cached_property
    def compared_title(self) -> str:
        """What this quantity is called, and of which category it is."""
        if self.compared == "system_accuracy":
            return "accuracy"
        category = self.results.options.measure.category
        return measures.COMPARED_BY[self.compared] + (f" of {category}" if category else "")

    @cached_property
    def ranked_by(self) -> str:
        """The method by which systems are ranked: that of the accuracy to report, or the last."""
        names = [row["method"] for row in self.pick(f"{self.compared}_rank")]
        return self.reported if self.reported in names else [self.reported, *names][-1]

    @property
    def rank(self) -> float:
        """Rank of the system among several; infinite if it has none."""
        rank = self.number(f"{self.compared}_rank", method=self.ranked_by)
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
        chosen: measures.PositiveCategory | None = getattr(self.results.options, "positive", None)
        return chosen or measures.find_positive(self.results.ratings)

    @cached_property
    def test_measures(self) -> dict[tuple[str, str], str]:
        """What further measures are called, by quantity and category: of two those of a test."""
        if self.positive is None:
            names = map(str, self.results.ratings.categories)
            return {("recall", name): f"recall of {name}" for name in names}
        categories = {True: str(self.positive.name), False: str(self.positive.negative)}
        by_name = measures.NAMES | {"specificity": ("recall", False)}
        return {
            (quantity, categories[of_positive]): SHORT_NAMES.get(name, name)
            for name, (quantity, of_positive) in by_name.items()
        }

    def find_column(self, grouping: str) -> Any:
        """Give the column of the file by which items are grouped; None if there is none."""
        return getattr(self.results.options, f"{grouping}s", None)

    def list_warnings(self, *questions: str) -> list[Warning]:
        """List what should be known of the numbers of some questions."""
        return [
            warning
            for warning in self.results.warnings
            if warning.system in ("", self.system)
            and (warning.about in questions or "any" in questions)
        ]


def view_systems(results: Results, names: Callable[[str], str] = str) -> list[View]:
    """Make a view of each system; of ratings without a system one of all rows."""
    systems = [str(name) for name in results.ratings.systems] or [""]
    return [View(results=results, system=system, names=names) for system in systems]


def order_rows(views: Iterable[View]) -> list[Record]:
    """List the rows of several systems, those of the best system first."""
    return [row for view in sorted(views, key=lambda view: view.rank) for row in view.rows]


def write_cell(value: float | IntervalEstimate, chance: float = math.nan) -> str:
    """Write a number, an estimate with its interval, or a difference and its P(higher)."""
    shown = str(value) if isinstance(value, IntervalEstimate) else format_number(value)
    return shown if math.isnan(chance) else f"{shown}, {format_p(chance, 2)}"


def write_short(value: float | IntervalEstimate, chance: float = math.nan) -> str:
    """Write a number as `write_cell` does, with two digits, for tables with many columns."""
    shown = TableColumn("", format=TWO_DIGITS).write(value)
    return shown if math.isnan(chance) else f"{shown}, {format_p(chance, 2)}"


def make_cells(rows: Sequence[Record], *, marked: bool = True) -> list[TableCell]:
    """Give the number of each row, as its quantity is written.

    Parameters
    ----------
    rows : sequence of dict
    marked : bool
        Whether a star marks what gold labels correct, because no heading says it.

    Returns
    -------
    list
    """
    values = list(map(read_value, rows))
    values = [replace(value, corrected=value.corrected and marked) for value in values]
    return [_make_cell(row, value) for row, value in zip(rows, values, strict=True)]


def _make_cell(row: Record, value: IntervalEstimate) -> TableCell:
    chance, quantity = row["probability"], row["quantity"]
    if quantity.endswith("_rank"):
        return (f"{TableColumn('', format='{:.0f}'.format).write(value)}, {format_p(chance)}",)
    if quantity.startswith("favour"):
        return (f"{value}, {write_p(chance)}",)
    if quantity == "study_right":
        return (f"{value.estimate:.4g}/{row['n_items']:.4g}",)
    if quantity.endswith("_on_known_items"):
        # A share of these items, whatever weights they have otherwise.
        right = round(row["estimate"] * row["n_items"]) if row["n_items"] else 0
        return (f"{right}/{row['n_items']:g}",) if row["n_items"] else None
    if quantity.startswith("bayes_factor"):
        return (write_bayes_factor(value),)
    if value.estimate is None and value.lower is not None:
        return (str(value),)
    if quantity.endswith(("_difference", "_trend")) and not math.isnan(chance):
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


def arrange(
    cells: Iterable[PlacedCell], columns: Sequence[TableColumn], *, head: str = "", title: str = ""
) -> list[PrintedTable]:
    """Put cells with one heading and one label into a row of a table.

    Parameters
    ----------
    cells : iterable of PlacedCell
    columns : sequence of TableColumn
    head, title : str
        What stands above the headings and the labels.

    Returns
    -------
    list of PrintedTable
        One without empty columns, or none where there are no numbers.
    """
    cells = list(cells)
    blocks = list(dict.fromkeys(heading for heading, *_ in cells))
    cells.sort(key=lambda cell: blocks.index(cell[0]))
    rows = pd.DataFrame(cells, columns=["heading", "label", "column", "cell"], dtype=object)
    if rows["cell"].isna().all():
        return []
    wide, keys = pivot(rows, ["heading", "label"], "column"), [TableColumn("quantity", head)]
    if len(blocks) == 1 and not (title and blocks[0]):
        wide, keys, title = wide.droplevel("heading"), [], title or blocks[0]
    columns = [column for column in columns if column.name in wide]
    body = wide[[column.name for column in columns]].reset_index().to_numpy().tolist()
    keys.append(TableColumn("label", title))
    return [PrintedTable(columns=[*keys, *columns], rows=body, keys=len(keys))]


def lay_out(
    view: View,
    titles: Mapping[str, str],
    label: str,
    *,
    across: str = "method",
    rows: Iterable[Record] | None = None,
    title: str = "",
    sized: bool = False,
    marked: bool = True,
    once: bool = False,
    write: Callable[..., str] = write_cell,
    cut: Callable[[str], str] = str,
    **columns: Any,
) -> list[PrintedTable]:
    """Make a table of all rows of some quantities.

    Parameters
    ----------
    view : View
    titles : mapping of str to str
        The quantities, and what each is called.
    label : str
        Names a row by columns of the results, as "{group}"; `{of}` is its category, where others of
        its group have another.
    across : {"method", "quantity", "response"}
        What stands side by side: methods, with a block of rows for each quantity; or quantities or
        responses, with a block for each method.
    rows : iterable of dict, optional
        By default those of the view.
    title : str
        What stands above the labels.
    sized : bool
        Whether the number of items stands behind each label.
    marked, write
        As `make_cells` and `TableColumn` take them.
    once : bool
        Whether what gold labels make the same by several methods stands there a single time.
    cut : callable
        Shortens names.
    **columns
        As `View.pick` takes them.

    Returns
    -------
    list of PrintedTable
    """
    # Ranks first: they give the order.
    quantities = sorted(titles, key=lambda quantity: not quantity.endswith("_rank"))
    rows = [row for quantity in quantities for row in view.pick(quantity, rows=rows, **columns)]
    labels = name_rows(label, rows, cut)
    if sized:
        labels = _add_sizes(labels, rows)
    shown = {name: view.names(name) for name in view.methods}
    if across == "method":
        headings = [titles[row["quantity"]] for row in rows]
    else:
        categories = map(str, view.results.ratings.categories)
        shown = dict(titles) if across == "quantity" else {name: name for name in categories}
        headings = _name_blocks(view, rows, labels, once=once)
    cells = make_cells(rows, marked=marked)
    return arrange(
        zip(headings, labels, (row[across] for row in rows), cells, strict=True),
        [TableColumn(name, text, write) for name, text in shown.items()],
        head="" if across == "method" else "method",
        title=title,
    )


def _name_blocks(
    view: View, rows: Sequence[Record], labels: Sequence[str], *, once: bool
) -> list[str]:
    """Name the method of each row, if there are several."""
    several = len({row["method"] for row in rows}) > 1
    headings = [view.names(row["method"]) if several else "" for row in rows]
    keys = [(label, *(row[x] for x in SAME)) for label, row in zip(labels, rows, strict=True)]
    for place, row in enumerate(rows):
        if once and row["corrected"] and keys.count(keys[place]) > 1:
            headings[place] = WITH_GOLD
    return headings


def name_rows(template: str, rows: Sequence[Record], cut: Callable[[str], str] = str) -> list[str]:
    """Name what rows are about; `{of}` is a row's category where others of its group have one."""
    several = len({row["category"] for row in rows}) > 1
    labels = []
    for row in rows:
        of = f": {row['category']}" if several and row["group"] else ""
        names = {name: cut(row[name]) for name in ("versus", "rater", "system")}
        group = cut(row["group"]) or ("all items" if "{of}" not in template else row["category"])
        labels.append(template.format_map(row | names | {"group": group, "of": of}).strip())
    return labels


def _add_sizes(labels: Sequence[str], rows: Sequence[Record]) -> list[str]:
    """Add the number of items to labels; the first row with one label says it, ranks have none."""
    sizes: dict[str, float] = {}
    for label, row in zip(labels, rows, strict=True):
        if not math.isnan(row["n_items"]):
            sizes.setdefault(label, row["n_items"])
    return [f"{label} ({sizes[label]:g})" if label in sizes else label for label in labels]
