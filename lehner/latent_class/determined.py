"""What the ratings do not determine of a t-a-p model, which is left out of its fit."""

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.warning import Warning, warn
from lehner.latent_class.maximum import Maximum
from lehner.latent_class.observed_information import Curvature, curvature
from lehner.latent_class.quantities import quantities, undetermined

LEAST_GAIN = 1e-4
MOST_PARAMETERS = 2_000
"""With more the check would take longer than the fit."""


def determined_quantities(
    maximum: Maximum,
) -> tuple[dict[str, Floats], Curvature | None, list[Warning]]:
    """Give the quantities of a fit, with NaN for those of t-a-p that are not determined.

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
    """Give the likelihood if the ratings of a rater had the same distribution for all items."""
    table, numbers = maximum.table, maximum.matrix_numbers
    if table.truths is not None:
        return -np.inf
    by_rater = (table.answers.T @ table.weights).reshape(table.n_raters, -1)
    totals = np.stack([by_rater[numbers == number].sum(axis=0) for number in np.unique(numbers)])
    shares = totals / np.maximum(totals.sum(axis=1, keepdims=True), 1.0)
    return float((totals * np.log(np.where(totals > 0, shares, 1.0))).sum())
