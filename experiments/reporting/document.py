"""A document of headings, paragraphs, tables and pictures, as Markdown or one HTML file."""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from experiments.reporting import renderers
from experiments.reporting.renderers import html_text, markdown_text
from experiments.reporting.table import Table
from experiments.reporting.terminal import one_line, visible

LEFT_OUT = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
"""What people do not see in a figure, of which comments repeat all its texts."""
SIZE = re.compile(r'width="([\d.]+)pt" height="[\d.]+pt"')
ID = re.compile(r'(?<= id=")|(?<=url\(#)|(?<=href="#)')
CODE = re.compile(r"`([^`]+)`")
LARGER = 1.6
"""Pixels of a page for a point of a figure, whose letters have 7 points or more."""
BOX = 'class="wide" tabindex="0" role="group"'
"""What scrolls in itself, also by the keyboard."""


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
    body = "\n".join(_html(block, pictures) for block in blocks)
    style, script = _beside("page.css"), _beside("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # Only this script is run, and nothing is fetched, whatever the user's names hold.
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src"
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy} \'sha256-{digest}\'">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html_text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"<main>\n<h1>{html_text(title)}</h1>\n{body}\n</main>\n<script>{script}</script>\n"
        "</body>\n</html>\n"
    )


@cache
def _beside(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _markdown(block: Block) -> str:
    match block:
        case Heading(text):
            return f"## {markdown_text(text)}"
        case Paragraph(text):
            return markdown_text(text)
        case Screen(text):
            return "\n".join(f"    {line}".rstrip() for line in visible(text).splitlines())
        case Table():
            return renderers.to_markdown(block)
        case Picture(name, caption, alt):
            alt, caption = markdown_text(alt or caption), markdown_text(caption)
            return f"![{alt}]({name}.png)\n\n{caption}"


def _html(block: Block, pictures: Mapping[str, bytes]) -> str:
    match block:
        case Heading(text):
            return f"<h2>{html_text(text)}</h2>"
        case Paragraph(text):
            return f"<p>{CODE.sub(r'<code>\1</code>', html_text(text))}</p>"
        case Screen(text):
            return f'<pre tabindex="0">{html_text(text)}</pre>'
        case Table():
            return f'<div {BOX} aria-label="table">{renderers.to_html(block)}</div>'
        case Picture(name, caption, alt):
            drawn = _inline(pictures[name].decode(), f"figure{list(pictures).index(name)}-")
            label = f'<svg role="img" aria-label="{html_text(alt or caption)}" '
            told = caption and f"<figcaption>{html_text(caption)}</figcaption>"
            return (
                f'<figure><div {BOX} aria-label="figure">{drawn.replace("<svg ", label, 1)}</div>'
                f"{told}</figure>"
            )


def _inline(svg: str, prefix: str) -> str:
    """Make a figure part of a page, in which no other has its ids, in letters of its size."""
    shown = LEFT_OUT.sub("", svg[svg.index("<svg ") :])
    larger = SIZE.sub(lambda size: f'width="{LARGER * float(size[1]):.0f}"', shown, count=1)
    return ID.sub(prefix, larger)
