"""One table, four media: each says the same numbers."""

import math
import re
import shutil
import subprocess
from decimal import Decimal
from functools import partial
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import lehner
from lehner import IntervalEstimate
from lehner.core.table import LATEX, PrintedTable, TableColumn, to_latex, to_markdown
from lehner.core.text import DASH, escape_line, to_decimal, to_short
from lehner.report.answer import Section, render_page, to_terminal

TICKETS = str(Path(__file__).parents[3] / "docs/data/tickets.csv")
NUMBERS = st.one_of(
    st.floats(allow_infinity=False),
    st.floats(-1, 1),
    st.integers(-(10**12), 10**12),
    st.sampled_from([-0.0004, 0.0005, 10.25, -20.5, 1e-17, 0.125, -0.0, math.nan]),
)
KNOWN = NUMBERS.filter(lambda x: x == x)
ESTIMATES = st.builds(
    IntervalEstimate, estimate=KNOWN, lower=KNOWN | st.none(), upper=KNOWN | st.none()
)
TROUBLE = "|&<>\\_$%#{}~^=+-@\"'`*[]()\n\r\t\x1b\x00\u202e\u2028 一é–−±.5,;"
NAMES = st.text(st.sampled_from(TROUBLE) | st.characters(exclude_categories=["Cs"]), max_size=9)
SIGNED, LONG = partial(to_decimal, digits=2, sign=True), partial(to_short, digits=5)
FORMATS = (to_decimal, to_short, SIGNED, LONG)
FIGURES = re.compile(r"(?<![\d.])[-+]?(?:\d*\.)?\d+")


@st.composite
def tables(draw):
    """Draw a table of a key with difficult names and some columns of numbers."""
    n = draw(st.integers(1, 4))
    kinds = [draw(st.sampled_from(FORMATS)) for _ in range(n)]
    columns = [TableColumn("key", draw(NAMES))]
    columns += [
        TableColumn(f"c{j}", f"h{j}", partial(_several, write)) for j, write in enumerate(kinds)
    ]
    # A column has cells of one kind.
    one_kind = [draw(st.sampled_from([NUMBERS, ESTIMATES, st.tuples(NUMBERS, NUMBERS)]))]
    one_kind += [draw(st.sampled_from([NUMBERS, ESTIMATES])) for _ in range(n - 1)]
    rows = [
        (draw(NAMES), *(draw(kind | st.none()) for kind in one_kind))
        for _ in range(draw(st.integers(1, 5)))
    ]
    return PrintedTable(columns=columns, rows=rows)


def _several(write, *values):
    return " ± ".join(map(write, values))


def numbers_of(cell):
    """Give the numbers that a cell is to show."""
    if isinstance(cell, IntervalEstimate):
        ends = (cell.lower, cell.upper)
        return [cell.estimate, *(() if None in ends else ends)]
    cells = cell if isinstance(cell, tuple) else (cell,)
    return [number for number in cells if number is not None]


def check_text(text, cell):
    """Compare the figures in a text with the numbers of its cell, to the last digit shown."""
    numbers = numbers_of(cell)
    assert text.count(DASH) == sum(value != value for value in numbers)
    finite = [value for value in numbers if value == value]
    shown = FIGURES.findall(text.replace("−", "-"))
    assert len(shown) == len(finite), (text, cell)
    for figures, number in zip(shown, finite, strict=True):
        half = Decimal(5).scaleb(-len(figures.partition(".")[2]) - 1)
        assert abs(Decimal(figures) - Decimal(number)) <= half, (text, cell)
        assert not figures.startswith("-") or number < 0


def on_terminal(table):
    """Read the cells of each row by where columns end, beside the key."""
    lines = [str(line) for line in to_terminal(table, 1000)]
    labels = [escape_line(table.columns[0].title), *(escape_line(row[0]) for row in table.rows)]
    widest = max(map(cell_len, labels))
    head, *beside = (
        line.removeprefix(label.rstrip())[widest - cell_len(label.rstrip()) :]
        for line, label in zip(lines, labels, strict=True)
    )
    ends = [0, *(match.end() for match in re.finditer(r"h\d", head))]
    for text in beside:
        yield [text[a:b].strip() for a, b in pairwise(ends)]


def in_markdown(table):
    for line in to_markdown(table).splitlines()[2:]:
        yield re.split(r"(?<!\\) ?\| ?", line)[2:-1]


