"""Methods and generators of a user's own in a study: run, killed, resumed, changed and replayed."""

import shutil
import sys

import numpy as np
import pandas as pd
import pytest

from lehner import InputError, Study
from lehner.study import replicate
from tests.studies import export, read_results, run_study, table, write_report

MINE = '''\
"""A method and a generator."""

import numpy as np

from lehner import Estimate, Ratings, majority_agreement

ACCURACY = 0.9


def simulate(seed, n, accuracy=ACCURACY):
    """Items of two categories, three raters and a system."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    wrong = rng.random((n, 4)) >= [0.7, 0.7, 0.8, accuracy]
    answers = np.where(wrong, 1 - truth[:, None], truth[:, None])
    ratings = Ratings(answers[:, :3], ["no", "yes"], system=answers[:, 3], truth=truth)
    return ratings, accuracy


def without_expected(seed, n):
    return simulate(seed, n)[0]


def blind(ratings, *, seed):
    """The majority, which is not told the truth."""
    assert ratings.truth is None
    return majority_agreement(ratings)


def not_ratings(seed):
    return [1, 2, 3]


def no_truth(seed):
    return simulate(seed, 20)[0].with_truth(None)


def no_system(seed):
    return Ratings([[0, 1], [1, 1]], ["a", "b"], truth=[0, 1])


def breaks(seed):
    raise ValueError("not so")


def leaves(seed):
    raise SystemExit(3)


def no_seed():
    return simulate(1, 20)
'''
STUDY = """\
name = "mine"
seed = 4
replicates = 8
methods = ["majority_agreement", "mine.py:blind", { name = "algebraic", resamples = 10 }]
[[scenarios]]
name = "own"
generator = "mine.py:simulate"
grid = { n = [40, 80], accuracy = [0.6, 0.9] }
[[scenarios]]
name = "of lehner"
n_items = 40
"""


def write(folder, study=STUDY, mine=MINE):
    folder.mkdir(exist_ok=True)
    (folder / "mine.py").write_text(mine)
    (folder / "study.toml").write_text(study)
    return folder / "study.toml"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    run_study(write(folder / "plan"), folder / "out")
    return folder


def test_methods_and_generators_of_a_user_run_from_the_folder_of_the_study_file(whole):
    results = read_results(whole / "out")
    assert set(results.loc[results["method"] == "blind", "status"]) == {"ok"}
    assert set(results["n"].dropna()) == {40, 80} and "failed" not in set(results["status"])
    expected = results[results["estimand"] == "system_accuracy"]
    own = expected[expected["scenario"] != "of lehner"]
    np.testing.assert_array_equal(own["truth"], own["accuracy"])
    wide = expected.pivot(index=["scenario", "replicate"], columns="method", values="estimate")
    np.testing.assert_allclose(wide["blind"], wide["majority_agreement"], rtol=1e-12)
    in_sample = results[results["estimand"] == "system_accuracy_in_sample"]
    assert ((in_sample["truth"] * in_sample["n"].fillna(40)) % 1).abs().max() < 1e-9
    # The seed of a row makes its data again.
    exec(MINE, names := {})
    row = own[own["method"] == "blind"].iloc[-1]
    ratings, _ = names["simulate"](row["seed"], int(row["n"]), row["accuracy"])
    again = names["majority_agreement"](ratings).system_accuracy.estimate
    assert row["estimate"] == pytest.approx(again, rel=1e-12)


@pytest.mark.slow
def test_workers_need_no_file(whole, tmp_path):
    run_study(whole / "plan" / "study.toml", tmp_path / "out", workers=2)
    assert table(tmp_path / "out") == table(whole / "out")


def test_a_study_goes_on_with_the_files_that_were_kept(whole, tmp_path):
    out = shutil.copytree(whole / "out", tmp_path / "out")
    for kept in sorted((out / "cells").iterdir())[::2]:
        kept.unlink()
    assert len(read_results(out)) < len(run_study(out / "study.toml", out)) == 2 * 3 * 8 * 5
    assert table(out) == table(whole / "out")
    assert Study.read(out / "study.toml") == Study.read(whole / "plan" / "study.toml")


TRAP = "import pathlib; pathlib.Path({!r}).write_text('')\n"


