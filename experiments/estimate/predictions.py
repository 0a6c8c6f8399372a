"""Models compared by how they predict items left out."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from lehner import Estimate


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """How well a model predicts the ratings of an item it has not seen.

    Parameters
    ----------
    method : str
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

    Parameters
    ----------
    estimates : sequence of Estimate

    Returns
    -------
    tuple of Prediction
        The best first; empty unless two or more estimates keep the log likelihood of each item.

    References
    ----------
    Vehtari, Gelman & Gabry (2017), https://doi.org/10.1007/s11222-016-9696-4; Yao et al. (2018),
    https://doi.org/10.1214/17-BA1091, for the weights.
    """
    trees = {
        e.method: e.draws for e in estimates if e.draws is not None and "log_likelihood" in e.draws
    }
    if len(trees) < 2:
        return ()
    import arviz as az

    with warnings.catch_warnings():
        # The table says which estimates are not to be trusted.
        warnings.simplefilter("ignore", UserWarning)
        table = az.compare(trees, round_to="none")
    return tuple(
        Prediction(
            method=str(row.Index),
            elpd=float(row.elpd),
            se=float(row.se),
            difference=0.0 - float(row.elpd_diff),
            difference_se=float(row.dse),
            weight=float(row.weight),
            warning="; ".join(filter(None, (row.diag_elpd, row.diag_diff))),
        )
        for row in table.itertuples()
    )
