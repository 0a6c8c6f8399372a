"""Figures: everything that is written is inside, whatever the names; numbers are the table's."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.text import Text

import lehner
from lehner.estimation.views import ANY, view_systems
from lehner.report import figures
from lehner.report.estimates import list_sections
from lehner.report.files import draw_bytes

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
    "confusion": lambda views: figures.plot_confusion(views[0]),
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
