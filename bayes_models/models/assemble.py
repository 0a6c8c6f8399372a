"""The parts of which models are made: ratings, parameters with their priors, confusion matrices.

Items with the same ratings are collapsed to one pattern; the system is one more rater. Parameters
follow from the variables that a model declares; both PyMC's models and the compiled densities are
made of them.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_models.density.log_density import list_arrays
from bayes_models.density.priors import PARAMETERS, make_zero_sum_basis
from bayes_models.models import pt, spec
from bayes_models.models.spec import Effect, ModelSpec, Variable, is_distribution
from lehner import InputError, Patterns, Ratings
from lehner.core.arrays import Floats, Integers
from lehner.data.estimable import count_truths


def observe(ratings: Ratings | Patterns) -> Patterns:
    """Collapse ratings to patterns and put the system among the raters.

    Truths that are known are used, also if all of them are: leave out those with which estimates
    are to be compared, by `Ratings.with_truth(None)`.

    Parameters
    ----------
    ratings : Ratings or Patterns
        With or without a system; patterns are given back, so that ratings are collapsed once.

    Returns
    -------
    Patterns
        Each pattern of ratings once, with its count; the system is the last rater.

    Raises
    ------
    InputError
        If there are no items or fewer than two categories, if the system answered nothing, or if it
        is unknown who gave which rating.

    Examples
    --------
    >>> seen = observe(Ratings([[0, 1], [1, 1], [0, 1]], ["no", "yes"], system=[1, -1, 1]))
    >>> seen.counts, seen.starts, seen.votes.rater_index, seen.votes.category_index
    (array([2, 1]), array([0, 3, 5]), array([0, 1, 2, 0, 1]), array([0, 1, 1, 1, 1]))
    """
    if isinstance(ratings, Patterns):
        return ratings
    if ratings.n_items == 0 or ratings.n_categories < 2:
        problem = f"there are {ratings.n_items} items and {ratings.n_categories} categories"
        raise InputError(problem, "give items, and two or more categories")
    if ratings.anonymous:
        problem = "it is unknown who gave which rating, and each rater has a confusion matrix"
        raise InputError(problem, "use data in which raters are named")
    if ratings.system is not None and not ratings.weights[ratings.system >= 0].any():
        raise InputError("the system answered no item", "give its answers, or leave it out")
    return ratings.to_patterns(truth=bool(count_truths(ratings)))


def make_coords(observed: Patterns) -> dict[str, Any]:
    """Make the coordinates that every model has."""
    coords = {name: list(observed.categories) for name in spec.CATEGORIES} | {
        "rater": list(observed.raters),
        "rater_without_system": list(observed.raters[: observed.n_raters]),
    }
    return coords | ({"population": list(observed.populations)} if observed.populations else {})


def list_data(observed: Patterns) -> dict[str, Integers]:
    """List the ratings as data of PyMC's models, by the names that these give them."""
    votes, arrays = observed.votes, list_arrays(observed)
    del arrays["rows"]
    return {"raters": votes.rater_index, "responses": votes.category_index} | arrays


