"""The method `learned_prior`: what held on crowds with gold labels, for one system or several.

The interval of an accuracy held on families of crowds that were left out. Where two systems give
the same answer, they are right or wrong together. Where they differ, raters side with one of them,
and crowds whose truth is known say how often that one is right.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lehner.algebra.algebraic import credit_majority, majority_agreement
from lehner.contrasts.contrast import MOST_COMPARED, find_highest, pair_names
from lehner.contrasts.systems import find_first_alike, require_common_items
from lehner.core import resampling
from lehner.core.arrays import Booleans, Floats, Integers, Seed, make_rng
from lehner.core.errors import InputError, Warning, check_choice, check_level, warn
from lehner.core.estimate import ESTIMANDS, Draws, Estimate, IntervalEstimate
from lehner.core.lazy import special
from lehner.data.columns import load_words
from lehner.data.estimable import count_rated, find_mean_widening, require_estimable
from lehner.data.ratings import Ratings
from lehner.empirical_prior import prior as learned
from lehner.empirical_prior.prior import DIFFERENCE, RATERS_ARE, SHIPPED, SYSTEM_IS, EmpiricalPrior
from lehner.known_truths import partly_known
from lehner.known_truths.partly_known import PartlyKnown, ProportionPosterior

KIND = "empirical prior"
# The interval goes up to 1 from such an agreement on, unless an answer is known to be wrong.
# Hardly any system of the crowds agrees so often with the majority, and what still differs may be
# the majority's errors.
NEARLY_PERFECT = 0.95
SYSTEM_IS_UNKNOWN = {
    "people": "a system that is like its raters is estimated too high: by .06 on average in "
    "families of crowds left out, .10 on crowds never seen",
    "models": "a system that is better than its raters is estimated too low: by .12 on average in "
    "families of panels left out, where .78 of the 90% intervals cover its accuracy",
}
# A covariance of raters that is as small says nothing of how alike items of a cluster are.
NO_VARIANCE = 1e-9
ROUNDING = 1e-9
N_DRAWS = 4000
TAKEN_BY_DRAWS = ("raters_are", "level", "priors", "seed")


def estimate_learned_prior(
    ratings: Ratings,
    *,
    system_is: str = "unknown",
    raters_are: str = "unknown",
    level: float = 0.9,
    priors: str | Path | None = None,
    in_sample_alone: bool = False,
) -> Estimate:
    """Estimate the accuracy from agreement with the raters, by what that meant on other crowds.

    No model of the raters is assumed, and they may make correlated errors, as those of the crowds
    did on which the prior was trained. Gold labels, a random sample of the items, enter by their
    hypergeometric likelihood.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    system_is : {"like", "better", "unknown"}
        Whether the system is like its raters, better than them, or not known to be either. In
        families of people left out "unknown" estimates the accuracy of systems that are like their
        raters .06 too high on average (.10 on crowds never seen), and that of better ones .07 too
        low; its interval covers both. Among language models it is "like".
    raters_are : {"people", "models", "unknown"}
        Whether the raters are people or language models. If that is not said, they are models
        where all have names of such, as "gpt-4o" and "llama3.1_70b", and else people.
    level : float
        Probability of the intervals, on average over families of crowds: in some families left out
        90% intervals covered the accuracy in less than .7 of the data sets, in most in more than
        .9.
    priors : str or Path, optional
        A file of priors that you trained; by default the priors that are shipped.
    in_sample_alone : bool
        Whether the accuracy on these items stands in the place of the expected one, too. It is
        computed without SciPy, unless there are gold labels or clusters.

    Returns
    -------
    Estimate
        Without rater accuracies, base rates and truth probabilities. `diagnostics` has
        `system_is`, `raters_are`, `assumes_people` if nothing said who rates, `agreement` with the
        majority, `known_truths`, the numbers of `families` and `crowds` of the prior, and whether
        it is `shipped`.

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
    >>> estimate_learned_prior(ratings, system_is="better").diagnostics["agreement"]
    0.5
    """
    require_estimable(ratings)
    check_level(level)
    check_choice("system_is", system_is, SYSTEM_IS)
    kind, prior = select_prior(ratings.raters, raters_are, system_is, priors)
    assert prior is not None
    ratings = count_rated(ratings)
    majority = majority_agreement(ratings)
    agreement = majority.system_accuracy.estimate
    if agreement is None:
        return replace(majority, method="learned_prior")
    system = np.asarray(ratings.system)
    counts = ((system >= 0) * ratings.weights).astype(float)
    n_items = int(counts.sum())
    agrees = credit_majority(ratings.count_votes())[np.arange(ratings.n_rows), system]
    factor = find_mean_widening(ratings, agrees, counts, level)
    agreeing, corrected = agreement * n_items, find_corrected_agreement(ratings) * n_items
    gold = partly_known.collect_right(ratings, np.zeros(ratings.n_rows))
    unlike = learned.UNLIKE_PANELS if gold.n_known and kind == "models" else learned.UNLIKE
    numbers = learned.make_prior(prior, agreeing, n_items, factor**2, corrected, unlike)
    correlation = estimate_cluster_correlation(ratings)
    labels = _count_gold_labels(gold, correlation)
    in_sample = learned.update_in_sample(*numbers, *labels)
    n_effective = _count_effective(ratings, counts, correlation, level)
    shortest = (system_is, kind) == ("better", "people") and not gold.n_known
    expected = in_sample if in_sample_alone else learned.predict_expected(in_sample, n_effective)
    reach, in_sample_reach = find_reach(gold, labels[0], agreement, level)
    ahead = summarise_posterior(expected, level, shortest=shortest, reach=reach)
    within = summarise_posterior(in_sample, level, shortest=shortest, reach=in_sample_reach)
    warnings = [*_compare_with_training(ratings, prior, n_items, agreement)]
    if gold.n_known:
        warnings += _doubt_labels(ratings, numbers, gold, labels, unlike)
    elif system_is == "unknown":
        warnings.append(warn("system-is-unknown", SYSTEM_IS_UNKNOWN[kind]))
    return Estimate(
        method="learned_prior",
        system=ratings.systems[0],
        system_accuracy=_contain(ahead, within, (in_sample.mean * n_items + 0.5) / (n_items + 1)),
        system_accuracy_in_sample=within,
        warnings=tuple(warnings),
        diagnostics={
            "system_is": system_is,
            "raters_are": kind,
            "assumes_people": (raters_are, kind) == ("unknown", "people"),
            "agreement": agreement,
            "known_truths": gold.n_known,
            "families": len(prior.families),
            "crowds": prior.n_crowds,
            "shipped": priors is None,
        },
    )


def select_prior(
    raters: Sequence[Any], raters_are: str, system_is: str, file: str | Path | None = None
) -> tuple[str, EmpiricalPrior | None]:
    """Choose the prior by who rates: people, if neither the user nor the names say.

    Parameters
    ----------
    raters : sequence of str
        Names, which decide if it is not said who rates: language models if all have such names.
    raters_are : {"people", "models", "unknown"}
    system_is : {"like", "better", "unknown", "difference"}
        What is known of the system, or what the prior is of.
    file : str or Path, optional
        A file of priors that you trained; by default the priors that are shipped. If it has priors
        of one kind of raters only, those are taken where it is not said who rates.

    Returns
    -------
    kind : {"people", "models"}
    prior : EmpiricalPrior or None
        None if the file has none for differences.

    Raises
    ------
    InputError
        If the file cannot be read, or has no prior for those who are said to rate.

    Examples
    --------
    >>> select_prior(["gpt-4o", "Llama 3"], "unknown", "like")[0]
    'models'
    >>> select_prior(["ana", "gpt-4o"], "unknown", "like")[0]
    'people'
    """
    check_choice("raters_are", raters_are, RATERS_ARE)
    priors = learned.read_priors(file or SHIPPED)
    if raters_are not in (*priors, "unknown"):
        remedy = "train them (see the page learned_prior of the documentation)"
        raise InputError(f"it has no priors of {raters_are}", remedy, file=file)
    if raters_are == "unknown":
        words = "|".join(load_words()["language_models"])
        is_model = re.compile(f"(?<![a-z])({words})(?![a-z])", re.IGNORECASE).search
        are_models = "models" in priors and all(map(is_model, map(str, raters)))
        # People stand first.
        raters_are = "models" if are_models else next(iter(priors))
    return raters_are, priors[raters_are].get(system_is)


def find_corrected_agreement(ratings: Ratings) -> float:
    """Compute the agreement of the system with its raters, corrected for chance, as an accuracy.

    It is the accuracy of a system that knows the answer in as large a proportion of the items as
    Cohen's kappa says, pooled over raters, and else guesses among equally frequent categories.

    Parameters
    ----------
    ratings : Ratings
        With a system, and an item that it answered and somebody rated.

    Returns
    -------
    float
        1 over the number of categories if they agree as often as by chance, or less often.

    Examples
    --------
    Half of the time they would agree by chance, and they do seven times in eight.

    >>> ratings = Ratings([[0, 0], [0, 0], [1, 1], [1, 0]], ["no", "yes"], system=[0, 0, 1, 1])
    >>> find_corrected_agreement(ratings)
    0.875
    """
    votes, system = ratings.count_votes(), np.asarray(ratings.system)
    used = (system >= 0) & votes.any(axis=1)
    weights, answers = ratings.weights[used], system[used]
    votes = votes[used] * weights[:, None]
    n_votes, k = float(votes.sum()), ratings.n_categories
    agreement = votes[np.arange(len(answers)), answers].sum() / n_votes
    of_answers = np.bincount(answers, weights, k) / weights.sum()
    by_chance = float(votes.sum(axis=0) @ of_answers / n_votes)
    kappa = (agreement - by_chance) / (1 - by_chance) if by_chance < 1 else 0.0
    return float(1 / k + (1 - 1 / k) * max(kappa, 0.0))


def _contain(ahead: IntervalEstimate, within: IntervalEstimate, mean: float) -> IntervalEstimate:
    """Widen the interval of the expected accuracy until it contains that in the sample."""
    lower = min(ahead.lower or 0.0, within.lower or 0.0)
    upper = max(ahead.upper or 1.0, within.upper or 1.0)
    return replace(ahead, estimate=mean, lower=lower, upper=upper)


def _count_gold_labels(gold: PartlyKnown, correlation: float) -> tuple[int, int]:
    """Count the answered items with a gold label, and the right answers among them.

    Of items that were chosen with known unequal probabilities, or as whole clusters, the numbers
    are those of a random sample that would tell about as much.
    """
    if not gold.n_known:
        return 0, 0
    effect = 1.0
    if gold.cluster is not None:
        together = resampling.measure_clustering(gold.counts, gold.labelled, gold.cluster)
        effect += _add_variance(gold.counts * gold.labelled, gold.cluster, correlation) * together
    return partly_known.count_effective(gold, effect)


def _add_variance(counts: Floats, cluster: Integers, correlation: float) -> float:
    """Give what clusters whose items are so correlated add to a design effect of 1."""
    sizes = np.bincount(cluster, counts)
    return correlation * float(sizes @ sizes / counts.sum() - 1)


def _count_effective(ratings: Ratings, counts: Floats, correlation: float, level: float) -> float:
    """Count the answered items, clustered ones as so many independent items as tell as much."""
    if ratings.cluster is None:
        return float(counts.sum())
    effect = 1 + _add_variance(counts, ratings.cluster, correlation)
    n_clusters = len(np.unique(ratings.cluster[counts > 0]))
    return float(counts.sum() / resampling.find_widening(effect, n_clusters, level) ** 2)


def find_reach(
    gold: PartlyKnown, n_effective: float, agreement: float, level: float
) -> tuple[float, float]:
    """Find how far up the intervals reach at least, of the expected accuracy and in the sample.

    Where raters err together, an excellent system seems to be wrong, and hardly any system of the
    crowds is excellent, so that the prior excludes it. The interval therefore goes up as far as
    that of the labelled items alone, and to 1 if no labelled answer is wrong. Without gold labels
    it goes up to 1 from an agreement of `NEARLY_PERFECT` on.

    Parameters
    ----------
    gold : PartlyKnown
        On which items the system is right, as far as that is known.
    n_effective : float
        How many items of a random sample would tell as much as those with gold labels.
    agreement : float
        Of the system with the majority.
    level : float

    Returns
    -------
    tuple of two float
        Upper ends, by Jeffreys' interval and by that of `estimate_alone`; 0 if there is none.

    Examples
    --------
    >>> first = np.arange(100) < 20
    >>> gold = PartlyKnown(
    ...     probability=np.zeros(100), counts=np.ones(100), labelled=first, holds=first
    ... )
    >>> find_reach(gold, 20, agreement=0.8, level=0.9)
    (1.0, 1.0)
    """
    if gold.n_known == gold.n_holding:
        end = float(gold.n_known > 0 or agreement >= NEARLY_PERFECT)
        return end, end
    alone = partly_known.estimate_alone(gold, level)
    right = float(alone.estimate or 0.0) * n_effective
    wrong = n_effective - right
    end = float(special.betaincinv(right + 0.5, wrong + 0.5, (1 + level) / 2))
    possible = 1 - (gold.n_known - gold.n_holding) / gold.n_items
    return end, min(float(alone.upper or 0.0), possible)


def summarise_posterior(
    posterior: ProportionPosterior, level: float, *, shortest: bool = False, reach: float = 0.0
) -> IntervalEstimate:
    """Give the mean and an interval, equal-tailed or the shortest, that goes up to `reach` or more.

    It is the shortest for better systems without gold labels. In families left out this covers .924
    of them (standard error .038) with a mean width of .386. It covers less often for others, and
    with gold labels.
    """
    lower, upper = (posterior.shortest_interval if shortest else posterior.interval)(level)
    kind = f"{KIND}, shortest" if shortest else KIND
    return IntervalEstimate(posterior.mean, lower, max(upper, reach), level, kind)


def estimate_cluster_correlation(ratings: Ratings) -> float:
    """Compute the correlation of the system's being right on two items of a cluster, from 0 to 1.

    A rater's agreement with the system is a noisy sign of its being right. The covariance of two
    raters' agreement on two items of a cluster, over that of their agreement on one item, is free
    of the noise, which raters do not share.
    """
    if ratings.cluster is None:
        return 0.0
    votes, system = ratings.count_votes(), np.asarray(ratings.system)
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
    per_item = float(ratings.count_votes().sum(axis=1) @ ratings.weights / ratings.n_items)
    trained = {
        "items": (n_items, prior.n_items[0], np.inf),
        "ratings per item": (per_item, *prior.ratings_per_item),
        "categories": (ratings.n_categories, *prior.n_categories),
        "agreement with the majority": (round(agreement, 2), *prior.agreement),
    }
    for name, (value, lowest, highest) in trained.items():
        if not lowest <= value <= highest:
            limits = f"{lowest:g} or more" if highest == np.inf else f"{lowest:g} to {highest:g}"
            text = f"{name}: {value:g}; the prior was trained on {limits}, so that the interval of "
            yield warn("outside-training", f"{text}`learned_prior` is an extrapolation")


def _doubt_labels(
    ratings: Ratings,
    prior: tuple[Integers, Floats],
    gold: PartlyKnown,
    labels: tuple[int, int],
    unlike: float,
) -> Iterator[Warning]:
    """Say that gold labels are no random sample, or not what the prior expects."""
    if not (sample := partly_known.examine_known(ratings)).random:
        text = f"{sample.doubt}, and the estimate assumes that they are: {sample}"
        yield warn("truths-not-random", text)
    if learned.find_unlike(*prior, *labels, unlike) > 0.5:
        yield warn(
            "outside-training",
            f"{gold.n_holding} of the {gold.n_known} answers with gold labels are right, unlike "
            "the crowds on which the prior was trained; the estimate of `learned_prior` rests on "
            "the gold labels",
        )


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """What raters and gold labels say where two systems give different answers.

    Parameters
    ----------
    n_items : int
        Items that both systems answered and somebody rated.
    n_differ : int
        Those on which the answers differ.
    preferred : float
        Proportion of the differing items on which the majority of the raters gives the first
        system's answer. Half of those on which it gives neither answer, or both are tied, count.
    n_known : float
        How many of the differing items have a gold label; fewer if these are of few clusters or
        were chosen with unequal probabilities, so as to tell as much as a simple random sample.
    right : float
        Proportion of the labelled ones on which the first system is right; half of those on which
        neither is count. One half if none is known.
    effect : float
        Design effect of clusters on `preferred`, 1 or more.
    halves : bool
        Whether both systems can be wrong on a differing item: with more than two categories.
    """

    n_items: int
    n_differ: int
    preferred: float
    n_known: float
    right: float
    effect: float
    halves: bool

    @property
    def share(self) -> float:
        """Proportion of the items on which the answers differ."""
        return self.n_differ / self.n_items


def count_disagreement(ratings: Ratings, pair: tuple[str, ...], level: float = 0.9) -> Disagreement:
    """Count where two systems differ, whom the majority prefers there, and who is right.

    Parameters
    ----------
    ratings : Ratings
        With these systems, and perhaps truth.
    pair : tuple of two str
        Names of the systems.
    level : float
        Probability of the intervals, on which the allowance for few clusters depends.

    Returns
    -------
    Disagreement

    Examples
    --------
    >>> answers = [[0, 1], [1, 1], [0, 1], [1, 0]]
    >>> votes = [[0, 0], [1, 1], [0, 0], [0, 0]]
    >>> ratings = Ratings(votes, ["no", "yes"], system=answers, truth=[0, 1, 1, -1])
    >>> counts = count_disagreement(ratings, ("system 1", "system 2"))
    >>> counts.n_differ, round(counts.preferred, 3), counts.n_known, counts.right
    (3, 0.667, 2.0, 0.5)
    """
    first, second = ratings.answers[:, [ratings.systems.index(name) for name in pair]].T
    credit, rows = credit_majority(ratings.count_votes()), np.arange(ratings.n_rows)
    used = (first >= 0) & (second >= 0) & (credit.sum(axis=1) > 0)
    counts = (ratings.weights * (used & (first != second))).astype(float)
    preferred = (1 + credit[rows, first] - credit[rows, second]) / 2
    truth = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth
    right = (1.0 + (truth == first) - (truth == second)) / 2
    weights = np.where(truth >= 0, counts, 0.0)
    n_known = weights.sum()
    if ratings.truth_probability is not None and n_known:
        weights = weights / np.where(weights > 0, ratings.truth_probability, 1.0)
        n_known = weights.sum() ** 2 / (weights @ weights)
    n_known /= resampling.estimate_effect(right, counts, truth >= 0, ratings.cluster)
    n_differ = int(counts.sum())
    return Disagreement(
        n_items=int((ratings.weights * used).sum()),
        n_differ=n_differ,
        preferred=float(preferred @ counts / n_differ) if n_differ else 0.5,
        n_known=float(n_known),
        right=float(right @ weights / weights.sum()) if weights.any() else 0.5,
        effect=find_mean_widening(ratings, preferred, counts, level) ** 2,
        halves=ratings.n_categories > 2,
    )


def draw_learned_prior(
    ratings: Ratings,
    *,
    systems: tuple[str, ...] | None = None,
    raters_are: str = "unknown",
    level: float = 0.9,
    priors: str | Path | None = None,
    seed: Seed = 1,
) -> Draws:
    """Draw the accuracies of several systems jointly, by what held on other crowds.

    No model of the raters is assumed, and they and the systems may make the same errors, as those
    of the crowds did on which the prior was trained. Gold labels of items on which systems differ
    enter by their hypergeometric likelihood; those of other items tell nothing.

    Parameters
    ----------
    ratings : Ratings
        With two or more systems, which are compared on the items that all of them answered.
    systems : tuple of str, optional
        Names of those to compare; by default all.
    raters_are : {"people", "models", "unknown"}
        As of `estimate_learned_prior`.
    level : float
        Probability of the intervals, on which the allowance for few clusters depends.
    priors : str or Path, optional
        A file of priors that you trained; by default the priors that are shipped.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same numbers.

    Returns
    -------
    Draws
        By system, its accuracy minus the mean accuracy of all of them. Two systems have exactly
        the distribution of their difference. Of more systems, each two have a distribution of their
        difference, and the draws are nearest to these by least squares. Of more than 50, only the
        one that agrees most with the majority is compared with each of the others.

    Raises
    ------
    InputError
        If there is no such system, if no item was answered by all, or if the file of priors cannot
        be read or has no prior for differences.

    Notes
    -----
    Coverage and the frequency with which the probabilities are right are on the page
    "Which of two systems is better" of the documentation.
    """
    systems = tuple(ratings.systems if systems is None else systems)
    ratings = ratings.select_common_items(*systems)
    require_common_items(ratings, systems)
    alike = find_first_alike(ratings, systems)
    names = tuple(dict.fromkeys(alike.values()))
    _, prior = select_prior(ratings.raters, raters_are, DIFFERENCE, priors)
    if prior is None:
        problem = "fewer than three families of crowds had two raters with 30 items in common"
        raise InputError(problem, "train priors for differences on other crowds", file=priors)
    best = _find_most_agreeing(ratings, names)
    pairs = {
        (names.index(pair[0]), names.index(pair[1])): count_disagreement(ratings, pair, level)
        for pair in pair_names(names, best)
    }
    if any(counts.n_items == 0 for counts in pairs.values()):
        raise InputError("no item that all systems answered has a rating", "give ratings of some")
    posteriors = {pair: _infer_right(counts, prior) for pair, counts in pairs.items()}
    points = _find_points(len(names), pairs, posteriors)
    many = len(names) > MOST_COMPARED
    part, rest = (0.0, 1.0) if many else (1 / len(names), 1 / len(names))
    rng = make_rng(seed)
    normal = points @ rng.standard_normal((len(names), N_DRAWS))
    draws, beyond = np.zeros((2, 2, len(names), N_DRAWS))
    for (i, j), counts in pairs.items():
        at = special.ndtr((normal[i] - normal[j]) / np.linalg.norm(points[i] - points[j]))
        differ, n_same = counts.n_differ / counts.effect, counts.n_items - counts.n_differ
        of_share = differ + 0.5, n_same / counts.effect + 0.5
        shares = rng.beta(*of_share, N_DRAWS), np.full(N_DRAWS, counts.share)
        tail, end = _find_tail(counts, posteriors[i, j][1], at, level)
        most = special.betaincinv(*of_share, np.maximum(at, 1 - at)[tail]), counts.share
        farther = np.maximum if end > 0.5 else np.minimum
        for k, posterior in enumerate(posteriors[i, j]):
            right = posterior.quantiles(at)
            usual = shares[k] * (2 * right - 1)
            extension = most[k] * (2 * farther(right[tail], end) - 1) - usual[tail]
            for system, weight in ((i, part), (j, -rest)):
                draws[k, system] += weight * usual
                beyond[k, system, tail] += weight * extension
    if many:
        draws, beyond = (x - x.mean(axis=1, keepdims=True) for x in (draws, beyond))
    # The estimate is the posterior's; only intervals go beyond it.
    index = [names.index(same) for same in alike.values()]
    return Draws(
        point=dict(zip(ESTIMANDS, draws[:, index].mean(axis=2), strict=True)),
        drawn=dict(zip(ESTIMANDS, (draws + beyond)[:, index].swapaxes(1, 2), strict=True)),
        coords={"system": tuple(alike)},
        kind=KIND,
        corrected=any(counts.n_known > 0 for counts in pairs.values()),
    )


def _find_most_agreeing(ratings: Ratings, systems: Sequence[str]) -> str:
    """Find the system that agrees most often with the majority of the raters."""
    answers = ratings.answers[:, [ratings.systems.index(name) for name in systems]]
    credit = np.take_along_axis(credit_majority(ratings.count_votes()), answers, axis=1)
    return find_highest(systems, ratings.weights @ credit)


def compare_learned_prior(
    estimates: Mapping[str, Estimate], ratings: Ratings, **options: Any
) -> Draws | None:
    """Draw systems jointly, if all have an estimate and the priors have one for differences.

    Options that `draw_learned_prior` does not take are ignored.
    """
    undefined = [name for name, fit in estimates.items() if fit.system_accuracy.estimate is None]
    taken = {name: x for name, x in options.items() if name in TAKEN_BY_DRAWS}
    asked = taken.get("raters_are", "unknown"), DIFFERENCE, taken.get("priors")
    if undefined or select_prior(ratings.raters, *asked)[1] is None:
        return None
    return draw_learned_prior(ratings, systems=tuple(estimates), **taken)


def _infer_right(
    counts: Disagreement, prior: EmpiricalPrior
) -> tuple[ProportionPosterior, ProportionPosterior]:
    """Infer how often the first system is right where two differ: expected, and on these items."""
    n = counts.n_differ
    right, probability = learned.make_prior(prior, counts.preferred * n, n, counts.effect)
    numbers = right.astype(float)
    if counts.halves:
        numbers = np.linspace(0, n, min(2 * n, learned.GRID - 1) + 1)
        probability = np.interp(numbers, right, probability)
    n_right = counts.right * counts.n_known
    here = learned.update_in_sample(numbers, probability, counts.n_known, n_right)
    return learned.predict_expected(here, n / counts.effect), here


def _find_tail(
    counts: Disagreement, here: ProportionPosterior, at: Floats, level: float
) -> tuple[Booleans, float]:
    """Find the draws that reach to where the labels alone do, and how far, if that is further.

    Hardly any system of the crowds is right on nearly all items on which it differs, so that the
    prior excludes it: compare `find_reach`. The draws are those outside the interval, on both
    sides, that are the most favourable to the system that is right on more of the labelled items.
    """
    alone = resampling.estimate_wilson(
        counts.right, counts.n_known, level, population=counts.n_differ
    )
    # Where both end at 1, how many items differ still counts, of which these draws have the most.
    lower, upper = np.clip(here.interval(level), ROUNDING, 1 - ROUNDING)
    if counts.right > 0.5 and alone.upper is not None and alone.upper > upper:
        return at > level, alone.upper
    if counts.right < 0.5 and alone.lower is not None and alone.lower < lower:
        return at < 1 - level, alone.lower
    return np.zeros(len(at), bool), 0.5


def _find_points(
    n: int,
    pairs: Mapping[tuple[int, int], Disagreement],
    posteriors: Mapping[tuple[int, int], tuple[ProportionPosterior, ProportionPosterior]],
) -> Floats:
    """Find points, (n, n), of systems, by classical scaling.

    Squared distances are nearly the variances of the systems' differences.
    """
    variance = np.zeros((n, n))
    for (i, j), counts in pairs.items():
        variance[i, j] = variance[j, i] = counts.share**2 * posteriors[i, j][0].variance
    if n > MOST_COMPARED:
        # What all differences from one system share is at most half of the least variance.
        (best, _), *_ = pairs
        shared = np.delete(variance[best], best).min() / 2
        squares = variance[best] - shared
        squares[best] = shared
        return np.diag(np.sqrt(squares))
    centre = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-centre @ variance @ centre / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
