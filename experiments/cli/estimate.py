"""The command `lehner estimate`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from experiments.cli.arguments import AsJson, Data, Interval, Seed, names, read_shared_mistakes
from experiments.cli.help_text import as_sentence
from experiments.reporting.options import as_options
from experiments.reporting.terminal import json_text

if TYPE_CHECKING:
    from experiments.estimate.comparison import Comparison
    from experiments.estimate.systems import SystemsComparison
    from lehner.data.options import ReadingOptions


def estimate(
    data: Data,
    method: Annotated[
        list[str] | None,
        names(
            "Methods from the list below, or all, separated by commas or in several --method. "
            "Default: majority_agreement, algebraic, dawid_skene, relaxed_k."
        ),
    ] = None,
    interval: Interval = 0.9,
    seed: Seed = 1,
    *,
    reading: "ReadingOptions",
    truths_in_model: Annotated[
        bool,
        typer.Option(
            "--truths-in-model",
            help="Fit the models to the known truths too, rather than correct their estimates by "
            "them.",
        ),
    ] = False,
    shared_mistakes: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Widen the intervals for items that mislead raters and system alike: their share "
            "of all items, as in 0.1, or the two numbers of a Beta prior of it, as in 0.5,4.5.",
        ),
    ] = None,
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity",
            help="Fit relaxed_k twice more: items that are difficult for the raters are as easy as "
            "others for the system, or as difficult as for the raters.",
        ),
    ] = False,
    systems_rate: Annotated[
        bool,
        typer.Option(
            "--systems-rate", help="The other systems serve as raters of each system, too."
        ),
    ] = False,
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="Show the system's confusion matrix, specificity, F1 and more by each method.",
        ),
    ] = False,
    costs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A file that says what each answer (a column) costs when each category (a row, "
            "its name first) is true; it adds the expected cost.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="Column of the file that groups the items, as their domain or language: the "
            "accuracy in each group, and differences. Numbers are cut into four bins."
        ),
    ] = None,
    population: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of the file that names the population of each item, as its hospital: "
            "dawid_skene and the other models, Bayesian or by maximum likelihood, then have other "
            "base rates in each, and the same confusion matrices in all.",
        ),
    ] = None,
    rater_group: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A file with the columns rater and group, such as expert or crowd: the accuracy "
            "of each group of raters, and differences. hierarchical_dawid_skene, one_coin_by_rater "
            "and relaxed_k then draw raters toward those of their group.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder into which CSV and LaTeX tables, figures and draws are written.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate how accurate the system is, by several methods side by side.

    Two raters are enough, and they may be less accurate than the system. Where no truth is known,
    no method finds mistakes that raters and system share: a table says what they would do. The exit
    code is 1 if a method can give no estimate, and 2 if the input is bad.
    """
    from experiments.cli.group_column import read_groups, read_populations
    from experiments.cli.load import load
    from experiments.cli.progress_lines import progress_lines
    from experiments.cli.rater_group_file import read_rater_groups
    from experiments.estimate.estimate import estimate as estimate_all
    from lehner.core.estimate import require_systems
    from lehner.estimation.methods import DEFAULT_METHODS
    from lehner.performance.costs import read_cost_matrix

    shared = None if shared_mistakes is None else read_shared_mistakes(shared_mistakes)
    ratings = load(data, reading, require=require_systems, by=by, population=population)
    cost_matrix = None if costs is None else read_cost_matrix(costs, ratings.categories)
    groups = None if by is None else read_groups(Path(data), by, ratings, reading.item)
    populations = None
    if population is not None:
        populations = read_populations(Path(data), population, ratings, reading.item)
    rater_groups = None if rater_group is None else read_rater_groups(rater_group, ratings)
    with progress_lines():
        compared = estimate_all(
            ratings,
            method or DEFAULT_METHODS,
            name=data,
            level=interval,
            seed=seed,
            truths_in_model=truths_in_model,
            shared_mistakes=shared,
            sensitivity=sensitivity,
            systems_rate=systems_rate,
            costs=cost_matrix,
            groups=groups,
            populations=populations,
            rater_groups=rater_groups,
            reword=as_options,
        )
    _give(compared, details=details or costs is not None, as_json=as_json, output=output)


def _give(
    compared: "Comparison | SystemsComparison",
    *,
    details: bool,
    as_json: bool,
    output: Path | None,
) -> None:
    """Print and write the estimates; end with exit code 1 if a method has none."""
    from experiments.estimate import comparison_report, systems_report
    from experiments.estimate.comparison import Comparison

    report = comparison_report if isinstance(compared, Comparison) else systems_report
    if as_json:
        print(json_text(compared.to_dict()))
    else:
        report.show(compared, details=details)
    if output is not None:
        for path in report.write(compared, output):
            print(f"wrote {path}", file=sys.stderr)
    if comparison_report.failed(compared.estimates):
        raise typer.Exit(1)


def method_rows() -> list[tuple[str, str]]:
    """Give the methods and what each of them does."""
    from lehner.estimation.methods import list_methods

    return [(name, as_sentence(one.summary)) for name, one in list_methods().items()]
