"""What a command answers: sections, which are printed, written into a folder, or made a page."""

import base64
import hashlib
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from textwrap import wrap
from typing import Any

from rich.table import Table as Grid
from rich.text import Text

from lehner.core.errors import CODES, Warning, list_cautions, name_warnings
from lehner.core.lazy import load, pd, plt
from lehner.core.table import (
    GAP,
    PrintedTable,
    blank_repeated,
    list_table,
    measure_column,
    part_columns,
    to_latex,
)
from lehner.core.text import escape, make_line, measure_width, print_wide, render_lines, to_options
from lehner.report import files
from lehner.report.tables import REPORT

jinja2 = load("jinja2")

HERE = Path(__file__).parent
# People do not see these parts of a figure; its comments repeat all its texts.
LEFT_OUT = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
SIZE = re.compile(r'width="([\d.]+)pt" height="[\d.]+pt"')
ID = re.compile(r'(?<= id=")|(?<=url\(#)|(?<=href="#)')
CODE = re.compile(r"`([^`]+)`")
# A point of a figure takes `LARGER` pixels of a page, of which a phone leaves at least the part
# `LEAST`; a figure of more than `MOST_BESIDE_TEXT` pixels stands alone.
LARGER, LEAST, MOST_BESIDE_TEXT = 1.6, 0.8, 500


@dataclass(frozen=True, kw_only=True, eq=False)
class Section:
    """The answer to one question.

    Parameters
    ----------
    title : str
        What it is about.
    name : str
        Name of its files, without their endings; it has none if the name is empty.
    warnings : sequence of Warning
        What should be known before its numbers are read.
    text : sequence of str
        How to read them.
    tables : sequence of PrintedTable
    figure : callable, optional
        Draws its figure, or gives None if there is nothing to draw.
    code : str
        A command, which a page has as it is typed.
    folder : str
        Folder of its files, if there are several systems.
    most : int, optional
        How many rows of a table the screen shows.
    caption, note : str
        Of its tables in LaTeX; the caption is by default the title.
    """

    title: str
    name: str = ""
    warnings: Sequence[Warning] = ()
    text: Sequence[str] = ()
    tables: Sequence[PrintedTable] = ()
    figure: "Callable[[], plt.Figure | None]" = lambda: None
    code: str = ""
    folder: str = ""
    most: int | None = None
    caption: str = ""
    note: str = ""


def list_section(
    title: str, names: Sequence[str], rows: Sequence[Any], *text: str, **options: Any
) -> Section:
    """Make a section of a table whose columns have nothing but a name, with a text above it."""
    return Section(title=title, text=text, tables=[list_table(names, rows)], **options)


