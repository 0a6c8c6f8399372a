"""Power priors: earlier studies of raters and of the system as priors of what they answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_models.likelihood.observations import group_index, observe
from bayes_models.models.families import FAMILIES, log_answers
from bayes_models.models.priors import Priors, choose_priors
from lehner import InputError, Ratings
from lehner.core.arrays import Floats
from lehner.core.errors import check_choice, check_probability, suggest
from lehner.core.estimate import IntervalEstimate
from lehner.core.lazy import special
from lehner.core.text import decimal, printed_p_value
from lehner.core.warning import Warning, warn

SIGNIFICANCE = 0.01
BY_ACCURACY = "one_coin_by_rater"
MODELS_WITH_STUDIES = ("dawid_skene", BY_ACCURACY)


def power_prior(
    ratings: Ratings,
    studies: Mapping[str, ArrayLike],
    *,
    weight: float = 0.5,
    model: str = "dawid_skene",
    priors: Priors = None,
) -> dict[str, Any]:
    r"""Make priors of `dawid_skene` or `one_coin_by_rater` of what earlier studies found.

    The likelihood of an earlier study with the counts n enters to the power w. Rows of confusion
    matrices of `dawid_skene` remain Dirichlet:

    .. math::
        \theta_{jk} \sim \mathrm{Dirichlet}(\alpha_{jk} + w\, n_{jk})

    In `one_coin_by_rater` the accuracy is the same in all categories, so that their answers are
    counted together, :math:`r_j` right and :math:`w_j` wrong, and multiply the prior by
    :math:`p_j^{w r_j} (1 - p_j)^{w w_j}`. The base rates of an earlier study do not enter.

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
    model : {"dawid_skene", "one_coin_by_rater"}
        Whose priors these are.
    priors : str or mapping, optional
        The priors beside them, numbers only, as the model takes them.

    Returns
    -------
    dict
        As `fit` and the model take priors.

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
    >>> found = power_prior(ratings, {"ana": [[90, 10], [6, 34]]}, model="one_coin_by_rater")
    >>> found["earlier_answers"].tolist()
    [[62.0, 8.0], [0.0, 0.0]]
    """
    check_probability("weight", weight)
    check_choice("model", model, MODELS_WITH_STUDIES)
    all_priors = choose_priors(model, priors)
    names, k = [str(name) for name in (*ratings.raters, *ratings.systems)], ratings.n_categories
    counts = np.zeros((len(names), k, k))
    for name, study in studies.items():
        if name not in names:
            raise InputError(f"there is no rater or system {name!r}", suggest(name, names))
        table = np.asarray(study, dtype=float)
        if table.shape != (k, k) or not (table >= 0).all():
            raise InputError(
                f"the counts of the earlier study of {name!r} are no table of {k} by {k} numbers, "
                "0 or more",
                "give a row for each true category and a column for each answer",
            )
        counts[names.index(name)] = weight * table
    if model == BY_ACCURACY:
        right = np.trace(counts, axis1=1, axis2=2)
        answers = np.column_stack([right, counts.sum(axis=(1, 2)) - right])
        before = FAMILIES["answers"].numbers(
            "earlier_answers", all_priors["earlier_answers"], answers.shape
        )
        return all_priors | {"earlier_answers": before + answers}
    numbers = FAMILIES["dirichlet"].numbers
    confusion = numbers("confusion", all_priors["confusion"], counts.shape)
    if ratings.systems:
        confusion[-1] = numbers("system_confusion", all_priors["system_confusion"], (k, k))
        all_priors["system_confusion"] = confusion[-1] + counts[-1]
    return all_priors | {"confusion": confusion + counts}


@dataclass(frozen=True, kw_only=True)
class Studied:
    """A probability of being right that an earlier study is about.

    Parameters
    ----------
    rater : str
        Or system.
    category : str
        The true category; empty if it is that of all categories.
    right, items : float
        Of the study, before they are discounted.
    cell : tuple of int
        Where it is in the array of confusion matrices: rater, category and answer.
    """

    rater: str
    category: str
    right: float
    items: float
    cell: tuple[int, int, int]


def studied(model: str, ratings: Ratings, studies: Mapping[str, ArrayLike]) -> list[Studied]:
    """List what the studies are about in a model: recalls, or accuracies."""
    names = [str(name) for name in (*ratings.raters, *ratings.systems)]
    rows = []
    for name, study in studies.items():
        counts, rater = np.asarray(study, dtype=float), names.index(name)
        parts = {
            str(category_name): counts[k] for k, category_name in enumerate(ratings.categories)
        }
        right: Floats = np.diagonal(counts)
        if model == BY_ACCURACY:
            parts, right = {"": counts}, np.array([np.trace(counts)])
        for k, (category, part) in enumerate(parts.items()):
            numbers = {"right": float(right[k]), "items": float(part.sum())}
            rows.append(Studied(rater=name, category=category, cell=(rater, k, k), **numbers))
    return rows


def contradicted(rows: Sequence[Studied], drawn: Floats) -> Iterator[Warning]:
    """Warn of each probability whose study is far from draws that know nothing of it.

    Draws have the shape (n_chains, n_draws, n_raters, n_categories, n_categories).
    """
    for row in rows:
        values, before = drawn[..., *row.cell], (row.right + 1) / (row.items + 2)
        error = np.sqrt(values.var() + before * (1 - before) / (row.items + 3))
        p = 2 * special.ndtr(-abs(values.mean() - before) / error)
        if row.items and p < SIGNIFICANCE / len(rows):
            of = row.category or "its answers"
            text = (
                f"the earlier study of {row.rater} found {decimal(row.right / row.items)} of {of} "
                f"right; the ratings alone say {decimal(values.mean())} ({printed_p_value(p)})"
            )
            yield warn("earlier-study-contradicted", text)


LOG_ODDS = np.linspace(-12.0, 12.0, 2401)
KNOWING = 1 / (1 + np.exp(-LOG_ODDS))
N_MEANS, N_SPREADS, FARTHEST = 61, 40, 3.5
"""The grid of raters' mean log odds and their spread, and how many standard deviations it spans."""


