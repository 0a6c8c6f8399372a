import json
from collections import Counter
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import lehner
from lehner.core.arrays import derive_seed
from lehner.core.resampling import estimate_wilson
from lehner.empirical_prior.designs import (
    Panel,
    choose_pairs,
    choose_panels,
    draw_design,
    draw_outcomes,
)
from lehner.empirical_prior.learned_prior import (
    estimate_cluster_correlation,
    estimate_learned_prior,
    find_corrected_agreement,
)
from lehner.empirical_prior.prior import (
    BANDWIDTH,
    GRID,
    SYSTEM_IS,
    UNLIKE,
    find_unlike,
    format_priors,
    make_prior,
    predict_expected,
    read_priors,
    train_prior,
    train_priors,
    update_in_sample,
)
from lehner.known_truths.partly_known import ProportionPosterior


def outcomes(n_families, rng, spread=0.5, design="like", n_items=200):
    """Families whose log odds of the accuracy are 0.3 above those of the agreement, plus theirs."""
    rows = []
    for family in range(n_families):
        own = rng.normal(0, spread)
        for crowd in range(1 + family % 2):
            for _ in range(4):
                x = rng.normal(1, 0.7)
                accuracy = rng.binomial(n_items, 1 / (1 + np.exp(-(x + 0.3 + own)))) / n_items
                rows.append(
                    {
                        "crowd": f"{family} {crowd}",
                        "family": str(family),
                        "design": design,
                        "n_items": n_items,
                        "n_categories": 2,
                        "ratings_per_item": 3.0,
                        "agreement": 1 / (1 + np.exp(-x)),
                        "accuracy": accuracy,
                    }
                )
    return pd.DataFrame(rows)


def test_known_truths_enter_by_the_hypergeometric_likelihood():
    prior = read_priors()["people"]["like"]
    right, probability = make_prior(prior, 60.0, 90)
    posterior = update_in_sample(right, probability, 12, 9)
    expected = probability * stats.hypergeom.pmf(9, 90, right, 12)
    expected = expected[(right >= 9) & (90 - right >= 3)] / expected.sum()
    np.testing.assert_allclose(posterior.probability, expected, atol=1e-12)


@pytest.mark.parametrize(("agreeing", "n", "gold", "right"), [(60.0, 90, 12, 9), (49.5, 50, 0, 0)])
def test_the_expected_accuracy_is_a_beta_around_each_number_of_right_answers(
    agreeing, n, gold, right
):
    in_sample = update_in_sample(
        *make_prior(read_priors()["people"]["unknown"], agreeing, n), gold, right
    )
    lower, upper = predict_expected(in_sample, n).interval(0.9)
    number = np.round(in_sample.values * n)
    for end, below in ((lower, 0.05), (upper, 0.95)):
        mixture = in_sample.probability @ stats.beta.cdf(end, number + 0.5, n - number + 0.5)
        assert mixture == pytest.approx(below, abs=0.004)


def test_the_expected_accuracy_of_many_items_is_that_in_the_sample():
    in_sample = update_in_sample(*make_prior(read_priors()["people"]["like"], 7e4, 100_000), 40, 31)
    expected = predict_expected(in_sample, 100_000)
    assert expected.interval(0.9) == pytest.approx(in_sample.interval(0.9), abs=2e-3)
    assert expected.mean == pytest.approx(in_sample.mean, abs=5e-4)


def test_a_coarse_grid_gives_what_the_whole_grid_gives(monkeypatch):
    prior = read_priors()["people"]["unknown"]
    coarse = update_in_sample(*make_prior(prior, 7000.0, 10_000), 40, 31)
    monkeypatch.setattr("lehner.empirical_prior.prior.GRID", 10_001)
    whole = update_in_sample(*make_prior(prior, 7000.0, 10_000), 40, 31)
    assert len(coarse.values) <= GRID < len(whole.values)
    assert coarse.mean == pytest.approx(whole.mean, abs=2e-4)
    assert coarse.interval(0.9) == pytest.approx(whole.interval(0.9), abs=1e-3)


