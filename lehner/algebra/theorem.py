"""Theorem 1: unless the K-properties are true, agreement need not rise with accuracy.

For raters who violate them, the paper's lemmas construct other raters with lower accuracy and
higher agreement, or with higher accuracy and lower agreement.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats, Integers
from lehner.core.checks import SUM_TOLERANCE
from lehner.core.errors import InputError
from lehner.core.wording import rater_names
from lehner.data.categories import category_names
from lehner.data.flat import as_array, check_codes

if TYPE_CHECKING:
    import xarray as xr


DIFFERENT = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Counterexample:
    """Two ways to rate, of which the less accurate has the higher expected agreement.

    Parameters
    ----------
    lemma : int
        1 if raters differ on an item, 2 if errors differ in probability, 3 if items differ in
        difficulty.
    original, constructed : xarray.DataArray, dims (item, rater, category)
        Selection vectors.
    accuracy : tuple of float
        Expected accuracy of the original and the constructed raters.
    agreement : tuple of float
        Their expected pairwise agreement.
    """

    lemma: int
    original: "xr.DataArray"
    constructed: "xr.DataArray"
    accuracy: tuple[float, float]
    agreement: tuple[float, float]


def counterexample(selection: ArrayLike, truth: ArrayLike) -> Counterexample | None:
    """Construct raters for whom accuracy and agreement differ in order from the given ones.

    Parameters
    ----------
    selection : array_like, shape (n_items, n_raters, n_categories)
        Probability that each rater selects each category for each item.
    truth : array_like of int, shape (n_items,)
        Index of each item's true category.

    Returns
    -------
    Counterexample or None
        None if all raters select from one confusion matrix with equal accuracies and equal errors.
        None also if raters are never right and never agree, because neither can be lower.

    Raises
    ------
    InputError
        Unless there are two raters and two categories, and probabilities sum to 1.

    Notes
    -----
    Lemma 1 averages the raters, which raises agreement, and then makes them a little less
    accurate; lemmas 2 and 3 average errors and items, which lowers agreement, and then make the
    raters a little more accurate. Here "a little" is found by halving. The paper's is printed with
    a wrong sign in lemma 1 (the change of agreement is 2 d (p_2 - p_1) + 2 d^2, and
    2 d (p_2 - p_1) = e_1^2 where p_1 < p_2), and is 0 where raters are equally accurate or an
    error equals the mean error. Conversely, with equal accuracies and errors agreement rises with
    accuracy only where accuracy is at least 1/K, a condition the paper leaves out.

    References
    ----------
    Lehner (2015), Appendix, Lemmas 1-3 and Theorem 1.

    Examples
    --------
    >>> found = counterexample([[[0.5, 0.3, 0.2], [0.7, 0.2, 0.1]]], [0])
    >>> found.lemma, found.accuracy[1] < found.accuracy[0], found.agreement[1] > found.agreement[0]
    (1, True, True)
    >>> counterexample([[[0.6, 0.2, 0.2], [0.6, 0.2, 0.2]]], [0])
    """
    vectors, correct = _check(selection, truth)
    # Sums off by rounding would look like unequal errors.
    normalised = vectors / vectors.sum(axis=2, keepdims=True)
    # The correct category first, as in the paper.
    order = np.argsort(np.arange(vectors.shape[2]) != correct[:, None], axis=1, kind="stable")
    ordered = np.take_along_axis(normalised, order[:, None, :], axis=2)
    example = _construct(ordered)
    if example is None:
        return None
    lemma, constructed = example
    back = np.take_along_axis(constructed, np.argsort(order, axis=1)[:, None, :], axis=2)
    return Counterexample(
        lemma=lemma,
        original=_labelled(vectors),
        constructed=_labelled(back),
        accuracy=(_accuracy(ordered), _accuracy(constructed)),
        agreement=(_agreement(ordered), _agreement(constructed)),
    )


def _construct(selection: Floats) -> tuple[int, Floats] | None:
    """Average what differs, then move accuracy; the correct category is the first."""
    k = selection.shape[2]
    right = np.eye(k)[0]
    wrong = (1 - right) / (k - 1)
    original = _agreement(selection)
    raters_alike = np.broadcast_to(selection.mean(axis=1, keepdims=True), selection.shape)
    if _agreement(raters_alike) > original + DIFFERENT:
        if _accuracy(selection) > 0:
            return 1, _mix(raters_alike, wrong, lambda x: _agreement(x) > original)
        if original > DIFFERENT:
            return 1, _mix(selection, right, lambda x: _agreement(x) < original)
        return None
    accuracy = selection[:, :, :1]
    errors_alike = accuracy * right + (1 - accuracy) * wrong
    if _agreement(errors_alike) < original - DIFFERENT:
        return 2, _mix(errors_alike, right, lambda x: _agreement(x) < original)
    items_alike = np.broadcast_to(errors_alike.mean(axis=(0, 1)), selection.shape)
    if _agreement(items_alike) < original - DIFFERENT:
        return 3, _mix(items_alike, right, lambda x: _agreement(x) < original)
    return None


def _mix(selection: Floats, towards: Floats, holds: Callable[[Floats], bool]) -> Floats:
    """Mix in the largest share, among 1/2, 1/4, …, of another vector for which a claim is true."""
    share = 0.5
    while not holds((1 - share) * selection + share * towards):
        share /= 2
    return np.asarray((1 - share) * selection + share * towards)


def _accuracy(selection: Floats) -> float:
    return float(selection[:, :, 0].mean())


def _agreement(selection: Floats) -> float:
    """Average, over items and pairs of raters, the probability of selecting the same category."""
    n_raters = selection.shape[1]
    same = (selection.sum(axis=1) ** 2 - (selection**2).sum(axis=1)).sum(axis=1)
    return float(same.mean() / (n_raters * (n_raters - 1)))


def _check(selection: ArrayLike, truth: ArrayLike) -> tuple[Floats, Integers]:
    vectors = as_array(selection, "selection vectors")
    if not np.issubdtype(vectors.dtype, np.number):
        raise InputError(f"selection vectors are of type {vectors.dtype}", "give probabilities")
    correct = as_array(truth, "truth")
    if vectors.ndim != 3 or min(vectors.shape) < 1 or min(vectors.shape[1:]) < 2:
        raise InputError(
            f"selection vectors have shape {vectors.shape}",
            "give (item, rater, category), with two or more raters and categories",
        )
    sums_to_1 = np.abs(vectors.sum(axis=2) - 1) < SUM_TOLERANCE
    bad = np.argwhere((~(vectors >= 0)).any(axis=2) | ~sums_to_1)
    if len(bad):
        item, rater = map(int, bad[0])
        raise InputError(
            f"the selection vector of item {item}, rater {rater} is {vectors[item, rater]}",
            "give probabilities that sum to 1",
        )
    if correct.shape != vectors.shape[:1]:
        raise InputError(
            f"truth has shape {correct.shape} for {len(vectors)} items", "give one per item"
        )
    correct = check_codes(correct, vectors.shape[2], "truth")
    if (correct < 0).any():
        raise InputError("the truth of an item is missing", "give the true category of each")
    return vectors.astype(float), correct


def _labelled(selection: Floats) -> "xr.DataArray":
    import xarray as xr

    n_items, n_raters, k = selection.shape
    coords = {
        "item": np.arange(1, n_items + 1),
        "rater": rater_names(n_raters),
        "category": list(category_names(k)),
    }
    return xr.DataArray(selection, dims=tuple(coords), coords=coords)