@pytest.mark.parametrize("kind", ["method", "generator", "experiment", "table"])
def test_a_report_runs_no_code_of_a_folder_and_a_run_says_whose_it_runs(
    tmp_path, kind, caplog, monkeypatch
):
    monkeypatch.setattr("lehner.study.report.plot_measure", lambda *_: None)
    ran, plan, out = tmp_path / "ran", tmp_path / "plan", tmp_path / "out"
    trap = TRAP.format(str(ran))
    if kind in ("experiment", "table"):
        name, study = (
            "coins.py",
            EXPERIMENT.replace("table =", "# " * (kind != "table") + "table ="),
        )
        path = write(plan, study.replace("12", "3"))
        (plan / name).write_text(trap + COINS)
    else:
        name, study = "mine.py", STUDY.replace("replicates = 8", "replicates = 3")
        if kind == "method":
            study = study.replace(study[study.index("[[") : study.rindex("[[")], "")
        path = write(
            plan,
            study.replace(', "mine.py:blind"', "" if kind == "generator" else ', "mine.py:blind"'),
            trap + MINE,
        )
    run_study(path, out)
    whose = f"runs Python code with your rights: {str(plan / name)!r}; read it first"
    assert ran.exists() and caplog.text.count(whose) == caplog.text.count("rights") == 1
    ran.unlink()
    forget_loaded_code()
    write_report(out)
    export(out, tmp_path / "out.csv")
    assert not ran.exists()
    caplog.clear()
    for path in (out / "cells").iterdir():
        path.unlink()
    run_study(out / "study.toml", out)
    assert ran.exists() and str(out / "functions" / name) in caplog.text


def forget_loaded_code():
    """Forget files that ran: those that ran once in a process do not run again."""
    replicate.load_user_function.cache_clear()
    replicate.load_user_method.cache_clear()
    for name in [name for name in sys.modules if name.startswith(("mine_", "coins_"))]:
        del sys.modules[name]


def test_of_a_study_of_ours_a_run_says_nothing(caplog):
    replicate.announce_code("quick", Study.read("quick").code)
    assert "rights" not in caplog.text


def test_a_name_in_a_study_file_leads_nowhere_else(tmp_path):
    study = EXPERIMENT.replace("table =", "# table =").replace(
        '"coins"\nseed', '"../../../no/../x"\nseed'
    )
    (tmp_path / "coins.py").write_text(COINS)
    (tmp_path / "coins.toml").write_text(study)
    run_study(tmp_path / "coins.toml", tmp_path / "out")
    (path,) = write_report(tmp_path / "out")
    assert path.parent == tmp_path / "out" / "report"


@pytest.mark.slow
def test_a_report_says_whose_functions_they_are(whole, tmp_path):
    there = shutil.copytree(whole / "out", tmp_path / "out")
    write_report(there)
    text = (there / "report" / "report.html").read_text()
    assert "mine.py:blind, a file with SHA-256" in text and "mine.py:simulate" in text


def test_a_changed_function_is_another_method(whole, tmp_path):
    out, path = tmp_path / "out", write(tmp_path / "plan")
    shutil.copytree(whole / "out", out)
    files = set((out / "cells").iterdir())
    path.with_name("mine.py").write_text(MINE.replace("ACCURACY = 0.9", "ACCURACY = 0.8"))
    run_study(path, out)
    assert files < set((out / "cells").iterdir())
    path.with_name("mine.py").write_text(MINE)
    files = set((out / "cells").iterdir())
    run_study(path, out)
    assert table(out) == table(whole / "out") and files == set((out / "cells").iterdir())


@pytest.mark.slow
def test_without_the_expected_accuracy_that_of_the_sample_is_measured(tmp_path):
    study = STUDY.replace(":simulate", ":without_expected")
    study = study.replace(", accuracy = [0.6, 0.9]", "").replace("replicates = 8", "replicates = 5")
    results = run_study(write(tmp_path / "plan", study[: study.rindex("[[")]), tmp_path / "out")
    truths = results.groupby("estimand")["truth"].count()
    assert truths.to_dict() == {"system_accuracy": 0, "system_accuracy_in_sample": 30}
    write_report(tmp_path / "out")
    text = (tmp_path / "out" / "report" / "report.html").read_text()
    assert "For the accuracy of the system in the sample, where" in text and ">own, n 40<" in text
    assert "Bias for the accuracy of the system in the sample, where" in text
    assert "the expected accuracy" not in text


BAD = [
    ('generator = "mine.py:simulate"', 'generator = "other.py:simulate"', "No such file"),
    ('generator = "mine.py:simulate"', "generator = 3", "generator"),
    ("accuracy = [0.6, 0.9]", "accurac = [0.6]", "mine.py:simulate raises TypeError.*'accurac'"),
    ("n = [40, 80], ", "", "missing 1 required .*'n'"),
    ("accuracy = [0.6, 0.9]", "replicate = [6]", "a field cannot be called 'replicate'"),
    ("accuracy = [0.6, 0.9]", "accuracy = [{ a = 1 }]", "accuracy"),
    ("mine.py:blind", "nobody.py:blind", "No such file"),
    ("mine.py:simulate", "mine.py:no_seed", "mine.py:no_seed raises TypeError"),
]


