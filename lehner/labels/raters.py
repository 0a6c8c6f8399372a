"""What soft labels say of each rater: accuracy with an interval, and confusion matrix."""

import numpy as np

from lehner.core.errors import check_level
from lehner.core.lazy import pd, special
from lehner.data.ratings import Ratings
from lehner.labels.soft_labels import SoftLabels

JEFFREYS = 0.5


def describe_raters(labels: SoftLabels, ratings: Ratings, level: float = 0.9) -> "pd.DataFrame":
    """Give the accuracy of each rater with its interval, and the rater's confusion matrix.

    Parameters
    ----------
    labels : SoftLabels
    ratings : Ratings
        The ratings that were labelled.
    level : float
        Probability of the intervals: Jeffreys' for the expected numbers of right and wrong ratings.
        They take the probabilities of the labels as they are.

    Returns
    -------
    pandas.DataFrame
        A row for each rater: `rater`, `n_ratings`, `rater_accuracy`, `lower`, `upper`, and
        `confusion[truth, response]`, the probability of each response given the true category.
        Without rows if raters are anonymous.

    References
    ----------
    Brown, Cai & DasGupta (2001), https://doi.org/10.1214/ss/1009213286, for Jeffreys' interval.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.load_dataset("caries")
    >>> table = describe_raters(lehner.label(ratings, "majority"), ratings)
    >>> bool((table["lower"] < table["rater_accuracy"]).all())
    True
    """
    check_level(level)
    table = labels.raters_to_frame()
    if ratings.anonymous:
        return table
    n, right = table["n_ratings"], table["n_ratings"] * table["rater_accuracy"]
    for name, probability in (("lower", (1 - level) / 2), ("upper", (1 + level) / 2)):
        ends = special.betaincinv(right + JEFFREYS, n - right + JEFFREYS, probability)
        table[name] = np.where(n > 0, ends, np.nan)
    flat, truth = ratings.flat, np.asarray(labels.truth_probabilities.values)
    k = ratings.n_categories
    counts = np.zeros((ratings.n_raters, k, k))
    weighted = truth[flat.item_index] * ratings.weights[flat.item_index, None]
    np.add.at(counts.transpose(0, 2, 1), (flat.rater_index, flat.category_index), weighted)
    with np.errstate(invalid="ignore"):
        confusion = counts / counts.sum(axis=2, keepdims=True)
    names = [
        f"confusion[{truth}, {response}]"
        for truth in ratings.categories
        for response in ratings.categories
    ]
    matrices = pd.DataFrame(confusion.reshape(ratings.n_raters, -1), columns=names)
    return pd.concat([table, matrices], axis=1)
