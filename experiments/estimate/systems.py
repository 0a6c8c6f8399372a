"""Several systems: tables of accuracies, ranks and differences, and what these rest on."""

from functools import partial

from experiments.estimate.layout import MOST_SHOWN, Names, Row, method_columns
from experiments.reporting.table import Column, Table, plain_number
from lehner import SystemDifference
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import counted, decimal, first_few, percent, probability
from lehner.estimation.estimate import FEW_SYSTEMS
from lehner.estimation.result import Comparison
from lehner.systems.common_items import answered_the_same, n_common_items
from lehner.systems.comparison import SystemRank

MOST_PAIRS_OF_SYSTEMS = 6
MOST_NAMED = 4
CORRECTED = (
    "Known truths correct differences and ranks on the items to which systems gave different "
    "answers: a difference need not be that of two corrected accuracies."
)
CANCELS = "so that what systems share, mistakes included, cancels out of them."


def systems_tables(comparison: Comparison) -> list[Table]:
    """Accuracies, ranks and differences of several systems, as the terminal shows them."""
    tables = [accuracy_table(comparison), rank_table(comparison), difference_table(comparison)]
    return [table for table in tables if table.rows]


def accuracy_table(comparison: Comparison, names: Names = str) -> Table:
    """Accuracies of each system, a column for each method."""
    rows: list[Row] = []
    for heading, name in (
        ("system accuracy", "system_accuracy"),
        ("in this sample", "system_accuracy_in_sample"),
    ):
        for one in comparison.systems:
            rows.append((heading, one.system, *(getattr(e, name) for e in one.estimates)))
    return _table("", _methods(comparison), rows, names)


def rank_table(comparison: Comparison) -> Table:
    """Rank of each system with its interval, and the probability that it is the best."""
    methods = list(dict.fromkeys(rank.method for rank in comparison.ranks))
    found = {
        (one.method, one.system): (_rank_with_interval(one), one.probability_best)
        for one in comparison.ranks
    }
    rows: list[Row] = [
        ("", f"  {system}", *(found.get((method, system), ("–",)) for method in methods))
        for system in comparison.ratings.systems
    ]
    level = percent(comparison.systems[0].level)
    title = f"rank by expected accuracy, P(best) [{level} interval]"
    return _table(title, methods, rows if methods else [], write=_rank)


def _rank_with_interval(one: SystemRank) -> IntervalEstimate:
    lower, upper = (None if end is None else float(end) for end in (one.lower, one.upper))
    return IntervalEstimate(
        estimate=float(one.rank), lower=lower, upper=upper, corrected=one.corrected
    )


def _rank(rank: IntervalEstimate | str, probability_best: float | None = None) -> str:
    if isinstance(rank, str):
        return rank
    return f"{Column('', format='{:.0f}'.format).write(rank)}, {_if_known(probability_best)}"


def _table(
    title: str, methods: list[str], rows: list[Row], names: Names = str, write: object = None
) -> Table:
    columns = [Column("quantity", ""), Column("system", title)]
    columns += method_columns(methods, names, write or plain_number)  # type: ignore[arg-type]
    return Table(columns=columns, rows=rows, keys=2, headings=True)


def difference_table(comparison: Comparison) -> Table:
    """Differences of pairs of systems by each method, all if they are few."""
    signed = partial(decimal, sign=True)
    columns = [
        Column("method", ""),
        Column("systems", ""),
        Column("difference", format=signed),
        Column("probability_better", "P(better)", _if_known),
        Column("difference_in_sample", "in this sample", signed),
        Column("n_common_items", "items of both"),
    ]
    rows: list[Row] = [
        (
            method,
            " – ".join(one.systems),
            one.difference,
            one.probability_better,
            one.difference_in_sample,
            one.n_common_items,
        )
        for method in _methods(comparison)
        for one in _shown_pairs(comparison, method)
    ]
    if _all_items_are_common(comparison):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return Table(columns=columns, rows=rows, keys=2, headings=True)


def _methods(comparison: Comparison) -> list[str]:
    return [one.method for one in comparison.systems[0].results]


