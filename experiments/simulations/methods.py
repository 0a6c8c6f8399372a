"""The methods of simulations and benchmarks: the command's, with fits as short as in studies."""

import inspect
from typing import Any

from lehner import Estimate, Ratings
from lehner.estimation.methods import find_method

LEVEL = 0.9


def estimate_as_in_studies(method: str, ratings: Ratings, seed: int, **options: Any) -> Estimate:
    """Estimate as the command does; models are fitted as in studies, with fewer draws.

    Parameters
    ----------
    method : str
        As the command takes it: a name, or a function as "file.py:function".
    ratings : Ratings
    seed : int
    **options
        Of `bayes_models.fit`, for models.

    Returns
    -------
    Estimate
        With 90% intervals, but for models by maximum likelihood, whose intervals take many fits.

    Raises
    ------
    InputError
        If there is no such method, with the nearest name.
    """
    registered = find_method(method)
    if "restarts" in inspect.signature(registered.estimate).parameters:
        return registered.estimate(ratings, level=LEVEL, seed=seed, interval=None, restarts=0)
    if "draws" not in registered.gives:
        return registered.estimate(ratings, level=LEVEL, seed=seed)
    import bayes_models
    from bayes_models.methods import fit_as_in_studies

    engine = "gibbs" if bayes_models.find_model(method).conjugate else "nuts"
    tree = fit_as_in_studies(method, ratings, seed, engine=engine, **options)
    return bayes_models.estimate_from_draws(tree, level=LEVEL)
