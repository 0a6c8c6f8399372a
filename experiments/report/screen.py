"""One screen: what the data are, the accuracy to report, and what is to be kept in mind."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from experiments.report import views
from experiments.report.answer import name_warnings
from experiments.report.sentences import find_needed, name_crowds, say_effective_raters
from experiments.report.table import Cell, Column, Table, to_terminal
from experiments.report.terminal import cell_len, cut, data_lines, line, one_line, wrapped
from experiments.report.views import ANY, Record, View
from lehner.core.errors import Warning
from lehner.core.text import DASH, counted, counted_categories, decimal, percent
from lehner.estimation.results import Results, value_of
from lehner.known_truths.correction import n_for_width_alone

if TYPE_CHECKING:
    from rich.text import Text

WIDTH, MOST_LINES = 100, 24
LONGEST_FILE, LONGEST_TITLE = 36, 40
MOST_MEASURES, MOST_METHODS, MOST_SYSTEMS, MOST_CAUTIONS, MOST_NOTES = 4, 5, 6, 3, 2
HALF_WIDTH = 0.05
"""Of the interval that `lehner ask` aims at."""
CORRELATED = (
    "system-copies-rater",
    "shared-mistakes",
    "agreement-unexplained",
)
"""Codes of which one is said: they mean that errors are not independent."""


def render_screen(results: Results, width: int, *, in_detail: bool = False) -> "list[Text]":
    """Lay out what one needs first, in at most 24 lines of at most 100 columns.

    Parameters
    ----------
    results : Results
    width : int
        Of the terminal; no line is longer than 100 columns.

    Returns
    -------
    list of rich.text.Text
        Longer lines are cut, and end with an ellipsis.
    """
    width = min(width, WIDTH)
    each = views.view_systems(results)
    head = [*map(line, _on_data(each, width)), line()]
    body = _of_several(each, width) if len(each) > 1 else _of_one(each[0], width)
    cautions, n_more = choose_cautions(results, [view.reported for view in each])
    # Cautions are said in full, or in two lines, before the last lines of the body.
    room = MOST_LINES - 1 - len(head) - len(body)
    most = 3 if 3 * len(cautions) <= room else 2
    said = [part for text in cautions for part in wrapped(f"Caution: {text}", width, most)]
    full = f"--full ({counted(n_more, 'more caution')})" if n_more else "--full"
    parts = [full, _on_labels(each), "--report FILE", "--output FOLDER"]
    lines = [*head, *body][: MOST_LINES - 1 - len(said)]
    lines += [line(text, style="yellow") for text in said]
    lines.append(line(_fit_next(list(filter(None, parts)), width)))
    for text in lines:
        text.truncate(width, overflow="ellipsis")
    return lines


def _fit_next(parts: list[str], width: int) -> str:
    """Name the options to go on with, as many as fit."""
    while cell_len(f"Next: {', '.join(parts)}") > width and len(parts) > 1:
        parts.pop()
    return f"Next: {', '.join(parts)}"


def choose_cautions(results: Results, methods: Sequence[str] = ()) -> tuple[list[str], int]:
    """Name warnings that change or limit a conclusion, one of a kind; count those left out."""
    first: dict[str, Warning] = {}
    for warning in sorted(results.warnings, key=lambda each: each.method not in ("", *methods)):
        if warning.severity != "note":
            first.setdefault("correlated" if warning.code in CORRELATED else warning.code, warning)
    named = name_warnings(first.values(), several=len(results.ratings.systems) > 1)
    texts = list(map(one_line, named))
    return texts[:MOST_CAUTIONS], len(texts[MOST_CAUTIONS:])


def _on_data(each: Sequence[View], width: int) -> Iterator[str]:
    results, gold = each[0].results, each[0].gold
    ratings = results.ratings
    whom = cut(each[0].system) if len(each) == 1 else f"{len(each)} systems"
    categories = counted_categories(ratings.n_categories, ordered=ratings.ordered)
    labels = "" if gold is None else f", {counted(int(gold['n_items']), 'gold label')}"
    counts = (counted(ratings.n_items, "item"), counted(ratings.n_raters, "rater"), categories)
    named = f"{cut(results.options.name, LONGEST_FILE)}: {whom}, {', '.join(counts)}{labels}"
    yield from wrapped(f"{named}, {counted(ratings.n_ratings, 'rating')}", width, 2)
    for note in data_lines(ratings)[:MOST_NOTES]:
        yield from wrapped(one_line(note), width, 2)


def _lay_out(tables: Iterable[Table], width: int) -> "list[Text]":
    return [text for table in tables for text in to_terminal(table, width, noted=False)]


def _of_one(view: View, width: int) -> "list[Text]":
    """Lay out the accuracy by each method, further measures by one of them, and what raters are."""
    if not view.reported:
        return [line(f"accuracy  {DASH}  no estimate")]
    notes = [*_on_groups(view, width), *_on_bounds(view, width), *list_raters(view, width)]
    notes += say_effective_raters(view, briefly=True)
    tables = [_tabulate_accuracies(view), *_tabulate_measures(view)]
    return [*_lay_out(tables, width), *map(line, notes)]


def _tabulate_accuracies(view: View) -> Table:
    accuracies = view.pick("system_accuracy_in_sample")
    accuracies.sort(key=lambda row: row["method"] != view.reported)
    shown = [row for row in accuracies if not math.isnan(row["estimate"])]
    rows: list[tuple[Cell, ...]] = [
        (row["method"], (str(value_of(row)),), _name_basis(view, row))
        for row in shown[:MOST_METHODS]
    ]
    if view.gold is not None and view.results.ratings.n_raters:
        right = f"{views.count_right(view.gold)} right"
        rows.append(("gold labels alone", value_of(view.gold), right))
    if len(shown) > MOST_METHODS:
        rows.append((f"and {len(shown) - MOST_METHODS} more: --full", None, ""))
    level = f"[{percent(view.level)} interval]"
    columns = [Column("accuracy", f"accuracy {level}"), Column("on_these_items"), Column("", "")]
    return Table(columns=columns, rows=rows)


def _tabulate_measures(view: View) -> list[Table]:
    """Make the table of further measures by one method, beside what the gold labels say alone."""
    heading, placed = f"by {view.detailed}", list[tuple[str, str, str, Cell]]()
    positive = view.positive and ("recall", str(view.positive.name))
    for (quantity, category), title in list(view.test_measures.items())[:MOST_MEASURES]:
        of: dict[str, Any] = {"category": category}
        label = f"{title} ({cut(category)})" if (quantity, category) == positive else title
        label = cut(label, LONGEST_TITLE)
        for row in view.pick(quantity, method=view.detailed, **of):
            placed.append((heading, label, "estimate", views.plain_cell(row)))
        for row in view.pick(f"{quantity}_on_known_items", method="", **of):
            placed.append((heading, label, "gold_labels", views.make_cell(row)))
    return views.pivot(placed, [Column("estimate"), Column("gold_labels")])


def _name_basis(view: View, row: Record) -> str:
    """Say what the accuracy by a method rests on."""
    method, value = row["method"], value_of(row)
    if not view.results.ratings.n_raters:
        return f"by {value.kind}" if value.kind else ""
    crowds, assumed = name_crowds(view, method), views.assumption(method)
    parts = [f"learned on {crowds} with true labels"] if crowds else []
    if value.corrected:
        corrects = any(other["method"] == method for other in view.uncorrected)
        parts.append(f"{'corrected by' if corrects else 'with'} the gold labels")
    elif assumed:
        parts.append(f"if {assumed}")
    return ", ".join(parts)


def _on_bounds(view: View, width: int) -> list[str]:
    needed = find_needed(view)
    if needed is None or any(row["corrected"] for row in view.pick("system_accuracy")):
        return []
    return wrapped(f"Whatever the method (lehner bounds): {needed.brief}", width, 2)


def list_raters(view: View, width: int) -> Iterator[str]:
    """Yield how accurate raters are by the last method that tells them apart, the worst first."""
    by_method: dict[str, dict[str, float]] = {}
    for row in view.pick("rater_accuracy", rater=ANY):
        if not math.isnan(row["estimate"]):
            by_method.setdefault(row["method"], {})[row["rater"]] = row["estimate"]
    if not by_method:
        return
    method = max(reversed(by_method), key=lambda name: min(2, len(set(by_method[name].values()))))
    accuracy = by_method[method]
    if len(accuracy) > 1 and len(set(accuracy.values())) == 1:
        yield f"Raters ({method}): {decimal(next(iter(accuracy.values())))} each"
        return
    order = sorted(accuracy, key=accuracy.__getitem__)
    parts = [f"{cut(name)} {decimal(accuracy[name])}" for name in order]
    yield from wrapped(_fit_parts(f"Raters ({method}): ", parts, width), width, 2)


def _on_groups(view: View, width: int, whose: str = "") -> Iterator[str]:
    """Yield a line of the accuracies in groups, and one of their clearest difference."""
    for grouping in ("group", "population"):
        of: Any = {"grouping": grouping, "group": ANY}
        rows = view.pick("system_accuracy", **of)
        if not rows:
            continue
        method, column = rows[-1]["method"], view.column_of(grouping)
        parts = [f"{cut(row['group'])} {value_of(row)}" for row in rows if row["method"] == method]
        text = _fit_parts(f"{whose}By {cut(column.column)} ({method}): ", parts, width)
        yield from wrapped(text, width, 2)
        pairs = view.pick("system_accuracy_difference", method=method, **of)
        pairs = [row for row in pairs if not math.isnan(row["probability"])]
        if pairs:
            row = max(pairs, key=lambda pair: abs(pair["probability"] - 0.5))
            which = "Clearest difference" if len(pairs) > 1 else "Difference"
            names = f"{cut(row['group'])} – {cut(row['versus'])}"
            value = views.write_cell(value_of(row), row["probability"])
            yield f"{whose}{which}, {names}, P(higher): {value}"


def _of_several(each: Sequence[View], width: int) -> "list[Text]":
    """Lay out accuracies and ranks of systems by one method, the best first, and differences."""
    first = each[0]
    ranked = [row["method"] for row in first.pick("system_accuracy_rank")]
    method = first.reported if first.reported in ranked else (ranked or [first.reported])[-1]
    order = sorted(each, key=lambda view: view.rank)
    every = [row for view in order for row in view.rows]
    lines = []
    for name in ("systems_at_once", "differences_at_once"):
        for table in views.tabulate(first, name, every, cut=cut, method=method):
            more = len(table.rows) - MOST_SYSTEMS
            shown = replace(table, rows=table.rows[:MOST_SYSTEMS])
            lines += to_terminal(shown, width, noted=name == "systems_at_once")
            lines += [line(f"… and {more} more: --full")] if more > 0 else []
    row = first.first("system_accuracy_in_sample", method=method)
    basis = ", ".join(filter(None, (method, _name_basis(first, row) if row else "")))
    notes = wrapped(f"Accuracies, ranks and differences are by {basis}", width, 2)
    notes += [*list_raters(first, width), *say_effective_raters(first, briefly=True)]
    for view in order:
        notes += _on_groups(view, width, f"{cut(view.system)}: ")
    return [*lines, *map(line, notes)]


def _on_labels(each: Sequence[View]) -> str:
    """Name the command that chooses items to label, and how many would give a narrow interval.

    Without raters, whose ratings it needs, only the number.
    """
    view, *others = each
    n_known = 0 if view.gold is None else int(view.gold["n_items"])
    row = view.first("system_accuracy_in_sample", method=view.reported)
    if others or row is None or math.isnan(row["estimate"]):
        return "" if n_known else "lehner ask"
    if n_known and row["upper"] - row["lower"] <= 2 * HALF_WIDTH:
        return ""
    n_items = 0 if math.isnan(row["n_items"]) else int(row["n_items"])
    n = n_for_width_alone(row["estimate"], n_items, 2 * HALF_WIDTH, view.level) - n_known
    if n <= 0:
        return ""
    labels = counted(n, "more gold label" if n_known else "gold label")
    asked = f"lehner ask ({labels} would give ±.05)"
    return asked if view.results.ratings.n_raters else f"{labels} (for ±.05)"


def _fit_parts(head: str, parts: Sequence[str], width: int) -> str:
    """Join as many parts as fit into a line, the first and, after what is left out, the last."""
    text = f"{head}{', '.join(parts)}"
    n = len(parts) - 2
    while cell_len(text) > width and n > 0:
        left = counted(len(parts) - n - 1, "other")
        text = f"{head}{', '.join(parts[:n])}, … {left}, {parts[-1]}"
        n -= 1
    return text
