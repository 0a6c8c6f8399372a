"""Types of arrays."""

import numpy as np
from numpy.typing import NDArray

type Booleans = NDArray[np.bool_]
type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]
