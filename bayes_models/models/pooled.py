"""The pooled model: one full confusion matrix shared by the raters."""

from bayes_models.density.layout import MATRICES
from bayes_models.likelihood.observations import cells_of_matrix
from bayes_models.models.assemble import BASE_RATES, add_confusion, append_system, new_model
from bayes_models.models.deferred import pm, pt
from bayes_models.models.families import DIAGONAL, WEAK_DIAGONAL
from bayes_models.models.priors import Priors
from bayes_models.models.spec import OF_ALL, OF_THE_SYSTEM, SYSTEM, ModelSpec, Variable
from lehner import Ratings

RATER_CONFUSION = Variable(
    "rater_confusion",
    "dirichlet",
    ("category", "response"),
    role="confusion",
    start=lambda at: at.mean_confusion,
    ratings=OF_ALL,
)
SYSTEM_CONFUSION = Variable(
    "system_confusion",
    "dirichlet",
    ("category", "response"),
    needs=(SYSTEM,),
    start=lambda at: at.confusion[-1],
    ratings=OF_THE_SYSTEM,
)


def pooled(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the model in which all raters have the same confusion matrix.

    .. math:: \theta_{jk} = \theta_k \sim \mathrm{Dirichlet}

    Some errors may be more probable than others, but they are so for all raters. The system has its
    own matrix.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default"; "rater" (as in R's rater: the prior of each row of a matrix counts as much as
        8 ratings, of which 60% are right); "flat"; or priors of `base_rates`, `rater_confusion` and
        `system_confusion`, see `bayes_models.models.families`. "default" differs from "rater" in
        the system's rows, whose prior counts as much as 2 ratings.

    Returns
    -------
    pymc.Model
        Variables as in `dawid_skene`.

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`), or if there is no such set of priors or no
        such variable in it.

    References
    ----------
    Paun et al. (2018), https://doi.org/10.1162/tacl_a_00040, the multinomial model.

    Examples
    --------
    >>> import lehner
    >>> model = pooled(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs]
    ['base_rates', 'rater_confusion', 'system_confusion']
    """
    with new_model("pooled", ratings, priors) as (model, observed, values):
        confusion = pt.stack([values["confusion"]] * observed.n_raters)
        add_confusion(
            observed, values, append_system(confusion, values["system_confusion"], observed)
        )
    return model


SPEC = ModelSpec(
    build=pooled,
    variables=(BASE_RATES, RATER_CONFUSION, SYSTEM_CONFUSION),
    priors={
        "default": {
            "base_rates": 3.0,
            "rater_confusion": DIAGONAL,
            "system_confusion": WEAK_DIAGONAL,
        },
        "rater": {"base_rates": 3.0, "rater_confusion": DIAGONAL, "system_confusion": DIAGONAL},
        "flat": {"base_rates": 1.0, "rater_confusion": 1.0, "system_confusion": 1.0},
    },
    n_parameters=lambda priors, observed: cells_of_matrix(observed) * (1 + observed.has_system),
    conjugate=True,
    likelihood=MATRICES,
    matrices="alike",
)
