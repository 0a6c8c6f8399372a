"""What a run shows while it goes on."""

import re

import pytest

from experiments.study.definition import read_study
from experiments.study.identity import method_id, scenario_id
from experiments.study.progress import show_progress

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
        show_progress(study, len(rows), rows)
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
