"""Whether some raters share mistakes: pairs that agree more than their accuracies explain."""

from itertools import combinations

import numpy as np

from lehner.algebra.algebraic import CHANCE_TOLERANCE
from lehner.algebra.pairwise import fit_knowledge, pairwise_agreement
from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.estimate import require_pairs
from lehner.data.ratings import Ratings
from lehner.dependence.effective import Pair, from_known_truths, from_pairs
from lehner.dependence.result import SIGNIFICANCE, Dependence
from lehner.dependence.score_test import NamedPairs, name_pairs, p_value_together, score_pairs
from lehner.known_truths.random_sample import drawn_equally

MOST_RATERS_PAIRED = 30
FEWEST_TRUTHS_OF_THREE = 50
FEWEST_IN_COMMON = 20
"""Pairs with fewer items in common are not tested."""


def check_dependence(ratings: Ratings) -> Dependence:
    """Look for raters who share mistakes.

    Each pair of raters is compared with raters of the same accuracies who err independently. A pair
    stands out if it agrees more often, and more clearly so than other pairs do. Known truths of
    items enter the test if these can be a random sample. No method detects mistakes that all raters
    share without known truths: see `lehner.sensitivity`.

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
    four raters on, the system included, or if the truth of 50 items is known. If two raters out of
    four share mistakes, the agreement of the other two looks the same: then `undecided` is true.

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
    n_truths = _n_truths(ratings)
    reason = _why_not(ratings, n_truths)
    nothing = tuple[Pair, ...](), False, None
    tests = nothing if reason else _test_pairs(ratings, known=n_truths > 0)
    pairs, undecided, p_together = tests
    return Dependence(
        pairs=pairs,
        p_value=min((pair.p_value for pair in pairs), default=None),
        p_value_together=p_together,
        undecided=undecided,
        effective_raters=from_known_truths(ratings)
        or from_pairs(
            ratings, pairs, [pair for pair in pairs if pair.stands_out], undecided=undecided
        ),
        n_raters=len(ratings.all_raters),
        n_truths=n_truths,
        reason=reason,
    )


def _n_truths(ratings: Ratings) -> int:
    """Count the items of known truth; none if they are no simple random sample."""
    if ratings.truth is None or not drawn_equally(ratings):
        return 0
    return int(ratings.weights[ratings.truth >= 0].sum())


def _why_not(ratings: Ratings, n_truths: int) -> str:
    n_raters = len(ratings.all_raters)
    if ratings.anonymous:
        return "it is unknown who gave which rating"
    if n_raters > MOST_RATERS_PAIRED:
        return f"there are more than {MOST_RATERS_PAIRED} raters, the system included"
    agreement = pairwise_agreement(ratings)
    if agreement.kappa is None or agreement.kappa <= CHANCE_TOLERANCE:
        return "raters agree at or below the chance level"
    if agreement.agreement == 1:
        return "raters never disagree"
    if n_raters < 3 or (n_raters == 3 and n_truths < FEWEST_TRUTHS_OF_THREE):
        return (
            "different accuracies explain any agreement of three raters: the test needs four, "
            "including the system, or three and the truth of "
            f"{FEWEST_TRUTHS_OF_THREE} items drawn at random"
        )
    return ""


def _test_pairs(ratings: Ratings, *, known: bool) -> tuple[tuple[Pair, ...], bool, float]:
    """Test all pairs, whether another pair explains the ratings as well, and all together."""
    votes = ratings.with_independent_repeats(False)
    unique = votes.with_truth(ratings.truth if known else None).collapse()
    codes, truths = _answers(unique)
    n_raters = codes.shape[1]
    used = truths >= 0 if n_raters == 3 else np.full(len(truths), True)
    scores = score_pairs(
        codes[used],
        unique.weights[used].astype(float),
        truths[used],
        unique.n_categories,
        None if unique.cluster is None else unique.cluster[used],
    )
    agreement, n_items = _agreement(codes, unique.weights)
    in_common = _agreement(codes[used], unique.weights[used])[1]
    tested = in_common >= FEWEST_IN_COMMON
    found = name_pairs(scores, tested, SIGNIFICANCE)
    expected = _expected(agreement, n_items, found, unique.n_categories)
    first, second = np.triu_indices(n_raters, 1)
    pairs = tuple(
        Pair(
            raters=(unique.all_raters[first[i]], unique.all_raters[second[i]]),
            n_items=int(n_items[i]),
            agreement=float(agreement[i]),
            expected=float(expected[i]),
            p_value=float(found.p_value[i]),
            stands_out=i in found.named or i == found.rival,
            with_system=bool(second[i] >= unique.n_raters),
        )
        for i in np.flatnonzero(n_items).tolist()
    )
    return pairs, found.rival is not None, p_value_together(scores, tested)


def _agreement(codes: Integers, weights: Integers) -> tuple[Floats, Floats]:
    """Proportion of agreement of each pair, 0 without items in common, and those items."""
    pairs = list(combinations(codes.T, 2))
    both = np.array([weights @ ((a >= 0) & (b >= 0)) for a, b in pairs], dtype=float)
    alike = np.array([weights @ ((a >= 0) & (a == b)) for a, b in pairs], dtype=float)
    return np.divide(alike, both, out=np.zeros_like(alike), where=both > 0), both


def _expected(agreement: Floats, n_items: Floats, found: NamedPairs, k: int) -> Floats:
    """Agreement that the other pairs imply, given which of them share mistakes.

    Errors are taken to be equally probable, so that the kappa of two raters is the product of what
    both know.
    """
    n_raters = round((1 + np.sqrt(1 + 8 * len(agreement))) / 2)
    pairs = first, second = np.triu_indices(n_raters, 1)

    def without(left_out: Booleans) -> Floats:
        weights = n_items if left_out.all() else np.where(left_out, 0.0, n_items)
        knowledge = fit_knowledge(agreement[None], weights, pairs, n_raters, k)[0]
        return np.asarray((1 + (k - 1) * (knowledge[first] * knowledge[second])) / k)

    places = np.arange(len(agreement))
    named, rival = np.isin(places, found.named), places == found.rival
    expected = without(named if named.any() else found.p_value <= SIGNIFICANCE)
    return np.where(rival, without(rival), expected) if rival.any() else expected


def _answers(ratings: Ratings) -> tuple[Integers, Integers]:
    """Answers of raters and system, (n_rows, n_raters), and truths; -1 if unknown."""
    flat = ratings.all_flat
    codes = np.full((ratings.n_rows, len(ratings.all_raters)), -1)
    codes[flat.item_index, flat.rater_index] = flat.category_index
    truths = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth
    return codes, truths
