"""What `lehner check` and `bounds` answer."""

import math
from collections.abc import Sequence
from dataclasses import asdict, replace

import lehner
from lehner.command.load import load
from lehner.core.errors import check_probability
from lehner.core.estimate import to_plain
from lehner.core.lazy import pd
from lehner.core.results import tabulate
from lehner.core.table import PrintedTable, TableColumn
from lehner.core.text import format_p, pluralise, to_decimal, to_percent
from lehner.data.estimable import require_pairs
from lehner.data.reading import Reading
from lehner.dependence.bounds import name_caps
from lehner.report.answer import Report, answer_briefly
from lehner.report.terminal import list_data_notes, to_options, write_data_lines

CORRELATIONS = (0.1, 0.25, 0.5)
ASSUMED = "The only assumption is that the ratings are more often right than wrong."
# What the JSON of the tests says of the ratings.
DESCRIBED = ("n_items", "n_raters", "n_ratings", "raters", "categories", "ordered")


def answer_check(data: str, reading: Reading, *, replicates: int, seed: int) -> Report:
    """Test the assumptions of the algebra.

    Parameters
    ----------
    data : str
        A file, or the name of a bundled data set.
    reading : Reading
    replicates, seed
        Passed to `lehner.check_k_properties`.

    Returns
    -------
    Report
    """
    ratings = load(data, reading, require=require_pairs)
    properties = lehner.check_k_properties(ratings, replicates=replicates, seed=seed)
    tests = properties.tests.values()
    described = {name: to_plain(getattr(ratings, name)) for name in DESCRIBED}
    described = {"name": data} | described | {"notes": list_data_notes(ratings)}
    columns = [
        TableColumn("test"),
        TableColumn("p_value", "p", _write_p),
        TableColumn("adjusted_p_value", "adjusted", format_p),
        TableColumn("verdict"),
        TableColumn("note", "what was seen", names=to_options),
    ]
    rows = [
        (
            test.name,
            (test.p_value, test.p_value_se),
            (test.adjusted_p_value,),
            test.verdict,
            test.note,
        )
        for test in tests
    ]
    simulated = pluralise(properties.replicates, "simulated data set")
    heading = f"{data}: {repr(ratings).removeprefix('Ratings: ')}; p-values from {simulated}"
    return answer_briefly(
        "check",
        frames={"check": pd.DataFrame(map(asdict, tests))},
        title=f"Assumptions of the algebra: {data}",
        content={"data": described} | properties.to_dict(),
        heading=[
            f"{heading}, adjusted for their number by Holm's method",
            *write_data_lines(ratings),
        ],
        sentences=properties.verdict,
        table=PrintedTable(columns=columns, rows=rows),
        failed=all(test.p_value is None for test in tests),
    )


def _write_p(value: float | None, error: float | None) -> str:
    shown: str = format_p(value)
    # Beside "< .001" the standard error would be as small.
    exact = error is not None and shown[0].isdigit()
    return f"{shown} ± {to_decimal(error)}" if exact else shown


def answer_bounds(
    data: str,
    reading: Reading,
    correlations: Sequence[float] | None,
    above: float | None,
    *,
    level: float,
    seed: int,
) -> Report:
    """Bound the accuracy by how much errors correlate.

    Parameters
    ----------
    data : str
        A file, or the name of a bundled data set.
    reading : Reading
    correlations : sequence of float, optional
        The greatest correlation of two raters' errors.
    above : float, optional
        The accuracy of which it is said how much errors must correlate for it not to be reached.
    level, seed
        Passed to `lehner.bound_accuracy`.

    Returns
    -------
    Report
    """
    for cap in correlations or ():
        check_probability("correlation", cap)
    ratings = load(data, reading)
    caps = [(cap, cap) for cap in correlations or CORRELATIONS]
    caps += [(cap, 1.0) for cap, _ in caps]
    results = lehner.bound_accuracy(ratings, *zip(*caps, strict=True), level=level, seed=seed)
    needed = lehner.find_tipping_point(ratings, above)
    table = pd.concat([results.table, tabulate(needed.list_rows())], ignore_index=True)
    results = replace(results, name=data, table=table)
    sentence = f"{needed}."
    columns = [
        TableColumn("errors_of"),
        TableColumn("correlation", "correlate by at most", "{:g}".format),
        TableColumn("in_sample", "accuracy on these items", _write_ends),
        TableColumn("expected", f"expected, {to_percent(level)}", _write_ends),
    ]
    rows = []
    for cap, of_system in caps:
        bounds = results.select(versus=name_caps(cap, of_system))[["lower", "upper"]]
        of_sample, expected = map(tuple, bounds.to_numpy())
        people = "raters" if of_system == 1 else "raters and system"
        rows.append((people, cap, of_sample, (*expected, not math.isnan(of_sample[0]))))
    n_items = pluralise(int(results.table["n_items"].iloc[0]), "item")
    return answer_briefly(
        "bounds",
        frames={"bounds": results.table},
        title=f"Bounds of the accuracy: {data}",
        content=results.to_dict(),
        heading=[f"{data}: {n_items} with two ratings and an answer"],
        sentences=[sentence[0].upper() + sentence[1:]],
        text=[ASSUMED],
        table=PrintedTable(columns=columns, rows=rows, keys=2),
    )


def _write_ends(lower: float, upper: float, possible: bool = False) -> str:
    if math.isnan(lower):
        return "–" if possible else "impossible"
    return f"{to_decimal(lower)} to {to_decimal(upper)}"
