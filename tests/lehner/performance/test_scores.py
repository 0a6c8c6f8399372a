"""Scores evaluated by raters who err: AUC, calibration, and the model behind them."""

import numpy as np
import pytest
from scipy.stats import norm

import lehner
from lehner import InputError, Ratings, score_performance
from lehner.performance.scores import (
    MEASURES,
    ScoreRanks,
    estimate_positive,
    read_curve,
    recalibrate,
    score_measures,
    tabulate_rows,
)


def draw(n, accuracies, seed=1, signal=1.5, categories=2):
    """Ratings with all truths, and scores that are calibrated for category 1."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, categories, n)
    wrong = (truth[:, None] + rng.integers(1, categories, (n, len(accuracies)))) % categories
    right = rng.random(wrong.shape) < np.array(accuracies)
    positive = truth == 1
    x = rng.normal(size=n) + signal * positive
    odds = np.exp(signal * x - signal**2 / 2) / (categories - 1)
    codes = np.where(right, truth[:, None], wrong)
    return Ratings(codes, list("abc"[:categories]), truth=truth), odds / (1 + odds)


def look_up(result, quantity, method=""):
    """Look up a measure of the category b."""
    return result.value(quantity, method=method, category="b")


def by_hand(truth, scores, threshold):
    """The measures by their definitions, item by item and pair by pair."""
    positive, negative = scores[truth == 1], scores[truth == 0]
    difference = positive[:, None] - negative
    pairs = (difference > 0) + (difference == 0) / 2
    above = scores >= threshold
    return [
        np.mean(pairs),
        np.mean(above[truth == 1]),
        np.mean(~above[truth == 0]),
        np.mean((scores - truth) ** 2),
        np.mean(scores) - np.mean(truth),
    ]


def test_measures_are_their_definitions_with_ties_and_counts():
    rng = np.random.default_rng(1)
    truth, scores = rng.integers(0, 2, 60), rng.integers(0, 5, 60) / 4
    counts = rng.integers(1, 4, 60)
    each_t, each_s = np.repeat(truth, counts), np.repeat(scores, counts)
    result = score_measures(
        truth.astype(float), ScoreRanks(*np.unique(scores, return_inverse=True)), counts, 0.5
    )
    assert result == pytest.approx(by_hand(each_t, each_s, 0.5))


def test_if_all_truths_are_known_they_are_what_counts():
    ratings, scores = draw(200, (0.6, 0.6))
    result = score_performance(ratings, scores, positive="b", resamples=2)
    for method in ("", "gold_labels"):
        values = result.select(quantity=MEASURES, method=method)["estimate"]
        assert values.tolist() == pytest.approx(by_hand(ratings.truth, scores, 0.5))


@pytest.mark.parametrize("categories", [2, 3])
@pytest.mark.slow
def test_raters_who_err_are_corrected_for(categories):
    ratings, scores = draw(6000, (0.7, 0.65, 0.75), categories=categories)
    seen = ratings.with_truth(None)
    result = score_performance(seen, scores, positive="b", resamples=20)
    truth = (ratings.truth == 1).astype(int)
    by_truth = dict(zip(MEASURES, by_hand(truth, scores, 0.5), strict=True))
    for name, value in by_truth.items():
        assert look_up(result, name).estimate == pytest.approx(value, abs=0.03), name
    # Of scores that are calibrated, the curve is the diagonal.
    curve = read_curve(result)
    curve = np.interp([0.2, 0.5, 0.8], curve["score"], curve["probability"])
    assert curve == pytest.approx([0.2, 0.5, 0.8], abs=0.07)
    assert norm.cdf(1.5 / np.sqrt(2)) == pytest.approx(by_truth["auc"], abs=0.01)


def test_with_one_score_for_all_it_is_the_model_of_dawid_and_skene():
    ratings, _ = draw(300, (0.7, 0.8, 0.9))
    seen = ratings.with_truth(None)
    many = np.full(300, 1e6)  # pseudo-ratings count for nothing
    ranks, start = ScoreRanks(np.array([0.5]), np.zeros(300, int)), (seen.count_votes() + 0.5) / 4
    result = estimate_positive(tabulate_rows(seen), 1, ranks, many, start, tolerance=1e-10)
    expected = lehner.fit_latent_class(seen, "dawid_skene").truth_probabilities
    assert result == pytest.approx(np.asarray(expected), abs=1e-4)


def test_known_truths_correct_for_mistakes_that_raters_and_scores_share():
    errors = {"without": [], "with": []}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        ratings, scores = draw(500, (0.75, 0.75, 0.75), seed)
        misled = rng.random(500) < 0.2
        truth = np.where(misled, 1 - ratings.truth, ratings.truth)
        some = ratings.with_truth(np.where(rng.random(500) < 0.2, truth, -1))
        right = by_hand(truth, scores, 0.5)[0]
        for name, data in (("with", some), ("without", ratings.with_truth(None))):
            result = score_performance(data, scores, positive="b", resamples=1)
            errors[name].append(look_up(result, "auc").estimate - right)
    assert np.mean(errors["without"]) > 0.1
    assert abs(np.mean(errors["with"])) < 0.03


@pytest.mark.slow
def test_known_truths_found_out_with_unequal_probabilities_are_weighted():
    errors = {"weighted": [], "not": []}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        ratings, scores = draw(2000, (0.75, 0.75, 0.75), seed)
        chance = np.where(scores > 0.5, 0.5, 0.05)
        gold = np.where(rng.random(2000) < chance, ratings.truth, -1)
        right = (scores >= 0.5)[ratings.truth == 1].mean()
        weighted = Ratings(ratings.codes, "ab", truth=gold, truth_probability=chance)
        for name, data in (("weighted", weighted), ("not", ratings.with_truth(gold))):
            result = score_performance(data, scores, positive="b", resamples=1)
            alone = look_up(result, "sensitivity", method="gold_labels")
            errors[name].append(alone.estimate - right)
    assert abs(np.mean(errors["weighted"])) < 0.05 < 0.1 < np.mean(errors["not"]), errors


def test_recalibration_is_the_mode_of_its_posterior():
    rng = np.random.default_rng(3)
    probability = rng.uniform(0.01, 0.99, 50)
    positive, weights = (rng.random(50) < probability**2).astype(float), rng.integers(1, 3, 50)
    line = np.array(recalibrate(probability, positive, weights))
    x = np.log(probability / (1 - probability))

    def log_posterior(a, b):
        z = a + b * x
        log = (weights * (positive * z - np.logaddexp(0, z))).sum()
        return log + norm.logpdf(a) + norm.logpdf(b, 1, 0.5)

    best = log_posterior(*line)
    for step in ([1e-3, 0], [-1e-3, 0], [0, 1e-3], [0, -1e-3]):
        assert log_posterior(*(line + step)) < best
    nothing = np.zeros(0)
    assert recalibrate(nothing, nothing, nothing) == (0.0, 1.0)


def test_items_of_a_count_are_items_of_their_own():
    ratings, scores = draw(100, (0.7, 0.8, 0.7))
    scores = scores.round(1)
    counts = np.arange(100) % 3 + 1
    rows = np.repeat(np.arange(100), counts)
    grouped = ratings.with_truth(None).take(np.arange(100), counts)
    first = score_performance(grouped, scores, positive="b", resamples=1)
    other = score_performance(
        ratings.with_truth(None).take(rows), scores[rows], positive="b", resamples=1
    )
    for name in MEASURES:
        expected = look_up(other, name).estimate
        assert look_up(first, name).estimate == pytest.approx(expected)
    for result in (first, other):
        assert (result.table["n_items"] == counts.sum()).all()


def test_items_without_a_score_are_left_out_and_a_seed_gives_the_same_numbers():
    ratings, scores = draw(150, (0.7, 0.8, 0.7))
    seen = ratings.with_truth(None)
    blank = np.where(np.arange(150) < 30, np.nan, scores)
    result = score_performance(seen, blank, positive="b", resamples=20, seed=4)
    alone = score_performance(
        seen.take(np.arange(30, 150)), scores[30:], positive="b", resamples=20, seed=4
    )
    assert result.to_dict()["rows"] == alone.to_dict()["rows"]
    assert (result.table["n_items"] == 120).all()


def test_clusters_widen_intervals():
    ratings, scores = draw(40, (0.7, 0.8, 0.7))
    rows = np.repeat(np.arange(40), 5)
    copied = ratings.with_truth(None).take(rows)
    width = {}
    for name, data in (("items", copied), ("clusters", copied.with_clusters(rows))):
        result = score_performance(data, scores[rows], positive="b", resamples=100)
        auc = look_up(result, "auc")
        width[name] = auc.upper - auc.lower
    assert width["clusters"] > 1.5 * width["items"]


def test_what_limits_the_estimate_is_said():
    ratings, scores = draw(300, (0.8, 0.8, 0.8))
    seen = ratings.with_truth(None)
    codes = [
        w.code for w in score_performance(seen, 1 - scores, positive="b", resamples=1).warnings
    ]
    assert codes == ["score-uninformative", "score-independent"]
    some = ratings.with_truth(np.where(np.arange(300) < 50, ratings.truth, -1))
    assert score_performance(some, scores, positive="b", resamples=1).warnings == ()
    agreed = (ratings.codes == ratings.codes[:, :1]).all(axis=1)
    biased = ratings.with_truth(np.where(agreed & (np.arange(300) < 150), ratings.truth, -1))
    codes = [w.code for w in score_performance(biased, scores, positive="b", resamples=1).warnings]
    assert codes == ["truths-not-random"]


@pytest.mark.parametrize(
    "change, text",
    [
        ({"scores": [0.5]}, "one score per row"),
        ({"scores": np.full(30, 1.5)}, "a score is 1.5"),
        ({"scores": np.full(30, np.nan)}, "no item has a score"),
        ({"positive": "z"}, "no category 'z'"),
        ({"positive": None}, "3 categories"),
        ({"threshold": 2}, "threshold is 2"),
        ({"resamples": 0}, "resamples is 0"),
    ],
)
def test_wrong_input_is_named(change, text):
    ratings, scores = draw(30, (0.7, 0.7), categories=3)
    arguments = {"scores": scores, "positive": "b", "resamples": 1} | change
    with pytest.raises(InputError, match=text):
        score_performance(ratings, arguments.pop("scores"), **arguments)


def test_few_gold_labels_of_a_rare_category_are_said():
    ratings, scores = draw(300, (0.65, 0.7, 0.8))
    for n_positive, warned in ((7, True), (8, False)):
        positives, others = (np.flatnonzero(ratings.truth == k) for k in (1, 0))
        shown = np.full(300, -1)
        for rows, n in ((positives, n_positive), (others, 25)):
            shown[np.random.default_rng(1).permutation(rows)[:n]] = ratings.truth[rows[0]]
        result = score_performance(ratings.with_truth(shown), scores, positive="b", resamples=1)
        said = [
            warning.text for warning in result.warnings if warning.code == "few-truths-of-category"
        ]
        assert bool(said) == warned
        assert not warned or said[0].startswith("7 of the 32 gold labels are b: ")


def test_of_a_rare_category_the_auc_is_said_to_be_uncertain():
    codes = {}
    for share in (0.05, 0.5):
        ratings, scores = draw(2000, (0.8, 0.8, 0.8))
        rows = np.flatnonzero((ratings.truth == 0) | (np.arange(2000) < 2000 * share))
        some = ratings.take(rows)
        result = score_performance(some, scores[rows], positive="b", resamples=1)
        codes[share] = [warning.code for warning in result.warnings]
    assert codes[0.05] == ["score-rare"] and codes[0.5] == []