class _Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.rows = []

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def page_of(table):
    return render_page("A page", [Section(title="A table", tables=[table])])


def in_html(table):
    reader = _Cells()
    page = page_of(table)
    reader.feed(page[: page.index("</tbody>")])
    reader.close()
    for row, (key, *_) in zip(reader.rows[1:], table.rows, strict=True):
        assert row[0].strip() == escape_line(key).strip()
        yield [cell.strip() for cell in row[1:]]


def in_latex(table):
    """Read rows back; a table that is split is put together again by its key."""
    undo = {written: chr(character) for character, written in LATEX.items()}
    written = re.compile("|".join(map(re.escape, sorted(undo, key=len, reverse=True))))
    rows = [[] for _ in table.rows]
    for part in re.findall(r"\\midrule\n(.*?)\\bottomrule", to_latex(table), re.S):
        for row, line in zip(rows, part.splitlines(), strict=True):
            cells = re.split(r"(?<!\\) & ", line.removesuffix(r" \\"))[1:]
            row += [written.sub(lambda character: undo[character[0]], cell) for cell in cells]
    # No cell is empty: a dash stands where there is no number.
    for row, (_, *numbers) in zip(rows, table.rows, strict=True):
        assert all(row)
        yield ["" if number is None else text for number, text in zip(numbers, row, strict=True)]


HOSTILE = PrintedTable(
    columns=[
        TableColumn("key", "<k>|&"),
        *(TableColumn(f"c{j}", f"h{j}", to_short) for j in range(2)),
    ],
    rows=[
        ("a|b & c\n\t\x1b[0m", -0.0004, IntervalEstimate(estimate=10.25, lower=-20.5, upper=11)),
        (r"\|$x_1%~^{\}", 1234567, IntervalEstimate(estimate=-0.5)),
        ("  -5 – −.5 [.1]", math.nan, None),
    ],
)
MEDIA = {"terminal": on_terminal, "markdown": in_markdown, "html": in_html, "latex": in_latex}


@pytest.mark.parametrize("medium", MEDIA)
@settings(deadline=None)
@given(table=tables())
@example(table=HOSTILE)
def test_each_medium_says_the_numbers_of_the_table(medium, table):
    for (_, *cells), texts in zip(table.rows, MEDIA[medium](table), strict=True):
        if any(cell is not None for cell in cells):
            assert len(texts) == len(cells)
            for cell, text in zip(cells, texts, strict=True):
                check_text(text, cell)
        else:
            assert not any(texts)


KEYED = PrintedTable(
    columns=[
        TableColumn("rater"),
        TableColumn("other_rater"),
        TableColumn("kappa", "Krippendorff’s α"),
        TableColumn("long", "a title that is long enough"),
        TableColumn("last", "another title that needs a line"),
    ],
    rows=[("Ann", "Bob", 0.5, 0.25, -0.125), ("Ann", "Cleo", None, 0.25, 1)],
    keys=2,
)


def test_a_table_that_is_split_repeats_all_its_keys_and_says_the_first_once():
    parts = re.findall(r"\\toprule\n(.*?)\\bottomrule", to_latex(KEYED), re.S)
    assert len(parts) == 2
    for part in parts:
        assert part.startswith("rater, other rater & ")
        assert "{Ann} \\\\\nBob & " in part and "\nCleo & " in part
    lines = [str(line) for line in to_terminal(KEYED, 74)]
    assert sum(line.startswith("rater  other rater  ") for line in lines) == 2
    assert sum(line.startswith("Ann    Bob") for line in lines) == 2


@pytest.mark.parametrize("width", [80, 120])
def test_names_are_broken_between_words_only(width):
    names = ["a_method_of_one_long_name", "class_conditional_by_rater_ml"]
    columns = [
        TableColumn("method [90% interval]"),
        TableColumn("test"),
        *(TableColumn(f"m{k}") for k in range(3)),
    ]
    value = IntervalEstimate(estimate=0.5, lower=0.25, upper=0.75)
    rows = [(name, "a rater of two long names", *[value] * 3) for name in names]
    lines = [
        str(line) for line in to_terminal(PrintedTable(columns=columns, rows=rows, keys=2), width)
    ]
    assert max(map(len, lines)) <= width
    assert all(any(line.startswith(name) for line in lines) for name in names)


