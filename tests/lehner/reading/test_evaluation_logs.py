"""Logs of evaluation tools are read as the CSV file of the same ratings is, one or a folder."""

import gzip
import json

import pandas as pd
import pytest

from experiments.cli.group_column import read_groups
from lehner import InputError, read_ratings

ANSWERS = [("C", "C"), ("I", "C"), ("C", "C"), ("I", "I"), ("C", None)]


def inspect_log(model="acme/one", epochs=1):
    """Write what Inspect logs, as far as it is read, with some of what is not."""
    samples = [
        {
            "id": f"q{i}",
            "epoch": epoch + 1,
            "input": "?",
            "target": "yes",
            "messages": [{"role": "user", "content": "?"}],
            "scores": {
                name: {"value": value, "answer": "yes", "explanation": "…"}
                for name, value in zip(("exact", "model_graded_qa"), pair, strict=True)
            },
        }
        for i, pair in enumerate(ANSWERS)
        for epoch in range(epochs)
    ]
    about = {"task": "yes_or_no", "model": model}
    return {"version": 2, "status": "success", "eval": about, "samples": samples}


def harness_log(answers, *, choices, rule="none"):
    """Write samples of lm-evaluation-harness: texts, or likelihoods of two choices."""
    lines = []
    for i, answer in enumerate(answers):
        likelihoods = [[-1.0 - (k != answer), False] for k in (0, 1)]
        sample = {
            "doc_id": i,
            "doc": {"text": "…"},
            "target": str(i % 2),
            "arguments": {"gen_args_0": {"arg_0": "?"}},
            "filtered_resps": likelihoods if choices else [str(answer)],
            "filter": rule,
            "metrics": ["acc"],
            "acc": float(answer == i % 2),
        }
        lines.append(json.dumps(sample))
    return "\n".join(lines) + "\n"


def promptfoo_row(test, provider, verdicts, prompt=0):
    judges = [
        {"type": "llm-rubric", "value": "polite", "provider": "acme:judge"},
        {"type": "llm-rubric", "value": "polite", "provider": {"id": "other:judge"}},
        {"type": "llm-rubric", "value": "polite", "provider": "acme:judge"},
        {"type": "contains", "value": "please", "metric": "says please"},
    ]
    components = [
        {"pass": verdict, "score": float(verdict), "reason": "…", "assertion": judge}
        for verdict, judge in zip(verdicts, judges, strict=False)
    ]
    return {
        "promptIdx": prompt,
        "testIdx": test,
        "provider": {"id": provider, "label": ""},
        "vars": {"question": "?"},
        "gradingResult": {"pass": all(verdicts), "score": 1, "componentResults": components},
    }


PROMPTFOO = [
    promptfoo_row(t, p, [t % 2 == 0, True, t > 1, False])
    for t in range(3)
    for p in ("acme:a", "acme:b")
]
RATERS = (
    "llm-rubric acme:judge",
    "llm-rubric other:judge",
    "llm-rubric acme:judge 2",
    "says please",
)


def rows_of(ratings):
    frame = ratings.to_long().astype(str)
    return set(zip(frame["item"], frame["rater"], frame["rating"], strict=True))


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_inspect_is_its_csv(tmp_path):
    ratings = read_ratings(write(tmp_path / "log.json", inspect_log()))
    names = ("exact", "model_graded_qa")
    cells = {
        (f"q{i}", name, value)
        for i, pair in enumerate(ANSWERS)
        for name, value in zip(names, pair, strict=True)
        if value
    }
    assert rows_of(ratings) == cells
    table = pd.DataFrame(sorted(cells), columns=["item", "rater", "rating"])
    assert rows_of(read_ratings(table)) == cells
    assert any("log of Inspect: a scorer is a rater" in note for note in ratings.notes)
    assert not any("name is that of" in note for note in ratings.notes)


def test_an_item_is_named_by_what_differs(tmp_path):
    write(tmp_path / "logs" / "1.json", inspect_log("acme/one", epochs=2))
    write(tmp_path / "logs" / "deep" / "2.json", inspect_log("acme/two", epochs=2))
    (tmp_path / "logs" / "notes.txt").write_text("not a log")
    write(tmp_path / "logs" / "other.json", {"a": 1})
    ratings = read_ratings(tmp_path / "logs")
    assert ratings.n_items == 4 * len(ANSWERS)
    assert {"acme/one q0 1", "acme/two q4 2"} <= set(ratings.items.tolist())
    assert any(
        note.startswith("read in this folder: 2 logs of Inspect; a scorer")
        for note in ratings.notes
    )
    groups = read_groups(tmp_path / "logs", "model", ratings, None)
    assert sorted(set(groups.names)) == ["acme/one", "acme/two"]


