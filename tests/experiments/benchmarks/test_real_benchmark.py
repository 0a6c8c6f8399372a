"""The benchmark of real ratings: its formats, its protocol, its measures and its tables."""

import json
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import rdata

from experiments.benchmarks.real import __main__ as command
from experiments.benchmarks.real import readers, sources
from experiments.benchmarks.real import run as fits
from experiments.benchmarks.real.known_truths import ALONE, corrected_rows
from experiments.benchmarks.real.label_methods import proportion_right
from experiments.benchmarks.real.label_methods_report import read_published
from experiments.benchmarks.real.measures import BY, mean_over_crowds, measure_crowds
from experiments.benchmarks.real.protocol import choose_systems, deal, seed_of
from experiments.benchmarks.real.readers import make_crowd
from experiments.benchmarks.real.run import Task
from experiments.simulations.methods import estimate_as_in_studies
from lehner import InputError, Ratings


def by_name(crowd):
    """Give ratings and truths by the names of items and raters, all as text."""
    flat = crowd.flat
    names = [str(name) for name in crowd.categories]
    rated = {
        (str(crowd.items[i]), crowd.raters[j]): names[c]
        for i, j, c in zip(flat.item_index, flat.rater_index, flat.category_index, strict=True)
    }
    known = np.flatnonzero(crowd.truth >= 0)
    return rated, {str(crowd.items[i]): names[crowd.truth[i]] for i in known}


def test_label_and_truth_files(tmp_path):
    labels, truths = tmp_path / "label.csv", tmp_path / "truth.csv"
    labels.write_text("item,worker,label\n7,3,1\n7,4,0\n8,3,0\n7,3,0\n")
    truths.write_text("item,truth\n7,1\n9,0\n")
    ratings, truth = by_name(readers.read_label_and_truth([labels, truths]))
    # The first rating of a worker who rated twice counts.
    assert ratings == {("7", "3"): "1", ("7", "4"): "0", ("8", "3"): "0"}
    assert truth == {"7": "1"}


def test_worker_item_label_files(tmp_path):
    labels, truths = tmp_path / "labels.txt", tmp_path / "evaluation.txt"
    labels.write_text("w1\ta\tyes\nw2\ta\tno\n\nw1\tb\tno\n")
    truths.write_text("a\tyes\nb\tno\n")
    ratings, truth = by_name(readers.read_worker_item_label([labels, truths]))
    assert ratings == {("a", "w1"): "yes", ("a", "w2"): "no", ("b", "w1"): "no"}
    assert truth == {"a": "yes", "b": "no"}
    labels.write_text("w1\ta\tyes\nw2 a no\n")
    with pytest.raises(InputError, match=r"labels.txt, row 2: 1 tab-separated fields instead of 3"):
        readers.read_worker_item_label([labels, truths])


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_response_files(tmp_path, delimiter):
    path = tmp_path / "temp.csv"
    lines = [
        ("!amt_annotation_ids", "!amt_worker_ids", "orig_id", "response", "gold"),
        ("1", "A", "q1", "before", "before"),
        ("2", "B", "q1", "after", "before"),
    ]
    path.write_text("\n".join(delimiter.join(line) for line in lines))
    ratings, truth = by_name(readers.read_responses([path]))
    assert ratings == {("q1", "A"): "before", ("q1", "B"): "after"}
    assert truth == {"q1": "before"}
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"temp.csv: there is no column 'orig_id'"):
        readers.read_responses([path])


def test_files_of_pair_judges(tmp_path):
    files = []
    for judge, winners in {"X": ("1", "2"), "Y": ("2", None)}.items():
        path = tmp_path / "Natural" / "evaluators" / judge / "Vanilla" / "result.json"
        path.parent.mkdir(parents=True)
        swapped = {"winner": "1"}
        pairs = [
            {"label": 1, "results": [{"swap = False": {"winner": one}, "swap = True": swapped}]}
            for one in winners
        ]
        path.write_text(json.dumps(pairs))
        files.append(path)
    ratings, truth = by_name(readers.read_pair_judges(files))
    assert ratings == {("Natural 0", "X"): "1", ("Natural 1", "X"): "2", ("Natural 0", "Y"): "2"}
    assert truth == {"Natural 0": "1", "Natural 1": "1"}


