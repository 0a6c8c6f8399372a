"""One look for each method, and letters that can be read in print."""

import itertools
import re

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from lehner.core.results import line_style
from lehner.estimation.methods import get_look, list_methods
from lehner.known_truths.one_judge import JUDGED_BY
from lehner.latent_class.models import LIKELIHOOD_METHODS
from lehner.report.figures import use_style
from lehner.report.files import write_figure

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
