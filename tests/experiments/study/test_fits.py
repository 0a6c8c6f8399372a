"""Fits of several systems over workers: the same bytes, and what was finished is not done again."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import lehner
from experiments.study import fits

SYSTEMS = "s0,s1,s2"
METHODS = "calibrated,majority_agreement,algebraic,dawid_skene_ml"
KEPT = "unfinished/*.nc"


@pytest.fixture
def data(tmp_path):
    """Three systems; the first left items out, so that comparisons with it need other fits."""
    rng, n = np.random.default_rng(1), 60
    truth = rng.integers(0, 2, n)

    def answers(accuracy):
        right = rng.random(n) < accuracy
        return np.where(right, truth, 1 - truth).astype(float)

    columns = {f"rater{i}": answers(0.7) for i in range(4)}
    columns |= {name: answers(0.7 + 0.05 * i) for i, name in enumerate(SYSTEMS.split(","))}
    columns["s0"][:5] = np.nan
    path = tmp_path / "ratings.csv"
    pd.DataFrame(columns).astype("Int64").to_csv(path, index_label="item")
    return path


def command(data, output, *options, methods=METHODS):
    asked = ["--system", SYSTEMS, "--method", methods, "--output", output]
    return ["estimate", data, *asked, *options]


def content(folder):
    """Bytes of all files by their names."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder): path.read_bytes() for path in files}


@pytest.mark.slow
def test_the_number_of_workers_changes_no_byte(run, data, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    outputs, said = {}, {}
    for name, options in {
        "one": [],
        "two": ["--workers", "2"],
        "dask": ["--workers", "2", "--dask", "local"],
    }.items():
        code, said[name], _ = run(*command(data, tmp_path / name, *options, "--json"))
        outputs[name] = content(tmp_path / name)
        assert code == 0
    assert {"results.csv", "estimates.tex"} <= {path.name for path in outputs["one"]}
    assert said["one"] == said["two"] == said["dask"]
    assert outputs["one"] == outputs["two"] == outputs["dask"]
    ratings = lehner.read_ratings(data, system=SYSTEMS.split(","))
    alone = lehner.estimate(ratings, METHODS.split(","))
    pd.testing.assert_frame_equal(
        alone.table[["estimate", "lower", "upper"]],
        pd.read_csv(tmp_path / "two" / "results.csv")[["estimate", "lower", "upper"]],
        check_exact=False,
        rtol=1e-12,
    )


@pytest.mark.slow
def test_a_command_that_is_interrupted_goes_on_where_it_was(run, data, tmp_path, monkeypatch):
    out, methods = tmp_path / "out", "algebraic,one_coin,dawid_skene"
    arguments = command(data, out, "--workers", "2", methods=methods)
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments", *arguments],
        start_new_session=True,
        text=True,
        stderr=subprocess.PIPE,
        # A shell that runs the tests in the background has all they start ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while process.poll() is None and len(list(out.glob(KEPT))) < 3:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to workers too
    text = process.communicate(timeout=60)[1].splitlines()
    assert process.returncode == 130
    assert f"Finished fits are kept in {out}; the same command goes on from there." in text
    assert "lehner: stopped" in text
    kept = list(out.glob(KEPT))
    assert len(kept) >= 3
    kept[0].write_bytes(kept[0].read_bytes()[:-100])  # It is damaged, and done again.
    done = []

    def spied(piece, do=fits._do):
        done.append(piece)
        return do(piece)

    monkeypatch.setattr(fits, "_do", spied)
    arguments[arguments.index("--workers") + 1] = "1"
    run(*arguments)
    went_on = len(done)
    run(*command(data, tmp_path / "whole", methods=methods))
    assert len(kept) - 1 + went_on == len(done) - went_on
    assert content(out) == content(tmp_path / "whole")
    assert not (out / "unfinished").exists()


@pytest.mark.slow
def test_a_function_of_the_users_runs_in_workers_that_have_no_such_file(run, data, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import os, lehner\n"
        "def mine(ratings, *, seed):\n"
        f"    if os.getpid() == {os.getpid()}:\n"
        "        raise lehner.InputError('this is no worker', 'use one')\n"
        "    return lehner.majority_agreement(ratings)\n"
    )
    method = f"{tmp_path / 'mine.py'}:mine"
    code, _, _ = run(*command(data, tmp_path / "out", "--workers", "2", methods=method))
    assert code == 0
    code, _, error = run(*command(data, tmp_path / "here", methods=method))
    assert code == 2 and "this is no worker; use one" in error
