"""A dependent pair: the coupling of its answers, and the likelihood against an enumeration."""

import numpy as np
import pymc as pm
import pytest

from bayes_models import build_model, find_model, identify, observe
from bayes_models.models.assemble import couple_answers, split_second
from bayes_models.models.graph import IN_PYTHON
from bayes_models.posterior.draws import infer_truth
from bayes_models.posterior.predictive import draw_ratings
from lehner import InputError, Ratings
from tests.reference.dependent_pair import joint, log_likelihood


def coupled(rng, k):
    first, second = rng.dirichlet(np.ones(k), (2, k))
    share = rng.random(k)
    return first, second, share, couple_answers(first, second, share, k)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_coupling_is_that_of_the_reference_and_keeps_both_rows(k):
    first, second, share, after = coupled(np.random.default_rng(k), k)
    for true in range(k):
        table = after[:, true] * first[true][:, None]
        np.testing.assert_allclose(table, joint(first[true], second[true], share[true]))
        np.testing.assert_allclose(table.sum(axis=0), second[true])
        np.testing.assert_allclose(table.sum(axis=1), first[true])
    assert (after >= 0).all()


def test_with_two_categories_the_covariance_is_a_share_of_its_upper_bound():
    first, second, share, after = coupled(np.random.default_rng(1), 2)
    for true, (a, b, c) in enumerate(zip(first[:, 1], second[:, 1], share, strict=True)):
        covariance = after[1, true, 1] * a - a * b
        assert covariance == pytest.approx(c * (min(a, b) - a * b))


def some_ratings(rng, k=3, system=True, pair=("2", "system")):
    codes = rng.integers(-1, k, (30, 3))
    answers = rng.integers(-1, k, 30) if system else None
    return Ratings(codes, list("abc")[:k], system=answers).with_dependent_pair(pair)


def items_of(ratings):
    votes = ratings.all_votes
    rows = [{} for _ in range(ratings.n_rows)]
    for i, j, answer in zip(votes.item_index, votes.rater_index, votes.category_index, strict=True):
        rows[i][int(j)] = int(answer)
    return rows


@pytest.mark.parametrize("pair", [("2", "system"), ("system", "2"), ("1", "3")])
def test_likelihood_of_gaps_and_pairs_is_that_of_the_reference(pair):
    rng = np.random.default_rng(3)
    ratings = some_ratings(rng, pair=pair)
    base_rates, confusion = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), (4, 3))
    share, patterns = rng.random(3), observe(ratings)
    first, second = patterns.dependent
    expected = log_likelihood(items_of(ratings), base_rates, confusion, (first, second), share)
    after = couple_answers(confusion[first], confusion[second], share, 3)
    rows = np.concatenate([confusion, after])
    _, result = infer_truth(patterns, base_rates[None], rows[None])
    assert result[0] @ patterns.counts == pytest.approx(expected)
    model = build_model("dawid_skene", ratings)
    inputs = {"base_rates": base_rates, "confusion": confusion, "shared_answers": share}
    point = unconstrained(model, inputs)
    logp = model.compile_logp(model["ratings"], mode=IN_PYTHON)
    assert float(logp(point)) == pytest.approx(expected)


def unconstrained(model, values):
    point = {}
    for rv in model.free_RVs:
        transform, value = model.rvs_to_transforms[rv], pm.math.constant(values[rv.name])
        moved = transform.forward(value, *rv.owner.inputs)
        point[model.rvs_to_values[rv].name] = moved.eval(mode=IN_PYTHON)
    return point


def test_only_two_models_take_the_pair():
    ratings = some_ratings(np.random.default_rng(1))
    for name in ("dawid_skene", "one_coin_by_rater", "pooled", "one_coin", "relaxed_k"):
        built = build_model(name, ratings)
        assert ("shared_answers" in built) == find_model(name).takes_pair
        assert ("shared_answers" in built) == (name in ("dawid_skene", "one_coin_by_rater"))


def test_drawn_ratings_have_the_joint_distribution_of_the_pair_and_the_gaps():
    rng = np.random.default_rng(2)
    first, second, share, after = coupled(rng, 3)
    other = rng.dirichlet(np.ones(3), 3)
    codes = np.tile([[0, 0], [0, -1], [-1, 0]], (10_000, 1))
    design = Ratings(codes, list("abc"), system=np.tile([0, 0, 0, -1], 7_500))
    rows = np.concatenate([[other, first, second], after])
    rates = np.array([0.5, 0.3, 0.2])
    for pair, a, b in ((("2", "system"), first, second), (("system", "2"), second, first)):
        rows[3:] = couple_answers(a, b, share, 3)
        drawn = draw_ratings(design.with_dependent_pair(pair), rates, rows, rng)
        assert ((drawn.codes < 0) == (codes < 0)).all()
        assert ((drawn.system < 0) == (design.system < 0)).all()
        both = (drawn.codes[:, 1] >= 0) & (drawn.system >= 0)
        expected = sum(
            rate * np.array(joint(*of, c))
            for rate, *of, c in zip(rates, first, second, share, strict=True)
        )
        result = np.zeros((3, 3))
        np.add.at(result, (drawn.codes[both, 1], drawn.system[both]), 1 / both.sum())
        np.testing.assert_allclose(result, expected, atol=0.02)
        alone = (drawn.codes[:, 1] < 0) & (drawn.system >= 0)
        share_of = np.bincount(drawn.system[alone], minlength=3) / alone.sum()
        np.testing.assert_allclose(share_of, rates @ second, atol=0.02)


def test_several_independent_ratings_of_an_item_are_refused():
    twice = {"item": [1, 1, 1], "rater": ["x", "x", "y"], "rating": ["a", "b", "a"]}
    ratings = Ratings.from_long(twice, repeated=True, categories=["a", "b"])
    pair = ratings.with_dependent_pair(("x", "y"))
    split_second(observe(pair))
    with pytest.raises(InputError, match="'x' has several independent ratings"):
        split_second(observe(pair.with_independent_repeats()))


def test_what_the_ratings_can_identify_counts_the_pair():
    rng = np.random.default_rng(1)
    answers = rng.integers(0, 2, (40, 4))
    three = Ratings(answers[:, :2], ["no", "yes"], system=answers[:, 2])
    four = Ratings(answers[:, :3], ["no", "yes"], system=answers[:, 3])
    alone = identify("dawid_skene", three)
    pair = identify("dawid_skene", three.with_dependent_pair(("1", "system")))
    assert (alone.parameters, pair.parameters, pair.degrees_of_freedom) == (7, 9, 7)
    codes = [warning.code for warning in pair.warnings]
    assert pair.pair_alone == 1 and {"prior-decides", "pair-rests-on-prior"} <= set(codes)
    enough = identify("dawid_skene", four.with_dependent_pair(("1", "system")))
    assert (enough.parameters, enough.degrees_of_freedom, enough.pair_alone) == (11, 15, 0)
    assert "pair-rests-on-prior" not in [warning.code for warning in enough.warnings]
    herds = three.with_populations(np.repeat(["x", "y"], 20))
    two_herds = identify("dawid_skene", herds.with_dependent_pair(("1", "system")))
    assert (two_herds.parameters, two_herds.degrees_of_freedom) == (10, 14)
    assert not {"prior-decides", "pair-rests-on-prior"} & {
        warning.code for warning in two_herds.warnings
    }
    assert identify("pooled", three.with_dependent_pair(("1", "2"))).pair_alone == 0