@pytest.mark.slow
def test_intervals_hold_in_new_families():
    rng = np.random.default_rng(7)
    prior = train_prior(outcomes(150, rng), "like")
    inside = {0.5: [], 0.8: [], 0.9: []}
    for outcome in outcomes(400, rng).itertuples():
        numbers = make_prior(prior, outcome.agreement * outcome.n_items, outcome.n_items)
        posterior = update_in_sample(*numbers, 0, 0)
        for level, holds in inside.items():
            lower, upper = posterior.interval(level)
            holds.append(lower - 1e-9 <= outcome.accuracy <= upper + 1e-9)
    # Families share their deviation: the standard error is of about 400 families.
    for level, holds in inside.items():
        assert np.mean(holds) == pytest.approx(level, abs=0.06)


def test_the_line_and_the_spread_of_families_are_found():
    prior = train_prior(outcomes(400, np.random.default_rng(2), spread=0.4), "like")
    assert prior.intercept == pytest.approx(0.3, abs=0.1)
    assert prior.slope == pytest.approx(1.0, abs=0.1)
    assert np.std(prior.deviations) == pytest.approx(np.hypot(0.4, 0.17), abs=0.06)


def test_families_count_equally_however_many_data_sets_they_have():
    few = outcomes(12, np.random.default_rng(1))
    twice = train_prior(pd.concat([few, few[few["family"] == "3"]]), "like")
    assert twice.slope == pytest.approx(train_prior(few, "like").slope, abs=1e-12)
    assert twice.intercept == pytest.approx(train_prior(few, "like").intercept, abs=1e-12)


def test_no_zero_has_a_minus_sign():
    alike = outcomes(12, np.random.default_rng(1)).assign(agreement=0.5, accuracy=0.5)
    alike.loc[::2, ["accuracy", "agreement"]] = 0.5 + 1e-9, 0.5 - 1e-9
    text = format_priors({"people": {"like": train_prior(alike, "like")}})
    assert "-0.0" not in text and " 0.0," in text


def draw_crowds(crowds):
    """Draw data sets of each crowd, whose name begins with that of its family."""
    return pd.concat(draw_outcomes(name, name[0], crowd, 3) for name, crowd in crowds.items())


def test_priors_are_trained_on_crowds_dealt_by_family(tmp_path):
    crowds = {name: crowd(seed=seed) for seed, name in enumerate(("a1", "a2", "b", "c"))}
    priors = train_priors(draw_crowds(crowds))
    assert (priors["unknown"].families, priors["unknown"].n_crowds) == (["a", "b", "c"], 4)
    (tmp_path / "p.json").write_text(format_priors({"people": priors}))
    assert read_priors(tmp_path / "p.json") == {"people": priors}
    result = lehner.estimate(
        crowd(seed=9).with_truth(None).with_system("w4"),
        ["learned_prior"],
        given=lehner.Given(priors=tmp_path / "p.json", system_is="better"),
    )
    assert "learned on 4 crowds of your own" in result.sentence()


def test_a_system_is_a_rater_and_counted_rows_are_items():
    people = crowd(skills=(0.6, 0.7, 0.8, 0.9))
    drawn = draw_outcomes("a", "a", people, 3)
    assert drawn.equals(draw_outcomes("a", "a", people.with_system("w3"), 3))
    # One row stands for all the items with its ratings and its label.
    grouped = people.to_grouped()
    assert grouped.n_rows < people.n_rows
    apart = draw_outcomes("a", "a", grouped.to_ungrouped(), 3)
    assert draw_outcomes("a", "a", grouped, 3).equals(apart)


def test_crowds_that_cannot_be_trained_on_are_said():
    with pytest.raises(lehner.InputError, match="the crowd d has no gold labels; name their"):
        draw_crowds({"d": crowd().with_truth(None)})
    few = {name: crowd(n_items=20) for name in "abc"}
    alike = {name: crowd(skills=(0.6, 0.7, 0.9)) for name in "abc"}
    for crowds in (few, alike):
        with pytest.raises(lehner.InputError, match="no crowd has four raters, of whom one is"):
            train_priors(draw_crowds(crowds))
    with pytest.raises(lehner.InputError, match="the crowds are of 2 families; give crowds of 3"):
        train_priors(draw_crowds({name: crowd() for name in "ab"}))


def ratings(n=60, n_truths=0, n_raters=3, n_categories=2):
    rng = np.random.default_rng(3)
    truth = rng.integers(n_categories, size=n)
    votes = np.where(rng.random((n, n_raters)) < 0.8, truth[:, None], (truth[:, None] + 1) % 2)
    system = np.where(rng.random(n) < 0.9, truth, (truth + 1) % 2)
    shown = np.where(np.arange(n) < n_truths, truth, -1)
    made = lehner.Ratings(votes, list("abcdefghijklmn"[:n_categories]), system=system, truth=shown)
    return made, float((system == truth).mean())


