"""The one-coin model with an accuracy for each rater, partially pooled."""

from bayes_models.density.layout import LOG_ODDS as LOG_ODDS_LIKELIHOOD
from bayes_models.models.assemble import BASE_RATES, EARLIER_ANSWERS, new_model
from bayes_models.models.deferred import pm, pt
from bayes_models.models.log_odds import LOG_ODDS, add_equal_errors
from bayes_models.models.priors import Priors, n_apart
from bayes_models.models.spec import ModelSpec, Variable
from lehner import Ratings


def one_coin_by_rater(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the model in which raters differ in accuracy and errors are equally probable.

    .. math::
        p_j = c_j + \frac{1 - c_j}{K}, \quad
        \operatorname{logit} c_j \sim \mathrm{Normal}(\mu, \tau), \quad
        \theta_{jkk} = p_j, \quad \theta_{jkl} = \frac{1 - p_j}{K - 1} \;(l \ne k)

    Rater j knows the category with probability c, and otherwise guesses it. The system has its own
    accuracy; it does not belong to the population of raters, and may be worse than guessing. Groups
    of raters (see `Ratings.with_rater_groups`) are populations of their own, each with its μ and τ.
    `earlier_answers`, how many answers of each were right and wrong where the truth was known, as
    `power_prior` gives them, multiply the prior by :math:`p_j^r (1 - p_j)^w`.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default" or "flat", or priors of `base_rates`, `mean_log_odds`, `rater_spread`,
        `system_log_odds` and `earlier_answers`, see `bayes_models.models.families`.

    Returns
    -------
    pymc.Model
        Variables as in `dawid_skene`. With groups of raters `mean_log_odds` and `rater_spread` have
        the dimension `rater_group`, and there is `rater_group_accuracy` (rater_group), the mean of
        the raters' accuracies weighted by their numbers of ratings.

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`), or if there is no such set of priors or no
        such variable in it.

    References
    ----------
    Zhang et al. (2016), Spectral methods meet EM, Sec. 3, whose one-coin model has an accuracy for
    each rater, without a population of raters.

    Examples
    --------
    >>> import lehner
    >>> model = one_coin_by_rater(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs][1:]
    ['mean_log_odds', 'rater_spread', 'rater_effect', 'system_log_odds']
    """
    with new_model("one_coin_by_rater", ratings, priors) as (model, observed, values):
        log_odds, answers = add_equal_errors(observed, values), values[EARLIER_ANSWERS]
        right, wrong = -pt.softplus(-log_odds), -pt.softplus(log_odds)
        pm.Potential(EARLIER_ANSWERS, (answers[:, 0] * right + answers[:, 1] * wrong).sum())
    return model


SPEC = ModelSpec(
    build=one_coin_by_rater,
    variables=(BASE_RATES, *LOG_ODDS, Variable(EARLIER_ANSWERS, "answers", of="accuracy")),
    priors={
        "default": {
            "base_rates": 1.0,
            "mean_log_odds": (0.0, 1.2),
            "rater_spread": 0.6,
            "system_log_odds": (0.0, 1.0),
            "earlier_answers": (0.0, 0.0),
        },
        "flat": {
            "base_rates": 1.0,
            "mean_log_odds": (0.0, 1.7),
            "rater_spread": 1.0,
            "system_log_odds": (0.0, 1.0),
            "earlier_answers": (0.0, 0.0),
        },
    },
    n_parameters=lambda priors, observed: (
        n_apart(priors, "rater_spread", observed) + observed.has_system
    ),
    pools_rater_groups=True,
    likelihood=LOG_ODDS_LIKELIHOOD,
    matrices="group",
    takes_pair=True,
)
