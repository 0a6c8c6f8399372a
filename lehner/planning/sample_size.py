"""Sample size: how many items an estimate of the system's accuracy needs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from lehner.algebra.algebraic import find_vote_methods
from lehner.core.arrays import Floats
from lehner.core.errors import check_choice, check_level, check_number, check_whole_number, wrong
from lehner.core.estimate import ESTIMANDS
from lehner.core.lazy import special, xr
from lehner.core.seeds import Seed, child_seeds
from lehner.core.text import decimal, probability
from lehner.simulation.draw import estimate_samples
from lehner.simulation.probabilities import require_few_votes
from lehner.simulation.scenario import Scenario

type Estimand = Literal["system_accuracy", "system_accuracy_in_sample"]

ERROR_ROUNDING = 1e-9
MOST_PLANNED_CELLS = 10_000
"""With more combinations of votes and answer than this, the simulation would take hours."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Nearness:
    """The result of simulations with one number of items.

    Parameters
    ----------
    n_items : int
    proportions : ndarray, shape (n_scenarios,)
        Proportion of the samples in which the estimate is near the truth.
    replicates : int
        Number of samples of each scenario.
    bias : ndarray, shape (n_scenarios,)
        Mean error of the estimates that are defined.
    undefined : ndarray, shape (n_scenarios,)
        Proportion of the samples in which the estimate is undefined.
    """

    n_items: int
    proportions: Floats
    replicates: int
    bias: Floats
    undefined: Floats

    @property
    def samples(self) -> int:
        """Number of samples of all scenarios."""
        return self.replicates * len(self.proportions)

    @property
    def probability(self) -> float:
        """Mean of the proportions."""
        return float(self.proportions.mean())

    @property
    def standard_error(self) -> float:
        """Monte Carlo standard error of the mean."""
        # The error of a proportion of 0 or 1 is not below that of one sample.
        proportions = (self.replicates * self.proportions + 0.5) / (self.replicates + 1)
        return float(
            np.sqrt((proportions * (1 - proportions)).sum() / self.replicates) / len(proportions)
        )


@dataclass(frozen=True, kw_only=True)
class Target:
    """The requirement: which estimate must be how near to which truth, and how often.

    Parameters
    ----------
    scenarios : tuple of Scenario
    within, confidence, method, estimand
        As in `lehner.required_sample_size`.

    Raises
    ------
    InputError
        If one of them is not as there.
    """

    scenarios: tuple[Scenario, ...]
    within: float
    confidence: float
    method: str
    estimand: Estimand

    def __post_init__(self) -> None:
        if not self.scenarios:
            raise wrong("scenarios", self.scenarios, "give one or more")
        remedy = "give a number above 0, at most 1"
        check_number("within", self.within, np.nextafter(0, 1), 1, remedy)
        check_level(self.confidence, "confidence")
        find_vote_methods([self.method])
        check_choice("estimand", self.estimand, ESTIMANDS)
        for scenario in self.scenarios:
            require_few_votes(scenario, MOST_PLANNED_CELLS)

    def simulate(
        self, numbers: Sequence[int], samples: int, seed: np.random.SeedSequence
    ) -> Iterator[Nearness]:
        """Simulate each number of items, with a given total number of samples."""
        replicates = max(1, round(samples / len(self.scenarios)))
        for n_items, child in zip(numbers, child_seeds(seed, len(numbers)), strict=True):
            yield self._simulate(n_items, replicates, child)

    def _simulate(self, n_items: int, replicates: int, seed: np.random.SeedSequence) -> Nearness:
        seeds = child_seeds(seed, len(self.scenarios))
        errors = [
            self._errors(replace(scenario, n_items=n_items), replicates, values)
            for scenario, values in zip(self.scenarios, seeds, strict=True)
        ]
        defined = [error[np.isfinite(error)] for error in errors]
        # An undefined estimate, whose error is NaN, is not near.
        near = [np.abs(error) <= self.within + ERROR_ROUNDING for error in errors]
        return Nearness(
            n_items=n_items,
            proportions=np.array([values.mean() for values in near]),
            replicates=replicates,
            bias=np.array([values.mean() if len(values) else np.nan for values in defined]),
            undefined=np.array([1 - len(values) / replicates for values in defined]),
        )

    def _errors(self, scenario: Scenario, n: int, seed: np.random.SeedSequence) -> Floats:
        in_sample = self.estimand == "system_accuracy_in_sample"
        samples = estimate_samples(scenario, n, [self.method], in_sample=in_sample, seed=seed)
        return np.asarray(samples[self.method] - samples[self.estimand])


