"""A row that stands for several items counts as these items, whatever is computed of it."""

import numpy as np
import pytest

import lehner
from lehner.algebra.steps import pairwise_agreement
from lehner.dependence.check import check_dependence, correlate_known_errors
from lehner.empirical_prior.learned_prior import draw_learned_prior

SCENARIO = lehner.Scenario(
    n_categories=2, initial_rater_accuracy=(0.6, 0.7, 0.8, 0.8), n_items=90, missing=0.1
)
NUMBERS = ["estimate", "lower", "upper", "probability", "n_items"]


def rows_of(method, **options):
    def compute(data):
        groups = data.items.astype(int) % 5
        results = lehner.estimate(data, method, groups=groups, **options)
        return results.table[NUMBERS].to_numpy()

    return compute


def label(method):
    def compute(data):
        labels = lehner.label(data.without_system(), method)
        return labels.rater_accuracy.values, labels.rater_accuracy["n_ratings"]

    return compute


def fit(data):
    result = lehner.fit_latent_class(data)
    return result.log_likelihood, result.bic


def correlate_errors(data):
    known = correlate_known_errors(data)
    return known.correlation, known.n_items


def compare_systems(data):
    return draw_learned_prior(data, raters_are="people").drawn["system_accuracy"]


COMPUTED = {
    "the algebra, gold labels, groups": rows_of("algebraic"),
    "the learned prior": rows_of("learned_prior"),
    "a latent-class model": rows_of("dawid_skene_ml"),
    "its fit": fit,
    "groups without a system": lambda data: rows_of("majority")(data.without_system()),
    "labels by the majority": label("majority"),
    "labels by mean-field": label("dawid_skene_vb"),
    "pairs of raters": lambda data: check_dependence(data).p_value,
    "known errors": correlate_errors,
    "two systems": compare_systems,
    "agreement": lambda data: lehner.agreement(data).table[NUMBERS].to_numpy(),
    "pairs of ratings": lambda data: pairwise_agreement(data).agreement,
}


@pytest.mark.parametrize("name", COMPUTED)
def test_a_row_that_stands_for_no_or_two_items_counts_as_these(name):
    ratings, other = (lehner.simulate(SCENARIO, seed) for seed in (1, 2))
    ratings = ratings.with_truth(np.where(np.arange(90) < 30, ratings.truth, -1))
    if name == "two systems":
        answers = np.column_stack([ratings.system, other.system])
        ratings = ratings.replace(answers=answers, systems=("a", "b"))
    counts = np.arange(90) % 3
    together = ratings.take(np.arange(90), counts)
    apart = ratings.take(np.repeat(np.arange(90), counts))
    first, second = COMPUTED[name](together), COMPUTED[name](apart)
    np.testing.assert_allclose(first, second, rtol=1e-6, atol=1e-9)
