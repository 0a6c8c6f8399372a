"""Views: which rows of the results stand in which table. A row of the results is one number."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from experiments.reporting.table import Cell, Column, Table, plain_number
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import decimal, percent, probability, short
from lehner.core.warning import Warning
from lehner.estimation.methods import get_method
from lehner.estimation.results import Results, value_of
from lehner.performance.positive import NAMES as OF_POSITIVE

ANY = "\0any"
"""Stands for any value of a column."""
MOST_SHOWN = 12
MOST_DIFFERENCES = 6
ACCURACIES = {
    "system_accuracy_in_sample": "on these items",
    "system_accuracy": "on items like these",
}
BY_CATEGORY = {"recall": "recall", "precision": "precision", "base_rates": "base rate"}
IN_DETAIL = {"specificity": "specificity", "f1": "F1"}
OF_ALL = {
    "balanced_accuracy": "balanced accuracy",
    "mcc": "MCC",
    "kappa_with_truth": "kappa with the truth",
    "expected_cost": "expected cost",
}
TITLES = {
    "positive_predictive_value": "PPV",
    "negative_predictive_value": "NPV",
    "positive_likelihood_ratio": "LR+",
    "negative_likelihood_ratio": "LR−",
}
ORDER = ("", "mistakes are independent", "the majority is right")
"""The order of assumptions in a table of accuracies."""
ABOUT = "≈"

type Record = dict[str, Any]
"""A row of the results."""
type Row = tuple[Cell, ...]
type Label = Callable[[Record], str]


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
        """Each number once, corrected by known truths where that is possible."""
        return _records(self.results.final, self.system)

    @cached_property
    def uncorrected(self) -> list[Record]:
        """The numbers that methods gave without the known truths, where these correct them."""
        corrected = {(one["method"], one["quantity"]) for one in self.rows if one["corrected"]}
        return [
            one
            for one in _records(self.results.table, self.system)
            if not one["corrected"] and (one["method"], one["quantity"]) in corrected
        ]

    @property
    def methods(self) -> list[str]:
        """Names of the methods, in their order."""
        return list(dict.fromkeys(one["method"] for one in self.rows if one["method"]))

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
            one
            for one in (self.rows if of is None else of)
            if one["quantity"] in quantities and all(one[k] == v for k, v in wanted.items())
        ]

    def first(self, quantity: str, **columns: Any) -> Record | None:
        """The first such row, if there is one."""
        return next(iter(self.pick(quantity, **columns)), None)

    def value(self, quantity: str, **columns: Any) -> IntervalEstimate:
        """Its number; one without an estimate if there is no such row."""
        found = self.first(quantity, **columns)
        return IntervalEstimate(estimate=None) if found is None else value_of(found)

    @cached_property
    def reported(self) -> str:
        """The method of the accuracy to report: if one allows for shared mistakes, that one."""
        known = [one["method"] for one in self.pick("system_accuracy_in_sample") if is_known(one)]
        return min(known, key=lambda name: not allows_shared_mistakes(name), default="")

    @cached_property
    def detailed(self) -> str:
        """The method of the recall to show: that of the accuracy, or the last with intervals."""
        found = self.pick("recall")
        known = [one for one in found if not math.isnan(one["lower"])] or found
        names = [one["method"] for one in known]
        return self.reported if self.reported in names else (names or [""])[-1]

    @property
    def is_corrected(self) -> bool:
        """Whether known truths correct the accuracy of a method."""
        return any(one["quantity"] in ACCURACIES for one in self.uncorrected)

    def warnings(self, *about: str) -> list[Warning]:
        """List what should be known of the numbers of some questions."""
        return [
            one
            for one in self.results.warnings
            if one.about in about and one.system in ("", self.system)
        ]


def view_systems(results: Results, names: Callable[[str], str] = str) -> list[View]:
    """Make a view of each system; of ratings without a system one of all rows."""
    systems = [str(name) for name in results.ratings.systems]
    return [View(results=results, system=one, names=names) for one in systems or [""]]


def _records(table: Any, system: str) -> list[Record]:
    return table[table["system"] == system].to_dict("records")


def is_known(row: Record) -> bool:
    """Whether the row has a number."""
    return not math.isnan(row["estimate"])


def allows_shared_mistakes(method: str) -> bool:
    """Whether a method's interval is meant to hold though mistakes are shared."""
    known = get_method(method)
    return known is not None and "shared_mistakes" in known.gives