def test_all_but_one_truth_leave_one_item_open():
    data, accuracy = ratings(60, n_truths=59)
    result = estimate_learned_prior(data).system_accuracy_in_sample
    assert result.upper - result.lower <= 1 / 60 + 1e-12
    assert result.lower <= accuracy <= result.upper


@pytest.mark.parametrize("clusters", [None, np.arange(60) // 4])
def test_truths_of_all_items_make_the_accuracy_here_exact(clusters):
    data, accuracy = ratings(n_truths=60)
    result = estimate_learned_prior(data.with_clusters(clusters)).system_accuracy_in_sample
    assert (result.lower, result.estimate, result.upper) == pytest.approx((accuracy,) * 3)
    told = lehner.estimate(data, "learned_prior")
    (system,) = data.systems
    assert told.value("system_accuracy_in_sample", system=system, method="learned_prior") != result
    (said,) = (warning for warning in told.warnings if warning.code == "all-labelled")
    assert f"right on {round(60 * accuracy)} of the 60" in said.text


@pytest.mark.parametrize("misleading", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [10, 60])
def test_labels_without_an_error_leave_a_perfect_system_possible(n, weighted, misleading):
    """Raters of .8, also all of them misled; a wrong answer among the labelled excludes 1."""
    rng = np.random.default_rng(n)
    truth = rng.integers(2, size=200)
    seems = np.where(rng.random(200) < misleading, 1 - truth, truth)
    votes = np.where(rng.random((200, 3)) < 0.8, seems[:, None], 1 - seems[:, None])
    gold = np.where(np.arange(200) < n, truth, -1)
    chance = np.full(200, 0.3) if weighted else None
    data = lehner.Ratings(
        votes, ["a", "b"], system=truth, truth=gold, truth_probability=chance, systems=["s"]
    )
    result = estimate_learned_prior(data)
    assert result.diagnostics["agreement"] < 0.95
    for value in (result.system_accuracy, result.system_accuracy_in_sample):
        assert value.lower < value.estimate < value.upper == 1
    wrong = np.where(np.arange(200) < 1, 1 - truth, truth)
    value = estimate_learned_prior(data.replace(answers=wrong[:, None])).system_accuracy_in_sample
    alone = estimate_wilson(1 - 1 / n, n, 0.9, population=200).upper
    assert value.estimate < value.upper <= 1 - 1 / 200
    assert weighted or value.upper >= min(alone, 1 - 1 / 200)


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_an_interval_contains_the_mean_however_few_the_values(level):
    rng = np.random.default_rng(1)
    for n in (1, 2, 3, 5) * 20:
        posterior = ProportionPosterior(
            values=np.sort(rng.random(n)), probability=rng.dirichlet(np.full(n, 0.3))
        )
        for lower, upper in (posterior.interval(level), posterior.shortest_interval(level)):
            assert lower <= posterior.mean <= upper
    for votes in ([0, 0, 0], [0, 0, 1]):
        single = lehner.Ratings([votes], ["no", "yes"], system=[0])
        for system_is in SYSTEM_IS:
            fit = estimate_learned_prior(single, system_is=system_is, level=level)
            for value in (fit.system_accuracy, fit.system_accuracy_in_sample):
                assert value.lower <= value.estimate <= value.upper


@pytest.mark.parametrize("n_clusters", [12, 40])
def test_clusters_widen_the_prior_by_the_design_effect_of_agreement(n_clusters):
    """By draws of the log odds, whose variance is that of the mean over clusters, with Student's t.

    What clusters add to the binomial variance of the agreement is added to that of the deviations.
    """
    rng, n = np.random.default_rng(3), 240
    cluster = np.arange(n) * n_clusters // n
    agrees = rng.random(n) < rng.beta(2.4, 0.6, n_clusters)[cluster]
    votes = np.repeat((~agrees).astype(int)[:, None], 3, axis=1)
    data = lehner.Ratings(votes, ["a", "b"], system=np.zeros(n, int), cluster=cluster)
    values = []
    for made in (data, data.with_clusters(None)):
        value = estimate_learned_prior(
            made, system_is="like", raters_are="people"
        ).system_accuracy_in_sample
        values.append((value.lower, value.upper))
    m = agrees.mean()
    sums = np.bincount(cluster, agrees - m)
    of_mean = n_clusters / (n_clusters - 1) * (sums**2).sum() / n**2
    of_mean *= (stats.t.ppf(0.95, n_clusters - 1) / stats.norm.ppf(0.95)) ** 2
    added = of_mean / (m * (1 - m)) ** 2 - 1 / (n * m * (1 - m))
    prior, size = read_priors()["people"]["like"], 400_000
    spread = np.sqrt(BANDWIDTH**2 * np.pi**2 / 3 + added)
    noise = rng.logistic(0, spread * np.sqrt(3) / np.pi, size) + rng.choice(prior.deviations, size)
    right = 1 / (1 + np.exp(-(prior.intercept + prior.slope * np.log(m / (1 - m)) + noise)))
    right[: int(UNLIKE * size)] = rng.random(int(UNLIKE * size))
    assert values[0] == pytest.approx(np.quantile(right, [0.05, 0.95]), abs=0.012)
    assert values[0][0] < values[1][0] - 0.015


def test_more_is_expected_of_a_system_that_is_better_than_its_raters():
    result = {name: estimate_learned_prior(ratings()[0], system_is=name) for name in SYSTEM_IS}
    points = {name: fit.system_accuracy_in_sample.estimate for name, fit in result.items()}
    assert points["like"] < points["unknown"] < points["better"]


def test_ratings_unlike_those_of_the_training_are_said():
    data, _ = ratings(20, n_categories=12)
    said = [
        warning
        for warning in estimate_learned_prior(data, raters_are="people").warnings
        if warning.code == "outside-training"
    ]
    assert [str(warning).split(":")[0] for warning in said] == ["items", "categories"]
    assert not estimate_learned_prior(ratings()[0], system_is="like").warnings


def test_nearly_perfect_agreement_leaves_room_for_an_excellent_system():
    """What still differs may be errors of the majority, unless a gold label says otherwise."""
    answers = np.zeros((300, 3), int)
    system = (np.arange(300) < 4).astype(int)
    data = lehner.Ratings(answers, ["a", "b"], system=system)
    assert estimate_learned_prior(data).system_accuracy.upper == 1
    gold = np.where(np.arange(300) < 50, 0, -1)
    assert estimate_learned_prior(data.with_truth(gold)).system_accuracy.upper < 1


UNDEFINED = {
    name: asdict(prior) | {"slope": float("nan")} for name, prior in read_priors()["people"].items()
}


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"people": {"like": 1}}', "\x00", json.dumps({"people": UNDEFINED})]
)
def test_a_file_that_is_not_of_priors_is_said(tmp_path, text):
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(lehner.InputError, match="no file of priors") as error:
        estimate_learned_prior(ratings()[0], priors=tmp_path / "p.json")
    assert "format_priors" in str(error.value)


