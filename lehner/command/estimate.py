"""The commands `lehner estimate`, `lehner compare` and `lehner gate`."""

import signal
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import typer

import lehner
from lehner.command import options
from lehner.core.errors import InputError
from lehner.core.text import escape, print_lines, say, to_json, to_options
from lehner.data.reading import Reading, join_conditions, write_name

# Questions whose answers no first screen shows.
NOT_ON_SCREEN = ("annotators",)
# Exit codes of the gate where a number fails, and where the gold labels do not tell.
FAILED, OPEN = 1, 3
# A second Ctrl-C ends the process, which goes on after the first with what is done.
KEEP = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
# Each file is fitted by itself, and not the rows of each value of a column.
FILE = "file"


@dataclass(frozen=True, kw_only=True)
class EstimateOptions:
    """What is asked of the system and of groups of items.

    Parameters
    ----------
    positive : CATEGORY
        Which of two categories is the positive one, to which sensitivity, specificity, predictive
        values and likelihood ratios refer. By default it is guessed from the names, such as
        malignant or yes; otherwise it is the one that raters give less often.
    group : COLUMNS
        The column of the file, or of another file as in vendors.csv:month, that groups the items,
        such as their domain or language, or several that are crossed, as in month,model. You get
        the accuracy in each group, and differences. Numbers are cut where you say, as in age:65 or
        age:50,65, or else into four bins.
    trend : bool
        Show how each system changes from the first group to the last, such as months: by how much a
        straight line through all groups rises.
    anytime : bool
        With --trend, give the change of the accuracy in these items by gold labels, with an
        interval that is right even if you look again after each new label. Draw the labels by
        `lehner ask --until`, with the same seed.
    by_measure : NAME
        The measure by which systems and groups are compared: f1, recall, precision or specificity
        (of two categories, those of the positive one), balanced_accuracy, mcc, kappa_with_truth or
        weighted_loss. Default: accuracy.
    population : COLUMN
        The column of the file that names the population of each item, such as its hospital. The
        latent-class models, Bayesian or by maximum likelihood, then have base rates for each
        population, and the same confusion matrices in all.
    each : file|COLUMN
        Fit each file that a pattern such as 'runs/*.csv' or a folder has, or the rows of each value
        of a column, by itself; --workers and --dask do several at once. All numbers are in one
        table, in which a file that cannot be estimated has a row with the error.
    """

    positive: str | None = None
    group: list[str] | None = None
    trend: bool = False
    anytime: bool = False
    by_measure: str | None = None
    population: list[str] | None = None
    each: str | None = None


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """What is assumed of systems, raters and gold labels.

    Parameters
    ----------
    system_is : like|better|unknown
        What you know of the system: it is like its raters, better than they are, or neither is
        known. The method learned_prior then rests on crowds in which this was so.
    raters_are : people|models|unknown
        Who rates: people or language models. The method learned_prior then rests on crowds of
        these. If it is unknown, raters are taken for models if all have names such as gpt-4o, and
        else for people.
    priors : FILE
        A file of priors that were trained in Python on crowds of yours, for the method
        learned_prior (see its page in the documentation).
    model_priors : NAME
        The set of priors of the Bayesian models. flat is uniform or nearly so for accuracies, and
        Dirichlet(1, …, 1) for base rates and confusion matrices; relaxed_k has no such set.
        Default: default.
    truths_in_model : bool
        Fit the models to the gold labels too. By default the labels correct estimates that were
        made without them.
    earlier_studies : NAME=STUDY
        An earlier study of a rater or system with gold labels, as in ana=earlier.csv: a file with a
        row for each true category and a column for each answer, which counts items. It is a prior
        of dawid_skene, in which two of its items count as one. Several are separated by commas.
    reference : NAME=SENSITIVITY,SPECIFICITY
        A rater who is an imperfect reference standard, with its sensitivity and specificity, as in
        culture=.80,.95, or with their 95% intervals, as in culture=.75-.85,.93-.97. The method
        imperfect_reference then corrects the numbers of the system, if errors of both are
        independent. Unless raters are named, the reference is the only one.
    """

    panel: ClassVar[str] = options.ASSUMED
    system_is: str = "unknown"
    raters_are: str = "unknown"
    priors: Path | None = None
    model_priors: str | None = None
    truths_in_model: bool = False
    earlier_studies: list[str] | None = None
    reference: str | None = None

    def to_given(self, ratings: "lehner.Ratings") -> "lehner.Given":
        """Give what `lehner.estimate` takes, earlier studies by whom they are about."""
        names = [str(name) for name in (*ratings.raters, *ratings.systems)]
        studies: dict[str, str] = {}
        for text in self.earlier_studies or ():
            # A name may hold the sign that follows it.
            begun = (name for name in names if text.startswith(f"{name}="))
            name = next(begun, text.partition("=")[0])
            study = text[len(name) + 1 :].strip()
            if not study or name in studies:
                problem = f"{text!r} is not read as an earlier study"
                raise InputError(problem, f"give one for a rater, as {names[0]}=earlier.csv")
            studies[name] = study
        reference = self._read_reference()
        return lehner.Given(**vars(self) | {"earlier_studies": studies, "reference": reference})

    def _read_reference(self) -> dict[str, Any] | None:
        """Read the name of the reference, its sensitivity and its specificity."""
        if self.reference is None:
            return None
        name, _, numbers = self.reference.rpartition("=")
        try:
            ends = [tuple(map(float, number.split("-"))) for number in numbers.split(",")]
        except ValueError:
            problem = f"{self.reference!r} is not read as a reference"
            raise InputError(problem, "give it as culture=.80,.95") from None
        return {name: ends}


