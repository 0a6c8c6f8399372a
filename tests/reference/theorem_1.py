"""Theorem 1 of Lehner (2015): without the K-properties agreement need not rise with accuracy.

For raters who violate them, the paper's lemmas construct other raters with lower accuracy and
higher agreement, or with higher accuracy and lower agreement.

Lemma 1 averages the raters, which raises agreement, and then makes them a little less accurate;
lemmas 2 and 3 average errors and items, which lowers agreement, and then make the raters a little
more accurate. Here "a little" is found by halving. The paper prints a wrong sign in lemma
1 (the change of agreement is 2 d (p_2 - p_1) + 2 d^2, and 2 d (p_2 - p_1) = e_1^2 where p_1 < p_2),
and is 0 where raters are equally accurate or an error equals the mean error. Conversely, with equal
accuracies and errors agreement rises with accuracy only where accuracy is at least 1/K, a condition
the paper leaves out.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lehner.core.arrays import Floats

DIFFERENT = 1e-12


class Counterexample(NamedTuple):
    """Other raters than the given ones: of the two, the less accurate agree more.

    The lemma is 1 if raters differ on an item, 2 if errors differ in probability, 3 if items differ
    in difficulty. Accuracy and agreement are those of the given and of the constructed raters.
    """

    lemma: int
    constructed: Floats
    accuracy: tuple[float, float]
    agreement: tuple[float, float]


def counterexample(selection, truth):
    """Construct raters for whom accuracy and agreement differ in order from the given ones.

    The probability that each rater selects each category has the shape (n_items, n_raters,
    n_categories). There is no counterexample if all raters select from one confusion matrix with
    equal accuracies and equal errors, and none if they are never right and never agree, because
    neither can be lower.
    """
    vectors, correct = np.asarray(selection, dtype=float), np.asarray(truth)
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
        constructed=back,
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
