"""The estimate by `relaxed_k` if difficulty does not affect the system, or affects it fully."""

from typing import Any

from bayes_models.posterior.estimate import estimate_from_draws
from bayes_models.sampling.fit import fit
from lehner import Estimate, InputError, Ratings
from lehner.core.seeds import Seed

FIXED_SLOPES = (0.0, 1.0)


def slope_sensitivity(
    ratings: Ratings, *, level: float = 0.9, seed: Seed = 1, **options: Any
) -> dict[float, Estimate]:
    """Fit `relaxed_k` with the system's slope on difficulty fixed at 0 and at 1.

    Ratings hardly show whether items that are difficult for raters are difficult for the system,
    and the estimate depends on that. With slope 0 the system errs as often on items that are easy
    for raters as on difficult ones; with slope 1 difficulty changes its log odds as much as theirs.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    level : float
        Probability of the intervals, between 0 and 1.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same estimates.
    **options
        Options of `fit`; `priors`, if given, is a mapping.

    Returns
    -------
    dict of float to Estimate
        The estimates by slope, 0 and 1.

    Raises
    ------
    InputError
        For what `fit` refuses, or if there is no system.

    Warns
    -----
    ConvergenceWarning
        If the diagnostics of a fit fail.

    Examples
    --------
    Two fits take a minute, and are not run here.

    >>> import lehner
    >>> ratings = lehner.load_dataset("lehner_table2")
    >>> found = slope_sensitivity(ratings)  # doctest: +SKIP
    >>> found[0.0].system_accuracy, found[1.0].system_accuracy  # doctest: +SKIP
    >>> try:
    ...     slope_sensitivity(ratings, priors={"rater_spred": 1})
    ... except lehner.InputError as error:
    ...     print(error)
    there is no prior in relaxed_k called 'rater_spred'; did you mean 'rater_spread'?
    """
    if ratings.system is None:
        raise InputError("there is no system", "name the column or rater that is the system")
    priors = dict(options.pop("priors", None) or {})
    estimates = {}
    for slope in FIXED_SLOPES:
        fixed = priors | {"system_slope": (slope, 0.0)}
        tree = fit("relaxed_k", ratings, seed=seed, priors=fixed, **options)
        estimates[slope] = estimate_from_draws(tree, level=level)
    return estimates
