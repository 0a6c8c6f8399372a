"""The algebraic estimate adjusted for its bias under the draws of `relaxed_k`."""

import numpy as np
import xarray as xr

from lehner import Estimate, InputError, IntervalEstimate, Ratings, Scenario, estimate_algebraic
from lehner.adjustment import MOST_UNDEFINED
from lehner.parameters import DrawnParameters, expected_system_accuracy, samples_at_once
from lehner.ratings import SYSTEM
from lehner.seeds import Seed, generator
from lehner.simulation import simulate_votes
from lehner.violations import require_single_ratings
from lehner.vote_probabilities import n_cells, require_few_votes

METHOD = "algebraic_adjusted_by_relaxed_k"
MOST_DRAWS = 400


def adjust_algebraic(
    tree: xr.DataTree, ratings: Ratings, *, level: float = 0.9, seed: Seed = 1
) -> Estimate:
    """Take from the algebraic estimate its bias, as a fit of `relaxed_k` has it.

    From each draw of base rates and confusion matrices a sample like the data is simulated; the
    bias is what the algebra estimates in it, less the draw's accuracy of the system. Since this
    accuracy has the posterior mean as its own mean, the adjusted estimate is that of `relaxed_k`
    plus what the algebra gives for the data beyond what `relaxed_k` predicts it to give: noise.
    It says how far `relaxed_k` accounts for the algebra's number, and is no better estimate.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit of `relaxed_k`.
    ratings : Ratings
        Those that were fitted. They may be missing at random.
    level : float
        Probability of the interval, between 0 and 1.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    Estimate
        Method "algebraic_adjusted_by_relaxed_k". The interval has quantiles of the estimate less
        the bias of each draw, 400 draws at most. `diagnostics` has the unadjusted estimate and
        the mean bias. Draws from whose samples the algebra gives nothing are left out, with a
        warning; if they are more than half there is no estimate.

    Raises
    ------
    InputError
        If the fit is of another model or without a system, a rater rated an item twice, or the
        raters can give too many votes.

    References
    ----------
    Lehner (2015), "Discussion", where the adjustment is left open.

    Examples
    --------
    >>> import bayes_models, lehner
    >>> ratings = lehner.simulate(lehner.Scenario())
    >>> tree = bayes_models.fit("relaxed_k", ratings)  # doctest: +SKIP
    >>> adjust_algebraic(tree, ratings)  # doctest: +SKIP
    """
    if tree.attrs.get("model") != "relaxed_k" or ratings.system is None:
        raise InputError(
            f"the fit is of {tree.attrs.get('model')!r}, or without a system",
            "fit relaxed_k to ratings with a system",
        )
    require_single_ratings(ratings)
    unadjusted = estimate_algebraic(ratings, interval=None)
    observed = unadjusted.system_accuracy.estimate
    if observed is None:
        return _no_estimate(unadjusted.warnings)
    bias = _bias(tree, ratings, generator(seed))
    undefined = float(np.isnan(bias).mean())
    warnings = (*unadjusted.warnings, *_undefined(undefined))
    if undefined > MOST_UNDEFINED:
        return _no_estimate(warnings)
    adjusted = np.clip(observed - bias, 0.0, 1.0)
    lower, upper = np.nanquantile(adjusted, [(1 - level) / 2, (1 + level) / 2])
    mean = float(np.nanmean(bias))
    accuracy = IntervalEstimate(
        estimate=min(max(observed - mean, 0.0), 1.0),
        lower=float(lower),
        upper=float(upper),
        level=level,
        kind="posterior predictive",
    )
    return Estimate(
        method=METHOD,
        system_accuracy=accuracy,
        system_accuracy_in_sample=accuracy,
        warnings=warnings,
        diagnostics={"unadjusted": observed, "bias": mean},
    )


def _no_estimate(warnings: tuple[str, ...]) -> Estimate:
    nothing = IntervalEstimate(estimate=None)
    return Estimate(
        method=METHOD,
        system_accuracy=nothing,
        system_accuracy_in_sample=nothing,
        warnings=warnings,
    )


def _undefined(share: float) -> tuple[str, ...]:
    """Say in how many samples there is nothing to compare."""
    if share == 0:
        return ()
    follows = "estimate and interval leave these out"
    if share > MOST_UNDEFINED:
        follows = "there is no adjusted estimate"
    return (
        f"in {share:.1%} of the samples from the draws raters agree at or below chance: {follows}",
    )


def _bias(
    tree: xr.DataTree, ratings: Ratings, rng: np.random.Generator
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Give the algebra's error in a sample from each draw."""
    posterior = tree["posterior"].to_dataset().stack(sample=("chain", "draw"))
    posterior = posterior.isel(
        sample=slice(None, None, -(-posterior.sizes["sample"] // MOST_DRAWS))
    )
    if "confusion_by_level" in posterior:
        confusion = posterior["confusion_by_level"]
    else:
        confusion = posterior["confusion"].expand_dims("level")
    assert confusion.coords["rater"].values[-1] == SYSTEM
    dims = ("sample", "level", "rater", "category", "response")
    matrices = confusion.transpose(*dims).values
    rates = posterior["base_rates"].transpose("sample", "category").values
    n_levels, n_raters = matrices.shape[1], ratings.n_raters
    scenario = Scenario(
        n_categories=ratings.n_categories,
        n_items=ratings.n_items,
        rater_accuracy=(0.5,) * n_raters,
        difficulty=(0.0,) * n_levels,
        missing=1 - ratings.n_ratings / (ratings.n_items * n_raters),
    )
    require_few_votes(scenario)
    size = samples_at_once(n_cells(scenario), scenario)
    found = []
    for start in range(0, len(rates), size):
        part = DrawnParameters(
            base_rates=rates[start : start + size], confusion=matrices[start : start + size]
        )
        value = simulate_votes(scenario, part, ["algebraic"], rng)["algebraic"]
        found.append(value - expected_system_accuracy(scenario, part))
    return np.concatenate(found)
