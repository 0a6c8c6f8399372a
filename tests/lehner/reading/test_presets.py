"""Exports of tools are read as the CSV file of the same ratings is, one or a folder."""

import gzip
import json

import pandas as pd
import pytest

from lehner import InputError, read_ratings
from lehner.command.load import read_groups
from lehner.data.reading import Reading
from lehner.reading.rows import find_preset, list_presets

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
    "llm-rubric acme:judge 1",
    "llm-rubric acme:judge 3",
    "llm-rubric other:judge 2",
    "says please 4",
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
    assert any("an export of Inspect: a scorer is a rater" in note for note in ratings.notes)


def test_an_item_is_named_by_what_differs(tmp_path):
    write(tmp_path / "logs" / "1.json", inspect_log("acme/one", epochs=2))
    write(tmp_path / "logs" / "deep" / "2.json", inspect_log("acme/two", epochs=2))
    (tmp_path / "logs" / "notes.txt").write_text("not a log")
    write(tmp_path / "logs" / "other.json", {"a": 1})
    ratings = read_ratings(tmp_path / "logs")
    assert ratings.n_items == 4 * len(ANSWERS)
    assert {"q0 acme/one 1", "q4 acme/two 2"} <= set(ratings.items.tolist())
    assert "read in this folder: 2 files of Inspect; others were not: other.json" in ratings.notes
    groups = read_groups(tmp_path / "logs", ["eval.model"], ratings)
    assert sorted(set(groups.names)) == ["acme/one", "acme/two"]
    assert ratings.n_clusters == len(ANSWERS)  # epochs of a sample are not independent


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
    file = tmp_path / "acme__two" / name
    assert read_ratings(file).raters == ("acme__two",)
    packed = file.with_name(name + ".gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert read_ratings(packed).raters == ("acme__two",)


def test_filters_are_raters_and_tasks_name_items(tmp_path):
    text = harness_log([0, 1], choices=False, rule="strict")
    text += harness_log([0, 0], choices=False, rule="flexible")
    write(tmp_path / "m" / "samples_a_2026-05-06T07-08-09.jsonl", text)
    write(tmp_path / "m" / "samples_b_2026-05-06T07-08-09.jsonl", text)
    ratings = read_ratings(tmp_path / "m")
    assert sorted(ratings.raters) == ["m flexible", "m strict"]
    assert sorted(ratings.items.tolist()) == ["0 a", "0 b", "1 a", "1 b"]


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
    assert ratings.items.tolist() == [f"{t} acme:{m}" for t in range(3) for m in "ab"]
    assert ratings.codes[:2].tolist() == [[1, 0, 1, 0]] * 2  # fail 0, pass 1


SEVERAL = inspect_log()
SEVERAL["samples"][0]["scores"]["exact"]["value"] = {"a": 1, "b": 2}
NO_ID = inspect_log()
NO_ID["samples"] = [{"scores": {"exact": {"value": "C"}}}]
ONE_LIKELIHOOD = {"doc_id": 1, "filtered_resps": [[-1.0, True]], "target": "x"}
NO_TEST = {"testIdx": None, "gradingResult": {"componentResults": [{"pass": True}]}}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "log.json",
            SEVERAL,
            "samples.scores.value holds several values: .*rating='samples.scores",
        ),
        ("log.json", NO_ID, "this file of Inspect has no samples.id"),
        ("s.jsonl", ONE_LIKELIHOOD, "a likelihood of one choice is no answer"),
        ("p.jsonl", NO_TEST, "this file of promptfoo has no testIdx"),
        ("log.eval", "PK\x03\x04", "write this log of Inspect as JSON"),
    ],
)
def test_an_export_that_lacks_something_is_refused_in_a_line(tmp_path, name, content, said):
    file = write(tmp_path / name, content)
    for path in (file, tmp_path):
        with pytest.raises(InputError, match=said) as caught:
            read_ratings(path)
        assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_folder_holds_files_of_one_tool(tmp_path):
    with pytest.raises(InputError, match="this is a folder with no files of ratings"):
        read_ratings(tmp_path)
    write(tmp_path / "log.json", inspect_log())
    write(tmp_path / "p.json", {"results": {"results": PROMPTFOO}})
    with pytest.raises(InputError, match="with files of Inspect and promptfoo"):
        read_ratings(tmp_path)
    write(tmp_path / "p.json", "{")
    with pytest.raises(InputError, match=r"p.json, row 1: it is not JSON"):
        read_ratings(tmp_path)


