"""Several systems in the command: table, JSON, files, and what is refused."""

import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayes_models
import lehner
from lehner import Ratings
from lehner.estimation.methods import find_method
from lehner.estimation.questions import Fit, Options, ask_systems
from tests.lehner.contrasts.test_systems import easy_and_hard
from tests.lehner.questions import collect_rows

TICKETS = str(Path(__file__).parents[3] / "docs/data/tickets.csv")
RATERS = ("--raters", "ana,ben,cai,dee")
QUICK = ("--method", "majority_agreement,algebraic")


ODD = ["../g:4" + "x" * 300, "results.csv", "GPT", "gpt"]


def test_systems_never_share_a_folder_nor_leave_the_output(run, tmp_path):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 40)
    answers = np.where(rng.random((len(ODD) + 3, 40)) < 0.8, truth, 1 - truth)
    table = pd.DataFrame(answers.T, columns=[*ODD, "ana", "ben", "cai"])
    table.to_csv(tmp_path / "f.csv", index_label="item")
    systems = [word for name in ODD for word in ("--system", name)]
    code, _, err = run(
        *("estimate", str(tmp_path / "f.csv"), *systems, "--raters", "ana,ben,cai"),
        *("--method", "majority_agreement", "--output", str(tmp_path / "parent" / "out")),
    )
    assert code == 0, err
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    out = tmp_path / "parent" / "out"
    assert all(path.is_relative_to(out) for path in written if path != tmp_path / "f.csv")
    folders = [path for path in out.iterdir() if path.is_dir()]
    assert {path.name.split("_")[0] for path in folders} == {str(n + 1) for n in range(len(ODD))}
    assert len(folders) == len(ODD) and out / "4_gpt" in folders
    assert all((folder / "estimates.tex").exists() for folder in folders)
    assert set(pd.read_csv(out / "results.csv")["system"].dropna()) == set(ODD)


def test_nothing_is_written_where_another_file_is_in_the_way(run, tmp_path):
    there = tmp_path / "2_gpt"
    there.write_text("kept")
    code, _, err = run(
        "estimate", TICKETS, *RATERS, "--system", "bert,gpt", *QUICK, "--output", str(tmp_path)
    )
    assert code == 2 and there.name in err.splitlines()[-1]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [there]
    assert there.read_text() == "kept"


def test_a_system_without_answers_is_named():
    answers = np.array([[0, -1], [1, -1]])
    ratings = lehner.Ratings([[0, 0], [1, 1]], ["a", "b"], system=answers, systems=["x", "y"])
    with pytest.raises(lehner.InputError, match="system 'y' answered no item"):
        lehner.estimate(ratings, ["algebraic"])


ASKED = ("accuracy", "systems")
ALL_QUICK = ("majority_agreement", "algebraic", "one_coin_by_rater_ml")


DIFFERENCE, IN_SAMPLE = "system_accuracy_difference", "system_accuracy_in_sample_difference"


def difference(results, method, first, second, quantity=DIFFERENCE):
    of = {"quantity": quantity, "method": method}
    return results.select(**of, system=first, versus=second).iloc[0]


@pytest.fixture(scope="module")
def compared():
    return lehner.estimate(easy_and_hard(), ALL_QUICK, questions=ASKED)


@pytest.fixture(scope="module")
def compared_on_half():
    """Leave the whole system the answers to the harder half."""
    ratings = easy_and_hard()
    answers = ratings.answers.copy()
    answers[:300, 0] = -1
    half = lehner.Ratings(
        ratings.codes, ratings.categories, system=answers[:, [0, 2]], systems=["whole", "harder"]
    )
    return lehner.estimate(half, ALL_QUICK, questions=ASKED)


@pytest.mark.parametrize("method", ALL_QUICK)
def test_systems_that_answered_different_items_are_compared_on_those_in_common(
    compared, compared_on_half, method
):
    for quantity in (DIFFERENCE, IN_SAMPLE):
        row = difference(compared, method, "whole", "easier", quantity)
        assert row["n_items"] == 300
        assert abs(row["estimate"]) < 0.04 and row["lower"] < 0 < row["upper"]
        assert 0.05 < row["probability"] < 0.95
    # The whole system on the harder half is the system that has answered nothing else.
    again = difference(compared_on_half, method, "whole", "harder")
    other = difference(compared, method, "whole", "harder")
    assert again["estimate"] == pytest.approx(other["estimate"])
    assert again["lower"] == pytest.approx(other["lower"], abs=0.02)
    # Each system's own accuracy is still that on its own items.
    own = compared.select(quantity="system_accuracy", method=method)
    own = own.set_index("system")["estimate"]
    assert own["easier"] > own["whole"] > own["harder"]


