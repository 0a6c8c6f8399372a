"""The benchmark of real ratings: its formats, its protocol, its measures and its tables."""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import rdata

from experiments.benchmarks.real import fits, sources
from experiments.benchmarks.real.fits import ALONE, correct_fit, estimate_systems
from experiments.benchmarks.real.report import (
    BY,
    average_over_crowds,
    estimate_errors_of_means,
    measure_crowds,
    tabulate_benchmark,
    tabulate_panels,
)
from experiments.benchmarks.real.sources import read_outcomes
from lehner import InputError, Ratings, Study
from lehner.empirical_prior.prior import format_priors, read_priors, train_priors
from tests.studies import run_study

SHIPPED_RESULTS = Path(sources.__file__).parent


def by_name(crowd):
    """Give ratings and truths by the names of items and raters, all as text."""
    votes = crowd.votes
    names = [str(name) for name in crowd.categories]
    rated = {
        (str(crowd.items[i]), crowd.raters[j]): names[c]
        for i, j, c in zip(votes.item_index, votes.rater_index, votes.category_index, strict=True)
    }
    labelled = np.flatnonzero(crowd.truth >= 0)
    return rated, {str(crowd.items[i]): names[crowd.truth[i]] for i in labelled}


def pair(winner):
    results = [{"swap = False": {"winner": winner}, "swap = True": {"winner": "1"}}]
    return {"label": 1, "results": results}


