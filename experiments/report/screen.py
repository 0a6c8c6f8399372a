"""One screen: what the data are, the accuracy to report, and what is to be kept in mind."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Group

from experiments.report.answer import name_warnings
from experiments.report.options import as_options, data_notes, header_lines
from experiments.report.sentences import find_needed
from experiments.report.table import Column, Table, to_terminal
from experiments.report.terminal import cut, line, one_line, wrapped
from experiments.report.views import (
    ANY,
    REPORT,
    Record,
    Row,
    View,
    assumption,
    make_table,
    view_systems,
    write_cell,
)
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import DASH, counted, counted_categories, decimal, percent, probability
from lehner.core.warning import Warning
from lehner.estimation.gold_labels import METHOD as GOLD_LABELS
from lehner.estimation.results import Results, value_of
from lehner.known_truths.partly_known import WILSON
from lehner.known_truths.sampling_design import n_for_width_alone
from lehner.performance.positive import GUESSED

if TYPE_CHECKING:
    from rich.text import Text

WIDTH, MOST_LINES = 100, 24
LONGEST_FILE = 36
MOST_CATEGORIES, MOST_SYSTEMS, MOST_CAUTIONS = 4, 8, 3
LINES_OF_CAUTION, MOST_NOTES = 3, 2
HALF_WIDTH = 0.05
"""Of the interval that `lehner ask` aims at."""
UNBROKEN = 10_000
CLEARLY = 0.95
"""Probability from which a rater is said to be less accurate than each other one."""
CORRELATED = (
    "system-copies-rater",
    "shared-mistakes",
    "mistakes-correlated",
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
    most = MOST_LINES - 1 - MOST_CAUTIONS
    lines = [*map(line, _on_data(views, width)), line(), *body][:most]
    named, n_more = choose_cautions(results, [view.reported for view in views])
    room = max(1, (MOST_LINES - 1 - len(lines)) // max(len(named), 1))
    for text in named:
        parts = wrapped(f"Caution: {text}", width, min(LINES_OF_CAUTION, room))
        lines += [line(part, style="yellow") for part in parts]
    lines.append(line(_on_next(views, n_more, in_detail=in_detail, width=width)))
    for one in lines:
        one.truncate(width, overflow="ellipsis")
    return Group(*lines)


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
    if not view.reported:
        return [line(f"accuracy  {DASH}  no estimate")]
    rows: list[Row] = [
        (name, (str(value),), (alone,) if alone else None, "")
        for name, value, alone in _list_measures(view, view.reported, in_detail)
    ]
    rows[0] = (*rows[0][:-1], _name_method(view, view.reported))
    columns = [Column("measure", f"[{percent(view.level)} interval]"), Column("estimate")]
    (table,) = make_table([*columns, Column("gold_labels"), Column("by")], rows)
    lines = to_terminal(table, width)
    return [*lines, *map(line, _list_notes(view, in_detail, width))]


def _list_measures(
    view: View, method: str, in_detail: bool
) -> Iterator[tuple[str, IntervalEstimate, str]]:
    """Yield name, number, and how many gold labels say so, of each measure by one method."""
    accuracy = view.value("system_accuracy_in_sample", method=method)
    yield "accuracy", accuracy, _count_right(view.gold)
    for title, quantity, category in _list_shown(view):
        row = view.first(quantity, method=method, category=category)
        if row is not None:
            known = view.first(f"{quantity}_on_known_items", method="", category=category)
            yield title, value_of(row), _count_right(known)
    for name, title in REPORT["table"]["measures"]["blocks"].items() if in_detail else ():
        row = view.first(name, method=method, category="")
        if row is not None:
            yield title, value_of(row), ""


def _count_right(row: Record | None) -> str:
    if row is None:
        return ""
    n = row["n_items"]
    right = 0 if math.isnan(row["estimate"]) else round(row["estimate"] * n)
    return f"{right}/{n:g}"


def _list_shown(view: View) -> Iterator[tuple[str, str, str]]:
    """Yield what measures by category are called, what they are, and of which category."""
    positive = view.positive
    if positive is None:
        for name in list(map(str, view.results.ratings.categories))[:MOST_CATEGORIES]:
            yield f"recall of {cut(name)}", "recall", name
        return
    name, other = str(positive.name), str(positive.negative)
    yield f"sensitivity ({cut(name)})", "recall", name
    yield "specificity", "recall", other
    yield "positive predictive value", "precision", name
    yield "negative predictive value", "precision", other


def _name_method(view: View, method: str) -> str:
    """Name a method, and what its estimate rests on."""
    value = view.value("system_accuracy_in_sample", method=method)
    if method == GOLD_LABELS:
        return f"gold labels alone{', by Wilson' if value.kind == WILSON else ''}"
    told = view.results.fits[view.system, method].diagnostics
    learned = (
        f", learned on {told['crowds']} public crowds with gold labels"
        if "system_is" in told
        else ""
    )
    if value.corrected:
        corrects = any(row["method"] == method for row in view.uncorrected)
        return f"{method}{learned}, {'corrected by' if corrects else 'with'} the gold labels"
    assumed = assumption(method)
    return f"{method}{learned}{f', if {assumed}' if assumed else ''}"


def _list_notes(view: View, in_detail: bool, width: int) -> Iterator[str]:
    positive = view.positive
    if positive is not None and positive.chosen_by in GUESSED:
        name, other = cut(positive.name), cut(positive.negative)
        yield f"Positive category: {name} ({GUESSED[positive.chosen_by]}; else --positive {other})"
    if view.detailed and view.detailed != view.reported:
        measures = _list_measures(view, view.detailed, in_detail)
        shown = ", ".join(f"{name} {value}" for name, value, _ in measures)
        yield from wrapped(f"By {_name_method(view, view.detailed)}: {shown}", width, 3)
    others: dict[str, list[float]] = {}
    for row in view.pick("system_accuracy_in_sample"):
        if row["method"] not in (view.reported, view.detailed) and row["estimate"] >= 0:
            assumed = assumption(row["method"])
            why = " with the gold labels" if row["corrected"] else assumed and f" if {assumed}"
            others.setdefault(why, []).append(row["estimate"])
    if others:
        parts = [_write_range(values) + why for why, values in others.items()]
        yield f"Other methods: {', '.join(parts)}"
    needed = find_needed(view)
    if needed is not None and not any(row["corrected"] for row in view.pick("system_accuracy")):
        yield from wrapped(f"Whatever the method (lehner bounds): {needed.brief}", width, 2)
    yield from _on_raters(view, width)
    yield from _on_groups(view, width)


def _write_range(values: Sequence[float]) -> str:
    least, most = decimal(min(values)), decimal(max(values))
    return least if least == most else f"{least} to {most}"


def _on_raters(view: View, width: int) -> Iterator[str]:
    """Yield what raters are worth, and how accurate, by the last method that tells them apart."""
    worth = view.first("effective_raters", method="")
    if worth is not None and not math.isnan(worth["lower"]):
        n = view.number("raters_per_item", method="")
        yield (
            f"The {n:.10g} raters of an item are worth {worth['lower']:.1f} to "
            f"{worth['upper']:.1f} independent ones in {percent(worth['level'])} of public crowds"
        )
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
    lowest = view.first("rater_accuracy_lowest", method=method, rater=order[0])
    if lowest is not None and lowest["probability"] >= CLEARLY:
        chance = probability(lowest["probability"], 2)
        parts[0] += f" (below all others, P {chance if chance[0] in '<>' else f'= {chance}'})"
    rest = [
        f" {_write_range([accuracy[name] for name in order[n:]])}" for n in range(1, len(order))
    ]
    yield fit_parts(f"Raters ({method}): ", parts, width, rest)


def _on_groups(view: View, width: int) -> Iterator[str]:
    """Yield a line of the accuracies in groups, and one of their clearest difference."""
    for grouping in ("group", "population", "rater_group"):
        quantity = "rater_accuracy" if grouping == "rater_group" else "system_accuracy"
        rows = view.pick(quantity, grouping=grouping, group=ANY)
        if not rows:
            continue
        method, column = rows[-1]["method"], view.column_of(grouping)
        title = f"By {cut(column.column)}" if column else "Groups of raters"
        parts = [f"{cut(row['group'])} {value_of(row)}" for row in rows if row["method"] == method]
        yield fit_parts(f"{title} ({method}): ", parts, width)
        differences = view.pick(
            f"{quantity}_difference", grouping=grouping, group=ANY, method=method
        )
        pairs = [row for row in differences if not math.isnan(row["probability"])]
        if pairs:
            row = max(pairs, key=lambda pair: abs(pair["probability"] - 0.5))
            which = "Clearest difference" if len(pairs) > 1 else "Difference"
            names = f"{cut(row['group'])} – {cut(row['versus'])}"
            yield f"{which}, {names}, P(higher): {write_cell(value_of(row), row['probability'])}"


def _of_several(views: Sequence[View], width: int) -> "list[Text]":
    first = views[0]
    ranked = [row["method"] for row in first.pick("system_accuracy_rank")]
    method = first.reported if first.reported in ranked else (ranked or [first.reported])[-1]
    order = sorted(views, key=lambda view: view.rank)
    best = order[0].system
    rows: list[Row] = []
    for view in order[:MOST_SYSTEMS]:
        value = view.value("system_accuracy_in_sample", method=method)
        rank = None if math.isinf(view.rank) else (f"{view.rank:g}",)
        rows.append((cut(view.system), value, rank, _compare(views, method, view.system, best)))
    columns = [
        Column("system", f"[{percent(first.level)} interval]"),
        Column("accuracy"),
        Column("rank", format=str),
        Column("difference", f"difference to {cut(best)}, P(better)", write_cell),
    ]
    lines = to_terminal(Table(columns=columns, rows=rows), UNBROKEN)
    if len(order) > MOST_SYSTEMS:
        lines.append(line(f"… and {len(order) - MOST_SYSTEMS} more: --full"))
    lines.append(line(f"Accuracies, ranks and differences by {_name_method(first, method)}"))
    return [*lines, *map(line, _on_raters(first, width))]


def _compare(
    views: Sequence[View], method: str, system: str, best: str
) -> tuple[IntervalEstimate, float] | None:
    """How much better than the best a system is, and the probability that it is better."""
    for view in views:
        for row in view.pick("system_accuracy_difference", method=method):
            pair = row["system"], row["versus"]
            if set(pair) != {system, best} or system == best or math.isnan(row["estimate"]):
                continue
            if pair == (system, best):
                return value_of(row), row["probability"]
            turned = {"estimate": "estimate", "lower": "upper", "upper": "lower"}
            flipped = row | {name: -row[other] for name, other in turned.items()}
            return value_of(flipped), 1 - row["probability"]
    return None


def choose_cautions(results: Results, methods: Sequence[str] = ()) -> tuple[list[str], int]:
    """Name warnings that change or limit a conclusion, one of a kind; count those left out."""
    first: dict[str, Warning] = {}
    for one in sorted(results.warnings, key=lambda one: one.method not in ("", *methods)):
        if one.severity != "note":
            first.setdefault("correlated" if one.code in CORRELATED else one.code, one)
    named = name_warnings(first.values(), several=len(results.ratings.systems) > 1)
    texts = [one_line(as_options(text)) for text in named]
    return texts[:MOST_CAUTIONS], len(texts[MOST_CAUTIONS:])


def _on_next(views: Sequence[View], n_more: int, *, in_detail: bool, width: int) -> str:
    """Name what to do next, as much of it as fits."""
    parts = ["--full", "--report FILE", "--output FOLDER"]
    if n_more:
        parts[0] += f" ({counted(n_more, 'more caution')})"
    asked = _on_labels(views)
    if asked:
        parts.insert(1, asked)
    if not in_detail:
        parts.append("--details")
    while cell_len(f"Next: {', '.join(parts)}") > width and len(parts) > 1:
        parts.pop()
    return f"Next: {', '.join(parts)}"


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
    more = counted(n, "gold label") if not n_known else counted(n, "more gold label")
    if n <= 0:
        return ""
    by_hand = f"{more} (for ±.05)"
    return f"lehner ask ({more} would give ±.05)" if view.results.ratings.n_raters else by_hand


def fit_parts(head: str, parts: Sequence[str], width: int, rest: Sequence[str] = ()) -> str:
    """Join as many parts as fit into a line, the first at least, and sum the others up.

    The line with n parts ends with `rest[n - 1]`.
    """
    for n in range(len(parts), 0, -1):
        left = f", {len(parts) - n} more{rest[n - 1] if rest else ''}" if n < len(parts) else ""
        text = f"{head}{', '.join(parts[:n])}{left}"
        if cell_len(text) <= width:
            return text
    return f"{head}{parts[0]}"
