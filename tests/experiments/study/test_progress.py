"""What a run shows while it goes on."""

import re

import pytest

from experiments.study.definition import read_study
from experiments.study.identity import method_id, scenario_id
from experiments.study.progress import duration, show_progress
from experiments.study.store import open_store, read_results

STUDY = """\
name = '{0}'
seed = 1
replicates = 3
methods = [{{ name = "majority_agreement", label = '{0} label' }}]

[[scenarios]]
name = '{0} scenario'
"""


@pytest.fixture
def shown(tmp_path, monkeypatch, capsys):
    """Show estimates of a truth of 0.5, on a terminal or not; give what is seen in the end."""
    monkeypatch.setenv("COLUMNS", "200")

    def show(name, estimates, terminal):
        monkeypatch.setenv("FORCE_COLOR" if terminal else "NO_COLOR", "1")
        (tmp_path / "study.toml").write_text(STUDY.format(name))
        study = read_study(tmp_path / "study.toml")
        known = {
            "scenario_id": scenario_id(study.cells[0].scenario),
            "method_id": method_id(study.methods[0], study.level),
            "estimand": "system_accuracy",
            "truth": 0.5,
        }
        rows = [[known | {"estimate": estimate}] for estimate in estimates]
        with open_store(tmp_path / "out", study, tmp_path / "study.toml"):
            pass
        show_progress(study, tmp_path / "out", rows, len(rows), len(rows))
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)

    return show


@pytest.mark.parametrize("name", ["bias {k}", "raters [a, b]", "raters [/b]", "[bold] 50% \\"])
def test_names_are_shown_as_they_are_written(shown, name):
    assert f"{name}: 1 of 1" in shown(name, [0.6], terminal=False)
    seen = shown(name, [0.6], terminal=True)
    assert f"{name} label" in seen and f"{name} scenario" in seen
    assert re.search(re.escape(name) + " [━╸╺ ]+1/1", seen)


@pytest.mark.parametrize(
    ("estimates", "entry"),
    [
        ([0.6], "+0.100"),
        ([0.5, 0.7], "+0.100 ± 0.100"),
        ([0.5, 0.7, 0.8, 0.4], "+0.100 ± 0.091"),
        ([0.6, None], "+0.100 (1 without)"),
        ([None, None], "– (2 without)"),
    ],
)
def test_the_error_of_a_bias_is_the_spread_over_the_root_of_n_and_none_for_one(
    shown, estimates, entry
):
    lines = shown("small", estimates, terminal=True).splitlines()
    assert [line.split("scenario")[1].strip() for line in lines if "scenario" in line][-1] == entry


@pytest.mark.parametrize(
    ("methods", "replicates", "size"),
    [
        ('"majority_agreement"', 2000, "1 scenario, 1 method, 2000 replicates; 2,000 estimates"),
        ('"algebraic", "mean_posterior"', 9, "1 scenario, 2 methods, 9 replicates; 18 estimates"),
    ],
)
def test_the_size_of_a_run_is_said_before_it_starts(tmp_path, run, methods, replicates, size):
    path, out = tmp_path / "study.toml", tmp_path / "out"
    text = STUDY.format("small").replace("replicates = 3", f"replicates = {replicates}")
    path.write_text(re.sub("methods = .*", f"methods = [{methods}]", text) + "n_items = 20\n")
    first = run("study", "run", path, "--output", out)[2].splitlines()[0]
    assert first.startswith(f"small: {size} to compute, very roughly ")
    said = re.search(r"(\d+) s for one processor and up to ([\d.]+) MB$", first)
    stored = sum(part.stat().st_size for part in (out / "parts").iterdir()) / 1e6
    assert int(said[1]) in (2, 3) and stored < float(said[2]) < max(0.2, 20 * stored)
    assert run("study", "run", path, "--output", out)[2] == ""


def test_a_run_that_goes_on_counts_from_the_whole(tmp_path, run, monkeypatch):
    path, out = tmp_path / "study.toml", tmp_path / "out"
    path.write_text(STUDY.format("small"))
    run("study", "run", path, "--output", out)
    path.write_text(STUDY.format("small") + '[[scenarios]]\nname = "second"\nn_items = 20\n')
    monkeypatch.setenv("FORCE_COLOR", "1")
    said = run("study", "run", path, "--output", out)[2]
    assert "3 replicates; 3 estimates to compute (3 are stored)" in said
    seen = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said)
    assert "6/6" in seen
    errors = read_results(out).query("estimand == 'system_accuracy'").eval("estimate - truth")
    lines = [one for one in seen.splitlines() if " ± " in one][-2:]
    for found, name in zip(lines, ("small scenario", "second"), strict=True):
        of_scenario = errors[read_results(out)["scenario"] == name]
        entry = f"{of_scenario.mean():+.3f} ± {of_scenario.sem():.3f}"
        assert found.split() == [*name.split(), *entry.split()]


def test_long_durations_are_said_in_units_that_are_read():
    said = [duration(seconds) for seconds in (0.2, 119, 1200, 8000, 90_000, 400_000)]
    assert said == ["1 s", "119 s", "20 minutes", "2 hours", "25 hours", "5 days"]