def test_a_folder_of_tables_is_a_rater_a_file_and_a_bad_one_is_named(tmp_path):
    for name, labels in (("Ann", "aab"), ("Bo", "aba")):
        rows = [f"{i},{label}" for i, label in enumerate(labels)]
        write(tmp_path / f"{name}.csv", "\n".join(["item,rating", *rows]))
    ratings = read_ratings(tmp_path)
    assert ratings.raters == ("Ann", "Bo") and ratings.codes.tolist() == [[0, 0], [0, 1], [1, 0]]
    for other in ("deep/other.csv", ".ipynb_checkpoints/Ann-checkpoint.csv"):
        write(tmp_path / other, "item,rating\n0,a\n")
    assert read_ratings(tmp_path).raters == ("Ann", "Bo")
    write(tmp_path / "all" / "Cy" / "labels.csv", "item,rating\n0,a\n")
    write(tmp_path / "all" / "Di" / "labels.csv", "item,rating\n0,a\n")
    assert read_ratings(tmp_path / "all").raters == ("Cy/labels.csv", "Di/labels.csv")
    write(tmp_path / "Cy.csv", "item,rating\n0,a\n1,?\n")
    with pytest.raises(InputError, match=r"Cy.csv, row 3, column 'rating': '\?'"):
        read_ratings(tmp_path)
    write(tmp_path / "Cy.csv", "item,said\n0,a\n")
    with pytest.raises(InputError, match=r"Cy.csv: its columns are item, said"):
        read_ratings(tmp_path)
    assert read_ratings(tmp_path / "[AB]*.csv").raters == ("Ann", "Bo")


def test_a_file_of_another_ending_is_left_out_and_a_pattern_chooses_files(tmp_path):
    for name, labels in (("Ann", "aab"), ("Bo", "aba")):
        rows = [json.dumps({"item": i, "rating": label}) for i, label in enumerate(labels)]
        write(tmp_path / f"{name}.jsonl", "\n".join(rows))
    write(tmp_path / "state.json", {"order": [], "project": {"id": 1}})
    write(tmp_path / "deep" / "people.csv", "name,age\nAnn,30\n")
    ratings = read_ratings(tmp_path)
    assert ratings.raters == ("Ann", "Bo")
    assert any("others were not: people.csv, state.json" in note for note in ratings.notes)
    assert read_ratings(f"{tmp_path}/*.jsonl").equals(ratings)
    with pytest.raises(InputError, match="no file has such a name"):
        read_ratings(tmp_path / "*.tsv")


HAS = {tool: preset.has for tool, preset in list_presets().items()}


@pytest.mark.parametrize("tool", HAS)
def test_a_preset_is_found_by_the_columns_that_it_names_alone(tool):
    """No tool's columns hide those of another, and what is no tool's is none's."""
    content = {}
    for path in HAS[tool]:
        *outer, last = path.split(".")
        place = content
        for name in outer:
            place = place.setdefault(name, {})
        place.setdefault(last, {})
    result = find_preset([content], Reading())
    assert result.tool == tool or set(HAS[result.tool]) <= set(HAS[tool])
    assert find_preset([content], Reading(preset="none")) is None
    assert find_preset([{"id": 1, "label": 2}], Reading()) is None


HUMANS = {"a1": ["yes", "yes"], "a2": ["yes", "no"]}


