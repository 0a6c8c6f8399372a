"""What holds of every figure: letters of 7 points, nothing cut off, one legend, a text."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from experiments.paper import FIGURES, simulate_figure
from experiments.paper.replication import plot_figure
from lehner.estimation.methods import OWN_METHODS, get_look
from lehner.latent_class.models import LIKELIHOOD_METHODS, MODELS
from lehner.study import measure, read_study
from lehner.study.definition import choose_method
from lehner.study.report import plot_measure

NAMES = [*(name for name in OWN_METHODS if name not in LIKELIHOOD_METHODS), *MODELS]


def a_study(n_methods):
    study = read_study("experiments/studies/k_violations.toml")
    methods = tuple(map(choose_method, [*NAMES[:4], "one_coin", "tap"]))[:n_methods]
    study = replace(study, methods=methods)
    rng = np.random.default_rng(1)
    rows = [
        {"scenario": entry.name, "method": method.label, "replicate": i, "truth": truth}
        | {"estimate": estimate, "lower": estimate - 0.1, "upper": estimate + 0.1}
        for entry in study.scenarios
        for method in methods
        for i in range(4)
        for truth, estimate in [rng.random(2)]
    ]
    return study, pd.DataFrame(rows).assign(estimand="system_accuracy", status="ok")


def of_study(draw, n_methods, *options):
    study, results = a_study(n_methods)
    return draw(study, measure(results), *options)


DRAWN = {
    "paper": lambda: plot_figure(FIGURES[5], simulate_figure(FIGURES[5])),
    "coverage of a study": lambda: of_study(plot_measure, 6, "coverage"),
}


@pytest.mark.parametrize("name", DRAWN)
def test_figures_can_be_printed(name):
    figure = DRAWN[name]()
    FigureCanvasAgg(figure).draw()
    texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    assert min(text.get_fontsize() for text in texts) >= 7
    assert figure.get_figwidth() <= 7
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(box.x0, box.y0, width - box.x1, height - box.y1) > -0.02
    assert len(figure.legends) <= 1
    assert len(figure.get_label()) > 50 and figure.get_label().endswith(".")


def test_each_method_of_a_study_has_a_panel():
    for n in (4, 6):
        assert len(of_study(plot_measure, n).axes) == n


def test_methods_without_values_are_left_out_and_a_study_without_has_no_figure():
    study, results = a_study(6)
    first = results["method"] == NAMES[0]
    results.loc[first, ["lower", "upper"]] = np.nan
    figure = plot_measure(study, measure(results), "coverage")
    assert figure.axes[0].get_title().replace("\n", " ") == get_look(NAMES[1]).label
    results[["lower", "upper"]] = np.nan
    assert plot_measure(study, measure(results), "coverage") is None
