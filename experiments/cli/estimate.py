"""The command `lehner estimate`: records of options, each with the keywords that they make."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli.arguments import (
    AsJson,
    Data,
    Interval,
    Reading,
    Seed,
    read_shared_mistakes,
    split_names,
)
from experiments.cli.help_text import as_sentence
from experiments.reporting.terminal import json_text

if TYPE_CHECKING:
    from lehner import Ratings

Systems = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES",
        help="The column or rater that is the system to evaluate; several systems are separated by "
        "commas or stand in several --system.",
        callback=split_names,
    ),
]


class Asked:
    """Options of some questions, as fields of a dataclass, and what they mean."""

    def columns(self) -> dict[str, str | None]:
        """Columns of the ratings file that are no part of the ratings, by option; none here."""
        return {}

    def keywords(self, data: Path, ratings: "Ratings", item: str | None) -> dict[str, Any]:
        """Keywords of `lehner.estimate`, the options here; `questions` of records are joined."""
        return vars(self)


@dataclass(frozen=True, kw_only=True)
class Assumptions(Asked):
    """What is assumed of known truths, of mistakes and of other systems.

    Parameters
    ----------
    system_is : like|better|unknown
        What is known of the system: it is like its raters, better than they are, or neither is
        known (the default). The method calibrated rests on crowds in which this was so.
    priors : FILE
        Priors that `lehner train-prior` learned on crowds of yours, for the method calibrated.
    truths_in_model : bool
        Fit the models to the known truths too, rather than correct their estimates by them.
    shared_mistakes : SHARE
        Widen the intervals for items that mislead raters and system alike: their share of all
        items, as in 0.1, or the two numbers of a Beta prior of it, as in 0.5,4.5.
    sensitivity : bool
        Fit relaxed_k twice more: items that are difficult for the raters are as easy as others for
        the system, or as difficult as for the raters.
    systems_rate : bool
        The other systems serve as raters of each system, too.
    """

    system_is: str = "unknown"
    priors: Path | None = None
    truths_in_model: bool = False
    shared_mistakes: str | None = None
    sensitivity: bool = False
    systems_rate: bool = False

    def keywords(self, data: Path, ratings: "Ratings", item: str | None) -> dict[str, Any]:
        """Shared mistakes as numbers."""
        text = self.shared_mistakes
        shared = None if text is None else read_shared_mistakes(text)
        return vars(self) | {"shared_mistakes": shared}


@dataclass(frozen=True, kw_only=True)
class Details(Asked):
    """The system in detail.

    Parameters
    ----------
    details : bool
        Show the system's confusion matrix, specificity, F1 and more by each method.
    costs : FILE
        A file that says what each answer (a column) costs when each category (a row, its name
        first) is true; it adds the expected cost.
    """

    details: bool = False
    costs: Path | None = None

    def keywords(self, data: Path, ratings: "Ratings", item: str | None) -> dict[str, Any]:
        """Costs from their file."""
        from lehner.performance.costs import read_cost_matrix

        return {"costs": self.costs and read_cost_matrix(self.costs, ratings.categories)}


@dataclass(frozen=True, kw_only=True)
class Groups(Asked):
    """Groups and populations of items, and groups of raters.

    Parameters
    ----------
    by : str
        Column of the file that groups the items, as their domain or language: the accuracy in each
        group, and differences. Numbers are cut into four bins.
    population : COLUMN
        Column of the file that names the population of each item, as its hospital: dawid_skene and
        the other models, Bayesian or by maximum likelihood, then have other base rates in each, and
        the same confusion matrices in all.
    rater_group : FILE
        A file with the columns rater and group, such as expert or crowd: the accuracy of each group
        of raters, and differences. hierarchical_dawid_skene, one_coin_by_rater and relaxed_k then
        draw raters toward those of their group.
    """

    by: str | None = None
    population: str | None = None
    rater_group: Path | None = None

    def columns(self) -> dict[str, str | None]:
        """Columns of the groups and of the populations."""
        return {"by": self.by, "population": self.population}

    def keywords(self, data: Path, ratings: "Ratings", item: str | None) -> dict[str, Any]:
        """Group and population of each item, and group of each rater."""
        from experiments.cli.group_column import read_groups, read_populations
        from experiments.cli.rater_group_file import read_rater_groups

        name, file = self.population, self.rater_group
        return {
            "groups": self.by and read_groups(data, self.by, ratings, item),
            "populations": name and read_populations(data, name, ratings, item),
            "rater_groups": file and read_rater_groups(file, ratings),
        }


ASKED: tuple[type[Asked], ...] = (Assumptions, Details, Groups)
"""The records of the command, whose options it takes in this order."""


def estimate(
    data: Data,
    system: Systems = None,
    method: list[str] | None = None,
    interval: Interval = 0.9,
    seed: Seed = 1,
    *,
    reading: Reading,
    asked: Sequence[Asked],
    output: Path | None = None,
    as_json: AsJson = False,
    sentence: bool = False,
) -> None:
    """Estimate how accurate the system is, by several methods side by side.

    Two raters are enough, and they may be less accurate than the system. Where no truth is known,
    no method finds mistakes that raters and system share: a table says what they would do. The exit
    code is 1 if a method can give no estimate, and 2 if the input is bad.

    Parameters
    ----------
    method : NAMES
        Methods from the list below, or all, separated by commas or in several --method; a function
        of yours as FILE.py:FUNCTION, which is run as Python code. Default: calibrated,
        majority_agreement, algebraic, dawid_skene, relaxed_k.
    output : FOLDER
        The folder into which CSV and LaTeX tables, figures and draws are written.
    sentence : bool
        Print only the sentence that reports the estimate in a paper.
    """
    from experiments.cli.load import load
    from experiments.cli.progress_lines import progress_lines
    from experiments.estimate import report
    from lehner import estimate as estimate_all
    from lehner.core.estimate import require_systems

    columns = {option: name for one in asked for option, name in one.columns().items() if name}
    ratings = load(data, reading.options(system), require=require_systems, columns=columns)
    keywords: dict[str, Any] = {"questions": []}
    for one in asked:
        own = one.keywords(Path(data), ratings, reading.item)
        keywords["questions"] += own.pop("questions", [])
        keywords |= own
    with progress_lines():
        compared = estimate_all(
            ratings, method or None, name=data, level=interval, seed=seed, **keywords
        )
    if as_json:
        print(json_text(report.report_dict(compared)))
    elif sentence:
        from experiments.estimate.sentence import sentences

        print("\n".join(sentences(compared)))
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
