"""Sample size: how many items an estimate needs, for raters who agree with an observed kappa."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from lehner.algebra.algebraic import find_vote_methods
from lehner.algebra.steps import brennan_prediger
from lehner.core import errors
from lehner.core.arrays import Floats, Seed, derive_seeds, make_rng
from lehner.core.errors import Warning, warn
from lehner.core.estimate import ESTIMANDS, make_rows
from lehner.core.lazy import optimize, special
from lehner.core.results import Results, tabulate
from lehner.core.text import format_p, to_decimal
from lehner.simulation.draw import count_cells, require_few_outcomes, simulate_estimates
from lehner.simulation.scenario import Scenario, add_easiness, draw_parameters, find_perception

type Estimand = Literal["system_accuracy", "system_accuracy_in_sample"]

ERROR_ROUNDING = 1e-9
# The simulation of more combinations of votes and answer than this would take hours.
MOST_PLANNED_CELLS = 10_000


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
    """

    n_items: int
    proportions: Floats
    replicates: int
    bias: Floats

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
        variance = (proportions * (1 - proportions)).sum() / self.replicates
        return float(np.sqrt(variance) / len(proportions))


@dataclass(frozen=True, kw_only=True)
class Target:
    """The requirement: which estimate must be how near to which truth, and how often.

    Parameters
    ----------
    scenarios : tuple of Scenario
    within, confidence, method, estimand
        As in `lehner.find_sample_size`.

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
            raise errors.make_error("scenarios", self.scenarios, "give one or more")
        remedy = "give a number above 0, at most 1"
        errors.check_number("within", self.within, np.nextafter(0, 1), 1, remedy)
        errors.check_level(self.confidence, "confidence")
        find_vote_methods([self.method])
        errors.check_choice("estimand", self.estimand, ESTIMANDS)
        for scenario in self.scenarios:
            require_few_outcomes(scenario, count_cells(scenario), MOST_PLANNED_CELLS)

    def simulate(
        self, numbers: Sequence[int], samples: int, seed: np.random.SeedSequence
    ) -> Iterator[Nearness]:
        """Simulate each number of items, with a given total number of samples."""
        replicates = max(1, round(samples / len(self.scenarios)))
        for n_items, child in zip(numbers, derive_seeds(seed, len(numbers)), strict=True):
            seeds = iter(derive_seeds(child, len(self.scenarios)))
            several = (replace(scenario, n_items=n_items) for scenario in self.scenarios)
            errors_made = np.array([self._draw_errors(x, replicates, next(seeds)) for x in several])
            n_defined = np.isfinite(errors_made).sum(axis=1)
            yield Nearness(
                n_items=n_items,
                # An undefined estimate, whose error is NaN, is not near.
                proportions=(np.abs(errors_made) <= self.within + ERROR_ROUNDING).mean(axis=1),
                replicates=replicates,
                bias=np.nansum(errors_made, axis=1) / np.where(n_defined > 0, n_defined, np.nan),
            )

    def _draw_errors(self, scenario: Scenario, n: int, seed: np.random.SeedSequence) -> Floats:
        in_sample = self.estimand == "system_accuracy_in_sample"
        samples = simulate_estimates(
            scenario, n, methods=[self.method], in_sample=in_sample, seed=seed
        )
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
# Numbers of items with which the search begins; the next one would be above the most.
DOUBLED = [FEWEST_PLANNED * 2**step for step in range(14)]


class Crossing(NamedTuple):
    """Number of items at which the confidence is reached, and its Monte Carlo standard error."""

    n_items: float
    standard_error: float


def find_sample_size(
    scenarios: Scenario | Sequence[Scenario],
    *,
    within: float = 0.1,
    confidence: float = 0.9,
    method: str = "algebraic",
    estimand: Estimand = "system_accuracy",
    design_effect: float = 1.0,
    replicates: int = 20_000,
    seed: Seed = 1,
) -> Results:
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
        A method that needs only votes: "algebraic", "algebraic_paper" or "majority_agreement".
    estimand : {"system_accuracy", "system_accuracy_in_sample"}
        The truth: the expected accuracy, or the proportion of the items that the system got right.
    design_effect : float
        How many times as many items as independent ones are needed, 1 or more: of clusters of items
        1 + (size - 1) times their intraclass correlation, as in Kish (1965), section 5.4.
    replicates : int
        Number of samples near the answer, 1,000 or more. The Monte Carlo standard error is
        inversely proportional to its square root.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the samples: the same seed gives the same number.

    Returns
    -------
    Results
        A row of `n_items`, the number of items with its 95% Monte Carlo interval, and one of
        `standard_error`, its Monte Carlo standard error. They have no number if no number of items
        up to the limit is enough, or if it could not be found; a warning gives the reason.

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
    >>> size = find_sample_size(scenario, replicates=2000)
    >>> 18 < size.value("n_items").estimate < 30
    True
    """
    several = (scenarios,) if isinstance(scenarios, Scenario) else tuple(scenarios)
    target = Target(
        scenarios=several, within=within, confidence=confidence, method=method, estimand=estimand
    )
    errors.check_whole_number("replicates", replicates, FEWEST_REPLICATES)
    errors.check_number("design_effect", design_effect, 1, np.inf, "give a number, 1 or more")
    crossing, warnings = _search(target, replicates, seed)
    numbers, error = np.full(3, np.nan), np.full(3, np.nan)
    if crossing is not None:
        half = Z_95 * crossing.standard_error
        lower = max(1, np.floor(crossing.n_items - half))
        independent = np.ceil([crossing.n_items, lower, crossing.n_items + half])
        numbers = np.ceil(independent * design_effect)
        error[0] = crossing.standard_error * design_effect
    rows = make_rows("n_items", numbers, {}, level=0.95, kind="Monte Carlo")
    rows += make_rows("standard_error", error, {}, kind="Monte Carlo")
    return Results(ratings=None, table=tabulate(rows), warnings=warnings)


