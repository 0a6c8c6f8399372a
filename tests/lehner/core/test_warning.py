"""Warnings: each code that the packages make is in one table, which the documentation shows."""

import ast
import copy
import pickle
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import typer

import lehner
from lehner import InputError, Ratings, Scenario, simulate
from lehner.core.errors import CODES, compose, read_warnings, sort_warnings, warn, write_warnings
from lehner.core.text import to_options
from lehner.estimation.methods import describe_methods, list_methods

ROOT = Path(lehner.__file__).parents[1]


def test_the_table_has_each_code_that_is_made_and_no_other():
    made, texts = set(), set()
    for package in ("lehner", "bayes_models", "experiments"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if path.stem == "warning":
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant):
                    texts.add(node.value)
                elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "warn":
                    made.add(getattr(node.args[0], "value", "starts"))
    assert made <= set(CODES) <= texts


def test_the_documentation_shows_the_table():
    page = (ROOT / "docs/explanation/warnings.md").read_text(encoding="utf-8")
    assert all(f"| `{code}` |" in page for code in CODES)


def test_a_code_gives_its_severity_and_an_unknown_one_is_an_error():
    assert warn("starts", "1 of 1").severity == "note"
    with pytest.raises(InputError, match="did you mean 'starts'"):
        warn("start", "1 of 1")
    with pytest.raises(InputError, match="severity"):
        lehner.Warning("mine", "something", "worst")


def test_they_are_ordered_by_severity_and_each_is_there_once():
    last, first = warn("starts", "1 of 1"), warn("divergences", "3 draws diverged")
    worst = warn("not-converged", "chains disagree")
    assert sort_warnings([last, first, worst, last]) == [worst, first, last]


FITS = set(
    "not-converged labels-switched labels-unsettled not-identified higher-mode "
    "too-few-draws divergences boundary agreement-not-predicted prior-decides "
    "prior-outweighs-data items-with-few-ratings starts tree-depth "
    "prior-weight-unknown known-truths-used".split()
)
OTHERS = {
    "agreement": "few-clusters not-compared repeats-share-vote weights-by-position",
    "label": "labels-tied labels-and-system labels-contradict-ratings agreement-at-chance "
    "raters-always-agree negative-base-rate",
    "compare": "rater-favours rater-below-chance raters-differ category-never-rated judge-differs "
    "judge-unseen favour-unseen groups-small groups-made groups-alike shared-mistakes "
    "few-clusters agreement-unexplained clusters-ignored truths-contradict truths-not-random "
    "truths-weighted answer-unlabelled method-undefined methods-disagree proportions-known",
}
"""Codes of warnings that commands print beside those of fits; `estimate` prints all others too."""
ONLY = set("labels-tied labels-and-system labels-contradict-ratings weights-by-position".split())
STARTS = ("score-", "judge-", "favour-")
ONLY |= {code for code in CODES if code.startswith(STARTS)}
ONLY |= {"rater-favours", "rater-below-chance", "raters-differ", "category-never-rated"}
ONLY |= {"method-undefined", "methods-disagree", "proportions-known"}
PRINTED = {command: set(codes.split()) for command, codes in OTHERS.items()}
PRINTED["compare"] |= FITS
PRINTED["label"] |= FITS
PRINTED["estimate"] = set(CODES) - ONLY


def test_each_remedy_is_one_of_the_command_that_prints_it():
    from lehner.command.main import app

    commands = typer.main.get_command(app).commands
    options = {name: {o for p in line.params for o in p.opts} for name, line in commands.items()}
    methods = {name: set() for name in PRINTED}
    methods["estimate"] = set(list_methods())
    methods["compare"] = set(describe_methods("populations", "judge"))
    methods["label"] = set(list_methods("items"))
    assert set().union(*PRINTED.values()) == set(CODES)
    for command, codes in PRINTED.items():
        for code in codes:
            remedy = CODES[code][1].partition(" In Python")[0]
            for term in re.findall(r"`(.*?)`", remedy):
                elsewhere = re.fullmatch(r"lehner ([\w-]+)(?: (--[\w-]+).*)?", term)
                where, word = elsewhere.groups() if elsewhere else (command, term)
                assert not word or word in options[where] | methods.get(where, set()), (code, term)


def test_what_limits_or_changes_a_conclusion_has_a_remedy():
    for code, (severity, text) in CODES.items():
        assert severity == "note" or len(re.findall(r"[.:)] [A-Z]", text)) >= 1, code


