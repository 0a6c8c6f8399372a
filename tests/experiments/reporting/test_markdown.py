"""Names in Markdown and HTML are text: no tags, no links, no control characters."""

import pytest

from experiments.reporting.latex import latex_table
from experiments.reporting.markdown import markdown_table
from experiments.study.document import Heading, Paragraph, Picture, text_table, to_html, to_markdown

HOSTILE = "<script>alert(1)</script> & [here](http://x) \x1b[2J"


@pytest.mark.parametrize("write", [to_markdown, lambda *given: to_html(*given, {"p": b""})])
def test_names_are_text_wherever_they_stand(write):
    blocks = [
        Heading(HOSTILE),
        Paragraph(HOSTILE),
        text_table((HOSTILE,), ((HOSTILE,),)),
        Picture("p", HOSTILE, alt=HOSTILE),
    ]
    document = write(HOSTILE, blocks)
    assert "<script" not in document and "\x1b" not in document
    assert document.count("&lt;script") >= 6 and " &amp; " in document
    assert write is not to_markdown or "](http" not in document


def test_a_line_break_in_a_name_ends_no_row():
    table = markdown_table(["a"], [["x\ny"]])
    assert table.splitlines()[-1] == r"| x\ny |"


def test_a_star_and_a_control_character_begin_no_command_of_latex():
    written = latex_table(["", "n"], [["*a", "1"], ["\x1b", "2"]])
    assert "\n{}*a & 1" in written and r"\textbackslash{}x1b & 2" in written
