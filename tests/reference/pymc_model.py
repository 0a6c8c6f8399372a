"""A PyMC model evaluated in Python, which compiles nothing and shares no code with the density."""

from itertools import batched

from pymc.blocking import DictToArrayBijection, RaveledVars
from pytensor.compile.mode import Mode
from pytensor.graph.rewriting.basic import node_rewriter, out2in
from pytensor.tensor import add

# The greatest number of arrays that NumPy takes at once, including the result.
MOST_OPERANDS = 32


def by_pymc(model):
    """From a point, shape (n_parameters,), to log density, gradient, and variables by name."""
    mode = python_mode()
    variables = model.unobserved_value_vars
    reference = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    reference.set_extra_values({})
    values = model.compile_fn(variables, mode=mode, on_unused_input="ignore")
    shapes = DictToArrayBijection.map(model.initial_point(random_seed=0)).point_map_info

    def evaluate(point):
        value, gradient = reference(point)
        result = values(DictToArrayBijection.rmap(RaveledVars(point, shapes)))
        names = [variable.name for variable in variables]
        return float(value), gradient, dict(zip(names, result, strict=True))

    return evaluate


def python_mode():
    @node_rewriter([add])
    def add_in_parts(graph, node):
        if len(node.inputs) < MOST_OPERANDS:
            return None
        return [add(*[add(*part) for part in batched(node.inputs, MOST_OPERANDS - 1)])]

    # No other rewrite is made, so that its place among them does not matter.
    return Mode(linker="py", optimizer=None).register((out2in(add_in_parts), 0))
