"""What a model declares: its builder, its variables, and the families of their priors.

The names of models are the rows of `lehner.latent_class.models.MODELS`, which needs no PyMC. A file
of models ends with its `SPECS`.

A prior is given as numbers, which are parameters of the family of its variable, or as a PyMC
distribution, as in `pm.Beta.dist(2, 1)`.

==================  ========================  ==================================================
family              numbers                   variables
==================  ========================  ==================================================
dirichlet           concentration             base_rates, ...confusion, guessing
beta                successes, failures       ...accuracy_by_category, knowledge,
                                              common_category_share
normal              mean, standard deviation  rater_log_odds, mean_log_odds
logistic            location, scale           system_log_odds; (0, 1) is flat on the accuracy
half_normal         scale                     ..._spread; 0 fixes it at zero
normal_around_zero  standard deviation        distance_decay; 0 fixes it at zero
normal_above_zero   mean, standard deviation  system_slope; sd 0 fixes it at its mean
==================  ========================  ==================================================

For a confusion matrix the concentration may be "diagonal" or "weak_diagonal", see `STRENGTH`.
"""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_models.models import pm, pt
from lehner import InputError, Patterns
from lehner.core import lazy
from lehner.core.arrays import Floats
from lehner.core.errors import find
from lehner.latent_class.models import MODELS

if TYPE_CHECKING:
    import xarray as xr

    from bayes_models.sampling.start import Start

graph = lazy.load("bayes_models.models.graph")
printing = lazy.load("pymc.printing")

DIAGONAL = "diagonal"
WEAK_DIAGONAL = "weak_diagonal"
# Weight, as a number of ratings of each true category, of priors with a mean accuracy of .6. The
# weak prior is for the system, whose accuracy is to be found out: with the other prior the accuracy
# of a system of .9 was underestimated by .03 to .12 (`experiments/benchmarks/estimators.md`).
STRENGTH = {DIAGONAL: 8.0, WEAK_DIAGONAL: 2.0}
LEAST = np.finfo(float).tiny


@dataclass(frozen=True)
class Family:
    """A family of distributions that can be the prior of a variable.

    Parameters
    ----------
    distribution : callable
        From the name of a variable, two numbers for each value, or the concentration of each row of
        probabilities, and `dims` to the variable of a PyMC model.
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

    distribution: Callable[..., Any]
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
        if self.rows and isinstance(prior, str) and prior in STRENGTH:
            prior = make_diagonal_concentration(shape[-1], strength=STRENGTH[prior])
        allowed_shape, remedy = (2,) if self.pair else shape if self.rows else (), self.remedy
        try:
            values = np.asarray(prior, dtype=float)
            values = np.array(np.broadcast_to(values, allowed_shape if self.rows else values.shape))
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


def _take_two(kind: str) -> Callable[..., Any]:
    """Make variables of a kind of PyMC's distributions, which takes two numbers."""
    return lambda name, numbers, dims: getattr(pm, kind)(
        name, numbers[..., 0], numbers[..., 1], dims=dims
    )


def _make_dirichlet(name: str, concentration: Floats, dims: Any) -> Any:
    transform = graph.IsometricLogRatio()
    return pm.Dirichlet(name, concentration, dims=dims, default_transform=transform)


A_SCALE = "give a number, 0 or more, or a PyMC distribution"
TWO = "give two numbers, the second above 0"
NOT_NEGATIVE = "give two numbers, 0 or more"
SECOND_ABOVE_ZERO = (-np.inf, LEAST)
FAMILIES = {
    "dirichlet": Family(_make_dirichlet, LEAST, "give numbers above 0", rows=True),
    "beta": Family(_take_two("Beta"), LEAST, "give two numbers above 0", pair=True),
    "normal": Family(_take_two("Normal"), SECOND_ABOVE_ZERO, TWO, pair=True),
    "logistic": Family(_take_two("Logistic"), SECOND_ABOVE_ZERO, TWO, pair=True),
    "half_normal": Family(
        lambda name, numbers, dims: pm.HalfNormal(name, numbers[..., 1], dims=dims),
        0.0,
        A_SCALE,
        zero_fixes=True,
    ),
    "normal_around_zero": Family(_take_two("Normal"), 0.0, A_SCALE, zero_fixes=True),
    "normal_above_zero": Family(
        lambda name, numbers, dims: pm.TruncatedNormal(
            name, numbers[..., 0], numbers[..., 1], lower=0, dims=dims
        ),
        0.0,
        NOT_NEGATIVE,
        pair=True,
    ),
    "zero_sum": Family(
        lambda name, numbers, dims: pm.ZeroSumNormal(name, sigma=numbers.flat[1], dims=dims),
        0.0,
        NOT_NEGATIVE,
    ),
}

