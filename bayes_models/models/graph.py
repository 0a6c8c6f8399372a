r"""The models in PyMC: how they are built, the likelihood as an operation, and a transform.

.. math:: \log p(y) = \sum_p n_p \log \sum_m \pi_{g_p m} \prod_s \theta_{r_{ps}, m, y_{ps}}

A state m is a true category, or, in a model with levels of difficulty, a level and a true category;
g is the population of a pattern, if populations have different base rates π. The sum over states is
exact. The gradient needs no further pass, because it follows from the expected numbers of ratings
in each state, as EM computes them.

The isometric log-ratio transform of probabilities that sum to one treats all categories alike, so
that scales are nearly the same in all directions, and the sampler needs fewer steps than with a
reference category.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from numpy.typing import NDArray
from pymc.distributions.shape_utils import change_dist_size
from pymc.distributions.transforms import Transform
from pytensor.compile.mode import Mode
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Apply, Constant, equal_computations
from pytensor.graph.op import Op
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import graph_inputs
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_and_cache_key
from pytensor.tensor.random.type import RandomGeneratorType

from bayes_models.density.log_density import hash_source, sum_over_states
from bayes_models.density.priors import make_zero_sum_basis
from bayes_models.models import assemble
from bayes_models.models.assemble import Parameter
from bayes_models.models.registry import choose_priors, find_model
from bayes_models.models.spec import Priors, Values, make_levels
from lehner import InputError, Patterns, Ratings
from lehner.core.arrays import Floats, Integers, draw_categories
from lehner.core.text import pluralise
from lehner.data.counts import UNKNOWN

# This mode evaluates a graph once in less time than rewriting and compiling it would take.
IN_PYTHON = Mode(linker="py", optimizer=None)
# Data that are not here have the dimension of patterns.
DATA_DIMS = {"starts": None, "raters": "rating", "responses": "rating"}


@contextmanager
def avoid_c_compiler() -> Iterator[None]:
    """Have PyTensor start no C compiler, as it does for operations made of others in any mode."""
    # If PyTensor used fast math, rounding would depend on whether the code comes from a compile
    # cache, and the same seed would not give the same draws.
    flags = {"cxx": "", "numba__fastmath": False}
    with warnings.catch_warnings(), pytensor.config.change_flags(**flags):
        # PyTensor then joins fewer operations into one; the compiled functions are as fast.
        warnings.filterwarnings("ignore", "Loop fusion failed")
        yield


def list_inputs(outputs: Sequence[Any]) -> list[Any]:
    """List what a graph computes from, without constants, in the order in which it uses them."""
    return [one for one in graph_inputs(outputs) if not isinstance(one, Constant)]


def are_equal(model: Sequence[Any], other: Sequence[Any]) -> bool:
    """Tell whether two models compute the same from data that may differ.

    Parameters
    ----------
    model, other : sequence
        What each computes, and from what; its random variables, and what they depend on. These may
        not depend on data that differ, because chains start at the values that they suggest.
    """
    (computed, inputs, drawn, drawn_by), (computed_2, inputs_2, drawn_2, drawn_by_2) = model, other
    if [one.name for one in inputs] != [one.name for one in inputs_2]:
        return False
    pairs = list(zip(drawn_by, drawn_by_2, strict=False))
    if len(drawn_by) != len(drawn_by_2) or not all(map(_have_equal_values, pairs)):
        return False
    return bool(
        equal_computations(computed, computed_2, inputs, inputs_2)
        and equal_computations(drawn, drawn_2, drawn_by, drawn_by_2)
    )


def _have_equal_values(pair: tuple[Any, Any]) -> bool:
    """Tell whether two inputs have the same values; generators of random numbers need not."""
    one, other = pair
    if isinstance(one.type, RandomGeneratorType):
        return isinstance(other.type, RandomGeneratorType)
    return np.array_equal(one.get_value(), other.get_value())


def draw_variables(
    model: pm.Model, n: int, seed: int
) -> dict[str, tuple[tuple[str, ...], NDArray[Any]]]:
    """Draw the variables of a model from its prior, many times at once.

    Returns
    -------
    dict
        By variable, its dimensions and its draws, shape (1, n, ...).
    """
    repeated: dict[Any, Any] = {}
    with avoid_c_compiler():
        for variable in model.free_RVs:
            repeated[variable] = _repeat(variable, n, repeated)
        derived = vectorize_graph(model.deterministics, repeated)
        drawn = pm.draw([*repeated.values(), *derived], random_seed=seed, mode=IN_PYTHON)
    names = [variable.name for variable in (*repeated, *model.deterministics)]
    return {
        name: (tuple(model.named_vars_to_dims.get(name, ())), values[None])
        for name, values in zip(names, drawn, strict=True)
    }


def _repeat(variable: Any, n: int, repeated: dict[Any, Any]) -> Any:
    """Repeat a random variable n times, given the repeated variables that it may depend on."""
    many = vectorize_graph(variable, repeated) if repeated else variable
    if many.ndim > variable.ndim:
        return many
    return change_dist_size(variable, (n,), expand=True)


class SumOverStates(Op):
    """The sum over states as an operation in a model's graph, with its first derivative."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:
        """Take rates and confusion as floats, the rest as whole numbers."""
        rates, confusion, *whole = map(pt.as_tensor_variable, inputs)
        outputs = [pt.dscalar(), rates.type(), confusion.type()]
        return Apply(self, [rates, confusion, *whole], outputs)

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        """Evaluate outside compiled code."""
        for storage, value in zip(output_storage, sum_over_states(*inputs), strict=True):
            storage[0] = np.asarray(value)

    def pullback(self, inputs: Any, outputs: Any, output_grads: Any) -> list[Any]:
        """Compute the derivative of the log likelihood. There is no second derivative."""
        gradient, _, _ = output_grads
        _, by_rates, by_confusion = outputs
        whole = [disconnected_type() for _ in inputs[2:]]
        return [gradient * by_rates, gradient * by_confusion, *whole]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        """Tell that only the log likelihood can be differentiated, by rates and confusion."""
        return [[i < 2, False, False] for i in range(len(node.inputs))]


