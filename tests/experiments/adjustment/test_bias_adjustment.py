"""The simulation of the adjustment: what is computed, resumed and summarised."""

import sys

import numpy as np
import pandas as pd
import pytest

from experiments.adjustment import simulation
from experiments.study.options import choose_method
from lehner import InputError


def test_simulation_runs_resumes_and_summarises(tmp_path, monkeypatch, capsys):
    for name, value in {
        "SETTINGS": {"K-properties hold": (3, 0.0)},
        "SIZES": (50,),
        "PRESETS": (0.5, 0.9),
        "PART": 3,
        "SAMPLES": 20,
        "ORACLE_SAMPLES": 50,
    }.items():
        monkeypatch.setattr(simulation, name, value)
    monkeypatch.setattr(sys, "argv", ["simulation", str(tmp_path)])
    simulation.main()
    table = pd.read_csv(tmp_path / "adjustment.csv")
    algebra = table[(table.method == "algebraic_paper") & (table.system == "all")].iloc[0]
    rows = pd.concat([pd.read_csv(path) for path in tmp_path.glob("[0-9]*.csv")])
    errors = (rows.estimate - rows.truth)[rows.method == "algebraic_paper"]
    assert algebra.n == len(errors) == 6
    assert algebra.bias == pytest.approx(errors.mean(), abs=1e-4)
    assert algebra.rmse == pytest.approx(np.sqrt((errors**2).mean()), abs=1e-4)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.glob("[0-9]*.csv")}
    simulation.main()
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("[0-9]*.csv")} == times
    assert "algebraic_paper_adjusted" in capsys.readouterr().out


def test_adjusted_has_no_options_of_the_bootstrap():
    assert choose_method("algebraic_adjusted").options == ()
    with pytest.raises(InputError, match="option of algebraic_adjusted called 'resamples'"):
        choose_method({"name": "algebraic_adjusted", "resamples": 50})