def prior_intervals(
    model: str, ratings: Ratings, rows: Sequence[Studied], priors: Mapping[str, Any], level: float
) -> list[IntervalEstimate]:
    """Give mean and central interval of what each row is about, with all studies, before ratings.

    Parameters
    ----------
    model : {"dawid_skene", "one_coin_by_rater"}
    ratings : Ratings
    rows : sequence of Studied
    priors : mapping
        As `power_prior` gives them, numbers only.
    level : float
        Probability of the intervals, between 0 and 1.
    """
    if model != BY_ACCURACY:
        confusion = priors["confusion"]
        return [beta_interval(confusion[row.cell[:2]], row.cell[2], level) for row in rows]
    counts, group = priors["earlier_answers"], group_index(observe(ratings))
    raters = [row.cell[0] for row in rows]
    right_or_guessed = KNOWING + (1 - KNOWING) / ratings.n_categories
    intervals = []
    for rater in raters:
        if rater == ratings.n_raters:
            log = FAMILIES["logistic"].log_density(LOG_ODDS, np.array(priors["system_log_odds"]))
            log += log_answers(KNOWING, counts[rater])
            intervals.append(_interval(KNOWING, np.exp(log - log.max()), level))
            continue
        others = [
            other
            for other in raters
            if other not in (rater, ratings.n_raters)
            if group[other] == group[rater]
        ]
        own, *further = (
            log_answers(right_or_guessed, counts[member]) for member in (rater, *others)
        )
        density = _of_population(priors, further) * np.exp(own - own.max())
        intervals.append(_interval(right_or_guessed, density, level))
    return intervals


def _of_population(priors: Mapping[str, Any], studies: Sequence[Floats]) -> Floats:
    """Density of a rater's log odds of knowing, given studies of others of the same population."""
    mean, sd = priors["mean_log_odds"]
    means = mean + sd * np.linspace(-FARTHEST, FARTHEST, N_MEANS)
    spreads = priors["rater_spread"] * FARTHEST * (np.arange(N_SPREADS) + 0.5) / N_SPREADS
    squares = ((LOG_ODDS - means[:, None]) / spreads[:, None, None]) ** 2
    of_rater = np.exp(-squares / 2)
    of_rater /= of_rater.sum(axis=-1, keepdims=True)
    log = FAMILIES["normal"].log_density(means, np.array(priors["mean_log_odds"]))
    scale = np.array([0.0, priors["rater_spread"]])
    log = log + FAMILIES["half_normal"].log_density(spreads, scale)[:, None]
    weight = np.exp(log)
    for study in studies:
        weight = weight * (of_rater @ np.exp(study - study.max()))
    density: Floats = np.tensordot(weight, of_rater, 2)
    return density


def _interval(values: Floats, density: Floats, level: float) -> IntervalEstimate:
    probability = density / density.sum()
    ends = np.interp([(1 - level) / 2, (1 + level) / 2], np.cumsum(probability), values)
    lower, upper = map(float, ends)
    mean = float(values @ probability)
    return IntervalEstimate(estimate=mean, lower=lower, upper=upper, level=level, kind="prior")


def beta_interval(concentration: Floats, place: int, level: float) -> IntervalEstimate:
    """Mean and central interval of one probability of a Dirichlet distribution."""
    this, all_ = float(concentration[place]), float(concentration.sum())
    lower, upper = special.betaincinv(this, all_ - this, [(1 - level) / 2, (1 + level) / 2])
    return IntervalEstimate(
        estimate=this / all_, lower=float(lower), upper=float(upper), level=level, kind="prior"
    )
