"""The atlas is the population values of what its points say."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments.simulations.atlas import (
    CENTRE,
    DRAWN,
    VIOLATIONS,
    atlas_scenarios,
    atlas_slice,
    compute_atlas,
    compute_biases,
    plot_violation,
)
from lehner import population_value


@pytest.fixture(scope="module")
def difficulty():
    return replace(VIOLATIONS["difficulty"], strengths=(0.0, 0.2))


@pytest.fixture(scope="module")
def atlas(difficulty):
    return compute_atlas(difficulty)


@pytest.mark.parametrize("violation", VIOLATIONS.values(), ids=VIOLATIONS)
def test_each_violation_grows_with_its_strength_and_is_alone(violation):
    for point, scenario in atlas_scenarios(violation):
        size = scenario.violations().pop(violation.name)
        others = {k: v for k, v in scenario.violations().items() if k != violation.name}
        assert not any(others.values())
        assert (size == 0) == (point["strength"] == violation.strengths[0])
        assert np.mean(scenario.initial_rater_accuracy) == pytest.approx(point["rater_accuracy"])
        assert scenario.n_raters == point["n_raters"]


def test_without_violation_only_the_naive_numbers_are_biased(atlas):
    none = atlas[atlas.strength == 0]
    naive = none.method.isin(["majority_agreement", "mean_posterior"])
    paper = none.method == "algebraic_paper"
    assert none[~naive & ~paper].bias.abs().max() < 1e-6
    # Its values are of large samples; where two of three raters are tied it has none.
    assert none[paper].bias.abs().max() < 1e-4
    assert none[paper].bias.isna().any() and none[~paper].bias.notna().all()
    assert none[naive & (none.system_accuracy == 0.9)].bias.max() < -0.01


def test_rows_are_population_values(atlas, difficulty):
    scenarios = {tuple(point.values()): scenario for point, scenario in atlas_scenarios(difficulty)}
    names = ["n_raters", "n_categories", "skew", "rater_accuracy", "system_accuracy", "strength"]
    for _, row in atlas.sample(20, random_state=1).iterrows():
        value = population_value(scenarios[tuple(row[names])], row.method)
        bias = np.nan if value.bias is None else value.bias
        assert row.bias == pytest.approx(bias, abs=1e-12, nan_ok=True)
        assert row.truth == pytest.approx(value.system_accuracy)
    assert len(atlas[atlas.method == "algebraic"]) == len(scenarios)


def test_a_figure_has_every_method_in_every_panel(atlas, difficulty):
    axes = plot_violation(atlas, difficulty).axes
    assert len(axes) == 12
    for ax in axes[:9]:
        assert len(ax.containers) == len(DRAWN)
    drawn = axes[0].containers[0].lines[0].get_ydata(orig=False)
    at = atlas_slice(atlas, system_accuracy=0.9, rater_accuracy=0.4, **CENTRE)
    np.testing.assert_allclose(drawn, at[at.method == "algebraic"].bias)


def test_the_parts_of_the_study_are_the_atlas(monkeypatch, difficulty):
    monkeypatch.setitem(VIOLATIONS, "difficulty", replace(difficulty, strengths=(0.0,)))
    part = pd.DataFrame(compute_biases(7, "difficulty", 2, 3, errors=1))
    whole = compute_atlas(VIOLATIONS["difficulty"])
    whole = whole.query("n_raters == 2 and n_categories == 3").reset_index(drop=True)
    pd.testing.assert_frame_equal(part.astype(whole.dtypes), whole)
