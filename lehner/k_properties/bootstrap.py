"""Parametric bootstrap of the tests of the K-properties."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lehner.algebra.algebraic import CHANCE_TOLERANCE
from lehner.core.arrays import Floats
from lehner.core.seeds import Seed, child_seeds
from lehner.data.ratings import Ratings
from lehner.k_properties.agreement_totals import (
    Design,
    Totals,
    find_design,
    observed_totals,
    simulated_totals,
)
from lehner.k_properties.model import KModel, fit_k_model, fit_own_accuracies
from lehner.k_properties.statistics import K_TESTS, KTest, NullName

TIES = 1e-9
MOST_RATERS_TESTED = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class Null:
    """The observed data, and the null model from which data are simulated.

    Parameters
    ----------
    design : Design
    totals : Totals
    model : KModel
    own_accuracies : bool
        Whether each rater has their own accuracy, or all have the same.
    """

    design: Design
    totals: Totals
    model: KModel
    own_accuracies: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """The result of a test.

    Parameters
    ----------
    null : Null
    statistic : float
    p_value : float
        (1 + simulated statistics at least as extreme) / (1 + simulated statistics); in a
        two-sided test twice the smaller of both tails.
    p_value_se : float
        Monte Carlo standard error of the p-value.
    simulated_mean : float
        Mean of the simulated statistics.
    """

    null: Null
    statistic: float
    p_value: float
    p_value_se: float
    simulated_mean: float


def run_k_tests(ratings: Ratings, replicates: int, seed: Seed) -> dict[str, Outcome | str]:
    """Test each K-property, or give the reason why it cannot be tested.

    Parameters
    ----------
    ratings : Ratings
        Ratings with an item rated by two raters, and a row for each pattern: see
        `Ratings.collapse`.
    replicates : int
        Number of simulated data sets for each null model.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    dict
        An outcome or a reason for each name in `K_TESTS`.
    """
    nulls: dict[NullName, Null] = {"one_accuracy": fit_null(ratings, "one_accuracy")}
    reason = _no_model(nulls["one_accuracy"])
    if reason:
        return dict.fromkeys(K_TESTS, reason)
    outcomes: dict[str, Outcome | str] = {}
    names: tuple[NullName, ...] = ("one_accuracy", "own_accuracies")
    for name, child in zip(names, child_seeds(seed, len(names)), strict=True):
        null = nulls.get(name) or fit_null(ratings, name)
        chosen = {test: one for test, one in K_TESTS.items() if one.null == name}
        reasons = {test: _untestable(test, ratings, null) for test in chosen}
        outcomes |= {test: why for test, why in reasons.items() if why}
        testable = {test: one for test, one in chosen.items() if not reasons[test]}
        if testable:
            outcomes |= _bootstrap(null, testable, replicates, np.random.default_rng(child))
    return {test: outcomes[test] for test in K_TESTS}


def fit_null(ratings: Ratings, name: NullName) -> Null:
    """Fit a null model; anonymous raters, or too many of them, are all given the same accuracy."""
    anonymous = ratings.anonymous or ratings.n_raters >= MOST_RATERS_TESTED
    design = find_design(ratings, anonymous=anonymous)
    totals = observed_totals(design)
    own = name != "one_accuracy" and not anonymous
    model = _fit(totals, design, own_accuracies=own)
    return Null(design=design, totals=totals, model=model, own_accuracies=own)


def _fit(totals: Totals, design: Design, *, own_accuracies: bool) -> KModel:
    return fit_own_accuracies(totals, design) if own_accuracies else fit_k_model(totals)


def _no_model(null: Null) -> str:
    k, agreeing, n_pairs = null.design.n_categories, null.totals.agreeing.sum(), null.totals.pairs
    agreement = float(agreeing / n_pairs.sum())
    if float(null.model.knowledge[0, 0]) ** 2 <= CHANCE_TOLERANCE:
        return (
            f"raters agree on {agreement:.3f} of pairs, at or below the chance level 1/{k} = "
            f"{1 / k:.3f}: the K-model has no accuracy for them"
        )
    if not null.totals.disagreeing.any():
        return "raters never disagree: there are no errors to test"
    return ""


def _untestable(test: str, ratings: Ratings, null: Null) -> str:
    """Tell why a test cannot be made, or give an empty text."""
    k = null.design.n_categories
    n_raters = len(np.union1d(null.design.first, null.design.second))
    if test in ("equal_errors", "error_distance") and k == 2:
        return "with two categories there is only one wrong answer to each item"
    if test == "error_distance" and not ratings.ordered:
        return "categories have no order; if they do, say so (ordered=True, in order)"
    if test == "equal_difficulty" and k == 2:
        return "with two categories, how often three raters agree follows from how often two do"
    if test == "equal_difficulty" and not null.totals.triples:
        return "no item was rated by three raters"
    if test == "equal_accuracy":
        if ratings.anonymous:
            return "it is unknown who gave which rating"
        if ratings.n_raters >= MOST_RATERS_TESTED:
            return f"there are {MOST_RATERS_TESTED} raters or more"
    if test == "equal_accuracy" and n_raters < 3:
        return "two raters cannot differ in agreement with one another: the test needs three"
    return ""


def _bootstrap(
    null: Null, tests: Mapping[str, KTest], replicates: int, rng: np.random.Generator
) -> dict[str, Outcome]:
    simulated: dict[str, list[Floats]] = {name: [] for name in tests}
    accuracy, base_rates = null.model.accuracy[0], null.model.base_rates[0]
    for totals in simulated_totals(null.design, accuracy, base_rates, replicates, rng):
        model = _fit(totals, null.design, own_accuracies=null.own_accuracies)
        for name, test in tests.items():
            simulated[name].append(test.statistic(totals, model, null.design))
    return {
        name: _compare(null, test, np.concatenate(simulated[name])) for name, test in tests.items()
    }


def _compare(null: Null, test: KTest, simulated: Floats) -> Outcome:
    statistic = float(test.statistic(null.totals, null.model, null.design)[0])
    # Statistics that are equal may differ by rounding errors.
    slack = TIES * max(1.0, abs(statistic))
    n, tails = len(simulated), [int((simulated >= statistic - slack).sum())]
    if test.tail == "two-sided":
        tails.append(int((simulated <= statistic + slack).sum()))
    tail = (1 + min(tails)) / (1 + n)
    return Outcome(
        null=null,
        statistic=statistic,
        p_value=min(1.0, len(tails) * tail),
        p_value_se=len(tails) * float(np.sqrt(tail * (1 - tail) / n)),
        simulated_mean=float(simulated.mean()),
    )
