r"""The likelihood that all models share: ratings, summed over what is not observed.

.. math:: \log p(y) = \sum_p n_p \log \sum_m \pi_{g_p m} \prod_s \theta_{r_{ps}, m, y_{ps}}

A state m is a true category, or, in a model with levels of difficulty, a level and a true category;
g is the population of a pattern, if populations have different base rates π. The sum over states is
exact. The gradient needs no further pass, because it follows from the expected numbers of ratings
in each state, as EM computes them.
"""

import functools
import hashlib
import inspect
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_and_cache_key

from bayes_models.likelihood.observations import arrays_of
from lehner import Patterns
from lehner.core.arrays import Floats, Integers
from lehner.core.draw_categories import draw_categories
from lehner.data.patterns import UNKNOWN

BLOCK = 16
SMALL = 1e-200
FEW = 20_000
"""Ratings times states for which Python takes .01 s, where compiling takes one or two."""
DATA_DIMS = {"starts": None, "raters": "rating", "responses": "rating"}
"""Dimensions of the data; those of others are patterns."""


def make_kernel(n_raters: int, n_states: int, n_responses: int) -> Callable[..., Any]:
    """Make the function that sums over states, for arrays of one shape.

    The sizes are constants, so that the compiler can unroll loops, which saves a third of the time.

    Returns
    -------
    callable
        From `rates` (n_populations, n_states), `confusion` (n_raters, n_states, n_responses) and
        the arrays of `arrays_of` to the log likelihood and its derivatives by `rates` and
        `confusion`.
    """

    def sum_over_states(
        rates: Floats,
        confusion: Floats,
        starts: Integers,
        raters: Integers,
        responses: Integers,
        truths: Integers,
        counts: Integers,
        population: Integers,
    ) -> tuple[Floats, Floats, Floats]:
        by_response = np.ascontiguousarray(confusion.transpose(0, 2, 1))
        table = by_response.reshape(n_raters * n_responses, n_states)
        expected = np.zeros((n_raters * n_responses, n_states))
        expected_rates = np.zeros(rates.shape)
        joint = np.empty(n_states)
        log_likelihood = 0.0
        # One logarithm is taken for many patterns, before their product underflows.
        product = 1.0
        for p in range(len(counts)):
            first, last, g = starts[p], starts[p + 1], population[p]
            for m in range(n_states):
                joint[m] = rates[g, m]
            if truths[p] != UNKNOWN:
                for m in range(n_states):
                    if m % n_responses != truths[p]:
                        joint[m] = 0.0
            for block in range(first, last, BLOCK):
                for s in range(block, min(block + BLOCK, last)):
                    row = np.uint64(raters[s] * n_responses + responses[s])
                    for m in range(n_states):
                        joint[m] *= table[row, m]
                if block + BLOCK < last:
                    scale = 0.0
                    for m in range(n_states):
                        scale += joint[m]
                    if scale > 0:
                        log_likelihood += counts[p] * np.log(scale)
                        for m in range(n_states):
                            joint[m] /= scale
            total = 0.0
            for m in range(n_states):
                total += joint[m]
            if counts[p] != 1:
                log_likelihood += counts[p] * np.log(total)
            elif product * total < SMALL:
                log_likelihood += np.log(product)
                product = total
            else:
                product *= total
            if total == 0:
                continue
            weight = counts[p] / total
            for m in range(n_states):
                joint[m] *= weight
                expected_rates[g, m] += joint[m]
            for s in range(first, last):
                row = np.uint64(raters[s] * n_responses + responses[s])
                for m in range(n_states):
                    expected[row, m] += joint[m]
        log_likelihood += np.log(product)
        by_confusion = np.zeros((n_raters, n_states, n_responses))
        for r in range(n_raters):
            for m in range(n_states):
                for k in range(n_responses):
                    number = expected[r * n_responses + k, m]
                    if number > 0:
                        by_confusion[r, m, k] = number / confusion[r, m, k]
        for g in range(len(rates)):
            for m in range(n_states):
                if expected_rates[g, m] > 0:
                    expected_rates[g, m] /= rates[g, m]
        return np.asarray(log_likelihood), expected_rates, by_confusion

    return sum_over_states


class SumOverStates(Op):
    """The sum over states as an operation in a model's graph, with its first derivative."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:
        """Take rates and confusion as floats, the rest as whole numbers."""
        rates, confusion, *whole = map(pt.as_tensor_variable, inputs)
        outputs = [pt.dscalar(), rates.type(), confusion.type()]
        return Apply(self, [rates, confusion, *whole], outputs)

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        """Evaluate outside compiled code, in Python if to compile would take longer."""
        shape, n_ratings = inputs[1].shape, len(inputs[4])
        make = make_kernel if n_ratings * shape[1] < FEW else _compiled_kernel
        with np.errstate(all="ignore"):
            results = make(*shape)(*inputs)
        for storage, value in zip(output_storage, results, strict=True):
            storage[0] = value

    def pullback(self, inputs: Any, outputs: Any, output_grads: Any) -> list[Any]:
        """Derivative of the log likelihood. There is no second derivative."""
        gradient, _, _ = output_grads
        _, by_rates, by_confusion = outputs
        whole = [disconnected_type() for _ in inputs[2:]]
        return [gradient * by_rates, gradient * by_confusion, *whole]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        """Tell that only the log likelihood can be differentiated, by rates and confusion."""
        return [[i < 2, False, False] for i in range(len(node.inputs))]


@functools.lru_cache
def _compiled_kernel(*shape: int) -> Callable[..., Any]:
    return numba.njit(make_kernel(*shape))


@register_funcify_and_cache_key(SumOverStates)
def _numba_sum_over_states(op: SumOverStates, node: Apply, **_: Any) -> Any:
    # Compiled code is cached on disk under this key, which must change whenever the code does.
    shape = node.inputs[1].type.shape
    key = repr(("lehner", inspect.getsource(make_kernel), BLOCK, SMALL, UNKNOWN, shape))
    return numba_njit(make_kernel(*shape), fastmath=False), hashlib.sha256(key.encode()).hexdigest()


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
        for name, values in arrays_of(observed).items()
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
