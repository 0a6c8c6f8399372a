"""The command `lehner estimate`: a record for each question, with its options."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli.arguments import AsJson, Data, Interval, Seed, names, read_shared_mistakes
from experiments.cli.help_text import as_sentence
from experiments.reporting.terminal import json_text

if TYPE_CHECKING:
    from lehner import Ratings
    from lehner.data.options import ReadingOptions


class Asked:
    """The options of one question, as fields of a dataclass, and what they mean."""

    def columns(self) -> dict[str, str | None]:
        """Columns of the ratings file that are no part of the ratings, by option; none here."""
        return {}

    def keywords(self, data: Path, ratings: "Ratings", reading: "ReadingOptions") -> dict[str, Any]:
        """Keywords of `lehner.estimate`, the options here; `questions` of records are joined."""
        return vars(self)


@dataclass(frozen=True, kw_only=True)
class KnownTruths(Asked):
    """What known truths are used for."""

    truths_in_model: Annotated[
        bool,
        typer.Option(
            "--truths-in-model",
            help="Fit the models to the known truths too, rather than correct their estimates by "
            "them.",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class Mistakes(Asked):
    """What shared mistakes and difficulty would do."""

    shared_mistakes: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Widen the intervals for items that mislead raters and system alike: their share "
            "of all items, as in 0.1, or the two numbers of a Beta prior of it, as in 0.5,4.5.",
        ),
    ] = None
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity",
            help="Fit relaxed_k twice more: items that are difficult for the raters are as easy as "
            "others for the system, or as difficult as for the raters.",
        ),
    ] = False

    def keywords(self, data: Path, ratings: "Ratings", reading: "ReadingOptions") -> dict[str, Any]:
        """Shared mistakes as numbers."""
        text = self.shared_mistakes
        shared = None if text is None else read_shared_mistakes(text)
        return {"shared_mistakes": shared, "sensitivity": self.sensitivity}


@dataclass(frozen=True, kw_only=True)
class SeveralSystems(Asked):
    """Who judges systems."""

    systems_rate: Annotated[
        bool,
        typer.Option(
            "--systems-rate", help="The other systems serve as raters of each system, too."
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class Details(Asked):
    """The system in detail."""

    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="Show the system's confusion matrix, specificity, F1 and more by each method.",
        ),
    ] = False
    costs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A file that says what each answer (a column) costs when each category (a row, "
            "its name first) is true; it adds the expected cost.",
        ),
    ] = None

    def keywords(self, data: Path, ratings: "Ratings", reading: "ReadingOptions") -> dict[str, Any]:
        """Costs from their file."""
        from lehner.performance.costs import read_cost_matrix

        return {"costs": self.costs and read_cost_matrix(self.costs, ratings.categories)}


@dataclass(frozen=True, kw_only=True)
class ItemGroups(Asked):
    """Groups of items."""

    by: Annotated[
        str | None,
        typer.Option(
            help="Column of the file that groups the items, as their domain or language: the "
            "accuracy in each group, and differences. Numbers are cut into four bins."
        ),
    ] = None

    def columns(self) -> dict[str, str | None]:
        """Column of the groups."""
        return {"by": self.by}

    def keywords(self, data: Path, ratings: "Ratings", reading: "ReadingOptions") -> dict[str, Any]:
        """Group of each item."""
        from experiments.cli.group_column import read_groups

        return {"groups": self.by and read_groups(data, self.by, ratings, reading.item)}


@dataclass(frozen=True, kw_only=True)
class Populations(Asked):
    """Populations of items."""

    population: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of the file that names the population of each item, as its hospital: "
            "dawid_skene and the other models, Bayesian or by maximum likelihood, then have other "
            "base rates in each, and the same confusion matrices in all.",
        ),
    ] = None

    def columns(self) -> dict[str, str | None]:
        """Column of the populations."""
        return {"population": self.population}

    def keywords(self, data: Path, ratings: "Ratings", reading: "ReadingOptions") -> dict[str, Any]:
        """Name of the population of each item."""
        from experiments.cli.group_column import read_populations

        name = self.population
        return {"populations": name and read_populations(data, name, ratings, reading.item)}


@dataclass(frozen=True, kw_only=True)
class RaterGroups(Asked):
    """Groups of raters."""

    rater_group: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A file with the columns rater and group, such as expert or crowd: the accuracy "
            "of each group of raters, and differences. hierarchical_dawid_skene, one_coin_by_rater "
            "and relaxed_k then draw raters toward those of their group.",
        ),
    ] = None

    def keywords(self, data: Path, ratings: "Ratings", reading: "ReadingOptions") -> dict[str, Any]:
        """Group of each rater."""
        from experiments.cli.rater_group_file import read_rater_groups

        return {"rater_groups": self.rater_group and read_rater_groups(self.rater_group, ratings)}


ASKED: tuple[type[Asked], ...] = (
    KnownTruths,
    Mistakes,
    SeveralSystems,
    Details,
    ItemGroups,
    Populations,
    RaterGroups,
)
"""The questions of the command, whose options it collects in this order."""


def with_questions(
    command: Callable[..., None], asked: Sequence[type[Any]] = ASKED
) -> Callable[..., None]:
    """Make a command with the options of questions in place of its parameter `asked`."""
    options = [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
        for one in asked
        for field in fields(one)
    ]
    parameters: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        parameters += options if parameter.name == "asked" else [parameter]

    @wraps(command)
    def with_options(**given: Any) -> None:
        chosen = [
            one(**{field.name: given.pop(field.name) for field in fields(one)}) for one in asked
        ]
        command(asked=chosen, **given)

    with_options.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    return with_options


def estimate(
    data: Data,
    method: Annotated[
        list[str] | None,
        names(
            "Methods from the list below, or all, separated by commas or in several --method; a "
            "function of yours as FILE.py:FUNCTION, which is run as Python code. Default: "
            "majority_agreement, algebraic, dawid_skene, relaxed_k."
        ),
    ] = None,
    interval: Interval = 0.9,
    seed: Seed = 1,
    *,
    reading: "ReadingOptions",
    asked: list[Any],
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
    from experiments.cli.load import load
    from experiments.cli.progress_lines import progress_lines
    from experiments.estimate import report
    from lehner import estimate as estimate_all
    from lehner.core.estimate import require_systems

    columns = {option: name for one in asked for option, name in one.columns().items() if name}
    ratings = load(data, reading, require=require_systems, columns=columns)
    keywords: dict[str, Any] = {"questions": []}
    for one in asked:
        own = one.keywords(Path(data), ratings, reading)
        keywords["questions"] += own.pop("questions", [])
        keywords |= own
    with progress_lines():
        compared = estimate_all(
            ratings, method or None, name=data, level=interval, seed=seed, **keywords
        )
    if as_json:
        print(json_text(report.report_dict(compared)))
    else:
        in_detail = any(isinstance(one, Details) and (one.details or one.costs) for one in asked)
        report.show(compared, in_detail=in_detail)
    if output is not None:
        for path in report.write(compared, output):
            print(f"wrote {path}", file=sys.stderr)
    if report.failed(compared):
        raise typer.Exit(1)


def method_rows() -> list[tuple[str, str]]:
    """List the methods and what each of them does."""
    from lehner.estimation.methods import list_methods

    return [(name, as_sentence(one.summary)) for name, one in list_methods().items()]
