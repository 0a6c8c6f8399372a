"""What a fit says of its priors."""

import json

import numpy as np
import pymc as pm
import pytest

from bayes_models import MODELS, build_model, find_model
from bayes_models.models.registry import choose_priors, write_priors
from bayes_models.models.spec import name_distribution
from lehner import load_dataset


@pytest.mark.parametrize("model", MODELS)
def test_named_sets_are_kept_as_the_numbers_they_are(model):
    for name, priors in find_model(model).priors.items():
        kept = json.loads(write_priors(model, name))
        assert set(kept) == set(priors)
        for variable, prior in priors.items():
            if isinstance(prior, str):
                assert kept[variable] == prior
            else:
                np.testing.assert_array_equal(kept[variable], prior)
        # What is kept is what a model takes.
        assert choose_priors(model, kept) == kept


def test_a_distribution_is_called_the_same_before_and_after_it_is_part_of_a_model():
    priors = {"rater_log_odds": pm.Uniform.dist(0, 1)}
    before = write_priors("one_coin", priors)
    assert json.loads(before)["rater_log_odds"] == {"distribution": "Uniform(0, 1)"}
    build_model("one_coin", load_dataset("lehner_table2"), priors)
    assert write_priors("one_coin", priors) == before
    assert name_distribution(json.loads(before)["rater_log_odds"]) == "Uniform(0, 1)"
    assert name_distribution(0.5) == name_distribution("diagonal") == ""
