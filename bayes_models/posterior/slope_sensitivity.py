"""What an estimate by `relaxed_k` becomes if difficulty moves the system not at all, or fully."""

from typing import Any

from bayes_models.posterior.estimate import estimate_from_draws
from bayes_models.sampling.fit import fit
from lehner import Estimate, Ratings
from lehner.core.seeds import Seed

SLOPES = (0.0, 1.0)


def slope_sensitivity(
    ratings: Ratings, *, level: float = 0.9, seed: Seed = 1, **options: Any
) -> dict[float, Estimate]:
    """Fit `relaxed_k` with the system's slope on difficulty fixed at 0 and at 1.

    Ratings hardly tell whether items that are difficult for raters are difficult for the system,
    and the estimate depends on it: at slope 0 the system errs as often on items that are easy for
    raters, at slope 1 difficulty moves its log odds as far as theirs.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    level : float
        Probability of the intervals, between 0 and 1.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
    **options
        As of `fit`; `priors`, if given, is a mapping.

    Returns
    -------
    dict
        The estimate by slope, 0 and 1.

    Examples
    --------
    >>> import lehner
    >>> found = slope_sensitivity(lehner.load_dataset("lehner_table2"))  # doctest: +SKIP
    >>> found[0.0].system_accuracy, found[1.0].system_accuracy  # doctest: +SKIP
    """
    priors = dict(options.pop("priors", None) or {})
    found = {}
    for slope in SLOPES:
        fixed = priors | {"system_slope": (slope, 0.0)}
        tree = fit("relaxed_k", ratings, seed=seed, priors=fixed, **options)
        found[slope] = estimate_from_draws(tree, level=level)
    return found
