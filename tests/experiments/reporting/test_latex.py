"""Tables for LaTeX show what is written."""

import pytest

from experiments.reporting.latex import latex_table


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
