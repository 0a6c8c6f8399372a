"""What a command answers: sections, which are printed, written into a folder, or made a page."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rich.console import Group

from experiments.report.document import Block, Heading, Paragraph, Picture, origin, to_html
from experiments.report.files import (
    figure_bytes,
    write_bytes,
    write_csv,
    write_figure,
    write_text,
)
from experiments.report.table import (
    Table,
    list_notes,
    simple_table,
    to_frame,
    to_latex,
    to_terminal,
)
from experiments.report.terminal import line, print_wide, terminal_width
from experiments.report.views import REPORT
from experiments.report.words import as_options
from lehner.core.errors import CODES, SEVERITIES, InputError, Warning

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

type Later[T] = T | Callable[[], T]
"""A value, or a function that gives it."""


def get_now[T](value: Later[T]) -> T:
    """Give a value, or what a function gives."""
    return value() if callable(value) else value


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
        Draws its figure, or gives None if there is nothing to draw.
    folder : str
        Folder of its files, if there are several systems.
    most : int, optional
        How many rows of a table the screen shows.
    """

    name: str
    title: str
    warnings: Sequence[Warning] = ()
    text: Sequence[str] = ()
    tables: Sequence[Table] = ()
    figure: "Callable[[], Figure | None]" = lambda: None
    folder: str = ""
    most: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """What a command answers about a file, to be printed, kept as files, or sent as one page.

    Parameters
    ----------
    title : str
        Title of the page.
    content : mapping, or callable
        The result in plain types, for `--json`. As heading, sections and sentences it may be a
        function of no arguments, which is called when it is needed.
    heading : sequence of str
        What the data are.
    sections : sequence of Section
        All that is told.
    sentences : sequence of str
        The answer in sentences: a page begins with them.
    warnings : sequence of Warning
        The page lists them with what to do about each.
    about : sequence of str or Table
        What else is to be known of the data and the methods, at the end of the page.
    frames : mapping of str to DataFrame or Table
        Tables as they are written into the folder of `--output` as CSV, by the file's name.
    screen : callable, optional
        From the width of a terminal to what is printed, if not all sections are.
    save : callable, optional
        Writes further files into a folder, as posterior draws, and gives their paths.
    """

    title: str
    content: Later[Mapping[str, Any]]
    heading: Later[Sequence[str]]
    sections: Later[Sequence[Section]]
    sentences: Later[Sequence[str]] = ()
    warnings: Sequence[Warning] = ()
    about: Sequence[str | Table] = ()
    frames: "Mapping[str, pd.DataFrame | Table]" = field(default_factory=dict)
    screen: Callable[[int], Group] | None = None
    save: Callable[[Path], Iterable[Path]] = lambda folder: ()

    def to_dict(self) -> dict[str, Any]:
        """Result in plain types, ready for JSON."""
        return dict(get_now(self.content))

    def list_sentences(self) -> Sequence[str]:
        """The answer in sentences."""
        return get_now(self.sentences)

    def list_sections(self) -> Sequence[Section]:
        """All that is reported: sections that have a table or a text."""
        return [one for one in get_now(self.sections) if one.tables or one.text]

    def show(self) -> None:
        """Print its screen, or all sections."""
        print_wide((self.screen or self.render)(terminal_width()))

    def render(self, width: int) -> Group:
        """Lay all sections out for the terminal, warnings above the numbers that they concern."""
        sections = self.list_sections()
        lines = list(map(line, get_now(self.heading)))
        for section in sections:
            lines += [line(), line(section.title, style="bold")] if len(sections) > 1 else []
            lines += [line(text, style="yellow") for text in name_warnings(section.warnings)]
            lines += [line(part) for text in section.text for part in wrap(as_options(text), width)]
            for place, table in enumerate(section.tables):
                lines += [line()] if place or len(sections) == 1 else []
                shown = replace(table, rows=table.rows[: section.most])
                lines += to_terminal(shown, width, noted=False)
                more = len(table.rows) - len(shown.rows)
                lines += [line(f"… and {more} more rows: see --output")] if more else []
            lines += list_notes(section.tables)
        return Group(*lines)

    def write(self, folder: Path) -> Iterator[Path]:
        """Write tables as CSV and LaTeX and figures as PDF and PNG into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        sections = self.list_sections()
        # All folders first: where a file is in the way of one, nothing is written.
        for section in sections:
            (folder / section.folder).mkdir(exist_ok=True)
        for name, frame in self.frames.items():
            plain = to_frame(frame) if isinstance(frame, Table) else frame
            yield write_csv(plain, folder / f"{name}.csv")
        for section in sections:
            place = folder / section.folder
            if section.tables:
                yield write_text(to_latex(*section.tables), place / f"{section.name}.tex")
            figure = section.figure()
            if figure is not None:
                yield from write_figure(figure, place, section.name)
        yield from self.save(folder)

    def plot(self, path: Path) -> Path:
        """Write the first figure alone; the ending of the file says its kind."""
        kind = path.suffix.lstrip(".").lower()
        if kind not in ("pdf", "png", "svg"):
            raise InputError("a figure ends in .png, .pdf or .svg", "name such a file", file=path)
        figures = filter(None, (section.figure() for section in self.list_sections()))
        figure = next(figures, None)
        if figure is None:
            raise InputError("there is nothing to draw", "leave --plot out", file=path)
        path.parent.mkdir(parents=True, exist_ok=True)
        return write_bytes(figure_bytes(figure, kind), path)

    def page(self, command: str, files: Iterable[Path]) -> str:
        """Write one HTML file: the answer, what to keep in mind, and the rest.

        Parameters
        ----------
        command : str
            As a shell takes it.
        files : iterable of Path
            What it read.

        Returns
        -------
        str
            The file, which loads nothing.
        """
        pictures: dict[str, bytes] = {}
        sentences = self.list_sentences()
        blocks: list[Block] = list(map(Paragraph, sentences))
        blocks += _caution(self.warnings, "changes")
        for section in self.list_sections():
            blocks += [Heading(section.title), *_caution(section.warnings, "limits")]
            figure = section.figure()
            if figure is not None:
                name = f"{len(pictures)}"
                pictures[name] = figure_bytes(figure, "svg")
                blocks.append(Picture(name, "", str(figure.get_label())))
            texts = (text for text in section.text if text not in sentences)
            blocks += [Paragraph(as_options(text)) for text in texts]
            blocks += section.tables
        blocks.append(Heading("The data and the methods"))
        about = (*get_now(self.heading), *self.about)
        blocks += [Paragraph(one) if isinstance(one, str) else one for one in about]
        blocks += [*_list_warnings(self.warnings), *origin(command, files)]
        return to_html(self.title, blocks, pictures)


def answer_briefly(
    name: str,
    *,
    table: Table,
    sentences: Sequence[str],
    text: Sequence[str] = (),
    warnings: Sequence[Warning] = (),
    figure: "Callable[[], Figure | None]" = lambda: None,
    **about: Any,
) -> Answer:
    """Make an answer of sentences, one table and perhaps a figure.

    Parameters
    ----------
    name : str
        Of its files, without their endings.
    table : Table
    sentences, text, warnings, figure
        As of `Section`; the sentences stand above the text.
    **about
        Other fields of `Answer`.

    Returns
    -------
    Answer
    """
    section = Section(
        name=name,
        title=name.capitalize(),
        tables=[table],
        text=[*sentences, *text],
        warnings=warnings,
        figure=figure,
    )
    about = {"frames": {name: table}} | about
    return Answer(sections=[section], sentences=sentences, warnings=warnings, **about)


def _caution(warnings: Iterable[Warning], severity: str) -> list[Block]:
    named = name_warnings(one for one in warnings if one.severity == severity)
    return [Paragraph(f"Caution: {text}") for text in named]


def _list_warnings(warnings: Iterable[Warning]) -> Iterator[Block]:
    """List each warning with what to do about it, those that change the conclusion first."""
    rows = []
    for one in warnings:
        remedy = CODES.get(one.code, ("", ""))[1].replace("`", "")
        whom = " of ".join(part for part in (one.method, one.system) if part)
        rows.append((REPORT["severity"][one.severity], as_options(one.text), remedy, whom))
    if rows:
        yield Heading("Warnings")
        yield simple_table(("weight", "what was found", "what to do", "about"), rows)


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
    >>> name_warnings([Warning("starts", "1 of 1", method=name) for name in ("tap", "pooled")])
    ['tap, pooled: 1 of 1']
    """
    whom: dict[str, list[str]] = {}
    for one in sorted(warnings, key=lambda one: SEVERITIES.index(one.severity)):
        names = " of ".join(filter(None, (one.method, one.system if several else "")))
        whom.setdefault(as_options(one.text), []).append(names)
    return [
        ": ".join(filter(None, (", ".join(filter(None, dict.fromkeys(names))), text)))
        for text, names in whom.items()
    ]
