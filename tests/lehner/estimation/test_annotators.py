"""The alternative annotator test, against its definition written out rater by rater."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

import lehner
from lehner import Ratings, Scenario, simulate
from lehner.estimation.questions import EPSILONS


def ask(ratings):
    """Rows of the question."""
    results = lehner.estimate(ratings, "majority_agreement", questions=["annotators"])
    return results.table.to_dict("records")


def alternative_annotator_test(codes, system, epsilon, q=0.05):
    """As Calderon et al. (2025) print it: advantage probabilities and the winning rate."""
    wins, differences, p_values = [], [], []
    for j in range(codes.shape[1]):
        w_system, w_rater = [], []
        for row, answer in zip(codes, system, strict=True):
            others = [c for k, c in enumerate(row) if k != j and c >= 0]
            if row[j] < 0 or answer < 0 or not others:
                continue
            score, score_rater = (np.mean([c == x for c in others]) for x in (answer, row[j]))
            w_system.append(float(score >= score_rater))
            w_rater.append(float(score_rater >= score))
        if len(w_system) < 30:
            continue
        d = np.array(w_rater) - np.array(w_system)
        wins.append(np.mean(w_system))
        differences.append(-d.mean())
        p_values.append(ttest_1samp(d, epsilon, alternative="less").pvalue)
    m, p = len(p_values), np.sort(p_values)
    limits = np.arange(1, m + 1) / m * q / (1 / np.arange(1, m + 1)).sum()
    rejected = max((i + 1 for i in range(m) if p[i] <= limits[i]), default=0)
    return wins, differences, rejected / m


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_test_of_its_authors(seed):
    scenario = Scenario(n_categories=3, initial_rater_accuracy=(0.6, 0.7, 0.8, 0.85), n_items=120)
    ratings = simulate(scenario, seed)
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random(ratings.codes.shape) < 0.3, -1, ratings.codes)
    system = np.where(rng.random(120) < 0.1, -1, ratings.system)
    data = Ratings(codes, ratings.categories, system=system)
    rows = ask(data)
    for epsilon in EPSILONS:
        wins, differences, rate = alternative_annotator_test(codes, system, epsilon)
        (result,) = [row for row in rows if row["versus"] == f"epsilon={epsilon:g}"]
        assert (result["quantity"], result["estimate"]) == ("winning_rate", pytest.approx(rate))
    of_raters = [row for row in rows if row["rater"]]
    assert [row["estimate"] for row in of_raters[: len(wins)]] == pytest.approx(wins)
    assert [row["estimate"] for row in of_raters[len(wins) :]] == pytest.approx(differences)


def test_two_raters_or_few_items_are_no_test():
    ratings = simulate(Scenario(n_categories=2, initial_rater_accuracy=(0.7,) * 2), 1)
    assert ask(ratings) == []
    few = simulate(Scenario(n_categories=2, initial_rater_accuracy=(0.7,) * 3, n_items=29), 1)
    assert ask(few) == []


def test_a_system_that_repeats_a_rater_is_never_worse():
    codes = np.random.default_rng(1).integers(2, size=(60, 3))
    ratings = Ratings(codes, ["no", "yes"], ["a", "b", "c"], system=codes[:, 0])
    results = lehner.estimate(ratings, "majority_agreement")
    value = results.value("advantage_difference", method="", rater="a")
    assert (value.estimate, value.lower) == (0, 0)
    assert results.value("advantage_probability", method="", rater="a").estimate == 1