def assumption(method: str) -> str:
    """What a method's estimate rests on, to be read after "if"."""
    known = get_method(method)
    return "" if known is None else known.assumes


def number(row: Record | None) -> float:
    """The estimate of a row; NaN if there is none."""
    return float("nan") if row is None else float(row["estimate"])


def write_cell(value: float | str | IntervalEstimate | None, chance: float | None = None) -> str:
    """Write a number, an estimate with its interval, or a difference and its P(higher)."""
    if isinstance(value, str):
        return value
    if not isinstance(value, IntervalEstimate):
        return plain_number(value)  # type: ignore[arg-type]
    shown = Column("").write(value)
    known = chance is not None and not math.isnan(chance)
    return f"{shown}, {probability(chance, 2)}" if known else shown


def write_short(value: float | str | None) -> str:
    """Write a number with two digits."""
    return value if isinstance(value, str) else short(value, 2)


def to_cell(row: Record) -> Cell:
    """The number of a row, with the probability that a difference is above zero."""
    if row["quantity"].endswith("_difference") and not math.isnan(row["probability"]):
        return value_of(row), row["probability"]
    return value_of(row)


def side_by_side(
    rows: Iterable[Record],
    columns: Sequence[str],
    label: Label,
    *,
    across: str = "method",
    cell: Callable[[Record], Cell] = to_cell,
) -> list[Row]:
    """Put numbers with one label into a row, under the values of a column.

    Parameters
    ----------
    rows : iterable of dict
    columns : sequence of str
        The values of `across`, as methods.
    label : callable
        From a row to its label.
    across : str
        The column of the results whose values stand side by side.
    cell : callable
        From a row to its cell.

    Returns
    -------
    list of tuple
        The label, and a cell for each column, None where there is none.
    """
    found: dict[str, dict[str, Cell]] = {}
    for one in rows:
        found.setdefault(label(one), {})[one[across]] = cell(one)
    return [(name, *(cells.get(one) for one in columns)) for name, cells in found.items()]


def under(heading: str, rows: Sequence[Row], most: int | None = None) -> list[Row]:
    """Put rows under a heading, and say how many are not shown."""
    indent = "" if heading else "  "
    shown: list[Row] = [(heading, f"{indent}{label}", *cells) for label, *cells in rows]
    if most is None or len(shown) <= most:
        return shown
    blank = [None] * (len(shown[0]) - 2)
    return [*shown[:most], (heading, f"{indent}… and {len(shown) - most} more", *blank)]


def method_table(
    view: View,
    sections: Mapping[str, Sequence[Row]],
    *,
    title: str = "",
    write: Callable[..., str] = write_cell,
    most: int | None = None,
    **options: Any,
) -> list[Table]:
    """Make a table with a column for each method that has a number in it; none without numbers."""
    rows = [row for heading, found in sections.items() for row in under(heading, found, most)]
    columns = [Column("quantity", ""), Column("label", title)]
    columns += [Column(one, view.names(one), write) for one in view.methods]
    used = [0, 1, *(j for j in range(2, len(columns)) if any(row[j] is not None for row in rows))]
    if len(used) == 2:
        return []
    kept = [tuple(row[j] for j in used) for row in rows]
    shown = [columns[j] for j in used]
    return [Table(columns=shown, rows=kept, keys=2, headings=True, **options)]


