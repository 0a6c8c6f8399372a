"""Fits of several systems over workers: the same bytes for any number of them."""

import os
import signal
from functools import partial

import numpy as np
import pandas as pd
import pytest

import lehner
from lehner.study.parallel import fit_in_parallel

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


def die_once(marker, fit):
    """Kill the worker that is the first to come here, and fit in all others."""
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return fit()


@pytest.mark.slow
@pytest.mark.parametrize("group", [0, 1])
def test_a_worker_of_a_cluster_that_is_killed_changes_no_number(data, tmp_path, group):
    distributed = pytest.importorskip("distributed")
    ratings = lehner.read_ratings(data, system=SYSTEMS.split(","))
    of_group = ratings.take(np.flatnonzero(np.arange(ratings.n_rows) % 2 == group))
    marker = tmp_path / "died"
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:

        def fit_all(fits):
            return fit_in_parallel(2, client, [partial(die_once, marker, fit) for fit in fits])

        results = lehner.estimate(of_group, METHODS.split(","), do_all=fit_all)
    assert marker.exists()
    alone = lehner.estimate(of_group, METHODS.split(","))
    pd.testing.assert_frame_equal(results.table, alone.table, rtol=1e-12)


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
