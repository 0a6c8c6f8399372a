"""Warnings: each code that the packages make is in one table, which the documentation shows."""

import ast
from pathlib import Path

import pytest

import lehner
from lehner import InputError
from lehner.core.warning import (
    CODES,
    SEVERITIES,
    by_severity,
    warn,
    warnings_from_json,
    warnings_to_json,
)

ROOT = Path(lehner.__file__).parents[1]


def codes_made():
    for package in ("lehner", "bayes_models", "experiments"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "warn":
                    code = node.args[0]
                    assert isinstance(code, ast.Constant), f"{path}: not a code but an expression"
                    yield code.value


def test_the_table_has_each_code_that_is_made_and_no_other():
    assert set(codes_made()) == set(CODES)


def test_each_code_has_a_severity_and_says_what_to_do_in_sentences():
    for severity, meaning in CODES.values():
        assert severity in SEVERITIES
        assert meaning[0].isupper() and meaning.endswith(".")


def test_the_documentation_shows_the_table(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs/_ext")
    from tables import _tables

    table = dict([next(_tables())])["warnings"]
    assert all(f"| `{code}` |" in table for code in CODES)
    page = (ROOT / "docs/explanation/warnings.md").read_text(encoding="utf-8")
    assert "results/generated/warnings.md" in page


def test_a_code_gives_its_severity_and_an_unknown_one_is_an_error():
    assert warn("starts", "1 of 1").severity == "note"
    with pytest.raises(InputError, match="did you mean 'starts'"):
        warn("start", "1 of 1")
    with pytest.raises(InputError, match="severity"):
        lehner.Warning("mine", "something", "worst")


def test_methods_of_others_have_codes_of_their_own():
    mine = lehner.Warning("mine", "something was found", "limits")
    assert str(mine) == "something was found" and mine.code == "mine"


def test_they_are_ordered_by_severity_and_each_is_there_once():
    last, first = warn("starts", "1 of 1"), warn("divergences", "3 draws diverged")
    worst = warn("not-converged", "chains disagree")
    assert by_severity([last, first, worst, last]) == [worst, first, last]


def test_they_come_back_from_json():
    said = (warn("starts", "1 of 1"), lehner.Warning("mine", "a ± b", "limits"))
    assert warnings_from_json(warnings_to_json(said)) == said