JUDGED = [
    {"pair_id": "p", "label": "A>B", "judgments": [{"decision": "B>A"}, {"decision": "A>B"}]},
    {"pair_id": "q", "label": "B>A", "judgments": [{"decision": "A=B"}, {"decision": "A>B"}]},
    {"pair_id": "r", "label": "B>A", "judgments": [None, None]},
]
READINGS = {
    "reader": ["1", "2", "1"],
    "treatment": ["1", "1", "2"],
    "case": [7.0, 7.0, 7.0],
    "truth": [1.0, 1.0, 1.0],
    "rating": [3.0, 2.0, 1.0],
}
RESPONSES = """!amt_annotation_ids,!amt_worker_ids,orig_id,response,gold
1,A,q1,before,before
2,B,q1,after,before
"""
RESPONDED = {("q1", "A"): "before", ("q1", "B"): "after"}, {"q1": "before"}
# Of each layout its files, and the ratings and truths in them.
LAYOUTS = {
    # The first rating of a worker who rated twice counts.
    "label_and_truth": (
        {
            "label.csv": "item,worker,label\n7,3,1\n7,4,0\n8,3,0\n7,3,0\n",
            "truth.csv": "item,truth\n7,1\n9,0\n",
        },
        ({("7", "3"): "1", ("7", "4"): "0", ("8", "3"): "0"}, {"7": "1"}),
    ),
    "worker_item_label": (
        {"labels.txt": "w1\ta\tyes\nw2\ta\tno\n\nw1\tb\tno\n", "evaluation.txt": "a\tyes\nb\tno\n"},
        ({("a", "w1"): "yes", ("a", "w2"): "no", ("b", "w1"): "no"}, {"a": "yes", "b": "no"}),
    ),
    "responses": ({"temp.csv": RESPONSES}, RESPONDED),
    "responses, tabs": ({"temp.csv": RESPONSES.replace(",", "\t")}, RESPONDED),
    "pair_judges": (
        {
            "Natural/evaluators/X/Vanilla/result.json": json.dumps([pair("1"), pair("2")]),
            "Natural/evaluators/Y/Vanilla/result.json": json.dumps([pair("2"), pair(None)]),
        },
        (
            {("Natural 0", "X"): "1", ("Natural 1", "X"): "2", ("Natural 0", "Y"): "2"},
            {"Natural 0": "1", "Natural 1": "1"},
        ),
    ),
    "judgments": (
        {"outputs,judge_name=n,judge_model=M-1.5.jsonl": "\n".join(map(json.dumps, JUDGED))},
        ({("p", "M-1.5"): "B>A"}, {"p": "A>B"}),
    ),
    "scores": (
        {
            "x.csv": 'text,label,parsed_output\n"a\nb",1,5\nc,0,4.0\n',
            "y.csv": "raw_output,parsed_output,label\n,Answer: Toxic,1.0\n,9,0.0\n",
        },
        ({("0", "x"): "1", ("1", "x"): "0", ("1", "y"): "1"}, {"0": "1", "1": "0"}),
    ),
    "readings": (
        {
            "Study.RData": pd.DataFrame(READINGS).astype(
                dict.fromkeys(["reader", "treatment"], "category")
            )
        },
        ({("7", "1"): "1", ("7", "2"): "0"}, {"7": "1"}),
    ),
    # Models answered in another order and in other words, and not always.
    "true_or_false": (
        {"answer-m-1": "0\tTrue\tfalse\n1\t0.0\t&&&True. So\n", "answer-n": "1\tFalse\tTruely\n"},
        ({("0", "m-1"): "FALSE", ("1", "m-1"): "TRUE"}, {"0": "TRUE", "1": "FALSE"}),
    ),
    "letters": (
        {
            "answer-classification-m": "1\tIdiom\tB: Metaphor\n0\tirony\tIt is A\n",
            "answer-n": "0\tirony\tD\n",
        },
        ({("1", "m"): "B", ("0", "n"): "D"}, {"0": "D", "1": "A"}),
    ),
    # Where people disagree there is no gold label.
    "people_and_models": (
        {
            "human.json": json.dumps(
                {"p": {"i": 3, "j": 1}, "q": {"i": 3.0, "j": 2}, "r": {"k": 4}}
            ),
            "llm.json": json.dumps({"m": {"i": 1, "j": 2.0}}),
        },
        ({("i", "m"): "1", ("j", "m"): "2"}, {"i": "3"}),
    ),
    "biased": (
        {"all.csv": "uuid,label,label_opinion,m_label,n_label\nu,1,x,0,?\nv,0,y,1,1\n"},
        ({("u", "m"): "0", ("v", "m"): "1", ("v", "n"): "1"}, {"u": "1", "v": "0"}),
    ),
    "right_answers": (
        {"V2.csv": "model,question,EM,GPT-4,Llama-7B,Human-Eval\nm,q,True,True,,False\n"},
        ({("q", "GPT-4"): "True"}, {"q": "False"}),
    ),
    "verdicts": (
        {
            "trajectories.jsonl": json.dumps({"trajectory_id": "t", "label": {"faulty": True}}),
            "verdicts.jsonl": json.dumps({"trajectory_id": "t", "judge_id": "m", "faulty": False}),
        },
        ({("t", "m"): "False"}, {"t": "True"}),
    ),
}
for column in ("toxic", "majortopic", "label", "sust_finance", "technology"):
    LAYOUTS[f"annotations_{column}"] = (
        {
            "y_test.csv": f"{column}\n1.0\n2\n",
            "cycle/m.csv": "text,annotation\nx,2\ny,1.0\n",
            "cycle/n.csv": "text,annotation\nx,2\ny,2\n",
        },
        (
            {("0", "m"): "2", ("1", "m"): "1", ("0", "n"): "2", ("1", "n"): "2"},
            {"0": "1", "1": "2"},
        ),
    )


