"""Work over processes and Dask, byte by byte; cells are whole or computed again."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Barrier, Timer

import numpy as np
import pandas as pd
import pytest

import lehner
from lehner import InputError
from lehner.core.resampling import Threaded, do_pieces
from lehner.study.parallel import do_all
from tests.studies import export, read_results, run_study

STOPPED = "it was not done before Ctrl-C; run again"


def die(task):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_dies_is_one_error():
    with pytest.raises(
        InputError, match=r"a worker process died \(\w+\); what was finished is kept"
    ):
        list(do_all(die, [1, 2], 2))


def test_a_worker_whose_process_was_killed_before_it_asked_ends():
    code = "import time, lehner.study.parallel as p; p._start_worker(2**30); time.sleep(60)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGTERM


RUN = """
import time
from lehner.study.parallel import do_all
list(do_all(time.sleep, [0.1] * 3000, 2))
"""


def list_session(session):
    """List the processes of a session that are not finished."""
    states = (
        path.read_text().rpartition(")")[2].split() for path in Path("/proc").glob("[0-9]*/stat")
    )
    return [state for state in states if int(state[3]) == session and state[0] != "Z"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are listed in /proc")
@pytest.mark.parametrize("seconds", [0, 0.2, 0.5, 1])
def test_workers_end_whenever_their_process_is_killed(seconds):
    with subprocess.Popen([sys.executable, "-c", RUN], start_new_session=True) as process:
        try:
            while len(list_session(process.pid)) == 1:
                time.sleep(0.01)
            time.sleep(seconds)
            process.kill()
            process.wait()
            deadline = time.monotonic() + 30
            while list_session(process.pid) and time.monotonic() < deadline:
                time.sleep(0.1)
            assert not list_session(process.pid)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("address", ["nonsense", "http://x:1", "tcp://", "/tmp", ""])
def test_what_is_no_address_is_one_error(address):
    pytest.importorskip("distributed")
    with pytest.raises(InputError, match=r"no Dask scheduler that can be used at .*; start it and"):
        list(do_all(abs, [1], dask=address))


SCHEDULER = """
import time
import distributed
if __name__ == "__main__":
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None,
        host="127.0.0.1", protocol="tcp",
    )
    print(cluster.scheduler_address, flush=True)
    time.sleep(600)
