"""Two categories and the raters: on the command line, in LaTeX, CSV and JSON."""

import json
import re

import pandas as pd
import pytest

import lehner
from experiments.estimate.raters import TITLES, rater_tables, raters_frame

RATERS = ["../x", "a_b & c", "R<3"]
METHODS = ["majority_agreement", "algebraic", "dawid_skene_ml"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Ratings by raters with difficult names, of whom one is always right."""
    scenario = lehner.Scenario(
        n_categories=2,
        n_items=80,
        initial_rater_accuracy=(0.6, 0.95, 1.0),
        base_rates=(0.7, 0.3),
        missing=0.05,
    )
    table = lehner.simulate(scenario, 3).to_wide().astype(object).drop(columns="truth")
    table = table.rename(columns=dict(zip(table.columns[1:4], RATERS, strict=True)))
    file = tmp_path_factory.mktemp("raters") / "ratings.csv"
    table.replace({"A": "benign", "B": "malignant"}).to_csv(file, index=False)
    return file


def arguments(data, *more):
    return ["estimate", "--full", data, "--system", "system", "--method", ",".join(METHODS), *more]


def printed(value):
    """Write a number of JSON as the tables do, and infinity where there is none."""
    texts = [
        "∞" if one is None else re.sub(r"^0\.", ".", f"{one:.2f}")
        for one in (value[end] for end in ("estimate", "lower", "upper"))
    ]
    return f"{texts[0]} [{texts[1]}, {texts[2]}]"


def test_screen_latex_csv_and_json_say_the_same(run, data, tmp_path):
    code, out, err = run(*arguments(data, "--details", "--output", tmp_path))
    assert code == 0, err
    found = json.loads(run(*arguments(data, "--json"))[1])["estimates"]
    (likelihood,) = (one for one in found if one["method"] == "dawid_skene_ml")
    latex = (tmp_path / "raters.tex").read_text()
    file = tmp_path / "raters.csv"
    table = pd.read_csv(file, float_precision="round_trip")
    table = table.set_index(["method", "rater", "quantity"])
    assert likelihood["positive"] == {
        "name": "malignant",
        "negative": "benign",
        "chosen_by": "name",
    }
    by_name = {"system": likelihood["diagnostic_accuracy"]}
    by_name |= {name: one["diagnostic_accuracy"] for name, one in likelihood["raters"].items()}
    infinite = 0
    for rater, measures in by_name.items():
        assert len(measures) == 6
        for measure, value in measures.items():
            text = printed(value)
            assert text in out and text.replace("∞", r"$\infty$") in latex, (rater, measure)
            row = table.loc[[("dawid_skene_ml", rater, measure)]].iloc[0]
            assert row["lower"] == value["lower"]
            assert row["upper"] == (float("inf") if value["upper"] is None else value["upper"])
            infinite += value["upper"] is None
    assert infinite and "specificity may be 1" in out
    for title in TITLES.values():
        assert title in out
    assert r"a\_b \& c" in latex and "R$<$3" in latex
    lower = likelihood["raters"]["../x"]["probability_lower"]
    assert list(lower) == RATERS[1:] and lower["R<3"] > 0.99
    assert "< .01" in out and "> .99" in out and r"[90\% interval]" in latex
    of_pair = table.loc[("dawid_skene_ml", "../x", "probability_lower")]
    assert of_pair.set_index("label")["estimate"].to_dict() == lower


def test_the_positive_category_is_said_and_can_be_chosen(run, data):
    _, out, _ = run(*arguments(data, "--details"))
    assert out.count("positive category: malignant (by its name; --positive benign makes") == 3
    code, out, err = run(*arguments(data, "--details", "--positive", "benign"))
    assert code == 0, err
    assert out.count("\npositive category: benign\n") == 3
    code, _, err = run(*arguments(data, "--positive", "sick"))
    assert code == 2 and "--positive is 'sick', which is no category" in err
    assert "Traceback" not in err
    code, _, err = run("estimate", "--full", "lehner_table2", "--positive", "A")
    assert code == 2 and "there are 4 categories" in err


def test_no_number_is_missing_without_a_reason(run, tmp_path):
    rows = ["item,r,s,t,gpt", *(f"{i},no,no,no,{'yes' if i < 3 else 'no'}" for i in range(40))]
    file = tmp_path / "all_no.csv"
    file.write_text("\n".join(rows) + "\n")
    code, out, err = run(
        *("estimate", file, "--system", "gpt", "--method", METHODS[-1]), "--details", "--full"
    )
    assert code == 0, err
    assert "nan" not in out.lower() and "inf]" not in out
    assert "r, s, t never answered yes" in out.replace("\n", " ")
    assert "no ratings tell how all raters rate items of yes" in out


def test_tables_of_a_crowd_stay_short():
    scenario = lehner.Scenario(n_categories=2, n_items=60, initial_rater_accuracy=(0.8,) * 60)
    ratings = lehner.simulate(scenario, 1)
    estimate = lehner.estimate_latent_class(ratings, "one_coin_by_rater", resamples=20, restarts=0)
    found = lehner.system_performance(ratings, estimate)
    (table,) = rater_tables([found], most=5)
    assert len(table.rows) == 6 and "56 more" in str(table.rows[-1])
    assert found.raters.probability_lower is None
    assert len(raters_frame([found]).query("quantity == 'probability_lowest'")) == 60
