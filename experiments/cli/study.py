"""The commands `lehner study run`, `export`, `report` and `draw`."""

import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments.cli.options import Group, add_command

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
app = typer.Typer(cls=Group)


@app.callback(invoke_without_command=True)
def study(context: typer.Context) -> None:
    """Run a simulation study, export its results, write a report, or draw one data set again."""
    context.with_resource(_warnings_in_a_line())
    if context.invoked_subcommand is None:
        context.get_help()


def run(
    study: Study,
    output: Path | None = None,
    workers: int = 1,
    dask: str | None = None,
    retry_failed: bool = False,
) -> None:
    """Run a study, or continue one that was stopped. Results are stored as they are computed.

    Stored results that were damaged are computed again.

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
    from experiments.cli.progress_lines import progress_lines
    from experiments.study.run import run_study

    folder = output or Path(Path(study).stem)
    # Schedulers of clusters stop a job so.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with progress_lines(["experiments"]):
            results = run_study(
                study, folder, workers=workers, dask=dask, retry_failed=retry_failed
            )
    except KeyboardInterrupt:
        print(
            f"Finished results are stored in {folder}; the same command continues from there.",
            file=sys.stderr,
        )
        raise
    counts = results["status"].value_counts() if "status" in results else {}
    ends = "".join(f", {n} {name}" for name, n in counts.items())
    print(f"{folder}: {len(results)} rows{ends}")
    if "failed" in counts:
        print(
            "Some estimates failed; the column 'reason' has the reasons, and --retry-failed tries "
            "them again.",
            file=sys.stderr,
        )


def export(folder: Folder, output: Path) -> None:
    """Write the results as one CSV table, which is the same on every machine.

    Parameters
    ----------
    output : FILE
        The CSV file.
    """
    from experiments.study.store import export as write

    print(f"wrote {write(folder, output)}", file=sys.stderr)


def report(folder: Folder) -> None:
    """Write a report of the results in HTML and Markdown, with LaTeX tables and figures."""
    from experiments.study.study_report import write_report

    for path in write_report(folder):
        print(f"wrote {path}", file=sys.stderr)


def draw(
    study: Study,
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="Its name in the study.")],
    replicate: Annotated[int, typer.Argument(metavar="REPLICATE", help="Its number, from 0.")],
    output: Path | None = None,
) -> None:
    """Draw the data of one replicate again, as CSV.

    Parameters
    ----------
    output : FILE
        The CSV file. Default: named by study, scenario and replicate.
    """
    from experiments.study.run import draw as write

    print(f"wrote {write(study, scenario, replicate, output)}", file=sys.stderr)


for command in (run, export, report, draw):
    add_command(app, command)


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Print what is wrong with a folder of results when it is found."""
    from experiments.study.store import StudyWarning

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
