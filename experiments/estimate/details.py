"""The system in detail by each method: as rows of tables, in JSON and as a data frame."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lehner import Estimate, Ratings, SystemPerformance
from lehner.core.arrays import Floats
from lehner.performance.detail import replicates_of, summarise

if TYPE_CHECKING:
    import pandas as pd

DETAIL_RESAMPLES = 1000
IN_JSON = (
    "confusion",
    "recall",
    "precision",
    "specificity",
    "f1",
    "balanced_accuracy",
    "mcc",
    "kappa_with_truth",
    "base_rate_intervals",
    "rater_accuracy_intervals",
    "performance_notes",
)

type Details = Sequence[SystemPerformance | None]


def describe_systems(
    ratings: Ratings,
    estimates: Sequence[Estimate],
    *,
    costs: Floats | None = None,
    level: float = 0.9,
    seed: int = 1,
) -> tuple[SystemPerformance | None, ...]:
    """Give the system in detail by each method that can.

    Parameters
    ----------
    ratings : Ratings
    estimates : sequence of Estimate
    costs : ndarray, shape (n_categories, n_categories), optional
        Of each answer (column) when each category (row) is true.
    level : float
    seed : int
        Of the resamples.

    Returns
    -------
    tuple of SystemPerformance or None
        None for methods that say nothing of the system by category.
    """
    details: list[SystemPerformance | None] = []
    for estimate in estimates:
        replicates = replicates_of(ratings, estimate, resamples=DETAIL_RESAMPLES, seed=seed)
        if replicates is None:
            details.append(None)
        else:
            details.append(summarise(ratings, estimate, replicates, costs, level))
    return tuple(details)


def details_dict(details: SystemPerformance | None) -> dict[str, Any]:
    """Give a system in detail for JSON; null where the method does not say."""
    nothing = dict.fromkeys(IN_JSON)
    return nothing if details is None else nothing | details.to_dict()


def details_frame(details: Details) -> "pd.DataFrame":
    """Give a row per method and number.

    Returns
    -------
    pandas.DataFrame
        Columns `method`, `system`, `quantity`, `label` (category, rater, or the true category of
        the confusion matrix), `response` (of the confusion matrix), `estimate`, `lower`, `upper`,
        `level`, `kind`.
    """
    import pandas as pd

    columns = ("method", "system", "quantity", "label", "response")
    rows = [
        dict(zip(columns, (one.method, one.system, quantity, *places, "", ""), strict=False))
        | vars(value)
        for one in details
        if one is not None
        for quantity, places, value in one.rows()
    ]
    return pd.DataFrame(rows, columns=[*columns, "estimate", "lower", "upper", "level", "kind"])


def recall_and_precision(details: Details, limit: int | None) -> Iterator[list[str]]:
    """Give the rows of recall and precision for the table of methods side by side."""
    known = next((one for one in details if one is not None), None)
    if known is None:
        return
    categories = known.arrays["recall"].names["category"]
    for quantity in ("recall", "precision"):
        yield [quantity, *("" for _ in details)]
        for category in categories[:limit]:
            cells = ("" if one is None else str(one.value(quantity, category)) for one in details)
            yield [f"  {category}", *cells]
        if limit is not None and len(categories) > limit:
            yield [f"  … and {len(categories) - limit} more", *("" for _ in details)]
