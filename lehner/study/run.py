"""Run a study into a folder: what is not finished, on as many processors or machines as there are.

Each cell becomes a Parquet file, which is written whole or not at all and has a checksum of its
bytes in its name, so that a run may be stopped at any moment in any way: the next one computes the
cells that have no file, or a damaged one. Only the process that runs the study writes. Results of
another seed, option, version or text of a function may be in the folder, and are not of the study.
"""

import hashlib
import io
import logging
import re
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from lehner import InputError
from lehner.core.errors import check_whole_number, find
from lehner.core.lazy import load, pa, pd
from lehner.core.resampling import log_progress
from lehner.core.text import list_few
from lehner.report.files import write_bytes, write_csv
from lehner.study import definition
from lehner.study.parallel import do_all
from lehner.study.replicate import (
    Cell,
    announce_code,
    call_user_function,
    check_code,
    list_cells,
    simulate_ratings,
)

pq = load("pyarrow.parquet")

logger = logging.getLogger(__name__)
# Name of a file: the cell's stem, and the checksum.
FILE = re.compile(r"(.+)-([0-9a-f]{16})\.parquet")
# What a folder of results holds.
CONTENTS = {definition.CELLS_FOLDER, definition.CODE_FOLDER, "report", "lock", "study.toml"}
NUMBERS = ("truth", "estimate", "lower", "upper", "standard_error")
DIAGNOSTICS = ("r_hat", "ess_bulk", "ess_tail")
MOST_FILES_SHOWN = 10
# Columns that differ between machines.
MACHINE = ("seconds", "versions")
COLUMNS = (
    *("replicate", "method", "estimand", "seed", *NUMBERS, "status", "reason"),
    *(*DIAGNOSTICS, "divergences", "tries", *MACHINE),
)


def run_study(
    study: str | Path,
    output: str | Path | None = None,
    *,
    workers: int = 1,
    dask: str | None = None,
) -> "pd.DataFrame":
    """Run a study, or what is missing of it.

    Every method sees the same simulated data. What is finished is kept in `output` at once. If a
    run is stopped in any way, the next one goes on where it was, and the numbers are the same for
    any number of workers. A method that fails leaves a row with the reason. What is cut short by an
    interrupt, or by a lack of memory or disk space, is no result, and is done again by the next
    run; so is what was damaged. The tables of an experiment whose study names a function for them
    are written into `report` when all is finished, because a report runs no code.

    Parameters
    ----------
    study : str or Path
        A study file, or "quick".
    output : str or Path, optional
        Folder for the results. Default: the name of the study file, in the working directory.
    workers : int
        Number of processes at work, 1 or more.
    dask : str, optional
        Address of a Dask scheduler, as in "tcp://host:8786", or "local".

    Returns
    -------
    pandas.DataFrame
        As `read_results` gives it.

    Raises
    ------
    InputError
        If the file is not a study, the folder holds something else, or the machine lacks what a
        method needs.
    KeyboardInterrupt
        If it was interrupted.

    Examples
    --------
    Two methods on ten samples, without a model that must be compiled:

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "small.toml").write_text('''
    ... name = "small"
    ... seed = 1
    ... replicates = 10
    ... methods = ["majority_agreement", "algebraic"]
    ... [[scenarios]]
    ... name = "raters .6"
    ... ''')
    >>> results = run_study(folder / "small.toml", folder / "results")
    >>> results.groupby("method")["estimate"].mean().round(2).to_dict()
    {'algebraic': 0.88, 'majority_agreement': 0.64}
    >>> again = run_study(folder / "small.toml", folder / "results")  # all is there
    >>> again.equals(results)
    True
    """
    check_whole_number("workers", workers, 1)
    path = definition.find_study(study)
    plan = definition.read_study(path)
    announce_code(plan)
    check_code(plan)
    with open_folder(path.stem if output is None else output, plan, path) as folder:
        cells = folder / definition.CELLS_FOLDER
        finished = read_tables(cells)
        planned = list_cells(plan)
        missing = [cell for cell in planned if cell.stem not in finished]
        # The first replicates of all scenarios first.
        missing.sort(key=lambda cell: cell.replicates.start)
        n_missing = sum(len(cell.replicates) for cell in missing)
        total = sum(len(cell.replicates) for cell in planned)
        if missing:
            logger.info(f"{plan.name}: {n_missing:,} of {total:,} results to compute")
        done, tell = 0, log_progress(plan.name, n_missing)
        with closing(do_all(Cell.compute, missing, workers, dask)) as computed:
            for cell, table in computed:
                _write_table(table, cells, cell.stem)
                done += len(cell.replicates)
                tell(done)
        results = read_results(folder)
        if plan.table is not None:
            write_tables(plan, call_user_function(plan.table, results), folder)
    return results


