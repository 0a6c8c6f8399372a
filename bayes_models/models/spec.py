"""The specification of a model: its builder, variables, priors and number of free parameters.

The names are the rows of `lehner.latent_class.models.MODELS`, which needs no PyMC. Each model has
a file of its name here, which ends with its `SPEC`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from bayes_models.models.families import FAMILIES, Family
from lehner import Patterns
from lehner.core.arrays import Floats
from lehner.core.errors import find
from lehner.latent_class.models import MODELS

if TYPE_CHECKING:
    import pymc as pm

    from bayes_models.sampling.start import Start

GROUP = "rater_group"
OF_A_RATER = "ratings a rater"
OF_ALL = "ratings of all raters"
OF_THE_SYSTEM = "ratings of the system"


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
        Its dimensions; it has those of populations and groups of raters only where there are any.
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
    of : str
        For what is known of the values of another variable: name of that variable.
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
    of: str = ""

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
    pools_rater_groups : bool
        Whether groups of raters have parameters of their own, toward which their raters are drawn.
    takes_pair : bool
        Whether a dependent pair has a share of common answers, see `dependent_pair.py`.
    likelihood : int, optional
        What compiled code computes, see `bayes_models.density.layout`. Without it each process
        compiles the model.
    matrices : {"rater", "group", "alike"}
        Whether each rater has a confusion matrix, or log odds, of their own; each group of raters;
        or all raters together, and the system its own.
    levels : callable, optional
        From the priors to the levels of difficulty of items.
    """

    build: "Callable[..., pm.Model]"
    variables: tuple[Variable, ...]
    priors: Mapping[str, Mapping[str, Any]]
    n_parameters: Callable[[Mapping[str, Any], Patterns], int]
    conjugate: bool = False
    pools_rater_groups: bool = False
    takes_pair: bool = False
    likelihood: int | None = None
    matrices: Literal["rater", "group", "alike"] = "rater"
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
    spec: ModelSpec = import_module(f"bayes_models.models.{name}").SPEC
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
