"""What a method says of some ratings: estimates of named quantities, and joint draws of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.errors import Warning

# The dimensions of each quantity; others have none. Those of groups of items, or of systems, come
# before them.
DIMS: dict[str, tuple[str, ...]] = {
    "system_accuracy": (),
    "system_accuracy_in_sample": (),
    "n_items": (),
    "n_answered": (),
    "base_rates": ("category",),
    "confusion": ("category", "response"),
    "rater_accuracy": ("rater",),
    "rater_recall": ("rater", "category"),
    "rater_confusion": ("rater", "category", "response"),
    "truth_probabilities": ("item", "category"),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Draws:
    """Estimates of quantities, and joint posterior draws or bootstrap resamples of them.

    Parameters
    ----------
    point : mapping of str to ndarray
        The estimates by quantity, with the dimensions of `DIMS`; NaN where there is none. A
        dimension before these is that of the systems or groups. `confusion` is the system's.
    drawn : mapping of str to ndarray
        The draws by quantity, with a first dimension of draws, of which the i-th of all quantities
        belong together; NaN where undefined. Empty if the method has no interval.
    coords : mapping of str to sequence
        What the places of each dimension are called.
    kind : str
        How intervals are made.
    posterior : bool
        Whether these are posterior draws, whose mean is the estimate, or bootstrap resamples.
    corrected : bool
        Whether gold labels entered the draws.
    warnings : tuple of Warning
        What the user should know about these numbers.

    Examples
    --------
    >>> rates = {"base_rates": np.array([0.4, 0.6])}
    >>> draws = Draws(point=rates, coords={"category": ["no", "yes"]})
    >>> draws.list_coords("base_rates")
    {'category': ['no', 'yes']}
    """

    point: Mapping[str, Floats]
    drawn: Mapping[str, Floats] = field(default_factory=dict)
    coords: Mapping[str, Any] = field(default_factory=dict)
    kind: str = ""
    posterior: bool = False
    corrected: bool = False
    warnings: tuple[Warning, ...] = ()

    def __post_init__(self) -> None:
        # Last digits of sums depend on the layout in memory, which other processes do not keep.
        for name in ("point", "drawn"):
            arrays = {key: np.asarray(x, order="C") for key, x in getattr(self, name).items()}
            object.__setattr__(self, name, arrays)

    def list_coords(self, quantity: str) -> dict[str, Any]:
        """Name the places of a quantity along each of its dimensions."""
        dims = DIMS.get(quantity, ())
        n_before = self.point[quantity].ndim - len(dims)
        before = [dim for dim in ("system", "group") if dim in self.coords][:n_before]
        coords = {"response": self.coords.get("category", ()), **self.coords}
        return {dim: coords[dim] for dim in (*before, *dims)}


def join_parts(parts: Iterable[Mapping[str, Floats]], n: int) -> dict[str, Floats]:
    """Join arrays by name, n in all along the first dimension, as they are made: memory."""
    joined: dict[str, Floats] = {}
    start = 0
    for part in parts:
        for name, values in part.items():
            whole = joined.setdefault(name, np.empty((n, *values.shape[1:])))
            whole[start : start + len(values)] = values
        start += len(next(iter(part.values())))
    return joined
