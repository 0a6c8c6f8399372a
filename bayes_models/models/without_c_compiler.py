"""Evaluating PyTensor's graphs in Python where compiling them would take longer."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_c_compiler() -> Iterator[None]:
    """Have PyTensor start no C compiler, as it does for operations made of others in any mode."""
    import pytensor

    with warnings.catch_warnings(), pytensor.config.change_flags(cxx=""):
        # It then joins fewer operations into one; the compiled functions are as fast.
        warnings.filterwarnings("ignore", "Loop fusion failed")
        yield
