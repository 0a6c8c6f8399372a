"""Ratings from what a user names on the command line: a file or a bundled data set."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lehner import Ratings
    from lehner.data.reading import Reading


def load(
    data: str,
    reading: "Reading",
    *,
    require: "Callable[[Ratings], None] | None" = None,
    columns: "Mapping[str, str] | None" = None,
) -> "Ratings":
    """Read a ratings file or a bundled data set.

    Parameters
    ----------
    data : str
        A file, else the name of a bundled data set.
    reading : Reading
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
    from lehner import DataWarning, InputError, list_datasets, load_dataset
    from lehner.core.errors import suggest
    from lehner.reading.formats import is_file
    from lehner.reading.read import add_gold, read_with

    columns = columns or {}
    # A column may be that of the clusters, too.
    others = [name for name in columns.values() if name != reading.cluster]
    leave_out = tuple(dict.fromkeys((*reading.leave_out, *others)))
    names = [one.name for one in list_datasets()]
    bundled = data in names and not Path(data).is_file()
    try:
        if not bundled and "." not in data and not Path(data).exists():
            raise InputError("there is no such file or data set", suggest(data, names))
        if bundled:
            options = given_options(reading, "system", "truth", "leave_out")
            truth = () if reading.truth is None or is_file(reading.truth) else ("truth",)
            refuse("a bundled data set takes no", *columns, *truth, *options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            if bundled:
                ratings = load_dataset(data, system=reading.system)
                if reading.truth is not None:
                    ratings = add_gold(ratings, Path(reading.truth))
            else:
                ratings = read_with(data, replace(reading, leave_out=leave_out))
        if reading.truth_probability is not None and ratings.truth is None:
            raise InputError(
                "there are probabilities of gold labels, and no gold labels",
                "name their column (truth=…)",
            )
        if require is not None:
            require(ratings)
    except InputError as error:
        error.file = error.file or data
        raise
    return ratings


def given_options(reading: "Reading", *beside: str) -> list[str]:
    """Name the reading options that are given, beside some."""
    return [name for name in reading.given() if name not in beside]


def refuse(text: str, *options: str) -> None:
    """Raise an InputError that names the options which do not fit, if there are any."""
    from lehner import InputError

    if options:
        shown = ", ".join(f"--{name.replace('_', '-')}" for name in options)
        raise InputError(f"{text} {shown}", "leave it out")
