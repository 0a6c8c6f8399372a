"""A study that is defined in Python, with functions of its own: run, killed, resumed, read."""

import os
import signal
import subprocess
import sys
import time

import nbformat
import numpy as np
import pandas as pd
import pytest
from nbclient import NotebookClient

from lehner import Estimate, InputError, Scenario, Study
from lehner.core.lazy import write_source
from tests.studies import export, read_results

DEFINED = """
import time

import numpy as np

from lehner import Estimate, Ratings, Scenario, Study

WAIT = 0.02
weights = np.array([0.5, 0.5])

def weigh(numbers):
    return weights @ numbers

def simulate(seed, n, tired):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    accuracy = np.array([0.7, 0.7, 0.7, 0.9]) - [tired, tired, tired, 0]
    answers = np.where(rng.random((n, 4)) < accuracy, truth[:, None], 1 - truth[:, None])
    return Ratings(answers[:, :3], ["no", "yes"], system=answers[:, 3], truth=truth), 0.9

def agree(ratings, *, level, seed):
    time.sleep(WAIT)
    agreement = (np.asarray(ratings.codes) == np.asarray(ratings.system)[:, None]).mean()
    draws = np.random.default_rng(seed).beta(9 * agreement, 9 - 9 * agreement, (2, 200))
    return Estimate.from_draws(weigh(draws), level=level)

study = Study(
    "tired",
    scenarios=[
        {"name": "own", "generator": simulate, "grid": {"n": [40], "tired": [0.0, 0.2]}},
        Scenario(n_items=40),
    ],
    methods=["majority_agreement", agree],
    replicates=100,
    seed=3,
)
"""
SCRIPT = (
    DEFINED
    + """
if __name__ == "__main__":
    import sys
    study.run(sys.argv[1], workers=int(sys.argv[2]))
"""
)


def start(script, out, workers):
    command = [sys.executable, script, out, workers]
    return subprocess.Popen(list(map(str, command)), start_new_session=True)


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "study.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture(scope="module")
def whole(script):
    """The table of the study undisturbed, by one worker."""
    assert start(script, script.with_name("whole"), 1).wait() == 0
    return export(script.with_name("whole"), script.with_name("whole.csv")).read_bytes()


@pytest.mark.slow
def test_a_script_that_is_killed_goes_on_and_has_the_table_of_one_worker(script, whole):
    out = script.with_name("killed")
    for number in (1, 4):
        process = start(script, out, 2)
        while process.poll() is None and len(list(out.glob("cells/*"))) < number:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert 0 < len(read_results(out)) < 3 * 2 * 100 * 2
    assert start(script, out, 2).wait() == 0
    assert export(out, script.with_name("killed.csv")).read_bytes() == whole


@pytest.mark.slow
@pytest.mark.parametrize("options", ["workers=2", 'dask="local", workers=2', "dask=client"])
def test_a_notebook_runs_the_functions_of_its_cells_on_workers(script, whole, options):
    before = "import lehner.core.resampling as progress; progress.EVERY = 0.0\n"
    if "dask" in options:
        pytest.importorskip("distributed")
        before += "from distributed import Client; client = Client(n_workers=2)\n"
    out = script.with_name(f"notebook {len(options)}")
    cells = [DEFINED, f"{before}results = study.run({str(out)!r}, {options})", "results"]
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    NotebookClient(notebook, timeout=300).execute()
    (bar,) = (output for output in notebook.cells[1].outputs if "data" in output)
    # It is taken away when all is done.
    assert bar["data"] == {"text/plain": ""}
    assert "1200 rows" in notebook.cells[2].outputs[0]["data"]["text/plain"]
    assert export(out, out.with_suffix(".csv")).read_bytes() == whole


@pytest.fixture
def defined(script, monkeypatch):
    """The names that the script defines, imported as a file beside a notebook is."""
    monkeypatch.syspath_prepend(script.parent)
    import study

    yield vars(study)
    del sys.modules["study"]


def test_a_study_is_written_and_read_with_its_functions(defined, tmp_path):
    study = defined["study"]
    path = study.write(tmp_path / "tired.toml")
    assert {path.name for path in tmp_path.iterdir()} == {"agree.py", "simulate.py", "tired.toml"}
    assert Study.read(path) == study == Study.read(study.write(path))
    few = Study.read(path, replicates=2)
    assert few.replicates == 2 and few != study
    table = few.run(tmp_path / "of file").table
    same = Study(**(study.content | {"replicates": 2})).run(tmp_path / "of python")
    numbers = ["scenario", "method", "truth", "estimate", "lower", "upper"]
    pd.testing.assert_frame_equal(table[numbers], same.table[numbers])
    (tmp_path / "agree.py").write_text("another")
    with pytest.raises(InputError, match=r"agree\.py: this is another file, and"):
        study.write(path)


@pytest.mark.parametrize("name, value", [("WAIT", 0.01), ("weights", np.array([0.4, 0.6]))])
def test_what_a_function_uses_is_a_part_of_its_version(defined, monkeypatch, name, value):
    before, other = write_source(defined["agree"]), write_source(defined["simulate"])
    monkeypatch.setitem(defined, name, value)
    assert write_source(defined["agree"]) != before
    assert write_source(defined["simulate"]) == other
    assert "import numpy as np" in before and "def weigh(numbers):" in before


