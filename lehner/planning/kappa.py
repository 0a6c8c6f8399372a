"""Scenarios for planning, with an observed kappa and assumed violations of the K-properties."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lehner.algebra.steps import brennan_prediger
from lehner.core.errors import (
    InputError,
    check_number,
    check_probability,
    check_whole_number,
    wrong,
)
from lehner.core.lazy import optimize
from lehner.core.seeds import Seed, child_seeds, generator
from lehner.simulation.parameters import draw_parameters, perception, reached_accuracy
from lehner.simulation.scenario import Scenario

KAPPA_DRAWS = 1000
ACCURACY_SPREAD, DIFFICULTY = 0.1, 0.2


def scenario_with_kappa(
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
    >>> scenario_with_kappa(0.25).initial_rater_accuracy
    (0.6, 0.6, 0.6)
    >>> [round(x, 2) for x in scenario_with_kappa(0.302, violation=1).initial_rater_accuracy]
    [0.5, 0.6, 0.7]
    """
    check_probability("system_accuracy", system_accuracy)
    check_number("kappa", kappa, 0, np.nextafter(1, 0), "give a number from 0 to below 1")
    check_whole_number("n_categories", n_categories, 2)
    check_whole_number("n_raters", n_raters, 2)
    check_probability("violation", violation)
    if violation == 0:
        accuracy = 1 / n_categories + (1 - 1 / n_categories) * np.sqrt(kappa)
        # Rounded to twelve digits, so that a kappa of .25 gives raters of exactly .6.
        return Scenario(
            n_categories=n_categories,
            initial_rater_accuracy=(round(float(accuracy), 12),) * n_raters,
            initial_system_accuracy=system_accuracy,
        )
    (own,) = child_seeds(seed, 1)
    spread = ACCURACY_SPREAD * violation * np.linspace(-1, 1, n_raters)

    def raters(mean: float) -> Scenario:
        return Scenario(
            n_categories=n_categories,
            initial_rater_accuracy=tuple(np.clip(mean + spread, 0, 1)),
            easiness=(-DIFFICULTY * violation, 0.0, DIFFICULTY * violation),
            asymmetric_dispersion=1 + violation,
            proportional_error_range=violation,
        )

    def excess(mean: float) -> float:
        return expected_kappa(raters(mean), seed=own) - kappa

    ends = 1 / n_categories, 1 + ACCURACY_SPREAD * violation
    least, most = map(excess, ends)
    if not least <= 0 <= most:
        raise InputError(
            f"kappa is {kappa:g}, but with violation {violation:g} it lies between "
            f"{kappa + least:.3f} (raters at chance level) and {kappa + most:.3f} (raters who are "
            "perfect but for difficulty)",
            "give another kappa or a smaller violation",
        )
    scenario = raters(float(optimize.brentq(excess, *ends, xtol=1e-6)))
    initial = initial_accuracy(system_accuracy, scenario.easiness)
    return replace(scenario, initial_system_accuracy=initial)


def expected_kappa(scenario: Scenario, *, draws: int = KAPPA_DRAWS, seed: Seed = 1) -> float:
    """Compute the expected kappa of raters who rate every item independently.

    Parameters
    ----------
    scenario : Scenario
        A scenario without copying.
    draws : int
        How many draws of base rates and confusion matrices are averaged if these are random, 1 or
        more.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of these draws: the same seed gives the same kappa.

    Returns
    -------
    float
        Agreement beyond the chance of 1/K, at most 1.

    Raises
    ------
    InputError
        If raters copy, or the draws or the seed are wrong.

    References
    ----------
    Lehner (2015), Eq. 2, solved for kappa, if the K-properties hold.

    Examples
    --------
    >>> round(expected_kappa(Scenario(initial_rater_accuracy=(0.6, 0.6, 0.6))), 6)
    0.25
    """
    if any(scenario.copying):
        remedy = "simulate instead: this kappa is defined only for raters who do not copy"
        raise wrong("copying", scenario.copying, remedy)
    check_whole_number("draws", draws, 1)
    n = draws if scenario.random_parameters else 1
    parameters = draw_parameters(scenario, n, generator(seed))
    raters = parameters.confusion[:, :, :-1]
    # The sum over ordered pairs of raters is the square of the sum minus the sum of squares.
    agreeing = (raters.sum(axis=2) ** 2 - (raters**2).sum(axis=2)).sum(axis=-1)
    perceived = parameters.base_rates @ perception(scenario)
    agreement = np.einsum("g,nk,ngk->n", scenario.level_probabilities, perceived, agreeing)
    pairs = scenario.n_raters * (scenario.n_raters - 1)
    return float(brennan_prediger(agreement.mean() / pairs, scenario.n_categories))


def initial_accuracy(expected: float, easiness: Sequence[float]) -> float:
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
    >>> round(initial_accuracy(0.9, (-0.2, 0, 0.2)), 3)
    0.95
    """
    levels = np.array(easiness)
    initial = np.unique(np.clip([0, 1, *-levels, *(1 - levels)], 0, 1))
    reached = reached_accuracy(initial[:, None], levels).mean(axis=1)
    if not reached[0] <= expected <= reached[-1]:
        raise InputError(
            f"system_accuracy is {expected:g}, but with difficulty of ±{levels.max():g} it lies "
            f"between {reached[0]:.3f} and {reached[-1]:.3f}",
            "give another accuracy or a smaller violation",
        )
    return float(np.interp(expected, reached, initial))
