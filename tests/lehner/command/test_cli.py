"""The `lehner` command, as a user types it."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from bayes_models.models.log_odds import SCALES
from lehner import Scenario, simulate
from tests.rows import ends, one_row, pick_rows

FAST = ["--method", "majority_agreement", "--method", "algebraic"]


def test_json_is_all_there_is_on_standard_output_and_is_reproducible(run):
    first = run("estimate", "lehner_table2", *FAST, "--json", "--seed", 7)
    assert first == run("estimate", "lehner_table2", *FAST, "--json", "--seed", 7)
    assert first[2] == ""
    assert first != run("estimate", "lehner_table2", *FAST, "--json", "--seed", 8)


@pytest.fixture(scope="module")
def ordered_file(tmp_path_factory):
    """Three raters, a system and three ordered categories."""
    scenario = Scenario(
        n_categories=3, n_items=120, initial_rater_accuracy=(0.5, 0.8, 0.6), asymmetric_dispersion=3
    )
    file = tmp_path_factory.mktemp("ratings") / "ratings.csv"
    ratings = simulate(scenario, 4)
    table = ratings.to_wide().drop(columns="truth")
    table.to_csv(file, index=False)
    return file


@pytest.mark.slow
def test_all_methods_are_compared_with_a_verdict_on_each_k_property(run, ordered_file):
    options = ("--categories", "A,B,C", "--ordered", "--method", "all")
    code, out, err = run("estimate", ordered_file, *options, "--json")
    assert code == 0
    accuracies = pick_rows(out, "system_accuracy")
    assert [e["method"] for e in accuracies] == cli_methods()
    assert all(0.5 < e["estimate"] <= 1 for e in accuracies)
    tested = pick_rows(out, "bayes_factor_against_zero", versus=...)
    assert [row["versus"] for row in tested] == list(SCALES)
    assert {row["kind"] for row in tested} <= {"rejected", "undecided", "supported"}
    assert "relaxed_k: sampling … (" in err


def cli_methods():
    from lehner.estimation.methods import list_methods

    return list(list_methods())


def test_known_truths_are_compared_with_the_system(run, tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_text("a,b,c,system,truth\nx,x,y,x,x\ny,y,y,y,\nx,y,x,y,x\ny,y,x,y,y\n")
    _, out, _ = run("estimate", "--full", file, *FAST, "--json")
    on_labelled = one_row(out, "accuracy_on_known_items")
    # Wilson's interval of 2 of 3 at 90% of 4 items: z² = 1.6449² (4 - 3) / (4 - 1), and its ends
    # are (2 + z²/2 ± z √(2/3 + z²/4)) / (3 + z²).
    assert ends(on_labelled) == pytest.approx((2 / 3, 0.3983, 0.8580), abs=1e-4)
    assert on_labelled["n_items"] == 3 and on_labelled["level"] == 0.9
    recall = pick_rows(out, "recall_on_known_items")
    assert [(row["category"], row["estimate"]) for row in recall] == [("x", 0.5), ("y", 1.0)]


def test_what_is_odd_in_data_is_said_by_each_command(run, tmp_path, recwarn):
    file = tmp_path / "ratings.csv"
    rows = ["yes,yes,no,yes", "no,unknown,no,no", "yes,no,yes,", "no,no,no,no", "yes,yes,no,yes"]
    file.write_text("\n".join(["a,b,c,gpt", *rows, ""]))
    notes = [
        "the system is gpt; raters are a, b, c; items are numbered",
        "'unknown' (1 cell) counts as a category; if it means a missing rating, read it as one "
        "(--missing unknown)",
        "the system did not answer 1 of 5 items",
    ]
    for command in (["estimate", *FAST], ["agreement"], ["label"], ["check", "--replicates", 199]):
        _, out, _ = run(command[0], file, "--system", "gpt", *command[1:], "--json")
        assert json.loads(out)["data"]["notes"] == notes, command
    missing = ("--missing", "unknown,?", "--json")
    data = json.loads(run("estimate", file, "--system", "gpt", *FAST, *missing)[1])["data"]
    assert data["categories"] == ["no", "yes"]
    said = "an option has no effect on the labels of the ratings (--missing '?')"
    assert said in data["notes"] and not recwarn.list


def test_an_estimate_the_data_cannot_support_is_null_with_a_reason_and_exit_1(run, tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_text("a,b,system\nx,y,x\ny,x,y\nx,x,x\ny,y,y\n")
    code, out, _ = run("estimate", file, "--method", "algebraic", "--json")
    assert code == 1
    assert one_row(out, "system_accuracy")["estimate"] is None
    assert [row["estimate"] for row in pick_rows(out, "base_rates")] == [None, None]
    assert json.loads(out)["warnings"][0]["code"] == "agreement-at-chance"
    code, out, _ = run("estimate", file, "--method", "algebraic")
    assert code == 1
    assert "–" in out


TWO = "a,b,system\nx,y,x\n"
ALIKE = "a,system\nx,y\ny,y\n"
BAD_INPUT = [
    (None, ["estimate"], "no such file"),
    ("", ["estimate"], "no column names"),
    ("a,b\nx,y\n", ["estimate"], "no column or rater is the system"),
    (ALIKE, ["estimate"], "1 rater besides the system"),
    ("a,b,system\nx,x,x\nx,x,x\n", ["estimate"], "only category is x"),
    ("a,b,system\nx,,x\n,y,x\n", ["estimate"], "no item was rated by two raters"),
    (
        *("a,b,system\nx,y,x\nx,z,y\n", ["estimate", "--categories", "x,y"]),
        "row 3, column 'b': 'z' is not",
    ),
    ("item,rater,rating\n1,a,x\n1,a,y\n", ["estimate", "--system", "a"], "row 3, column 'rating'"),
    ("a,b,system\nx,y\n", ["estimate"], "row 2: 2 fields where the header has 3"),
    (TWO, ["estimate", "--level", "2"], "--level is 2.0"),
    (TWO, ["estimate", "--level", "x"], "--level"),
    (TWO, ["estimate", "--method", "algebra"], "did you mean 'algebraic'?"),
    (TWO, ["estimate", "--seed", "-1"], "--seed is -1"),
    (TWO, ["estimate", "--colour"], "--colour"),
    (TWO, ["estimate", "--system-is", "worse"], "choose among like, better, unknown"),
    (TWO, ["estimate", "--priors", "no.json"], "no.json"),
    (TWO, ["estimate", "--earlier-studies", "an=x.csv"], "did you mean 'a'"),
    *(
        (TWO, ["estimate", "--earlier-studies", studies], "as a=earlier.csv")
        for studies in ("a", "a=", "a=x.csv,a=y.csv")
    ),
    (TWO, ["estimate", "--earlier-studies", "a=x.csv"], "no such file"),
    (TWO, ["estimate", "--system", "sytem"], "did you mean 'system'"),
    (TWO, ["estimate", "--system", "system,system"], "two roles"),
    (TWO, ["estimate", "--raters", "a,b", "--system", "system,a"], "two roles"),
    (TWO, ["agreement", "--level", "90"], "--level is 90"),
    (TWO, ["agreement", "--coefficients", "kappa"], "no coefficient 'kappa'; choose among perc"),
    (TWO, ["bounds", "--correlation", "2"], "--correlation"),
    ("a,b\nx,y\n", ["bounds"], "there is no system"),
    (TWO, ["compare", "--group", "sytem"], "did you mean 'system'"),
    (TWO, ["compare", "--seed", "-1"], "--seed is -1"),
    (None, ["label"], "no such file"),
    (TWO, ["label", "--method", "majority_agreement"], "'majority_agreement'"),
    (TWO, ["label", "--method", "learned_prior"], "choose among majority, "),
    (TWO, ["label", "--seed", "-1"], "--seed is -1"),
    (ALIKE, ["label"], "1 rater besides the system"),
    ("a,b\nitem,item\ny,y\n", ["label"], "a category is called 'item'"),
    (TWO, ["ask", "--n", "0"], "n is 0"),
    (TWO, ["ask", "--n", "500"], "500 items asked for"),
    *((TWO, ["ask", "--until", width], "--until is") for width in ("0", "nan", "1")),
]


@pytest.mark.parametrize(("content", "command", "said"), BAD_INPUT)
def test_bad_input_is_told_in_one_line_with_exit_2(run, tmp_path, content, command, said):
    file, written = tmp_path / "ratings.csv", tmp_path / "ask.csv"
    if content is not None:
        file.write_text(content)
    name, *options = command
    code, out, err = run(name, file, *options, *(["--output", written] if name == "ask" else []))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1 and err.startswith("lehner: ")
    assert said in err and not written.exists()


SWALLOWED = """
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        pass
    time.sleep(300)
