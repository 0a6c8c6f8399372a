"""A document of headings, paragraphs, tables and pictures, as Markdown or one HTML file."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.reporting import renderers
from experiments.reporting.renderers import html_text, markdown_text
from experiments.reporting.table import Table
from experiments.reporting.terminal import one_line

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
class Picture:
    """A figure, by its name, and what it shows for those who do not see it."""

    name: str
    caption: str
    alt: str = ""


type Block = Heading | Paragraph | Table | Picture


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
    """Write a document as one HTML file, with its pictures, PNG by name, in it."""
    body = "\n".join(_html(block, pictures) for block in blocks)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html_text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{html_text(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def _markdown(block: Block) -> str:
    match block:
        case Heading(text):
            return f"## {markdown_text(text)}"
        case Paragraph(text):
            return markdown_text(text)
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
            return f"<p>{html_text(text)}</p>"
        case Table():
            return f'<div class="wide" tabindex="0">{renderers.to_html(block)}</div>'
        case Picture(name, caption, alt):
            data = base64.b64encode(pictures[name]).decode()
            return (
                f'<figure><img alt="{html_text(alt or caption)}" '
                f'src="data:image/png;base64,{data}"><figcaption>{html_text(caption)}</figcaption>'
                "</figure>"
            )
