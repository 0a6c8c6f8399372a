r"""Models of confusion matrices: of each rater, of all raters alike, or of a population of raters.

Here θ is the probability of an answer l by rater j to an item of true category k, of K categories.
The system is one more rater; where raters share something, it has a confusion matrix of its own.

`dawid_skene` has a full matrix for each rater (Dawid & Skene 1979):

.. math::
    \pi \sim \mathrm{Dirichlet}, \quad \theta_{jk} \sim \mathrm{Dirichlet}, \quad
    z_i \sim \mathrm{Categorical}(\pi), \quad y_{ij} \sim \mathrm{Categorical}(\theta_{j z_i})

The likelihood is summed over the unknown true categories z; known ones enter as data. It does not
change if the true categories are renamed (label switching); the prior, by which raters are right
more often than wrong, decides which name belongs to which category. By default the prior of each
row of a matrix counts as much as 8 ratings, of which 60% are right (Pullin, Gurrin & Vukcevic
2023), but that of the system as 2.

In `pooled` all raters have the same matrix (the multinomial model of Paun et al. 2018). Some errors
may be more probable than others, but they are so for all raters.

In `class_conditional` a rater's accuracy depends on the true category (Pullin, Gurrin & Vukcevic
2023):

.. math::
    \theta_{jkk} \sim \mathrm{Beta}, \quad
    \theta_{jkl} = \frac{1 - \theta_{jkk}}{K - 1} \;(l \ne k)

References
----------
Dawid & Skene (1979), https://doi.org/10.2307/2346806; Paun et al. (2018),
https://doi.org/10.1162/tacl_a_00040; Pullin, Gurrin & Vukcevic (2023),
https://doi.org/10.32614/RJ-2023-064
"""

from typing import Any

from bayes_models.density.priors import CLASS_CONDITIONAL, MATRICES
from bayes_models.models import pt, spec
from bayes_models.models.assemble import append_system, make_equal_errors
from bayes_models.models.spec import BASE_RATES, DIAGONAL, ModelSpec, Values, Variable
from lehner import Patterns

CONFUSION = Variable(
    "confusion",
    "dirichlet",
    ("rater", "category", "response"),
    start=lambda start: start.confusion,
    ratings=spec.OF_A_RATER,
)
LAST_CONFUSION = Variable(
    "system_confusion", "dirichlet", last_row_of="confusion", ratings=spec.OF_THE_SYSTEM
)
RATER_CONFUSION = Variable(
    "rater_confusion",
    "dirichlet",
    ("true_category", "answer"),
    role="confusion",
    start=lambda start: start.mean_confusion,
    ratings=spec.OF_ALL,
)
SYSTEM_CONFUSION = Variable(
    "system_confusion",
    "dirichlet",
    ("true_category", "answer"),
    needs=(spec.SYSTEM,),
    start=lambda start: start.confusion[-1],
    ratings=spec.OF_THE_SYSTEM,
)
ACCURACY = Variable(
    "accuracy_by_category",
    "beta",
    ("rater", "category"),
    start=lambda start: start.accuracy_by_category,
    ratings=spec.OF_A_RATER,
)
SYSTEM_ACCURACY = Variable(
    "system_accuracy_by_category",
    "beta",
    last_row_of="accuracy_by_category",
    ratings=spec.OF_THE_SYSTEM,
)


def _share_matrix(observed: Patterns, values: Values) -> Any:
    """Give all raters one confusion matrix."""
    of_raters = pt.stack([values["confusion"]] * observed.n_raters)
    return append_system(of_raters, values["system_confusion"], observed)


def _count_cells(observed: Patterns) -> int:
    """Count the free probabilities in a full confusion matrix."""
    return observed.n_categories * (observed.n_categories - 1)


def _list_priors(of_raters: str) -> dict[str, Any]:
    default = {"base_rates": 3.0, of_raters: DIAGONAL, "system_confusion": spec.WEAK_DIAGONAL}
    return {"default": default, "flat": dict.fromkeys(default, 1.0)}


FLAT = (1.0, 1.0)
SPECS = {
    "dawid_skene": ModelSpec(
        confusion=lambda observed, values: values["confusion"],
        variables=(BASE_RATES, CONFUSION, LAST_CONFUSION),
        priors=_list_priors("confusion"),
        n_parameters=lambda priors, observed: _count_cells(observed) * len(observed.raters),
        conjugate=True,
        likelihood=MATRICES,
    ),
    "pooled": ModelSpec(
        confusion=_share_matrix,
        variables=(BASE_RATES, RATER_CONFUSION, SYSTEM_CONFUSION),
        priors=_list_priors("rater_confusion"),
        n_parameters=lambda priors, observed: _count_cells(observed) * (1 + observed.has_system),
        conjugate=True,
        likelihood=MATRICES,
        raters_alike=True,
    ),
    "class_conditional": ModelSpec(
        confusion=lambda observed, values: make_equal_errors(
            values["accuracy_by_category"], observed.n_categories
        ),
        variables=(BASE_RATES, ACCURACY, SYSTEM_ACCURACY),
        priors={
            "default": {
                "base_rates": 3.0,
                "accuracy_by_category": (4.8, 3.2),
                "system_accuracy_by_category": (1.2, 0.8),
            },
            "flat": {
                "base_rates": 1.0,
                "accuracy_by_category": FLAT,
                "system_accuracy_by_category": FLAT,
            },
        },
        n_parameters=lambda priors, observed: observed.n_categories * len(observed.raters),
        likelihood=CLASS_CONDITIONAL,
    ),
}
