"""The public crowds with truth that `sources.toml` lists: their files, and how these are read.

Run in a clone, `python -m experiments.benchmarks.real.sources` prints which files of which
repositories go where; nothing is fetched. With FOLDER, where they are, it writes `crowds.csv`, and
the priors of `calibrated`, which are trained on how systems did in all evaluation designs of all
crowds, `outcomes.csv`.
"""

import argparse
import csv
import hashlib
import json
import sys
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.report.files import write_csv, write_text
from lehner import InputError, Ratings
from lehner.core.lazy import load
from lehner.empirical_prior.designs import DESIGNS, choose_panels, draw_outcomes
from lehner.empirical_prior.prior import format_priors, train_priors

rdata = load("rdata")

type Reader = Callable[[Sequence[Path]], Ratings]
type Rows = Sequence[tuple[str, str, str]]

MIDDLE_OF_SCORES = 4.5
ABNORMAL_FROM = 3

OUTCOMES = Path(__file__).with_name("outcomes.csv")
SEED = 2026


def make_crowd(rows: Rows, truth: Mapping[str, str]) -> Ratings:
    """Give ratings with truth from rows of item, rater and rating.

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
    truths = tuple(truth.get(item) for item in items)
    return Ratings.from_long(columns | {"truth": truths}, truth="truth")


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
    rows = [(row["item"], row["worker"], row["label"]) for row in _read_table(labels, "worker")]
    return make_crowd(rows, {row["item"]: row["truth"] for row in _read_table(truths, "truth")})


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
    labels, truths = (
        list(_read_tab_separated(path, n)) for path, n in zip(files, (3, 2), strict=True)
    )
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
    responses = list(_read_table(path, "orig_id"))
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
            decided = decision in ("A>B", "B>A")
            rows.append((pair["pair_id"], judge, decision if decided else ""))
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
        for number, row in enumerate(_read_table(path, "parsed_output")):
            rows.append((str(number), path.stem, _cut_in_middle(row["parsed_output"])))
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
    rated = frame[frame["treatment"].map(_write_whole) == treatment]
    case, reader, truth = (rated[name].map(_write_whole) for name in ("case", "reader", "truth"))
    abnormal = (rated["rating"] >= ABNORMAL_FROM).astype(int).astype(str)
    rows = list(zip(case, reader, abnormal, strict=True))
    return make_crowd(rows, dict(zip(case, truth, strict=True)))


def read_data_frame(path: Path) -> pd.DataFrame:
    """Read the one data frame of an .RData file."""
    try:
        with warnings.catch_warnings():
            # A class of R that extends data frames is read as one.
            warnings.simplefilter("ignore")
            (frame,) = rdata.read_rda(path, default_encoding="utf-8").values()
    except Exception as error:
        problem = "this is no .RData file with one data frame"
        raise InputError(problem, "take it from its repository", file=path) from error
    return frame


def _write_whole(value: Any) -> str:
    return str(int(value))


def _cut_in_middle(score: str) -> str:
    try:
        return str(int(float(score) > MIDDLE_OF_SCORES))
    except ValueError:
        return ""


def _read_table(path: Path, column: str) -> Iterator[dict[str, str]]:
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


def _read_tab_separated(path: Path, columns: int) -> Iterator[list[str]]:
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


READERS: dict[str, Callable[..., Ratings]] = {
    reader.__name__: reader
    for reader in (
        read_label_and_truth,
        read_worker_item_label,
        read_responses,
        read_pair_judges,
        read_judgments,
        read_scores,
        read_readings,
    )
}


@dataclass(frozen=True, kw_only=True)
class Source:
    """One crowd.

    Parameters
    ----------
    name : str
    folder : str
        Name of the repository: what cloning it calls the folder.
    address, licence : str
        Of the repository; the licence as its files say.
    files : tuple of str
        Paths in the repository.
    reader : callable
        From these files to ratings with truth.
    family : str
        Shared by crowds that rated the same items or came from the same study.
    domain : {"crowd", "experts", "language models"}
        Who rates.
    """

    name: str
    folder: str
    address: str
    licence: str
    files: tuple[str, ...]
    reader: Reader
    family: str
    domain: str

    @property
    def split(self) -> str:
        """Give "report" for about a third of the families, by a hash of their name, else "choose".

        Models may be chosen by the crowds of "choose". Those of "report" are to be looked at once,
        when everything is chosen.
        """
        digest = hashlib.sha256(self.family.encode()).hexdigest()
        return "report" if int(digest, 16) % 3 == 0 else "choose"

    def list_paths(self, folder: Path) -> tuple[Path, ...]:
        """Give where its files are expected."""
        return tuple(folder / self.folder / file for file in self.files)


def _read_sources() -> dict[str, Source]:
    listed = tomllib.loads(Path(__file__).with_name("sources.toml").read_text(encoding="utf-8"))
    return {
        name: Source(
            name=name,
            folder=crowd["repository"],
            **listed["repositories"][crowd["repository"]],
            files=tuple(crowd["files"]),
            reader=partial(READERS[crowd["reader"]], **crowd.get("options", {})),
            family=crowd.get("family", name),
            domain=crowd.get("domain", "crowd"),
        )
        for name, crowd in listed["crowds"].items()
    }


SOURCES = _read_sources()


def list_files() -> Iterator[str]:
    """Say which files come from where, under which licence, and where to put them."""
    yield "Clone these repositories into FOLDER, or put the files there under the same paths."
    address = ""
    for source in sorted(SOURCES.values(), key=lambda source: source.address):
        if source.address != address:
            address = source.address
            yield f"\n{address}  licence: {source.licence}"
        yield f"  {source.name} ({source.split})"
        yield from (f"    {path}" for path in source.list_paths(Path("FOLDER")))


def list_missing(source: Source, folder: Path) -> list[InputError]:
    """Give an error for each file of a crowd that is not there, saying where it comes from."""
    return [
        InputError(
            f"this file of the crowd {source.name} is missing",
            f"put {file} of {source.address} there, or leave the crowd out",
            file=path,
        )
        for file, path in zip(source.files, source.list_paths(folder), strict=True)
        if not path.is_file()
    ]


def read_crowd(source: Source, folder: Path) -> Ratings:
    """Read a crowd.

    Parameters
    ----------
    source : Source
    folder : Path
        With a folder for each repository.

    Returns
    -------
    Ratings
        With truth, without a system.

    Raises
    ------
    InputError
        If a file is missing or not as it was published.
    """
    for error in list_missing(source, folder):
        raise error
    return source.reader(source.list_paths(folder))


def describe_crowd(source: Source, folder: Path) -> dict[str, object]:
    """Say who rates, how large a crowd is, and where it is from, under which licence."""
    crowd = read_crowd(source, folder)
    return {
        "crowd": source.name,
        "domain": source.domain,
        "split": source.split,
        "items": crowd.n_items,
        "with truth": int((np.asarray(crowd.truth) >= 0).sum()),
        "raters": crowd.n_raters,
        "ratings": crowd.n_ratings,
        "categories": crowd.n_categories,
        **{f"systems, {design}": len(choose_panels(crowd, design)) for design in DESIGNS},
        "repository, licence": f"{source.folder}, {source.licence}",
    }


def read_outcomes(path: Path = OUTCOMES) -> pd.DataFrame:
    """Read outcomes that were kept, by default those of the shipped priors."""
    # Some readers of pandas miss the last digit of a number.
    exact = dict.fromkeys(("ratings_per_item", "agreement", "accuracy"), float)
    return pd.read_csv(path, converters=exact)


def main() -> int:
    """Print which files go where or, of a folder with them, write tables and priors."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.benchmarks.real.sources", description=__doc__.splitlines()[0]
    )
    parser.add_argument("folder", type=Path, nargs="?", help="with a folder for each repository")
    parser.add_argument("--output", type=Path, default=Path("."), help="folder for what is made")
    options = parser.parse_args()
    folder, sources = options.folder, SOURCES.values()
    if folder is None:
        print("\n".join(list_files()))
        return 0
    missing = [error for source in sources for error in list_missing(source, folder)]
    if missing:
        print(*missing, sep="\n", file=sys.stderr)
        return 2
    crowds = pd.DataFrame(describe_crowd(source, folder) for source in sources)
    outcomes = pd.concat(
        draw_outcomes(source.name, source.family, read_crowd(source, folder), SEED)
        for source in sources
    )
    options.output.mkdir(parents=True, exist_ok=True)
    file = write_csv(outcomes, options.output / OUTCOMES.name)
    priors = format_priors(train_priors(read_outcomes(file)))
    for path in (
        write_csv(crowds, options.output / "crowds.csv"),
        file,
        write_text(priors, options.output / "priors.json"),
    ):
        print(f"wrote {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
