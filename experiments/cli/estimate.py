"""The command `lehner estimate`: records of options, each with the keywords that they make."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import typer

from experiments.cli.arguments import AsJson, Data, Interval, Reading, Seed, Systems, typed
from experiments.cli.help_text import as_sentence

if TYPE_CHECKING:
    from lehner import Ratings


class Asked:
    """Options of some questions, as fields of a dataclass, and what they mean."""

    def columns(self) -> dict[str, str | None]:
        """Columns of the ratings file that are no part of the ratings, by option; none here."""
        return {}

    def keywords(self, data: Path, ratings: "Ratings") -> dict[str, Any]:
        """Keywords of `lehner.estimate`, the options here; `questions` of records are joined."""
        return vars(self)


@dataclass(frozen=True, kw_only=True)
class Assumptions(Asked):
    """What is assumed of the system, of known truths and of other systems.

    Parameters
    ----------
    system_is : like|better|unknown
        What is known of the system: it is like its raters, better than they are, or neither is
        known (the default). The method calibrated rests on crowds in which this was so.
    priors : FILE
        Priors that `lehner train-prior` learned on crowds of yours, for the method calibrated.
    truths_in_model : bool
        Fit the models to the known truths too, rather than correct their estimates by them.
    sensitivity : bool
        Fit relaxed_k twice more: items that are difficult for the raters are as easy as others for
        the system, or as difficult as for the raters.
    systems_rate : bool
        The other systems serve as raters of each system, too.
    """

    system_is: str = "unknown"
    priors: Path | None = None
    truths_in_model: bool = False
    sensitivity: bool = False
    systems_rate: bool = False


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
    positive : CATEGORY
        Which of two categories is the positive one, for sensitivity, specificity, predictive values
        and likelihood ratios of the system and of each rater. By default it is guessed from the
        names, as malignant or yes, or it is the one that raters give less often.
    """

    details: bool = False
    costs: Path | None = None
    positive: str | None = None

    def keywords(self, data: Path, ratings: "Ratings") -> dict[str, Any]:
        """Costs from their file, and the positive category."""
        from lehner.performance.costs import read_costs

        costs = self.costs and read_costs(self.costs, ratings.categories)
        return {"costs": costs, "positive": self.positive}