def _search(
    target: Target, replicates: int, seed: Seed
) -> tuple[Crossing | None, tuple[Warning, ...]]:
    """Search for the number of items, if there is one, and say what limits the answer."""
    limit_seed, pilot_seed, *seeds = derive_seeds(seed, 2 + MOST_MOVES)
    points = list(target.simulate([MOST_ITEMS], max(PILOT, replicates // 4), limit_seed))
    reached = points[0].probability >= target.confidence
    for point in target.simulate(DOUBLED, PILOT, pilot_seed):
        points.append(point)
        if reached and point.probability >= target.confidence:
            break
    if not reached:
        return None, (warn("sample-size", _explain_never(points, target)),)
    if len(points) == 2:
        text = f"{FEWEST_PLANNED} items or fewer"
        return Crossing(FEWEST_PLANNED, 0.0), (warn("sample-size-least", text),)
    start = float(np.sqrt(points[-2].n_items * points[-1].n_items))
    crossing, last = find_crossing(target, start, replicates, seeds)
    if crossing is None or crossing.standard_error > MOST_UNCERTAIN * crossing.n_items:
        return None, (warn("sample-size", _explain_flat(last, target)),)
    return crossing, ()


def _explain_never(points: Sequence[Nearness], target: Target) -> str:
    last, best = points[0], max(points, key=lambda point: point.probability)
    error = np.hypot(last.standard_error, best.standard_error)
    higher = ""
    if best.probability - last.probability > Z_95 * error:
        higher = f", and {format_p(best.probability, 2)} with {best.n_items:,}"
    return (
        f"no number of items up to {last.n_items:,} is enough: with that many the estimate is "
        f"within {target.within:g} with probability {format_p(last.probability, 2)} ± "
        f"{to_decimal(last.standard_error, 2)}{higher}; {_find_large_sample(last)}"
    )


def _find_large_sample(last: Nearness) -> str:
    bias = last.bias[np.isfinite(last.bias)]
    if not bias.size:
        return "raters agree at or below chance, and the estimate is undefined"
    low, high = (to_decimal(end, sign=True) for end in (bias.min(), bias.max()))
    return f"its large-sample bias is {low if low == high else f'{low} to {high}'}"


def _explain_flat(near: Nearness, target: Target) -> str:
    return (
        f"the probability is {format_p(near.probability)} ± {to_decimal(near.standard_error)} with "
        f"{near.n_items:,} items and increases too slowly to tell where it reaches "
        f"{target.confidence:g}: give more replicates or another confidence"
    )


def find_crossing(
    target: Target, start: float, samples: int, seeds: Sequence[np.random.SeedSequence]
) -> tuple[Crossing | None, Nearness]:
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
    last : Nearness
        The result with the greatest number of items in the narrow window.
    """
    wide: list[Nearness] = []
    *moves, last = seeds
    for seed in moves:
        window = _make_window(start, WIDE)
        wide = list(target.simulate(window, WIDE_SAMPLES, seed))
        crossing = regress(wide, target.confidence)
        if crossing is None:
            enough = np.mean([point.probability for point in wide]) >= target.confidence
            start = window[0] if enough else window[-1]
            continue
        start = float(np.clip(crossing.n_items, window[0], window[-1]))
        if start == crossing.n_items:
            break
    window = _make_window(start, NARROW)
    narrow = list(target.simulate(window, samples // len(window), last))
    return regress(narrow, target.confidence, wide), narrow[-1]


def _make_window(centre: float, factor: float) -> list[int]:
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


KAPPA_DRAWS = 1000
ACCURACY_SPREAD, DIFFICULTY = 0.1, 0.2


def make_scenario(
    kappa: float,
    *,
    n_categories: int = 5,
    n_raters: int = 3,
    system_accuracy: float = 0.9,
    violation: float = 0.0,
    seed: Seed = 1,
) -> Scenario:
    r"""Make the scenario in which raters agree with a given kappa.

    A user can observe kappa. If the K-properties hold, the accuracy of the raters follows from it,

    .. math:: P_c = 1/K + (1 - 1/K) \sqrt\kappa,

    and if they do not, it is found numerically.

    Parameters
    ----------
    kappa : float
        Expected agreement beyond the chance of 1/K, from 0 to below 1.
    n_categories, n_raters : int
        K and J, 2 or more.
    system_accuracy : float
        Expected accuracy of the system, 0 to 1.
    violation : float
        From 0, with which the K-properties hold, to 1, with which they are violated as in the
        paper: the raters' accuracies are spread evenly over ±.1; for raters and system a third of
        the items is more difficult and a third easier by .2; an error one step nearer to the truth
        is twice as likely (asymmetric dispersion, AD), and each error probability varies by up to
        100% (proportional error range, PER). All four are scaled by the violation, AD as 1 +
        violation.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Seed of the base rates and errors over which kappa is averaged if the K-properties are
        violated: the same seed gives the same scenario.

    Returns
    -------
    Scenario
        A scenario with flat Dirichlet base rates.

    Raises
    ------
    InputError
        If an argument is wrong, or this kappa or this accuracy of the system is not possible with
        this violation.

    References
    ----------
    Lehner (2015), Eq. 2 and "When K-assumptions are substantially violated".

    Examples
    --------
    >>> make_scenario(0.25).initial_rater_accuracy
    (0.6, 0.6, 0.6)
    >>> [round(x, 2) for x in make_scenario(0.302, violation=1).initial_rater_accuracy]
    [0.5, 0.6, 0.7]
    """
    errors.check_probability("system_accuracy", system_accuracy)
    errors.check_number("kappa", kappa, 0, np.nextafter(1, 0), "give a number from 0 to below 1")
    errors.check_whole_number("n_categories", n_categories, 2)
    errors.check_whole_number("n_raters", n_raters, 2)
    errors.check_probability("violation", violation)
    if violation == 0:
        accuracy = 1 / n_categories + (1 - 1 / n_categories) * np.sqrt(kappa)
        # Rounded to twelve digits, so that a kappa of .25 gives raters of exactly .6.
        return Scenario(
            n_categories=n_categories,
            initial_rater_accuracy=(round(float(accuracy), 12),) * n_raters,
            initial_system_accuracy=system_accuracy,
        )
    (kappa_seed,) = derive_seeds(seed, 1)
    spread = ACCURACY_SPREAD * violation * np.linspace(-1, 1, n_raters)

    def spread_raters(mean: float) -> Scenario:
        return Scenario(
            n_categories=n_categories,
            initial_rater_accuracy=tuple(np.clip(mean + spread, 0, 1)),
            easiness=(-DIFFICULTY * violation, 0.0, DIFFICULTY * violation),
            asymmetric_dispersion=1 + violation,
            proportional_error_range=violation,
        )

    def exceed(mean: float) -> float:
        return expect_kappa(spread_raters(mean), seed=kappa_seed) - kappa

    ends = 1 / n_categories, 1 + ACCURACY_SPREAD * violation
    least, most = map(exceed, ends)
    if not least <= 0 <= most:
        raise errors.InputError(
            f"kappa is {kappa:g}, but with violation {violation:g} it lies between "
            f"{kappa + least:.3f} (raters at chance level) and {kappa + most:.3f} (raters who are "
            "perfect but for difficulty)",
            "give another kappa or a smaller violation",
        )
    scenario = spread_raters(float(optimize.brentq(exceed, *ends, xtol=1e-6)))
    initial = find_initial_accuracy(system_accuracy, scenario.easiness)
    return replace(scenario, initial_system_accuracy=initial)


def expect_kappa(scenario: Scenario, *, seed: Seed = 1) -> float:
    """Compute the expected kappa of raters who rate every item independently.

    Parameters
    ----------
    scenario : Scenario
        A scenario without copying.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the 1,000 draws of base rates and confusion matrices that are averaged if these are
        random: the same seed gives the same kappa.

    Returns
    -------
    float
        Agreement beyond the chance of 1/K, at most 1.

    Raises
    ------
    InputError
        If raters copy, or the seed is wrong.

    References
    ----------
    Lehner (2015), Eq. 2, solved for kappa, if the K-properties hold.

    Examples
    --------
    >>> round(expect_kappa(Scenario(initial_rater_accuracy=(0.6, 0.6, 0.6))), 6)
    0.25
    """
    if any(scenario.copying):
        remedy = "simulate instead: this kappa is defined only for raters who do not copy"
        raise errors.make_error("copying", scenario.copying, remedy)
    n = KAPPA_DRAWS if scenario.random_parameters else 1
    parameters = draw_parameters(scenario, n, make_rng(seed))
    raters = parameters.confusion[:, :, :-1]
    # The sum over ordered pairs of raters is the square of the sum minus the sum of squares.
    agreeing = (raters.sum(axis=2) ** 2 - (raters**2).sum(axis=2)).sum(axis=-1)
    perceived = parameters.base_rates @ find_perception(scenario)
    agreement = np.einsum("g,nk,ngk->n", scenario.level_probabilities, perceived, agreeing)
    pairs = scenario.n_raters * (scenario.n_raters - 1)
    return float(brennan_prediger(agreement.mean() / pairs, scenario.n_categories))


def find_initial_accuracy(expected: float, easiness: Sequence[float]) -> float:
    """Find the initial accuracy (IPC) of a system whose expected accuracy is given.

    Parameters
    ----------
    expected : float
        Expected accuracy, the mean over the levels of difficulty.
    easiness : sequence of float
        What is added to accuracy at each of the equally frequent levels of difficulty (PDA).

    Returns
    -------
    float

    Raises
    ------
    InputError
        If this accuracy is not possible with this difficulty.

    Examples
    --------
    >>> round(find_initial_accuracy(0.9, (-0.2, 0, 0.2)), 3)
    0.95
    """
    levels = np.array(easiness)
    initial = np.unique(np.clip([0, 1, *-levels, *(1 - levels)], 0, 1))
    reached = add_easiness(initial[:, None], levels).mean(axis=1)
    if not reached[0] <= expected <= reached[-1]:
        raise errors.InputError(
            f"system_accuracy is {expected:g}, but with difficulty of ±{levels.max():g} it lies "
            f"between {reached[0]:.3f} and {reached[-1]:.3f}",
            "give another accuracy or a smaller violation",
        )
    return float(np.interp(expected, reached, initial))
