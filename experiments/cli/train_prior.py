"""The command `lehner train-prior`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from experiments.cli.options import Reading, Seed

if TYPE_CHECKING:
    from lehner import Ratings
    from lehner.data import reading as data_reading
    from lehner.empirical_prior.prior import Outcome

Folder = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER",
        help="A folder with a file for each crowd. Files in a subfolder are of one family.",
    ),
]


def train_prior(folder: Folder, output: Path, seed: Seed = 1, *, reading: Reading) -> None:
    """Train the priors of the method calibrated on crowds of your own, whose truth is known.

    Each file has the ratings of a crowd, with a column of true categories. Its raters are the
    system in turn, like the other raters, better than these or worse. Crowds that rated the same
    items, or come from the same study, belong into a subfolder: they are of one family, and
    families count equally. There are to be three families or more.

    Parameters
    ----------
    output : FILE
        The JSON file for the priors, which lehner estimate takes as --priors.

    Examples
    --------
    lehner train-prior crowds/ --output priors.json
    lehner estimate ratings.csv --method calibrated --priors priors.json
    """
    from experiments.report.files import write_text
    from lehner import InputError
    from lehner.core.text import counted
    from lehner.empirical_prior.prior import priors_text, train_priors

    outcomes = list(_evaluate_crowds(folder, reading.options(None), seed))
    try:
        if not any(one.design == "better" for one in outcomes):
            raise InputError(
                "no crowd has four raters, of whom one is better than three others",
                "add larger crowds, from which better systems can be learned",
            )
        priors = train_priors(outcomes)
    except InputError as error:
        error.file = folder
        raise
    output.parent.mkdir(parents=True, exist_ok=True)
    write_text(priors_text(priors), output)
    prior = priors["unknown"]
    print(
        f"Trained on {counted(prior.n_crowds, 'crowd')} of {len(prior.families)} families, from "
        f"which {counted(len(outcomes), 'data set')} were drawn with seed {seed}."
    )
    print(f"wrote {output}; use it by", file=sys.stderr)
    print(f"  lehner estimate DATA --method calibrated --priors {output}", file=sys.stderr)


def _evaluate_crowds(
    folder: Path, reading: "data_reading.Reading", seed: int
) -> "Iterator[Outcome]":
    """Take raters of each crowd for systems, whose accuracy is known, and estimate it."""
    import warnings

    from lehner import DataWarning, InputError
    from lehner.empirical_prior.designs import LEAST_ITEMS, draw_outcomes
    from lehner.reading.formats import ENDINGS

    kinds = (".csv", ".tsv", *ENDINGS)
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in kinds]
    if not paths:
        problem = "there are no ratings files in it" if folder.is_dir() else "there is no folder"
        raise InputError(problem, "name a folder with a file for each crowd", file=folder)
    for path in paths:
        within, crowd = path.relative_to(folder), _read_crowd(path, reading)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # of labels that few raters give
            outcomes = list(draw_outcomes(within.as_posix(), within.parts[0], crowd, seed))
        if not outcomes:
            raise InputError(
                f"no rater has {LEAST_ITEMS} items with a gold label that two others rated",
                "take the file away",
                file=path,
            )
        yield from outcomes


def _read_crowd(path: Path, reading: "data_reading.Reading") -> "Ratings":
    """Read a crowd; a system is one of its raters, and each item has a row."""
    import numpy as np

    from experiments.cli.load import load
    from lehner import InputError, Ratings

    ratings = load(str(path), reading)
    if ratings.truth is None or not (ratings.truth >= 0).any():
        raise InputError("there are no gold labels", "name their column by --truth", file=path)
    rows = np.repeat(np.arange(ratings.n_rows), ratings.weights)
    each = ratings.take(rows, np.ones(len(rows), np.int64)) if ratings.grouped else ratings
    return Ratings(each.all_flat, each.categories, each.all_raters, truth=each.truth)
