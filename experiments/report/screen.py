"""One screen: what the data are, the accuracy to report, and what is to be kept in mind."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Group

from experiments.report.answer import name_warnings
from experiments.report.sentences import mistakes_needed_of
from experiments.report.views import (
    ANY,
    OF_ALL,
    Record,
    Row,
    View,
    assumption,
    is_known,
    number,
    view_systems,
    write_cell,
)
from experiments.reporting.data_notes import data_notes, header_lines
from experiments.reporting.options import as_options
from experiments.reporting.renderers import to_terminal
from experiments.reporting.table import Cell, Column, Table
from experiments.reporting.terminal import line, one_line, wrapped
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import DASH, counted, counted_categories, decimal, percent, probability
from lehner.core.warning import Warning
from lehner.estimation.results import Results, value_of
from lehner.known_truths.sampling_design import n_for_width_alone
from lehner.performance.positive import GUESSED

if TYPE_CHECKING:
    from rich.text import Text

WIDTH, MOST_LINES = 100, 24
LONGEST_NAME, LONGEST_FILE, END_OF_NAME = 22, 36, 6
MOST_CATEGORIES, MOST_SYSTEMS, MOST_CAUTIONS = 4, 8, 3
LINES_OF_CAUTION, MOST_NOTES = 3, 2
HALF_WIDTH = 0.05
"""Of the interval that `lehner ask` aims at."""
UNBROKEN = 10_000
CLEARLY = 0.95
"""Probability from which a rater is said to be less accurate than each other one."""
ALIKE = {
    "system-copies-rater": "shared",
    "shared-mistakes": "shared",
    "mistakes-correlated": "shared",
    "agreement-unexplained": "shared",
}
"""Codes of which one is said: they mean that mistakes are not independent."""


def screen(results: Results, *, in_detail: bool = False, width: int = WIDTH) -> Group:
    """Lay out what one needs first, in at most 24 lines of at most 100 columns.

    Parameters
    ----------
    results : Results
    in_detail : bool
        Whether measures of all categories together are shown, of one system.
    width : int
        Of the terminal; no line is longer than 100 columns.

    Returns
    -------
    rich.console.Group
        Of lines; longer ones are cut, and end with an ellipsis.
    """
    width = min(width, WIDTH)
    views = view_systems(results)
    body = _of_several(views, width) if len(views) > 1 else _of_one(views[0], in_detail, width)
    most = MOST_LINES - 1 - MOST_CAUTIONS
    lines = [*map(line, _of_data(results, views[0], width)), *body][:most]
    cautions, n_more = _cautions(results, views, width, MOST_LINES - 1 - len(lines))
    lines += [line(text, style="yellow") for text in cautions]
    lines.append(line(_next(views, n_more, in_detail=in_detail, width=width)))
    for one in lines:
        one.truncate(width, overflow="ellipsis")
    return Group(*lines)


def _of_data(results: Results, view: View, width: int) -> Iterator[str]:
    ratings, known = results.ratings, view.first("accuracy_on_known_items", method="")
    names = [str(name) for name in ratings.systems]
    whom = cut(names[0]) if len(names) == 1 else f"{len(names)} systems"
    categories = counted_categories(ratings.n_categories, ordered=ratings.ordered)
    truths = "" if known is None else f", {counted(int(known['n_items']), 'known truth')}"
    yield (
        f"{cut(results.options.name, LONGEST_FILE)}: {whom}, "
        f"{counted(ratings.n_items, 'item')}, {counted(ratings.n_raters, 'rater')}, {categories}"
        f"{truths}, {counted(ratings.n_ratings, 'rating')}"
    )
    for note in header_lines(data_notes(ratings))[:MOST_NOTES]:
        yield from wrapped(one_line(note), width, 2)


def _of_one(view: View, in_detail: bool, width: int) -> "list[Text]":
    if not view.reported:
        return [line(), line(f"accuracy  {DASH}  no estimate")]
    blocks = {view.reported: list(_measures(view, view.reported, in_detail))}
    if view.detailed and view.detailed != view.reported:
        blocks[view.detailed] = list(_measures(view, view.detailed, in_detail))
    known = any(row[2] for rows in blocks.values() for row in rows)
    level = f"[{percent(view.level)} interval]"
    columns = [Column("measure", level), Column("estimate", "estimate", str)]
    columns += [Column("known", "known items", str)] if known else []
    columns.append(Column("by", "by"))
    rows: list[Row] = [
        (name, (shown,), *([(alone,)] if known else []), _by(view, method) if place == 0 else "")
        for method, found in blocks.items()
        for place, (name, shown, alone) in enumerate(found)
    ]
    lines = [line(), *to_terminal(Table(columns=columns, rows=rows), UNBROKEN)]
    return [*lines, *map(line, _notes(view, list(blocks), width)), *map(line, _groups(view, width))]


def _measures(view: View, method: str, in_detail: bool) -> Iterator[tuple[str, str, str]]:
    """Yield name, number, and how many known items say so, of each measure by one method."""
    accuracy = view.value("system_accuracy_in_sample", method=method)
    alone = view.first("accuracy_on_known_items", method="")
    yield "accuracy", _plain(accuracy), _counts(alone)
    for title, quantity, category in _shown(view):
        row = view.first(quantity, method=method, category=category)
        if row is not None:
            of = "precision" if quantity == "precision" else "recall"
            known = view.first(f"{of}_on_known_items", method="", category=category)
            yield title, _plain(value_of(row)), _counts(known)
    for name, title in OF_ALL.items():
        row = view.first(name, method=method)
        if in_detail and row is not None:
            yield title, _plain(value_of(row)), ""


def _plain(value: IntervalEstimate) -> str:
    return str(value)


def _counts(row: Record | None) -> str:
    if row is None:
        return ""
    n = row["n_items"]
    right = 0 if math.isnan(row["estimate"]) else round(row["estimate"] * n)
    return f"{right}/{n:g}"


def _shown(view: View) -> Iterator[tuple[str, str, str]]:
    """Yield what measures by category are called, what they are, and of which category."""
    positive = view.results.options.positive
    if positive is None:
        for name in list(map(str, view.results.ratings.categories))[:MOST_CATEGORIES]:
            yield f"recall of {cut(name)}", "recall", name
        return
    name, other = str(positive.name), str(positive.negative)
    yield f"sensitivity ({cut(name)})", "recall", name
    yield "specificity", "recall", other
    yield "positive predictive value", "precision", name
    yield "negative predictive value", "precision", other


def _by(view: View, method: str) -> str:
    value = view.value("system_accuracy_in_sample", method=method)
    if not value.corrected:
        assumed = assumption(method)
        return f"{method}, if {assumed}" if assumed else method
    own = {one["method"] for one in view.uncorrected}
    return f"{method}, corrected" if method in own else f"{method}, with the known truths"


def _notes(view: View, shown: Sequence[str], width: int) -> Iterator[str]:
    positive = view.results.options.positive
    if positive is not None and positive.chosen_by in GUESSED:
        name, other = cut(positive.name), cut(positive.negative)
        yield f"Positive category: {name} ({GUESSED[positive.chosen_by]}; else --positive {other})"
    others: dict[str, list[float]] = {}
    for one in view.pick("system_accuracy_in_sample"):
        assumed = assumption(one["method"])
        how = " corrected" if one["corrected"] else assumed and f" if {assumed}"
        if one["method"] not in shown and is_known(one):
            others.setdefault(how, []).append(one["estimate"])
    if others:
        parts = [_range(values) + how for how, values in others.items()]
        yield f"Other methods: {', '.join(parts)}"
    needed = mistakes_needed_of(view)
    if needed is not None and not any(one["corrected"] for one in view.pick("system_accuracy")):
        yield from wrapped(f"Whatever the method (lehner bounds): {needed.brief}", width, 2)
    yield from _raters(view, width)
    yield from _models(view)


def _range(values: Sequence[float]) -> str:
    least, most = decimal(min(values)), decimal(max(values))
    return least if least == most else f"{least} to {most}"


def _raters(view: View, width: int) -> Iterator[str]:
    """Yield how accurate raters are, by the last method that tells one from another."""
    by_method: dict[str, dict[str, float]] = {}
    for one in view.pick("rater_accuracy", rater=ANY):
        if is_known(one):
            by_method.setdefault(one["method"], {})[one["rater"]] = one["estimate"]
    if not by_method:
        return
    method = max(reversed(by_method), key=lambda name: min(2, len(set(by_method[name].values()))))
    known = by_method[method]
    if len(known) > 1 and len(set(known.values())) == 1:
        yield f"Raters ({method}): {decimal(next(iter(known.values())))} each"
        return
    order = sorted(known, key=known.__getitem__)
    parts = [f"{cut(name)} {decimal(known[name])}" for name in order]
    lowest = view.first("rater_accuracy_lowest", method=method, rater=order[0])
    if lowest is not None and lowest["probability"] >= CLEARLY:
        parts[0] += f" (below all others, P {_equals(lowest['probability'])})"
    rest = [f" {_range([known[name] for name in order[n:]])}" for n in range(1, len(order))]
    yield fitted(f"Raters ({method}): ", parts, width, rest)


def _equals(chance: float) -> str:
    shown = probability(chance, 2)
    return shown if shown[0] in "<>" else f"= {shown}"


def _models(view: View) -> Iterator[str]:
    """Yield a line on earlier studies, a dependent pair and slopes, where there are any."""
    for name, title in (
        ("study_weight", "By the weight of earlier studies"),
        ("slope", "By slope"),
    ):
        found = view.pick(f"system_accuracy_in_sample_if_{name}")
        values = [
            f"{decimal(one['estimate'])} at {one['versus'].partition('=')[2]}" for one in found
        ]
        if values:
            yield f"{title} ({found[0]['method']}): {', '.join(values)}"
    for one in view.pick("system_accuracy_in_sample_if_dependent", rater=ANY):
        at = {name: one[name] for name in ("method", "rater", "versus")}
        other = view.first("system_accuracy_in_sample_if_independent", **at)
        yield (
            f"{one['rater']} and {one['versus']} ({one['method']}): {decimal(one['estimate'])} if "
            f"dependent, {decimal(number(other))} if not"
        )


def _groups(view: View, width: int) -> Iterator[str]:
    """Yield a line of the accuracies in groups, and one of their clearest difference."""
    options = view.results.options
    for grouping, column in (
        ("group", options.groups),
        ("population", options.populations),
        ("rater_group", None),
    ):
        quantity = "rater_accuracy" if grouping == "rater_group" else "system_accuracy"
        found = view.pick(quantity, grouping=grouping, group=ANY, rater="")
        if not found:
            continue
        method = found[-1]["method"]
        own = [one for one in found if one["method"] == method]
        title = f"By {cut(column.column)}" if column else "Groups of raters"
        parts = [f"{cut(one['group'])} {value_of(one)}" for one in own]
        yield fitted(f"{title} ({method}): ", parts, width)
        differences = view.pick(
            f"{quantity}_difference", grouping=grouping, group=ANY, method=method
        )
        pairs = [one for one in differences if not math.isnan(one["probability"])]
        if pairs:
            one = max(pairs, key=lambda row: abs(row["probability"] - 0.5))
            which = "Clearest difference" if len(pairs) > 1 else "Difference"
            names = f"{cut(one['group'])} – {cut(one['versus'])}"
            yield f"{which}, {names}, P(higher): {write_cell(value_of(one), one['probability'])}"


def _of_several(views: Sequence[View], width: int) -> "list[Text]":
    first = views[0]
    ranked = list(dict.fromkeys(one["method"] for one in first.pick("system_accuracy_rank")))
    preferred = [name for name in (first.reported, first.detailed) if name in ranked]
    method = (preferred or ranked[-1:] or [first.reported])[0]
    ranks = {
        view.system: number(view.first("system_accuracy_rank", method=method)) for view in views
    }
    order = sorted(
        views, key=lambda view: ranks[view.system] if ranks[view.system] > 0 else math.inf
    )
    best = order[0].system
    rows: list[Row] = []
    for view in order[:MOST_SYSTEMS]:
        value = view.value("system_accuracy_in_sample", method=method)
        rank = ranks[view.system]
        place: Cell = None if math.isnan(rank) else (f"{rank:g}",)
        rows.append(
            (cut(view.system), (str(value),), place, _from_best(views, method, view.system, best))
        )
    columns = [
        Column("system", f"[{percent(first.level)} interval]"),
        Column("accuracy", format=str),
        Column("rank", format=str),
        Column("difference", f"difference to {cut(best)}, P(better)", str),
    ]
    lines = [line(), *to_terminal(Table(columns=columns, rows=rows), UNBROKEN)]
    if len(order) > MOST_SYSTEMS:
        lines.append(line(f"… and {len(order) - MOST_SYSTEMS} more: --full"))
    lines.append(line(f"Accuracies, ranks and differences by {_by(first, method)}"))
    return [*lines, *map(line, _raters(first, width))]


def _from_best(views: Sequence[View], method: str, system: str, best: str) -> Cell:
    """How much better than the best a system is, and the probability that it is better."""
    for view in views:
        for one in view.pick("system_accuracy_difference", method=method):
            pair = one["system"], one["versus"]
            if set(pair) != {system, best} or system == best or not is_known(one):
                continue
            sign = 1 if pair == (system, best) else -1
            ends = sorted(sign * one[end] for end in ("lower", "upper"))
            value = IntervalEstimate(
                estimate=sign * one["estimate"],
                lower=None if math.isnan(ends[0]) else ends[0],
                upper=None if math.isnan(ends[0]) else ends[1],
                level=view.level,
            )
            chance = one["probability"] if sign == 1 else 1 - one["probability"]
            return (write_cell(value, chance),)
    return None


def _cautions(
    results: Results, views: Sequence[View], width: int, room: int
) -> tuple[list[str], int]:
    """Lay out warnings that change or limit a conclusion, one of a kind; count those left out."""
    shown = [name for view in views for name in (view.reported, view.detailed)]
    about = sorted(results.warnings, key=lambda one: one.method not in ("", *shown))
    first: dict[str, Warning] = {}
    for one in about:
        if one.severity != "note":
            first.setdefault(ALIKE.get(one.code, one.code), one)
    texts = [
        one_line(as_options(text)) for text in name_warnings(first.values(), several=len(views) > 1)
    ]
    kept = texts[:MOST_CAUTIONS]
    most = min(LINES_OF_CAUTION, room // max(len(kept), 1))
    lines = [part for text in kept for part in wrapped(f"Caution: {text}", width, most)]
    return lines, len(texts) - len(kept)


def _next(views: Sequence[View], n_more: int, *, in_detail: bool, width: int) -> str:
    """Name what to do next, as much of it as fits."""
    parts = ["--full", "--report FILE", "--output FOLDER"]
    if n_more:
        parts[0] += f" ({counted(n_more, 'more caution')})"
    asked = _asked(views)
    if asked:
        parts.insert(1, asked)
    if not in_detail:
        parts.append("--details")
    while cell_len(f"Next: {', '.join(parts)}") > width and len(parts) > 1:
        parts.pop()
    return f"Next: {', '.join(parts)}"


def _asked(views: Sequence[View]) -> str:
    """Name the command that chooses items to verify, and how many would give a narrow interval."""
    view, *rest = views
    row = view.first("accuracy_on_known_items", method="")
    known = 0 if row is None else int(row["n_items"])
    value = view.value("system_accuracy_in_sample", method=view.reported)
    if rest or value.estimate is None:
        return "" if known else "lehner ask"
    narrow = value.lower is not None and value.upper is not None
    if known and narrow and value.upper - value.lower <= 2 * HALF_WIDTH:  # type: ignore[operator]
        return ""
    answered = view.first("system_accuracy_in_sample", method=view.reported)
    n_items = 0 if answered is None else int(answered["n_items"])
    n = n_for_width_alone(value.estimate, n_items, 2 * HALF_WIDTH, view.level) - known
    more = f"{n} more" if known else str(n)
    return f"lehner ask ({more} verified items give ±.05)" if n > 0 else ""


def fitted(head: str, parts: Sequence[str], width: int, rest: Sequence[str] = ()) -> str:
    """Join as many parts as fit into a line, the first at least, and sum the others up.

    The line with n parts ends with `rest[n - 1]`.
    """
    for n in range(len(parts), 0, -1):
        left = f", {len(parts) - n} more{rest[n - 1] if rest else ''}" if n < len(parts) else ""
        text = f"{head}{', '.join(parts[:n])}{left}"
        if cell_len(text) <= width:
            return text
    return f"{head}{parts[0]}"


def cut(name: object, most: int = LONGEST_NAME) -> str:
    """Cut a name in its middle: long names often differ at their ends."""
    text = one_line(str(name))
    if cell_len(text) <= most:
        return text
    begin, end = line(text), text[-END_OF_NAME:]
    begin.truncate(most - cell_len(end), overflow="ellipsis")
    return f"{begin}{end}"