def test_files_of_judgments(tmp_path):
    path = tmp_path / "outputs,judge_name=n,judge_model=M-1.5.jsonl"
    lines = [
        {"pair_id": "p", "label": "A>B", "judgments": [{"decision": "B>A"}, {"decision": "A>B"}]},
        {"pair_id": "q", "label": "B>A", "judgments": [{"decision": "A=B"}, {"decision": "A>B"}]},
        {"pair_id": "r", "label": "B>A", "judgments": [None, None]},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    ratings, truth = by_name(readers.read_judgments([path]))
    assert ratings == {("p", "M-1.5"): "B>A"}
    assert truth == {"p": "A>B"}


def test_files_of_scores(tmp_path):
    files = [tmp_path / "x.csv", tmp_path / "y.csv"]
    files[0].write_text('text,label,parsed_output\n"a\nb",1,5\nc,0,4.0\n')
    files[1].write_text("raw_output,parsed_output,label\n,Answer: Toxic,1.0\n,9,0.0\n")
    ratings, truth = by_name(readers.read_scores(files))
    assert ratings == {("0", "x"): "1", ("1", "x"): "0", ("1", "y"): "1"}
    assert truth == {"0": "1", "1": "0"}


def test_files_of_reader_studies(tmp_path):
    path = tmp_path / "Study.RData"
    columns = {
        "reader": ["1", "2", "1"],
        "treatment": ["1", "1", "2"],
        "case": [7.0, 7.0, 7.0],
        "truth": [1.0, 1.0, 1.0],
        "rating": [3.0, 2.0, 1.0],
    }
    frame = pd.DataFrame(columns).astype({"reader": "category", "treatment": "category"})
    rdata.write_rda(path, {"Study": frame})
    ratings, truth = by_name(readers.read_readings([path], treatment="1"))
    assert ratings == {("7", "1"): "1", ("7", "2"): "0"}
    assert truth == {"7": "1"}
    path.write_bytes(b"PK")
    with pytest.raises(
        InputError, match=r"Study.RData: this is no .RData file with one data frame"
    ):
        readers.read_readings([path], treatment="1")


@pytest.fixture(scope="module")
def crowd():
    """Make a crowd of 40 workers with 400 items; each worker rates the tenth part of them."""
    rng = np.random.default_rng(1)
    truth = {str(item): "ab"[item % 2] for item in range(400)}
    rows = [
        (item, f"w{worker}", str(rng.choice(["a", "b"])))
        for item in truth
        for worker in (rng.choice(39, 4, replace=False) if int(item) % 4 else range(39))
    ]
    rows += [(item, "all", "a") for item in truth]
    return make_crowd(rows, truth)


@pytest.mark.parametrize("per_item", ["3", "5", "all"])
def test_the_system_is_no_rater(crowd, per_item):
    ratings, truth = by_name(crowd)
    dealt = deal(crowd, "all", per_item, seed_of(1, "crowd", "all"))
    assert (dealt.system == crowd.categories.index("a")).all()
    for item, right in zip(dealt.items, dealt.system == dealt.truth, strict=True):
        assert right == (truth[str(item)] == "a")
    # Raters are numbered, so that what is compared are the votes without those of the system.
    for item, votes in zip(dealt.items, dealt.votes(), strict=True):
        without = sorted(
            rating
            for (one, rater), rating in ratings.items()
            if one == str(item) and rater != "all"
        )
        found = [name for name, n in zip(crowd.categories, votes, strict=True) for _ in range(n)]
        if per_item == "all":
            assert found == without
        else:
            assert len(found) == int(per_item)
            assert all(found.count(name) <= without.count(name) for name in "ab")


def test_at_most_300_items_with_truth_that_the_system_rated(crowd):
    assert len(crowd.items) == 400
    dealt = deal(crowd, "all", "3", seed_of(1, "crowd", "all"))
    assert dealt.n_items == len(set(dealt.items)) == 300
    worker = deal(crowd, "w3", "3", seed_of(1, "crowd", "w3"))
    rated = {item for item, rater in by_name(crowd)[0] if rater == "w3"}
    assert set(map(str, worker.items)) == rated


def test_ratings_are_seeded(crowd):
    one = deal(crowd, "all", "3", seed_of(1, "crowd", "all"))
    again = deal(crowd, "all", "3", seed_of(1, "crowd", "all"))
    other = deal(crowd, "all", "3", seed_of(2, "crowd", "all"))
    assert one.equals(again)
    assert not one.equals(other)


def test_raters_of_a_crossed_design_keep_their_ratings():
    rng = np.random.default_rng(1)
    given = {f"r{j}": rng.choice(["a", "b", "c"], 60) for j in range(6)}
    rows = [(str(i), name, str(x[i])) for name, x in given.items() for i in range(60)]
    crossed = make_crowd(rows, {str(i): "a" for i in range(60)})
    dealt = deal(crossed, "r2", "3", seed_of(1, "x", "r2"))
    columns = [dealt.codes[:, j].tolist() for j in range(3)]
    codes = crossed.codes.tolist()
    by_rater = [list(column) for column in zip(*codes, strict=True)]
    found = {by_rater.index(column) for column in columns}
    assert len(found) == 3
    assert crossed.raters.index("r2") not in found


def test_systems_are_those_with_most_items_and_twelve_at_most(crowd):
    systems = choose_systems(crowd)
    assert systems[0] == "all"
    assert len(systems) == 12
    sizes = {rater: sum(one == rater for _, one in by_name(crowd)[0]) for rater in crowd.raters}
    assert min(sizes[rater] for rater in systems) >= max(
        size for rater, size in sizes.items() if rater not in systems
    )


def test_too_few_items_are_no_data_set(crowd):
    assert deal(crowd.take(np.arange(29)), "all", "3", seed_of(1, "x")) is None


def test_known_truths_are_the_same_for_every_method_and_count_only_when_few():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 60)
    codes = np.where(rng.random((60, 4)) < 0.8, truth[:, None], 1 - truth[:, None])
    dealt = Ratings(codes[:, :3], ["a", "b"], system=codes[:, 3], truth=truth)
    task = Task(crowd="rte", system="1", per_item="3", method="algebraic", seed=1)
    right = np.full(60, 0.8).tolist()
    rows = pd.DataFrame(corrected_rows(task, dealt, right, 0.001, 2))
    # 50 of 60 known items would leave nothing to estimate.
    assert set(rows["known"]) == {10, 20}
    assert set(rows["method"]) == {"algebraic", "ppi_algebraic", ALONE}
    assert len(rows) == 2 * 2 * 3
    other = pd.DataFrame(corrected_rows(replace(task, method="tap"), dealt, right, 0.0, 2))
    alone = [table[table["method"] == ALONE].reset_index(drop=True) for table in (rows, other)]
    pd.testing.assert_frame_equal(*alone)
    assert alone[0].groupby("known")["estimate"].nunique().max() == 2


