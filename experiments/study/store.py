"""The results of a study on disk: a folder with a file for each cell, and what the study was.

Only the process that runs the study writes. Results are known by the seed of the study, the
scenario, the method and the version of the package, so that those of another seed, option or text
of a function may be in the folder, and are not of the study.
"""

import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from experiments.report.files import write_bytes, write_csv
from experiments.study.cells import read_cells, usable_files
from experiments.study.definition import Study, read_study, shown
from experiments.study.user_code import CELLS, FOLDER, kept_code
from lehner import InputError
from lehner.core.lazy import pd

OURS = {CELLS, FOLDER, "fits", "report", "lock", "study.toml"}
"""What a folder of results holds."""
PLACE = ("scenario_id", "replicate", "method_id")
NUMBERS = (
    *("truth", "estimate", "lower", "upper", "standard_error"),
    *("r_hat", "ess_bulk", "ess_tail"),
)
OF_THE_MACHINE = ("seconds", "versions")
COLUMNS = (
    *("seed", *NUMBERS[:5], "status", "reason"),
    *("r_hat", "ess_bulk", "ess_tail", "divergences", "tries", *OF_THE_MACHINE),
)
"""Of results of methods, after those that say which they are."""


class StudyWarning(UserWarning):
    """A study is not finished."""


@contextmanager
def open_store(folder: str | Path, study: Study, source: Path) -> Iterator[Path]:
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
    if folder.is_file():
        raise InputError("this is a file", "give a folder for the results", file=folder)
    if folder.exists() and any(path.name not in OURS for path in folder.glob("[!.]*")):
        raise InputError(
            "this folder is not empty and holds more than a study", "give a new folder", file=folder
        )
    for name in (CELLS, FOLDER, "fits"):
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
            write_bytes(code.content, kept_code(folder, code.file))
        write_bytes(source.read_bytes(), folder / "study.toml")
        yield folder


def stored_study(folder: str | Path) -> Study:
    """Read the study that a folder holds the results of."""
    path = Path(folder) / "study.toml"
    if not path.is_file():
        raise InputError("there is no study in this folder", "run one into it", file=folder)
    return read_study(path)


def finished_rows(folder: Path, study: Study) -> "pd.DataFrame":
    """Stored results of a study, with the keys of scenarios and methods, each once."""
    stored = read_cells(folder / CELLS, file="file")
    if stored.empty:
        return pd.DataFrame(columns=[*PLACE, *NUMBERS, "status"])
    stored = stored[stored["scenario_id"].isin(list(study.scenario_keys.values()))]
    # A replicate is in two files if the number of replicates was raised.
    first = stored.groupby(list(PLACE))["file"].transform("first")
    return stored[stored["file"] == first].drop(columns="file")


def forget_failed(folder: Path) -> None:
    """Remove the files in which a method failed, so that they are computed again."""
    for stem, table in usable_files(folder / CELLS).items():
        if "status" in table.column_names and "failed" in table["status"].to_pylist():
            for path in (folder / CELLS).glob(f"{stem}-*.parquet"):
                path.unlink()


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
        (`lehner.simulate(scenario, seed)` makes the data again), `seconds` and `versions`. Of an
        experiment the columns after `replicate` are its own. Files that are damaged are left out.

    Raises
    ------
    InputError
        If the folder holds no study.

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
    folder = Path(folder)
    study = stored_study(folder)
    stored = finished_rows(folder, study)
    stored = stored[stored["replicate"] < study.replicates]
    # A scenario or a method may be in a study under two names.
    cells = pd.DataFrame(
        {"order": order, "scenario_id": study.scenario_keys[cell.name], "scenario": cell.name}
        | {name: shown(x) if isinstance(x, tuple) else x for name, x in cell.varied.items()}
        for order, cell in enumerate(study.cells)
    )
    own = [name for name in stored if name not in PLACE]
    by, first = ["order", "replicate"], []
    if study.methods:
        methods = pd.DataFrame(
            {"second": second, "method_id": study.method_keys[method.label], "method": method.label}
            for second, method in enumerate(study.methods)
        )
        stored = stored.merge(methods, on="method_id").astype(dict.fromkeys(NUMBERS, float))
        by, first, own = [*by, "second", "estimand"], ["method", "estimand"], list(COLUMNS)
    results = stored.merge(cells, on="scenario_id")
    results = results.sort_values(by, kind="stable", ignore_index=True)
    varied = [name for name in cells if name not in ("order", "scenario_id", *own)]
    return results[[*varied, "replicate", *first, *own]]


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
        Whether some are missing, be it that the study was stopped or that files of it were lost.
    """
    by = ["scenario", "method"] if study.methods else ["scenario"]
    done = results.groupby(by)["replicate"].nunique()
    places: list[Any] = [
        (cell.name, method.label) for cell in study.cells for method in study.methods
    ] or [cell.name for cell in study.cells]
    fewest, most = (int(f(done.get(place, 0) for place in places)) for f in (min, max))
    n = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
    if fewest < study.replicates:
        return f"{n} of {study.replicates:,} replicates, unfinished", True
    return f"{n} replicates", False


def warn_if_unfinished(study: Study, results: "pd.DataFrame") -> None:
    """Warn how many replicates of a study are there, if some are not."""
    text, unfinished = count_replicates(study, results)
    if unfinished:
        warnings.warn(
            f"{study.name}: {text}; `lehner study run` goes on", StudyWarning, stacklevel=2
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
    results = read_results(folder).drop(columns=list(OF_THE_MACHINE), errors="ignore")
    warn_if_unfinished(stored_study(folder), results)
    file.parent.mkdir(parents=True, exist_ok=True)
    return write_csv(results, file)
