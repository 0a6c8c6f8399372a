"""Types of arrays, and what stands for 0 where a logarithm is taken."""

import numpy as np
from numpy.typing import NDArray

type Booleans = NDArray[np.bool_]
type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]

TINY = 1e-300
