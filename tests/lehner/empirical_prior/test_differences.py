import numpy as np
import pytest
import xarray as xr
from scipy import stats

import lehner
from lehner.contrasts import contrast
from lehner.core.resampling import design_effect, estimate_wilson
from lehner.empirical_prior import learned_prior
from lehner.empirical_prior.learned_prior import count_disagreement, draw_learned_prior
from lehner.empirical_prior.prior import format_priors, make_prior, read_priors

PAIR = {"system": "a", "versus": "b"}


def crowd(n=200, skills=(0.9, 0.7), k=2, labelled=(), seed=1, raters=3):
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)

    def answers(skill):
        return np.where(rng.random(n) < skill, truth, (truth + rng.integers(1, k, n)) % k)

    ratings = np.stack([answers(0.8) for _ in range(raters)], axis=1)
    systems = np.stack([answers(skill) for skill in skills], axis=1)
    shown = np.full(n, -1)
    shown[np.asarray(labelled, int)] = truth[np.asarray(labelled, int)]
    names = list("abcdefgh"[: len(skills)])
    made = lehner.Ratings(
        ratings,
        list("uvwxyz"[:k]),
        system=systems,
        systems=names,
        truth=shown if len(labelled) else None,
    )
    return made, truth


def compare(ratings, **options):
    """Differences, their 90% intervals and P(better) of each two systems, from the draws."""
    draws = draw_learned_prior(ratings, **{"raters_are": "people"} | options)
    names, result = list(draws.coords["system"]), {}
    for ending in ("", "_in_sample"):
        accuracy = draws.drawn[f"system_accuracy{ending}"].T
        difference = accuracy[:, None] - accuracy
        lower, upper = np.quantile(difference, [0.05, 0.95], axis=-1)
        better = (np.sign(difference.round(9)) + 1) / 2
        of_pairs = {
            "difference": difference.mean(axis=-1),
            "lower": lower,
            "upper": upper,
            "probability_better": better.mean(axis=-1),
        }
        result |= {name + ending: (("system", "versus"), x) for name, x in of_pairs.items()}
    return xr.Dataset(result, {"system": names, "versus": names})


def test_half_of_ties_and_of_answers_that_nobody_prefers_counts():
    ratings = lehner.Ratings(
        [[0, 0], [0, 1], [2, 2], [1, 1], [-1, -1]],
        ["x", "y", "z"],
        system=[[0, 1], [0, 1], [0, 1], [0, 1], [0, 1]],
        systems=["a", "b"],
        truth=[0, 2, -1, 1, 0],
    )
    result = count_disagreement(ratings, ("a", "b"))
    assert (result.n_items, result.n_differ) == (4, 4)
    assert result.preferred == pytest.approx((1 + 0.5 + 0.5 + 0) / 4)
    assert (result.n_known, result.right) == (3, pytest.approx((1 + 0.5 + 0) / 3))


def test_the_difference_is_that_of_the_prior_on_differing_items():
    ratings, _ = crowd()
    counts = count_disagreement(ratings, ("a", "b"))
    right, probability = make_prior(
        read_priors()["people"]["difference"], counts.preferred * counts.n_differ, counts.n_differ
    )
    share = counts.n_differ / counts.n_items
    mean = share * (2 * (right @ probability) / counts.n_differ - 1)
    ends = stats.rv_discrete(values=(right, probability)).ppf([0.05, 0.95])
    result = compare(ratings).sel(PAIR)
    # Monte Carlo errors of 4,000 draws.
    assert float(result.difference_in_sample) == pytest.approx(mean, abs=0.01)
    assert float(result.lower_in_sample) == pytest.approx(
        share * (2 * ends[0] / counts.n_differ - 1), abs=0.03
    )
    assert float(result.upper_in_sample) == pytest.approx(
        share * (2 * ends[1] / counts.n_differ - 1), abs=0.03
    )
    assert abs(float(result.upper_in_sample)) <= share


def test_known_truths_enter_by_the_hypergeometric_likelihood():
    everything, _ = crowd()
    differ = np.flatnonzero(everything.answers[:, 0] != everything.answers[:, 1])
    ratings, _ = crowd(labelled=differ[:15])
    counts = count_disagreement(ratings, ("a", "b"))
    assert counts.n_known == 15
    right, probability = make_prior(
        read_priors()["people"]["difference"], counts.preferred * counts.n_differ, counts.n_differ
    )
    likelihood = stats.hypergeom.pmf(round(15 * counts.right), counts.n_differ, right, 15)
    posterior = probability * likelihood / (probability @ likelihood)
    mean = counts.n_differ / counts.n_items * (2 * (right @ posterior) / counts.n_differ - 1)
    result = compare(ratings).sel(PAIR)
    assert float(result.difference_in_sample) == pytest.approx(mean, abs=0.005)


