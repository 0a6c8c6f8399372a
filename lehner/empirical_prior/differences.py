"""Which of several systems is better: differences and ranks, learned on crowds with gold label.

Where two systems give the same answer, they are right or wrong together. Where they differ, raters
side with one of them, and crowds whose truth is known say how often that one is right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from lehner.algebra.algebraic import majority_credit
from lehner.contrasts.systems import JointDraws, first_alike, require_common_items
from lehner.core.arrays import Floats
from lehner.core.errors import InputError
from lehner.core.lazy import special
from lehner.core.resampling import effect_of_known
from lehner.core.seeds import Seed, generator
from lehner.data.groups import widening_of
from lehner.data.ratings import Ratings
from lehner.empirical_prior.prior import (
    DIFFERENCE,
    GRID,
    SHIPPED,
    EmpiricalPrior,
    posterior_expected,
    posterior_in_sample,
    prior_of_right,
    read_priors,
)
from lehner.known_truths.partly_known import ProportionPosterior

N_DRAWS = 4000
KIND = "empirical prior"


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
    known : float
        How many of the differing items have a gold label; fewer if these are of few clusters or
        were chosen with unequal probabilities, so as to tell as much as a simple random sample.
    right : float
        Proportion of the known ones on which the first system is right; half of those on which
        neither is count. One half if none is known.
    effect : float
        Design effect of clusters on `preferred`, 1 or more.
    halves : bool
        Whether both systems can be wrong on a differing item: with more than two categories.
    """

    n_items: int
    n_differ: int
    preferred: float
    known: float
    right: float
    effect: float
    halves: bool


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
    >>> counts.n_differ, round(counts.preferred, 3), counts.known, counts.right
    (3, 0.667, 2.0, 0.5)
    """
    first, second = ratings.answers[:, [ratings.systems.index(name) for name in pair]].T
    credit = majority_credit(ratings.votes())
    used = (first >= 0) & (second >= 0) & (credit.sum(axis=1) > 0)
    differ = used & (first != second)
    counts = ratings.weights * differ
    rows = np.arange(ratings.n_rows)
    preferred = (1 + credit[rows, first] - credit[rows, second]) / 2
    truth = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth
    right = (1.0 + (truth == first) - (truth == second)) / 2
    weights = np.where(truth >= 0, counts, 0.0)
    known = weights.sum()
    if ratings.truth_probability is not None and known:
        weights = weights / np.where(weights > 0, ratings.truth_probability, 1.0)
        known = weights.sum() ** 2 / (weights @ weights)
    known /= effect_of_known(right, counts.astype(float), truth >= 0, ratings.cluster)
    n_differ = int(counts.sum())
    return Disagreement(
        n_items=int((ratings.weights * used).sum()),
        n_differ=n_differ,
        preferred=float(preferred @ counts / n_differ) if n_differ else 0.5,
        known=float(known),
        right=float(right @ weights / weights.sum()) if weights.any() else 0.5,
        effect=widening_of(ratings, preferred, counts.astype(float), level) ** 2,
        halves=ratings.n_categories > 2,
    )


def draw_calibrated(
    ratings: Ratings,
    *,
    systems: tuple[str, ...] | None = None,
    level: float = 0.9,
    priors: str | Path | None = None,
    seed: Seed = 1,
) -> JointDraws:
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
    level : float
        Probability of the intervals, on which the allowance for few clusters depends.
    priors : str or Path, optional
        A file that `lehner train-prior` wrote; by default the priors that are shipped.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same numbers.

    Returns
    -------
    JointDraws
        Of each system's accuracy minus the mean accuracy of all of them. Two systems have exactly
        the distribution of their difference. Of more systems, each two have a distribution of their
        difference, and the draws are nearest to these by least squares.

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
    ratings = ratings.on_common_items(*systems)
    require_common_items(ratings, systems)
    alike = first_alike(ratings, systems)
    names = tuple(dict.fromkeys(alike.values()))
    prior = _find_prior(priors)
    pairs = list(combinations(range(len(names)), 2))
    counts = [count_disagreement(ratings, (names[i], names[j]), level) for i, j in pairs]
    if any(of_pair.n_items == 0 for of_pair in counts):
        raise InputError("no item that all systems answered has a rating", "give ratings of some")
    posteriors = [_infer_right(of_pair, prior) for of_pair in counts]
    points = _find_points(len(names), pairs, counts, posteriors)
    rng = generator(seed)
    normal = points @ rng.standard_normal((len(names), N_DRAWS))
    draws = np.zeros((2, len(names), N_DRAWS))
    for (i, j), of_pair, (ahead, here) in zip(pairs, counts, posteriors, strict=True):
        at = special.ndtr((normal[i] - normal[j]) / np.linalg.norm(points[i] - points[j]))
        differ, n_same = of_pair.n_differ / of_pair.effect, of_pair.n_items - of_pair.n_differ
        share = rng.beta(differ + 0.5, n_same / of_pair.effect + 0.5, N_DRAWS)
        among_these = of_pair.n_differ / of_pair.n_items * (2 * here.quantiles(at) - 1)
        differences = np.array([share * (2 * ahead.quantiles(at) - 1), among_these]) / len(names)
        draws[:, i] += differences
        draws[:, j] -= differences
    expected, in_sample = (
        {name: values[names.index(same)] for name, same in alike.items()} for values in draws
    )
    return JointDraws(
        kind=KIND,
        expected=expected,
        in_sample=in_sample,
        points=(_average(expected), _average(in_sample)),
        corrected=any(of_pair.known > 0 for of_pair in counts),
    )


def _average(drawn: Mapping[str, Floats]) -> dict[str, float]:
    return {name: float(values.mean()) for name, values in drawn.items()}


def _find_prior(file: str | Path | None) -> EmpiricalPrior:
    priors = read_priors(SHIPPED if file is None else Path(file))
    if DIFFERENCE not in priors:
        raise InputError(
            "the priors have none for differences, since fewer than three families of crowds have "
            "two raters with 30 items in common",
            "train them on other crowds, or leave them out",
            file=file,
        )
    return priors[DIFFERENCE]


def _infer_right(
    counts: Disagreement, prior: EmpiricalPrior
) -> tuple[ProportionPosterior, ProportionPosterior]:
    """Posterior of how often the first system is right where two differ: expected, and here."""
    n = counts.n_differ
    right, probability = prior_of_right(prior, counts.preferred * n, n, counts.effect)
    numbers = right.astype(float)
    if counts.halves:
        numbers = np.linspace(0, n, min(2 * n, GRID - 1) + 1)
        probability = np.interp(numbers, right, probability)
    here = posterior_in_sample(numbers, probability, counts.known, counts.right * counts.known)
    return posterior_expected(here, n / counts.effect), here


def _find_points(
    n: int,
    pairs: Sequence[tuple[int, int]],
    counts: Sequence[Disagreement],
    posteriors: Sequence[tuple[ProportionPosterior, ProportionPosterior]],
) -> Floats:
    """Find points, (n, n), of systems, by classical scaling.

    Squared distances are nearly the variances of the systems' differences.
    """
    variance = np.zeros((n, n))
    for (i, j), of_pair, (ahead, _) in zip(pairs, counts, posteriors, strict=True):
        variance[i, j] = variance[j, i] = (of_pair.n_differ / of_pair.n_items) ** 2 * ahead.variance
    centre = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-centre @ variance @ centre / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