@dataclass(frozen=True, kw_only=True, eq=False)
class Report:
    """What a command answers about a file, to be printed, kept as files, or sent as one page.

    Parameters
    ----------
    title : str
        Title of the page.
    content : mapping, or callable
        The result in plain types, for `--json`. It may be a function of no arguments, which is
        called when it is needed, and so may heading, sections, sentences and appendix.
    heading : sequence of str, or callable
        What the data are.
    sections : sequence of Section, or callable
        All that is reported.
    sentences : sequence of str, or callable
        The answer in sentences: a page begins with them.
    warnings : sequence of Warning
        A page lists them below the answer, with what to do about each.
    appendix : sequence of PrintedTable, or callable
        What else is to be known of the data and the methods, at the end of the page.
    frames : mapping of str to DataFrame
        Tables as they are written into the folder of `--output` as CSV, by the file's name.
    screen : callable, optional
        From the width of a terminal to the lines that are printed, if not all sections are.
    save : callable, optional
        Writes further files into a folder, as posterior draws, and gives their paths.
    failed : int
        The exit code: not 0 if the data give no numbers, or a method gave none.
    """

    title: str
    sections: Any
    content: Any = field(default_factory=dict)
    heading: Any = ()
    sentences: Any = ()
    warnings: Sequence[Warning] = ()
    appendix: Any = ()
    frames: "Mapping[str, pd.DataFrame]" = field(default_factory=dict)
    screen: Callable[[int], list[Text]] | None = None
    save: Callable[[Path], Iterable[Path]] = lambda folder: ()
    failed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Give the result in plain types, ready for JSON."""
        return dict(_call(self.content))

    def list_sentences(self) -> list[str]:
        """Give the answer in sentences, with each caution that changes the conclusion."""
        return [*_call(self.sentences), *map(to_options, list_cautions(self.warnings))]

    @cached_property
    def all_sections(self) -> list[Section]:
        """Sections that have a table or a text."""
        return [section for section in _call(self.sections) if section.tables or section.text]

    def show(self) -> None:
        """Print its screen, or all sections."""
        print_wide((self.screen or self.render)(measure_width()))

    def render(self, width: int) -> list[Text]:
        """Lay all sections out for the terminal, warnings above the numbers that they concern."""
        lines = list(map(make_line, _call(self.heading)))
        several = len(self.all_sections) > 1
        for section in self.all_sections:
            lines += [make_line(), make_line(section.title, style="bold")] if several else []
            lines += [make_line(text, style="yellow") for text in name_warnings(section.warnings)]
            for text in map(to_options, section.text):
                lines += map(make_line, wrap(text, width))
            for number, table in enumerate(section.tables):
                lines += [make_line()] if number or not several else []
                shown = replace(table, rows=table.rows[: section.most])
                lines += to_terminal(shown, width, noted=False)
                more = len(table.rows) - len(shown.rows)
                lines += [make_line(f"… and {more} more rows: see --output")] if more else []
            notes = [note for table in section.tables for note in table.all_notes]
            lines += map(make_line, dict.fromkeys(notes))
        return lines

    def write(self, folder: Path) -> Iterator[Path]:
        """Write tables as CSV and LaTeX and figures as PDF and PNG into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        named = [section for section in self.all_sections if section.name]
        # All folders first: where a file is in the way of one, nothing is written.
        for section in named:
            (folder / section.folder).mkdir(exist_ok=True)
        for name, frame in self.frames.items():
            yield files.write_csv(frame, folder / f"{name}.csv")
        for section in named:
            path = folder / section.folder / f"{section.name}.tex"
            if section.tables:
                yield files.write_text(_write_latex(section), path)
            figure = section.figure()
            if figure is not None:
                yield from files.write_figure(figure, path.parent, section.name)
        yield from self.save(folder)

    def write_page(self, command: str, read: Iterable[Path]) -> str:
        """Write one HTML file: the answer and a figure, each warning once, and the rest.

        Parameters
        ----------
        command : str
            As a shell takes it.
        read : iterable of Path
            The files that it read.

        Returns
        -------
        str
            The file, which loads nothing. It follows the reader's choice of a light or a dark
            screen, and can be printed.
        """
        sentences, rest = _call(self.sentences), self.all_sections
        sections = [Section(title="", text=sentences), *_list_warnings(self.warnings)]
        if rest:
            # A page opens with the answer in a sentence and a figure.
            sections[0] = replace(sections[0], figure=rest[0].figure)
            rest = [replace(rest[0], figure=lambda: None), *rest[1:]]
        for section in rest:
            text = [part for part in section.text if part not in sentences]
            sections.append(replace(section, text=text))
        if heading := _call(self.heading):
            title = "The data and the methods"
            sections.append(Section(title=title, text=heading, tables=_call(self.appendix)))
        sections.append(_describe_origin(command, read))
        return render_page(self.title, sections)


def _write_latex(section: Section) -> str:
    """Write the tables of a section; a label has the number of its folder, if it has one."""
    number, caption = section.folder.partition("_")[0], section.caption or section.title
    label = "-".join(filter(None, (section.name, number)))
    return to_latex(*section.tables, caption=caption, label=label, note=section.note)


def _call(value: Any) -> Any:
    return value() if callable(value) else value


