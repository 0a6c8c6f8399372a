"""The estimate with the system's slope on difficulty fixed."""

import pytest

from bayes_models import vary_slope
from lehner import InputError, load_dataset


def test_without_a_system_it_is_refused_before_a_fit():
    with pytest.raises(InputError, match="there is no system"):
        vary_slope(load_dataset("anesthesia"))
