"""The private names of nutpie that this package uses: all of them are here.

Where they have changed, nutpie compiles PyMC's model by its public function.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayes_models.models.deferred import nutpie


def sampler_model(
    shapes: Mapping[str, tuple[int, ...]],
    n_parameters: int,
    c_functions: tuple[Any, Any],
    arrays: Sequence[Any],
) -> Any:
    """Wrap C functions, and the arrays whose addresses they read, for `nutpie.sample`.

    Parameters
    ----------
    shapes : mapping
        Shapes of the variables that are kept, by name.
    n_parameters : int
    c_functions : tuple of numba's C functions
        As `bayes_models.density.c_functions` gives them.
    arrays : sequence of ndarray

    Returns
    -------
    nutpie's compiled model
    """
    lengths = [int(np.prod(shape)) for shape in shapes.values()]
    ends = np.cumsum(lengths).tolist()
    slices = [slice(end - length, end) for end, length in zip(ends, lengths, strict=True)]
    log_density, variables = c_functions
    return nutpie.compile_pymc.CompiledPyMCModel(
        dims={},
        reparameterized_names=[],
        _coords={},
        _n_dim=n_parameters,
        n_expanded=ends[-1],
        _shapes=shapes,
        shape_info=(list(shapes), slices, list(shapes.values())),
        initial_point_func=None,
        logp_func=None,
        expand_func=None,
        compiled_logp_func=log_density,
        compiled_expand_func=variables,
        # A reference, so that the arrays keep their addresses.
        shared_data={str(i): array for i, array in enumerate(arrays)},
        shared_var_keys={},
        user_data=np.array([array.ctypes.data for array in arrays], np.uint64),
    )
