"""Notes on the maximum of a likelihood: modes, labels, boundaries."""

from collections.abc import Mapping, Sequence

import numpy as np

from lehner.core.warning import Warning, warn
from lehner.core.wording import counted
from lehner.data.categories import Label
from lehner.latent_class.expectation_maximisation import LatentClasses
from lehner.latent_class.maximum import BOUNDARY, LEAST_INFORMATIVE, Maximum

SAME_MODE = 1e-4


def mode_notes(fits: Mapping[str, LatentClasses]) -> list[Warning]:
    """Which starts reached the highest mode.

    Parameters
    ----------
    fits : mapping
        The fit from each start.

    Returns
    -------
    list of Warning
    """
    reached = {name: fit.log_likelihood for name, fit in fits.items()}
    highest = max(reached.values())
    n_highest = sum(value > highest - SAME_MODE for value in reached.values())
    notes = []
    if len(fits) > 1:
        text = (
            f"{n_highest} of {len(fits)} starts reached the highest log-likelihood, {highest:.3f}"
        )
        notes.append(warn("starts", text))
    if reached.get("votes", highest) < highest - SAME_MODE:
        text = f"the start from votes reached a lower mode, {reached['votes']:.3f}"
        notes.append(warn("higher-mode", text))
    unfinished = [name for name, fit in fits.items() if not fit.converged]
    if unfinished:
        steps = fits[unfinished[0]].iterations
        text = f"EM had not converged after {steps} steps from: {', '.join(unfinished)}"
        notes.append(warn("not-converged", text))
    return notes


def unsettled_labels(maximum: Maximum, categories: Sequence[Label]) -> list[Warning]:
    """Name the classes whose items raters most often call otherwise.

    Parameters
    ----------
    maximum : Maximum
        A maximum whose classes are the categories; in t-a-p they are by definition.
    categories : sequence

    Returns
    -------
    list of Warning
        One note for each such class.
    """
    table = maximum.table
    if table.truths is not None or maximum.model.form == "knowledge":
        return []
    by_raters = maximum.ratings[: table.n_raters - table.has_system].sum(axis=0)
    return [
        warn(
            "labels-unsettled",
            f"labels are unsettled: items of class {categories[c]} are most often called "
            f"{categories[int(row.argmax())]} by the raters",
        )
        for c, row in enumerate(by_raters)
        if row[c] < row.max() and row.sum() > LEAST_INFORMATIVE
    ]


def known_truths_used(n_known: int) -> list[Warning]:
    """Note of how many items the known truth entered as data, if of any."""
    text = f"the known truths of {counted(n_known, 'item')} entered as data"
    return [warn("known-truths-used", text)] if n_known else []


def support_notes(maximum: Maximum) -> list[Warning]:
    """Note which rows have no ratings, and which probabilities are at the boundary.

    Parameters
    ----------
    maximum : Maximum

    Returns
    -------
    list of Warning
    """
    rated, notes = maximum.rated, []
    if not rated.all():
        text = (
            f"{(~rated).sum()} of {rated.size} rows of confusion matrices have no expected ratings "
            "and are NaN"
        )
        notes.append(warn("rows-without-ratings", text))
    values = np.append(maximum.base_rates, maximum.found.confusion[rated])
    fixed = int(((values < BOUNDARY) | (values > 1 - BOUNDARY)).sum())
    if fixed:
        text = f"{fixed} of {values.size} probabilities are 0 or 1 and have no standard errors"
        notes.append(warn("boundary", text))
    return notes
