"""A page in headless Chromium: it scrolls in its boxes, sorts, is readable, and loads nothing."""

import json
import re
import subprocess

import pytest
from matplotlib.figure import Figure

from lehner.core.estimate import IntervalEstimate
from lehner.core.table import PrintedTable, TableColumn
from lehner.report.answer import Section, render_page
from tests.docs.explorer_page import CHROMIUM, FLAGS

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")]

WIDTHS = """const box = document.querySelector(".wide"), page = document.documentElement;
const end = () => Math.round(box.querySelector("tr").lastChild.getBoundingClientRect().right);
const before = [page.scrollWidth, innerWidth, box.scrollWidth - box.clientWidth];
box.scrollLeft = 1e6;
return [...before, end(), Math.round(box.getBoundingClientRect().right)];"""
SORTED = """const rows = (place) =>
  [...document.querySelectorAll("tbody tr")].map((row) => row.cells[place].textContent);
const heads = [...document.querySelectorAll("th")];
const click = (place) => {
  heads[place].querySelector("button").click();
  return [rows(0), heads.map((head) => head.ariaSort)];
};
return [click(1), click(1), click(0), click(2)];"""
# As WCAG 2.2 defines it, of each element that holds text of its own.
CONTRASTS = """const shade = (text) => text.match(/[0-9.]+/g).slice(0, 3).map((part) => {
  const x = part / 255;
  return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
}).reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
const behind = (one) => {
  const color = getComputedStyle(one).backgroundColor;
  return /, 0\\)$/.test(color) ? behind(one.parentElement) : color;
};
return [...document.body.querySelectorAll("*")].filter((one) => !one.closest("svg, script") &&
  [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim())).map((one) => {
  const [low, high] = [shade(getComputedStyle(one).color), shade(behind(one))].sort();
  return [one.tagName, (high + 0.05) / (low + 0.05)];
});"""


def in_browser(page, folder, *flags, expression="return 1"):
    """Give what a function's body returns in a page, whose policy would not let it run."""
    script = f"<script>document.title = JSON.stringify((() => {{{expression}}})())</script></body>"
    free = re.sub("<meta http-equiv.*?>", "", page).replace("</body>", script)
    result = dump(free, folder, *flags)
    return json.loads(re.search("<title>(.*?)</title>", result, re.DOTALL)[1].replace("&lt;", "<"))


def dump(page, folder, *flags):
    """Give a page's document when its scripts have run."""
    (folder / "page.html").write_text(page)
    command = [CHROMIUM, *FLAGS, *flags, f"--user-data-dir={folder / 'u'}", "--dump-dom"]
    address = (folder / "page.html").as_uri()
    done = subprocess.run([*command, address], capture_output=True, text=True, timeout=100)
    return done.stdout


def wide_table(n_columns):
    columns = [TableColumn(f"measure number {i}") for i in range(n_columns)]
    return PrintedTable(
        columns=columns, rows=(("scenario, " * 12, *["-0.1 ± 0.05"] * (n_columns - 1)),) * 3
    )


def page_of(table):
    return render_page("A study", [Section(title="A table", tables=[table])])


def a_page():
    figure = Figure(figsize=(7, 2))
    figure.text(0, 0, "<script>")
    figure.set_label("word" * 50)
    long = "word" * 50
    options = {"title": long, "text": [long], "code": long, "tables": [wide_table(9)]}
    sections = [Section(figure=lambda: figure, **options), Section(**options)]
    return render_page(long, sections)


@pytest.mark.parametrize(("n_columns", "width"), [(7, 1100), (30, 1100), (12, 1700), (12, 500)])
def test_a_wide_table_can_be_seen_whole(tmp_path, n_columns, width):
    page = page_of(wide_table(n_columns))
    size = f"--window-size={width},700"
    result = in_browser(page, tmp_path, size, expression=WIDTHS)
    page_width, window, hidden, last_cell, box = result
    assert page_width <= window
    assert last_cell <= box <= window
    # The tables of performance have seven columns.
    assert n_columns > 7 or hidden == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_itself_never_scrolls_sideways(tmp_path, width):
    # Chromium's window is never narrower than 500 pixels; a frame is.
    (tmp_path / "inner.html").write_text(a_page())
    frame = f"<iframe src=inner.html style='width:{width}px;height:9999px'></iframe>"
    widths = "[frames[0].innerWidth, frames[0].document.documentElement.scrollWidth]"
    script = f"addEventListener('load', () => {{ document.title = JSON.stringify({widths}); }});"
    outer = f"<!DOCTYPE html><title></title><body>{frame}<script>{script}</script></body>"
    result = dump(outer, tmp_path, "--allow-file-access-from-files")
    room, shown = json.loads(re.search("<title>(.*?)</title>", result)[1])
    assert shown <= room == width


def test_a_click_sorts_by_number_and_missing_values_stay_last(tmp_path):
    columns = [TableColumn("item"), TableColumn("value"), TableColumn("text")]
    value = IntervalEstimate(estimate=-20, lower=-21, upper=1)
    rows = [("i10", 10.25, "b"), ("i9", value, ""), ("i2", float("nan"), "a"), ("i1", None, "c")]
    rows += [("i3", 1e-17, "d"), ("i4", float("inf"), "e")]
    page = page_of(PrintedTable(columns=columns, rows=rows))
    up, down, names, texts = in_browser(page, tmp_path, expression=SORTED)
    assert up == [["i9", "i3", "i10", "i4", "i2", "i1"], [None, "ascending", None]]
    assert down == [["i4", "i10", "i3", "i9", "i2", "i1"], [None, "descending", None]]
    assert names == [["i1", "i2", "i3", "i4", "i9", "i10"], ["ascending", None, None]]
    assert texts[0] == ["i2", "i10", "i1", "i3", "i4", "i9"]


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_letters_have_the_contrast_that_wcag_asks_for(tmp_path, scheme):
    setting = f"--blink-settings=preferredColorScheme={['dark', 'light'].index(scheme)}"
    background = "return getComputedStyle(document.body).backgroundColor"
    paper = {"dark": "rgb(18, 18, 18)", "light": "rgb(255, 255, 255)"}[scheme]
    assert in_browser(a_page(), tmp_path, setting, expression=background) == paper
    result = in_browser(a_page(), tmp_path, setting, expression=CONTRASTS)
    assert {"H1", "H2", "P", "TD", "BUTTON", "PRE"} <= {name for name, _ in result}
    assert min(contrast for _, contrast in result) >= 4.5


def test_only_the_page_s_own_script_runs(tmp_path):
    page = a_page().replace("</body>", "<script>document.title = 'mine'</script></body>")
    result = dump(page, tmp_path)
    assert "<button>measure number 0</button>" in result
    assert "<title>mine</title>" not in result
