"""A document of headings, paragraphs, tables and pictures, as Markdown or one HTML file."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from experiments.reporting.markdown import markdown_table, markdown_text
from experiments.reporting.terminal import one_line, visible

LONGEST_WHOLE = 22
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ddd; }
figure { margin: 2rem 0; } figcaption { color: #555; }
img { max-width: 100%; height: auto; }
.wide { overflow: auto; max-height: 85vh; margin: 1rem 0; border: 1px solid #ddd; }
.wide:focus-visible { outline: 2px solid #0072b2; }
table { border-collapse: separate; border-spacing: 0; font-size: 13px;
        font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: left; vertical-align: top; min-width: 4rem; }
td { max-width: 32rem; overflow-wrap: break-word; } .whole { white-space: nowrap; }
thead th { position: sticky; top: 0; background: #fff; border-bottom: 2px solid #444;
           z-index: 1; }
tbody tr { background: #fff; } tbody tr:nth-child(even) { background: #f6f6f6; }
td:first-child { position: sticky; left: 0; background: inherit; border-right: 1px solid #ddd; }
@media (min-width: 74rem) {
  .wide { width: max-content; min-width: 100%; max-width: 94vw; position: relative; left: 50%;
          transform: translateX(-50%); box-sizing: border-box; }
}
@media print { .wide { overflow: visible; max-height: none; border: 0; } table { font-size: 7pt; }
               th, td { padding: .1rem .3rem; min-width: 0; } }
"""


@dataclass(frozen=True)
class Heading:
    """A heading."""

    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Picture:
    """A figure, by its name, and what it shows for those who do not see it."""

    name: str
    caption: str
    alt: str = ""


type Block = Heading | Paragraph | Table | Picture


def to_markdown(title: str, blocks: Sequence[Block]) -> str:
    """Write a document as Markdown; pictures are files beside it.

    Parameters
    ----------
    title : str
    blocks : sequence of Block

    Returns
    -------
    str

    Examples
    --------
    >>> print(to_markdown("Study", [Heading("Aims"), Table(("a", "b"), (("1", "2"),))]))
    # Study
    <BLANKLINE>
    ## Aims
    <BLANKLINE>
    | a | b |
    | --- | --- |
    | 1 | 2 |
    <BLANKLINE>
    """
    return "\n\n".join([f"# {markdown_text(one_line(title))}", *map(_markdown, blocks)]) + "\n"


def to_html(title: str, blocks: Sequence[Block], pictures: Mapping[str, bytes]) -> str:
    """Write a document as one HTML file.

    Parameters
    ----------
    title : str
    blocks : sequence of Block
    pictures : mapping
        PNG by name.

    Returns
    -------
    str
    """
    body = "\n".join(_html(block, pictures) for block in blocks)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_escaped(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{_escaped(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def _markdown(block: Block) -> str:
    match block:
        case Heading(text):
            return f"## {markdown_text(text)}"
        case Paragraph(text):
            return markdown_text(text)
        case Table(head, rows):
            return markdown_table(head, rows)
        case Picture(name, caption, alt):
            alt, caption = markdown_text(alt or caption), markdown_text(caption)
            return f"![{alt}]({name}.png)\n\n{caption}"


def _html(block: Block, pictures: Mapping[str, bytes]) -> str:
    match block:
        case Heading(text):
            return f"<h2>{_escaped(text)}</h2>"
        case Paragraph(text):
            return f"<p>{_escaped(text)}</p>"
        case Table(head, rows):
            top = "".join(f"<th>{_escaped(cell)}</th>" for cell in head)
            body = "\n".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
            return (
                f'<div class="wide" tabindex="0"><table><thead><tr>{top}</tr></thead>\n'
                f"<tbody>\n{body}\n</tbody></table></div>"
            )
        case Picture(name, caption, alt):
            data = base64.b64encode(pictures[name]).decode()
            return (
                f'<figure><img alt="{_escaped(alt or caption)}" src="data:image/png;base64,{data}">'
                f"<figcaption>{_escaped(caption)}</figcaption></figure>"
            )


def _cell(text: str) -> str:
    """Write a cell, numbers and names in one line."""
    whole = ' class="whole"' if len(text) <= LONGEST_WHOLE else ""
    return f"<td{whole}>{_escaped(text)}</td>"


def _escaped(text: str) -> str:
    return escape(visible(text))
