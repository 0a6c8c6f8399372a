"""The `lehner` command."""

import json
import os
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from experiments.cli.agreement import agreement
from experiments.cli.arguments import (
    AsJson,
    Data,
    Interval,
    Output,
    Reading,
    Seed,
    System,
    Truth,
    read_shared_mistakes,
    with_reading,
)
from experiments.cli.ask import ask
from experiments.cli.check import check
from experiments.cli.label import label
from experiments.cli.options import as_options
from experiments.cli.plan import plan
from experiments.cli.study import app as study_app

INTERRUPTED = 130
SECONDS_TO_LEAVE = 10

app = typer.Typer(
    help="How accurate is a classification system, judged by raters who may be worse than it?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich takes as long to load as all the rest of --help
)

app.command()(with_reading(agreement))
app.add_typer(study_app, name="study")
app.command()(with_reading(ask, leave_out="counts"))
app.command()(with_reading(check))
app.command()(with_reading(label))
app.command()(plan)


@app.callback()
def lehner() -> None:
    """Estimate a system's accuracy without a gold standard."""


@app.command()
@with_reading
def estimate(
    data: Data,
    system: System = None,
    method: Annotated[
        list[str] | None, typer.Option(help="Method, or all; repeat for several. Default: four.")
    ] = None,
    interval: Interval = 0.9,
    seed: Seed = 1,
    truth: Truth = None,
    *,
    reading: Reading,
    truths_in_model: Annotated[
        bool,
        typer.Option(
            "--truths-in-model",
            help="Fit models to the known truths, rather than correct their estimates by them.",
        ),
    ] = False,
    shared_mistakes: Annotated[
        str | None,
        typer.Option(
            help="Widen intervals for items that mislead raters and system alike: their share, as "
            "0.1, or its Beta prior, as 0.5,4.5."
        ),
    ] = None,
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity",
            help="Fit relaxed_k twice more, with the system's slope on difficulty at 0 and at 1.",
        ),
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="Folder for CSV, LaTeX, figures and draws.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate the system's accuracy by several methods, side by side."""
    from experiments.cli.load import load
    from experiments.cli.progress_lines import progress_lines
    from experiments.estimate.comparison import compare
    from experiments.estimate.comparison_report import failed, show, write
    from experiments.estimate.methods import (
        DEFAULT_METHODS,
        compile_models,
        find_methods,
        fit_slopes,
    )
    from lehner.core.estimate import require_estimable

    methods = find_methods(method or DEFAULT_METHODS)
    shared = None if shared_mistakes is None else read_shared_mistakes(shared_mistakes)
    ratings = load(data, system, reading, truth, require=require_estimable)
    seen = ratings if truths_in_model else ratings.with_truth(None)
    estimates = []
    slopes = None
    with progress_lines():
        with compile_models(methods, seen) as wait:
            for one in methods:
                wait(one.model)
                said = one.estimate(seen, interval, seed)
                estimates.append(replace(said, warnings=tuple(map(as_options, said.warnings))))
        if sensitivity:
            slopes = fit_slopes(seen, interval, seed)
    comparison = compare(data, ratings, estimates, shared_mistakes=shared, slopes=slopes)
    if as_json:
        print(json.dumps(comparison.to_dict(), indent=2, allow_nan=False))
    else:
        show(comparison)
    if output is not None:
        for path in write(comparison, output):
            print(f"wrote {path}", file=sys.stderr)
    if failed(comparison.estimates):
        raise typer.Exit(1)


@app.command()
def datasets() -> None:
    """List the bundled data sets with their sizes and sources."""
    from lehner import list_datasets, load_dataset

    for dataset in list_datasets():
        ratings = load_dataset(dataset.name)
        print(f"{dataset.name}\n  {dataset.title}\n  {ratings}\n  {dataset.source}")
        if dataset.doi:
            print(f"  https://doi.org/{dataset.doi}")
        if dataset.licence:
            print(f"  licence: {dataset.licence}")


@app.command()
def paper(
    figure: Annotated[int | None, typer.Option(help="Draw this figure, 1 to 14.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Draw all figures and score all readings.")
    ] = False,
    output: Output = None,
    runs: Annotated[
        int | None, typer.Option(help="Runs a figure. Default: 50 for one, as printed; else 1,000.")
    ] = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Reproduce Lehner (2015): every printed number beside ours, and the figures."""
    from experiments.paper.paper_command import reproduce
    from lehner import InputError

    if figure is not None and everything:
        raise InputError("--figure and --all exclude one another", "leave one of them out")
    if figure is not None and as_json:
        raise InputError(
            "--json is of the table of numbers, not of a figure", "leave one of them out"
        )
    reproduce(figure, everything=everything, output=output, runs=runs, seed=seed, as_json=as_json)


@app.command()
def atlas(
    violation: Annotated[
        list[str] | None, typer.Option(help="Violation; repeat for several. Default: all.")
    ] = None,
    output: Annotated[Path, typer.Option(help="Folder for tables and figures.")] = Path("."),
    seed: Seed = 1,
) -> None:
    """Compute each method's large-sample bias where an assumption fails: tables and figures."""
    from experiments.atlas.atlas_command import write_atlas

    for path in write_atlas(violation, output, seed):
        print(f"wrote {path}", file=sys.stderr, flush=True)


@app.command()
def calibrate(
    model: Annotated[
        list[str] | None, typer.Option(help="Model; repeat for several. Default: all.")
    ] = None,
    design: Annotated[
        list[str] | None,
        typer.Option(
            help="Design, as K5_J3_n500: 5 categories, 3 raters, 500 items; repeat for several. "
            "Default: K3_J3_n40_missing."
        ),
    ] = None,
    simulations: Annotated[int, typer.Option(help="Simulations of each model and design.")] = 1000,
    output: Annotated[Path, typer.Option(help="Folder for ranks, table and figure.")] = Path("."),
    seed: Seed = 1,
) -> None:
    """Check by simulation that the intervals of the Bayesian models are what they say."""
    from experiments.calibration.calibration_command import write_calibration

    for path in write_calibration(model, design, simulations, output, seed):
        print(f"wrote {path}", file=sys.stderr)


def main() -> None:
    """Run the command; bad input ends in one line on standard error and exit code 2."""
    # Compiling takes a minute or two, sampling seconds: optimise less. The draws are the same.
    os.environ.setdefault("NUMBA_OPT", "1")
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:
            print("lehner: stopped", file=sys.stderr)
            _leave_within(SECONDS_TO_LEAVE)
        sys.exit(code)
    except typer.TyperException as error:
        message = getattr(error, "format_message", error.__str__)()
        sys.exit(_complain(f"{message}; see lehner --help"))
    except OSError as error:
        sys.exit(_complain(f"{error.filename or 'output'}: {error.strerror or error}"))
    except ValueError as error:
        from lehner import InputError

        if not isinstance(error, InputError):
            raise
        sys.exit(_complain(as_options(str(error))))


def _leave_within(seconds: float) -> None:
    """End the process even if a worker that was stopped amid a result keeps it waiting."""
    timer = threading.Timer(seconds, os._exit, [INTERRUPTED])
    timer.daemon = True
    timer.start()


def _complain(text: str) -> int:
    print("lehner:", " ".join(text.split()), file=sys.stderr)
    return 2
