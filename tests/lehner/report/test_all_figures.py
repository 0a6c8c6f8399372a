"""What holds of every figure: letters of 8 points, nothing cut off, one legend, a text."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from lehner import Study, StudyResults
from lehner.estimation.methods import OWN_METHODS, get_look
from lehner.latent_class.models import LIKELIHOOD_METHODS, MODELS

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


DRAWN = {"coverage of a study": lambda: a_study(6).plot("coverage")}


@pytest.mark.parametrize("name", DRAWN)
def test_figures_can_be_printed(name):
    figure = DRAWN[name]()
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