def test_argilla_and_prodigy_and_toloka(tmp_path):
    records = [
        {
            "id": f"r{i}",
            "fields": {"text": "…"},
            "responses": {"label": [{"user_id": who, "value": HUMANS[who][i]} for who in HUMANS]},
        }
        for i in (0, 1)
    ]
    prodigy = [
        {"_input_hash": i, "text": "…", "_annotator_id": who, "answer": HUMANS[who][i]}
        for i in (0, 1)
        for who in HUMANS
    ]
    prodigy.append({"_input_hash": 1, "_annotator_id": "a1", "answer": "ignore"})
    head = "INPUT:text\tOUTPUT:ok\tGOLDEN:ok\tASSIGNMENT:worker_id\tASSIGNMENT:status\n"
    rows = [
        f"t{i}\t{HUMANS[who][i]}\t{'no' if i else ''}\t{who}\tAPPROVED"
        for i in (0, 1)
        for who in HUMANS
    ]
    toloka = head + "\n".join([*rows, "t1\tyes\t\ta3\tREJECTED", "t1\t\t\ta4\tACTIVE"])
    files = [
        write(tmp_path / "argilla.json", records),
        write(tmp_path / "prodigy.jsonl", "\n".join(map(json.dumps, prodigy))),
        write(tmp_path / "toloka.tsv", toloka),
    ]
    for file in files:
        ratings = read_ratings(file)
        assert ratings.raters == ("a1", "a2") and ratings.categories == ("no", "yes")
        assert ratings.codes.tolist() == [[1, 1], [1, 0]]
    assert ratings.truth.tolist() == [-1, 0]


def test_rayyan_flat_argilla_and_ticked_answers_of_mturk(tmp_path):
    included = {"yes": "Included", "no": "Excluded"}
    notes = [
        "RAYYAN-INCLUSION: {"
        + ", ".join(f'""{who}""=>""{included[HUMANS[who][i]]}""' for who in HUMANS)
        + "} | RAYYAN-LABELS: x"
        for i in (0, 1)
    ]
    argilla = [
        {
            "id": f"r{i}",
            "status": "completed",
            "_server_id": "s",
            "label.responses": [HUMANS[who][i] for who in HUMANS] + ["no"],
            "label.responses.users": [*HUMANS, "a3"],
            "label.responses.status": ["submitted", "submitted", "draft"],
        }
        for i in (0, 1)
    ]
    ticks = [
        f"H{i},{who},Approved,{label == 'no'},{label == 'yes'}"
        for who in HUMANS
        for i, label in enumerate(HUMANS[who])
    ]
    head = "HITId,WorkerId,AssignmentStatus,Answer.ok.no,Answer.ok.yes"
    rows = ["key,title,notes", *(f'r{i},T,"{note}"' for i, note in enumerate(notes))]
    files = {
        write(tmp_path / "rayyan.csv", "\n".join(rows)): ("Excluded", "Included"),
        write(tmp_path / "argilla.json", argilla): ("no", "yes"),
        write(tmp_path / "mturk.csv", "\n".join([head, *ticks])): ("no", "yes"),
    }
    for file, categories in files.items():
        ratings = read_ratings(file)
        assert ratings.raters == ("a1", "a2") and ratings.categories == categories
        assert ratings.codes.tolist() == [[1, 1], [1, 0]]


def test_lists_without_names_of_raters(tmp_path):
    by_position = [{"id": i, "votes": [{"label": x} for x in row]} for i, row in enumerate(LISTS)]
    in_a_field = [{"id": i, "votes": row} for i, row in enumerate(LISTS)]
    by_item = {f"q{i}": row for i, row in enumerate(LISTS)}
    with pytest.raises(InputError, match=r"votes.position|name its columns"):
        read_ratings(write(tmp_path / "p.json", by_position))
    for content, options in (
        (by_position, {"item": "id", "rater": "votes.position", "rating": "label"}),
        (in_a_field, {"item": "id", "raters": ["votes.*"]}),
        (by_item, {}),
    ):
        ratings = read_ratings(write(tmp_path / "p.json", content), **options)
        assert ratings.codes.tolist() == [[0, 1], [1, 1], [0, 0], [1, 0]]


LISTS = [["no", "yes"], ["yes", "yes"], ["no", "no"], ["yes", "no"]]
