"""What is told of a fitted model, and how it changes with the probabilities of the model."""

import numpy as np

from lehner.core.arrays import Booleans, Floats
from lehner.latent_class.confusion_matrices import confusion_to_mixture
from lehner.latent_class.maximum import BOUNDARY, Maximum
from lehner.latent_class.observed_information import Curvature

LENGTH_ROUNDING = 1e-10
MOVED = 1e-4
"""A quantity that a flat direction changes by more is not determined."""


def quantities(maximum: Maximum) -> dict[str, Floats]:
    """Give the estimates by name.

    Parameters
    ----------
    maximum : Maximum

    Returns
    -------
    dict of str to ndarray
        Base rates and confusion matrices, which are NaN in rows without expected ratings; if the
        classes are the categories, accuracy; in t-a-p, knowledge and guesses.
    """
    rated, fitted = maximum.rated, maximum.found
    values = {
        "base_rates": fitted.base_rates,
        "confusion": np.where(rated[..., None], fitted.confusion, np.nan),
    }
    if maximum.n_classes == maximum.table.n_categories:
        values["accuracy"] = maximum.accuracy
    if maximum.model.form == "knowledge":
        mixture = np.where(rated[:, :1], confusion_to_mixture(fitted.confusion), np.nan)
        guessed = 1 - mixture[:, :1]
        values["knowledge"] = mixture[:, 0]
        values["guessing"] = mixture[:, 1:] / np.where(guessed > BOUNDARY, guessed, np.nan)
    return values


def changes(maximum: Maximum, directions: Floats) -> dict[str, Floats]:
    """Give the changes of the quantities along directions.

    Parameters
    ----------
    maximum : Maximum
    directions : ndarray, shape (n_probabilities, n_directions)
        As in `Curvature`.

    Returns
    -------
    dict of str to ndarray
        As `quantities` gives them, with the directions as one more, last dimension.
    """
    values, fitted = quantities(maximum), maximum.found
    by_rates, by_confusion = np.split(directions, [fitted.base_rates.size])
    rates = by_rates.reshape(*maximum.base_rates.shape, -1)
    confusion = by_confusion.reshape(*fitted.confusion.shape, -1)
    found = {
        "base_rates": rates.reshape(*fitted.base_rates.shape, -1),
        "confusion": confusion,
    }
    if "accuracy" in values:
        shares = maximum.group_shares
        right = np.diagonal(fitted.confusion, axis1=1, axis2=2)
        found["accuracy"] = right @ np.tensordot(shares, rates, axes=1) + np.einsum(
            "c,jccf->jf", shares @ maximum.base_rates, confusion
        )
    if "knowledge" in values:
        category = np.arange(maximum.n_classes)
        knowledge = confusion[:, 0, 0] - confusion[:, -1, 0]
        guesses = confusion[:, category - 1, category]
        guessed = np.maximum(1 - values["knowledge"], BOUNDARY)[:, None, None]
        shares = np.nan_to_num(values["guessing"])[..., None]
        found["knowledge"] = knowledge
        found["guessing"] = (guesses + shares * knowledge[:, None]) / guessed
    return found


def standard_errors(maximum: Maximum, curvature: Curvature) -> dict[str, Floats]:
    """Give the standard errors of the quantities, NaN if they are fixed or not determined."""
    hidden = undetermined(maximum, curvature)
    errors = {}
    for name, change in changes(maximum, curvature.root).items():
        lengths = np.sqrt((change**2).sum(axis=-1))
        errors[name] = np.where(hidden[name] | (lengths < LENGTH_ROUNDING), np.nan, lengths)
    return errors


def undetermined(maximum: Maximum, curvature: Curvature) -> dict[str, Booleans]:
    """Tell which quantities have other values that fit as well."""
    return {
        name: np.abs(change).max(axis=-1, initial=0) > MOVED
        for name, change in changes(maximum, curvature.flat).items()
    }
