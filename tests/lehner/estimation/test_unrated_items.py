"""What ratings tell by any method: unrated items, difficulty, an alternative annotator."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from scipy.stats import ttest_1samp

import lehner
from bayes_models.methods import ask_k_properties
from lehner import Ratings, Scenario, population_value, simulate
from lehner.algebra.algebraic import VOTE_METHODS
from lehner.contrasts.groups import group_by_algebra, group_by_likelihood
from lehner.estimation.methods import get_method, list_methods
from lehner.estimation.questions import EPSILONS, Fit, Options
from lehner.latent_class.em import LIKELIHOOD_METHODS
from tests.lehner.questions import collect_rows, resample

QUICK = [name for name, method in list_methods().items() if "in_study" not in method.takes]
RECALLS = np.array([0.95, 0.7, 0.6])
BASE_RATES = np.array([0.6, 0.25, 0.15])


def draw(n_rated: int, n_unrated: int, *, clustered: bool = False) -> Ratings:
    """Draw ratings of a system with unequal recalls; the rated items are always the same."""
    rng = np.random.default_rng(1)
    n = n_rated + n_unrated
    truth = rng.choice(3, 1000, p=BASE_RATES)[:n]
    shift = rng.integers(1, 3, (1000, 4))[:n]
    right = rng.uniform(size=(1000, 4))[:n] < np.column_stack(
        [np.full((n, 3), 0.8), RECALLS[truth]]
    )
    answers = np.where(right, truth[:, None], (truth[:, None] + shift) % 3)
    codes = answers[:, :3].copy()
    codes[n_rated:] = -1
    return Ratings(
        codes,
        ["a", "b", "c"],
        system=answers[:, 3],
        cluster=np.arange(n) // 5 if clustered else None,
    )


@pytest.mark.parametrize(
    ("method", "clustered"),
    [*((method, False) for method in QUICK), ("algebraic", True), ("dawid_skene_ml", True)],
)
def test_they_change_no_estimate_and_no_interval(method: str, clustered: bool) -> None:
    able = list_methods()[method]
    options = {"level": 0.9, "seed": 1} | dict.fromkeys({"resamples"} & set(able.takes), 100)
    alone = able.fit(draw(150, 0, clustered=clustered), **options)
    among = able.fit(draw(150, 600, clustered=clustered), **options)
    assert among.system_accuracy.estimate is not None
    for name in ("system_accuracy", "system_accuracy_in_sample"):
        first, other = getattr(alone, name), getattr(among, name)
        for end in ("estimate", "lower", "upper", "standard_error"):
            assert getattr(other, end) == pytest.approx(getattr(first, end), abs=1e-9)
    assert among.warnings == alone.warnings
    if "truth_probabilities" in among.arrays:
        assert among.arrays["truth_probabilities"].values.shape == (750, 3)


def test_the_command_leaves_them_out_and_says_so_once() -> None:
    ratings = draw(150, 600)
    groups = np.where(np.arange(750) % 2, "odd", "even")
    methods = ["majority_agreement", "algebraic", "learned_prior", "dawid_skene_ml"]
    alone = lehner.estimate(ratings.take(np.arange(150)), methods, groups=groups[:150])
    among = lehner.estimate(ratings, methods, groups=groups)
    assert among.table.equals(alone.table)
    said = [text for text in among.ratings.notes if "left out" in text]
    assert said == ["600 of 750 items, which no rater rated, are left out of all estimates"]
    assert among.ratings.n_items == 150


def test_known_truths_of_unrated_items_still_count() -> None:
    ratings = draw(150, 600)
    truth = np.full(750, -1)
    truth[140:170] = 0
    kept = lehner.estimate(ratings.with_truth(truth), ["algebraic"]).ratings
    assert kept.n_items == 170
    assert (kept.truth >= 0).sum() == 30


@pytest.mark.parametrize("method", [*VOTE_METHODS, *LIKELIHOOD_METHODS])
def test_they_enter_no_resample_of_several_systems(method: str) -> None:
    ratings = draw(150, 600)
    both = np.column_stack([ratings.system, np.roll(ratings.system, 1)])
    among = Ratings(ratings.codes, ratings.categories, system=both)
    draws = [
        resample(method, data, resamples=20, seed=3) for data in (among.take(np.arange(150)), among)
    ]
    for quantity, drawn in draws[0].drawn.items():
        np.testing.assert_allclose(draws[1].drawn[quantity], drawn)


def test_they_change_no_group_and_no_population() -> None:
    groups = np.where(np.arange(750) % 2, "odd", "even")
    few, many = draw(150, 0), draw(150, 600)
    for estimate in (group_by_algebra, group_by_likelihood):
        alone = estimate(few.with_populations(groups[:150]), resamples=50)
        among = estimate(many.with_populations(groups), resamples=50)
        assert np.array_equal(alone.point["n_items"], among.point["n_items"])
        first, other = (result.drawn["system_accuracy"] for result in (alone, among))
        np.testing.assert_allclose(first, other)


@pytest.mark.parametrize("method", ["algebraic", "one_coin_ml"])
def test_exact_values_are_those_of_rated_items(method: str) -> None:
    """Of three raters who miss most of their ratings, a third of the items has none."""
    scenario = Scenario(
        n_categories=3,
        initial_rater_accuracy=(0.8,) * 3,
        base_rates=(0.7, 0.2, 0.1),
        missing=0.7,
        initial_system_accuracy=0.7,
        asymmetric_dispersion=20.0,
        errors_affect="system",
    )
    ratings = simulate(replace(scenario, n_items=100_000), seed=1)
    rated = ratings.take(ratings.count_votes().sum(axis=1) > 0).with_truth(None)
    sampled = list_methods()[method].fit(rated, level=0.9, seed=1)
    exact = population_value(scenario, method)
    assert exact.estimate == pytest.approx(sampled.system_accuracy.estimate, abs=0.01)


# Difficulty that may touch raters only: the warning of `relaxed_k`.


CODE = "difficulty-of-system-assumed"
RATINGS = simulate(Scenario(), seed=1)


def asked(spread):
    """Ask an estimate with draws of the spread of difficulty, in place of a fit."""
    draws = abs(np.random.default_rng(1).normal(spread, 0.1, (2, 500)))
    posterior = xr.Dataset({"difficulty_spread": (("chain", "draw"), draws)})
    tree = xr.DataTree.from_dict({"posterior": posterior})
    tree.attrs = {"model": "relaxed_k", "priors": '{"difficulty_spread": 0.4}'}
    estimate = replace(lehner.estimate_algebraic(RATINGS), method="relaxed_k", draws=tree)
    fit = Fit(ratings=RATINGS, estimate=estimate, method=get_method(estimate.method))
    return {
        warning.code: warning for warning in collect_rows(ask_k_properties(fit, Options())).warnings
    }


def test_where_items_differ_in_difficulty_and_nowhere_else_the_slope_is_to_be_looked_at():
    warning = asked(spread=2.0)[CODE]
    assert warning.severity == "limits" and "system_slope" in str(warning)
    assert CODE not in asked(spread=0.0)


def test_check_says_where_to_look_if_equal_difficulty_is_rejected():
    ratings = simulate(Scenario(n_items=1000, easiness=(-0.3, 0, 0.3)), seed=1)
    result = lehner.check_k_properties(ratings, replicates=199)
    assert result.tests["equal_difficulty"].verdict == "rejected"
    assert any("relaxed_k" in text and "system_slope" in text for text in result.verdict)


# The alternative annotator test, against its definition written out rater by rater.


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
