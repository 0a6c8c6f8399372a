"""Ratings from what a user names on the command line: a file or a bundled data set."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lehner import Ratings
    from lehner.data.options import ReadingOptions


def load(
    data: str,
    reading: "ReadingOptions",
    *,
    require: "Callable[[Ratings], None] | None" = None,
    columns: "Mapping[str, str] | None" = None,
) -> "Ratings":
    """Read a ratings file or a bundled data set.

    Parameters
    ----------
    data : str
        A file, else the name of a bundled data set.
    reading : ReadingOptions
        Its `truth` is a column, or a file with columns `item` and `truth`.
    require : callable, optional
        Raises an InputError unless the ratings have what the command needs.
    columns : mapping of str to str, optional
        Columns that are no part of the ratings, by option: they group the items.

    Returns
    -------
    Ratings
        Whose notes say what a warning would: see `data_notes`.

    Raises
    ------
    InputError
        Naming the file.
    """
    from experiments.cli.truth_file import add_truths
    from lehner import DataWarning, InputError, list_datasets, load_dataset
    from lehner.core.errors import suggest
    from lehner.reading.read import read_with

    truths = _truth_file(reading.truth)
    if truths is not None:
        reading = replace(reading, truth=None)
    columns = columns or {}
    # A column may be that of the clusters, too.
    leave_out = tuple(dict.fromkeys(name for name in columns.values() if name != reading.cluster))
    names = [one.name for one in list_datasets()]
    bundled = data in names and not Path(data).is_file()
    try:
        if not bundled and "." not in data and not Path(data).exists():
            raise InputError("there is no such file or data set", suggest(data, names))
        if bundled:
            refuse("a bundled data set takes no", *columns, *given_options(reading, "system"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            if bundled:
                ratings = load_dataset(data, system=reading.system)
            else:
                ratings = read_with(data, replace(reading, leave_out=leave_out))
            if truths is not None:
                ratings = add_truths(ratings, truths)
        if reading.truth_probability is not None and ratings.truth is None:
            raise InputError(
                "there are probabilities of known truths, and no known truths",
                "name their column (truth=…)",
            )
        if require is not None:
            require(ratings)
    except InputError as error:
        if truths is None or error.file != truths:
            error.file = data
        raise
    return ratings


def given_options(reading: "ReadingOptions", *beside: str) -> list[str]:
    """Name the reading options that are given, beside some."""
    given = [one.name for one in fields(reading) if getattr(reading, one.name) != one.default]
    return [name for name in given if name not in beside]


def refuse(text: str, *options: str) -> None:
    """Raise an InputError that names the options which do not fit, if there are any."""
    from lehner import InputError

    if options:
        shown = ", ".join(f"--{name.replace('_', '-')}" for name in options)
        raise InputError(f"{text} {shown}", "leave it out")


def _truth_file(truth: str | None) -> Path | None:
    """Path of the file of truths, if the option names one rather than a column."""
    from lehner.reading.file_kinds import ENDINGS

    path = Path(truth or "")
    is_file = path.is_file() or path.is_fifo()
    return path if is_file or path.suffix.lower() in (".csv", ".tsv", *ENDINGS) else None
