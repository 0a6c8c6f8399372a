"""Several systems in the command: table, JSON, files, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lehner
from tests.lehner.contrasts.test_systems import easy_and_hard

TICKETS = str(Path(__file__).parents[3] / "docs/data/tickets.csv")
RATERS = ("--raters", "ana,ben,cai,dee")
QUICK = ("--method", "majority_agreement,algebraic")


ODD = ["..", "g/4", "g:4", "results.csv", "GPT", "gpt", "x" * 300, "gpt-4"]


def test_systems_never_share_a_folder_nor_leave_the_output(run, tmp_path):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 40)
    answers = np.where(rng.random((len(ODD) + 3, 40)) < 0.8, truth, 1 - truth)
    table = pd.DataFrame(answers.T, columns=[*ODD, "ana", "ben", "cai"])
    table.to_csv(tmp_path / "f.csv", index_label="item")
    systems = [word for name in ODD for word in ("--system", name)]
    code, _, err = run(
        *("estimate", str(tmp_path / "f.csv"), *systems, "--raters", "ana,ben,cai"),
        *("--method", "majority_agreement", "--output", str(tmp_path / "parent" / "out")),
    )
    assert code == 0, err
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    out = tmp_path / "parent" / "out"
    assert all(path.is_relative_to(out) for path in written if path != tmp_path / "f.csv")
    manifest = json.loads((out / "manifest.json").read_text())
    assert {path.relative_to(out).as_posix() for path in written if path.is_relative_to(out)} == {
        *manifest["files"],
        "manifest.json",
    }
    assert list(manifest["systems"]) == ODD and manifest["systems"]["gpt-4"] == "gpt-4"
    for system, folder in manifest["systems"].items():
        assert (out / folder / "estimates.tex").exists(), system
    assert set(pd.read_csv(out / "results.csv")["system"].dropna()) == set(ODD)


@pytest.mark.parametrize("there", ["gpt", "manifest.json"])
def test_nothing_is_written_where_another_file_is_in_the_way(run, tmp_path, there):
    (tmp_path / there).write_text('{"format": 3}')
    code, _, err = run(
        "estimate", TICKETS, *RATERS, "--system", "bert,gpt", *QUICK, "--output", str(tmp_path)
    )
    assert code == 2 and there in err.splitlines()[-1]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / there]
    assert (tmp_path / there).read_text() == '{"format": 3}'


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ("gtp,bert", "did you mean 'gpt'?"),
        ("gpt,gpt", "two roles"),
        ("gpt,ana", "two roles"),
    ],
)
def test_bad_systems_are_refused_in_a_line(run, system, message):
    code, out, err = run("estimate", TICKETS, *RATERS, "--system", system, *QUICK)
    assert (code, out) == (2, "")
    assert message in err and len(err.strip().splitlines()) == 1


def test_a_system_without_answers_is_named():
    answers = np.array([[0, -1], [1, -1]])
    ratings = lehner.Ratings([[0, 0], [1, 1]], ["a", "b"], system=answers, systems=["x", "y"])
    with pytest.raises(lehner.InputError, match="system 'y': the system answered no item"):
        lehner.estimate(ratings, ["algebraic"])


ALL_QUICK = ("majority_agreement", "mean_posterior", "algebraic", "one_coin_by_rater_ml")


@pytest.mark.parametrize("method", ALL_QUICK)
def test_systems_that_answered_different_items_are_compared_on_those_in_common(method):
    ratings = easy_and_hard()
    found = lehner.estimate(ratings, [method])
    by_pair = {one.systems: one for one in found.differences}
    one = by_pair["whole", "easier"]
    assert (one.n_common_items, one.reason) == (300, "")
    for value in (one.difference, one.difference_in_sample):
        assert abs(value.estimate) < 0.04 and value.lower < 0 < value.upper
    assert 0.05 < one.probability_better < 0.95
    # The whole system on the harder half is the system that has answered nothing else.
    answers = ratings.answers.copy()
    answers[:300, 0] = -1
    half = lehner.Ratings(
        ratings.codes, ratings.categories, system=answers[:, [0, 2]], systems=["whole", "harder"]
    )
    (again,) = lehner.estimate(half, [method]).differences
    other = by_pair["whole", "harder"].difference
    assert again.difference.estimate == pytest.approx(other.estimate)
    assert again.difference.lower == pytest.approx(other.lower, abs=0.02)
    # Each system's own accuracy is still that on its own items.
    own = {one.system: one.system_accuracy.estimate for one in found.estimates}
    assert own["easier"] > own["whole"] > own["harder"]


@pytest.mark.parametrize("method", ALL_QUICK)
def test_without_items_in_common_there_is_no_difference_and_no_rank(method):
    found = lehner.estimate(easy_and_hard(), [method])
    one = next(one for one in found.differences if one.systems == ("easier", "harder"))
    assert one.difference.estimate is None and one.difference_in_sample.estimate is None
    assert one.probability_better is None and one.probability_better_in_sample is None
    assert one.n_common_items == 0 and one.reason == "no item was answered by both systems"
    assert found.ranks == ()


@pytest.mark.parametrize("method", ALL_QUICK)
def test_on_their_own_items_systems_differ_by_the_model_and_not_in_the_sample(method):
    found = lehner.estimate(easy_and_hard(), [method], common_items=False)
    own = {one.system: one.system_accuracy.estimate for one in found.estimates}
    one = next(one for one in found.differences if one.systems == ("easier", "harder"))
    assert one.difference.estimate == pytest.approx(own["easier"] - own["harder"])
    assert one.difference_in_sample.estimate is None
    assert one.reason == "the systems are judged by different items"


def test_the_same_system_thrice_is_tied_for_the_first_rank():
    rng = np.random.default_rng(1)
    truth = rng.integers(3, size=150)

    def answer(accuracy):
        wrong = (truth + rng.integers(1, 3, 150)) % 3
        return np.where(rng.random(150) < accuracy, truth, wrong)

    raters = np.stack([answer(0.7) for _ in range(3)], axis=1)
    good, bad = answer(0.9), answer(0.4)
    systems = ["a", "bad", "b", "c"]
    ratings = lehner.Ratings(
        raters, list("xyz"), system=np.stack([good, bad, good, good], axis=1), systems=systems
    )
    methods = [*ALL_QUICK, "dawid_skene_ml"]
    for rate in (False, True):
        found = lehner.estimate(ratings, methods, systems_rate=rate)
        for method in methods:
            ranks = {one.system: one for one in found.ranks if one.method == method}
            assert {name: one.rank for name, one in ranks.items()} == {
                "a": 1,
                "b": 1,
                "c": 1,
                "bad": 4,
            }
            assert [ranks[name].probability_best for name in "abc"] == pytest.approx([1 / 3] * 3)
            assert [(ranks[name].lower, ranks[name].upper) for name in "abc"] == [(1, 1)] * 3
            pairs = {one.systems: one for one in found.differences if one.method == method}
            for value in (pairs["a", "b"], pairs["b", "c"]):
                assert value.probability_better == 0.5 == value.probability_better_in_sample
                ends = value.difference
                assert (ends.lower, ends.estimate, ends.upper) == (0, 0, 0)
