"""The class-conditional model: an accuracy for each rater and category, and equal errors."""

from bayes_models.density.layout import CLASS_CONDITIONAL
from bayes_models.models.assemble import BASE_RATES, add_confusion, equal_errors, new_model
from bayes_models.models.deferred import pm
from bayes_models.models.priors import Priors
from bayes_models.models.spec import OF_A_RATER, OF_THE_SYSTEM, ModelSpec, Variable
from lehner import Ratings

ACCURACY = Variable(
    "accuracy_by_category",
    "beta",
    ("rater", "category"),
    start=lambda at: at.accuracy_by_category,
    ratings=OF_A_RATER,
)
SYSTEM_ACCURACY = Variable(
    "system_accuracy_by_category", "beta", last_row_of="accuracy_by_category", ratings=OF_THE_SYSTEM
)


def class_conditional(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the model in which a rater's accuracy depends on the true category.

    .. math::
        \theta_{jkk} \sim \mathrm{Beta}, \quad
        \theta_{jkl} = \frac{1 - \theta_{jkk}}{K - 1} \;(l \ne k)

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default", "rater" (as in R's rater) or "flat", or priors of `base_rates`,
        `accuracy_by_category` and `system_accuracy_by_category`, see
        `bayes_models.models.families`. In "rater" the prior of each accuracy counts as much as 8
        ratings; "default" differs from it in the system's prior, which counts as much as 2.

    Returns
    -------
    pymc.Model
        Variables as in `dawid_skene`, and `accuracy_by_category` (rater, category).

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`), or if there is no such set of priors or no
        such variable in it.

    References
    ----------
    Pullin, Gurrin & Vukcevic (2023), https://doi.org/10.32614/RJ-2023-064

    Examples
    --------
    >>> import lehner
    >>> model = class_conditional(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs]
    ['base_rates', 'accuracy_by_category']
    """
    with new_model("class_conditional", ratings, priors) as (model, observed, values):
        accuracy = values["accuracy_by_category"]
        add_confusion(observed, values, equal_errors(accuracy, observed.n_categories))
    return model


SPEC = ModelSpec(
    build=class_conditional,
    variables=(BASE_RATES, ACCURACY, SYSTEM_ACCURACY),
    priors={
        "default": {
            "base_rates": 3.0,
            "accuracy_by_category": (4.8, 3.2),
            "system_accuracy_by_category": (1.2, 0.8),
        },
        "rater": {
            "base_rates": 3.0,
            "accuracy_by_category": (4.8, 3.2),
            "system_accuracy_by_category": (4.8, 3.2),
        },
        "flat": {
            "base_rates": 1.0,
            "accuracy_by_category": (1.0, 1.0),
            "system_accuracy_by_category": (1.0, 1.0),
        },
    },
    likelihood=CLASS_CONDITIONAL,
    n_parameters=lambda priors, observed: observed.n_categories * len(observed.raters),
)