def test_it_is_a_method_like_others():
    data, _ = ratings(n_truths=15)
    compared = lehner.estimate(
        data, ["learned_prior", "algebraic"], given=lehner.Given(system_is="better")
    )
    alone = estimate_learned_prior(data, system_is="better")
    (system,) = data.systems
    own = compared.value("system_accuracy", system=system, method="learned_prior")
    assert own == replace(alone.system_accuracy, corrected=True, standard_error=None)
    assert compared.fits[system, "learned_prior"].diagnostics["known_truths"] == 15
    with pytest.raises(lehner.InputError, match="like, better, unknown"):
        lehner.estimate(data, ["learned_prior"], given=lehner.Given(system_is="worse"))


def test_known_items_that_were_chosen_are_said():
    data, _ = ratings(200)
    votes = data.count_votes()
    split = np.flatnonzero(votes.max(axis=1) < 3)[:30]
    truth = np.full(200, -1)
    truth[split] = 0
    result = estimate_learned_prior(data.with_truth(truth))
    assert "truths-not-random" in [warning.code for warning in result.warnings]
    random = np.where(np.arange(200) % 7 == 0, 0, -1)
    assert not estimate_learned_prior(data.with_truth(random), raters_are="people").warnings


def test_truths_that_no_crowd_explains_outweigh_the_prior():
    prior = read_priors()["people"]["like"]
    numbers = make_prior(prior, 190.0, 200)
    assert find_unlike(*numbers, 20, 18) < 0.01
    assert find_unlike(*numbers, 20, 2) > 0.99
    # What is left is a uniform prior with the hypergeometric likelihood.
    likelihood = stats.hypergeom.pmf(2, 200, numbers[0], 20)
    uniform = likelihood @ numbers[0] / likelihood.sum() / 200
    assert update_in_sample(*numbers, 20, 2).mean == pytest.approx(uniform, abs=0.005)


