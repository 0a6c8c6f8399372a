"""Where methods disagree: in their estimates, and in the categories of items."""

from collections.abc import Sequence

import numpy as np

from experiments.estimate.comparison import Comparison
from lehner import Estimate
from lehner.core.number_format import decimal
from lehner.core.wording import counted

MOST_ITEM_ROWS = 12
MOST_PAIRS_OF_METHODS = 6


def estimate_lines(comparison: Comparison) -> list[str]:
    """Say by how much the estimates of the methods differ, and which contradict one another."""
    numbers = {
        one.method: one.system_accuracy.estimate
        for one in _methods_with_truth(comparison)
        if one.system_accuracy.estimate is not None
    }
    if len(numbers) < 2:
        return []
    low, high = (choose(numbers, key=numbers.__getitem__) for choose in (min, max))
    spread = (
        f"Estimates of the system's accuracy go from {decimal(numbers[low])} ({low}) to "
        f"{decimal(numbers[high])} ({high})"
    )
    apart = [one.methods for one in comparison.disagreements if one.inside is False]
    if not apart:
        return [f"{spread}; no method's estimate lies outside another's interval."]
    shown = [" and ".join(pair) for pair in apart[:MOST_PAIRS_OF_METHODS]]
    shown += (
        [f"{len(apart) - MOST_PAIRS_OF_METHODS} more"] if len(apart) > MOST_PAIRS_OF_METHODS else []
    )
    return [f"{spread}; outside one another's intervals: {'; '.join(shown)}."]


def item_rows(comparison: Comparison) -> list[list[str]]:
    """Give the items for which methods differ in the most probable category.

    Returns
    -------
    list of rows
        Head first, a column for each method; empty if the methods agree.
    """
    methods = _methods_with_truth(comparison)
    names = {item for found in comparison.disagreements for item in found.items}
    if not names:
        return []
    ratings = comparison.ratings
    rows = [row for row, item in enumerate(ratings.items) if str(item) in names]
    table = [["item", *(one.method for one in methods)]]
    for row in rows[:MOST_ITEM_ROWS]:
        table.append(
            [
                str(ratings.items[row]),
                *(_most_probable(one, row, ratings.categories) for one in methods),
            ]
        )
    return table


def item_heading(comparison: Comparison) -> str:
    """Say for how many items methods differ in the most probable category."""
    names = {item for found in comparison.disagreements for item in found.items}
    some = f", of which these are the first {MOST_ITEM_ROWS}" if len(names) > MOST_ITEM_ROWS else ""
    what = "row" if comparison.ratings.grouped else "item"
    return (
        f"Methods differ in the most probable category of {counted(len(names), what)}{some} "
        "(a|b: these tie):"
    )


def _methods_with_truth(comparison: Comparison) -> list[Estimate]:
    compared = {name for found in comparison.disagreements for name in found.methods}
    return [one for one in comparison.estimates if one.method in compared]


def _most_probable(estimate: Estimate, row: int, categories: Sequence[object]) -> str:
    probabilities = estimate.arrays["truth_probabilities"].values[row]
    best = np.isclose(probabilities, probabilities.max())
    return "|".join(str(name) for name, is_best in zip(categories, best, strict=True) if is_best)