def _shown_pairs(comparison: Comparison, method: str) -> list[SystemDifference]:
    """Choose all pairs of a method if they are few, else the best system with each other one."""
    pairs = [one for one in comparison.differences if one.method == method]
    if len(pairs) <= MOST_PAIRS_OF_SYSTEMS:
        return pairs
    best = next((r.system for r in comparison.ranks if r.method == method and r.rank == 1), None)
    if best is None:
        return pairs[:MOST_PAIRS_OF_SYSTEMS]
    return [one for one in pairs if best in one.systems]


def _if_known(value: float | None) -> str:
    return "" if value is None else probability(value)


def systems_lines(comparison: Comparison) -> list[str]:
    """Say by whom systems are judged, and on which items differences and ranks rest."""
    lines = []
    n_systems = len(comparison.systems)
    n_pairs = n_systems * (n_systems - 1) // 2
    if n_pairs > MOST_PAIRS_OF_SYSTEMS:
        lines.append(
            "The differences shown are those of the best system with the others, or the first ones "
            f"where none is ranked; all {n_pairs} are in differences.csv (--output) and in the "
            "JSON object (--json)."
        )
    if n_systems > FEW_SYSTEMS and any(one.draws is not None for one in comparison.estimates):
        lines.append(
            "With so many systems the models are sampled for as long as in studies, so that their "
            "numbers may differ in the third decimal from those of a system alone."
        )
    if comparison.systems_rate:
        lines.append(
            "Each system is judged by the raters and by the other systems. This assumes that "
            "systems err independently of one another and of the raters: systems that share "
            "mistakes make one another look better."
        )
    else:
        lines.append(
            "Each system is judged by the raters alone: systems do not rate one another "
            "(--systems-rate lets them)."
        )
    if any(one.uncorrected for one in comparison.differences):
        lines.append(CORRECTED)
    return [*lines, *_lines_on_items(comparison)]


def _all_items_are_common(comparison: Comparison) -> bool:
    ratings = comparison.ratings
    return n_common_items(ratings, ratings.systems) == ratings.n_items


def _lines_on_items(comparison: Comparison) -> list[str]:
    ratings = comparison.ratings
    same = answered_the_same(ratings, ratings.systems)
    n_all = n_common_items(ratings, ratings.systems)
    if not comparison.common_items and not same:
        return [
            "Each system is judged by the items that it answered, and these differ. Differences "
            "assume that a system would be as accurate on the items that it left out."
        ]
    if same:
        some = f"{n_all} of {counted(ratings.n_items, 'item')} "
        items = "items " if _all_items_are_common(comparison) else some
        return [f"Differences rest on the same {items}and raters, {CANCELS}"]
    own = (f"{name} {n_common_items(ratings, [name])}" for name in ratings.systems)
    lines = [
        f"The systems answered different items ({first_few(own, MOST_NAMED)} of "
        f"{ratings.n_items}). The accuracy of each is that on its own items; differences rest on "
        f"the items that both systems answered, and on the same raters, {CANCELS}"
    ]
    if not n_all:
        lines.append("No item was answered by all systems, so that they are not ranked.")
    elif len(ratings.systems) > 2 and comparison.ranks:
        lines.append(f"Ranks rest on the {counted(n_all, 'item')} that all systems answered.")
    return [*lines, *_without_difference(comparison)]


def _without_difference(comparison: Comparison) -> list[str]:
    pairs = {one.systems: one.n_common_items for one in comparison.differences}
    without = [f"{first} and {second}" for (first, second), n in pairs.items() if not n]
    if not without:
        return []
    return [
        f"There is no difference between {first_few(without, MOST_NAMED)}: no item was answered by "
        "both. From Python, common_items=False compares them on different items."
    ]


def whom(comparison: Comparison, method: str, systems: list[str]) -> str:
    """Name a method, and the systems that something is said of unless these are all."""
    if systems == [one.system for one in comparison.systems]:
        return method
    return f"{method} ({first_few(systems, MOST_SHOWN)})"
