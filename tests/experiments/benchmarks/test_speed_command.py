"""The command of the speed bars: with and without names."""

import sys

import pytest

import lehner
from experiments.benchmarks import speed as command


@pytest.mark.parametrize("names", [[], ["toy"]])
def test_the_bars_are_measured_and_printed(monkeypatch, capsys, names):
    bar = command.make_row("a toy", "import toy", [(1.0, 2.0), (3.0, 2.0)], most=1.2)
    monkeypatch.setattr(command, "MEASURED", {"toy": lambda: iter([bar])})
    monkeypatch.setattr(sys, "argv", ["benchmarks", *names])
    command.main()
    *_, row = capsys.readouterr().out.splitlines()
    assert row.split() == "a toy 2.00 import toy 2.00 1.00 1.50 at most 1.2 met".split()


def test_a_name_that_is_not_there_is_said(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "comands"])
    with pytest.raises(lehner.InputError, match="comands"):
        command.main()