def test_majority_labels_of_a_small_crowd():
    rows = [("1", rater, "a") for rater in "xyz"]  # right
    rows += [("2", "x", "a"), ("2", "y", "b")]  # a tie, half right
    rows += [("3", "x", "a"), ("3", "y", "b"), ("3", "z", "b")]  # wrong
    rows += [("4", "x", "a"), ("4", "y", "a")]  # unknown
    small = make_crowd(rows, {"1": "a", "2": "b", "3": "a"})
    assert proportion_right(small.votes(), small.truth) == 0.5


def test_published_numbers_name_crowds_that_are_read():
    published = read_published()
    assert set(published.index) <= set(sources.SOURCES)
    assert published.loc["rte"].round(3).tolist() == [0.931, 0.928, 0.928]
    assert ((published > 0.5) | published.isna()).all(axis=None)


def test_about_a_third_of_the_crowds_is_for_reporting_and_families_stay_together():
    splits = [source.split for source in sources.SOURCES.values()]
    assert 0.25 < splits.count("report") / len(splits) < 0.45
    families = {(source.family, source.split) for source in sources.SOURCES.values()}
    assert len(families) == len({family for family, _ in families})
    assert sources.SOURCES["SP"].family == sources.SOURCES["SP_amt"].family


def test_draws_of_one_system_count_as_one_in_standard_errors():
    rng = np.random.default_rng(1)
    once = pd.DataFrame({"system": list("abcdef"), "truth": 0.7})
    once = once.assign(estimate=0.7 + rng.normal(0, 0.1, 6), lower=0.65, upper=0.8, n_items=100)
    once = once.assign(**dict.fromkeys(BY, "x"))
    columns = [f"{name}{end}" for name in ("bias", "rmse", "coverage") for end in ("", "_se")]
    several = measure_crowds(pd.concat([once] * 10))
    pd.testing.assert_frame_equal(several[columns], measure_crowds(once)[columns])
    error = once["estimate"] - 0.7
    assert several.loc[0, "bias_se"] == pytest.approx(error.std() / np.sqrt(6))
    assert several.loc[0, "rmse"] == pytest.approx(np.sqrt((error**2).mean()))


