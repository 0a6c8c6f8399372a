"""Violations of the K-properties, fitted to the ratings of the raters alone.

The parameters are the simulation's: base rates, initial accuracies, difficulty ±d on three equally
probable levels, asymmetric dispersion. The likelihood is summed over true categories and levels.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lehner.algebra.algebraic import base_rates, clip_base_rates
from lehner.algebra.pairwise import pairwise_agreement
from lehner.core.arrays import Booleans, Floats
from lehner.core.checks import check_number, check_positive
from lehner.core.class_posterior import class_posterior
from lehner.core.errors import InputError
from lehner.core.estimate import require_pairs
from lehner.data.ratings import Ratings
from lehner.latent_class.pattern_table import PatternTable, tabulate
from lehner.simulation.confusion import disperse, reached_accuracy
from lehner.simulation.scenario import Scenario

LEVELS = np.array([-1.0, 0.0, 1.0])
MOST_DIFFICULTY = 0.5
MOST_DISPERSION = 20.0
CERTAIN = 1e-4
LEAST_PROBABILITY = np.finfo(float).tiny
ADDED_ITEMS = 0.5
START_DIFFICULTY = 0.15
LEAST_DIFFICULTY = 1e-5
STEP = 1e-4
ONE_SIDED_5_PERCENT = 1.645
# Upper limits of standard errors, which they reach if the ratings tell nothing about a parameter.
PRIOR_SPREADS = {
    "log_base_rates": 1.0,
    "accuracy": 0.3,
    "squared_difficulty": 0.1,
    "log_dispersion": 1.0,
}


class Behaviour(NamedTuple):
    """Parameters of raters' behaviour, with any leading dimensions.

    `base_rates` (..., n_categories), `accuracy` (..., n_raters), `difficulty` (...) and
    `dispersion` (...).
    """

    base_rates: Floats
    accuracy: Floats
    difficulty: Floats
    dispersion: Floats

    def level_accuracy(self) -> Floats:
        """Give each rater's accuracy at each level, shape (..., n_levels, n_raters)."""
        shift = np.multiply.outer(self.difficulty, LEVELS)[..., None]
        return np.clip(reached_accuracy(self.accuracy[..., None, :], shift), CERTAIN, 1 - CERTAIN)

    def confusion(self) -> Floats:
        """Give confusion matrices, shape (..., n_levels, n_raters, n_categories, n_categories)."""
        k = self.base_rates.shape[-1]
        return disperse(self.level_accuracy(), k, self.dispersion[..., None, None])

    def errors(self) -> Floats:
        """Give error probabilities given a wrong answer, (..., n_categories, n_categories)."""
        return disperse(np.zeros(self.dispersion.shape), self.base_rates.shape[-1], self.dispersion)


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
    warnings : tuple of str
        Sentences about violations that these ratings cannot show.
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
    warnings: tuple[str, ...]
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
        return "\n".join([*lines, *(f"  warning: {text}" for text in self.warnings)])

    @property
    def difficulty(self) -> float:
        """What is added to accuracy in easy items (a third), and subtracted in difficult ones."""
        return max(self.scenario.easiness)

    def expected_rater_accuracy(self) -> Floats:
        """Give each rater's accuracy over all levels of difficulty.

        Returns
        -------
        ndarray, shape (n_raters,)
            Probabilities that the raters are right, 0 to 1.
        """
        k, n_raters = self.scenario.n_categories, self.scenario.n_raters
        return _behaviour(self.parameters, k, n_raters).level_accuracy().mean(axis=0)

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
        return _behaviour(drawn, k, self.scenario.n_raters)


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
        _objective,
        start,
        (data,),
        method="L-BFGS-B",
        jac=True,
        bounds=np.column_stack([low, high]),
        options={"maxiter": 500, "ftol": 1e-10, "gtol": 1e-4},
    )
    parameters, free = optimum.x, high > low
    root = np.zeros((len(parameters), int(free.sum())))
    root[free] = _root(parameters, high, free, data)
    fitted = _behaviour(parameters, data.n_categories, data.n_raters)
    errors = _standard_errors(root, fitted, data)
    return Violations(
        scenario=_scenario(ratings, fitted),
        standard_errors=errors,
        log_likelihood=-float(optimum.fun) - ADDED_ITEMS * float(np.log(fitted.base_rates).sum()),
        warnings=(*warnings, *_unsure(fitted, errors, root)),
        parameters=parameters,
        root=root,
        score=-_objective(parameters, data)[1],
    )


