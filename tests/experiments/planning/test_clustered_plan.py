"""Plans for clustered items: those for independent items, times the design effect."""

import pytest

from experiments.planning.plan import Question, make_plan
from lehner import InputError

ONE = {"n_categories": 2, "n_raters": 3, "kappa": 0.4, "system_accuracies": (0.7,)}


def test_items_are_multiplied_by_the_design_effect():
    independent = make_plan(Question(**ONE), replicates=1000).mean
    clustered = make_plan(Question(**ONE, icc=0.3, cluster_size=5), replicates=1000).mean
    for name in ("n_items", "lower", "upper"):
        more = 2.2 * getattr(independent, name)
        assert more <= getattr(clustered, name) < more + 1
    assert clustered.standard_error == pytest.approx(2.2 * independent.standard_error)


@pytest.mark.parametrize("wrong", [{"icc": 0.3}, {"icc": 1.2}, {"cluster_size": 0}])
def test_impossible_clusters_are_refused(wrong):
    with pytest.raises(InputError):
        Question(**ONE, **wrong).check()
