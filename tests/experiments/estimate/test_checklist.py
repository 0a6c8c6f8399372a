"""The STARD-BLCM checklist: every item, with the numbers that JSON has."""

import inspect
import json
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest

import bayes_models
from bayes_models.models.spec import find_model
from experiments.estimate.checklist import EQUATIONS, items
from lehner.core.text import decimal
from lehner.latent_class.models import MODELS

CHECKLIST = ("--checklist", "stard-blcm")
METHODS = ("--method", "dawid_skene,majority_agreement")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    truth = rng.random(200) < 0.4

    def rated(accuracy):
        return np.where(truth ^ (rng.random(200) > accuracy), "sick", "well")

    raters = {name: rated(0.8) for name in ("ana", "<b>a_b & c", "../x")}
    found = pd.DataFrame({"item": range(200)} | raters | {"gpt": rated(0.9)})
    found.loc[:9, "ana"] = ""
    return found


@pytest.fixture
def gibbs(monkeypatch):
    """Sample without compiling."""
    monkeypatch.setattr(bayes_models, "fit", partial(bayes_models.fit, engine="gibbs"))


def rows_below(text, heading):
    part = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [re.split(r" ?\| ?", row)[1:-1] for row in re.findall(r"^\|.*\|$", part, re.M)]


def test_every_item_stands_there_with_the_numbers_of_json(run, gibbs, file, tmp_path):
    argv = ["estimate", file, "--system", "gpt", *METHODS]
    code, out, err = run(*argv, "--output", tmp_path / "new", *CHECKLIST, "--json")
    assert code == 0 and "new/stard_blcm.md" in err and "new/stard_blcm.html" in err
    found = json.loads(out)
    (model,) = [one for one in found["estimates"] if one["method"] == "dawid_skene"]
    text = (tmp_path / "new" / "stard_blcm.md").read_text()
    left = {row[0] for row in rows_below(text, "Left to the author")}
    for number, topic, _ in items():
        assert f"\n## {number} {topic}\n" in text or number in left
    assert [number for number, *_ in items()] == [
        *map(str, range(1, 14)),
        "14a",
        "14b",
        *map(str, range(15, 31)),
    ]
    sampled = rows_below(text, "14a The model")[-1]
    name, sampler, chains, _, r_hat, bulk, *_ = sampled
    assert (name, sampler, chains) == ("dawid_skene", "gibbs", "4")
    assert r_hat == decimal(model["diagnostics"]["r_hat"])
    assert bulk == f"{model['diagnostics']['ess_bulk']:.0f}"
    accuracy = model["system_accuracy"]
    shown = f"{decimal(accuracy['estimate'])} [{decimal(accuracy['lower'])}, "
    assert any(shown in row[2] for row in rows_below(text, "24 Estimates"))
    rates = {row[1]: row[2] for row in rows_below(text, "21 Distribution of the condition")[2:]}
    for category, rate in model["base_rates"].items():
        assert rates[category].startswith(decimal(rate))
    assert found["data"]["n_missing"] == 10
    assert "10 ratings of the raters are missing" in text and "Seed 1;" in text


def test_the_cross_tabulation_counts_every_item(run, gibbs, file, table, tmp_path, monkeypatch):
    argv = ["estimate", file, "--system", "gpt", *METHODS, "--output", tmp_path, *CHECKLIST]
    run(*argv)
    head, _, *rows = rows_below((tmp_path / "stard_blcm.md").read_text(), "23 Cross-tabulation")
    counts = table.replace("", "–").value_counts(list(table.columns[1:]))
    assert head[-1] == "items" and len(rows) == len(counts)
    assert {tuple(row[:-1]): int(row[-1]) for row in rows} == counts.to_dict()
    monkeypatch.setattr("experiments.estimate.checklist.MOST_PATTERNS", 3)
    run(*argv)
    head, _, *rows = rows_below((tmp_path / "stard_blcm.md").read_text(), "23 Cross-tabulation")
    assert head == ["rater", "system", "sick", "well", "–"]
    both = pd.crosstab(table["gpt"], table["ana"].replace("", "–"))
    of_ana = {row[1]: list(map(int, row[2:])) for row in rows if row[0] == "ana"}
    for answer in ("sick", "well"):
        assert of_ana[answer] == list(both.loc[answer, ["sick", "well", "–"]])
    page = (tmp_path / "stard_blcm.html").read_text()
    assert "&lt;b&gt;a_b &amp; c" in page and "<b>a_b" not in page


def test_each_model_says_its_equations():
    for name in MODELS:
        assert EQUATIONS.search(inspect.getdoc(find_model(name).build)), name


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--checklist", "stard-blcm"), "name it with --output"),
        (("--checklist", "stard", "--output", "x"), "choose among stard-blcm"),
        ((*CHECKLIST, "--output", "x"), "add one, as dawid_skene"),
    ],
)
def test_what_gives_no_checklist_is_refused(run, file, tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    argv = ["estimate", file, "--system", "gpt", "--method", "majority_agreement"]
    code, _, err = run(*argv, *options)
    assert code == 2 and said in err
    assert not (tmp_path / "x" / "stard_blcm.md").exists()
