"""Types of arrays, and the number that replaces 0 before a logarithm is taken."""

import numpy as np
from numpy.typing import NDArray

type Booleans = NDArray[np.bool_]
type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]

TINY = 1e-300
