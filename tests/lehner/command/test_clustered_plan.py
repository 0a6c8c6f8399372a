"""Plans for clustered items: those for independent items, times the design effect."""

import pytest

from lehner import InputError
from lehner.command.show_plan import PlanOptions, find_sizes

ONE = {"n_categories": 2, "n_raters": 3, "kappa": 0.4, "system_accuracies": (0.7,)}


def test_items_are_multiplied_by_the_design_effect():
    scenarios = PlanOptions(**ONE).make_scenarios()
    independent, clustered = (
        find_sizes(question, scenarios, replicates=1000)["0.7"]
        for question in (PlanOptions(**ONE), PlanOptions(**ONE, icc=0.3, cluster_size=5))
    )
    for name in ("n_items", "lower", "upper"):
        more = 2.2 * independent[name]
        assert more <= clustered[name] < more + 1
    assert clustered["standard_error"] == pytest.approx(2.2 * independent["standard_error"])


@pytest.mark.parametrize("wrong", [{"icc": 0.3}, {"icc": 1.2}, {"cluster_size": 0}])
def test_impossible_clusters_are_refused(wrong):
    with pytest.raises(InputError):
        PlanOptions(**ONE, **wrong).make_scenarios()