"""


@pytest.mark.slow
def test_a_scheduler_that_is_killed_is_one_error(caplog):
    """Its client waits for it for 20 seconds or so."""
    pytest.importorskip("distributed")
    command = [sys.executable, "-c", SCHEDULER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as scheduler:
        address = scheduler.stdout.readline().strip()
        with pytest.raises(
            InputError, match=r"(a worker process died|workers ended).*; what was finished"
        ):
            for _ in do_all(time.sleep, [0.1] * 1000, dask=address):
                scheduler.kill()
    assert not caplog.records


SYSTEMS = "s0,s1,s2"
METHODS = "learned_prior,majority_agreement,algebraic,dawid_skene_ml"


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


def test_two_threads_give_the_numbers_of_one(data):
    ratings = lehner.read_ratings(data, system=SYSTEMS.split(","))
    one, two = (
        lehner.estimate(ratings, METHODS.split(","), by_measure="f1", do_all=do_all).table
        for do_all in (partial(do_pieces, run=map), do_pieces)
    )
    pd.testing.assert_frame_equal(one, two, check_exact=True)
    assert sorted(do_pieces(2 * [Threaded(Barrier(2).wait, 60)])) == [0, 1]
    for pieces in ([Threaded(int, "x"), Threaded(int, "y")], [partial(int, "x"), Threaded(int)]):
        with pytest.raises(ValueError, match="'x'"):
            do_pieces(pieces)


def test_what_either_thread_did_before_ctrl_c_is_kept():
    Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
    done = do_pieces([Threaded(time.sleep, 5), Threaded(int), partial(int)], lambda: None)
    assert list(map(repr, done)) == ["KeyboardInterrupt()", "0", "KeyboardInterrupt()"]


def die_once(marker, fit):
    """Kill the worker that is the first to come here, and fit in all others."""
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return fit()


@pytest.mark.slow
def test_a_worker_of_a_cluster_that_is_killed_changes_no_number(run, data, files, tmp_path):
    distributed = pytest.importorskip("distributed")
    first, second, mine = (tmp_path / name for name in ("first", "second", "mine.py"))
    mine.write_text(
        "import lehner\n"
        "from tests.lehner.study.test_parallel import Path, die_once\n"
        "def mine(ratings, *, seed):\n"
        f"    return die_once(Path({str(second)!r}), lambda: lehner.majority_agreement(ratings))\n"
    )
    ratings = lehner.read_ratings(data, system=SYSTEMS.split(","))
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.Client(**options) as client:

        def fit_all(fits):
            run_all = partial(do_all, workers=2, dask=client)
            return do_pieces([partial(die_once, first, fit) for fit in fits], run=run_all)

        results = lehner.estimate(ratings, METHODS.split(","), do_all=fit_all)
        there = estimate_each(
            run, files, "file", f"{mine}:mine", "--dask", client.scheduler.address
        )
    assert first.exists() and second.exists()
    pd.testing.assert_frame_equal(
        results.table, lehner.estimate(ratings, METHODS.split(",")).table, rtol=1e-12
    )
    assert there == estimate_each(run, files, "file", f"{mine}:mine")


@pytest.fixture
def files(data, tmp_path):
    """A folder: the items of one site, of both sites, and a file without a row."""
    folder = tmp_path / "runs"
    folder.mkdir()
    table = pd.read_csv(data).assign(site=["ulm", "bonn"] * 30)
    table.to_csv(folder / "both.csv", index=False)
    table[table["site"] == "bonn"].to_csv(folder / "bonn.csv", index=False)
    (folder / "empty.csv").write_text("item,s0\n")
    return folder


def estimate_each(run, data, name, method, *options):
    """Give the rows of `lehner estimate --each` by part."""
    asked = ["--system", SYSTEMS, "--method", method, "--json"]
    asked += ["--each", name] if name else []
    asked += ["--leave-out", "site"] if name != "site" else []
    _, said, _ = run("estimate", data, *asked, *options)
    rows = {}
    for row in json.loads(said)["rows"]:
        rows.setdefault(Path(row.pop("part", "")).stem, []).append(row)
    return rows


def test_each_file_and_each_group_has_the_numbers_that_it_has_alone(run, files):
    of_files = estimate_each(run, files, "file", "algebraic")
    of_groups = estimate_each(run, files / "both.csv", "site", "algebraic")
    alone = estimate_each(run, files / "bonn.csv", "", "algebraic")[""]
    assert list(of_files) == ["bonn", "both", "empty"] and list(of_groups) == ["ulm", "bonn"]
    assert of_groups["bonn"] == [row | {"error": ""} for row in alone]
    assert of_groups["bonn"] == of_files["bonn"]
    (failed,) = of_files["empty"]
    assert "it has no rows below the header" in failed["error"] and failed["estimate"] is None


def test_a_file_on_which_a_function_fails_has_a_row_and_a_traceback(run, files, tmp_path):
    (tmp_path / "mine.py").write_text("def mine(ratings):\n    return 1 / (ratings.n_items - 30)\n")
    asked = [
        "--system",
        SYSTEMS,
        "--method",
        f"{tmp_path}/mine.py:mine,algebraic",
        "--each",
        "file",
    ]
    code, said, error = run("estimate", files, *asked, "--leave-out", "site", "--json")
    rows = {Path(row["part"]).stem: row["error"] for row in json.loads(said)["rows"]}
    assert code == 1 and rows["bonn"] == "ZeroDivisionError('division by zero')"
    assert "Traceback" in error and "lehner.Estimate" in rows["both"]


@pytest.fixture
def stopping(tmp_path):
    """A method that Ctrl-C stops if there are many items; when commands end it is as before."""
    (tmp_path / "mine.py").write_text(
        "import lehner\n"
        "def mine(ratings, *, seed):\n"
        "    if ratings.n_items > 40:\n"
        "        raise KeyboardInterrupt\n"
        "    return lehner.majority_agreement(ratings)\n"
    )
    before = signal.getsignal(signal.SIGINT)
    yield f"{tmp_path / 'mine.py'}:mine"
    assert signal.getsignal(signal.SIGINT) is before


def test_files_that_were_fitted_before_an_interrupt_are_kept(run, files, stopping):
    rows = estimate_each(run, files, "file", stopping)
    assert {row["error"] for row in rows["bonn"]} == {""}
    assert rows["both"][0]["error"] == rows["empty"][0]["error"] == STOPPED


def test_methods_done_before_an_interrupt_are_kept(run, data, stopping, tmp_path):
    asked = ["--system", SYSTEMS, "--json"]
    methods = f"algebraic,{stopping}"
    code, said, error = run("estimate", data, *asked, "--method", methods, "--output", tmp_path)
    assert code == 130 and error.endswith("only files that were finished are kept\n")
    results = json.loads(said)
    stopped = [found for found in results["warnings"] if found["code"] == "interrupted"]
    accuracies = {
        (row["system"], row["method"]): row["estimate"]
        for row in results["rows"]
        if row["quantity"] == "system_accuracy"
    }
    assert accuracies["s0", "algebraic"] is not None and accuracies["s0", "mine"] is None
    assert (
        "mine" in {found["method"] for found in stopped}
        and "s0,mine" in (tmp_path / "results.csv").read_text()
    )
    assert run("estimate", data, *asked, "--method", stopping)[:2] == (130, "")
    with pytest.raises(KeyboardInterrupt):
        lehner.estimate(lehner.read_ratings(data, system=SYSTEMS.split(",")), methods.split(","))


def test_a_comparison_keeps_the_methods_that_were_done(run, data, stopping, monkeypatch):
    def draw(method, *asked, whole=lehner.estimation.estimate._draw_base_rates):
        if method == "dawid_skene_ml":
            raise KeyboardInterrupt
        return whole(method, *asked)

    monkeypatch.setattr("lehner.estimation.estimate._draw_base_rates", draw)
    asked = ["compare", data, "--system", SYSTEMS, "--method"]
    code, said, _ = run(*asked, "majority,dawid_skene_ml")
    assert code == 130 and f"dawid_skene_ml: {STOPPED}" in said
    assert run(*asked, "dawid_skene_ml")[:2] == (130, "")


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


# Cells of a study: files whole or not at all, and whatever is damaged computed again.


STUDY = """
name = "draws"
seed = 1
replicates = 20
experiment = "draws.py:draw"
[[scenarios]]
name = "draws"
grid = { n = [2, 3] }
"""
DRAWS = """
import numpy as np

