"""One screen: what the data are, the numbers to report, and what is to be kept in mind.

`report.toml` lists the parts of a screen in their order, and those that give way where it is full.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from lehner.core.errors import Warning
from lehner.core.results import read_value
from lehner.core.text import DASH, pluralise, to_decimal
from lehner.estimation import gold_labels
from lehner.report import sentences, views
from lehner.report.answer import name_warnings
from lehner.report.table import CORRECTED_NOTE, Column, Table, to_terminal
from lehner.report.terminal import cell_len, cut, make_line, make_paragraphs, write_data_lines
from lehner.report.views import ANY, REPORT, View

if TYPE_CHECKING:
    from rich.text import Text

WIDTH, MOST_LINES = 100, 24
LONGEST_TITLE, LONGEST_GROUP = 40, 16
MOST_MEASURES, MOST_METHODS, MOST_ROWS, MOST_CAUTIONS, MOST_NOTES = 4, 5, 6, 3, 2
# Of the interval that `lehner ask` aims at.
HALF_WIDTH = 0.05
# Codes of which one is said: they mean that errors are not independent.
CORRELATED = ("system-copies-rater", "shared-mistakes", "agreement-unexplained")


def render_screen(each: Sequence[View], width: int) -> "list[Text]":
    """Lay out what one needs first, in at most 24 lines of at most 100 columns.

    Parameters
    ----------
    each : sequence of View
        Of each system, or one of a comparison of groups.
    width : int
        Of the terminal; no line is longer than 100 columns.

    Returns
    -------
    list of rich.text.Text
        Longer lines are cut, and end with an ellipsis.
    """
    width = min(width, WIDTH)
    kind = "systems" if len(each) > 1 else "system" if each[0].system else "comparison"
    asked = REPORT["screen"][kind]
    blocks = {part: _lay_out(part, each, width) for part in asked["parts"]}
    cautions, n_more = choose_cautions(each)
    # Cautions are said in full where there is room, else in two lines.
    most = 3 if _count_lines(blocks) + 3 * len(cautions) < MOST_LINES else 2
    if cautions:
        blocks["cautions"] = make_paragraphs(cautions, width, most, "yellow")
    for part in asked["give_way"]:
        while blocks[part] and _count_lines(blocks) >= MOST_LINES:
            blocks[part].pop()
    lines = [text for part in blocks.values() for block in part for text in block]
    lines = [*lines[: MOST_LINES - 1], make_line(_list_options(each, n_more, width))]
    for text in lines:
        text.truncate(width, overflow="ellipsis")
    return lines


def _count_lines(blocks: "Mapping[str, list[list[Text]]]") -> int:
    return sum(len(block) for part in blocks.values() for block in part)


def _lay_out(part: str, each: Sequence[View], width: int) -> "list[list[Text]]":
    """Lay out the tables or texts of a part: lines of each, which stand or fall together."""
    if part in TEXTS:
        texts = list(TEXTS[part](each))
        return make_paragraphs(texts, width) if texts else []
    blocks = []
    for table in _tabulate(part, each):
        shown = replace(table, rows=table.rows[:MOST_ROWS])
        left = len(table.rows) - len(shown.rows)
        more = [f"… and {left} more: --full"] if left else []
        lines = [text for text in to_terminal(shown, width, noted=False) if text.plain]
        blocks.append([*lines, *map(make_line, more)])
    return blocks


def _tabulate(part: str, each: Sequence[View]) -> list[Table]:
    view, *others = each
    if part in TABLES:
        return TABLES[part](view) if view.reported else []
    if others:
        rows = views.order_rows(each)
        return views.tabulate(view, part, rows, cut=cut, method=view.ranked_by)
    of: dict[str, Any] = {"grouping": "group", "group": ANY}
    return views.tabulate(view, part, cut=partial(cut, most=LONGEST_GROUP), **of)


def _list_options(each: Sequence[View], n_more: int, width: int) -> str:
    """Name the options to go on with, as many as fit."""
    full = f"--full ({pluralise(n_more, 'more caution')})" if n_more else "--full"
    parts = [full, *_suggest_labels(each), "--report FILE", "--output FOLDER"]
    fitting = (parts[:n] for n in range(len(parts), 0, -1))
    lines = [f"Next: {', '.join(part)}" for part in fitting]
    return next((text for text in lines if cell_len(text) <= width), lines[-1])


def choose_cautions(each: Sequence[View]) -> tuple[list[str], int]:
    """Name warnings that change or limit a conclusion, one of a kind; count those left out."""
    results, methods = each[0].results, ["", *(view.reported for view in each)]
    first: dict[str, Warning] = {}
    for warning in sorted(results.warnings, key=lambda warning: warning.method not in methods):
        if warning.severity != "note":
            first.setdefault("correlated" if warning.code in CORRELATED else warning.code, warning)
    texts = [f"Caution: {text}" for text in name_warnings(first.values(), several=len(each) > 1)]
    return texts[:MOST_CAUTIONS], len(texts[MOST_CAUTIONS:])


def _tabulate_accuracies(view: View) -> list[Table]:
    """Make the table of the accuracy by each method, the one to report first."""
    accuracies = view.pick("system_accuracy_in_sample")
    accuracies.sort(key=lambda row: row["method"] != view.reported)
    accuracies = [row for row in accuracies if not math.isnan(row["estimate"])]
    cells = views.make_cells(accuracies, plain=True)
    rows: list[tuple[Any, ...]] = [
        (row["method"], cell, sentences.name_basis(view, row))
        for row, cell in zip(accuracies, cells, strict=True)
    ]
    if view.gold is not None and view.results.ratings.n_raters:
        rows.insert(MOST_METHODS, ("gold labels alone", read_value(view.gold), view.gold_alone))
    columns = [Column("accuracy"), Column("on_these_items"), Column("", "")]
    return [Table(columns=columns, rows=rows)]


def _tabulate_measures(view: View) -> list[Table]:
    """Make the table of further measures by one method, beside what the gold labels say alone."""
    titles = dict(list(view.test_measures.items())[:MOST_MEASURES])
    if view.positive is not None:
        titles["recall", str(view.positive.name)] += f" ({cut(view.positive.name)})"
    labels = {key: cut(title, LONGEST_TITLE) for key, title in titles.items()}
    placed = list[views.Placed]()
    of = {"estimate": ("", view.detailed), "gold_labels": ("_on_known_items", "")}
    for column, (ending, method) in of.items():
        rows = view.pick(*{f"{quantity}{ending}" for quantity, _ in titles}, method=method)
        keys = [(row["quantity"].removesuffix(ending), row["category"]) for row in rows]
        cells = dict(zip(keys, views.make_cells(rows, plain=True), strict=True))
        heading = f"by {view.detailed}" if view.detailed else ""
        placed += [(heading, labels[key], column, cells[key]) for key in labels if key in cells]
    return views.pivot(placed, list(map(Column, of)))


def _say_basis(each: Sequence[View]) -> Iterator[str]:
    """Say by which method systems are ranked, and what it rests on."""
    view, method = each[0], each[0].ranked_by
    rows = view.pick("system_accuracy_in_sample", method=method)
    parts = [method, *(sentences.name_basis(view, row) for row in rows)]
    yield f"Accuracies, ranks and differences are by {', '.join(filter(None, parts))}"


def _explain_mark(each: Sequence[View]) -> Iterator[str]:
    """Say what the mark of a corrected estimate means."""
    if any(row["corrected"] for view in each for row in view.rows):
        yield CORRECTED_NOTE


def _say_bounds(each: Sequence[View]) -> Iterator[str]:
    """Say how low the accuracy may be, unless gold labels say more."""
    needed = sentences.find_needed(each[0])
    corrected = [row for row in each[0].pick("system_accuracy") if row["corrected"]]
    if needed and not corrected:
        yield f"Whatever the method (lehner bounds): {needed.brief}"


def _list_raters(each: Sequence[View]) -> Iterator[str]:
    """Say how accurate raters are by the last method that tells them apart, the worst first."""
    by_method: dict[str, dict[str, float]] = {}
    for row in each[0].pick("rater_accuracy", rater=ANY):
        if not math.isnan(row["estimate"]):
            by_method.setdefault(row["method"], {})[row["rater"]] = row["estimate"]
    apart = [name for name, own in by_method.items() if len(set(own.values())) > 1]
    for method in [*by_method, *apart][-1:]:
        own = sorted(by_method[method].items(), key=itemgetter(1))
        names, numbers = [cut(name) for name, _ in own], [to_decimal(value) for _, value in own]
        parts = [f"{name} {number}" for name, number in zip(names, numbers, strict=True)]
        if len(own) > 1 and method not in apart:
            parts = [f"{numbers[0]} each"]
        yield _fit_parts(f"Raters ({method}): ", parts)


def _list_groups(each: Sequence[View]) -> Iterator[str]:
    """Say the accuracies of each system in groups, and their clearest difference."""
    for view in sorted(each, key=lambda view: view.rank):
        whose = f"{cut(view.system)}: " if len(each) > 1 else ""
        for grouping in ("group", "population"):
            of: Any = {"grouping": grouping, "group": ANY}
            rows = view.pick("system_accuracy", **of)
            if not rows:
                continue
            method, column = rows[-1]["method"], cut(view.find_column(grouping).column)
            own = [row for row in rows if row["method"] == method]
            parts = [f"{cut(row['group'])} {read_value(row)}" for row in own]
            yield _fit_parts(f"{whose}By {column} ({method}): ", parts)
            pairs = view.pick("system_accuracy_difference", method=method, **of)
            pairs = [row for row in pairs if not math.isnan(row["probability"])]
            if pairs:
                row = max(pairs, key=lambda pair: abs(pair["probability"] - 0.5))
                which = "Clearest difference" if len(pairs) > 1 else "Difference"
                names = f"{cut(row['group'])} – {cut(row['versus'])}"
                value = views.write_cell(read_value(row), row["probability"])
                yield f"{whose}{which}, {names}, P(higher): {value}"


def _suggest_labels(each: Sequence[View]) -> Iterator[str]:
    """Name the command that chooses items to label, and how many would give a narrow interval.

    Without raters, whose ratings it needs, only the number.
    """
    view, *others = each
    row = view.first("system_accuracy_in_sample", method=view.reported)
    ratings, expected = view.results.ratings, None
    if row is not None and not others and not math.isnan(row["estimate"]):
        expected = gold_labels.expect_widths(ratings, HALF_WIDTH, level=view.level)
    if row is None or expected is None:
        if view.system and view.gold is None:
            yield "lehner ask"
        return
    n, is_narrow = expected[-1], view.gold and row["upper"] - row["lower"] <= 2 * HALF_WIDTH
    if n > 0 and not is_narrow:
        labels = pluralise(n, "more gold label" if view.gold else "gold label")
        ask = f"lehner ask ({labels} would give ±.05)"
        yield ask if ratings.n_raters else f"{labels} (for ±.05)"


def _fit_parts(head: str, parts: Sequence[str]) -> str:
    """Join as many parts as fit into a line, the first and, after what is left out, the last."""
    text = f"{head}{', '.join(parts)}"
    n = len(parts) - 2
    while cell_len(text) > WIDTH and n > 0:
        left = pluralise(len(parts) - n - 1, "other")
        text = f"{head}{', '.join(parts[:n])}, … {left}, {parts[-1]}"
        n -= 1
    return text


# Tables of one system that are more than rows beside one another.
TABLES: Mapping[str, Callable[[View], list[Table]]] = {
    "accuracies": _tabulate_accuracies,
    "measures": _tabulate_measures,
}

# Lines of a screen.
TEXTS: Mapping[str, Callable[[Sequence[View]], Iterable[str]]] = {
    "name": lambda each: [sentences.describe_briefly(each[0])],
    "data": lambda each: write_data_lines(each[0].results.ratings)[:MOST_NOTES],
    "no_estimate": lambda each: ["" if each[0].reported else f"accuracy  {DASH}  no estimate"],
    "mark": _explain_mark,
    "basis": _say_basis,
    "groups": _list_groups,
    "bounds": _say_bounds,
    "raters": _list_raters,
    "effective_raters": lambda each: sentences.say_effective_raters(each[0], briefly=True),
    "cautions": lambda each: (),
}
