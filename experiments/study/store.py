"""The results of a study on disk: Parquet parts, each written whole or not at all.

Only the process that runs the study writes. A part holds finished tasks; parts are merged when
there are many, and a row that is there twice, because a merge was interrupted, counts once. A part
that is damaged or of another study is moved to the folder `damaged`, and what it lacks is computed
again.
"""

import shutil
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from filelock import FileLock, Timeout

from experiments.reporting.files import write_csv
from experiments.study.cells import Cell, Row
from experiments.study.checked_file import StudyWarning, UnusableFileError, set_aside
from experiments.study.defaults import changed_defaults, study_defaults
from experiments.study.definition import Study, read_study
from experiments.study.grid import shown
from experiments.study.identity import method_id, scenario_id
from experiments.study.manifest import NAME as MANIFEST
from experiments.study.manifest import read_manifest, write_manifest
from experiments.study.part_file import (
    COLUMNS,
    KEY,
    WITHOUT_CHECKSUM,
    OtherSeedError,
    add_checksum,
    number_of,
    part_schema,
    read_part,
    write_part,
)
from experiments.study.user_code import FOLDER as FUNCTIONS
from experiments.study.user_code import keep_code
from lehner import InputError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MOST_PARTS = 200
LARGE = 10_000_000
"""Bytes of a part that is not merged any more."""
OF_THE_MACHINE = ("seconds", "versions")
OURS = {"parts", "fits", "damaged", "report", "replay", "lock", "study.toml"}
OURS |= {MANIFEST, FUNCTIONS}
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
        self._write(pa.concat_tables([read_part(path) for path in parts]))
        for path in parts:
            path.unlink()

    def forget_failed(self) -> None:
        """Take out the rows of methods that failed, so that they are missing again."""
        import pyarrow.compute as pc

        for path in self.parts:
            table = read_part(path)
            kept = table.filter(pc.not_equal(table["status"], "failed"))
            if len(kept) < len(table):
                write_part(kept, path.parent, number_of(path))
                path.unlink()

    def finished(self) -> dict[tuple[str, str], "np.ndarray[Any, np.dtype[np.int64]]"]:
        """Replicates that are there, by scenario and method."""
        rows: dict[tuple[str, str], list[Any]] = {}
        for path in self.parts:
            keys = read_part(path).select(list(KEY[:3])).to_pandas()
            for key, group in keys.groupby(["scenario_id", "method_id"], observed=True):
                rows.setdefault(key, []).append(group["replicate"].unique())
        return {key: np.unique(np.concatenate(many)) for key, many in rows.items()}

    def set_aside(self, path: Path) -> Path:
        """Move a file that cannot be used to the folder `damaged`."""
        return set_aside(path, self.folder / "damaged")

    def _write(self, table: "pa.Table") -> None:
        parts = self.parts
        write_part(table, self.folder / "parts", 1 + number_of(parts[-1]) if parts else 1)


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
    _manifest_if_usable(folder)
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
        _require_to_be_of(store, study, before)
        _set_aside_unusable(store, study, before)
        for code in study.code:
            moved = keep_code(folder, code)
            if moved is not None:
                _say(
                    f"{code.file} is not what it was when its results were stored: it makes other "
                    f"methods and scenarios, which are computed; {moved} is what it was"
                )
        defaults = (before or {}).get("defaults", {}) | study_defaults(study)
        write_manifest(folder, study, source, defaults)
        yield store


def _manifest_if_usable(folder: Path) -> dict[str, Any] | None:
    try:
        return read_manifest(folder)
    except UnusableFileError:
        return None


def _require_to_be_of(store: Store, study: Study, before: dict[str, Any] | None) -> None:
    """Refuse a folder whose results are of another seed or of other defaults of methods."""
    if before is None:
        # There is nobody but the parts to say what they are of.
        for path in store.parts:
            _require_to_be_known(path, study)
        return
    if before["seed"] != study.seed:
        raise InputError(
            f"this folder holds results of seed {before['seed']}, not {study.seed}",
            "give a new folder",
            file=store.folder,
        )
    changed = changed_defaults(before.get("defaults", {}), study)
    if changed:
        raise InputError(
            f"{changed[0]}, so that a run would mix two methods",
            "give a new folder, or go on with the version that stored them",
            file=store.folder,
        )


