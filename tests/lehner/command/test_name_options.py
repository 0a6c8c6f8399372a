"""Options of several names: what is no list of names is told in one line."""

import csv
import json

import pytest

from lehner import InputError
from lehner.command.options import split_names

ODD = 'item,"a\nb",c,gpt\n1,x,x,x\n2,y,y,y\n3,x,y,x\n'


@pytest.fixture
def odd(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text(ODD)
    return path


@pytest.mark.parametrize(
    "option", ["--raters", "--system", "--categories", "--missing", "--method"]
)
@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "c,\na"])
def test_a_line_break_in_names_is_told_in_one_line(run, odd, option, text):
    code, out, err = run("estimate", odd, "--method", "algebraic", option, text)
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert "separate names by commas" in err


def test_a_name_with_a_line_break_is_quoted(run, odd):
    names = ("--raters", '"a\nb",c', "--system", "gpt", "--method", "algebraic")
    code, out, err = run("estimate", odd, *names, "--json")
    assert code == 0, err
    assert json.loads(out)["data"]["raters"] == ["a\nb", "c"]


@pytest.mark.parametrize("text", ['"Smith, J",Bo', '"say ""x""",Bo', '"a\nb", Bo '])
def test_names_in_quotes_hold_what_separates_names(text):
    first, second = split_names([text])
    assert second == "Bo" and first in ("Smith, J", 'say "x"', "a\nb")


def test_names_that_never_end_are_refused():
    limit = csv.field_size_limit(100)
    try:
        with pytest.raises(InputError, match="separate names by commas"):
            split_names(['"' + "x" * 200 + '"'])
    finally:
        csv.field_size_limit(limit)
