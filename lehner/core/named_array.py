"""Named arrays: NumPy arrays with names, made into an xarray.DataArray only when it is needed.

Importing xarray takes longer than the algebra takes for most data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import xarray as xr

    from lehner.data.ratings import Ratings


@dataclass(frozen=True, kw_only=True, eq=False)
class NamedArray:
    """An array with a name for each index along each dimension.

    Parameters
    ----------
    values : ndarray
    names : mapping of str to sequence
        For each dimension, in order, the names of its indices.

    Examples
    --------
    >>> NamedArray(values=np.array([0.5, 0.75]), names={"rater": ["Ann", "Bo"]}).dims
    ('rater',)
    """

    values: NDArray[Any]
    names: Mapping[str, Sequence[Any] | NDArray[Any]]

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions."""
        return tuple(self.names)

    def to_xarray(self, name: str | None = None) -> "xr.DataArray":
        """Make a DataArray of it."""
        import xarray as xr

        return xr.DataArray(self.values, dims=self.dims, coords=dict(self.names), name=name)

    @classmethod
    def from_xarray(cls, array: "xr.DataArray") -> "NamedArray":
        """Take the values and the names from a DataArray."""
        return cls(values=array.values, names={str(dim): array[dim].values for dim in array.dims})


def name_places(values: ArrayLike, ratings: "Ratings", *dims: str) -> NamedArray:
    """Name the indices of an array after items, raters and categories.

    Parameters
    ----------
    values : array_like
        Of the raters alone, or also of the system, which is then the last rater.
    ratings : Ratings
    *dims : {"item", "rater", "category", "response"}

    Returns
    -------
    NamedArray
    """
    values = np.asarray(values, order="C")
    names: dict[str, Any] = {
        "item": ratings.items,
        "rater": list(ratings.all_raters),
        "category": list(ratings.categories),
        "response": list(ratings.categories),
    }
    sizes = zip(dims, values.shape, strict=True)
    return NamedArray(values=values, names={dim: names[dim][:size] for dim, size in sizes})
