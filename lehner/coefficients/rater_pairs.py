"""Every pair of raters: percent agreement and Cohen's kappa."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lehner.coefficients.contingency import accuracy, cohen_kappa
from lehner.coefficients.linearised import Linearised, standard_error
from lehner.coefficients.weights import AgreementWeights
from lehner.ratings import SYSTEM, Ratings

if TYPE_CHECKING:
    import xarray as xr

type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]


def rater_pairs(ratings: Ratings, weights: Sequence[AgreementWeights]) -> "xr.Dataset":
    """Compare each rater with each other rater, and with the system if there is one.

    Items count that both rated. Repeated ratings of an item by a rater share one vote.

    Parameters
    ----------
    ratings : Ratings
        Whose raters are named.
    weights : sequence of AgreementWeights

    Returns
    -------
    xarray.Dataset, dims (weights, rater, other_rater)
        `n_items` (without weights), `percent_agreement`, `cohen_kappa` and its `standard_error`;
        NaN where there is nothing to compare, and of a rater with itself.
    """
    import xarray as xr

    votes, names = _one_hot(ratings)
    shape = (len(weights), len(names), len(names))
    found = {
        name: np.full(shape, np.nan)
        for name in ("percent_agreement", "cohen_kappa", "standard_error")
    }
    n_items = np.zeros(shape[1:])
    for rater in range(len(names)):
        tables = _tables(ratings, votes, rater)
        n_items[rater] = tables.sum(axis=(-2, -1)).round(9)
        others = np.flatnonzero((n_items[rater] > 0) & (np.arange(len(names)) != rater))
        for i, one in enumerate(weights):
            kappa = cohen_kappa(tables[others], one.matrix)
            share = accuracy(tables[others], one.matrix).value
            found["percent_agreement"][i, rater, others] = share
            found["cohen_kappa"][i, rater, others] = kappa.value
            if ratings.repeated:
                error = _errors_of_shared_votes(ratings, votes, rater, others, kappa.influence)
            else:
                cells = tables[others].reshape(len(others), ratings.n_categories**2)
                error = standard_error(kappa, cells, n_items[rater, others])
            found["standard_error"][i, rater, others] = error
    dims = ("rater", "other_rater")
    data: dict[str, Any] = {"n_items": (dims, n_items)}
    data |= {name: (("weights", *dims), values) for name, values in found.items()}
    return xr.Dataset(
        data, {"weights": [one.name for one in weights], **dict.fromkeys(dims, names)}
    )


def _one_hot(ratings: Ratings) -> tuple[Any, list[str]]:
    """Lay votes out as a sparse array (row, rater and category), the system as last rater."""
    from scipy.sparse import csr_array

    flat, names = ratings.flat, list(ratings.raters)
    row, rater, category = flat.item_index, flat.rater_index, flat.category_index
    if ratings.system is not None:
        answered = np.flatnonzero(ratings.system >= 0)
        row = np.concatenate([row, answered])
        rater = np.concatenate([rater, np.full(len(answered), len(names))])
        category = np.concatenate([category, ratings.system[answered]])
        names.append(SYSTEM)
    vote = row * len(names) + rater
    _, inverse, times = np.unique(vote, return_inverse=True, return_counts=True)
    column = rater * ratings.n_categories + category
    shape = (len(ratings.items), len(names) * ratings.n_categories)
    return csr_array((1 / times[inverse], (row, column)), shape=shape), names


def _tables(ratings: Ratings, votes: Any, rater: int) -> Floats:
    """Cross-classify one rater (rows) with each, shape (n_raters, n_categories, n_categories)."""
    k = ratings.n_categories
    mine = votes[:, rater * k : (rater + 1) * k].multiply(ratings.weights[:, None])
    return (mine.T @ votes).toarray().reshape(k, -1, k).transpose(1, 0, 2)


def _errors_of_shared_votes(
    ratings: Ratings, votes: Any, rater: int, others: Integers, influence: Floats
) -> Floats:
    """Find standard errors where items with repeated ratings lie in several cells, (n_others,).

    An item moves kappa by the mean influence of its cells.
    """
    k = ratings.n_categories
    rows = np.unique(votes[:, rater * k : (rater + 1) * k].nonzero()[0])
    of_row, weights = votes[rows].tocsc(), ratings.weights[rows].astype(float)
    mine = of_row[:, rater * k : (rater + 1) * k].toarray()
    errors = np.empty(len(others))
    for i, other in enumerate(others):
        theirs = of_row[:, other * k : (other + 1) * k].toarray()
        both = weights * theirs.any(axis=1)
        moved = ((mine @ influence[i].reshape(k, k)) * theirs).sum(axis=1)
        kappa = Linearised(value=np.float64(np.nan), influence=moved)
        errors[i] = standard_error(kappa, both, both.sum())
    return errors