def write_tables(study: definition.Study, tables: Any, folder: Path) -> list[Path]:
    """Write a table, or tables by name, as CSV into the report of a folder of results."""
    target = folder / "report"
    target.mkdir(exist_ok=True)
    named = tables if isinstance(tables, dict) else {_name_file(study.name): tables}
    return [write_csv(table.round(4), target / f"{name}.csv") for name, table in named.items()]


def _name_file(text: str) -> str:
    """Make a name of a file in the same folder, whatever somebody wrote into a study file."""
    return "_".join(re.findall(r"[\w.]+", text))


@contextmanager
def open_folder(folder: str | Path, study: definition.Study, source: Path) -> Iterator[Path]:
    """Open a folder for a study, for one process at a time.

    Parameters
    ----------
    folder : str or Path
        New, or with results of the same study, perhaps with fewer scenarios, methods or replicates.
    study : Study
    source : Path
        The study's file; it is kept, and so are the files of functions that it names.

    Yields
    ------
    Path

    Raises
    ------
    InputError
        If the folder holds something else, or another process writes into it.
    """
    folder = Path(folder)
    if folder.is_file() or any(path.name not in CONTENTS for path in folder.glob("[!.]*")):
        problem = "this is a file, or a folder that holds more than a study"
        raise InputError(problem, "give a new folder", file=folder)
    for name in (definition.CELLS_FOLDER, definition.CODE_FOLDER):
        (folder / name).mkdir(parents=True, exist_ok=True)
    try:
        lock = FileLock(folder / "lock").acquire(blocking=False)
    except Timeout:
        raise InputError(
            "another process is running this study", "wait for it, or stop it", file=folder
        ) from None
    with lock:
        for left in (*folder.glob(".writing-*"), *folder.glob("*/.writing-*")):
            shutil.rmtree(left)
        for code in study.code:
            write_bytes(code.content, definition.locate_code(folder, code.file))
        write_bytes(source.read_bytes(), folder / "study.toml")
        yield folder


def _write_table(table: "pa.Table", folder: Path, stem: str) -> None:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    content = buffer.getvalue()
    path = write_bytes(content, folder / f"{stem}-{_compute_checksum(content)}.parquet")
    for damaged in set(folder.glob(f"{stem}-*.parquet")) - {path}:
        damaged.unlink()


def read_tables(folder: Path) -> "dict[str, pa.Table]":
    """Read the tables of a folder by the stems of their cells, without files that are damaged."""
    # Threads are no faster here, and may not start where memory is short.
    return {
        stem: pq.read_table(pa.BufferReader(content), use_threads=False)
        for _, stem, content in _check_files(folder)
        if content is not None
    }


def _check_files(folder: Path) -> Iterator[tuple[Path, str, bytes | None]]:
    """Give each file with its stem and its content, which is None if the file is damaged."""
    for path in sorted(folder.glob("*.parquet")):
        name = FILE.fullmatch(path.name)
        content = path.read_bytes()
        # Parquet's own checksums are of its pages: bits of the footer may flip without an error.
        whole = name is not None and _compute_checksum(content) == name[2]
        yield path, name[1] if name else path.stem, content if whole else None


