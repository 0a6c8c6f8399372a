"""Whether pairs of raters agree more than raters would who err independently."""

import numpy as np

from lehner.core.arrays import Booleans, Floats
from lehner.core.checks import check_whole_number
from lehner.core.estimate import require_pairs
from lehner.core.seeds import Seed, child_seeds
from lehner.data.ratings import Ratings
from lehner.dependence.effective import from_known_truths, from_pairs
from lehner.dependence.pairs import (
    SIGNIFICANCE,
    Pair,
    PairTest,
    compare_with_equal,
    compare_with_own,
    excess_triples,
    mean_agreement,
    of_raters,
)
from lehner.dependence.result import Dependence, untested
from lehner.k_properties.agreement_totals import (
    Design,
    find_design,
    observed_totals,
    simulated_cells,
)

FEWEST_REPLICATES = 99
MOST_RATERS_PAIRED = 30
MOST_SIMULATED_CELLS = 10_000_000


def check_dependence(ratings: Ratings, *, replicates: int = 199, seed: Seed = 1) -> Dependence:
    """Look for raters who share mistakes.

    Each pair of raters is compared with the K-model, in which all raters are equally accurate and
    independent. A pair that agrees more than the model predicts is either more accurate than the
    others or shares mistakes. If there are four raters or more, including the system, each pair is
    also compared with independent raters of different accuracy. No method detects mistakes that all
    raters share without known truths: see `lehner.sensitivity`.

    Parameters
    ----------
    ratings : Ratings
        A system counts as one more rater.
    replicates : int
        Number of simulated data sets, 99 or more; for hundreds of thousands of ratings fewer are
        made, but at least 99.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the simulated data sets: the same seed gives the same p-values.

    Returns
    -------
    Dependence
        The pairs that stand out, and the number of independent raters who would be as informative.

    Raises
    ------
    InputError
        If there are not two raters, two categories and an item rated by two raters, or if there are
        fewer than 99 replicates.

    Notes
    -----
    If the K-properties hold and raters are independent, at least one pair stands out in 5% of the
    data sets. In the comparison with raters of different accuracy, pairs may also stand out because
    errors are not equally probable or items are not equally difficult.

    References
    ----------
    Davison & Hinkley (1997), Bootstrap Methods and their Application, section 4.2.

    Examples
    --------
    >>> from lehner import Scenario, simulate
    >>> ratings = simulate(Scenario(n_items=400, copying=(0, 0.4, 0)), seed=1)
    >>> check_dependence(ratings).pairs[0].stands_out
    True
    """
    check_whole_number("replicates", replicates, FEWEST_REPLICATES)
    require_pairs(ratings)
    truths = from_known_truths(ratings)
    reason = _why_not(ratings)
    if reason:
        return untested(ratings, truths, reason, replicates)
    unique = ratings.collapse(truth=False)
    design = find_design(unique, with_system=True)
    affordable = MOST_SIMULATED_CELLS // simulated_cells(design)
    if affordable < FEWEST_REPLICATES:
        return untested(ratings, truths, "the ratings are too many to be simulated", replicates)
    replicates = min(replicates, affordable)
    totals = observed_totals(design)
    equal_seed, own_seed = child_seeds(seed, 2)
    equal = compare_with_equal(totals, design, replicates, np.random.default_rng(equal_seed))
    if equal is None:
        return untested(ratings, truths, "raters agree at or below chance level", replicates)
    correlation, triples = None, None
    if len(design.first) > design.n_raters:
        rng = np.random.default_rng(own_seed)
        correlation, triples = compare_with_own(totals, design, replicates, rng)
    share = None
    if triples is not None and design.n_categories > 2 and totals.triples:
        share = float(totals.agreeing_triples[0] / totals.triples)
    agreement = totals.agreeing[0] / totals.pairs
    more = equal.stand_out & (equal.excess > 0)
    unexplained = None
    if correlation is not None:
        # Among four raters, pairs without a rater in common have the same residual. The farthest
        # pair alone therefore tells little, and all pairs with a positive residual count.
        rejected = correlation.p_value <= SIGNIFICANCE
        unexplained = rejected & (correlation.excess > 0)
        more &= unexplained
    return Dependence(
        pairs=_pairs(
            design, totals.pairs, agreement, mean_agreement(totals, design)[0], equal, unexplained
        ),
        p_equal=equal.p_value,
        p_own=None if correlation is None else correlation.p_value,
        triples=share,
        triples_expected=None
        if share is None
        else share - float(excess_triples(totals, design)[0, 0]),
        triples_sd=None if share is None or triples is None else float(triples.sd[0]),
        effective_raters=truths or from_pairs(ratings, totals, design, more),
        n_raters=design.n_raters,
        reason="",
        replicates=replicates,
    )


def _why_not(ratings: Ratings) -> str:
    if ratings.anonymous:
        return "it is unknown who gave which rating"
    if ratings.n_raters >= MOST_RATERS_PAIRED:
        return f"there are {MOST_RATERS_PAIRED} raters or more"
    if ratings.n_raters + (ratings.system is not None) < 3:
        return "the test needs three raters, or two and a system"
    return ""


def _pairs(
    design: Design,
    n_items: Floats,
    agreement: Floats,
    expected: Floats,
    equal: PairTest,
    unexplained: Booleans | None,
) -> tuple[Pair, ...]:
    between_raters = of_raters(design)
    return tuple(
        Pair(
            raters=(str(design.names[first]), str(design.names[second])),
            n_items=int(n_items[i]),
            agreement=float(agreement[i]),
            equal_raters=float(expected[i]),
            sd=float(equal.sd[i]),
            stands_out=bool(equal.stand_out[i]),
            unexplained=None if unexplained is None else bool(unexplained[i]),
            with_system=not between_raters[i],
        )
        for i, (first, second) in enumerate(zip(design.first, design.second, strict=True))
    )
