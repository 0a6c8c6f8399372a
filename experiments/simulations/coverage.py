"""Coverage of intervals by simulation: five experiments, each with a study file beside this one.

`one_judge`: base rates by one judge, who favours a group or not. `gate`: how often rates,
accuracies and differences pass or fail. `anytime`: confidence sequences, looked at after each
label. `ask_until`: labels are asked for until the interval is narrow. `labelled_systems`: two
systems compared by gold labels alone.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from lehner import IntervalEstimate, Ratings, Verdict, choose_items
from lehner.contrasts.favour import find_favours, find_favours_by_truths
from lehner.contrasts.labelled_systems import draw_labelled_systems
from lehner.core.arrays import Floats, derive_seeds, make_rng
from lehner.core.estimate import ESTIMANDS, summarise_draws
from lehner.core.lazy import special
from lehner.core.resampling import check_tables, wilson_interval
from lehner.estimation.gate import allow_half_a_label
from lehner.known_truths import one_judge
from lehner.known_truths.anytime import confidence_sequence
from lehner.study.performance import make_result_row, measure_rows

LEVEL = 0.9
GROUP = 200
# The judge's recall of bad and of good items.
RECALL = np.array([0.75, 0.9])
RATES = {"medium": (0.7, 0.6), "high": (0.97, 0.9), "low": (0.03, 0.1), "equal": (0.6, 0.6)}
# Rates at which both groups are, and which a gate asks for.
RATES |= {"half": (0.5, 0.5), "most": (0.8, 0.8), "nearly all": (0.97, 0.97)}
# On this part of the items two systems are right or wrong together.
SHARED = 0.5
# Shares of the variance of how difficult an item is for a system that both systems, the items of a
# cluster, and the items of a cluster for one system have in common.
COMMON = (0.25, 0.15, 0.15)
# Labels after which a table says how wide intervals are, and after which one looks.
LABELS, LOOKS = (20, 50, 100, 200), np.arange(10, 201, 10)
# Answers to a question; the sum of the parameters of the beta distribution of questions' rates.
EPOCHS, SIZE_OF_BETA = 5, 1.5


def judge_groups(seed: int, **design: Any) -> Iterator[dict[str, Any]]:
    """Estimate the base rates of two groups; of the tests the bias is how often they reject."""
    data, fit = derive_seeds(seed, 2)
    means, ratings = draw_judged(np.random.default_rng(data), **design)
    items = one_judge.count_judged(ratings, LEVEL)
    if ratings.n_raters == 1:
        test = check_tables(items.labels.swapaxes(0, 1), seed=fit) <= 1 - LEVEL
        rejected = IntervalEstimate(estimate=float(test))
        yield make_result_row(0.0, rejected, method="test", quantity="judge differs")
    tests = {"others": find_favours, "gold labels": find_favours_by_truths}
    for name, find in tests.items() if ratings.n_raters > 1 else ():
        alarmed = IntervalEstimate(estimate=float(bool(find(ratings, [1], "good")[1])))
        yield make_result_row(0.0, alarmed, method=f"test by {name}", quantity="judge favours")
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
    left_out = {"categories": 2, "unanswered": 0.0, "judges": 1, "items": GROUP}
    whole = dict.fromkeys(("categories", "judges", "items"), int)
    return measure_rows(rows.fillna(left_out).astype(whole))


def draw_judged(
    rng: np.random.Generator, labels: int, favour: float, rates: str, epochs: bool, **more: Any
) -> tuple[tuple[float, ...], Ratings]:
    """Draw two groups of items, in clusters if there are epochs; a judge favours the first.

    Other judges, if there are, favour none. Of more than two categories the better half are good,
    and a judge who is right of that errs by any number of places. A part of the first group's bad
    items the first judge does not answer.
    """
    size = more.get("items", GROUP)
    group, n = np.repeat([0, 1], size), 2 * size
    chance, cluster = np.array(RATES[rates])[group], None
    if epochs:  # The mean over questions of a beta distribution is the base rate.
        cluster, mean = np.arange(n) // EPOCHS, chance[::EPOCHS]
        chance = rng.beta(SIZE_OF_BETA * mean, SIZE_OF_BETA * (1 - mean))[cluster]
    truth = (rng.random(n) < chance).astype(np.int64)
    recall = np.tile(RECALL[truth], (more.get("judges", 1), 1))
    recall[0] -= favour * ((group == 0) & (truth == 0))
    said = np.where(rng.random(recall.shape) < recall, truth, 1 - truth)
    half = more.get("categories", 2) // 2
    truth, said = (code * half + rng.integers(0, half, code.shape) for code in (truth, said))
    silent = (group == 0) & (truth < half) & (rng.random(n) < more.get("unanswered", 0.0))
    said[0, silent] = -1
    labelled = np.concatenate([rng.permutation(size) < labels for _ in range(2)])
    names, shown = list(range(2 * half)), np.where(labelled, truth, -1)
    ratings = Ratings(said.T, names, truth=shown, cluster=cluster)
    return RATES[rates], ratings.with_populations([f"g{g}" for g in group])


def gate_designs(seed: int, less: float, **design: Any) -> Iterator[dict[str, Any]]:
    """Test two groups, or two systems, that are alike; asked for is what is true, or so much less.

    A bias is how often a number passes or fails.
    """
    estimate = estimate_rates if "rates" in design else estimate_accuracies
    for method, tested, truth, ends, counts in estimate(seed, **design):
        value = IntervalEstimate(*allow_half_a_label(ends, counts).tolist())
        verdict = Verdict(quantity=tested, value=value, at_least=truth - less, n_labels=sum(counts))
        for outcome in ("passes", "fails"):
            happened = IntervalEstimate(estimate=float(verdict.outcome == outcome))
            described = {"method": method, "tested": tested, "outcome": outcome}
            yield make_result_row(0.0, happened, **described)


def estimate_rates(seed: int, labels: int, **design: Any) -> Iterator[tuple[Any, ...]]:
    """Estimate the rate of a group, and how much it differs, with a judge and without."""
    data, fit = derive_seeds(seed, 2)
    (rate, _), ratings = draw_judged(np.random.default_rng(data), labels, epochs=False, **design)
    items = one_judge.count_judged(ratings, LEVEL)
    for method in ("post_stratified", "gold_labels"):
        draws = one_judge.estimate_judged(method, items, ratings, {"good": [1]}, seed=fit)
        drawn, point = draws.drawn["base_rates"][..., 0], draws.point["base_rates"][:, 0]
        yield method, "rate", rate, summarise_draws(drawn[:, 0], point[0], LEVEL), [labels]
        yield method, "difference", 0.0, subtract_draws(drawn, point), [labels, labels]


def estimate_accuracies(
    seed: int, accuracy: float, labels: int, items: int
) -> Iterator[tuple[Any, ...]]:
    """Estimate the accuracy of a system, and how much it differs from one with similar errors."""
    data, fit = derive_seeds(seed, 2)
    rng = np.random.default_rng(data)
    truth, names = rng.integers(2, size=items), ["no", "yes"]
    alone, both = rng.random((items, 2)) < accuracy, rng.random((items, 1)) < accuracy
    right = np.where(rng.random((items, 1)) < SHARED, both, alone)
    answers = np.where(right, truth[:, None], 1 - truth[:, None])
    shown = np.where(rng.permutation(items) < labels, truth, -1)
    judge = Ratings(answers[:, :1], names, truth=shown).with_populations(["all"] * items)
    drawn = one_judge.estimate_accuracy(one_judge.count_judged(judge, LEVEL), make_rng(fit))[:, 0]
    ends = summarise_draws(drawn[1:], drawn[0], LEVEL)
    yield "gold_labels", "accuracy", accuracy, ends, [labels]
    ratings = Ratings(np.empty((items, 0)), names, system=answers, truth=shown)
    draws = draw_labelled_systems(ratings, ratings.systems, level=LEVEL, seed=fit)
    pair = draws.drawn["system_accuracy"], draws.point["system_accuracy"]
    yield "gold_labels", "difference", 0.0, subtract_draws(*pair), [labels]


def subtract_draws(drawn: Floats, point: Floats) -> Floats:
    """Give the difference of two numbers with the ends of its interval."""
    return summarise_draws(drawn @ [1, -1], point @ [1, -1], LEVEL, (-1.0, 1.0))


def summarise_gate(rows: pd.DataFrame) -> pd.DataFrame:
    """Give how often numbers pass or fail, with Monte Carlo standard errors."""
    return measure_rows(rows.fillna({"rates": "", "accuracy": 0.0, "favour": 0.0}), ("bias",))


def look_often(
    seed: int, rate: float, judge: bool, order: str, items: int
) -> Iterator[dict[str, Any]]:
    """Look at a rate while labels come in, and stop by several rules.

    A confidence sequence is looked at after each label, in the order in which they were drawn, or
    after each tenth with labels in the order of the file; the usual interval after each tenth.
    """
    data, fit = derive_seeds(seed, 2)
    rng = np.random.default_rng(data)
    truth = (rng.random(items) < rate).astype(np.int64)
    said = np.where(rng.random(items) < RECALL[truth], truth, 1 - truth) * int(judge)
    drawn, looks, holds = rng.permutation(items), LOOKS, truth.astype(float)
    follow = partial(confidence_sequence, size=items, control_mean=said.mean(), level=LEVEL)
    if order == "file":
        seen = [np.sort(drawn[:n]) for n in LOOKS]
        sequence = np.array([follow(holds[rows], control=said[rows])[-1] for rows in seen])
    else:
        rows = drawn[: LOOKS[-1]]
        looks = np.arange(LOOKS[0], LOOKS[-1] + 1)
        sequence = follow(holds[rows], control=said[rows])[looks - 1]
        usual = [_estimate_rate(truth, said, drawn[:n], fit) for n in LOOKS]
        yield from _stop(rate, np.array(usual), LOOKS, "usual")
    yield from _stop(float(truth.mean()), sequence, looks, "anytime")


def ask_until(
    seed: int, accuracy: float, misleading: float, items: int
) -> Iterator[dict[str, Any]]:
    """Look at an accuracy after each ten labels of `lehner ask --until`, and stop by several rules.

    Raters and system are wrong on misleading items. The usual interval is Wilson's.
    """
    rng = make_rng(seed)
    truth, misled = rng.integers(2, size=items), rng.random((items, 1)) < misleading
    right = (rng.random((items, 4)) < [0.75, 0.75, 0.75, accuracy]) & ~misled
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    ratings = Ratings(codes[:, :3], ["no", "yes"], system=codes[:, 3])
    holds, votes = right[:, 3].astype(float), (codes[:, :3] == codes[:, 3:]).mean(axis=1)
    rows = choose_items(ratings, int(LOOKS[-1]), in_turn=True, seed=rng)
    sequence = confidence_sequence(holds[rows], items, votes[rows], votes.mean(), level=LEVEL)
    seen = holds[rows].cumsum()[LOOKS - 1] / LOOKS
    usual = wilson_interval(seen, LOOKS, z=special.ndtri((1 + LEVEL) / 2), population=items)
    for method, ends in (("usual", usual.T), ("anytime", sequence[LOOKS - 1])):
        yield from _stop(float(holds.mean()), ends, LOOKS, method)


def _estimate_rate(truth: Any, said: Any, labelled: Any, seed: Any) -> Floats:
    """Give the ends of the interval of a rate by the labels that there are."""
    shown = np.where(np.isin(np.arange(len(truth)), labelled), truth, -1)
    ratings = Ratings(said[:, None], [0, 1], truth=shown).with_populations(["all"] * len(truth))
    items, good = one_judge.count_judged(ratings, LEVEL), {"good": [1]}
    draws = one_judge.estimate_judged("post_stratified", items, ratings, good, seed=seed)
    drawn, point = draws.drawn["base_rates"][:, 0, 0], draws.point["base_rates"][0, 0]
    return summarise_draws(drawn, point, LEVEL)[1:]


def _stop(truth: float, ends: Floats, looks: Any, method: str) -> Iterator[dict[str, Any]]:
    """Give the interval at which each rule stops."""
    last = len(looks) - 1
    wrong = (ends[:, 0] > truth) | (ends[:, 1] < truth)
    rules = {f"after {n} labels": looks == n for n in LABELS}
    rules |= {"when it excludes the truth": wrong, "when it is narrow": np.ptp(ends, axis=1) <= 0.2}
    for rule, reached in rules.items():
        lower, upper = ends[reached.argmax() if reached.any() else last].tolist()
        value = IntervalEstimate((lower + upper) / 2, lower, upper, LEVEL)
        yield make_result_row(truth, value, method=method, stop=rule)


def summarise_anytime(rows: pd.DataFrame) -> pd.DataFrame:
    """Measure coverage and mean width where each rule stops."""
    return measure_rows(rows, ("coverage", "interval_width"))


def compare_labelled(seed: int, **design: Any) -> Iterator[dict[str, Any]]:
    """Estimate the difference of two systems."""
    data, fit = derive_seeds(seed, 2)
    truth, ratings = draw_labelled(np.random.default_rng(data), **design)
    draws = draw_labelled_systems(ratings, ratings.systems, level=LEVEL, seed=fit)
    for quantity, values in draws.drawn.items():
        ends = subtract_draws(values, draws.point[quantity])
        numbers = dict(zip(("estimate", "lower", "upper"), ends.tolist(), strict=True))
        yield {"quantity": quantity, "truth": truth[quantity]} | numbers


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
    both, common, alone = (np.sqrt(share) for share in COMMON)
    difficulty = both * rng.normal(size=(n, 1)) + common * rng.normal(size=(n, 1))[index]
    difficulty = difficulty + alone * rng.normal(size=(n, 2))[index]
    difficulty += np.sqrt(1 - sum(COMMON)) * rng.normal(size=(n, 2))
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
