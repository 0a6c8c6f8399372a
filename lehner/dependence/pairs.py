"""Agreement of pairs of raters against that of raters who differ in nothing, or in accuracy only.

Both null models have equal errors. Under `equal` all raters have one accuracy and the system its
own, so that pairs of raters agree alike, and so do pairs of a rater and the system. Under `own`
each rater has an accuracy; what that leaves of the correlations of pairs needs four raters, the
system included. Data of the fitted null model are simulated, and it is fitted anew to each.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lehner.algebra.algebraic import CHANCE_TOLERANCE, base_rates, clip_base_rates
from lehner.algebra.pairwise import brennan_prediger
from lehner.core.arrays import Booleans, Floats
from lehner.k_properties.agreement_totals import Design, Totals, simulated_totals
from lehner.k_properties.model import (
    accuracy_of,
    expected_triples,
    fit_own_accuracies,
    residual_correlations,
)

type Statistic = Callable[[Totals, Design], Floats]

SIGNIFICANCE = 0.05
TIES = 1e-9
LEAST_SPREAD = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class PairTest:
    """How far pairs are from what a null model predicts.

    Parameters
    ----------
    excess : ndarray, shape (n_pairs,)
        Observed less predicted.
    sd : ndarray, shape (n_pairs,)
        Standard deviation among simulated data.
    p_value : float
        Of the pair farthest away: (1 + simulated data sets that have a pair as far away) /
        (1 + simulated data sets), in standard deviations.
    stand_out : ndarray of bool, shape (n_pairs,)
        Pairs farther away than the farthest of 95% of the simulated data sets.
    """

    excess: Floats
    sd: Floats
    p_value: float
    stand_out: Booleans


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two raters, or a rater and the system, and how they agree.

    Parameters
    ----------
    raters : tuple of str
    n_items : int
        Pairs of ratings by both.
    agreement : float
    equal_raters : float
        Agreement that equal raters would have; with the system, that of the other raters with it.
    sd : float
        Standard deviation of the agreement among simulated data of equal raters.
    stands_out : bool
        Whether it is farther from that than the farthest pair in 95% of simulated data.
    unexplained : bool or None
        Whether raters with accuracies of their own would not agree as all pairs do, and this one
        is more correlated than they would be; None where that cannot be told, as among three
        raters.
    with_system : bool
        Whether the second is the system.
    """

    raters: tuple[str, str]
    n_items: int
    agreement: float
    equal_raters: float
    sd: float
    stands_out: bool
    unexplained: bool | None
    with_system: bool


def of_raters(design: Design) -> Booleans:
    """Say which pairs are of two raters, and not of a rater and the system."""
    system = design.n_raters - design.has_system
    return (design.first < system) & (design.second < system)


def mean_agreement(totals: Totals, design: Design) -> Floats:
    """Give each pair the agreement of all pairs of its kind, shape (n_samples, n_pairs)."""
    raters = of_raters(design)
    mean = np.zeros(totals.agreeing.shape)
    for kind in (raters, ~raters):
        if kind.any():
            share = totals.agreeing[:, kind].sum(axis=1) / totals.pairs[kind].sum()
            mean[:, kind] = share[:, None]
    return mean


def _excess_agreement(totals: Totals, design: Design) -> Floats:
    """Give by how much each pair agrees more than pairs of its kind do on average."""
    return totals.agreeing / totals.pairs - mean_agreement(totals, design)


def _excess_correlation(totals: Totals, design: Design) -> Floats:
    """Give the correlation of each pair that accuracies of their own leave unexplained."""
    return residual_correlations(totals, design)[0]


def _equal_accuracies(totals: Totals, design: Design) -> Floats | None:
    """Fit one accuracy to the raters and another to the system, or give None at chance level.

    Returns
    -------
    ndarray, shape (n_raters,)
        The system last.
    """
    raters, k = of_raters(design), design.n_categories
    mean = mean_agreement(totals, design)[0]
    knowledge = np.zeros(design.n_raters)
    kappa = float(brennan_prediger(mean[raters][0], k))
    if kappa <= CHANCE_TOLERANCE:
        return None
    knowledge[:] = np.sqrt(kappa)
    if not raters.all():
        with_system = float(brennan_prediger(mean[~raters][0], k))
        knowledge[-1] = np.clip(with_system / np.sqrt(kappa), -1 / (k - 1), 1)
    return accuracy_of(knowledge, k)


def _rates_of(totals: Totals, design: Design, accuracy: float) -> Floats:
    """Give base rates by Eq. 5 from how often raters use each category."""
    n_raters = design.n_raters - design.has_system
    used = totals.frequency[0, :n_raters].sum(axis=0)
    return clip_base_rates(base_rates(used / used.sum(), accuracy))


def compare_with_equal(
    totals: Totals, design: Design, replicates: int, rng: np.random.Generator
) -> PairTest | None:
    """Test whether pairs agree as equal raters do; None if raters agree at chance level."""
    accuracy = _equal_accuracies(totals, design)
    if accuracy is None:
        return None
    rates = _rates_of(totals, design, float(accuracy[0]))
    simulated = _simulate([_excess_agreement], design, accuracy, rates, replicates, rng)[0]
    return _compare(_excess_agreement(totals, design)[0], simulated, two_sided=True)


def compare_with_own(
    totals: Totals, design: Design, replicates: int, rng: np.random.Generator
) -> tuple[PairTest, PairTest]:
    """Test whether accuracies of their own explain the correlations of pairs, and triples.

    Returns
    -------
    pairs : PairTest
        One-sided: shared mistakes raise a correlation.
    triples : PairTest
        Of a single number, the share of triples of ratings that all agree; two-sided.
    """
    model = fit_own_accuracies(totals, design)
    correlation, triples = _simulate(
        [_excess_correlation, excess_triples],
        design,
        model.accuracy[0],
        model.base_rates[0],
        replicates,
        rng,
    )
    return (
        _compare(_excess_correlation(totals, design)[0], correlation, two_sided=False),
        _compare(excess_triples(totals, design)[0], triples, two_sided=True),
    )


def excess_triples(totals: Totals, design: Design) -> Floats:
    """Give by how much three raters agree more than their agreement by two implies, (n, 1)."""
    model = fit_own_accuracies(totals, design)
    excess = totals.agreeing_triples - expected_triples(model, design)
    return excess[:, None] / max(totals.triples, 1)


def _simulate(
    statistics: list[Statistic],
    design: Design,
    accuracy: Floats,
    rates: Floats,
    replicates: int,
    rng: np.random.Generator,
) -> list[Floats]:
    parts = [
        [statistic(totals, design) for statistic in statistics]
        for totals in simulated_totals(design, accuracy, rates, replicates, rng)
    ]
    return [np.concatenate(one) for one in zip(*parts, strict=True)]


def _compare(observed: Floats, simulated: Floats, *, two_sided: bool) -> PairTest:
    # Scaled by all of them, the observed one too, they are exchangeable, and p-values exact.
    everything = np.vstack([observed, simulated])
    sd = np.maximum(everything.std(axis=0), LEAST_SPREAD)
    z = (everything - everything.mean(axis=0)) / sd
    if two_sided:
        z = np.abs(z)
    farthest = z.max(axis=1)
    p = (farthest[:, None] >= z[0] - TIES).mean(axis=0)
    return PairTest(
        excess=observed,
        sd=sd,
        p_value=float(p.min()),
        stand_out=p <= SIGNIFICANCE,
    )
