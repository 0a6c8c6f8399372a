"""Models compared by how they predict items left out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lehner import Estimate
from lehner.core.arrays import Floats
from lehner.latent_class.accelerated_em import accelerated_em

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
    from bayes_models.posterior.leave_one_out import leave_one_out

    densities = {method: leave_one_out(tree) for method, tree in trees.items()}
    ranked = sorted(densities, key=lambda method: -densities[method].elpd.sum())
    best = densities[ranked[0]].elpd
    weights = _stacking_weights(np.stack([densities[method].elpd for method in ranked], axis=1))
    return tuple(
        Prediction(
            method=method,
            elpd=float(densities[method].elpd.sum()),
            se=_standard_error(densities[method].elpd, ddof=1),
            difference=float((best - densities[method].elpd).sum()),
            difference_se=_standard_error(best - densities[method].elpd),
            weight=float(weight),
            warning="; ".join(
                filter(
                    None, (densities[method].warning(), _in_doubt(best - densities[method].elpd))
                )
            ),
        )
        for method, weight in zip(ranked, weights, strict=True)
    )


def _standard_error(by_item: Floats, ddof: int = 0) -> float:
    # Of a single sum and of a difference as ArviZ has them.
    return float(np.sqrt(len(by_item) * by_item.var(ddof=ddof)))


def _in_doubt(differences: Floats) -> str:
    """Say why a difference is hardly normal, as Sivula et al. (2025) found."""
    if not differences.any():
        return ""
    if len(differences) < MANY_ITEMS:
        return f"N < {MANY_ITEMS}"
    return f"|elpd_diff| < {CLEAR}" if abs(differences.sum()) < CLEAR else ""


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
