"""The commands around ratings: plan, train-prior, and study with its subcommands."""

import signal
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import typer

import lehner
from lehner.command import options
from lehner.command.options import Output
from lehner.core.errors import InputError, check_choice, check_whole_number
from lehner.core.lazy import pd
from lehner.core.text import pluralise
from lehner.data.reading import Reading
from lehner.report.terminal import say


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
    from lehner.command.show_plan import SYSTEM_ACCURACIES, PlanOptions, answer_plan
    from lehner.simulation.sample_size import FEWEST_REPLICATES

    check_whole_number("replicates", replicates, FEWEST_REPLICATES)
    asked: Any = {
        "n_categories": categories,
        "n_raters": raters,
        "kappa": kappa,
        "system_accuracies": SYSTEM_ACCURACIES if system_accuracy is None else (system_accuracy,),
        "within": within,
        "confidence": confidence,
        "method": method,
        "estimand": estimand,
        "icc": icc,
        "cluster_size": cluster_size,
    }
    violations = dict.fromkeys(violation or [0.0, 1.0])
    questions = [PlanOptions(violation=size, **asked) for size in violations]
    quiet = output.as_json or output.sentence
    announce = (lambda text: None) if quiet else partial(print, flush=True)
    answer = answer_plan(questions, replicates=replicates, seed=seed, announce=announce)
    options.emit(answer, output)


def train_prior(
    folder: Path, output: Path, raters_are: str = "people", seed: int = 1, *, reading: Reading
) -> None:
    """Train the priors of the method learned_prior on crowds of your own, whose truth is known.

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
    raters_are : people|models
        Who rated in these crowds: people (the default) or language models.

    Examples
    --------
    lehner train-prior crowds/ --output priors.json
    lehner estimate ratings.csv --method learned_prior --priors priors.json
    """
    from lehner.empirical_prior.prior import format_priors, train_priors

    check_choice("raters_are", raters_are, ("people", "models"))
    outcomes = pd.concat(_evaluate_crowds(folder, reading, seed), ignore_index=True)
    try:
        if not (outcomes["design"] == "better").any():
            raise InputError(
                "no crowd has four raters, of whom one is better than three others",
                "add larger crowds, from which better systems can be learned",
            )
        priors = train_priors(outcomes, raters_are)
    except InputError as error:
        error.file = folder
        raise
    options.write_file(format_priors({raters_are: priors}), output)
    prior = priors["unknown"]
    print(
        f"Trained on {pluralise(prior.n_crowds, 'crowd')} of {len(prior.families)} families, "
        f"from which {pluralise(len(outcomes), 'data set')} were drawn with seed {seed}."
    )
    say(f"wrote {output}; use it by")
    say(f"  lehner estimate DATA --method learned_prior --priors {output}")


def _evaluate_crowds(folder: Path, reading: Reading, seed: int) -> "Iterator[pd.DataFrame]":
    """Take raters of each crowd for systems, whose accuracy is known, and estimate it."""
    from lehner.empirical_prior.designs import LEAST_ITEMS, draw_outcomes
    from lehner.reading.formats import ENDINGS

    endings = (".csv", ".tsv", *ENDINGS)
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in endings]
    if not paths:
        problem = "there are no ratings files in it" if folder.is_dir() else "there is no folder"
        raise InputError(problem, "name a folder with a file for each crowd", file=folder)
    for path in paths:
        within, crowd = path.relative_to(folder), _read_crowd(path, reading)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lehner.DataWarning)  # of labels that few raters give
            outcomes = draw_outcomes(within.as_posix(), within.parts[0], crowd, seed)
        if outcomes.empty:
            problem = f"no rater has {LEAST_ITEMS} items with a gold label that two others rated"
            raise InputError(problem, "take the file away", file=path)
        yield outcomes


def _read_crowd(path: Path, reading: Reading) -> "lehner.Ratings":
    """Read a crowd; a system is one of its raters, and each item has a row."""
    import numpy as np

    from lehner.command.load import load

    ratings = load(str(path), reading)
    if ratings.truth is None or not (ratings.truth >= 0).any():
        problem = "there are no gold labels"
        raise InputError(problem, "name their column by --truth", file=path)
    rows = np.repeat(np.arange(ratings.n_rows), ratings.weights)
    each = ratings.take(rows, np.ones(len(rows), np.int64)) if ratings.grouped else ratings
    return lehner.Ratings(each.all_votes, each.categories, each.all_raters, truth=each.truth)


study_app = typer.Typer()


@study_app.callback(invoke_without_command=True)
def study(context: typer.Context) -> None:
    """Run a simulation study, export its results, write a report, or draw one data set again."""
    context.with_resource(options.show_progress(["lehner.study"]))
    if context.invoked_subcommand is None:
        context.get_help()


def run(
    study: str,
    output: Path | None = None,
    replicates: int | None = None,
    workers: int = 1,
    dask: str | None = None,
) -> None:
    """Run a study, or continue one that was stopped. Results are stored as they are computed.

    Stored results that were damaged are computed again.

    Parameters
    ----------
    output : FOLDER
        The folder for the results. Default: named as the study's file, without .toml.
    replicates : N
        How many samples of each scenario, in place of the study's own number.
    workers : N
        How many processes work.
    dask : ADDRESS
        A Dask scheduler, as in tcp://host:8786, or local.
    """
    folder = output or Path(Path(study).stem)
    changes = {} if replicates is None else {"replicates": replicates}
    plan = lehner.Study.read(study, **changes)
    # Schedulers of clusters stop a job so.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        table = plan.run(folder, workers=workers, dask=dask).table
    except KeyboardInterrupt:
        kept = f"Finished results are stored in {folder}; the same command continues from there."
        say(kept)
        raise
    counts = table["status"].value_counts() if "status" in table else {}
    ends = "".join(f", {n} {name}" for name, n in counts.items())
    print(f"{folder}: {len(table)} rows{ends}")
    if "failed" in counts:
        say("Some estimates failed; the column 'reason' has the reasons.")


def export(folder: Path, output: Path) -> None:
    """Write the results as one CSV table, without times and versions, which differ by machine.

    Parameters
    ----------
    output : FILE
        The CSV file.
    """
    say(f"wrote {lehner.Study.read(folder).collect(folder).export(output)}")


def report(folder: Path) -> None:
    """Write a report of the results as a page, with LaTeX tables, CSV and figures."""
    for path in lehner.Study.read(folder).collect(folder).report():
        say(f"wrote {path}")


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
    from lehner.study.report import name_file

    plan = lehner.Study.read(study)
    table = plan.draw(scenario, replicate).to_wide()
    name = name_file(f"{plan.name} {scenario} {replicate}")
    say(f"wrote {options.write_file(table, output or Path(f'{name}.csv'))}")


for command in (run, export, report, draw):
    options.add_command(study_app, command)
