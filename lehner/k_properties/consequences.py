"""The bias of the algebra in large samples if a K-property is violated.

The size of a violation, one parameter, is chosen such that the expected test statistic is the
observed one. The bias is that of the algebra for raters and a system with this violation.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np

from lehner.algebra.steps import brennan_prediger, clip_base_rates
from lehner.core.arrays import Floats
from lehner.core.lazy import optimize
from lehner.core.text import decimal, percent
from lehner.dependence.check import Dependence
from lehner.k_properties.statistics import (
    KModel,
    Null,
    Outcome,
    disagreement_proportions,
    fit_k_model,
    mean_distance,
)
from lehner.k_properties.totals import Design
from lehner.simulation.parameters import disperse, draw_parameters
from lehner.simulation.population import population_value
from lehner.simulation.probabilities import n_patterns
from lehner.simulation.scenario import Scenario

MOST_FITTED_DISPERSION = 16.0
MOST_PATTERNS_ENUMERATED = 500_000
BIAS_DRAWS = 400
LOW_ACCURACY, HIGH_ACCURACY = 0.1, 0.9

type Fitted = tuple[str, Scenario | None]
type FixedSeed = int | np.random.SeedSequence


@dataclass(frozen=True, kw_only=True)
class Consequence:
    """The bias of the algebra under a violation.

    Parameters
    ----------
    violation : str
        Description of the violation, with its size.
    scenario : Scenario or None
        A scenario in which raters and system have this violation, with the system accuracy that the
        algebra estimates. None if the effect was not computed.
    bias : float or None
        Bias of the algebra in that scenario, in the limit of infinitely many items.
    bias_low, bias_high : float or None
        Bias if the system's accuracy were .1 or .9.
    """

    violation: str
    scenario: Scenario | None = None
    bias: float | None = None
    bias_low: float | None = None
    bias_high: float | None = None

    def __str__(self) -> str:
        if self.scenario is None or None in (self.bias, self.bias_low, self.bias_high):
            return self.violation
        return (
            f"{self.violation}. In large samples that changes the algebra's estimate by "
            f"{_signed(self.bias)} if the system's accuracy is as estimated "
            f"({self.scenario.initial_system_accuracy:.2f}), {_signed(self.bias_low)} if it is "
            f"{LOW_ACCURACY}, {_signed(self.bias_high)} if it is {HIGH_ACCURACY}"
        )


def consequence(
    test: str,
    outcome: Outcome | Dependence,
    k_model: Null,
    system_accuracy: float | None,
    seed: FixedSeed = 1,
) -> Consequence:
    """Fit a violation to what a test found and compute the algebra's bias under it.

    Parameters
    ----------
    test : str
        A name of `VIOLATIONS`.
    outcome : Outcome or Dependence
        The latter of the test of independence.
    k_model : Null
        The null model with one accuracy for all raters.
    system_accuracy : float or None
        System accuracy as estimated by the algebra.
    seed : int or numpy.random.SeedSequence
        Of the parameters that are drawn for the bias.

    Returns
    -------
    Consequence
    """
    model = k_model.model
    base = Scenario(
        n_categories=k_model.design.n_categories,
        initial_rater_accuracy=(float(model.accuracy[0, 0]),) * _raters_per_item(k_model.design),
        base_rates=tuple(model.base_rates[0]),
    )
    violation, scenario = VIOLATIONS[test](base, outcome, k_model, seed)
    if system_accuracy is None or scenario is None or n_patterns(base) > MOST_PATTERNS_ENUMERATED:
        return Consequence(violation=violation)
    at = [
        replace(scenario, initial_system_accuracy=level)
        for level in (system_accuracy, LOW_ACCURACY, HIGH_ACCURACY)
    ]
    bias = [population_value(at_level, replicates=BIAS_DRAWS, seed=seed).bias for at_level in at]
    return Consequence(
        violation=violation, scenario=at[0], bias=bias[0], bias_low=bias[1], bias_high=bias[2]
    )


def _dispersed(base: Scenario, outcome: Outcome, k_model: Null, seed: FixedSeed) -> Fitted:
    """Match the mean distance of disagreements by the asymmetric dispersion AD."""
    totals, frequency = k_model.totals, k_model.model.frequency[0]
    agreement = float(totals.agreeing.sum() / totals.pairs.sum())
    observed = float(mean_distance(totals, k_model.design)[0])
    step = np.arange(len(frequency))
    distance = np.abs(step[:, None] - step)

    def parts(dispersion: float, accuracy: float) -> tuple[Floats, Floats]:
        confusion = disperse(accuracy, len(frequency), dispersion)
        rates = clip_base_rates(np.linalg.lstsq(confusion.T, frequency)[0])
        return rates, confusion.T @ (rates[:, None] * confusion)

    def accuracy_at(dispersion: float) -> float:
        lowest = 1 / len(frequency) + 0.01
        return _solve(lambda p: float(np.trace(parts(dispersion, p)[1])) - agreement, lowest, 1)

    def gap(log_dispersion: float) -> float:
        dispersion = float(np.exp(log_dispersion))
        pairs = parts(dispersion, accuracy_at(dispersion))[1]
        return float((distance * pairs).sum() / (1 - np.trace(pairs))) - observed

    limit = float(np.log(MOST_FITTED_DISPERSION))
    dispersion = float(np.exp(_solve(gap, -limit, limit)))
    accuracy = accuracy_at(dispersion)
    scenario = replace(
        base,
        initial_rater_accuracy=(accuracy,) * base.n_raters,
        asymmetric_dispersion=dispersion,
        base_rates=tuple(parts(dispersion, accuracy)[0]),
    )
    near = dispersion > 1
    times = max(dispersion, 1 / dispersion)
    or_more = " or more" if times >= MOST_FITTED_DISPERSION else ""
    words = (
        f"Errors fall {'near' if near else 'far from'} the truth, as if each step away made them "
        f"{times:.1f} times{or_more} "
        f"{'less' if near else 'more'} likely (asymmetric dispersion, {'AD' if near else '1/AD'})"
    )
    return words, scenario


def _varied(base: Scenario, outcome: Outcome, k_model: Null, seed: FixedSeed) -> Fitted:
    """Match the excess of the chi-square by the proportional error range PER."""
    excess = max(outcome.statistic - outcome.simulated_mean, 0.0)
    disagreeing = float(k_model.totals.disagreeing.sum())

    def gap(spread: float) -> float:
        scenario = replace(base, proportional_error_range=spread)
        return disagreeing * _mean_misfit(scenario, seed) - excess

    spread = _solve(gap, 0.0, 1.0)
    or_more = " or more" if spread == 1 else ""
    words = "Some errors are likelier than others, as if each varied by"
    words += f" ±{percent(spread, 0)}{or_more} (proportional error range, PER)"
    return words, replace(base, proportional_error_range=spread)


def _mean_misfit(scenario: Scenario, seed: FixedSeed) -> float:
    """Mean chi-square per disagreement in large samples, averaged over random errors."""
    k = scenario.n_categories
    drawn = draw_parameters(scenario, BIAS_DRAWS, np.random.default_rng(seed))
    confusion = drawn.confusion[:, 0, :-1]
    rates, everyone = drawn.base_rates[:, :, None], confusion.sum(axis=1)
    own = np.einsum("bk,bika,bikc->bac", drawn.base_rates, confusion, confusion)
    # The sum over ordered pairs of raters is the square of the sum minus the sum of squares.
    table = everyone.swapaxes(1, 2) @ (rates * everyone) - own
    table /= scenario.n_raters * (scenario.n_raters - 1)
    kappa = brennan_prediger(np.trace(table, axis1=1, axis2=2), k)
    # The K-model is fitted to each table, as it is to the ratings.
    fitted = KModel(knowledge=np.sqrt(np.maximum(kappa, 0))[:, None], frequency=table.sum(axis=2))
    a, b = np.triu_indices(k, 1)
    seen = table[:, a, b] / table[:, a, b].sum(axis=1, keepdims=True)
    expected = disagreement_proportions(fitted)
    return float(((seen - expected) ** 2 / expected).sum(axis=1).mean())


def _unequal(base: Scenario, outcome: Outcome, k_model: Null, seed: FixedSeed) -> Fitted:
    """Take the accuracies that fit the agreement of each pair."""
    fitted = fit_k_model(k_model.totals, k_model.design, own_accuracies=True)
    own, mean = fitted.accuracy[0], float(fitted.knowledge.mean())
    # These quantiles are the raters' own accuracies if all of them rate every item.
    places = (np.arange(base.n_raters) + 0.5) / base.n_raters
    accuracy = np.clip(np.quantile(own, places, method="hazen"), 0, 1)
    words = f"The raters' accuracies range from {own.min():.2f} to {own.max():.2f}"
    return words, replace(
        _change_knowledge(base, mean, k_model), initial_rater_accuracy=tuple(accuracy)
    )


def _uneven(base: Scenario, outcome: Outcome, k_model: Null, seed: FixedSeed) -> Fitted:
    """Match the agreement of pairs and triples by three equally frequent levels of difficulty."""
    k = base.n_categories
    square = float(k_model.model.knowledge[0, 0]) ** 2
    # The mean product of three raters' knowledge exceeds that for equal difficulty by this excess.
    excess = outcome.statistic - outcome.simulated_mean
    cube = square**1.5 + excess * k**2 / ((k - 1) * (k - 2))

    def middle(shift: float) -> float:
        return float(np.sqrt(max(square - 2 * shift**2 / 3, 0.0)))

    def gap(shift: float) -> float:
        return middle(shift) ** 3 + 2 * middle(shift) * shift**2 - cube

    # The excess is greatest if raters can only guess on the hardest items.
    widest = float(np.sqrt(0.6 * square))
    shift = _solve(gap, 0.0, widest)
    easier = _change_knowledge(base, middle(shift), k_model)
    accuracy = easier.initial_rater_accuracy[0]
    level = shift * (k - 1) / k
    or_more = " or more" if shift == widest else ""
    words = (
        f"Items differ in difficulty, as if by ±{level:.2f}{or_more} around "
        f"an accuracy of {accuracy:.2f}"
    )
    return words, replace(easier, easiness=(-level, 0.0, level))


def _copied(base: Scenario, dependence: Dependence, k_model: Null, seed: FixedSeed) -> Fitted:
    """Let one rater repeat the other, in the pair that stands out most clearly."""
    pairs, words = dependence.standing_out(), dependence.clearest_pair()
    if dependence.undecided or not pairs:
        return words[0].upper() + words[1:], None
    pair = pairs[0]
    if pair.with_system:
        return f"{words}: if they share mistakes, the system seems better than it is", None
    # One pair of raters agrees more, so that the same mean agreement results from less knowledge.
    extra = pair.shared / comb(base.n_raters, 2)
    square = float(k_model.model.knowledge[0, 0]) ** 2
    knowledge = np.sqrt(max(square - extra, 0.0) / max(1 - extra, 0.01))
    words += f", as if one repeated the other in {percent(pair.shared, 0)} of the items"
    copying = (0.0, pair.shared, *[0.0] * (base.n_raters - 2))
    return words, replace(_change_knowledge(base, float(knowledge), k_model), copying=copying)


def _change_knowledge(base: Scenario, knowledge: float, k_model: Null) -> Scenario:
    """Another accuracy of the raters, and base rates that keep their frequencies of categories."""
    model = KModel(knowledge=np.array([[knowledge]]), frequency=k_model.model.frequency)
    accuracy = (float(model.accuracy[0, 0]),) * base.n_raters
    return replace(base, initial_rater_accuracy=accuracy, base_rates=tuple(model.base_rates[0]))


VIOLATIONS: dict[str, Callable[[Scenario, Any, Null, FixedSeed], Fitted]] = {
    "equal_errors": _varied,
    "error_distance": _dispersed,
    "equal_accuracy": _unequal,
    "equal_difficulty": _uneven,
    "independence": _copied,
}


def _raters_per_item(design: Design) -> int:
    """Typical number of raters of an item rated by two or more."""
    groups = [group for group in design.groups if len(group.raters) > 1]
    total = sum(group.n_items for group in groups)
    mean = sum(group.n_items * len(np.unique(group.raters)) for group in groups) / total
    return max(2, round(mean))


def _solve(gap: Callable[[float], float], low: float, high: float) -> float:
    """Find where a difference is zero, or the end of the range where it is smaller."""
    ends = gap(low), gap(high)
    if ends[0] * ends[1] > 0:
        return low if abs(ends[0]) < abs(ends[1]) else high
    return float(optimize.brentq(gap, low, high, xtol=1e-6))


def _signed(value: float | None) -> str:
    return decimal(value, 2, sign=True).replace("-", "−")
