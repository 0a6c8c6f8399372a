"""A question is one record: a toy question brings an option of the command and a field in JSON."""

import json
from dataclasses import dataclass

import pytest
import typer
from typer.testing import CliRunner

import lehner
from experiments.cli.arguments import with_options
from experiments.cli.estimate import ASKED, Asked, estimate
from lehner.estimation.question import Question


def times(factor):
    return Question(
        name="toy",
        answer=lambda ratings, estimate, options: factor * ratings.n_items,
        to_dict=lambda answer: {"items_times": answer},
    )


@dataclass(frozen=True, kw_only=True)
class Toy(Asked):
    """A toy.

    Parameters
    ----------
    factor : int
        By how much the items are multiplied.
    """

    factor: int = 1

    def keywords(self, data, ratings, item):
        return {"questions": [times(self.factor)]}


@pytest.fixture
def app():
    app = typer.Typer()
    app.command()(with_options(estimate, (*ASKED, Toy)))
    return app


def test_an_option_and_a_field_are_added_in_one_place(app):
    command = ["lehner_table2", "--system", "System", "--method", "majority_agreement,algebraic"]
    done = CliRunner().invoke(app, [*command, "--factor", "3", "--json"])
    assert done.exit_code == 0, done.output
    assert [one["items_times"] for one in json.loads(done.stdout)["estimates"]] == [30, 30]
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).output
    assert "By how much the items are multiplied" in shown


def test_python_takes_the_same_question():
    ratings = lehner.load_dataset("lehner_table2")
    compared = lehner.estimate(ratings, "algebraic", questions=[times(2)])
    assert compared.results[0].answers["toy"] == 20
    assert compared.to_dict()["estimates"][0]["items_times"] == 20


def test_a_function_of_ones_own_is_estimated_with_like_any_method(run, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import lehner\n\n\ndef mine(ratings, *, seed):\n"
        "    return lehner.estimate_algebraic(ratings, seed=seed)\n"
    )
    method = f"algebraic,{tmp_path / 'mine.py'}:mine"
    options = ("--system", "System", "--method", method, "--output", tmp_path / "out")
    code, out, err = run("estimate", "lehner_table2", *options, "--json")
    algebra, own = json.loads(out)["estimates"]
    assert code == 0, err
    assert own["method"] == "mine" and own["system_accuracy"] == algebra["system_accuracy"]
    assert "mine &" in (tmp_path / "out" / "estimates.tex").read_text()
    code, _, err = run("estimate", "lehner_table2", "--method", f"{tmp_path / 'no.py'}:mine")
    assert code == 2 and "no.py: there is no such file" in err