def write_file(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        path.write_text(content)
    else:
        rdata.write_rda(path, {"Study": content})
    return path


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_files_of_each_layout_are_read(tmp_path, name):
    files, expected = LAYOUTS[name]
    paths = [write_file(tmp_path / file, content) for file, content in files.items()]
    where = {"treatment": "1"} if name == "readings" else None
    assert by_name(sources.read_files(paths, name.partition(",")[0], where)) == expected


def test_every_layout_is_tested():
    assert {name.partition(",")[0] for name in LAYOUTS} == set(sources.LAYOUTS)


@pytest.mark.parametrize(
    ("layout", "file", "content", "problem"),
    [
        (
            "worker_item_label",
            "labels.txt",
            "w1\ta\tyes\nw2\ta\tno\t1\n",
            "Expected 3 fields in line 2",
        ),
        ("responses", "temp.csv", "a,b\n1,2\n", "there is no column 'orig_id'"),
        ("readings", "Study.RData", "PK", "this is no .RData file with one table"),
        ("pair_judges", "a/evaluators/b/result.json", "[{", "this is no .json file with one table"),
    ],
)
def test_a_file_that_is_not_as_published_is_named(tmp_path, layout, file, content, problem):
    path = write_file(tmp_path / file, content)
    with pytest.raises(InputError, match=problem) as raised:
        sources.read_files([path, path], layout)
    assert raised.value.file == path


def test_known_truths_are_the_same_for_every_method_and_count_only_when_few():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 60)
    codes = np.where(rng.random((60, 4)) < 0.8, truth[:, None], 1 - truth[:, None])
    drawn = Ratings(codes[:, :3], ["a", "b"], system=codes[:, 3], truth=truth)
    right, key = np.full(60, 0.8), ("rte", "1", "3")
    rows = pd.DataFrame(correct_fit(drawn, right, 0.001, "algebraic", key, 2))
    # 50 of 60 known items would leave nothing to estimate.
    assert set(rows["known"]) == {10, 20}
    assert set(rows["method"]) == {"algebraic", "ppi_algebraic", ALONE}
    assert len(rows) == 2 * 2 * 3
    other = pd.DataFrame(correct_fit(drawn, right, 0.0, "one_coin", key, 2))
    alone = [table[table["method"] == ALONE].reset_index(drop=True) for table in (rows, other)]
    pd.testing.assert_frame_equal(*alone)
    assert alone[0].groupby("known")["estimate"].nunique().max() == 2


def test_the_exam_is_of_panels_of_which_no_other_part_is_listed_twice():
    assert not any(source.exam for source in sources.SOURCES.values())
    exam = [source for source in sources.PANELS.values() if source.exam]
    assert {source.split for source in exam} == {"exam"}
    named = [(s.files, *s.where.values()) for s in sources.PANELS.values()]
    assert len(named) == len(set(named))
    emotion, flute = (sources.PANELS[f"css_{task}"].files for task in ("emotion", "flute"))
    assert len(emotion) == len(flute) - 1 == 12
    assert emotion[0] == "css_data/emotion/answer-chatgpt"


def test_panels_of_the_exam_are_averaged_apart_and_errors_are_squared_first():
    errors = {"css_emotion": (0.1, -0.1), "css_flute": (0.3, 0.3), "css_ibc": (0.5, 0.5)}
    rows = pd.DataFrame(
        {"crowd": crowd, "per_item": str(2 + i), "estimate": 0.5 + error}
        for crowd, both in errors.items()
        for i, error in enumerate(both)
    ).assign(design="like", known=0, draw=0, method="algebraic", system="m", n_items=9, truth=0.5)
    means = tabulate_panels(rows.assign(lower=0.3, upper=0.9))["panel_means"]
    found = means.set_index(["split", "source"])["rmse"]
    learned = pytest.approx(np.sqrt((0.01 + 0.09) / 2))
    assert found["left out"].to_dict() == {"all": learned, "LLMs_for_CSS": learned}
    assert found["exam"].to_dict() == {
        "all": pytest.approx(0.5),
        "LLMs_for_CSS": pytest.approx(0.5),
    }


def test_about_a_third_of_the_crowds_is_for_reporting_and_families_stay_together():
    splits = [source.split for source in sources.SOURCES.values()]
    assert 0.25 < splits.count("report") / len(splits) < 0.45
    families = {(source.family, source.split) for source in sources.SOURCES.values()}
    assert len(families) == len({family for family, _ in families})
    assert sources.SOURCES["SP"].family == sources.SOURCES["SP_amt"].family


