"""The command `lehner estimate`."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, ClassVar

import typer

from experiments.cli.emit import emit
from experiments.cli.options import (
    ASSUMED,
    Data,
    Interval,
    Output,
    Reading,
    Seed,
    Systems,
    typed_command,
)

if TYPE_CHECKING:
    from lehner import Ratings
    from lehner.data import reading as data_reading

NOT_ON_SCREEN = ("agreement", "annotators", "sensitivity")
"""Questions whose answers no first screen shows."""
CHECKLISTS = ("stard-blcm",)


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of the system, of groups of items and of raters.

    Parameters
    ----------
    details : bool
        Show the system's confusion matrix, specificity, F1 and more by each method.
    positive : CATEGORY
        Which of two categories is the positive one, for sensitivity, specificity, predictive values
        and likelihood ratios of the system and of each rater. By default it is guessed from the
        names, as malignant or yes, or it is the one that raters give less often.
    by : COLUMN
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

    details: bool = False
    positive: str | None = None
    by: str | None = None
    population: str | None = None
    rater_group: Path | None = None

    def columns(self) -> dict[str, str]:
        """Columns of the ratings file that are no part of the ratings, by option."""
        from experiments.cli.columns import split_cuts

        texts = {"by": self.by, "population": self.population}
        return {option: split_cuts(text)[0] for option, text in texts.items() if text}

    def keywords(self, data: Path, ratings: "Ratings") -> dict[str, Any]:
        """Give the keywords of `lehner.estimate`."""
        from experiments.cli.columns import read_groups, read_populations, read_rater_groups

        population, file = self.population, self.rater_group
        return {
            "positive": self.positive,
            "groups": self.by and read_groups(data, self.by, ratings),
            "populations": population and read_populations(data, population, ratings),
            "rater_groups": file and read_rater_groups(file, ratings),
        }


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """What is assumed of systems, raters and gold labels.

    Parameters
    ----------
    system_is : like|better|unknown
        What is known of the system: it is like its raters, better than they are, or neither is
        known (the default). The method calibrated rests on crowds in which this was so.
    priors : FILE
        Priors that `lehner train-prior` learned on crowds of yours, for the method calibrated.
    model_priors : NAME
        A set of priors of the Bayesian models, as flat: Beta(1, 1) of each accuracy, and uniform
        Dirichlet of base rates and confusion matrices. Default: default.
    truths_in_model : bool
        Fit the models to the gold labels too, rather than correct their estimates by them.
    sensitivity : bool
        Fit relaxed_k twice more: items that are difficult for the raters are as easy as others for
        the system, or as difficult as for the raters.
    earlier_studies : NAME=STUDY
        What an earlier study with gold labels found of a rater or system, as prior of dawid_skene
        and one_coin_by_rater, several separated by commas: a file with a row for each true category
        and a column for each answer, which counts items, as ana=earlier.csv. Two of its items count
        as one.
    dependent : NAME,NAME
        Two raters, or a rater and the system, who may share answers, as ana,gpt where gpt saw the
        answers of ana: dawid_skene and one_coin_by_rater estimate how often, and say what the
        ratings tell of it. Other methods ignore it.
    """

    panel: ClassVar[str] = ASSUMED
    system_is: str = "unknown"
    priors: Path | None = None
    model_priors: str | None = None
    truths_in_model: bool = False
    sensitivity: bool = False
    earlier_studies: list[str] | None = None
    dependent: list[str] | None = None

    def keywords(self, ratings: "Ratings") -> dict[str, Any]:
        """Give the keywords of `lehner.estimate`."""
        return {**vars(self), "earlier_studies": self._studies(ratings)}

    def _studies(self, ratings: "Ratings") -> dict[str, str]:
        """Give the earlier studies by the name of the rater or system."""
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
        return studies


@dataclass(frozen=True, kw_only=True)
class EstimateOutput(Output):
    """Where estimates go, and who computes them.

    Parameters
    ----------
    output : FOLDER
        The folder into which CSV and LaTeX tables, figures and draws are written. Fits of several
        systems are kept there until the command ends: if it is stopped, it goes on from there.
    workers : N
        How many processes fit.
    dask : ADDRESS
        A Dask scheduler, as in tcp://host:8786, or local, whose workers fit.
    checklist : stard-blcm
        Write the checklist for diagnostic studies with Bayesian latent class models into the folder
        of --output: what the result says of each item, and what is left to the author.
    full : bool
        Print all tables, notes and warnings, rather than one screen.
    """

    workers: int = 1
    dask: str | None = None
    checklist: str | None = None
    full: bool = False

    @property
    def is_screen(self) -> bool:
        """Whether no more is wanted than one screen, which shows nothing of some questions."""
        return not any(
            (self.full, self.output, self.report, self.plot, self.as_json, self.sentence)
        )

    def check(self) -> None:
        """Refuse a checklist that has no place or name."""
        from lehner import InputError
        from lehner.core.errors import check_choice

        if self.checklist is not None:
            check_choice("checklist", self.checklist, CHECKLISTS)
            if self.output is None:
                raise InputError("the checklist needs a folder", "name it with --output")


def estimate(
    data: Data,
    system: Systems = None,
    method: list[str] | None = None,
    interval: Interval = 0.9,
    seed: Seed = 1,
    *,
    question: Question,
    assumptions: Assumptions,
    reading: Reading,
    output: EstimateOutput,
) -> None:
    """Estimate how accurate the system is, by several methods side by side.

    Two raters are enough, and they may be less accurate than the system. Where no truth is known,
    no method finds errors that raters and system share: a table says what they would do. The exit
    code is 1 if a method can give no estimate, and 2 if the input is bad.

    Parameters
    ----------
    method : NAMES
        Methods from the list below, or all, separated by commas or in several --method; a function
        of yours as FILE.py:FUNCTION, which is run as Python code. Default: calibrated,
        majority_agreement, algebraic, dawid_skene, relaxed_k.

    Examples
    --------
    lehner estimate ratings.csv --system gpt
    lehner estimate ratings.csv --system gpt --method algebraic,relaxed_k --json
    lehner estimate ratings.csv --system gpt --truth to_label.csv --output out/
    """
    import lehner
    from experiments.cli.progress_lines import progress_lines
    from experiments.report.estimates import answer_estimates, failed
    from lehner.estimation.estimate import QUESTIONS
    from lehner.estimation.methods import DEFAULT_METHODS

    output.check()
    ratings = _load(data, reading.options(system), question)
    methods, fits = _prepare_fits(method or DEFAULT_METHODS, output, len(ratings.systems))
    keywords = question.keywords(Path(data), ratings) | assumptions.keywords(ratings)
    if output.is_screen:
        keywords["questions"] = [name for name in QUESTIONS if name not in NOT_ON_SCREEN]
    # Kept fits are removed when this context ends: only once all results are on disk.
    with fits as do_all:
        with progress_lines():
            results = lehner.estimate(
                ratings, methods, name=data, level=interval, seed=seed, do_all=do_all, **keywords
            )
        files = (question.rater_group, assumptions.priors)
        texts = (*(method or ()), *(assumptions.earlier_studies or ()))
        answer = answer_estimates(
            results,
            in_detail=question.details,
            full=output.full,
            checklist=typed_command() if output.checklist else "",
        )
        emit(answer, output, data, reading.truth, *files, *texts)
    if failed(results):
        raise typer.Exit(1)


def _load(data: str, read_as: "data_reading.Reading", question: Question) -> "Ratings":
    from experiments.cli.load import load
    from lehner import InputError
    from lehner.estimation.gold_labels import require_answers_or_labels as require_answers

    try:
        return load(data, read_as, require=require_answers, columns=question.columns())
    except InputError as error:
        if not read_as.system and "system=" in error.remedy:
            error.remedy += f"; or, if there is none, call `lehner compare {quote(data)}`"
        raise


def _prepare_fits(
    methods: Sequence[Any], output: EstimateOutput, n_systems: int
) -> tuple[Sequence[Any], AbstractContextManager[Any]]:
    """Say how methods are fitted: here, or by workers who keep what they have in a folder."""
    from lehner.core.progress import do_here

    if output.workers == 1 and output.dask is None and (n_systems < 2 or output.output is None):
        return methods, nullcontext(do_here)
    from experiments.study.fits import open_fits, portable

    return list(map(portable, methods)), open_fits(output.output, output.workers, output.dask)


def list_estimate_methods() -> list[tuple[str, str]]:
    """List the methods and what each of them does."""
    from lehner.estimation.methods import list_methods

    return [(name, as_sentence(one.summary)) for name, one in list_methods().items()]


def as_sentence(summary: str) -> str:
    """Write what a method does as a sentence.

    Examples
    --------
    >>> as_sentence("a rater knows the truth or guesses")
    'A rater knows the truth or guesses.'
    """
    return f"{summary[0].upper()}{summary[1:]}."