def to_terminal(table: PrintedTable, width: int, *, noted: bool = True) -> list[Text]:
    r"""Lay a table out in lines for a rich console, its head bold.

    Parameters
    ----------
    table : PrintedTable
    width : int
        Of the terminal. Texts that are too long are wrapped. A table that is still too wide becomes
        several below one another, each with the keys.
    noted : bool
        Whether its notes follow. They do not where several tables share them.

    Returns
    -------
    list of rich.text.Text
        Without blanks at their ends.

    Examples
    --------
    >>> from lehner.core.table import TableColumn
    >>> columns = [TableColumn("", ""), TableColumn("items")]
    >>> table = PrintedTable(columns=columns, rows=[("all", 200), ("two", 50)])
    >>> print(*to_terminal(table, 80), sep="\n")
         items
    all    200
    two     50
    """
    head, *body = cells = table.write_cells()
    lines: list[Text] = []
    blocks = list(part_columns(table, cells, width))
    for block in blocks:
        # A part of a table has no rows without a number.
        rows = [row for row in body if len(blocks) == 1 or any(row[j] for j in block[table.keys :])]
        grid = Grid(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
        for index in block:
            title = Text(head[index], style="bold")
            widest, least = measure_column(table, cells, index)
            grid.add_column(title, justify="left" if table.is_text(index) else "right")
            grid.columns[-1].no_wrap = widest == least
        for row in blank_repeated(table, rows):
            grid.add_row(*(Text(row[index]) for index in block))
        lines += [*([make_line()] if lines else []), *render_lines(grid, width)]
    return [*lines, *map(make_line, table.all_notes if noted else ())]


def answer_briefly(
    name: str, *, table: PrintedTable, text: Sequence[str] = (), **options: Any
) -> Report:
    """Make an answer of sentences, one table and perhaps a figure.

    Parameters
    ----------
    name : str
        Of its files, without their endings.
    table : PrintedTable
    text : sequence of str
        As of `Section`, below the sentences.
    **options
        Other fields of `Report`, and `figure`, as of `Section`.

    Returns
    -------
    Report
    """
    section = Section(
        name=name,
        title=name.capitalize(),
        tables=[table],
        text=[*options.get("sentences", ()), *text],
        warnings=options.get("warnings", ()),
        figure=options.pop("figure", lambda: None),
    )
    return Report(sections=[section], **options)


def _list_warnings(warnings: Iterable[Warning]) -> Iterator[Section]:
    """List each warning with what to do about it, those that change the conclusion first."""
    subjects: dict[tuple[str, ...], list[str]] = {}
    for warning in warnings:
        remedy = CODES.get(warning.code, ("", ""))[1].replace("`", "")
        subject = " of ".join(filter(None, (warning.method, warning.system)))
        weight = REPORT["severity"][warning.severity]
        subjects.setdefault((weight, to_options(warning.text), remedy), []).append(subject)
    rows = [(*row, ", ".join(filter(None, names))) for row, names in subjects.items()]
    if rows:
        yield list_section("Warnings", ("weight", "what was found", "what to do", "about"), rows)


def _describe_origin(command: str, read: Iterable[Path]) -> Section:
    """Tell how a page is made again; what is no file, as a pipe, has no fingerprint."""
    contents = {path.name: path.read_bytes() for path in read if path.is_file()}
    rows = [(name, len(it), hashlib.sha256(it).hexdigest()) for name, it in contents.items()]
    names = ("file", "bytes", "SHA-256 of its content")
    text = f"Python {platform.python_version()}, {files.list_versions()}"
    section = list_section("How this page was made", names, rows, text, code=command)
    return section if rows else replace(section, tables=[])


def render_page(title: str, sections: Sequence[Section]) -> str:
    """Write sections as one HTML file, which loads nothing.

    Parameters
    ----------
    title : str
    sections : sequence of Section
        A table is sorted by a click on the head of a column.

    Returns
    -------
    str
    """
    script = (HERE / "page.js").read_text(encoding="utf-8")
    digest = hashlib.sha256(script.encode()).digest()
    drawn = [section.figure() for section in sections]
    template = (HERE / "page.html.jinja").read_text(encoding="utf-8")
    options = {"trim_blocks": True, "lstrip_blocks": True, "autoescape": True}
    page = jinja2.Template(template, **options).render(
        title=title,
        sections=list(zip(sections, drawn, map(_inline, drawn, range(len(drawn))), strict=True)),
        style=(HERE / "page.css").read_text(encoding="utf-8"),
        script=script,
        digest=base64.b64encode(digest).decode(),
        escape=lambda text: escape(to_options(text)),
        code=lambda text: CODE.sub(r"<code>\1</code>", text),
    )
    return f"{page}\n"


def _inline(figure: "plt.Figure | None", number: int) -> str:
    """Make a figure part of a page, in which no other has its ids, in letters of its size."""
    if figure is None:
        return ""
    svg = files.draw_bytes(figure, "svg").decode()
    shown = LEFT_OUT.sub("", svg[svg.index("<svg ") + len("<svg ") :])
    width = LARGER * float(SIZE.search(shown)[1])  # type: ignore[index]
    kind = "narrow" if width < MOST_BESIDE_TEXT else "broad"
    size = f'class="{kind}" width="{width:.0f}" style="max-width: max(100%, {LEAST * width:.0f}px)"'
    return ID.sub(f"figure-{number}-", SIZE.sub(size, shown, count=1))