def require_single_ratings(ratings: Ratings) -> None:
    """Raise an InputError if a rater rated an item twice."""
    if ratings.repeated:
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
) -> tuple[Floats, Floats, list[str]]:
    """Give the limits of the parameters; they are equal for a parameter that is not fitted."""
    warnings = []
    n_accuracies = _n_accuracies(ratings)
    if n_accuracies == 1:
        warnings.append("two raters, or anonymous raters, are assumed to be equally accurate")
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
        warnings.append("no item has three ratings: items are assumed to be equally difficult")
    if dispersion is not None:
        low[-1] = high[-1] = np.log(check_positive("asymmetric_dispersion", dispersion))
    elif k < 3 or not ratings.ordered:
        low[-1] = high[-1] = 0.0
        if k > 2:
            warnings.append("categories are not ordered: errors are assumed to be equally probable")
    return low, high, warnings


def _start(ratings: Ratings, data: PatternTable, low: Floats, high: Floats) -> Floats:
    """Start from the estimates that agreement and frequencies give if the K-properties hold."""
    votes = ratings.weights @ ratings.votes() + 1.0
    kappa = pairwise_agreement(ratings).kappa
    assert kappa is not None
    k = data.n_categories
    accuracy = 1 / k + (1 - 1 / k) * np.sqrt(max(kappa, 0.01))
    rates = clip_base_rates(base_rates(votes / votes.sum(), accuracy))
    log_rates = np.log(np.maximum(rates, 0.01))
    return np.clip(
        np.concatenate(
            [
                log_rates - log_rates[0],
                np.full(_n_accuracies(ratings), accuracy),
                [START_DIFFICULTY**2, np.log(1.2)],
            ]
        ),
        low,
        high,
    )


def _behaviour(parameters: Floats, k: int, n_raters: int) -> Behaviour:
    log_rates, accuracy = parameters[..., :k], parameters[..., k:-2]
    rates, _ = class_posterior(log_rates)
    return Behaviour(
        base_rates=rates,
        accuracy=np.broadcast_to(accuracy, (*parameters.shape[:-1], n_raters)),
        difficulty=np.sqrt(np.maximum(parameters[..., -2], 0.0)),
        dispersion=np.exp(parameters[..., -1]),
    )