def draw(seed, n):
    for x in np.random.default_rng(seed).random(n):
        yield {"drawn": x, "lacking": None if n == 2 else 1.5, "all": [x, 2 * x]}
"""


@pytest.fixture
def run_draws(tmp_path):
    (tmp_path / "draws.py").write_text(DRAWS)
    (tmp_path / "draws.toml").write_text(STUDY)
    return partial(run_study, tmp_path / "draws.toml")


def read_files(folder):
    return {path.name: path.read_bytes() for path in (folder / "cells").glob("*.parquet")}


def test_columns_that_a_cell_lacks_are_empty_and_numbers_stay_numbers(run_draws, tmp_path):
    rows = run_draws(tmp_path / "out")
    assert rows["lacking"].dtype == float
    assert (rows["lacking"].isna() == (rows["n"] == 2)).all()
    assert rows["all"][0].tolist() == [rows["drawn"][0], 2 * rows["drawn"][0]]


def test_files_are_the_same_for_any_number_of_workers(run_draws, tmp_path):
    run_draws(tmp_path / "here")
    run_draws(tmp_path / "there", workers=2)
    assert read_files(tmp_path / "here") == read_files(tmp_path / "there")
    assert len(read_files(tmp_path / "here")) == 4


def test_a_file_that_is_damaged_is_named_and_computed_again(run_draws, tmp_path, caplog):
    out = tmp_path / "out"
    whole, before = run_draws(out), read_files(out)
    for number in range(10):
        rng = np.random.default_rng([20261123, number])
        path = sorted((out / "cells").glob("*.parquet"))[rng.integers(4)]
        content = bytearray(path.read_bytes())
        content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        path.write_bytes(content if number % 2 else content[: rng.integers(len(content))])
        caplog.clear()
        export(out, tmp_path / "out.csv")
        assert "draws is damaged: it has 30 of 40 results, because" in caplog.text
        assert repr(path.name) in caplog.text
        assert len(read_results(out)) < len(whole)
        pd.testing.assert_frame_equal(run_draws(out), whole)
        assert read_files(out) == before


def test_another_text_of_a_function_sees_the_same_random_numbers(run_draws, tmp_path):
    before = run_draws(tmp_path / "out")
    (tmp_path / "draws.py").write_text(DRAWS.replace("yield", 'yield {"text": "new"} |'))
    pd.testing.assert_series_equal(run_draws(tmp_path / "out")["drawn"], before["drawn"])
    assert len(read_files(tmp_path / "out")) == 8
