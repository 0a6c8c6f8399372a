"""The method `calibrated`: an accuracy whose interval held on families of crowds left out."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lehner.algebra.algebraic import majority_credit, majority_proportion
from lehner.core.arrays import Floats, Integers
from lehner.core.errors import check_choice, check_level
from lehner.core.estimate import Estimate, IntervalEstimate, require_estimable
from lehner.core.warning import Warning, warn
from lehner.data.clusters import widening_of
from lehner.data.ratings import Ratings
from lehner.data.votes import count_rated
from lehner.empirical_prior.prior import (
    SHIPPED,
    SYSTEM_IS,
    EmpiricalPrior,
    Posterior,
    posterior_expected,
    posterior_in_sample,
    prior_of_right,
    probability_unlike,
    read_priors,
)
from lehner.known_truths.partly_known import effective_numbers, rightness
from lehner.known_truths.random_sample import KnownSample, examine_known
from lehner.latent_class.pattern_table import known_truths


def estimate_calibrated(
    ratings: Ratings,
    *,
    system_is: str = "unknown",
    level: float = 0.9,
    priors: str | Path | None = None,
) -> Estimate:
    """Estimate the accuracy from agreement with the majority, by what that meant on other crowds.

    No model of the raters is assumed, and they may share mistakes, as those of the crowds did on
    which the prior was trained. Known truths, a random sample of the items, enter by their
    hypergeometric likelihood.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    system_is : {"like", "better", "unknown"}
        Whether the system is like its raters, better than them, or not known to be either.
    level : float
        Probability of the intervals: the part of families of crowds in which they hold the truth.
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
    assert ratings.system is not None
    counts = (ratings.system >= 0) * ratings.weights
    n_items = int(counts.sum())
    answers = (ratings.system[:, None] == np.arange(ratings.n_categories)) * counts[:, None]
    agreement = float(majority_proportion(ratings.votes(), answers))
    if np.isnan(agreement):
        reason = warn("too-few-ratings", "no item has both ratings and an answer")
        nothing = IntervalEstimate(estimate=None)
        return _estimate(ratings, nothing, nothing, (reason,), {})
    known, known_right = _known(ratings)
    sample = examine_known(ratings) if known else None
    agrees = (majority_credit(ratings.votes()) * (answers > 0)).sum(axis=1)
    factor = widening_of(ratings, agrees, counts.astype(float), level)
    prior_numbers = prior_of_right(prior, agreement * n_items, n_items, factor**2)
    return _estimate(
        ratings,
        _interval(posterior_expected(*prior_numbers, known, known_right), level),
        _interval(posterior_in_sample(*prior_numbers, known, known_right), level),
        (
            *_not_random(sample),
            *_outside(ratings, prior, n_items, agreement),
            *_unlike(prior_numbers, known, known_right),
        ),
        {
            "system_is": system_is,
            "agreement": agreement,
            "known_truths": known,
            "families": len(prior.families),
            "crowds": prior.n_crowds,
        },
    )


def _estimate(
    ratings: Ratings,
    expected: IntervalEstimate,
    in_sample: IntervalEstimate,
    warnings: tuple[Warning, ...],
    diagnostics: dict[str, object],
) -> Estimate:
    return Estimate(
        method="calibrated",
        system=ratings.systems[0],
        system_accuracy=expected,
        system_accuracy_in_sample=in_sample,
        warnings=warnings,
        diagnostics=diagnostics,
    )


def _known(ratings: Ratings) -> tuple[int, int]:
    """Count the answered items whose truth is known, and the right answers among them.

    Where the truth of all items is known, it is left out, as other methods do: the accuracy needs
    no estimate then, and what a method says without truths can be compared with it. Of items that
    were chosen with known unequal probabilities, or as whole clusters, the numbers are those of a
    random sample that would tell about as much.
    """
    if ratings.truth is None or ratings.system is None or not known_truths(ratings):
        return 0, 0
    known = (ratings.truth >= 0) & (ratings.system >= 0) & (ratings.weights > 0)
    if known.any() and (ratings.truth_probability is not None or ratings.cluster is not None):
        return effective_numbers(rightness(ratings, np.zeros(ratings.n_rows)))
    right = known & (ratings.truth == ratings.system)
    return int(ratings.weights[known].sum()), int(ratings.weights[right].sum())


def _interval(posterior: Posterior, level: float) -> IntervalEstimate:
    lower, upper = posterior.interval(level)
    return IntervalEstimate(
        estimate=posterior.mean, lower=lower, upper=upper, level=level, kind="empirical prior"
    )


def _not_random(sample: KnownSample | None) -> tuple[Warning, ...]:
    if sample is None or sample.random:
        return ()
    text = f"{sample.doubt}, and the estimate assumes that they are: {sample}"
    return (warn("truths-not-random", text),)


def _outside(
    ratings: Ratings, prior: EmpiricalPrior, n_items: int, agreement: float
) -> Iterator[Warning]:
    """Say in what these ratings are unlike those on which the prior was trained."""
    votes = ratings.votes().sum(axis=1)
    found = {
        "items": (n_items, (prior.n_items[0], np.inf)),
        "ratings of an item": (
            float(votes @ ratings.weights / ratings.n_items),
            prior.ratings_per_item,
        ),
        "categories": (ratings.n_categories, prior.n_categories),
        "agreement with the majority": (round(agreement, 2), prior.agreement),
    }
    for name, (value, (lowest, highest)) in found.items():
        if not lowest <= value <= highest:
            trained = f"{lowest:g} or more" if highest == np.inf else f"{lowest:g} to {highest:g}"
            yield warn(
                "outside-training",
                f"{name}: {value:g}; the prior was trained on {trained}, so that the interval of "
                "`calibrated` is an extrapolation",
            )


def _unlike(prior: tuple[Integers, Floats], known: int, known_right: int) -> Iterator[Warning]:
    """Say that known truths are not what the prior expects, if they probably are not."""
    if known and probability_unlike(*prior, known, known_right) > 0.5:
        yield warn(
            "outside-training",
            f"{known_right} of the {known} answers with known truth are right, which is unlike "
            "the crowds on which the prior was trained; the estimate of `calibrated` rests on the "
            "known truths",
        )
