"""Clusters of items that are alike: lesions of a patient, answers in a conversation."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats, Integers
from lehner.core.errors import InputError
from lehner.core.resampling import ItemCounts, design_effect, widening
from lehner.core.warning import Warning, warn
from lehner.data.columns import encode
from lehner.data.numbering import number_by_appearance

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings

FEW_CLUSTERS = 10


def with_clusters(self: "Ratings", names: ArrayLike | None) -> "Ratings":
    """Assign items to clusters, as lesions to patients or answers to conversations.

    Clusters, and not items, are then the sample: resamples draw whole clusters, and standard
    errors and intervals allow for items of a cluster that are alike. What takes the items for
    independent nevertheless says so in a warning.

    Parameters
    ----------
    names : array_like, shape (n_rows,), or None
        The name of each row's cluster; None if items are independent.

    Returns
    -------
    Ratings
        The same ratings of items in these clusters.

    Raises
    ------
    InputError
        If there is not one name for each row, or only one cluster.

    Examples
    --------
    >>> from lehner import Ratings
    >>> Ratings([[0, 0], [1, 1], [0, 1]], ["no", "yes"]).with_clusters(["Ann", "Ann", "Bo"])
    Ratings: 3 items, 2 raters, 6 ratings, 2 categories (no, yes), 2 clusters
    """
    if names is None:
        return self._replace(cluster=None)
    return self._replace(cluster=several_clusters(encode(names, "cluster").items[0]))


def several_clusters(cluster: Integers) -> Integers:
    """Refuse a user's clusters if there is only one; a group of items may be of one."""
    if len(cluster) > 1 and len(np.unique(cluster)) == 1:
        raise InputError(
            "all items are of one cluster, of which no other can be known",
            "name the column of the clusters, of which there are several",
        )
    return cluster


def check_cluster(cluster: ArrayLike | None, n_rows: int) -> Integers | None:
    """Number the cluster of each row, (n_rows,), in order of appearance."""
    if cluster is None:
        return None
    index = np.asarray(cluster)
    if index.shape != (n_rows,) or index.dtype.kind not in "iu" or index.min(initial=0) < 0:
        raise InputError(
            f"clusters are given as {index.dtype} of shape {index.shape} for {n_rows} items",
            "give one number, 0 or more, per item",
        )
    return number_by_appearance(index.astype(np.int64))[0]


def n_sampled(ratings: "Ratings") -> int:
    """Number of clusters of which there are items."""
    assert ratings.cluster is not None
    return len(np.unique(ratings.cluster[ratings.weights > 0]))


def count_items(ratings: "Ratings", place: Integers, n_places: int) -> ItemCounts:
    """Count the items in each place; where they are clustered, of each cluster.

    Parameters
    ----------
    ratings : Ratings
    place : ndarray of int, shape (n_rows,)
        Where each row is, as its pattern of ratings.
    n_places : int

    Returns
    -------
    ndarray of int, shape (n_places,), or scipy.sparse.csr_array, shape (n_clusters, n_places)
        As `lehner.core.resampling.draw_counts` takes them.
    """
    if ratings.cluster is None:
        return np.bincount(place, ratings.weights, n_places).astype(np.int64)
    from scipy.sparse import coo_array

    used = ratings.weights > 0
    cluster = number_by_appearance(ratings.cluster[used])[0]
    shape = (int(cluster.max(initial=-1)) + 1, n_places)
    return coo_array((ratings.weights[used], (cluster, place[used])), shape).tocsr()


def widening_of(ratings: "Ratings", values: Floats, weights: Floats, level: float) -> float:
    """Give the factor by which the interval of a mean over rows is wider because of clusters."""
    if ratings.cluster is None:
        return 1.0
    effect = design_effect(values, weights, ratings.cluster)
    return widening(effect, len(np.unique(ratings.cluster[weights > 0])), level)


def cluster_warnings(ratings: "Ratings", ignored: str = "") -> tuple[Warning, ...]:
    """Warn of few clusters, and of what takes clustered items for independent, if anything."""
    if ratings.cluster is None:
        return ()
    few = f"there are only {ratings.n_clusters} clusters, which tell little of others"
    text = f"{ignored} take items for independent, and they are clustered"
    return (
        *((warn("few-clusters", few),) if ratings.n_clusters < FEW_CLUSTERS else ()),
        *((warn("clusters-ignored", text),) if ignored else ()),
    )
