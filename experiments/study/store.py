"""The results of a study on disk: Parquet parts, each written whole or not at all.

Only the process that runs the study writes. A part holds finished tasks; parts are merged when
there are many, and a row that is there twice, because a merge was interrupted, counts once. A part
that is damaged or of another study is moved to the folder `damaged`, and what it lacks is computed
again. The manifest says what results are of, and what computed them.
"""

import json
import shutil
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from filelock import FileLock, Timeout

from experiments.reporting.files import write_bytes, write_csv, write_text
from experiments.study.cells import Cell, Row
from experiments.study.checked_file import (
    COLUMNS,
    KEY,
    OtherSeedError,
    StudyWarning,
    UnusableFileError,
    part_schema,
    read_part,
    remedy,
    set_aside,
    write_checked,
)
from experiments.study.defaults import changed_defaults, study_defaults
from experiments.study.definition import Study, read_study, shown
from experiments.study.identity import FORMAT, method_id, scenario_id
from experiments.study.user_code import FOLDER as FUNCTIONS
from experiments.study.user_code import keep_code
from lehner import InputError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MANIFEST = "manifest.json"
MOST_PARTS = 200
LARGE = 10_000_000
"""Bytes of a part that is not merged any more."""
OF_THE_MACHINE = ("seconds", "versions")
OURS = {"parts", "fits", "damaged", "report", "replay", "lock", "study.toml", FUNCTIONS}
"""What a folder of results holds."""


@dataclass(frozen=True)
class Store:
    """A folder of results.

    Parameters
    ----------
    folder : Path
    """

    folder: Path

    @property
    def parts(self) -> list[Path]:
        """All parts, in the order they were written."""
        return sorted((self.folder / "parts").glob("*.parquet"))

    @property
    def small_parts(self) -> list[Path]:
        """Those that are worth merging."""
        return [path for path in self.parts if path.stat().st_size < LARGE]

    def keep(self, cell: Cell, rows: Iterable[Row]) -> None:
        """Write the rows of a cell as a part."""
        import pyarrow as pa

        self._write(pa.Table.from_pylist(list(rows), schema=part_schema()))
        if len(self.small_parts) > MOST_PARTS:
            self.merge()

    def merge(self) -> None:
        """Make one part of all but the large ones."""
        import pyarrow as pa

        parts = self.small_parts
        if len(parts) < 2:
            return
        self._write(pa.concat_tables(map(read_part, parts)))
        for path in parts:
            path.unlink()

    def forget_failed(self) -> None:
        """Take out the rows of methods that failed, so that they are missing again."""
        import pyarrow.compute as pc

        for path in self.parts:
            table = read_part(path)
            kept = table.filter(pc.not_equal(table["status"], "failed"))
            if len(kept) < len(table):
                write_checked(kept, path.parent, path.name[:8])
                path.unlink()

    def finished(self) -> dict[tuple[str, str], "np.ndarray[Any, np.dtype[np.int64]]"]:
        """Replicates that are there, by scenario and method."""
        import pyarrow as pa

        tables = [read_part(path).select(KEY[:3]) for path in self.parts]
        keys = pa.concat_tables([part_schema().empty_table().select(KEY[:3]), *tables]).to_pandas()
        by_method = keys.drop_duplicates().groupby(["scenario_id", "method_id"])["replicate"]
        return {key: replicates.to_numpy() for key, replicates in by_method}

    def _write(self, table: "pa.Table") -> None:
        number = 1 + max((int(path.name[:8]) for path in self.parts), default=0)
        write_checked(table, self.folder / "parts", f"{number:08}")


