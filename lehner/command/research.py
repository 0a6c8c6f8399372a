"""The commands around ratings: train-prior, and study with its subcommands."""

import signal
import warnings
from collections.abc import Iterator
from pathlib import Path

import typer

import lehner
from lehner.command import options
from lehner.core.errors import InputError, check_choice
from lehner.core.lazy import pd
from lehner.core.text import pluralise, say
from lehner.data.reading import Reading


def train_prior(
    folder: Path, output: Path, raters_are: str = "people", seed: int = 1, *, reading: Reading
) -> None:
    """Train the priors of the method learned_prior on crowds of your own, whose truth is known.

    Each file has the ratings of a crowd, with a column of gold labels. Its raters are taken for the
    system in turn: one like the other raters, one better, or one worse. Crowds that rated the same
    items, or come from the same study, belong in one subfolder: they are a family, and families
    count equally. At least three families are needed.

    Parameters
    ----------
    folder : FOLDER
        The folder with a file for each crowd. Files in one subfolder are of one family.
    output : FILE
        The JSON file of the priors, which `lehner estimate` takes as --priors.
    raters_are : people|models
        Who rated in these crowds: people or language models.

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
    """Run a simulation study, export its results, or write a report."""
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
        The folder for the results. Default: it has the name of the study's file, without .toml.
    replicates : N
        The number of samples of each scenario, in place of the study's own.
    workers : N
        How many processes work at once.
    dask : ADDRESS
        The address of a Dask scheduler, such as tcp://host:8786, or local.
    """
    folder = output or Path(Path(study).stem)
    changes = {} if replicates is None else {"replicates": replicates}
    plan = lehner.Study.read(study, **changes)
    # Schedulers of clusters stop a job so.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        table = plan.run(folder, workers=workers, dask=dask).table
    except KeyboardInterrupt:
        say(f"Finished results are stored in {folder}; the same command continues from there.")
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


for command in (run, export, report):
    options.add_command(study_app, command, steps=("lehner.study",))