@register_funcify_and_cache_key(SumOverStates)
def _numba_sum_over_states(op: SumOverStates, node: Apply, **_: Any) -> Any:
    @numba_njit
    def with_scalar_array(*inputs: Any) -> Any:
        log_likelihood, by_rates, by_confusion = sum_over_states(*inputs)
        return np.asarray(log_likelihood), by_rates, by_confusion

    # Compiled code is cached on disk under this key, which must change whenever the code does.
    return with_scalar_array, f"lehner {UNKNOWN} {hash_source()}"


def _logp(ratings: Any, rates: Any, confusion: Any, raters: Any, starts: Any, *rest: Any) -> Any:
    rows = raters * confusion.shape[-1] + ratings
    return SumOverStates()(rates, confusion, starts, rows, *rest)[0]


def _draw_ratings(
    rates: Floats, confusion: Floats, *data: Integers, rng: np.random.Generator, size: Any = None
) -> Integers:
    """Draw a state for each pattern, then its ratings."""
    raters, starts, truths, _, population = data
    shape = tuple(size or ())
    k = confusion.shape[-1]
    allowed = (truths[:, None] == UNKNOWN) | (np.arange(rates.shape[1]) % k == truths[:, None])
    every = np.arange(len(truths))
    state = draw_categories(rates[population] * allowed, rng.random((*shape, len(truths))), every)
    pattern = np.repeat(every, np.diff(starts))
    luck = rng.random((*shape, len(raters)))
    return draw_categories(confusion, luck, raters, state[..., pattern])


