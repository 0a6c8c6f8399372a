"""The public crowds with gold labels: who rates, what is rated, where from, under which licence.

Panels of language models are listed apart, in `panels.toml`. The files are not in this repository,
as some come without a licence to pass them on; a folder has a clone of each repository that the
lists name, or its files under the same paths. In a clone of this repository,
`python -m experiments.benchmarks.real.sources FOLDER` says which files are missing in it, and where
they come from. Then it describes the crowds and trains the priors of `learned_prior`, which are
shipped with lehner: these are trained on how systems did in all evaluation designs of all crowds,
`outcomes.csv`, and of all panels that are not of the exam, `panel_outcomes.csv`.
"""

import argparse
import hashlib
import json
import re
import sys
import tomllib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lehner import InputError, Ratings
from lehner.core.errors import find
from lehner.empirical_prior.designs import DESIGNS, choose_panels, draw_outcomes
from lehner.empirical_prior.prior import format_priors, train_priors
from lehner.report.files import write_csv, write_text

FOLDER = Path(__file__).parent
# How systems did in crowds, and in panels of language models.
OUTCOMES, PANEL_OUTCOMES = FOLDER / "outcomes.csv", FOLDER / "panel_outcomes.csv"
SEED = 2026
AS_PUBLISHED = "take the file as its repository has it"


@dataclass(frozen=True, kw_only=True)
class Source:
    """A crowd.

    Parameters
    ----------
    name : str
    folder : str
        Name of the repository: what cloning it calls the folder.
    address, licence : str
        Of the repository; the licence as its files say.
    files : tuple of str
        Paths in the repository.
    layout : str
        What the columns of these files mean: a table of `sources.toml`.
    where : mapping of str to str
        The value that a column must have for a row to be read.
    family : str
        Shared by crowds that rated the same items or came from the same study.
    domain : {"crowd", "experts", "language models"}
        Who rates.
    exam : bool
        Whether nothing may be learned from it, because it examines what was learned from others.
    """

    name: str
    folder: str
    address: str
    licence: str
    files: tuple[str, ...]
    layout: str
    where: Mapping[str, str] = field(default_factory=dict)
    family: str
    domain: str = "crowd"
    exam: bool = False

    @property
    def split(self) -> str:
        """Give "report" for about a third of the families, by a hash of their name, else "choose".

        Models may be chosen by the crowds of "choose". Those of "report" are to be looked at once,
        when everything is chosen. Those of "exam" teach nothing, and are looked at once too.
        """
        if self.exam:
            return "exam"
        digest = hashlib.sha256(self.family.encode()).hexdigest()
        return "report" if int(digest, 16) % 3 == 0 else "choose"

    def list_paths(self, folder: Path) -> tuple[Path, ...]:
        """List where its files are expected."""
        return tuple(folder / self.folder / file for file in self.files)


def _read_listed(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / name).read_text(encoding="utf-8"))


def _make_sources(listed: Mapping[str, Any]) -> dict[str, Source]:
    sources = {}
    for name, entry in listed["crowds"].items():
        repository = listed["repositories"][entry["folder"]]
        fields = {"name": name, "family": name, "raters": [""]} | repository | entry
        # A path that names no rater stays one file.
        named = [
            file.replace("{rater}", rater)
            for file in fields.pop("files")
            for rater in fields["raters"]
        ]
        del fields["raters"]
        sources[name] = Source(**fields, files=tuple(dict.fromkeys(named)))
    return sources


_LISTED, _LISTED_PANELS = _read_listed("sources.toml"), _read_listed("panels.toml")
# Public crowds, and panels of language models, in the order of their lists.
SOURCES, PANELS = _make_sources(_LISTED), _make_sources(_LISTED_PANELS)
EVERY = SOURCES | PANELS
LAYOUTS: dict[str, Any] = _LISTED["layouts"] | _LISTED_PANELS["layouts"]


def read_files(
    paths: Sequence[Path], layout: str, where: Mapping[str, str] | None = None
) -> Ratings:
    """Read the files of a crowd.

    Parameters
    ----------
    paths : sequence of Path
        CSV, tab-separated text, JSON, JSON lines or .RData.
    layout : str
        Name of a table of `layouts` in `sources.toml` or `panels.toml`.
    where : mapping of str to str, optional
        The value that a column must have for a row to be read.

    Returns
    -------
    Ratings
        With truth, without a system. Where a rater rated an item more than once, the first rating
        counts.

    Raises
    ------
    InputError
        If a file is not as it was published.
    """
    tables = find("layout", layout, LAYOUTS)["tables"]
    # The last table is that of all further files.
    parts = zip(paths, chain(tables, repeat(tables[-1])), strict=False)
    rows = pd.concat([read_rows(path, fields, where or {}) for path, fields in parts])
    truth = rows.dropna(subset="truth").set_index("item")["truth"].to_dict()
    rated = rows.dropna(subset="rating").drop_duplicates(["item", "rater"])
    columns = {name: rated[name].tolist() for name in ("item", "rater", "rating")}
    truths = [truth.get(item) for item in columns["item"]]
    return Ratings.from_long(columns | {"truth": truths}, truth="truth")