@contextmanager
def open_store(folder: str | Path, study: Study, source: Path) -> Iterator[Store]:
    """Open a folder for a study, for one process at a time.

    Parameters
    ----------
    folder : str or Path
        New, or with results of the same study, perhaps with fewer scenarios, methods or replicates.
    study : Study
    source : Path
        The study's file; a copy is kept.

    Yields
    ------
    Store

    Raises
    ------
    InputError
        If the folder holds something else, or results of another version, another seed or other
        defaults of methods, or another process writes into it.

    Warns
    -----
    StudyWarning
        If a file was damaged or of another study, and was moved to the folder `damaged`.
    """
    folder = Path(folder)
    if folder.is_file():
        raise InputError("this is a file", "give a folder for the results", file=folder)
    if folder.exists() and not (folder / MANIFEST).exists():
        others = [path for path in folder.iterdir() if path.name not in OURS]
        if any(not path.name.startswith(".writing-") for path in others):
            raise InputError(
                "this folder is not empty and holds no study", "give a new folder", file=folder
            )
    _manifest_if_usable(folder)  # nothing is made in a folder of another format
    for name in ("parts", "fits"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    try:
        held = FileLock(folder / "lock").acquire(blocking=False)
    except Timeout:
        raise InputError(
            "another process is running this study", "wait for it, or stop it", file=folder
        ) from None
    with held:
        for left in (*folder.glob(".writing-*"), *folder.glob("*/.writing-*")):
            shutil.rmtree(left)
        store, before = Store(folder), _manifest_if_usable(folder)
        _require_to_be_of(folder, study, before)
        _set_aside_unusable(store, study, before)
        for code in study.code:
            moved = keep_code(folder, code)
            if moved is not None:
                _say(
                    f"{code.file} is not what it was when its results were stored: it makes other "
                    f"methods and scenarios, which are computed; {moved} is what it was"
                )
        # Those of methods that were in the study before are kept.
        _write_manifest(folder, study, source, before.get("defaults", {}) | study_defaults(study))
        yield store


def _require_to_be_of(folder: Path, study: Study, before: Mapping[str, Any]) -> None:
    """Refuse a folder whose results are of another seed or of other defaults of methods."""
    if before.get("seed", study.seed) != study.seed:
        raise InputError(
            f"this folder holds results of seed {before['seed']}, not {study.seed}",
            "give a new folder",
            file=folder,
        )
    changed = changed_defaults(before.get("defaults", {}), study)
    if changed:
        raise InputError(
            f"{changed[0]}, so that a run would mix two methods",
            "give a new folder, or go on with the version that stored them",
            file=folder,
        )


def _set_aside_unusable(store: Store, study: Study, before: Mapping[str, Any]) -> None:
    """Move what is damaged or of another study, and say so."""
    damaged = store.folder / "damaged"
    for path in store.parts:
        try:
            read_part(path, study.seed)
        except UnusableFileError as error:
            if isinstance(error, OtherSeedError) and not before:
                # There is nobody but the parts to say what they are of.
                raise InputError(error.problem, "give a new folder", file=path) from None
            where = set_aside(path, damaged)
            _say(f"{path}: {error.problem}; it is {where} now, and what is lacking is computed")
    manifest = store.folder / MANIFEST
    if not before and manifest.exists():
        where = set_aside(manifest, damaged)
        _say(
            f"{manifest}: this file was damaged; it is {where} now, and was written again; results "
            "that are stored are taken to have the defaults of methods of this version"
        )


def _say(text: str) -> None:
    warnings.warn(text, StudyWarning, stacklevel=2)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a folder: `seed`, `versions`, `defaults` and more.

    Raises
    ------
    UnusableFileError
        If it is missing or damaged.
    InputError
        If the results are in another format.
    """
    path = folder / MANIFEST
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        _, versions = content["seed"], content["versions"]
        defaults = {key: dict(one) for key, one in content.get("defaults", {}).items()}
    except FileNotFoundError:
        raise UnusableFileError("this file is missing", remedy(folder), file=path) from None
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        problem = "this file is damaged: it does not say what the results are of"
        raise UnusableFileError(problem, remedy(folder), file=path) from None
    if content.get("format") != FORMAT or not defaults:
        raise InputError(
            f"an earlier version stored these results, {versions}; seeds, defaults of methods or "
            "checksums of parts are other ones now",
            "give a new folder, or read this one with the version that wrote it",
            file=folder,
        )
    return content


def _manifest_if_usable(folder: Path) -> dict[str, Any]:
    try:
        return read_manifest(folder)
    except UnusableFileError:
        return {}


def _write_manifest(folder: Path, study: Study, source: Path, defaults: Mapping[str, Any]) -> None:
    """Write what a study is and what computes it, and a copy of its file."""
    from experiments.reporting.origin import versions

    content = {
        "format": FORMAT,
        "study": study.name,
        "seed": study.seed,
        "hash": study.hash,
        "versions": versions(),
        "scenarios": {cell.name: scenario_id(cell.scenario) for cell in study.cells},
        "methods": {method.label: method_id(method, study.level) for method in study.methods},
        "defaults": defaults,
    }
    copy = folder / "study.toml"
    if source.resolve() != copy.resolve():
        write_bytes(source.read_bytes(), copy)
    write_text(json.dumps(content, indent=2) + "\n", folder / MANIFEST)


def stored_study(folder: str | Path) -> Study:
    """Read the study that a folder holds the results of."""
    folder = Path(folder)
    path = folder / "study.toml"
    if not path.is_file():
        raise InputError("there is no study in this folder", "run one into it", file=folder)
    manifest = read_manifest(folder)
    study = read_study(path)
    if manifest.get("hash") != study.hash:
        raise InputError(
            f"this is not the study that {MANIFEST} names: it was changed or damaged",
            "run the study that you mean into the folder; results that are stored stay",
            file=path,
        )
    return study


def read_results(folder: str | Path) -> "pd.DataFrame":
    """Read the results of a study.

    Parameters
    ----------
    folder : str or Path
        As given to `run_study`.

    Returns
    -------
    pandas.DataFrame
        A row for each scenario, replicate, method and estimand, in the order of the study file:
        `scenario`, what its grid or sweep varies, `replicate`, `method`, `estimand`, `truth`,
        `estimate`, `lower`, `upper`, `standard_error` (that the method states), `status` ("ok",
        "undefined", "unconverged" or "failed"), `reason`, diagnostics, `seed`
        (`lehner.simulate(scenario, seed)` makes the data again),
        `seconds` and `versions`.

    Raises
    ------
    InputError
        If the folder holds no study, one of an earlier version, or a damaged part.

    Examples
    --------
    >>> import tempfile
    >>> from experiments.study import run_study
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "tiny.toml").write_text('''
    ... name = "tiny"
    ... seed = 1
    ... replicates = 2
    ... methods = ["majority_agreement"]
    ... [[scenarios]]
    ... name = "raters .6"
    ... ''')
    >>> _ = run_study(folder / "tiny.toml", folder / "results")
    >>> results = read_results(folder / "results")
    >>> list(results["estimand"][:2]), list(results["status"].unique())
    (['system_accuracy', 'system_accuracy_in_sample'], ['ok'])
    """
    import pandas as pd
    import pyarrow as pa

    study, parts = stored_study(folder), Store(Path(folder))
    try:
        tables = [read_part(path, study.seed) for path in parts.parts]
    except FileNotFoundError:  # A run has merged them meanwhile.
        tables = [read_part(path, study.seed) for path in parts.parts]
    stored = pa.concat_tables([part_schema().empty_table(), *tables]).to_pandas()
    stored = stored.drop_duplicates(list(KEY))
    stored = stored[stored["replicate"] < study.replicates]
    cells = pd.DataFrame(
        {"scenario_id": scenario_id(cell.scenario), "scenario": cell.name, "table": cell.table}
        | {name: shown(x) if isinstance(x, tuple) else x for name, x in cell.varied}
        for cell in study.cells
    )
    methods = pd.DataFrame(
        {"method_id": method_id(method, study.level), "method": method.label}
        for method in study.methods
    )
    # A scenario may be in a study under two names.
    known = cells.reset_index(names="order").merge(methods.reset_index(names="second"), how="cross")
    every = stored.merge(known, on=["scenario_id", "method_id"])
    every = every.sort_values(["order", "replicate", "second", "estimand"], ignore_index=True)
    first = [*cells.columns.drop("scenario_id"), "replicate", "method", "estimand"]
    last = [name for name in COLUMNS if name not in (*KEY, *first)]
    return every[[*first, *last]]


def count_replicates(study: Study, results: "pd.DataFrame") -> tuple[str, bool]:
    """Say how many replicates are there, and whether the study is unfinished.

    Parameters
    ----------
    study : Study
    results : pandas.DataFrame
        As `read_results` gives it.

    Returns
    -------
    text : str
        As "58 to 59 of 200 replicates, unfinished": the fewest and most of a scenario and method.
    unfinished : bool
        Whether some are missing, be it that the study was stopped or that parts of it were lost.
    """
    by = ["scenario", "method"]
    done = results.groupby(by)["replicate"].nunique()
    n = [int(done.get((c.name, m.label), 0)) for c in study.cells for m in study.methods]
    unfinished = min(n) < study.replicates
    of = f" of {study.replicates:,}"
    if study.target_se is not None:
        error = results["estimate"] - results["truth"]
        errors = error.groupby([results[name] for name in (*by, "estimand")]).sem()
        unfinished = unfinished and (min(n) == 0 or bool((errors > study.target_se).any()))
        of = ""
    some = " to ".join(f"{one:,}" for one in sorted({min(n), max(n)}))
    return f"{some}{of} replicates, unfinished" if unfinished else f"{some} replicates", unfinished


def warn_if_unfinished(study: Study, results: "pd.DataFrame") -> None:
    """Warn how many replicates of a study are there, if some are not."""
    text, unfinished = count_replicates(study, results)
    if unfinished:
        _say(f"{study.name}: {text}; `lehner study run` goes on")


def export(folder: str | Path, file: str | Path) -> Path:
    """Write the results as CSV, without what differs between machines: seconds and versions.

    Parameters
    ----------
    folder : str or Path
    file : str or Path
        Its folder is made if it is not there.

    Returns
    -------
    Path
    """
    file = Path(file)
    results = read_results(folder).drop(columns=list(OF_THE_MACHINE))
    warn_if_unfinished(stored_study(folder), results)
    file.parent.mkdir(parents=True, exist_ok=True)
    return write_csv(results, file)
