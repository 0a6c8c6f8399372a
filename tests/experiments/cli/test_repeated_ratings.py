"""Repeated ratings from the command line: screen, JSON, files and Python have the same numbers."""

import json

import numpy as np
import pandas as pd
import pytest

from lehner import estimate_algebraic, read_ratings

SWAPPED = {"A": "B", "B": "A"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A system and three judges of pairs, in the first order, and again in the other order."""
    rng = np.random.default_rng(4)
    truth = rng.integers(2, size=80)
    rows, again = [], []
    for rater, accuracy in (("gpt", 0.9), ("ann", 0.75), ("bo", 0.75), ("cy", 0.75)):
        answers = np.where(rng.random(80) < accuracy, truth, 1 - truth)
        for item, answer in enumerate("AB"[code] for code in answers):
            rows.append((item, rater, "AB", answer))
            if rater != "gpt":
                again.append((item, rater, "BA", SWAPPED[answer]))
    folder = tmp_path_factory.mktemp("orders")
    names = ["item", "rater", "order", "rating"]
    pd.DataFrame(rows, columns=names).to_csv(folder / "once.csv", index=False)
    pd.DataFrame([*rows, *again], columns=names).to_csv(folder / "twice.csv", index=False)
    return folder


def both(run, files, *options):
    """Run a command on both files; give both outputs."""
    outputs = []
    for name in ("once", "twice"):
        command, *rest = options
        code, out, err = run(command, files / f"{name}.csv", "--order", "order", *rest)
        assert code == 0, err
        outputs.append(out.replace(name, "FILE"))
    return outputs


METHODS = ["algebraic", "dawid_skene_ml", "majority_agreement"]


def test_json_has_the_same_estimates_and_says_what_became_of_the_repeats(run, files):
    options = [option for method in METHODS for option in ("--method", method)]
    once, twice = map(
        json.loads, both(run, files, "estimate", "--system", "gpt", *options, "--json")
    )
    assert twice["rows"] == once["rows"]
    assert twice["data"]["n_ratings"] == 480 and once["data"]["n_ratings"] == 240
    assert any("a rater has one vote for an item" in note for note in twice["data"]["notes"])
    assert not any("vote" in note for note in once["data"]["notes"])
    (algebra,) = (
        row
        for row in twice["rows"]
        if (row["method"], row["quantity"]) == ("algebraic", "system_accuracy")
    )
    ratings = read_ratings(files / "twice.csv", order="order", system="gpt")
    expected = estimate_algebraic(ratings).system_accuracy
    assert algebra["estimate"] == expected.estimate
    assert algebra["lower"] == expected.lower
    assert expected.lower < 0.9 < expected.upper
