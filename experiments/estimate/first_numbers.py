"""Numbers of methods that need no compilation, shown while models are compiled."""

import sys
from collections.abc import Sequence
from typing import Any

from experiments.estimate.methods import accuracy_table
from experiments.reporting.renderers import to_terminal
from lehner import Ratings, estimate
from lehner.core.number_format import decimal
from lehner.estimation.methods import MethodLike, find_methods
from lehner.latent_class.models import MODELS

WIDTH = 100


def show_first_numbers(
    ratings: Ratings, methods: Sequence[MethodLike], *, level: float, seed: int, system_is: str
) -> None:
    """Print to standard error what other methods say, if a model has yet to be compiled.

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
    models = [one.name for one in chosen if one.posterior is not None and one.name in MODELS]
    if len(ratings.systems) > 1 or not quick or not models or _compiled(models, ratings):
        return
    options: dict[str, Any] = {"level": level, "seed": seed, "system_is": system_is}
    found = estimate(ratings, quick, **options)
    (system,) = found.systems
    lines = [text.plain for text in to_terminal(accuracy_table(system, truths=False), WIDTH)]
    heading = (
        "First numbers, before models are compiled, which takes a minute or two "
        f"(raters agree on {decimal(system.agreement.agreement)} of pairs of ratings):"
    )
    print("\n".join([heading, *lines]), file=sys.stderr, flush=True)


def _compiled(models: Sequence[str], ratings: Ratings) -> bool:
    """Tell whether all models were compiled before."""
    from bayes_models import observe
    from bayes_models.sampling.compiled import load_model

    observed = observe(ratings.with_truth(None))
    return all([load_model(model, observed) for model in models])