def test_options_stand_in_messages_as_options_and_never_in_their_text():
    written = re.compile(r"(?<!\{)\b(?!engine|check)[a-z_]+=(…|True|False|'\w+')|\{options\}")
    for package in ("lehner", "bayes_models", "experiments"):
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            docs = {n.value for n in ast.walk(tree) if isinstance(n, ast.Expr)}
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found = node not in docs and written.search(node.value)
                    assert not found, f"{path}:{node.lineno}"
                elif isinstance(node, ast.FunctionDef) and ", change=" in ast.unparse(node):
                    # A remedy beside options that are proposed is a template, too.
                    remedies = re.findall(r"(?m)^ +remedy\b.* \+?= .*$", ast.unparse(node))
                    made = re.search(r"\bf['\"]| \+ |\+=", "".join(remedies))
                    assert not made, f"{path}:{node.lineno}"
                elif isinstance(node, ast.Call) and "compose" in ast.unparse(node.func):
                    # A template that is made at run time could hold data.
                    template, *values = node.args
                    if ast.unparse(template) == "self.remedy":
                        continue
                    counted = any(isinstance(value, ast.Starred) for value in values)
                    n_gaps = getattr(template, "value", "").count("{}")
                    assert n_gaps == len(values) or (n_gaps and counted), f"{path}:{node.lineno}"
                    assert isinstance(template, ast.Constant), f"{path}:{node.lineno}"


@pytest.mark.parametrize("data", ["rating='a'", "truth=…", "{}", "{options}", "%s", "--x"])
def test_data_in_a_message_are_not_read_as_options(data):
    options = {"truth": data, "raters": None, "ordered": True}
    message = compose("{} is odd ({}) or {}", data, options, compose("{}", data))
    assert message == f"{data} is odd (truth={data!r}, raters=…, ordered=True) or {data}"
    shown = shlex.join(["--truth", data]) if data != "--x" else "--truth=--x"
    shown = shown if "'" not in data else f'--truth "{data}"'
    assert to_options(message) == f"{data} is odd ({shown} --raters --ordered) or {data}"
    error = InputError(data, message, file="f.csv", column=data)
    assert to_options(str(error)) == f"f.csv, column {data!r}: {data}; {to_options(message)}"
    assert to_options(data) == data
    (again,) = read_warnings(write_warnings([warn("starts", message)]))
    for text in (again.text, copy.deepcopy(message), pickle.loads(pickle.dumps(message))):
        assert text == message and to_options(text) == to_options(message)


def codes(warnings):
    return {warning.code for warning in warnings}


def few(n_raters=2, n_items=40, **options):
    accuracy = (0.8, 0.7, 0.75, 0.9)[:n_raters]
    scenario = Scenario(n_items=n_items, initial_rater_accuracy=accuracy, **options)
    return simulate(scenario, 1).with_truth(None)


def without_system(ratings):
    return Ratings(ratings.codes, ratings.categories, ratings.raters)


def test_two_raters_do_not_identify_confusion_matrices():
    results = lehner.estimate(few(), "dawid_skene_ml")
    assert "not-identified" in codes(results.warnings)
    fit = lehner.fit_latent_class(without_system(few()))
    assert "not-identified" in codes(fit.notes)


def test_a_rater_without_ratings_of_a_category_and_items_without_all_raters():
    ratings = few(3, 60)
    sparse = ratings.codes.copy()
    sparse[:, 2] = -1
    sparse[sparse[:, 0] == 0, 2] = 0
    fit = lehner.fit_latent_class(Ratings(sparse, ratings.categories))
    assert "measure-undefined" in codes(fit.notes)


def test_repeated_ratings_share_a_vote_in_agreement():
    rows = {"item": [1, 1, 1, 2, 2], "rater": list("xxyxy"), "rating": list("abaab")}
    result = lehner.agreement(Ratings.from_long(rows, repeated=True))
    assert "repeats-share-vote" in codes(result.warnings)


def test_recalls_and_step_4_imply_two_accuracies():
    rng = np.random.default_rng(1)
    truth = (rng.random(600) < 0.2).astype(int)
    right = rng.random((600, 4)) < [0.8, 0.8, 0.8, 1.0]
    right[:, 3] = rng.random(600) < np.where(truth == 1, 0.4, 0.98)
    answers = np.where(right, truth[:, None], 1 - truth[:, None])
    ratings = Ratings(answers[:, :3], ["no", "yes"], system=answers[:, 3])
    assert "two-accuracies" in codes(lehner.estimate(ratings, "algebraic").warnings)


@pytest.mark.parametrize("method", ["algebraic", "dawid_skene_ml"])
def test_a_likelihood_ratio_may_be_infinite(method):
    answers = np.repeat([[0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 1, 0], [1, 1, 0, 1]], [30, 30, 1, 1], 0)
    ratings = Ratings(answers[:, :3], ["no", "yes"], system=answers[:, 3])
    assert "measure-undefined" in codes(lehner.estimate(ratings, method).warnings)
