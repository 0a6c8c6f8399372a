"""The models by name."""

from collections.abc import Callable

import pymc as pm

from bayes_models.class_conditional import class_conditional
from bayes_models.dawid_skene import dawid_skene
from bayes_models.hierarchical_dawid_skene import hierarchical_dawid_skene
from bayes_models.one_coin import one_coin
from bayes_models.one_coin_by_rater import one_coin_by_rater
from bayes_models.pooled import pooled
from bayes_models.relaxed_k import relaxed_k
from bayes_models.tap import tap
from lehner.checks import find

MODELS: dict[str, Callable[..., pm.Model]] = {
    "one_coin": one_coin,
    "one_coin_by_rater": one_coin_by_rater,
    "pooled": pooled,
    "class_conditional": class_conditional,
    "dawid_skene": dawid_skene,
    "hierarchical_dawid_skene": hierarchical_dawid_skene,
    "tap": tap,
    "relaxed_k": relaxed_k,
}


def find_model(name: str) -> Callable[..., pm.Model]:
    """Look a model up.

    Parameters
    ----------
    name : str

    Returns
    -------
    callable
        From ratings and priors to a `pymc.Model`.

    Raises
    ------
    InputError
        If there is no such model.

    Examples
    --------
    >>> find_model("one_coin").__name__
    'one_coin'
    """
    return find("model", name, MODELS)