# What a fit keeps a PyMC distribution under: its name.
DISTRIBUTION = "distribution"


def is_distribution(prior: Any) -> bool:
    """Tell whether a prior is a PyMC distribution, not numbers."""
    # While PyTensor is not loaded there are no distributions.
    return "pytensor" in sys.modules and isinstance(prior, pt.TensorVariable)


def name_distribution(prior: Any) -> str:
    """Name the PyMC distribution of a prior, as a model takes it or a fit keeps it.

    The name is empty if the prior is given by numbers.
    """
    if is_distribution(prior):
        # Once the distribution is part of a model, its variable's name comes first.
        return str(printing.str_for_dist(prior).split(" ~ ")[-1])
    return str(prior[DISTRIBUTION]) if isinstance(prior, Mapping) else ""


type Priors = str | Mapping[str, Any] | None

COINS = ("one_coin", "one_coin_by_rater", "relaxed_k")
WITH_MATRICES = "dawid_skene hierarchical_dawid_skene pooled class_conditional tap".split()
# The files of models; that of a further model has its name.
FILES = dict.fromkeys(COINS, "log_odds") | dict.fromkeys(WITH_MATRICES, "matrices")
# ArviZ names the numbers of variables rightly if those that share a dimension share all dimensions
# before it, see `docs/upstream/arviz_summary_labels.md`: what has no raters has other categories.
CATEGORIES = ("category", "response", "true_category", "answer", "guess", "category_of_rater")
CONTRASTS = ("contrast", "contrast_of_rater")
ERRORS_OF_RATER = ("rater_without_system", "category_of_rater", "contrast_of_rater")
OF_A_RATER = "ratings a rater"
OF_ALL = "ratings of all raters"
OF_THE_SYSTEM = "ratings of the system"
# Number of dimensions of a prior of confusion matrices that differs between raters.
BY_RATER = 3

# What a variable may need besides other variables.
SYSTEM, ORDER, SEVERAL_ERRORS = "a system", "an order of categories", "three categories"


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
        For rows of confusion matrices: whose ratings inform a row, `OF_A_RATER`, `OF_ALL` or
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
    start: "Callable[[Start], Floats | float] | None" = None
    ratings: str = ""
    last_row_of: str = ""
    k_property: str = ""

    @property
    def family(self) -> Family:
        """Family of a prior that is given by numbers."""
        return FAMILIES[self.family_name]


def declare_spread(name: str, *effects: Effect, **fields: Any) -> Variable:
    """Declare a standard deviation of random effects, at zero where its K-property holds."""
    return Variable(name, "half_normal", effects=effects, **fields)


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """How a model is built, and how many parameters it leaves to the data.

    Parameters
    ----------
    build : callable
        Builds a `pymc.Model` from ratings, or what `observe` made of them, and priors.
    variables : tuple of Variable
        The variables whose priors can be chosen.
    priors : mapping
        Sets of priors by name, the default first; a set has a prior for each variable.
    n_parameters : callable
        Counts the probabilities in confusion matrices that are left free, given the chosen priors
        and the observations.
    conjugate : bool
        Whether engine "gibbs" can sample it. Its base rates and rows of confusion matrices then
        have Dirichlet priors, and there is either `confusion` for each rater, or one matrix for the
        raters and one for the system.
    takes_pair : bool
        Whether a dependent pair has a share of common answers, see `couple_answers`.
    likelihood : int, optional
        What compiled code computes, see `bayes_models.density.priors`. Without it each process
        compiles the model.
    raters_alike : bool
        Whether all raters have one confusion matrix, or log odds, about which they may vary, and
        the system its own.
    levels : callable, optional
        From the priors to the levels of difficulty of items.
    """

    build: "Callable[..., pm.Model]"
    variables: tuple[Variable, ...]
    priors: Mapping[str, Mapping[str, Any]]
    n_parameters: Callable[[Mapping[str, Any], Patterns], int]
    conjugate: bool = False
    takes_pair: bool = False
    likelihood: int | None = None
    raters_alike: bool = False
    levels: Callable[[Mapping[str, Any]], Floats] | None = None


