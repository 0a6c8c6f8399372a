"""A dependent pair on the command line: screen, files, page and JSON say one thing."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import lehner
from experiments.estimate.dependent_pair import bayes_factor, pair_lines, pair_tables
from experiments.estimate.report import render, report_dict, write
from lehner import IntervalEstimate, Ratings
from lehner.core.estimate import ESTIMANDS
from lehner.core.text import decimal
from lehner.estimation.estimate import compare

NAMES = ("prior", "posterior", "covariance")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 120)
    who = ("ana", "b & c", "dee", "gpt")
    codes = {name: np.where(rng.random(120) < 0.75, truth, 1 - truth) for name in who}
    codes["gpt"] = np.where(rng.random(120) < 0.4, codes["b & c"], codes["gpt"])
    named = {name: np.array(["sick", "well"])[one] for name, one in codes.items()}
    return pd.DataFrame({"item": range(120)} | named)


def interval(value):
    return IntervalEstimate(estimate=value, lower=value / 2, upper=(1 + value) / 2, level=0.9)


def found_of(log, error):
    """What a fit says of a pair, with numbers that are all different."""
    accuracies = [
        {name: interval(value + step) for name, step in zip(ESTIMANDS, (0, 0.01), strict=True)}
        for value in (0.71, 0.83)
    ]
    categories = [
        {"category": name} | {one: interval(start + 0.03 * i) for i, one in enumerate(NAMES)}
        for name, start in (("sick", 0.2), ("well", 0.4))
    ]
    factor = {"log_bayes_factor": log, "log_bayes_factor_error": error}
    both = dict(zip(("if_dependent", "if_independent"), accuracies, strict=True))
    return {"pair": ["b & c", "gpt"], "categories": categories} | factor | both


@pytest.fixture
def compared(table):
    ratings = Ratings.from_wide(table, system="gpt", item="item")
    estimate = lehner.estimate_latent_class(ratings, "dawid_skene", interval=None, restarts=0)
    estimate = replace(estimate, diagnostics={"dependent_pair": found_of(1.5, 0.1)})
    return compare("x", ratings, [estimate, lehner.estimate_algebraic(ratings)])


def test_terminal_files_and_json_have_the_same_numbers(compared, tmp_path):
    (system,) = compared.systems
    shown = "\n".join(str(one) for one in render(compared, width=200).renderables)
    write(compared, tmp_path)
    tex = (tmp_path / "dependent_pair.tex").read_text()
    told = report_dict(compared)["estimates"][0]["diagnostics"]["dependent_pair"]
    assert told["log_bayes_factor"] == 1.5 and r"b \& c" in tex
    (line,) = pair_lines(system)
    for when in ("if_dependent", "if_independent"):
        value = told[when]["system_accuracy_in_sample"]
        number = decimal(value["estimate"])
        assert number in shown and number in tex and number in line
    for row in told["categories"]:
        for name in NAMES:
            number = decimal(row[name]["estimate"])
            assert number in shown and number in tex
    assert all("4.5 ± 0.8" in text for text in (shown, line)) and "4.5" in tex


def test_nothing_is_said_without_a_pair(table):
    ratings = Ratings.from_wide(table, system="gpt", item="item")
    (system,) = lehner.estimate(ratings, "algebraic").systems
    assert pair_tables(system) == [] and list(pair_lines(system)) == []


@pytest.mark.parametrize(
    ("log", "error", "text"),
    [
        (np.log(20), 0.1, "20 ± 4"),
        (np.log(0.05), 0.1, "0.050 ± 0.009"),
        (9.0, 0.5, "> 1000"),
        (-9.0, 0.5, "< 1/1000"),
        # It may as well be below 1000.
        (7.0, 0.4, "1097 ± 1021"),
    ],
)
def test_bayes_factors_as_text(log, error, text):
    assert bayes_factor(log, error) == text


@pytest.mark.parametrize(
    ("pair", "method", "said"),
    [
        ("ana,gtp", "dawid_skene", "did you mean 'gpt'"),
        ("ana", "dawid_skene", "name two, as in ana,gpt"),
        ("ana,gpt", "algebraic", "add dawid_skene or one_coin_by_rater"),
    ],
)
def test_wrong_pairs_are_one_error(run, file, pair, method, said):
    argv = ["estimate", file, "--system", "gpt", "--method", method, "--dependent", pair]
    code, out, errors = run(*argv)
    assert code == 2 and not out and said in errors and "Traceback" not in errors


@pytest.mark.slow
def test_the_command_averages_with_and_without_dependence(run, file, tmp_path):
    argv = ["estimate", file, "--system", "gpt", "--dependent", "b & c,gpt"]
    argv += ["--method", "dawid_skene,algebraic"]
    code, out, _ = run(*argv, "--json")
    pair, algebraic = json.loads(out)["estimates"]
    assert code == 0 and "dependent_pair" not in algebraic["diagnostics"]
    told = pair["diagnostics"]["dependent_pair"]
    weight = 1 / (1 + np.exp(-told["log_bayes_factor"]))
    means = [
        told[when]["system_accuracy"]["estimate"] for when in ("if_dependent", "if_independent")
    ]
    average = np.dot([weight, 1 - weight], means)
    assert pair["system_accuracy"]["estimate"] == pytest.approx(average, abs=0.01)
    _, screen, _ = run(*argv)
    (line,) = [one for one in screen.splitlines() if "Bayes factor for dependence" in one]
    for when in ("if_dependent", "if_independent"):
        assert decimal(told[when]["system_accuracy_in_sample"]["estimate"]) in line
