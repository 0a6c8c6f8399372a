"""Tests of the K-properties, which the algebra assumes, against the K-model, in which all hold.

A rater who is right with probability p and errs equally often into each of the K - 1 other
categories knows the category with probability c = (K p - 1) / (K - 1) and guesses otherwise. The
kappa of two raters is then c c', whatever the base rates. Both models are fitted to agreement
totals by means of this.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lehner.algebra import steps
from lehner.core.arrays import Floats, Seed, derive_seeds
from lehner.core.errors import check_whole_number, compose
from lehner.core.estimate import to_plain
from lehner.core.resampling import show_if_long
from lehner.core.text import format_p, to_percent
from lehner.data.columns import Label
from lehner.data.estimable import require_pairs, warn_of_clusters
from lehner.data.ratings import Ratings
from lehner.dependence.check import MEANING, check_dependence
from lehner.dependence.score_test import adjust_by_holm
from lehner.k_properties.totals import (
    Design,
    Totals,
    find_design,
    simulate_totals,
    sum_observed,
    sum_triples,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class KModel:
    """Equal errors, with one accuracy for all raters or one for each, for many samples at once.

    Parameters
    ----------
    knowledge : ndarray, shape (n_samples, n_raters)
        c = (K p - 1) / (K - 1).
    frequency : ndarray, shape (n_samples, n_categories)
        Proportion of all ratings in each category.
    """

    knowledge: Floats
    frequency: Floats

    @property
    def accuracy(self) -> Floats:
        """Probability that each rater is right, shape (n_samples, n_raters)."""
        k = self.frequency.shape[1]
        return np.asarray((1 + (k - 1) * self.knowledge) / k)

    @property
    def base_rates(self) -> Floats:
        """Base rates by Eq. 5 at the raters' mean accuracy, clipped; (n_samples, n_categories)."""
        above_chance = 1 / self.frequency.shape[1] + steps.CHANCE_TOLERANCE
        accuracy = np.maximum(self.accuracy.mean(axis=1), above_chance)
        return steps.clip_base_rates(steps.estimate_base_rates(self.frequency, accuracy))


def fit_k_model(totals: Totals, design: Design, *, own_accuracies: bool = False) -> KModel:
    """Fit the K-model to the agreement of raters.

    Parameters
    ----------
    totals : Totals
    design : Design
    own_accuracies : bool
        Whether each rater has an accuracy, fitted to the agreement of each pair by least squares.
        If not, one is fitted to the agreement of all pairs by Lehner's steps 1 and 2; knowledge is
        then 0 if raters agree at or below chance.

    Returns
    -------
    KModel
    """
    k, total = design.n_categories, totals.frequency.sum(axis=1)
    if own_accuracies:
        agreement = totals.agreeing / np.maximum(totals.pairs, 1)
        pairs = design.first, design.second
        knowledge = steps.fit_knowledge(agreement, totals.pairs, pairs, design.n_raters, k)
    else:
        kappa = steps.brennan_prediger(totals.agreeing.sum(axis=1) / totals.pairs.sum(), k)
        shared = np.sqrt(np.maximum(kappa, 0))[:, None]
        knowledge = np.broadcast_to(shared, (len(shared), design.n_raters))
    return KModel(knowledge=knowledge, frequency=total / total.sum(axis=1, keepdims=True))


def find_disagreement(model: KModel) -> Floats:
    r"""Compute the proportion of disagreements between two raters in each pair of categories.

    .. math:: P(a, b) = e\,(f_a + f_b - e)

    times 2, where e is the probability of an error and f the frequency with which raters use a
    category. In terms of base rates this is p e (π_a + π_b) + e² (1 - π_a - π_b), times 2.

    Parameters
    ----------
    model : KModel
        The model with one accuracy.

    Returns
    -------
    ndarray, shape (n_samples, n_categories * (n_categories - 1) / 2)
        Sums to 1.
    """
    k = model.frequency.shape[1]
    error = (1 - model.knowledge[:, :1]) / k
    used = np.maximum(model.frequency, error)
    a, b = np.triu_indices(k, 1)
    either = used[:, a] + used[:, b] - error
    return np.asarray(either / either.sum(axis=1, keepdims=True))


