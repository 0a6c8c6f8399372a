"""Types and checks of arrays, seeds of random streams, small computations with probabilities."""

import hashlib
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.errors import InputError, make_error

type Booleans = NDArray[np.bool_]
type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]

TINY = 1e-300


def to_array(values: ArrayLike, name: str) -> NDArray[Any]:
    """Convert values into an array, or raise an InputError where rows differ in length."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        raise InputError(f"{name} have rows of unequal length", "give a regular array") from None


def check_integers(
    values: ArrayLike, name: str, shape: tuple[int, ...], least: int, most: int
) -> Integers:
    """Raise an InputError unless values are an array, of a shape, of whole numbers of a range.

    Parameters
    ----------
    values : array_like
    name : str
        What they are, for the error.
    shape : tuple of int
    least, most : int
        The range, both ends included.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> check_integers([0, -1], "truth", (2,), -1, 1)
    array([ 0, -1])
    """
    array = to_array(values, name)
    if array.shape != shape:
        raise InputError(f"{name} has shape {array.shape}", f"give shape {shape}")
    remedy = f"give whole numbers from {least} to {most:,}"
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"{name} has values of type {array.dtype}", remedy)
    if array.size and (array.min() < least or array.max() > most):
        index = tuple(map(int, np.argwhere((array < least) | (array > most))[0]))
        where = index[0] if len(index) == 1 else index
        raise InputError(f"{name} has the value {array[index]} at {where}", remedy)
    return array.astype(np.int64, copy=False)


def draw_categories(probabilities: Floats, uniform: Floats, *row: Any) -> Integers:
    """Draw a category for each uniform number.

    Parameters
    ----------
    probabilities : ndarray of float, shape (..., n_categories)
        A table of probabilities, or of numbers proportional to them.
    uniform : ndarray of float
        Between 0 and 1, as from `numpy.random.Generator.random`.
    *row : array_like of int
        The row of the table for each uniform number, an index for each of the last dimensions
        before the categories. Dimensions before these are those of `uniform`, too.

    Returns
    -------
    ndarray of int
        Of the shape of `uniform`.

    Examples
    --------
    >>> table = np.array([[0.2, 0.8], [0.9, 0.1]])
    >>> draw_categories(table, np.array([0.5, 0.5, 0.1]), [0, 1, 0]).tolist()
    [1, 0, 0]
    """
    # Categories come first, so that each of the few comparisons runs along the items.
    steps = np.moveaxis(probabilities.cumsum(axis=-1), -1, 0)
    scaled = uniform * steps[-1][..., *row]
    drawn = np.zeros(scaled.shape, dtype=np.int64)
    for step in steps[:-1]:
        drawn += scaled >= step[..., *row]
    return drawn


def poisson_binomial(probability: Floats, counts: Floats) -> Floats:
    """Compute the distribution of how many events occur, from its characteristic function.

    Parameters
    ----------
    probability : ndarray, shape (n_rows,)
        From 0 to 1. Time is proportional to how many different ones there are.
    counts : ndarray, shape (n_rows,)
        How many events have each probability.

    Returns
    -------
    ndarray, shape (n_events + 1,)
        Probability of 0, 1, … events.

    References
    ----------
    Hong (2013), https://doi.org/10.1016/j.csda.2012.10.006

    Examples
    --------
    >>> poisson_binomial(np.array([0.5, 0.1]), np.array([1.0, 1.0])).round(3).tolist()
    [0.45, 0.5, 0.05]
    """
    n = int(counts.sum())
    turn = np.exp(-2j * np.pi * np.arange(n + 1) / (n + 1))
    transformed = np.ones(n + 1, dtype=complex)
    levels, level = np.unique(probability, return_inverse=True)
    for level_probability, many in zip(levels, np.bincount(level, counts), strict=True):
        transformed *= (1 - level_probability + level_probability * turn) ** many
    return np.clip(np.fft.ifft(transformed).real, 0.0, 1.0)


# Seeds: from one seed, independent random streams for all parts of a computation

type Seed = int | np.random.SeedSequence | np.random.Generator


def make_rng(seed: Seed) -> np.random.Generator:
    """Make a generator from a seed, or raise an InputError.

    Parameters
    ----------
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        A generator is returned unchanged.

    Returns
    -------
    numpy.random.Generator
    """
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise make_error("seed", seed, "give a whole number, 0 or more") from None


def derive_seeds(seed: Seed, n: int) -> list[np.random.SeedSequence]:
    """Derive independent seeds.

    Parameters
    ----------
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        A number or SeedSequence gives the same children each time. From a generator numbers are
        drawn, so that it gives other children the next time.
    n : int
        How many.

    Returns
    -------
    list of numpy.random.SeedSequence

    Examples
    --------
    >>> first, second = derive_seeds(1, 2)
    >>> first.spawn_key, second.spawn_key
    ((0,), (1,))
    """
    return list(itertools.islice(spawn_seeds(seed), n))


def spawn_seeds(seed: Seed) -> Iterator[np.random.SeedSequence]:
    """Derive as many independent seeds as are asked for.

    Parameters
    ----------
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        As in `derive_seeds`.

    Yields
    ------
    numpy.random.SeedSequence
    """
    if isinstance(seed, np.random.Generator):
        seed = int(seed.integers(2**63))
    if not isinstance(seed, np.random.SeedSequence):
        make_rng(seed)
        seed = np.random.SeedSequence(seed)
    for i in itertools.count():
        yield np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, i))


def derive_seed(seed: int, *key: str) -> np.random.SeedSequence:
    """Derive a seed from what is done, so that it depends on nothing else.

    Parameters
    ----------
    seed : int
    *key : str

    Returns
    -------
    numpy.random.SeedSequence

    Examples
    --------
    >>> derive_seed(1, "rte", "7").spawn_key == derive_seed(1, "rte", "8").spawn_key
    False
    """
    digest = hashlib.sha256("\n".join(key).encode()).digest()
    return np.random.SeedSequence(seed, spawn_key=(int.from_bytes(digest[:8]),))
