"""The one-coin model, in which all K-properties (see the glossary) are true."""

from bayes_models.density.layout import LOG_ODDS
from bayes_models.models.assemble import BASE_RATES, new_model
from bayes_models.models.deferred import pm
from bayes_models.models.log_odds import SYSTEM_LOG_ODDS, add_equal_errors
from bayes_models.models.priors import Priors
from bayes_models.models.spec import ModelSpec, Variable
from lehner import Ratings

RATER_LOG_ODDS = Variable(
    "rater_log_odds", "normal", role="mean_log_odds", start=lambda at: at.log_odds_of_knowing
)


def one_coin(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the model in which raters share one accuracy and errors are equally probable.

    .. math:: \theta_{jkk} = p, \quad \theta_{jkl} = \frac{1 - p}{K - 1} \;(l \ne k)

    It makes the same assumptions as Lehner's algebra, but is estimated by likelihood. Raters know
    the category, with log odds `rater_log_odds`, or guess it, so that p is at least 1/K. The system
    has its own accuracy, which may be less than 1/K.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default" or "flat", or priors of `base_rates`, `rater_log_odds` and
        `system_log_odds`, see `bayes_models.models.families`.

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
    Lehner (2015), Eq. 1-7; Zhang et al. (2016), Spectral methods meet EM, Sec. 3, for the name.

    Examples
    --------
    >>> import lehner
    >>> model = one_coin(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs]
    ['base_rates', 'rater_log_odds', 'system_log_odds']
    """
    with new_model("one_coin", ratings, priors) as (model, observed, values):
        add_equal_errors(observed, values)
    return model


SPEC = ModelSpec(
    build=one_coin,
    variables=(BASE_RATES, RATER_LOG_ODDS, SYSTEM_LOG_ODDS),
    priors={
        "default": {"base_rates": 1.0, "rater_log_odds": (0.0, 1.2), "system_log_odds": (0.0, 1.0)},
        "flat": {"base_rates": 1.0, "rater_log_odds": (0.0, 1.7), "system_log_odds": (0.0, 1.0)},
    },
    n_parameters=lambda priors, observed: 1 + observed.has_system,
    likelihood=LOG_ODDS,
    matrices="alike",
)