@dataclass(frozen=True, kw_only=True)
class EstimateOutput(options.Output):
    """Where estimates go, and who computes them.

    Parameters
    ----------
    output : FOLDER
        The folder into which tables, as CSV and LaTeX, figures and draws are written.
    workers : N
        How many processes run the fits at once. By default it is one, in which two threads share
        the fits by the algebra and by maximum likelihood; with --workers 1 it has one thread.
    dask : ADDRESS
        The address of a Dask scheduler, such as tcp://host:8786, or local; its workers run the
        fits.
    full : bool
        Print all tables, notes and warnings rather than one screen.
    """

    workers: int | None = None
    dask: str | None = None
    full: bool = False

    def list_questions(self) -> dict[str, Any]:
        """Leave out questions whose answers one screen does not show, if no more is wanted."""
        more = (self.full, self.output, self.report, self.as_json, self.sentence)
        if any(more):
            return {}
        from lehner.estimation.estimate import QUESTIONS

        return {"questions": [name for name in QUESTIONS if name not in NOT_ON_SCREEN]}


def estimate(
    data: str,
    method: list[str] | None = None,
    level: float = 0.9,
    seed: int = 1,
    *,
    question: EstimateOptions,
    assumptions: Assumptions,
    reading: Reading,
    output: EstimateOutput,
) -> None:
    """Estimate how accurate the system is, by several methods side by side.

    Two raters are enough, and they may be less accurate than the system. Without gold labels no
    method finds errors that raters and system make together; `lehner bounds` says what they may
    do. The exit code is 1 if a method can give no estimate, and 2 if the input is bad.

    Parameters
    ----------
    method : NAMES
        Methods from the list below, separated by commas or in several --method; all means each of
        them. A function of yours is FILE.py:FUNCTION, which is run as Python code. Default:
        learned_prior, majority_agreement, algebraic, dawid_skene, and relaxed_k unless several
        systems have over 5000 items.

    Examples
    --------
    lehner estimate ratings.csv --system gpt
    lehner estimate ratings.csv --system gpt --method algebraic,relaxed_k --json
    lehner estimate ratings.csv --system gpt --truth to_label.csv --output out/
    """
    from lehner.command.load import is_bundled, load, read_groups, read_populations
    from lehner.core.resampling import do_pieces
    from lehner.estimation.gold_labels import require_answers_or_labels
    from lehner.report.estimates import answer_estimates, answer_parts

    def fit(path: str, reading: Reading) -> "lehner.Results":
        each = [question.each] if question.each not in (None, FILE) else None
        columns = {"group": question.group, "population": question.population, "each": each}
        ratings = load(path, reading, require=require, columns=columns)
        groups: Any = question.group and read_groups(Path(path), question.group, ratings)
        population: Any = question.population
        population = population and read_populations(Path(path), population, ratings)
        given = assumptions.to_given(ratings)
        given = replace(given, positive=question.positive, populations=population)
        results = lehner.estimate(ratings, names, groups=groups, given=given, **asked)
        return replace(results, name=path)

    by_one = bool(question.population or assumptions.reference)
    require = partial(require_answers_or_labels, by_one=by_one)
    if assumptions.reference and not reading.raters and not is_bundled(data):
        reading = replace(reading, raters=(assumptions.reference.rpartition("=")[0],))
    names: Any = method or None
    asked: dict[str, Any] = {"level": level, "seed": seed, **output.list_questions()}
    trend = "anytime" if question.anytime else question.trend
    asked |= {"by_measure": question.by_measure, "trend": trend}
    do_all: Any = do_pieces
    if output.workers is not None or output.dask is not None:
        from lehner.study import parallel
        from lehner.study.replicate import make_portable

        names = list(map(make_portable, method)) if method else None
        run = partial(parallel.do_all, workers=output.workers or 1, dask=output.dask)
        do_all = partial(do_pieces, run=run)
        # A part of --each, which a worker fits, has one thread.
        asked["do_all"] = partial(do_pieces, run=map)
    if question.each:
        parts = dict(_divide(data, reading, question.each))
        done = do_all([partial(_fit_part, fit, *part) for part in parts.values()], KEEP)
        answer = answer_parts(data, dict(zip(parts, done, strict=True)))
    else:
        asked |= {"do_all": do_all, "on_interrupt": KEEP}
        answer = answer_estimates(fit(data, reading), full=output.full)
    texts = (*(method or ()), *(assumptions.earlier_studies or ()))
    options.emit(answer, output, data, reading.truth, assumptions.priors, *texts)


