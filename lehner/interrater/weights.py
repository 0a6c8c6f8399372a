"""Agreement weights of two categories: 1 for equal categories, 0 for the most different ones."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats
from lehner.core.errors import InputError, Warning, compose, find, warn
from lehner.data.columns import Label, to_numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class AgreementWeights:
    """Weights of pairs of categories.

    Parameters
    ----------
    name : str
        A key of `WEIGHTS`, or "custom".
    matrix : ndarray of float, shape (n_categories, n_categories)
        Symmetric, between 0 and 1; 1 on the diagonal.
    """

    name: str
    matrix: Floats


def _distance(x: Floats) -> Floats:
    return np.asarray(np.abs(x[:, None] - x))


def _ratio(x: Floats) -> Floats:
    total = x[:, None] + x
    return np.divide(_distance(x), total, out=np.zeros_like(total), where=total > 0) ** 2


type Scale = Literal["names", "position", "value"]

# Disagreement, up to a factor, and its argument: the positions of the categories, or their values.
# `nominal` is Krippendorff's name for `identity`. `linear` and `quadratic` are Cohen's (1968),
# `ordinal` is that of Gwet (2014, chapter 3), `interval` and `ratio` are Krippendorff's (2011).
# R's irrCAC uses weights by value if categories are numbers.
WEIGHTS: dict[str, tuple[Callable[[Floats], Floats], Scale]] = {
    **dict.fromkeys(("identity", "nominal"), (lambda x: (_distance(x) > 0).astype(float), "names")),
    "linear": (_distance, "position"),
    "quadratic": (lambda x: _distance(x) ** 2, "position"),
    "ordinal": (lambda x: _distance(x) * (_distance(x) + 1), "position"),
    "linear_by_value": (_distance, "value"),
    "interval": (lambda x: _distance(x) ** 2, "value"),
    "ratio": (_ratio, "value"),
}
# Weights of names, two words for the same.
BY_NAME = frozenset({"identity", "nominal"})
BY_VALUE = {"linear": "linear_by_value", "quadratic": "interval"}


def find_weights(
    weights: str | ArrayLike, categories: Sequence[Label], *, ordered: bool
) -> AgreementWeights:
    """Find agreement weights by name, or check those given.

    Parameters
    ----------
    weights : str or array_like of float, shape (n_categories, n_categories)
        A key of `WEIGHTS`; or symmetric weights between 0 and 1 with 1 on the diagonal.
    categories : sequence of str or int
    ordered : bool
        Whether the order of the categories is meaningful.

    Returns
    -------
    AgreementWeights

    Raises
    ------
    InputError
        If weights depend on the order of categories without order, or on values of categories that
        are not numbers, or if a matrix is not one of weights.

    References
    ----------
    Cohen (1968), Psychological Bulletin 70(4), 213-220. Gwet (2014), Handbook of Inter-Rater
    Reliability, 4th edition, chapter 3. Krippendorff (2011), Computing Krippendorff's
    Alpha-Reliability.

    Examples
    --------
    >>> find_weights("quadratic", [1, 2, 4], ordered=True).matrix.tolist()
    [[1.0, 0.75, 0.0], [0.75, 1.0, 0.75], [0.0, 0.75, 1.0]]
    >>> find_weights("interval", [1, 2, 4], ordered=True).matrix.round(3).tolist()
    [[1.0, 0.889, 0.0], [0.889, 1.0, 0.556], [0.0, 0.556, 1.0]]
    """
    if not isinstance(weights, str):
        return AgreementWeights(name="custom", matrix=_check_matrix(weights, len(categories)))
    disagreement, scale = find("kind of weights", weights, WEIGHTS)
    x = np.arange(len(categories), dtype=float)
    if scale == "position":
        _require_order(weights, categories, ordered=ordered)
    if scale == "value":
        x = _require_numbers(weights, categories)
    disagreements = disagreement(x)
    return AgreementWeights(
        name=weights, matrix=1 - disagreements / max(disagreements.max(initial=0), 1e-300)
    )


def name_weights(kind: AgreementWeights) -> str:
    """Name weights as the table of results does: those of names only are empty."""
    return "" if kind.name in BY_NAME else kind.name


def note_weights(
    weights: Sequence[AgreementWeights], categories: Sequence[Label]
) -> Iterator[Warning]:
    """Tell which weights depend on positions although categories are unequally spaced numbers.

    Parameters
    ----------
    weights : sequence of AgreementWeights
        All that are used.
    categories : sequence of str or int
        In order.

    Yields
    ------
    Warning
        About these weights.
    """
    numbers = to_numbers(categories)
    names = [kind.name for kind in weights if kind.name in BY_VALUE]
    if names and numbers and len(numbers) > 2 and np.ptp(np.diff(numbers)) >= 1e-9:
        text = f"{', '.join(names)} weights depend on the order of the categories, not on their "
        text += "values, which are not equally spaced; weights by value are "
        yield warn("weights-by-position", text + ", ".join(BY_VALUE[name] for name in names))


def _require_order(weights: str, categories: Sequence[Label], *, ordered: bool) -> None:
    if not ordered and to_numbers(categories) is None:
        problem = f"weights {weights!r} need ordered categories, and it is not known that "
        problem += f"{', '.join(map(str, categories))} is their order"
        remedy = compose(
            "give all categories in order ({categories}) and say that they are ordered "
            "({ordered=True})"
        )
        raise InputError(problem, remedy)


def _require_numbers(weights: str, categories: Sequence[Label]) -> Floats:
    numbers, listed = to_numbers(categories), ", ".join(map(str, categories))
    need, remedy = f"weights {weights!r} need", "choose other weights"
    if numbers is None:
        raise InputError(f"{need} categories that are numbers, and these are {listed}", remedy)
    if len(set(numbers)) < len(numbers):
        remedy = "choose weights by position, or make categories of equal value one"
        raise InputError(f"{need} different numbers, and these are {listed}", remedy)
    if weights == "ratio" and min(numbers) < 0:
        problem = f"{need} numbers from 0 up, and the least is {min(numbers):g}"
        raise InputError(problem, remedy)
    return np.array(numbers)


def _check_matrix(weights: ArrayLike, n_categories: int) -> Floats:
    remedy = f"give {n_categories} × {n_categories} numbers between 0 and 1, 1 on the diagonal and "
    remedy += "the same on both sides of it"
    try:
        matrix = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise InputError("the weights are not a matrix of numbers", remedy) from None
    problem = ""
    if matrix.shape != (n_categories, n_categories):
        problem = f"the weights have shape {matrix.shape}"
    elif not ((matrix >= 0) & (matrix <= 1)).all() or not (np.diag(matrix) == 1).all():
        problem = "the weights are not all between 0 and 1, or not 1 for equal categories"
    elif not np.allclose(matrix, matrix.T, rtol=0):
        problem = "the weight of some categories depends on their order"
    if problem:
        raise InputError(problem, remedy)
    return matrix


def find_all_weights(
    weights: Any, categories: Sequence[Label], *, ordered: bool
) -> tuple[AgreementWeights, ...]:
    """Find one or several agreement weights.

    Parameters
    ----------
    weights : str, array_like, sequence of str, or None
        As in `find_weights`, or several names. None means identity and, if the categories are
        ordered, linear, quadratic and ordinal.
    categories : sequence of str or int
    ordered : bool

    Returns
    -------
    tuple of AgreementWeights

    Examples
    --------
    >>> [kind.name for kind in find_all_weights(None, ["low", "high"], ordered=True)]
    ['identity', 'linear', 'quadratic', 'ordinal']
    """
    if weights is None:
        weights = ["identity", *(["linear", "quadratic", "ordinal"] if ordered else [])]
    names = isinstance(weights, list | tuple) and all(isinstance(kind, str) for kind in weights)
    if not names:
        weights = [weights]
    if not weights:
        raise InputError("there are no weights", f"choose among {', '.join(WEIGHTS)}")
    return tuple(find_weights(kind, categories, ordered=ordered) for kind in weights)