def accuracies(view: View) -> list[Table]:
    """Make the table of the system's accuracy by each method, below what methods assume."""
    own = view.pick(*ACCURACIES, of=view.uncorrected)
    before = {(one["method"], one["quantity"]): value_of(one) for one in own}
    powered = {one["method"]: value_of(one) for one in view.pick("prediction_powered")}
    after = {(one["method"], one["quantity"]): value_of(one) for one in view.pick(*ACCURACIES)}
    corrected, entered = [], list[Row]()
    for method in view.methods:
        values = [after.get((method, quantity)) for quantity in ACCURACIES]
        if any(one is not None and one.corrected for one in values):
            corrected.append(method)
            entered.append(_accuracy_row(view, method, values, powered.get(method)))
    rows = under(known_items(view), entered)
    if view.is_corrected:
        alone = view.value("accuracy_on_known_items", method="")
        rows += under(known_items(view), [("known items alone", alone, None, None)])
    without = "without them, " if corrected else ""
    for assumed in sorted({assumption(one) for one in view.methods}, key=_place):
        found = before if corrected else after
        own_rows = [
            _accuracy_row(view, method, [found.get((method, quantity)) for quantity in ACCURACIES])
            for method in view.methods
            if assumption(method) == assumed
        ]
        held = [row for row in own_rows if any(row[1:])]
        heading = f"{without}if {assumed}" if assumed else without.rstrip(", ")
        rows += under(heading, held)
    columns = [Column("assumes", ""), Column("method", "")]
    columns += [Column(quantity, title) for quantity, title in ACCURACIES.items()]
    columns.append(Column("prediction_powered", "by PPI++"))
    if not any(row[4] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return [Table(columns=columns, rows=rows, keys=2, headings=True)]


def _accuracy_row(
    view: View, method: str, values: Sequence[Cell], powered: Cell = None
) -> tuple[Cell, ...]:
    return (view.names(method), *values, powered)


def _place(assumed: str) -> int:
    return ORDER.index(assumed) if assumed in ORDER else len(ORDER)


def known_items(view: View) -> str:
    """Say how many known truths entered."""
    found = view.first("accuracy_on_known_items", method="")
    n = 0 if found is None else int(found["n_items"])
    return f"with {n} known truths" if n != 1 else "with 1 known truth"


def by_category(view: View, most: int | None = None, *, corrected: bool = True) -> list[Table]:
    """Make the table of recall, precision and base rate of each category by each method."""
    rows = view.rows if corrected else view.uncorrected
    sections = {
        title: side_by_side(view.pick(name, of=rows), view.methods, lambda one: one["category"])
        for name, title in BY_CATEGORY.items()
        if corrected or name != "base_rates"
    }
    return method_table(
        view, sections, most=most, title="" if corrected else "without known truths"
    )


def in_detail(view: View) -> list[Table]:
    """Make the table of the system's measures of all categories by each method."""
    positive = view.results.options.positive
    sections: dict[str, list[Row]] = {}
    for name, title in IN_DETAIL.items():
        if positive is None or name == "f1":
            found = view.pick(name)
            sections[title] = side_by_side(found, view.methods, lambda one: one["category"])
    overall = view.pick(*OF_ALL, category="")
    sections[""] = side_by_side(
        overall, view.methods, lambda one: OF_ALL[one["quantity"]], cell=_cost
    )
    return method_table(view, sections, write=write_short)


def _cost(row: Record) -> Cell:
    """Write a cost with two digits that say something."""
    size = abs(row["estimate"])
    if row["quantity"] != "expected_cost" or not 0 < size < 0.1:
        return value_of(row)
    digits = 1 - math.floor(math.log10(size))
    return (Column("", format=lambda value: short(value, digits)).write(value_of(row)),)


def confusion(view: View) -> list[Table]:
    """Make the table of the confusion matrices, one method below the other."""
    answers = [str(name) for name in view.results.ratings.categories]
    rows: list[Row] = []
    for method in view.methods:
        found = view.pick("confusion", method=method)
        matrix = side_by_side(found, answers, lambda one: one["category"], across="response")
        rows += under(view.names(method), matrix)
    columns = [Column("method", ""), Column("truth", "truth \\ answer")]
    columns += [Column(one, one, write_short) for one in answers]
    return [Table(columns=columns, rows=rows, keys=2, headings=True)] if rows else []


def tests(view: View, most: int | None = None) -> list[Table]:
    """Make one table of every test: the system, and each rater, with what each measures.

    With two categories sensitivity, specificity, predictive values and likelihood ratios; else the
    accuracy, and the recall of each category.
    """
    positive = view.results.options.positive
    measures = _measures_of(view)
    rows: list[Row] = []
    for method in view.methods:
        each: list[Row] = []
        names = ([("", view.system)] if positive else []) + [
            (str(rater), str(rater)) for rater in _raters(view)
        ]
        for rater, shown in names:
            found = {
                (one["quantity"], one["category"]): to_cell(one)
                for one in view.rows
                if one["method"] == method and one["rater"] == rater and not one["grouping"]
            }
            accuracy = found.get(("rater_accuracy" if rater else "system_accuracy", ""))
            lowest = view.first("rater_accuracy_lowest", method=method, rater=rater)
            worst = (probability(lowest["probability"], 2),) if lowest and rater else None
            cells = [accuracy, *(found.get(key) for key in measures), worst]
            if any(cells):
                each.append((shown, *cells))
        rows += under(view.names(method), each, most)
    columns = [
        Column("method", ""),
        Column("test", ""),
        Column("accuracy", format=write_short),
        *(Column(title, title, write_short) for title in measures.values()),
        Column("lowest", "P(least accurate)", str),
    ]
    used = [j for j in range(len(columns)) if j < 2 or any(row[j] is not None for row in rows)]
    if not rows:
        return []
    kept = [tuple(row[j] for j in used) for row in rows]
    return [Table(columns=[columns[j] for j in used], rows=kept, keys=2, headings=True)]


def _measures_of(view: View) -> dict[tuple[str, str], str]:
    """Columns of the table of tests: quantity and category, and the title."""
    positive = view.results.options.positive
    if positive is None:
        names = map(str, view.results.ratings.categories)
        return {("recall", name): f"recall of {name}" for name in names}
    both = {True: str(positive.name), False: str(positive.negative)}
    return {
        (quantity, both[of]): TITLES.get(name, name) for name, (quantity, of) in OF_POSITIVE.items()
    }


def _raters(view: View) -> list[str]:
    return list(dict.fromkeys(one["rater"] for one in view.pick("rater_accuracy", rater=ANY)))


GROUPINGS = {
    "group": "Groups of items",
    "population": "Populations of items",
    "rater_group": "Groups of raters",
}


def groups(view: View, grouping: str, *, most: int | None = None) -> list[Table]:
    """Make the tables of numbers in groups, and of the differences of groups."""
    base = side_by_side(
        view.pick("base_rates", grouping=grouping, group=ANY, rater=""),
        view.methods,
        lambda one: f"{one['group']}: {one['category']}",
    )
    sections: dict[str, list[Row]] = {}
    for name, title in (ACCURACIES | {"rater_accuracy": "accuracy of raters"}).items():
        if name != "rater_accuracy" or grouping == "rater_group":
            found = view.pick(name, grouping=grouping, group=ANY, rater="")
            heading = title if name == "rater_accuracy" else f"accuracy {title}"
            sections[heading] = side_by_side(found, view.methods, _of_group)
    tables = method_table(view, sections, title=_column_name(view, grouping))
    differences = view.pick(
        "system_accuracy_difference", "rater_accuracy_difference", grouping=grouping, group=ANY
    )
    pairs = side_by_side(differences, view.methods, lambda one: f"{one['group']} – {one['versus']}")
    tables += method_table(view, {"": pairs}, title="difference, P(higher)", most=most)
    if grouping == "population":
        tables += method_table(view, {"base rate": base}, most=most)
    return tables


def _of_group(row: Record) -> str:
    n = row["n_items"]
    return row["group"] if math.isnan(n) else f"{row['group']} ({n:g})"


def _column_name(view: View, grouping: str) -> str:
    options = view.results.options
    column = {"group": options.groups, "population": options.populations}.get(grouping)
    return "" if column is None else f"by {column.column}"


def systems(results: Results, names: Callable[[str], str] = str) -> list[Table]:
    """Make the tables of several systems: accuracies, ranks and differences."""
    views = view_systems(results, names)
    first, level = views[0], percent(views[0].level)
    every = [one for view in views for one in view.rows]
    sections = {
        f"accuracy {title}": side_by_side(
            first.pick(name, of=every), first.methods, lambda one: one["system"]
        )
        for name, title in ACCURACIES.items()
    }
    tables = method_table(first, sections)
    found = first.pick("system_accuracy_rank", of=every)
    ranks = side_by_side(found, first.methods, lambda one: one["system"], cell=write_rank)
    title = f"rank by expected accuracy, P(best) [{level} interval]"
    tables += method_table(first, {"": ranks}, title=title, write=str)
    return [*tables, *_differences(first, every)]


def write_rank(row: Record) -> Cell:
    """Write a rank with its interval and the probability of the first rank."""
    value = value_of(row)
    shown = Column("", format="{:.0f}".format).write(value)
    return (f"{shown}, {probability(row['probability'])}",)


def _differences(view: View, every: list[Record]) -> list[Table]:
    found = view.pick("system_accuracy_difference", of=every)
    in_sample = {
        (one["method"], one["system"], one["versus"]): one
        for one in view.pick("system_accuracy_in_sample_difference", of=every)
    }
    best = {
        one["method"]: one["system"]
        for one in view.pick("system_accuracy_rank", of=every)
        if one["estimate"] == 1
    }
    rows: list[Row] = []
    for method in view.methods:
        pairs = [one for one in found if one["method"] == method]
        if len(pairs) > MOST_DIFFERENCES and method in best:
            pairs = [one for one in pairs if best[method] in (one["system"], one["versus"])]
        for one in pairs[: max(MOST_DIFFERENCES, len(view.results.ratings.systems))]:
            beside = in_sample.get((method, one["system"], one["versus"]))
            chance = probability(one["probability"]) if one["probability"] >= 0 else ""
            pair = f"{one['system']} – {one['versus']}"
            near = None if beside is None else value_of(beside)
            rows.append((view.names(method), pair, value_of(one), (chance,), near, one["n_items"]))
    columns = [
        Column("method", ""),
        Column("systems", ""),
        Column("difference", "difference", lambda x: decimal(x, sign=True)),
        Column("probability", "P(better)", str),
        Column(
            "in_sample", ACCURACIES["system_accuracy_in_sample"], lambda x: decimal(x, sign=True)
        ),
        Column("n_items", "items of both", "{:g}".format),
    ]
    return [Table(columns=columns, rows=rows, keys=2, headings=True)] if rows else []


def misled(view: View) -> list[Table]:
    """Make the table of what the accuracy would be if items misled the raters."""
    rows: list[Row] = []
    for method in view.methods:
        known = view.first("system_accuracy_if_all_misled", method=method)
        if known is None or allows_shared_mistakes(method) or not is_known(known):
            continue
        own = [one for one in view.uncorrected if one["method"] == method]
        nobody = next(iter(view.pick("system_accuracy", of=own)), None)
        nobody = nobody or view.first("system_accuracy", method=method)
        alone = view.first("system_accuracy_if_raters_misled", method=method)
        exact = view.first("system_accuracy_if_raters_misled_bounds", method=method) is not None
        mark = "" if exact or alone is None else ABOUT
        without = "" if alone is None else f"{mark}{decimal(number(alone))}"
        rows.append((view.names(method), number(nobody), number(known), (without,)))
    columns = [
        Column("method"),
        Column("nobody_misled"),
        Column("system_too"),
        Column("raters_alone", format=str),
    ]
    return [Table(columns=columns, rows=rows)] if rows else []


def base_rates(view: View, *, most: int | None = None, longest: int = 1000) -> list[Table]:
    """Make the tables of `lehner compare`: proportions in groups, differences, and raters."""
    grouping = view.results.options.groups
    title = "" if grouping is None else short_name(grouping.column, longest)
    several = (
        len({one["category"] for one in view.pick("base_rates", grouping="group", group=ANY)}) > 1
    )

    def label(row: Record) -> str:
        parts = [short_name(row["group"], longest)] if grouping is not None else []
        return ": ".join([*parts, *([row["category"]] if several or not parts else [])])

    def pair(row: Record) -> str:
        return " – ".join(short_name(row[end], longest) for end in ("group", "versus"))

    def cell(row: Record) -> Cell:
        # The heading says that known truths correct all of them.
        return to_cell(row | {"corrected": False})

    found = view.pick("base_rates", grouping="group", group=ANY)
    ranks = {
        one["group"]: one
        for one in view.pick("base_rates_rank", grouping="group", group=ANY, method=view.methods[0])
    }
    known = {
        label(one): one
        for one in view.pick("base_rates_on_known_items", grouping="group", group=ANY)
    }
    found.sort(key=lambda one: number(ranks.get(one["group"])) if ranks else 0)
    sizes = {label(one): one["n_items"] for one in found}
    groups_of = {label(one): one["group"] for one in found}
    rows: list[Row] = []
    for name, *cells in side_by_side(
        found, view.methods[: None if most is None else 2], label, cell=cell
    ):
        truths = known.get(str(name))
        counts = None
        if truths is not None and truths["n_items"] > 0:
            counts = (f"{round(truths['estimate'] * truths['n_items'])}/{truths['n_items']:g}",)
        ranked = ranks.get(groups_of[str(name)])
        place = None if ranked is None else write_rank(ranked | {"corrected": False})
        rows.append((name, (f"{sizes[str(name)]:g}",), counts, *cells, place))
    heads = [Column("n_items", "items", str), Column("known", "known", str)]
    # Two methods, and differences by one, are what a screen has room for.
    methods = view.methods if most is None else view.methods[:2]
    columns = [Column(one, view.names(one), write_cell) for one in methods]
    tables = [
        ([Column("group", title), *heads, *columns, Column("rank", "rank, P(best)", str)], rows)
    ]
    pairs = view.pick("base_rates_difference", grouping="group", group=ANY)
    first = methods if most is None else methods[:1]
    named = side_by_side(pairs, first, pair, cell=cell)
    tables.append(([Column("pair", "difference, P(higher)"), *columns[: len(first)]], named))
    of_one = ("recall",) if view.results.ratings.n_raters == 1 else ()
    accuracies_of = view.pick("rater_accuracy", *of_one, rater=ANY)
    raters = side_by_side(accuracies_of, methods, _rater_measure(longest), cell=cell)
    tables.append(([Column("rater", "accuracy of raters"), *columns], raters))
    return [made for heads, found in tables if (made := _filled(heads, found, most)) is not None]


def _rater_measure(longest: int) -> Label:
    def label(row: Record) -> str:
        name = short_name(row["rater"], longest)
        return name if row["quantity"] != "recall" else f"{name}: recall of {row['category']}"

    return label


def short_name(name: str, longest: int) -> str:
    """Cut a name in its middle: long names often differ at their ends."""
    half = longest // 2
    return name if len(name) <= longest else f"{name[:half]}…{name[1 - half :]}"


def _filled(columns: Sequence[Column], rows: Sequence[Row], most: int | None) -> Table | None:
    """Make a table without empty columns, and with so many rows at most."""
    if not rows:
        return None
    used = [j for j in range(len(columns)) if any(row[j] is not None for row in rows)]
    shown: list[Row] = [tuple(row[j] for j in used) for row in rows]
    if most is not None and len(shown) > most:
        shown[most - 1 :] = [(f"… and {len(rows) - most + 1} more", *[None] * (len(used) - 1))]
    return Table(columns=[columns[j] for j in used], rows=shown)
