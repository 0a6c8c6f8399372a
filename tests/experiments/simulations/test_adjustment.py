"""The simulation of the adjustment: what is computed, resumed and summarised."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments.simulations import adjustment
from experiments.simulations.simulation import run_simulation
from experiments.study.cells import read_cells
from experiments.study.options import choose_method
from lehner import InputError


def test_simulation_runs_resumes_and_summarises(tmp_path, monkeypatch):
    monkeypatch.setattr(adjustment, "SAMPLES", 20)
    monkeypatch.setattr(adjustment, "ORACLE_SAMPLES", 50)
    # The K-properties hold, 50 items, a system of accuracy .1 and one of .9.
    designs = [adjustment.SIMULATION.designs[place] for place in (0, 4)]
    simulation = replace(adjustment.SIMULATION, designs=designs)
    *parts, wrote = run_simulation("adjustment", simulation, tmp_path, 3, 1)
    assert len(parts) == 2
    table = pd.read_csv(tmp_path / "adjustment.csv")
    algebra = table[(table.method == "algebraic_paper") & (table.system == "all")].iloc[0]
    rows = read_cells(tmp_path / "parts")
    errors = (rows.estimate - rows.truth)[rows.method == "algebraic_paper"]
    assert algebra.n == len(errors) == 6
    assert algebra.bias == pytest.approx(errors.mean(), abs=1e-4)
    assert algebra.rmse == pytest.approx(np.sqrt((errors**2).mean()), abs=1e-4)
    assert "algebraic_paper_adjusted" in set(table.method)
    assert list(run_simulation("adjustment", simulation, tmp_path, 3, 1)) == [wrote]


def test_adjusted_has_no_options_of_the_bootstrap():
    assert choose_method("algebraic_adjusted").options == ()
    with pytest.raises(InputError, match="option of algebraic_adjusted called 'resamples'"):
        choose_method({"name": "algebraic_adjusted", "resamples": 50})
