"""How many items narrow intervals of coefficients need."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

import lehner
from lehner import InputError
from tests.lehner.interrater.tables import agreement_of_table

Z = NormalDist().inv_cdf(0.95)


def test_percent_agreement_needs_what_the_t_interval_of_a_proportion_says():
    found = agreement_of_table([[60, 15], [25, 100]], coefficients="percent_agreement")
    (n,) = found.required_items(0.04)
    deviation = np.sqrt(0.8 * 0.2 * 200 / 199)
    half = [stats.t.ppf(0.95, k - 1) * deviation / np.sqrt(k) for k in (n - 1, n)]
    assert half[0] > 0.04 >= half[1]


@pytest.mark.parametrize("table", [[[40, 10], [5, 45]], [[30, 5, 1], [4, 20, 6], [2, 8, 24]]])
def test_cohens_kappa_needs_what_cantor_1996_says(table):
    """Cantor (1996), Psychological Methods 1(2), 150-153: N = (z / half width)^2 Q."""
    p = np.array(table) / np.sum(table)
    row, column = p.sum(axis=1), p.sum(axis=0)
    observed, chance = np.trace(p), row @ column
    on = np.diag(p) @ ((1 - chance) - (column + row) * (1 - observed)) ** 2
    pairs = (column[:, None] + row[None, :]) ** 2
    off = (1 - observed) ** 2 * (p * pairs)[~np.eye(len(p), dtype=bool)].sum()
    both = (observed * chance - 2 * chance + observed) ** 2
    q = (on + off - both) / (1 - chance) ** 4
    large = agreement_of_table((p * 1e6).round(), coefficients="cohen")
    for within in (0.02, 0.05):
        (n,) = large.required_items(within)
        assert n == pytest.approx((Z / within) ** 2 * q, abs=4)


def bootstrapped(ratings, rng):
    """Half widths of 90% percentile intervals of alpha and AC1, from their definitions."""
    votes = np.stack([(ratings.codes == k).sum(axis=1) for k in range(ratings.n_categories)], 1)
    n, m, k = len(votes), ratings.n_raters, ratings.n_categories
    counts = rng.multinomial(n, np.full(n, 1 / n), size=800)
    pairs = counts @ (votes**2).sum(axis=1) - n * m
    chosen = counts @ votes
    total = n * m
    expected = (total**2 - (chosen**2).sum(axis=1)) / (total - 1)
    alpha = 1 - (total * (m - 1) - pairs) / (m - 1) / expected
    share = chosen / total
    chance = (share * (1 - share)).sum(axis=1) / (k - 1)
    ac1 = (pairs / (total * (m - 1)) - chance) / (1 - chance)
    return [np.diff(np.quantile(one, [0.05, 0.95])).item() / 2 for one in (alpha, ac1)]


@pytest.mark.slow
@pytest.mark.parametrize(("kappa", "violation", "within"), [(0.6, 0, 0.05), (0.4, 1, 0.08)])
def test_intervals_with_that_many_items_are_as_narrow_as_planned(kappa, violation, within):
    scenario = lehner.scenario_with_kappa(kappa, n_categories=3, violation=violation)
    scenario = replace(scenario, base_rates=(0.6, 0.3, 0.1), common_errors="none")
    scenario = replace(scenario, proportional_error_range=0.0)
    names = ["alpha", "ac1"]
    pilot = lehner.simulate(replace(scenario, n_items=20_000), 1)
    needed = lehner.agreement(pilot, coefficients=names, weights="identity")
    rng = np.random.default_rng(2)
    for place, n in enumerate(needed.required_items(within)):
        linear, percentile = [], []
        for seed in range(40):
            ratings = lehner.simulate(replace(scenario, n_items=n), seed)
            found = lehner.agreement(ratings, coefficients=names, weights="identity")
            one = found.coefficients[place]
            linear.append((one.upper - one.lower) / 2)
            percentile.append(bootstrapped(ratings, rng)[place])
        assert np.mean(linear) == pytest.approx(within, rel=0.03)
        assert np.mean(percentile) == pytest.approx(within, rel=0.04)


def test_coefficients_without_a_standard_error_need_no_known_number():
    ratings = lehner.Ratings([[0, 0], [1, 1]], ["a", "b"])
    assert set(lehner.agreement(ratings).required_items(0.1)) == {None}


@pytest.mark.parametrize("within", [0, 1e-17, -20, 10.25, np.nan, "x", None])
def test_a_distance_that_makes_no_sense_is_refused(within):
    found = lehner.agreement(lehner.load_dataset("fleiss1971"))
    with pytest.raises(InputError, match="within is"):
        found.required_items(within)


def test_coefficients_are_chosen_by_name_or_by_a_word_of_it_and_keep_their_order():
    ratings = lehner.load_dataset("krippendorff")
    whole = lehner.agreement(ratings, weights=["identity", "ordinal"])
    some = lehner.agreement(
        ratings, coefficients=["AC1", "alpha", "fleiss_kappa[2]"], weights=["identity", "ordinal"]
    )
    wanted = [("gwet_ac1", "identity"), ("krippendorff_alpha", "identity")]
    wanted += [("fleiss_kappa[2]", "identity"), ("krippendorff_alpha", "ordinal")]
    assert [(one.name, one.weights) for one in some.coefficients] == wanted
    assert list(some.coefficients) == [whole[one] for one in wanted]
    assert some.pairs.equals(whole.pairs)


@pytest.mark.parametrize("name", ["kappa", "alphaa", "", 3])
def test_a_name_that_none_or_several_have_is_refused_with_those_there_are(name):
    with pytest.raises(InputError, match=f"no coefficient '{name}'; choose among percent_agr.*ac1"):
        lehner.agreement(lehner.load_dataset("krippendorff"), coefficients=["alpha", name])