def test_the_probability_of_an_unlike_crowd_is_that_of_a_mixture():
    prior = read_priors()["people"]["better"]
    mixed = make_prior(prior, 70.0, 90)
    right, like = make_prior(prior, 70.0, 90, unlike=0.0)
    likelihood = stats.hypergeom.pmf(3, 90, right, 10)
    unlike = UNLIKE * likelihood.mean()
    expected = unlike / (unlike + (1 - UNLIKE) * like @ likelihood)
    assert find_unlike(*mixed, 10, 3) == pytest.approx(expected, rel=1e-6)


def test_truths_unlike_the_crowds_are_said():
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=200)
    gold = np.where(np.arange(200) < 25, truth, -1)
    ratings = np.tile(1 - truth, (3, 1)).T
    result = estimate_learned_prior(
        lehner.Ratings(ratings, ["no", "yes"], system=1 - truth, truth=gold)
    )
    (said,) = result.warnings
    assert said.code == "outside-training" and said.text.startswith("0 of the 25 answers")
    assert result.system_accuracy_in_sample.estimate < 0.1


@pytest.mark.parametrize("n", [1, 10, 50, 300])
@pytest.mark.parametrize("n_truths", [0, 1, 25])
def test_the_interval_of_the_expected_accuracy_contains_that_in_the_sample(n, n_truths):
    """Though all agree: a system that errs once in 200 items is still possible."""
    truth = np.where(np.arange(n) < n_truths, 0, -1)
    data = lehner.Ratings(np.zeros((n, 3), int), ["a", "b"], system=np.zeros(n, int), truth=truth)
    result = estimate_learned_prior(data)
    expected, in_sample = result.system_accuracy, result.system_accuracy_in_sample
    assert expected.lower <= in_sample.lower <= in_sample.upper <= expected.upper
    assert expected.upper > 0.995
    assert expected.lower < 0.999


def test_the_correlation_within_clusters_is_found_through_noisy_raters():
    """Agreement with raters of .75 correlates less than what it is a sign of."""
    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(400), 5)
    right = rng.random(2000) < rng.beta(0.8 * 1.5, 0.2 * 1.5, 400)[cluster]
    # All items are of one category, so that a right rating is one in it.
    votes = (rng.random((2000, 3)) < 0.75).astype(int)
    data = lehner.Ratings(votes, ["b", "a"], system=right.astype(int), cluster=cluster)
    assert estimate_cluster_correlation(data) == pytest.approx(0.4, abs=0.12)
    assert estimate_cluster_correlation(data.with_clusters(None)) == 0


def test_the_interval_for_better_systems_is_the_shortest():
    posterior = update_in_sample(*make_prior(read_priors()["people"]["better"], 150.0, 200), 0, 0)
    (lower, upper), equal = posterior.shortest_interval(0.9), posterior.interval(0.9)
    within = (posterior.values >= lower) & (posterior.values <= upper)
    assert posterior.probability[within].sum() >= 0.9
    values, cumulated = posterior.values, np.cumsum(posterior.probability)
    others = [
        values[np.searchsorted(cumulated, below + 0.9)] - values[np.searchsorted(cumulated, below)]
        for below in np.linspace(0.001, 0.098, 50)
    ]
    assert upper - lower <= min(others) < equal[1] - equal[0]
    data, _ = ratings()
    better = estimate_learned_prior(data, system_is="better", raters_are="people")
    assert better.system_accuracy.kind.endswith("shortest")
    assert estimate_learned_prior(data).system_accuracy.kind == "empirical prior"


def name_raters(data, names):
    return lehner.Ratings(data.codes, data.categories, names, system=data.system)


