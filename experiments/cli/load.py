"""Ratings from what a user names on the command line: a file or a bundled data set."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.cli.arguments import Reading, split_names

if TYPE_CHECKING:
    from lehner import Ratings


def load(
    data: str,
    system: str | list[str] | None,
    reading: Reading,
    truth: str | None = None,
    *,
    require: "Callable[[Ratings], None] | None" = None,
    by: str | None = None,
    population: str | None = None,
) -> "Ratings":
    """Read a ratings file or a bundled data set.

    Parameters
    ----------
    data : str
        A file, else the name of a bundled data set.
    system : str or list of str, optional
        Column or rater that is the system, or several as typed.
    reading : Reading
    truth : str, optional
        A column, or a file with columns `item` and `truth`.
    require : callable, optional
        Raises an InputError unless the ratings have what the command needs.
    by, population : str, optional
        Columns that are no part of the ratings: they group the items.

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
    from lehner import DataWarning, InputError, list_datasets, load_dataset, read_ratings
    from lehner.core.checks import suggest

    given: dict[str, Any] = {"truth": truth, "by": by, "population": population} | vars(reading)
    given = {name: value for name, value in given.items() if value}
    if isinstance(system, list):
        system = split_names(system)
    truths = Path(given.pop("truth")) if _names_file(given.get("truth")) else None
    names = [one.name for one in list_datasets()]
    bundled = data in names and not Path(data).is_file()
    try:
        if not bundled and "." not in data and not Path(data).exists():
            raise InputError("there is no such file or data set", suggest(data, names))
        if bundled and given:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            raise InputError(f"a bundled data set takes no {options}", "leave it out")
        columns = [given.pop(name) for name in ("by", "population") if name in given]
        if columns:
            given["leave_out"] = list(dict.fromkeys(columns))
        for name in {"raters", "categories", "missing"} & set(given):
            given[name] = split_names(given[name])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            if bundled:
                ratings = load_dataset(data, system=system)
            else:
                ratings = read_ratings(data, system=system, **given)
            if truths is not None:
                ratings = add_truths(ratings, truths)
        if require is not None:
            require(ratings)
    except InputError as error:
        raise InputError(
            error.problem,
            error.remedy,
            file=error.file if truths is not None and error.file == truths else data,
            row=error.row,
            column=error.column,
        ) from None
    return ratings


def _names_file(truth: str | None) -> bool:
    """Whether the option names a file of truths rather than a column."""
    from lehner.reading.file_kinds import ENDINGS

    if truth is None:
        return False
    path = Path(truth)
    return path.is_file() or path.is_fifo() or path.suffix.lower() in (".csv", ".tsv", *ENDINGS)
