"""The hierarchical Dawid-Skene model: raters drawn from a population."""

from bayes_models.density.layout import MATRICES
from bayes_models.likelihood.observations import cells_of_matrix, group_names
from bayes_models.models.assemble import (
    BASE_RATES,
    add_confusion,
    append_system,
    new_model,
    take_of_group,
)
from bayes_models.models.deferred import pm, pt
from bayes_models.models.families import DIAGONAL, WEAK_DIAGONAL
from bayes_models.models.pooled import SYSTEM_CONFUSION
from bayes_models.models.priors import Priors, n_apart
from bayes_models.models.spec import GROUP, OF_ALL, Effect, ModelSpec, Variable, declare_spread
from bayes_models.models.zero_sum import zero_sum_basis
from lehner import Ratings

POPULATION_CONFUSION = Variable(
    "population_confusion",
    "dirichlet",
    (GROUP, "category", "response"),
    role="confusion",
    start=lambda at: at.mean_confusion_by_group,
    ratings=OF_ALL,
)
CONFUSION_SPREAD = declare_spread(
    "confusion_spread",
    Effect("confusion_effect", ("rater_without_system", "category", "contrast"), n_contrasts=1),
    dims=(GROUP,),
)


def hierarchical_dawid_skene(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the model in which raters' confusion matrices vary around a common one.

    .. math:: \theta_{jk} = \operatorname{softmax}(\log \bar\theta_k + \sigma u_{jk})

    where u is standard normal among the vectors that sum to zero. The system has its own matrix,
    because it does not belong to the population of raters. Groups of raters (see
    `Ratings.with_rater_groups`) are populations of their own: each has its common matrix and its
    spread, so that raters are drawn toward those of their group.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default" or "flat", or priors of `base_rates`, `population_confusion`,
        `confusion_spread` and `system_confusion`, see `bayes_models.models.families`.

    Returns
    -------
    pymc.Model
        Variables as in `dawid_skene`, and `population_confusion` (category, response) and
        `confusion_spread`; with groups of raters both have the dimension `rater_group` too, and
        there is `rater_group_accuracy` (rater_group), the mean of the raters' accuracies weighted
        by their numbers of ratings.

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`), or if there is no such set of priors or no
        such variable in it.

    References
    ----------
    Carpenter (2008), Multilevel Bayesian models of categorical data annotation; Paun et al.
    (2018), https://doi.org/10.1162/tacl_a_00040

    Examples
    --------
    >>> import lehner
    >>> model = hierarchical_dawid_skene(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs][1:]
    ['population_confusion', 'confusion_spread', 'confusion_effect', 'system_confusion']
    """
    with new_model("hierarchical_dawid_skene", ratings, priors) as (model, observed, values):
        mean = take_of_group(observed, pt.log(values["confusion"]))
        log_confusion = mean if group_names(observed) else pt.stack([mean] * observed.n_raters)
        if "confusion_effect" in values:
            # Not `pt.dot`: what calls BLAS cannot be kept on disk for another process.
            basis = zero_sum_basis(observed.n_categories)
            sums_to_zero = (values["confusion_effect"][..., None] * basis).sum(axis=-2)
            scale = pt.atleast_1d(take_of_group(observed, values["confusion_spread"]))
            log_confusion = log_confusion + scale[:, None, None] * sums_to_zero
        confusion = pt.special.softmax(log_confusion, axis=-1)
        add_confusion(
            observed, values, append_system(confusion, values["system_confusion"], observed)
        )
    return model


SPEC = ModelSpec(
    build=hierarchical_dawid_skene,
    variables=(BASE_RATES, POPULATION_CONFUSION, CONFUSION_SPREAD, SYSTEM_CONFUSION),
    priors={
        "default": {
            "base_rates": 3.0,
            "population_confusion": DIAGONAL,
            "confusion_spread": 0.5,
            "system_confusion": WEAK_DIAGONAL,
        },
        "flat": {
            "base_rates": 1.0,
            "population_confusion": 1.0,
            "confusion_spread": 1.0,
            "system_confusion": 1.0,
        },
    },
    n_parameters=lambda priors, observed: (
        cells_of_matrix(observed)
        * (n_apart(priors, "confusion_spread", observed) + observed.has_system)
    ),
    pools_rater_groups=True,
    likelihood=MATRICES,
    matrices="group",
)
