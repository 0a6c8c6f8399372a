"""`lehner label`: soft labels from the command line."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import lehner
from lehner import Ratings, Scenario, estimate_algebraic, load_dataset, simulate
from lehner.estimation.methods import find_method, list_methods

ORDERS = ("AB", "BA")


def table(text):
    return pd.read_csv(io.StringIO(text))


def test_the_algebra_labels_the_same_with_and_without_a_system():
    ratings = simulate(Scenario(missing=0.3, n_items=60), 5).with_truth(None)
    bare = Ratings(ratings.votes, ratings.categories, ratings.raters, ratings.items)
    labels, same = (lehner.label(data, "algebraic") for data in (bare, ratings))
    assert labels.truth_probabilities.equals(same.truth_probabilities)
    estimate = estimate_algebraic(ratings, interval=None)
    np.testing.assert_array_equal(labels.truth_probabilities, estimate.truth_probabilities)
    assert ratings.without_system().system is None


def test_labels_are_good_predictions_of_simulated_truths():
    ratings = simulate(Scenario(n_items=20_000, initial_rater_accuracy=(0.6,) * 4), 3)
    labels = lehner.label(ratings.with_truth(None), "algebraic")
    probability = labels.truth_probabilities.values
    truth = np.eye(5)[ratings.truth]
    # Among items with probability about p of a category, about a share p is in it.
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        inside = (probability >= low) & (probability < low + 0.2)
        error = np.sqrt(0.25 / inside.sum())
        assert abs(probability[inside].mean() - truth[inside].mean()) < 4 * error + 0.01


def test_ties_are_stated(run, tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_text("item,a,b,c,d\n1,x,x,x,x\n2,y,y,y,y\n3,x,x,y,y\n")
    code, out, err = run("label", file)
    assert code == 0
    assert table(out).most_probable.tolist() == ["x", "y", "x|y"]
    assert "most probable categories tie in 1 row\n" in err
    assert "system" not in err
    _, out, _ = run("label", file, "--json")
    result = json.loads(out)
    assert result["uses_system"] is False
    last = result["labels"][2]
    assert last["most_probable"] == "x|y" and [last["x"], last["y"]] == pytest.approx([0.5, 0.5])


def test_models_label_with_the_system_or_without_it(run):
    code, out, err = run("label", "lehner_table2", "--method", "dawid_skene", "--json")
    result = json.loads(out)
    assert code == 0 and result["uses_system"]
    assert "--without-system leaves them out" in err
    ratings = load_dataset("lehner_table2")
    estimate = find_method("dawid_skene").fit(ratings, level=0.9, seed=1)
    expected = estimate.truth_probabilities.values
    shown = np.array([[label[name] for name in "ABCD"] for label in result["labels"]])
    np.testing.assert_array_equal(shown, expected)
    options = ("--method", "dawid_skene", "--without-system", "--json")
    _, out, err = run("label", "lehner_table2", *options)
    without = json.loads(out)
    assert not without["uses_system"] and "--without-system" not in err
    values = np.array([[row[name] for name in "ABCD"] for row in without["labels"]])
    assert np.abs(values - expected).max() > 0.01
    np.testing.assert_allclose(values.sum(axis=1), 1)


@pytest.mark.slow
@pytest.mark.parametrize("method", list_methods("items"))
def test_every_method_labels(method):
    ratings = simulate(Scenario(n_categories=3, n_items=80, initial_rater_accuracy=(0.7,) * 4), 2)
    unknown = Ratings(
        ratings.votes, ratings.categories, ratings.raters, ratings.items, ratings.system
    )
    labels = lehner.label(unknown, method)
    assert labels.defined
    right = np.mean(labels.truth_probabilities.values.argmax(axis=1) == ratings.truth)
    assert right > 0.75


def test_agreement_at_chance_gives_no_labels_but_a_reason(run, tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_text("a,b\nx,y\ny,x\nx,x\ny,y\n")
    code, out, err = run("label", file, "--method", "algebraic")
    assert (code, out) == (1, "")
    assert "at or below the chance level 1/2" in err
    code, out, _ = run("label", file, "--method", "algebraic", "--json")
    assert code == 1
    first = json.loads(out)["labels"][0]
    assert (first["x"], first["y"], first["most_probable"]) == (None, None, "")


def test_the_default_is_that_of_python(run):
    code, out, err = run("label", "lehner_table2")
    labels = lehner.label(load_dataset("lehner_table2"))
    assert code == 0
    assert "the system's answers are no part of these labels" in err
    assert table(out).most_probable.tolist() == ["|".join(n) for n in labels.find_most_probable()]


def test_json_files_and_both_orders(run, tmp_path):
    file = tmp_path / "answers.json"
    file.write_text(json.dumps({str(i): {"a": "x", "b": "y", "c": "x"} for i in range(4)}))
    code, out, err = run("label", file, "--method", "majority")
    assert code == 0 and table(out).most_probable.tolist() == ["x"] * 4
    assert "Data: outer names of the JSON file are items, inner ones raters" in err
    file.write_text(json.dumps({"1": {"a": "x", "b": "y"}, "2": {"a": "x", "b": "x"}}))
    code, _, err = run("label", file)
    assert code == 2 and "--item outer or --item inner" in err
    judged = tmp_path / "judged.csv"
    rows = [f"{i},{r},{o},{'A' if o == 'AB' else 'B'}" for i in "123" for r in "xy" for o in ORDERS]
    rows += ["4,x,AB,B", "4,x,BA,A", "4,y,AB,B"]
    judged.write_text("\n".join(["item,rater,order,rating", *rows]) + "\n")
    code, out, err = run("label", judged, "--order", "order", "--method", "majority")
    assert code == 0 and table(out).most_probable.tolist() == [*"AAAB"]
    assert "Data: position bias of x: chooses the answer shown first in 50%" in err


def test_labels_of_ordered_categories_have_their_median(run, tmp_path):
    file = tmp_path / "ordered.csv"
    rows = ["1,1,2,3,3", "2,1,1,1,5", "3,2,2,4,5"]
    file.write_text("item,a,b,c,d\n" + "\n".join(rows) + "\n")
    asked = ("label", file, "--ordered", "--categories", "1,2,3,4,5", "--method", "majority")
    code, out, _ = run(*asked)
    assert code == 0
    result = pd.read_csv(io.StringIO(out))
    for row in result.to_dict("records"):
        below = sum(row[str(k)] for k in range(1, row["median"]))
        assert below < 0.5 <= below + row[str(row["median"])]
    labels = json.loads(run(*asked, "--json")[1])["labels"]
    assert [int(label["median"]) for label in labels] == result["median"].tolist() == [3, 1, 3]
    assert "median" not in run("label", file, "--method", "majority")[1]


def test_labels_in_sets_are_asked_for_one_by_one(run, tmp_path):
    file, sets = tmp_path / "sets.csv", ['["cat"]', '["dog"]', '["cat", "dog"]', '["cat"]'] * 10
    other = sets[1:] + sets[:1]
    table = pd.DataFrame({"item": range(40), "ann": sets, "bo": sets, "cy": other})
    table.to_csv(file, index=False)
    code, out, _ = run("label", file, "--sets", "--json")
    rows = json.loads(out)["labels"]
    assert code == 0 and [row["most_probable"] for row in rows[:4]] == sets[:4]
    for row in rows:
        assert row["certainty"] == min(max(row[x], 1 - row[x]) for x in ("cat", "dog"))
