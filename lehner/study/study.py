"""A study: read, written, and run into a folder on as many processors or machines as there are.

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
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import KW_ONLY, InitVar, dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from lehner.core.errors import InputError, check_whole_number, find, list_few
from lehner.core.estimate import to_plain
from lehner.core.lazy import load, pa, pd
from lehner.core.resampling import log_progress, show_if_long
from lehner.report.files import write_bytes, write_text
from lehner.study import definition
from lehner.study.parallel import do_all
from lehner.study.replicate import (
    Cell,
    announce_code,
    call_user_function,
    divide,
    find_trials,
    load_user_function,
)
from lehner.study.report import MACHINE, StudyResults, name_file, write_tables

pq = load("pyarrow.parquet")

logger = logging.getLogger(__name__)
# Name of a file: the cell's stem, and the checksum.
FILE = re.compile(r"(.+)-([0-9a-f]{16})\.parquet")
# What a folder of results holds.
STUDY_FILE = "study.toml"
CONTENTS = {definition.CELLS_FOLDER, definition.CODE_FOLDER, "report", "lock", STUDY_FILE}
# A small study that is installed, to start from.
SHIPPED = "quick"
NUMBERS = ("truth", "estimate", "lower", "upper", "standard_error")
DIAGNOSTICS = ("r_hat", "ess_bulk", "ess_tail")
MOST_FILES_SHOWN = 10
COLUMNS = (
    *("replicate", "method", "estimand", "seed", *NUMBERS, "status", "reason"),
    *(*DIAGNOSTICS, "divergences", "tries", *MACHINE),
)


@dataclass(frozen=True)
class Study:
    """A simulation study: methods tried on samples of scenarios.

    Its keywords are the keys of a study file, so that `Study.read` and `write` turn one into the
    other. Seeds depend on the seed of the study, the scenario and the method: a study can grow, and
    be done in any order by any number of workers, without a number changing.

    Parameters
    ----------
    name : str
        Of the study, in its report.
    scenarios : list, or mapping of str to Scenario
        Each is a `lehner.Scenario`, or a table of its fields with a `name`, and perhaps a `grid`
        (all combinations of the values given) or a `sweep` (one field after another), whose values
        may have names. With a `generator`, a function of your own `(seed, **fields)` that returns
        ratings with a system and the truth, the fields are those of the function.
    methods : list
        Names, functions of your own `(ratings, *, level, seed)` that return a `lehner.Estimate`, or
        tables with `name`, perhaps `label`, and options.
    replicates : int
        Samples of each scenario.
    seed : int
        Whole number, 0 or more: the same seed gives the same results.
    aims : str
        What the study is to find out.
    level : float
        Probability of the intervals, from .5 to .999.
    estimand : str or callable
        What is estimated: "accuracy" of the system; "weighted_loss", the mean distance of its
        answers from the truth in ordered categories, where the greatest is 1; or a function of your
        own of the proportions of items with each truth (row) and answer (column).
    experiment : callable or str, optional
        In place of methods a function of your own: from a seed and the fields of a scenario to the
        rows of a replicate.
    table : callable or str, optional
        Of an experiment: a function from its results to the table, or tables by name, which a run
        writes when it is finished.
    folder : str or Path
        From which the paths of functions start that are named as "mine.py:estimate".

    Raises
    ------
    InputError
        If a value is wrong, or a function of your own has no source.

    References
    ----------
    Morris, White & Crowther (2019), https://doi.org/10.1002/sim.8086, for aims, data-generating
    mechanisms, estimands, methods and performance measures.

    Examples
    --------
    Two methods on ten samples, without a model that must be compiled:

    >>> import tempfile
    >>> from lehner import Scenario
    >>> study = Study(
    ...     "small",
    ...     scenarios={"three raters": Scenario(n_items=100)},
    ...     methods=["majority_agreement", "algebraic"],
    ...     replicates=10,
    ...     seed=1,
    ... )
    >>> results = study.run(tempfile.mkdtemp())
    >>> results.performance()["bias"].round(2).tolist()
    [-0.23, -0.01]
    """

    name: str
    _: KW_ONLY
    scenarios: Any
    methods: Any = ()
    replicates: int
    seed: int
    aims: str = ""
    level: float = 0.9
    estimand: Any = definition.ACCURACY
    experiment: Any = None
    table: Any = None
    folder: InitVar[str | Path] = "."
    content: dict[str, Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self, folder: str | Path) -> None:
        folder = Path(folder)
        checks = (definition.KEYS | definition.FUNCTIONS).items()
        values: dict[str, Any] = {key: check(key, getattr(self, key)) for key, check in checks}
        # What is as by default need not be written.
        content = {key: x for key, x in values.items() if x != getattr(Study, key, None)}
        for key in definition.FUNCTIONS:
            if key in content and values[key] not in definition.ESTIMANDS:
                values[key] = definition.read_code(values[key], folder)
        if bool(self.methods) == ("experiment" in content):
            problem = "there are 'methods' and 'experiment', or neither"
            raise InputError(problem, "give one of them")
        if self.methods:
            content["methods"] = definition.check_list("methods", to_plain(self.methods))
        choices = content.get("methods", [])
        values["methods"] = tuple(definition.choose_method(choice, folder) for choice in choices)
        _require_unique("methods", [method.label for method in values["methods"]])
        content["scenarios"] = definition.list_tables(self.scenarios)
        values["scenarios"] = tuple(
            definition.expand_tables(content["scenarios"], folder, values["experiment"])
        )
        _require_unique("scenarios", [entry.name for entry in values["scenarios"]])
        for key, value in (values | {"content": content}).items():
            object.__setattr__(self, key, value)
        _require_unique("functions", [code.file for code in self.code])

    @classmethod
    def read(cls, path: str | Path, **changes: Any) -> "Study":
        """Read a study file; no code that it names is run.

        Parameters
        ----------
        path : str or Path
            A TOML file, a folder of results, or "quick", a small study that is installed. Paths of
            functions in it start from its folder.
        **changes
            Keywords of `Study` that take the place of what the file says, as `replicates=20`.

        Returns
        -------
        Study

        Raises
        ------
        InputError
            If there is no such file, if it is not TOML, or if a key or a value in it is wrong. The
            error names the file, the key and, of several tables of scenarios, which it is.

        Examples
        --------
        >>> study = Study.read("quick", replicates=2)
        >>> study.name, len(study.scenarios), study.replicates
        ('quick', 5, 2)
        """
        path = find_study(path)
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            problem = f"this is not TOML in UTF-8: {error}"
            raise InputError(problem, "correct it", file=path) from None
        try:
            keys = (*definition.KEYS, "methods", "scenarios", *definition.FUNCTIONS)
            for key in content:
                find("key", key, dict.fromkeys(keys))
            for key in definition.REQUIRED:
                if key not in content:
                    remedy = f"a study has {', '.join(definition.REQUIRED)}"
                    raise InputError(f"there is no {key!r}", remedy)
            return cls(**(content | changes), folder=path.parent)
        except InputError as error:
            error.file = path
            raise

    @property
    def code(self) -> list[definition.UserCode]:
        """Functions of a user's own that it names, each file once."""
        named = [self.experiment, self.table, self.estimand]
        named += [part.code for part in (*self.methods, *self.scenarios)]
        files = {(x.file, x.hash): x for x in named if isinstance(x, definition.UserCode)}
        return list(files.values())

    @cached_property
    def cells(self) -> list[Cell]:
        """Blocks of replicates that are computed in one go: by scenario, then by method."""
        names = ("level", "seed", "estimand")
        shared: dict[str, Any] = {name: getattr(self, name) for name in names}
        return [
            Cell(scenario=entry, method=method, replicates=block, **shared)
            for entry, method in product(self.scenarios, self.methods or (None,))
            for block in divide(self.replicates, method)
        ]

    def to_toml(self) -> str:
        """Write the study as a study file.

        Returns
        -------
        str
            In it functions are named by their files.
        """
        head = {key: value for key, value in self.content.items() if key != "scenarios"}
        lines = definition.write_pairs(head)
        for table in self.content["scenarios"]:
            lines += ["", "[[scenarios]]", *definition.write_pairs(table)]
        return "\n".join(lines) + "\n"

    def write(self, path: str | Path) -> Path:
        """Write the study file, and beside it a file for each function of your own.

        Parameters
        ----------
        path : str or Path
            In a folder that exists.

        Returns
        -------
        Path

        Raises
        ------
        InputError
            If a file of a function's name has another content.
        """
        path = Path(path)
        for code in self.code:
            target = path.parent / code.file
            if target.exists() and target.read_bytes() != code.content:
                problem = f"this is another file, and {code.text} would replace it"
                raise InputError(problem, "write the study into another folder", file=target)
            write_bytes(code.content, target)
        return write_text(self.to_toml(), path)

    def run(
        self, folder: str | Path | None = None, *, workers: int = 1, dask: Any = None
    ) -> StudyResults:
        """Run the study, or what is missing of it.

        Every method sees the same simulated data. First, each function of your own is tried on one
        sample of each scenario, so that an error in it ends the study at once. What is finished is
        kept in the folder. If a run is stopped in any way, the next one goes on where it was, and
        the numbers are the same for any number of workers. A method that raises an `InputError`
        leaves a row with the reason. What is cut short by an interrupt, or by a lack of memory or
        disk space, is no result, and is done again by the next run; so is what was damaged.

        Parameters
        ----------
        folder : str or Path, optional
            For the results. Default: the name of the study, in the working directory.
        workers : int
            Number of processes at work, 1 or more.
        dask : str or distributed.Client, optional
            A client, the address of a Dask scheduler, as in "tcp://host:8786", or "local".

        Returns
        -------
        StudyResults

        Raises
        ------
        InputError
            If a function of your own is wrong, the folder holds something else, or the machine
            lacks what a method needs.
        KeyboardInterrupt
            If it was interrupted.
        """
        check_whole_number("workers", workers, 1)
        announce_code(self.name, self.code)
        if self.table is not None:
            load_user_function(self.table)
        with open_folder(folder or name_file(self.name), self.to_toml(), self.code) as folder:
            cells = folder / definition.CELLS_FOLDER
            finished, planned = read_tables(cells), self.cells
            missing = [cell for cell in planned if cell.stem not in finished]
            # The first replicates of all scenarios first.
            missing.sort(key=lambda cell: cell.replicates.start)
            n_missing, total = count_replicates(missing), count_replicates(planned)
            if missing:
                logger.info(f"{self.name}: {n_missing:,} of {total:,} results to compute")
            with closing(do_all(Cell.try_out, find_trials(missing), workers, dask)) as tried:
                list(tried)
            done, tell = 0, log_progress(self.name, n_missing, logger)
            with (
                show_if_long("lehner.study"),
                closing(do_all(Cell.compute, missing, workers, dask)) as computed,
            ):
                for cell, table in computed:
                    _write_table(table, cells, cell.stem)
                    done += len(cell.replicates)
                    tell(done)
            results = self.collect(folder)
            warn_of_failures(results.table)
            if self.table is not None:
                tables = call_user_function(self.table, results.table)
                write_tables(self.name, tables, folder / "report")
        return results

    def collect(self, folder: str | Path) -> StudyResults:
        """Collect what is in a folder of results of this study; no code is run.

        Parameters
        ----------
        folder : str or Path
            As given to `run`.

        Returns
        -------
        StudyResults
            Files that are damaged are left out.
        """
        folder = Path(folder)
        tables = read_tables(folder / definition.CELLS_FOLDER)
        cells = [cell for cell in self.cells if cell.stem in tables]
        table = join_cells(cells, tables, self.scenarios)
        missing = "" if len(cells) == len(self.cells) else self._describe_missing(cells, folder)
        return StudyResults(study=self, table=table, folder=folder, missing=missing)

    def _describe_missing(self, finished: list[Cell], folder: Path) -> str:
        """Say how many results are missing, and which files are damaged, if some are."""
        n, total = count_replicates(finished), count_replicates(self.cells)
        counts = f"it has {n:,} of {total:,} results"
        files = _check_files(folder / definition.CELLS_FOLDER)
        damaged = [repr(path.name) for path, _, content in files if content is None]
        if not damaged:
            return f"{self.name} is unfinished: {counts}; run it to continue"
        text = f"{self.name} is damaged: {counts}, because these files of {definition.CELLS_FOLDER}"
        text += f" are not as they were written: {list_few(damaged, MOST_FILES_SHOWN)}"
        return f"{text}; run it to compute them again"


