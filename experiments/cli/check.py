"""The command `lehner check`."""

import sys
from typing import TYPE_CHECKING, Any

import typer

from experiments.cli.arguments import AsJson, Data, Reading, Seed, System
from experiments.reporting.options import as_options
from experiments.reporting.terminal import json_text

if TYPE_CHECKING:
    from rich.console import Group

    from lehner import Ratings
    from lehner.k_properties.check import KProperties


def check(
    data: Data,
    system: System = None,
    replicates: int = 999,
    seed: Seed = 1,
    *,
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Test the assumptions of the algebra, and say what their failure does to its estimate.

    These are the K-properties: all raters are equally accurate, all their errors are equally
    probable, and all items are equally difficult. The exit code is 1 if none can be tested.

    Parameters
    ----------
    replicates : N
        The number of simulated data sets behind each p-value.
    """
    from experiments.cli.load import load
    from experiments.cli.progress_lines import progress_lines
    from lehner import check_k_properties
    from lehner.core.estimate import require_pairs

    ratings = load(data, reading.options(system), require=require_pairs)
    with progress_lines():
        properties = check_k_properties(ratings, replicates=replicates, seed=seed)
    if as_json:
        described = _describe(data, ratings) | properties.to_dict()
        print(as_options(json_text(described)))
    else:
        from experiments.reporting.terminal import console, terminal_width

        shown = _render(data, ratings, properties, terminal_width())
        console(sys.stdout).print(shown)
    if all(test.p_value is None for test in properties.tests.values()):
        raise typer.Exit(1)


def _describe(name: str, ratings: "Ratings") -> dict[str, Any]:
    from experiments.reporting.data_notes import data_notes
    from lehner.core.estimate import plain

    names = ("n_items", "n_raters", "n_ratings", "raters", "categories", "ordered")
    described = {one: plain(getattr(ratings, one)) for one in names}
    return {"data": {"name": name} | described | {"notes": data_notes(ratings)}}


def _render(name: str, ratings: "Ratings", tests: "KProperties", width: int) -> "Group":
    from rich.console import Group

    from experiments.reporting.data_notes import data_notes, header_lines
    from experiments.reporting.renderers import to_terminal
    from experiments.reporting.table import Column, Table
    from experiments.reporting.terminal import line
    from lehner.core.text import counted, counted_categories, probability

    table = Table(
        columns=[
            Column("test"),
            Column("p_value", "p", _p_value),
            Column("adjusted_p_value", "adjusted", probability),
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
            for test in tests.tests.values()
        ],
    )
    heading = (
        f"{name}: {counted(ratings.n_items, 'item')}, {counted(ratings.n_raters, 'rater')}, "
        f"{counted_categories(ratings.n_categories, ordered=ratings.ordered)}; p-values from "
        f"{counted(tests.replicates, 'simulated data set')}, adjusted for their number by Holm's "
        "method"
    )
    notes = map(line, header_lines(data_notes(ratings)))
    shown = to_terminal(table, width)
    verdict = (line(as_options(text)) for text in tests.verdict)
    return Group(line(heading), *notes, line(), *shown, line(), *verdict)


def _p_value(value: float | None, error: float | None) -> str:
    from lehner.core.text import decimal, probability

    shown = probability(value)
    # Beside "< .001" the standard error would be as small.
    return f"{shown} ± {decimal(error)}" if error is not None and shown[0].isdigit() else shown
