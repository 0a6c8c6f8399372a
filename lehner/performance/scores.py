"""A system's scores: how well they rank, and whether they are calibrated.

The model is a latent-class model of ratings and a score that rises with the probability of a
category. Item i is of the positive category with probability :math:`m(s_i)`, where :math:`s_i` is
its score and m any increasing function; else of another category in fixed proportions. Raters err
independently of each other and of the score, given the true category, each with a confusion matrix
of their own, as in Dawid & Skene (1979). m is estimated by isotonic regression of the probability
of the positive category on the score, in each step of the EM algorithm, so that m is a calibration
curve as in Dimitriadis, Gneiting & Jordan (2021), https://doi.org/10.1073/pnas.2016191118, of which
the truths are not known.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from lehner.core import errors
from lehner.core.arrays import TINY, Booleans, Floats, Integers, Seed, make_rng
from lehner.core.errors import Warning, compose, warn
from lehner.core.estimate import Row, make_rows, number
from lehner.core.lazy import optimize, pd
from lehner.core.resampling import draw_counts, find_tails
from lehner.core.results import Results, tabulate
from lehner.data.columns import Label
from lehner.data.counts import UNKNOWN, Patterns
from lehner.data.estimable import require_pairs, warn_of_clusters
from lehner.data.ratings import Ratings
from lehner.known_truths.partly_known import examine_known, fit_logistic
from lehner.latent_class.em import e_step
from lehner.performance.measures import find_positive

# Added to each cell of a confusion matrix, so that no probability is 0.
PSEUDO_RATINGS = 0.5
LEAST = 0.002
MOST_STEPS = 1000
NEGLIGIBLE_WEIGHT = 1e-9


@dataclass(frozen=True, eq=False)
class ScoreRanks:
    """Scores in increasing order, as `numpy.unique` gives them.

    Parameters
    ----------
    values : ndarray, shape (n_values,)
        The different scores, in increasing order.
    rank : ndarray of int, shape (n_rows,)
        Which of them each row has.
    """

    values: Floats
    rank: Integers

    def calibrate(self, probability: Floats, weights: Floats) -> Floats:
        """Regress probabilities on the score by an increasing function.

        Parameters
        ----------
        probability : ndarray, shape (n_rows,)
            Of the positive category.
        weights : ndarray, shape (n_rows,)
            Number of items of each row.

        Returns
        -------
        ndarray, shape (n_values,)
            The probability of the positive category at each score.
        """
        weights = np.maximum(weights, NEGLIGIBLE_WEIGHT)
        total = np.bincount(self.rank, weights)
        mean = np.bincount(self.rank, weights * probability) / total
        fitted: Floats = optimize.isotonic_regression(mean, weights=total).x
        return fitted


def estimate_positive(
    table: Patterns,
    positive: int,
    scores: ScoreRanks,
    weights: Floats,
    start: Floats,
    *,
    tolerance: float = 1e-6,
) -> Floats:
    """Estimate the probability that each item is of the positive category, by the EM algorithm.

    Parameters
    ----------
    table : Patterns
        A pattern for each row of the ratings; its weights are not used.
    positive : int
        Which of the categories is the positive one.
    scores : ScoreRanks
    weights : ndarray, shape (n_rows,)
        Number of items of each row; 0 leaves a row out.
    start : ndarray, shape (n_rows, n_categories)
        Probabilities of the categories to start from.
    tolerance : float
        The algorithm ends when no probability changes by more.

    Returns
    -------
    ndarray, shape (n_rows, n_categories)
        Probability of each category, given ratings and score.
    """
    probability, k = start, table.n_categories
    is_other = np.arange(k) != positive
    for _ in range(MOST_STEPS):
        counts = table.sum_patterns(weights[:, None] * probability).reshape(-1, k, k)
        counts = counts + PSEUDO_RATINGS
        curve = scores.calibrate(probability[:, positive], weights)
        expected = np.clip(curve, LEAST, 1 - LEAST)[scores.rank]
        shares = (weights @ probability + PSEUDO_RATINGS) * is_other
        prior = (1 - expected[:, None]) * shares / shares.sum()
        prior[:, positive] = expected
        log_prior = np.log(np.maximum(prior, TINY))
        log_confusion = np.log(counts / counts.sum(axis=1, keepdims=True))
        before = probability
        probability = e_step(table, log_prior[..., None], log_confusion[..., None])[0][..., 0]
        if np.abs(probability - before).max(initial=0.0) < tolerance:
            break
    return probability


def recalibrate(probability: Floats, positive: Floats, weights: Floats) -> tuple[float, float]:
    r"""Fit the log odds of gold labels as a line of the log odds of the probabilities.

    Parameters
    ----------
    probability : ndarray, shape (n_known,)
        Of the positive category, estimated without the gold labels.
    positive : ndarray, shape (n_known,)
        1 for the items that are truly of the positive category, else 0.
    weights : ndarray, shape (n_known,)
        Number of items of each row.

    Returns
    -------
    intercept, slope : float
        The mode if the intercept is normal(0, 1) and the slope normal(1, .5) a priori: without
        truths probabilities stay as they are.
    """
    x = np.column_stack([np.ones(len(probability)), clipped_log_odds(probability)])
    mean, precision = np.array([0.0, 1.0]), np.array([1.0, 4.0])
    intercept, slope = fit_logistic(x, positive, weights, mean, precision).tolist()
    return intercept, slope


def clipped_log_odds(probability: Floats) -> Floats:
    """Log odds of probabilities that are kept away from 0 and 1."""
    kept = np.clip(probability, LEAST, 1 - LEAST)
    return np.log(kept / (1 - kept))


MEASURES = ("auc", "sensitivity", "specificity", "brier_score", "mean_score_error")


def score_measures(
    probability: Floats, scores: ScoreRanks, weights: Floats, threshold: float
) -> Floats:
    """Measure scores.

    Parameters
    ----------
    probability : ndarray, shape (n_rows,)
        That an item is of the positive category; 0 or 1 where the truth is known.
    scores : ScoreRanks
    weights : ndarray, shape (n_rows,)
        Number of items of each row.
    threshold : float
        Scores of at least this are answers that the category is positive.

    Returns
    -------
    ndarray, shape (5,)
        In the order of `MEASURES`; NaN where one is undefined.

    Examples
    --------
    >>> ranks = ScoreRanks(*np.unique([0.1, 0.6, 0.6, 0.8], return_inverse=True))
    >>> truth = np.array([0.0, 0.0, 1.0, 1.0])
    >>> score_measures(truth, ranks, np.ones(4), 0.5).round(2).tolist()
    [0.88, 1.0, 0.5, 0.14, 0.02]
    """
    score = scores.values[scores.rank]
    positive, negative = weights * probability, weights * (1 - probability)
    above = score >= threshold
    total, missed, false = weights.sum(), (positive * ~above).sum(), (negative * above).sum()
    at = np.bincount(scores.rank, negative)
    lower = np.cumsum(at) - at / 2  # negative items with a lower score; half of those with the same
    squared = positive * (1 - score) ** 2 + negative * score**2
    with np.errstate(divide="ignore", invalid="ignore"):
        auc = positive @ lower[scores.rank] / (positive.sum() * negative.sum())
        sensitivity, specificity = 1 - missed / positive.sum(), 1 - false / negative.sum()
        error = weights @ score / total - positive.sum() / total
        return np.array([auc, sensitivity, specificity, squared.sum() / total, error])


KIND = "percentile bootstrap"
# Gold labels of each kind, positive and not, from which most intervals covered as they should.
FEWEST_LABELS = 8
# Proportion below which the AUC is estimated too low, however many gold labels there are.
RARE = 0.1
# A fit to a resample ends when no probability changes by more.
ROUGH = 1e-4
FLAT = 0.05
LEAST_OTHERS = 0.2


def score_performance(
    ratings: Ratings,
    scores: ArrayLike,
    *,
    positive: Label | None = None,
    score_of: str | None = None,
    threshold: float = 0.5,
    level: float = 0.9,
    resamples: int = 200,
    seed: Seed = 1,
) -> Results:
    """Estimate how well scores rank and predict a category, from raters who may err.

    The scores are taken to rise with the probability of the category and, given the true category,
    to be independent of the raters' errors. Gold labels of random items correct what remains
    of errors that are correlated between raters and scores.

    Parameters
    ----------
    ratings : Ratings
        By two raters or more, of any number of categories. A system in it counts as no rater.
    scores : array_like of float, shape (n_rows,)
        The system's probability that an item is of the positive category, from 0 to 1, NaN where
        there is none.
    positive : str or int, optional
        The category of the scores. With two categories it is guessed as `lehner estimate` does.
    score_of : {"category", "answer"}, optional
        Whether scores are probabilities of the positive category, or the system's confidence in its
        answer, of two categories, which the ratings then have. By default they are probabilities of
        the category, and an error if all are .5 or more beside both answers.
    threshold : float
        Scores of at least this are answers that an item is positive.
    level : float
        Probability of the intervals, between 0 and 1.
    resamples : int
        Number of bootstrap resamples of the items, or of clusters.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the resamples; the same seed gives the same numbers.

    Returns
    -------
    Results
        Rows of `auc`, the probability that a positive item has a higher score than another;
        `sensitivity` and `specificity` at the threshold; `brier_score`, the mean squared difference
        of score and truth; and `mean_score_error`, the mean score minus the proportion of the
        category, 0 if scores are calibrated on average. `category` is the positive one. Rows of the
        method `gold_labels` have what the items with gold labels say alone. Rows of `calibration`
        have the probability of the category at each score, the `group`: see `read_curve`.

    Raises
    ------
    InputError
        If a score is not between 0 and 1, fewer than two raters rated, the positive category is
        unknown, or scores are probably the confidence in answers.

    Notes
    -----
    The idea to join a few gold labels, many unlabelled items and scores in one mixture is that of
    Shanmugam et al. (2025), Evaluating multiple models using labeled and unlabeled data,
    https://arxiv.org/abs/2501.11866; here raters are in the place of other classifiers. In
    simulations (`experiments/simulations/scores.csv`) 90% intervals with 40 gold labels covered in
    88% to 96% of the data sets, also where errors of raters and scores are correlated; without gold
    labels only where they are not. Of a rare category at least 5 gold labels are needed
    (`experiments/simulations/scores_rare.csv`).

    Examples
    --------
    >>> from lehner import Scenario, simulate
    >>> scenario = Scenario(n_items=400, n_categories=2, initial_rater_accuracy=(0.7, 0.7, 0.8))
    >>> ratings = simulate(scenario, 1)
    >>> scores = np.clip(ratings.truth * 0.3 + np.random.default_rng(1).random(400) * 0.7, 0, 1)
    >>> result = score_performance(ratings.with_truth(None), scores, positive="B", resamples=50)
    >>> print(result.value("auc", category="B"))
    0.847 [0.773, 0.893]
    """
    errors.check_level(level)
    errors.check_number("threshold", threshold, 0, 1)
    errors.check_whole_number("resamples", resamples, 1)
    rated, values, code = _find_probabilities(ratings, scores, positive, score_of)
    ranks = ScoreRanks(*np.unique(values, return_inverse=True))
    weights = rated.weights.astype(float)
    table = tabulate_rows(rated)
    labels = _read_labels(rated, code)

    def measure(counts: Floats, fitted: Floats) -> tuple[Floats, Floats]:
        """Compute measures and calibration curve; gold labels take the place of probabilities."""
        probability = labels.correct(fitted[:, code], counts)
        measures = score_measures(probability, ranks, counts, threshold)
        return measures, ranks.calibrate(probability, counts)

    def refit(sample: Floats) -> tuple[Floats, Floats]:
        again = estimate_positive(table, code, ranks, sample, fitted, tolerance=ROUGH)
        return measure(sample, again)

    votes = rated.count_votes() + 1 / rated.n_categories
    start = votes / votes.sum(axis=1, keepdims=True)
    fitted = estimate_positive(table, code, ranks, weights, start)
    estimates, curve = measure(weights, fitted)
    counts = rated.count_items(np.arange(rated.n_rows), rated.n_rows)
    samples = draw_counts(counts, resamples, make_rng(seed))
    drawn, curves = zip(*(refit(sample) for part in samples for sample in part), strict=True)
    tails = find_tails(level, counts)
    measured = np.column_stack([estimates, *np.quantile(drawn, tails, axis=0)])
    calibrated = np.column_stack([curve, *np.quantile(curves, tails, axis=0)])
    columns: Row = {"system": "".join(ratings.systems[:1]), "category": str(rated.categories[code])}
    columns |= {"n_items": rated.n_items, "corrected": bool(labels.labelled.any())}
    interval: Row = {"level": level, "kind": KIND}
    by_score = {"group": ranks.values.tolist()}
    rows = make_rows("calibration", calibrated, by_score, grouping="score", **interval, **columns)
    for name, ends in zip(MEASURES, measured, strict=True):
        rows += make_rows(name, ends, {}, **interval, **columns)
    if labels.labelled.any():
        labelled_weights = weights * labels.labelled
        alone = score_measures(
            labels.positive, ranks, labelled_weights * labels.stands_for, threshold
        )
        columns |= {"n_items": int(labelled_weights.sum()), "method": "gold_labels"}
        rows += [
            {"quantity": name, "estimate": number(value)} | columns
            for name, value in zip(MEASURES, alone, strict=True)
        ]
    share = float(weights @ values / weights.sum() - estimates[4])
    warnings = tuple(_warn(rated, code, curve, share=share))
    return Results(ratings=rated, table=tabulate(rows), warnings=warnings)


def read_curve(results: Results) -> "pd.DataFrame":
    """Read the calibration curve: `score`, `probability`, and `lower` and `upper`, its interval."""
    rows = results.select(quantity="calibration")
    numbers = {"probability": rows["estimate"], "lower": rows["lower"], "upper": rows["upper"]}
    return pd.DataFrame({"score": rows["group"].astype(float)} | numbers).reset_index(drop=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class Labels:
    """The gold labels of rows of ratings.

    Parameters
    ----------
    labelled : ndarray of bool, shape (n_rows,)
        Which rows have one.
    positive : ndarray of float, shape (n_rows,)
        1 where it is the positive category, else 0.
    stands_for : ndarray of float, shape (n_rows,)
        For how many others an item of a row stands: items whose truth was found out with a low
        probability stand for more.
    """

    labelled: Booleans
    positive: Floats
    stands_for: Floats

    def correct(self, probability: Floats, counts: Floats) -> Floats:
        """Recalibrate probabilities by the gold labels, which take their place where they are."""
        if not self.labelled.any():
            return probability
        weights = (counts * self.stands_for)[self.labelled]
        intercept, slope = recalibrate(
            probability[self.labelled], self.positive[self.labelled], weights
        )
        corrected = 1 / (1 + np.exp(-(intercept + slope * clipped_log_odds(probability))))
        return np.where(self.labelled, self.positive, corrected)


def _read_labels(ratings: Ratings, code: int) -> Labels:
    truth = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth
    labelled, chance = truth >= 0, ratings.truth_probability
    stands_for = np.ones(ratings.n_rows) if chance is None else 1 / chance
    if labelled.any():
        stands_for = stands_for / stands_for[labelled].mean()
    positive = (truth == code).astype(float)
    return Labels(labelled=labelled, positive=positive, stands_for=stands_for)


def _find_probabilities(
    ratings: Ratings, scores: ArrayLike, positive: Label | None, score_of: str | None
) -> tuple[Ratings, Floats, int]:
    """Give the rows with a score, without systems, their probabilities, and of which category."""
    rated, values = _keep_scored(ratings, scores)
    codes = {str(name): code for code, name in enumerate(rated.categories)}
    if positive is None:
        category = find_positive(rated)
        if category is None:
            problem = f"there are {len(codes)} categories, and the scores are of one"
            raise errors.InputError(problem, compose("name it ({positive})"))
        positive = category.name
    code = errors.find("category", str(positive), codes)
    if score_of == "answer":
        rated, values = _keep_scored(rated, _to_positive(rated, values, code))
    elif score_of is None:
        _refuse_confidence(rated, values, code)
    else:
        errors.check_choice("score_of", score_of, ("category", "answer"))
    rated = rated.without_system()
    require_pairs(rated)
    return rated, values, code


def tabulate_rows(ratings: Ratings) -> Patterns:
    """Tabulate ratings with a pattern for each row."""
    return replace(
        ratings.to_patterns(truth=False),
        votes=ratings.all_votes,
        counts=ratings.weights,
        truths=np.full(ratings.n_rows, UNKNOWN),
        populations=(),
    )


def _keep_scored(ratings: Ratings, scores: ArrayLike) -> tuple[Ratings, Floats]:
    """Keep the rows with a score."""
    values = np.asarray(scores, dtype=float)
    if values.shape != (ratings.n_rows,):
        problem = f"there are scores of shape {values.shape} for {ratings.n_rows} rows of ratings"
        raise errors.InputError(problem, "give one score per row, NaN where there is none")
    wrong = np.flatnonzero((values < 0) | (values > 1))
    if wrong.size:
        problem, remedy = f"a score is {values[wrong[0]]:g}", "give probabilities, from 0 to 1"
        raise errors.InputError(problem, remedy, row=int(wrong[0]))
    scored = ~np.isnan(values)
    if not scored.any():
        raise errors.InputError("no item has a score", "give the system's probabilities")
    return ratings.take(scored), values[scored]


def _to_positive(ratings: Ratings, confidence: Floats, code: int) -> Floats:
    """Turn confidence in answers into probabilities of a category, NaN without an answer."""
    if len(ratings.systems) != 1 or ratings.n_categories != 2:
        raise errors.InputError(
            f"there are {len(ratings.systems)} systems and {ratings.n_categories} categories, and "
            "scores are the confidence in one system's answers, of two categories",
            compose("name the system's answers ({system})"),
        )
    answer = ratings.answers[:, 0]
    probability = np.where(answer == code, confidence, 1 - confidence)
    return np.where(answer >= 0, probability, np.nan)


def _refuse_confidence(ratings: Ratings, values: Floats, code: int) -> None:
    """Raise an InputError if all scores of two categories are .5 or more, and answers differ."""
    answers = ratings.answers.ravel() if ratings.systems else ratings.entries.category_index
    other_answers = (answers >= 0) & (answers != code)
    if ratings.n_categories != 2 or values.min() < 0.5 or other_answers.mean() < LEAST_OTHERS:
        return
    name = ratings.categories[code]
    raise errors.InputError(
        f"all scores are .5 or more, and {other_answers.mean():.0%} of the answers are not {name}: "
        f"they are probably the confidence in the answer, and not the probability of {name}",
        compose(
            "say so, and name the system's answers ({score_of=answer}, {system}), or say that they "
            "are ({score_of=category})"
        ),
    )


def _warn(ratings: Ratings, positive: int, curve: Floats, *, share: float) -> Iterator[Warning]:
    if np.ptp(curve) < FLAT:
        text = "the probability of the category hardly rises with the score"
        yield warn("score-uninformative", text)
    if share < RARE:
        text = (
            f"about {share:.2f} of the items are {ratings.categories[positive]}: of such rare "
            "categories the AUC is estimated .04 too low on average, and 90% intervals covered it "
            "in .78 of simulated data sets"
        )
        yield warn("score-rare", text)
    truth = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth
    if not (truth >= 0).any():
        text = (
            "scores whose errors are correlated with the raters' seem too good, on real crowds by "
            ".06 to .20 of the AUC"
        )
        yield warn("score-independent", text)
    else:
        if not (sample := examine_known(ratings)).random:
            yield warn("truths-not-random", f"{sample.doubt}: {sample}")
        n_labels = int(ratings.weights[truth >= 0].sum())
        n_positive = int(ratings.weights[truth == positive].sum())
        if min(n_positive, n_labels - n_positive) < FEWEST_LABELS:
            text = (
                f"{n_positive} of the {n_labels} gold labels are {ratings.categories[positive]}: "
                f"below {FEWEST_LABELS} the intervals of the mean score error and the Brier "
                "score are too narrow"
            )
            yield warn("few-truths-of-category", text)
    yield from warn_of_clusters(ratings)