def systems(**columns):
    columns = {"system": list("abcdef"), "truth": 0.7, "n_items": 100} | columns
    return pd.DataFrame(columns).assign(**{name: "x" for name in BY if name not in columns})


def test_draws_of_one_system_count_as_one():
    errors = np.random.default_rng(1).normal(0, 0.1, 6)
    once = systems(estimate=0.7 + errors, lower=0.65, upper=0.8)
    several = measure_crowds(pd.concat([once, once[:3], once[:3]]))
    pd.testing.assert_frame_equal(several, measure_crowds(once))
    assert several.loc[0, "rmse"] == pytest.approx(np.sqrt((errors**2).mean()))


def test_the_interval_score_counts_how_far_outside_the_truth_lies():
    lower = [0.6, 0.6, 0.6, 0.75, 0.7, np.nan]
    upper = [0.8, 0.7, 0.65, 0.8, 0.7, np.nan]
    (result,) = measure_crowds(systems(estimate=0.7, lower=lower, upper=upper)).to_dict("records")
    width, outside = 0.2 + 0.1 + 0.05 + 0.05 + 0.0, 0.05 + 0.05
    assert result["coverage"] == pytest.approx(3 / 5)
    assert result["width"] == pytest.approx(width / 5)
    assert result["score"] == pytest.approx((width + 20 * outside) / 5)


def test_each_crowd_counts_once_in_the_means():
    measured = pd.DataFrame(
        {
            "crowd": ["small", "large"],
            "family": ["x", "y"],
            "systems": [3, 12],
            "accuracy": 0.7,
            "failed": 0.0,
            "rmse": [0.1, 0.3],
            "coverage": [0.9, 0.5],
        }
    )
    measured = measured.assign(**dict.fromkeys(["bias", "width", "score"], np.nan))
    measured = measured.assign(design="like", per_item="3", known=0, method="m")
    (mean,) = average_over_crowds(measured).to_dict("records")
    assert mean["rmse"] == pytest.approx(0.2)
    assert mean["rmse_se"] == pytest.approx(0.1)
    assert (mean["worst"], mean["worst_crowd"]) == (0.5, "large")
    assert np.isnan(mean["score_se"])


def test_errors_of_means_are_those_of_families():
    values = pd.Series(np.random.default_rng(1).normal(size=8))
    measured = pd.DataFrame({"design": "like", "family": range(8), "bias": values})
    alone = estimate_errors_of_means(measured, ["design"])["bias"].item()
    assert alone == pytest.approx(values.std() / np.sqrt(8))
    # Four families whose crowds are alike have the error of four values.
    measured["bias"] = values.take([0, 1, 2, 3] * 2).to_numpy()
    measured["family"] = [0, 1, 2, 3] * 2
    clustered = estimate_errors_of_means(measured, ["design"])["bias"].item()
    assert clustered == pytest.approx(values[:4].std() / 2)


def test_the_shipped_priors_are_trained_on_the_committed_outcomes_in_any_order():
    outcomes = read_outcomes()
    families = set(zip(outcomes["crowd"], outcomes["family"], strict=True))
    assert families <= {(source.name, source.family) for source in sources.SOURCES.values()}
    order = np.random.default_rng(1).permutation(len(outcomes))
    assert_same_priors(train_priors(outcomes.iloc[order]), "people")


def test_the_shipped_priors_of_models_are_those_of_the_committed_outcomes():
    outcomes = read_outcomes(sources.PANEL_OUTCOMES)
    listed = sources.SOURCES | sources.PANELS
    for crowd, family in set(zip(outcomes["crowd"], outcomes["family"], strict=True)):
        assert listed[crowd].family == family and not listed[crowd].exam
        assert listed[crowd].domain == "language models"
    assert_same_priors(train_priors(outcomes, "models"), "models")


