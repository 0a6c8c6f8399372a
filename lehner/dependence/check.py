r"""What the agreement of raters shows: correlated errors, and how many raters they are worth.

The effective number of raters is

.. math:: J_{\text{eff}} = \frac{J}{1 + (J - 1) \rho}

where ρ is the mean correlation between the errors of two raters: the mean of J variables with
this correlation has the variance of the mean of J_eff independent ones.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lehner.algebra import steps
from lehner.core.arrays import Booleans, Floats
from lehner.core.errors import Warning, warn
from lehner.core.text import pluralise, to_percent, write_p
from lehner.data.estimable import count_truths, require_pairs
from lehner.data.ratings import Ratings
from lehner.dependence import score_test
from lehner.dependence.bounds import read_real_crowds
from lehner.known_truths.partly_known import are_drawn_equally

KNOWN_TRUTHS = ("gold labels", "gold labels, equal raters")
FEWEST_TRUTHS = 10
LEAST_SPREAD = 1e-9


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two raters, or a rater and the system, and how they agree.

    Parameters
    ----------
    raters : tuple of str
    n_items : int
        Number of items that both rated.
    agreement : float
        Proportion of these items on which they agree.
    expected : float
        Proportion on which they would agree if they erred independently, with the accuracies that
        the agreement of the other pairs implies.
    p_value : float
        p-value of the test that they do not agree more than their accuracies explain, adjusted for
        the number of pairs by Bonferroni's method.
    stands_out : bool
        Whether they agree more than their accuracies explain, and more clearly so than other pairs.
    with_system : bool
        Whether the second rater is the system.
    """

    raters: tuple[str, str]
    n_items: int
    agreement: float
    expected: float
    p_value: float
    stands_out: bool
    with_system: bool

    @property
    def shared(self) -> float:
        """Proportion of items on which one repeats the other, if that is why they agree more."""
        room = max(1 - self.expected, np.finfo(float).tiny)
        return float(np.clip((self.agreement - self.expected) / room, 0, 1))


@dataclass(frozen=True, kw_only=True)
class EffectiveRaters:
    """The number of independent raters who would be as informative as the raters.

    Parameters
    ----------
    n_raters : float
        Mean number of raters of an item, among items with two or more.
    effective : float or None
        Effective number of raters J_eff: how many independent raters would be as informative. None
        if the ratings do not show it.
    correlation : float or None
        Mean correlation between errors of two raters.
    source : {"gold labels", "gold labels, equal raters", "unknown"}
        How the correlation was found: from items with gold labels, of anonymous raters as if all
        had the same rate of errors; or from the pairs of raters that agree more than their
        accuracies explain. It is then assumed that errors of these pairs are correlated and those
        of no others, so that `effective` is an upper limit.
    n_items : int
        Number of items with gold labels that were used.
    """

    n_raters: float
    effective: float | None
    correlation: float | None
    source: str
    n_items: int = 0


def count_effective_raters(n_raters: float, correlation: float) -> float:
    """Number of independent raters whose mean varies as much.

    Examples
    --------
    >>> round(count_effective_raters(3, 0.5), 2), count_effective_raters(3, 0)
    (1.5, 3.0)
    """
    # A negative correlation comes from few items by chance.
    return float(n_raters / (1 + (n_raters - 1) * max(0.0, correlation)))


def predict_effective_raters(n_raters: float, level: float = 0.9) -> tuple[float, float]:
    """Say how many independent raters so many were worth in most of the public crowds.

    Without gold labels the ratings do not show it. Families of crowds count equally, whoever
    rates: there are too few of experts and of language models to tell them apart. On families that
    were left out, intervals of 90% covered the effective number in .91 of them.

    Parameters
    ----------
    n_raters : float
        Raters of an item.
    level : float
        Part of the families that is between the two numbers.

    Returns
    -------
    lower, upper : float

    Examples
    --------
    >>> [round(number, 1) for number in predict_effective_raters(5)]
    [1.5, 5.0]
    """
    crowds = read_real_crowds()
    _, family, size = np.unique(crowds["family"], return_inverse=True, return_counts=True)
    order = np.argsort(crowds["raters"], kind="stable")
    weights = (1 / size[family])[order]
    reached = (np.cumsum(weights) - weights / 2) / weights.sum()
    ends = np.interp([(1 + level) / 2, (1 - level) / 2], reached, crowds["raters"][order])
    lower, upper = (count_effective_raters(n_raters, correlation) for correlation in ends.tolist())
    return lower, upper


