"""Notes on the maximum of a likelihood: modes, labels, boundaries."""

from collections.abc import Mapping, Sequence

import numpy as np

from lehner.data.categories import Label
from lehner.latent_class.expectation_maximisation import LatentClasses
from lehner.latent_class.maximum import BOUNDARY, LEAST_INFORMATIVE, Maximum

SAME_MODE = 1e-4
UNSETTLED = "labels are unsettled"


def mode_notes(fits: Mapping[str, LatentClasses]) -> list[str]:
    """Tell which starts reached the highest mode.

    Parameters
    ----------
    fits : mapping
        The fit from each start.

    Returns
    -------
    list of str
    """
    reached = {name: fit.log_likelihood for name, fit in fits.items()}
    highest = max(reached.values())
    n_highest = sum(value > highest - SAME_MODE for value in reached.values())
    notes = []
    if len(fits) > 1:
        notes.append(
            f"{n_highest} of {len(fits)} starts reached the highest log-likelihood, {highest:.3f}"
        )
    if reached.get("votes", highest) < highest - SAME_MODE:
        notes.append(f"the start from votes reached a lower mode, {reached['votes']:.3f}")
    unfinished = [name for name, fit in fits.items() if not fit.converged]
    if unfinished:
        steps = fits[unfinished[0]].iterations
        notes.append(f"EM had not converged after {steps} steps from: {', '.join(unfinished)}")
    return notes


def unsettled_labels(maximum: Maximum, categories: Sequence[Label]) -> list[str]:
    """Name the classes whose items raters most often call otherwise.

    Parameters
    ----------
    maximum : Maximum
        A maximum whose classes are the categories; in t-a-p they are by definition.
    categories : sequence

    Returns
    -------
    list of str
        One note for each such class.
    """
    table = maximum.table
    if table.truths is not None or maximum.model.form == "knowledge":
        return []
    by_raters = maximum.ratings[: table.n_raters - table.has_system].sum(axis=0)
    return [
        f"{UNSETTLED}: items of class {categories[c]} are most often called "
        f"{categories[int(row.argmax())]} by the raters"
        for c, row in enumerate(by_raters)
        if row[c] < row.max() and row.sum() > LEAST_INFORMATIVE
    ]


def support_notes(maximum: Maximum) -> list[str]:
    """Note which rows have no ratings, and which probabilities are at the boundary.

    Parameters
    ----------
    maximum : Maximum

    Returns
    -------
    list of str
    """
    rated, notes = maximum.rated, []
    if not rated.all():
        notes.append(
            f"{(~rated).sum()} of {rated.size} rows of confusion matrices have no expected ratings "
            "and are NaN"
        )
    values = np.append(maximum.base_rates, maximum.found.confusion[rated])
    fixed = int(((values < BOUNDARY) | (values > 1 - BOUNDARY)).sum())
    if fixed:
        notes.append(
            f"{fixed} of {values.size} probabilities are 0 or 1 and have no standard errors"
        )
    return notes
