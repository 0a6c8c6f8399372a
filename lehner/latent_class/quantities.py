"""What is told of a fitted model, and how it changes with the probabilities of the model."""

import numpy as np

from lehner.core.arrays import Booleans, Floats
from lehner.core.warning import Warning, warn
from lehner.latent_class.confusion_matrices import confusion_to_mixture
from lehner.latent_class.maximum import BOUNDARY, Maximum
from lehner.latent_class.observed_information import Curvature, curvature

LENGTH_ROUNDING = 1e-10
MOVED = 1e-4
"""A quantity that a flat direction changes by more is not determined."""
LEAST_GAIN = 1e-4
MOST_PARAMETERS = 2_000
"""With more the check of a t-a-p model would take longer than the fit."""


def quantities(maximum: Maximum) -> dict[str, Floats]:
    """Estimates by name.

    Parameters
    ----------
    maximum : Maximum

    Returns
    -------
    dict of str to ndarray
        Base rates and confusion matrices, which are NaN in rows without expected ratings;
        accuracy; in t-a-p, knowledge and guesses.
    """
    rated, fitted = maximum.rated, maximum.found
    values = {
        "base_rates": fitted.base_rates,
        "confusion": np.where(rated[..., None], fitted.confusion, np.nan),
        "accuracy": maximum.accuracy,
    }
    if maximum.model.form == "knowledge":
        mixture = np.where(rated[:, :1], confusion_to_mixture(fitted.confusion), np.nan)
        guessed = 1 - mixture[:, :1]
        values["knowledge"] = mixture[:, 0]
        values["guessing"] = mixture[:, 1:] / np.where(guessed > BOUNDARY, guessed, np.nan)
    return values


def changes(maximum: Maximum, directions: Floats) -> dict[str, Floats]:
    """Changes of the quantities along directions.

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
    sizes = maximum.group_proportions
    right = np.diagonal(fitted.confusion, axis1=1, axis2=2)
    found = {
        "base_rates": rates.reshape(*fitted.base_rates.shape, -1),
        "confusion": confusion,
        "accuracy": right @ np.tensordot(sizes, rates, axes=1)
        + np.einsum("c,jccf->jf", sizes @ maximum.base_rates, confusion),
    }
    if "knowledge" in values:
        category = np.arange(maximum.table.n_categories)
        knowledge = confusion[:, 0, 0] - confusion[:, -1, 0]
        guesses = confusion[:, category - 1, category]
        guessed = np.maximum(1 - values["knowledge"], BOUNDARY)[:, None, None]
        guessing = np.nan_to_num(values["guessing"])[..., None]
        found["knowledge"] = knowledge
        found["guessing"] = (guesses + guessing * knowledge[:, None]) / guessed
    return found


def standard_errors(maximum: Maximum, curvature: Curvature) -> dict[str, Floats]:
    """Standard errors of the quantities, NaN if they are fixed or not determined."""
    hidden = undetermined(maximum, curvature)
    errors = {}
    for name, change in changes(maximum, curvature.root).items():
        lengths = np.sqrt((change**2).sum(axis=-1))
        errors[name] = np.where(hidden[name] | (lengths < LENGTH_ROUNDING), np.nan, lengths)
    return errors


def undetermined(maximum: Maximum, curvature: Curvature) -> dict[str, Booleans]:
    """Which quantities have other values that fit as well."""
    return {
        name: np.abs(change).max(axis=-1, initial=0) > MOVED
        for name, change in changes(maximum, curvature.flat).items()
    }


def determined_quantities(
    maximum: Maximum,
) -> tuple[dict[str, Floats], Curvature | None, list[Warning]]:
    """Quantities of a fit, with NaN for those of t-a-p that are not determined.

    Two ratings of each item in two categories, for example, give two frequencies for three
    parameters of raters who are alike. Other models are not checked.

    Parameters
    ----------
    maximum : Maximum

    Returns
    -------
    values : dict of str to ndarray
        As `quantities` gives them.
    curvature : Curvature or None
        If it was computed.
    notes : list of Warning
    """
    values = quantities(maximum)
    if maximum.model.form != "knowledge":
        return values, None, []
    if maximum.found.log_likelihood - _independent_log_likelihood(maximum) < LEAST_GAIN:
        blank = {name: np.full_like(array, np.nan) for name, array in values.items()}
        text = (
            "not determined, because ratings of an item agree no more than guesses would: base "
            "rates, knowledge, guessing"
        )
        return blank, None, [warn("not-determined", text)]
    if maximum.n_parameters > MOST_PARAMETERS:
        text = "not checked whether other values fit as well"
        text = f"more than {MOST_PARAMETERS:,} parameters: {text}"
        return values, None, [warn("identification-unchecked", text)]
    curved = curvature(maximum)
    hidden = undetermined(maximum, curved)
    values = {name: np.where(hidden[name], np.nan, array) for name, array in values.items()}
    names = [name.replace("_", " ") for name, missing in hidden.items() if missing.any()]
    if names:
        text = f"not determined, because other values fit as well: {', '.join(names)}"
        return values, curved, [warn("not-determined", text)]
    if np.isnan(values["guessing"][maximum.rated[:, 0]]).any():
        text = "some raters always know the truth: their guesses are undefined"
        return values, curved, [warn("guessing-undefined", text)]
    return values, curved, []


def _independent_log_likelihood(maximum: Maximum) -> float:
    """Likelihood if the ratings of a rater had the same distribution for all items."""
    table, numbers = maximum.table, maximum.matrix_numbers
    if table.truths is not None:
        return -np.inf
    by_rater = (table.answers.T @ table.weights).reshape(table.n_raters, -1)
    totals = np.stack([by_rater[numbers == number].sum(axis=0) for number in np.unique(numbers)])
    proportions = totals / np.maximum(totals.sum(axis=1, keepdims=True), 1.0)
    return float((totals * np.log(np.where(totals > 0, proportions, 1.0))).sum())
