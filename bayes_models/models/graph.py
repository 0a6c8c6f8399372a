r"""What PyMC's models are made of: the likelihood of ratings as an operation, and a transform.

.. math:: \log p(y) = \sum_p n_p \log \sum_m \pi_{g_p m} \prod_s \theta_{r_{ps}, m, y_{ps}}

A state m is a true category, or, in a model with levels of difficulty, a level and a true category;
g is the population of a pattern, if populations have different base rates π. The sum over states is
exact. The gradient needs no further pass, because it follows from the expected numbers of ratings
in each state, as EM computes them.

The isometric log-ratio transform of probabilities that sum to one treats all categories alike, so
that scales are nearly the same in all directions, and the sampler needs fewer steps than with a
reference category.
"""

import hashlib
import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pymc.distributions.shape_utils import change_dist_size
from pymc.distributions.transforms import Transform
from pytensor.compile.mode import Mode
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.graph.replace import vectorize_graph
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_and_cache_key

from bayes_models.density import log_density
from bayes_models.density.log_density import list_arrays, sum_over_states
from bayes_models.density.priors import make_zero_sum_basis
from lehner import Patterns
from lehner.core.arrays import Floats, Integers, draw_categories
from lehner.data.patterns import UNKNOWN

# Evaluates a graph once in less time than rewriting and compiling it would take.
IN_PYTHON = Mode(linker="py", optimizer=None)
# Dimensions of the data; those of others are patterns.
DATA_DIMS = {"starts": None, "raters": "rating", "responses": "rating"}


@contextmanager
def avoid_c_compiler() -> Iterator[None]:
    """Have PyTensor start no C compiler, as it does for operations made of others in any mode."""
    # With fast math, rounding depends on whether the code comes from a compile cache, and the same
    # seed would not give the same draws.
    flags = {"cxx": "", "numba__fastmath": False}
    with warnings.catch_warnings(), pytensor.config.change_flags(**flags):
        # It then joins fewer operations into one; the compiled functions are as fast.
        warnings.filterwarnings("ignore", "Loop fusion failed")
        yield


def repeat_draws(variable: Any, n: int, drawn: dict[Any, Any]) -> Any:
    """Draw a random variable n times at once, given draws of those before it in the model."""
    many = vectorize_graph(variable, drawn) if drawn else variable
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
    source = inspect.getsource(log_density)
    return with_scalar_array, hashlib.sha256(f"lehner {UNKNOWN} {source}".encode()).hexdigest()


def add_ratings(
    observed: Patterns, base_rates: Any, confusion: Any, level_rates: Any = None
) -> None:
    """Add the observed ratings to the current model.

    Parameters
    ----------
    base_rates : TensorVariable, shape (n_categories,) or (n_populations, n_categories)
    confusion : TensorVariable, shape (n_raters, [n_levels,] n_categories, n_responses)
    level_rates : array_like, shape (n_levels,), optional
        Proportion of the items at each level of difficulty.
    """
    k = observed.n_categories
    rates = base_rates if observed.populations else base_rates[None]
    if level_rates is not None:
        rates = (level_rates[:, None] * rates[:, None]).reshape((-1, k * len(level_rates)))
    n_states = k if level_rates is None else k * len(level_rates)
    data = {
        name: pm.Data(name, values, dims=DATA_DIMS.get(name, "pattern"))
        for name, values in list_arrays(observed).items()
    }
    responses = data.pop("responses")
    pm.CustomDist(
        "ratings",
        rates,
        confusion.reshape((len(observed.raters), n_states, k)),
        *data.values(),
        logp=_logp,
        random=_draw_ratings,
        signature="(g,m),(r,m,l),(q),(n),(p),(p),(p)->(n)",
        dtype="int64",
        observed=responses,
        dims="rating",
    )


def _logp(ratings: Any, rates: Any, confusion: Any, starts: Any, raters: Any, *rest: Any) -> Any:
    return SumOverStates()(rates, confusion, starts, raters, ratings, *rest)[0]


def _draw_ratings(
    rates: Floats, confusion: Floats, *data: Integers, rng: np.random.Generator, size: Any = None
) -> Integers:
    """Draw a state for each pattern, then its ratings."""
    starts, raters, truths, _, population = data
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