def assert_same_priors(trained, raters_are):
    """Processors round sums otherwise: numbers differ by one in the last digit at most."""
    last_digit = {"intercept": 1e-6, "slope": 1e-6, "deviations": 1e-4}
    for name, kept in read_priors()[raters_are].items():
        for field, value in asdict(trained[name]).items():
            near = pytest.approx(getattr(kept, field), rel=0, abs=1.01 * last_digit.get(field, 0))
            assert value == (near if field in last_digit else getattr(kept, field)), field


def test_the_committed_measures_are_those_of_the_committed_estimates():
    folder, keys = SHIPPED_RESULTS, ["crowd", "design", "per_item", "method"]
    kept = pd.read_csv(folder / "systems.csv").assign(known=0)
    measured = pd.read_csv(folder / "real.csv").query("known == 0").set_index(keys)
    rows = kept.assign(**{name: "x" for name in BY if name not in kept})
    again = measure_crowds(rows).set_index(keys)
    assert len(again) > 1000
    both = measured.loc[again.index]
    assert (both["systems"] == again["systems"]).all()
    for name in ("accuracy", "bias", "rmse", "width"):
        np.testing.assert_allclose(both[name], again[name], atol=2e-4)
    # Ends are rounded to the fourth digit, and a miss counts twentyfold.
    np.testing.assert_allclose(both["score"], again["score"], atol=2e-3)


def write_rte(folder):
    """Write files as those of the crowd rte, of 10 workers and 60 items."""
    rng = np.random.default_rng(1)
    labels, truths = sources.SOURCES["rte"].list_paths(folder)
    labels.parent.mkdir(parents=True)
    truth = rng.integers(0, 2, 60)
    rows = [
        f"{i},{worker},{t if rng.random() < 0.8 else 1 - t}"
        for i, t in enumerate(truth)
        for worker in range(10)
    ]
    labels.write_text("\n".join(["item,worker,label", *rows]))
    truths.write_text("\n".join(["item,truth", *(f"{i},{t}" for i, t in enumerate(truth))]))


LEARNED_PRIOR = ("learned_prior, like", "learned_prior, unknown")
ONE_CROWD = """
name = "real"
seed = 1
replicates = 1
experiment = "fits.py:estimate_systems"
table = "report.py:tabulate_benchmark"
[[scenarios]]
folder = "files"
[scenarios.grid]
crowd = ["rte"]
design = ["like", "better", "worse"]
per_item = ["3"]
method = ["majority_agreement", "algebraic", "learned_prior"]
[[scenarios]]
folder = "files"
leave_out = "domain"
draws = 0
[scenarios.grid]
crowd = ["rte"]
design = ["like", "better", "worse"]
per_item = ["3"]
method = ["learned_prior"]
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study of one crowd, in the working directory."""
    monkeypatch.chdir(tmp_path)
    write_rte(tmp_path / "files")
    for name in ("fits.py", "report.py"):
        (tmp_path / name).write_text((SHIPPED_RESULTS / name).read_text())
    (tmp_path / "one.toml").write_text(ONE_CROWD)
    return tmp_path / "one.toml"


def estimate(folder, method="majority_agreement", **options):
    return pd.DataFrame(estimate_systems(1, str(folder), "rte", "like", "3", method, **options))


def test_the_shipped_study_has_every_crowd_in_its_split():
    study = Study.read("experiments/benchmarks/real/real.toml")
    scenarios = [entry.settings | {"name": entry.name} for entry in study.scenarios]
    splits = {row["crowd"]: row["name"].split(",")[0] for row in scenarios}
    assert splits == {name: source.split for name, source in sources.SOURCES.items()}


