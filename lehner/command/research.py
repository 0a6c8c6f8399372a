"""The commands around ratings: plan, train-prior, and study with its subcommands."""

import signal
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import lehner
from lehner.command import options
from lehner.command.load import load
from lehner.command.options import Output, Reading
from lehner.core import errors, lazy, text
from lehner.core.lazy import pd

if TYPE_CHECKING:
    from lehner import Ratings

planning = lazy.load("lehner.command.show_plan")
running, reporting = lazy.load("lehner.study.run"), lazy.load("lehner.study.report")
formats, np = lazy.load("lehner.reading.formats"), lazy.load("numpy")
designs, training = (lazy.load(f"lehner.empirical_prior.{x}") for x in ("designs", "prior"))
sample_size = lazy.load("lehner.planning.sample_size")


def plan(
    categories: int = 5,
    raters: int = 3,
    kappa: float = 0.3,
    within: float = 0.1,
    confidence: float = 0.9,
    system_accuracy: float | None = None,
    violation: list[float] | None = None,
    method: str = "algebraic",
    estimand: str = "system_accuracy",
    replicates: int = 20_000,
    icc: float = 0.0,
    cluster_size: float = 1.0,
    seed: int = 1,
    *,
    output: Output,
) -> None:
    """Find how many items a study needs for an estimate near the truth.

    Parameters
    ----------
    categories : N
        The number of categories.
    raters : N
        The number of raters, the system not included.
    kappa : KAPPA
        How well the raters agree: Brennan and Prediger's kappa.
    within : P
        How far from the truth the estimate may be.
    confidence : P
        The probability with which it is to be no farther.
    system_accuracy : P
        The expected accuracy of the system. Default: each of .1, .3, .5, .7 and .9, and the mean
        and the worst of these.
    violation : NUMBER
        How far the K-properties fail: 0 if they hold, 1 as in the paper. The option may be
        repeated. Default: 0 and 1.
    method : NAME
        The method, as algebraic or algebraic_paper.
    estimand : NAME
        The truth that is meant: system_accuracy (expected) or system_accuracy_in_sample.
    replicates : N
        How many samples are simulated near the answer. Four times as many halve its Monte Carlo
        error.
    icc : P
        With --cluster-size: the intraclass correlation of right answers to items of a cluster, as
        lesions of a patient. Items are multiplied by the design effect, 1 + (size - 1) * icc.
    cluster_size : N
        How many items a cluster has.

    Examples
    --------
    lehner plan --categories 2 --raters 4 --kappa 0.4
    lehner plan --within 0.05 --system-accuracy 0.8 --output plan/
    """
    errors.check_whole_number("replicates", replicates, sample_size.FEWEST_REPLICATES)
    expected = planning.SYSTEM_ACCURACIES if system_accuracy is None else (system_accuracy,)
    question = planning.Question(
        n_categories=categories,
        n_raters=raters,
        kappa=kappa,
        system_accuracies=expected,
        within=within,
        confidence=confidence,
        method=method,
        estimand=estimand,
        icc=icc,
        cluster_size=cluster_size,
    )
    violations = dict.fromkeys(violation or [0.0, 1.0])
    questions = [replace(question, violation=size) for size in violations]
    quiet = output.as_json or output.sentence
    announce = (lambda text: None) if quiet else partial(print, flush=True)
    answer = planning.answer_plan(questions, replicates=replicates, seed=seed, announce=announce)
    options.emit(answer, output)


def train_prior(folder: Path, output: Path, seed: int = 1, *, reading: Reading) -> None:
    """Train the priors of the method calibrated on crowds of your own, whose truth is known.

    Each file has the ratings of a crowd, with a column of true categories. Its raters are the
    system in turn, like the other raters, better than these or worse. Crowds that rated the same
    items, or come from the same study, belong into a subfolder: they are of one family, and
    families count equally. There are to be three families or more.

    Parameters
    ----------
    folder : FOLDER
        A folder with a file for each crowd. Files in a subfolder are of one family.
    output : FILE
        The JSON file for the priors, which lehner estimate takes as --priors.

    Examples
    --------
    lehner train-prior crowds/ --output priors.json
    lehner estimate ratings.csv --method calibrated --priors priors.json
    """
    outcomes = pd.concat(_evaluate_crowds(folder, reading.to_options(), seed), ignore_index=True)
    try:
        if not (outcomes["design"] == "better").any():
            raise lehner.InputError(
                "no crowd has four raters, of whom one is better than three others",
                "add larger crowds, from which better systems can be learned",
            )
        priors = training.train_priors(outcomes)
    except lehner.InputError as error:
        error.file = folder
        raise
    options.write_file(training.format_priors(priors), output)
    prior = priors["unknown"]
    print(
        f"Trained on {text.pluralise(prior.n_crowds, 'crowd')} of {len(prior.families)} families, "
        f"from which {text.pluralise(len(outcomes), 'data set')} were drawn with seed {seed}."
    )
    print(f"wrote {output}; use it by", file=sys.stderr)
    print(f"  lehner estimate DATA --method calibrated --priors {output}", file=sys.stderr)