FEWEST_PLANNED = 10
FEWEST_REPLICATES = PILOT = 1000
MOST_MOVES = 8
MOST_UNCERTAIN = 0.25
Z_95 = 1.959964
IN_WINDOW = 5
WIDE, NARROW = 1.5, 1.2
WIDE_SAMPLES = 500
FEWEST_ITEMS, MOST_ITEMS = 2, 100_000


@dataclass(frozen=True)
class Crossing:
    """The number of items at which the probability reaches the required confidence.

    Parameters
    ----------
    n_items : float
    standard_error : float
        Monte Carlo standard error.
    """

    n_items: float
    standard_error: float


@dataclass(frozen=True, kw_only=True, eq=False)
class SampleSize:
    """The required number of items.

    Parameters
    ----------
    n_items : int or None
        The number. None if no number of items up to the limit is enough, or if it could not be
        found; `note` gives the reason.
    standard_error : float or None
        Monte Carlo standard error of `n_items`.
    lower, upper : int or None
        Ends of its 95% Monte Carlo interval.
    simulated : tuple of Nearness
        The results of the simulations; `curve` gives them as a labelled dataset.
    note : str
        A remark on the result; empty if there is none.
    """

    n_items: int | None
    standard_error: float | None
    lower: int | None
    upper: int | None
    simulated: tuple[Nearness, ...]
    note: str = ""

    @cached_property
    def curve(self) -> "xr.Dataset":
        """The results of the simulations, dims (n_items, scenario).

        `probability` that the estimate is near enough and its `standard_error` (n_items), the mean
        `bias` of the estimates that are defined (n_items, scenario), and the proportion of samples
        in which the estimate is `undefined` (n_items, scenario).
        """
        # If a number of items was simulated twice, the larger simulation is used.
        once = {
            point.n_items: point
            for point in sorted(self.simulated, key=lambda point: point.replicates)
        }
        ordered = [once[n] for n in sorted(once)]
        both = ("n_items", "scenario")
        return xr.Dataset(
            {
                "probability": ("n_items", [point.probability for point in ordered]),
                "standard_error": ("n_items", [point.standard_error for point in ordered]),
                "bias": (both, np.array([point.bias for point in ordered])),
                "undefined": (both, np.array([point.undefined for point in ordered])),
            },
            coords={"n_items": sorted(once)},
        )

    def __repr__(self) -> str:
        if self.n_items is None:
            return f"SampleSize: {self.note}"
        parts = [f"{self.n_items} items, 95% Monte Carlo interval {self.lower} to {self.upper}"]
        if self.note:
            parts.append(self.note)
        return f"SampleSize: {'; '.join(parts)}"