def _compute_checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def read_stored_study(folder: str | Path) -> definition.Study:
    """Read the study that a folder holds the results of."""
    path = Path(folder) / "study.toml"
    if not path.is_file():
        raise InputError("there is no study in this folder", "run one into it", file=folder)
    return definition.read_study(path)


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
        `scenario`, what its grid or sweep varies, `replicate`, `method`, `estimand`, `seed`
        (`lehner.simulate(scenario, seed)` makes the data again), `truth`, `estimate`, `lower`,
        `upper`, `standard_error` (that the method states), `status` ("ok", "undefined",
        "unconverged" or "failed"), `reason`, diagnostics, `seconds` and `versions`. Of an
        experiment the columns after `scenario` are the fields of its scenarios, `replicate` and its
        own. Files that are damaged are left out.

    Raises
    ------
    InputError
        If the folder holds no study.

    Examples
    --------
    >>> import tempfile
    >>> from lehner.study import run_study
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
    folder = Path(folder)
    study = read_stored_study(folder)
    tables = read_tables(folder / definition.CELLS_FOLDER)
    cells = [cell for cell in list_cells(study) if cell.stem in tables]
    if not cells:
        return pd.DataFrame(columns=["scenario", *COLUMNS])
    order = {entry.name: position for position, entry in enumerate(study.scenarios)}
    labelled = []
    for cell in cells:
        table = tables[cell.stem]
        added: dict[str, Any] = {"_scenario": order[cell.scenario.name]}
        if cell.method is not None:
            added["method"] = cell.method.label
        for name, value in added.items():
            table = table.append_column(name, pa.array([value] * len(table)))
        labelled.append(table)
    # What is missing in all rows of a cell has a type in others.
    results = pa.concat_tables(labelled, promote_options="permissive").to_pandas()
    settings = pd.DataFrame(
        {"scenario": entry.name}
        | {
            name: definition.write_value(value) if isinstance(value, tuple) else value
            for name, value in entry.varied.items()
        }
        for entry in study.scenarios
    )
    columns = ["replicate", *(name for name in results if name not in ("_scenario", "replicate"))]
    if study.methods:
        results = results.astype(dict.fromkeys((*NUMBERS, *DIAGNOSTICS), float))
        columns = list(COLUMNS)
    settings = settings[[name for name in settings if name not in columns]]
    results = results.join(settings, on="_scenario")
    # Methods and estimands are in the order of the study, cell by cell.
    results = results.sort_values(["_scenario", "replicate"], kind="stable", ignore_index=True)
    return results[[*settings, *columns]]


def describe_missing(folder: str | Path, study: definition.Study, results: "pd.DataFrame") -> str:
    """Say how many results are missing, and which files are damaged, if some are.

    Parameters
    ----------
    folder : str or Path
        Of the results.
    study : Study
    results : pandas.DataFrame
        As `read_results` gives it.

    Returns
    -------
    str
        As "small is unfinished: it has 58 of 200 results; `lehner study run` continues it"; empty
        if all are there.
    """
    total = sum(len(cell.replicates) for cell in list_cells(study))
    by = ["scenario", "replicate", *(["method"] if study.methods else [])]
    done = len(results[by].drop_duplicates())
    if done == total:
        return ""
    counts = f"it has {done:,} of {total:,} results"
    files = _check_files(Path(folder) / definition.CELLS_FOLDER)
    damaged = [path.name for path, _, content in files if content is None]
    if damaged:
        return (
            f"{study.name} is damaged: {counts}, because these files of {definition.CELLS_FOLDER} "
            f"are not as they were written: {list_few(map(repr, damaged), MOST_FILES_SHOWN)}; "
            "`lehner study run` computes them again"
        )
    return f"{study.name} is unfinished: {counts}; `lehner study run` continues it"


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
    results = read_results(folder).drop(columns=list(MACHINE), errors="ignore")
    if text := describe_missing(folder, read_stored_study(folder), results):
        logger.warning(text)
    file.parent.mkdir(parents=True, exist_ok=True)
    return write_csv(results, file)


def draw(
    study: str | Path, scenario: str, replicate: int, output: str | Path | None = None
) -> Path:
    """Draw the data of a replicate again, as CSV.

    Parameters
    ----------
    study : str or Path
        A study file, a folder of results, or "quick".
    scenario : str
        Its name in the study.
    replicate : int
        Its number, from 0.
    output : str or Path, optional
        The file; by default named by study, scenario and replicate, in the working directory.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "data.csv"
    >>> scenario = "raters about .6, initial_system_accuracy 0.5"
    >>> draw("quick", scenario, 3, file).read_text().startswith("item,")
    True
    """
    folder = Path(study)
    plan = read_stored_study(folder) if folder.is_dir() else definition.read_study(study)
    if plan.experiment is not None:
        raise InputError(f"{plan.name} has no ratings: it is an experiment", "draw from another")
    entry = find("scenario", scenario, {entry.name: entry for entry in plan.scenarios})
    replicate = check_whole_number("replicate", replicate, 0)
    announce_code(plan)
    seed = definition.derive_scenario_seed(plan, entry.scenario)
    ratings, _ = simulate_ratings(entry.scenario, definition.derive_cell_seed(seed, replicate))
    name = _name_file(f"{plan.name} {entry.name} {replicate}")
    return write_csv(ratings.to_wide(), Path(output or f"{name}.csv"))
