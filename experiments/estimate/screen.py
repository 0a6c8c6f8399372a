"""One screen: what the data are, the accuracy to report, and what is to be kept in mind."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Group

from experiments.estimate.dependent_pair import pair_lines
from experiments.estimate.details import NAMES, cost_decimals
from experiments.estimate.earlier_studies import study_lines
from experiments.estimate.layout import difference
from experiments.estimate.methods import level_title
from experiments.reporting.data_notes import data_notes, header_lines
from experiments.reporting.options import as_options
from experiments.reporting.renderers import to_terminal
from experiments.reporting.table import Cell, Column, Table
from experiments.reporting.terminal import line, one_line, wrapped
from experiments.reporting.warning_lines import warning_lines
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import DASH, counted, counted_categories, decimal, probability, with_interval
from lehner.core.warning import Warning
from lehner.data.categories import Label
from lehner.estimation.known_truths import uses_truths
from lehner.estimation.result import Comparison, MethodResult, SystemResult
from lehner.estimation.sensitivity import SLOPED
from lehner.groups.result import GroupEstimate
from lehner.known_truths.sampling_design import n_for_width_alone
from lehner.performance.measures import OF_ALL_CATEGORIES
from lehner.performance.positive import GUESSED
from lehner.performance.result import SystemPerformance
from lehner.systems.comparison import SystemRank

if TYPE_CHECKING:
    from rich.text import Text

WIDTH, MOST_LINES = 100, 24
LONGEST_NAME, LONGEST_FILE = 22, 36
MOST_CATEGORIES, MOST_SYSTEMS, MOST_CAUTIONS = 4, 8, 3
LINES_OF_CAUTION, LINES_OF_GROUPS, MOST_NOTES = 3, 2, 2
HALF_WIDTH = 0.05
"""Of the interval that `lehner ask` aims at."""
UNBROKEN = 10_000
END_OF_NAME = 6
MISTAKES = (
    "system-copies-rater",
    "shared-mistakes",
    "mistakes-correlated",
    "agreement-unexplained",
)
"""Codes of which one is said: they mean that mistakes are not independent."""
CLEARLY = 0.95
"""Probability from which a rater is said to be less accurate than each other one."""


def screen(comparison: Comparison, *, in_detail: bool = False, width: int = WIDTH) -> Group:
    """Lay out what one needs first, in at most 24 lines of at most 100 columns.

    Parameters
    ----------
    comparison : Comparison
        As `lehner.estimate` returns it.
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
    several = len(comparison.systems) > 1
    body = _of_several(comparison, width) if several else _of_one(comparison, in_detail, width)
    most = MOST_LINES - 1 - MOST_CAUTIONS
    lines = [*map(line, _of_data(comparison, width, most - len(body))), *body][:most]
    cautions, n_more = _cautions(comparison, width, MOST_LINES - 1 - len(lines))
    lines += [line(text, style="yellow") for text in cautions]
    lines.append(line(_next(comparison, n_more, in_detail=in_detail, width=width)))
    for one in lines:
        one.truncate(width, overflow="ellipsis")
    return Group(*lines)


def _of_data(comparison: Comparison, width: int, room: int) -> Iterator[str]:
    """Yield lines of the data: a note may fill two of them if there is room."""
    ratings, truths = comparison.ratings, comparison.systems[0].known_truth
    systems = ratings.systems[0] if len(ratings.systems) == 1 else f"{len(ratings.systems)} systems"
    categories = counted_categories(ratings.n_categories, ordered=ratings.ordered)
    of_truths = "" if truths is None else f", {counted(truths.n_items, 'known truth')}"
    yield (
        f"{_cut(comparison.name, LONGEST_FILE)}: {_cut(systems)}, "
        f"{counted(ratings.n_items, 'item')}, {counted(ratings.n_raters, 'rater')}, {categories}"
        f"{of_truths}, {counted(ratings.n_ratings, 'rating')}"
    )
    notes = header_lines(data_notes(ratings))[:MOST_NOTES]
    most = 2 if 1 + 2 * len(notes) <= room else 1
    for note in notes:
        yield from wrapped(one_line(note), width, most)


