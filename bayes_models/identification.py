"""What the data can say about the parameters of a model, before it is sampled."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayes_models.models import find_model
from bayes_models.observations import Observations, observe
from bayes_models.start import expected_numbers
from lehner import Ratings

PRIOR_WORTH = 8.0
BY_ROW = ("dawid_skene", "hierarchical_dawid_skene", "class_conditional")


@dataclass(frozen=True, kw_only=True, eq=False)
class Identification:
    """How much the data can say about a model.

    Parameters
    ----------
    model : str
    parameters : int
        Number of probabilities in base rates and confusion matrices that the model leaves free.
    degrees_of_freedom : int
        Number of probabilities of rating patterns that the data can inform: for each set of
        raters who rated an item together one less than the patterns they can give, and no more
        than items with two ratings.
    ratings_per_item : float
        Mean number of ratings of an item, the system's included.
    too_few : float
        Share of the items with fewer than three ratings, the system's included, and no known
        truth: in general too few to tell accuracy from agreement. An upper bound for `one_coin`,
        which needs two, both by raters.
    support : xarray.DataArray
        Expected number of ratings by rater and true category.
    """

    model: str
    parameters: int
    degrees_of_freedom: int
    ratings_per_item: float
    too_few: float
    support: xr.DataArray

    def warnings(self) -> tuple[str, ...]:
        """Say what the prior decides and not the data, each in one line.

        Returns
        -------
        tuple of str
        """
        found = []
        if self.parameters > self.degrees_of_freedom:
            found.append(
                f"{self.parameters} parameters for {self.degrees_of_freedom} degrees of freedom: "
                "the prior decides what the data leave open"
            )
        if self.too_few > 0.5:
            found.append(
                f"{self.too_few:.0%} of the items have fewer than three ratings, the system's "
                "included: the prior decides how accurate raters and system are"
            )
        if self.model in BY_ROW:
            found += self._thin_rows()
        return tuple(found)

    def _thin_rows(self) -> list[str]:
        """Name the categories whose confusion matrices rest on fewer ratings than the prior."""
        thin = [
            f"{category} ({float(rows.median()):.1f} ratings a rater)"
            for category, rows in self.support.groupby("category")
            if float(rows.median()) < PRIOR_WORTH
        ]
        if not thin:
            return []
        return [
            f"the prior, worth {PRIOR_WORTH:.0f} ratings, outweighs the data in the confusion "
            f"matrices of true category {', '.join(thin)}"
        ]


def identify(model: str, ratings: Ratings) -> Identification:
    """Report what the data can say about a model, before it is sampled.

    Counts are necessary conditions, not sufficient ones: a model with fewer parameters than
    degrees of freedom may still be barely identified, as `dawid_skene` is with three raters.

    Parameters
    ----------
    model : str
    ratings : Ratings

    Returns
    -------
    Identification

    Raises
    ------
    InputError
        If there is no such model, or the ratings cannot be fitted.

    Examples
    --------
    >>> import lehner
    >>> report = identify("dawid_skene", lehner.load_dataset("lehner_table2"))
    >>> report.parameters, report.degrees_of_freedom
    (63, 10)
    """
    find_model(model)
    observed = observe(ratings)
    lengths = np.diff(observed.starts)
    n_items = int(observed.counts.sum())
    return Identification(
        model=model,
        parameters=_parameters(model, observed),
        degrees_of_freedom=_degrees_of_freedom(observed),
        ratings_per_item=float(lengths @ observed.counts / n_items),
        too_few=float(observed.counts[(lengths < 3) & (observed.truths < 0)].sum() / n_items),
        support=_support(observed),
    )


def _parameters(model: str, observed: Observations) -> int:
    """Count base rates and confusion matrices, not what only ties them together."""
    k, n_all = observed.n_categories, len(observed.rater_names)
    n_system = int(observed.has_system)
    row, matrix = k - 1, k * (k - 1)
    of_raters = {
        "one_coin": 1 + n_system,
        "one_coin_by_rater": n_all,
        "pooled": matrix * (1 + n_system),
        "class_conditional": k * n_all,
        "tap": k * n_all,
    }
    return row + of_raters.get(model, matrix * n_all)


def _degrees_of_freedom(observed: Observations) -> int:
    k = observed.n_categories
    lengths = np.diff(observed.starts)
    sets = {
        tuple(observed.raters[first : first + length])
        for first, length in zip(observed.starts[:-1], lengths, strict=True)
    }
    n_items = int(observed.counts[lengths >= 2].sum())
    return int(min(sum(k ** len(raters) - 1 for raters in sets), n_items))


def _support(observed: Observations) -> xr.DataArray:
    _, ratings = expected_numbers(observed)
    coords = {"rater": list(observed.rater_names), "category": observed.coords["category"]}
    return xr.DataArray(ratings.sum(axis=2), coords, ("rater", "category"), name="support")