@pytest.mark.parametrize("n_wrong", [0, 1])
@pytest.mark.parametrize("n_known", [1, 12])
@pytest.mark.parametrize("order", [1, -1])
def test_labels_leave_a_system_possible_that_is_right_wherever_two_differ(order, n_known, n_wrong):
    """Raters mostly side with the other system; the interval goes as far as that of the labels."""
    n, differ = 200, np.arange(200) < 40
    truth, systems = np.zeros(n, int), np.column_stack([np.zeros(n, int), differ])[:, ::order]
    votes = np.tile(differ & (np.arange(n) % 4 > 0), (3, 1)).T.astype(int)
    truth[:n_wrong] = 1
    shown = np.where(np.arange(n) < n_known, truth, -1)
    made = lehner.Ratings(votes, ["x", "y"], system=systems, systems=["a", "b"], truth=shown)
    result, counts = compare(made).sel(PAIR), count_disagreement(made, ("a", "b"))
    ends = [float(result[name]) for name in ("lower_in_sample", "upper_in_sample")]
    expected = [float(result[name]) for name in ("lower", "upper")]
    right = counts.right if order > 0 else 1 - counts.right
    assert right == pytest.approx(1 - n_wrong / n_known)
    if right > 0.5:
        alone = estimate_wilson(right, n_known, 0.9, population=40).upper
        assert order * ends[order > 0] == pytest.approx(0.2 * (2 * alone - 1))
    if n_wrong == 0:
        assert order * expected[order > 0] == pytest.approx(
            stats.beta.ppf(0.95, 40.5, 160.5), abs=0.003
        )
    assert order * ends[order < 0] < 0.1


@pytest.mark.parametrize("k", [2, 4])
def test_if_all_differing_items_are_known_the_difference_here_is_exact(k):
    everything, truth = crowd(k=k)
    differ = np.flatnonzero(everything.answers[:, 0] != everything.answers[:, 1])
    ratings, _ = crowd(k=k, labelled=differ)
    right = (ratings.answers == truth[:, None]).mean(axis=0)
    result = compare(ratings).sel(PAIR)
    for name in ("difference", "lower", "upper"):
        assert float(result[f"{name}_in_sample"]) == pytest.approx(right[0] - right[1], abs=1e-9)
    # In other items like these there is the error of a sample.
    standard_error = np.std((ratings.answers == truth[:, None]) @ [1, -1]) / np.sqrt(200)
    width = float(result.upper - result.lower)
    assert width == pytest.approx(2 * 1.645 * standard_error, rel=0.25)


def test_truths_of_items_with_equal_answers_tell_nothing():
    everything, _ = crowd()
    same = np.flatnonzero(everything.answers[:, 0] == everything.answers[:, 1])
    text = compare(crowd(labelled=same)[0])
    assert text.equals(compare(everything))


def test_systems_with_the_same_answers_are_tied():
    ratings, _ = crowd()
    answers = ratings.answers[:, [0, 0, 1]]
    same = lehner.Ratings(
        ratings.codes, ratings.categories, system=answers, systems=["a", "b", "c"]
    )
    result = compare(same)
    assert float(result.sel(PAIR).difference) == float(result.sel(PAIR).upper) == 0
    assert float(result.sel(PAIR).probability_better) == 0.5
    assert float(result.sel(system="a", versus="c").difference) > 0


def test_items_without_ratings_or_answers_change_nothing():
    ratings, _ = crowd()
    empty = np.full((100, 3), -1)
    more = lehner.Ratings(
        np.vstack([ratings.codes, empty]),
        ratings.categories,
        system=np.vstack([ratings.answers, np.tile([0, 1], (100, 1))]),
        systems=["a", "b"],
    )
    assert compare(more).equals(compare(ratings))


