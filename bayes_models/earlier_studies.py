"""Power priors: earlier studies of raters and of the system as priors of what they answer."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from bayes_models.models.assemble import find_parameters, observe
from bayes_models.models.registry import choose_priors, find_model
from bayes_models.posterior.draws import summarise_beta
from lehner import InputError, Ratings
from lehner.core.arrays import Floats
from lehner.core.errors import Warning, check_probability, list_few, suggest, warn
from lehner.core.estimate import Row, average_draws, row
from lehner.core.lazy import special
from lehner.core.text import to_decimal, write_p
from lehner.data.columns import refuse_first
from lehner.reading.read import read_columns

# Earlier studies are priors of this model, whose rows of confusion matrices remain Dirichlet.
MODEL = "dawid_skene"
WEIGHT = 0.5
SIGNIFICANCE = 0.01


def make_power_prior(
    ratings: Ratings, studies: Mapping[str, ArrayLike], *, weight: float = WEIGHT
) -> dict[str, Any]:
    r"""Make priors of `dawid_skene` of what earlier studies found.

    The likelihood of an earlier study with the counts n enters to the power w:

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
    >>> priors = make_power_prior(ratings, {"ana": [[90, 10], [6, 34]]}, weight=0.5)
    >>> priors["confusion"][0].round(1).tolist()
    [[49.8, 8.2], [6.2, 21.8]]
    """
    check_probability("weight", weight)
    all_priors, k = choose_priors(MODEL), ratings.n_categories
    names = [str(name) for name in ratings.all_raters]
    parameters = find_parameters(find_model(MODEL), observe(ratings), all_priors)
    confusion = parameters["confusion"].numbers
    for name, study in studies.items():
        if name not in names:
            raise InputError(f"there is no rater or system {name!r}", suggest(name, names))
        try:
            counts = np.asarray(study, dtype=float)
        except (TypeError, ValueError):
            counts = np.empty(0)
        if counts.shape != (k, k) or not (counts >= 0).all():
            problem = f"the counts of the earlier study of {name!r} are no table of {k} by {k} "
            remedy = "give a row for each true category and a column for each answer"
            raise InputError(f"{problem}numbers, 0 or more", remedy)
        confusion[names.index(name)] += weight * counts
    if ratings.systems:
        all_priors["system_confusion"] = confusion[-1]
    return all_priors | {"confusion": confusion}


def read_studies(studies: Mapping[str, Any], ratings: Ratings) -> dict[str, Any]:
    """Read those of several earlier studies that are about raters of these ratings.

    Parameters
    ----------
    studies : mapping of str to array_like, str or Path
        By the name of a rater or system: counts as `make_power_prior` takes them, or a file with
        such a table, whose first column names the true categories.
    ratings : Ratings
        Studies of others than its raters and systems are left out.

    Returns
    -------
    dict of str to array_like
        As `make_power_prior` takes it.

    Raises
    ------
    InputError
        Naming file, row, column, value and remedy.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.Ratings([[0, 1], [1, 1]], ["no", "yes"], ["ana", "ben"])
    >>> read_studies({"ana": [[18, 2], [3, 17]], "cai": [[9, 1], [2, 8]]}, ratings)
    {'ana': [[18, 2], [3, 17]]}
    """
    names = [str(name) for name in ratings.all_raters]
    return {
        name: _read_counts(Path(study), ratings) if isinstance(study, str | Path) else study
        for name, study in studies.items()
        if name in names
    }


def _read_counts(file: Path, ratings: Ratings) -> Floats:
    """Read a row for each true category, its name first, and a column for each answer."""
    names = list(map(str, ratings.categories))
    with read_columns(file) as columns:
        first, *answers = columns
        truths = columns[first].texts.tolist()
        if sorted(answers) != sorted(names) or sorted(truths) != sorted(names):
            problem = "its rows and columns are not the categories of the ratings"
            header = list_few([first, *names], 4)
            remedy = f"give each category a row (truth) and a column (answer), as in {header}"
            raise InputError(problem, remedy)
        for name in names:
            numbers = columns[name].numbers
            bad = ~(np.isfinite(numbers) & (numbers >= 0))
            refuse_first(bad, columns[name], "{value} is no count", "give a number, 0 or more")
        rows = [truths.index(name) for name in names]
        return np.column_stack([columns[name].numbers[rows] for name in names])


def compare_recalls(
    ratings: Ratings,
    studies: Mapping[str, ArrayLike],
    priors: Mapping[str, Any],
    posterior: xr.DataArray,
    without: xr.DataArray,
    level: float,
) -> Iterator[Row | Warning]:
    """Compare prior and posterior of each recall that a study is about.

    Parameters
    ----------
    ratings : Ratings
    studies : mapping
        As `make_power_prior` takes them.
    priors : mapping
        As `make_power_prior` gives them.
    posterior, without : xarray.DataArray
        Draws of the confusion matrices of fits with the studies and without.
    level : float
        Probability of the intervals, between 0 and 1.

    Yields
    ------
    dict or Warning
        Rows of `Results.table`: prior and posterior of the recall, and the number of right answers
        in the study with its number of items; and a warning where the recall without the study is
        so far from it that this is improbable (p < .01, over all recalls), were the two the same.
    """
    names = [str(name) for name in ratings.all_raters]
    significance = SIGNIFICANCE / (len(studies) * ratings.n_categories)
    for name, study in studies.items():
        rater = names.index(name)
        for k, category in enumerate(ratings.categories):
            recall = posterior.isel(rater=rater, category=k, response=k).values
            recall_without = without.isel(rater=rater, category=k, response=k).values
            labels = {"rater": name, "category": str(category)}
            counts = np.asarray(study, dtype=float)[k]
            right, n_items = float(counts[k]), float(counts.sum())
            prior = summarise_beta(priors["confusion"][rater, k], k, level)
            yield row("recall_prior", prior, **labels)
            yield row("recall_posterior", average_draws(recall, level), **labels)
            yield {"quantity": "study_right", "estimate": right, "n_items": n_items} | labels
            # The study alone, with a flat prior, gives the recall this mean and variance.
            mean = (right + 1) / (n_items + 2)
            variance = mean * (1 - mean) / (n_items + 3)
            distance = recall_without.mean() - mean
            error = np.sqrt(recall_without.var() + variance)
            p_value = float(2 * special.ndtr(-abs(distance) / error))
            if n_items and p_value < significance:
                text = (
                    f"the earlier study of {name} found {to_decimal(right / n_items)} of "
                    f"{category} right; the ratings alone say "
                    f"{to_decimal(float(recall_without.mean()))} ({write_p(p_value)})"
                )
                yield warn("earlier-study-contradicted", text)
