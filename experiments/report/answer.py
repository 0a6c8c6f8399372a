"""What a command answers: sections, which are printed, written into a folder, or made a page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group

from experiments.reporting.document import Block, Heading, Paragraph, Picture, to_html
from experiments.reporting.files import figure_bytes, write_csv, write_figure, write_text
from experiments.reporting.options import as_options
from experiments.reporting.origin import origin
from experiments.reporting.renderers import to_csv, to_latex, to_terminal
from experiments.reporting.table import Column, Table
from experiments.reporting.terminal import line, print_wide, terminal_width
from lehner.core.warning import CODES, SEVERITIES, Warning

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

WEIGHT = {
    "changes": "changes the conclusion",
    "limits": "limits the conclusion",
    "note": "good to know",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Section:
    """The answer to one question.

    Parameters
    ----------
    name : str
        Name of its files, without their endings.
    title : str
        What it is about.
    warnings : sequence of Warning
        What should be known before its numbers are read.
    text : sequence of str
        How to read them.
    tables : sequence of Table
    figure : callable, optional
        Draws its figure.
    folder : str
        Which system it is about, if there are several.
    most : int, optional
        How many rows of a table the screen shows.
    """

    name: str
    title: str
    warnings: Sequence[Warning] = ()
    text: Sequence[str] = ()
    tables: Sequence[Table] = ()
    figure: Any = None
    folder: str = ""
    most: int | None = None

    def draw(self) -> "Figure | None":
        """Draw its figure, if it has one."""
        return None if self.figure is None else self.figure()


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """What a command answers about a file, to be printed, kept as files, or sent as one page.

    Parameters
    ----------
    title : str
        Title of the page.
    content : dict
        The result in plain types, for `--json`.
    heading : sequence of str
        What the data are.
    sections : sequence of Section
    sentences : sequence of str
        The answer in sentences: a page begins with them.
    warnings : sequence of Warning
        The page lists them with what to do about each.
    about : sequence of str or Table
        What else is to be known of the data and the methods, at the end of the page.
    frames : mapping of str to DataFrame or Table
        Tables as they are written into the folder of `--output` as CSV, by the file's name.
    """

    title: str
    content: Mapping[str, Any]
    heading: Sequence[str]
    sections: Sequence[Section]
    sentences: Sequence[str] = ()
    warnings: Sequence[Warning] = ()
    about: Sequence[str | Table] = ()
    frames: "Mapping[str, pd.DataFrame | Table]" = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Result in plain types, ready for JSON."""
        return dict(self.content)

    def show(self) -> None:
        """Print the heading and each section: tables, then text; and warnings at the end."""
        parts = list(map(line, self.heading))
        for section in self.sections:
            for table in section.tables:
                more = len(table.rows) - (section.most or len(table.rows))
                shown = replace(table, rows=table.rows[: section.most])
                parts += [line(), *to_terminal(shown, terminal_width())]
                parts += [line(f"… and {more} more rows: see --output")] if more > 0 else []
            parts += [line(), *map(line, map(as_options, section.text))] if section.text else []
        warnings = [one for section in self.sections for one in section.warnings]
        parts += [line(as_options(text)) for text in name_warnings(warnings)]
        print_wide(Group(*parts))

    def write(self, folder: Path) -> Iterator[Path]:
        """Write tables as CSV and LaTeX and figures as PDF and PNG into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, frame in self.frames.items():
            path = folder / f"{name}.csv"
            if isinstance(frame, Table):
                yield write_text(to_csv(frame), path)
            else:
                yield write_csv(frame, path)
        for section in self.sections:
            yield from write_section(section, folder)

    def page(self, command: str, files: Iterable[Path]) -> str:
        """Write one HTML file that opens with the answer."""
        about = [*self.heading, *self.about]
        return write_page(
            self.title, self.sentences, self.sections, self.warnings, about, command, files
        )


def name_warnings(warnings: Iterable[Warning], *, several: bool = False) -> list[str]:
    """Write warnings as lines, those that change the conclusion first, equal texts once.

    Parameters
    ----------
    warnings : iterable of Warning
    several : bool
        Whether the name of the system stands beside that of the method.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from lehner.core.warning import SEVERITIES, Warning
    >>> name_warnings([Warning("starts", "1 of 1", method=name) for name in ("tap", "pooled")])
    ['tap, pooled: 1 of 1']
    """
    whom: dict[tuple[int, str], list[str]] = {}
    for one in warnings:
        parts = (one.method, one.system if several else "")
        place = SEVERITIES.index(one.severity), one.text
        whom.setdefault(place, []).append(" of ".join(filter(None, parts)))
    ordered = sorted(whom.items(), key=lambda pair: pair[0][0])
    return [
        ": ".join(filter(None, (", ".join(filter(None, dict.fromkeys(names))), text)))
        for (_, text), names in ordered
    ]


def write_section(section: Section, folder: Path) -> Iterator[Path]:
    """Write the tables of a section as LaTeX, and its figure as PDF and PNG."""
    if section.tables:
        yield write_text(to_latex(*section.tables), folder / f"{section.name}.tex")
    figure = section.draw()
    if figure is not None:
        yield from write_figure(figure, folder, section.name)


def write_page(
    title: str,
    answer: Iterable[str],
    sections: Iterable[Section],
    warnings: Sequence[Warning],
    about: Iterable[Any],
    command: str,
    files: Iterable[Path],
) -> str:
    """Write sections as one HTML file: the answer, what to keep in mind, and the rest."""
    pictures: dict[str, bytes] = {}
    blocks: list[Block] = list(map(Paragraph, answer))
    grave = [one for one in warnings if one.severity == "changes"]
    blocks += [Paragraph(f"Caution: {as_options(text)}") for text in name_warnings(grave)]
    for section in sections:
        blocks += _blocks(section, pictures)
    blocks.append(Heading("The data and the methods"))
    blocks += [Paragraph(one) if isinstance(one, str) else one for one in about]
    blocks += [*warning_blocks(warnings), *origin(command, files)]
    return to_html(title, blocks, pictures)


def _blocks(section: Section, pictures: dict[str, bytes]) -> Iterator[Block]:
    yield Heading(section.title)
    for text in name_warnings(one for one in section.warnings if one.severity == "limits"):
        yield Paragraph(f"Caution: {as_options(text)}")
    yield from (Paragraph(as_options(text)) for text in section.text)
    figure = section.draw()
    if figure is not None:
        name = f"{len(pictures)}"
        pictures[name] = figure_bytes(figure, "svg")
        yield Picture(name, "", str(figure.get_label()))
    yield from section.tables


def warning_blocks(warnings: Iterable[Warning]) -> Iterator[Block]:
    """List each warning with what to do about it, those that change the conclusion first."""
    rows = []
    for one in warnings:
        remedy = CODES.get(one.code, ("", ""))[1].replace("`", "")
        whom = " of ".join(part for part in (one.method, one.system) if part)
        rows.append((WEIGHT[one.severity], as_options(one.text), remedy, whom))
    if rows:
        yield Heading("Warnings")
        names = ("weight", "what was found", "what to do", "about")
        yield Table(columns=[Column(name) for name in names], rows=rows)
