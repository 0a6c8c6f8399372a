"""Whether C functions give the same values as PyMC for the same model, at one point."""

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.core.arrays import Floats

if TYPE_CHECKING:
    import pymc as pm

SEED = 20150801
DISTANCE = 0.3
DENSITY_TOLERANCE = 1e-8
# Small results of large numbers that cancel have the rounding errors of the large ones.
LEAST_DENSITY = 1e-6
# The greatest number of arrays that NumPy takes at once, including the result.
MOST_OPERANDS = 32


def why_wrong(density: Any, model: "pm.Model") -> str:
    """Compare density, gradient and variables with those of PyMC.

    Parameters
    ----------
    density : bayes_models.sampling.density.Density
    model : pymc.Model
        The model that it was compiled from.

    Returns
    -------
    str
        Which value differs; empty if none does.
    """
    point = DISTANCE * np.random.default_rng(SEED).normal(size=density.n_parameters)
    ours = dict(zip(("density", "gradient", "variables"), evaluate(density, point), strict=True))
    value, gradient, variables = by_pymc(model)(point)
    theirs = {
        "density": value,
        "gradient": gradient,
        "variables": np.concatenate([np.ravel(variables[name]) for name in density.shapes]),
    }
    for what, result in ours.items():
        expected = theirs[what]
        if result.shape != expected.shape or not np.allclose(
            result, expected, rtol=DENSITY_TOLERANCE, atol=LEAST_DENSITY
        ):
            return f"the {what} of the C functions is not PyMC's"
    return ""


def by_pymc(model: "pm.Model") -> Callable[[Floats], tuple[Floats, Floats, dict[str, Floats]]]:
    """Give a function that evaluates a model without C functions.

    Parameters
    ----------
    model : pymc.Model

    Returns
    -------
    callable
        From a point, shape (n_parameters,), to log density, gradient, and variables by name.
    """
    from pymc.blocking import DictToArrayBijection, RaveledVars

    mode = python_mode()
    variables = model.unobserved_value_vars
    reference = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    reference.set_extra_values({})
    values = model.compile_fn(variables, mode=mode, on_unused_input="ignore")
    shapes = DictToArrayBijection.map(model.initial_point(random_seed=0)).point_map_info

    def evaluate_all(point: Floats) -> tuple[Floats, Floats, dict[str, Floats]]:
        value, gradient = reference(point)
        found = values(DictToArrayBijection.rmap(RaveledVars(point, shapes)))
        names = [variable.name for variable in variables]
        return np.asarray(value), gradient, dict(zip(names, found, strict=True))

    return evaluate_all


def python_mode() -> Any:
    """Give the mode that evaluates in Python, which compiles nothing and shares no code with C.

    Returns
    -------
    pytensor.compile.mode.Mode
    """
    from pytensor.compile.mode import Mode
    from pytensor.graph.rewriting.basic import node_rewriter, out2in
    from pytensor.tensor import add

    @node_rewriter([add])
    def halve_long_sums(graph: Any, node: Any) -> Any:
        terms, half = node.inputs, len(node.inputs) // 2
        if len(terms) < MOST_OPERANDS:
            return None
        return [add(add(*terms[:half]), add(*terms[half:]))]

    # No other rewrite is made, so that its place among them does not matter.
    return Mode(linker="py", optimizer=None).register((out2in(halve_long_sums), 0))


def evaluate(density: Any, point: Floats, **data: Any) -> tuple[Floats, Floats, Floats]:
    """Call the C functions as the sampler does.

    Parameters
    ----------
    density : bayes_models.sampling.density.Density
    point : ndarray, shape (n_parameters,)
    **data : array_like
        Data that are not given are those it was compiled with.

    Returns
    -------
    density : ndarray, shape ()
    gradient : ndarray, shape (n_parameters,)
    variables : ndarray, shape (n_values,)

    Raises
    ------
    ValueError
        If one of the functions returns an error code.
    """
    model = density.with_data(**data)
    value, gradient, variables = np.empty(()), np.empty_like(point), np.empty(model.n_expanded)
    calls = (
        (density.log_density, (len(point),), (point, gradient, value)),
        (density.variables, (len(point), len(variables)), (point, variables)),
    )
    for code, sizes, arrays in calls:
        given = [*sizes, *(array.ctypes.data for array in (*arrays, model.user_data))]
        function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_uint64] * len(given))(code.address)
        failed = function(*given)
        if failed:
            raise ValueError(f"a C function failed with code {failed}")
    return value, gradient, variables