def _of_one(comparison: Comparison, in_detail: bool, width: int) -> "list[Text]":
    (system,) = comparison.systems
    columns = [
        Column("measure", level_title(system.estimates, "")),
        Column("estimate", format=str),
        Column("known", "known items", str),
        Column("by", "by"),
    ]
    if system.known_truth is None:
        del columns[2]
    rows = list(_measures(system, in_detail))
    if system.known_truth is None:
        rows = [(*row[:2], row[3]) for row in rows]
    table = Table(columns=columns, rows=rows)
    lines = [line(), *to_terminal(table, UNBROKEN), *map(line, _notes(system, width))]
    return [*lines, *(line(text) for text in _groups(system, width))]


def _measures(system: SystemResult, in_detail: bool) -> Iterator[tuple[Cell, ...]]:
    """Yield the name, the number, how many known items say so, and the method of each measure."""
    reported, truth = system.reported, system.known_truth
    if reported is None:
        yield "accuracy", (DASH,), None, "no estimate"
        return
    accuracy = reported.estimate.system_accuracy_in_sample
    right = 0 if truth is None else sum(n for n, _ in truth.by_truth.values())
    known = None if truth is None else f"{right}/{truth.n_items}"
    yield "accuracy", (str(accuracy),), (known,), _by(reported, accuracy)
    found = detailed(system)
    details = None if found is None else found.details
    if found is None or details is None:
        return
    for title, quantity, category in _shown(details):
        if truth is not None:
            counts = truth.by_answer if quantity == "precision" else truth.by_truth
            known = "{}/{}".format(*counts[str(category)])
        value = details.value(quantity, category)
        yield title, (str(value),), (known,), _by(found, value)
    n_more = len(details.arrays["recall"].names["category"]) - MOST_CATEGORIES
    if n_more > 0:
        yield f"… and {n_more} more: --full", None, None, None
    for name in (*OF_ALL_CATEGORIES, "expected_cost"):
        if in_detail and name in details.arrays:
            value = details.value(name)
            write = partial(decimal, digits=max(3, cost_decimals(value.estimate)))
            shown = with_interval(value.estimate, value.lower, value.upper, write)
            yield NAMES[name], (shown,), None, _by(found, value)


def _shown(details: SystemPerformance) -> Iterator[tuple[str, str, Label]]:
    """Yield what measures by category are called, what they are, and of which category."""
    positive = details.positive
    if positive is None:
        for name in list(details.arrays["recall"].names["category"])[:MOST_CATEGORIES]:
            yield f"recall: {_cut(name)}", "recall", name
        return
    yield f"sensitivity ({_cut(positive.name)})", "recall", positive.name
    yield "specificity", "recall", positive.negative
    yield "positive predictive value", "precision", positive.name
    yield "negative predictive value", "precision", positive.negative


def detailed(system: SystemResult) -> MethodResult | None:
    """Choose the method whose recall is shown: that of the accuracy, or the last that has it."""
    found = [one for one in system.results if one.details is not None]
    with_intervals = [one for one in found if one.details and one.details.level is not None]
    found = with_intervals or found
    return system.reported if system.reported in found else next(reversed(found), None)


def _by(one: MethodResult, value: IntervalEstimate) -> str:
    if uses_truths(one.estimate):
        return f"{one.method}, with the known truths"
    if value.corrected:
        return f"{one.method}, corrected"
    return f"{one.method}, without the known truths" if one.uncorrected else one.method