def count_replicates(cells: Iterable[Cell]) -> int:
    """Count the replicates of cells."""
    return sum(len(cell.replicates) for cell in cells)


def warn_of_failures(table: "pd.DataFrame") -> None:
    """Warn of methods that failed in all samples, with the reason of the first."""
    if "status" in table:
        for method, rows in table.groupby("method", sort=False):
            if (rows["status"] == "failed").all():
                reason = rows["reason"].iloc[0]
                logger.warning(f"{method} has no estimate of any sample: {reason}")


def find_study(path: str | Path) -> Path:
    """Find a study file, that of a folder of results, or the one that is installed by its name."""
    path = Path(path)
    if path.is_dir():
        if not (path / STUDY_FILE).is_file():
            raise InputError("there is no study in this folder", "run one into it", file=path)
        return path / STUDY_FILE
    if path.is_file():
        return path
    if str(path) == SHIPPED:
        return Path(__file__).with_name(f"{SHIPPED}.toml")
    raise InputError("there is no such file", f"give a TOML file, or {SHIPPED}", file=path)


def _require_unique(key: str, names: list[str]) -> None:
    twice = [name for name, number in Counter(names).items() if number > 1]
    if twice:
        raise InputError(f"{key} has {twice[0]!r} twice", "give each a name of its own")