def required_sample_size(
    scenarios: Scenario | Sequence[Scenario],
    *,
    within: float = 0.1,
    confidence: float = 0.9,
    method: str = "algebraic",
    estimand: Estimand = "system_accuracy",
    replicates: int = 20_000,
    seed: Seed = 1,
) -> SampleSize:
    """Find the number of items with which the estimate is near the truth with a given probability.

    The probability that the estimate is within a distance of the truth is simulated for numbers of
    items that are doubled step by step, then near the number at which it reaches `confidence`.
    There a probit regression on the square root of the number of items gives the answer, and the
    delta method its Monte Carlo standard error. An undefined estimate (agreement at or below
    chance) counts as not near. With few items a proportion has few possible values, so that the
    probability increases in steps, which the regression smooths.

    Parameters
    ----------
    scenarios : Scenario or sequence of Scenario
        The assumed behaviour of raters and system. The probability is averaged over several
        scenarios with equal weight. Their numbers of items are not used.
    within : float
        The distance, above 0 and at most 1.
    confidence : float
        The probability, above 0 and below 1.
    method : str
        A method that needs only votes: "algebraic", "algebraic_likelihood", "algebraic_paper",
        "majority_agreement" or "mean_posterior".
    estimand : {"system_accuracy", "system_accuracy_in_sample"}
        The truth: the expected accuracy, or the proportion of the items that the system got right.
    replicates : int
        Number of samples near the answer, 1,000 or more. The Monte Carlo standard error is
        inversely proportional to its square root.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the samples: the same seed gives the same number.

    Returns
    -------
    SampleSize
        The number of items with its Monte Carlo standard error.

    Raises
    ------
    InputError
        If an argument is not as above, or if there are too many raters and categories for all votes
        to be enumerated: with five categories there may be 12 raters.

    References
    ----------
    Lehner (2015), "Recommended use and uses to avoid", which asks for such simulations.

    Examples
    --------
    >>> scenario = Scenario(initial_rater_accuracy=(0.8, 0.8, 0.8))
    >>> found = required_sample_size(scenario, replicates=2000)
    >>> 18 < found.n_items < 30
    True
    """
    some = (scenarios,) if isinstance(scenarios, Scenario) else tuple(scenarios)
    target = Target(
        scenarios=some, within=within, confidence=confidence, method=method, estimand=estimand
    )
    check_whole_number("replicates", replicates, FEWEST_REPLICATES)
    limit_seed, pilot_seed, *seeds = child_seeds(seed, 2 + MOST_MOVES)
    points = list(target.simulate([MOST_ITEMS], max(PILOT, replicates // 4), limit_seed))
    reached = points[0].probability >= confidence
    for point in target.simulate(_doubling(), PILOT, pilot_seed):
        points.append(point)
        if reached and point.probability >= confidence:
            break
    if not reached:
        return _result(None, points, _never(points, target))
    if len(points) == 2:
        few = Crossing(FEWEST_PLANNED, 0.0)
        return _result(few, points, f"{FEWEST_PLANNED} items or fewer")
    start = float(np.sqrt(points[-2].n_items * points[-1].n_items))
    crossing, near = find_crossing(target, start, replicates, seeds)
    if crossing is None or crossing.standard_error > MOST_UNCERTAIN * crossing.n_items:
        return _result(None, points + near, _flat(near, target))
    return _result(crossing, points + near, "")


def _doubling() -> list[int]:
    steps = np.arange(np.ceil(np.log2(MOST_ITEMS / FEWEST_PLANNED)))
    return [int(n) for n in FEWEST_PLANNED * 2**steps]


def _never(points: Sequence[Nearness], target: Target) -> str:
    last, best = points[0], max(points, key=lambda point: point.probability)
    error = np.hypot(last.standard_error, best.standard_error)
    higher = ""
    if best.probability - last.probability > Z_95 * error:
        higher = f", and {probability(best.probability, 2)} with {best.n_items:,}"
    return (
        f"no number of items up to {last.n_items:,} is enough: with that many the estimate is "
        f"within {target.within:g} with probability {probability(last.probability, 2)} ± "
        f"{decimal(last.standard_error, 2)}{higher}; {_large_sample(last)}"
    )


def _large_sample(last: Nearness) -> str:
    bias = last.bias[np.isfinite(last.bias)]
    if not bias.size:
        return "raters agree at or below chance, and the estimate is undefined"
    low, high = (decimal(end, sign=True) for end in (bias.min(), bias.max()))
    return f"its large-sample bias is {low if low == high else f'{low} to {high}'}"


def _flat(points: Sequence[Nearness], target: Target) -> str:
    near = points[-1]
    return (
        f"the probability is {probability(near.probability)} ± {decimal(near.standard_error)} with "
        f"{near.n_items:,} items and increases too slowly to tell where it reaches "
        f"{target.confidence:g}: give more replicates or another confidence"
    )


def _result(crossing: Crossing | None, points: Sequence[Nearness], note: str) -> SampleSize:
    half = Z_95 * crossing.standard_error if crossing else 0.0
    return SampleSize(
        n_items=int(np.ceil(crossing.n_items)) if crossing else None,
        standard_error=crossing.standard_error if crossing else None,
        lower=int(max(1, np.floor(crossing.n_items - half))) if crossing else None,
        upper=int(np.ceil(crossing.n_items + half)) if crossing else None,
        simulated=tuple(points),
        note=note,
    )


def find_crossing(
    target: Target,
    start: float,
    samples: int,
    seeds: Sequence[np.random.SeedSequence],
) -> tuple[Crossing | None, list[Nearness]]:
    """Move a wide window until it contains the crossing, then simulate a narrow one, too.

    Parameters
    ----------
    target : Target
    start : float
        Number of items at which the search starts.
    samples : int
        Number of samples in the narrow window; the wide window shows how fast the probability
        grows.
    seeds : sequence of numpy.random.SeedSequence
        One for each move that may be needed, and one for the narrow window.

    Returns
    -------
    crossing : Crossing or None
        None if the probability does not increase over the windows.
    simulated : list of Nearness
        What was simulated, the narrow window last.
    """
    simulated: list[Nearness] = []
    wide: list[Nearness] = []
    *moves, last = seeds
    for seed in moves:
        window = _window(start, WIDE)
        wide = list(target.simulate(window, WIDE_SAMPLES, seed))
        simulated += wide
        crossing = regress(wide, target.confidence)
        if crossing is None:
            enough = np.mean([point.probability for point in wide]) >= target.confidence
            start = window[0] if enough else window[-1]
            continue
        start = float(np.clip(crossing.n_items, window[0], window[-1]))
        if start == crossing.n_items:
            break
    window = _window(start, NARROW)
    narrow = list(target.simulate(window, samples // len(window), last))
    return regress(narrow, target.confidence, wide), simulated + narrow


def _window(centre: float, factor: float) -> list[int]:
    steps = np.round(centre * np.geomspace(1 / factor, factor, IN_WINDOW))
    return sorted({int(n) for n in np.clip(steps, FEWEST_ITEMS, MOST_ITEMS)})


def regress(
    near: Sequence[Nearness], confidence: float, slope_from: Sequence[Nearness] = ()
) -> Crossing | None:
    """Regress probits on the square root of the number of items.

    If estimates are normal around the truth with a variance inversely proportional to the number of
    items, the probit of the proportion on one side of a bound is linear in this root. Over a narrow
    window the probit of the proportion between two bounds is nearly so.

    Parameters
    ----------
    near : sequence of Nearness
        The points through which the line is fitted.
    confidence : float
    slope_from : sequence of Nearness
        Further points that are used for the slope of the line, but not for its height.

    Returns
    -------
    Crossing or None
        The crossing with its standard error by the delta method; None if probits do not increase.
    """
    spread = product = 0.0
    for group in filter(len, (slope_from, near)):  # the last one has the level
        samples, proportion, error = np.array(
            [(point.samples, point.probability, point.standard_error) for point in group]
        ).T
        # Proportions are kept away from 0 and 1, whose probits are infinite.
        probit = special.ndtri((samples * proportion + 0.5) / (samples + 1))
        density = np.exp(-(probit**2) / 2) / np.sqrt(2 * np.pi)
        weight = (density / error) ** 2
        x = np.sqrt([point.n_items for point in group])
        mean_x, mean_probit = np.average(x, weights=weight), np.average(probit, weights=weight)
        spread += float(weight @ (x - mean_x) ** 2)
        product += float(weight @ ((x - mean_x) * (probit - mean_probit)))
    slope = product / spread if spread > 0 else 0.0
    if slope <= 0:
        return None
    step = float(special.ndtri(confidence) - mean_probit) / slope
    root = max(float(mean_x) + step, 0.0)
    standard_error = np.sqrt(1 / weight.sum() + step**2 / spread) / slope
    return Crossing(root**2, float(2 * root * standard_error))
