"""Known truths and several systems on the command line: asked for, used, refused."""

import json
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
from lehner import Ratings, Scenario, simulate
from lehner.estimation.methods import find_method
from lehner.estimation.questions import Fit, Options, ask_systems
from tests.lehner.contrasts.test_systems import easy_and_hard
from tests.lehner.questions import collect_rows
from tests.rows import ends, one_row, pick_rows

MISLED = Scenario(
    n_categories=3,
    n_items=120,
    initial_rater_accuracy=(0.8, 0.8, 0.8),
    misleading=0.3,
    base_rates="equal",
)
ALGEBRA = ["--method", "algebraic"]


@pytest.fixture
def data(tmp_path):
    """A file of ratings with items that mislead everybody, and the truths."""
    table = simulate(MISLED, 2).to_wide()
    table["item"] = [f"case {i}" for i in range(len(table))]
    file = tmp_path / "ratings.csv"
    table.drop(columns="truth").to_csv(file, index=False)
    return file, table


def fill_in(path, table):
    asked = pd.read_csv(path)
    assert list(asked.columns) == ["item", "truth"] and asked["truth"].isna().all()
    asked["truth"] = asked["item"].map(table.set_index("item")["truth"])
    asked.to_csv(path, index=False)
    return asked


def test_items_are_asked_for_labelled_and_handed_back(run, data, tmp_path):
    file, table = data
    output = tmp_path / "ask.csv"
    code, out, err = run("ask", file, "--n", 30, "--seed", 3, "--output", output)
    assert code == 0 and f"wrote {output}" in err
    assert "30 items of the 120 that the system answered and that have no gold label" in out
    assert "would give ±.05" in out
    asked = fill_in(output, table)
    assert len(asked) == 30

    code, out, _ = run("estimate", "--full", file, "--truth", output, *ALGEBRA, "--json")
    result = one_row(out, "system_accuracy_in_sample", corrected=True)
    truth = (table["truth"] == table["system"]).mean()
    assert code == 0
    assert one_row(out, "prediction_powered", corrected=...)["n_items"] == 30
    assert result["lower"] <= truth <= result["upper"]
    own = one_row(out, "system_accuracy_in_sample")["estimate"]
    assert abs(result["estimate"] - truth) < abs(own - truth) - 0.1
    rates = pick_rows(out, "base_rates", corrected=True)
    assert sum(rate["estimate"] for rate in rates) == pytest.approx(1)
    assert "truths-contradict" in [warning["code"] for warning in json.loads(out)["warnings"]]

    code, out, _ = run("estimate", "--full", file, "--truth", output, *ALGEBRA)
    assert "gold labels alone" in out and "PPI++" in out

    # More are asked for among the others, and both files together are one sample.
    again = tmp_path / "again.csv"
    run("ask", file, "--n", 90, "--truth", output, "--output", again)
    assert not set(fill_in(again, table)["item"]) & set(asked["item"])
    pd.concat([asked, pd.read_csv(again)]).to_csv(again, index=False)
    _, out, _ = run("estimate", "--full", file, "--truth", again, *ALGEBRA, "--json")
    # All are known: they are compared with the system only.
    assert not any(row["corrected"] for row in json.loads(out)["rows"])
    assert one_row(out, "accuracy_on_known_items")["lower"] is None


def test_all_say_the_same_number_of_labels_for_a_width(run, tmp_path):
    """`ask`, and the screen of `estimate` by each method, with gold labels and without."""
    file = Path(__file__).parents[3] / "docs" / "data" / "tickets.csv"
    of = (file, "--system", "gpt", "--raters", "ana,ben,cai,dee")
    for k, truth in enumerate(((), ("--truth", "gold"))):
        _, out, _ = run("ask", *of, *truth, "--output", tmp_path / f"{k}.csv", "--json")
        n, more = json.loads(out)["n_until"], "more " if truth else ""
        for method in ("learned_prior", "majority_agreement"):
            _, out, _ = run("estimate", *of, *truth, "--method", method)
            assert f"({n} {more}gold labels would give ±.05)" in out


