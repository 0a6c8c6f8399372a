"""Systems compared by a Bayesian model on the items that they have in common."""

import warnings

import pytest

import bayes_models
import lehner
from lehner import Ratings
from lehner.core.progress import do_here
from lehner.estimation.methods import find_method
from lehner.estimation.systems import SystemsByMethod, compare_by_method
from tests.lehner.systems.test_systems import easy_and_hard

GIBBS = {"engine": "gibbs", "chains": 2, "draws": 500, "tries": 1, "checks": False}


def test_a_comparison_by_draws_estimates_again_on_common_items() -> None:
    """The difference of two fits to the items that both answered; ties for the same answers."""
    data = easy_and_hard(200)
    answers = data.answers[:, [0, 1, 0]]
    ratings = Ratings(data.codes, data.categories, system=answers, systems=["whole", "half", "too"])

    def again(judged: Ratings) -> lehner.Estimate:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
            tree = bayes_models.fit("pooled", judged, seed=1, **GIBBS)
        return bayes_models.estimate_from_draws(tree)

    found = SystemsByMethod(
        ratings=ratings,
        estimates={name: again(ratings.for_system(name)) for name in ratings.systems},
        again=again,
        posterior=find_method("pooled").posterior,
        level=0.9,
        seed=1,
        systems_rate=False,
        common_items=True,
        do_all=do_here,
    )
    differences, ranks = compare_by_method(found)
    whole_and_half, same, _ = differences
    assert [one.n_common_items for one in differences] == [100, 200, 100]
    common = ratings.on_common_items()
    mine, half = (again(common.for_system(name)) for name in ("whole", "half"))
    expected = mine.system_accuracy.estimate - half.system_accuracy.estimate
    assert whole_and_half.difference.estimate == pytest.approx(expected)
    assert same.probability_better == 0.5 and same.difference.lower == same.difference.upper == 0
    best = {one.system: (one.rank, one.probability_best) for one in ranks}
    assert best["whole"] == best["too"] and {one.n_common_items for one in ranks} == {100}
