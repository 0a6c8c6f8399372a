"""How much memory draws need, and how much there is."""

import math
import os

from lehner import InputError

LARGE = 4e9
"""Bytes of draws to which a second try is kept."""
BYTES = 8
COPIES = {"nuts": 3, "gibbs": 2}
"""How often draws are in memory at once: of NUTS the sampler's, those of each chain, and those of
all chains; of Gibbs sampling also those of a first try."""
INSTEAD = "sample fewer draws (draws=500, check='estimands'), or use maximum likelihood (…_ml)"


class TooLargeError(InputError):
    """The draws of a model need more memory than the computer has."""


def check_memory(model: str, engine: str, n_numbers: int) -> None:
    """Raise a TooLargeError if the draws of a model need more memory than the computer has.

    Parameters
    ----------
    model : str
    engine : {"nuts", "gibbs"}
    n_numbers : int
        How many numbers are kept of all draws of all chains.
    """
    needed, there = float(BYTES * n_numbers * COPIES[engine]), _memory_of_computer()
    if needed > there:
        raise TooLargeError(
            f"{model}: draws need {needed / 1e9:.1f} GB of memory, and this computer has "
            f"{there / 1e9:.1f}",
            INSTEAD,
        )


def _memory_of_computer() -> float:
    if not hasattr(os, "sysconf"):
        return math.inf
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def times_in_memory(n_bytes: float, engine: str) -> int:
    """Tell how many times as many draws four gigabytes hold, at least one.

    Parameters
    ----------
    n_bytes : float
        Of the draws of a first try.
    engine : {"nuts", "gibbs"}

    Examples
    --------
    >>> times_in_memory(2e8, "gibbs"), times_in_memory(5e9, "gibbs")
    (10, 1)
    """
    return max(1, int(LARGE // (COPIES[engine] * n_bytes)))
