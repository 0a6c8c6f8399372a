"""Readers of the formats in which public crowds with truth are kept: files in, a crowd out."""

import csv
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lehner import InputError, Ratings

if TYPE_CHECKING:
    import pandas as pd

type Rows = Sequence[tuple[str, str, str]]

MIDDLE_OF_SCORES = 4.5
ABNORMAL_FROM = 3


def make_crowd(rows: Rows, truth: Mapping[str, str]) -> Ratings:
    """Ratings with truth from rows of item, rater and rating.

    Parameters
    ----------
    rows : sequence of (item, rater, rating)
        A rating that is empty is missing. Where a rater rated an item more than once, the first
        rating counts.
    truth : mapping of item to category
        Items without a rating are left out.

    Returns
    -------
    Ratings
        Without a system.

    Examples
    --------
    >>> crowd = make_crowd([("1", "x", "a"), ("1", "y", "b"), ("1", "x", "b")], {"1": "b"})
    >>> crowd, crowd.truth
    (Ratings: 1 item, 2 raters, 2 ratings, 2 categories (a, b), truth, array([1]))
    """
    first: dict[tuple[str, str], str] = {}
    for item, rater, rating in rows:
        if rating:
            first.setdefault((item, rater), rating)
    items, raters = zip(*first, strict=True)
    columns = {"item": items, "rater": raters, "rating": tuple(first.values())}
    known = tuple(truth.get(item) for item in items)
    return Ratings.from_long(columns | {"truth": known}, truth="truth")


def read_label_and_truth(files: Sequence[Path]) -> Ratings:
    """Read `label.csv` (item, worker, label) and `truth.csv` (item, truth).

    Parameters
    ----------
    files : sequence of Path
        The two, in this order.

    Returns
    -------
    Ratings
    """
    labels, truths = files
    rows = [(row["item"], row["worker"], row["label"]) for row in _table(labels, "worker")]
    return make_crowd(rows, {row["item"]: row["truth"] for row in _table(truths, "truth")})


def read_worker_item_label(files: Sequence[Path]) -> Ratings:
    """Read two files without header, tab-separated: worker, item, label; and item, truth.

    Parameters
    ----------
    files : sequence of Path
        The two, in this order.

    Returns
    -------
    Ratings
    """
    labels, truths = (list(_tab_separated(path, n)) for path, n in zip(files, (3, 2), strict=True))
    return make_crowd([(item, worker, label) for worker, item, label in labels], dict(truths))


def read_responses(files: Sequence[Path]) -> Ratings:
    """Read a table with a row per response, which repeats the item's gold answer.

    Parameters
    ----------
    files : sequence of Path
        One file, comma- or tab-separated, with columns `orig_id`, `!amt_worker_ids`, `response`
        and `gold`.

    Returns
    -------
    Ratings
    """
    (path,) = files
    responses = list(_table(path, "orig_id"))
    rows = [(row["orig_id"], row["!amt_worker_ids"], row["response"]) for row in responses]
    return make_crowd(rows, {row["orig_id"]: row["gold"] for row in responses})


def read_pair_judges(files: Sequence[Path]) -> Ratings:
    """Read which of two answers language models prefer, a JSON file for each model and subset.

    Parameters
    ----------
    files : sequence of Path
        `.../<subset>/evaluators/<model>/<prompt>/result.json`. The order in which the answers
        were shown first counts, not the swapped one.

    Returns
    -------
    Ratings
    """
    rows, truth = [], {}
    for path in files:
        subset, _, model = path.parts[-5:-2]
        for number, pair in enumerate(json.loads(path.read_text(encoding="utf-8"))):
            item = f"{subset} {number}"
            winner = pair["results"][0]["swap = False"]["winner"]
            rows.append((item, model, winner if winner in ("1", "2") else ""))
            truth[item] = str(pair["label"])
    return make_crowd(rows, truth)


def read_judgments(files: Sequence[Path]) -> Ratings:
    """Read which of two answers judges prefer, a file of JSON lines for each judge.

    Parameters
    ----------
    files : sequence of Path
        The decision in the first order of the answers counts; no decision and a tie are missing.

    Returns
    -------
    Ratings
    """
    rows, truth = [], {}
    for path in files:
        judge = path.stem.rpartition("judge_model=")[2]
        for line in path.read_text(encoding="utf-8").splitlines():
            pair: dict[str, Any] = json.loads(line)
            decision = str((pair["judgments"][0] or {}).get("decision"))
            known = decision in ("A>B", "B>A")
            rows.append((pair["pair_id"], judge, decision if known else ""))
            truth[pair["pair_id"]] = pair["label"]
    return make_crowd(rows, truth)


def read_scores(files: Sequence[Path]) -> Ratings:
    """Read scores from 0 to 9 of language models, a CSV file for each, cut in the middle.

    Parameters
    ----------
    files : sequence of Path
        With columns `parsed_output` and `label` (0 or 1), items in the same order. What is no
        number is missing.

    Returns
    -------
    Ratings
    """
    rows, truth = [], {}
    for path in files:
        for number, row in enumerate(_table(path, "parsed_output")):
            rows.append((str(number), path.stem, _above_middle(row["parsed_output"])))
            truth[str(number)] = str(int(float(row["label"])))
    return make_crowd(rows, truth)


def read_readings(files: Sequence[Path], treatment: str) -> Ratings:
    """Read how sure readers are, from 1 to 5, that cases are abnormal; 3 or more says they are.

    Parameters
    ----------
    files : sequence of Path
        One .RData file with a data frame: `reader`, `treatment`, `case`, `truth` (0 or 1) and
        `rating`.
    treatment : str
        The treatment to read.

    Returns
    -------
    Ratings
    """
    frame = read_data_frame(files[0])
    rated = frame[frame["treatment"].map(_whole) == treatment]
    case, reader, truth = (rated[name].map(_whole) for name in ("case", "reader", "truth"))
    abnormal = (rated["rating"] >= ABNORMAL_FROM).astype(int).astype(str)
    rows = list(zip(case, reader, abnormal, strict=True))
    return make_crowd(rows, dict(zip(case, truth, strict=True)))


def read_data_frame(path: Path) -> "pd.DataFrame":
    """Read the one data frame of an .RData file."""
    import rdata

    try:
        with warnings.catch_warnings():
            # A class of R that extends data frames is read as one.
            warnings.simplefilter("ignore")
            (frame,) = rdata.read_rda(path, default_encoding="utf-8").values()
    except Exception as error:
        problem = "this is no .RData file with one data frame"
        raise InputError(problem, "take it from its repository", file=path) from error
    return frame


def _whole(value: Any) -> str:
    return str(int(value))


def _above_middle(score: str) -> str:
    try:
        return str(int(float(score) > MIDDLE_OF_SCORES))
    except ValueError:
        return ""


def _table(path: Path, column: str) -> Iterator[dict[str, str]]:
    csv.field_size_limit(10_000_000)
    with path.open(encoding="utf-8", newline="") as file:
        header = file.readline()
        file.seek(0)
        table = csv.DictReader(file, delimiter="\t" if "\t" in header else ",")
        if column not in (table.fieldnames or ()):
            raise InputError(
                f"there is no column {column!r}",
                "take the file as its repository has it",
                file=path,
            )
        yield from table


def _tab_separated(path: Path, columns: int) -> Iterator[list[str]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        fields = line.split("\t")
        if not line.strip():
            continue
        if len(fields) < columns:
            raise InputError(
                f"{len(fields)} tab-separated fields instead of {columns}",
                "take the file as its repository has it",
                file=path,
                row=number,
            )
        yield fields[:columns]
