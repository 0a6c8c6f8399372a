"""Packages that are loaded when something of theirs is first used.

A model that was compiled before is sampled without PyMC, which takes longer to load than such a
model takes to sample.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pymc as pm
    import pytensor.tensor as pt

__all__ = ["nutpie", "pm", "pt"]


class _Deferred:
    """A module that is loaded when it is asked for a name."""

    # An import statement that finds this among the loaded modules asks for it.
    __spec__ = None

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


def _import_nutpie() -> ModuleType:
    """Load the sampler without ArviZ, which it needs for results of a kind we do not ask it for."""
    if "arviz" in sys.modules:
        return importlib.import_module("nutpie")
    sys.modules["arviz"] = _Deferred("arviz")  # type: ignore[assignment]
    try:
        return importlib.import_module("nutpie")
    finally:
        del sys.modules["arviz"]


if not TYPE_CHECKING:
    pm, pt = _Deferred("pymc"), _Deferred("pytensor.tensor")
nutpie = _import_nutpie()
