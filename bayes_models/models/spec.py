"""The specification of a model: its builder, priors and number of free parameters.

The names are the rows of `lehner.latent_class.models.MODELS`, which needs no PyMC. Each model has
a file of its name here, which ends with its `SPEC`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lehner import Patterns
from lehner.core.checks import find
from lehner.latent_class.models import MODELS

if TYPE_CHECKING:
    import pymc as pm

OF_A_RATER = "ratings a rater"
OF_ALL = "ratings of all raters"
OF_THE_SYSTEM = "ratings of the system"


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """How a model is built, and how many parameters it leaves to the data.

    Parameters
    ----------
    build : callable
        Builds a `pymc.Model` from ratings, or what `observe` made of them, and priors.
    priors : mapping
        Sets of priors by name, the default first; a set has a prior for each variable.
    n_parameters : callable
        Counts the probabilities in confusion matrices that are left free, given the chosen priors
        and the observations.
    row_priors : mapping, optional
        Names the priors of rows of confusion matrices, and whose ratings inform such a row:
        `OF_A_RATER`, `OF_ALL` or `OF_THE_SYSTEM`.
    conjugate : bool
        Whether engine "gibbs" can sample it. Its base rates and rows of confusion matrices then
        have Dirichlet priors, and there is either `confusion` for each rater, or one matrix for the
        raters and one for the system.
    pools_rater_groups : bool
        Whether groups of raters have parameters of their own, toward which their raters are drawn.
    special_case_of : tuple of str
        Models of which this one is a special case where the spreads that they do not have are fixed
        at zero, the smallest first; the model itself is the last, if its spreads can be fixed. The
        first that has all spreads that vary is compiled in its place.
    other_names : mapping, optional
        By variable: its name in those models, if that is another.
    """

    build: "Callable[..., pm.Model]"
    priors: Mapping[str, Mapping[str, Any]]
    n_parameters: Callable[[Mapping[str, Any], Patterns], int]
    row_priors: Mapping[str, str] = field(default_factory=dict)
    conjugate: bool = False
    pools_rater_groups: bool = False
    special_case_of: tuple[str, ...] = ()
    other_names: Mapping[str, str] = field(default_factory=dict)


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


def conjugate_models() -> list[str]:
    """Name the models that engine "gibbs" samples.

    Returns
    -------
    list of str

    Examples
    --------
    >>> conjugate_models()
    ['dawid_skene', 'pooled']
    """
    return sorted(name for name in MODELS if find_model(name).conjugate)
