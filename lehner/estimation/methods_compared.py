"""Several methods of one system: where they differ, and how well models predict."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from lehner.core.rows import Row
from lehner.core.warning import warn
from lehner.estimation.question import Answer, Fit, Options

PREDICTIONS = {
    "elpd": "elpd",
    "elpd_se": "se",
    "elpd_difference": "elpd_diff",
    "elpd_difference_se": "dse",
    "stacking_weight": "weight",
}
"""How well a model predicts items left out: quantities, and the columns of `arviz.compare`."""


def ask_methods(fits: Sequence[Fit], options: Options, rows: Sequence[Row]) -> Answer:
    """Compare the methods of one system.

    Parameters
    ----------
    fits : sequence of Fit
        By each method.
    options : Options
    rows : sequence of dict
        What other questions gave of this system.

    Yields
    ------
    dict or Warning
        The differences of accuracies, corrected by gold labels where they can be, with the number
        of items whose most probable category differs; and how well models predict.
    """
    accuracies = {
        one["method"]: one
        for one in rows
        if one["quantity"] == "system_accuracy" and "group" not in one
    }
    able = [fit for fit in fits if "truth_probabilities" in fit.estimate.arrays]
    for first, second in combinations(able, 2):
        one, other = (accuracies[fit.method.name] for fit in (first, second))
        known = None not in (one["estimate"], other["estimate"])
        yield {
            "quantity": "method_difference",
            "method": second.method.name,
            "versus": first.method.name,
            "estimate": other["estimate"] - one["estimate"] if known else None,
            "kind": _where(one, other),
            "n_items": int(first.ratings.weights[different_truth(first, second)].sum()),
        }
    predict = [fit.method.predictions for fit in fits if fit.method.predictions is not None]
    table = predict[0]([fit.estimate for fit in fits]) if predict else None
    for method, of_method in () if table is None else table.iterrows():
        of_method["elpd_diff"] = abs(of_method["elpd_diff"])
        for quantity, column in PREDICTIONS.items():
            yield {"quantity": quantity, "method": method, "estimate": of_method[column]}
        doubts = [text for text in of_method[["diag_elpd", "diag_diff"]] if text]
        if doubts:
            yield warn("prediction-uncertain", f"{method}: {'; '.join(doubts)}")


def _where(one: Row, other: Row) -> str:
    """Tell whether each estimate lies in the other's interval."""
    ends = [row[name] for row in (one, other) for name in ("lower", "estimate", "upper")]
    if None in ends:
        return ""
    low, estimate, high, other_low, other_estimate, other_high = ends
    inside = low <= other_estimate <= high and other_low <= estimate <= other_high
    return "inside" if inside else "outside"


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