"""
TWICE = """
    cli.SECONDS_TO_LEAVE = 300
    for _ in range(2):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            time.sleep(0.5)
    time.sleep(300)
"""
WORKER_KEEPS_IT = """
    threading.Thread(target=time.sleep, args=[300]).start()
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        return cli.INTERRUPTED
"""


@pytest.mark.parametrize("body", [SWALLOWED, TWICE, WORKER_KEEPS_IT])
def test_an_interrupted_command_ends_whatever_keeps_it(body):
    code = (
        "import signal, threading, time\n"
        "from lehner.command import main as cli\n"
        "cli.SECONDS_TO_LEAVE = 0.5\n"
        f"def app(*_, **__):{body}"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "cli.main(app)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    said = "lehner: stopped; only files that were finished are kept\n"
    assert (done.returncode, done.stderr) == (130, said)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["1", "2"])
def test_python_without_docstrings_is_refused_in_one_line(level):
    command = [sys.executable, "-m", "lehner", "agreement", "krippendorff", "--json"]
    environment = os.environ | {"PYTHONOPTIMIZE": level}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == (0 if level == "1" else 2)
    if level == "2":
        assert "PYTHONOPTIMIZE=2" in done.stderr and done.stderr.count("\n") == 1


STOPPED = "lehner: stopped; only files that were finished are kept\n"


def interrupt(arguments, seconds, begun):
    """Interrupt a command some seconds after a line of standard error; give what came of it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "lehner", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell that runs the tests in the background has all they start ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while begun and begun not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.5, 2, 8])
