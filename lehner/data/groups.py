"""Methods of `Ratings`: populations and clusters of items, a dependent pair."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats, Integers
from lehner.core.errors import InputError, find
from lehner.core.lazy import sparse
from lehner.core.resampling import ItemCounts, design_effect, widening
from lehner.core.text import counted
from lehner.core.warning import Warning, warn
from lehner.data.columns import encode
from lehner.data.flat import MOST_ITEMS, check_integers, number_by_appearance, order_of_name

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings


def number_groups(
    values: ArrayLike | Sequence[Any], n_rows: int, kind: str = "group"
) -> tuple[Integers, tuple[str, ...]]:
    """Index of each row's group, (n_rows,), -1 where it is missing, and the names.

    Parameters
    ----------
    values : array_like, shape (n_rows,)
        Missing are what is missing among ratings: None, NaN of any type, blanks and the like.
    n_rows : int
    kind : str
        What the groups are, for the error.

    Returns
    -------
    index : ndarray of int, shape (n_rows,)
    names : tuple of str
        Numbers by size, then the rest by the alphabet.

    Raises
    ------
    InputError
        If there is not one value for each row.
    """
    column = encode(values, f"{kind}s")
    if len(column.codes) != n_rows:
        raise InputError(
            f"{kind}s are given for {counted(len(column.codes), 'row')}, but the ratings have "
            f"{n_rows}",
            f"name the {kind} of each row",
        )
    labels = [str(label) for label in column.labels]
    used = set(np.unique(column.codes).tolist())
    names = sorted({label for code, label in enumerate(labels) if code in used}, key=order_of_name)
    number = {name: place for place, name in enumerate(names)}
    place = np.array([*(number.get(label, -1) for label in labels), -1], dtype=np.int64)
    return place[column.codes], tuple(names)


def with_populations(self: "Ratings", names: ArrayLike | None) -> "Ratings":
    """Assign items to populations.

    In latent-class models, Bayesian or by maximum likelihood, each population then has its own
    base rates, and raters and system have the same confusion matrices in all populations.
    Populations with different base rates help to identify the matrices. Other methods pool the
    items of all populations.

    Parameters
    ----------
    names : array_like, shape (n_rows,), or None
        The name of each row's population; None for no populations.

    Returns
    -------
    Ratings
        The same ratings of items from these populations.

    Raises
    ------
    InputError
        If there is not one name for each row.

    References
    ----------
    Hui & Walter (1980), https://doi.org/10.2307/2530508

    Examples
    --------
    >>> from lehner import Ratings
    >>> Ratings([[0, 0], [1, 1]], ["no", "yes"]).with_populations(["south", "north"])
    Ratings: 2 items, 2 raters, 4 ratings, 2 categories (no, yes), 2 populations
    """
    if names is None:
        return self._replace(population=None, populations=())
    index, populations = number_groups(names, self.n_rows, "population")
    missing = np.flatnonzero(index < 0)
    if missing.size:
        raise InputError(
            f"item {self.items[missing[0]]} has no population",
            "name the population of each row, or leave such items out",
        )
    return self._replace(population=index, populations=populations)


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
    return number_by_appearance(check_integers(cluster, "cluster", (n_rows,), 0, MOST_ITEMS))[0]


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
    used = ratings.weights > 0
    cluster = number_by_appearance(ratings.cluster[used])[0]
    shape = (int(cluster.max(initial=-1)) + 1, n_places)
    return sparse.coo_array((ratings.weights[used], (cluster, place[used])), shape).tocsr()


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


def with_dependent_pair(self: "Ratings", names: Sequence[str] | None) -> "Ratings":
    """Name two raters, or a rater and the system, who may share answers.

    The models `dawid_skene` and `one_coin_by_rater` then estimate how often the two answer alike
    beyond what the true category explains. Other methods estimate as without the pair.

    Parameters
    ----------
    names : sequence of two str, or None
        Names of raters or systems; None for no pair.

    Returns
    -------
    Ratings
        The same ratings.

    Raises
    ------
    InputError
        If these are not two, there is no such rater or system, or raters are anonymous.

    Examples
    --------
    >>> from lehner import Ratings
    >>> ratings = Ratings([[0, 0], [1, 1]], ["no", "yes"], ["Ann", "Bo"], system=[0, 1])
    >>> ratings.with_dependent_pair(["Ann", "system"]).dependent
    ('Ann', 'system')
    """
    pair = tuple(str(name) for name in names or ())
    if not pair:
        return self._replace(dependent=())
    if len(set(pair)) != 2 or len(pair) != 2:
        raise InputError(f"the dependent pair is {', '.join(pair)}", "name two, as in ana,gpt")
    if self.anonymous:
        raise InputError(
            "it is unknown who gave which rating, so that no pair can be named",
            "use data in which raters are named",
        )
    for name in pair:
        find("rater or system", name, dict.fromkeys(self.all_raters))
    return self._replace(dependent=pair)


def find_pair(ratings: "Ratings") -> tuple[int, int] | None:
    """Look up the pair among raters and system; None if there is none, or one is left out."""
    places = {name: place for place, name in enumerate(ratings.all_raters)}
    if not ratings.dependent or not set(ratings.dependent) <= set(places):
        return None
    first, second = ratings.dependent
    return places[first], places[second]
