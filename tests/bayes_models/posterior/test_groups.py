"""Groups of items, after a fit."""

import numpy as np
import pytest

import bayes_models
from bayes_models import accuracy_by_group
from lehner import InputError, Ratings
from lehner.contrasts.groups import group_by_algebra, group_rows
from tests.lehner.told import told

BASE = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])


def draw(n, seed, system, raters):
    """Two groups of items with other base rates and accuracies; errors equally probable."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    truth = (rng.random((n, 1)) > BASE[group].cumsum(axis=1)).sum(axis=1)

    def answers(accuracy):
        right = rng.random(n) < np.array(accuracy)[group]
        return np.where(right, truth, (truth + rng.integers(1, 3, n)) % 3)

    codes = np.stack([answers(one) for one in raters], axis=1)
    return Ratings(codes, ["a", "b", "c"], system=answers(system)), truth, group


@pytest.fixture(scope="module")
def fitted():
    raters = [(0.8, 0.6), (0.85, 0.7), (0.9, 0.75), (0.8, 0.6)]
    ratings, truth, group = draw(1200, 1, (0.95, 0.7), raters)
    tree = bayes_models.fit("dawid_skene", ratings, engine="gibbs", seed=1, checks=False, draws=300)
    return tree, ratings, truth, np.array(["easy", "hard"])[group]


def rows_of(found, ratings):
    return told(group_rows(found, ratings, grouping="group", level=0.9))


def test_system_and_raters_are_found_worse_where_they_are(fitted):
    tree, ratings, truth, groups = fitted
    found = rows_of(accuracy_by_group(tree, ratings, groups), ratings)
    for group, system, rater in (
        ("easy", (0.95, 0.03), (0.9, 0.05)),
        ("hard", (0.7, 0.05), (0.75, 0.06)),
    ):
        accuracy = found.value("system_accuracy", group=group).estimate
        assert accuracy == pytest.approx(system[0], abs=system[1])
        of_rater = found.value("rater_accuracy", group=group, rater="3").estimate
        assert of_rater == pytest.approx(rater[0], abs=rater[1])
        right = np.mean((truth == ratings.system)[groups == group])
        interval = found.value("system_accuracy_in_sample", group=group)
        assert interval.lower - 0.01 <= right <= interval.upper + 0.01
    rates = found.select(quantity="base_rates", group="hard")["estimate"].tolist()
    assert rates == pytest.approx(BASE[1], abs=0.08)
    difference = found.select(quantity="system_accuracy_difference").iloc[0]
    assert difference["lower"] > 0.1 and difference["probability"] > 0.99


def test_one_group_of_all_items_is_the_fit(fitted):
    tree, ratings, *_ = fitted
    found = rows_of(accuracy_by_group(tree, ratings, ["all"] * 1200), ratings)
    whole = bayes_models.estimate_from_draws(tree)
    for quantity in ("system_accuracy", "system_accuracy_in_sample"):
        shown, expected = found.value(quantity, group="all"), getattr(whole, quantity)
        for bound in ("estimate", "lower", "upper"):
            assert getattr(shown, bound) == pytest.approx(getattr(expected, bound), abs=0.006)


def test_groups_at_random_are_pooled(fitted):
    """Ten groups at random: their estimates vary less than those of the algebra."""
    tree, ratings, *_ = fitted
    groups = np.random.default_rng(1).permutation(np.arange(1200) % 10)

    def spread(found):
        return rows_of(found, ratings).select(quantity="system_accuracy")["estimate"].std()

    pooled = spread(accuracy_by_group(tree, ratings, groups))
    assert pooled < 0.6 * spread(group_by_algebra(ratings, groups, resamples=10))


def test_same_seed_same_numbers(fitted):
    tree, ratings, _, groups = fitted
    first, again, other = (accuracy_by_group(tree, ratings, groups, seed=s) for s in (1, 1, 2))
    one, two, three = (found.drawn.system_accuracy for found in (first, again, other))
    assert (one == two).all() and not (one == three).all()


def test_bad_input_is_refused(fitted):
    tree, ratings, _, groups = fitted
    with pytest.raises(InputError, match="not those of the fit"):
        accuracy_by_group(tree, ratings.take(np.arange(100)), groups[:100])
    with pytest.raises(InputError, match="there is no system"):
        accuracy_by_group(tree, ratings.without_system(), groups)
