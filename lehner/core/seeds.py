"""Seeds: from one seed, independent random streams for all parts of a computation."""

import hashlib
import itertools
from collections.abc import Iterator

import numpy as np

from lehner.core.errors import wrong

type Seed = int | np.random.SeedSequence | np.random.Generator


def generator(seed: Seed) -> np.random.Generator:
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
        raise wrong("seed", seed, "give a whole number, 0 or more") from None


def child_seeds(seed: Seed, n: int) -> list[np.random.SeedSequence]:
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
    >>> first, second = child_seeds(1, 2)
    >>> first.spawn_key, second.spawn_key
    ((0,), (1,))
    """
    return list(itertools.islice(spawn_seeds(seed), n))


def fixed_seed(seed: Seed) -> int | np.random.SeedSequence:
    """Seed that gives the same numbers each time it is used, which a generator does not.

    Examples
    --------
    >>> fixed_seed(1), fixed_seed(np.random.default_rng(1)).spawn_key
    (1, (0,))
    """
    return child_seeds(seed, 1)[0] if isinstance(seed, np.random.Generator) else seed


def spawn_seeds(seed: Seed) -> Iterator[np.random.SeedSequence]:
    """Derive as many independent seeds as are asked for.

    Parameters
    ----------
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        As in `child_seeds`.

    Yields
    ------
    numpy.random.SeedSequence
    """
    if isinstance(seed, np.random.Generator):
        seed = int(seed.integers(2**63))
    if not isinstance(seed, np.random.SeedSequence):
        generator(seed)
        seed = np.random.SeedSequence(seed)
    for i in itertools.count():
        yield np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, i))


def seed_of(seed: int, *key: str) -> np.random.SeedSequence:
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
    >>> seed_of(1, "rte", "7").spawn_key == seed_of(1, "rte", "8").spawn_key
    False
    """
    return np.random.SeedSequence(seed, spawn_key=place_of(*key))


def place_of(*key: str) -> tuple[int]:
    """Place among all that is done, derived from what is done."""
    digest = hashlib.sha256("\n".join(key).encode()).digest()
    return (int.from_bytes(digest[:8]),)
