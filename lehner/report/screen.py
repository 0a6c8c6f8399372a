"""One screen: what the data are, the numbers to report, and what is to be kept in mind."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from lehner.core.errors import Warning, compose, name_warnings
from lehner.core.estimate import ESTIMANDS
from lehner.core.table import PrintedTable, TableColumn
from lehner.core.text import (
    DASH,
    cut,
    make_line,
    make_paragraphs,
    pluralise,
    to_decimal,
    write_data_lines,
)
from lehner.estimation import gold_labels, summary
from lehner.estimation.views import (
    ANY,
    PlacedCell,
    View,
    arrange,
    make_cells,
    order_rows,
    write_short,
)
from lehner.report import tables
from lehner.report.answer import to_terminal

WIDTH, MOST_LINES = 100, 24
LONGEST_TITLE, LONGEST_GROUP, LONGEST_SYSTEM = 40, 16, 14
MOST_MEASURES, MOST_ROWS, MOST_CAUTIONS, MOST_NOTES = 4, 6, 3, 2
FEW, FEW_SYSTEMS = 2, 4
# Groups side by side, and those that have intervals, for which there is no room with more.
MOST_SHOWN, MOST_WITH_INTERVALS, LONGEST_NAME = 6, 2, 9
# Half the width of the interval that `lehner ask` aims at.
HALF_WIDTH = 0.05
# Codes of which one is said: they mean that errors are not independent.
CORRELATED = ("system-copies-rater", "shared-mistakes", "agreement-unexplained")

OF_GROUPS: dict[str, Any] = {"grouping": "group", "group": ANY}

# What is shown of a part of a screen.
type Content = Iterable[str | PrintedTable | tuple[str, PrintedTable]]


def render_screen(views: Sequence[View], width: int) -> list[Text]:
    """Lay out what one needs first, in at most 24 lines of at most 100 columns.

    Parameters
    ----------
    views : sequence of View
        Of each system, or one of a comparison of groups.
    width : int
        Of the terminal; no line is longer than 100 columns.

    Returns
    -------
    list of rich.text.Text
        Longer lines are cut, and end with an ellipsis.
    """
    width = min(width, WIDTH)
    contents, give_way = _choose_parts(views)
    blocks = {part: _lay_out(content, width) for part, content in contents.items()}
    cautions, n_more = choose_cautions(views)
    # Cautions are said in full where there is room, else in two lines.
    most = 3 if _count_lines(blocks) + 3 * len(cautions) < MOST_LINES else 2
    if cautions:
        blocks["cautions"] = make_paragraphs(cautions, width, most, "yellow")
    for part in give_way:
        if part == "groups" and "systems" in blocks and _count_lines(blocks) >= MOST_LINES:
            # The table of groups has the other systems, too.
            blocks["systems"] = _lay_out(contents["systems"], width, FEW_SYSTEMS)
        while blocks[part] and _count_lines(blocks) >= MOST_LINES:
            blocks[part].pop()
    lines = [text for part in blocks.values() for block in part for text in block]
    lines = [*lines[: MOST_LINES - 1], make_line(_list_options(views, n_more, width))]
    for text in lines:
        text.truncate(width, overflow="ellipsis")
    return lines


def _choose_parts(views: Sequence[View]) -> tuple[dict[str, Content], Sequence[str]]:
    """Choose the parts of a screen in their order, and those that give way, the first one first."""
    view = views[0]
    name = [tables.describe_briefly(view)]
    data = write_data_lines(view.results.ratings.notes)[:MOST_NOTES]
    # A line is left blank where there are estimates.
    missing = ["" if view.reported else f"accuracy  {DASH}  no estimate"]
    effective = tables.describe_effective_raters(view, briefly=True)
    parts: dict[str, Content]
    if not view.system:
        shorten = partial(cut, most=LONGEST_GROUP)
        parts = {
            "name": name,
            "proportions": summary.tabulate_proportions(view, cut=shorten, **OF_GROUPS),
            "leader": summary.name_leader(view),
            "differences": summary.tabulate_proportion_differences(view, cut=shorten, **OF_GROUPS),
            "favours": summary.tabulate_favours(view, clearest=True, cut=shorten, **OF_GROUPS),
            "raters": _list_raters(view),
            "cautions": (),
            "data": data,
        }
        return parts, ("favours", "data", "raters", "differences")
    parts = {"name": name, "data": data, "missing": missing}
    if len(views) == 1:
        parts |= {
            "accuracies": summary.tabulate_methods(view),
            "measures": _tabulate_measures(view) if view.reported else (),
            "groups": [*_tabulate_groups(views), *_tabulate_groups(views, "population")],
            "bounds": _write_bounds(view),
            "raters": _list_raters(view),
            "effective_raters": effective,
            "cautions": (),
        }
        return parts, ("raters", "groups", "measures", "bounds", "data")
    rows, method = order_rows(views), view.ranked_by
    best = min(views, key=lambda view: view.rank).system
    # Of many systems the best one is compared with each of the others.
    every = len(views) <= FEW_SYSTEMS
    pairs = [row for row in rows if every or best in (row["system"], row["versus"])]
    differences = tables.tabulate_pairs(view, short=True, rows=pairs, cut=cut, method=method)
    parts |= {
        "systems": summary.tabulate_systems(views, partial(cut, most=LONGEST_SYSTEM)),
        "differences": differences,
        "basis": _write_basis(view),
        "raters": _list_raters(view),
        "effective_raters": effective,
        "groups": _tabulate_groups(views),
        "cautions": (),
    }
    return parts, ("raters", "effective_raters", "differences", "data", "groups")


def _count_lines(blocks: Mapping[str, list[list[Text]]]) -> int:
    return sum(len(block) for part in blocks.values() for block in part)


def _lay_out(content: Content, width: int, rows: int = MOST_ROWS) -> list[list[Text]]:
    """Lay the tables and texts of a part out: lines of each, which stand or fall together."""
    blocks: list[list[Text]] = []
    for part in content:
        if isinstance(part, tuple):
            blocks.append([text for block in _lay_out(part, width) for text in block])
            continue
        if isinstance(part, str):
            blocks += make_paragraphs([part], width)
            continue
        # Few rows more take hardly more room than the line that says how many are left out.
        most = rows if len(part.rows) > rows + FEW else len(part.rows)
        shown = replace(part, rows=part.rows[:most])
        left = len(part.rows) - len(shown.rows)
        more = [f"… and {left} more: --full"] if left else []
        lines = [text for text in to_terminal(shown, width, noted=False) if text.plain]
        blocks.append([*lines, *map(make_line, more)])
    return blocks


def _list_options(views: Sequence[View], n_more: int, width: int) -> str:
    """Name the options to go on with, as many as fit."""
    full = f"--full ({pluralise(n_more, 'more caution')})" if n_more else "--full"
    parts = [full, *_suggest_labels(views), "--report FILE", "--output FOLDER"]
    fitting = (parts[:n] for n in range(len(parts), 0, -1))
    lines = [f"Next: {', '.join(part)}" for part in fitting]
    return next((text for text in lines if cell_len(text) <= width), lines[-1])


def choose_cautions(views: Sequence[View]) -> tuple[list[str], int]:
    """Name warnings that change or limit a conclusion, one of a kind; count those left out."""
    results, methods = views[0].results, ["", *(view.reported for view in views)]
    first: dict[str, Warning] = {}
    for warning in sorted(results.warnings, key=lambda warning: warning.method not in methods):
        if warning.severity != "note":
            first.setdefault("correlated" if warning.code in CORRELATED else warning.code, warning)
    lines = name_warnings(first.values(), several=len(views) > 1)
    cautions: list[str] = [compose("Caution: {}", text) for text in lines]
    return cautions[:MOST_CAUTIONS], len(cautions[MOST_CAUTIONS:])


def _tabulate_measures(view: View) -> list[PrintedTable]:
    """Make the table of further measures by one method, beside what the gold labels say alone."""
    titles = dict(list(view.test_measures.items())[:MOST_MEASURES])
    if view.positive is not None:
        titles["recall", str(view.positive.name)] += f" ({cut(view.positive.name)})"
        if view.results.ratings.n_raters == 1:
            titles["base_rates", str(view.positive.name)] = "prevalence"
    labels = {key: cut(title, LONGEST_TITLE) for key, title in titles.items()}
    heading = f"by {view.detailed}" if view.detailed else ""
    placed = list[PlacedCell]()
    for column, ending, method in (
        ("estimate", "", view.detailed),
        ("gold_labels", "_on_known_items", ""),
    ):
        rows = view.pick(*{f"{quantity}{ending}" for quantity, _ in titles}, method=method)
        keys = [(row["quantity"].removesuffix(ending), row["category"]) for row in rows]
        cells = dict(zip(keys, make_cells(rows, marked=False), strict=True))
        placed += [(heading, labels[key], column, cells[key]) for key in labels if key in cells]
    return arrange(placed, [TableColumn("estimate"), TableColumn("gold_labels")])


def _write_basis(view: View) -> Iterator[str]:
    """Say by which method systems are ranked, and what it rests on."""
    method = view.ranked_by
    rows = view.pick("system_accuracy_in_sample", method=method)
    parts = [method, *(summary.name_basis(view, row) for row in rows)]
    yield f"Accuracies, ranks and differences are by {', '.join(filter(None, parts))}"
    others = list(summary.choose_measures(view).values())
    if view.detailed and view.detailed != method:
        yield f"{', '.join(others[:-1])} and {others[-1]} are by {view.detailed}"


def _write_bounds(view: View) -> Iterator[str]:
    """Say how low the accuracy may be, unless gold labels say more."""
    needed = tables.find_needed(view)
    corrected = [row for row in view.pick("system_accuracy") if row["corrected"]]
    if needed and not corrected:
        yield f"Whatever the method, {needed} (lehner bounds)"


def _list_raters(view: View) -> Iterator[str]:
    """Say how accurate raters are by the last method that tells them apart, the worst first."""
    by_method: dict[str, dict[str, float]] = {}
    for row in view.pick("rater_accuracy", rater=ANY):
        if not math.isnan(row["estimate"]):
            by_method.setdefault(row["method"], {})[row["rater"]] = row["estimate"]
    apart = [name for name, values in by_method.items() if len(set(values.values())) > 1]
    for method in [*by_method, *apart][-1:]:
        raters = sorted(by_method[method].items(), key=itemgetter(1))
        parts = [f"{cut(name)} {to_decimal(value)}" for name, value in raters]
        if len(raters) > 1 and method not in apart:
            parts = [f"{to_decimal(raters[0][1])} each"]
        yield _fit_parts(f"Raters ({method}): ", parts)


def _tabulate_groups(
    views: Sequence[View], grouping: str = "group"
) -> Iterator[tuple[str, PrintedTable]]:
    """Make the table of each system by group, and of how it changes; of two the difference."""
    view = views[0]
    columns: dict[str, Any] = {"grouping": grouping, "group": ANY}
    rows = [row for view in views for row in view.pick(view.compared, **columns)]
    if not rows:
        return
    methods, cells = [row["method"] for row in rows], list[PlacedCell]()
    # Gold labels of all items come before methods, which were not told them.
    columns["method"] = gold_labels.METHOD if gold_labels.METHOD in methods else methods[-1]
    names, last = list(dict.fromkeys(row["group"] for row in rows)), "change, P(rise)"
    quantities = [view.compared, f"{view.compared}_trend"]
    with_trend = view.results.options.with_trend
    if with_trend == "anytime":
        quantities[1], last = f"{ESTIMANDS[1]}_trend", "change in these items"
    elif len(names) == 2 and not with_trend:
        quantities[1], last = f"{view.compared}_difference", f"{names[0]} – {names[1]}, P(higher)"
    for view in sorted(views, key=lambda view: view.rank):
        for row in view.pick(*quantities, **columns):
            inside = row["quantity"] == view.compared
            if inside and len(names) > MOST_WITH_INTERVALS:
                row = row | {"lower": math.nan, "upper": math.nan}
            (cell,) = make_cells([row], marked=False)
            column = row["group"] if inside else last
            cells.append(("", cut(view.system, LONGEST_SYSTEM), column, cell))
    shown = names if len(names) <= MOST_SHOWN else [*names[: MOST_SHOWN - 1], names[-1]]
    most = LONGEST_NAME if len(shown) > MOST_WITH_INTERVALS else LONGEST_GROUP
    listed = [TableColumn(name, cut(name, most), write_short) for name in shown]
    listed.append(TableColumn(last, cut(last, LONGEST_TITLE), write_short))
    title, column = view.compared_title, cut(view.find_column(grouping).column)
    heading = f"{title[:1].upper()}{title[1:]} by {column} ({columns['method']}):"
    yield from ((heading, table) for table in arrange(cells, listed))


def _suggest_labels(views: Sequence[View]) -> Iterator[str]:
    """Name the command that chooses items to label, and how many would give a narrow interval.

    Without raters, whose ratings it needs, only the number.
    """
    view = views[0]
    row, ratings = view.first(ESTIMANDS[1], method=view.reported), view.results.ratings
    if not view.system or ratings.n_raters == 1:
        return
    expected = None
    if len(views) == 1 and row is not None and not math.isnan(row["estimate"]):
        expected = gold_labels.expect_widths(ratings, HALF_WIDTH, level=view.level)
    if row is None or expected is None:
        if view.gold is None:
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
