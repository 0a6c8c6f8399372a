"""Models compared by how they predict items left out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayes_models.posterior.convergence import ess_mean
from bayes_models.posterior.draws import PAIRS, group, values_by_draw
from lehner import Estimate
from lehner.core.arrays import Floats
from lehner.latent_class.em import accelerated_em

MANY_ITEMS = 100
CLEAR = 4


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """How well a model predicts the ratings of an item it has not seen.

    Parameters
    ----------
    elpd : float
        Expected log predictive density, summed over items; higher is better.
    se : float
        Its standard error.
    difference : float
        By how much it is below that of the best model.
    difference_se : float
        Standard error of the difference.
    weight : float
        In a stacked mixture of the models.
    warning : str
        Why the approximation or the difference is not to be trusted; empty if it is.
    """

    method: str
    elpd: float
    se: float
    difference: float
    difference_se: float
    weight: float
    warning: str


def compare_predictions(estimates: Sequence[Estimate]) -> tuple[Prediction, ...]:
    """Compare models by approximate leave-one-out cross-validation.

    Returns
    -------
    tuple of Prediction
        The best first; empty unless two or more estimates keep the log likelihood of each item.

    References
    ----------
    Vehtari, Gelman & Gabry (2017), https://doi.org/10.1007/s11222-016-9696-4; Yao et al. (2018),
    https://doi.org/10.1214/17-BA1091, for the weights; Sivula et al. (2025),
    https://doi.org/10.48550/arXiv.2008.10296, for when differences are in doubt.
    """
    trees = {
        e.method: e.draws for e in estimates if e.draws is not None and "log_likelihood" in e.draws
    }
    if len(trees) < 2:
        return ()
    left_out = [(method, *leave_one_out(tree)) for method, tree in trees.items()]
    left_out.sort(key=lambda one: -one[1].sum())
    best = left_out[0][1]
    weights = _stacking_weights(np.stack([one[1] for one in left_out], axis=1))
    return tuple(
        Prediction(
            method=method,
            elpd=float(elpd.sum()),
            se=_standard_error(elpd, ddof=1),
            difference=float((best - elpd).sum()),
            difference_se=_standard_error(best - elpd),
            weight=float(weight),
            warning="; ".join(_doubts(best - elpd, pareto_k, highest_k)),
        )
        for (method, elpd, pareto_k, highest_k), weight in zip(left_out, weights, strict=True)
    )


def _standard_error(by_item: Floats, ddof: int = 0) -> float:
    # Of a single sum and of a difference as ArviZ has them.
    return float(np.sqrt(len(by_item) * by_item.var(ddof=ddof)))


def _doubts(differences: Floats, pareto_k: Floats, highest_k: float) -> Iterator[str]:
    """Say why items are not predicted well, and why a difference is hardly normal (Sivula)."""
    n_high = int((pareto_k > highest_k).sum())
    if n_high:
        yield f"{n_high} k̂ > {highest_k:.2f}"
    if differences.any() and len(differences) < MANY_ITEMS:
        yield f"N < {MANY_ITEMS}"
    elif differences.any() and abs(differences.sum()) < CLEAR:
        yield f"|elpd_diff| < {CLEAR}"


def _stacking_weights(log_density: Floats) -> Floats:
    """Mixture of models that predicts best, for densities of shape (item, model)."""
    density = np.exp(log_density - log_density.max(axis=1, keepdims=True))

    def step(weights: Floats) -> tuple[Floats, Floats]:
        mixture = density @ weights
        after = weights * (density / mixture).mean(axis=0)[:, None]
        return after, np.log(mixture).sum(axis=0)

    n_models = density.shape[1]
    one_distribution = np.zeros(n_models, dtype=np.int64)
    start = np.full((n_models, 1), 1 / n_models)
    return accelerated_em(lambda runs: step, start, one_distribution).points[:, 0]


LEAST_SAMPLE = 225
FEWEST_IN_TAIL = 5
# Constants of the fit of a Pareto tail: the spread of the candidate values that it averages over,
# and the mean and the weight of the prior of the shape.
PRIOR_SCALE = 3
PRIOR_SHAPE, PRIOR_WORTH = 0.5, 10


def leave_one_out(tree: xr.DataTree) -> tuple[Floats, Floats, float]:
    """Predict each item from the others, by smoothed importance weights.

    For 200 items and 4,000 draws ArviZ takes .35 s of CPU time and this .10; to load ArviZ beside
    PyMC takes 1.7 s, of the 5 s that the bar of a second `lehner estimate` allows in all.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`, with group `log_likelihood`.

    Returns
    -------
    elpd : ndarray, shape (n_items,)
        Log predictive density of each item.
    pareto_k : ndarray, shape (n_items,)
        How heavy the tail of its importance weights is.
    highest_k : float
        Above this k̂ there are too few draws for so heavy a tail.

    References
    ----------
    Vehtari, Gelman & Gabry (2017), https://doi.org/10.1007/s11222-016-9696-4; Vehtari et al.
    (2024), Pareto smoothed importance sampling, https://arxiv.org/abs/1507.02646
    """
    log_likelihood = values_by_draw(group(tree, "log_likelihood"), PAIRS, "item")
    n_draws, n_items = log_likelihood.shape
    efficiency = _efficiency(group(tree, "posterior"), n_draws)
    n_tail = int(
        3 * np.sqrt(n_draws / efficiency) if n_draws * efficiency > LEAST_SAMPLE else n_draws / 5
    )
    elpd, pareto_k = np.empty((2, n_items))
    for item, log_densities in enumerate(log_likelihood.T):
        log_weights, pareto_k[item] = _smoothed(-log_densities, min(n_tail, n_draws - 1))
        elpd[item] = _log_sum_exp(log_weights + log_densities) - _log_sum_exp(log_weights)
    return elpd, pareto_k, min(1 - 1 / np.log10(n_draws), 0.7)


def _log_sum_exp(values: Floats) -> float:
    # SciPy's takes longer to load than all the rest here takes.
    top = values.max()
    return float(top + np.log(np.exp(values - top).sum()))


def _efficiency(posterior: xr.Dataset, n_draws: int) -> float:
    """Effective sample size per draw for a mean, averaged over variables; 1 for a single chain."""
    if posterior.sizes["chain"] == 1:
        return 1.0
    arrays = [one.transpose("chain", "draw", ...).values for one in posterior.values()]
    numbers = [ess_mean(array.reshape(*array.shape[:2], -1)) for array in arrays]
    return float(np.concatenate(numbers).mean()) / n_draws


def _smoothed(log_weights: Floats, n_tail: int) -> tuple[Floats, float]:
    """Replace the greatest weights by quantiles of the Pareto distribution fitted to them."""
    log_weights = log_weights - log_weights.max()
    below = len(log_weights) - n_tail - 1
    order = np.argpartition(log_weights, below)
    tail = order[below + 1 :]
    tail = tail[np.argsort(log_weights[tail])]
    cutoff = np.exp(log_weights[order[below]])
    excess = np.exp(log_weights[tail]) - cutoff
    if n_tail < FEWEST_IN_TAIL or excess[0] == excess[-1]:
        return log_weights, np.nan
    shape, scale = _fit_pareto(excess)
    if not np.isfinite(shape):
        return log_weights, shape
    at = (np.arange(n_tail) + 0.5) / n_tail
    quantiles = cutoff + scale * np.expm1(-shape * np.log1p(-at)) / shape
    log_weights[tail] = np.minimum(np.log(quantiles), 0.0)
    return log_weights, shape


def _fit_pareto(excess: Floats) -> tuple[float, float]:
    """Estimate shape and scale of a generalised Pareto distribution from sorted numbers.

    Zhang & Stephens (2009), https://doi.org/10.1198/tech.2009.08017, with the weakly informative
    prior of the shape of Vehtari et al. (2024).
    """
    n = len(excess)
    quartile = excess[int(n / 4 + 0.5) - 1]
    if quartile <= excess[0]:
        return np.nan, np.nan
    n_points = 30 + int(np.sqrt(n))
    inverse = 1 - np.sqrt(n_points / (np.arange(n_points) + 0.5))
    inverse = inverse / (PRIOR_SCALE * quartile) + 1 / excess[-1]
    shapes = np.log1p(-inverse[:, None] * excess).mean(axis=1)
    log_profile = n * (np.log(-inverse / shapes) - shapes - 1)
    weights = np.exp(log_profile - _log_sum_exp(log_profile))
    weights[weights < 10 * np.finfo(float).eps] = 0
    mean = (weights @ inverse) / weights.sum()
    shape = np.log1p(-mean * excess).mean()
    if np.isnan(shape):
        return np.inf, np.nan
    return (n * shape + PRIOR_WORTH * PRIOR_SHAPE) / (n + PRIOR_WORTH), -shape / mean
