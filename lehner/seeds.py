"""Seeds: one in, as many independent streams out as there are parts of the work."""

import numpy as np

type Seed = int | np.random.SeedSequence | np.random.Generator


def child_seeds(seed: Seed, n: int) -> list[np.random.SeedSequence]:
    """Derive independent seeds.

    Parameters
    ----------
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        A number or sequence is left as it is and gives the same children each time; a generator
        is drawn from.
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
    if isinstance(seed, np.random.Generator):
        seed = int(seed.integers(2**63))
    if not isinstance(seed, np.random.SeedSequence):
        seed = np.random.SeedSequence(seed)
    return [np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, i)) for i in range(n)]
