"""Agreement weights: how far two categories agree, 1 for the same, 0 for the most different."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats
from lehner.core.checks import find
from lehner.core.errors import InputError
from lehner.data.categories import Label


@dataclass(frozen=True, kw_only=True, eq=False)
class AgreementWeights:
    """Weights of pairs of categories.

    Parameters
    ----------
    name : str
        A key of `WEIGHTS`, or "given".
    matrix : ndarray of float, shape (n_categories, n_categories)
        Between 0 and 1; 1 on the diagonal.
    """

    name: str
    matrix: Floats

    @property
    def symmetric(self) -> bool:
        """Whether it makes no difference which rater gave which category."""
        return bool(np.array_equal(self.matrix, self.matrix.T))


def _identity(steps: Floats, values: Floats) -> Floats:
    return (steps > 0).astype(float)


def _linear(steps: Floats, values: Floats) -> Floats:
    return steps


def _quadratic(steps: Floats, values: Floats) -> Floats:
    return steps**2


def _ordinal(steps: Floats, values: Floats) -> Floats:
    return steps * (steps + 1)


def _interval(steps: Floats, values: Floats) -> Floats:
    return (values[:, None] - values) ** 2


def _ratio(steps: Floats, values: Floats) -> Floats:
    total = values[:, None] + values
    return (
        np.divide(values[:, None] - values, total, out=np.zeros_like(total), where=total > 0) ** 2
    )


WEIGHTS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "identity": _identity,
    "nominal": _identity,
    "linear": _linear,
    "quadratic": _quadratic,
    "ordinal": _ordinal,
    "interval": _interval,
    "ratio": _ratio,
}
"""Disagreement, up to a factor, from steps between categories and from their numbers.

`nominal` is Krippendorff's name of `identity`. `linear` and `quadratic` (Cohen 1968) and `ordinal`
(Gwet 2014, section 3.5) go by the categories' order; `interval` and `ratio` (Krippendorff 2011) by
the numbers that they are.
"""


def find_weights(
    weights: str | ArrayLike, categories: Sequence[Label], *, ordered: bool
) -> AgreementWeights:
    """Find agreement weights by name, or check those given.

    Parameters
    ----------
    weights : str or array_like of float, shape (n_categories, n_categories)
        A key of `WEIGHTS`; or weights between 0 and 1 with 1 on the diagonal.
    categories : sequence of str or int
    ordered : bool
        Whether the order of the categories means something.

    Returns
    -------
    AgreementWeights

    Raises
    ------
    InputError
        For weights by order of categories that have none, weights by number of categories that
        are no numbers, or a matrix that is not one of weights.

    References
    ----------
    Cohen (1968), Psychological Bulletin 70(4), 213-220. Gwet (2014), Handbook of Inter-Rater
    Reliability, 4th edition, chapter 3. Krippendorff (2011), Computing Krippendorff's
    Alpha-Reliability.

    Examples
    --------
    >>> find_weights("quadratic", [1, 2, 3], ordered=True).matrix.tolist()
    [[1.0, 0.75, 0.0], [0.75, 1.0, 0.75], [0.0, 0.75, 1.0]]
    """
    if not isinstance(weights, str):
        return AgreementWeights(name="given", matrix=_check_matrix(weights, len(categories)))
    disagreement = find("kind of weights", weights, WEIGHTS)
    if disagreement is not _identity:
        _require_scale(weights, categories, ordered=ordered)
    position = np.arange(len(categories), dtype=float)
    numbers = all(isinstance(category, int) for category in categories)
    values = np.array(categories, dtype=float) if numbers else position
    found = disagreement(np.abs(position[:, None] - position), values)
    return AgreementWeights(name=weights, matrix=1 - found / max(found.max(initial=0), 1e-300))


def _require_scale(weights: str, categories: Sequence[Label], *, ordered: bool) -> None:
    numbers = [category for category in categories if isinstance(category, int)]
    listed = ", ".join(map(str, categories))
    if weights in ("interval", "ratio"):
        if len(numbers) < len(categories):
            raise InputError(
                f"weights {weights!r} need categories that are numbers, and these are {listed}",
                "choose other weights",
            )
        if weights == "ratio" and min(numbers) < 0:
            raise InputError(
                f"weights 'ratio' need numbers from 0 up, and the least is {min(numbers)}",
                "choose other weights",
            )
    elif not ordered and len(numbers) < len(categories):
        raise InputError(
            f"weights {weights!r} need ordered categories, and it is not known that "
            f"{listed} is their order",
            "give all categories in order (categories=…) and say that they are ordered "
            "(ordered=True)",
        )


def _check_matrix(weights: ArrayLike, n_categories: int) -> Floats:
    remedy = f"give {n_categories} × {n_categories} numbers between 0 and 1, 1 on the diagonal"
    try:
        matrix = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise InputError("the weights are not a matrix of numbers", remedy) from None
    if matrix.shape != (n_categories, n_categories):
        raise InputError(f"the weights have shape {matrix.shape}", remedy)
    if not ((matrix >= 0) & (matrix <= 1)).all() or not (np.diag(matrix) == 1).all():
        raise InputError("the weights are not all between 0 and 1, or not 1 for the same", remedy)
    return matrix


def find_all_weights(
    weights: Any, categories: Sequence[Label], *, ordered: bool
) -> tuple[AgreementWeights, ...]:
    """Find agreement weights of which there may be several.

    Parameters
    ----------
    weights : str, array_like, sequence of str, or None
        As of `find_weights`, or several names. None is identity and, where the categories are
        ordered, linear, quadratic and ordinal.
    categories : sequence of str or int
    ordered : bool

    Returns
    -------
    tuple of AgreementWeights

    Examples
    --------
    >>> [one.name for one in find_all_weights(None, ["low", "high"], ordered=True)]
    ['identity', 'linear', 'quadratic', 'ordinal']
    """
    if weights is None:
        weights = ["identity", *(["linear", "quadratic", "ordinal"] if ordered else [])]
    names = isinstance(weights, list | tuple) and all(isinstance(one, str) for one in weights)
    if not names:
        weights = [weights]
    if not weights:
        raise InputError("there are no weights", f"choose among {', '.join(WEIGHTS)}")
    return tuple(find_weights(one, categories, ordered=ordered) for one in weights)
