"""A document: names are text in it, and the file of HTML is whole and always the same."""

import re
from html.parser import HTMLParser

import pytest
from matplotlib.figure import Figure

from experiments.report.document import (
    Heading,
    Paragraph,
    Picture,
    Screen,
    to_html,
    to_markdown,
)
from experiments.report.files import figure_bytes
from experiments.report.table import simple_table

HOSTILE = "<script>alert(1)</script> & [here](http://x) \x1b[2J --><b> שם \u202e \"'" + "x" * 200


def drawn(text=HOSTILE):
    figure = Figure(figsize=(3, 2))
    figure.add_subplot().plot([0, 1], label=text)
    figure.text(0, 0, text, parse_math=False)
    return figure_bytes(figure, "svg")


class Read(HTMLParser):
    """Tags, ids, and what is referred to, as a reader of HTML finds them."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.ids, self.points_to, self.texts = [], [], set(), []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            self.ids += [value] if name == "id" else []
            self.points_to |= set(re.findall(r"url\(#([^)]+)\)", value))
            if name in ("href", "xlink:href", "src"):
                assert value.startswith(("#", "data:"))
                self.points_to |= {value[1:]} if value.startswith("#") else set()

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("write", [to_markdown, lambda *given: to_html(*given, {"p": drawn()})])
def test_names_are_text_wherever_they_stand(write):
    blocks = [
        Heading(HOSTILE),
        Paragraph(HOSTILE),
        simple_table((HOSTILE,), ((HOSTILE,),)),
        Picture("p", HOSTILE, alt=HOSTILE),
    ]
    document = write(HOSTILE, blocks)
    assert "<script>alert" not in document and "\x1b" not in document and "\u202e" not in document
    assert document.count("&lt;script") >= 6 and " &amp; " in document
    assert write is not to_markdown or "](http" not in document


def test_a_page_is_whole_and_its_ids_are_its_own():
    pictures = {"a": drawn(), "b": drawn("another")}
    blocks = [Screen(f"a\n  {HOSTILE}"), Picture("a", "A."), Picture("b", "", HOSTILE)]
    page = to_html("One", blocks, pictures)
    read = Read(page)
    assert read.tags.count("script") == 1
    assert read.tags.count("svg") == 2 and read.tags.count("figcaption") == 1
    assert len(set(read.ids)) == len(read.ids) and read.points_to and read.points_to <= {*read.ids}
    assert any(text.startswith("a\n  <script>alert(1)</script> & [here]") for text in read.texts)
    assert page == to_html("One", blocks, {"a": drawn(), "b": drawn("another")})


def test_pictures_have_a_text_of_what_they_show():
    blocks = [Heading("One"), Paragraph("Two."), Picture("bias", "Bias.", 'From "0" to 1.')]
    page = to_html("A study", blocks, {"bias": drawn()})
    assert '<svg role="img" aria-label="From &#34;0&#34; to 1."' in page
    assert "<figcaption>Bias.<" in page
    assert '![From "0" to 1.](bias.png)\n\nBias.' in to_markdown("A study", blocks)
