"""The t-a-p model of the Kappa Zoo by maximum likelihood: raters know the truth or guess."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.checks import check_choice, check_whole_number
from lehner.core.errors import InputError
from lehner.core.estimate import listed
from lehner.core.seeds import Seed
from lehner.core.wording import counted
from lehner.data.ratings import Ratings
from lehner.latent_class.accelerated_em import MAX_ITERATIONS, TOLERANCE, check_stop
from lehner.latent_class.tap.likelihood import (
    GroupVotes,
    confusion,
    expect,
    group_votes,
    log_orderings,
)
from lehner.latent_class.tap.search import (
    ALGORITHMS,
    BOUNDARY,
    Maximum,
    curvature,
    independent_log_likelihood,
    search,
)

if TYPE_CHECKING:
    import xarray as xr

type Algorithm = Literal["em", "direct"]

NO_GAIN = 1e-4
MOST_PARAMETERS = 2000
MOVED = 1e-4
FIXED = 1e-10
DIMS = {
    "base_rates": ("category",),
    "knowledge": ("rater",),
    "guessing": ("rater", "response"),
    "confusion": ("rater", "category", "response"),
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TapFit:
    """The t-a-p model at the maximum of its likelihood.

    Numbers that the data do not determine are NaN or None, and `notes` gives the reason.

    Parameters
    ----------
    log_likelihood : float or None
        Sum over items of the log probability of their ratings; for anonymous raters, of the
        number of ratings in each category.
    n_parameters : int
        Number of free probabilities in base rates, knowledge and guesses.
    n_items : int
        Number of items with at least one rating: the n of BIC.
    base_rates : xarray.DataArray, dims (category,)
        Probability of each true category, t.
    knowledge : xarray.DataArray, dims (rater,)
        Probability that a rater knows the true category, the Kappa Zoo's accuracy a.
    guessing : xarray.DataArray, dims (rater, response)
        Probability of each category when a rater guesses, p.
    confusion : xarray.DataArray, dims (rater, category, response)
        Probability of each response given the true category; a system is the last rater.
    truth_probabilities : xarray.DataArray, dims (item, category)
        Probability of each true category given the item's ratings.
    standard_errors : xarray.Dataset
        Standard errors of `base_rates`, `knowledge`, `guessing` and `confusion`, from the observed
        information; NaN if an estimate lies on the edge of its range.
    converged : bool
        Whether the search stopped because the log-likelihood no longer increased.
    iterations : int
        Steps of EM, or iterations of the optimiser, from the best start.
    notes : tuple of str
        What the user should know before using the numbers.
    """

    log_likelihood: float | None
    n_parameters: int
    n_items: int
    base_rates: "xr.DataArray"
    knowledge: "xr.DataArray"
    guessing: "xr.DataArray"
    confusion: "xr.DataArray"
    truth_probabilities: "xr.DataArray"
    standard_errors: "xr.Dataset"
    converged: bool
    iterations: int
    notes: tuple[str, ...]

    @property
    def bic(self) -> float | None:
        """Schwarz's criterion, -2 log-likelihood + parameters log(items); None if not estimated."""
        if self.log_likelihood is None:
            return None
        return float(self.n_parameters * np.log(self.n_items) - 2 * self.log_likelihood)

    def __repr__(self) -> str:
        value = "–" if self.log_likelihood is None else f"{self.log_likelihood:.3f}"
        lines = [
            f"TapFit: {counted(self.n_items, 'item')}, {counted(self.knowledge.size, 'rater')}",
            f"  log-likelihood  {value} with {counted(self.n_parameters, 'parameter')}",
            f"  base rates (t)  {listed(self.base_rates)}",
            f"  knowledge (a)   {listed(self.knowledge)}",
        ]
        return "\n".join([*lines, *(f"  note: {text}" for text in self.notes)])


