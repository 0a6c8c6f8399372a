"""Wide tables of a report scroll inside the page; nothing is cut off."""

import re
import shutil
import subprocess

import pytest

from experiments.reporting.table import Column, Table
from experiments.study.document import Heading, Paragraph, Picture, to_html, to_markdown

CHROMIUM = next(
    (path for name in ("chromium", "google-chrome") if (path := shutil.which(name))), None
)
FLAGS = "--headless --no-sandbox --disable-gpu --no-first-run --virtual-time-budget=5000".split()
MEASURE = """<script>
const box = document.querySelector(".wide"), page = document.documentElement;
const end = () => Math.round(box.querySelector("tr").lastChild.getBoundingClientRect().right);
const before = [page.scrollWidth, innerWidth, box.scrollWidth - box.clientWidth];
box.scrollLeft = 1e6;
document.title = [...before, end(), Math.round(box.getBoundingClientRect().right)].join(" ");
</script>"""


def measured(tmp_path, n_columns, width):
    """Widths of page, window and what a table has to be scrolled; right ends of cells and box."""
    columns = [Column(f"measure number {i}") for i in range(n_columns)]
    rows = (("scenario, " * 12, *["-0.105 ± 0.005"] * (n_columns - 1)),) * 3
    page = to_html("A study", [Table(columns=columns, rows=rows)], {}).replace(
        "</body>", f"{MEASURE}</body>"
    )
    (tmp_path / "page.html").write_text(page)
    command = [CHROMIUM, *FLAGS, f"--window-size={width},700", f"--user-data-dir={tmp_path / 'u'}"]
    found = subprocess.run(
        [*command, "--dump-dom", f"file://{tmp_path / 'page.html'}"],
        capture_output=True,
        text=True,
        timeout=100,
    )
    return [int(x) for x in re.search("<title>([0-9 ]+)</title>", found.stdout)[1].split()]


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
@pytest.mark.parametrize(("n_columns", "width"), [(7, 1100), (30, 1100), (12, 1700)])
def test_a_wide_table_can_be_seen_whole(tmp_path, n_columns, width):
    page, window, hidden, last_cell, box = measured(tmp_path, n_columns, width)
    assert page <= window
    assert last_cell <= box <= window
    # The tables of performance have seven columns.
    assert n_columns > 7 or hidden == 0


def test_pictures_have_a_text_of_what_they_show():
    blocks = [Heading("One"), Paragraph("Two."), Picture("bias", "Bias.", 'From "0" to 1.')]
    page = to_html("A study", blocks, {"bias": b"PNG"})
    assert '<img alt="From &quot;0&quot; to 1."' in page and "<figcaption>Bias.<" in page
    assert '![From "0" to 1.](bias.png)\n\nBias.' in to_markdown("A study", blocks)
