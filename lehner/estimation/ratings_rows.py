"""What ratings say without a method: agreement, correlated errors, and items with gold labels."""

from collections.abc import Sequence

import numpy as np

from lehner.algebra.steps import pairwise_agreement
from lehner.core.arrays import Integers
from lehner.core.errors import InputError
from lehner.core.rows import Row, row
from lehner.data.clusters import cluster_warnings
from lehner.data.ratings import Ratings
from lehner.dependence.agreement_trends import trend_warnings
from lehner.dependence.bounds import mistakes_needed
from lehner.dependence.check import EffectiveRaters, check_dependence, effective_in_crowds
from lehner.estimation.question import Answer, Fit, Options
from lehner.known_truths.partly_known import known_items_alone, rightness
from lehner.latent_class.pattern_table import known_truths

CROWDS_LEVEL = 0.9
"""Part of the public crowds in which raters are worth as much as is said."""


def ask_agreement(fits: Sequence[Fit], options: Options) -> Answer:
    """Say how often raters agree, whose errors are correlated, and how many they are worth."""
    ratings = fits[0].ratings
    agreement, dependence = pairwise_agreement(ratings), check_dependence(ratings)
    yield {"quantity": "percent_agreement", "estimate": agreement.agreement}
    yield {"quantity": "brennan_prediger", "estimate": agreement.kappa}
    yield {"quantity": "n_pairs", "estimate": agreement.n_pairs}
    for pair in dependence.pairs:
        names: Row = dict(zip(("rater", "versus"), pair.raters, strict=True))
        names["n_items"] = pair.n_items
        yield {"quantity": "pair_agreement", "estimate": pair.agreement} | names
        yield {"quantity": "pair_agreement_expected", "estimate": pair.expected} | names
        kind = "stands out" if pair.stands_out else ""
        tested = {"quantity": "pair_agreement_test", "probability": pair.p_value, "kind": kind}
        yield tested | names
    yield {"quantity": "dependence_test", "probability": dependence.p_value}
    yield {"quantity": "dependence_together_test", "probability": dependence.p_value_together}
    effective = dependence.effective_raters
    about = {"kind": effective.source, "n_items": effective.n_items}
    worth = _in_crowds(effective) or {"estimate": effective.effective} | about
    yield {"quantity": "effective_raters"} | worth
    yield {"quantity": "mistake_correlation", "estimate": effective.correlation} | about
    yield {"quantity": "raters_per_item", "estimate": effective.n_raters}


def _in_crowds(effective: EffectiveRaters) -> Row:
    """Say what so many raters are worth in public crowds, if the ratings do not show it."""
    if effective.effective is not None:
        return {}
    lower, upper = effective_in_crowds(effective.n_raters, CROWDS_LEVEL)
    return {"lower": lower, "upper": upper, "level": CROWDS_LEVEL, "kind": "public crowds"}


def ask_bounds(fits: Sequence[Fit], options: Options) -> Answer:
    """Say how much errors must correlate for the accuracy to be low."""
    try:
        needed = mistakes_needed(fits[0].ratings)
    except InputError:
        return  # No item has two ratings and an answer of the system.
    beyond = {"estimate": needed.crowds_beyond, "n_items": needed.n_crowds}
    yield {"quantity": "system_accuracy_above", "estimate": needed.above}
    yield {"quantity": "mistake_correlation_needed", "estimate": needed.correlation}
    yield {"quantity": "crowds_beyond"} | beyond


def ask_known_items(fits: Sequence[Fit], options: Options) -> Answer:
    """Score the system on the items whose truth is known, and warn of clusters and gaps."""
    ratings = fits[0].ratings
    yield from known_items(ratings, options)
    yield from trend_warnings(ratings)
    yield from cluster_warnings(ratings)


def known_items(ratings: Ratings, options: Options) -> Answer:
    """Score a system on the items whose truth is known."""
    if ratings.truth is None or ratings.system is None or not (ratings.system >= 0).any():
        return
    # The labelled items alone need no method, so that any probabilities will do.
    items = rightness(ratings, np.zeros(len(ratings.system)))
    alone = known_items_alone(items, options.level)
    if alone.estimate is None:
        return
    accuracy = row("accuracy_on_known_items", alone, n_items=items.n_known)
    if not known_truths(ratings):  # All are known, and the proportion is exact.
        accuracy |= {"lower": None, "upper": None, "level": None, "kind": ""}
    yield accuracy
    counts = {"estimate": items.n_holding, "n_items": items.n_known}
    yield {"quantity": "known_items_right"} | counts
    for quantity, codes in (("recall", ratings.truth), ("precision", ratings.system)):
        for category, (right, n_items) in count_known(ratings, codes).items():
            share = {"estimate": right / n_items if n_items else None, "n_items": n_items}
            yield {"quantity": f"{quantity}_on_known_items", "category": category} | share
    if options.groups is not None:
        known = (ratings.system >= 0) & (ratings.truth >= 0)
        for name in np.unique(options.groups.names[options.groups.names != ""]):
            n_items = int(ratings.weights[known & (options.groups.names == name)].sum())
            names = {"grouping": "group", "group": str(name), "n_items": n_items}
            yield {"quantity": "known_items_of_group"} | names


def count_known(ratings: Ratings, codes: Integers) -> dict[str, tuple[int, int]]:
    """Count the labelled items of each category on which the system is right, and all of them."""
    assert ratings.system is not None and ratings.truth is not None
    weights = np.where((ratings.system >= 0) & (ratings.truth >= 0), ratings.weights, 0)
    right = np.where(ratings.system == ratings.truth, weights, 0)
    return {
        str(name): (int(right[codes == code].sum()), int(weights[codes == code].sum()))
        for code, name in enumerate(ratings.categories)
    }