def correlate_known_errors(ratings: Ratings) -> EffectiveRaters | None:
    """Correlate the errors of two raters on items with gold labels.

    The correlation is the mean φ of two raters, each compared with their own rate of errors. Each
    pair counts as often as there are items with gold labels that both rated. A rater has one vote
    for an item.

    Parameters
    ----------
    ratings : Ratings
        Of anonymous raters it is not known who made which errors; they are assumed to have the
        same rate of errors.

    Returns
    -------
    EffectiveRaters or None
        None if the items with gold labels are probably no simple random sample, if fewer than 10 of
        them have ratings of two raters, or if those ratings are all right, or all wrong.
    """
    if ratings.truth is None or not are_drawn_equally(ratings):
        return None
    flat, truth = ratings.with_independent_repeats(False).votes, ratings.truth
    labelled = (truth[flat.item_index] >= 0) & (ratings.weights[flat.item_index] > 0)
    votes = flat.select(labelled)
    item, rater = votes.item_index, votes.rater_index * (not ratings.anonymous)
    error, weights = (votes.category_index != truth[item]).astype(float), ratings.weights[item]
    n_rated = np.maximum(np.bincount(rater, weights), 1)
    error -= (np.bincount(rater, weights * error) / n_rated)[rater]
    sd = np.sqrt(np.bincount(rater, weights * error**2) / n_rated)[rater]
    # Raters who made no errors, or nothing else, are left out.
    varies = sd > LEAST_SPREAD
    item, error = item[varies], error[varies] / sd[varies]
    n_ratings = np.bincount(item, minlength=ratings.n_rows)
    total = np.bincount(item, error, ratings.n_rows)
    squares = np.bincount(item, error**2, ratings.n_rows)
    weights = ratings.weights * (n_ratings >= 2)
    n_items = int(weights.sum())
    if n_items < FEWEST_TRUTHS:
        return None
    # The sum over ordered pairs of raters of the products of their standardised errors.
    products = weights @ (total**2 - squares)
    correlation = float(products / (weights @ (n_ratings * (n_ratings - 1))))
    return _weigh_raters(ratings, correlation, KNOWN_TRUTHS[ratings.anonymous], n_items)


def _weigh_raters(
    ratings: Ratings, correlation: float | None, source: str, n_items: int = 0
) -> EffectiveRaters:
    """Give the effective number of raters that follows from a correlation of errors."""
    n_raters = ratings.votes.count_raters()
    weights = ratings.weights * (n_raters >= 2)
    mean = float(weights @ n_raters / weights.sum())
    return EffectiveRaters(
        n_raters=mean,
        effective=None if correlation is None else count_effective_raters(mean, correlation),
        correlation=correlation,
        source=source,
        n_items=n_items,
    )


MOST_PAIRS_SHOWN = 3
SIGNIFICANCE = 0.01
MORE = "agree more than their accuracies explain"
MEANING = "make correlated errors, or prefer the same wrong answers, or find the same items hard"