def _evaluate_crowds(folder: Path, read_as: Any, seed: int) -> "Iterator[pd.DataFrame]":
    """Take raters of each crowd for systems, whose accuracy is known, and estimate it."""
    endings = (".csv", ".tsv", *formats.ENDINGS)
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in endings]
    if not paths:
        problem = "there are no ratings files in it" if folder.is_dir() else "there is no folder"
        raise lehner.InputError(problem, "name a folder with a file for each crowd", file=folder)
    for path in paths:
        within, crowd = path.relative_to(folder), _read_crowd(path, read_as)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lehner.DataWarning)  # of labels that few raters give
            outcomes = designs.draw_outcomes(within.as_posix(), within.parts[0], crowd, seed)
        if outcomes.empty:
            least = designs.LEAST_ITEMS
            problem = f"no rater has {least} items with a gold label that two others rated"
            raise lehner.InputError(problem, "take the file away", file=path)
        yield outcomes


def _read_crowd(path: Path, read_as: Any) -> "Ratings":
    """Read a crowd; a system is one of its raters, and each item has a row."""
    ratings = load(str(path), read_as)
    if ratings.truth is None or not (ratings.truth >= 0).any():
        problem = "there are no gold labels"
        raise lehner.InputError(problem, "name their column by --truth", file=path)
    rows = np.repeat(np.arange(ratings.n_rows), ratings.weights)
    each = ratings.take(rows, np.ones(len(rows), np.int64)) if ratings.grouped else ratings
    return lehner.Ratings(each.all_votes, each.categories, each.all_raters, truth=each.truth)


study_app = typer.Typer(cls=options.Group)


@study_app.callback(invoke_without_command=True)
def study(context: typer.Context) -> None:
    """Run a simulation study, export its results, write a report, or draw one data set again."""
    context.with_resource(options.show_progress(["lehner.study"]))
    if context.invoked_subcommand is None:
        context.get_help()


def run(study: str, output: Path | None = None, workers: int = 1, dask: str | None = None) -> None:
    """Run a study, or continue one that was stopped. Results are stored as they are computed.

    Stored results that were damaged are computed again.

    Parameters
    ----------
    output : FOLDER
        The folder for the results. Default: named as the study's file, without .toml.
    workers : N
        How many processes work.
    dask : ADDRESS
        A Dask scheduler, as in tcp://host:8786, or local.
    """
    folder = output or Path(Path(study).stem)
    # Schedulers of clusters stop a job so.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        results = running.run_study(study, folder, workers=workers, dask=dask)
    except KeyboardInterrupt:
        kept = f"Finished results are stored in {folder}; the same command continues from there."
        print(kept, file=sys.stderr)
        raise
    counts = results["status"].value_counts() if "status" in results else {}
    ends = "".join(f", {n} {name}" for name, n in counts.items())
    print(f"{folder}: {len(results)} rows{ends}")
    if "failed" in counts:
        print("Some estimates failed; the column 'reason' has the reasons.", file=sys.stderr)


def export(folder: Path, output: Path) -> None:
    """Write the results as one CSV table, without times and versions, which differ by machine.

    Parameters
    ----------
    output : FILE
        The CSV file.
    """
    print(f"wrote {running.export(folder, output)}", file=sys.stderr)


def report(folder: Path) -> None:
    """Write a report of the results as a page, with LaTeX tables, CSV and figures."""
    for path in reporting.write_report(folder):
        print(f"wrote {path}", file=sys.stderr)


def draw(study: str, scenario: str, replicate: int, output: Path | None = None) -> None:
    """Draw the data of one replicate again, as CSV.

    Parameters
    ----------
    scenario : SCENARIO
        Its name in the study.
    replicate : REPLICATE
        Its number, from 0.
    output : FILE
        The CSV file. Default: named by study, scenario and replicate.
    """
    print(f"wrote {running.draw(study, scenario, replicate, output)}", file=sys.stderr)


for command in (run, export, report, draw):
    options.add_command(study_app, command)
