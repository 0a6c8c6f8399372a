"""Tables for LaTeX show what is written."""

import shutil
import subprocess

import pytest

from experiments.reporting.latex import latex_table, latex_tables


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
        ("  indented", r"\quad indented"),
    ],
)
def test_a_cell_is_escaped(text, written):
    assert f"\n{written} & 1 \\\\\n" in latex_table(["", "n"], [[text, "1"]])


def test_a_negative_number_has_a_minus_and_a_word_keeps_its_hyphen():
    written = latex_table(["", "n"], [["state-of-the-art, 1-2", "-0.04 [-.2, .1]"]])
    assert "state-of-the-art, 1-2 & $-$0.04 [$-$.2, .1] \\\\" in written


WIDE = (
    ["gpt by domain [90% interval]", "Lehner’s algebra", "Dawid–Skene", "Relaxed K"],
    [["  app – web", *3 * ["-0.041 [-0.192, 0.083], 0.25"]]],
)


def test_a_table_wider_than_a_page_is_split_and_each_part_has_the_first_column():
    written = latex_table(*WIDE)
    assert written.count(r"\begin{tabular}") == 3
    assert written.count("app -- web") == 3


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX")
def test_latex_sets_tables_below_one_another_within_the_page(tmp_path):
    document = (
        r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs}"
        r"\begin{document}" + latex_tables([WIDE, WIDE]) + r"\end{document}"
    )
    (tmp_path / "page.tex").write_text(document)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "Overfull" not in done.stdout
