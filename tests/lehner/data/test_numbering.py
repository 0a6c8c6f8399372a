"""Different rows are found as NumPy finds them, and in its order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from lehner.data.patterns import unique_rows

NUMBERS = st.one_of(st.integers(-2, 2), st.integers(-70_000, 70_000))


@given(arrays(np.int64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=NUMBERS))
def test_unique_rows_are_those_of_numpy(rows):
    unique, which = unique_rows(rows)
    expected, inverse = np.unique(rows, axis=0, return_inverse=True)
    np.testing.assert_array_equal(unique, expected)
    np.testing.assert_array_equal(which, inverse.ravel())
