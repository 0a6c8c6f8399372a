"""The commands `lehner study run`, `export` and `report`."""

import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments.cli.arguments import with_options

app = typer.Typer()

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="The folder with the results of a study.")
]
Study = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="A study file (TOML), or one of quick, k_violations, paper_figures, sample_size.",
    ),
]


@app.callback(invoke_without_command=True)
def study(context: typer.Context) -> None:
    """Run a simulation study, export its results as a table, or write a report of it."""
    context.with_resource(_warnings_in_a_line())
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
@with_options
def run(
    study: Study,
    output: Path | None = None,
    workers: int = 1,
    dask: str | None = None,
    retry_failed: bool = False,
) -> None:
    """Run a study, or continue one that was stopped. Results are stored as they are computed.

    Stored results that were damaged are moved to a folder of their own and computed again.

    Parameters
    ----------
    output : FOLDER
        The folder for the results. Default: named as the study's file, without .toml.
    workers : N
        How many processes work.
    dask : ADDRESS
        A Dask scheduler, as in tcp://host:8786, or local.
    retry_failed : bool
        Estimates that failed are tried again.
    """
    from experiments.study.progress import show_progress
    from experiments.study.run import run_study

    folder = output or Path(Path(study).stem)
    # Schedulers of clusters stop a job so.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        results = run_study(
            study,
            folder,
            workers=workers,
            dask=dask,
            retry_failed=retry_failed,
            report=show_progress,
        )
    except KeyboardInterrupt:
        print(
            f"Finished results are stored in {folder}; the same command continues from there.",
            file=sys.stderr,
        )
        raise
    counts = results["status"].value_counts()
    ends = ", ".join(f"{n} {name}" for name, n in counts.items())
    print(f"{folder}: {len(results)} rows, {ends}")
    if "failed" in counts:
        print(
            "Some estimates failed; the column 'reason' has the reasons, and --retry-failed tries "
            "them again.",
            file=sys.stderr,
        )


@app.command()
@with_options
def export(folder: Folder, output: Path) -> None:
    """Write the results as one CSV table, which is the same on every machine.

    Parameters
    ----------
    output : FILE
        The CSV file.
    """
    from experiments.study.store import export as write

    print(f"wrote {write(folder, output)}", file=sys.stderr)


@app.command()
def report(folder: Folder) -> None:
    """Write a report of the results in HTML and Markdown, with LaTeX tables and figures."""
    from experiments.study.study_report import write_report

    for path in write_report(folder):
        print(f"wrote {path}", file=sys.stderr)


@app.command()
@with_options
def replay(
    folder: Folder,
    row: int | None = None,
    scenario: str | None = None,
    replicate: int | None = None,
    method: str | None = None,
    output: Path | None = None,
) -> None:
    """Make one replicate again: its data as CSV, and whether the result is the same.

    Exit code 1 says that it is not.

    Parameters
    ----------
    row : int
        Row of the exported table; its header is row 1.
    scenario : str
        Scenario, in place of the row.
    replicate : int
        Replicate, from 0.
    method : str
        Method, by its name in the study.
    output : Path
        Folder for the data. Default: replay, in the study's.
    """
    from experiments.study.replay import replay as again
    from experiments.study.replay import show

    replayed = again(
        folder, row=row, scenario=scenario, replicate=replicate, method=method, output=output
    )
    show(replayed)
    print(f"wrote {replayed.data}", file=sys.stderr)
    if not replayed.same:
        raise typer.Exit(1)


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Print what is wrong with a folder of results when it is found."""
    from experiments.study.checked_file import StudyWarning

    show = warnings.showwarning

    def print_line(message: Any, category: type[Warning], *where: Any, **options: Any) -> None:
        if issubclass(category, StudyWarning):
            print(f"lehner: {message}", file=sys.stderr)
        else:
            show(message, category, *where, **options)

    with warnings.catch_warnings():
        warnings.simplefilter("always", StudyWarning)
        warnings.showwarning = print_line
        yield