def _notes(system: SystemResult, width: int) -> Iterator[str]:
    """Yield what was guessed, what methods assume and others say, and how accurate raters are."""
    found = detailed(system)
    positive = found and found.details and found.details.positive
    if positive and positive.chosen_by in GUESSED:
        name, other = map(_cut, (positive.name, positive.negative))
        reason = GUESSED[positive.chosen_by]
        yield f"Positive category: {name} ({reason}; else --positive {other})"
    shown = [one for one in (system.reported, found) if one is not None and not one.uncorrected]
    for assumes in dict.fromkeys(one.assumes for one in shown if one.assumes):
        names = dict.fromkeys(one.method for one in shown if one.assumes == assumes)
        yield f"{' and '.join(names)}: if {assumes}"
    others: dict[str, list[float]] = {}
    for one in system.results:
        value = one.estimate.system_accuracy_in_sample
        how = " corrected" if value.corrected else one.assumes and f" if {one.assumes}"
        if one is not system.reported and value.estimate is not None:
            others.setdefault(how, []).append(value.estimate)
    if others:
        parts = [_range(values) + how for how, values in others.items()]
        yield f"Other methods: {', '.join(parts)}"
    truth, needed = system.known_truth, system.mistakes_needed
    if needed is not None and not (truth and truth.used):
        yield from wrapped(f"Without a model (lehner bounds): {needed.brief}", width, 2)
    yield from _raters(system, width)
    yield from study_lines(system)
    yield from pair_lines(system)
    if system.slopes:
        slopes = (f"{one.system_accuracy} at slope {s:g}" for s, one in system.slopes.items())
        yield f"The system's slope on difficulty ({SLOPED}): {', '.join(slopes)}"


def _range(values: Sequence[float]) -> str:
    least, most = decimal(min(values)), decimal(max(values))
    return least if least == most else f"{least} to {most}"


def _raters(system: SystemResult, width: int) -> Iterator[str]:
    """Yield how accurate raters are, by the last method that tells one from another."""
    accuracies = [(one, _rater_accuracy(one)) for one in system.results]
    accuracies.sort(key=lambda pair: min(2, len(set(pair[1].values()))))
    found, known = accuracies[-1]
    if not known:
        return
    if len(known) > 1 and len(set(known.values())) == 1:
        yield f"Raters ({found.method}): {decimal(next(iter(known.values())))} each"
        return
    order = sorted(known, key=known.__getitem__)
    parts = [f"{_cut(name)} {decimal(known[name])}" for name in order]
    others = found.raters.less_accurate(order[0]) if found.raters else {}
    if others and min(others.values()) >= CLEARLY:
        least = probability(min(others.values()), 2)
        parts[0] += f" (below each other one, P {least if least[0] == '>' else f'= {least}'})"
    rest = [f" {_range([known[name] for name in order[n:]])}" for n in range(1, len(order))]
    yield _fitted(f"Raters ({found.method}): ", parts, width, rest)


def _rater_accuracy(one: MethodResult) -> dict[str, float]:
    accuracies = one.with_intervals("rater_accuracy").items()
    return {name: value.estimate for name, value in accuracies if value.estimate is not None}


def _groups(system: SystemResult, width: int) -> Iterator[str]:
    """Yield lines of the accuracies in groups, and of their clearest difference."""
    items, populations = system.group_column, system.population_column
    for kind, title in (
        ("groups", f"By {_cut(items.column)}" if items else ""),
        ("populations", f"By {_cut(populations.column)}" if populations else ""),
        ("rater_groups", "Groups of raters"),
    ):
        known = [one for one in system.results if getattr(one, kind) is not None]
        if not known:
            continue
        found = getattr(known[-1], kind)
        parts = []
        for one in found.groups:
            of_items = isinstance(one, GroupEstimate)
            value = one.system_accuracy if of_items else one.accuracy
            parts.append(f"{_cut(one.group)} {value}")
        head = f"{title} ({_by(known[-1], value)}): "
        in_two = wrapped(f"{head}{', '.join(parts)}", width, LINES_OF_GROUPS + 1)
        fits = len(in_two) <= LINES_OF_GROUPS
        yield from in_two if fits else [_fitted(head, parts, width)]
        pairs = [one for one in found.differences if one.probability_higher is not None]
        if pairs:
            one = max(pairs, key=lambda one: abs(one.probability_higher - 0.5))
            which = "Clearest difference" if len(pairs) > 1 else "Difference"
            names = " – ".join(map(_cut, one.groups))
            shown = difference(replace(one.difference, corrected=False), one.probability_higher)
            yield f"{which}, {names}, P(higher): {shown}"