def test_names_of_raters_decide_only_if_all_are_plain():
    data, _ = ratings()
    for names, raters_are in (
        (["GPT-4", "gemini_flash", "llama3.1_70b"], "models"),
        (["gpt-4o", "claude-3", "judge"], "people"),
        (["Philippa", "Ayah", "Gemma Lee-Llamas"], "people"),
    ):
        named = name_raters(data, names)
        assumed, said = (
            estimate_learned_prior(named, raters_are=who) for who in ("unknown", raters_are)
        )
        assert assumed.diagnostics["raters_are"] == raters_are
        assert assumed.system_accuracy == said.system_accuracy
        assert assumed.diagnostics["assumes_people"] == (raters_are == "people")
        assert not said.diagnostics["assumes_people"]


def test_models_that_always_say_the_same_agree_by_chance():
    votes, system = np.zeros((90, 3), int), (np.arange(90) < 2).astype(int)
    data = lehner.Ratings(votes, ["a", "b"], system=system)
    assert find_corrected_agreement(data) == 0.5
    value = estimate_learned_prior(data, raters_are="models", system_is="like")
    assert value.system_accuracy_in_sample.lower < 0.5 < value.system_accuracy_in_sample.estimate


def test_gold_labels_overrule_the_prior_of_models():
    """All models but the system are misled on half of the items, as by pairs that are made so."""
    truth = np.random.default_rng(1).integers(2, size=300)
    misled = np.where(np.arange(300) % 2 == 0, truth, 1 - truth)
    shown = np.where(np.arange(300) < 50, truth, -1)
    data = lehner.Ratings(np.tile(misled, (3, 1)).T, ["a", "b"], system=misled, truth=shown)
    value = estimate_learned_prior(data, raters_are="models").system_accuracy_in_sample
    assert value.lower < 0.5 < value.upper < 0.7


def test_priors_of_other_raters_than_said_are_missing(tmp_path):
    (tmp_path / "p.json").write_text(format_priors({"people": read_priors()["people"]}))
    named = name_raters(ratings()[0], ["gpt-4", "gpt-4o", "gpt-5"])
    found = estimate_learned_prior(named, priors=tmp_path / "p.json").diagnostics
    assert found["raters_are"] == "people"
    with pytest.raises(lehner.InputError, match="no priors of models"):
        estimate_learned_prior(named, priors=tmp_path / "p.json", raters_are="models")


# .


def crowd(n_items=80, skills=(0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95), seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_items)
    right = rng.random((n_items, len(skills))) < skills
    return lehner.Ratings(
        np.where(right, truth[:, None], 1 - truth[:, None]),
        ["no", "yes"],
        [f"w{j}" for j in range(len(skills))],
        truth=truth,
    )


def skill_of(people, names):
    codes = {name: people.codes[:, people.raters.index(name)] for name in names}
    return [float((codes[name] == people.truth).mean()) for name in names]


def raters_of(panel):
    present = np.unique(panel.crowd.votes.rater_index)
    return {panel.crowd.raters[j] for j in present} - {panel.system}


def test_all_workers_are_the_system_in_turn_and_all_others_rate():
    people = crowd()
    panels = choose_panels(people)
    assert sorted(panel.system for panel in panels) == sorted(people.raters)
    assert all(raters_of(panel) == set(people.raters) - {panel.system} for panel in panels)


def test_better_systems_are_above_all_their_raters_and_worse_ones_below():
    people = crowd()
    for how, sign in (("better", 1), ("worse", -1)):
        panels = choose_panels(people, how)
        assert len(panels) == 3
        for panel in panels:
            others = skill_of(people, raters_of(panel))
            assert len(others) == 4
            assert all(sign * (skill_of(people, [panel.system])[0] - other) > 0 for other in others)


def test_small_panels_keep_three_raters():
    people = crowd(skills=(0.6, 0.7, 0.8, 0.9))
    (panel,) = choose_panels(people, "better")
    assert panel.system == "w3"
    assert len(raters_of(panel)) == 3
    assert choose_panels(crowd(skills=(0.6, 0.7, 0.9)), "better") == []


@pytest.mark.parametrize("per_item", ["3", "5", "all"])
def test_a_data_set_has_the_asked_number_of_raters(per_item):
    (panel, *_) = choose_panels(crowd())
    drawn = draw_design(panel, per_item, np.random.SeedSequence(4))
    assert drawn.n_raters == (8 if per_item == "all" else int(per_item))
    assert (drawn.system == drawn.truth).mean() == pytest.approx(
        skill_of(panel.crowd, [panel.system])[0]
    )


