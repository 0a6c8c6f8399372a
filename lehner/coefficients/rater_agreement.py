"""Agreement of raters by every usual coefficient."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from lehner.algebra.pairwise import pairwise_agreement
from lehner.coefficients.chance_corrected import percent_agreement
from lehner.coefficients.coefficient import Coefficient
from lehner.coefficients.coefficient_of_items import coefficient_of_items
from lehner.coefficients.item_votes import ItemVotes, count_votes
from lehner.coefficients.rater_pairs import rater_pairs
from lehner.coefficients.result import Agreement
from lehner.coefficients.weights import AgreementWeights, find_all_weights
from lehner.core.checks import check_number
from lehner.core.errors import InputError
from lehner.data.ratings import Ratings

ANONYMOUS = "undefined: it is not known who gave which rating"
SAME = 1e-9


def agreement(
    ratings: Ratings,
    *,
    weights: Any = None,
    level: float = 0.9,
) -> Agreement:
    """Measure the agreement of raters by every usual coefficient, with sampling errors.

    All but Krippendorff's are :math:`(P_a - P_e) / (1 - P_e)`. Ratings may be missing and raters
    unequal in number: :math:`P_a` is the mean, over items with two or more raters, of the
    agreement of two of the item's raters, and items with one rating count towards :math:`P_e`
    (Gwet 2014, chapter 2). `pairwise_agreement`, Lehner's, pools pairs of ratings instead, so that
    items with many ratings weigh more; without missing ratings both are the same. Krippendorff's
    alpha leaves items with one rating out and weighs the others by their ratings.

    A rater's m ratings of the same item are 1/m of a vote each, and are not compared with one
    another. The system is left out; only `pairs` has it.

    Parameters
    ----------
    ratings : Ratings
        With or without a system, whose answers play no part but in `pairs`.
    weights : str, array_like or sequence of str, optional
        Agreement weights: names among "identity", "linear", "quadratic", "ordinal", "interval"
        and "ratio", or a symmetric matrix of shape (n_categories, n_categories). By default
        identity and, for ordered categories, linear, quadratic and ordinal.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    Agreement
        For each of the weights: `percent_agreement`; `brennan_prediger_kappa`, the paper's;
        `cohen_kappa` and `scott_pi` for two raters, on items both rated; their generalisations
        `conger_kappa` and `fleiss_kappa`; `krippendorff_alpha`; `gwet_ac1`, with weights
        `gwet_ac2`. With identity weights `fleiss_kappa[category]` too.

    Raises
    ------
    InputError
        If the weights do not suit the categories, or if the level is not between 0 and 1.

    Notes
    -----
    Standard errors treat items as drawn at random and raters as fixed, and linearise the
    coefficient in its means over items. With all ratings there this is Gwet's (2014) variance and,
    for Cohen's kappa, that of Fleiss, Cohen & Everitt (1969) times n / (n − 1). With ratings
    missing Gwet's published variance counts an item with one rating as one without agreement; the
    mean over items with two or more does not depend on it, and neither does its variance here. In
    1,500 samples of 100 items, 40% of the ratings missing, the percent agreement had a standard
    deviation of .0459; the mean standard error is .0463, by the published formula .0527.
    Krippendorff's ordinal alpha allows for the ranks' dependence on the ratings.

    References
    ----------
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition. Fleiss, Cohen & Everitt (1969),
    Psychological Bulletin 72(5), 323-327. Lehner (2015), Eq. 1 and 2. Krippendorff (2011).

    Examples
    --------
    >>> from lehner import load_dataset
    >>> result = agreement(load_dataset("krippendorff"), weights=["identity", "ordinal"])
    >>> round(result["krippendorff_alpha"].estimate, 3)
    0.743
    >>> round(result["krippendorff_alpha", "ordinal"].estimate, 3)
    0.815
    """
    check_number("level", level, 1e-6, 1 - 1e-6)
    chosen = find_all_weights(weights, ratings.categories, ordered=ratings.ordered)
    if not all(one.symmetric for one in chosen):
        raise InputError(
            "the weights are not symmetric, and raters have no order",
            "give symmetric weights, or a table with agreement_of_table",
        )
    flat = ratings.flat
    items = count_votes(
        flat.item_index,
        flat.rater_index,
        flat.category_index,
        ratings.weights.astype(float),
        ratings.n_categories,
    )
    several = ratings.n_raters + (ratings.system is not None) > 1
    return Agreement(
        coefficients=tuple(c for one in chosen for c in _coefficients(ratings, items, one, level)),
        level=level,
        n_items=int(items.n_items),
        rater_pairs=rater_pairs(ratings, chosen) if several and not ratings.anonymous else None,
        notes=tuple(_notes(ratings)),
    )


def _coefficients(
    ratings: Ratings, items: ItemVotes, weights: AgreementWeights, level: float
) -> Iterator[Coefficient]:
    show = partial(coefficient_of_items, weights=weights, level=level)
    identity = weights.name in ("identity", "nominal")
    note, kappa_note = _pooled_notes(ratings, items) if identity else ("", "")
    unknown = ANONYMOUS if ratings.anonymous else ""
    both, not_two = items.of_rows(items.n_raters == 2), ""
    if ratings.n_raters != 2:
        not_two = f"undefined: of two raters, and these are {ratings.n_raters}; see "
    yield show("percent_agreement", items, note=note)
    yield show("brennan_prediger_kappa", items, note=kappa_note)
    yield show("cohen_kappa", both, reason=unknown or (not_two and f"{not_two}conger_kappa, pairs"))
    yield show("conger_kappa", items, reason=unknown)
    yield show("scott_pi", both, reason=not_two and f"{not_two}fleiss_kappa")
    yield show("fleiss_kappa", items)
    if identity and ratings.n_categories > 1:
        halves = AgreementWeights(name=weights.name, matrix=np.eye(2))
        for k, category in enumerate(ratings.categories):
            yield show(f"fleiss_kappa[{category}]", items.of_category(k), weights=halves)
    yield show("krippendorff_alpha", items)
    yield show("gwet_ac1" if identity else "gwet_ac2", items)


def _pooled_notes(ratings: Ratings, items: ItemVotes) -> tuple[str, str]:
    """Say what Lehner's agreement and kappa are where they differ from Gwet's."""
    pooled = pairwise_agreement(ratings)
    if pooled.agreement is None:
        return "", ""
    identity = AgreementWeights(name="identity", matrix=np.eye(items.n_categories))
    mean = float(percent_agreement(items, identity).value)
    if abs(mean - pooled.agreement) < SAME:
        return "", ""
    say = "mean over items; pooled over pairs of ratings, as in Lehner (2015), it is {:.6f}"
    kappa = "" if pooled.kappa is None else say.format(pooled.kappa)
    return say.format(pooled.agreement), kappa


def _notes(ratings: Ratings) -> Iterator[str]:
    if ratings.repeated:
        yield "a rater's repeated ratings of an item share one vote"
    if ratings.system is not None:
        yield "raters only; the system is compared with each of them in the pairs"
