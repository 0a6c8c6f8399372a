"""Figures: what is written is inside, numbers are the tables', and each method has one look."""

import itertools
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

import lehner
from lehner import Study, StudyResults
from lehner.core.results import line_style
from lehner.estimation.methods import OWN_METHODS, get_look, list_methods
from lehner.estimation.views import ANY, view_systems
from lehner.known_truths.one_judge import JUDGED_BY
from lehner.latent_class.em import LIKELIHOOD_METHODS, MODELS
from lehner.report import figures
from lehner.report.estimates import list_sections
from lehner.report.figures import use_style
from lehner.report.files import draw_bytes, write_figure

NUMBER = re.compile(r"[\d.]+")
LONG = [f"{name} that is long enough" for name in "alpha beta gamma delta".split()]
EIGHT = [f"category number {k}, thirty chars"[:30] for k in range(8)]


METHODS = ["learned_prior", "algebraic", "dawid_skene_ml"]
OF_SYSTEMS = {"methods": METHODS[:2], "groups": None, "questions": ["accuracy", "systems"]}


def estimate(categories, systems=("a system with a name of thirty",), **options):
    rng = np.random.default_rng(1)
    truth = rng.integers(len(categories), size=240)

    def answer(right):
        return np.where(rng.random(240) < right, truth, rng.integers(len(categories), size=240))

    ratings = lehner.Ratings(
        np.column_stack([answer(0.7) for _ in range(4)]),
        list(categories),
        raters=[f"rater {j} whose name is long too" for j in range(4)],
        system=np.column_stack([answer(0.85) for _ in systems]),
        systems=list(systems),
        truth=np.where(np.arange(240) < 40, truth, -1),
    )
    groups = np.resize(["one group of the items of this file", "another group of its items"], 240)
    options = {"groups": groups, "methods": METHODS} | options
    return view_systems(replace(lehner.estimate(ratings, **options), name="ratings.csv"))


@pytest.fixture(scope="module")
def eight():
    return estimate(EIGHT)


DRAWN = {
    "methods": lambda views: figures.draw_methods(views[0]),
    "groups": lambda views: figures.draw_groups(views[0], grouping="group", group=ANY),
}


def texts_outside(figure):
    """List texts that reach over the edge of the figure."""
    figure.draw_without_rendering()
    box = figure.bbox
    result = []
    for text in figure.findobj(Text):
        written = text.get_text().strip()
        if not text.get_visible() or not written or NUMBER.fullmatch(written):
            continue  # Ticks beyond the ends of an axis are there, and not drawn.
        inside = text.get_window_extent()
        if inside.x0 < -1 or inside.y0 < -1 or inside.x1 > box.x1 + 1 or inside.y1 > box.y1 + 1:
            result.append(text.get_text())
    return result


@pytest.mark.parametrize("name", DRAWN)
def test_names_of_eight_long_categories_are_inside_and_apart(eight, name):
    figure = DRAWN[name](eight)
    assert not texts_outside(figure)
    for ax in figure.axes:
        ticks = [label for label in ax.get_yticklabels() if label.get_text().strip()]
        boxes = sorted((tick.get_window_extent() for tick in ticks), key=lambda box: box.y0)
        for below, above in pairwise(boxes):
            assert below.y1 <= above.y0 + 1
    svg = draw_bytes(figure, "svg")
    assert svg.startswith(b"<?xml") and str(figure.get_label())
    # What was drawn before, and as what, does not change a picture.
    assert draw_bytes(figure, "svg") == svg


def draw_systems(views):
    """Draw the figure of the first section of the report, which compares systems."""
    return list_sections(views)[0].figure()


@pytest.mark.parametrize("systems", [LONG[:2], [f"{name} {k}" for k in range(2) for name in LONG]])
def test_many_systems_with_long_names_are_inside(systems):
    views = estimate(["no", "yes"], systems, **OF_SYSTEMS)
    assert not texts_outside(draw_systems(views))


def test_the_forest_draws_the_numbers_of_the_table(eight):
    (view,) = eight
    figure = figures.draw_methods(view)
    (ax,) = figure.axes
    drawn = {float(line.get_xdata()[0]) for line in ax.lines if len(line.get_xdata()) == 1}
    expected = {row["estimate"] for row in view.pick("system_accuracy_in_sample")}
    assert expected <= drawn
    assert "*" in {text.get_text() for text in ax.texts}


def test_the_best_system_stands_first():
    views = estimate(["no", "yes"], ["one", "two", "three"], **OF_SYSTEMS)
    figure = draw_systems(views)
    shown = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ranks = {
        view.system: view.first("system_accuracy_rank", method=view.reported)["estimate"]
        for view in views
    }
    assert [ranks[name] for name in shown] == sorted(ranks.values())


# Machado, Oliveira & Fernandes (2009), Table 1, severity 1: without L, M and S cones.
SEEN = (
    np.eye(3),
    [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]],
    [[0.3673, 0.8607, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]],
)
XYZ = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])