def test_intervals_that_all_hold_leave_an_error_of_coverage():
    rows = pd.DataFrame({"system": list("abcdef"), "truth": 0.7, "estimate": 0.7, "n_items": 100})
    rows = rows.assign(upper=0.8, **dict.fromkeys(BY, "x"))
    held, missed = (measure_crowds(rows.assign(lower=lower)).iloc[0] for lower in (0.6, 0.75))
    assert (held["coverage"], missed["coverage"]) == (1, 0)
    assert held["coverage_se"] == pytest.approx(missed["coverage_se"])
    assert 0.05 < held["coverage_se"] < 0.15


def test_each_crowd_counts_once_in_the_means():
    measured = pd.DataFrame(
        {
            "crowd": ["small", "large"],
            "systems": [3, 12],
            "failed": 0.0,
            "rmse": [0.1, 0.3],
            "rmse_se": [0.03, 0.04],
            "coverage": [0.9, 0.5],
        }
    )
    rest = ["bias", "bias_se", "coverage_se", "width", "width_se"]
    measured = measured.assign(**dict.fromkeys(rest, np.nan))
    measured = measured.assign(split="choose", per_item="3", known=0, method="m")
    (mean,) = mean_over_crowds(measured).to_dict("records")
    assert mean["rmse"] == pytest.approx(0.2)
    assert mean["rmse_se"] == pytest.approx(0.025)
    assert (mean["worst"], mean["worst_crowd"]) == (0.5, "large")


@pytest.fixture
def run(monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["real", *map(str, arguments)])
        code = command.main()
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def write_rte(folder):
    """Write files as those of the crowd rte, of 10 workers and 60 items."""
    rng = np.random.default_rng(1)
    labels, truths = sources.SOURCES["rte"].paths(folder)
    labels.parent.mkdir(parents=True)
    truth = rng.integers(0, 2, 60)
    rows = [
        f"{i},{worker},{t if rng.random() < 0.8 else 1 - t}"
        for i, t in enumerate(truth)
        for worker in range(10)
    ]
    labels.write_text("\n".join(["item,worker,label", *rows]))
    truths.write_text("\n".join(["item,truth", *(f"{i},{t}" for i, t in enumerate(truth))]))