def fails(ratings, *, seed):
    raise InputError("too few items", "have more")


def test_a_method_that_fails_in_all_samples_is_told(tmp_path, caplog):
    study = Study("s", scenarios=[Scenario(n_items=40)], methods=[fails], replicates=2, seed=1)
    results = study.run(tmp_path / "out")
    told = "fails has no estimate of any sample: InputError: too few items; have more"
    assert told in caplog.text
    assert results.performance()["n"].tolist() == [0]


def test_measures_stand_side_by_side_with_their_monte_carlo_errors(tmp_path):
    study = Study(
        "s",
        scenarios={"few": {"n_items": 40}, "more": Scenario(n_items=80)},
        methods=["majority_agreement", {"name": "algebraic", "resamples": 20}],
        replicates=20,
        seed=1,
    )
    results = study.run(tmp_path / "out")
    table = results.performance()
    assert list(table.index) == [
        (scenario, method)
        for scenario in ("few", "more")
        for method in ("majority_agreement", "algebraic")
    ]
    rows = results.table.query("scenario == 'few' and estimand == 'system_accuracy'")
    rows = rows[rows["method"] == "majority_agreement"]
    error = rows["estimate"] - rows["truth"]
    found = table.loc[("few", "majority_agreement")]
    assert found["bias"] == pytest.approx(error.mean()) and found["n"] == 20
    assert found["bias_mcse"] == pytest.approx(error.std() / np.sqrt(20))
    assert found["seconds"] == pytest.approx(rows["seconds"].mean())
    latex = results.to_latex("bias")
    assert latex.count(r"\pm") == 4
    assert "\\caption{s: how well methods estimate the system accuracy}\n\\label{tab:s}\n" in latex
    assert "Intervals of 90\\%; 20 replicates; lehner" in latex
    in_sample = results.performance("system_accuracy_in_sample")
    assert not in_sample["bias"].equals(table["bias"])
    with pytest.raises(InputError, match="there is no estimand 'accuracy'; did you mean"):
        results.performance("accuracy")


@pytest.mark.parametrize("ends", [(0.7,), (0.9, 0.7), (None, 0.9)])
def test_an_interval_has_two_ends_in_order(ends):
    with pytest.raises(InputError, match="give both ends, the lower one first, or neither"):
        Estimate.from_values(0.8, *ends)


def test_draws_and_values_make_estimates():
    draws = np.linspace(0.6, 0.8, 101).reshape(1, 101)
    drawn = Estimate.from_draws(draws, in_sample=draws + 0.1, level=0.8)
    assert drawn.system_accuracy.estimate == pytest.approx(0.7)
    assert (drawn.system_accuracy.lower, drawn.system_accuracy.upper) == pytest.approx((0.62, 0.78))
    assert drawn.system_accuracy_in_sample.estimate == pytest.approx(0.8)
    with pytest.raises(InputError, match="some draws are not finite"):
        Estimate.from_draws([0.5, np.nan])
    assert Estimate.from_values(np.nan).system_accuracy.estimate is None


def half_loss(joint):
    """Half of the probability that an answer is wrong."""
    return (1 - np.trace(joint)) / 2


def test_an_estimand_of_ones_own_is_measured_in_its_place(tmp_path):
    options = {
        "scenarios": [Scenario(n_items=60, n_categories=3)],
        "methods": [{"name": "algebraic", "resamples": 20}, "majority_agreement", "learned_prior"],
        "replicates": 4,
        "seed": 1,
    }
    tables = [
        Study("s", **options, estimand=estimand).run(tmp_path / str(i)).table
        for i, estimand in enumerate(["accuracy", half_loss, "weighted_loss"])
    ]
    accuracy, half, weighted = (table.query("method == 'algebraic'") for table in tables)
    np.testing.assert_allclose(half["truth"], (1 - accuracy["truth"]) / 2)
    # The algebra's base rates and matrix give nearly its accuracy.
    np.testing.assert_allclose(half["estimate"], (1 - accuracy["estimate"]) / 2, atol=0.03)
    assert (half["lower"] < half["upper"]).all()
    assert list(half["estimand"].unique()) == ["half_loss", "half_loss_in_sample"]
    # Errors of three categories are one or two categories away.
    assert (weighted["truth"] / half["truth"]).between(1 - 1e-9, 2 + 1e-9).all()
    status = tables[2].groupby("method")["status"].unique()
    assert list(status["learned_prior"]) == ["undefined"]
    assert Study.read(tmp_path / "1").collect(tmp_path / "1").table.equals(tables[1])
    with pytest.raises(InputError, match="estimand is 'acuracy'; choose among accuracy, weighted"):
        Study("s", **options, estimand="acuracy")


@pytest.mark.parametrize("function", ["experiment", "table"])
def test_a_text_that_names_no_function_is_refused(function):
    methods = ["algebraic"] if function == "table" else []
    with pytest.raises(InputError, match="'tos' names no function in a file; write"):
        Study("s", scenarios=[{}], methods=methods, replicates=1, seed=1, **{function: "tos"})
