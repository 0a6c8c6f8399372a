"""A comparison as it is printed and set: within its width, and each thing once."""

import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from experiments.estimate.methods import (
    accuracy_table,
    disagreement_lines,
    disagreement_tables,
    rater_tables,
)
from experiments.estimate.report import render
from experiments.reporting.method_style import method_label
from experiments.reporting.renderers import LATEX_WIDTH, to_latex
from lehner import Scenario, simulate
from lehner.estimation.estimate import compare
from lehner.estimation.methods import WITHOUT_MODEL


@pytest.fixture(scope="module")
def comparison():
    """Six methods, five of them with truth probabilities, seven raters."""
    scenario = Scenario(
        n_items=60,
        initial_rater_accuracy=(0.4, 0.5, 0.5, 0.6, 0.6, 0.7, 0.7),
        asymmetric_dispersion=2,
    )
    ratings = simulate(scenario, 3).with_truth(None)
    estimates = [method.estimate(ratings, level=0.9, seed=1) for method in WITHOUT_MODEL[:6]]
    # The algebra's methods agree on the items: let one of them disagree.
    found = estimates[3].arrays["truth_probabilities"]
    turned = found.copy(data=np.roll(found.values, 1, axis=1))
    arrays = {**estimates[3].arrays, "truth_probabilities": turned}
    estimates[3] = replace(estimates[3], arrays=arrays)
    return compare("simulated", ratings, estimates)


def printed(comparison, width):
    console = Console(width=width, highlight=False)
    with console.capture() as capture:
        console.print(render(comparison, width=width, in_detail=True))
    return capture.get().splitlines()


@pytest.mark.parametrize("width", [80, 100])
def test_every_line_fits_the_width(comparison, width):
    assert max(map(len, printed(comparison, width))) <= width


def test_each_item_on_which_methods_disagree_is_listed_once(comparison):
    (system,) = comparison.systems
    heading, (table,) = disagreement_tables(system)
    rows = table.cells()
    names = [row[0] for row in rows[1:]]
    expected = {item for found in comparison.systems[0].disagreements for item in found.items}
    assert len(names) == len(set(names)) == min(12, len(expected)) > 1
    assert f"of {len(expected)} items" in heading
    by_name = {one.method: one.truth_probabilities for one in comparison.estimates}
    for row in rows[1:]:
        for method, shown in zip(rows[0][1:], row[1:], strict=True):
            chosen = by_name[method].sel(item=int(row[0]))
            assert str(chosen.category.values[chosen.values.argmax()]) in shown.split("|")
        assert len(set(row[1:])) > 1


def test_the_range_of_estimates_is_said_in_one_line(comparison):
    (line,) = disagreement_lines(comparison.systems[0])
    numbers = [
        one.system_accuracy.estimate
        for one in comparison.estimates
        if one.method
        in {name for found in comparison.systems[0].disagreements for name in found.methods}
    ]
    assert f"{min(numbers):.3f}" in line and f"{max(numbers):.3f}" in line


def test_latex_has_intervals_and_fits_a_page(comparison):
    (system,) = comparison.systems
    tables = (accuracy_table(system, method_label), *rater_tables(system, method_label))
    text = to_latex(*tables)
    (algebra,) = (one.system_accuracy for one in comparison.estimates if one.method == "algebraic")
    assert f"Lehner’s algebra & {algebra} &" in text
    # A bracket after \\ or \toprule would be an option.
    assert not re.search(r"(\\\\|rule)\s*\[", text)
    plain = text.replace("\\_", "_").replace("{}", "").replace(r"\quad", "").replace(r"\\", "")
    cells = [line.split(" & ") for line in plain.splitlines() if " & " in line]
    assert max(sum(map(len, row)) + 2 * (len(row) - 1) for row in cells) <= LATEX_WIDTH
    assert all(f"Rater {j}" in text for j in range(1, 8))