def test_columns_are_aligned_by_what_a_terminal_shows():
    rows = [("一致", 10), ("a\x1b[2J\nb", 5)]
    lines = to_terminal(
        PrintedTable(columns=[TableColumn("", ""), TableColumn("n")], rows=rows), 80
    )
    assert [str(line) for line in lines] == [f"{'n':>15}", f"一致{'10':>11}", r"a\x1b[2J\nb   5"]
    assert ["bold" in str(line.spans) for line in lines] == [True, False, False]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("n^2", r"n\textasciicircum{}2"),
        ("a < b > c | d", r"a $<$ b $>$ c \textbar{} d"),
        ("about ~ 5", r"about \textasciitilde{} 5"),
        (r"raters \ system", r"raters \textbackslash{} system"),
        (r"~\{}", r"\textasciitilde{}\textbackslash{}\{\}"),
        ("50 % & #1 $ _", r"50 \% \& \#1 \$ \_"),
        ("1–2 ± 3", r"1--2 $\pm$ 3"),
        ("state-of-the-art, 1-2", "state-of-the-art, 1-2"),
        ("*a", "{}*a"),
        ("[a]", "{}[a]"),
        ("\x1b", r"\textbackslash{}x1b"),
    ],
)
def test_a_name_is_text_in_latex(text, written):
    table = PrintedTable(columns=[TableColumn("", ""), TableColumn("n")], rows=[(text, 1)])
    assert f"\n{written} & 1 \\\\\n" in to_latex(table)


@pytest.fixture(scope="module")
def ticket_results():
    raters = ["ana", "ben", "cai", "dee"]
    ratings = lehner.read_ratings(TICKETS, system="gpt", raters=raters, truth="gold")
    return lehner.estimate(ratings, ["majority_agreement", "algebraic", "dawid_skene_ml"])


def test_a_paper_table_is_the_same_by_python_and_command(tmp_path, ticket_results, run):
    options = ("--system", "gpt", "--raters", "ana,ben,cai,dee", "--truth", "gold")
    methods = ("--method", "majority_agreement,algebraic,dawid_skene_ml")
    assert run("estimate", TICKETS, *options, *methods, "--output", tmp_path)[0] == 0
    written = (tmp_path / "estimates.tex").read_text("utf-8")
    assert written == ticket_results.to_latex()
    assert "\\caption{gpt: accuracy by each method}\n\\label{tab:estimates}\n" in written
    assert "In brackets: 90\\% intervals. 1000 ratings of 250 items by 4 raters" in written
    assert not re.search(r"& *(&|\\\\)", written)


def test_a_paper_table_of_groups_is_the_same_by_python_and_command(tmp_path, run):
    answers = TICKETS.replace("tickets", "answers")
    raters = ["ana", "ben", "cai", "dee"]
    table = pd.read_csv(answers)
    ratings = lehner.read_ratings(answers, raters=raters, item="item")
    results = lehner.compare(ratings, "good", table["model"], "dawid_skene_ml")
    options = ("--raters", ",".join(raters), "--group", "model", "--good", "good")
    methods = ("--method", "dawid_skene_ml", "--output", tmp_path)
    assert run("compare", answers, *options, *methods)[0] == 0
    assert (tmp_path / "proportions.tex").read_text("utf-8") == results.to_latex()


def check_pages(folder, text, options=""):
    packages = r"\usepackage[T1]{fontenc}\usepackage{booktabs}"
    head = rf"\documentclass[{options}]{{article}}{packages}\begin{{document}}"
    (folder / "page.tex").write_text(head + text + r"\end{document}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "Overfull" not in done.stdout


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX")
def test_a_paper_table_fits_a_column(tmp_path, ticket_results):
    check_pages(tmp_path, ticket_results.to_latex(), "twocolumn")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX")
def test_latex_sets_tables_below_one_another_within_the_page(tmp_path):
    value = IntervalEstimate(estimate=-0.041, lower=-0.192, upper=0.083)
    wide = PrintedTable(
        columns=[
            TableColumn("gpt by domain [90% interval]"),
            *map(TableColumn, ("αλπκ", "b≈", "c")),
        ],
        rows=[("  app – web", value, value, value), ("*a", *3 * [value])],
        keys=1,
    )
    check_pages(tmp_path, to_latex(wide, KEYED, wide))
