"""A replicate made again: the data that were, the numbers that were, and what differs."""

import pyarrow.parquet as pq
import pytest

from experiments.study import read_results, run_study
from experiments.study.checked_file import write_checked
from experiments.study.replay import replay
from lehner import InputError, estimate_algebraic, estimate_latent_class, read_ratings

STUDY = """
name = "small"
seed = 5
replicates = 3
methods = [
    "majority_agreement",
    "algebraic",
    { name = "one_coin_ml", resamples = 20, label = "ML" },
]
[[scenarios]]
name = "few"
n_items = 40
initial_rater_accuracy = [0.8, 0.8, 0.8]
n_categories = 3
grid = { missing = [0.0, 0.2] }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replay")
    (folder / "small.toml").write_text(STUDY)
    run_study(folder / "small.toml", folder / "out")
    return folder / "out"


def test_every_row_comes_out_again(folder, tmp_path):
    results = read_results(folder)
    for row in range(0, len(results), 5):
        found = replay(folder, row=row + 2, output=tmp_path)
        stored = results.iloc[row]
        assert (found.scenario, found.method) == (stored["scenario"], stored["method"])
        assert (found.replicate, found.seed) == (stored["replicate"], stored["seed"])
        assert found.same and found.notes == ()
        again = found.table.set_index(["estimand", "quantity"])["again"]
        assert again[stored["estimand"], "estimate"] == pytest.approx(stored["estimate"])


def test_the_data_are_those_that_the_method_had(folder, tmp_path):
    found = replay(folder, scenario="few, missing 0.2", replicate=2, method="ML", output=tmp_path)
    assert found.data.parent == tmp_path
    ratings = read_ratings(found.data)
    assert ratings.n_items == 40 and ratings.truth is not None
    estimate = estimate_latent_class(ratings.with_truth(None), "one_coin", interval=None)
    numbers = found.table.set_index(["estimand", "quantity"])["stored"]
    assert estimate.system_accuracy.estimate == pytest.approx(
        numbers["system_accuracy", "estimate"]
    )
    in_sample = float((ratings.truth == ratings.system).mean())
    assert in_sample == numbers["system_accuracy_in_sample", "truth"]


def test_a_result_that_was_another_is_told(folder, tmp_path, run):
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("study.toml", "manifest.json"):
        (copy / name).write_bytes((folder / name).read_bytes())
    (copy / "parts").mkdir()
    for path in (folder / "parts").iterdir():
        table = pq.read_table(path)
        moved = table.to_pandas().assign(estimate=lambda rows: rows["estimate"] + 1e-6)
        moved = type(table).from_pandas(moved, schema=table.schema)
        write_checked(moved, copy / "parts", path.name[:8])
    code, out, err = run("study", "replay", copy, "--row", "4")
    assert code == 1 and "the result differs" in out and "differs" in out.splitlines()[4]
    assert err.startswith(f"wrote {copy / 'replay'}")
    assert run("study", "replay", folder, "--row", "4")[0] == 0


def test_the_standard_error_is_the_spread_of_the_resamples(folder, tmp_path):
    found = replay(folder, scenario="few, missing 0.0", replicate=1, method="algebraic")
    again = found.table.set_index(["estimand", "quantity"])["again"]
    ratings = read_ratings(found.data).with_truth(None)
    for level in (0.5, 0.9):
        estimate = estimate_algebraic(ratings, level=level, seed=3).system_accuracy
        assert estimate.standard_error == pytest.approx(
            again["system_accuracy", "standard_error"], rel=0.1
        )


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({}, "no replicate is named"),
        ({"row": 1}, "row is 1; give a whole number, 2 or more"),
        ({"row": 99}, "there is no row 99; .* rows 2 to 37"),
        ({"row": 2, "replicate": 1}, "a row is given and a scenario"),
        ({"replicate": 1}, "no scenario is named; choose among few, missing 0.0, few"),
        ({"replicate": 1, "scenario": "fw", "method": "ML"}, "there is no scenario 'fw'"),
        (
            {"replicate": 7, "scenario": "few, missing 0.0", "method": "ML"},
            "there is no result of ML for replicate 7 of 'few, missing 0.0'",
        ),
    ],
)
def test_what_is_not_there_is_told(folder, tmp_path, chosen, message):
    with pytest.raises(InputError, match=message):
        replay(folder, output=tmp_path, **chosen)
