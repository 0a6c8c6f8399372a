"""The result of fitting a latent-class model by maximum likelihood, with labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Integers
from lehner.core.estimate import listed
from lehner.core.warning import Warning
from lehner.core.wording import counted
from lehner.data.ratings import Ratings
from lehner.latent_class.expectation_maximisation import LatentClasses
from lehner.latent_class.maximum import Maximum, deviance
from lehner.latent_class.notes import known_truths_used, mode_notes, support_notes, unsettled_labels
from lehner.latent_class.observed_information import Curvature, curvature
from lehner.latent_class.pattern_table import PatternTable, known_truths
from lehner.latent_class.quantities import determined_quantities, standard_errors

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LatentClassFit:
    """A latent-class model at the maximum of its likelihood.

    Parameters
    ----------
    model : str
        Name of the model, as `fit_latent_class` takes it.
    log_likelihood : float
        Sum over items of the log probability of their ratings; for anonymous raters, of the
        number of ratings in each category.
    n_parameters : int
        Number of free probabilities in base rates and confusion matrices.
    n_items : int
        Number of items with a rating or a known truth: the n of BIC.
    g2 : float or None
        Deviance from the saturated model, which has a free probability for each pattern of ratings.
        None if it is not defined; `notes` gives the reason.
    degrees_of_freedom : int or None
        Degrees of freedom of G²: the number of patterns minus 1, for each group if there are
        groups, minus the number of parameters.
    base_rates : xarray.DataArray, dims ([group,] category)
        Probability of each true category.
    confusion : xarray.DataArray, dims (rater, category, response)
        Probability of each response given the true category; a system is the last rater, `system`.
        NaN in rows without expected ratings.
    truth_probabilities : xarray.DataArray, dims (item, category)
        Probability of each category given the item's ratings.
    accuracy : xarray.DataArray, dims (rater,)
        Expected accuracy of each rater.
    knowledge : xarray.DataArray, dims (rater,), or None
        Probability that a rater knows the true category, in t-a-p; else None.
    guessing : xarray.DataArray, dims (rater, response), or None
        Probability of each category when a rater guesses, in t-a-p; else None.
    converged : bool
        Whether EM stopped because the log-likelihood no longer increased.
    iterations : int
        Number of steps of EM from the best start.
    starts : xarray.DataArray, dims (start,)
        The log-likelihood reached from each start.
    labels_settled : bool
        Whether the items of each category are most often given its label by the raters.
    notes : tuple of Warning
        What the user should know before using the numbers.
    """

    model: str
    log_likelihood: float
    n_parameters: int
    n_items: int
    g2: float | None
    degrees_of_freedom: int | None
    base_rates: "xr.DataArray"
    confusion: "xr.DataArray"
    truth_probabilities: "xr.DataArray"
    accuracy: "xr.DataArray"
    knowledge: "xr.DataArray | None" = None
    guessing: "xr.DataArray | None" = None
    converged: bool
    iterations: int
    starts: "xr.DataArray"
    labels_settled: bool
    notes: tuple[Warning, ...]
    _maximum: Maximum
    _pattern: Integers
    _curvature: Curvature | None

    @property
    def aic(self) -> float:
        """Akaike's criterion, -2 log-likelihood + 2 parameters."""
        return 2 * (self.n_parameters - self.log_likelihood)

    @property
    def bic(self) -> float:
        """Schwarz's criterion, -2 log-likelihood + parameters log(items)."""
        return float(self.n_parameters * np.log(self.n_items) - 2 * self.log_likelihood)

    def standard_errors(self) -> "xr.Dataset":
        """Compute standard errors from the observed information.

        They are valid for many items, if the model is right and the highest maximum was found.
        Probabilities within 1e-6 of 0 or 1 are treated as fixed and have no standard error.

        Returns
        -------
        xarray.Dataset
            Standard errors of `base_rates`, `confusion`, `accuracy` and, if the fit has them,
            `knowledge` and `guessing`; NaN where there is none. If other values fit as well, the
            attribute `note` says so.

        Raises
        ------
        InputError
            If there are more than 5,000 parameters.

        References
        ----------
        Louis (1982), Finding the observed information matrix when using the EM algorithm.

        Examples
        --------
        >>> from lehner import fit_latent_class, load_dataset
        >>> errors = fit_latent_class(load_dataset("caries")).standard_errors()
        >>> round(float(errors["base_rates"].sel(category=1)), 4)
        0.0094
        """
        import xarray as xr

        curved = self._curvature or curvature(self._maximum)
        errors = {}
        for name, values in standard_errors(self._maximum, curved).items():
            estimates = getattr(self, name)
            errors[name] = estimates.copy(data=np.where(np.isnan(estimates), np.nan, values))
        note = ""
        if curved.flat.size:
            note = "not identified: other values fit as well (the information matrix is singular)"
        return xr.Dataset(errors, attrs={"kind": "observed information", "note": note})

    def __repr__(self) -> str:
        n_raters, n_classes = self.confusion.shape[:2]
        lines = [
            f"LatentClassFit of {self.model}: {counted(self.n_items, 'item')}, "
            f"{counted(n_raters, 'rater')}, {counted(n_classes, 'class', 'classes')}",
            f"  log-likelihood  {self.log_likelihood:.3f} with "
            f"{counted(self.n_parameters, 'parameter')}",
            f"  AIC, BIC        {self.aic:.2f}, {self.bic:.2f}",
            f"  EM              {'converged' if self.converged else 'stopped'} after "
            f"{counted(self.iterations, 'step')}",
        ]
        if self.g2 is not None:
            lines.append(f"  G²              {self.g2:.2f}, {self.degrees_of_freedom} df")
        for name in ("base_rates", "accuracy", "knowledge"):
            values = getattr(self, name)
            if values is not None and values.ndim == 1:
                lines.append(f"  {name.replace('_', ' '):<14}  {listed(values)}")
        return "\n".join([*lines, *(f"  note: {text}" for text in self.notes)])