@pytest.mark.parametrize("choices", [True, False])
def test_harness_has_the_answers_of_a_model_and_the_truth(tmp_path, choices):
    name = "samples_toxic_speech_2026-05-06T07-08-09.123.jsonl"
    for model, answers in (("acme__one", [0, 1, 0, 1]), ("acme__two", [0, 0, 0, 1])):
        write(tmp_path / model / name, harness_log(answers, choices=choices))
        write(tmp_path / model / "results_1.json", {"results": {"t": {}}, "configs": {}})
    ratings = read_ratings(tmp_path)
    assert ratings.raters == ("acme__one", "acme__two") and ratings.categories == (0, 1)
    assert ratings.codes.tolist() == [[0, 0], [1, 0], [0, 0], [1, 1]]
    assert ratings.truth.tolist() == [0, 1, 0, 1]
    one = tmp_path / "acme__two" / name
    assert read_ratings(one).raters == ("acme__two",)
    packed = one.with_name(name + ".gz")
    packed.write_bytes(gzip.compress(one.read_bytes()))
    assert read_ratings(packed).raters == ("acme__two",)


def test_filters_are_raters_and_tasks_name_items(tmp_path):
    text = harness_log([0, 1], choices=False, rule="strict")
    text += harness_log([0, 0], choices=False, rule="flexible")
    write(tmp_path / "m" / "samples_a_2026-05-06T07-08-09.jsonl", text)
    write(tmp_path / "m" / "samples_b_2026-05-06T07-08-09.jsonl", text)
    ratings = read_ratings(tmp_path / "m")
    assert sorted(ratings.raters) == ["m flexible", "m strict"]
    assert sorted(ratings.items.tolist()) == ["a 0", "a 1", "b 0", "b 1"]


@pytest.mark.parametrize("form", ["results.json", "results.jsonl", "results.jsonl.gz"])
def test_promptfoo_has_a_rater_for_each_assertion(tmp_path, form):
    file = tmp_path / form
    lines = "\n".join(map(json.dumps, PROMPTFOO))
    if form.endswith(".gz"):
        file.write_bytes(gzip.compress(lines.encode()))
    else:
        whole = {"evalId": "e", "results": {"version": 3, "results": PROMPTFOO}, "config": {}}
        file.write_text(json.dumps(whole) if form.endswith("json") else lines)
    ratings = read_ratings(file)
    assert ratings.raters == RATERS
    assert ratings.items.tolist() == [f"acme:{m} {t}" for t in range(3) for m in "ab"]
    assert ratings.codes[:2].tolist() == [[1, 1, 0, 0]] * 2  # fail 0, pass 1


NO_SCORES = inspect_log() | {"samples": [{"id": 1, "epoch": 1, "scores": None}]}
SEVERAL = inspect_log()
SEVERAL["samples"][0]["scores"]["exact"]["value"] = {"a": 1, "b": 2}
ONE_LIKELIHOOD = {"doc_id": 1, "filtered_resps": [[-1.0, True]], "target": "x"}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("log.json", NO_SCORES, "this log of Inspect has no ratings; give a log with samples"),
        ("log.json", {"status": "started", "eval": {}}, "has no ratings"),
        ("log.json", SEVERAL, "this log of Inspect has several values for one rating"),
        ("log.json", {"status": "success", "eval": {}, "samples": [{}]}, "has no 'id'"),
        ("log.json", {"status": "success", "eval": {}, "samples": 3}, "has another form"),
        ("r.json", {"results": {"t": {}}, "configs": {}}, "lm-evaluation-harness has no 'doc_id'"),
        ("s.jsonl", ONE_LIKELIHOOD, "lm-evaluation-harness has another form"),
        ("p.json", {"results": {"results": []}}, "this log of promptfoo has no ratings"),
        ("p.jsonl", {"testIdx": 1, "promptIdx": 0}, "promptfoo has no 'provider'"),
        ("log.eval", "PK\x03\x04", "it is a log of Inspect in its own format; write it as JSON"),
    ],
)
def test_a_log_that_lacks_something_is_refused_in_a_line(tmp_path, name, content, said):
    file = write(tmp_path / name, content)
    for path in (file, tmp_path):
        if path == tmp_path and name == "r.json":
            continue  # in a folder it stands beside samples
        with pytest.raises(InputError, match=said) as caught:
            read_ratings(path)
        assert str(file) in str(caught.value) and "\n" not in str(caught.value)


def test_a_folder_holds_logs_of_one_tool(tmp_path):
    with pytest.raises(InputError, match="this is a folder with no logs"):
        read_ratings(tmp_path)
    write(tmp_path / "log.json", inspect_log())
    write(tmp_path / "p.json", {"results": {"results": PROMPTFOO}})
    with pytest.raises(InputError, match="with logs of Inspect and promptfoo"):
        read_ratings(tmp_path)
    write(tmp_path / "p.json", "{")
    with pytest.raises(InputError, match=r"p.json, row 1: it is not JSON"):
        read_ratings(tmp_path)
