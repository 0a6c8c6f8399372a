"""The truth-accuracy-guessing model: raters know the truth or guess."""

import numpy as np

from bayes_models.density.layout import TAP
from bayes_models.models.assemble import BASE_RATES, add_confusion, new_model
from bayes_models.models.deferred import pm
from bayes_models.models.priors import Priors
from bayes_models.models.spec import ModelSpec, Variable
from lehner import Ratings

KNOWLEDGE = Variable(
    "knowledge", "beta", ("rater",), start=lambda at: np.clip(at.accuracy, 0.1, 0.9)
)
GUESSING = Variable("guessing", "dirichlet", ("rater", "response"))


def tap(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the model in which a rater knows the true category or guesses.

    .. math:: \theta_{jkl} = a_j [k = l] + (1 - a_j) g_{jl}

    Rater j knows the category with probability a and otherwise gives category l with probability g,
    whatever the truth. Raters therefore cannot do worse than by guessing.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default", in which all are flat, or "shrunk", in which they are drawn to equal base
        rates and guesses; or priors of `base_rates`, `knowledge` and `guessing`, see
        `bayes_models.models.families`.

    Returns
    -------
    pymc.Model
        Variables as in `dawid_skene`, and `knowledge` (rater) and `guessing` (rater, response).

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`), or if there is no such set of priors or no
        such variable in it.

    References
    ----------
    Eubanks (2024), The Kappa Zoo, https://kappazoo.com, the t-a-p model.

    Examples
    --------
    >>> import lehner
    >>> model = tap(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs]
    ['base_rates', 'knowledge', 'guessing']
    """
    with new_model("tap", ratings, priors) as (model, observed, values):
        knowledge = values["knowledge"][:, None, None]
        guessed = (1 - knowledge) * values["guessing"][:, None, :]
        add_confusion(observed, values, knowledge * np.eye(observed.n_categories) + guessed)
    return model


SPEC = ModelSpec(
    build=tap,
    variables=(BASE_RATES, KNOWLEDGE, GUESSING),
    priors={
        "default": {"base_rates": 1.0, "knowledge": (1.0, 1.0), "guessing": 1.0},
        "shrunk": {"base_rates": 3.0, "knowledge": (2.0, 2.0), "guessing": 4.0},
    },
    likelihood=TAP,
    n_parameters=lambda priors, observed: observed.n_categories * len(observed.raters),
)