def fit_tap(
    ratings: Ratings,
    *,
    by_rater: bool = False,
    algorithm: Algorithm = "em",
    starts: int = 5,
    seed: Seed = 1,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> TapFit:
    r"""Fit the t-a-p model, in which raters know the true category or guess.

    .. math:: P(\text{rating} = l \mid \text{truth} = k) = a [k = l] + (1 - a) p_l

    Given the truth the ratings are independent. Items are of category k with probability
    :math:`t_k`. Raters are never less accurate than by guessing, so the classes are the categories.

    Parameters
    ----------
    ratings : Ratings
        With or without a system, which has its own knowledge and guesses. Ratings may be missing,
        and repeated. Known truths are not used.
    by_rater : bool
        Whether each rater has their own knowledge and guesses. If not, all have the same.
    algorithm : {"em", "direct"}
        EM, or a quasi-Newton method with the gradient of the likelihood; the maximum is the same.
    starts : int
        Number of points at which the search starts, 1 or more; all but the first are random.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the random starts: the same seed gives the same fit.
    tolerance : float
        EM stops when a step increases the log-likelihood by less than this share of its size, and
        no growing probability near 0 can increase it. With 0 it continues until no parameter
        changes by 1e-10.
    max_iterations : int
        Greatest number of steps of EM from a start, rounded up to a multiple of 3.

    Returns
    -------
    TapFit
        The highest of the maxima that were reached. There are no estimates if there are fewer than
        two categories, if no item has two ratings, if raters agree no more than by chance, or if
        other values fit as well: two ratings of each item in two categories, for example, give two
        frequencies for three parameters.

    Raises
    ------
    InputError
        If `by_rater` is asked for and it is unknown who gave which rating, or if an argument is not
        as above.

    Notes
    -----
    The chapter prints the guesses p with the index of the true category; it should be that of the
    rating. Its M-step equates the diagonal and the column sums of the expected cross-table of truth
    and rating. The result is the maximum of the likelihood for two categories if every item has
    equally many ratings, and else near it. Here EM also treats knowing or guessing as unobserved,
    and its M-step is exact.

    If raters guess each category as often as it occurs (p = t), Fleiss' kappa is :math:`a^2`,
    whatever the number of categories.

    References
    ----------
    Eubanks, The Kappa Zoo, https://kappazoo.com, chapters 2 and 9.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> fit = fit_tap(load_dataset("kappazoo_wine"))
    >>> round(fit.log_likelihood, 3)
    -243.357
    >>> fit.base_rates.values.round(3).tolist()
    [0.265, 0.735]
    >>> fit.knowledge.values.round(3).tolist()
    [0.542, 0.542, 0.542, 0.542]
    >>> float(fit.guessing.sel(rater="rating 1", response="above 1").round(3))
    0.783
    """
    check_choice("algorithm", algorithm, ALGORITHMS)
    check_whole_number("starts", starts, 1)
    check_stop(tolerance, max_iterations)
    if by_rater and ratings.anonymous:
        raise InputError(
            "knowledge by rater is asked for, and it is unknown who gave which rating",
            "fit without by_rater, or give data in which raters are named",
        )
    data = group_votes(ratings, by_rater=by_rater)
    reason = _unsupported(data)
    if reason:
        return _result(ratings, data, None, starts, reason)
    best = search(data, algorithm, starts, seed, tolerance=tolerance, max_iterations=max_iterations)
    if best.log_likelihood - independent_log_likelihood(data) < NO_GAIN:
        reason = (
            "ratings of an item agree no more than guesses would: knowledge and base rates are "
            "undefined"
        )
    return _result(ratings, data, best, starts, reason)


def _unsupported(data: GroupVotes) -> str:
    """Tell why no such ratings could distinguish knowledge from guesses, or give an empty text."""
    if data.n_categories < 2:
        return "there are fewer than two categories: knowledge is undefined"
    per_item = np.asarray(data.votes.sum(axis=1))[data.weights > 0]
    if per_item.max(initial=0) < 2:
        return "no item has two ratings: knowledge is undefined"
    return ""


def _result(
    ratings: Ratings, data: GroupVotes, best: Maximum | None, starts: int, reason: str
) -> TapFit:
    """Label all numbers, repeat those that raters share, and leave out those that are undefined."""
    import xarray as xr

    k, notes = data.n_categories, [reason] if reason else []
    blank = np.full(k + data.n_groups * (k + 1), np.nan)
    if best is None or reason:
        values = errors = _quantities(data, blank)
        classes = np.full((len(data.weights), k), np.nan)
    else:
        values, errors, flat = _determined(data, best.x)
        classes = expect(data, best.x)[0]
        notes += [*flat, *_search_notes(best, starts)]
        if np.isnan(values["base_rates"]).any():
            classes = np.full_like(classes, np.nan)
    coords: dict[str, Any] = {
        "item": ratings.items,
        "rater": list(ratings.all_raters[: len(data.group)]),
        "category": list(ratings.categories),
        "response": list(ratings.categories),
    }

    def label(array: Floats, *dims: str) -> xr.DataArray:
        array = array[data.group] if "rater" in dims else array
        return xr.DataArray(array, {d: coords[d] for d in dims}, dims)

    named = {name: label(values[name], *dims) for name, dims in DIMS.items()}
    return TapFit(
        log_likelihood=None if best is None else best.log_likelihood + log_orderings(ratings),
        n_parameters=max(k - 1, 0) + data.n_groups * k,
        n_items=int(data.weights[np.asarray(data.votes.sum(axis=1)) > 0].sum()),
        **named,
        truth_probabilities=label(classes[data.inverse], "item", "category"),
        standard_errors=xr.Dataset({n: label(errors[n], *dims) for n, dims in DIMS.items()}),
        converged=best is not None and best.converged,
        iterations=0 if best is None else best.iterations,
        notes=tuple(notes),
    )


def _search_notes(best: Maximum, starts: int) -> list[str]:
    notes = []
    if not best.converged:
        notes.append(f"the search had not converged after {best.iterations} iterations")
    if best.reached_from == 1 < starts:
        notes.append(
            f"only 1 of {starts} starts reached this maximum: more starts may find a higher one"
        )
    return notes


def _quantities(data: GroupVotes, x: Floats) -> dict[str, Floats]:
    base_rates, mixture = data.split(x)
    guessed = 1 - mixture[:, :1]
    return {
        "base_rates": base_rates,
        "knowledge": mixture[:, 0],
        "guessing": mixture[:, 1:] / np.where(guessed > BOUNDARY, guessed, np.nan),
        "confusion": confusion(mixture),
    }


def _slopes(data: GroupVotes, x: Floats, directions: Floats) -> dict[str, Floats]:
    """Differentiate the quantities along directions, which are their last dimension."""
    k = data.n_categories
    values = _quantities(data, x)
    mixture = directions[k:].reshape(data.n_groups, k + 1, -1)
    knowledge, guessed = mixture[:, :1], mixture[:, 1:]
    remainder = 1 - values["knowledge"][:, None, None]
    guessing = np.nan_to_num(values["guessing"])[..., None]
    return {
        "base_rates": directions[:k],
        "knowledge": knowledge[:, 0],
        "guessing": (guessed + guessing * knowledge) / np.maximum(remainder, BOUNDARY),
        "confusion": np.eye(k)[..., None] * knowledge[:, None] + guessed[:, None],
    }


def _determined(
    data: GroupVotes, x: Floats
) -> tuple[dict[str, Floats], dict[str, Floats], list[str]]:
    """Give values, with NaN if other values fit as well, standard errors, and notes."""
    values = _quantities(data, x)
    if len(x) > MOST_PARAMETERS:
        errors = {name: np.full_like(array, np.nan) for name, array in values.items()}
        note = f"more than {MOST_PARAMETERS:,} parameters: no standard errors, and not checked "
        return values, errors, [note + "whether other values fit as well"]
    root, flat = curvature(data, x)
    flat = flat / np.maximum(np.abs(flat).max(axis=0, initial=0), 1e-300)
    spread, moved = _slopes(data, x, root), _slopes(data, x, flat)
    errors, notes = {}, []
    for name, array in values.items():
        length = np.sqrt((spread[name] ** 2).sum(axis=-1))
        undetermined = np.abs(moved[name]).max(axis=-1, initial=0) > MOVED
        if undetermined.any():
            notes.append(f"{name.replace('_', ' ')}")
        values[name] = np.where(undetermined, np.nan, array)
        errors[name] = np.where(undetermined | (length < FIXED), np.nan, length)
    if notes:
        return (
            values,
            errors,
            [f"not determined, because other values fit as well: {', '.join(notes)}"],
        )
    if np.isnan(values["guessing"]).any():
        return values, errors, ["some raters always know the truth: their guesses are undefined"]
    return values, errors, []