def weigh_populations(observed: Patterns) -> Floats:
    """Give the proportion of the items that are from each population, (n_populations,)."""
    n_populations = max(1, len(observed.populations))
    n_items = np.bincount(observed.population, observed.counts, n_populations)
    return np.asarray(n_items / n_items.sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class Parameter:
    """A parameter of a model, and its prior.

    Parameters
    ----------
    name : str
        Its name in the model.
    family : str
        Family of its prior as in `bayes_models.density.priors`; "fixed" if it is no parameter.
    dims : tuple of str
        Dimensions of its values.
    numbers : ndarray, shape (*shape, 2) or shape
        Numbers of the prior of each value: location and scale, or successes and failures; of a
        Dirichlet distribution the concentration, of what is fixed the value.
    distribution : pymc distribution, optional
        The prior, if it is not given by numbers.
    """

    name: str
    family: str
    dims: tuple[str, ...] = ()
    numbers: Floats
    distribution: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of its values."""
        whole = self.family in ("dirichlet", "fixed")
        return self.numbers.shape if whole else self.numbers.shape[:-1]

    @property
    def n_coordinates(self) -> int:
        """Number of unconstrained coordinates."""
        if self.family == "fixed":
            return 0
        *rows, length = self.shape or (1,)
        return math.prod(rows) * (length - (self.family in ("dirichlet", "zero_sum")))

    def find_typical(self) -> Floats:
        """Find values that are plausible by the prior."""
        if self.family == "dirichlet":
            return np.asarray(self.numbers / self.numbers.sum(axis=-1, keepdims=True))
        first, second = np.moveaxis(self.numbers, -1, 0)
        if self.family == "beta":
            return np.asarray(first / (first + second))
        return np.asarray(second if self.family == "half_normal" else first)

    def unconstrain(self, values: Floats) -> Floats:
        """Give the coordinates of values; not finite where a value is impossible."""
        with np.errstate(all="ignore"):
            if self.family == "dirichlet":
                values = np.log(values)
            if self.family in ("dirichlet", "zero_sum"):
                return np.ravel(values @ make_zero_sum_basis(values.shape[-1]).T)
            if self.family == "beta":
                return np.ravel(np.log(values / (1 - values)))
            positive = self.family in ("half_normal", "normal_above_zero")
            return np.ravel(np.log(values) if positive else values)


def find_parameters(
    model: ModelSpec, observed: Patterns, priors: Mapping[str, Any]
) -> dict[str, Parameter]:
    """Find the parameters that a model has for some ratings.

    Parameters
    ----------
    model : ModelSpec
    observed : Patterns
        As the model sees them.
    priors : mapping
        All priors of the model. A spread that its prior fixes at zero is no parameter.

    Returns
    -------
    dict
        By their roles in the likelihood, in the order of their coordinates.

    Raises
    ------
    InputError
        If a prior has wrong numbers.
    """
    sizes = {dim: len(labels) for dim, labels in make_coords(observed).items()}
    parameters: dict[str, Parameter] = {}
    for variable in model.variables:
        if variable.last_row_of:
            if observed.has_system:
                _replace_last_row(parameters[variable.last_row_of], variable, priors)
        elif _is_needed(variable, observed, priors):
            parameters |= _make_parameters(variable, priors, sizes)
    if model.likelihood is None:
        return parameters
    return {role: parameters[role] for role in PARAMETERS[model.likelihood] if role in parameters}


def _replace_last_row(whole: Parameter, variable: Variable, priors: Mapping[str, Any]) -> None:
    """Give the system, which is the last row of a parameter, the prior of its own."""
    if whole.distribution is None:
        prior, shape = priors[variable.name], whole.shape[1:]
        whole.numbers[-1] = variable.family.check_numbers(variable.name, prior, shape)


def _is_needed(variable: Variable, observed: Patterns, priors: Mapping[str, Any]) -> bool:
    conditions = {
        spec.SYSTEM: observed.has_system,
        spec.ORDER: observed.ordered,
        spec.SEVERAL_ERRORS: observed.n_categories > 2,
    }
    return all(
        conditions[need] if need in conditions else spec.varies(priors, need)
        for need in variable.needs
    )


def _make_parameters(
    variable: Variable, priors: Mapping[str, Any], sizes: Mapping[str, int]
) -> dict[str, Parameter]:
    """Make the parameter of a variable, and the effects that it scales; none if it is zero."""
    prior, family = priors[variable.name], variable.family
    dims = tuple(dim for dim in variable.dims if dim in sizes)
    shape = tuple(sizes[dim] for dim in dims)
    name = f"{variable.name}_by_population" if "population" in dims else variable.name
    role, family_name, distribution = variable.role or variable.name, variable.family_name, None
    if is_distribution(prior):
        family_name, distribution, numbers = "distribution", prior, np.zeros((*shape, 2))
    else:
        numbers = family.check_numbers(variable.name, prior, shape)
        if family.zero_fixes and not numbers:
            return {}
        if family_name == "normal_above_zero" and not numbers[1]:
            return {role: Parameter(name=name, family="fixed", numbers=numbers[0])}
        if not family.rows:
            numbers = numbers if family.pair else np.array([0.0, float(numbers)])
            numbers = np.broadcast_to(numbers, (*shape, 2)).copy()
    parameter = Parameter(
        name=name, family=family_name, dims=dims, numbers=numbers, distribution=distribution
    )
    effects = {effect.name: _make_effects(effect, sizes) for effect in variable.effects}
    return {role: parameter} | effects


def _make_effects(effect: Effect, sizes: Mapping[str, int]) -> Parameter:
    k = sizes["category"]
    sizes = {**sizes, **dict.fromkeys(spec.CONTRASTS, k - effect.n_contrasts)}
    scale = math.sqrt(k / (k - 1)) if effect.zero_sum else 1.0
    return Parameter(
        name=effect.name,
        family="zero_sum" if effect.zero_sum else "normal",
        dims=effect.dims,
        numbers=np.tile([0.0, scale], (*(sizes[dim] for dim in effect.dims), 1)),
    )


def number_dims(parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Number the places of each dimension of parameters, for those that have no labels."""
    return {
        dim: np.arange(size)
        for parameter in parameters
        for dim, size in zip(parameter.dims, parameter.shape, strict=True)
    }


def make_equal_errors(accuracy: Any, n_categories: int, wrong: Any = None) -> Any:
    """Make confusion matrices in which all errors of a row are equally probable.

    Parameters
    ----------
    accuracy : TensorVariable, shape (n_raters, 1) or (n_raters, n_categories)
    wrong : TensorVariable, optional
        The probability of an error, where it is known more exactly than as 1 - accuracy.

    Returns
    -------
    TensorVariable, shape (n_raters, n_categories, n_responses)
    """
    eye = np.eye(n_categories)
    wrong = 1 - accuracy if wrong is None else wrong
    return accuracy[..., None] * eye + wrong[..., None] / (n_categories - 1) * (1 - eye)


def append_system(of_raters: Any, of_system: Any, observed: Patterns) -> Any:
    """Put the system's value after those of the raters, if there is a system."""
    if not observed.has_system:
        return of_raters
    return pt.concatenate([of_raters, of_system[None]], axis=0)