def label_fit(
    maximum: Maximum, ratings: Ratings, inverse: Integers, fits: Mapping[str, LatentClasses]
) -> LatentClassFit:
    """Label the results.

    Parameters
    ----------
    maximum : Maximum
        The highest maximum.
    ratings : Ratings
    inverse : ndarray of int, shape (n_rows,)
        The pattern of each row.
    fits : mapping
        The fit from each start.

    Returns
    -------
    LatentClassFit
    """
    import xarray as xr

    table, classes, categories = maximum.table, maximum.found, list(ratings.categories)
    coords: dict[str, Any] = {
        "group": list(ratings.populations),
        "item": ratings.items,
        "rater": list(ratings.all_raters[: table.n_raters]),
        "response": categories,
        "category": categories,
        "start": list(fits),
    }

    def label(values: ArrayLike, *dims: str) -> xr.DataArray:
        return xr.DataArray(np.asarray(values), {dim: coords[dim] for dim in dims}, dims)

    values, curved, undetermined = determined_quantities(maximum)
    undefined = np.isnan(values["base_rates"]).any()
    values["truth_probabilities"] = np.where(undefined, np.nan, maximum.classes[inverse])
    g2, degrees_of_freedom, of_deviance = deviance(ratings, maximum)
    known = known_truths(ratings) if table.truths is not None else 0
    unsettled = unsettled_labels(maximum, categories)
    dims = {
        "base_rates": ("group", "category") if ratings.populations else ("category",),
        "confusion": ("rater", "category", "response"),
        "accuracy": ("rater",),
        "knowledge": ("rater",),
        "guessing": ("rater", "response"),
        "truth_probabilities": ("item", "category"),
    }
    labelled = {name: label(array, *dims[name]) for name, array in values.items()}
    orderings = log_orderings(ratings)
    notes = [*mode_notes(fits), *known_truths_used(known), *unsettled, *undetermined]
    notes += [*support_notes(maximum), *of_deviance]
    return LatentClassFit(
        model=maximum.name,
        log_likelihood=classes.log_likelihood + orderings,
        n_parameters=maximum.n_parameters,
        n_items=_observed_items(table),
        g2=g2,
        degrees_of_freedom=degrees_of_freedom,
        **labelled,
        converged=classes.converged,
        iterations=classes.iterations,
        starts=label([fit.log_likelihood + orderings for fit in fits.values()], "start"),
        labels_settled=not unsettled,
        notes=tuple(notes),
        _maximum=maximum,
        _pattern=inverse,
        _curvature=curved,
    )


def _observed_items(table: PatternTable) -> int:
    observed = table.answers.sum(axis=1) > 0
    if table.truths is not None:
        observed |= table.truths >= 0
    return int(table.weights[observed].sum())


def log_orderings(ratings: Ratings) -> float:
    """Log of the number of ways to assign anonymous ratings to raters; else 0.

    If it is unknown who gave which rating, only the number of ratings in each category is observed,
    and its probability is the sum over all such assignments.
    """
    from scipy.special import gammaln

    if not ratings.anonymous:
        return 0.0
    votes = ratings.votes()
    orders = gammaln(votes.sum(axis=1) + 1) - gammaln(votes + 1).sum(axis=1)
    return float(ratings.weights @ orders)
