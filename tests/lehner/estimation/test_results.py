"""The table has every number that the objects have."""

import json

import numpy as np
import pytest

import lehner
from lehner.estimation.results import COLUMNS, KEYS
from lehner.estimation.rows import results_of, results_of_proportions

METHODS = ["majority_agreement", "algebraic", "dawid_skene_ml", "calibrated", "mean_posterior"]
NOT_NUMBERS = {
    "data",
    "diagnostics",
    "warnings",
    "standard_error",
    "lines",
    "misleading_share",
}
PROBABILITIES = ("probability", "estimate", "lower", "upper")


def simulated(n_categories=2, n_items=60, seed=1, **options):
    scenario = lehner.Scenario(
        n_categories=n_categories, n_items=n_items, initial_rater_accuracy=(0.8, 0.7, 0.9)
    )
    made = lehner.simulate(scenario, seed)
    return made if options.get("truth") else made.with_truth(None)


def some_known(ratings, n=25):
    return ratings.with_truth(np.where(np.arange(ratings.n_rows) < n, ratings.truth, -1))


def two_systems(known=0):
    made = simulated(n_items=80, truth=True)
    answers = np.column_stack([made.system, made.codes[:, 2]])
    truth = np.where(np.arange(80) < known, made.truth, -1) if known else None
    return lehner.Ratings(made.codes[:, :2], made.categories, system=answers, truth=truth)


def cases():
    letters = np.resize(["a", "b", "b"], 60)
    yield "table 2", lehner.load_dataset("lehner_table2"), {}
    yield "three categories", simulated(3), {}
    yield "costs", simulated(), {"costs": [[0, 1], [5, 0]]}
    yield "groups", simulated(), {"groups": letters}
    yield "populations", simulated(n_items=60), {"populations": letters}
    yield "rater groups", simulated(3), {"rater_groups": {"1": "x", "2": "x", "3": "y"}}
    yield "known", some_known(simulated(truth=True)), {}
    yield "known in groups", some_known(simulated(truth=True)), {"groups": letters}
    yield "two systems", two_systems(), {}
    yield "two systems, known", two_systems(30), {}


def numbers(value, path=()):
    """Walk through what JSON has, but for what is told in words or by the ratings themselves."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name not in {
                "data",
                "diagnostics",
                "warnings",
                "standard_error",
                "lines",
                "misleading_share",
            }:
                yield from numbers(one, (*path, name))
    elif isinstance(value, list):
        for one in value:
            yield from numbers(one, path)
    elif isinstance(value, float) and not isinstance(value, bool):
        yield path, value


@pytest.mark.parametrize(("name", "ratings", "options"), list(cases()), ids=lambda x: str(x)[:20])
def test_every_number_of_the_objects_is_in_the_table(name, ratings, options):
    if name == "rater groups":
        options = {"rater_groups": dict(zip(ratings.raters, "xxy", strict=True))}
    compared = lehner.estimate(ratings, METHODS, **options)
    found = results_of(compared)
    table = found.table
    there = {round(v, 12) for c in (*PROBABILITIES, "level") for v in table[c].dropna()}
    # Probabilities of the opposite stand once.
    there |= {round(1 - v, 12) for v in table["probability"].dropna()}
    missing = [
        (path, value)
        for path, value in numbers(compared.to_dict())
        if round(value, 12) not in there
    ]
    assert missing == []
    assert not table.duplicated([*KEYS, "corrected"]).any()
    assert tuple(table.columns) == COLUMNS
    for one in compared.results:
        e = one.estimate
        names = {"system": e.system, "method": e.method}
        for quantity in ("system_accuracy", "system_accuracy_in_sample"):
            expected = getattr(e, quantity)
            value = found.value(quantity, **names)
            assert (value.estimate, value.lower, value.upper, value.corrected) == (
                expected.estimate,
                expected.lower,
                expected.upper,
                expected.corrected,
            )
        for category, value in (one.to_dict()["recall"] or {}).items():
            told = found.value("recall", category=category, **names)
            assert (told.estimate, told.lower, told.upper) == tuple(
                value[end] for end in ("estimate", "lower", "upper")
            )
        for quantity in ("recall", "precision"):
            if one.uncorrected is not None:
                own = table.query("rater == '' and grouping == '' and not corrected")
                own = own[(own.quantity == quantity) & (own.method == e.method)]
                own = own[own.system == e.system].set_index("category")["estimate"].dropna()
                before = one.uncorrected.to_dict()[quantity] or {}
                assert own.to_dict() == {
                    category: value["estimate"]
                    for category, value in before.items()
                    if value["estimate"] is not None
                }
    assert json.loads(found.to_json())["rows"][0]["quantity"] == "percent_agreement"
    texts = {str(w) for e in compared.estimates for w in e.warnings}
    assert texts <= {str(w) for w in found.warnings}


def test_groups_compared():
    ratings = some_known(simulated(truth=True))
    groups = np.resize(["a", "b", "b"], 60)
    compared = lehner.compare(ratings, "A", groups, ["majority", "dawid_skene_ml"])
    found = results_of_proportions(compared)
    there = {round(v, 12) for c in (*PROBABILITIES, "level") for v in found.table[c].dropna()}
    assert [n for n in numbers(compared.to_dict()) if round(n[1], 12) not in there] == []
    assert not found.table.duplicated([*KEYS, "corrected"]).any()