def test_compiling_is_interrupted(tmp_path, monkeypatch, seconds):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    command = ["estimate", "lehner_table2", "--system", "System", "--method", "relaxed_k"]
    code, out, err = interrupt(command, seconds, "compiling")
    assert (code, out) == (130, "") and err.endswith(STOPPED)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "seconds", "begun"),
    [
        (["estimate", "--method", "dawid_skene_ml"], 1, None),
        (["estimate", "--method", "dawid_skene_ml"], 4, None),
        (["check", "--replicates", "99999"], 1, "simulating"),
    ],
)
def test_reading_and_computing_are_interrupted(tmp_path, command, seconds, begun):
    rng = np.random.default_rng(1)
    truth = rng.integers(20, size=50_000)
    answers = np.where(rng.random((6, len(truth))) < 0.6, truth, rng.integers(20, size=len(truth)))
    table = pd.DataFrame(answers.T, columns=[*"abcde", "system"]).rename_axis("item")
    table.to_csv(tmp_path / "ratings.csv")
    arguments = [command[0], tmp_path / "ratings.csv", *command[1:]]
    code, out, err = interrupt(arguments, seconds, begun)
    assert (code, out) == (130, "") and err.endswith(STOPPED)


SEED = 90_210
PACKAGES = ("lehner", "bayes_models", "experiments")
QUICK = "algebraic_paper,algebraic,dawid_skene_ml"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Ratings of unequal raters with groups, populations and some truths; groups of raters.

    Errors near the truth and a rater who copies: `lehner check` rejects, and computes a bias.
    """
    folder = tmp_path_factory.mktemp("seed")
    scenario = Scenario(
        n_categories=3,
        n_items=80,
        initial_rater_accuracy=(0.5, 0.7, 0.7, 0.9),
        proportional_error_range=1,
        asymmetric_dispersion=4,
        copying=(0, 0, 0.5, 0),
    )
    table = simulate(scenario, 3).to_wide()
    table["second"] = simulate(scenario, 4).to_wide()["system"]
    table["domain"] = np.resize(["law", "web", "web"], len(table))
    table.loc[:20, ["item", "truth"]].to_csv(folder / "truths.csv", index=False)
    table.drop(columns="truth").to_csv(folder / "ratings.csv", index=False)
    raters = [name for name in table if name.startswith("Rater")]
    args = ["estimate", folder / "ratings.csv", "--system", "system", "--raters", ",".join(raters)]
    two = ["estimate", folder / "ratings.csv", "--system", "system,second", *args[4:]]
    return {
        "--full": [*args, "--method", QUICK, "--full"],
        "--group": [*args, "--method", "algebraic,dawid_skene_ml", "--group", "domain"],
        "--population": [*args, "--method", "dawid_skene_ml", "--population", "domain"],
        "--truth": [
            *args,
            "--method",
            QUICK,
            "--truth",
            folder / "truths.csv",
            "--group",
            "domain",
        ],
        "systems": [*two, "--method", QUICK, "--full"],
        "check": ["check", *args[1:]],
        "check, unequal errors": ["check", "lehner_table2", "--system", "System"],
        "label": ["label", *args[1:]],
        "ask": ["ask", *args[1:], "--output", folder / "ask.csv"],
    }


COMMANDS = [
    *"--full --group --population --truth".split(),
    *"systems check label ask".split(),
    "check, unequal errors",
]


def intervals(out):
    """Give the ends of intervals by their place, but not of what need not differ.

    Shares of the items and ranks are discrete, bounds are exact for an estimate, Student's
    intervals of the advantage over each rater (Calderon et al. 2025) are computed by a formula,
    and what public crowds say is the same for all.
    """
    return {
        tuple(value for value in row.values() if isinstance(value, str | bool)): (
            row["lower"],
            row["upper"],
        )
        for row in json.loads(out)["rows"]
        if row["lower"] is not None
        and row["kind"] not in ("Student", "public crowds")
        and not any(part in row["quantity"] for part in ("in_sample", "rank", "bounds"))
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_all_random_streams_come_from_the_seed(run, files, monkeypatch, name):
    make, sources = np.random.default_rng, {}

    def recorded(seed=None):
        caller = sys._getframe(1).f_globals["__name__"]
        if caller.split(".")[0] in PACKAGES and not isinstance(seed, np.random.Generator):
            entropy = getattr(seed, "entropy", seed)
            sources.setdefault(entropy, set()).add(caller)
        return make(seed)

    monkeypatch.setattr(np.random, "default_rng", recorded)
    code, out, err = run(*files[name], "--seed", SEED, "--json")
    assert code in (0, 1), err
    # The default of `lehner label`, variational Bayes, draws nothing.
    assert set(sources) == (set() if name == "label" else {SEED}), sources
    if name in ("--full", "--group", "--population", "systems"):
        first, other = map(intervals, (out, run(*files[name], "--seed", 6, "--json")[1]))
        same = {place for place, ends in first.items() if ends == other[place]}
        assert len(first) > 20
        assert not any(first[place][0] < first[place][1] for place in same)
