"""What a model declares: its variables, the families of their priors, and where chains start.

A prior is given as numbers, which are parameters of the family of its variable, or as a PyMC
distribution, as in `pm.Beta.dist(2, 1)`.

==================  ========================  ==================================================
family              numbers                   variables
==================  ========================  ==================================================
dirichlet           concentration             base_rates, ...confusion
beta                successes, failures       common_category_share
normal              mean, standard deviation  rater_log_odds, mean_log_odds
logistic            location, scale           system_log_odds; (0, 1) is flat on the accuracy
half_normal         scale                     ..._spread; 0 fixes it at zero
normal_around_zero  standard deviation        distance_decay; 0 fixes it at zero
normal_above_zero   mean, standard deviation  system_slope; sd 0 fixes it at its mean
==================  ========================  ==================================================

For a confusion matrix the concentration may be "diagonal" or "weak_diagonal", see `STRENGTH`.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayes_models.models import pt
from lehner import InputError, Patterns
from lehner.core.arrays import Floats
from lehner.core.lazy import special

DIAGONAL = "diagonal"
WEAK_DIAGONAL = "weak_diagonal"
# Priors with a mean accuracy of .6 count as so many ratings of each true category. The weak prior
# is for the system, whose accuracy is to be found out: with the other prior the accuracy of a
# system of .9 was underestimated by .03 to .12 (`experiments/benchmarks/estimators.md`).
STRENGTH = {DIAGONAL: 8.0, WEAK_DIAGONAL: 2.0}
LEAST = np.finfo(float).tiny
# Chains start with probabilities of right answers no nearer to 0 and 1 than this.
LEAST_DIAGONAL = 0.02

type Priors = str | Mapping[str, Any] | None

# ArviZ names the numbers of variables rightly if those that share a dimension share all dimensions
# before it, see `docs/upstream/arviz_summary_labels.md`: what has no raters has other categories.
CATEGORIES = ("category", "response", "true_category", "category_of_rater")
CONTRASTS = ("contrast", "contrast_of_rater")
ERRORS_OF_RATER = ("rater_without_system", "category_of_rater", "contrast_of_rater")
OF_A_RATER = "ratings a rater"
OF_THE_SYSTEM = "ratings of the system"
# A prior of confusion matrices that differs between raters has so many dimensions.
BY_RATER = 3
# A variable may need these, besides other variables.
SYSTEM, ORDER, SEVERAL_ERRORS = "a system", "an order of categories", "three categories"
# Items have so many levels of difficulty where they differ in it.
N_LEVELS = 3


@dataclass(frozen=True)
class Family:
    """A family of distributions that can be the prior of a variable, and the numbers it takes.

    Parameters
    ----------
    least : float or tuple of float
        The least number that is allowed, or the least of each of two.
    remedy : str
        What to give in place of numbers that are not allowed.
    pair : bool
        Whether a prior is two numbers, and not one scale.
    rows : bool
        Whether values are rows of probabilities, so that numbers have the shape of the variable.
    zero_fixes : bool
        Whether a scale of zero fixes the variable at zero.
    """

    least: float | tuple[float, float]
    remedy: str
    pair: bool = False
    rows: bool = False
    zero_fixes: bool = False

    def check_numbers(self, variable: str, prior: Any, shape: tuple[int, ...] = ()) -> Floats:
        """Check the numbers of a prior.

        Parameters
        ----------
        variable : str
            Its name, for errors.
        prior
            One or two numbers, as the family takes them; for rows of probabilities a concentration
            that fits the shape, "diagonal" or "weak_diagonal".
        shape : tuple of int
            Of the variable; needed for rows of probabilities only.

        Returns
        -------
        ndarray

        Raises
        ------
        InputError
            If these are no such numbers.

        Examples
        --------
        >>> FAMILIES["dirichlet"].check_numbers("base_rates", 3, (2,))
        array([3., 3.])
        """
        remedy = self.remedy
        allowed_shape: tuple[int, ...] = (2,) if self.pair else ()
        if self.rows:
            allowed_shape = shape
            if isinstance(prior, str) and prior in STRENGTH:
                prior = make_diagonal_concentration(shape[-1], strength=STRENGTH[prior])
        try:
            values = np.asarray(prior, dtype=float)
            if self.rows:
                values = np.broadcast_to(values, shape).copy()
        except (TypeError, ValueError):
            values = np.array(np.nan)
            if self.rows:
                remedy = f"give numbers that fit shape {shape}, or a PyMC distribution"
        allowed = np.isfinite(values) & (values >= self.least)
        if values.shape != allowed_shape or not allowed.all():
            raise InputError(f"the prior of {variable} is {prior!r}", remedy)
        return values


def make_diagonal_concentration(
    n_categories: int, *, strength: float = 8.0, accuracy: float = 0.6
) -> Floats:
    """Give the Dirichlet concentration of raters who are right with a given mean probability.

    Parameters
    ----------
    n_categories : int
        K, 2 or more.
    strength : float
        Sum of each row, above 0: the prior counts as much as so many ratings.
    accuracy : float
        Prior mean of the diagonal, between 0 and 1.

    Returns
    -------
    ndarray, shape (n_categories, n_categories)
        Concentrations by true category and response, as `dawid_skene` takes them for `confusion`.

    References
    ----------
    Pullin, Gurrin & Vukcevic (2023), https://doi.org/10.32614/RJ-2023-064, for the defaults.

    Examples
    --------
    >>> make_diagonal_concentration(3).round(2).tolist()
    [[4.8, 1.6, 1.6], [1.6, 4.8, 1.6], [1.6, 1.6, 4.8]]
    """
    wrong = strength * (1 - accuracy) / (n_categories - 1)
    matrix = np.full((n_categories, n_categories), wrong)
    np.fill_diagonal(matrix, strength * accuracy)
    return matrix


SCALE_REMEDY = "give a number, 0 or more, or a PyMC distribution"
SECOND_ABOVE_ZERO = (-np.inf, LEAST)
LOCATION_AND_SCALE = Family(SECOND_ABOVE_ZERO, "give two numbers, the second above 0", pair=True)
FAMILIES = {
    "dirichlet": Family(LEAST, "give numbers above 0", rows=True),
    "beta": Family(LEAST, "give two numbers above 0", pair=True),
    "normal": LOCATION_AND_SCALE,
    "logistic": LOCATION_AND_SCALE,
    "half_normal": Family(0.0, SCALE_REMEDY, zero_fixes=True),
    "normal_around_zero": Family(0.0, SCALE_REMEDY, zero_fixes=True),
    "normal_above_zero": Family(0.0, "give two numbers, 0 or more", pair=True),
}


def is_distribution(prior: Any) -> bool:
    """Tell whether a prior is a PyMC distribution, not numbers."""
    # While PyTensor is not loaded there are no distributions.
    return "pytensor" in sys.modules and isinstance(prior, pt.TensorVariable)


# A fit keeps the name of a PyMC distribution under this key.
DISTRIBUTION = "distribution"


def name_distribution(prior: Any) -> str:
    """Name the PyMC distribution of a prior, as a model takes it or a fit keeps it.

    The name is empty if the prior is given by numbers.
    """
    if is_distribution(prior):
        # PyMC has made the distribution, and is loaded.
        from pymc.printing import str_for_dist

        # Once the distribution is part of a model, its variable's name comes first.
        return str(str_for_dist(prior).split(" ~ ")[-1])
    return str(prior[DISTRIBUTION]) if isinstance(prior, Mapping) else ""


def varies(priors: Mapping[str, Any], spread: str) -> bool:
    """Tell whether a spread is estimated from the data, not fixed at zero by its prior.

    Examples
    --------
    >>> varies({"rater_spread": 0}, "rater_spread"), varies({"rater_spread": 0.5}, "rater_spread")
    (False, True)
    """
    prior = priors[spread]
    return bool(name_distribution(prior)) or np.asarray(prior, object).ndim > 0 or bool(prior != 0)


def count_varying(priors: Mapping[str, Any], spread: str, observed: Patterns) -> int:
    """Count the raters, or 1 where a spread at zero keeps them alike."""
    return observed.n_raters if varies(priors, spread) else 1


def make_levels(difficulty: str, spreads: Mapping[str, Any]) -> Floats:
    """Make equally probable levels of difficulty with mean 0 and variance 1, the hardest last.

    If items are equally difficult, there is one level.

    Parameters
    ----------
    difficulty : str
        Name of the spread of difficulty.
    spreads : mapping
        The spreads that are not zero, by name.

    Returns
    -------
    ndarray, shape (3,) or (1,)

    Examples
    --------
    >>> make_levels("difficulty_spread", {"difficulty_spread": 0.4}).round(3)
    array([-1.225,  0.   ,  1.225])
    """
    if difficulty not in spreads:
        return np.zeros(1)
    levels = special.ndtri((np.arange(N_LEVELS) + 0.5) / N_LEVELS)
    return np.asarray(levels / np.sqrt((levels**2).mean()))


@dataclass(frozen=True, kw_only=True, eq=False)
class Start:
    """A mode of the posterior near which chains start, described by expected numbers.

    Parameters
    ----------
    observed : Patterns
        The ratings that are fitted.
    items : ndarray, shape (n_categories,)
        Expected number of items by true category. Populations start with the base rates of all
        items.
    ratings : ndarray, shape (n_raters, n_categories, n_responses)
        Expected number of ratings by rater, true category and response; the system is the last
        rater.
    weight : float
        Weight of the mode among all modes, see `bayes_models.sampling.start.find_modes`.
    """

    observed: Patterns
    items: Floats
    ratings: Floats
    weight: float = 1.0

    @property
    def base_rates(self) -> Floats:
        """Base rates of all items, shape (n_categories,)."""
        return np.asarray((self.items + 1) / (self.items + 1).sum())

    @cached_property
    def confusion(self) -> Floats:
        """Confusion matrices, shape (n_raters, n_categories, n_responses)."""
        confusion = self.ratings + make_diagonal_concentration(len(self.items))
        return np.asarray(confusion / confusion.sum(axis=-1, keepdims=True))

    @property
    def accuracy(self) -> Floats:
        """Accuracies of raters and system, neither 0 nor 1."""
        diagonal = np.diagonal(self.confusion, axis1=1, axis2=2)
        by_category = np.clip(diagonal, LEAST_DIAGONAL, 1 - LEAST_DIAGONAL)
        return np.asarray(by_category @ self.base_rates)

    @property
    def system_log_odds(self) -> float:
        """Log odds that the system is right."""
        return float(special.logit(self.accuracy[-1]))

    @property
    def log_odds_of_knowing(self) -> float:
        """Log odds of knowing the category for raters who otherwise guess."""
        return float(self._find_knowing(self.accuracy[: self.observed.n_raters].mean()))

    @property
    def rater_log_odds(self) -> Floats:
        """Log odds of knowing the category, by rater."""
        return self._find_knowing(self.accuracy[: self.observed.n_raters])

    def _find_knowing(self, accuracy: Any) -> Floats:
        chance = 1 / len(self.items)
        knowing = np.clip((accuracy - chance) / (1 - chance), 0.1, 0.9)
        return np.asarray(special.logit(knowing))


@dataclass(frozen=True)
class Effect:
    """Random effects of variance 1, which a spread scales.

    Parameters
    ----------
    name : str
    dims : tuple of str
        `CONTRASTS` are of effects that sum to zero over the categories or the errors.
    n_contrasts : int
        How many contrasts fewer than categories there are.
    zero_sum : bool
        Whether they sum to zero over the last dimension themselves.
    """

    name: str
    dims: tuple[str, ...]
    n_contrasts: int = 0
    zero_sum: bool = False


@dataclass(frozen=True)
class Variable:
    """A variable of a model that has a prior.

    Parameters
    ----------
    name : str
        Name of the variable, and of its prior.
    family_name : str
        Family of a prior that is given by numbers, as in `FAMILIES`.
    dims : tuple of str
        Its dimensions; it has that of populations only where there are any.
    role : str
        Its name in the likelihood, by default that of the variable.
    needs : tuple of str
        What must be there for the variable to be: `SYSTEM`, `ORDER`, `SEVERAL_ERRORS`, or the name
        of a spread that is not fixed at zero.
    effects : tuple of Effect
        The random effects that it scales.
    start : callable, optional
        From a `Start` to the value near which chains start. Without it they start where the prior
        is plausible.
    ratings : str
        For rows of confusion matrices: whose ratings inform a row, `OF_A_RATER` or
        `OF_THE_SYSTEM`.
    last_row_of : str
        For the prior of a system that is the last row of another variable: name of that variable.
    k_property : str
        The K-property that holds where the variable is zero.
    """

    name: str
    family_name: str
    dims: tuple[str, ...] = ()
    role: str = ""
    needs: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    start: Callable[[Start], Floats | float] | None = None
    ratings: str = ""
    last_row_of: str = ""
    k_property: str = ""

    @property
    def family(self) -> Family:
        """Family of a prior that is given by numbers."""
        return FAMILIES[self.family_name]


def declare_spread(
    name: str, k_property: str, *effects: Effect, needs: tuple[str, ...] = ()
) -> Variable:
    """Declare a standard deviation of random effects, at zero where its K-property holds."""
    return Variable(name, "half_normal", needs=needs, effects=effects, k_property=k_property)


BASE_RATES = Variable(
    "base_rates", "dirichlet", ("population", "true_category"), start=lambda start: start.base_rates
)
BY_POPULATION = "base_rates_by_population"


class Values(dict[str, Any]):
    """The parameters by their roles in the likelihood; those that are not there are zero."""

    def __missing__(self, role: str) -> float:
        return 0.0


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """The declaration of a model, by parts.

    Parameters
    ----------
    confusion : callable
        From the ratings, as `observe` gives them, and the `Values` of the parameters to the
        confusion matrices of raters and system, a TensorVariable of shape
        (n_raters, [n_levels,] n_categories, n_responses).
    variables : tuple of Variable
        The variables whose priors can be chosen.
    priors : mapping
        Sets of priors by name, the default first; a set has a prior for each variable.
    n_parameters : callable
        Counts the probabilities in confusion matrices that are left free, given the chosen priors
        and the observations.
    conjugate : bool
        Whether engine "gibbs" can sample it. Its base rates and the rows of `confusion`, the
        matrices of the raters, then have Dirichlet priors.
    likelihood : int, optional
        What compiled code computes, see `bayes_models.density.priors`. Without it each process
        compiles the model.
    n_parameters : callable, optional
        Counts the probabilities in confusion matrices that are left free, given the chosen priors
        and the observations. Without it each value of a variable counts, see `count_varying`.
    difficulty : str
        Name of the spread of the difficulty of items, if the model has levels of difficulty.
    """

    confusion: Callable[[Patterns, Values], Any]
    variables: tuple[Variable, ...]
    priors: Mapping[str, Mapping[str, Any]]
    n_parameters: Callable[[Mapping[str, Any], Patterns], int]
    conjugate: bool = False
    likelihood: int | None = None
    difficulty: str = ""
