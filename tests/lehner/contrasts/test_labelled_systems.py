"""Systems compared by gold labels alone, without raters."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import lehner
from lehner import InputError, Ratings
from lehner.contrasts.labelled_systems import draw_labelled_systems


def labelled_systems(n=240, n_labelled=240, seed=1, cluster_size=0, n_systems=2):
    """Systems that are right on .9 of the items, with errors of their own."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n)
    right = rng.random((n, n_systems)) < 0.9
    wrong = (truth[:, None] + rng.integers(1, 3, (n, n_systems))) % 3
    return Ratings(
        np.empty((n, 0)),
        ["x", "y", "z"],
        system=np.where(right, truth[:, None], wrong),
        truth=np.where(np.arange(n) < n_labelled, truth, -1),
        cluster=np.arange(n) // cluster_size if cluster_size else None,
    )


def contrast(ratings, quantity="system_accuracy"):
    draws = draw_labelled_systems(ratings, ratings.systems, level=0.9, seed=1)
    return draws.point[quantity] @ [1, -1], draws.drawn[quantity] @ [1, -1]


def test_two_systems_have_the_posterior_of_a_product_of_two_independent_proportions():
    """The share of items on which they differ, and who is right there: both are conjugate."""
    ratings = labelled_systems(400, 60)
    point, drawn = contrast(ratings)
    answers, truth = ratings.answers, ratings.truth
    differ = answers[:, 0] != answers[:, 1]
    counts = np.array(
        [
            ((answers[:, 0] == truth) & differ & (truth >= 0)).sum(),
            ((answers[:, 1] == truth) & differ & (truth >= 0)).sum(),
            (differ & (truth >= 0)).sum(),
        ]
    )
    counts[2] -= counts[:2].sum()
    rng = np.random.default_rng(2)
    share = rng.beta(differ.sum() + 0.5, (~differ).sum() + 0.5, 200_000)
    expected = share * (rng.dirichlet(counts + 0.5, 200_000) @ [1, -1, 0])
    assert point == pytest.approx(differ.mean() * (counts @ [1, -1, 0]) / counts.sum())
    assert drawn.mean() == pytest.approx(expected.mean(), abs=0.002)
    assert np.quantile(drawn, [0.05, 0.95]) == pytest.approx(
        np.quantile(expected, [0.05, 0.95]), abs=0.006
    )


@pytest.mark.parametrize("cluster_size", [0, 4])
def test_many_labels_give_the_usual_interval_of_a_mean_of_differences(cluster_size):
    ratings = labelled_systems(2000, 1600, cluster_size=cluster_size)
    labelled = ratings.truth >= 0
    right = (ratings.answers == ratings.truth[:, None])[labelled].astype(float)
    model = sm.OLS(right @ [1, -1], np.ones(labelled.sum()))
    options = {"cov_type": "HC1"}
    if cluster_size:
        options = {"cov_type": "cluster", "cov_kwds": {"groups": ratings.cluster[labelled]}}
    fitted = model.fit(**options)
    point, drawn = contrast(ratings)
    assert point == pytest.approx(fitted.params[0], abs=0.01)
    assert drawn.std() == pytest.approx(fitted.bse[0], rel=0.12)


def test_all_labels_leave_nothing_open_of_these_items_and_alike_systems_do_not_differ():
    ratings = labelled_systems()
    point, drawn = contrast(ratings, "system_accuracy_in_sample")
    right = (ratings.answers == ratings.truth[:, None]).mean(axis=0)
    assert point == pytest.approx(right @ [1, -1]) and np.ptp(drawn) == pytest.approx(0, abs=1e-12)
    twice = ratings.replace(answers=ratings.answers[:, [0, 0]])
    point, drawn = contrast(twice)
    assert point == 0 and not drawn.any()


def test_labels_of_items_on_which_systems_differ_alone_do_not_bias_the_difference():
    """`lehner ask` chooses these: they say nothing of how accurate both systems are."""
    ratings = labelled_systems(4000, 4000)
    differ = np.flatnonzero(ratings.answers[:, 0] != ratings.answers[:, 1])[:100]
    truth = np.full(4000, -1)
    truth[differ] = ratings.truth[differ]
    point, drawn = contrast(ratings.with_truth(truth))
    right = (ratings.answers == ratings.truth[:, None]).mean(axis=0)
    assert abs(point - right @ [1, -1]) < 0.03
    assert np.quantile(drawn, 0.05) < right @ [1, -1] < np.quantile(drawn, 0.95)


def test_unequal_probabilities_are_weighed():
    """Of the items that the first system got right, a quarter as many have labels."""
    rng = np.random.default_rng(3)
    ratings = labelled_systems(8000, 8000)
    first_right = ratings.answers[:, 0] == ratings.truth
    chance = np.where(first_right, 0.2, 0.8)
    shown = np.where(rng.random(8000) < chance, ratings.truth, -1)
    right = (ratings.answers == ratings.truth[:, None]).mean(axis=0) @ [1, -1]
    unweighted, _ = contrast(ratings.with_truth(shown))
    weighted, drawn = contrast(ratings.with_truth(shown, probability=chance))
    assert abs(weighted - right) < 0.02 < abs(unweighted - right)
    assert np.quantile(drawn, 0.01) < right < np.quantile(drawn, 0.99)


def test_results_have_each_system_every_difference_and_the_ranks():
    ratings = labelled_systems(300, 80, n_systems=3)
    results = lehner.estimate(ratings)
    accuracies = results.select(quantity="system_accuracy")
    alone = lehner.estimate(ratings.select_system(ratings.systems[1]))
    assert len(accuracies) == 3 and len(results.select(quantity="system_accuracy_rank")) == 3
    value = alone.value("system_accuracy")
    assert accuracies["estimate"].iloc[1] == value.estimate
    differences = results.select(quantity="system_accuracy_difference")
    assert len(differences) == 3 and differences["corrected"].all()
    assert (differences["lower"] < differences["upper"]).all()
    assert list(results.fits) == [(name, "gold_labels") for name in ratings.systems]


def test_systems_without_common_labelled_items_have_no_difference():
    ratings = labelled_systems(100, 100)
    answers = ratings.answers.copy()
    answers[:50, 0] = answers[50:, 1] = -1
    apart = ratings.replace(answers=answers)
    differences = lehner.estimate(apart).select(quantity="system_accuracy_difference")
    assert differences["estimate"].isna().all()
    with pytest.raises(InputError, match="no item was answered by all of"):
        draw_labelled_systems(apart, apart.systems, level=0.9, seed=1)
    with pytest.raises(InputError, match="no item that all systems answered has a gold label"):
        contrast(ratings.with_truth(None))


def test_the_command_compares_systems_without_raters(run, tmp_path):
    ratings = labelled_systems(120, 40)
    names = np.array(ratings.categories)
    columns = {"item": range(120), "a": names[ratings.answers[:, 0]]}
    columns |= {"b": names[ratings.answers[:, 1]]}
    columns |= {"gold": np.where(ratings.truth >= 0, names[ratings.truth], "")}
    pd.DataFrame(columns).to_csv(tmp_path / "file.csv", index=False)
    code, out, _ = run("estimate", tmp_path / "file.csv", "--system", "a,b", "--truth", "gold")
    assert code == 0 and "difference, P(better)" in out and "a – b (120)" in out
