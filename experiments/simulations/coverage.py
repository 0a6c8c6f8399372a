"""Coverage of intervals by simulation: four experiments, each with a study file beside this one.

`chosen_labels`: the accuracy in the sample, with labels that raters' votes and the system's answers
chose. `learned_prior_coverage`: items in clusters, and excellent systems. `one_judge`: base rates
by one judge, who favours a group or not. `labelled_systems`: two systems compared by gold labels
without raters.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

import lehner
from lehner import IntervalEstimate, Ratings
from lehner.contrasts.labelled_systems import draw_labelled_systems
from lehner.core.arrays import derive_seeds
from lehner.core.estimate import ESTIMANDS, summarise_draws
from lehner.core.lazy import special
from lehner.core.resampling import check_tables
from lehner.known_truths import one_judge
from lehner.known_truths.correction import find_variance, infer_proportion
from lehner.known_truths.partly_known import collect_right, estimate_alone, weigh_labels
from lehner.latent_class.intervals import estimate_latent_class
from lehner.performance.corrected import correct_measures
from lehner.study.performance import make_result_row, measure_rows

LEVEL = 0.9

RESAMPLES = 200

# Three raters are right on .82 of the items, and on .3 of those that mislead them.
PREVALENCE, RIGHT, MISLED_RIGHT, LABELLED = 0.35, 0.82, 0.3, 45

GROUP = 200
# The judge's recall of bad and of good items.
RECALL = np.array([0.75, 0.9])
RATES = {"medium": (0.7, 0.6), "high": (0.97, 0.9), "low": (0.03, 0.1), "equal": (0.6, 0.6)}
# Shares of the variance of how difficult an item is for a system that both systems, the items of a
# cluster, and the items of a cluster for one system have in common.
SHARED = (0.25, 0.15, 0.15)
# Answers to a question; the sum of the parameters of the beta distribution of questions' rates.
EPOCHS, SIZE_OF_BETA = 5, 1.5


def label_chosen(
    seed: int, misled: float, sensitivity: float, chosen_by: str, odds: float
) -> Iterator[dict[str, Any]]:
    """Estimate the accuracy in 200 items, 45 of which have a gold label and are no random sample.

    Sensitivity and specificity of the system sum to 1.65; both are .25 lower on items that mislead
    the raters, which a part does. Items with only positive votes, or a positive answer, or both,
    have so many times the odds of a label of those with none. `labels` says how labels are used: as
    `lehner.estimate` does, as a random sample, in the likelihood, or not.
    """
    rng = np.random.default_rng(seed)
    truth = (rng.random(GROUP) < PREVALENCE).astype(np.int64)
    hard = rng.random((GROUP, 1)) < misled
    chance = np.where(hard, MISLED_RIGHT, np.full(3, RIGHT))
    of_system = np.where(truth[:, None] == 1, sensitivity, 1.65 - sensitivity)
    chance = np.c_[chance, of_system - 0.25 * hard]
    codes = np.where(rng.random((GROUP, 4)) < chance, truth[:, None], 1 - truth[:, None])
    by = {"votes": codes[:, :3].mean(axis=1), "answer": codes[:, 3]}
    score = np.log(odds) * (by[chosen_by] if chosen_by in by else sum(by.values()))
    first = np.argsort(-score - rng.gumbel(size=GROUP))[:LABELLED]
    shown = np.where(np.isin(np.arange(GROUP), first), truth, -1)
    ratings = Ratings(codes[:, :3], ["no", "yes"], system=codes[:, 3], truth=shown)
    blind, right = ratings.with_truth(None), float(np.mean(truth == codes[:, 3]))
    algebra = lehner.estimate_algebraic(blind, level=LEVEL, resamples=RESAMPLES)
    values = {("not used", "algebraic"): algebra.system_accuracy_in_sample}
    for name, seen in (
        ("as by default", weigh_labels(ratings)[0]),
        ("as a random sample", ratings),
    ):
        items = collect_right(seen, lehner.predict_correctness(blind, algebra))
        corrected = infer_proportion(items, find_variance(algebra.system_accuracy_in_sample))
        value = IntervalEstimate(corrected.mean, *corrected.interval(LEVEL), LEVEL)
        values[name, "algebraic"] = value
        values[name, "learned_prior"] = lehner.estimate_learned_prior(
            seen
        ).system_accuracy_in_sample
        values[name, "gold labels alone"] = estimate_alone(items, LEVEL)
    fitted = estimate_latent_class(ratings, resamples=RESAMPLES // 2, level=LEVEL)
    values["in the likelihood", "dawid_skene_ml"] = fitted.system_accuracy_in_sample
    columns = {"quantity": "accuracy"}
    for (name, method), value in values.items():
        yield make_result_row(right, value, labels=name, method=method, **columns)
    # Measures by category do not weight labels.
    measures = correct_measures(ratings, algebra, level=LEVEL)
    recalls = (row for row in measures if row["quantity"] == "recall")
    for code, row in enumerate(recalls):
        value = IntervalEstimate(row["estimate"], row["lower"], row["upper"], LEVEL)
        columns = {"quantity": ("specificity", "sensitivity")[code], "method": "algebraic"}
        recall = float(np.mean(codes[truth == code, 3] == code))
        yield make_result_row(recall, value, labels="as by default", **columns)


def estimate_design(
    seed: int,
    items: int,
    labels: int,
    accuracy: float,
    rater: float,
    clusters: int = 0,
    correlation: float = 0.0,
    labelled_by: str = "item",
) -> Iterator[dict[str, Any]]:
    """Estimate in a data set; accuracies of clusters are drawn from a beta distribution.

    Raters and system err independently, which the prior does not know: its crowds make correlated
    errors.
    """
    rng = np.random.default_rng(seed)
    of_item, order = np.full(items, accuracy), rng.permutation(items)
    cluster = None
    if clusters:
        total = 1 / correlation - 1
        cluster = np.repeat(np.arange(clusters), items // clusters)
        of_item = rng.beta(accuracy * total, (1 - accuracy) * total, clusters)[cluster]
        if labelled_by == "cluster":
            order = np.argsort(rng.permutation(clusters)[cluster], kind="stable")
    truth = rng.integers(2, size=items)
    chance = np.column_stack([np.full((items, 3), rater), of_item])
    answers = np.where(rng.random((items, 4)) < chance, truth[:, None], 1 - truth[:, None])
    shown = np.full(items, -1)
    shown[order[:labels]] = truth[order[:labels]]
    ratings = Ratings(
        answers[:, :3], ["no", "yes"], system=answers[:, 3], truth=shown, cluster=cluster
    )
    yield make_result_row(accuracy, lehner.estimate_learned_prior(ratings).system_accuracy)


def summarise_learned_prior(rows: pd.DataFrame) -> pd.DataFrame:
    """Measure coverage and mean width of the intervals, with Monte Carlo standard errors."""
    independent = rows.fillna({"clusters": 0, "correlation": 0.0, "labelled_by": "item"})
    return measure_rows(independent, ("coverage", "interval_width"))


def judge_groups(seed: int, **design: Any) -> Iterator[dict[str, Any]]:
    """Estimate the base rates of two groups; of the tests the bias is how often they reject."""
    data, fit = derive_seeds(seed, 2)
    means, ratings = draw_judged(np.random.default_rng(data), **design)
    items = one_judge.count_judged(ratings, LEVEL)
    test = check_tables(items.labels.swapaxes(0, 1), seed=fit) <= 1 - LEVEL
    rejected = IntervalEstimate(estimate=float(test))
    yield make_result_row(0.0, rejected, method="test", quantity="judge differs")
    for method in one_judge.JUDGED_BY:
        k = ratings.n_categories
        good = {"good": range(k // 2, k)}
        draws = one_judge.estimate_judged(method, items, ratings, good, seed=seed)
        drawn, point = draws.drawn["base_rates"][..., 0], draws.point["base_rates"][:, 0]
        drawn, point = np.c_[drawn, drawn @ [1, -1]], np.append(point, point @ [1, -1])
        truths, quantities = (*means, means[0] - means[1]), ("rate", "rate", "difference")
        for k, (truth, quantity) in enumerate(zip(truths, quantities, strict=True)):
            least = -1.0 if quantity == "difference" else 0.0
            ends = summarise_draws(drawn[:, k], point[k], LEVEL, (least, 1.0))
            numbers = dict(zip(("estimate", "lower", "upper"), ends.tolist(), strict=True))
            yield {"method": method, "quantity": quantity, "truth": truth} | numbers


def summarise_judged(rows: pd.DataFrame) -> pd.DataFrame:
    """Measure the estimates of each design, with Monte Carlo standard errors."""
    return measure_rows(rows.fillna({"categories": 2, "unanswered": 0.0}))


def draw_judged(
    rng: np.random.Generator, labels: int, favour: float, rates: str, epochs: bool, **more: Any
) -> tuple[tuple[float, ...], Ratings]:
    """Draw two groups of items, in clusters if there are epochs; the judge favours the first.

    Of more than two categories the better half are good, and a judge who is right of that errs by
    any number of places. A part of the first group's bad items it does not answer.
    """
    group, n = np.repeat([0, 1], GROUP), 2 * GROUP
    chance, cluster = np.array(RATES[rates])[group], None
    if epochs:  # The mean over questions of a beta distribution is the base rate.
        cluster, mean = np.arange(n) // EPOCHS, chance[::EPOCHS]
        chance = rng.beta(SIZE_OF_BETA * mean, SIZE_OF_BETA * (1 - mean))[cluster]
    truth = (rng.random(n) < chance).astype(np.int64)
    recall = RECALL[truth] - favour * ((group == 0) & (truth == 0))
    said = np.where(rng.random(n) < recall, truth, 1 - truth)
    half = more.get("categories", 2) // 2
    truth, said = (code * half + rng.integers(0, half, n) for code in (truth, said))
    said[(group == 0) & (truth < half) & (rng.random(n) < more.get("unanswered", 0.0))] = -1
    labelled = np.concatenate([rng.permutation(GROUP) < labels for _ in range(2)])
    names, shown = list(range(2 * half)), np.where(labelled, truth, -1)
    ratings = Ratings(said[:, None], names, truth=shown, cluster=cluster)
    return RATES[rates], ratings.with_populations([f"g{g}" for g in group])


def compare_labelled(seed: int, **design: Any) -> Iterator[dict[str, Any]]:
    """Estimate the difference of two systems, and how often one is called better (`decided`)."""
    data, fit = derive_seeds(seed, 2)
    truth, ratings = draw_labelled(np.random.default_rng(data), **design)
    draws = draw_labelled_systems(ratings, ratings.systems, level=LEVEL, seed=fit)
    for quantity, values in draws.drawn.items():
        point = float(draws.point[quantity] @ [1, -1])
        ends = summarise_draws(values @ [1, -1], point, LEVEL, (-1.0, 1.0))
        numbers = dict(zip(("estimate", "lower", "upper"), ends.tolist(), strict=True))
        yield {"quantity": quantity, "truth": truth[quantity]} | numbers
    higher = (draws.drawn["system_accuracy"] @ [1, -1] > 0).mean()
    decided = IntervalEstimate(estimate=float(max(higher, 1 - higher) >= 0.95))
    yield make_result_row(0.0, decided, quantity="decided")


def draw_labelled(
    rng: np.random.Generator,
    accuracy: float,
    less: float,
    labels: int,
    cluster: int,
    categories: int,
) -> tuple[dict[str, float], Ratings]:
    """Draw two systems whose errors are correlated, in clusters too, and label some clusters."""
    n = 2 * GROUP
    index = np.arange(n) // cluster
    both, common, alone = (np.sqrt(share) for share in SHARED)
    difficulty = both * rng.normal(size=(n, 1)) + common * rng.normal(size=(n, 1))[index]
    difficulty = difficulty + alone * rng.normal(size=(n, 2))[index]
    difficulty += np.sqrt(1 - sum(SHARED)) * rng.normal(size=(n, 2))
    right = difficulty < special.ndtri([accuracy, accuracy - less])
    truth = rng.integers(categories, size=n)
    wrong = (truth + rng.integers(1, categories, n)) % categories
    labelled = rng.permutation(n // cluster)[index] < labels // cluster
    ratings = Ratings(
        np.empty((n, 0)),
        list(range(categories)),
        system=np.where(right, truth[:, None], wrong[:, None]),
        truth=np.where(labelled, truth, -1),
        cluster=index if cluster > 1 else None,
    )
    differences = less, float(right.mean(axis=0) @ [1, -1])
    return dict(zip(ESTIMANDS, differences, strict=True)), ratings
