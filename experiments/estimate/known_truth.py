"""How the system does on the items whose truth is known."""

from dataclasses import dataclass, replace

import numpy as np

from lehner import Ratings
from lehner.known_truths.partly_known import rightness
from lehner.known_truths.survey import known_items_alone
from lehner.latent_class.pattern_table import known_truths


@dataclass(frozen=True, kw_only=True)
class KnownTruth:
    """How the system does on the items whose truth is known.

    Parameters
    ----------
    n_items : int
        Items with a known truth and an answer of the system.
    system_accuracy : float
        Proportion of them that the system got right.
    used : bool
        Whether they correct estimates or enter models: unless the truth of all items is known.
    lower, upper, level : float or None
        Wilson's interval for the system's accuracy in this sample, as if these items were drawn
        from it at random; None if the truth of all is known, when the proportion is exact.
    """

    n_items: int
    system_accuracy: float
    used: bool
    lower: float | None = None
    upper: float | None = None
    level: float | None = None


def known_truth(ratings: Ratings, level: float = 0.9) -> KnownTruth | None:
    """Score the system on the items whose truth is known; None without such items."""
    if ratings.truth is None or ratings.system is None or not (ratings.system >= 0).any():
        return None
    # The known items alone need no method, so that any probabilities will do.
    items = rightness(ratings, np.zeros(len(ratings.system)))
    alone = known_items_alone(items, level)
    if alone.estimate is None:
        return None
    score = KnownTruth(
        n_items=items.n_known, system_accuracy=alone.estimate, used=known_truths(ratings) > 0
    )
    if not score.used:
        return score
    return replace(score, lower=alone.lower, upper=alone.upper, level=alone.level)
