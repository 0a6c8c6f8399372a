"""Seeds: streams that differ from one another and are the same each time, those of NumPy."""

import numpy as np

from lehner.core.arrays import derive_seeds


def streams(seeds):
    return [tuple(seed.generate_state(4)) for seed in seeds]


def test_children_are_those_that_numpy_spawns_and_no_two_are_alike():
    ours = streams(derive_seeds(20150501, 200))
    assert ours == streams(np.random.SeedSequence(20150501).spawn(200))
    assert len(set(ours)) == 200


def test_children_of_children_are_their_own_streams():
    first, second = derive_seeds(7, 2)
    families = streams([*derive_seeds(first, 20), *derive_seeds(second, 20), first, second])
    assert len(set(families)) == len(families)


def test_a_generator_gives_other_children_each_time_and_a_number_the_same():
    rng = np.random.default_rng(3)
    assert streams(derive_seeds(rng, 3)) != streams(derive_seeds(rng, 3))
    assert streams(derive_seeds(3, 3)) == streams(derive_seeds(3, 5))[:3]
