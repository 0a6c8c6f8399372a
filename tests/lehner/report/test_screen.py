"""The first screen of `lehner estimate`, and a page: whole, and names are text in it."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from rich.cells import cell_len

import lehner
from lehner.core.errors import CODES, Warning, warn
from lehner.core.resampling import wilson_interval
from lehner.core.table import list_table, to_markdown
from lehner.core.text import to_decimal
from lehner.estimation.summary import write_apa
from lehner.estimation.views import SHORT_NAMES, view_systems
from lehner.performance.measures import NAMES
from lehner.report.answer import Report, Section, render_page
from lehner.report.estimates import answer_estimates
from lehner.report.screen import render_screen
from tests.rows import as_text

METHODS = ("learned_prior", "majority_agreement", "algebraic", "dawid_skene_ml")


def draw_ratings(seed, n_items, n_raters, n_categories, n_systems, n_truths, long):
    """Draw ratings of any shape, with names as long as people give them."""
    rng, pad = np.random.default_rng(seed), "x" * (200 if long else 0)
    truth = rng.integers(n_categories, size=n_items)

    def answers(n, right):
        hits = rng.random((n_items, n)) < right
        return np.where(hits, truth[:, None], rng.integers(n_categories, size=(n_items, n)))

    ratings = lehner.Ratings(
        answers(n_raters, rng.uniform(0.3, 0.9, n_raters)),
        [f"{pad}category\x1b[31m {k}" for k in range(n_categories)],
        raters=[f"評価者{pad} {j}" for j in range(n_raters)],
        system=answers(n_systems, 0.8),
        systems=[f"system\n{pad} {s}" for s in range(n_systems)],
    )
    gold = np.where(np.arange(n_items) < n_truths, truth, -1)
    return ratings.with_truth(gold) if n_truths else ratings


def lines_of(results, width=100):
    return as_text(render_screen(view_systems(results), width)).rstrip("\n").splitlines()


@settings(max_examples=5)
@given(
    seed=st.integers(0, 1000),
    n_items=st.integers(4, 40),
    n_raters=st.sampled_from([2, 3, 12]),
    n_categories=st.sampled_from([2, 3, 8]),
    n_systems=st.sampled_from([1, 1, 2, 4]),
    n_truths=st.sampled_from([0, 1, 20, 40]),
    n_groups=st.sampled_from([0, 2, 8]),
    methods=st.sampled_from([METHODS, METHODS[:1], METHODS[1:2], METHODS[2:]]),
    long=st.booleans(),
    width=st.sampled_from([80, 100, 250]),
)
def test_the_screen_has_24_lines_of_100_columns_at_most(
    seed, n_items, n_raters, n_categories, n_systems, n_truths, n_groups, methods, long, width
):
    ratings = draw_ratings(seed, n_items, n_raters, n_categories, n_systems, n_truths, long)
    options, given = {}, {}
    if n_groups:
        names = np.resize([f"group{'y' * 150 * long} {g}" for g in range(n_groups)], n_items)
        options["groups"] = given["populations"] = names
    if n_categories == 2:
        given["positive"] = ratings.categories[0]
    results = lehner.estimate(ratings, methods, given=lehner.Given(**given), **options)
    results = replace(results, name="a/very/" * 30 + "file.csv")
    some = tuple(warn(code, f"{CODES[code][1]} " * 5) for code in list(CODES)[:20])
    for shown in (results, replace(results, warnings=some)):
        lines = lines_of(shown, width=width)
        assert len(lines) <= 24
        assert max(map(cell_len, lines)) <= min(width, 100)
        assert "\x1b" not in "".join(lines) and lines[-1].startswith("Next: --full")
    assert len([line for line in lines if line.startswith("Caution: ")]) == 3


@pytest.fixture(scope="module")
def medical():
    ratings = draw_ratings(3, 80, 4, 2, 1, 30, long=False)
    return lehner.estimate(ratings, METHODS, groups=np.resize(["f", "m", "m"], 80))


def test_methods_are_not_mixed(medical):
    """Each number stands beside, or below, the method that gave it."""
    lines = lines_of(medical)
    for method in METHODS:
        value = medical.value("system_accuracy_in_sample", system=name_of(medical), method=method)
        (line,) = (x for x in lines if x.startswith(f"{method} "))
        assert str(value).rstrip("*") in line
    start = next(j for j, x in enumerate(lines) if x.startswith("by dawid_skene_ml"))
    text = " ".join(x.strip() for x in lines[start + 1 : start + 5])
    for name, (quantity, of_positive) in list(NAMES.items())[:4]:
        positive = medical.options.positive
        category = positive.name if of_positive else positive.negative
        of = {"system": name_of(medical), "method": "dawid_skene_ml", "category": str(category)}
        assert str(medical.value(quantity, **of)) in text
        assert SHORT_NAMES.get(name, name) in text


def name_of(results):
    return str(results.ratings.systems[0])


@pytest.mark.parametrize("weighted", [False, True])
def test_verified_counts_stand_beside_what_they_verify(medical, weighted):
    ratings = medical.ratings
    if weighted:
        chance = np.random.default_rng(1).uniform(0.05, 0.9, ratings.n_rows)
        ratings = ratings.with_truth(ratings.truth, chance)
    given = lehner.Given(positive=medical.options.positive.name)
    lines = lines_of(lehner.estimate(ratings, ["dawid_skene_ml"], given=given))
    labelled = ratings.truth >= 0
    right = labelled & (ratings.truth == ratings.system)
    code = list(ratings.categories).index(medical.options.positive.name)
    own, answered = ratings.truth == code, ratings.system == code
    for start, rows in (
        ("gold labels alone", labelled),
        ("sensitivity", labelled & own),
        ("specificity", labelled & ~own),
        ("PPV", labelled & answered),
        ("NPV", labelled & ~answered),
    ):
        line = next(x for x in lines if x.startswith(start))
        assert f" {(right & rows).sum()}/{rows.sum()} " in f"{line} "


@pytest.mark.parametrize("in_model", [False, True])
def test_text_follows_the_route_of_labels_that_are_no_random_sample(in_model):
    ratings = draw_ratings(5, 300, 3, 2, 1, 300, long=False)
    yes = ratings.count_votes()[:, 1] > 1
    chosen = np.random.default_rng(1).random(300) < np.where(yes, 0.5, 0.05)
    ratings = ratings.with_truth(np.where(chosen, ratings.truth, -1))
    results = lehner.estimate(
        ratings, ["dawid_skene_ml"], given=lehner.Given(truths_in_model=in_model)
    )
    lines, answer = lines_of(results), answer_estimates(results, full=True)
    right = (chosen & (ratings.truth == ratings.system)).sum()
    (alone,) = (line for line in lines if line.startswith("gold labels alone"))
    assert f"{right}/{chosen.sum()} right, weighted" in alone
    assert any("probably not a random sample" in line for line in lines)
    assert "gold labels alone (weighted)" in as_text(answer.screen(100))
    first, *cautions = answer.list_sentences()
    assert ("corrected by the gold labels" in first) != in_model
    assert ("fitted to the gold labels" in first) == in_model
    positive = results.options.positive
    for name, category in (("sensitivity", positive.name), ("specificity", positive.negative)):
        of = {"category": str(category), "method": "dawid_skene_ml", "system": name_of(results)}
        assert f"a {name} of {write_apa(results.value('recall', **of))}" in first
    changing = [each.text for each in results.warnings if each.severity == "changes"]
    assert changing and len(cautions) == len(changing)
    assert all(any(text in line for line in cautions) for text in changing)


def test_cautions_are_the_most_severe_and_each_of_another_kind(medical):
    some = [warn("starts", "a note"), warn("boundary", "one"), warn("boundary", "two")]
    some += [warn("divergences", "three"), warn("not-converged", "four")]
    lines = lines_of(replace(medical, warnings=tuple(some)))
    shown = [x.removeprefix("Caution: ") for x in lines if x.startswith("Caution")]
    assert shown == ["four", "one", "three"]


def test_raters_who_do_not_fit_into_a_line_are_summed_up():
    rng, truth = np.random.default_rng(2), np.resize([0, 1], 400)
    right = rng.random((400, 12)) < np.linspace(0.65, 0.9, 12)
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    names = [f"rater with a name {j}" for j in range(12)]
    ratings = lehner.Ratings(codes, ["no", "yes"], raters=names, system=codes[:, 9])
    results = lehner.estimate(ratings, ["algebraic", "dawid_skene_ml"])
    rows = results.select(quantity="rater_accuracy", method="dawid_skene_ml")
    result = rows.set_index("rater")["estimate"].sort_values()
    (line,) = (x for x in lines_of(results) if x.startswith("Raters (dawid_skene_ml): "))
    assert f"{result.index[0]} {to_decimal(result.iloc[0])}" in line
    n = int(line.split("… ")[1].split()[0])
    assert line.endswith(f" other{'s' * (n > 1)}, {result.index[-1]} {to_decimal(result.iloc[-1])}")
    assert n + line.split("… ")[0].count("rater with") + 1 == 12


def test_so_many_verified_items_are_asked_for_as_give_the_width(medical):
    of = {"system": name_of(medical), "method": "learned_prior"}
    m = int((medical.ratings.truth >= 0).sum())
    n = int(lines_of(medical)[-1].split("lehner ask (")[1].split()[0])
    accuracy = medical.value("system_accuracy_in_sample", **of).estimate
    ends = [wilson_interval(accuracy, m + more, z=1.6449, population=80) for more in (n - 1, n)]
    wider, narrow = (upper - lower for lower, upper in ends)
    assert narrow <= 0.1 < wider


@pytest.mark.parametrize(("n_truths", "shown"), [(0, 1), (30, 0), (80, 1)])
def test_bounds_are_said_where_no_truths_correct_the_estimate(n_truths, shown):
    ratings = draw_ratings(3, 80, 4, 2, 1, n_truths, long=False)
    said = " ".join(" ".join(lines_of(lehner.estimate(ratings, METHODS))).split())
    bound = f"Whatever the method, {lehner.find_tipping_point(ratings)} (lehner bounds)"
    assert said.count("lehner bounds") == said.count(bound) == shown


# A page: names are text in it, and the file of HTML is whole and always the same.


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