def test_a_run_goes_on_where_it_was_and_methods_add_up(run, tmp_path):
    write_rte(tmp_path / "files")
    output = tmp_path / "results"
    options = ["--crowd", "rte", "--per-item", "3", "--output", output]
    first = ["--method", "majority_agreement"]
    assert run(tmp_path / "files", *options, *first)[0] == 0
    table = pd.read_csv(output / "real.csv")
    assert table["method"].tolist() == ["majority_agreement"]
    assert table.loc[0, "systems"] == 10
    before = {path: path.stat().st_mtime_ns for path in (output / "parts").iterdir()}
    assert run(tmp_path / "files", *options, "--method", "algebraic")[0] == 0
    assert {path: path.stat().st_mtime_ns for path in before} == before
    both = pd.read_csv(output / "real.csv")
    assert set(both["known"]) == {0, 10, 20}
    without = both[both["known"] == 0]
    names = ["majority_agreement", "algebraic", "algebraic, widened"]
    assert without["method"].tolist() == names
    narrow, wide = (without.set_index("method").loc[name] for name in names[1:])
    assert (wide["bias"], wide["rmse"]) == (narrow["bias"], narrow["rmse"])
    assert wide["width"] > narrow["width"] + 0.05
    pd.testing.assert_frame_equal(without.iloc[:1], table)
    assert set(both.loc[both["known"] == 20, "method"]) == {"algebraic", "ppi_algebraic", ALONE}
    report = (output / "real.md").read_text()
    assert "| rte | choose | 60 | 60 | 10 | 600 | 2 | 10 |" in report
    next(iter(before)).unlink()
    assert run(tmp_path / "files", *options, *first)[0] == 0
    pd.testing.assert_frame_equal(pd.read_csv(output / "real.csv"), both)


def test_methods_do_not_see_the_truth(run, tmp_path, monkeypatch):
    write_rte(tmp_path / "files")
    seen = []

    def look(method, ratings, seed):
        seen.append(ratings.truth)
        return estimate_as_in_studies(method, ratings, seed)

    monkeypatch.setattr(fits, "estimate_as_in_studies", look)
    options = ["--crowd", "rte", "--per-item", "3", "--method", "majority_agreement"]
    assert run(tmp_path / "files", *options, "--output", tmp_path / "results")[0] == 0
    assert len(seen) == 10 and all(truth is None for truth in seen)


def test_methods_are_compared_on_the_systems_that_all_of_them_were_run_on(run, tmp_path):
    write_rte(tmp_path / "files")
    output = tmp_path / "results"
    options = ["--crowd", "rte", "--per-item", "3", "5", "--output", output]
    run(tmp_path / "files", *options, "--method", "majority_agreement")
    few = ["--per-item", "3", "--method", "algebraic", "--systems", "4"]
    assert run(tmp_path / "files", *options, *few)[0] == 0
    table = pd.read_csv(output / "real.csv")
    assert set(table.loc[table["per_item"] == 3, "method"]) >= {"majority_agreement", "algebraic"}
    assert table.groupby("per_item")["systems"].unique().map(list).to_dict() == {3: [4], 5: [10]}


def test_each_missing_file_is_named_with_its_source(run, tmp_path):
    code, _, said = run(tmp_path, "--crowd", "rte", "temp", "--output", tmp_path / "results")
    assert code == 2
    lines = said.splitlines()
    assert len(lines) == 3
    path = tmp_path / "truth-inference-at-scale/data/SpectralMethodsMeetEM/rte/label.csv"
    assert lines[0] == (
        f"{path}: this file of the crowd rte is missing; put "
        "data/SpectralMethodsMeetEM/rte/label.csv of "
        "https://github.com/yuan-li/truth-inference-at-scale there, or leave the crowd out "
        "with --crowd"
    )
    assert "CrowdTruth" in lines[2]


def test_the_list_names_files_and_licences(run):
    code, listed, _ = run("--list", "--crowd", "rte", "LLMBar_natural")
    assert code == 0
    assert "https://github.com/princeton-nlp/LLMBar  licence: MIT" in listed
    label_file = "truth-inference-at-scale/data/SpectralMethodsMeetEM/rte/label.csv"
    assert f"FOLDER/{label_file}" in listed


def test_unknown_crowds_and_methods_are_refused(run, tmp_path):
    assert "there is no crowd 'rt'; did you mean 'rte'?" in run("--list", "--crowd", "rt")[2]
    write_rte(tmp_path)
    options = ["--crowd", "rte", "--output", tmp_path / "results", "--method", "algebra"]
    code, _, said = run(tmp_path, *options)
    assert (code, said.strip()) == (
        2,
        "there is no method 'algebra'; did you mean 'algebraic'?",
    )