def _divide(data: str, reading: Reading, each: str) -> Iterator[tuple[str, tuple[str, Reading]]]:
    """Name each file, or the rows of each value of a column, and say how it is read."""
    from lehner.data.columns import require_columns
    from lehner.reading import read, rows

    if each == FILE:
        for path in read.list_paths(Path(data)):
            yield str(path), (str(path), reading)
        return
    with read.read_columns(Path(data), reading) as table:
        require_columns(table, [each])
        column = (rows.keep_rows(table, reading.where) if reading.where else table)[each]
    for code in sorted(set(column.codes.tolist()) - {-1}):
        label = column.labels[code]
        where = join_conditions("and", (reading.where, f"{write_name(each)} == {label!r}"))
        yield str(label), (data, replace(reading, where=where))


def _fit_part(fit: Callable[..., Any], path: str, reading: Reading) -> "lehner.Results | str":
    """Fit a part by itself, and keep its numbers and warnings, or the reason why it has none.

    An error that is no fault of the file is shown as Python shows it, and other parts go on.
    """
    try:
        results = fit(path, reading)
    except InputError as error:
        return to_options(str(error))
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        return repr(error)
    return lehner.Results(ratings=None, table=results.table, warnings=results.warnings)


@dataclass(frozen=True, kw_only=True)
class CompareOutput(options.Output):
    """Where a comparison goes.

    Parameters
    ----------
    full : bool
        Print all groups, differences, methods and warnings, and how each rater does as a test:
        sensitivity and specificity, or the recall of each category.
    """

    full: bool = False


def compare(
    data: str,
    group: list[str] | None = None,
    good: list[str] | None = None,
    method: list[str] | None = None,
    level: float = 0.9,
    seed: int = 1,
    earlier_studies: list[str] | None = None,
    *,
    reading: Reading,
    output: CompareOutput,
) -> None:
    """Compare how frequent a category is in groups of items, corrected for the raters' errors.

    The items are the answers of several models, or the cases of several sites, and raters judged
    them. No system is needed, and the answers of one that --system names are left out. Without
    --group the command gives base rates and the raters' accuracy. Gold labels of some items
    (--truth) correct the proportions. The exit code is 1 if the ratings do not determine the
    proportions.

    Parameters
    ----------
    group : COLUMNS
        The column of the file that groups the items, such as model or site, or several that are
        crossed, as in version,model. Numbers are cut where you say, as in age:50,65, or else into
        four bins.
    good : NAMES
        The category whose proportion is compared. Several count together, separated by commas, as
        in good,excellent or 4,5. Default: the proportion of each category is shown.
    method : NAMES
        Methods from the list below, separated by commas or in several --method; ranks are by the
        first. Default: dawid_skene and majority; with gold labels, post_stratified before them.
    earlier_studies : NAME=STUDY
        An earlier study of a rater with gold labels, as prior of dawid_skene: see `lehner estimate
        --help`. It can settle the sensitivity and specificity of two tests where their ratings do
        not.

    Examples
    --------
    lehner compare answers.csv --group model --good good
    lehner compare ratings.csv
    lehner compare tests.csv --group herd --full --level 0.95 --method dawid_skene_ml
    """
    from lehner.command.load import load, read_groups
    from lehner.estimation.estimate import require_comparable
    from lehner.report.estimates import answer_comparison

    ratings = load(data, reading, require=require_comparable, columns={"group": group})
    groups: Any = group and read_groups(Path(data), group, ratings)
    given = Assumptions(earlier_studies=earlier_studies).to_given(ratings)
    asked: dict[str, Any] = {"level": level, "seed": seed, "given": given, "on_interrupt": KEEP}
    results = lehner.compare(ratings, good or None, groups, method or None, **asked)
    answer = answer_comparison(replace(results, name=data), full=output.full)
    options.emit(answer, output, data, reading.truth, *(earlier_studies or ()))