def expect_triples(model: KModel, design: Design) -> Floats:
    """Compute the expected number of triples of ratings that agree, shape (n_samples,)."""
    k = design.n_categories
    right = model.accuracy
    wrong = (1 - right) / (k - 1)
    expected = np.zeros(len(right))
    for group in design.groups:
        agree = sum_triples(right[:, group.raters])
        agree += (k - 1) * sum_triples(wrong[:, group.raters])
        expected += group.n_items * agree
    return expected


TIES = 1e-9
MOST_RATERS_TESTED = 100


@dataclass(frozen=True, kw_only=True)
class KTest:
    """A test of a K-property.

    Parameters
    ----------
    k_property : str
        The property that is tested, in plain words.
    statistic : callable
    own_accuracies : bool
        Whether each rater has their own accuracy in the null model, or all have the same.
    two_sided : bool
        Whether small statistics are evidence too.
    """

    k_property: str
    statistic: Callable[[Totals, KModel, Design], Floats]
    own_accuracies: bool = False
    two_sided: bool = False


def equal_errors(totals: Totals, model: KModel, design: Design) -> Floats:
    """Compute the chi-square of disagreements by pair of categories against the fitted model."""
    expected = totals.disagreeing.sum(axis=1, keepdims=True) * find_disagreement(model)
    squared = (totals.disagreeing - expected) ** 2
    return np.divide(squared, expected, out=np.zeros_like(squared), where=expected > 0).sum(axis=1)


def error_distance(totals: Totals, model: KModel, design: Design) -> Floats:
    """Compute the mean distance between disagreeing ratings, minus that of the fitted model."""
    expected = find_disagreement(model) @ _find_distances(design)
    return average_distance(totals, design) - expected


def average_distance(totals: Totals, design: Design) -> Floats:
    """Compute the mean number of steps between two ratings that disagree, shape (n_samples,)."""
    total = np.maximum(totals.disagreeing.sum(axis=1), 1)
    return np.asarray(totals.disagreeing @ _find_distances(design) / total)


def equal_accuracy(totals: Totals, model: KModel, design: Design) -> Floats:
    """Compute the chi-square of each rater's agreement with others against that of all pairs."""
    agreeing, pairs = count_rater_agreement(totals, design)
    mean = (totals.agreeing.sum(axis=1) / totals.pairs.sum())[:, None]
    squared, scale = (agreeing - pairs * mean) ** 2, pairs * mean * (1 - mean)
    return np.divide(squared, scale, out=np.zeros_like(squared), where=scale > 0).sum(axis=1)


def count_rater_agreement(totals: Totals, design: Design) -> tuple[Floats, Floats]:
    """Count, for each rater, the agreeing pairs of ratings with others, and all pairs.

    Returns
    -------
    agreeing : ndarray, shape (n_samples, n_raters)
    pairs : ndarray, shape (n_raters,)
    """
    everybody = np.arange(design.n_raters)
    member = (design.first[:, None] == everybody) | (design.second[:, None] == everybody)
    return totals.agreeing @ member.astype(float), totals.pairs @ member


def equal_difficulty(totals: Totals, model: KModel, design: Design) -> Floats:
    """Compute the proportion of agreeing triples of ratings, minus that of the fitted model."""
    return (totals.agreeing_triples - expect_triples(model, design)) / totals.triples


K_TESTS = {
    "equal_errors": KTest(k_property="equal error probabilities", statistic=equal_errors),
    "error_distance": KTest(
        k_property="equal error probabilities", statistic=error_distance, two_sided=True
    ),
    "equal_accuracy": KTest(k_property="equal rater accuracy", statistic=equal_accuracy),
    "equal_difficulty": KTest(
        k_property="equal difficulty", statistic=equal_difficulty, own_accuracies=True
    ),
}


def _find_distances(design: Design) -> Floats:
    a, b = np.triu_indices(design.n_categories, 1)
    return (b - a).astype(float)


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


@dataclass(frozen=True, kw_only=True)
class KPropertyTest:
    """The test of one K-property.

    Parameters
    ----------
    name : str
        Name of the test, as in `KProperties.tests`.
    k_property : str
        The K-property that is tested.
    statistic : float or None
        The test statistic; None if the property cannot be tested with these ratings, and for
        independence, which is tested for each pair.
    p_value : float or None
        Probability of a statistic as extreme as this if the property holds: (1 + simulated
        statistics at least as extreme) / (1 + simulated statistics); in a two-sided test twice the
        smaller of both tails.
    p_value_se : float or None
        Monte Carlo standard error of the p-value; None if it is not simulated.
    adjusted_p_value : float or None
        The p-value adjusted by Holm's method for the number of tests that were made. If all
        K-properties hold, some test rejects at .05 in 5% of the data sets at most.
    note : str
        What was observed, or why the property cannot be tested.
    verdict : {"rejected", "not rejected", "not tested"}
        "rejected" if the adjusted p-value is .05 or less.
    """

    name: str
    k_property: str
    statistic: float | None = None
    p_value: float | None = None
    p_value_se: float | None = None
    adjusted_p_value: float | None = None
    note: str = ""
    verdict: str = "not tested"


