"""The page of an estimate: one HTML file to send, with all that is printed, drawn and assumed."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from experiments.estimate.parts import Part, parts_of_one, parts_of_several
from experiments.estimate.screen import screen
from experiments.estimate.sentence import sentences
from experiments.reporting.document import Block, Heading, Paragraph, Picture, Screen, to_html
from experiments.reporting.files import figure_bytes
from experiments.reporting.method_style import method_label
from experiments.reporting.options import as_options
from experiments.reporting.origin import origin
from experiments.reporting.table import Column, Table
from experiments.reporting.terminal import as_text
from lehner import Comparison
from lehner.core.text import first_few
from lehner.core.warning import CODES, by_severity
from lehner.estimation.methods import get_method

MOST_NAMED = 4
WEIGHT = {
    "changes": "changes the conclusion",
    "limits": "limits the conclusion",
    "note": "good to know",
}


def page(comparison: Comparison, command: str, files: Iterable[Path]) -> str:
    """Write an estimate as one HTML file, which loads nothing.

    Parameters
    ----------
    comparison : Comparison
        As `lehner.estimate` returns it.
    command : str
        As a shell takes it.
    files : iterable of Path
        What it read.

    Returns
    -------
    str
    """
    pictures: dict[str, bytes] = {}
    blocks: list[Block] = [Screen(as_text(screen(comparison))), Heading("In a paper")]
    blocks += map(Paragraph, sentences(comparison))
    several = len(comparison.systems) > 1
    if several:
        blocks += _shown(parts_of_several(comparison), "", pictures)
    for system in comparison.systems:
        parts = parts_of_one(system, comparison.name)
        blocks += _shown(parts, f"{system.system}: " if several else "", pictures)
    blocks += [*_methods(comparison), *warning_blocks(comparison), *origin(command, files)]
    named = first_few(comparison.ratings.systems, MOST_NAMED)
    return to_html(f"Accuracy of {named}: {Path(comparison.name).name}", blocks, pictures)


def _shown(parts: Iterable[Part], about: str, pictures: dict[str, bytes]) -> Iterator[Block]:
    for part in parts:
        yield Heading(f"{about}{part.title}")
        if part.text:
            yield Paragraph(part.text)
        yield from part.tables
        if part.figure is not None:
            name = f"{len(pictures)}"
            pictures[name] = figure_bytes(part.figure, "svg")
            yield Picture(name, "", str(part.figure.get_label()))


def _methods(comparison: Comparison) -> Iterator[Block]:
    """Say what each method does, and what must hold for it."""
    yield Heading("What each method does and assumes")
    rows = []
    for name in dict.fromkeys(one.method for one in comparison.estimates):
        known = get_method(name)
        summary = "a function of yours" if known is None else known.summary
        rows.append((name, method_label(name), summary, known.assumes if known else ""))
    columns = [
        Column("name"),
        Column("method"),
        Column("summary", "what it does"),
        Column("assumes", "right if"),
    ]
    yield Table(columns=columns, rows=rows, keys=2)


def warning_blocks(comparison: Comparison) -> Iterator[Block]:
    """List each warning with what to do about it, those that change the conclusion first."""
    every = by_severity(one for estimate in comparison.estimates for one in estimate.warnings)
    rows = []
    for warning in every:
        who = [
            one.method if len(comparison.systems) == 1 else f"{one.method} of {one.system}"
            for one in comparison.estimates
            if warning in one.warnings
        ]
        text = as_options(warning.text)
        remedy = CODES.get(warning.code, ("", ""))[1].replace("`", "")
        rows.append((WEIGHT[warning.severity], ", ".join(who), text, remedy))
    if rows:
        yield Heading("Warnings")
        columns = [Column("weight", "it"), Column("method"), Column("found"), Column("what to do")]
        yield Table(columns=columns, rows=rows)
