"""The command `lehner estimate`."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from experiments.cli.arguments import (
    AsJson,
    Data,
    Interval,
    Reading,
    Seed,
    System,
    Truth,
    read_shared_mistakes,
    split_names,
)
from experiments.cli.options import as_options


def estimate(
    data: Data,
    system: System = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="Methods from the list below, or all, separated by commas or in several "
            "--method. Default: majority_agreement, algebraic, dawid_skene, relaxed_k."
        ),
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

    methods = find_methods(split_names(method) or DEFAULT_METHODS)
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


def method_rows() -> list[tuple[str, str]]:
    """Give the methods and what each of them does."""
    from experiments.estimate.methods import list_methods

    return [(name, f"{method.summary}.") for name, method in list_methods().items()]
