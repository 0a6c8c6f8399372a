"""Every pair of raters: percent agreement and Cohen's kappa."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lehner.coefficients.contingency import accuracy, cohen_kappa
from lehner.coefficients.item_votes import ItemVotes, count_votes
from lehner.coefficients.linearised import Linearised, standard_error
from lehner.coefficients.weights import AgreementWeights
from lehner.core.arrays import Floats, Integers
from lehner.data.ratings import Ratings

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, kw_only=True, eq=False)
class RaterPairs:
    """Each rater compared with each other rater.

    Parameters
    ----------
    weights : tuple of str
    raters : tuple of str
        The system, if there is one, is the last.
    n_items : ndarray, shape (n_raters, n_raters)
        Number of items that both rated.
    coefficients : dict of str to ndarray, shape (n_weights, n_raters, n_raters)
        `percent_agreement`, `cohen_kappa` and its `standard_error`; NaN if there is nothing to
        compare, and for a rater with itself.
    """

    weights: tuple[str, ...]
    raters: tuple[str, ...]
    n_items: Floats
    coefficients: dict[str, Floats]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Columns of a table with a row for each pair, for one of the weights at a time.

        Returns
        -------
        dict of str to ndarray
            `rater`, `other_rater`, `weights`, `n_items`, `percent_agreement`, `cohen_kappa`,
            `standard_error`.
        """
        first, second = np.triu_indices(len(self.raters), 1)
        names, n_weights = np.array(self.raters), len(self.weights)
        return {
            "rater": np.tile(names[first], n_weights),
            "other_rater": np.tile(names[second], n_weights),
            "weights": np.repeat(np.array(self.weights), len(first)),
            "n_items": np.tile(self.n_items[first, second], n_weights),
        } | {name: values[:, first, second].ravel() for name, values in self.coefficients.items()}

    def to_xarray(self) -> "xr.Dataset":
        """Label the coefficients, dims (weights, rater, other_rater), and the numbers of items."""
        import xarray as xr

        dims = ("rater", "other_rater")
        data: dict[str, Any] = {"n_items": (dims, self.n_items)}
        data |= {name: (("weights", *dims), v) for name, v in self.coefficients.items()}
        raters = list(self.raters)
        return xr.Dataset(data, {"weights": list(self.weights), **dict.fromkeys(dims, raters)})


def rater_pairs(ratings: Ratings, weights: Sequence[AgreementWeights]) -> RaterPairs:
    """Compare each rater with each other rater, and with the system if there is one.

    Only items that both rated are used. Repeated ratings of an item by a rater share one vote.

    Parameters
    ----------
    ratings : Ratings
        Ratings whose raters are named.
    weights : sequence of AgreementWeights

    Returns
    -------
    RaterPairs
    """
    votes = count_votes(ratings.all_given, ratings.weights, ratings.n_categories, ratings.cluster)
    n_raters = len(ratings.all_raters)
    shape = (len(weights), n_raters, n_raters)
    arrays = {
        name: np.full(shape, np.nan)
        for name in ("percent_agreement", "cohen_kappa", "standard_error")
    }
    n_items = np.zeros(shape[1:])
    for rater in range(n_raters):
        tables = votes.tables(rater, n_raters)
        n_items[rater] = tables.sum(axis=(-2, -1)).round(9)
        others = np.flatnonzero((n_items[rater] > 0) & (np.arange(n_raters) != rater))
        for i, weights_of_kind in enumerate(weights):
            kappa = cohen_kappa(tables[others], weights_of_kind.matrix)
            weighted = accuracy(tables[others], weights_of_kind.matrix).value
            arrays["percent_agreement"][i, rater, others] = weighted
            arrays["cohen_kappa"][i, rater, others] = kappa.value
            if ratings.repeated or ratings.cluster is not None:
                error = _errors_of_shared_votes(votes, rater, others, kappa.influence)
            else:
                cells = tables[others].reshape(len(others), ratings.n_categories**2)
                error = standard_error(kappa, cells, n_items[rater, others])
            arrays["standard_error"][i, rater, others] = error
    return RaterPairs(
        weights=tuple(one.name for one in weights),
        raters=ratings.all_raters,
        n_items=n_items,
        coefficients=arrays,
    )


def _errors_of_shared_votes(
    votes: ItemVotes, rater: int, others: Integers, influence: Floats
) -> Floats:
    """Find standard errors of items with repeated ratings, or in clusters, (n_others,).

    The influence of an item on kappa is the mean influence of its cells.
    """
    k, mine = votes.n_categories, votes.of_rater(rater)
    errors = np.empty(len(others))
    for i, other in enumerate(others):
        theirs = votes.of_rater(other)
        both = votes.weights * (mine.any(axis=1) & theirs.any(axis=1))
        moved = ((mine @ influence[i].reshape(k, k)) * theirs).sum(axis=1)
        kappa = Linearised(value=np.float64(np.nan), influence=moved)
        n = both.sum() if votes.cluster is None else len(np.unique(votes.cluster[both > 0]))
        errors[i] = standard_error(kappa, both, n, votes.cluster)
    return errors
