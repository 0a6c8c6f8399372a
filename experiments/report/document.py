"""A document of headings, paragraphs, tables and pictures, as Markdown or one HTML file."""

import base64
import hashlib
import importlib.metadata
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from experiments.report import table
from experiments.report.table import Table, markdown_text, simple_table
from experiments.report.terminal import one_line, visible
from lehner.core.lazy import load

jinja2 = load("jinja2")

HERE = Path(__file__).parent
LEFT_OUT = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
"""What people do not see in a figure, of which comments repeat all its texts."""
SIZE = re.compile(r'width="([\d.]+)pt" height="[\d.]+pt"')
ID = re.compile(r'(?<= id=")|(?<=url\(#)|(?<=href="#)')
CODE = re.compile(r"`([^`]+)`")
LARGER, LEAST, MOST_BESIDE_TEXT = 1.6, 0.8, 500
"""Pixels of a page for a point of a figure, the part of them to which a phone shrinks it, and the
width from which on a figure stands alone."""


@dataclass(frozen=True)
class Heading:
    """A heading."""

    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Screen:
    """Lines as a terminal shows them."""

    text: str


@dataclass(frozen=True)
class Picture:
    """A figure, by its name, and what it shows for those who do not see it."""

    name: str
    caption: str
    alt: str = ""


type Block = Heading | Paragraph | Screen | Table | Picture


def to_markdown(title: str, blocks: Sequence[Block]) -> str:
    """Write a document as Markdown; pictures are files beside it.

    Examples
    --------
    >>> print(to_markdown("Study", [Heading("Aims"), Paragraph("To see whether 0 < 1.")]))
    # Study
    <BLANKLINE>
    ## Aims
    <BLANKLINE>
    To see whether 0 &lt; 1.
    <BLANKLINE>
    """
    return "\n\n".join([f"# {markdown_text(one_line(title))}", *map(_markdown, blocks)]) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(text):
            return f"## {markdown_text(text)}"
        case Paragraph(text):
            return markdown_text(text)
        case Screen(text):
            return "\n".join(f"    {line}".rstrip() for line in visible(text).splitlines())
        case Table():
            return table.to_markdown(block)
        case Picture(name, caption, alt):
            return f"![{markdown_text(alt or caption)}]({name}.png)\n\n{markdown_text(caption)}"


def to_html(title: str, blocks: Sequence[Block], pictures: Mapping[str, bytes]) -> str:
    """Write a document as one HTML file, which loads nothing.

    Parameters
    ----------
    title : str
        Its heading.
    blocks : sequence of Heading, Paragraph, Screen, Table or Picture
        A table is sorted by a click on the head of a column.
    pictures : mapping of str to bytes
        SVG of each picture by its name, as `figure_bytes` draws it.

    Returns
    -------
    str
        The file. It follows the reader's choice of a light or a dark screen, and can be printed.
    """
    script = (HERE / "page.js").read_text(encoding="utf-8")
    digest = hashlib.sha256(script.encode()).digest()
    return (
        fill_template(
            "page.html.jinja",
            autoescape=True,
            title=visible(title),
            blocks=[(type(one).__name__, one) for one in blocks],
            drawn={name: _inline(svg.decode(), name) for name, svg in pictures.items()},
            style=(HERE / "page.css").read_text(encoding="utf-8"),
            script=script,
            digest=base64.b64encode(digest).decode(),
            visible=visible,
            code=lambda text: CODE.sub(r"<code>\1</code>", text),
        )
        + "\n"
    )


def fill_template(name: str, *, autoescape: bool = False, **values: Any) -> str:
    """Fill a template of this folder with values."""
    text = (HERE / name).read_text(encoding="utf-8")
    options = {"trim_blocks": True, "lstrip_blocks": True, "autoescape": autoescape}
    return str(jinja2.Template(text, **options).render(**values))


def _inline(svg: str, name: str) -> str:
    """Make a figure part of a page, in which no other has its ids, in letters of its size."""
    shown = LEFT_OUT.sub("", svg[svg.index("<svg ") + len("<svg ") :])
    width = LARGER * float(SIZE.search(shown)[1])  # type: ignore[index]
    kind = "narrow" if width < MOST_BESIDE_TEXT else "broad"
    size = f'class="{kind}" width="{width:.0f}" style="max-width: max(100%, {LEAST * width:.0f}px)"'
    number = hashlib.sha256(name.encode()).hexdigest()[:6]
    return ID.sub(f"figure-{number}-", SIZE.sub(size, shown, count=1))


def origin(command: str, files: Iterable[Path]) -> Iterator[Block]:
    """Tell how a page is made again.

    Parameters
    ----------
    command : str
        As a shell takes it.
    files : iterable of Path
        What it read. What is no file, as a pipe, has no fingerprint.
    """
    yield Heading("How this page was made")
    yield Screen(command)
    contents = {path.name: path.read_bytes() for path in files if path.is_file()}
    rows = [(name, len(it), hashlib.sha256(it).hexdigest()) for name, it in contents.items()]
    if rows:
        yield simple_table(("file", "bytes", "SHA-256 of its content"), rows)
    yield Paragraph(f"Python {platform.python_version()}, {versions()}")


@lru_cache
def versions() -> str:
    """Name the versions of what computes."""
    names = ("lehner", "numpy", "scipy", "pymc", "nutpie", "numba")
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