def run_k_tests(ratings: Ratings, replicates: int, seed: Seed) -> dict[str, KPropertyTest]:
    """Test each K-property, or give the reason why it cannot be tested.

    Parameters
    ----------
    ratings : Ratings
        Ratings with an item rated by two raters, and a row for each pattern: see
        `Ratings.to_grouped`.
    replicates : int
        Number of simulated data sets for each null model.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    dict
        By the names of `K_TESTS`, without adjusted p-value and verdict.
    """
    null, results = fit_null(ratings), dict[str, KPropertyTest]()
    no_model = _explain_no_model(null)
    for per_rater, child in zip((False, True), derive_seeds(seed, 2), strict=True):
        if per_rater and not no_model:
            null = fit_null(ratings, own_accuracies=True)
        tests = {name: test for name, test in K_TESTS.items() if test.own_accuracies == per_rater}
        notes = {name: no_model or _explain_untestable(name, ratings, null) for name in tests}
        testable = {name: test for name, test in tests.items() if not notes[name]}
        simulated = _simulate(null, testable, replicates, np.random.default_rng(child))
        for name, test in tests.items():
            result = KPropertyTest(name=name, k_property=test.k_property, note=notes[name])
            if name in simulated:
                statistic, p_value, error = _compare(null, test, simulated[name])
                result = replace(
                    result,
                    statistic=statistic,
                    p_value=p_value,
                    p_value_se=error,
                    note=describe_test(name, null, statistic, ratings.categories),
                )
            results[name] = result
    return {name: results[name] for name in K_TESTS}


def fit_null(ratings: Ratings, *, own_accuracies: bool = False) -> Null:
    """Fit a null model; anonymous raters, or too many of them, are all given the same accuracy."""
    anonymous = ratings.anonymous or ratings.n_raters >= MOST_RATERS_TESTED
    design = find_design(ratings, anonymous=anonymous)
    totals, per_rater = sum_observed(design), own_accuracies and not anonymous
    model = fit_k_model(totals, design, own_accuracies=per_rater)
    return Null(design=design, totals=totals, model=model, own_accuracies=per_rater)


def _explain_no_model(null: Null) -> str:
    k, agreeing, n_pairs = null.design.n_categories, null.totals.agreeing.sum(), null.totals.pairs
    agreement = float(agreeing / n_pairs.sum())
    if float(null.model.knowledge[0, 0]) ** 2 <= steps.CHANCE_TOLERANCE:
        chance = f"at or below the chance level 1/{k} = {1 / k:.3f}"
        text = f"raters agree on {agreement:.3f} of pairs, {chance}"
        return f"{text}: the K-model has no accuracy for them"
    if not null.totals.disagreeing.any():
        return "raters never disagree: there are no errors to test"
    return ""


def _explain_untestable(test: str, ratings: Ratings, null: Null) -> str:
    """Tell why a test cannot be made, or give an empty text."""
    k = null.design.n_categories
    n_raters = len(np.union1d(null.design.first, null.design.second))
    if test in ("equal_errors", "error_distance") and k == 2:
        return "with two categories there is only one wrong answer to each item"
    if test == "error_distance" and not ratings.ordered:
        return compose("categories have no order; if they do, say so ({ordered=True}, in order)")
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


def _simulate(
    null: Null, tests: Mapping[str, KTest], replicates: int, rng: np.random.Generator
) -> dict[str, Floats]:
    """Compute the statistics of data simulated from the null model, to which it is fitted anew."""
    if not tests:
        return {}
    simulated: dict[str, list[Floats]] = {name: [] for name in tests}
    accuracy, base_rates = null.model.accuracy[0], null.model.base_rates[0]
    for totals in simulate_totals(null.design, accuracy, base_rates, replicates, rng):
        model = fit_k_model(totals, null.design, own_accuracies=null.own_accuracies)
        for name, test in tests.items():
            simulated[name].append(test.statistic(totals, model, null.design))
    return {name: np.concatenate(parts) for name, parts in simulated.items()}


