"""Packages that are loaded when they are first used.

A model that was compiled before is sampled without PyMC, because to load PyMC takes longer than to
sample such a model.
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
    """A module that is loaded when one of its names is used."""

    # An import statement that finds this object among the loaded modules asks for its `__spec__`.
    __spec__ = None

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


def _import_nutpie() -> ModuleType:
    """Load the sampler without ArviZ, which it needs only for results that are not used here."""
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
