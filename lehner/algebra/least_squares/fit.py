"""The base rates and confusion matrix that best fit the frequencies of pairs of ratings."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lehner.algebra.algebraic import CHANCE_TOLERANCE, agreement_at_chance
from lehner.algebra.least_squares.pair_model import (
    FORMS,
    model_at,
    n_parameters,
    natural_slopes,
    numbers_at,
    pair_frequencies,
    truth_probabilities,
    unordered,
)
from lehner.algebra.pairwise import pairwise_agreement
from lehner.core.arrays import Floats
from lehner.core.checks import check_choice, check_whole_number
from lehner.core.estimate import labelled, listed
from lehner.core.seeds import Seed, generator
from lehner.core.warning import Warning, warn
from lehner.data.ratings import Ratings

if TYPE_CHECKING:
    import xarray as xr

type Form = Literal["one_coin", "distance_decay"]

RANK_TOLERANCE = 1e-7
MOVED = 1e-4
EXACT = 1e-20


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeastSquaresFit:
    """The base rates and the confusion matrix that best fit the frequencies of pairs of ratings.

    Numbers that the frequencies do not determine are NaN or None, and `notes` gives the reason.

    Parameters
    ----------
    form : str
        Form of the confusion matrix, as `fit_least_squares` takes it.
    sum_of_squares : float or None
        Sum of squares of observed less expected frequencies of AA, AB, AC, …
    n_parameters : int
        Number of free base rates and free numbers in the confusion matrix.
    n_frequencies : int
        Number of free frequencies of pairs: K (K + 1) / 2 - 1.
    rank : int or None
        How many parameters the frequencies determine: the rank of the Jacobian.
    base_rates : xarray.DataArray, dims (category,)
        Probability of each true category.
    accuracy : float or None
        Probability of a correct rating, for forms in which it is the same in all categories.
    decay : float or None
        By how much the log of an error's probability falls with each step of distance.
    confusion : xarray.DataArray, dims (rater, category, response)
        Probability of each response given the true category, the same for all raters.
    truth_probabilities : xarray.DataArray, dims (item, category)
        Probability of each true category given the raters' ratings of the item.
    pair_frequencies : xarray.Dataset, dims (response, other_response)
        `observed` and `expected`: relative frequency of each pair of ratings of an item by
        different raters, in either order.
    converged : bool
        Whether the optimiser reports that it found a minimum.
    notes : tuple of Warning
        What the user should know before using the numbers.
    """

    form: str
    sum_of_squares: float | None
    n_parameters: int
    n_frequencies: int
    rank: int | None
    base_rates: "xr.DataArray"
    accuracy: float | None
    decay: float | None
    confusion: "xr.DataArray"
    truth_probabilities: "xr.DataArray"
    pair_frequencies: "xr.Dataset"
    converged: bool
    notes: tuple[Warning, ...]

    def __repr__(self) -> str:
        value = "–" if self.sum_of_squares is None else f"{self.sum_of_squares:.3g}"
        lines = [
            f"LeastSquaresFit of {self.form}: {self.n_parameters} parameters, "
            f"{self.n_frequencies} frequencies",
            f"  sum of squares  {value}",
            f"  base rates      {listed(self.base_rates, most=self.base_rates.size)}",
        ]
        for name in ("accuracy", "decay"):
            if getattr(self, name) is not None:
                lines.append(f"  {name:<14}  {getattr(self, name):.3f}")
        return "\n".join([*lines, *(f"  note: {text}" for text in self.notes)])


def fit_least_squares(
    ratings: Ratings, form: Form = "one_coin", *, starts: int = 10, seed: Seed = 1
) -> LeastSquaresFit:
    r"""Fit base rates and a confusion matrix to how often raters give each pair of ratings.

    .. math:: \min_{t, C} \sum_{l \le m} (f_{lm} - e_{lm})^2

    with :math:`f_{lm}` the observed relative frequency with which one of two raters of an item
    says l and the other m, and :math:`e_{lm}` the expected one,
    :math:`\sum_k t_k C_{kl} C_{km}`, times 2 if l and m differ. Raters are exchangeable: all
    share the matrix C, and their pairs are pooled.

    Parameters
    ----------
    ratings : Ratings
        A system's answers are not used. Ratings may be missing.
    form : {"one_coin", "distance_decay"}
        "one_coin": one accuracy, above 1/K, and equal errors. "distance_decay": the probability of
        an error decreases exponentially with the distance of the categories, whose order matters.
    starts : int
        Number of points at which the fit starts, 1 or more; all but the first are random.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the random starts: the same seed gives the same fit.

    Returns
    -------
    LeastSquaresFit
        The best of the fits from all starts. Estimates are missing if they are not determined: if
        there are fewer than two categories, if no two raters rated an item, if they agree at or
        below 1/K, or if other values fit as well.

    Raises
    ------
    InputError
        If the form is unknown, or starts or seed are not whole numbers.

    Notes
    -----
    With K categories there are K (K + 1) / 2 - 1 free frequencies of pairs. Base rates with an
    unrestricted confusion matrix have K² - 1 parameters, which these frequencies never determine.

    References
    ----------
    Lehner (2014), report, footnote 5.

    Examples
    --------
    >>> from lehner import Scenario, simulate
    >>> scenario = Scenario(n_categories=3, base_rates=(0.5, 0.3, 0.2), n_items=20_000)
    >>> fit = fit_least_squares(simulate(scenario, seed=1))
    >>> round(fit.accuracy, 2), fit.base_rates.values.round(2).tolist()
    (0.6, [0.51, 0.3, 0.2])
    """
    check_choice("form", form, FORMS)
    check_whole_number("starts", starts, 1)
    k = ratings.n_categories
    observed = pair_frequencies(ratings)
    reason = _unsupported(ratings)
    if reason:
        return _result(ratings, form, observed, None, reason, converged=False)
    coordinates, converged = _search(form, observed, starts, generator(seed))
    if numbers_at(coordinates, k)[0] < 1 / k + 1e-6:
        text = f"the best accuracy is the chance level 1/{k}: base rates are undefined"
        reason = warn("agreement-at-chance", text)
    return _result(ratings, form, observed, coordinates, reason, converged=converged)


def _unsupported(ratings: Ratings) -> Warning | None:
    k, agreement = ratings.n_categories, pairwise_agreement(ratings).agreement
    if k < 2:
        text = "there are fewer than two categories: accuracy is undefined"
        return warn("too-few-ratings", text)
    if agreement is None:
        return warn("too-few-ratings", "no item was rated by two raters: accuracy is undefined")
    if agreement <= 1 / k + CHANCE_TOLERANCE:
        return agreement_at_chance(agreement, k)
    return None


def _search(
    form: str, observed: Floats, starts: int, rng: np.random.Generator
) -> tuple[Floats, bool]:
    from scipy.optimize import least_squares

    k, target = len(observed), unordered(observed)

    def residuals(coordinates: Floats) -> Floats:
        return unordered(model_at(coordinates, k).pairs()) - target

    def jacobian(coordinates: Floats) -> Floats:
        return unordered(model_at(coordinates, k).pair_slopes()).T

    fits = []
    for start in _starting_points(form, observed, starts, rng):
        tolerances = {"ftol": 1e-14, "xtol": 1e-12, "gtol": 1e-14}
        fits.append(least_squares(residuals, start, jacobian, max_nfev=500, **tolerances))
        if fits[-1].cost < EXACT:
            break
    best = min(fits, key=lambda result: float(result.cost))
    return np.asarray(best.x), bool(best.success)


def _starting_points(form: str, observed: Floats, n: int, rng: np.random.Generator) -> list[Floats]:
    """Start at the frequencies, and accuracies half way from chance to 1; then at random."""
    k = len(observed)
    # The log odds of base rates are one more than the free base rates.
    points = [rng.normal(0.0, 1.0, n_parameters(form, k) + 1) for _ in range(n)]
    points[0][:] = 0.0
    points[0][:k] = np.log(np.maximum(observed.sum(axis=0), 1e-6))
    return points


def _result(
    ratings: Ratings,
    form: str,
    observed: Floats,
    coordinates: Floats | None,
    reason: Warning | None,
    *,
    converged: bool,
) -> LeastSquaresFit:
    """Label all numbers, and leave out those that are undefined."""
    import xarray as xr

    k, notes = ratings.n_categories, [reason] if reason else []
    expected, squares = np.full((k, k), np.nan), None
    values: dict[str, Any] = {}
    if coordinates is not None:
        expected = model_at(coordinates, k).pairs()
        squares = float(((unordered(expected) - unordered(observed)) ** 2).sum())
    if coordinates is not None and not reason:
        values, notes = _determined(form, coordinates, k)
        if not converged:
            notes.append(warn("not-converged", "the search had not converged"))
        if np.trace(observed) > 1 - CHANCE_TOLERANCE:
            text = "raters agree on every item, so that the method takes them to be always right"
            notes.append(warn("raters-always-agree", text))
        if form == "distance_decay" and not ratings.ordered:
            text = "categories are not marked as ordered: distances follow their list"
            notes.append(warn("order-unknown", text))
    base_rates = values.get("base_rates", np.full(k, np.nan))
    confusion = values.get("confusion", np.full((k, k), np.nan))
    matrices = np.broadcast_to(confusion, (ratings.n_raters, k, k))
    truth = truth_probabilities(ratings.votes(), base_rates, confusion)
    names = {"response": list(ratings.categories), "other_response": list(ratings.categories)}
    pairs = {"observed": (tuple(names), observed), "expected": (tuple(names), expected)}
    return LeastSquaresFit(
        form=form,
        sum_of_squares=squares,
        n_parameters=n_parameters(form, k),
        n_frequencies=k * (k + 1) // 2 - 1,
        rank=values.get("rank"),
        base_rates=labelled(base_rates, ratings, "category"),
        accuracy=values.get("accuracy"),
        decay=values.get("decay"),
        confusion=labelled(matrices, ratings, "rater", "category", "response"),
        truth_probabilities=labelled(truth, ratings, "item", "category"),
        pair_frequencies=xr.Dataset(pairs, names),
        converged=converged,
        notes=tuple(notes),
    )


def _determined(form: str, coordinates: Floats, k: int) -> tuple[dict[str, Any], list[Warning]]:
    """Numbers that the frequencies determine, and a warning of the others."""
    model = natural_slopes(coordinates, k)
    values: dict[str, Any] = {"base_rates": model.base_rates, "confusion": model.confusion}
    _, sizes, directions = np.linalg.svd(unordered(model.pair_slopes()).T)
    rank = int((sizes > RANK_TOLERANCE * sizes.max()).sum())
    flat = directions[rank:]
    moves = {
        "base_rates": flat @ model.rate_slopes,
        "confusion": np.tensordot(flat, model.confusion_slopes, axes=1),
        "accuracy": flat[:, k - 1],
        "decay": flat[:, k:],
    }
    values["accuracy"], decay = numbers_at(coordinates, k)
    if form == "distance_decay":
        values["decay"] = decay
    moved = [name for name in values if np.abs(moves[name]).max(initial=0) > MOVED]
    determined = {name: value for name, value in values.items() if name not in moved}
    if not moved:
        return determined | {"rank": rank}, []
    text = (
        f"not determined, because other values fit as well: {', '.join(moved)}; the frequencies of "
        f"pairs determine {rank} of {n_parameters(form, k)} parameters"
    )
    return determined | {"rank": rank}, [warn("not-determined", text)]