def test_outcomes_are_the_same_for_the_same_seed():
    first, again = (draw_outcomes("x", "f", crowd(), 3) for _ in range(2))
    assert first.equals(again)
    assert set(first["design"]) == {"like", "better", "worse", "two like", "two better"}
    assert first.query("design == 'like'")["accuracy"].mean() == pytest.approx(0.75, abs=0.03)


@pytest.fixture(scope="module")
def sparse():
    """Make a crowd of 40 workers with 400 items; each but one rates the tenth part of them."""
    rng = np.random.default_rng(1)
    codes = np.full((400, 40), -1)
    for i, row in enumerate(codes):
        raters = rng.choice(39, 4, replace=False) if i % 4 else np.arange(39)
        row[raters] = rng.integers(2, size=len(raters))
    codes[:, 39] = 0
    names = [*(f"w{j}" for j in range(39)), "all"]
    return lehner.Ratings(codes, ["a", "b"], names, truth=np.arange(400) % 2)


@pytest.mark.parametrize("per_item", ["3", "5", "all"])
def test_the_system_is_no_rater(sparse, per_item):
    panel = Panel(systems=("all",), crowd=sparse)
    drawn = draw_design(panel, per_item, derive_seed(1, "crowd", "all"))
    items = drawn.items
    assert (drawn.system == 0).all()
    np.testing.assert_array_equal(drawn.system == drawn.truth, sparse.truth[items] == 0)
    # Raters are numbered, so that what is compared are the votes without those of the system.
    without = sparse.count_votes()[items] - [1, 0]
    result = drawn.count_votes()
    if per_item == "all":
        np.testing.assert_array_equal(result, without)
    else:
        assert (result.sum(axis=1) == int(per_item)).all()
        assert (result <= without).all()


def test_at_most_300_items_with_truth_that_the_system_rated(sparse):
    drawn = draw_design(Panel(systems=("all",), crowd=sparse), "3", derive_seed(1, "crowd", "all"))
    assert drawn.n_items == len(set(drawn.items)) == 300
    worker = draw_design(Panel(systems=("w3",), crowd=sparse), "3", derive_seed(1, "crowd", "w3"))
    assert set(worker.items) == set(np.flatnonzero(sparse.codes[:, 3] >= 0))


def test_raters_of_a_crossed_design_keep_their_ratings():
    codes = np.random.default_rng(1).integers(3, size=(60, 6))
    names = [f"r{j}" for j in range(6)]
    crossed = lehner.Ratings(codes, ["a", "b", "c"], names, truth=np.zeros(60, int))
    drawn = draw_design(Panel(systems=("r2",), crowd=crossed), "3", derive_seed(1, "x", "r2"))
    by_rater = codes.T.tolist()
    result = {by_rater.index(drawn.codes[:, j].tolist()) for j in range(3)}
    assert len(result) == 3
    assert 2 not in result


def test_systems_are_those_with_most_items_and_twelve_at_most(sparse):
    systems = [panel.system for panel in choose_panels(sparse)]
    assert systems[0] == "all"
    assert len(systems) == 12
    sizes = dict(zip(sparse.raters, (sparse.codes >= 0).sum(axis=0), strict=True))
    assert min(sizes[name] for name in systems) >= max(
        size for name, size in sizes.items() if name not in systems
    )


def test_pairs_are_of_two_workers_who_judge_neither_and_rated_the_same_items(sparse):
    for panel in choose_pairs(sparse):
        both = [sparse.codes[:, sparse.raters.index(name)] >= 0 for name in panel.systems]
        assert np.logical_and(*both).sum() >= 30
    people = crowd()
    names = [name for panel in choose_pairs(people) for name in panel.systems]
    assert max(Counter(names).values()) == 2
    drawn = draw_design(choose_pairs(people)[0], "3", np.random.SeedSequence(4))
    assert drawn.systems == choose_pairs(people)[0].systems and drawn.n_raters == 3
    right = (drawn.answers == drawn.truth[:, None]).mean(axis=0)
    np.testing.assert_allclose(right, skill_of(people, drawn.systems))


def test_both_of_a_better_pair_are_above_their_raters():
    people = crowd()
    for panel in choose_pairs(people, "better"):
        present = {panel.crowd.raters[j] for j in np.unique(panel.crowd.votes.rater_index)}
        others = skill_of(people, present - set(panel.systems))
        assert min(skill_of(people, panel.systems)) > max(others)