@pytest.mark.parametrize("good, bad, problem", BAD)
def test_bad_functions_are_one_error_before_anything_is_computed(tmp_path, good, bad, problem):
    assert good in STUDY
    path = write(tmp_path / "plan", STUDY.replace(good, bad))
    with pytest.raises(InputError, match=problem):
        run_study(path, tmp_path / "out")
    assert not list((tmp_path / "out").glob("cells/*"))


@pytest.mark.parametrize(
    "function, problem",
    [
        ("not_ratings", r"mine.py:not_ratings returns no lehner.Ratings with a system and the tru"),
        ("no_truth", r"mine.py:no_truth returns no lehner.Ratings with .* the truth of each item"),
        ("no_system", r"mine.py:no_system returns no lehner.Ratings with a system"),
        ("breaks", r"mine.py:breaks raises ValueError with seed \d+: not so; correct"),
        ("leaves", r"mine.py:leaves raises SystemExit with seed \d+: 3; correct"),
    ],
)
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_bad_ratings_are_one_error(tmp_path, function, problem, workers):
    study = STUDY.replace(":simulate", f":{function}").replace("grid = ", "#")
    with pytest.raises(InputError, match=problem):
        run_study(write(tmp_path / "plan", study), tmp_path / "out", workers=workers)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("return 0.5", "InputError|WrongTypeError.*returned a float; return a lehner.Estimate"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("return ratings.nothing", "AttributeError: 'Ratings' object has no attribute 'nothing'"),
    ],
)
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_method_that_breaks_is_told_before_anything_is_computed(tmp_path, line, reason, workers):
    mine = MINE.replace("    assert ratings.truth is None\n", f"    {line}\n")
    path, out = write(tmp_path / "plan", mine=mine), tmp_path / "out"
    # With two workers any of the scenarios may come first.
    place = "mine.py:blind breaks in its first sample of the scenario '.*': "
    with pytest.raises(InputError, match=f"{place}.*{reason}.*; correct it, or raise"):
        run_study(path, out, workers=workers)
    assert not list((out / "cells").iterdir())


def test_a_method_that_says_why_it_has_no_estimate_leaves_rows(tmp_path):
    mine = MINE.replace(
        "    assert ratings.truth is None\n",
        "    if ratings.n_items == 40:\n        raise InputError('too few', 'have more')\n",
    ).replace("import Estimate", "import Estimate, InputError")
    study = STUDY.replace("replicates = 8", "replicates = 2")
    results = run_study(write(tmp_path / "plan", study, mine), tmp_path / "out")
    failed = results[results["status"] == "failed"]
    assert set(failed["method"]) == {"blind"} and len(failed) == 12
    assert set(failed["reason"]) == {"InputError: too few; have more"}


def test_a_file_that_cannot_run_is_told_with_its_name(tmp_path):
    path = write(tmp_path / "plan", mine="import nothing_of_this_name\n")
    with pytest.raises(InputError, match=r"^mine.py: running it raises ModuleNotFoundError"):
        run_study(path, tmp_path / "out")


EXPERIMENT = """\
name = "coins"
seed = 1
replicates = 12
experiment = "coins.py:toss"
table = "coins.py:tabulate"
[[scenarios]]
name = "coins"
grid = { n = [10, 40] }
"""
COINS = """\
import numpy as np

def toss(seed, n):
    heads = np.random.default_rng(seed).random(n) < 0.5
    for estimand, truth in (("share", 0.5), ("number", 0.5 * n)):
        estimate = heads.mean() if estimand == "share" else heads.sum()
        yield {"estimand": estimand, "truth": truth, "estimate": float(estimate)}

def tabulate(results):
    return results.groupby(["n", "estimand"])["estimate"].agg(["mean", "size"]).reset_index()
"""


def test_an_experiment_is_run_resumed_and_tabulated(tmp_path):
    (tmp_path / "coins.py").write_text(COINS)
    path, out = tmp_path / "coins.toml", tmp_path / "out"
    path.write_text(EXPERIMENT)
    results = run_study(path, out)
    assert list(results["n"].unique()) == [10, 40] and len(results) == 2 * 12 * 2
    assert set(results["estimand"]) == {"share", "number"}
    for kept in sorted((out / "cells").iterdir())[::2]:
        kept.unlink()
    pd.testing.assert_frame_equal(run_study(path, out), results)
    assert run_study(path, tmp_path / "two", workers=2).equals(results)
    report = pd.read_csv(out / "report" / "coins.csv")
    assert report["size"].tolist() == [12] * 4
    wide = report.pivot(index="n", columns="estimand", values="mean")
    np.testing.assert_allclose(wide["number"], wide["share"] * wide.index, atol=0.01)