class IsometricLogRatio(Transform):
    r"""From the simplex of n probabilities to n - 1 real numbers, and back by softmax.

    References
    ----------
    Egozcue et al. (2003), https://doi.org/10.1023/A:1023818214614
    """

    name = "ilr"
    ndim_supp = 1

    def forward(self, value: Any, *inputs: Any) -> Any:
        """Transform probabilities to coordinates."""
        n = value.type.shape[-1]
        return pt.dot(pt.log(value), make_zero_sum_basis(n).T)

    def backward(self, value: Any, *inputs: Any) -> Any:
        """Transform coordinates to probabilities."""
        return pt.special.softmax(_sum_to_zero(value), axis=-1)

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        """Log volume change of `backward`."""
        n = value.type.shape[-1] + 1
        return pt.special.log_softmax(_sum_to_zero(value), axis=-1).sum(axis=-1) + 0.5 * np.log(n)


def _sum_to_zero(value: Any) -> Any:
    """Multiply by the basis as a Householder reflection, which needs no matrix."""
    n = value.type.shape[-1] + 1
    root = n**0.5
    total = value.sum(axis=-1, keepdims=True)
    return pt.concatenate([value - total / (root + n), -total / root], axis=-1)


def _with_two_numbers(distribution: Any, **fixed: float) -> Callable[[str, Floats, Any], Any]:
    """Make variables of a distribution of PyMC that takes two numbers."""
    return lambda name, numbers, dims: distribution(
        name, numbers[..., 0], numbers[..., 1], dims=dims, **fixed
    )


# Each family makes a variable of the current model, given its name, the numbers of its prior, and
# its dimensions.
DISTRIBUTIONS: dict[str, Callable[[str, Floats, Any], Any]] = {
    "dirichlet": lambda name, concentration, dims: pm.Dirichlet(
        name, concentration, dims=dims, default_transform=IsometricLogRatio()
    ),
    "beta": _with_two_numbers(pm.Beta),
    "normal": _with_two_numbers(pm.Normal),
    "logistic": _with_two_numbers(pm.Logistic),
    "half_normal": lambda name, numbers, dims: pm.HalfNormal(name, numbers[..., 1], dims=dims),
    "normal_around_zero": _with_two_numbers(pm.Normal),
    "normal_above_zero": _with_two_numbers(pm.TruncatedNormal, lower=0),
    "zero_sum": lambda name, numbers, dims: pm.ZeroSumNormal(
        name, sigma=numbers.flat[1], dims=dims
    ),
}


def build_model(model: str, ratings: Ratings | Patterns, priors: Priors = None) -> pm.Model:
    """Build a model in PyMC, in which the true categories are summed out.

    Parameters
    ----------
    model : str
        Name of the model, as in `MODELS`; :doc:`/explanation/models` has their equations.
    ratings : Ratings or Patterns
        With or without a system, which is the last rater. Truths that are known enter as data.
    priors : str or mapping, optional
        Name of a set of the model's priors, or priors of some variables by name; see
        `find_model(model).priors` for the sets, and `bayes_models.models.spec` for what a prior can
        be. A prior for all raters, such as `confusion`, is also that of the system, unless the
        system's prior, such as `system_confusion`, is given.

    Returns
    -------
    pymc.Model
        Variables `base_rates` (true_category), `confusion` (rater, category, response), `accuracy`
        (rater), with a system `system_accuracy`, and those that have priors. If items are from
        populations, `base_rates_by_population` (population, true_category) are estimated, and
        `base_rates` are those of all items: their mean, weighted by the numbers of items. With
        levels of difficulty there is `confusion_by_level` (rater, level, category, response).

    Raises
    ------
    InputError
        If there is no such model, set of priors or variable, if a prior has wrong numbers, or if
        the ratings cannot be fitted (see `observe`).

    References
    ----------
    Hui & Walter (1980), https://doi.org/10.2307/2530508, for populations.

    Examples
    --------
    >>> import lehner
    >>> model = build_model("one_coin", lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs]
    ['base_rates', 'rater_log_odds', 'system_log_odds']
    """
    spec, all_priors = find_model(model), choose_priors(model, priors)
    observed = assemble.observe(ratings)
    parameters = assemble.find_parameters(spec, observed, all_priors)
    levels = make_levels(spec.difficulty, parameters)
    coords = assemble.number_dims(parameters.values()) | assemble.make_coords(observed)
    if len(levels) > 1:
        coords["level"] = levels.round(3)
    with pm.Model(coords=coords) as built:
        values = Values({role: _add_parameter(p) for role, p in parameters.items()})
        if observed.populations:
            shares = pm.Data(
                "population_shares", assemble.weigh_populations(observed), dims="population"
            )
            # A product of matrices would call BLAS, which code that is kept on disk cannot.
            of_all = (shares[:, None] * values["base_rates"]).sum(axis=0)
            pm.Deterministic("base_rates", of_all, dims="true_category")
        _add_ratings(built, observed, values, spec.confusion(observed, values), len(levels))
    return built