def find_model(name: str) -> ModelSpec:
    """Find a model by name.

    Parameters
    ----------
    name : str
        Name of the model, as in `MODELS`.

    Returns
    -------
    ModelSpec
        How it is built, and its sets of priors.

    Raises
    ------
    InputError
        If there is no such model.

    Examples
    --------
    >>> list(find_model("one_coin").priors)
    ['default', 'flat']
    """
    find("model", name, MODELS)
    spec: ModelSpec = import_module(f"bayes_models.models.{FILES.get(name, name)}").SPECS[name]
    return spec


def drop_pair(model: str, observed: Patterns) -> Patterns:
    """Give ratings as a model sees them: without a dependent pair that it does not take."""
    return observed if find_model(model).takes_pair else replace(observed, dependent=None)


def list_conjugate_models() -> list[str]:
    """List the names of the models that engine "gibbs" samples.

    Examples
    --------
    >>> list_conjugate_models()
    ['dawid_skene', 'pooled']
    """
    return sorted(name for name in MODELS if find_model(name).conjugate)


def choose_priors(model: str, priors: Priors = None) -> dict[str, Any]:
    """Give all priors of a model: those that the user chose, and the defaults of others.

    Parameters
    ----------
    model : str
        Name of the model.
    priors : str or mapping, optional
        Name of a set, or priors of some variables by name. Other variables have their priors in the
        model's first set, which is also the default. A prior for all raters, such as `confusion`,
        is also that of the system, unless the system's prior, such as `system_confusion`, is given.

    Returns
    -------
    dict
        Priors by variable.

    Raises
    ------
    InputError
        If there is no such set or variable.

    Examples
    --------
    >>> choose_priors("dawid_skene", {"base_rates": 1.0})
    {'base_rates': 1.0, 'confusion': 'diagonal', 'system_confusion': 'weak_diagonal'}
    """
    spec = find_model(model)
    if isinstance(priors, str):
        return dict(find(f"set of priors of {model} called", priors, spec.priors))
    defaults, selected = next(iter(spec.priors.values())), dict(priors or {})
    for name in selected:
        find(f"prior in {model} called", name, defaults)
    of_system = {
        variable.name: _take_last(selected[variable.last_row_of])
        for variable in spec.variables
        if variable.last_row_of in selected
    }
    return {**defaults, **of_system, **selected}


def _take_last(prior: Any) -> Any:
    """Take the prior of the last rater from one that differs between raters."""
    alike = is_distribution(prior) or np.asarray(prior, object).ndim != BY_RATER
    return prior if alike else prior[-1]


def varies(priors: Mapping[str, Any], spread: str) -> bool:
    """Tell whether a spread is estimated from the data, not fixed at zero by its prior.

    Examples
    --------
    >>> varies({"rater_spread": 0}, "rater_spread"), varies({"rater_spread": 0.5}, "rater_spread")
    (False, True)
    """
    prior = priors[spread]
    return bool(name_distribution(prior)) or np.asarray(prior, object).ndim > 0 or bool(prior != 0)


def count_apart(priors: Mapping[str, Any], spread: str, observed: Patterns) -> int:
    """Count the raters, or 1 where a spread at zero keeps them alike."""
    return observed.n_raters if varies(priors, spread) else 1


def write_priors(model: str, priors: Priors = None) -> str:
    """Write all priors of a model as JSON, including those that were not given.

    Parameters
    ----------
    model : str
        Name of the model.
    priors : str or mapping, optional
        As the model takes them.

    Returns
    -------
    str
        A JSON object of numbers, lists of numbers, "diagonal", and for a PyMC distribution
        `{"distribution": "HalfNormal(0, 0.5)"}`: its name only, from which it cannot be made.

    Examples
    --------
    >>> write_priors("dawid_skene", {"base_rates": [1, 2]})
    '{"base_rates": [1.0, 2.0], "confusion": "diagonal", "system_confusion": "weak_diagonal"}'
    """
    plain = {}
    for variable, prior in choose_priors(model, priors).items():
        name = name_distribution(prior)
        numbers = prior if isinstance(prior, str) or name else np.asarray(prior, float).tolist()
        plain[variable] = {DISTRIBUTION: name} if name else numbers
    return json.dumps(plain)


def read_priors(tree: "xr.DataTree") -> dict[str, Any]:
    """Read the priors that a fit was made with, by variable as `write_priors` writes them.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.

    Returns
    -------
    dict
        Priors by variable.
    """
    return dict(json.loads(tree.attrs["priors"]))