@pytest.mark.parametrize("method", ALL_QUICK)
def test_without_items_in_common_there_is_no_difference_and_no_rank(compared, method):
    for quantity in (DIFFERENCE, IN_SAMPLE):
        row = difference(compared, method, "easier", "harder", quantity)
        assert np.isnan(row["estimate"]) and np.isnan(row["probability"])
        assert row["n_items"] == 0
    assert "no-common-items" in {warning.code for warning in compared.warnings}
    assert not len(compared.select(quantity="system_accuracy_rank"))


@pytest.mark.slow
def test_the_same_system_thrice_is_tied_for_the_first_rank():
    rng = np.random.default_rng(1)
    truth = rng.integers(3, size=150)

    def answer(accuracy):
        wrong = (truth + rng.integers(1, 3, 150)) % 3
        return np.where(rng.random(150) < accuracy, truth, wrong)

    raters = np.stack([answer(0.7) for _ in range(3)], axis=1)
    good, bad = answer(0.9), answer(0.4)
    systems = ["a", "bad", "b", "c"]
    ratings = lehner.Ratings(
        raters, list("xyz"), system=np.stack([good, bad, good, good], axis=1), systems=systems
    )
    result = lehner.estimate(ratings, ALL_QUICK, questions=["systems"])
    for method in ALL_QUICK:
        ranks = result.select(quantity="system_accuracy_rank", method=method)
        ranks = ranks.set_index("system")
        assert ranks["estimate"].to_dict() == {"a": 1, "b": 1, "c": 1, "bad": 4}
        equal = ranks.loc[["a", "b", "c"]]
        assert equal["probability"].tolist() == pytest.approx([1 / 3] * 3)
        assert (equal["lower"] == 1).all() and (equal["upper"] == 1).all()
        for quantity in (DIFFERENCE, IN_SAMPLE):
            pairs = result.select(quantity=quantity, method=method)
            pairs = pairs.set_index(["system", "versus"])
            for value in (pairs.loc[("a", "b")], pairs.loc[("b", "c")]):
                assert value["probability"] == 0.5
                assert value["lower"] == value["estimate"] == value["upper"] == 0


GIBBS = {"engine": "gibbs", "chains": 2, "draws": 500, "tries": 1, "checks": False}


def test_a_comparison_by_draws_estimates_again_on_common_items() -> None:
    """The difference of two fits to the items that both answered; ties for the same answers."""
    data = easy_and_hard(200)
    answers = data.answers[:, [0, 1, 0]]
    ratings = Ratings(data.codes, data.categories, system=answers, systems=["whole", "half", "too"])

    def again(judged: Ratings, **_: Any) -> lehner.Estimate:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
            tree = bayes_models.fit("dawid_skene", judged, seed=1, **GIBBS)
        return bayes_models.estimate_from_draws(tree)

    method = find_method("dawid_skene")
    joint = {"systems": partial(method.functions["systems"], seed=1)}
    method = replace(method, fit=again, functions=joint)
    fits = {
        name: Fit(ratings=judged, estimate=again(judged), method=method)
        for name in ratings.systems
        for judged in [ratings.select_system(name)]
    }
    result = collect_rows(ask_systems(fits, ratings, Options()))
    expected = "system_accuracy_difference"
    of_pairs = result.select(quantity=expected).set_index(["system", "versus"])
    assert of_pairs["n_items"].tolist() == [100, 100, 200]
    common = ratings.select_common_items()
    mine, half = (again(common.select_system(name)) for name in ("whole", "half"))
    difference = mine.system_accuracy.estimate - half.system_accuracy.estimate
    assert of_pairs.loc[("whole", "half"), "estimate"] == pytest.approx(difference)
    same = of_pairs.loc[("whole", "too")]
    assert same["probability"] == 0.5 and same["lower"] == same["upper"] == 0
    ranks = result.select(quantity="system_accuracy_rank").set_index("system")
    assert ranks.loc["whole", "probability"] == ranks.loc["too", "probability"]
    assert set(ranks["n_items"]) == {100}