def test_the_study_has_the_tables_of_all_methods_on_the_same_systems(study):
    results = run_study(study, "here")
    tables = tabulate_benchmark(results)
    measured = tables["real"]
    assert set(measured["known"]) == {0, 10, 20}
    like = measured.query("known == 0 and design == 'like'")
    assert like["method"].tolist() == [*LEARNED_PRIOR, "majority_agreement", "algebraic"]
    assert set(like["systems"]) == {10}
    corrected = {*LEARNED_PRIOR, "algebraic", "ppi_algebraic", ALONE}
    assert set(measured.query("known == 20 and design == 'like'")["method"]) == corrected
    assert set(tables["domains"]["design"]) == {"like", "better", "worse"}
    systems = tables["systems"]
    numbers = systems.groupby(["design", "method"])["system"].nunique().to_dict()
    methods = {"like": ("like", "unknown"), "better": ("better", "unknown"), "worse": ("unknown",)}
    assert numbers == {
        (design, method): 10 if design == "like" else 3
        for design, told in methods.items()
        for method in ("majority_agreement", "algebraic", *(f"learned_prior, {x}" for x in told))
    }


def test_methods_do_not_see_the_truth(tmp_path, monkeypatch):
    write_rte(tmp_path)
    seen, find = [], fits.find_method

    def look(name):
        method = find(name)

        def fit(ratings, **options):
            seen.append(ratings.truth)
            return method.fit(ratings, **options)

        return replace(method, fit=fit)

    monkeypatch.setattr(fits, "find_method", look)
    assert estimate(tmp_path)["system"].nunique() == len(seen) == 10
    assert all(truth is None for truth in seen)


def test_a_method_of_a_file_is_named_by_its_text(tmp_path):
    write_rte(tmp_path)
    labels = set()
    for value in (0.5, 0.7):
        mine = tmp_path / "mine.py"
        mine.write_text(
            "from lehner import Estimate\n"
            "def always(ratings):\n"
            f"    return Estimate.from_values({value})\n"
        )
        rows = estimate(tmp_path, f"{mine}:always", systems=4)
        assert len(rows) == 4 and set(rows["estimate"]) == {value}
        assert rows["truth"].nunique() > 1
        labels |= set(rows["method"])
    assert len(labels) == 2 and all(label.startswith("always@") for label in labels)


@pytest.fixture
def run(monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["sources", *map(str, arguments)])
        code = sources.main()
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_crowds_are_described_and_priors_trained_by_one_command(run, tmp_path, monkeypatch):
    write_rte(tmp_path / "files")
    first = sources.SOURCES["rte"]
    families = {name: replace(first, name=name, family=name) for name in ("rte", "dog", "web")}
    models = {
        name: replace(first, name=name, family=name, domain="language models")
        for name in ("first", "second", "third")
    }
    monkeypatch.setattr(sources, "SOURCES", families)
    monkeypatch.setattr(sources, "PANELS", models | {"last": replace(first, exam=True)})
    assert run(tmp_path / "files", "--output", tmp_path / "out")[0] == 0
    outcomes = read_outcomes(tmp_path / "out" / "outcomes.csv")
    assert set(outcomes["crowd"]) == set(families)
    panels = read_outcomes(tmp_path / "out" / "panel_outcomes.csv")
    assert set(panels["crowd"]) == set(models)
    priors = {"people": train_priors(outcomes), "models": train_priors(panels, "models")}
    assert (tmp_path / "out" / "priors.json").read_text() == format_priors(priors)
    crowds = (tmp_path / "out" / "crowds.csv").read_text()
    assert "rte,crowd,choose,60,60,10,600,2,10,3,3," in crowds


def test_each_missing_file_is_named_with_its_source(run, tmp_path):
    code, _, err = run(tmp_path)
    assert code == 2
    lines = err.splitlines()
    assert len(lines) == sum(len(source.files) for source in sources.EVERY.values())
    path = tmp_path / "truth-inference-at-scale/data/SpectralMethodsMeetEM/rte/label.csv"
    assert (
        f"{path}: this file of the crowd rte is missing; put "
        "data/SpectralMethodsMeetEM/rte/label.csv of "
        "https://github.com/yuan-li/truth-inference-at-scale there, or leave the crowd out"
    ) in lines