def read_rows(path: Path, fields: Mapping[str, Any], where: Mapping[str, str]) -> pd.DataFrame:
    """Read a file as rows of item, rater, rating and truth: texts, or missing.

    Parameters
    ----------
    path : Path
    fields : mapping
        An entry of `tables` in `sources.toml`.
    where : mapping of str to str
        The value that a column must have for a row to be read.
    """
    table = read_source(path, fields.get("header"))
    for column, value in where.items():
        table = table[_take_texts(table, [column], path) == value]
    if "columns" in fields:
        table = _stack_raters(table, fields["columns"])
    rows = pd.DataFrame({"item": table.index.map(str)}, index=table.index)
    for name in ("item", "rater", "rating", "truth"):
        if name in fields:
            rows[name] = _take_texts(table, fields[name], path)
    if "truth_by" in fields:
        rows["truth"] = _take_majority(table)
    if "path" in fields:
        match = re.search(fields["path"], path.as_posix())
        assert match is not None
        rows["rater"] = match["rater"]
        if "subset" in match.groupdict():
            rows["item"] = f"{match['subset']} " + rows["item"]
    if "above" in fields:
        score = pd.to_numeric(rows["rating"], errors="coerce")
        above = (score > fields["above"]).map({True: "1", False: "0"})
        rows["rating"] = above.where(score.notna())
    if "answer" in fields:
        found = rows["rating"].str.extract(fields["answer"], flags=re.IGNORECASE)
        rows["rating"] = found["answer"].str.upper()
    if "truths" in fields:
        rows["truth"] = rows["truth"].map(fields["truths"])
    if "categories" in fields:
        rows["rating"] = rows["rating"].where(rows["rating"].isin(fields["categories"]))
    return rows.reindex(columns=["item", "rater", "rating", "truth"])


def _stack_raters(table: pd.DataFrame, columns: str) -> pd.DataFrame:
    """Make a row of each cell of the columns that the pattern finds; it names their rater."""
    found = {column: re.fullmatch(columns, str(column)) for column in table}
    raters = {column: match["rater"] for column, match in found.items() if match}
    wide = table.rename(columns=raters)
    return wide.melt(
        [column for column in table if column not in raters],
        var_name="rater",
        value_name="rating",
        ignore_index=False,
    )


def _take_majority(table: pd.DataFrame) -> pd.Series:
    """Take what most columns say of each row, as texts; a tie is missing."""
    modes = table.mode(axis="columns").reindex(columns=[0, 1])
    texts = modes[0].astype(str).str.removesuffix(".0")
    return texts.where(modes[0].notna() & modes[1].isna())


def _take_texts(table: pd.DataFrame, keys: Sequence[str | int], path: Path) -> pd.Series:
    """Take a column, or what is in its cells under further keys, as texts; empty is missing."""
    column, *inner = keys
    if column not in table:
        raise InputError(f"there is no column {column!r}", AS_PUBLISHED, file=path)
    values = reduce(lambda cells, key: cells.str.get(key), inner, table[column])
    # Some files have whole numbers as 1.0.
    texts = values.astype(str).str.removesuffix(".0")
    return texts.where(values.notna() & (texts != ""))


def read_source(path: Path, header: Sequence[str] | None = None) -> pd.DataFrame:
    """Read a file as a table; `header` has the names of columns of a file that has none."""
    try:
        if path.suffix == ".RData":
            import rdata

            with warnings.catch_warnings():
                # A class of R that extends data frames is read as one.
                warnings.simplefilter("ignore")
                (table,) = rdata.read_rda(path, default_encoding="utf-8").values()
            return pd.DataFrame(table)
        with path.open(encoding="utf-8", newline="") as file:
            if path.suffix == ".json":
                return pd.DataFrame(json.load(file))
            if path.suffix == ".jsonl":
                return pd.DataFrame(map(json.loads, file))
            separator = "\t" if "\t" in file.readline() else ","
            file.seek(0)
            return pd.read_csv(
                file, sep=separator, names=header, dtype=str, keep_default_na=False, index_col=False
            )
    except Exception as error:
        problem = f"this is no {path.suffix} file with one table: {error}"
        raise InputError(problem, AS_PUBLISHED, file=path) from error


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
    if missing := list_missing(source, folder):
        raise missing[0]
    return read_files(source.list_paths(folder), source.layout, source.where)


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
    names = "ratings_per_item", "corrected", "agreement", "accuracy"
    return pd.read_csv(path, converters={name: lambda text: float(text or "nan") for name in names})


def _write_outcomes(sources: Iterable[Source], folder: Path, path: Path) -> Path:
    outcomes = [
        draw_outcomes(source.name, source.family, read_crowd(source, folder), SEED)
        for source in sources
    ]
    return write_csv(pd.concat(outcomes), path)


def main() -> int:
    """Name the files that a folder lacks; write tables and priors if it lacks none that teaches."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.benchmarks.real.sources", description=__doc__.splitlines()[0]
    )
    parser.add_argument("folder", type=Path, help="with a folder for each repository")
    parser.add_argument("--output", type=Path, default=Path("."), help="folder for what is made")
    options = parser.parse_args()
    folder, output = options.folder, options.output
    listed = SOURCES | PANELS
    sources = [source for source in listed.values() if not source.exam]
    panels = [source for source in sources if source.domain == "language models"]
    missing = {name: list_missing(source, folder) for name, source in listed.items()}
    for error in chain.from_iterable(missing.values()):
        print(error, file=sys.stderr)
    if any(missing[name] for name, source in listed.items() if not source.exam):
        return 2
    crowds = pd.DataFrame(describe_crowd(source, folder) for source in SOURCES.values())
    output.mkdir(parents=True, exist_ok=True)
    files = [
        write_csv(crowds, output / "crowds.csv"),
        _write_outcomes(SOURCES.values(), folder, output / OUTCOMES.name),
        _write_outcomes(panels, folder, output / PANEL_OUTCOMES.name),
    ]
    priors = {
        "people": train_priors(read_outcomes(files[1])),
        "models": train_priors(read_outcomes(files[2]), "models"),
    }
    for path in (*files, write_text(format_priors(priors), output / "priors.json")):
        print(f"wrote {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
