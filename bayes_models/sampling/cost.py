"""What a fit will take, said before it if that is more than a minute or four gigabytes."""

import logging
import math
import os
import time
from collections.abc import Callable

from lehner import InputError

logger = logging.getLogger(__name__)

LONG = 60.0
"""Seconds of a fit that is announced."""
LARGE = 4e9
"""Bytes of a fit that is announced."""
FEW_TERMS = 20_000
"""Ratings times categories, with which a fit takes less than a minute: its steps are not timed."""
STEPS, PARAMETERS = 15.0, 75
"""Leapfrog steps a draw of `dawid_skene` with five raters and four categories, and 20,000 items."""
BYTES = 8
COPIES = {"nuts": 3, "gibbs": 2}
"""How often draws are in memory at once: of NUTS the sampler's, those of each chain, and those of
all chains; of Gibbs sampling also those of a first try."""
TIMED = {"draws": 1, "tune": 2, "chains": 1, "maxdepth": 3, "seed": 1, "progress_bar": False}
INSTEAD = {
    "nuts": "dawid_skene by Gibbs sampling (engine='gibbs'), fewer draws (draws=500, "
    "target_accept=0.9, check='estimands'), maximum likelihood (dawid_skene_ml) and the labels of "
    "lehner label take less; lehner estimate does the first with more than 20 raters or "
    "categories, the second with more than 100",
    "gibbs": "fewer draws (draws=500, check='estimands'), maximum likelihood and the algebra take "
    "less",
}


class TooLargeError(InputError):
    """The draws of a model need more memory than the computer has."""


def announce(model: str, engine: str, *, seconds: float, n_values: int, draws: int) -> None:
    """Log what all draws of a model will take, if that is much.

    Parameters
    ----------
    model : str
    engine : {"nuts", "gibbs"}
    seconds : float
    n_values : int
        Number of the numbers that are kept of a draw.
    draws : int
        Of all chains.

    Raises
    ------
    TooLargeError
        If the draws need more memory than the computer has.
    """
    memory = float(BYTES * n_values * draws * COPIES[engine])
    there = _memory_of_computer()
    if memory > there:
        raise TooLargeError(
            f"{model}: draws need {memory / 1e9:.1f} GB of memory, and this computer has "
            f"{there / 1e9:.1f}",
            INSTEAD[engine],
        )
    if seconds > LONG or memory > LARGE:
        text = "%s: sampling will take about %.0f min or more, and %.1f GB of memory; %s"
        logger.warning(text, model, max(seconds / 60, 1), memory / 1e9, INSTEAD[engine])


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


def warn_of_cost(
    run: Callable[..., int],
    *,
    model: str,
    n_terms: int,
    n_parameters: int,
    n_values: int,
    draws: int,
    chains: int,
    cores: int | None = None,
) -> None:
    """Time a few steps of a large model, and log what all draws will take if that is much.

    Parameters
    ----------
    run : callable
        Samples with the options `TIMED`, and returns the number of leapfrog steps.
    model : str
        Its name.
    n_terms : int
        Number of ratings that enter the likelihood, times that of categories.
    n_parameters, n_values : int
        Number of parameters, and of the numbers that are kept of a draw.
    draws, chains : int
        Draws of each chain, with those of the warm-up.
    cores : int, optional
        How many chains are sampled at once; by default as many as there are processors.
    """
    seconds = 0.0
    if n_terms > FEW_TERMS:
        start = time.perf_counter()
        n_steps = run(**TIMED)
        at_once = min(chains, cores or os.cpu_count() or 1)
        a_step = (time.perf_counter() - start) / n_steps
        seconds = a_step * steps_of_draw(n_parameters) * draws * math.ceil(chains / at_once)
    announce(model, "nuts", seconds=seconds, n_values=n_values, draws=draws * chains)


def steps_of_draw(n_parameters: int) -> float:
    """Leapfrog steps that a draw takes, which grow as the fourth root of the dimension.

    References
    ----------
    Beskos et al. (2013), Optimal tuning of the hybrid Monte Carlo algorithm, Bernoulli 19,
    1501-1534, https://doi.org/10.3150/12-BEJ414

    Examples
    --------
    >>> steps_of_draw(75), round(steps_of_draw(16_000))
    (15.0, 57)
    """
    return STEPS * max(1.0, n_parameters / PARAMETERS) ** 0.25
