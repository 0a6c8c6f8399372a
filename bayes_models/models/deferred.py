"""Packages that are loaded when they are first used.

A model that was compiled before is sampled without PyMC, because to load PyMC takes longer than to
sample such a model.
"""

import importlib.util
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lehner.core import lazy

if TYPE_CHECKING:
    import pymc as pm
    import pytensor.tensor as pt

__all__ = ["nutpie", "pm", "pt"]


def _import_at_first_use(name: str) -> None:
    """Have a module executed when one of its names is used, wherever it is imported."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.loader is not None
    module, loader = importlib.util.module_from_spec(spec), spec.loader
    names, lock, started = vars(module), threading.RLock(), False

    def execute(attribute: str) -> Any:
        nonlocal started
        with lock:
            if not started:
                started = True
                loader.exec_module(module)
        if attribute not in names and names["__getattr__"] is not execute:
            return names["__getattr__"](attribute)
        if attribute not in names:
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        return names[attribute]

    # A module's own `__getattr__` is asked for names that it does not have (PEP 562).
    names["__getattr__"] = execute
    sys.modules[name] = module


if not TYPE_CHECKING:
    pm, pt = lazy.load("pymc"), lazy.load("pytensor.tensor")
# The sampler imports ArviZ, and uses it only for results in a form that is not used here.
if "arviz" not in sys.modules:
    _import_at_first_use("arviz")
nutpie = importlib.import_module("nutpie")


@contextmanager
def without_c_compiler() -> Iterator[None]:
    """Have PyTensor start no C compiler, as it does for operations made of others in any mode."""
    import pytensor

    with warnings.catch_warnings(), pytensor.config.change_flags(cxx=""):
        # It then joins fewer operations into one; the compiled functions are as fast.
        warnings.filterwarnings("ignore", "Loop fusion failed")
        yield
