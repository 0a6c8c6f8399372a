"""Ratings from what a user names on the command line: a file or a bundled data set."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    from lehner import InputError, list_datasets
    from lehner.core.errors import suggest
    from lehner.reading.read import read_with

    columns, names = columns or {}, [one.name for one in list_datasets()]
    try:
        if data in names and not Path(data).is_file():
            ratings = quietly(_load_bundled, data, reading, columns)
        elif "." not in data and not Path(data).exists():
            raise InputError("there is no such file or data set", suggest(data, names))
        else:
            # A column may be that of the clusters, too.
            others = [name for name in columns.values() if name != reading.cluster]
            leave_out = tuple(dict.fromkeys((*reading.leave_out, *others)))
            ratings = quietly(read_with, data, replace(reading, leave_out=leave_out))
        if reading.truth_probability is not None and ratings.truth is None:
            raise InputError(
                "there are probabilities of gold labels, and no gold labels",
                "name their column (truth=…)",
            )
        if require is not None:
            require(ratings)
        return ratings
    except InputError as error:
        error.file = error.file or data
        raise


def quietly(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function without the warnings of data, which are notes of the ratings, too."""
    from lehner import DataWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return function(*arguments)


def _load_bundled(data: str, reading: "Reading", columns: "Mapping[str, str]") -> "Ratings":
    from lehner import InputError, load_dataset
    from lehner.reading.formats import is_file
    from lehner.reading.read import add_gold

    in_file = reading.truth is not None and is_file(reading.truth)
    taken = ("system", "leave_out", *(("truth",) if in_file else ()))
    others = [*columns, *(name for name in reading.given() if name not in taken)]
    if others:
        shown = ", ".join(f"--{name.replace('_', '-')}" for name in others)
        raise InputError(f"a bundled data set takes no {shown}", "leave it out")
    ratings = load_dataset(data, system=reading.system)
    return add_gold(ratings, Path(str(reading.truth))) if in_file else ratings
