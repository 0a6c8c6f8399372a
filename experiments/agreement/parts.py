"""Agreement of parts: criteria, raters with themselves, and sets of labels, on the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group

from experiments.reporting.data_notes import data_notes, header_lines
from experiments.reporting.renderers import to_terminal
from experiments.reporting.table import Column, Table
from experiments.reporting.terminal import line, print_wide, terminal_width
from lehner import Ratings
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import percent
from lehner.interrater.coefficients import Coefficient, printed_name
from lehner.interrater.label_sets import SetAgreement

MOST_NOTES = 3


def show_parts(
    name: str,
    ratings: Ratings,
    part: str,
    found: Mapping[str, Sequence[Coefficient]],
    level: float,
) -> None:
    """Print a table of coefficients for each part of the data.

    Parameters
    ----------
    name : str
        Of the data.
    ratings : Ratings
    part : str
        What the parts are, as "criterion".
    found : mapping of str to sequence of Coefficient
        By part.
    level : float
        Of the intervals.
    """
    rows = [
        (
            one_part,
            one.name,
            IntervalEstimate(estimate=one.estimate, lower=one.lower, upper=one.upper),
            one.standard_error,
        )
        for one_part, coefficients in found.items()
        for one in coefficients
    ]
    columns = [
        Column(part),
        Column("coefficient", names=printed_name),
        Column("estimate", f"value [{percent(level)} interval]"),
        Column("standard_error", "SE"),
    ]
    heading = f"{name}: {repr(ratings).removeprefix('Ratings: ')}"
    notes = header_lines(data_notes(ratings)[:MOST_NOTES])
    table = to_terminal(Table(columns=columns, rows=rows, keys=2), terminal_width())
    print_wide(Group(line(heading), *map(line, notes), line(), *table))


def parts_of_sets(found: SetAgreement) -> dict[str, list[Coefficient]]:
    """Name the parts of an agreement of sets."""
    measures = {"equal": "equal sets", "jaccard": "Jaccard", "masi": "MASI"}
    parts = {title: [found.similarity[name], found.alpha[name]] for name, title in measures.items()}
    return parts | {f"label {label}": [one] for label, one in found.by_label.items()}


def sets_to_dict(found: SetAgreement) -> dict[str, Any]:
    """Give an agreement of sets in plain types, ready for JSON."""
    return {
        "equal_sets": found.similarity["equal"].estimate,
        "mean_jaccard": found.similarity["jaccard"].estimate,
        "alpha": {name: one.estimate for name, one in found.alpha.items()},
        "alpha_by_label": {label: one.estimate for label, one in found.by_label.items()},
    }
