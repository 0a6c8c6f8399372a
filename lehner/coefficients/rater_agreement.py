"""Agreement of raters by every usual coefficient."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from lehner.algebra.pairwise import brennan_prediger
from lehner.coefficients.chance_corrected import coefficient_of_items, percent_agreement
from lehner.coefficients.coefficient import Coefficient, choose_coefficients, printed_name
from lehner.coefficients.item_votes import ItemVotes, count_votes
from lehner.coefficients.rater_pairs import rater_pairs
from lehner.coefficients.result import Agreement
from lehner.coefficients.weights import AgreementWeights, find_all_weights, weights_notes
from lehner.core.checks import check_number
from lehner.core.warning import Warning, warn
from lehner.data.clusters import cluster_warnings
from lehner.data.ratings import Ratings

ANONYMOUS = "undefined: it is not known who gave which rating"
SAME_AGREEMENT = 1e-9
MANY_ROWS = 10_000
"""From so many items on, those with the same ratings are counted rather than kept."""


def agreement(
    ratings: Ratings,
    *,
    coefficients: str | Sequence[str] | None = None,
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
    another: two raters agree as often as two of their ratings do. Estimates of accuracy take the
    most frequent rating instead (`Ratings.flat`). The system is left out; only `pairs` has it.

    Parameters
    ----------
    ratings : Ratings
        With or without a system, whose answers are used only in `pairs`.
    coefficients : str or sequence of str, optional
        Names of coefficients, or a word of a name that no other has, as "alpha" and "ac1": only
        these are given, in this order. By default all.
    weights : str, array_like or sequence of str, optional
        Agreement weights: names, or a symmetric matrix, (n_categories, n_categories). "linear",
        "quadratic", "radical", "ordinal", "circular" and "bipolar" depend on the order of the
        categories. All of these except "ordinal", with the ending "_by_value", and "interval" (the
        same as "quadratic_by_value") and "ratio", depend on the categories' values, which must be
        numbers. By default identity and, for ordered categories, linear, quadratic and ordinal.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    Agreement
        For each of the weights: `percent_agreement`; `brennan_prediger_kappa`, the paper's;
        `cohen_kappa` and `scott_pi` for two raters, on items both rated; their generalisations
        `conger_kappa` and `fleiss_kappa`; `krippendorff_alpha`; `gwet_ac1`, with weights
        `gwet_ac2`. With identity weights `fleiss_kappa[category]` and, for two raters,
        `bangdiwala_b` too.

    Raises
    ------
    InputError
        If there is no such coefficient, if the weights do not suit the categories, if the level is
        not between 0 and 1, or if there are fewer items than were rated.

    Notes
    -----
    Standard errors treat items as drawn at random and raters as fixed, and linearise the
    coefficient in its means over items. Without missing ratings this is Gwet's (2014) variance and,
    for Cohen's kappa, that of Fleiss, Cohen & Everitt (1969) times n / (n − 1). With missing
    ratings Gwet's published variance treats an item with one rating as an item without agreement.
    The mean over items with two or more ratings does not depend on such items, and neither does its
    variance here. In 1,500 simulated samples of 100 items with 40% of the ratings missing, the
    percent agreement had a standard deviation of .0459; the mean standard error was .0463, and
    .0527 by the published formula. Krippendorff's ordinal alpha allows for the ranks' dependence on
    the ratings.

    `p_value` is computed from this standard error and Student's t, as Gwet recommends.

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
    chosen = find_all_weights(weights, ratings.categories, ordered=ratings.ordered)
    if ratings.n_rows > MANY_ROWS and not ratings.repeated:
        ratings = ratings.collapse(truth=False)
    items = count_votes(ratings.given, ratings.weights, ratings.n_categories, ratings.cluster)
    check_number("level", level, 1e-6, 1 - 1e-6)
    several = ratings.n_raters + (ratings.system is not None) > 1
    return Agreement(
        coefficients=choose_coefficients(
            (c for one in chosen for c in _coefficients(ratings, items, one, level)),
            coefficients,
        ),
        level=level,
        n_items=int(items.n_items),
        rater_pairs=rater_pairs(ratings, chosen) if several and not ratings.anonymous else None,
        notes=(*_notes(ratings), *weights_notes(chosen, ratings.categories)),
    )


def _coefficients(
    ratings: Ratings, items: ItemVotes, weights: AgreementWeights, level: float
) -> Iterator[Coefficient]:
    show = partial(coefficient_of_items, weights=weights, level=level)
    identity = weights.name in ("identity", "nominal")
    note, kappa_note = _pooled_notes(items) if identity else ("", "")
    unknown = ANONYMOUS if ratings.anonymous else ""
    both, not_two = items.of_rows(items.n_raters == 2), ""
    if ratings.n_raters != 2:
        not_two = f"undefined: it is for two raters, and there are {ratings.n_raters}; see "
    no_scott = not_two and f"{not_two}{printed_name('fleiss_kappa')}"
    no_cohen = unknown or (not_two and f"{not_two}{printed_name('conger_kappa')} and the pairs")
    yield show("percent_agreement", items, note=note)
    yield show("brennan_prediger_kappa", items, note=kappa_note)
    yield show("cohen_kappa", both, reason=no_cohen)
    yield show("conger_kappa", items, reason=unknown)
    yield show("scott_pi", both, reason=no_scott)
    yield show("fleiss_kappa", items)
    if identity and ratings.n_categories > 1:
        halves = AgreementWeights(name=weights.name, matrix=np.eye(2))
        for k, category in enumerate(ratings.categories):
            category_items = items.of_category(k)
            name = f"fleiss_kappa[{category}]"
            yield show(name, category_items, weights=halves)
    yield show("krippendorff_alpha", items)
    yield show("gwet_ac1" if identity else "gwet_ac2", items)
    if identity and not no_cohen:
        yield show("bangdiwala_b", both)


def _pooled_notes(items: ItemVotes) -> tuple[str, str]:
    """Write Lehner's agreement and kappa if they differ from Gwet's."""
    n_pairs = float(items.weights @ (items.n_raters * (items.n_raters - 1)))
    if n_pairs == 0:
        return "", ""
    k = items.n_categories
    identity = AgreementWeights(name="identity", matrix=np.eye(k))
    mean = float(percent_agreement(items, identity).value)
    pooled = float(items.weights @ items.pair_sums(identity.matrix)) / n_pairs
    if abs(mean - pooled) < SAME_AGREEMENT:
        return "", ""
    say = "mean over items; pooled over pairs of ratings, as in Lehner (2015), it is {:.6f}"
    return say.format(pooled), say.format(float(brennan_prediger(pooled, k))) if k > 1 else ""


def _notes(ratings: Ratings) -> Iterator[Warning]:
    yield from cluster_warnings(ratings)
    if ratings.repeated:
        text = (
            "a rater's repeated ratings of an item share one vote here; estimates of accuracy take "
            "the most frequent one"
        )
        yield warn("repeats-share-vote", text)
    if ratings.system is not None:
        text = "only raters are compared; the system is compared with each of them in the pairs"
        yield warn("system-not-a-rater", text)
