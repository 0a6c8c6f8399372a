"""The command study with its subcommands."""

import signal
from pathlib import Path

import typer

import lehner
from lehner.command import options
from lehner.core.text import say

study_app = typer.Typer()


@study_app.callback(invoke_without_command=True)
def study(context: typer.Context) -> None:
    """Run a simulation study, or write a report of its results."""
    if context.invoked_subcommand is None:
        context.get_help()


def run(
    study: str,
    output: Path | None = None,
    replicates: int | None = None,
    workers: int = 1,
    dask: str | None = None,
) -> None:
    """Run a study, or continue one that was stopped. Results are stored as they are computed.

    Stored results that were damaged are computed again.

    Parameters
    ----------
    output : FOLDER
        The folder for the results. Default: it has the name of the study's file, without .toml.
    replicates : N
        The number of samples of each scenario, in place of the study's own.
    workers : N
        How many processes work at once.
    dask : ADDRESS
        The address of a Dask scheduler, such as tcp://host:8786, or local.
    """
    folder = output or Path(Path(study).stem)
    changes = {} if replicates is None else {"replicates": replicates}
    plan = lehner.Study.read(study, **changes)
    # Schedulers of clusters stop a job so.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        table = plan.run(folder, workers=workers, dask=dask).table
    except KeyboardInterrupt:
        say(f"Finished results are stored in {folder}; the same command continues from there.")
        raise
    counts = table["status"].value_counts() if "status" in table else {}
    ends = "".join(f", {n} {name}" for name, n in counts.items())
    print(f"{folder}: {len(table)} rows{ends}")
    if "failed" in counts:
        say("Some estimates failed; the column 'reason' has the reasons.")


def report(folder: Path) -> None:
    """Write a report of the results as a page, with LaTeX tables, CSV and figures."""
    for path in lehner.Study.read(folder).collect(folder).report():
        say(f"wrote {path}")


for command in (run, report):
    options.add_command(study_app, command, steps=("lehner.study",))
