"""Ctrl-C ends a command, whatever it is doing, in processes of their own."""

import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

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
