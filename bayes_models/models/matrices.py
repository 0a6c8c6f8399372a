r"""The model in which each rater has a full confusion matrix.

Here θ is the probability of an answer l by rater j to an item of true category k, of K categories.
The system is one more rater.

`dawid_skene` has a full matrix for each rater (Dawid & Skene 1979):

.. math::
    \pi \sim \mathrm{Dirichlet}, \quad \theta_{jk} \sim \mathrm{Dirichlet}, \quad
    z_i \sim \mathrm{Categorical}(\pi), \quad y_{ij} \sim \mathrm{Categorical}(\theta_{j z_i})

The likelihood is summed over the unknown true categories z; known ones enter as data. It does not
change if the true categories are renamed (label switching); the prior, by which raters are right
more often than wrong, decides which name belongs to which category. By default the prior of each
row of a matrix counts as much as 8 ratings, of which 60% are right (Pullin, Gurrin & Vukcevic
2023), but that of the system as 2.

References
----------
Dawid & Skene (1979), https://doi.org/10.2307/2346806; Pullin, Gurrin & Vukcevic (2023),
https://doi.org/10.32614/RJ-2023-064
"""

from bayes_models.density.priors import MATRICES
from bayes_models.models import spec
from bayes_models.models.spec import BASE_RATES, DIAGONAL, WEAK_DIAGONAL, ModelSpec, Variable

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

SPECS = {
    "dawid_skene": ModelSpec(
        confusion=lambda observed, values: values["confusion"],
        variables=(BASE_RATES, CONFUSION, LAST_CONFUSION),
        priors={
            "default": {
                "base_rates": 3.0,
                "confusion": DIAGONAL,
                "system_confusion": WEAK_DIAGONAL,
            },
            "flat": {"base_rates": 1.0, "confusion": 1.0, "system_confusion": 1.0},
        },
        n_parameters=lambda priors, observed: (
            len(observed.raters) * observed.n_categories * (observed.n_categories - 1)
        ),
        conjugate=True,
        likelihood=MATRICES,
    )
}
