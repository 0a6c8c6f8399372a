"""What mistakes shared by raters and system would do to estimates: rows, sentences and a table."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lehner import Estimate, IntervalEstimate, Sensitivity, sensitivity_curve
from lehner.core.estimate import plain
from lehner.core.number_format import decimal
from lehner.dependence.widened_interval import describe_shared_mistakes

if TYPE_CHECKING:
    import pandas as pd

SLOPED = "relaxed_k"
ABOUT = "≈"


def sensitivity_dict(
    sensitivity: Sensitivity, estimate: Estimate, slopes: Mapping[float, Estimate] | None
) -> dict[str, Any]:
    """Give the sensitivity of an estimate in plain types, that of `relaxed_k` to its slope too."""
    by_slope = None
    if slopes is not None and estimate.method == SLOPED:
        by_slope = {
            f"{slope:g}": plain(fixed.system_accuracy)
            | {"in_sample": plain(fixed.system_accuracy_in_sample)}
            for slope, fixed in slopes.items()
        }
    return sensitivity.to_dict() | {"system_slope": by_slope}


def widened_columns(each: Sequence[Sensitivity]) -> list[list[str]]:
    """Give columns of widened intervals, heads first; none if none were asked for."""
    if not each or each[0].shared_mistakes is None:
        return []
    return [
        ["widened", *(str(one.widened) for one in each)],
        ["in this sample, widened", *(str(one.widened_in_sample) for one in each)],
    ]


def misled_heading(each: Sequence[Sensitivity]) -> str:
    """Say what the table of `misled_rows` is about."""
    return (
        f"What the system's accuracy would be if {100 * each[0].misleading_share:.3g}% of the "
        "items misled the raters, with the system or alone (ratings without known truths cannot "
        "tell):"
    )


def misled_rows(estimates: Sequence[Estimate], each: Sequence[Sensitivity]) -> list[list[str]]:
    """Give what each estimate becomes where items mislead the raters; no rows without estimates."""
    rows = [["method", "nobody misled", "system too", "raters alone"]]
    for estimate, sensitivity in zip(estimates, each, strict=True):
        if estimate.system_accuracy.estimate is not None:
            values = (
                estimate.system_accuracy,
                sensitivity.system_accuracy,
                sensitivity.raters_alone,
            )
            *cells, alone = map(_number, values)
            about = ABOUT if _is_approximate(sensitivity) else ""
            rows.append([estimate.method, *cells, f"{about}{alone}"])
    return rows if len(rows) > 1 else []


def _is_approximate(sensitivity: Sensitivity) -> bool:
    alone = sensitivity.raters_alone
    known = alone is not None and alone.estimate is not None
    return known and not sensitivity.raters_alone_exact


def sensitivity_lines(
    each: Sequence[Sensitivity], slopes: Mapping[float, Estimate] | None
) -> list[str]:
    """Say what is approximate, how intervals were widened, and what the system's slope does."""
    lines = []
    if any(map(_is_approximate, each)):
        lines.append(
            f"{ABOUT} is an approximation unless all categories are equally frequent, because the "
            "method does not estimate how accurate the system is in each category."
        )
    if each and each[0].shared_mistakes is not None:
        share = describe_shared_mistakes(each[0].shared_mistakes)
        lines.append(
            "The widened intervals have the lower end that they would have if raters and system "
            f"shared mistakes on {share}."
        )
    if slopes:
        values = ", ".join(f"{one.system_accuracy} at slope {s:g}" for s, one in slopes.items())
        lines.append(
            f"{SLOPED}: the system's accuracy is {values}; at slope 0 items that are difficult for "
            "the raters are no more difficult for the system, at slope 1 as difficult as for them."
        )
    return lines


def _number(value: IntervalEstimate | None) -> str:
    return decimal(None if value is None else value.estimate)


def curves(estimates: Sequence[Estimate], n_categories: int) -> "pd.DataFrame":
    """Give each estimate for shares of misleading items from none to half.

    Returns
    -------
    pandas.DataFrame
        Columns `method`, `misleading_share`, `estimate`, `lower`, `upper`.
    """
    import pandas as pd

    return pd.concat(
        [
            sensitivity_curve(estimate.system_accuracy, n_categories)
            .to_dataframe()
            .reset_index()
            .assign(method=estimate.method)
            for estimate in estimates
        ]
    )[["method", "misleading_share", "estimate", "lower", "upper"]]
