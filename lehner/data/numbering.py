"""Numbering: equal keys get equal numbers, 0, 1, 2, …."""

import math

import numpy as np

from lehner.core.arrays import Integers

DENSE = 4


def number_by_size(keys: Integers) -> Integers:
    """Number keys in the order of their size, in linear time where they are dense.

    Parameters
    ----------
    keys : ndarray of int, shape (n,)
        0 or more.

    Returns
    -------
    ndarray of int, shape (n,)

    Examples
    --------
    >>> number_by_size(np.array([7, 3, 7, 5])).tolist()
    [2, 0, 2, 1]
    """
    largest = int(keys.max(initial=-1))
    if largest >= DENSE * len(keys):
        return np.unique(keys, return_inverse=True)[1]
    occurs = np.zeros(largest + 1, dtype=bool)
    occurs[keys] = True
    return (np.cumsum(occurs) - 1)[keys]


def number_by_appearance(keys: Integers) -> tuple[Integers, Integers]:
    """Number keys in the order in which they first occur.

    Parameters
    ----------
    keys : ndarray of int, shape (n,)
        0 or more.

    Returns
    -------
    numbers : ndarray of int, shape (n,)
    first : ndarray of int, shape (n_different,)
        Where each number first occurs.

    Examples
    --------
    >>> numbers, first = number_by_appearance(np.array([7, 3, 7, 5]))
    >>> numbers.tolist(), first.tolist()
    ([0, 1, 0, 2], [0, 1, 3])
    """
    highest = np.maximum.accumulate(keys) if len(keys) else keys
    new = np.flatnonzero(np.diff(highest, prepend=-1))
    if np.array_equal(highest[new], np.arange(len(new))):  # they are numbered so already
        return keys, new
    by_size = number_by_size(keys)
    first = np.empty(int(by_size.max(initial=-1)) + 1, dtype=np.int64)
    first[by_size[::-1]] = np.arange(len(keys))[::-1]
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return number[by_size], first[order]


def unique_rows(rows: Integers) -> tuple[Integers, Integers]:
    """Give the different rows in their order, and which of them each row is.

    `numpy.unique` with an axis takes ten times as long where rows have many columns.

    Parameters
    ----------
    rows : ndarray of int, shape (n_rows, n_columns)

    Returns
    -------
    unique : ndarray of int, shape (n_different, n_columns)
    which : ndarray of int, shape (n_rows,)

    Examples
    --------
    >>> unique, which = unique_rows(np.array([[1, 0], [-1, 300], [1, 0]]))
    >>> unique.tolist(), which.tolist()
    ([[-1, 300], [1, 0]], [1, 0, 1])
    """
    above = rows - rows.min(initial=0)
    # Bytes of unsigned numbers, the greatest byte first, are in the order of the numbers.
    number = np.min_scalar_type(int(above.max(initial=0))).newbyteorder(">")
    as_bytes = np.dtype((np.void, rows.shape[1] * number.itemsize))
    keys = np.ascontiguousarray(above.astype(number)).view(as_bytes).ravel()
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], which


def order_of_name(name: str) -> tuple[float, str]:
    """Key by which names are sorted: numbers by size, then the rest by the alphabet.

    Examples
    --------
    >>> sorted(["b", "10", "a", "9"], key=order_of_name)
    ['9', '10', 'a', 'b']
    """
    try:
        return float(name), name
    except ValueError:
        return math.inf, name
