"""The paper's test of equal error probabilities, which is here to show why it must not be used."""

from dataclasses import dataclass

from lehner.data.ratings import Ratings
from lehner.k_properties.agreement_totals import find_design, observed_totals


@dataclass(frozen=True, kw_only=True)
class PlainChiSquare:
    """A chi-square test.

    Parameters
    ----------
    statistic : float
    degrees_of_freedom : int
    p_value : float
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float


def plain_chi_square(ratings: Ratings) -> PlainChiSquare | None:
    """Test whether all pairwise disagreements are equally likely: a demonstration, not a test.

    The paper claims that equal error probabilities imply equally likely disagreements: "AB" would
    be as likely as "AE". That is true only if base rates are equal, too: the probability that two
    raters give A and B is proportional to p e (π_A + π_B) + e² (1 - π_A - π_B). Besides, pairs of
    ratings of an item are not independent. The test rejects most data sets for which the
    K-properties hold (`experiments/simulations/power.csv`). `check_k_properties` does without it.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    PlainChiSquare or None
        None with two categories, or if raters never disagree.

    References
    ----------
    Lehner (2015), section "Recommended use and uses to avoid".

    Examples
    --------
    >>> from lehner import Scenario, simulate
    >>> rates = (0.6, 0.1, 0.1, 0.1, 0.1)
    >>> plain_chi_square(simulate(Scenario(base_rates=rates), seed=1)).p_value < 1e-6
    True
    """
    from scipy.stats import chisquare

    disagreeing = observed_totals(find_design(ratings.collapse())).disagreeing[0]
    if len(disagreeing) < 2 or not disagreeing.any():
        return None
    test = chisquare(disagreeing)
    return PlainChiSquare(
        statistic=float(test.statistic),
        degrees_of_freedom=len(disagreeing) - 1,
        p_value=float(test.pvalue),
    )
