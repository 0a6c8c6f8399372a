"""The weight of the prior of confusion matrices, as a number of ratings, and how many there are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bayes_models.likelihood.rater_groups import group_index, group_names
from bayes_models.models.priors import distribution_name
from bayes_models.models.spec import OF_A_RATER, OF_THE_SYSTEM, ModelSpec, Variable
from lehner import Patterns
from lehner.core.arrays import Floats
from lehner.core.warning import Warning, warn


@dataclass(frozen=True, kw_only=True, eq=False)
class PriorWorth:
    """The weight of a prior of rows of confusion matrices, and the ratings in these rows.

    Parameters
    ----------
    whose : str
        Whose ratings are counted.
    categories : tuple of str
        The true categories.
    ratings : ndarray, shape (n_categories,)
        Expected number of ratings in each row; of the median rater if each rater has a matrix.
    worth : ndarray, shape (n_categories,), or None
        Weight of the prior of each row as a number of ratings: the sum of its Dirichlet
        concentration. None for a PyMC distribution, whose weight is not known.
    distribution : str
        Name of the PyMC distribution; empty if the prior is given by numbers.
    """

    variable: str
    whose: str
    categories: tuple[str, ...]
    ratings: Floats
    worth: Floats | None
    distribution: str = ""

    def warning(self) -> Warning | None:
        """Warn of the categories in which the prior outweighs the data; None if in none.

        Returns
        -------
        Warning or None
        """
        if self.worth is None:
            return warn(
                "prior-weight-unknown",
                f"the prior of {self.variable} is {self.distribution}, whose weight beside the "
                "ratings is not known; there are fewest ratings of true category "
                f"{self._row(int(self.ratings.argmin()))}",
            )
        thin = np.flatnonzero(self.ratings < self.worth)
        if not len(thin):
            return None
        least, most = (f"{end:.3g}" for end in (self.worth[thin].min(), self.worth[thin].max()))
        shown = most if least == most else f"{least} to {most}"
        matrices = "matrices" if self.whose == OF_A_RATER else "matrix"
        of = "" if self.whose == OF_A_RATER else f" of {self.variable}"
        return warn(
            "prior-outweighs-data",
            f"the prior{of}, which counts as {shown} ratings, outweighs the data in the confusion "
            f"{matrices} of true category {', '.join(map(self._row, thin.tolist()))}",
        )

    def _row(self, category: int) -> str:
        return f"{self.categories[category]} ({self.ratings[category]:.1f} {self.whose})"


def prior_worth(
    spec: ModelSpec, priors: Mapping[str, Any], support: xr.DataArray, observed: Patterns
) -> tuple[PriorWorth, ...]:
    """Compare the weight of the priors of confusion matrices with the number of ratings in them.

    Parameters
    ----------
    priors : mapping
        All priors of the model, by variable.
    support : xarray.DataArray
        Expected number of ratings by rater and true category, the system last if there is one.
    observed : Patterns
        The ratings that are counted.

    Returns
    -------
    tuple of PriorWorth
        One for each such prior, or for each group of raters if groups have parameters of their own;
        empty for models without priors of confusion matrices.
    """
    ratings = support.transpose("rater", "category").values
    return tuple(
        PriorWorth(
            variable=variable.name,
            whose=whose,
            categories=tuple(map(str, support["category"].values)),
            ratings=in_rows,
            worth=worth,
            distribution=distribution_name(priors[variable.name]),
        )
        for variable in spec.variables
        if variable.ratings
        for whose, in_rows, worth in _rows(spec, variable, priors, ratings, observed)
    )


def _rows(
    spec: ModelSpec,
    variable: Variable,
    priors: Mapping[str, Any],
    ratings: Floats,
    observed: Patterns,
) -> Iterator[tuple[str, Floats, Floats | None]]:
    """Whose ratings are in the rows of a prior, how many, and the weight of the rows."""
    prior, k, whose = priors[variable.name], observed.n_categories, variable.ratings
    by_raters, groups = ratings[: observed.n_raters], group_names(observed)
    if whose == OF_A_RATER:
        worth = _worth(variable, prior, (len(ratings), k, k))
        of_median = None if worth is None else np.median(worth, axis=0)
        yield whose, np.median(ratings, axis=0), of_median
    elif whose == OF_THE_SYSTEM:
        if observed.has_system:
            yield whose, ratings[-1], _worth(variable, prior, (k, k))
    elif spec.pools_rater_groups and groups:
        worth = _worth(variable, prior, (len(groups), k, k))
        for g, group in enumerate(groups):
            in_rows = by_raters[group_index(observed) == g].sum(axis=0)
            yield f"ratings of group {group}", in_rows, None if worth is None else worth[g]
    else:
        yield whose, by_raters.sum(axis=0), _worth(variable, prior, (k, k))


def _worth(variable: Variable, prior: Any, shape: tuple[int, ...]) -> Floats | None:
    """Sum the concentration of each row of confusion matrices of this shape."""
    if distribution_name(prior):
        return None
    numbers = variable.family.numbers(variable.name, prior, shape)
    return np.broadcast_to(numbers.sum(axis=-1), shape[:-1])
