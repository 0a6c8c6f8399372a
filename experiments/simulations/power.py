"""How often each test of a K-property rejects: where it holds (size) and where not (power)."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from lehner import Ratings, Scenario, check_k_properties, simulate
from lehner.core.arrays import Seed
from lehner.core.lazy import stats
from lehner.k_properties.check import INDEPENDENCE, SIGNIFICANCE
from lehner.k_properties.statistics import K_TESTS
from lehner.k_properties.totals import find_design, sum_observed
from lehner.study.performance import estimate_proportion

REPLICATES = 199
PLAIN, ANY = "plain_chi_square", "any, Holm"
TESTS = (*K_TESTS, INDEPENDENCE, ANY, PLAIN)


def reject(seed: Seed, **fields: Any) -> Iterator[dict[str, float]]:
    """Test one simulated data set; fields are those of `Scenario`."""
    yield find_rejections(Scenario(**fields), seed)


def find_rejections(scenario: Scenario, seed: Seed) -> dict[str, float]:
    """Give the tests of one simulated data set.

    Parameters
    ----------
    scenario : Scenario
    seed : int or numpy.random.SeedSequence

    Returns
    -------
    dict
        By test, 1 where it rejects at the 5% level, 0 where not, NaN where it cannot be made. The
        verdict as a whole rejects if any test does after Holm's adjustment; the plain chi-square is
        the paper's and no part of it.
    """
    ratings = simulate(scenario, seed).with_truth(None).replace(ordered=True)
    tests = check_k_properties(ratings, replicates=REPLICATES, seed=seed).tests
    rejected = {
        name: float(test.p_value <= SIGNIFICANCE)
        for name, test in tests.items()
        if test.p_value is not None
    }
    if rejected:
        rejected[ANY] = float(any(test.verdict == "rejected" for test in tests.values()))
    plain = compute_plain_chi_square(ratings)
    if plain is not None:
        rejected[PLAIN] = float(plain <= SIGNIFICANCE)
    return dict.fromkeys(TESTS, np.nan) | rejected


def compute_plain_chi_square(ratings: Ratings) -> float | None:
    """Compute the p-value of the paper's test that all pairwise disagreements are equally likely.

    The paper claims that equal error probabilities imply equally likely disagreements: "AB" would
    be as likely as "AE". That is true only if base rates are equal, too: the probability that two
    raters give A and B is proportional to p e (π_A + π_B) + e² (1 - π_A - π_B). Besides, pairs of
    ratings of an item are not independent. The test rejects most data sets for which the
    K-properties hold. `check_k_properties` does without it.

    Parameters
    ----------
    ratings : Ratings
        With or without a system, whose answers are not used.

    Returns
    -------
    float or None
        None with two categories, or if raters never disagree.

    References
    ----------
    Lehner (2015), section "Recommended use and uses to avoid".
    """
    disagreeing = sum_observed(find_design(ratings.to_grouped())).disagreeing[0]
    if len(disagreeing) < 2 or not disagreeing.any():
        return None
    return float(stats.chisquare(disagreeing).pvalue)


def summarise_power(rows: pd.DataFrame) -> pd.DataFrame:
    """Compute the rate of rejection of each test with its Monte Carlo standard error.

    A test that cannot be made does not reject.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns `scenario`, `n_items` and those of `find_rejections`.

    Returns
    -------
    pandas.DataFrame
        Columns `cell` (the scenario), `items`, `test`, `rejected`, `se`, `not_tested` (proportion
        of the data sets), `data_sets`.
    """
    table = []
    cells = rows["scenario"].str.replace(r", n_items \d+$", "", regex=True)
    for key, group in rows.groupby([cells, "n_items"], sort=False):
        for test in TESTS:
            rejected = (
                *estimate_proportion(group[test] == 1),
                group[test].isna().mean(),
                len(group),
            )
            table.append((*key, test, *rejected))
    names = ["cell", "items", "test", "rejected", "se", "not_tested", "data_sets"]
    return pd.DataFrame(table, columns=names)