def lab(color, seen):
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = XYZ @ np.clip(np.asarray(seen) @ linear, 0, 1) / XYZ.sum(axis=1)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_every_method_has_its_own_look_and_name():
    names = {*list_methods(), *LIKELIHOOD_METHODS}
    styles = [get_look(name) for name in names]
    looks = {(style.color, style.marker, style.filled) for style in styles}
    assert len(looks) == len({style.label for style in styles}) == len(names)
    assert "black" not in {style.color for style in styles}


def test_a_label_is_the_name_in_words():
    for name in (*list_methods(), *JUDGED_BY, "my_own_method"):
        assert re.sub(r"[^a-z]+", "_", get_look(name).label.lower()) == name


def test_a_model_looks_alike_by_likelihood_and_by_bayes_but_for_the_filling():
    for by_likelihood, model in LIKELIHOOD_METHODS.items():
        first, other = get_look(by_likelihood), get_look(model)
        if model in list_methods():
            assert (first.color, first.marker) == (other.color, other.marker) and other.filled
        assert not first.filled
        assert line_style(first)["markerfacecolor"] == "white"


@pytest.mark.parametrize("seen", SEEN)
def test_colours_differ_for_everybody_s_eyes_and_from_white(seen):
    colors = {get_look(name).color for name in list_methods()}
    pairs = itertools.combinations([lab(color, seen) for color in colors], 2)
    assert min(np.linalg.norm(first - other) for first, other in pairs) > 15
    assert min(np.linalg.norm(lab(color, seen) - lab("white", seen)) for color in colors) > 30


def test_files_are_the_same_twice_and_say_what_they_show(tmp_path):
    def drawn():
        with use_style(columns=1) as width:
            figure = Figure(figsize=(width, 2), layout="constrained")
            figure.subplots().plot([0, 1])
        figure.set_label("A line that rises – and more")
        return figure

    (tmp_path / "again").mkdir()
    for first, second in zip(
        write_figure(drawn(), tmp_path, "line"),
        write_figure(drawn(), tmp_path / "again", "line"),
        strict=True,
    ):
        assert first.read_bytes() == second.read_bytes()
    assert "A line that rises – and more" in (tmp_path / "line.png").read_bytes().decode(
        "utf-8", "ignore"
    )
    assert b"/Subject" in (tmp_path / "line.pdf").read_bytes()
    assert b"/CreationDate" not in (tmp_path / "line.pdf").read_bytes()


def test_a_name_with_dollar_signs_is_no_formula(tmp_path):
    with use_style(columns=1) as width:
        figure = Figure(figsize=(width, 2), layout="constrained")
        axes = figure.subplots()
        axes.set(title=r"$\frac{$", xlabel="$x^$")
        axes.bar([0], [1], tick_label=[r"$\bad$"], label="$a_b$")
        axes.legend()
    assert len(write_figure(figure, tmp_path, "names")) == 2


NAMES = [*(name for name in OWN_METHODS if name not in LIKELIHOOD_METHODS), *MODELS]


def a_study(n_methods):
    methods = [*NAMES[:4], "one_coin", "dawid_skene"][:n_methods]
    study = Study.read("experiments/studies/k_violations.toml", methods=methods)
    rng = np.random.default_rng(1)
    rows = [
        {"scenario": entry.name, "method": method.label, "replicate": i, "truth": truth}
        | {"estimate": estimate, "lower": estimate - 0.1, "upper": estimate + 0.1}
        for entry in study.scenarios
        for method in study.methods
        for i in range(4)
        for truth, estimate in [rng.random(2)]
    ]
    table = pd.DataFrame(rows).assign(estimand="system_accuracy", status="ok")
    return StudyResults(study=study, table=table)


def test_figures_can_be_printed():
    figure = a_study(6).plot("coverage")
    FigureCanvasAgg(figure).draw()
    texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    assert min(text.get_fontsize() for text in texts) >= 8
    assert figure.get_figwidth() <= 7
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(box.x0, box.y0, width - box.x1, height - box.y1) > -0.02
    assert len(figure.legends) <= 1
    assert len(figure.get_label()) > 50 and figure.get_label().endswith(".")


def test_methods_of_a_study_are_compared_in_one_panel():
    figure = a_study(6).plot()
    assert len(figure.axes) == 1 and len(figure.legends[0].get_texts()) == 6
    alone = a_study(1).plot()
    assert not alone.legends and get_look(NAMES[0]).label in alone.get_supxlabel()


def test_methods_without_values_are_left_out_and_a_study_without_has_no_figure():
    results = a_study(6)
    table = results.table.astype({"lower": float})
    first = table["method"] == NAMES[0]
    some = replace(results, table=table.assign(lower=table["lower"].mask(first)))
    assert f"not stated by {get_look(NAMES[0]).label};" in some.plot("coverage").get_label()
    none = replace(results, table=table.assign(lower=np.nan))
    assert none.plot("coverage") is None
