"""The table of results: its keys, its views, questions and methods of one's own."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import lehner
from lehner import Estimate, InputError, IntervalEstimate
from lehner.core.estimate import COLUMNS, KEYS, row
from lehner.core.results import plot_forest, read_value
from lehner.estimation.methods import Method

QUICK = ["majority_agreement", "algebraic"]


def simulated(n_items=60, gold=0):
    scenario = lehner.Scenario(
        n_categories=2, n_items=n_items, initial_rater_accuracy=(0.8, 0.7, 0.9)
    )
    made = lehner.simulate(scenario, 1)
    return made.with_truth(np.where(np.arange(n_items) < gold, made.truth, -1) if gold else None)


def two_systems(gold=0):
    made = simulated(gold=gold)
    answers = np.column_stack([made.system, made.codes[:, 2]])
    return lehner.Ratings(
        made.codes[:, :2], made.categories, system=answers, systems=["a", "b"], truth=made.truth
    )


@pytest.fixture(scope="module")
def results():
    groups = np.resize(["x", "y", "y"], 60)
    return lehner.estimate(simulated(gold=25), QUICK, groups=groups)


def test_a_number_is_one_row_and_columns_are_those_of_every_table(results):
    both = lehner.estimate(two_systems(gold=25), QUICK)
    for made in (results, both, lehner.compare(simulated(), "A", methods="majority")):
        assert tuple(made.table.columns) == COLUMNS
        assert not made.table.duplicated([*KEYS, "corrected"]).any()
        texts = made.table[[*KEYS, "kind"]]
        assert not texts.isna().any().any()


def test_known_truths_stand_beside_the_numbers_that_they_correct(results):
    alone = lehner.estimate(results.ratings.with_truth(None), "algebraic")
    own = results.table.query("method == 'algebraic' and not corrected")
    for quantity in ("system_accuracy", "balanced_accuracy", "mcc"):
        rows = own[(own["quantity"] == quantity) & (own["group"] == "")]
        assert rows["estimate"].item() == alone.value(quantity).estimate
        assert results.value(quantity, method="algebraic").corrected
    assert len(results.final) < len(results.table)
    assert not results.final.duplicated(list(KEYS)).any()


def test_rows_are_selected_and_values_looked_up(results):
    recall = results.select(quantity="recall", method="algebraic", rater="")
    assert recall["category"].tolist() == ["A", "B"]
    with pytest.raises(InputError, match="2 rows have quantity='system_accuracy'"):
        results.value("system_accuracy")
    with pytest.raises(InputError, match="0 rows have quantity='recal', category='A'"):
        results.value("recal", category="A")


def test_it_prints_and_is_json(results):
    shown = repr(results)
    assert "majority_agreement" in shown and "system_accuracy" in shown
    warnings = [line for line in shown.splitlines() if line.startswith("warning: ")]
    texts = {warning.text for warning in results.warnings}
    assert len(warnings) == len(texts)
    for warning in results.warnings:
        (line,) = (line for line in warnings if line.endswith(warning.text))
        assert warning.method in line
    assert "<table" in results._repr_html_()
    text = json.loads(results.to_json())
    assert list(text) == ["data", "rows", "warnings", "version"]
    assert len(text["rows"]) == len(results.table) and set(text["rows"][0]) == set(COLUMNS)
    assert {"code", "severity", "system", "method", "about"} <= set(text["warnings"][0])


def test_fits_are_what_the_methods_gave(results):
    (system,) = results.ratings.systems
    fit = results.fits[system, "algebraic"]
    alone = lehner.estimate_algebraic(results.ratings.with_truth(None), seed=1)
    assert fit.system_accuracy == alone.system_accuracy


def ask_disparity(fit, options):
    """How far the recalls of the two categories are apart."""
    matrix = fit.estimate.confusion
    if matrix is not None:
        first, second = np.diagonal(matrix.values[-1])
        yield row("disparity", IntervalEstimate(estimate=abs(float(first - second))))


def test_a_question_of_ones_own_is_a_function_that_yields_rows():
    results = lehner.estimate(simulated(), QUICK, questions=[ask_disparity])
    recall = [results.value("recall", category=c, method="algebraic").estimate for c in "AB"]
    assert results.value("disparity").estimate == pytest.approx(abs(recall[0] - recall[1]))


def test_only_the_questions_that_are_named_are_asked():
    results = lehner.estimate(simulated(), QUICK, questions=["accuracy", ask_disparity])
    quantities = {"system_accuracy", "system_accuracy_in_sample", "disparity"}
    assert set(results.table["quantity"]) == quantities
    with pytest.raises(InputError, match="no question 'recall'"):
        lehner.estimate(simulated(), QUICK, questions=["recall"])


def test_views_write_and_draw_what_the_table_has(results):
    value = results.value("recall", method="algebraic", category="A")
    assert results.pivot("recall").loc["A", "algebraic"] == str(value)
    latex = results.to_latex("recall")
    shown = str(read_value(results.select(quantity="recall", category="A").iloc[0]))
    assert f"A & {shown.replace('0.', '.')}" in latex
    assert "category & Majority agreement & Algebraic" in latex
    ax = results.plot("recall", method="algebraic")
    ends = [segment[:, 0].tolist() for drawn in ax.collections for segment in drawn.get_segments()]
    assert [value.lower, value.upper] in ends
    assert [value.estimate] in [line.get_xdata().tolist() for line in ax.get_lines()]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["A", "B"]
    rows = results.select(quantity="system_accuracy")
    ax = plot_forest(rows.assign(method=rows["method"] + "_of_mine"))
    assert len({line.get_marker() for line in ax.get_lines()}) == 2


def test_a_method_of_ones_own_gets_the_options_that_it_takes():
    def estimate(ratings, *, level, seed, model_priors):
        return replace(third_rater_is_right(ratings), diagnostics={"priors": model_priors})

    mine = Method(name="mine", summary="", fit=estimate, takes=frozenset(["model_priors"]))
    results = lehner.estimate(simulated(), mine, given=lehner.Given(model_priors="flat"))
    assert results.fits["system", "mine"].diagnostics == {"priors": "flat"}
    with pytest.raises(InputError, match="no method takes model priors"):
        lehner.estimate(simulated(), QUICK, given=lehner.Given(model_priors="flat"))


def third_rater_is_right(ratings, **_):
    """Take the third rater for the truth."""
    truth, system = ratings.codes[:, 2], ratings.system
    table = [[np.mean(system[truth == k] == j) for j in (0, 1)] for k in (0, 1)]
    names = list(ratings.categories)
    matrices = np.stack([np.eye(2)] * ratings.n_raters + [table])
    accuracy = IntervalEstimate(estimate=float(np.mean(truth == system)))
    return Estimate(
        method="third_rater",
        system=ratings.systems[0],
        system_accuracy=accuracy,
        system_accuracy_in_sample=accuracy,
        arrays={
            "base_rates": xr.DataArray(np.bincount(truth) / len(truth), {"category": names}),
            "confusion": xr.DataArray(
                matrices, {"rater": list(ratings.all_raters), "category": names, "response": names}
            ),
            "truth_probabilities": xr.DataArray(
                np.eye(2)[truth], {"item": ratings.items, "category": names}
            ),
        },
    )


def test_a_method_of_ones_own_gives_all_that_follows_from_its_arrays():
    """Details, disagreements with others, corrections by known truths, and systems."""
    mine = Method(name="third_rater", summary="of mine", fit=third_rater_is_right)
    ratings = simulated(gold=25)
    results = lehner.estimate(ratings, [mine, "algebraic"])
    own = results.table[results.table["method"] == "third_rater"]
    right = np.mean(ratings.codes[:, 2] == ratings.system)
    plain = own[~own["corrected"]].set_index("quantity")["estimate"]
    assert plain["system_accuracy"] == right
    assert {"recall", "precision", "mcc", "confusion", "base_rates"} <= set(plain.index)
    corrected = own[own["corrected"]]["quantity"]
    assert {"system_accuracy", "recall", "mcc", "base_rates"} <= set(corrected)
    three = simulated()
    both = three.replace(
        answers=np.column_stack([three.system, three.codes[:, 0]]), systems=("a", "b")
    )
    several = lehner.estimate(both, mine)
    a, b = (several.value("system_accuracy", system=name).estimate for name in "ab")
    difference = several.value("system_accuracy_difference", system="a", versus="b")
    assert difference.estimate == pytest.approx(a - b)


def test_every_quantity_is_on_its_page(results):
    page = (Path(__file__).parents[3] / "docs/explanation/results.md").read_text(encoding="utf-8")
    ratings = simulated()
    made = [
        results,
        lehner.estimate(two_systems(gold=25), "algebraic"),
        lehner.estimate(ratings, "algebraic"),
        lehner.compare(simulated(gold=25), "A", np.resize(["x", "y"], 60), "majority"),
    ]
    quantities = {name for part in made for name in part.table["quantity"]}
    assert [name for name in sorted(quantities) if f"`{name}`" not in page] == []


def test_a_comparison_of_groups_is_shown_with_its_groups():
    rated = lehner.load_dataset("krippendorff")
    groups = np.resize(["left", "right"], rated.n_items)
    shown = repr(lehner.compare(rated, groups=groups, methods=["majority"]))
    assert "left" in shown.split() and "right" in shown.split()