def _compare(null: Null, test: KTest, simulated: Floats) -> tuple[float, float, float]:
    """Compute the statistic, its p-value, and the Monte Carlo standard error of the p-value."""
    statistic = float(test.statistic(null.totals, null.model, null.design)[0])
    # Statistics that are equal may differ by rounding errors.
    slack = TIES * max(1.0, abs(statistic))
    n, tails = len(simulated), [int((simulated >= statistic - slack).sum())]
    if test.two_sided:
        tails.append(int((simulated <= statistic + slack).sum()))
    tail = (1 + min(tails)) / (1 + n)
    error = len(tails) * float(np.sqrt(tail * (1 - tail) / n))
    return statistic, min(1.0, len(tails) * tail), error


def describe_test(name: str, null: Null, statistic: float, categories: Sequence[Label]) -> str:
    """Tell in plain words what a test observed."""
    if name == "equal_errors":
        return _name_most_frequent(null, categories)
    if name == "error_distance":
        seen = float(average_distance(null.totals, null.design)[0])
        text = f"disagreeing ratings are {seen:.2f} steps apart on average"
        return f"{text}, {seen - statistic:.2f} expected"
    if name == "equal_difficulty":
        expected = float(expect_triples(null.model, null.design)[0]) / null.totals.triples
        text = f"three raters agree on {expected + statistic:.3f} of their items"
        return f"{text}, {expected:.3f} expected"
    agreeing, pairs = count_rater_agreement(null.totals, null.design)
    agreement = agreeing[0] / np.where(pairs > 0, pairs, np.nan)
    ends = int(np.nanargmin(agreement)), int(np.nanargmax(agreement))
    named = (f"{agreement[j]:.3f} ({null.design.names[j]})" for j in ends)
    return f"agreement with the others is between {' and '.join(named)}"


def _name_most_frequent(null: Null, categories: Sequence[Label]) -> str:
    seen = null.totals.disagreeing[0]
    expected = seen.sum() * find_disagreement(null.model)[0]
    most = int(np.argmax((seen - expected) / np.sqrt(np.maximum(expected, 1e-9))))
    a, b = (int(ends[most]) for ends in np.triu_indices(len(categories), 1))
    text = f"{categories[a]} against {categories[b]} stands out most"
    return f"{text}: {seen[most]:.0f} disagreements, {expected[most]:.1f} expected"


SIGNIFICANCE = 0.05
FEWEST_FOR_K_TESTS = 199
INDEPENDENCE = "independence"


@dataclass(frozen=True, kw_only=True, repr=False)
class KProperties:
    """The tests of the K-properties, and what they say.

    Parameters
    ----------
    tests : mapping of str to KPropertyTest
        The tests by name.
    replicates : int
        Number of simulated data sets behind each p-value.
    verdict : tuple of str
        The findings in plain language, one sentence for each.
    """

    tests: Mapping[str, KPropertyTest]
    replicates: int
    verdict: tuple[str, ...]

    def __repr__(self) -> str:
        lines = [f"Tests of the K-properties ({self.replicates} simulated data sets)"]
        for test in self.tests.values():
            p = format_p(test.p_value)
            lines.append(f"  {test.name:<17} p {p:>6}  {test.verdict}: {test.note}")
        return "\n".join([*lines, *self.verdict])

    def to_dict(self) -> dict[str, Any]:
        """Give the tests and verdict in plain types, ready for JSON.

        Returns
        -------
        dict
            Keys `tests`, a list, `replicates` and `verdict`.
        """
        return {
            "tests": [to_plain(test) for test in self.tests.values()],
            "replicates": self.replicates,
            "verdict": list(self.verdict),
        }


