"""Known truths on the command line: asked for, filled in, handed back, and used."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lehner
from lehner import Scenario, simulate
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


def test_python_and_the_command_correct_alike(run):
    """The file, the options and the call are those of the how-to."""
    file = Path(__file__).parents[3] / "docs" / "data" / "tickets.csv"
    raters = ["ana", "ben", "cai", "dee"]
    ratings = lehner.read_ratings(file, system="gpt", raters=raters, truth="gold")
    result = lehner.correct_accuracy(ratings, lehner.estimate_algebraic(ratings))
    options = ("--system", "gpt", "--raters", ",".join(raters), "--truth", "gold")
    _, out, _ = run("estimate", "--full", file, *options, "--method", "algebraic")
    both = (str(result.system_accuracy_in_sample), str(result.system_accuracy))
    assert any(all(number in line for number in both) for line in out.splitlines())
    _, out, _ = run("estimate", "--full", file, *options, "--method", "algebraic", "--json")
    assert one_row(out, "known_truths_test", corrected=...)["probability"] == result.p_value
    in_sample = one_row(out, "system_accuracy_in_sample", corrected=True)["estimate"]
    assert in_sample == result.system_accuracy_in_sample.estimate


def test_truths_of_items_on_which_raters_disagree_tell_nothing_of_all_raters(run, tmp_path):
    """Selected items make mistakes look negatively correlated; nothing may be concluded."""
    table = simulate(Scenario(n_categories=3, n_items=300, initial_rater_accuracy=(0.7,) * 3), 2)
    table = table.to_wide()
    raters = [name for name in table if name.startswith("Rater")]
    differ = table[raters].nunique(axis=1) > 1
    labelled = table.index[differ][:60]
    table["truth"] = table["truth"].where(table.index.isin(labelled))
    file = tmp_path / "ratings.csv"
    table.to_csv(file, index=False)
    _, out, _ = run("estimate", file, "--truth", "truth", *ALGEBRA)
    words = " ".join(out.split())
    assert "probably not a random sample" in words and "all agree on 0 of 60 of them" in words
    assert "are as informative as" not in words
    _, out, _ = run("estimate", file, "--truth", "truth", *ALGEBRA, "--json")
    assert one_row(out, "mistake_correlation")["estimate"] is None


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
    (said,) = (
        warning for warning in json.loads(out)["warnings"] if warning["code"] == "truths-contradict"
    )
    assert said["severity"] == "changes"
    assert "(without --truths-in-model)" in said["text"]
