"""What shared mistakes, and difficulty that affects the system, would do to each estimate."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lehner.core.estimate import Estimate, plain
from lehner.data.ratings import Ratings
from lehner.dependence.sensitivity import Sensitivity, sensitivity
from lehner.estimation.question import Options, Question

SLOPED = "relaxed_k"
"""The method whose slope of the system on difficulty can be fixed."""
DIFFICULTY = "difficulty_spread"
"""Its parameter that is 0 if all items are equally difficult for the raters."""


@dataclass(frozen=True, kw_only=True)
class Moved:
    """How an estimate would be moved.

    Parameters
    ----------
    misled : Sensitivity
        By items that mislead the raters, with the system or alone.
    slopes : mapping of float to Estimate, optional
        By the system's slope on difficulty.
    """

    misled: Sensitivity
    slopes: Mapping[float, Estimate] | None = None


def _answer(ratings: Ratings, estimate: Estimate, options: Options) -> Moved:
    return Moved(
        misled=sensitivity(estimate, ratings.n_categories),
        slopes=options.slopes if estimate.method == SLOPED else None,
    )


def _to_dict(moved: Moved) -> dict[str, Any]:
    by_slope = (
        None
        if moved.slopes is None
        else {
            f"{slope:g}": plain(fixed.system_accuracy)
            | {"in_sample": plain(fixed.system_accuracy_in_sample)}
            for slope, fixed in moved.slopes.items()
        }
    )
    return {"sensitivity": moved.misled.to_dict() | {"system_slope": by_slope}}


SENSITIVITY = Question(name="sensitivity", answer=_answer, to_dict=_to_dict)
