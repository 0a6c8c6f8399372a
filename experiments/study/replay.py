"""One replicate of a study made again: its data, its results, and whether they are the same."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Group

from experiments.reporting.files import write_csv
from experiments.reporting.origin import versions
from experiments.reporting.renderers import to_terminal
from experiments.reporting.table import Column, Table
from experiments.reporting.terminal import line, print_wide, terminal_width
from experiments.study.cells import Row
from experiments.study.defaults import changed_defaults
from experiments.study.identity import data_seed, scenario_id
from experiments.study.replicate import Task, check_code, do_task, simulate_ratings
from experiments.study.store import read_manifest, read_results, stored_study
from lehner import InputError
from lehner.core.errors import check_whole_number, find

if TYPE_CHECKING:
    import pandas as pd

COMPARED = ("truth", "estimate", "lower", "upper", "standard_error", "status")
SAME = 1e-9
FIRST_ROW = 2
"""Of the exported table, whose header is its row 1."""


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """A replicate as it is stored and as it is made again.

    Parameters
    ----------
    scenario : str
    replicate : int
    method : str
    seed : int
        `lehner.simulate(scenario, seed)` makes the data.
    table : pandas.DataFrame
        A row for each estimand and number: `estimand`, `quantity`, `stored`, `again`, `same`.
    reason : str
        What the method says about the result that was made again.
    notes : tuple of str
        What may make results differ.
    data : Path
        The file of the data.
    """

    scenario: str
    replicate: int
    method: str
    seed: int
    table: "pd.DataFrame"
    reason: str
    notes: tuple[str, ...]
    data: Path

    @property
    def same(self) -> bool:
        """Whether all numbers are the same but for rounding."""
        return bool(self.table["same"].all())


def replay(
    folder: str | Path,
    *,
    row: int | None = None,
    scenario: str | None = None,
    replicate: int | None = None,
    method: str | None = None,
    output: str | Path | None = None,
) -> Replayed:
    """Make a replicate of a study again, and compare it with what is stored.

    Parameters
    ----------
    folder : str or Path
        As given to `run_study`.
    row : int, optional
        Row of the table that `lehner study export` writes, whose header is row 1.
    scenario, method : str, optional
        In place of the row: their names in the study. Either may be left out if the study has one.
    replicate : int, optional
        In place of the row: its number, from 0.
    output : str or Path, optional
        Folder for the data; by default `replay` in the folder of the study.

    Returns
    -------
    Replayed

    Raises
    ------
    InputError
        If the folder holds no study, or there is no such row, scenario, replicate or method in it.

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
    >>> again = replay(folder / "results", replicate=1)
    >>> again.same, again.data.name.endswith("-1.csv")
    (True, True)
    """
    folder = Path(folder)
    study, results = stored_study(folder), read_results(folder)
    if row is not None:
        if (scenario, replicate, method) != (None, None, None):
            raise InputError(
                "a row is given and a scenario, replicate or method as well",
                "give the row alone, which has all of them",
            )
        last = len(results) + FIRST_ROW - 1
        if check_whole_number("row", row, FIRST_ROW) > last:
            raise InputError(
                f"there is no row {row}",
                f"the table of lehner study export has rows {FIRST_ROW} to {last}",
            )
        named = ["scenario", "replicate", "method"]
        scenario, replicate, method = results[named].iloc[row - FIRST_ROW]
    if replicate is None:
        raise InputError("no replicate is named", "give a row, or a replicate")
    cell = _choose("scenario", scenario, {cell.name: cell for cell in study.cells})
    choice = _choose("method", method, {choice.label: choice for choice in study.methods})
    replicate = check_whole_number("replicate", int(replicate), 0)
    chosen: dict[str, Any] = {"scenario": cell.name, "method": choice.label, "replicate": replicate}
    stored = results[(results[list(chosen)] == list(chosen.values())).all(axis="columns")]
    if stored.empty:
        raise InputError(
            f"there is no result of {choice.label} for replicate {replicate} of {cell.name!r}",
            "choose one that is in the table of lehner study export",
        )
    check_code(replace(study, methods=(choice,), cells=(cell,)))
    target = folder / "replay" if output is None else Path(output)
    # Methods that keep their draws do so here as well.
    kept = target / "fits" if "keep" in dict(choice.options) else target
    kept.mkdir(parents=True, exist_ok=True)
    known_by = scenario_id(cell.scenario)
    seed = data_seed(study.seed, known_by, replicate)
    data = target / f"{known_by}-{replicate}.csv"
    ratings, _ = simulate_ratings(cell.scenario, seed)
    write_csv(ratings.to_wide(), data)
    task = Task(
        scenario=cell.scenario,
        methods=(choice,),
        replicates=range(replicate, replicate + 1),
        level=study.level,
        folder=target,
    )
    made = do_task(task, np.random.SeedSequence(study.seed, spawn_key=task.cell().place))
    table = _compare(stored, made)
    before, defaults = stored["versions"].iloc[0], read_manifest(folder)["defaults"]
    other = [f"other versions: stored by {before}; now {versions()}"] * (before != versions())
    return Replayed(
        **chosen,
        seed=seed,
        table=table,
        reason=str(made[0]["reason"]),
        notes=(*other, *changed_defaults(defaults, replace(study, methods=(choice,)))),
        data=data,
    )


def show(again: Replayed) -> None:
    """Print the stored result beside the one that was made again."""
    rows = [
        (*names, _shown(stored), _shown(made), "" if same else "differs")
        for *names, stored, made, same in again.table.itertuples(index=False)
    ]
    columns = [Column("", ""), Column("", ""), Column("stored"), Column("again"), Column("", "")]
    table = Table(columns=columns, rows=rows, keys=2)
    of = f"{again.scenario}: replicate {again.replicate} by {again.method}, seed {again.seed}"
    said = [f"the result {'is the same' if again.same else 'differs'}", *again.notes]
    said += [f"{again.method}: {again.reason}"] * bool(again.reason)
    shown = to_terminal(table, terminal_width())
    print_wide(Group(line(of), line(), *shown, line(), *map(line, said)))


def _choose[T](kind: str, name: str | None, known: dict[str, T]) -> T:
    if name is None and len(known) > 1:
        raise InputError(f"no {kind} is named", f"choose among {', '.join(known)}")
    return find(kind, next(iter(known)) if name is None else name, known)


def _compare(stored: "pd.DataFrame", made: list[Row]) -> "pd.DataFrame":
    import pandas as pd

    before = stored.set_index("estimand")
    rows = []
    for again in made:
        for quantity in COMPARED:
            old, new = before.loc[again["estimand"], quantity], again[quantity]
            old, new = (None if pd.isna(value) else value for value in (old, new))
            same = old == new
            if isinstance(old, float) and isinstance(new, float):
                same = abs(old - new) <= SAME
            rows.append((again["estimand"], quantity, old, new, same))
    return pd.DataFrame(rows, columns=["estimand", "quantity", "stored", "again", "same"])


def _shown(value: object) -> str:
    if value is None or value != value:
        return "–"
    return f"{value:.6f}" if isinstance(value, float) else str(value)
