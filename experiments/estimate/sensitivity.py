"""What mistakes shared by raters and system would do to estimates: rows, sentences and a table."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lehner import Estimate, Sensitivity, sensitivity_curve
from lehner.core.estimate import plain
from lehner.shared_mistakes.prior import describe_shared_mistakes

if TYPE_CHECKING:
    import pandas as pd

SLOPED = "relaxed_k"


def sensitivity_dict(
    found: Sensitivity, estimate: Estimate, slopes: Mapping[float, Estimate] | None
) -> dict[str, Any]:
    """Give the sensitivity of an estimate in plain types, that of `relaxed_k` to its slope too."""
    by_slope = None
    if slopes is not None and estimate.method == SLOPED:
        by_slope = {
            f"{slope:g}": plain(fixed.system_accuracy)
            | {"in_sample": plain(fixed.system_accuracy_in_sample)}
            for slope, fixed in slopes.items()
        }
    return found.to_dict() | {"system_slope": by_slope}


def widened_rows(found: Sequence[Sensitivity]) -> list[list[str]]:
    """Give rows of widened intervals for the table of estimates; none if none were asked for."""
    if not found or found[0].shared_mistakes is None:
        return []
    return [
        ["  widened", *(str(one.widened) for one in found)],
        ["  in this sample, widened", *(str(one.widened_in_sample) for one in found)],
    ]


def sensitivity_lines(
    estimates: Sequence[Estimate],
    found: Sequence[Sensitivity],
    slopes: Mapping[float, Estimate] | None,
) -> list[str]:
    """Say what shared mistakes would do to each estimate, and what the system's slope does."""
    moved = [
        f"{one.system_accuracy.estimate:.3f}, not {estimate.system_accuracy.estimate:.3f}, by "
        f"{estimate.method}"
        for estimate, one in zip(estimates, found, strict=True)
        if estimate.system_accuracy.estimate is not None
    ]
    alone = [
        f"{one.raters_alone.estimate:.3f} by {estimate.method}"
        for estimate, one in zip(estimates, found, strict=True)
        if one.raters_alone is not None and one.raters_alone.estimate is not None
    ]
    lines = []
    if moved:
        lines.append(
            f"if {found[0].misleading_share:.0%} of the items mislead raters and system alike, "
            f"the system's accuracy is {'; '.join(moved)}; if they mislead the raters alone, it is "
            f"{'; '.join(alone)}: ratings without known truths cannot tell"
        )
    if found and found[0].shared_mistakes is not None:
        share = describe_shared_mistakes(found[0].shared_mistakes)
        lines.append(
            "widened: with the lower end that the interval has if raters and system share "
            f"mistakes on {share}"
        )
    if slopes:
        said = ", ".join(f"{one.system_accuracy} at slope {s:g}" for s, one in slopes.items())
        lines.append(
            f"{SLOPED}: if difficulty for raters moves the system not at all (slope 0) or as far "
            f"as them (slope 1), system accuracy is {said}"
        )
    return lines


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
