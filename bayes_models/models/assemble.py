"""The last part of every model: confusion matrices, accuracies, and the observed ratings."""

from typing import Any

import numpy as np

from bayes_models.likelihood.observations import coords_of
from bayes_models.models.deferred import pm, pt
from bayes_models.models.rater_groups import add_group_accuracy
from lehner import Patterns


def add_confusion(
    observed: Patterns, base_rates: Any, confusion: Any, level_rates: Any = None
) -> None:
    """Add confusion matrices, the accuracies that follow from them, and the ratings.

    Parameters
    ----------
    base_rates : TensorVariable, shape (n_categories,) or (n_populations, n_categories)
        As `add_base_rates` gives them.
    confusion : TensorVariable, shape (n_raters, [n_levels,] n_categories, n_responses)
        Confusion matrices of raters and system; for each level of difficulty if there are levels.
    level_rates : ndarray, shape (n_levels,), optional
        Proportion of the items at each level.
    """
    # This module loads PyTensor, which is not loaded with this file.
    from bayes_models.likelihood.marginal import add_ratings

    mean = confusion
    if level_rates is not None:
        dims = ("rater", "level", "category", "response")
        pm.Deterministic("confusion_by_level", confusion, dims=dims)
        mean = (confusion * level_rates[:, None, None]).sum(axis=1)
    if "confusion" not in pm.modelcontext(None):
        pm.Deterministic("confusion", mean, dims=("rater", "category", "response"))
    rates = pm.modelcontext(None)["base_rates"]
    right = (mean * np.eye(observed.n_categories) * rates[:, None]).sum(axis=(1, 2))
    accuracy = pm.Deterministic("accuracy", right, dims="rater")
    if observed.has_system:
        pm.Deterministic("system_accuracy", accuracy[-1])
    add_group_accuracy(observed, accuracy)
    add_ratings(observed, base_rates, confusion, level_rates)


def equal_errors(accuracy: Any, n_categories: int) -> Any:
    """Confusion matrices in which all errors of a row are equally probable.

    Parameters
    ----------
    accuracy : TensorVariable, shape (n_raters, 1) or (n_raters, n_categories)

    Returns
    -------
    TensorVariable, shape (n_raters, n_categories, n_responses)
    """
    eye = np.eye(n_categories)
    wrong = (1 - accuracy[..., None]) / (n_categories - 1)
    return accuracy[..., None] * eye + wrong * (1 - eye)


def with_system(of_raters: Any, of_system: Any) -> Any:
    """Put the system's value after those of the raters."""
    return pt.concatenate([of_raters, of_system[None]], axis=0)


def rater_coords(observed: Patterns) -> dict[str, Any]:
    """Coordinates of a model in which raters and system differ."""
    raters = list(observed.raters[: observed.n_raters])
    return coords_of(observed) | {"rater_without_system": raters}
