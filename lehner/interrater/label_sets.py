"""Agreement where an item may have several labels: of sets, in part or whole, and by label."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import Floats
from lehner.data.checks import list_of
from lehner.data.flat import FlatRatings
from lehner.data.ratings import Ratings
from lehner.interrater.agreement import agreement
from lehner.interrater.coefficients import Coefficient

ALPHA, PERCENT = "krippendorff_alpha", "percent_agreement"


@dataclass(frozen=True, kw_only=True)
class SetAgreement:
    """Agreement of sets of labels.

    Parameters
    ----------
    similarity : mapping of str to Coefficient
        Mean similarity of two raters' sets of an item, by measure: `equal` (1 if the sets are
        equal), `jaccard` (the labels in common, of all labels in either set) and `masi`.
    alpha : mapping of str to Coefficient
        Krippendorff's alpha with 1 minus that similarity as the distance.
    by_label : mapping of str to Coefficient
        Krippendorff's alpha of whether a set has the label.
    """

    similarity: Mapping[str, Coefficient]
    alpha: Mapping[str, Coefficient]
    by_label: Mapping[str, Coefficient]


def set_agreement(ratings: Ratings, *, level: float = 0.9) -> SetAgreement:
    """Measure the agreement of raters who give each item a set of labels.

    Parameters
    ----------
    ratings : Ratings
        Whose categories are sets, written as lists: read with ``sets=True``.
    level : float
        Probability of the intervals.

    Returns
    -------
    SetAgreement

    References
    ----------
    Passonneau (2006), Measuring agreement on set-valued items (MASI), LREC: 1 for equal sets, 2/3
    of Jaccard's measure if one set contains the other, 1/3 if they overlap (NLTK has .67 and .33).

    Examples
    --------
    >>> from lehner import read_ratings
    >>> table = {"Ann": ["[1, 2]", "[3]", "[1]"], "Bo": ["[1]", "[3]", "[1, 2]"]}
    >>> found = set_agreement(read_ratings(table, sets=True))
    >>> {name: round(one.estimate, 3) for name, one in found.similarity.items()}
    {'equal': 0.333, 'jaccard': 0.667, 'masi': 0.556}
    """
    sets = [frozenset(map(str, list_of(category))) for category in ratings.categories]
    agreements = {
        name: agreement(ratings, weights=matrix, level=level)
        for name, matrix in similarities(sets).items()
    }
    labels = sorted(frozenset().union(*sets), key=lambda label: (len(label), label))
    by_label = {}
    for label in labels:
        has = np.array([label in labels_of_set for labels_of_set in sets], dtype=np.int64)
        flat = ratings.given
        codes = FlatRatings(
            item_index=flat.item_index,
            rater_index=flat.rater_index,
            category_index=has[flat.category_index],
        )
        binary = Ratings(codes, ["no", "yes"], ratings.raters, ratings.items)
        by_label[label] = agreement(binary, coefficients=ALPHA, level=level)[ALPHA]
    return SetAgreement(
        similarity={name: result[PERCENT, "given"] for name, result in agreements.items()},
        alpha={name: result[ALPHA, "given"] for name, result in agreements.items()},
        by_label=by_label,
    )


def similarities(sets: list[frozenset[str]]) -> dict[str, Floats]:
    """Similarity of each two sets, by measure, (n_sets, n_sets)."""
    equal, jaccard, masi = (np.eye(len(sets)) for _ in range(3))
    for i, first in enumerate(sets):
        for j, second in enumerate(sets[:i]):
            both = len(first & second)
            share = both / len(first | second) if first | second else 1.0
            contained = both == min(len(first), len(second))
            jaccard[i, j] = jaccard[j, i] = share
            masi[i, j] = masi[j, i] = share * (2 / 3 if contained else 1 / 3)
    return {"equal": equal, "jaccard": jaccard, "masi": masi}
