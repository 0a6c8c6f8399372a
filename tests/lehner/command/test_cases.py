"""Files as people have them: each with its question, the command to type, and the right answer.

The files are made up in the form of real ones (exports, logs, spreadsheets, questions in forums);
the answers are by independent programs.
"""

import json
import shlex
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "cases"
ALPHA = "krippendorff_alpha"

AGREEMENT = [
    ("01-nltk-none/annotations.csv", "--missing None", 1.0),
    ("01-nltk-none/wide.csv", "--missing None", 1.0),
    ("02-coder-lists/coders.json", "", 0.0),
    ("03-raters-are-rows/coders.csv", "--rater coder --items 'text*'", 0.48451375351960146),
    ("05-gymnast-scores/beam.csv", "--weights interval", 0.7746672702580353),
    ("08-label-studio-json/project-4.json", "", 0.5838673725271664),
    ("09-label-studio-csv/project-4.csv", "--rating sentiment", 0.5838673725271664),
    ("10-doccano-per-annotator", "", 0.4858193277310924),
    ("11-mturk-batch/Batch_4012345_batch_results.csv", "", 0.4458994708994708),
    ("13-zooniverse/classifications.csv", "--rater classification_id", 0.388),
    ("14-inspect-dict-scores/log.json", "--rating correct", 0.568426724137931),
    ("15-deepeval/test_run.json", "", 0.377),
    ("16-langfuse-scores/scores.csv", "--where \"name == 'correctness'\"", 0.5867346938775511),
    ("17-openai-evals", "", 0.38347352795645717),
    (
        "21-excel-sheet-per-rater/reading.xlsx",
        "--sheet each --header 3 --rating Diagnosis",
        0.47154873824839183,
    ),
    ("23-snorkel-abstain/L_train.csv", "--missing=-1", 0.34898648648648645),
    ("24-german-csv/noten.csv", "--encoding cp1252 --decimal ,", 0.5119685302979577),
    (
        "24-german-csv/noten.csv",
        "--encoding cp1252 --decimal , --weights interval",
        0.9117551873789301,
    ),
    ("25-confidence-columns/reads.csv", "--system AI --raters R1,R2,R3", 0.3145998023715415),
    ("26-gold-as-rater/comments.csv", "--system model --truth ADJUDICATED", 0.37037037037037035),
    ("28-alpaca-eval/annotations.json", "", 0.3928571428571429),
    ("29-category-counts/fleiss.csv", "--category-counts", 0.2977781909454308),
    (
        "30-verdict-strings/judgments.jsonl",
        "--missing 'I cannot decide' --labels "
        "'[[A]]=A,[[B]]=B,Answer: A=A,Answer: B=B,B.=B,**A**=A,**B**=B'",
        0.4080123266563944,
    ),
    ("31-arena-single-votes/arena.jsonl", "", None),
    ("42-coders-mostly-blank/coded.csv", "", 0.5261176470588235),
    ("43-crowdkit-golden/crowd.csv", "--truth gt", 0.360342291750234),
    ("45-cannot-tell/trec.csv", '--missing "can\'t tell,N/A,unsure,-"', 0.23116962645437844),
    ("47-superannotate/annotations.json", "", 0.5308924485125859),
    ("48-labelbox/export.ndjson", "", 0.5308924485125859),
    ("49-v7", "", 0.36111111111111116),
    ("50-dataloop/json", "", 0.36111111111111116),
    ("51-prodigy-choices/choice.jsonl", "", 0.4079696394686907),
    ("52-lm-eval-text-likelihoods", "", 0.05747126436781613),
    ("53-appen/f123.csv", "--rating is_this_relevant", 0.37750638854222385),
    ("57-write-table/ratings.txt", "", 0.5289445048966268),
    ("59-pairs/log.csv", "--pair answer_a,answer_b", 0.8134152102031176),
    ("65-potato/annotation_output", "", 0.3590956887486856),
]
PROPOSED = [
    ("46-two-choices/project.json", "", 0.5135135135135135),
    ("54-limesurvey/results-survey.csv", "", 0.1699218750000001),
    ("55-jspsych/data.csv", "", 0.4665360757427359),
    ("56-two-sessions/readings.xlsx", "--raters '*session 1'", 0.4732142857142857),
    ("58-participants/survey.csv", "", 0.23816094797727316),
    ("61-sex-and-nines/export.csv", "", 0.5664929262844378),
    ("63-segments/coders.xlsx", "", 0.448382126),
    ("64-verdicts/judge_log.jsonl", "--raters output.verdict,human_label", 0.418511066),
]


def commands_of(said):
    return {x["question"]: x["command"] for x in said["questions"] if not x["missing"]}


def say(run, command, file, options):
    code, out, err = run(command, FOLDER / file, *shlex.split(options), "--json")
    assert not err, err
    return code, json.loads(out)