def _objective(parameters: Floats, data: PatternTable) -> tuple[float, Floats]:
    """Give the negative log likelihood, with the added items, and its gradient."""
    k, n_raters = data.n_categories, data.n_raters
    behaviour = _behaviour(parameters, k, n_raters)
    difficulty = np.maximum(behaviour.difficulty, LEAST_DIFFICULTY)
    behaviour = behaviour._replace(difficulty=difficulty)
    rates, accuracy, errors = behaviour.base_rates, behaviour.level_accuracy(), behaviour.errors()
    eye = np.eye(k)
    right, wrong = accuracy.T[:, None, :, None], (1 - accuracy).T[:, None, :, None]
    # By rater, response, level and truth.
    confusion = right * eye[:, None] + wrong * errors.T[:, None]
    by_symbol = np.log(np.maximum(confusion, LEAST_PROBABILITY)).reshape(n_raters * k, -1)
    log_rates = np.log(rates)
    joint = data.answers @ by_symbol + np.tile(log_rates - np.log(len(LEVELS)), len(LEVELS))
    states, log_probability = class_posterior(joint)
    value = data.weights @ log_probability + ADDED_ITEMS * log_rates.sum()
    states *= data.weights[:, None]
    # Expected numbers of ratings by rater, response, level and truth.
    counts = (data.answers.T @ states).reshape(n_raters, k, len(LEVELS), k)
    n_right = np.einsum("jzgz->gj", counts)
    n_wrong = counts.sum(axis=(1, 3)).T - n_right
    reached = behaviour.accuracy + difficulty * LEVELS[:, None]
    inside = (reached >= CERTAIN) & (reached <= 1 - CERTAIN)
    slope = np.where(inside, n_right / accuracy - n_wrong / (1 - accuracy), 0.0)
    by_accuracy = slope.sum(axis=0)
    if len(parameters) == k + 3:  # one accuracy for all
        by_accuracy = by_accuracy.sum(keepdims=True)
    steps = 1 - np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    expected = (errors * steps).sum(axis=1)
    off = counts.sum(axis=(0, 2)).T * (1 - eye)
    in_class = states.reshape(-1, len(LEVELS), k).sum(axis=(0, 1))
    by_dispersion = (off * (steps - expected[:, None])).sum()
    n = data.weights.sum() + ADDED_ITEMS * k
    gradient = np.concatenate(
        [
            in_class + ADDED_ITEMS - n * rates,
            by_accuracy,
            [(LEVELS @ slope).sum() / (2 * difficulty), by_dispersion],
        ]
    )
    return -float(value), -gradient


def _root(parameters: Floats, high: Floats, free: Booleans, data: PatternTable) -> Floats:
    """Give a square root of the covariance matrix of the free parameters.

    It is the inverse of the observed information plus the precision of `PRIOR_SPREADS`, which
    limits standard errors.
    """
    places = np.flatnonzero(free)
    # At a limit the step goes backwards, because nothing changes beyond it.
    step = np.where(parameters + STEP > high, -STEP, STEP)[places]
    gradient = _objective(parameters, data)[1]
    moves = step[:, None] * np.eye(len(parameters))[places]
    moved = np.array([_objective(parameters + move, data)[1] for move in moves])
    information = (moved - gradient)[:, places] / step[:, None]
    spread = np.concatenate(
        [
            np.full(data.n_categories, PRIOR_SPREADS["log_base_rates"]),
            np.full(len(parameters) - data.n_categories - 2, PRIOR_SPREADS["accuracy"]),
            [PRIOR_SPREADS["squared_difficulty"], PRIOR_SPREADS["log_dispersion"]],
        ]
    )[places]
    scaled = (information + information.T) / 2 * np.outer(spread, spread)
    values, vectors = np.linalg.eigh(scaled)
    return spread[:, None] * vectors / np.sqrt(np.maximum(values, 0.0) + 1.0)


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
    possible = ratings.n_items * ratings.n_raters
    return Scenario(
        n_categories=ratings.n_categories,
        n_items=ratings.n_items,
        initial_rater_accuracy=tuple(fitted.accuracy.tolist()),
        easiness=tuple((difficulty * LEVELS).tolist()) if difficulty else (0.0,),
        asymmetric_dispersion=float(fitted.dispersion),
        base_rates=tuple(fitted.base_rates.tolist()),
        missing=1 - ratings.n_ratings / possible,
    )


def _unsure(fitted: Behaviour, errors: dict[str, Any], root: Floats) -> list[str]:
    """Warn if the fitted difficulty could also be equal difficulty."""
    difficulty, error = float(fitted.difficulty), float(np.linalg.norm(root[-2]))
    if error == 0 or difficulty**2 > ONE_SIDED_5_PERCENT * error:
        return []
    return [
        f"the ratings cannot distinguish the fitted difficulty of ±{difficulty:.2f} (standard "
        f"error {errors['difficulty']:.2f}) from equal difficulty"
    ]