def test_labels_until_an_interval_is_narrow_are_drawn_in_one_order_and_followed(run, tmp_path):
    """Each file begins with the labels so far; blanks are asked again, and raters help."""
    table = pd.read_csv(Path(__file__).parents[3] / "docs" / "data" / "tickets.csv")
    truth, file = table["ana"], tmp_path / "tickets.csv"
    table.drop(columns="gold").to_csv(file, index=False)
    of = ("ask", file, "--system", "gpt", "--raters", "ben,cai", "--until", 0.1, "--json")
    kept, widths = [], []
    for k in range(4):
        labelled = ("--truth", tmp_path / f"{k - 1}.csv") if k else ()
        _, out, _ = run(*of, *labelled, "--n", 40, "--output", tmp_path / f"{k}.csv")
        told, asked = json.loads(out), pd.read_csv(tmp_path / f"{k}.csv", dtype=str)
        assert sorted(asked["item"][: len(kept)]) == sorted(kept)
        assert told["n_labels"] == 40 * k
        assert told["items"] == asked["item"][len(kept) :].to_list()
        kept = asked["item"].to_list()
        asked["truth"] = asked["item"].map(dict(zip(table["item"], truth, strict=True)))
        asked.to_csv(tmp_path / f"{k}.csv", index=False)
        widths += [told["accuracy"]["upper"] - told["accuracy"]["lower"]] if k else []
    order = np.random.default_rng(1).permutation(len(table))
    assert kept[-40:] == table["item"][order[120:160]].to_list()
    assert widths == sorted(widths, reverse=True) and told["n_labels"] == 120
    right = (table["gpt"] == truth).mean()
    assert told["accuracy"]["lower"] <= right <= told["accuracy"]["upper"]
    assert (told["n_until"] == 0) == (widths[-1] <= 0.2)
    _, out, _ = run(*of[:-1], *labelled, "--output", tmp_path / "last.csv")
    assert "right however often you look" in out
    for more, words in (
        (("--system", "bert"), "drawn for one system"),
        (("--cluster", "domain"), "drawn one by one"),
        (("--enrich", "billing"), "leave out one of both"),
    ):
        code, _, err = run(*of, *more, "--output", tmp_path / "bad.csv")
        assert code == 2 and words in err


def test_labels_of_an_expert_are_not_overwritten(run, data, tmp_path):
    file, _ = data
    output = tmp_path / "ask.csv"
    output.write_text("item,truth\ncase 1,A\n")
    code, _, err = run("ask", file, "--output", output)
    assert code == 2 and "may contain an expert's labels" in err and err.count("\n") == 1
    assert output.read_text() == "item,truth\ncase 1,A\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("item,truth\ncase 1,A\ncase 999,B\n", "row 3, column 'item': the ratings have no item"),
        ("item,truth\ncase 1,A\ncase 2,Z\n", "row 3, column 'truth': 'Z' is not one of the cat"),
        ("item,truth\ncase 1,A\ncase 1,B\n", "row 3, column 'item': item 'case 1' occurs a second"),
        ("item,gold\ncase 1,A\n", "no column is named truth"),
        ("name,truth\ncase 1,A\n", "there is no column 'item'"),
    ],
)
def test_a_bad_file_of_truths_is_told_in_one_line(run, data, tmp_path, content, said):
    file, _ = data
    truths = tmp_path / "truths.csv"
    truths.write_text(content)
    code, out, err = run("estimate", file, "--truth", truths, *ALGEBRA)
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert f"{truths}" in err and said in err


def test_a_model_is_fitted_without_the_truths_or_says_where_it_contradicts_them(
    run, data, tmp_path
):
    file, table = data
    gold = table["truth"].where(table.index < 40)
    table.assign(truth=gold).to_csv(file, index=False)
    options = ("--method", "one_coin", "--json")
    _, out, _ = run("estimate", file, "--truth", "truth", *options)
    bare = tmp_path / "bare.csv"
    table.drop(columns="truth").to_csv(bare, index=False)
    _, without, _ = run("estimate", bare, *options)
    # The same fit, to the last digit: the truths did not enter it.
    before = ends(one_row(out, "system_accuracy"))
    assert before == ends(one_row(without, "system_accuracy"))
    truth = (table["truth"] == table["system"]).mean()
    corrected = one_row(out, "system_accuracy_in_sample", corrected=True)
    assert corrected["lower"] <= truth <= corrected["upper"]
    _, out, _ = run("estimate", file, "--truth", "truth", "--truths-in-model", *options)
    inside = one_row(out, "system_accuracy", corrected=True)
    assert not pick_rows(out, "system_accuracy") and ends(inside) != before
    assert not pick_rows(out, "prediction_powered", corrected=...)
    (said,) = (
        warning for warning in json.loads(out)["warnings"] if warning["code"] == "truths-contradict"
    )
    assert said["severity"] == "changes"
    assert "(without --truths-in-model)" in said["text"]


# Several systems in the command: table, JSON, files, and what is refused.


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
