"""Names in Markdown and HTML are text: no tags, no links, no control characters."""

import pytest

from experiments.reporting.table import simple_table
from experiments.study.document import Heading, Paragraph, Picture, to_html, to_markdown

HOSTILE = "<script>alert(1)</script> & [here](http://x) \x1b[2J"


@pytest.mark.parametrize("write", [to_markdown, lambda *given: to_html(*given, {"p": b""})])
def test_names_are_text_wherever_they_stand(write):
    blocks = [
        Heading(HOSTILE),
        Paragraph(HOSTILE),
        simple_table((HOSTILE,), ((HOSTILE,),)),
        Picture("p", HOSTILE, alt=HOSTILE),
    ]
    document = write(HOSTILE, blocks)
    assert "<script" not in document and "\x1b" not in document
    assert document.count("&lt;script") >= 6 and " &amp; " in document
    assert write is not to_markdown or "](http" not in document
