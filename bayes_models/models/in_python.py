"""Evaluating PyTensor's graphs in Python where compiling them would take longer."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def in_python() -> Iterator[None]:
    """Have PyTensor start no C compiler, as it does for operations made of others in any mode."""
    import pytensor

    with pytensor.config.change_flags(cxx=""):
        yield