@show_if_long()
def check_k_properties(ratings: Ratings, *, replicates: int = 999, seed: Seed = 1) -> KProperties:
    """Test whether the K-properties hold.

    Each test simulates data from a model in which its K-property holds, fitted to the ratings: the
    same raters rate the same items, with the fitted base rates. The model is fitted anew to each
    simulated data set.

    Parameters
    ----------
    ratings : Ratings
        A system is not needed, but its answers help to test independence.
    replicates : int
        Number of simulated data sets for each null model, 199 or more: with fewer no p-value could
        be small enough to reject one of five tests.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the simulated data sets: the same seed gives the same p-values.

    Returns
    -------
    KProperties
        A test for each K-property, and the verdict.

    Raises
    ------
    InputError
        If there are not two raters, two categories and an item rated by two raters, or if there are
        fewer than 199 replicates.

    Notes
    -----
    `equal_errors`: chi-square of the frequencies of disagreement in each pair of categories,
    compared with the K-model (the model in which all K-properties hold) with fitted base rates.
    `error_distance`: mean distance between disagreeing ratings of ordered categories; two-sided.
    `equal_accuracy`: chi-square of each rater's agreement with the others. `equal_difficulty`: how
    often three raters agree, compared with what the agreement of pairs implies for raters of
    different accuracy. Unequal difficulty increases it; errors near the truth decrease it, and can
    hide unequal difficulty. `independence`: the test of `check_dependence`, whether some pair, the
    system included, agrees more than its accuracies explain. Its p-value is not simulated. It
    cannot detect errors that all raters and the system share alike.

    A property that is not rejected may still be violated: see the power of each test in
    `experiments/simulations/power.csv`.

    References
    ----------
    Lehner (2015), "Recommended use and uses to avoid", asks for such tests. Davison & Hinkley
    (1997), Bootstrap Methods and their Application, section 4.2. Holm (1979), A simple
    sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> from lehner import Scenario, simulate
    >>> ratings = simulate(Scenario(initial_rater_accuracy=(0.4, 0.6, 0.8)), seed=1)
    >>> tests = check_k_properties(ratings).tests
    >>> tests["equal_accuracy"].verdict, tests["equal_errors"].verdict
    ('rejected', 'not rejected')
    """
    check_whole_number("replicates", replicates, FEWEST_FOR_K_TESTS)
    require_pairs(ratings)
    dependence = check_dependence(ratings)
    ratings = ratings.to_grouped(truth=False)
    tests = run_k_tests(ratings, replicates, seed)
    tests[INDEPENDENCE] = KPropertyTest(
        name=INDEPENDENCE,
        k_property="conditional independence",
        p_value=dependence.p_value,
        note=dependence.reason or dependence.name_clearest_pair(),
    )
    p_values = {name: test.p_value for name, test in tests.items() if test.p_value is not None}
    for name, adjusted in adjust_by_holm(p_values).items():
        judged = "rejected" if adjusted <= SIGNIFICANCE else "not rejected"
        tests[name] = replace(tests[name], adjusted_p_value=adjusted, verdict=judged)
    cautions = map(str, warn_of_clusters(ratings, "Simulated p-values"))
    verdict = (*_state_verdict(tests), *cautions)
    return KProperties(tests=tests, replicates=replicates, verdict=verdict)


def _state_verdict(tests: Mapping[str, KPropertyTest]) -> Iterator[str]:
    testable = [test for test in tests.values() if test.p_value is not None]
    rejected = {name: test for name, test in tests.items() if test.verdict == "rejected"}
    if not testable:
        yield "None of the K-properties can be tested with these ratings."
        return
    for name, test in rejected.items():
        # Errors that are nearer to the truth, or farther from it, than by chance are unequal.
        if name != "equal_errors" or "error_distance" not in rejected:
            yield f"Rejected: {test.k_property}: {test.note}."
    if "equal_accuracy" in rejected and INDEPENDENCE in rejected:
        yield "Raters whose errors are correlated agree more, and seem more accurate than others."
    if INDEPENDENCE in rejected:
        yield f"Raters who agree more than their accuracies explain {MEANING}."
    if "equal_difficulty" in rejected:
        yield (
            "Whether the system finds the same items difficult cannot be seen; how much that "
            "matters is seen, in Python, in fits of relaxed_k with the prior of system_slope fixed "
            "at 0 and at 1."
        )
    if rejected:
        yield "Compare the algebra's estimate with that of relaxed_k, which assumes none of these."
    if not rejected:
        several = f"None of the {len(testable)} tests rejects"
        tested = "The one test does not reject" if len(testable) == 1 else several
        yield (
            f"{tested} its K-property at {to_percent(SIGNIFICANCE)}. That does not prove that they "
            "hold: with a few hundred items the tests mostly miss unequal difficulty, and unequal "
            "errors that do not depend on the order of categories."
        )
    unseen = [test.name for test in tests.values() if test.p_value is None]
    if unseen:
        yield f"Not tested: {', '.join(unseen)}."
