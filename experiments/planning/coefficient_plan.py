"""How many items the intervals of coefficients of agreement need: `lehner plan --coefficients`."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.planning.plan import Question
from experiments.planning.plan_report import VIOLATION, clusters, number_of_items
from experiments.reporting.renderers import to_terminal
from experiments.reporting.table import Column, Table
from experiments.reporting.terminal import terminal_width
from lehner import Ratings, agreement, scenario_with_kappa, simulate
from lehner.core.seeds import Seed, child_seeds
from lehner.core.text import percent
from lehner.interrater.coefficients import printed_name
from lehner.simulation.scenario import BaseRates

SAMPLES, ITEMS = 10, 10_000


def coefficient_answers(
    questions: Sequence[Question], base_rates: BaseRates, seed: Seed, **options: Any
) -> list[dict[str, Any]]:
    """Find numbers of items, and the coefficients to expect, from large simulated samples.

    Parameters
    ----------
    questions : sequence of Question
        Which raters, and how far intervals of which probability are to reach.
    base_rates : tuple of float or str
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
    **options
        `coefficients` and `weights` of `lehner.agreement`.

    Returns
    -------
    list of dict
        For each question, kind of weights and coefficient: what the coefficient is expected to be,
        `n_items`, its Monte Carlo `standard_error`, and a `note` where it is undefined.
    """
    answers = []
    for asked in questions:
        scenario = scenario_with_kappa(
            asked.kappa,
            n_categories=asked.n_categories,
            n_raters=asked.n_raters,
            violation=asked.violation,
        )
        scenario = replace(scenario, base_rates=base_rates, n_items=ITEMS)
        samples = (simulate(scenario, child) for child in child_seeds(seed, SAMPLES))
        found = [
            agreement(
                Ratings(one.codes, one.categories, ordered=True), level=asked.confidence, **options
            )
            for one in samples
        ]
        items = np.array([one.required_items(asked.within) for one in found], dtype=float)
        items *= asked.design_effect
        values = np.array([[c.estimate for c in one.coefficients] for one in found], dtype=float)
        answers += [
            {
                "violation": asked.violation,
                "weights": one.weights,
                "coefficient": one.name,
                "expected": values[:, place].mean(),
                "n_items": None if one.estimate is None else math.ceil(items[:, place].mean()),
                "standard_error": items[:, place].std(ddof=1) / np.sqrt(SAMPLES),
                "note": one.note if one.estimate is None else "",
            }
            for place, one in enumerate(found[0].coefficients)
        ]
    return answers


def show_coefficients(asked: Question, answers: Sequence[dict[str, Any]]) -> str:
    """Lay answers to questions that differ in their violation out for the terminal."""
    heading = (
        f"{asked.n_categories} categories, {asked.n_raters} raters who agree with kappa "
        f"{asked.kappa:g} (Brennan and Prediger's).\n"
        f"Items needed for {percent(asked.confidence)} intervals that reach {asked.within:g} to "
        f"either side, ± Monte Carlo standard error:\n{clusters(asked)}"
    )
    undefined = {one["coefficient"]: one["note"] for one in answers if one["note"]}
    table = Table(
        columns=[
            Column("violation"),
            Column("coefficient"),
            Column("weights"),
            Column("expected", "expected value"),
            Column("items", format=number_of_items),
        ],
        rows=[
            (
                f"violation {one['violation']:g}",
                printed_name(one["coefficient"]),
                one["weights"],
                one["expected"],
                (one["n_items"] or math.nan, one["standard_error"]),
            )
            for one in answers
        ],
        keys=3,
        headings=True,
        notes=[*(f"{printed_name(name)}: {why}" for name, why in undefined.items()), VIOLATION],
    )
    return "\n".join([heading, *map(str, to_terminal(table, terminal_width()))])