def _require_to_be_known(path: Path, study: Study) -> None:
    """Refuse a part that may be of another seed or format, there being no manifest."""
    if WITHOUT_CHECKSUM.fullmatch(path.name):
        raise InputError(
            f"an earlier version stored this part, and without an undamaged {MANIFEST} it is not "
            "known what it is of",
            f"put {MANIFEST} back, or give a new folder",
            file=path,
        )
    try:
        read_part(path, study.seed)
    except OtherSeedError as error:
        raise InputError(error.problem, "give a new folder", file=path) from None
    except UnusableFileError:
        return  # It is moved away.


def _set_aside_unusable(store: Store, study: Study, before: dict[str, Any] | None) -> None:
    """Move what is damaged or of another study, and say so; bring what is old up to date."""
    earlier = before is not None and "defaults" not in before
    if earlier and store.parts:
        _say(f"{_of_earlier_version(store.folder)} from now on they have both")
    manifest = store.folder / MANIFEST
    if before is None and manifest.exists():
        where = store.set_aside(manifest)
        _say(
            f"{manifest}: this file was damaged; it is {where} now, and was written again; results "
            "that are stored are taken to have the defaults of methods of this version"
        )
    for path in store.parts:
        try:
            read_part(path, study.seed, earlier=earlier)
        except UnusableFileError as error:
            where = store.set_aside(path)
            _say(f"{path}: {error.problem}; it is {where} now, and what is lacking is computed")
        else:
            add_checksum(path)


def _of_earlier_version(folder: Path) -> str:
    return (
        f"{folder}: an earlier version stored these results, without checksums and without the "
        "defaults of methods; they are taken to be undamaged and to have the defaults of this "
        "version;"
    )


def _say(text: str) -> None:
    warnings.warn(text, StudyWarning, stacklevel=2)


def stored_study(folder: str | Path) -> Study:
    """Read the study that a folder holds the results of."""
    folder = Path(folder)
    path = folder / "study.toml"
    if not path.is_file():
        raise InputError("there is no study in this folder", "run one into it", file=folder)
    manifest = read_manifest(folder)
    study = read_study(path)
    if "defaults" in manifest and manifest.get("hash") != study.hash:
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

    Warns
    -----
    StudyWarning
        If an earlier version stored the results without checksums.

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

    folder = Path(folder)
    study, earlier = stored_study(folder), "defaults" not in read_manifest(folder)
    if earlier and Store(folder).parts:
        _say(f"{_of_earlier_version(folder)} `lehner study run` adds both")
    try:
        tables = _read_parts(folder, study, earlier)
    except FileNotFoundError:  # A run has merged them meanwhile.
        tables = _read_parts(folder, study, earlier)
    stored = pa.concat_tables([part_schema().empty_table(), *tables]).to_pandas()
    stored = stored.drop_duplicates(list(KEY))
    stored = stored[stored["replicate"] < study.replicates]
    places = stored.groupby(["scenario_id", "method_id"]).indices
    by_method = []
    for i, cell in enumerate(study.cells):
        known = {"scenario": cell.name, "table": cell.table, "order": i}
        known |= {name: shown(x) if isinstance(x, tuple) else x for name, x in cell.varied}
        for j, method in enumerate(study.methods):
            key = (scenario_id(cell.scenario), method_id(method, study.level))
            rows = stored.iloc[places.get(key, [])]
            by_method.append(rows.assign(**known, method=method.label, second=j))
    every = pd.concat(by_method, ignore_index=True)
    every = every.sort_values(["order", "replicate", "second", "estimand"], ignore_index=True)
    fields = list(dict.fromkeys(field for cell in study.cells for field, _ in cell.varied))
    first = ["scenario", "table", *fields, "replicate", "method", "estimand"]
    last = [name for name in COLUMNS if name not in (*KEY, *first)]
    return every[[*first, *last]]


def _read_parts(folder: Path, study: Study, earlier: bool) -> list["pa.Table"]:
    return [read_part(path, study.seed, earlier=earlier) for path in Store(folder).parts]


def warn_if_unfinished(study: Study, results: "pd.DataFrame") -> None:
    """Warn how many estimates of a study are not there, be it unfinished or some were lost."""
    key = ["scenario", "replicate", "method"]
    number = len(results[key].drop_duplicates())
    wanted = len(study.cells) * len(study.methods) * study.replicates
    if study.target_se is None and number < wanted:
        _say(
            f"{study.name}: {number:,} of {wanted:,} estimates are there; `lehner study run` goes "
            "on with the others"
        )


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
