"""The results of a study on disk: Parquet parts, each written whole or not at all.

Only the process that runs the study writes. A part holds finished tasks; parts are merged when
there are many, and a row that is there twice, because a merge was interrupted, counts once.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.reporting.files import write_atomically, write_csv, write_text
from experiments.study.definition import Study, read_study
from experiments.study.grid import shown
from experiments.study.identity import FORMAT, method_id, scenario_id
from experiments.study.lock import locked
from lehner import InputError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MOST_PARTS = 200
LARGE = 10_000_000
"""Bytes of a part that is not merged any more."""
TEXT, NUMBER, WHOLE = "string", "double", "int64"
COLUMNS = {
    "scenario_id": TEXT,
    "replicate": WHOLE,
    "method_id": TEXT,
    "estimand": TEXT,
    "truth": NUMBER,
    "estimate": NUMBER,
    "lower": NUMBER,
    "upper": NUMBER,
    "standard_error": NUMBER,
    "status": TEXT,
    "reason": TEXT,
    "r_hat": NUMBER,
    "ess_bulk": NUMBER,
    "ess_tail": NUMBER,
    "divergences": WHOLE,
    "tries": WHOLE,
    "seed": WHOLE,
    "seconds": NUMBER,
    "versions": TEXT,
}
KEY = ("scenario_id", "replicate", "method_id", "estimand")
OF_THE_MACHINE = ("seconds", "versions")


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

    def write(self, rows: Sequence[dict[str, Any]]) -> None:
        """Write a part."""
        import pyarrow as pa

        self._write(pa.Table.from_pylist(list(rows), schema=_schema()))
        if len(self.small_parts) > MOST_PARTS:
            self.merge()

    def merge(self) -> None:
        """Make one part of all but the large ones."""
        import pyarrow as pa

        parts = self.small_parts
        if len(parts) < 2:
            return
        self._write(pa.concat_tables([_read_part(path) for path in parts]))
        for path in parts:
            path.unlink()

    def forget_failed(self) -> None:
        """Take out the rows of methods that failed, so that they are missing again."""
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        for path in self.parts:
            table = pq.read_table(path)
            kept = table.filter(pc.not_equal(table["status"], "failed"))
            if len(kept) < len(table):
                write_atomically(path, partial(pq.write_table, kept))

    def finished(self) -> dict[tuple[str, str], "np.ndarray[Any, np.dtype[np.int64]]"]:
        """Give the replicates that are there, by scenario and method."""
        import pyarrow.parquet as pq

        rows: dict[tuple[str, str], list[Any]] = {}
        for path in self.parts:
            keys = pq.read_table(path, columns=list(KEY[:3])).to_pandas()
            for key, group in keys.groupby(["scenario_id", "method_id"], observed=True):
                rows.setdefault(key, []).append(group["replicate"].unique())
        return {key: np.unique(np.concatenate(many)) for key, many in rows.items()}

    def _write(self, table: "pa.Table") -> None:
        import pyarrow.parquet as pq

        last = int(self.parts[-1].stem) if self.parts else 0
        path = self.folder / "parts" / f"{last + 1:08}.parquet"
        write_atomically(path, lambda temporary: pq.write_table(table, temporary))


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
        If the folder holds something else, or results of another version, or another process
        writes into it.
    """
    folder = Path(folder)
    if folder.is_file():
        raise InputError("this is a file", "give a folder for the results", file=folder)
    manifest = folder / "manifest.json"
    if folder.exists() and any(folder.iterdir()) and not manifest.exists():
        raise InputError(
            "this folder is not empty and holds no study", "give a new folder", file=folder
        )
    if manifest.exists():
        _require_format(manifest)
    for name in ("parts", "fits"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    with locked(folder / "lock") as free:
        if not free:
            raise InputError(
                "another process is running this study", "wait for it, or stop it", file=folder
            )
        for left in folder.glob("*/.writing-*"):
            shutil.rmtree(left)
        if manifest.exists():
            before = json.loads(manifest.read_text(encoding="utf-8"))
            if before["seed"] != study.seed:
                raise InputError(
                    f"this folder holds results of seed {before['seed']}, not {study.seed}",
                    "give a new folder",
                    file=folder,
                )
        _write_manifest(folder, study, source)
        yield Store(folder)


def _write_manifest(folder: Path, study: Study, source: Path) -> None:
    from experiments.study.replicate import versions

    content = {
        "format": FORMAT,
        "study": study.name,
        "seed": study.seed,
        "hash": study.hash,
        "versions": versions(),
        "scenarios": {cell.name: scenario_id(cell.scenario) for cell in study.cells},
        "methods": {method.label: method_id(method, study.level) for method in study.methods},
    }
    text = json.dumps(content, indent=2) + "\n"
    copy = folder / "study.toml"
    if source.resolve() != copy.resolve():
        write_atomically(copy, lambda path: shutil.copyfile(source, path))
    write_text(text, folder / "manifest.json")


def _require_format(manifest: Path) -> None:
    """Refuse results whose scenarios and methods are known by other hashes, and so other seeds."""
    content = json.loads(manifest.read_text(encoding="utf-8"))
    stored = content.get("format", 1)
    if stored != FORMAT:
        raise InputError(
            f"this folder holds results in format {stored}, of {content['versions']}; this version "
            f"has format {FORMAT}, in which seeds or defaults of methods are others",
            "give a new folder, or read this one with the version that wrote it",
            file=manifest.parent,
        )


def stored_study(folder: str | Path) -> Study:
    """Read the study that a folder holds the results of."""
    folder = Path(folder)
    if not (folder / "study.toml").is_file():
        raise InputError("there is no study in this folder", "run one into it", file=folder)
    _require_format(folder / "manifest.json")
    return read_study(folder / "study.toml")


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
        If the folder holds no study, or one of an earlier version.

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

    study = stored_study(folder)
    tables = [_read_part(path) for path in Store(Path(folder)).parts]
    stored = pa.concat_tables(tables or [_schema().empty_table()]).to_pandas()
    stored = stored.drop_duplicates(list(KEY))
    stored = stored[stored["replicate"] < study.replicates]
    places = stored.groupby(["scenario_id", "method_id"]).indices
    parts = []
    for i, cell in enumerate(study.cells):
        names = {"scenario": cell.name, "table": cell.table}
        varied = {
            field: shown(value) if isinstance(value, tuple) else value
            for field, value in cell.varied
        }
        for j, method in enumerate(study.methods):
            key = (scenario_id(cell.scenario), method_id(method, study.level))
            rows = stored.iloc[places.get(key, [])]
            parts.append(rows.assign(**names, **varied, method=method.label, order=i, second=j))
    every = pd.concat(parts, ignore_index=True)
    every = every.sort_values(["order", "replicate", "second", "estimand"], ignore_index=True)
    fields = list(dict.fromkeys(field for cell in study.cells for field, _ in cell.varied))
    first = ["scenario", "table", *fields, "replicate", "method", "estimand"]
    last = [name for name in COLUMNS if name not in (*KEY, *first)]
    return every[[*first, *last]]


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
    file.parent.mkdir(parents=True, exist_ok=True)
    return write_csv(results, file)


def _read_part(path: Path) -> "pa.Table":
    """Read a part, perhaps one that was written before there were all of the columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    for field in _schema():
        if field.name not in table.column_names:
            table = table.append_column(field, pa.nulls(len(table), field.type))
    return table.select(_schema().names)


def _schema() -> "pa.Schema":
    import pyarrow as pa

    return pa.schema([(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()])
