"""Systems compared by a Bayesian model on the items that they have in common."""

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

import bayes_models
import lehner
from lehner import Ratings
from lehner.estimation.methods import find_method
from lehner.estimation.questions import Fit, Options, ask_systems
from tests.lehner.contrasts.test_systems import easy_and_hard
from tests.lehner.questions import collect_rows

GIBBS = {"engine": "gibbs", "chains": 2, "draws": 500, "tries": 1, "checks": False}


def test_a_comparison_by_draws_estimates_again_on_common_items() -> None:
    """The difference of two fits to the items that both answered; ties for the same answers."""
    data = easy_and_hard(200)
    answers = data.answers[:, [0, 1, 0]]
    ratings = Ratings(data.codes, data.categories, system=answers, systems=["whole", "half", "too"])

    def again(judged: Ratings, **_: Any) -> lehner.Estimate:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
            tree = bayes_models.fit("dawid_skene", judged, seed=1, **GIBBS)
        return bayes_models.estimate_from_draws(tree)

    method = find_method("dawid_skene")
    joint = {"systems": partial(method.functions["systems"], seed=1)}
    method = replace(method, fit=again, functions=joint)
    fits = {
        name: Fit(ratings=judged, estimate=again(judged), method=method)
        for name in ratings.systems
        for judged in [ratings.select_system(name)]
    }
    result = collect_rows(ask_systems(fits, ratings, Options()))
    expected = "system_accuracy_difference"
    of_pairs = result.select(quantity=expected).set_index(["system", "versus"])
    assert of_pairs["n_items"].tolist() == [100, 200, 100]
    common = ratings.select_common_items()
    mine, half = (again(common.select_system(name)) for name in ("whole", "half"))
    difference = mine.system_accuracy.estimate - half.system_accuracy.estimate
    assert of_pairs.loc[("whole", "half"), "estimate"] == pytest.approx(difference)
    same = of_pairs.loc[("whole", "too")]
    assert same["probability"] == 0.5 and same["lower"] == same["upper"] == 0
    ranks = result.select(quantity="system_accuracy_rank").set_index("system")
    assert ranks.loc["whole", "probability"] == ranks.loc["too", "probability"]
    assert set(ranks["n_items"]) == {100}
