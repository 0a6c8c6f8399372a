"""The Dawid-Skene model: base rates, and a full confusion matrix for each rater."""

from bayes_models.density.layout import MATRICES
from bayes_models.likelihood.observations import cells_of_matrix
from bayes_models.models.assemble import BASE_RATES, add_confusion, new_model
from bayes_models.models.deferred import pm
from bayes_models.models.families import DIAGONAL, WEAK_DIAGONAL
from bayes_models.models.priors import Priors
from bayes_models.models.spec import OF_A_RATER, OF_THE_SYSTEM, ModelSpec, Variable
from lehner import Ratings

CONFUSION = Variable(
    "confusion",
    "dirichlet",
    ("rater", "category", "response"),
    start=lambda at: at.confusion,
    ratings=OF_A_RATER,
)
SYSTEM_CONFUSION = Variable(
    "system_confusion", "dirichlet", last_row_of="confusion", ratings=OF_THE_SYSTEM
)


def dawid_skene(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the Bayesian Dawid-Skene model, the system being one more rater.

    .. math::
        \pi \sim \mathrm{Dirichlet}, \quad \theta_{jk} \sim \mathrm{Dirichlet}, \quad
        z_i \sim \mathrm{Categorical}(\pi), \quad y_{ij} \sim \mathrm{Categorical}(\theta_{j z_i})

    The likelihood is summed over the unknown true categories z; known ones enter as data. It does
    not change if the true categories are renamed (label switching); the prior, by which raters are
    right more often than wrong, decides which name belongs to which category.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default"; "rater" (as in R's rater: the prior of each row of a matrix counts as much as
        8 ratings, of which 60% are right); "flat"; or priors of `base_rates`, `confusion` and
        `system_confusion`, see `bayes_models.models.families`. "default" differs from "rater" in
        the system's rows, whose prior counts as much as 2 ratings. If `confusion` is given and
        `system_confusion` is not, it is also the prior of the system.

    Returns
    -------
    pymc.Model
        Variables `base_rates` (category), `confusion` (rater, category, response), `accuracy`
        (rater) and, with a system, `system_accuracy`; the system is the rater "system". If items
        are from populations, `base_rates_by_population` (population, category) are what is
        estimated, and `base_rates` those of all items.

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`), or if there is no such set of priors or no
        such variable in it.

    References
    ----------
    Dawid & Skene (1979), https://doi.org/10.2307/2346806; priors as in Pullin, Gurrin &
    Vukcevic (2023), https://doi.org/10.32614/RJ-2023-064

    Examples
    --------
    >>> import lehner
    >>> model = dawid_skene(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs]
    ['base_rates', 'confusion']
    """
    with new_model("dawid_skene", ratings, priors) as (model, observed, values):
        add_confusion(observed, values, values["confusion"])
    return model


SPEC = ModelSpec(
    build=dawid_skene,
    variables=(BASE_RATES, CONFUSION, SYSTEM_CONFUSION),
    priors={
        "default": {"base_rates": 3.0, "confusion": DIAGONAL, "system_confusion": WEAK_DIAGONAL},
        "rater": {"base_rates": 3.0, "confusion": DIAGONAL, "system_confusion": DIAGONAL},
        "flat": {"base_rates": 1.0, "confusion": 1.0, "system_confusion": 1.0},
    },
    n_parameters=lambda priors, observed: cells_of_matrix(observed) * len(observed.raters),
    conjugate=True,
    takes_pair=True,
    likelihood=MATRICES,
)
