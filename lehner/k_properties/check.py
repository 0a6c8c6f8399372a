"""Tests of the K-properties, which the algebra assumes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lehner.core.arrays import Seed
from lehner.core.errors import check_whole_number
from lehner.core.estimate import to_plain
from lehner.core.text import format_p, to_percent
from lehner.data.estimable import require_pairs, warn_of_clusters
from lehner.data.ratings import Ratings
from lehner.dependence.check import MEANING, check_dependence
from lehner.k_properties.statistics import KPropertyTest, run_k_tests

SIGNIFICANCE = 0.05
FEWEST_FOR_K_TESTS = 199
INDEPENDENCE = "independence"


@dataclass(frozen=True, kw_only=True, repr=False)
class KProperties:
    """The tests of the K-properties, and what they say.

    Parameters
    ----------
    tests : mapping of str to KPropertyTest
        The tests by name.
    replicates : int
        Number of simulated data sets behind each p-value.
    verdict : tuple of str
        The findings in plain language, one sentence for each.
    """

    tests: Mapping[str, KPropertyTest]
    replicates: int
    verdict: tuple[str, ...]

    def __repr__(self) -> str:
        lines = [f"Tests of the K-properties ({self.replicates} simulated data sets)"]
        for test in self.tests.values():
            p = format_p(test.p_value)
            lines.append(f"  {test.name:<17} p {p:>6}  {test.verdict}: {test.note}")
        return "\n".join([*lines, *self.verdict])

    def to_dict(self) -> dict[str, Any]:
        """Give the tests and verdict in plain types, ready for JSON.

        Returns
        -------
        dict
            Keys `tests`, a list, `replicates` and `verdict`.
        """
        return {
            "tests": [to_plain(test) for test in self.tests.values()],
            "replicates": self.replicates,
            "verdict": list(self.verdict),
        }


def check_k_properties(ratings: Ratings, *, replicates: int = 999, seed: Seed = 1) -> KProperties:
    """Test whether the K-properties hold.

    Each test simulates data from a model in which its K-property holds, fitted to the ratings: the
    same raters rate the same items, with the fitted base rates. The model is fitted anew to each
    simulated data set.

    Parameters
    ----------
    ratings : Ratings
        A system is not needed, but its answers help to test independence.
    replicates : int
        Number of simulated data sets for each null model, 199 or more: with fewer no p-value could
        be small enough to reject one of five tests.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the simulated data sets: the same seed gives the same p-values.

    Returns
    -------
    KProperties
        A test for each K-property, and the verdict.

    Raises
    ------
    InputError
        If there are not two raters, two categories and an item rated by two raters, or if there are
        fewer than 199 replicates.

    Notes
    -----
    `equal_errors`: chi-square of the frequencies of disagreement in each pair of categories,
    compared with the K-model (the model in which all K-properties hold) with fitted base rates.
    `error_distance`: mean distance between disagreeing ratings of ordered categories; two-sided.
    `equal_accuracy`: chi-square of each rater's agreement with the others. `equal_difficulty`: how
    often three raters agree, compared with what the agreement of pairs implies for raters of
    different accuracy. Unequal difficulty increases it; errors near the truth decrease it, and can
    hide unequal difficulty. `independence`: the test of `check_dependence`, whether some pair, the
    system included, agrees more than its accuracies explain. Its p-value is not simulated. It
    cannot detect errors that all raters and the system share alike.

    A property that is not rejected may still be violated: see the power of each test in
    `experiments/simulations/power.csv`.

    References
    ----------
    Lehner (2015), "Recommended use and uses to avoid", asks for such tests. Davison & Hinkley
    (1997), Bootstrap Methods and their Application, section 4.2. Holm (1979), A simple
    sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> from lehner import Scenario, simulate
    >>> ratings = simulate(Scenario(initial_rater_accuracy=(0.4, 0.6, 0.8)), seed=1)
    >>> tests = check_k_properties(ratings).tests
    >>> tests["equal_accuracy"].verdict, tests["equal_errors"].verdict
    ('rejected', 'not rejected')
    """
    check_whole_number("replicates", replicates, FEWEST_FOR_K_TESTS)
    require_pairs(ratings)
    dependence = check_dependence(ratings)
    ratings = ratings.to_grouped(truth=False)
    tests = run_k_tests(ratings, replicates, seed)
    tests[INDEPENDENCE] = KPropertyTest(
        name=INDEPENDENCE,
        k_property="conditional independence",
        p_value=dependence.p_value,
        note=dependence.reason or dependence.name_clearest_pair(),
    )
    p_values = {name: test.p_value for name, test in tests.items() if test.p_value is not None}
    for name, adjusted in adjust_by_holm(p_values).items():
        judged = "rejected" if adjusted <= SIGNIFICANCE else "not rejected"
        tests[name] = replace(tests[name], adjusted_p_value=adjusted, verdict=judged)
    cautions = map(str, warn_of_clusters(ratings, "Simulated p-values"))
    verdict = (*_state_verdict(tests), *cautions)
    return KProperties(tests=tests, replicates=replicates, verdict=verdict)


def adjust_by_holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust p-values for the number of tests by Holm's method.

    Examples
    --------
    >>> adjust_by_holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    names = sorted(p_values, key=p_values.__getitem__)
    multiplied = [p_values[name] * (len(names) - rank) for rank, name in enumerate(names)]
    rising = np.maximum.accumulate(np.minimum(multiplied, 1.0))
    return dict(zip(names, rising.tolist(), strict=True))


def _state_verdict(tests: Mapping[str, KPropertyTest]) -> Iterator[str]:
    testable = [test for test in tests.values() if test.p_value is not None]
    rejected = {name: test for name, test in tests.items() if test.verdict == "rejected"}
    if not testable:
        yield "None of the K-properties can be tested with these ratings."
        return
    for name, test in rejected.items():
        # Errors that are nearer to the truth, or farther from it, than by chance are unequal.
        if name != "equal_errors" or "error_distance" not in rejected:
            yield f"Rejected: {test.k_property}: {test.note}."
    if "equal_accuracy" in rejected and INDEPENDENCE in rejected:
        yield "Raters whose errors are correlated agree more, and seem more accurate than others."
    if INDEPENDENCE in rejected:
        yield f"Raters who agree more than their accuracies explain {MEANING}."
    if "equal_difficulty" in rejected:
        yield (
            "Whether the system finds the same items difficult cannot be seen; how much that "
            "matters is seen, in Python, in fits of relaxed_k with the prior of system_slope fixed "
            "at 0 and at 1."
        )
    if rejected:
        yield "Compare the algebra's estimate with that of relaxed_k, which assumes none of these."
    if not rejected:
        several = f"None of the {len(testable)} tests rejects"
        tested = "The one test does not reject" if len(testable) == 1 else several
        yield (
            f"{tested} its K-property at {to_percent(SIGNIFICANCE)}. That does not prove that they "
            "hold: with 200 items the tests mostly miss unequal difficulty, and unequal errors "
            "that do not depend on the order of categories."
        )
    unseen = [test.name for test in tests.values() if test.p_value is None]
    if unseen:
        yield f"Not tested: {', '.join(unseen)}."
