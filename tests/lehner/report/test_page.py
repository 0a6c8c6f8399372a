"""A page: names are text in it, and the file of HTML is whole and always the same."""

import re
from html.parser import HTMLParser

from matplotlib.figure import Figure

from lehner.core.errors import Warning
from lehner.core.table import list_table, to_markdown
from lehner.report.answer import Report, Section, render_page

HOSTILE = "<script>alert(1)</script> & [here](http://x) \x1b[2J --><b> שם \u202e \"'" + "x" * 200


def drawn(text=HOSTILE, label=HOSTILE):
    figure = Figure(figsize=(3, 2))
    figure.add_subplot().plot([0, 1], label=text)
    figure.text(0, 0, text, parse_math=False)
    figure.set_label(label)
    return figure


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


def a_section(**more):
    return Section(
        title=HOSTILE, text=[HOSTILE], tables=[list_table((HOSTILE,), ((HOSTILE,),))], **more
    )


def test_names_are_text_wherever_they_stand():
    warnings = [Warning("starts", HOSTILE, "limits")]
    answer = Report(
        title=HOSTILE,
        heading=[HOSTILE],
        sentences=[HOSTILE],
        warnings=warnings,
        sections=[a_section(figure=drawn, warnings=warnings, code=HOSTILE)],
    )
    page = answer.write_page(HOSTILE, [])
    assert "<script>alert" not in page and "\x1b" not in page and "\u202e" not in page
    assert page.count("&lt;script") >= 9 and " &amp; " in page
    table = to_markdown(list_table((HOSTILE,), ((HOSTILE,),)))
    assert "<script>" not in table and "\x1b" not in table and "](http" not in table


def test_a_page_is_whole_and_its_ids_are_its_own():
    def make():
        sections = [Section(title="", code=f"a\n  {HOSTILE}"), a_section(figure=drawn)]
        sections.append(a_section(figure=lambda: drawn("another", 'From "0" to 1.')))
        return render_page("One", sections)

    page, read = make(), Read(make())
    assert read.tags.count("script") == 1 and read.tags.count("svg") == 2
    assert len(set(read.ids)) == len(read.ids) and read.points_to and read.points_to <= {*read.ids}
    assert any(text.startswith("a\n  <script>alert(1)</script> & [here]") for text in read.texts)
    assert '<svg role="img" aria-label="From &#34;0&#34; to 1."' in page
    assert page == make()


def test_backticks_of_a_paragraph_make_code_on_a_page():
    page = render_page("A", [Section(title="", text=["Run `study <b>` again; a lone ` stays."])])
    assert "Run <code>study &lt;b&gt;</code> again; a lone ` stays." in page
