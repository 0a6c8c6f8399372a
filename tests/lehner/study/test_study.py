"""Studies: read, run, stopped, resumed."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

from lehner import InputError, Scenario, Study, draw_true_parameters, estimate_algebraic, simulate
from lehner.algebra.algebraic import majority_agreement
from lehner.core.errors import warn
from lehner.report import files
from lehner.study import replicate
from lehner.study import study as running
from lehner.study.definition import digest, identify_scenario
from lehner.study.study import open_folder
from tests.studies import read_results, run_study, table

STUDY = """\
name = "small"
aims = "Tests."
seed = 7
replicates = {replicates}
methods = [{methods}]

[[scenarios]]
name = "difficulty"
n_items = 60
initial_rater_accuracy = [0.5, 0.6, 0.7]
sweep = {{ easiness = [[0.0], [-0.2, 0.2]] }}

[[scenarios]]
name = "few categories"
n_items = 40
n_categories = 2
grid = {{ initial_system_accuracy = [0.6, 0.9], initial_rater_accuracy = [
    [0.7, 0.7, 0.7], [0.6, 0.7, 0.8]
] }}
"""
TWO_SCENARIOS, _, _ = STUDY.rpartition("\n[[scenarios]]")
FAST = '"majority_agreement", { name = "algebraic", interval = "none" }, "algebraic_paper"'
SLOW = '"majority_agreement", { name = "algebraic", resamples = 50 }'
SAMPLED = (
    '{ name = "dawid_skene", engine = "gibbs", draws = 100, tune = 20, tries = 1, '
    "priors = { base_rates = 2.0 } }"
)


def write(tmp_path, methods=FAST, replicates=30, name="study.toml", text=STUDY):
    path = tmp_path / name
    path.write_text(text.format(methods=methods, replicates=replicates))
    return path


def replace_algebra(monkeypatch, estimate):
    """Let a function estimate in place of the algebra."""
    find = replicate.find_method

    def find_replaced(name):
        method = find(name)
        return replace(method, fit=estimate) if name == "algebraic" else method

    monkeypatch.setattr(replicate, "find_method", find_replaced)


def test_grids_and_sweeps_are_expanded(tmp_path):
    study = Study.read(write(tmp_path))
    assert [entry.name for entry in study.scenarios] == [
        "difficulty, easiness 0",
        "difficulty, easiness -0.2 0.2",
        "few categories, initial_system_accuracy 0.6, initial_rater_accuracy 0.7 0.7 0.7",
        "few categories, initial_system_accuracy 0.6, initial_rater_accuracy 0.6 0.7 0.8",
        "few categories, initial_system_accuracy 0.9, initial_rater_accuracy 0.7 0.7 0.7",
        "few categories, initial_system_accuracy 0.9, initial_rater_accuracy 0.6 0.7 0.8",
    ]
    last = study.scenarios[-1]
    assert last.scenario.initial_system_accuracy == 0.9 and last.scenario.n_categories == 2
    assert last.varied == {
        "initial_system_accuracy": 0.9,
        "initial_rater_accuracy": (0.6, 0.7, 0.8),
    }


def test_values_that_are_varied_may_have_names(tmp_path):
    named = STUDY.replace(
        "sweep = {{ easiness = [[0.0], [-0.2, 0.2]] }}",
        'sweep.easiness = {{ "as easy" = [0.0], "a_b & c" = [-0.2, 0.2] }}\nsweep.missing = [0.1]',
    )
    (tmp_path / "named.toml").write_text(named.format(replicates=2, methods='"algebraic"'))
    study, plain = Study.read(tmp_path / "named.toml"), Study.read(write(tmp_path))
    names = ["difficulty, as easy", "difficulty, a_b & c", "difficulty, missing 0.1"]
    assert [entry.name for entry in study.scenarios[:3]] == names
    assert study.scenarios[1].varied == {"easiness": (-0.2, 0.2)}
    # The name changes no number.
    assert [entry.scenario for entry in study.scenarios[:2]] == [
        entry.scenario for entry in plain.scenarios[:2]
    ]


def test_results_are_kept_by_default_under_the_name_of_the_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = run_study(write(tmp_path, replicates=2, name="small.toml", text=TWO_SCENARIOS))
    again = run_study("small.toml")
    pd.testing.assert_frame_equal(first, read_results("small"))
    pd.testing.assert_frame_equal(first, again)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed = 7", "sed = 7", r"there is no key 'sed'; did you mean 'seed'"),
        ("seed = 7", "seed = -1", r"seed is -1; give a whole number, 0 or more"),
        ("seed = 7", "", r"there is no 'seed'"),
        ("replicates = 30", "replicates = 0", r"replicates is 0"),
        ("replicates = 30", "replicates = 30\nlevel = 90", r"level is 90"),
        ('"algebraic_paper"', '"algebraic_pape"', r"there is no method .*'algebraic_paper'"),
        ('"algebraic_paper"', '"algebraic"', r"methods has 'algebraic' twice"),
        ('interval = "none"', 'interval = "normal"', r"interval is 'normal'"),
        ('interval = "none"', "draws = 3", r"there is no option of algebraic called 'draws'"),
        ("n_items = 40", "n_items = 0", r"n_items is 0, in \[\[scenarios\]\] number 2; give"),
        ("n_items = 40", "n_item = 40", r"there is no field .*number 2; did you mean 'n_items'"),
        ("[0.6, 0.9]", "[0.6, 9]", r"initial_system_accuracy is 9"),
        ("[0.6, 0.9]", "0.6", r"initial_system_accuracy is 0.6, in .*; give a list of values"),
        ("seed = 7", "seed == 7", r"this is not TOML .* line 3"),
        ("[[scenarios]]", "[[scenario]]", r"there is no key 'scenario'"),
    ],
)
def test_what_is_wrong_with_a_study_is_said_with_its_place(tmp_path, old, new, message):
    path = write(tmp_path)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=f"study.toml.*{message}"):
        Study.read(path)


DEEP = {
    "brackets": "x = " + "[" * 50_000 + "]" * 50_000,
    "dotted keys": ".".join(f"k{i}" for i in range(300)) + " = 1",
    "inline tables": "x = " + "{a = " * 5_000 + "1" + "}" * 5_000,
}


@pytest.mark.parametrize("kind", DEEP)
def test_what_is_nested_deeply_is_told(tmp_path, kind):
    path = write(tmp_path)
    path.write_text(path.read_text() + DEEP[kind] + "\n")
    with pytest.raises(InputError, match=r"study.toml.*: (this is not TOML|there is no)"):
        Study.read(path)


def test_a_study_that_is_too_large_is_refused_with_its_size(tmp_path):
    path = write(tmp_path)
    many = f"[{', '.join(f'{i / 250}' for i in range(234))}]"
    grid = ", ".join(
        f"{field} = {many}"
        for field in ("initial_system_accuracy", "proportional_error_range", "missing")
    )
    path.write_text(re.sub(r"grid = \{.*?\n.*?\n\] \}", f"grid = {{ {grid} }}", path.read_text()))
    with pytest.raises(InputError, match=r"grid makes 12,812,904 scenarios.* 10,000, in .*; vary"):
        Study.read(path)


def test_a_new_field_of_scenarios_changes_no_seed():
    @dataclass(frozen=True, kw_only=True)
    class Later(Scenario):
        fatigue: float = 0.0

    now, later = ({"n_items": 60, "missing": 0.1, **more} for more in ({}, {"fatigue": 0.0}))
    assert identify_scenario(Scenario(**now)) == identify_scenario(Later(**later)) == "67dd2a494af7"
    assert (
        identify_scenario(Scenario())
        == identify_scenario(Later())
        != identify_scenario(Later(fatigue=0.1))
    )


def test_seeds_are_those_of_the_names_that_fields_had_first():
    some = {
        "initial_rater_accuracy": (0.5, 0.7),
        "initial_system_accuracy": 0.8,
        "easiness": (-0.1, 0.2),
        "easiness_affects": "raters",
    }
    assert identify_scenario(Scenario(**some)) == "1ed812d7f5fa"
    study = Study.read("experiments/studies/k_violations.toml")
    every = [identify_scenario(entry.scenario) for entry in study.scenarios]
    assert digest(every[:20]) == "07b35ebbc8d5"


def test_every_method_sees_the_data_that_its_seed_makes(tmp_path):
    results = run_study(write(tmp_path, replicates=2), tmp_path / "out")
    study = Study.read(tmp_path / "study.toml")
    scenarios = {entry.name: entry.scenario for entry in study.scenarios}
    assert len(results) == 6 * 2 * 3 * 2
    for (name, _), rows in results.groupby(["scenario", "replicate"]):
        (seed,) = rows["seed"].unique()
        ratings = simulate(scenarios[name], int(seed))
        parameters = draw_true_parameters(scenarios[name], int(seed))
        algebra = estimate_algebraic(ratings, interval=None).system_accuracy.estimate
        expected = {
            "system_accuracy": float(parameters.system_accuracy),
            "system_accuracy_in_sample": float(np.mean(ratings.truth == ratings.system)),
        }
        for _, row in rows.iterrows():
            assert row["truth"] == pytest.approx(expected[row["estimand"]], abs=1e-12)
        result = rows[rows["estimand"] == "system_accuracy"].set_index("method")
        majority = majority_agreement(ratings).system_accuracy.estimate
        assert result.loc["majority_agreement", "estimate"] == pytest.approx(majority)
        if algebra is None:
            assert result.loc["algebraic", "status"] == "undefined"
        else:
            assert result.loc["algebraic", "estimate"] == pytest.approx(algebra)
            assert result.loc["algebraic", "status"] == "ok"


@pytest.mark.slow
def test_growing_a_study_keeps_what_is_there(tmp_path, monkeypatch):
    path = write(tmp_path, replicates=50, text=TWO_SCENARIOS)
    first = run_study(path, tmp_path / "out")
    done = []
    monkeypatch.setattr(replicate.Cell, "compute", _spy(done))
    run_study(path, tmp_path / "out")
    assert not done
    write(
        tmp_path,
        methods=f'{FAST}, {{ name = "one_coin_ml", interval = "none" }}',
        replicates=60,
        text=TWO_SCENARIOS,
    )
    results = run_study(path, tmp_path / "out")
    new = [cell.method.label == "one_coin_ml" for cell in done]
    assert sum(len(cell.replicates) for cell in done) == 2 * (3 * 10 + 60)
    assert sum(new) == 2 * 2 and len(results) == 2 * 60 * 4 * 2
    old = results[(results["replicate"] < 50) & results["method"].isin(first["method"].unique())]
    pd.testing.assert_frame_equal(old.reset_index(drop=True), first)
    done.clear()
    run_study(path, tmp_path / "out")
    assert not done
    run_study(path, tmp_path / "at once")
    assert table(tmp_path / "at once") == table(tmp_path / "out")


def test_a_method_that_fails_leaves_a_row_with_its_reason(tmp_path, monkeypatch):
    def fail(ratings, **options):
        raise FloatingPointError("no\nnumber\n\nStack backtrace:\n   0: <unknown>")

    replace_algebra(monkeypatch, fail)
    results = run_study(write(tmp_path, methods=SLOW, replicates=2), tmp_path / "out")
    failed = results[results["method"] == "algebraic"]
    assert set(failed["status"]) == {"failed"} and failed["estimate"].isna().all()
    assert set(failed["reason"]) == {"FloatingPointError: no number"}
    assert (results[results["method"] == "majority_agreement"]["status"] == "ok").all()


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 9 TiB"),
        OSError(28, "No space left on device"),
        RuntimeError("Failed to initialize\n\nCaused by:\n    1: MemoryError: no room"),
    ],
)
def test_what_the_machine_lacks_is_no_result(tmp_path, monkeypatch, run, error):
    calls = []

    def lack(*arguments, **options):
        calls.append(1)
        if len(calls) == 8:
            raise error
        return estimate_algebraic(*arguments, **options)

    path, out = write(tmp_path, SLOW, 5, text=TWO_SCENARIOS), tmp_path / "out"
    replace_algebra(monkeypatch, lack)
    monkeypatch.setattr(files, "_is_short", lambda: True)
    code, _, err = run("study", "run", path, "--output", out)
    assert code == 2
    assert re.search(r"replicates 0 to 4 of the scenario .* could not be done: .*; what was", err)
    assert len(read_results(out)) and set(read_results(out)["status"]) <= {"ok", "undefined"}
    run_study(path, out)
    monkeypatch.undo()
    run_study(path, tmp_path / "whole")
    assert table(out) == table(tmp_path / "whole")


@pytest.mark.slow
def test_a_full_disk_ends_the_run_and_loses_what_is_in_flight_only(tmp_path, monkeypatch, capsys):
    from lehner.command import main as cli

    path, write_whole, parts = write(tmp_path, methods=SLOW), os.replace, []

    def full(source, target):
        if "cells" in str(target):
            parts.append(target)
            if len(parts) > 3:
                raise OSError(28, "No space left on device", str(target))
        write_whole(source, target)

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(
        sys, "argv", ["lehner", "study", "run", str(path), "--output", str(tmp_path / "out")]
    )
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 2
    assert "No space left on device" in capsys.readouterr().err
    assert len(list((tmp_path / "out" / "cells").glob("*.parquet"))) == 3
    monkeypatch.undo()
    run_study(path, tmp_path / "out")
    run_study(path, tmp_path / "whole")
    assert table(tmp_path / "out") == table(tmp_path / "whole")


@pytest.mark.parametrize("case", ["other files", "file"])
def test_a_folder_that_cannot_be_used_is_refused(tmp_path, case):
    path, out = write(tmp_path, replicates=2), tmp_path / "out"
    if case == "other files":
        out.mkdir()
        (out / "thesis.tex").write_text("")
    else:
        out.write_text("")
    with pytest.raises(InputError, match="a file, or a folder that holds more than a study"):
        run_study(path, out)


def test_a_process_that_is_refused_leaves_alone_what_the_other_is_writing(tmp_path):
    study, out = Study.read(write(tmp_path)), tmp_path / "out"
    with open_folder(out, study.to_toml(), []):
        writing = out / "cells" / ".writing-a-part"
        writing.mkdir()
        with pytest.raises(InputError, match="another process is running this study"):
            run_study(tmp_path / "study.toml", out)
        assert writing.is_dir()
    with open_folder(out, study.to_toml(), []):
        assert not writing.exists()


@pytest.mark.slow
@pytest.mark.parametrize(("methods", "replicates"), [(SLOW, 500), (f"{SLOW}, {SAMPLED}", 120)])
def test_ten_kills_change_nothing(tmp_path, methods, replicates):
    """SIGKILL at random moments: what is finished stays, and the table is that of one worker."""
    path = write(tmp_path, methods=methods, replicates=replicates)
    out, rng = tmp_path / "out", random.Random(1)
    command = [sys.executable, "-m", "lehner", "study", "run", path, "--output", out]
    counts = [0]
    for _ in range(10):
        process = subprocess.Popen([*command, "--workers", "2"], start_new_session=True)
        _wait_for_more(out, process, rng)
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(0.5)
        counts.append(len(read_results(out)))
        assert counts[-1] >= counts[-2]
    run_study(path, out, workers=2)
    run_study(path, tmp_path / "whole")
    assert counts[1] < counts[-1] < len(read_results(out))
    assert table(out) == table(tmp_path / "whole")


def by_the_user(process):
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to workers too


def by_a_scheduler(process):
    process.terminate()


@pytest.mark.slow
@pytest.mark.parametrize("stop", [by_the_user, by_a_scheduler])
@pytest.mark.parametrize("at_work", [True, False])
def test_interrupted_it_says_that_nothing_is_lost(tmp_path, stop, at_work):
    path, out = write(tmp_path, methods=SLOW, replicates=500), tmp_path / "out"
    command = [sys.executable, "-m", "lehner", "study", "run", path, "--output", out]
    process = subprocess.Popen(
        [*command, "--workers", "2"],
        start_new_session=True,
        text=True,
        stderr=subprocess.PIPE,
        # A shell that runs the tests in the background has all they start ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    if at_work:
        _wait_for_more(out, process, random.Random(1))
    else:  # Its workers are starting.
        while process.poll() is None and not (out / "study.toml").exists():
            time.sleep(0.02)
        time.sleep(random.Random(1).uniform(0, 2))
    stop(process)
    _check_what_it_tells(process, out)
    write(tmp_path, methods=SLOW, replicates=40)
    assert "failed" not in set(run_study(path, out)["status"])
    run_study(path, tmp_path / "whole")
    assert table(out) == table(tmp_path / "whole")


def _check_what_it_tells(process, out):
    text = process.communicate(timeout=60)[1].splitlines()
    assert process.returncode == 130
    assert text[-2:] == [
        f"Finished results are stored in {out}; the same command continues from there.",
        "lehner: stopped; only files that were finished are kept",
    ]
    assert not any("Traceback" in line for line in text)


def _wait_for_more(out, process, rng):
    """Let it run until it has written something, and a little longer."""
    before = len(list(out.glob("cells/*.parquet")))
    deadline = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
        if len(list(out.glob("cells/*.parquet"))) != before:
            break
    time.sleep(rng.random() * 0.3)


def _spy(done):
    from lehner.study.replicate import Cell

    def spied(cell, compute=Cell.compute):
        done.append(cell)
        return compute(cell)

    return spied


CHANGES = {
    "seed": lambda text: text.replace("seed = 7", "seed = 8"),
    "level": lambda text: text.replace("replicates", "level = 0.8\nreplicates"),
    "option": lambda text: text.replace("resamples = 50", "resamples = 51"),
}


@pytest.mark.parametrize("change", [*CHANGES, "version"])
def test_results_of_another_seed_option_or_version_are_not_mixed(tmp_path, monkeypatch, change):
    path, out = write(tmp_path, SLOW, 2, text=TWO_SCENARIOS), tmp_path / "out"
    run_study(path, out)
    if change == "version":
        monkeypatch.setattr(replicate, "__version__", "99")
    else:
        path.write_text(CHANGES[change](path.read_text()))
        shutil.copy(path, out / "study.toml")
    assert read_results(out).empty or change == "option"
    run_study(path, out)
    run_study(path, tmp_path / "new")
    assert table(out) == table(tmp_path / "new")


def test_how_much_is_to_do_is_said_first(tmp_path, caplog):
    caplog.set_level("INFO")
    run_study(write(tmp_path, FAST, 2, text=TWO_SCENARIOS), tmp_path / "out")
    assert caplog.messages[0] == "small: 12 of 12 results to compute"


@pytest.mark.slow
def test_replicates_of_a_killed_dask_worker_are_redone(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    path, killed, write_table = write(tmp_path, SLOW, 300), [], running._write_table

    def kill_one(*arguments):
        write_table(*arguments)
        if not killed:
            worker = next(iter(cluster.workers.values()))
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)

    monkeypatch.setattr(running, "_write_table", kill_one)

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        run_study(path, tmp_path / "dask", dask=cluster.scheduler_address)
    run_study(path, tmp_path / "here")
    assert killed
    assert table(tmp_path / "dask") == table(tmp_path / "here")


@pytest.mark.parametrize(
    ("code", "status"), [("not-converged", "unconverged"), ("starts", "ok"), ("divergences", None)]
)
def test_a_fit_is_unconverged_by_the_codes_of_its_warnings(monkeypatch, tmp_path, code, status):
    """Warnings of chains count where there are chains, and notes nowhere."""
    chains = {"r_hat": 1.0} if status else {}

    def estimate(*arguments, **options):
        result = estimate_algebraic(simulate(Scenario(), 1), resamples=10, seed=1)
        return replace(result, warnings=(warn(code, "so it is"),), diagnostics=chains)

    replace_algebra(monkeypatch, estimate)
    methods = '{ name = "algebraic", resamples = 10 }'
    results = run_study(write(tmp_path, methods=methods, replicates=1), tmp_path / "out")
    assert set(results["status"]) == {status or "ok"}
    assert set(results["reason"]) == {"so it is"}