@dataclass(frozen=True, kw_only=True, repr=False)
class Dependence:
    """What the agreement of raters shows about correlated errors.

    Parameters
    ----------
    agreement : PairwiseAgreement
        How often two raters agree, the system not among them.
    pairs : tuple of Pair
        Each two raters who rated an item in common, the system included. Empty if pairs were not
        tested.
    p_value_together : float or None
        p-value of the test that the pairs, taken together, do not agree more. It is small where
        items differ in difficulty, or are of hidden types with errors that raters share.
    undecided : bool
        Whether, among four raters, two pairs stand out of which only one need make correlated
        errors.
    effective_raters : EffectiveRaters
        The number of independent raters who would be as informative.
    reason : str
        The reason why pairs were not tested; empty if they were.
    """

    agreement: steps.PairwiseAgreement
    pairs: tuple[Pair, ...] = ()
    p_value_together: float | None = None
    undecided: bool = False
    effective_raters: EffectiveRaters
    reason: str

    @property
    def p_value(self) -> float | None:
        """Smallest p-value of a pair, of the test that none agrees more than accuracies explain."""
        return min((pair.p_value for pair in self.pairs), default=None)

    def __repr__(self) -> str:
        effective, n_raters = self.effective_raters.effective, self.effective_raters.n_raters
        worth = "not known" if effective is None else f"{effective:.2g}"
        pairs = f"not tested, {self.reason}" if self.reason else self.name_clearest_pair()
        return f"Dependence: {pairs}; effective raters of {n_raters:.3g}: {worth}"

    def list_outstanding(self) -> list[Pair]:
        """List the pairs that stand out, those of the smallest p-value first.

        Returns
        -------
        list of Pair
        """
        pairs = [pair for pair in self.pairs if pair.stands_out]
        return sorted(pairs, key=lambda pair: (pair.p_value, -pair.shared))

    def name_clearest_pair(self) -> str:
        """Name the clearest pair that stands out, or the two of which one makes correlated errors.

        Returns
        -------
        str
            A part of a sentence, also if no pair stands out.
        """
        standing_out = self.list_outstanding()
        if not standing_out:
            if self.p_value is not None and self.p_value <= SIGNIFICANCE:
                p = write_p(self.p_value)
                return f"some raters {MORE} ({p}), but no two of them stand out"
            return f"no two raters {MORE}"
        if self.undecided:
            first, second = standing_out[:2]
            return (
                f"either {_name(first)} or {_name(second)} {MORE} "
                f"({write_p(first.p_value)}), and among four one cannot tell which"
            )
        return _measure_agreement(standing_out[0])

    def list_warnings(self) -> tuple[Warning, ...]:
        """Name the pairs that stand out.

        Returns
        -------
        tuple of Warning
            One of the code "shared-mistakes" for each pair, the clearest first, or one for two
            pairs of which one makes correlated errors.
        """
        if self.undecided:
            return (warn("shared-mistakes", f"{self.name_clearest_pair()}: those two {MEANING}"),)
        lines = [f"{_measure_agreement(pair)}: they {MEANING}" for pair in self.list_outstanding()]
        rest = len(lines) - MOST_PAIRS_SHOWN
        if rest > 0:
            lines[MOST_PAIRS_SHOWN:] = [f"{pluralise(rest, 'more pair')} {MORE}"]
        return tuple(warn("shared-mistakes", text) for text in lines)

    def warn_of_estimates(self) -> tuple[Warning, ...]:
        """Say what concerns the estimate of each method.

        Returns
        -------
        tuple of Warning
            One of the code "system-copies-rater" for each rater whom the system may copy, the
            clearest first; or one of the code "agreement-unexplained", if no pair stands out and
            all together agree more than their accuracies explain.
        """
        pairs, p = self.list_outstanding(), self.p_value_together
        if not pairs and p is not None and p <= SIGNIFICANCE:
            text = (
                f"raters, taken together, {MORE} ({write_p(p)}): items differ in "
                "difficulty, or are of hidden types with errors of their own, or raters prefer "
                "the same wrong answers"
            )
            return (warn("agreement-unexplained", text),)
        rival = [pair for pair in pairs if not pair.with_system] if self.undecided else []
        or_else = (
            f"; or {_name(rival[0])} make correlated errors, which looks the same" if rival else ""
        )
        return tuple(
            warn(
                "system-copies-rater",
                f"{_measure_agreement(pair)}, as if the system repeated {pair.raters[0]} on "
                f"{to_percent(pair.shared, 0)} of them; if so, both seem too accurate{or_else}",
            )
            for pair in pairs
            if pair.with_system
        )


def _measure_agreement(pair: Pair) -> str:
    return (
        f"{_name(pair)} agree on {pair.agreement:.3f} of their items, more than their accuracies "
        f"explain ({pair.expected:.3f}; {write_p(pair.p_value)})"
    )


def _name(pair: Pair) -> str:
    return f"{pair.raters[0]} and {'the system' if pair.with_system else pair.raters[1]}"


MOST_RATERS_PAIRED = 30
FEWEST_TRUTHS_OF_THREE = 50
# Pairs with fewer items in common are not tested.
FEWEST_IN_COMMON = 20


def check_dependence(ratings: Ratings) -> Dependence:
    """Look for raters who make correlated errors.

    Each pair of raters is compared with raters of the same accuracies who err independently. A pair
    stands out if it agrees more often, and more clearly so than other pairs do. Gold labels of
    items enter the test if these can be a random sample. No method detects errors that all raters
    share without gold labels: see `lehner.bound_accuracy`.

    Parameters
    ----------
    ratings : Ratings
        A system counts as one more rater. If a rater rated an item several times, the rater's one
        vote is tested, also where repeated ratings count as independent.

    Returns
    -------
    Dependence
        The pairs that stand out, and the number of independent raters who would be as informative.

    Raises
    ------
    InputError
        If there are not two raters, two categories and an item rated by two raters.

    Notes
    -----
    If raters err independently, with any accuracies, some pair stands out in 1% of the data sets or
    fewer. Pairs can also stand out because two raters prefer the same wrong answers or find the
    same items difficult. How often the right pair is named, and how often another, is in
    `experiments/simulations/shared_mistakes.csv`.

    Three raters of different accuracy explain any agreement of three, so that pairs are tested from
    four raters on, the system included, or if 50 items have gold labels. If two raters out of
    four make correlated errors, the agreement of the other two looks the same: then `undecided` is
    true.

    References
    ----------
    Oberski, van Kollenburg & Vermunt (2013), A Monte Carlo evaluation of three methods to detect
    local dependence in binary data latent class models,
    https://doi.org/10.1007/s11634-013-0146-2

    Examples
    --------
    >>> from lehner import Scenario, simulate
    >>> accuracy = (0.6, 0.6, 0.7, 0.8)
    >>> scenario = Scenario(initial_rater_accuracy=accuracy, copying=(0, 0.4, 0, 0))
    >>> [pair.raters for pair in check_dependence(simulate(scenario)).pairs if pair.stands_out]
    [('Rater 1', 'Rater 2')]
    """
    require_pairs(ratings)
    n_truths = count_truths(ratings) if are_drawn_equally(ratings) else 0
    agreement = steps.pairwise_agreement(ratings)
    by_labels = correlate_known_errors(ratings)
    effective = by_labels or _weigh_raters(ratings, None, "unknown")
    reason = _say_why_not(ratings, agreement, n_truths)
    tested = {} if reason else _test_pairs(ratings, use_labels=n_truths > 0)
    return Dependence(agreement=agreement, effective_raters=effective, reason=reason, **tested)