def gate(
    data: str,
    at_least: float,
    than: str | None = None,
    good: list[str] | None = None,
    group: list[str] | None = None,
    certainty: float = 0.95,
    anytime: bool = False,
    seed: int = 1,
    *,
    reading: Reading,
    junit: Path | None = None,
    as_json: bool = False,
) -> None:
    """Test whether an accuracy, a rate or a difference is high enough, for a pipeline.

    With --good, the command tests the rate of this category in each group, by one judge or several
    and the gold labels of some items. Otherwise it tests the accuracy of each system. The exit code
    is 0 if all numbers are high enough with the certainty asked for, 1 if one is too low with this
    certainty, 3 if the gold labels do not decide, and 2 if the input is bad.

    Parameters
    ----------
    at_least : NUMBER
        How high the number must be, such as .8; with --than, by how much it must be higher, such as
        0 or -.02.
    than : NAME
        The system or the group with which all others are compared.
    good : NAMES
        The category whose rate is tested, or several that count together, separated by commas.
    group : COLUMNS
        The column of the file that groups the items, such as prompt_version, or several that are
        crossed. The rate of each group is tested.
    certainty : P
        The probability with which a number must be high enough to pass, or too low to fail.
    anytime : bool
        Be right even if the test is repeated after each new label until it decides. Labels must be
        drawn at random, one after another, and the rows must be in this order. The number is then
        that of the items in the file.
    junit : FILE
        The file of test results (JUnit XML) for a pipeline to show.

    Examples
    --------
    lehner gate answers.csv --system gpt --truth gold --at-least .8
    lehner gate answers.csv --system new,old --truth gold --than old --at-least -.02
    lehner gate judged.csv --raters judge --truth human --group version --good pass --at-least .6
    """
    from lehner.command.load import load, read_groups

    ratings = load(data, reading, columns={"group": group})
    groups: Any = group and read_groups(Path(data), group, ratings)
    asked: dict[str, Any] = {"than": than, "good": good or None, "groups": groups or None}
    asked |= {"certainty": certainty, "anytime": anytime, "seed": seed}
    verdicts = lehner.gate(ratings, at_least, **asked)
    if junit is not None:
        options.write_file(_write_junit(verdicts), junit)
    if as_json:
        print(to_json({"data": data, "verdicts": [verdict.to_dict() for verdict in verdicts]}))
    else:
        print_lines(map(str, verdicts))
    for caution in dict.fromkeys(text for verdict in verdicts for text in verdict.cautions):
        say(to_options(caution))
    outcomes = {verdict.outcome for verdict in verdicts}
    if outcomes != {"passes"}:
        raise typer.Exit(FAILED if "fails" in outcomes else OPEN)


def _write_junit(verdicts: "list[lehner.Verdict]") -> str:
    """Write a test for each number; one of which labels do not tell is an error, no failure."""
    from xml.etree import ElementTree

    suite = ElementTree.Element("testsuite", name="lehner gate", tests=str(len(verdicts)))
    for verdict in verdicts:
        test = ElementTree.SubElement(suite, "testcase", name=escape(verdict.quantity))
        if verdict.outcome != "passes":
            kind = "failure" if verdict.outcome == "fails" else "error"
            ElementTree.SubElement(test, kind, message=escape(str(verdict)))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
