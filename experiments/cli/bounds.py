"""The command `lehner bounds`."""

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from experiments.cli.emit import emit
from experiments.cli.options import Data, Interval, Output, Reading, Seed, System

if TYPE_CHECKING:
    from experiments.report.table import Table
    from lehner.dependence.bounds import AccuracyBounds

CORRELATIONS = (0.1, 0.25, 0.5)
ASSUMED = "Assumed is only that the ratings are more often right than wrong."


def bounds(
    data: Data,
    system: System = None,
    correlation: list[float] | None = None,
    above: float | None = None,
    interval: Interval = 0.9,
    seed: Seed = 1,
    *,
    reading: Reading,
    output: Output,
) -> None:
    """Bound the accuracy by how much errors correlate, without a model of raters and items.

    Parameters
    ----------
    correlation : P
        The greatest correlation of two raters' errors, and of the system's with theirs. The
        option may be repeated. Default: 0.1, 0.25 and 0.5.
    above : P
        The accuracy of which it is said how much errors must correlate for it not to be reached.
        Default: the one that correlations as in half of the real crowds leave standing.

    Examples
    --------
    lehner bounds ratings.csv --system gpt
    lehner bounds ratings.csv --system gpt --above 0.8 --output bounds/
    """
    from experiments.cli.load import load
    from experiments.report.answer import Answer, Section
    from experiments.report.figures import plot_bounds
    from lehner import accuracy_bounds, mistakes_needed
    from lehner.core.errors import check_probability

    for cap in correlation or ():
        check_probability("correlation", cap)
    ratings = load(data, reading.options(system))
    caps = [(cap, whose) for whose in (True, False) for cap in correlation or CORRELATIONS]
    by_cap = [
        accuracy_bounds(ratings, cap, cap if system_too else 1.0, level=interval, seed=seed)
        for cap, system_too in caps
    ]
    needed = mistakes_needed(ratings, above)
    table, sentence = _table(by_cap), f"{needed}."
    sentence = sentence[0].upper() + sentence[1:]
    answer = Answer(
        title=f"Bounds of the accuracy: {data}",
        content={
            "data": data,
            "bounds": [asdict(one) for one in by_cap],
            "needed": asdict(needed),
        },
        heading=[f"{data}: {by_cap[0].n_items} items with two ratings and an answer"],
        sentences=[sentence],
        sections=[
            Section(
                name="bounds",
                title="Bounds",
                text=[sentence, ASSUMED],
                tables=[table],
                figure=partial(plot_bounds, ratings, needed),
            )
        ],
        frames={"bounds": table},
    )
    emit(answer, output, data, reading.truth)


def _table(by_cap: "list[AccuracyBounds]") -> "Table":
    from experiments.report.table import Column, Table
    from lehner.core.text import decimal, percent

    def ends(lower: float | None, upper: float | None) -> str:
        return "impossible" if lower is None else f"{decimal(lower)} to {decimal(upper)}"

    expected = (f"expected, {percent(by_cap[0].level or 0)}", ends)
    return Table(
        columns=[
            Column("errors_of"),
            Column("correlation", "correlate by at most", "{:g}".format),
            Column("in_sample", "accuracy on these items", ends, fields=("lower", "upper")),
            Column("expected", *expected, fields=("expected_lower", "expected_upper")),
        ],
        rows=[
            (
                "raters" if one.system == 1 else "raters and system",
                one.raters,
                (one.lower, one.upper),
                (one.expected_lower, one.expected_upper),
            )
            for one in by_cap
        ],
        keys=2,
    )