def _of_several(comparison: Comparison, width: int) -> "list[Text]":
    systems = {one.system: one for one in comparison.systems}
    ranked = [one.method for one in comparison.ranks]
    first = comparison.systems[0]
    preferred = [one.method for one in (first.reported, detailed(first)) if one is not None]
    method = next((name for name in preferred if name in ranked), "".join(ranked[-1:]))
    of_method = [one for one in comparison.ranks if one.method == method]
    ranks = {one.system: one.rank for one in of_method}
    order = sorted(systems, key=lambda name: ranks.get(name, len(systems) + 1))
    from_best = _differences(comparison, method, order[0])
    corrected = any(one.corrected for one in of_method)
    rows = []
    for name in order[:MOST_SYSTEMS]:
        known = _accuracy_beside_ranks(systems[name], method if corrected else None)
        shown = str(known.estimate.system_accuracy_in_sample) if known else DASH
        rows.append((_cut(name), (shown,), ranks.get(name), from_best.get(name)))
    columns = [
        Column("system", level_title(comparison.estimates, "")),
        Column("accuracy", format=str),
        Column("rank"),
        Column("difference", f"difference to {_cut(order[0])}, P(better)", difference),
    ]
    lines = [line(), *to_terminal(Table(columns=columns, rows=rows), UNBROKEN)]
    if len(order) > MOST_SYSTEMS:
        lines.append(line(f"… and {len(order) - MOST_SYSTEMS} more: --full"))
    of_accuracies = _accuracy_beside_ranks(first, method if corrected else None)
    lines += map(line, _sources(first, of_accuracies, of_method))
    return lines + [line(text) for text in _raters(first, width)]


def _accuracy_beside_ranks(system: SystemResult, method: str | None) -> MethodResult | None:
    """Find the accuracy to show: that of the method of corrected ranks, which it must not belie."""
    for one in system.results:
        if one.method == method and one.estimate.system_accuracy_in_sample.corrected:
            return one
    return system.reported


def _sources(
    system: SystemResult, of_accuracies: MethodResult | None, ranks: Sequence[SystemRank]
) -> Iterator[str]:
    """Yield by which method accuracies are, and by which ranks and differences."""
    accuracies = ranked = ""
    if of_accuracies:
        accuracies = _by(of_accuracies, of_accuracies.estimate.system_accuracy_in_sample)
    for one in system.results:
        if ranks and one.method == ranks[0].method:
            ranked = _by(one, IntervalEstimate(estimate=None, corrected=ranks[0].corrected))
    if ranked == accuracies != "":
        yield f"Accuracies, ranks and differences by {accuracies}"
        return
    if accuracies:
        yield f"Accuracies by {accuracies}"
    if ranked:
        yield f"Ranks and differences by {ranked}"


def _differences(comparison: Comparison, method: str, best: str) -> dict[str, tuple[Cell, ...]]:
    """Find by system how much better than the best it is, and the probability that it is better."""
    found: dict[str, tuple[Cell, ...]] = {}
    for one in comparison.differences:
        if one.method == method and best in one.systems and one.difference.estimate is not None:
            first, second = one.systems
            value = replace(one.difference, corrected=False)  # A line says it of all.
            if first == best:
                chance = one.probability_better
                found[second] = (_minus(value), None if chance is None else 1 - chance)
            else:
                found[first] = (value, one.probability_better)
    return found


def _minus(value: IntervalEstimate) -> IntervalEstimate:
    def minus(number: float | None) -> float | None:
        return None if number is None else -number

    return replace(
        value, estimate=minus(value.estimate), lower=minus(value.upper), upper=minus(value.lower)
    )