def test_clusters_widen_the_interval_as_fewer_items_do():
    ratings, _ = crowd(n=100)
    copies = ratings.take(np.repeat(np.arange(100), 5))
    clustered = copies.with_clusters(np.repeat(np.arange(100), 5))
    counts = count_disagreement(clustered, ("a", "b"))
    differ = (clustered.answers[:, 0] != clustered.answers[:, 1]).astype(float)
    votes = clustered.count_votes()
    preferred = (votes[np.arange(500), clustered.answers[:, 0]] > 1).astype(float)
    assert counts.effect >= design_effect(preferred, differ, clustered.cluster)
    alone, many, few = (compare(estimate).sel(PAIR) for estimate in (ratings, copies, clustered))
    widths = [float(estimate.upper - estimate.lower) for estimate in (many, few, alone)]
    assert widths[0] < widths[1]
    assert widths[1] == pytest.approx(widths[2], rel=0.15)


def test_several_systems_are_near_the_differences_of_each_two():
    ratings, _ = crowd(skills=(0.9, 0.8, 0.6, 0.75), n=400)
    together = compare(ratings)
    for system in "abcd":
        for other in set("abcd") - {system}:
            alone = compare(ratings, systems=(system, other))
            pair = {"system": system, "versus": other}
            assert float(together.difference.sel(pair)) == pytest.approx(
                float(alone.difference.sel(pair)), abs=0.06
            )
    ahead = together.difference.sel(versus="a").values
    assert np.argsort(-ahead).tolist() == [0, 1, 3, 2]


def test_of_many_systems_differences_from_the_one_that_agrees_most_are_those_of_two(monkeypatch):
    for module in (contrast, learned_prior):
        monkeypatch.setattr(module, "MOST_COMPARED", 3)
    ratings, _ = crowd(skills=(0.8, 0.9, 0.6, 0.75), n=400)
    together = compare(ratings)
    for system in "acd":
        alone, pair = compare(ratings, systems=("b", system)), {"system": "b", "versus": system}
        for quantity in ("difference", "lower", "upper", "upper_in_sample"):
            expected = float(alone[quantity].sel(pair))
            assert float(together[quantity].sel(pair)) == pytest.approx(expected, abs=0.01)


@pytest.mark.slow
def test_better_systems_are_found_where_mistakes_are_independent():
    right = []
    for seed in range(40):
        ratings, truth = crowd(n=300, skills=(0.85, 0.75), seed=seed)
        result = compare(ratings).sel(PAIR)
        true = float(np.subtract(*(ratings.answers == truth[:, None]).mean(axis=0)))
        right.append(float(result.lower_in_sample) <= true <= float(result.upper_in_sample))
    assert np.mean(right) >= 0.9


def test_it_is_the_difference_of_the_method_learned_prior():
    ratings, _ = crowd()
    compared = lehner.estimate(ratings, ["learned_prior", "algebraic"])
    result = compare(ratings, raters_are="unknown").sel(PAIR)
    row = compared.select(quantity="system_accuracy_difference", method="learned_prior").iloc[0]
    assert row["estimate"] == pytest.approx(float(result.difference))
    assert row["lower"] == pytest.approx(float(result.lower))
    assert row["probability"] == pytest.approx(float(result.probability_better))
    ranks = compared.select(quantity="system_accuracy_rank", method="learned_prior")
    assert ranks["probability"].max() == pytest.approx(float(result.probability_better))


def test_priors_without_differences_are_said(tmp_path):
    kept = {name: read_priors()["people"][name] for name in ("like", "better", "unknown")}
    (tmp_path / "p.json").write_text(format_priors({"people": kept}))
    ratings, _ = crowd()
    with pytest.raises(lehner.InputError, match="fewer than three families"):
        draw_learned_prior(ratings, priors=tmp_path / "p.json")
    compared = lehner.estimate(
        ratings, "learned_prior", given=lehner.Given(priors=tmp_path / "p.json")
    )
    assert compared.select(quantity="system_accuracy_difference")["probability"].isna().all()


def test_items_to_label_are_those_on_which_systems_differ():
    ratings, truth = crowd(skills=(0.9, 0.7, 0.8))
    differ = (ratings.answers != ratings.answers[:, :1]).any(axis=1)
    rows = lehner.choose_items(ratings, 20, seed=1)
    assert len(set(rows.tolist())) == 20 and differ[rows].all()
    with pytest.raises(lehner.InputError, match=f"the systems differ on only {differ.sum()} of"):
        lehner.choose_items(ratings, 199)
    gold = np.where(differ, truth, -1)
    with pytest.raises(lehner.InputError, match="differ on only 0"):
        lehner.choose_items(ratings.with_truth(gold), 1)
