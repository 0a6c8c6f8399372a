"""The command `lehner check`."""

from typing import TYPE_CHECKING

import typer

from experiments.cli.emit import emit
from experiments.cli.options import Data, Output, Reading, Seed, System

if TYPE_CHECKING:
    from experiments.report.answer import Answer
    from experiments.report.table import Table
    from lehner import Ratings
    from lehner.k_properties.check import KProperties


def check(
    data: Data,
    system: System = None,
    replicates: int = 999,
    seed: Seed = 1,
    *,
    reading: Reading,
    output: Output,
) -> None:
    """Test the assumptions of the algebra.

    These are the K-properties: all raters are equally accurate, all their errors are equally
    probable, and all items are equally difficult. The exit code is 1 if none can be tested.

    Parameters
    ----------
    replicates : N
        The number of simulated data sets behind each p-value.

    Examples
    --------
    lehner check ratings.csv --system gpt
    lehner check lehner_table2 --system System --replicates 9999
    """
    from experiments.cli.load import load
    from experiments.cli.progress_lines import progress_lines
    from lehner import check_k_properties
    from lehner.core.estimate import require_pairs

    ratings = load(data, reading.options(system), require=require_pairs)
    with progress_lines():
        properties = check_k_properties(ratings, replicates=replicates, seed=seed)
    emit(_answer(data, ratings, properties), output, data, reading.truth)
    if all(test.p_value is None for test in properties.tests.values()):
        raise typer.Exit(1)


def _answer(data: str, ratings: "Ratings", properties: "KProperties") -> "Answer":
    from experiments.report.answer import Answer, Section
    from experiments.report.options import data_notes, header_lines
    from lehner.core.estimate import plain
    from lehner.core.text import counted, counted_categories

    notes = data_notes(ratings)
    names = ("n_items", "n_raters", "n_ratings", "raters", "categories", "ordered")
    described = {one: plain(getattr(ratings, one)) for one in names}
    heading = (
        f"{data}: {counted(ratings.n_items, 'item')}, {counted(ratings.n_raters, 'rater')}, "
        f"{counted_categories(ratings.n_categories, ordered=ratings.ordered)}; p-values from "
        f"{counted(properties.replicates, 'simulated data set')}, adjusted for their number by "
        "Holm's method"
    )
    table = _table(properties)
    return Answer(
        title=f"Assumptions of the algebra: {data}",
        content={"data": {"name": data} | described | {"notes": notes}} | properties.to_dict(),
        heading=[heading, *header_lines(notes)],
        sentences=properties.verdict,
        sections=[
            Section(name="check", title="Tests", tables=[table], text=properties.verdict),
        ],
        frames={"check": table},
    )


def _table(properties: "KProperties") -> "Table":
    from experiments.report.options import as_options
    from experiments.report.table import Column, Table
    from lehner.core.text import probability

    return Table(
        columns=[
            Column("test"),
            Column("p_value", "p", _p_value, fields=("p_value", "p_value_se")),
            Column("adjusted_p_value", "adjusted", probability, fields=("adjusted_p_value",)),
            Column("verdict"),
            Column("note", "what was seen"),
        ],
        rows=[
            (
                test.name,
                (test.p_value, test.p_value_se),
                (test.adjusted_p_value,),
                test.verdict,
                as_options(test.note),
            )
            for test in properties.tests.values()
        ],
    )


def _p_value(value: float | None, error: float | None) -> str:
    from lehner.core.text import decimal, probability

    shown = probability(value)
    # Beside "< .001" the standard error would be as small.
    return f"{shown} ± {decimal(error)}" if error is not None and shown[0].isdigit() else shown
