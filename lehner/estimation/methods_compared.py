"""Several methods of one system: where they differ, and how well models predict."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from lehner.core.estimate import IntervalEstimate
from lehner.core.rows import Row, row
from lehner.core.warning import Warning, warn
from lehner.estimation.question import Fit


def ask_methods(
    fits: Sequence[Fit], accuracies: Sequence[IntervalEstimate]
) -> Iterator[Row | Warning]:
    """Compare the methods of one system.

    Parameters
    ----------
    fits : sequence of Fit
        By each method.
    accuracies : sequence of IntervalEstimate
        The expected accuracy by each, corrected by known truths where it can be.

    Yields
    ------
    dict or Warning
        Rows that name their method.
    """
    with_truth = [
        (fit, accuracy)
        for fit, accuracy in zip(fits, accuracies, strict=True)
        if "truth_probabilities" in fit.estimate.arrays
    ]
    for (first, one), (second, other) in combinations(with_truth, 2):
        rows = different_truth(first, second)
        names = {"method": second.estimate.method, "versus": first.estimate.method}
        difference = None
        if one.estimate is not None and other.estimate is not None:
            difference = other.estimate - one.estimate
        yield row(
            "method_difference",
            **names,
            estimate=difference,
            kind=_where(one, other),
            n_items=int(first.ratings.weights[rows].sum()),
        )
    yield from _predictions(fits)


def _where(one: IntervalEstimate, other: IntervalEstimate) -> str:
    """Tell whether each estimate lies in the other's interval."""
    numbers = (one.estimate, one.lower, one.upper, other.estimate, other.lower, other.upper)
    if None in numbers:
        return ""
    a, a_low, a_high, b, b_low, b_high = map(float, numbers)  # type: ignore[arg-type]
    return "inside" if a_low <= b <= a_high and b_low <= a <= b_high else "outside"


def different_truth(first: Fit, second: Fit) -> np.ndarray:
    """Find rows of the ratings whose most probable category differs by more than a tie."""
    one, two = (fit.estimate.arrays["truth_probabilities"].values for fit in (first, second))
    if np.isnan(one).any() or np.isnan(two).any():
        return np.array([], dtype=np.int64)
    best_one, best_two = one.argmax(axis=1), two.argmax(axis=1)
    rows = np.arange(len(one))
    tie = np.isclose(one[rows, best_one], one[rows, best_two]) | np.isclose(
        two[rows, best_one], two[rows, best_two]
    )
    return np.flatnonzero((best_one != best_two) & ~tie)


def _predictions(fits: Sequence[Fit]) -> Iterator[Row | Warning]:
    """Say how well models with draws predict items left out of the fit."""
    able = [fit.method.predictions for fit in fits if fit.method.predictions is not None]
    if not able:
        return
    table = able[0]([fit.estimate for fit in fits])
    if table is None:
        return
    for method, of_method in table.iterrows():
        yield row("elpd", estimate=of_method["elpd"], method=method)
        yield row("elpd_se", estimate=of_method["se"], method=method)
        yield row("elpd_difference", estimate=abs(of_method["elpd_diff"]), method=method)
        yield row("elpd_difference_se", estimate=of_method["dse"], method=method)
        yield row("stacking_weight", estimate=of_method["weight"], method=method)
        doubts = [text for text in of_method[["diag_elpd", "diag_diff"]] if text]
        if doubts:
            yield warn("prediction-uncertain", f"{method}: {'; '.join(doubts)}")
