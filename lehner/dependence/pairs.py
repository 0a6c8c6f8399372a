"""Agreement of pairs compared with that of raters who are equal, or differ only in accuracy.

In both null models errors are equally probable. In `equal` all raters have the same accuracy and
the system has another, so that all pairs of raters have the same expected agreement, and so have
all pairs of a rater and the system. In `own` each rater has a different accuracy; the test of
whether these explain the correlations of pairs needs four raters, including the system. Data are
simulated from the fitted null model, which is fitted anew to each of the simulated data sets.
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
        Observed agreement or correlation minus the predicted one.
    sd : ndarray, shape (n_pairs,)
        Standard deviation among simulated data.
    p_value : float
        p-value of the pair farthest from the prediction, in standard deviations: (1 + number of
        simulated data sets that have a pair as far away) / (1 + number of simulated data sets).
    stand_out : ndarray of bool, shape (n_pairs,)
        Pairs that are farther away than the farthest pair in 95% of the simulated data sets.
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
        Number of pairs of ratings of an item by both.
    agreement : float
    equal_raters : float
        Agreement that equal raters would have. For a pair with the system, the mean agreement of
        raters with the system.
    sd : float
        Standard deviation of the agreement among simulated data of equal raters.
    stands_out : bool
        Whether the agreement is farther from that than the farthest pair in 95% of the simulated
        data sets.
    unexplained : bool or None
        Whether raters of different accuracy do not explain the correlations of all pairs, and this
        pair is more correlated than they would be. None if that cannot be tested, as among three
        raters.
    with_system : bool
        Whether the second rater is the system.
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
    """Tell which pairs are of two raters, and not of a rater and the system."""
    system = design.n_raters - design.has_system
    return (design.first < system) & (design.second < system)


def mean_agreement(totals: Totals, design: Design) -> Floats:
    """Give, for each pair, the agreement of all pairs of its kind, shape (n_samples, n_pairs)."""
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
    """Give the correlation of each pair that different accuracies of raters do not explain."""
    return residual_correlations(totals, design)[0]


def _equal_accuracies(totals: Totals, design: Design) -> Floats | None:
    """Fit one accuracy to the raters and another to the system; None at chance level.

    Returns
    -------
    ndarray, shape (n_raters,)
        The system is the last rater.
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
    """Test whether different accuracies of raters explain the correlations of pairs, and triples.

    Returns
    -------
    pairs : PairTest
        The one-sided test of correlations, because shared mistakes increase a correlation.
    triples : PairTest
        The two-sided test of a single number, the share of triples of ratings that all agree.
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
    """Give the agreement of triples minus that which the agreement of pairs implies, (n, 1)."""
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
    # Observed and simulated data are scaled by the standard deviation of all of them; they are then
    # exchangeable, and p-values are exact.
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
