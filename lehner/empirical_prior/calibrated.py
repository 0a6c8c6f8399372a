"""The method `calibrated`: an accuracy whose interval held on families of crowds left out."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from lehner.algebra.algebraic import majority_credit, majority_proportion
from lehner.core.arrays import Floats, Integers
from lehner.core.errors import check_choice, check_level
from lehner.core.estimate import Estimate, IntervalEstimate, require_estimable
from lehner.core.resampling import known_together, widening
from lehner.core.warning import Warning, warn
from lehner.data.groups import widening_of
from lehner.data.patterns import count_rated
from lehner.data.ratings import Ratings
from lehner.empirical_prior.prior import (
    SHIPPED,
    SYSTEM_IS,
    EmpiricalPrior,
    posterior_expected,
    posterior_in_sample,
    prior_of_right,
    probability_unlike,
    read_priors,
)
from lehner.known_truths.partly_known import ProportionPosterior, effective_numbers, rightness
from lehner.known_truths.random_sample import examine_known
from lehner.latent_class.pattern_table import known_truths

NEARLY_PERFECT = 0.95
"""From such an agreement on the interval goes up to 1, unless an answer is known to be wrong.

Hardly any system of the crowds agrees so often with the majority, and what still differs may be the
majority's errors.
"""
IS_UNKNOWN = warn(
    "system-is-unknown",
    "a system that is like its raters is estimated too high: by .06 on average in families of "
    "crowds left out, .10 on crowds never seen, .21 for panels of language models",
)
NO_VARIANCE = 1e-9
"""From so small a covariance of raters on nothing is known of how alike items of a cluster are."""


def estimate_calibrated(
    ratings: Ratings,
    *,
    system_is: str = "unknown",
    level: float = 0.9,
    priors: str | Path | None = None,
) -> Estimate:
    """Estimate the accuracy from agreement with the majority, by what that meant on other crowds.

    No model of the raters is assumed, and they may make correlated errors, as those of the crowds
    did on which the prior was trained. Gold labels, a random sample of the items, enter by their
    hypergeometric likelihood.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    system_is : {"like", "better", "unknown"}
        Whether the system is like its raters, better than them, or not known to be either. In
        families left out "unknown" estimates the accuracy of systems that are like their raters .06
        too high on average (.10 on crowds never seen, .21 for panels of language models), and that
        of better ones .07 too low; its interval covers both.
    level : float
        Probability of the intervals, on average over families of crowds: in some families left out
        90% intervals covered the accuracy in less than .7 of the data sets, in most in more than
        .9.
    priors : str or Path, optional
        A file that `lehner train-prior` wrote; by default the priors that are shipped.

    Returns
    -------
    Estimate
        Without rater accuracies, base rates and truth probabilities. `diagnostics` has
        `system_is`, `agreement` with the majority, `known_truths` and the numbers of `families`
        and `crowds` of the prior.

    Raises
    ------
    InputError
        If there is no system, or if there are not two raters, two categories and an item rated by
        two raters, or if the file of priors cannot be read.

    References
    ----------
    An empirical Bayes interval whose coverage is over families, as in Dunn, Wasserman & Ramdas
    (2023), Distribution-free prediction sets for two-layer hierarchical models,
    https://doi.org/10.1080/01621459.2022.2060112.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> ratings = load_dataset("lehner_table2")
    >>> estimate_calibrated(ratings, system_is="better").diagnostics["agreement"]
    0.5
    """
    require_estimable(ratings)
    check_level(level)
    check_choice("system_is", system_is, SYSTEM_IS)
    prior = read_priors(SHIPPED if priors is None else Path(priors))[system_is]
    ratings = count_rated(ratings)
    system, votes = np.asarray(ratings.system), ratings.votes()
    counts = (system >= 0) * ratings.weights
    n_items = int(counts.sum())
    answers = (system[:, None] == np.arange(ratings.n_categories)) * counts[:, None]
    agreement = float(majority_proportion(votes, answers))
    estimate = Estimate(
        method="calibrated",
        system=ratings.systems[0],
        system_accuracy=IntervalEstimate(estimate=None),
        system_accuracy_in_sample=IntervalEstimate(estimate=None),
        warnings=(warn("too-few-ratings", "no item has both ratings and an answer"),),
    )
    if np.isnan(agreement):
        return estimate
    correlation = correlation_within_clusters(ratings)
    known, known_right = _count_gold_labels(ratings, correlation)
    agrees = (majority_credit(votes) * (answers > 0)).sum(axis=1)
    factor = widening_of(ratings, agrees, counts.astype(float), level)
    prior_numbers = prior_of_right(prior, agreement * n_items, n_items, factor**2)
    in_sample = posterior_in_sample(*prior_numbers, known, known_right)
    warnings = [*_compare_with_training(ratings, prior, n_items, agreement)]
    if known:
        warnings += _doubt_labels(ratings, prior_numbers, known, known_right)
    elif system_is == "unknown":
        warnings.append(IS_UNKNOWN)
    observed = (level, system_is, agreement, known, known_right)
    within = posterior_interval(in_sample, *observed)
    n_effective = _count_effective(ratings, correlation, level)
    expected = posterior_interval(posterior_expected(in_sample, n_effective), *observed)
    return replace(
        estimate,
        # The interval of the expected accuracy contains that of the accuracy in the sample.
        system_accuracy=replace(
            expected,
            estimate=(in_sample.mean * n_items + 0.5) / (n_items + 1),
            lower=min(expected.lower or 0.0, within.lower or 0.0),
            upper=max(expected.upper or 1.0, within.upper or 1.0),
        ),
        system_accuracy_in_sample=within,
        warnings=tuple(warnings),
        diagnostics={
            "system_is": system_is,
            "agreement": agreement,
            "known_truths": known,
            "families": len(prior.families),
            "crowds": prior.n_crowds,
        },
    )


def _count_gold_labels(ratings: Ratings, correlation: float) -> tuple[int, int]:
    """Count the answered items with a gold label, and the right answers among them.

    Where all items have one, they are left out, as other methods do: the accuracy needs no
    estimate then, and what a method says without gold labels can be compared with it. Of items
    that were chosen with known unequal probabilities, or as whole clusters, the numbers are those
    of a random sample that would tell about as much.
    """
    items = rightness(ratings, np.zeros(ratings.n_rows))
    if not known_truths(ratings) or not items.n_known:
        return 0, 0
    effect = 1.0
    if items.cluster is not None:
        sizes = np.bincount(items.cluster, items.counts * items.known)
        added = correlation * float(sizes @ sizes / items.n_known - 1)
        effect += added * known_together(items.counts, items.known, items.cluster)
    return effective_numbers(items, effect)


def posterior_interval(
    posterior: ProportionPosterior,
    level: float,
    system_is: str,
    agreement: float,
    known: int,
    known_right: int,
) -> IntervalEstimate:
    """Give the mean and an interval, equal-tailed or, for better systems, the shortest.

    In families left out the shortest covers as often for better systems (.940 with a mean width of
    .391, where equal tails have .938 with .421; standard errors .024). It covers less often for
    others, and with gold labels. From an agreement of `NEARLY_PERFECT` on the interval goes up to
    1, unless an answer is known to be wrong.
    """
    ends, kind = posterior.interval, "empirical prior"
    if system_is == "better" and not known:
        ends, kind = posterior.shortest_interval, "empirical prior, shortest"
    lower, upper = ends(level)
    if agreement >= NEARLY_PERFECT and known == known_right:
        upper = 1.0
    return IntervalEstimate(
        estimate=posterior.mean, lower=lower, upper=upper, level=level, kind=kind
    )


def _count_effective(ratings: Ratings, correlation: float, level: float) -> float:
    """Count the answered items, clustered ones as so many independent items as tell as much."""
    counts = (np.asarray(ratings.system) >= 0) * ratings.weights
    n_items = float(counts.sum())
    if ratings.cluster is None:
        return n_items
    sizes = np.bincount(ratings.cluster, counts)
    effect = 1 + correlation * (sizes @ sizes / n_items - 1)
    return n_items / widening(float(effect), int(np.count_nonzero(sizes)), level) ** 2


def correlation_within_clusters(ratings: Ratings) -> float:
    """Correlation of the system's being right on two items of a cluster, from 0 to 1.

    A rater's agreement with the system is a noisy sign of its being right. The covariance of two
    raters' agreement on two items of a cluster, over that of their agreement on one item, is free
    of the noise, which raters do not share.
    """
    if ratings.cluster is None:
        return 0.0
    votes, system = ratings.votes(), np.asarray(ratings.system)
    used = (system >= 0) & (ratings.weights > 0)
    weights, cluster = ratings.weights[used].astype(float), ratings.cluster[used]
    n_votes = votes[used].sum(axis=1).astype(float)
    agreeing = votes[used, system[used]]
    mean = weights @ agreeing / (weights @ n_votes)
    of_item = agreeing - mean * n_votes
    squares = agreeing * (1 - 2 * mean) + mean**2 * n_votes
    sums, sizes = (np.bincount(cluster, weights * values) for values in (of_item, n_votes))
    g = np.count_nonzero(sizes)
    pairs = weights @ (n_votes * (n_votes - 1)), sizes @ sizes - weights @ n_votes**2
    if min(pairs) <= 0 or g < 2:
        return 1.0
    same_item = weights @ (of_item**2 - squares) / pairs[0]
    same_cluster = (sums @ sums * g / (g - 1) - weights @ of_item**2) / pairs[1]
    if same_item <= NO_VARIANCE:
        return 1.0
    return float(np.clip(same_cluster / same_item, 0.0, 1.0))


def _compare_with_training(
    ratings: Ratings, prior: EmpiricalPrior, n_items: int, agreement: float
) -> Iterator[Warning]:
    """Say in what these ratings are unlike those on which the prior was trained."""
    votes = ratings.votes().sum(axis=1)
    per_item = float(votes @ ratings.weights / ratings.n_items)
    trained = {
        "items": (n_items, (prior.n_items[0], np.inf)),
        "ratings per item": (per_item, prior.ratings_per_item),
        "categories": (ratings.n_categories, prior.n_categories),
        "agreement with the majority": (round(agreement, 2), prior.agreement),
    }
    for name, (value, (lowest, highest)) in trained.items():
        if not lowest <= value <= highest:
            limits = f"{lowest:g} or more" if highest == np.inf else f"{lowest:g} to {highest:g}"
            yield warn(
                "outside-training",
                f"{name}: {value:g}; the prior was trained on {limits}, so that the interval of "
                "`calibrated` is an extrapolation",
            )


def _doubt_labels(
    ratings: Ratings, prior: tuple[Integers, Floats], known: int, known_right: int
) -> Iterator[Warning]:
    """Say that gold labels are no random sample, or not what the prior expects."""
    if not (sample := examine_known(ratings)).random:
        text = f"{sample.doubt}, and the estimate assumes that they are: {sample}"
        yield warn("truths-not-random", text)
    if probability_unlike(*prior, known, known_right) > 0.5:
        yield warn(
            "outside-training",
            f"{known_right} of the {known} answers with gold labels are right, which is unlike "
            "the crowds on which the prior was trained; the estimate of `calibrated` rests on the "
            "gold labels",
        )
