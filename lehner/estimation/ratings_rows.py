"""What ratings say without a method: agreement, shared mistakes, and items of known truth."""

from collections.abc import Iterator

import numpy as np

from lehner.algebra.steps import pairwise_agreement
from lehner.core.arrays import Integers
from lehner.core.errors import InputError
from lehner.core.rows import Row, row
from lehner.core.warning import Warning
from lehner.data.clusters import cluster_warnings
from lehner.data.ratings import Ratings
from lehner.dependence.bounds import mistakes_needed
from lehner.dependence.check import check_dependence
from lehner.dependence.missing_ratings import check_missing_ratings
from lehner.estimation.question import Options
from lehner.known_truths.partly_known import known_items_alone, rightness
from lehner.latent_class.pattern_table import known_truths


def ask_ratings(ratings: Ratings, options: Options) -> Iterator[Row | Warning]:
    """Give the rows that no method changes, of ratings with one system."""
    yield from _agreement(ratings)
    yield from _dependence(ratings)
    yield from _mistakes_needed(ratings)
    yield from known_items(ratings, options)
    missing = check_missing_ratings(ratings)
    yield from missing.warnings() if missing else ()
    yield from cluster_warnings(ratings)


def _agreement(ratings: Ratings) -> Iterator[Row]:
    found = pairwise_agreement(ratings)
    yield row("percent_agreement", estimate=found.agreement)
    yield row("brennan_prediger", estimate=found.kappa)
    yield row("n_pairs", estimate=found.n_pairs)


def _dependence(ratings: Ratings) -> Iterator[Row]:
    found = check_dependence(ratings)
    for pair in found.pairs:
        first, second = pair.raters
        names: Row = {"rater": first, "versus": second, "n_items": pair.n_items}
        yield row("pair_agreement", estimate=pair.agreement, **names)
        yield row("pair_agreement_expected", estimate=pair.expected, **names)
        kind = "stands out" if pair.stands_out else ""
        yield row("pair_agreement_test", probability=pair.p_value, kind=kind, **names)
    yield row("dependence_test", probability=found.p_value)
    yield row("dependence_together_test", probability=found.p_value_together)
    effective = found.effective_raters
    about: Row = {"kind": effective.source, "n_items": effective.n_items}
    yield row("effective_raters", estimate=effective.effective, **about)
    yield row("mistake_correlation", estimate=effective.correlation, **about)
    yield row("raters_per_item", estimate=effective.n_raters)


def _mistakes_needed(ratings: Ratings) -> Iterator[Row]:
    try:
        found = mistakes_needed(ratings)
    except InputError:
        return  # No item has two ratings and an answer of the system.
    yield row("system_accuracy_above", estimate=found.above)
    yield row("mistake_correlation_needed", estimate=found.correlation)
    yield row("crowds_beyond", estimate=found.crowds_beyond, n_items=found.n_crowds)


def known_items(ratings: Ratings, options: Options) -> Iterator[Row]:
    """Score the system on the items whose truth is known."""
    if ratings.truth is None or ratings.system is None or not (ratings.system >= 0).any():
        return
    # The known items alone need no method, so that any probabilities will do.
    items = rightness(ratings, np.zeros(len(ratings.system)))
    alone = known_items_alone(items, options.level)
    if alone.estimate is None:
        return
    found = row("accuracy_on_known_items", alone, n_items=items.n_known)
    if not known_truths(ratings):  # All are known, and the proportion is exact.
        found |= {"lower": None, "upper": None, "level": None, "kind": ""}
    yield found
    yield row("known_items_right", estimate=items.n_holding, n_items=items.n_known)
    for quantity, codes in (("recall", ratings.truth), ("precision", ratings.system)):
        for category, (right, n_items) in count_known(ratings, codes).items():
            estimate = right / n_items if n_items else None
            yield row(
                f"{quantity}_on_known_items", category=category, estimate=estimate, n_items=n_items
            )
    if options.groups is not None:
        known = (ratings.system >= 0) & (ratings.truth >= 0)
        for name in np.unique(options.groups.names[options.groups.names != ""]):
            rows = known & (options.groups.names == name)
            names = {"grouping": "group", "group": str(name)}
            yield row("known_items_of_group", **names, n_items=int(ratings.weights[rows].sum()))


def count_known(ratings: Ratings, codes: Integers) -> dict[str, tuple[int, int]]:
    """Count the known items of each category on which the system is right, and all of them."""
    assert ratings.system is not None and ratings.truth is not None
    weights = np.where((ratings.system >= 0) & (ratings.truth >= 0), ratings.weights, 0)
    right = np.where(ratings.system == ratings.truth, weights, 0)
    return {
        str(name): (int(right[codes == code].sum()), int(weights[codes == code].sum()))
        for code, name in enumerate(ratings.categories)
    }
