"""`lehner compare`, as a user types it: the screen, its files, and what is wrong."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lehner
from tests.rows import one_row

ODD = ["a_b & c", "../x", "100%"]


def write_answers(path, groups, size=60, raters=4, n_truths=0):
    """Write answers of models, each good more often than the next, judged by raters."""
    rng = np.random.default_rng(1)
    model = np.repeat(np.arange(len(groups)), size)
    truth = rng.random(len(model)) < np.linspace(0.8, 0.4, len(groups))[model]
    right = rng.random((len(model), raters)) < 0.8
    said = np.where(right == truth[:, None], "good", "bad")
    table = pd.DataFrame(said, columns=[f"rater{j}" for j in range(raters)])
    table.insert(0, "item", np.arange(len(model)))
    table.insert(1, "model", np.array(groups)[model])
    if n_truths:
        shown = np.tile(np.arange(size), len(groups)) < n_truths
        table["gold"] = np.where(shown, np.where(truth, "good", "bad"), "")
    table.to_csv(path, index=False)
    return path


@pytest.fixture
def file(tmp_path):
    return write_answers(tmp_path / "my answers.csv", ODD, n_truths=12)


def asked(file, *more):
    return ("compare", file, "--item", "item", "--group", "model", "--good", "good", *more)


def test_without_a_group_base_rates_and_raters_are_the_answer(run):
    code, out, _ = run("compare", "anesthesia", "--method", "dawid_skene_ml")
    assert code == 0 and "base rates" in out and "Raters (dawid_skene_ml)" in out
    fit = lehner.fit_latent_class(lehner.load_dataset("anesthesia"))
    assert f"{float(fit.base_rates[0]):.3f} [" in out
    assert f"{float(fit.accuracy[0]):.3f}" in out


def test_every_rater_is_a_test_with_sensitivity_and_specificity(run, file):
    raters = ",".join(f"rater{j}" for j in range(4))
    command = asked(file, "--raters", raters, "--method", "dawid_skene_ml", "--level", 0.95)
    _, out, _ = run(*command, "--full")
    _, text, _ = run(*command, "--json")
    shown = " ".join(out.split())
    for rater in (f"rater{j}" for j in range(4)):
        for category in ("good", "bad"):
            row = one_row(text, "recall", rater=rater, category=category)
            assert row["level"] == 0.95 and row["lower"] < row["estimate"] <= row["upper"]
            value = f"{row['estimate']:.2f} [{row['lower']:.2f}, {row['upper']:.2f}]"
            assert value.replace("0.", ".") in shown
    assert "sensitivity specificity" in shown and "sensitivity" not in run(*command)[1]


@pytest.mark.parametrize(
    ("data", "options", "screen", "sentence"),
    [
        (
            "answers.csv",
            "--raters ana,ben,cai,dee --group model --good good --method dawid_skene_ml",
            "Ahead: atlas",
            "atlas has the highest proportion of good: .69, 90% CI [.60, .77], by the method",
        ),
        (
            "judged.csv",
            "--raters judge --truth human --group prompt_version --good pass",
            "It is open which is ahead: v3, v4",
            "Which group has the highest proportion of pass is open: v3, v4. That of v3 is",
        ),
    ],
)
def test_it_says_which_group_is_ahead_or_that_it_is_open(run, data, options, screen, sentence):
    data = Path(__file__).parents[3] / "docs/data" / data
    assert f"\n{screen}\n" in run("compare", data, *options.split())[1]
    assert run("compare", data, *options.split(), "--sentence")[1].startswith(sentence)