@dataclass(frozen=True, kw_only=True)
class Groups(Asked):
    """Groups and populations of items, and groups of raters.

    Parameters
    ----------
    by : str
        Column of the file that groups the items, as their domain or language: the accuracy in each
        group, and differences. Numbers are cut where you say, as by age:65 or age:50,65, else into
        four bins.
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
        from experiments.cli.group_column import split_cuts

        given = {"by": self.by, "population": self.population}
        return {option: name and split_cuts(name)[0] for option, name in given.items()}

    def keywords(self, data: Path, ratings: "Ratings") -> dict[str, Any]:
        """Group and population of each item, and group of each rater."""
        from experiments.cli.group_column import read_groups, read_populations
        from experiments.cli.rater_group_file import read_rater_groups

        name, file = self.population, self.rater_group
        return {
            "groups": self.by and read_groups(data, self.by, ratings),
            "populations": name and read_populations(data, name, ratings),
            "rater_groups": file and read_rater_groups(file, ratings),
        }


CHECKLISTS = ("stard-blcm",)


@dataclass(frozen=True, kw_only=True)
class EarlierStudies(Asked):
    """Earlier studies of raters and systems.

    Parameters
    ----------
    earlier_studies : NAME=STUDY
        What an earlier study with known truths found of a rater or system, as prior of dawid_skene
        and one_coin_by_rater, several separated by commas: a file with a row for each true category
        and a column for each answer, which counts items, as ana=earlier.csv; or, with two
        categories and 95% intervals, "ana=sensitivity .85 (.80 to .90) and specificity .92 (.88 to
        .95)".
    study_weight : float
        How much an item of an earlier study counts, from 0 to 1: the exponent of a power prior.
    """

    earlier_studies: list[str] | None = None
    study_weight: float = 0.5

    def keywords(self, data: Path, ratings: "Ratings") -> dict[str, Any]:
        """Studies by the name of the rater, and their weight."""
        from lehner import InputError

        names = [str(name) for name in (*ratings.raters, *ratings.systems)]
        studies: dict[str, str] = {}
        for text in self.earlier_studies or ():
            known = [name for name in names if text.startswith(f"{name}=")]
            name = known[0] if known else text.partition("=")[0]
            study = text[len(name) + 1 :].strip()
            if not study or name in studies:
                raise InputError(
                    f"{text!r} is not read as an earlier study",
                    f"give one for a rater, as {names[0]}=earlier.csv",
                )
            studies[name] = study
        return {"earlier_studies": studies, "study_weight": self.study_weight}


@dataclass(frozen=True, kw_only=True)
class DependentPair(Asked):
    """Two raters, or a rater and a system, whom you suspect.

    Parameters
    ----------
    dependent : NAME,NAME
        Two raters, or a rater and the system, who may share answers, as ana,gpt where gpt saw the
        answers of ana: dawid_skene and one_coin_by_rater estimate how often, and say what the
        ratings tell of it. Other methods ignore it.
    """

    dependent: list[str] | None = None


ASKED: tuple[type[Asked], ...] = (Assumptions, Details, Groups, EarlierStudies, DependentPair)
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
    workers: int = 1,
    dask: str | None = None,
    report: Path | None = None,
    checklist: str | None = None,
    as_json: AsJson = False,
    sentence: bool = False,
    full: bool = False,
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
        The folder into which CSV and LaTeX tables, figures and draws are written. Fits of several
        systems are kept there until the command ends: if it is stopped, it goes on from there.
    workers : N
        How many processes fit.
    dask : ADDRESS
        A Dask scheduler, as in tcp://host:8786, or local, whose workers fit.
    report : FILE
        One HTML file to send, with all tables and figures, what methods assume, warnings, and how
        it was made.
    checklist : stard-blcm
        Write the checklist for diagnostic studies with Bayesian latent class models into the folder
        of --output: what the result says of each item, and what is left to the author.
    sentence : bool
        Print only the sentence that reports the estimate in a paper.
    full : bool
        Print all tables, notes and warnings, rather than one screen.
    """
    from experiments.cli.emit import emit
    from experiments.cli.load import load
    from experiments.cli.progress_lines import progress_lines
    from experiments.report.report import failed, page, show, write
    from lehner import InputError
    from lehner import estimate as estimate_all
    from lehner.core.errors import check_choice
    from lehner.core.estimate import require_systems
    from lehner.core.progress import do_here
    from lehner.estimation.methods import DEFAULT_METHODS

    if checklist is not None:
        check_choice("checklist", checklist, CHECKLISTS)
        if output is None:
            raise InputError("the checklist needs a folder", "name it with --output")
    columns = {option: name for one in asked for option, name in one.columns().items() if name}
    try:
        ratings = load(data, reading.options(system), require=require_systems, columns=columns)
    except InputError as error:
        if not system and "system=" in error.remedy:
            error.remedy += f"; or, if there is none, call `lehner compare {quote(data)}`"
        raise
    keywords: dict[str, Any] = {"questions": []}
    for one in asked:
        own = one.keywords(Path(data), ratings)
        keywords["questions"] += own.pop("questions", [])
        keywords |= own
    chosen: Sequence[Any] = method or DEFAULT_METHODS
    opened: AbstractContextManager[Any] = nullcontext(do_here)
    several = len(ratings.systems) > 1
    if workers != 1 or dask is not None or (several and output is not None):
        from experiments.study.fits import open_fits, portable

        chosen = [portable(one) for one in chosen]
        opened = open_fits(output, workers, dask)
    # Kept fits are removed when this context ends: only once all results are on disk.
    with opened as do_all:
        with progress_lines():
            results = estimate_all(
                ratings, chosen, name=data, level=interval, seed=seed, do_all=do_all, **keywords
            )
        files = files_read(data, method or [], reading, asked)

        def print_results() -> None:
            if sentence:
                from experiments.report.sentences import write_sentences

                print("\n".join(write_sentences(results)))
            else:
                in_detail = any(
                    isinstance(one, Details) and (one.details or one.costs) for one in asked
                )
                show(results, in_detail=in_detail, full=full)

        def write_files(folder: Path) -> Iterator[Path]:
            yield from write(results, folder)
            if checklist is not None:
                from experiments.report.checklist import write_checklist

                yield write_checklist(results, folder, typed())

        emit(
            results.to_dict,
            print_results,
            as_json=as_json,
            output=output,
            write=write_files,
            report=report,
            page=lambda: page(results, typed(), files),
        )
    if failed(results):
        raise typer.Exit(1)


def files_read(
    data: str, methods: Sequence[str], reading: Reading, asked: Sequence[Asked]
) -> list[Path]:
    """List what the command may have read; of names that are no files there is nothing."""
    from lehner.core.user_functions import names_function
    from lehner.datasets import FOLDER

    functions = [Path(one.rpartition(":")[0]) for one in methods if names_function(one)]
    given = [value for one in asked for value in vars(one).values() if isinstance(value, Path)]
    studies = [one.earlier_studies or () for one in asked if isinstance(one, EarlierStudies)]
    given += [Path(text.rpartition("=")[2]) for texts in studies for text in texts]
    file = Path(data) if Path(data).is_file() else FOLDER / f"{data}.csv"
    return [file, Path(reading.truth or ""), *given, *functions]


def method_rows() -> list[tuple[str, str]]:
    """List the methods and what each of them does."""
    from lehner.estimation.methods import list_methods

    return [(name, as_sentence(one.summary)) for name, one in list_methods().items()]
