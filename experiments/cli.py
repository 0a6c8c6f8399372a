"""The `lehner` command."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.study_command import app as study_app

if TYPE_CHECKING:
    from lehner import Ratings

INTERRUPTED = 130

app = typer.Typer(
    help="How accurate is a classification system, judged by raters who may be worse than it?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich takes as long to load as all the rest of --help
)


app.add_typer(study_app, name="study")


@app.callback()
def lehner() -> None:
    """Estimate a system's accuracy without a gold standard."""


@app.command()
def estimate(
    data: Annotated[str, typer.Argument(help="Ratings file (CSV or Parquet), or a data set.")],
    system: Annotated[str | None, typer.Option(help="Column or rater that is the system.")] = None,
    method: Annotated[
        list[str] | None, typer.Option(help="Method, or all; repeat for several. Default: four.")
    ] = None,
    interval: Annotated[float, typer.Option(help="Probability of the intervals.")] = 0.9,
    seed: Annotated[int, typer.Option(help="Same seed, same numbers.")] = 1,
    truth: Annotated[str | None, typer.Option(help="Column of known truths.")] = None,
    item: Annotated[str | None, typer.Option(help="Column that names the items.")] = None,
    raters: Annotated[str | None, typer.Option(help="Rater columns, comma-separated.")] = None,
    counts: Annotated[str | None, typer.Option(help="Column of numbers of items.")] = None,
    categories: Annotated[
        str | None, typer.Option(help="All categories in order, comma-separated.")
    ] = None,
    ordered: Annotated[bool, typer.Option("--ordered", help="Categories are ordered.")] = False,
    output: Annotated[
        Path | None, typer.Option(help="Folder for CSV, LaTeX, figure and draws.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Estimate the system's accuracy by several methods, side by side."""
    from experiments.comparison import compare
    from experiments.methods import DEFAULT_METHODS, find_methods
    from experiments.report import failed, show, write
    from lehner import InputError

    methods = find_methods(method or DEFAULT_METHODS)
    if not 0 < interval < 1:
        raise InputError(f"--interval is {interval}", "give a number between 0 and 1, as in 0.9")
    _check_seed(seed)
    options = {
        "truth": truth,
        "item": item,
        "raters": _split(raters),
        "counts": counts,
        "categories": _split(categories),
    }
    given = {name: value for name, value in options.items() if value is not None}
    ratings = _load(data, system, given | ({"ordered": True} if ordered else {}))
    estimates = []
    for one in methods:
        if one.notice:
            print(f"{one.name}: {one.notice} …", file=sys.stderr, flush=True)
        estimates.append(one.estimate(ratings, interval, seed))
    comparison = compare(data, ratings, estimates)
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


@app.command()
def paper(
    figure: Annotated[int | None, typer.Option(help="Draw this figure, 1 to 14.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Draw all figures and score all readings.")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="Folder for tables and figures.")] = None,
    runs: Annotated[
        int | None, typer.Option(help="Runs a figure. Default: 50 for one, as printed; else 1,000.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same numbers.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Reproduce Lehner (2015): every printed number beside ours, and the figures."""
    from experiments.paper.command import reproduce
    from lehner import InputError

    _check_seed(seed)
    if figure is not None and everything:
        raise InputError("--figure and --all exclude one another", "leave one of them out")
    reproduce(figure, everything, output, runs, seed, as_json)


@app.command()
def atlas(
    violation: Annotated[
        list[str] | None, typer.Option(help="Violation; repeat for several. Default: all.")
    ] = None,
    output: Annotated[Path, typer.Option(help="Folder for tables and figures.")] = Path("."),
    seed: Annotated[int, typer.Option(help="Same seed, same numbers.")] = 1,
) -> None:
    """Compute each method's large-sample bias where an assumption fails: tables and figures."""
    from experiments.atlas.command import write_atlas

    _check_seed(seed)
    for path in write_atlas(violation, output, seed):
        print(f"wrote {path}", file=sys.stderr, flush=True)


@app.command()
def calibrate(
    model: Annotated[
        list[str] | None, typer.Option(help="Model; repeat for several. Default: all.")
    ] = None,
    simulations: Annotated[int, typer.Option(help="Simulations of each model.")] = 1000,
    output: Annotated[Path, typer.Option(help="Folder for ranks, table and figure.")] = Path("."),
    seed: Annotated[int, typer.Option(help="Same seed, same numbers.")] = 1,
) -> None:
    """Check by simulation that the intervals of the Bayesian models are what they say."""
    from experiments.calibration.command import write_calibration

    _check_seed(seed)
    for path in write_calibration(model, simulations, output, seed):
        print(f"wrote {path}", file=sys.stderr)


def _check_seed(seed: int) -> None:
    if seed < 0:
        from lehner import InputError

        raise InputError(f"--seed is {seed}", "give a whole number, 0 or more")


def _split(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",")]


def _load(data: str, system: str | None, options: dict[str, Any]) -> "Ratings":
    from lehner import InputError, list_datasets, load_dataset, read_ratings
    from lehner.estimate import require_estimable

    known = {dataset.name for dataset in list_datasets()}
    bundled = data in known and not Path(data).is_file()
    try:
        if bundled and options:
            given = ", ".join(f"--{name}" for name in options)
            raise InputError(f"a bundled data set takes no {given}", "leave it out")
        ratings = (
            load_dataset(data, system=system)
            if bundled
            else read_ratings(data, system=system, **options)
        )
        require_estimable(ratings)
    except InputError as error:
        raise InputError(
            error.problem, error.remedy, file=data, row=error.row, column=error.column
        ) from None
    return ratings


def main() -> None:
    """Run the command; bad input ends in one line on standard error and exit code 2."""
    # Compiling takes a minute or two, sampling seconds: optimise less. The draws are the same.
    os.environ.setdefault("NUMBA_OPT", "1")
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:
            print("lehner: stopped", file=sys.stderr)
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
        sys.exit(_complain(str(error)))


def _complain(text: str) -> int:
    print("lehner:", " ".join(text.split()), file=sys.stderr)
    return 2
