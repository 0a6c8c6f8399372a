"""The estimate with the system's slope on difficulty fixed."""

import pytest

from bayes_models import slope_sensitivity
from lehner import InputError, load_dataset


def test_without_a_system_it_is_refused_before_a_fit():
    with pytest.raises(InputError, match="there is no system"):
        slope_sensitivity(load_dataset("anesthesia"))
