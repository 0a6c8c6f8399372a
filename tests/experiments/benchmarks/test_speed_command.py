"""The command of the speed bars: with and without names."""

import sys

import pytest

import lehner
from experiments.benchmarks import speed as command
from experiments.benchmarks.speed import Bar


@pytest.mark.parametrize("names", [[], ["toy"]])
def test_the_bars_are_measured_and_printed(monkeypatch, capsys, names):
    bar = Bar(name="a toy", peer="import toy", rounds=[(1.0, 2.0), (1.0, 2.0)], most=1.2)
    monkeypatch.setattr(command, "MEASURED", {"toy": lambda: iter([bar])})
    monkeypatch.setattr(sys, "argv", ["benchmarks", *names])
    command.main()
    out = capsys.readouterr().out
    assert "a toy" in out and "import toy" in out


def test_a_name_that_is_not_there_is_said(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "comands"])
    with pytest.raises(lehner.InputError, match="comands"):
        command.main()
