"""Base rates and confusion matrix that fit best how often two raters give each pair of ratings."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from lehner.agreement import pairwise_agreement
from lehner.checks import check_choice, check_whole_number, find
from lehner.estimate import Estimate, IntervalEstimate, labelled, number, require_estimable
from lehner.pair_model import (
    FORMS,
    PairModel,
    model_at,
    n_coordinates,
    natural_slopes,
    numbers_at,
    unordered,
)
from lehner.ratings import Ratings
from lehner.seeds import Seed, generator
from lehner.system_accuracy import AGGREGATIONS, Aggregation
from lehner.votes import collapse_votes

if TYPE_CHECKING:
    import xarray as xr

type Floats = NDArray[np.float64]
type Form = Literal["one_coin", "distance_decay", "free"]

SINGULAR = 1e-7
MOVED = 1e-4
EXACT = 1e-20
TINY = 1e-300


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeastSquaresFit:
    """Base rates and confusion matrix that fit the frequencies of pairs of ratings best.

    Numbers that the frequencies do not determine are NaN or None, and `notes` says why.

    Parameters
    ----------
    form : str
    sum_of_squares : float or None
        Of observed less expected frequencies of AA, AB, AC, …
    n_parameters : int
    n_frequencies : int
        Frequencies of pairs that may differ: K (K + 1) / 2 - 1.
    rank : int or None
        How many of the parameters the frequencies determine: the rank of the Jacobian.
    base_rates : xarray.DataArray, dims (category,)
    accuracy : float or None
        Probability of a correct rating, for the forms in which it is one number.
    decay : float or None
        By how much the log of an error's probability falls with each step of distance.
    confusion : xarray.DataArray, dims (rater, category, response)
        Of the raters, the same for all.
    class_probabilities : xarray.DataArray, dims (item, category)
        Probability of each true category given the raters' ratings of the item.
    pair_frequencies : xarray.Dataset, dims (response, other_response)
        `observed` and `expected`: relative frequency of each pair of ratings of an item by
        different raters, in either order.
    converged : bool
    notes : tuple of str
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
    class_probabilities: "xr.DataArray"
    pair_frequencies: "xr.Dataset"
    converged: bool
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        value = "–" if self.sum_of_squares is None else f"{self.sum_of_squares:.3g}"
        rates = ", ".join(
            f"{name} {rate:.3f}"
            for name, rate in zip(
                self.base_rates["category"].values, self.base_rates.values, strict=True
            )
        )
        lines = [
            f"LeastSquaresFit of {self.form}: {self.n_parameters} parameters, "
            f"{self.n_frequencies} frequencies",
            f"  sum of squares  {value}",
            f"  base rates      {rates}",
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
    form : {"one_coin", "distance_decay", "free"}
        One accuracy, above 1/K, and equal errors; errors that fall exponentially with the
        distance of the categories, whose order matters; or any matrix.
    starts : int
        Number of points to start from; all but the first are random.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the random starts.

    Returns
    -------
    LeastSquaresFit
        The best of the fits reached. Without estimates where they are not determined: if there
        are fewer than two categories, if no two raters rated an item, if they agree at or below
        1/K, or if other values fit as well.

    Notes
    -----
    K categories have K (K + 1) / 2 - 1 free frequencies of pairs, and the free form has K² - 1
    parameters: it is never determined, by whatever data.

    References
    ----------
    Lehner (2014), report, footnote 5.

    Examples
    --------
    >>> from lehner import Scenario, simulate
    >>> scenario = Scenario(n_categories=3, base_rates=(0.5, 0.3, 0.2), n_items=20_000)
    >>> fit = fit_least_squares(simulate(scenario, seed=1))
    >>> round(fit.accuracy, 2), fit.base_rates.values.round(2).tolist()
    (0.6, [0.49, 0.3, 0.2])
    >>> fit_least_squares(simulate(scenario, seed=1), "free").rank
    5
    """
    check_choice("form", form, FORMS)
    check_whole_number("starts", starts, 1)
    k = ratings.n_categories
    observed = pair_frequencies(ratings)
    reason = _unsupported(ratings)
    if reason:
        return _result(ratings, form, observed, None, False, reason)
    coordinates, converged = _search(form, observed, starts, generator(seed))
    if form != "free" and numbers_at(coordinates, k)[0] < 1 / k + 1e-6:
        reason = f"the best accuracy is the chance level 1/{k}: base rates are undefined"
    return _result(ratings, form, observed, coordinates, converged, reason)


def pair_frequencies(ratings: Ratings) -> Floats:
    """Measure how often one of two raters of an item says one category and the other another.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    ndarray, shape (n_categories, n_categories)
        Symmetric, sums to 1; NaN if no two raters rated an item.
    """
    from scipy.sparse import csr_array

    flat, k = ratings.flat, ratings.n_categories
    weights, votes = ratings.weights.astype(float), ratings.votes()
    cells, cell = np.unique(
        flat.item_index * max(ratings.n_raters, 1) + flat.rater_index, return_inverse=True
    )
    shape = (len(cells), k)
    mine = csr_array((np.ones(len(cell)), (cell, flat.category_index)), shape=shape)
    own = weights[cells // max(ratings.n_raters, 1)]
    # All pairs of ratings of an item, less those of a rating with itself or another of its rater.
    counts = votes.T @ (weights[:, None] * votes) - (mine.T @ (own[:, None] * mine.toarray()))
    total = counts.sum()
    return counts / total if total > 0 else np.full((k, k), np.nan)


def _unsupported(ratings: Ratings) -> str:
    k, agreement = ratings.n_categories, pairwise_agreement(ratings).agreement
    if k < 2:
        return "there are fewer than two categories: accuracy is undefined"
    if agreement is None:
        return "no item was rated by two raters: accuracy is undefined"
    if agreement <= 1 / k + 1e-12:
        return (
            f"raters agree on {agreement:.3f} of pairs, at or below the chance level 1/{k} = "
            f"{1 / k:.3f}: their accuracy and all that follows from it are undefined"
        )
    return ""


def _search(
    form: str, observed: Floats, starts: int, rng: np.random.Generator
) -> tuple[Floats, bool]:
    from scipy.optimize import least_squares

    k, target = len(observed), unordered(observed)

    def residuals(coordinates: Floats) -> Floats:
        return unordered(model_at(form, coordinates, k).pairs()) - target

    def jacobian(coordinates: Floats) -> Floats:
        return unordered(model_at(form, coordinates, k).pair_slopes()).T

    best = None
    for start in _starting_points(form, observed, starts, rng):
        found = least_squares(
            residuals, start, jacobian, ftol=1e-14, xtol=1e-12, gtol=1e-14, max_nfev=500
        )
        best = found if best is None or found.cost < best.cost else best
        if best.cost < EXACT:
            break
    return np.asarray(best.x), bool(best.success)


def _starting_points(form: str, observed: Floats, n: int, rng: np.random.Generator) -> list[Floats]:
    """Start at base rates as the ratings and raters half way from chance to 1; then at random."""
    k = len(observed)
    points = [rng.normal(0.0, 1.0, n_coordinates(form, k)) for _ in range(n)]
    points[0] = np.zeros(n_coordinates(form, k))
    points[0][:k] = np.log(np.maximum(observed.sum(axis=0), 1e-6))
    if form == "free":
        for point in points:
            point[k:] += 2 * np.eye(k).ravel()
    return points


def _result(
    ratings: Ratings,
    form: str,
    observed: Floats,
    coordinates: Floats | None,
    converged: bool,
    reason: str,
) -> LeastSquaresFit:
    """Blank what is undefined, and name everything."""
    import xarray as xr

    k, notes = ratings.n_categories, [reason] * bool(reason)
    numbers = (1 if form == "one_coin" else 2) if form != "free" else k * (k - 1)
    values = {"base_rates": np.full(k, np.nan), "confusion": np.full((k, k), np.nan)}
    accuracy = decay = rank = squares = None
    expected = np.full((k, k), np.nan)
    if coordinates is not None:
        model = model_at(form, coordinates, k)
        expected = model.pairs()
        squares = float(((unordered(expected) - unordered(observed)) ** 2).sum())
    if coordinates is not None and not reason:
        rank, moved = _undetermined(natural_slopes(form, coordinates, k), form)
        if moved:
            notes.append(
                f"not determined, other values fit as well: {', '.join(moved)}; the frequencies "
                f"of pairs determine {rank} of {k - 1 + numbers} parameters"
            )
        if form != "free":
            found = dict(zip(("accuracy", "decay"), numbers_at(coordinates, k), strict=True))
            accuracy = None if "accuracy" in moved else found["accuracy"]
            decay = None if "decay" in moved or form == "one_coin" else found["decay"]
        for name in values.keys() - set(moved):
            values[name] = getattr(model, name)
        if not converged:
            notes.append("the search had not converged")
        if form == "distance_decay" and not ratings.ordered:
            notes.append("the categories are not marked as ordered: distance follows their list")
    truth = truth_probabilities(ratings.votes(), values["base_rates"], values["confusion"])
    pair_dims = {"response": list(ratings.categories), "other_response": list(ratings.categories)}
    matrices = np.broadcast_to(values["confusion"], (ratings.n_raters, k, k))
    return LeastSquaresFit(
        form=form,
        sum_of_squares=squares,
        n_parameters=max(k - 1, 0) + numbers,
        n_frequencies=max(k * (k + 1) // 2 - 1, 0),
        rank=rank,
        base_rates=labelled(values["base_rates"], ratings, "category"),
        accuracy=accuracy,
        decay=decay,
        confusion=labelled(matrices, ratings, "rater", "category", "response"),
        class_probabilities=labelled(truth, ratings, "item", "category"),
        pair_frequencies=xr.Dataset(
            {
                name: (tuple(pair_dims), array)
                for name, array in (("observed", observed), ("expected", expected))
            },
            pair_dims,
        ),
        converged=converged,
        notes=tuple(notes),
    )


def _undetermined(model: PairModel, form: str) -> tuple[int, list[str]]:
    """Give the rank of the Jacobian, and what moves while the frequencies stay as they are."""
    _, sizes, directions = np.linalg.svd(unordered(model.pair_slopes()).T)
    rank = int((sizes > SINGULAR * max(float(sizes.max(initial=0.0)), SINGULAR)).sum())
    flat = directions[rank:]
    k = len(model.base_rates)
    moves = {
        "base_rates": flat @ model.base_rate_slopes,
        "confusion": np.tensordot(flat, model.confusion_slopes, axes=1),
    }
    if form != "free":
        moves |= {"accuracy": flat[:, k - 1], "decay": flat[:, k:]}
    return rank, [name for name, m in moves.items() if np.abs(m).max(initial=0) > MOVED]


def truth_probabilities(votes: NDArray[np.int64], base_rates: Floats, confusion: Floats) -> Floats:
    """Give the probability of each true category by Bayes' rule, raters independent and alike.

    Parameters
    ----------
    votes : ndarray of int, shape (n_items, n_categories)
    base_rates : ndarray, shape (n_categories,)
    confusion : ndarray, shape (n_categories, n_responses)

    Returns
    -------
    ndarray, shape (n_items, n_categories)
    """
    log = votes @ np.log(np.maximum(confusion, TINY)).T + np.log(np.maximum(base_rates, TINY))
    probability = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(probability / probability.sum(axis=1, keepdims=True))


def estimate_least_squares(
    ratings: Ratings,
    form: Form = "one_coin",
    *,
    aggregation: Aggregation = "bins",
    starts: int = 10,
    seed: Seed = 1,
) -> Estimate:
    """Estimate the accuracy of the system after a fit to the frequencies of pairs of ratings.

    The fit takes the place of steps 1 and 2 of Lehner's algebra. Truth probabilities follow by
    Bayes' rule, and the accuracy of the system by step 4, for which its errors are equally
    probable whatever the form.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    form : {"one_coin", "distance_decay", "free"}
        As of `fit_least_squares`; with "free" there is no estimate.
    aggregation : {"bins", "weighted", "likelihood"}
        How step 4 combines the items, as of `estimate_algebraic`.
    starts : int
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    Estimate
        Without interval.

    Raises
    ------
    InputError
        Without a system, two raters, two categories and an item rated by two raters.

    References
    ----------
    Lehner (2014), report, footnote 5; Lehner (2015), Eq. 6 and 7.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> estimate = estimate_least_squares(load_dataset("lehner_table2"))
    >>> round(estimate.system_accuracy.estimate, 3)
    0.745
    """
    step_4 = find("aggregation", aggregation, AGGREGATIONS)
    require_estimable(ratings)
    fit = fit_least_squares(ratings, form, starts=starts, seed=seed)
    collapsed = collapse_votes(ratings)
    answers = collapsed.counts(collapsed.weights[None, :].astype(float))[..., :-1]
    truth = truth_probabilities(
        collapsed.table.votes, fit.base_rates.values, fit.confusion.values[0]
    )
    point = float(step_4(truth[None], answers)[0])
    accuracy = IntervalEstimate(estimate=number(point))
    right = np.diagonal(fit.confusion.values, axis1=1, axis2=2) @ fit.base_rates.values
    notes = fit.notes
    if np.isnan(point) and not notes:
        notes = ("the truth probabilities say nothing about the system's answers",)
    return Estimate(
        method=f"least_squares_{form}",
        system_accuracy=accuracy,
        system_accuracy_in_sample=accuracy,
        rater_accuracy=labelled(right, ratings, "rater"),
        base_rates=fit.base_rates,
        confusion=fit.confusion,
        truth_probabilities=fit.class_probabilities,
        warnings=notes,
        diagnostics={"sum_of_squares": fit.sum_of_squares, "rank": fit.rank},
    )