def coefficient(said, name, **where):
    where = {"quantity": name, "rater": "", "category": "", "group": ""} | where
    rows = [row for row in said["rows"] if where.items() <= row.items()]
    return rows[0]["estimate"] if rows else None


@pytest.mark.parametrize(("file", "options", "alpha"), AGREEMENT)
def test_alpha_is_right(run, file, options, alpha):
    words = options if "--weights" in options else f"{options} --weights identity"
    code, said = say(run, "agreement", file, words)
    assert code == (1 if alpha is None else 0)
    result = coefficient(said, ALPHA)
    assert result == alpha if alpha is None else result == pytest.approx(alpha, abs=5e-5)


@pytest.mark.parametrize(
    ("file", "kappa"),
    [
        ("66-cvat", 0.402),
        ("67-webanno/annotation", 0.571),
        ("68-phoenix/annotations.csv", 0.298),
        ("69-mlflow/traces.json", 0.266),
    ],
)
def test_kappa_is_right_by_the_command_of_the_doctor(run, file, kappa):
    _, said = say(run, "doctor", file, "")
    words = shlex.split(commands_of(said)["how far raters agree"])
    _, out, _ = run(*words[1:], "--json")
    assert coefficient(json.loads(out), "cohen_kappa") == pytest.approx(kappa, abs=5e-4)


def test_fleiss_kappa_of_counts(run):
    _, said = say(run, "agreement", "29-category-counts/fleiss.csv", "--category-counts")
    assert coefficient(said, "fleiss_kappa") == pytest.approx(0.2938551640792042)


def test_criteria_are_tables_of_their_own(run):
    expected = {
        "item1": 0.7932,
        "item2": 0.7932,
        "item3": -0.0228,
        "item4": 0.2734,
        "item5": 0.0442,
    }
    options = "--item patient --rater rater --criteria " + ",".join(expected)
    _, said = say(run, "agreement", "04-criteria-columns/scores.csv", options)
    result = {name: coefficient(said, ALPHA, group=name) for name in expected}
    assert result == pytest.approx(expected, abs=5e-5)


def test_sets_of_labels(run):
    expected = {
        **{"1": 0.748, "2": 0.597, "3": 0.618, "4": 0.582, "5": 0.654, "6": 0.674, "7": 0.736},
        **{"8": 0.583, "9": 0.583, "10": 0.687, "11": 0.702},
    }
    _, said = say(run, "agreement", "06-multilabel-cells/recommendations.csv", "--sets")
    percent = "percent_agreement"
    assert coefficient(said, percent, weights="equal") == pytest.approx(0.4)
    assert coefficient(said, percent, weights="jaccard") == pytest.approx(0.6514, abs=5e-5)
    by_label = {label: coefficient(said, ALPHA, category=label) for label in expected}
    assert by_label == pytest.approx(expected, abs=5e-4)


def test_votes_on_pairs_of_models(run):
    """gpt-4 agrees with a person in .60625 of the pairs of votes, people in .525."""
    _, said = say(run, "agreement", "07-mtbench-votes/votes.json", "")
    pairs = [
        row for row in said["rows"] if row["quantity"] == "percent_agreement" and row["versus"]
    ]
    with_gpt = [row for row in pairs if "gpt" in row["rater"] + row["versus"]]
    agreeing = sum(row["n_items"] * row["estimate"] for row in with_gpt)
    assert agreeing / sum(row["n_items"] for row in with_gpt) == pytest.approx(0.60625)
    _, said = say(run, "agreement", "07-mtbench-votes/votes.json", "--raters 'expert*'")
    assert coefficient(said, "percent_agreement") == pytest.approx(0.525)


def test_epochs_are_clusters(run):
    """The share is .49 ± .097; items of one sample, taken for independent, would give ± .058."""
    _, said = say(run, "compare", "36-inspect-epochs/log.json", "--method majority")
    (row,) = [
        row for row in said["rows"] if (row["quantity"], row["category"]) == ("base_rates", "C")
    ]
    assert row["estimate"] == pytest.approx(0.49)
    assert row["upper"] - row["lower"] == pytest.approx(2 * 0.097, abs=0.004)


