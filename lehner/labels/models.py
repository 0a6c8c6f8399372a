"""The models that label items by variational Bayes, by name."""

from dataclasses import dataclass
from typing import Literal

type Rows = Literal["one", "rater", "matrix"]

MAJORITY = "majority"
SUBTYPES = 10


@dataclass(frozen=True, kw_only=True)
class LabelModel:
    """What a model assumes about the raters.

    Parameters
    ----------
    summary : str
        Description in a few words.
    rows : {"one", "rater", "matrix"}
        One accuracy; one for each rater; a confusion matrix for each rater. Errors are equally
        probable in the first two.
    subtypes : int
        Number of kinds of items in a category, each with its own confusion matrices, so that raters
        of items of one kind share mistakes.
    equal_base_rates : bool
        Whether categories are equally frequent.
    """

    summary: str
    rows: Rows
    subtypes: int = 1
    equal_base_rates: bool = False


LABEL_MODELS = {
    MAJORITY: LabelModel(
        summary="each rater counts the same, and so does each category",
        rows="one",
        equal_base_rates=True,
    ),
    "one_coin_vb": LabelModel(summary="one accuracy for all raters", rows="one"),
    "one_coin_by_rater_vb": LabelModel(
        summary="an accuracy per rater, from a population of raters", rows="rater"
    ),
    "dawid_skene_vb": LabelModel(
        summary="a confusion matrix per rater, from a population of raters", rows="matrix"
    ),
    "ebcc": LabelModel(
        summary="kinds of items within a category, on which raters share mistakes",
        rows="matrix",
        subtypes=SUBTYPES,
    ),
}
"""The models: first the majority vote with a probability, last that with most parameters."""
