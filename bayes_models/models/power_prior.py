"""Power priors: earlier studies of raters and of the system as priors of confusion matrices."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_models.models.families import FAMILIES
from bayes_models.models.priors import Priors, choose_priors
from lehner import InputError, Ratings
from lehner.core.arrays import Floats
from lehner.core.checks import check_probability, suggest
from lehner.core.estimate import IntervalEstimate
from lehner.core.number_format import decimal, printed_p_value
from lehner.core.warning import Warning, warn

SIGNIFICANCE = 0.01


def power_prior(
    ratings: Ratings,
    studies: Mapping[str, ArrayLike],
    *,
    weight: float = 0.5,
    priors: Priors = None,
) -> dict[str, Any]:
    r"""Make priors of `dawid_skene` of what earlier studies found.

    The likelihood of an earlier study with the counts n enters to the power w. Rows of confusion
    matrices remain Dirichlet:

    .. math::
        \theta_{jk} \sim \mathrm{Dirichlet}(\alpha_{jk} + w\, n_{jk})

    The base rates of an earlier study do not enter.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    studies : mapping of str to array_like, shape (n_categories, n_categories)
        By the name of a rater or of the system: how many items of each true category (row) got each
        answer (column), categories in the order of the ratings'.
    weight : float
        The power w, from 0 (earlier studies are ignored) to 1 (an item of theirs counts as much as
        one whose truth is known here).
    priors : str or mapping, optional
        The priors beside them, numbers only, as `dawid_skene` takes them.

    Returns
    -------
    dict
        As `fit` and `dawid_skene` take priors.

    Raises
    ------
    InputError
        If counts have another shape or are negative, or there is no rater or system of a name.

    References
    ----------
    Ibrahim & Chen (2000), https://doi.org/10.1214/ss/1009212673

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.Ratings([[0, 0], [1, 1]], ["no", "yes"], raters=["ana", "ben"])
    >>> found = power_prior(ratings, {"ana": [[90, 10], [6, 34]]}, weight=0.5)
    >>> found["confusion"][0].round(1).tolist()
    [[49.8, 8.2], [6.2, 21.8]]
    """
    check_probability("weight", weight)
    chosen = choose_priors("dawid_skene", priors)
    names, k = [str(name) for name in (*ratings.raters, *ratings.systems)], ratings.n_categories
    numbers = FAMILIES["dirichlet"].numbers
    confusion = numbers("confusion", chosen["confusion"], (len(names), k, k))
    if ratings.systems:
        confusion[-1] = numbers("system_confusion", chosen["system_confusion"], (k, k))
        chosen["system_confusion"] = confusion[-1]
    for name in studies:
        if name not in names:
            raise InputError(f"there is no rater or system {name!r}", suggest(name, names))
        counts = np.asarray(studies[name], dtype=float)
        if counts.shape != (k, k) or not (counts >= 0).all():
            raise InputError(
                f"the counts of the earlier study of {name!r} are no table of {k} by {k} numbers, "
                "0 or more",
                "give a row for each true category and a column for each answer",
            )
        confusion[names.index(name)] += weight * counts
    return chosen | {"confusion": confusion}


def contradicted(
    names: Sequence[str],
    studies: Mapping[str, Any],
    drawn: Floats,
    categories: Sequence[str],
) -> Iterator[Warning]:
    """Warn of each study whose proportions right are far from draws that know nothing of it.

    Draws have the shape (n_chains, n_draws, n_raters, n_categories, n_categories).
    """
    from scipy.special import ndtr

    n_rows = len(studies) * len(categories)
    for name, study in studies.items():
        for k, category in enumerate(categories):
            right, items = np.asarray(study)[k, k], np.sum(np.asarray(study)[k])
            values, before = drawn[..., names.index(name), k, k], (right + 1) / (items + 2)
            error = np.sqrt(values.var() + before * (1 - before) / (items + 3))
            p = 2 * ndtr(-abs(values.mean() - before) / error)
            if items and p < SIGNIFICANCE / n_rows:
                text = (
                    f"the earlier study of {name} found {decimal(right / items)} of {category} "
                    f"right; the ratings alone say {decimal(values.mean())} ({printed_p_value(p)})"
                )
                yield warn("earlier-study-contradicted", text)


def beta_interval(concentration: Floats, place: int, level: float) -> IntervalEstimate:
    """Mean and central interval of one probability of a Dirichlet distribution."""
    from scipy.special import betaincinv

    this, all_ = float(concentration[place]), float(concentration.sum())
    lower, upper = betaincinv(this, all_ - this, [(1 - level) / 2, (1 + level) / 2])
    return IntervalEstimate(
        estimate=this / all_, lower=float(lower), upper=float(upper), level=level, kind="prior"
    )
