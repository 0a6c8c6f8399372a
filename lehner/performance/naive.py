"""The table of answers by the majority, or by the algebra's probabilities, used as the truth."""

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.replicates import Parameters, Replicates
from lehner.core.warning import warn
from lehner.data.ratings import Ratings


def table_against_majority(ratings: Ratings) -> Replicates:
    """Take the majority for the truth; tied categories share the item."""
    votes = ratings.votes()
    tied = (votes == votes.max(axis=1, keepdims=True)) & (votes.sum(axis=1, keepdims=True) > 0)
    share = tied / np.maximum(tied.sum(axis=1, keepdims=True), 1)
    return _against(ratings, share, "compared with the majority, as if it were always right")


def table_against_probabilities(ratings: Ratings, truth: Floats) -> Replicates:
    """Take each item's truth probabilities, without its answer, for its shares of the truth."""
    note = "compared with the truth probabilities, which do not use the system's answers"
    return _against(ratings, truth, note)


def _against(ratings: Ratings, truth: Floats, note: str) -> Replicates:
    k, system = ratings.n_categories, np.asarray(ratings.system)
    answers = (system[:, None] == np.arange(k)) * ratings.weights[:, None]
    table = truth.T @ answers
    true = table.sum(axis=1)
    with np.errstate(invalid="ignore"):
        confusion, rates = table / true[:, None], true / true.sum()
    nothing = np.full(ratings.n_raters, np.nan)
    point = Parameters(base_rates=rates, confusion=confusion, rater_accuracy=nothing)
    return Replicates(point=point, notes=(warn("reference-imperfect", note),))