def test_a_judge_and_some_humans(run):
    """The pass rate, corrected, and how often the judge is right of what passes and fails."""
    file, options = "35-judge-and-some-humans/results.csv", "--truth human"
    _, said = say(run, "compare", file, f"{options} --raters judge --good pass")
    rates = {row["method"]: row for row in said["rows"] if row["quantity"] == "base_rates"}
    for method, rate in {"judge": 0.69, "rogan_gladen": 0.68588717, "gold_labels": 0.5375}.items():
        assert rates[method]["estimate"] == pytest.approx(rate), method
    for method in ("post_stratified", "prediction_powered"):
        assert rates[method]["lower"] < 0.6175 < rates[method]["upper"]
    _, said = say(run, "estimate", file, f"{options} --system judge")
    recalls = {row["category"]: row for row in said["rows"] if row["quantity"] == "recall"}
    # Of 400 items 276 are said to pass: of 47 labelled of these 39 do, and 4 of the 33 others.
    passing, failing = (276 * 39 / 47, 124 * 4 / 33), (276 * 8 / 47, 124 * 29 / 33)
    assert recalls["pass"]["estimate"] == pytest.approx(passing[0] / sum(passing))
    assert recalls["fail"]["estimate"] == pytest.approx(failing[1] / sum(failing))


def test_may_the_model_replace_an_annotator(run):
    """What the model is ahead of each person by, and how often it is as good or better."""
    options = "--system llm --method majority_agreement"
    _, said = say(run, "estimate", "37-may-the-llm-replace-us/emotions.csv", options)
    result = {
        quantity: [row["estimate"] for row in said["rows"] if row["quantity"] == quantity]
        for quantity in ("advantage_difference", "advantage_probability", "winning_rate")
    }
    assert result["advantage_difference"] == pytest.approx([0.05, 0.075, 0.25])
    assert result["advantage_probability"] == pytest.approx([0.9125, 0.925, 0.925])
    assert result["winning_rate"] == [1.0, 1.0, 1.0]


REFUSED = [
    ("03-raters-are-rows/coders.csv", "", "--rater coder --items 'text*'"),
    ("04-criteria-columns/scores.csv", "", "choose among item1, item2"),
    ("06-multilabel-cells/recommendations.csv", "", "(--sets)"),
    ("09-label-studio-csv/project-4.csv", "", "(--rating): choose among sentiment"),
    ("13-zooniverse/classifications.csv", "", "--repeated vote"),
    ("14-inspect-dict-scores/log.json", "", "--rating samples.scores.value.correct"),
    ("16-langfuse-scores/scores.csv", "", "--where \"name == 'correctness'\""),
    ("23-snorkel-abstain/L_train.csv", "", "--missing=-1"),
    ("24-german-csv/noten.csv", "", "--encoding cp1252"),
    ("24-german-csv/noten.csv", "--encoding cp1252", "--decimal ,"),
    ("25-confidence-columns/reads.csv", "", "--system AI"),
    ("26-gold-as-rater/comments.csv", "", "--system model"),
    ("26-gold-as-rater/comments.csv", "--system model", "--truth ADJUDICATED"),
    ("29-category-counts/fleiss.csv", "", "--category-counts"),
    ("30-verdict-strings/judgments.jsonl", "", "--labels '**A**=A,"),
    ("41-ods/agreement.ods", "", "save the table with the ratings as CSV"),
    ("41-ods/x.sav", "", "save the table with the ratings as CSV"),
    ("45-cannot-tell/trec.csv", "", "--missing=-"),
    ("60-names-and-codes/double.csv", "", "coder1, coder2 share no label with code1, code2"),
    ("62-sagemaker-manifest/output.manifest", "", "--raters sport-job1,sport-job2"),
]


@pytest.mark.parametrize(("file", "options", "way"), REFUSED)
def test_what_is_not_clear_is_refused_in_one_line_that_names_the_way(run, file, options, way):
    code, out, err = run("agreement", FOLDER / file, *shlex.split(options))
    assert (code, out) == (2, "") and err.count("\n") == 1 and way in err


@pytest.mark.parametrize(("file", "options", "alpha"), PROPOSED)
def test_what_the_doctor_proposes_is_right(run, file, options, alpha):
    _, said = say(run, "doctor", file, options)
    words = shlex.split(commands_of(said)["how far raters agree"])
    _, out, _ = run(*words[1:], "--json", "--weights", "identity")
    assert coefficient(json.loads(out), ALPHA) == pytest.approx(alpha, abs=5e-5)


UNDECIDED = {"04", "06", "13", "41", "56", "59", "60", "64"}


@pytest.mark.parametrize("case", sorted(path.name for path in FOLDER.iterdir()))
def test_the_doctor_reads_what_commands_read(run, case):
    """What it proposes is what the commands with its options read; else it refuses as they do."""
    (file, *others) = sorted((FOLDER / case).iterdir())
    data = FOLDER / case if others and case[:2] in ("10", "17", "49", "52", "66") else file
    code, out, err = run("doctor", data, "--json")
    if case[:2] in UNDECIDED:
        assert (code, out) == (2, "") and err.count("\n") == 1
        return
    assert code == 0, err
    said = json.loads(out)
    for command in commands_of(said).values():
        words = shlex.split(command)
        if words[1] == "agreement":
            code, _, err = run(*words[1:])
            assert code == (1 if case.startswith("31") else 0), err
