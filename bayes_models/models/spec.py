"""The specification of a model: its builder, variables, priors and number of free parameters.

The names are the rows of `lehner.latent_class.models.MODELS`, which needs no PyMC. A file of models
ends with its `SPECS`; which numbers a prior takes is in `families.py`.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayes_models.models import families
from bayes_models.models.families import FAMILIES, Family, distribution_name, is_distribution
from lehner import Patterns
from lehner.core.arrays import Floats
from lehner.core.errors import find
from lehner.latent_class.models import MODELS

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

    from bayes_models.sampling.start import Start

type Priors = str | Mapping[str, Any] | None

COINS = ("one_coin", "one_coin_by_rater", "relaxed_k")
WITH_MATRICES = "dawid_skene hierarchical_dawid_skene pooled class_conditional tap".split()
FILES = dict.fromkeys(COINS, "log_odds") | dict.fromkeys(WITH_MATRICES, "matrices")
"""The files of models; that of a further model has its name."""
OF_A_RATER = "ratings a rater"
OF_ALL = "ratings of all raters"
OF_THE_SYSTEM = "ratings of the system"
BY_RATER = 3
"""Number of dimensions of a prior of confusion matrices that differs between raters."""

SYSTEM, ORDER, SEVERAL_ERRORS = "a system", "an order of categories", "three categories"
"""What a variable may need besides other variables."""


@dataclass(frozen=True)
class Effect:
    """Random effects of variance 1, which a spread scales.

    Parameters
    ----------
    name : str
    dims : tuple of str
        "contrast" is of effects that sum to zero over the categories or the errors.
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
        Whether a dependent pair has a share of common answers, see `answers_after`.
    likelihood : int, optional
        What compiled code computes, see `bayes_models.density.priors`. Without it each process
        compiles the model.
    matrices : {"rater", "alike"}
        Whether each rater has a confusion matrix, or log odds, of their own; or all raters together
        (about which they may vary), and the system its own.
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
    matrices: Literal["rater", "alike"] = "rater"
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
    file = import_module(f"bayes_models.models.{FILES.get(name, name)}")
    spec: ModelSpec = file.SPECS[name]
    return spec


def seen_by(model: str, observed: Patterns) -> Patterns:
    """Give ratings as a model sees them: without a dependent pair that it does not take."""
    return observed if find_model(model).takes_pair else replace(observed, dependent=None)


def conjugate_models() -> list[str]:
    """Names of the models that engine "gibbs" samples.

    Examples
    --------
    >>> conjugate_models()
    ['dawid_skene', 'pooled']
    """
    return sorted(name for name in MODELS if find_model(name).conjugate)


def choose_priors(model: str, priors: Priors = None) -> dict[str, Any]:
    """All priors of a model, given those that the user chose.

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
    first = next(iter(spec.priors.values()))
    named = dict(priors or {})
    for name in named:
        find(f"prior in {model} called", name, first)
    of_system = {
        variable.name: _last_row(named[variable.last_row_of])
        for variable in spec.variables
        if variable.last_row_of in named
    }
    return {**first, **of_system, **named}


def _last_row(prior: Any) -> Any:
    if is_distribution(prior):
        return prior
    try:
        return prior[-1] if np.ndim(prior) == BY_RATER else prior
    except ValueError:
        # Rows of unequal length raise an error where the prior is used.
        return prior


def varies(priors: Mapping[str, Any], spread: str) -> bool:
    """Whether a spread is estimated from the data, not fixed at zero by its prior.

    Examples
    --------
    >>> varies({"rater_spread": 0}, "rater_spread"), varies({"rater_spread": 0.5}, "rater_spread")
    (False, True)
    """
    prior = priors[spread]
    return bool(distribution_name(prior)) or np.asarray(prior, object).ndim > 0 or bool(prior != 0)


def n_apart(priors: Mapping[str, Any], spread: str, observed: Patterns) -> int:
    """Number of raters, or 1 where a spread keeps them alike."""
    return observed.n_raters if varies(priors, spread) else 1


def priors_as_json(model: str, priors: Priors = None) -> str:
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
    >>> priors_as_json("dawid_skene", {"base_rates": [1, 2]})
    '{"base_rates": [1.0, 2.0], "confusion": "diagonal", "system_confusion": "weak_diagonal"}'
    """
    all_priors = choose_priors(model, priors)
    return json.dumps({name: _plain(prior) for name, prior in all_priors.items()})


def _plain(prior: Any) -> Any:
    if isinstance(prior, str):
        return prior
    name = distribution_name(prior)
    return {families.DISTRIBUTION: name} if name else np.asarray(prior, dtype=float).tolist()


def kept_priors(tree: "xr.DataTree") -> dict[str, Any]:
    """Read the priors that a fit was made with, by variable as `priors_as_json` writes them.

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
