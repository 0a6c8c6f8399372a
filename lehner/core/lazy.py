"""Libraries that are loaded when one of their names is first used, so that commands start quickly.

>>> from lehner.core.lazy import pd, xr
>>> pd.Series([1, 2]).sum().item()
3

Annotations that use them are written in quotes, as ``"xr.DataArray"``. A library that is not here
is loaded by ``rich = lazy.load("rich")``.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import matplotlib.pyplot as plt
    import pandas as pd
    import pyarrow as pa
    import xarray as xr
    from scipy import linalg, optimize, sparse, special, stats

__all__ = ["linalg", "load", "optimize", "pa", "pd", "plt", "sparse", "special", "stats", "xr"]


class _LazyModule:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self._name), name)
        setattr(self, name, value)
        return value


def load(name: str) -> Any:
    """Make a module that is imported when one of its names is first used.

    Parameters
    ----------
    name : str
        Full name of the module, as "pyarrow.parquet".

    Returns
    -------
    module

    Examples
    --------
    >>> load("math").gcd(6, 4)
    2
    """
    return _LazyModule(name)


if not TYPE_CHECKING:
    plt, pd, pa, xr = map(load, ("matplotlib.pyplot", "pandas", "pyarrow", "xarray"))
    linalg, optimize, sparse = map(load, ("scipy.linalg", "scipy.optimize", "scipy.sparse"))
    special, stats = map(load, ("scipy.special", "scipy.stats"))