def _say_why_not(ratings: Ratings, agreement: steps.PairwiseAgreement, n_truths: int) -> str:
    """Say why pairs of raters cannot be tested; nothing if they can."""
    n_raters = len(ratings.all_raters)
    if ratings.anonymous:
        return "it is unknown who gave which rating"
    if n_raters > MOST_RATERS_PAIRED:
        return f"there are more than {MOST_RATERS_PAIRED} raters, the system included"
    if agreement.kappa is None or agreement.kappa <= steps.CHANCE_TOLERANCE:
        return "raters agree at or below the chance level"
    if agreement.agreement == 1:
        return "raters never disagree"
    if n_raters < 3 or (n_raters == 3 and n_truths < FEWEST_TRUTHS_OF_THREE):
        return (
            "different accuracies explain any agreement of three raters: the test needs four, "
            "including the system, or three and gold labels "
            f"of {FEWEST_TRUTHS_OF_THREE} items drawn at random"
        )
    return ""


def _test_pairs(ratings: Ratings, *, use_labels: bool) -> dict[str, Any]:
    """Test all pairs, whether another pair explains the ratings as well, and all together."""
    votes = ratings.with_independent_repeats(False)
    unique = votes.with_truth(ratings.truth if use_labels else None).to_grouped()
    flat, k, names = unique.all_votes, unique.n_categories, unique.all_raters
    codes = np.full((unique.n_rows, len(names)), -1)
    codes[flat.item_index, flat.rater_index] = flat.category_index
    truths = np.full(unique.n_rows, -1) if unique.truth is None else unique.truth
    used = truths >= 0 if len(names) == 3 else np.full(len(truths), True)
    weights = unique.weights.astype(float)
    cluster = None if unique.cluster is None else unique.cluster[used]
    scores = score_test.score_pairs(codes[used], weights[used], truths[used], k, cluster)
    first, second = np.triu_indices(len(names), 1)
    both = (codes[:, first] >= 0) & (codes[:, second] >= 0)
    n_items, alike = weights @ both, weights @ (both & (codes[:, first] == codes[:, second]))
    agreement = np.divide(alike, n_items, out=np.zeros_like(alike), where=n_items > 0)
    tested = weights[used] @ both[used] >= FEWEST_IN_COMMON
    named = score_test.name_pairs(scores, tested, SIGNIFICANCE)
    expected = _predict_agreement(agreement, n_items, named, k)
    pairs = tuple(
        Pair(
            raters=(names[first[i]], names[second[i]]),
            n_items=int(n_items[i]),
            agreement=float(agreement[i]),
            expected=float(expected[i]),
            p_value=float(named.p_value[i]),
            stands_out=i in named.named or i == named.rival,
            with_system=bool(second[i] >= unique.n_raters),
        )
        for i in np.flatnonzero(n_items).tolist()
    )
    together = score_test.compute_p_value_together(scores, tested)
    return {"pairs": pairs, "undecided": named.rival is not None, "p_value_together": together}


def _predict_agreement(
    agreement: Floats, n_items: Floats, pairs_named: score_test.NamedPairs, k: int
) -> Floats:
    """Compute the agreement that the other pairs imply, given which of them make correlated errors.

    Errors are taken to be equally probable, so that the kappa of two raters is the product of what
    both know.
    """
    n_raters = round((1 + np.sqrt(1 + 8 * len(agreement))) / 2)
    pairs = first, second = np.triu_indices(n_raters, 1)

    def predict(left_out: Booleans) -> Floats:
        weights = n_items if left_out.all() else np.where(left_out, 0.0, n_items)
        knowledge = steps.fit_knowledge(agreement[None], weights, pairs, n_raters, k)[0]
        return np.asarray((1 + (k - 1) * (knowledge[first] * knowledge[second])) / k)

    pair = np.arange(len(agreement))
    named, rival = np.isin(pair, pairs_named.named), pair == pairs_named.rival
    expected = predict(named if named.any() else pairs_named.p_value <= SIGNIFICANCE)
    return np.where(rival, predict(rival), expected) if rival.any() else expected
