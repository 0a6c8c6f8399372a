"""One screen: what the data are, the accuracy to report, and what is to be kept in mind."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Group

from experiments.report.answer import name_warnings
from experiments.report.sentences import find_needed
from experiments.report.table import Cell, Column, Table, to_terminal
from experiments.report.terminal import cut, line, one_line, wrapped
from experiments.report.views import (
    ANY,
    REPORT,
    Record,
    View,
    assumption,
    count_right,
    pivot,
    plain_cell,
    tabulate,
    view_systems,
    write_cell,
)
from experiments.report.words import data_notes, header_lines
from lehner.core.errors import Warning
from lehner.core.text import DASH, counted, counted_categories, decimal, percent
from lehner.estimation.results import Results, value_of
from lehner.known_truths.sampling_design import n_for_width_alone
from lehner.performance.measures import GUESSED

if TYPE_CHECKING:
    from rich.text import Text

WIDTH, MOST_LINES = 100, 24
LONGEST_FILE = 36
MOST_CATEGORIES, MOST_METHODS, MOST_SYSTEMS, MOST_CAUTIONS = 4, 5, 6, 3
MOST_NOTES = 2
HALF_WIDTH = 0.05
"""Of the interval that `lehner ask` aims at."""
UNBROKEN = 10_000
CORRELATED = (
    "system-copies-rater",
    "shared-mistakes",
    "agreement-unexplained",
)
"""Codes of which one is said: they mean that errors are not independent."""


def render_screen(results: Results, width: int, *, in_detail: bool = False) -> Group:
    """Lay out what one needs first, in at most 24 lines of at most 100 columns.

    Parameters
    ----------
    results : Results
    width : int
        Of the terminal; no line is longer than 100 columns.
    in_detail : bool
        Whether measures of all categories together are shown, of one system.

    Returns
    -------
    rich.console.Group
        Of lines; longer ones are cut, and end with an ellipsis.
    """
    width = min(width, WIDTH)
    views = view_systems(results)
    body = _of_several(views, width) if len(views) > 1 else _of_one(views[0], in_detail, width)
    named, n_more = choose_cautions(results, [view.reported for view in views])
    most = MOST_LINES - 1 - len(named)
    lines = [*map(line, _on_data(views, width)), line(), *body][:most]
    room = max(1, (MOST_LINES - 1 - len(lines)) // max(len(named), 1))
    for text in named:
        parts = wrapped(f"Caution: {text}", width, min(3, room))
        lines += [line(part, style="yellow") for part in parts]
    full = f"--full ({counted(n_more, 'more caution')})" if n_more else "--full"
    more = (_on_labels(views), "--report FILE", "--output FOLDER", "" if in_detail else "--details")
    parts = [full, *filter(None, more)]
    while cell_len(f"Next: {', '.join(parts)}") > width and len(parts) > 1:
        parts.pop()
    lines.append(line(f"Next: {', '.join(parts)}"))
    for one in lines:
        one.truncate(width, overflow="ellipsis")
    return Group(*lines)


def choose_cautions(results: Results, methods: Sequence[str] = ()) -> tuple[list[str], int]:
    """Name warnings that change or limit a conclusion, one of a kind; count those left out."""
    first: dict[str, Warning] = {}
    for one in sorted(results.warnings, key=lambda one: one.method not in ("", *methods)):
        if one.severity != "note":
            first.setdefault("correlated" if one.code in CORRELATED else one.code, one)
    named = name_warnings(first.values(), several=len(results.ratings.systems) > 1)
    texts = list(map(one_line, named))
    return texts[:MOST_CAUTIONS], len(texts[MOST_CAUTIONS:])


def _on_data(views: Sequence[View], width: int) -> Iterator[str]:
    results, gold = views[0].results, views[0].gold
    ratings = results.ratings
    whom = cut(views[0].system) if len(views) == 1 else f"{len(views)} systems"
    categories = counted_categories(ratings.n_categories, ordered=ratings.ordered)
    labels = "" if gold is None else f", {counted(int(gold['n_items']), 'gold label')}"
    yield (
        f"{cut(results.options.name, LONGEST_FILE)}: {whom}, "
        f"{counted(ratings.n_items, 'item')}, {counted(ratings.n_raters, 'rater')}, {categories}"
        f"{labels}, {counted(ratings.n_ratings, 'rating')}"
    )
    for note in header_lines(data_notes(ratings))[:MOST_NOTES]:
        yield from wrapped(one_line(note), width, 2)


def _of_one(view: View, in_detail: bool, width: int) -> "list[Text]":
    """Lay out the accuracy by each method, further measures by one of them, and what raters are."""
    if not view.reported:
        return [line(f"accuracy  {DASH}  no estimate")]
    lines = [
        one
        for table in _tabulate(view, in_detail)
        for one in to_terminal(table, width, noted=False)
    ]
    return [*lines, *map(line, _list_notes(view, width))]


def _tabulate(view: View, in_detail: bool) -> Iterator[Table]:
    accuracies = view.pick("system_accuracy_in_sample")
    accuracies.sort(key=lambda row: row["method"] != view.reported)
    shown = [row for row in accuracies if not math.isnan(row["estimate"])]
    rows: list[tuple[Cell, ...]] = [
        (row["method"], (str(value_of(row)),), _name_basis(view, row))
        for row in shown[:MOST_METHODS]
    ]
    if view.gold is not None and view.results.ratings.n_raters:
        alone = f"{count_right(view.gold)} right"
        rows.append(("gold labels alone", value_of(view.gold), alone))
    if len(shown) > MOST_METHODS:
        rows.append((f"and {len(shown) - MOST_METHODS} more: --full", None, ""))
    level = f"[{percent(view.level)} interval]"
    columns = [Column("accuracy", f"accuracy {level}"), Column("on_these_items"), Column("", "")]
    yield Table(columns=columns, rows=rows)
    yield from _tabulate_measures(view, in_detail)


def _tabulate_measures(view: View, in_detail: bool) -> list[Table]:
    """Make the table of further measures by one method, beside what the gold labels say alone."""
    positive, ending = view.positive, "_on_known_items"
    if positive is None:
        names = list(map(str, view.results.ratings.categories))[:MOST_CATEGORIES]
        titles = {("recall", name): f"recall of {cut(name)}" for name in names}
    else:
        name, other = str(positive.name), str(positive.negative)
        titles = {
            ("recall", name): f"sensitivity ({cut(name)})",
            ("recall", other): "specificity",
            ("precision", name): "positive predictive value",
            ("precision", other): "negative predictive value",
        }
    if in_detail:
        measures = REPORT["table"]["measures"]["quantities"]
        titles |= {(name, ""): title for name, title in measures.items()}
    rows = []
    for quantity, category in titles:
        rows += view.pick(quantity, method=view.detailed, category=category)
        rows += view.pick(f"{quantity}{ending}", method="", category=category)
    return pivot(
        rows,
        [Column("estimate"), Column("gold_labels")],
        lambda row: f"by {view.detailed}",
        lambda row: titles[row["quantity"].removesuffix(ending), row["category"]],
        lambda row: "gold_labels" if row["quantity"].endswith(ending) else "estimate",
        cell=plain_cell,
    )


def _name_basis(view: View, row: Record) -> str:
    """Say what the accuracy by a method rests on."""
    method, value = row["method"], value_of(row)
    if not view.results.ratings.n_raters:
        return f"by {value.kind}" if value.kind else ""
    told = view.results.fits[view.system, method].diagnostics
    learned = f"learned on {told.get('crowds')} public crowds with true labels"
    parts = [learned] if "system_is" in told else []
    if value.corrected:
        corrects = any(one["method"] == method for one in view.uncorrected)
        parts.append(f"{'corrected by' if corrects else 'with'} the gold labels")
    elif assumption(method):
        parts.append(f"if {assumption(method)}")
    return ", ".join(parts)


def _list_notes(view: View, width: int) -> Iterator[str]:
    for grouping in ("group", "population", "rater_group"):
        yield from _on_groups(view, grouping, width)
    positive = view.positive
    if positive is not None and positive.chosen_by in GUESSED:
        name, other = cut(positive.name), cut(positive.negative)
        yield f"Positive category: {name} ({GUESSED[positive.chosen_by]}; else --positive {other})"
    needed = find_needed(view)
    if needed is not None and not any(row["corrected"] for row in view.pick("system_accuracy")):
        yield from wrapped(f"Whatever the method (lehner bounds): {needed.brief}", width, 2)
    yield from _on_raters(view, width)


def _on_raters(view: View, width: int) -> Iterator[str]:
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
    yield fit_parts(f"Raters ({method}): ", parts, width)


def _on_groups(view: View, grouping: str, width: int) -> Iterator[str]:
    """Yield a line of the accuracies in groups, and one of their clearest difference."""
    quantity = "rater_accuracy" if grouping == "rater_group" else "system_accuracy"
    of: Any = {"grouping": grouping, "group": ANY}
    rows = view.pick(quantity, **of)
    if not rows:
        return
    method, column = rows[-1]["method"], view.column_of(grouping)
    title = f"By {cut(column.column)}" if column else "Groups of raters"
    parts = [f"{cut(row['group'])} {value_of(row)}" for row in rows if row["method"] == method]
    yield fit_parts(f"{title} ({method}): ", parts, width)
    pairs = view.pick(f"{quantity}_difference", method=method, **of)
    pairs = [row for row in pairs if not math.isnan(row["probability"])]
    if pairs:
        row = max(pairs, key=lambda pair: abs(pair["probability"] - 0.5))
        which = "Clearest difference" if len(pairs) > 1 else "Difference"
        names = f"{cut(row['group'])} – {cut(row['versus'])}"
        yield f"{which}, {names}, P(higher): {write_cell(value_of(row), row['probability'])}"


def _of_several(views: Sequence[View], width: int) -> "list[Text]":
    """Lay out accuracies and ranks of systems by one method, the best first, and differences."""
    first = views[0]
    ranked = [row["method"] for row in first.pick("system_accuracy_rank")]
    method = first.reported if first.reported in ranked else (ranked or [first.reported])[-1]
    order = sorted(views, key=lambda view: view.rank)
    every = [row for view in order for row in view.rows]
    lines = []
    for name in ("systems_at_once", "system_differences"):
        for table in tabulate(first, name, every, cut=cut, method=method):
            more = len(table.rows) - MOST_SYSTEMS
            lines += to_terminal(replace(table, rows=table.rows[:MOST_SYSTEMS]), UNBROKEN)
            lines += [line(f"… and {more} more: --full")] if more > 0 else []
    row = first.first("system_accuracy_in_sample", method=method)
    basis = _name_basis(first, row) if row else ""
    lines.append(
        line(f"Accuracies, ranks and differences are by {method}{', ' if basis else ''}{basis}")
    )
    return [*lines, *map(line, _on_raters(first, width))]


def _on_labels(views: Sequence[View]) -> str:
    """Name the command that chooses items to label, and how many would give a narrow interval.

    Without raters, whose ratings it needs, only the number.
    """
    view, *others = views
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


def fit_parts(head: str, parts: Sequence[str], width: int) -> str:
    """Join as many parts as fit into a line, the first and, after what is left out, the last."""
    text = f"{head}{', '.join(parts)}"
    n = len(parts) - 2
    while cell_len(text) > width and n > 0:
        left = counted(len(parts) - n - 1, "other")
        text = f"{head}{', '.join(parts[:n])}, … {left}, {parts[-1]}"
        n -= 1
    return text