def _cautions(comparison: Comparison, width: int, room: int) -> tuple[list[str], int]:
    """Lay out warnings that change or limit a conclusion, one of a kind; say how many are left."""
    first: dict[str, tuple[str, Warning]] = {}
    for name, warning in _said(comparison):
        if warning.severity != "note":
            kind = MISTAKES[0] if warning.code in MISTAKES else warning.code
            first.setdefault(kind, (name, warning))
    texts = [one_line(as_options(text)) for text in warning_lines(first.values())]
    shown = texts[:MOST_CAUTIONS]
    most = min(LINES_OF_CAUTION, room // max(len(shown), 1))
    lines = [part for text in shown for part in wrapped(f"Caution: {text}", width, most)]
    return lines, len(texts) - len(shown)


def _said(comparison: Comparison) -> Iterator[tuple[str, Warning]]:
    """Yield all warnings, those about numbers that are shown first."""
    for system in comparison.systems:
        found = detailed(system)
        shown = [one for one in (system.reported, found) if one is not None]
        rest = [one for one in system.results if one not in shown]
        for one in (*shown, *rest):
            yield from ((one.method, warning) for warning in one.estimate.warnings)
        if found is not None and found.details is not None:
            yield from ((found.method, warning) for warning in found.details.notes)
        if system.dependence is not None:
            yield from (("shared mistakes", one) for one in system.dependence.warnings())


def _next(comparison: Comparison, n_more: int, *, in_detail: bool, width: int) -> str:
    """Name what to do next, as much of it as fits."""
    parts = ["--full", "--output FOLDER"]
    if n_more:
        parts[0] += f" ({counted(n_more, 'more caution')})"
    asked = _asked(comparison)
    if asked:
        parts.insert(1, asked)
    if not in_detail:
        parts.append("--details")
    while cell_len(f"Next: {', '.join(parts)}") > width and len(parts) > 1:
        parts.pop()
    return f"Next: {', '.join(parts)}"


def _asked(comparison: Comparison) -> str:
    """Name the command that chooses items to verify, and how many would give a narrow interval."""
    (first, *rest) = comparison.systems
    accuracy = first.reported and first.reported.estimate.system_accuracy_in_sample
    known = 0 if first.known_truth is None else first.known_truth.n_items
    if rest or not accuracy or accuracy.estimate is None:
        return "" if known else "lehner ask"
    lower, upper = accuracy.lower, accuracy.upper
    if known and lower is not None and upper is not None and upper - lower <= 2 * HALF_WIDTH:
        return ""
    assert first.ratings.system is not None
    answered = int(first.ratings.weights[first.ratings.system >= 0].sum())
    n = n_for_width_alone(accuracy.estimate, answered, 2 * HALF_WIDTH, first.level) - known
    more = f"{n} more" if known else str(n)
    return f"lehner ask ({more} verified items give ±.05)" if n > 0 else ""


def _fitted(head: str, parts: Sequence[str], width: int, rest: Sequence[str] = ()) -> str:
    """Join as many parts as fit into a line, the first at least, and count and sum up the others.

    The line with n parts ends with `rest[n - 1]`.
    """
    for n in range(len(parts), 0, -1):
        left = f", {len(parts) - n} more{rest[n - 1] if rest else ''}" if n < len(parts) else ""
        text = f"{head}{', '.join(parts[:n])}{left}"
        if cell_len(text) <= width:
            return text
    return f"{head}{parts[0]}"


def _cut(name: object, most: int = LONGEST_NAME) -> str:
    """Cut a name in its middle: long names often differ at their ends."""
    text = one_line(str(name))
    if cell_len(text) <= most:
        return text
    begin, end = line(text), text[-END_OF_NAME:]
    begin.truncate(most - cell_len(end), overflow="ellipsis")
    return f"{begin}{end}"