def _add_parameter(parameter: Parameter) -> Any:
    """Add a parameter to the current model, and give its variable, or its value if it is fixed."""
    if parameter.family == "fixed":
        return parameter.numbers
    name, dims, prior = parameter.name, parameter.dims, parameter.distribution
    if prior is None:
        return DISTRIBUTIONS[parameter.family](name, parameter.numbers, dims or None)
    if dims and prior.ndim != len(dims):
        problem = f"the prior of {name} is a distribution with {pluralise(prior.ndim, 'dimension')}"
        problem += f", but {name} has {len(dims)} ({', '.join(dims)})"
        raise InputError(problem, "give a distribution of that shape, or numbers")
    return pm.modelcontext(None).register_rv(prior, name, dims=dims or None)


def _add_ratings(
    model: pm.Model, observed: Patterns, values: Values, confusion: Any, n_levels: int
) -> None:
    """Add confusion matrices, the accuracies that follow from them, and the ratings.

    Parameters
    ----------
    model : pymc.Model
    observed : Patterns
    values : Values
    confusion : TensorVariable, shape (n_raters, [n_levels,] n_categories, n_responses)
    n_levels : int
        Number of levels of difficulty, which are equally probable.
    """
    mean = confusion
    if n_levels > 1:
        dims = ("rater", "level", "category", "response")
        pm.Deterministic("confusion_by_level", confusion, dims=dims)
        mean = (confusion * np.full((n_levels, 1, 1), 1 / n_levels)).sum(axis=1)
    if "confusion" not in model:
        pm.Deterministic("confusion", mean, dims=("rater", "category", "response"))
    rates = model["base_rates"]
    right = (mean * np.eye(observed.n_categories) * rates[:, None]).sum(axis=(1, 2))
    accuracy = pm.Deterministic("accuracy", right, dims="rater")
    if observed.has_system:
        pm.Deterministic("system_accuracy", accuracy[-1])
    _add_likelihood(observed, values["base_rates"], confusion, n_levels)


def _add_likelihood(observed: Patterns, base_rates: Any, confusion: Any, n_levels: int) -> None:
    """Add the observed ratings.

    Parameters
    ----------
    observed : Patterns
    base_rates : TensorVariable, shape (n_categories,) or (n_populations, n_categories)
    confusion : TensorVariable, shape (n_raters, [n_levels,] n_categories, n_responses)
    n_levels : int
    """
    n_states, k = observed.n_categories * n_levels, observed.n_categories
    rates = base_rates if observed.populations else base_rates[None]
    if n_levels > 1:
        level_rates = np.full((n_levels, 1), 1 / n_levels)
        rates = (level_rates * rates[:, None]).reshape((-1, n_states))
    data = {
        name: pm.Data(name, values, dims=DATA_DIMS.get(name, "pattern"))
        for name, values in assemble.list_data(observed).items()
    }
    responses = data.pop("responses")
    pm.CustomDist(
        "ratings",
        rates,
        confusion.reshape((len(observed.raters), n_states, k)),
        *data.values(),
        logp=_logp,
        random=_draw_ratings,
        signature="(g,m),(r,m,l),(n),(q),(p),(p),(p)->(n)",
        dtype="int64",
        observed=responses,
        dims="rating",
    )
