"""Violations of the K-properties, fitted to the ratings of the raters alone.

The parameters are the simulation's: base rates, initial accuracies, difficulty ±d on three equally
probable levels, asymmetric dispersion.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lehner.algebra.algebraic import base_rates, clip_base_rates
from lehner.algebra.pairwise import pairwise_agreement
from lehner.core.arrays import Floats
from lehner.core.checks import check_number, check_positive
from lehner.core.errors import InputError
from lehner.core.estimate import require_pairs
from lehner.core.warning import Warning, by_severity, warn
from lehner.data.ratings import Ratings
from lehner.k_properties.behaviour import (
    ADDED_ITEMS,
    CERTAIN,
    LEVELS,
    Behaviour,
    behaviour_at,
    covariance_root,
    objective,
)
from lehner.latent_class.pattern_table import PatternTable, tabulate
from lehner.simulation.scenario import Scenario

MOST_DIFFICULTY = 0.5
MOST_DISPERSION = 20.0
START_DIFFICULTY = 0.15
ONE_SIDED_5_PERCENT = 1.645


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Violations:
    """Violations of the K-properties, as estimated from the ratings.

    Parameters
    ----------
    scenario : Scenario
        A scenario with the fitted base rates, rater accuracies, difficulty and dispersion, from
        which samples can be simulated. Its `initial_system_accuracy` is not fitted, because the
        answers of the system are not used.
    standard_errors : dict
        Standard errors of `rater_accuracy` (a number per rater), `difficulty` and
        `asymmetric_dispersion`; 0 where the value was given or could not be fitted. They have upper
        limits: see `fit_violations`.
    log_likelihood : float
        Log probability of the raters' ratings.
    warnings : tuple of Warning
        About violations that these ratings cannot show.
    parameters : ndarray, shape (n_parameters,)
        The fitted parameters: log base rates, accuracies, squared difficulty and log dispersion.
        The difficulty is squared because the likelihood is the same for either sign of it.
    root : ndarray, shape (n_parameters, n_free)
        A square root of the covariance matrix of the parameters, which is its product with its
        transpose.
    score : ndarray, shape (n_parameters,)
        Gradient of the log likelihood; not 0 for a parameter that is at a limit of its range.
    """

    scenario: Scenario
    standard_errors: dict[str, Any]
    log_likelihood: float
    warnings: tuple[Warning, ...]
    parameters: Floats
    root: Floats
    score: Floats

    def __repr__(self) -> str:
        accuracy = ", ".join(f"{value:.3f}" for value in self.scenario.initial_rater_accuracy)
        lines = [
            "Violations of the K-properties",
            f"  rater accuracy         {accuracy}",
            f"  difficulty             ±{self.difficulty:.3f}",
            f"  asymmetric dispersion  {self.scenario.asymmetric_dispersion:.2f}",
        ]
        return "\n".join([*lines, *(f"  warning: {one}" for one in by_severity(self.warnings))])

    @property
    def difficulty(self) -> float:
        """What is added to accuracy in easy items (a third), and subtracted in difficult ones."""
        return max(self.scenario.easiness)

    def expected_rater_accuracy(self) -> Floats:
        """Each rater's accuracy over all levels of difficulty.

        Returns
        -------
        ndarray, shape (n_raters,)
            Probabilities that the raters are right, 0 to 1.
        """
        k, n_raters = self.scenario.n_categories, self.scenario.n_raters
        return behaviour_at(self.parameters, k, n_raters).level_accuracy().mean(axis=0)

    def draw(self, n: int, rng: np.random.Generator) -> Behaviour:
        """Draw raters' behaviour from the normal approximation to its sampling distribution.

        Parameters
        ----------
        n : int
            Number of draws, 1 or more.
        rng : numpy.random.Generator
            Source of the random numbers.

        Returns
        -------
        Behaviour
            Arrays with a leading dimension of length n.
        """
        k = self.scenario.n_categories
        centre = self.parameters + self.root @ (self.root.T @ self.score)
        drawn = centre + rng.standard_normal((n, self.root.shape[1])) @ self.root.T
        # If a draw has no difficulty, the other parameters take their most probable values given
        # that.
        along = self.root @ self.root[-2]
        if along[-2] > 0:
            drawn -= np.minimum(drawn[:, -2:-1], 0.0) * along / along[-2]
        drawn[:, k:-2] = np.clip(drawn[:, k:-2], 1 / k, 1.0)
        drawn[:, -2] = np.clip(drawn[:, -2], 0, MOST_DIFFICULTY**2)
        return behaviour_at(drawn, k, self.scenario.n_raters)


def fit_violations(
    ratings: Ratings,
    *,
    difficulty: float | None = None,
    asymmetric_dispersion: float | None = None,
) -> Violations:
    """Fit the violations of the K-properties to the ratings, by maximum likelihood.

    Half an item is added to each category, which keeps base rates above 0. Answers of the system
    are not used. Errors may be preferred because they are nearer to the truth (asymmetric
    dispersion, AD); random preferences (proportional error range, PER) are not fitted.

    Parameters
    ----------
    ratings : Ratings
        With or without a system. Ratings may be missing at random.
    difficulty : float, optional
        A known value, 0 to 0.5, that is added to the raters' accuracy in a third of the items and
        subtracted in another third. By default it is fitted if some item has three ratings, and
        else 0.
    asymmetric_dispersion : float, optional
        A known value, above 0: how many times more likely an error is that lies one step nearer to
        the truth. By default it is fitted if there are three or more ordered categories, and else
        1.

    Returns
    -------
    Violations
        If the ratings tell little, standard errors stay below .3 (accuracy, difficulty) or below
        the estimate itself (dispersion). Two raters, or anonymous raters, are all given the same
        accuracy.

    Raises
    ------
    InputError
        If no item has two ratings, or a rater rated an item twice.

    References
    ----------
    Lehner (2015), "Performance and robustness", for the parameters.

    Examples
    --------
    >>> from lehner import simulate
    >>> levels = (-0.2, 0, 0.2)
    >>> scenario = Scenario(n_items=5000, easiness=levels, asymmetric_dispersion=2)
    >>> fit_violations(simulate(scenario))
    Violations of the K-properties
      rater accuracy         0.597, 0.617, 0.592
      difficulty             ±0.188
      asymmetric dispersion  2.00
    """
    require_pairs(ratings)
    require_single_ratings(ratings)
    data, _ = tabulate(ratings.without_system())
    low, high, warnings = _bounds(ratings, data, difficulty, asymmetric_dispersion)
    start = _start(ratings, data, low, high)
    from scipy.optimize import minimize

    optimum = minimize(
        objective,
        start,
        (data,),
        method="L-BFGS-B",
        jac=True,
        bounds=np.column_stack([low, high]),
        options={"maxiter": 500, "ftol": 1e-10, "gtol": 1e-4},
    )
    parameters, free = optimum.x, high > low
    root = np.zeros((len(parameters), int(free.sum())))
    root[free] = covariance_root(parameters, high, free, data)
    fitted = behaviour_at(parameters, data.n_categories, data.n_raters)
    errors = _standard_errors(root, fitted, data)
    return Violations(
        scenario=_scenario(ratings, fitted),
        standard_errors=errors,
        log_likelihood=-float(optimum.fun) - ADDED_ITEMS * float(np.log(fitted.base_rates).sum()),
        warnings=(*warnings, *_unsure(fitted, errors, root)),
        parameters=parameters,
        root=root,
        score=-objective(parameters, data)[1],
    )


def require_single_ratings(ratings: Ratings) -> None:
    """Raise an InputError if a rater rated an item twice."""
    if ratings.several_votes:
        raise InputError(
            "a rater rated an item more than once, and the model has no errors that a rater "
            "repeats",
            "keep one rating of each item by each rater",
        )


def _n_accuracies(ratings: Ratings) -> int:
    """Count the accuracies that the ratings can tell apart."""
    return 1 if ratings.n_raters < 3 or ratings.anonymous else ratings.n_raters


def _bounds(
    ratings: Ratings, data: PatternTable, difficulty: float | None, dispersion: float | None
) -> tuple[Floats, Floats, list[Warning]]:
    """Limits of the parameters; they are equal for a parameter that is not fitted."""
    assumed = []
    n_accuracies = _n_accuracies(ratings)
    if n_accuracies == 1:
        assumed.append("two raters, or anonymous raters, are assumed to be equally accurate")
    k, m = data.n_categories, n_accuracies
    low = np.concatenate([np.full(k, -15.0), np.full(m, 1 / k), [0.0, -np.log(MOST_DISPERSION)]])
    high = np.concatenate(
        [np.full(k, 15.0), np.full(m, 1 - CERTAIN), [MOST_DIFFICULTY**2, -low[-1]]]
    )
    low[0] = high[0] = 0.0
    if difficulty is not None:
        low[-2] = high[-2] = check_number("difficulty", difficulty, 0, MOST_DIFFICULTY) ** 2
    elif data.answers.sum(axis=1).max() < 3:
        low[-2] = high[-2] = 0.0
        assumed.append("no item has three ratings: items are assumed to be equally difficult")
    if dispersion is not None:
        low[-1] = high[-1] = np.log(check_positive("asymmetric_dispersion", dispersion))
    elif k < 3 or not ratings.ordered:
        low[-1] = high[-1] = 0.0
        if k > 2:
            assumed.append("categories are not ordered: errors are assumed to be equally probable")
    return low, high, [warn("violation-not-fitted", text) for text in assumed]


def _start(ratings: Ratings, data: PatternTable, low: Floats, high: Floats) -> Floats:
    """Start from the estimates that agreement and frequencies give if the K-properties hold."""
    votes = ratings.weights @ ratings.votes() + 1.0
    kappa = pairwise_agreement(ratings).kappa
    assert kappa is not None
    k = data.n_categories
    accuracy = 1 / k + (1 - 1 / k) * np.sqrt(max(kappa, 0.01))
    rates = clip_base_rates(base_rates(votes / votes.sum(), accuracy))
    log_rates = np.log(np.maximum(rates, 0.01))
    start = [log_rates - log_rates[0], np.full(_n_accuracies(ratings), accuracy)]
    return np.clip(np.concatenate([*start, [START_DIFFICULTY**2, np.log(1.2)]]), low, high)


def _standard_errors(root: Floats, fitted: Behaviour, data: PatternTable) -> dict[str, Any]:
    errors = np.sqrt((root**2).sum(axis=1))
    accuracy = np.broadcast_to(errors[data.n_categories : -2], data.n_raters)
    square = fitted.difficulty**2
    below, above = np.sqrt(np.maximum([square - errors[-2], square + errors[-2]], 0.0))
    return {
        "rater_accuracy": tuple(accuracy.tolist()),
        "difficulty": float(above - below) / 2,
        "asymmetric_dispersion": float(errors[-1] * fitted.dispersion),
    }


def _scenario(ratings: Ratings, fitted: Behaviour) -> Scenario:
    difficulty = float(fitted.difficulty)
    n_votes = int(ratings.weights @ ratings.votes().sum(axis=1))
    possible = ratings.n_items * ratings.n_raters
    return Scenario(
        n_categories=ratings.n_categories,
        n_items=ratings.n_items,
        initial_rater_accuracy=tuple(fitted.accuracy.tolist()),
        easiness=tuple((difficulty * LEVELS).tolist()) if difficulty else (0.0,),
        asymmetric_dispersion=float(fitted.dispersion),
        base_rates=tuple(fitted.base_rates.tolist()),
        missing=1 - n_votes / possible,
    )


def _unsure(fitted: Behaviour, errors: dict[str, Any], root: Floats) -> list[Warning]:
    """Warn if the fitted difficulty could also be equal difficulty."""
    difficulty, error = float(fitted.difficulty), float(np.linalg.norm(root[-2]))
    if error == 0 or difficulty**2 > ONE_SIDED_5_PERCENT * error:
        return []
    text = (
        f"the ratings cannot distinguish the fitted difficulty of ±{difficulty:.2f} (standard "
        f"error {errors['difficulty']:.2f}) from equal difficulty"
    )
    return [warn("violation-uncertain", text)]
