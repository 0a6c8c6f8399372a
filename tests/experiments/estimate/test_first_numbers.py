"""Numbers that are shown before a model is compiled, on standard error only."""

from pathlib import Path

import pytest

import lehner
from bayes_models.density import c_functions
from experiments.estimate.first_numbers import show_first_numbers
from lehner.core.text import decimal

TICKETS = Path(__file__).parents[3] / "docs/data/tickets.csv"
RATERS = ["ana", "ben", "cai", "dee"]
OPTIONS = {"level": 0.9, "seed": 1, "system_is": "unknown"}


@pytest.mark.parametrize("found", [True, False])
@pytest.mark.parametrize("methods", [["algebraic", "relaxed_k"], ["algebraic"], ["relaxed_k"]])
def test_other_methods_are_shown_only_if_models_have_yet_to_be_compiled(
    monkeypatch, capsys, tmp_path, found, methods
):
    (tmp_path / "c_functions.log_density.nbi").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(c_functions, "on_disk", lambda: found)
    ratings = lehner.load_dataset("lehner_table2")
    show_first_numbers(ratings, methods, **OPTIONS)
    out, err = capsys.readouterr()
    assert out == ""
    if found or len(methods) == 1:
        assert err == ""
        return
    (estimate,) = lehner.estimate(ratings, ["algebraic"]).estimates
    assert decimal(estimate.system_accuracy.estimate) in err
    assert err.startswith("First numbers, before what samples models is compiled")
    assert "relaxed_k" not in err
    assert "known truths" not in err


def test_numba_is_not_asked_where_it_has_kept_nothing(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(c_functions, "on_disk", pytest.fail)
    ratings = lehner.load_dataset("lehner_table2")
    show_first_numbers(ratings, ["algebraic", "relaxed_k"], **OPTIONS)
    assert capsys.readouterr().err.startswith("First numbers")


def test_a_table_says_that_known_truths_are_not_in_it(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    ratings = lehner.read_ratings(TICKETS, system="gpt", truth="gold", raters=RATERS)
    show_first_numbers(ratings, ["algebraic", "relaxed_k"], **OPTIONS)
    err = capsys.readouterr().err
    ((found,),) = [one.results for one in lehner.estimate(ratings, ["algebraic"]).systems]
    estimate = found.without_truths.estimate
    assert found.correction is not None
    assert "without the known truths" in err
    assert decimal(estimate.system_accuracy.estimate) in err
