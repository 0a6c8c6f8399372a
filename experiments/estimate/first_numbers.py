"""Numbers of methods that need no compilation, shown while models are compiled."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.estimate.methods import accuracy_table
from experiments.reporting.renderers import to_terminal
from lehner import Ratings, estimate
from lehner.core.text import decimal
from lehner.estimation.methods import MethodLike, find_methods

WIDTH = 100


def show_first_numbers(
    ratings: Ratings, methods: Sequence[MethodLike], *, level: float, seed: int, system_is: str
) -> None:
    """Print to standard error what other methods say, if models have yet to be compiled.

    The result has the same numbers again. Nothing is printed of several systems.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    methods : sequence of str, Method or callable
    level : float
    seed : int
    system_is : str
        As `lehner.estimate` takes it.
    """
    chosen = find_methods(methods)
    quick = [one for one in chosen if one.posterior is None and not one.source]
    models = [one for one in chosen if one.posterior is not None]
    if len(ratings.systems) > 1 or not quick or not models or _compiled():
        return
    options: dict[str, Any] = {"level": level, "seed": seed, "system_is": system_is}
    found = estimate(ratings, quick, **options)
    (system,) = found.systems
    corrected = any(one.correction is not None for one in system.results)
    table = accuracy_table(system, truths=not corrected)
    lines = [text.plain for text in to_terminal(table, WIDTH)]
    heading = (
        "First numbers, before what samples models is compiled, once on this computer "
        f"(raters agree on {decimal(system.agreement.agreement)} of pairs of ratings):"
    )
    print("\n".join([heading, *lines]), file=sys.stderr, flush=True)


def _compiled() -> bool:
    from bayes_models import density

    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(density.__file__).parent)
    if os.access(folder, os.W_OK) and not any(folder.rglob("c_functions.*.nbi")):
        # To load Numba, which knows for certain, takes longer than the first numbers.
        return False
    from bayes_models.density.c_functions import on_disk

    return on_disk()
