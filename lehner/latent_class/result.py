"""The result of fitting a latent-class model by maximum likelihood, with labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats, Integers
from lehner.core.estimate import listed
from lehner.core.wording import counted
from lehner.data.ratings import Ratings
from lehner.latent_class.deviance import deviance
from lehner.latent_class.expectation_maximisation import LatentClasses
from lehner.latent_class.maximum import Maximum
from lehner.latent_class.notes import mode_notes, support_notes, unsettled_labels
from lehner.latent_class.observed_information import covariance_root
from lehner.latent_class.pattern_table import PatternTable, known_truths

if TYPE_CHECKING:
    import xarray as xr


LENGTH_ROUNDING = 1e-10


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LatentClassFit:
    """A latent-class model at the maximum of its likelihood.

    If there are as many classes as categories, the classes are the categories (dimension
    `category`); else they are numbered from 1 by decreasing base rate (dimension `class`).

    Parameters
    ----------
    model : str
        Name of the model, as `fit_latent_class` takes it.
    log_likelihood : float
        Sum over items of the log probability of their ratings, without multinomial constants.
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
    base_rates : xarray.DataArray, dims ([group,] category or class)
        Probability of each class.
    confusion : xarray.DataArray, dims (rater, category or class, response)
        Probability of each response given the class; a system is the last rater, `system`. NaN in
        rows without expected ratings.
    class_probabilities : xarray.DataArray, dims (item, category or class)
        Probability of each class given the item's ratings.
    accuracy : xarray.DataArray, dims (rater,), or None
        Expected accuracy of each rater; None unless the classes are the categories.
    converged : bool
        Whether EM stopped because the log-likelihood no longer increased.
    iterations : int
        Number of steps of EM from the best start.
    starts : xarray.DataArray, dims (start,)
        The log-likelihood reached from each start.
    labels_settled : bool or None
        Whether the items of each class are most often given its label by the raters; None unless
        the classes are the categories.
    notes : tuple of str
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
    class_probabilities: "xr.DataArray"
    accuracy: "xr.DataArray | None"
    converged: bool
    iterations: int
    starts: "xr.DataArray"
    labels_settled: bool | None
    notes: tuple[str, ...]
    _maximum: Maximum

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
            Standard errors of `base_rates`, `confusion` and, if the classes are the categories,
            `accuracy`; NaN where there is none. If there are none at all, the attribute `note`
            gives the reason.

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

        classes, root = self._maximum.found, covariance_root(self._maximum)
        note = ""
        if root is None:
            note = "not identified: other values fit as well (the information matrix is singular)"
            root = np.zeros((classes.base_rates.size + classes.confusion.size, 0))
        by_base_rates, by_confusion = np.split(_lengths(root), [classes.base_rates.size])
        errors = {
            "base_rates": self.base_rates.copy(
                data=by_base_rates.reshape(classes.base_rates.shape)
            ),
            "confusion": self.confusion.copy(data=by_confusion.reshape(classes.confusion.shape)),
        }
        if self.accuracy is not None:
            by_rater = _lengths(_accuracy_moves(self._maximum, root))
            errors["accuracy"] = self.accuracy.copy(data=by_rater)
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
        if self.base_rates.ndim == 1:
            lines.append(f"  base rates      {listed(self.base_rates)}")
        if self.accuracy is not None:
            lines.append(f"  accuracy        {listed(self.accuracy)}")
        return "\n".join([*lines, *(f"  note: {text}" for text in self.notes)])


def label_fit(
    maximum: Maximum,
    ratings: Ratings,
    inverse: Integers,
    groups: Sequence[Any],
    fits: Mapping[str, LatentClasses],
) -> LatentClassFit:
    """Label the results.

    Parameters
    ----------
    maximum : Maximum
        The highest maximum.
    ratings : Ratings
    inverse : ndarray of int, shape (n_rows,)
        The pattern of each row.
    groups : sequence
        Names of the groups of items, if any.
    fits : mapping
        The fit from each start.

    Returns
    -------
    LatentClassFit
    """
    import xarray as xr

    table, classes, categories = maximum.table, maximum.found, list(ratings.categories)
    named = maximum.n_classes == table.n_categories
    class_dim = "category" if named else "class"
    coords: dict[str, Any] = {
        "group": list(groups),
        "item": ratings.items,
        "rater": list(ratings.all_raters[: table.n_raters]),
        "response": categories,
        class_dim: categories if named else list(range(1, maximum.n_classes + 1)),
        "start": list(fits),
    }

    def label(values: ArrayLike, *dims: str) -> xr.DataArray:
        return xr.DataArray(np.asarray(values), {dim: coords[dim] for dim in dims}, dims)

    goodness = deviance(ratings, maximum)
    known = known_truths(ratings) if table.truths is not None else 0
    unsettled = unsettled_labels(maximum, categories) if named else []
    confusion = np.where(maximum.rated[..., None], classes.confusion, np.nan)
    return LatentClassFit(
        model=maximum.name,
        log_likelihood=classes.log_likelihood,
        n_parameters=maximum.n_parameters,
        n_items=_observed_items(table),
        g2=goodness.g2,
        degrees_of_freedom=goodness.degrees_of_freedom,
        base_rates=label(classes.base_rates, *(("group", class_dim) if groups else (class_dim,))),
        confusion=label(confusion, "rater", class_dim, "response"),
        class_probabilities=label(maximum.classes[inverse], "item", class_dim),
        accuracy=label(maximum.accuracy, "rater") if named else None,
        converged=classes.converged,
        iterations=classes.iterations,
        starts=label([fit.log_likelihood for fit in fits.values()], "start"),
        labels_settled=not unsettled if named else None,
        notes=(
            *mode_notes(fits),
            *([f"the known truths of {counted(known, 'item')} entered as data"] if known else []),
            *unsettled,
            *support_notes(maximum),
            *goodness.notes,
        ),
        _maximum=maximum,
    )


def _observed_items(table: PatternTable) -> int:
    observed = table.answers.sum(axis=1) > 0
    if table.truths is not None:
        observed |= table.truths >= 0
    return int(table.weights[observed].sum())


def _accuracy_moves(maximum: Maximum, root: Floats) -> Floats:
    """Give the derivatives of the accuracies by the free parameters, (n_raters, n_free)."""
    shares, classes = maximum.group_shares, maximum.found
    right = np.diagonal(classes.confusion, axis1=1, axis2=2)
    by_rates, by_confusion = np.split(root, [classes.base_rates.size])
    rates = np.tensordot(shares, by_rates.reshape(*maximum.base_rates.shape, -1), axes=1)
    rows = by_confusion.reshape(*classes.confusion.shape, -1)
    return np.asarray(right @ rates + np.einsum("c,jccf->jf", shares @ maximum.base_rates, rows))


def _lengths(rows: Floats) -> Floats:
    lengths = np.sqrt((rows**2).sum(axis=1))
    return np.where(lengths > LENGTH_ROUNDING, lengths, np.nan)