@contextmanager
def open_folder(
    folder: str | Path, text: str, codes: Iterable[definition.UserCode]
) -> Iterator[Path]:
    """Open a folder for a study, for one process at a time.

    Parameters
    ----------
    folder : str or Path
        New, or with results of the same study, perhaps with fewer scenarios, methods or replicates.
    text : str
        Of the study file, which is kept.
    codes : iterable of definition.UserCode
        Functions that it names, whose files are kept, too.

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
        problem = "another process is running this study"
        raise InputError(problem, "wait for it, or stop it", file=folder) from None
    with lock:
        for left in (*folder.glob(".writing-*"), *folder.glob("*/.writing-*")):
            shutil.rmtree(left)
        for code in codes:
            write_bytes(code.content, definition.locate_code(folder, code.file))
        write_text(text, folder / STUDY_FILE)
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


def join_cells(
    cells: Sequence[Cell],
    tables: "Mapping[str, pa.Table]",
    scenarios: Sequence[definition.StudyScenario],
) -> "pd.DataFrame":
    """Arrange the tables of cells as one, in the order of the study.

    Parameters
    ----------
    cells : sequence of Cell
        Those that are finished.
    tables : mapping of str to pyarrow.Table
        By the stem of a cell.
    scenarios : sequence of definition.StudyScenario

    Returns
    -------
    pandas.DataFrame
        As `StudyResults.table` is.
    """
    if not cells:
        return pd.DataFrame(columns=["scenario", *COLUMNS])
    order = {entry.name: position for position, entry in enumerate(scenarios)}
    parts = [tables[cell.stem] for cell in cells]
    # What is missing in all rows of a cell has a type in others.
    results = pa.concat_tables(parts, promote_options="permissive").to_pandas()
    lengths = list(map(len, parts))
    results["_scenario"] = np.repeat([order[cell.scenario.name] for cell in cells], lengths)
    settings = pd.DataFrame(
        {"scenario": entry.name}
        | {
            name: definition.write_value(value) if isinstance(value, tuple) else value
            for name, value in entry.varied.items()
        }
        for entry in scenarios
    )
    columns = ["replicate", *(name for name in results if name not in ("_scenario", "replicate"))]
    if methods := [cell.method.label for cell in cells if cell.method is not None]:
        results["method"] = np.repeat(methods, lengths)
        results = results.astype(dict.fromkeys((*NUMBERS, *DIAGNOSTICS), float))
        columns = list(COLUMNS)
    settings = settings[[name for name in settings if name not in columns]]
    results = results.join(settings, on="_scenario")
    # Methods and estimands are in the order of the study, cell by cell.
    results = results.sort_values(["_scenario", "replicate"], kind="stable", ignore_index=True)
    return results[[*settings, *columns]]
