"""Ratings from a file or a bundled data set that is named on the command line, and its columns."""

import logging
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lehner
from lehner.contrasts.groups import GroupColumn, group_column
from lehner.core import errors
from lehner.core.errors import compose
from lehner.core.lazy import pd
from lehner.data.columns import number_or_nan, require_columns
from lehner.data.ratings import Ratings
from lehner.data.reading import Reading
from lehner.data.tables import cut_names
from lehner.reading import read

logger = logging.getLogger("lehner.reading")

MOST_GROUPS = 200
# A column of more different numbers than these is cut into bins.
MOST_UNCUT_NUMBERS = 8
BINS = 4
NUMBER = r"\s*[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?\s*"
CUTS = re.compile(rf"(.+?):({NUMBER}(?:,{NUMBER})*)", re.DOTALL)


def load(
    data: str,
    reading: Reading,
    *,
    require: Callable[[Ratings], None] | None = None,
    columns: Mapping[str, Sequence[str] | None] | None = None,
) -> Ratings:
    """Read a ratings file or a bundled data set.

    Parameters
    ----------
    data : str
        A file, else the name of a bundled data set.
    reading : Reading
        Its `truth` is a column, or a file with columns `item` and `truth`.
    require : callable, optional
        Raises an InputError unless the ratings have what the command needs.
    columns : mapping of str to sequence of str, optional
        Columns that group the items, by option, with the numbers at which they are cut.

    Returns
    -------
    Ratings
        Whose notes say what a warning would: see `write_data_lines`.

    Raises
    ------
    InputError
        Naming the file.
    """
    named = {option: texts for option, texts in (columns or {}).items() if texts}
    try:
        if is_bundled(data):
            ratings = call_quietly(_load_bundled, data, reading, named)
        elif not {".", "*", "?"} & {*data} and not os.path.exists(data):
            remedy = errors.suggest(data, [dataset.name for dataset in lehner.list_datasets()])
            raise errors.InputError("there is no such file or data set", remedy)
        else:
            texts = [text for option in named.values() for text in join_cuts(option)]
            # A column may be that of the clusters, or the one that names items, too.
            taken = (reading.cluster, *(reading.item if len(reading.item) == 1 else ()))
            names = [name for name, _ in map(split_cuts, texts) if name not in taken]
            others = [name for name in names if read.split_file(name) is None]
            reading = replace(reading, leave_out=(*reading.leave_out, *dict.fromkeys(others)))
            ratings = call_quietly(read.read_ratings, data, reading=reading)
        if reading.truth_probability is not None and ratings.truth is None:
            problem = "there are probabilities of gold labels, and no gold labels"
            raise errors.InputError(problem, compose("name their column ({truth})"))
        if require is not None:
            require(ratings)
        return ratings
    except errors.InputError as error:
        error.file = error.file or data
        raise


def is_bundled(data: str) -> bool:
    """Tell whether a text names a bundled data set, and no file."""
    if Path(data).is_file():
        return False
    return data in [dataset.name for dataset in lehner.list_datasets()]


def call_quietly(function: Callable[..., Any], data: str, *arguments: Any, **options: Any) -> Any:
    """Have a file read without the warnings of data, which are notes of the ratings, too."""
    logger.debug("reading %s", data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.DataWarning)
        result = function(data, *arguments, **options)
    logger.debug("computing")
    return result


def _load_bundled(data: str, reading: Reading, columns: Mapping[str, Any]) -> Ratings:
    gold = read.open_gold(reading)
    taken = ("system", "leave_out", *(("truth", "truth_item") if gold else ()))
    refused = [*columns, *(name for name in reading.to_dict() if name not in taken)]
    if refused:
        shown = ", ".join(f"--{name.replace('_', '-')}" for name in refused)
        raise errors.InputError(f"a bundled data set takes no {shown}", "leave it out")
    ratings = lehner.load_dataset(data, system=reading.system)
    return read.add_gold(ratings, *gold, reading) if gold else ratings


def split_cuts(text: str) -> tuple[str, list[float]]:
    """Split a column from the numbers at which it is cut.

    Examples
    --------
    >>> split_cuts("age:65"), split_cuts("age:65,50"), split_cuts("a:b")
    (('age', [65.0]), ('age', [50.0, 65.0]), ('a:b', []))
    """
    match = CUTS.fullmatch(text)
    if match is None:
        return text, []
    return match[1], sorted({float(number) for number in match[2].split(",")})


def join_cuts(texts: Sequence[str]) -> list[str]:
    """Join numbers that follow a column with cuts to it.

    Examples
    --------
    >>> join_cuts(["version", "age:50", "65", "model"])
    ['version', 'age:50,65', 'model']
    """
    joined: list[str] = []
    for text in texts:
        if joined and CUTS.fullmatch(f"{joined[-1]},{text}") and CUTS.fullmatch(joined[-1]):
            joined[-1] += f",{text}"
        else:
            joined.append(text)
    return joined


def take_values(ratings: Ratings, column: str) -> NDArray[Any]:
    """Give the value that a column has for each row of the ratings.

    Parameters
    ----------
    ratings : Ratings
        As read from a file with a row per item, or per rating; then each item has one value.
    column : str
        Of the ratings file, or of another, as "answers.csv:month".

    Returns
    -------
    ndarray of str, shape (n_rows,)
        "" where there is none.

    Raises
    ------
    InputError
        If there is no such column, or an item has two values.
    """
    table, roles = ratings.source
    file, name = (column not in table and read.split_file(column)) or (None, None)
    if file is not None and name:
        table, roles = read.open_table(str(file), Reading(preset="none"))
        column, roles = name, replace(roles, item=read.match_items(ratings, table, Reading()))
    item = roles.item[0] if roles.item else "item"
    with read.locating(table):
        require_columns(table, [column, *([item] if file else [])])
        values, alike = table[column], len(table[column]) == ratings.n_rows
        if file is None and (item not in table or (alike and roles.rater is None)):
            return values.texts
        index, items = table[item].items
        rows = read.find_rows(ratings, items)[index]
        values = replace(values, codes=np.where(rows >= 0, values.codes, -1))
        codes = values.gather(rows, ratings.n_rows, column)
    return replace(values, codes=codes).texts


def read_groups(path: Path, texts: Sequence[str], ratings: Ratings) -> GroupColumn:
    """Read groups of items from columns of the file that the ratings were read from.

    Parameters
    ----------
    path : Path
        The file, for errors.
    texts : sequence of str
        The columns, each perhaps with the numbers at which it is cut, as in "age:50,65". Groups of
        several are crossed.
    ratings : Ratings
        As read from the file.

    Returns
    -------
    GroupColumn
        Numbers are cut where that is said: a number at a cut belongs to the group above it. Else,
        if there are more than eight different ones, they are cut into four bins with about as many
        items.

    Raises
    ------
    InputError
        Naming file, row, column, value and remedy.
    """
    columns, names, notes = [], [], []
    for column, cuts in map(split_cuts, join_cuts(texts)):
        try:
            values, note = _group(take_values(ratings, column), column, cuts)
        except errors.InputError as error:
            error.file, error.column = error.file or path, error.column or column
            raise
        columns.append(column)
        names.append(values)
        notes += [note] if note else []
    crossed = [", ".join(parts) if all(parts) else "" for parts in zip(*names, strict=True)]
    return group_column(", ".join(columns), np.array(crossed, dtype=object), "; ".join(notes))


def read_populations(path: Path, texts: Sequence[str], ratings: Ratings) -> GroupColumn:
    """Read the population of each item, as `read_groups` reads groups; none may be without one."""
    populations = read_groups(path, texts, ratings)
    for row in np.flatnonzero(populations.names == ""):
        problem = f"item {str(ratings.items[row])!r} has no population"
        remedy = "name the population of each item, or leave such items out of the file"
        raise errors.InputError(problem, remedy, file=path, column=populations.column)
    return populations


def _group(values: NDArray[Any], column: str, cuts: list[float]) -> tuple[NDArray[Any], str]:
    """Name the group of each row, and say how a column of numbers was cut."""
    is_there = values != ""
    labels = sorted(set(values[is_there]))
    if not labels:
        raise errors.InputError("it is blank for all items", "name their groups")
    numbers = np.array(list(map(number_or_nan, values[is_there])))
    texts = [label for label in labels if np.isnan(number_or_nan(label))]
    infinite = [label for label in labels if not texts and not isfinite(float(label))]
    if infinite:
        problem = f"{infinite[0]!r} stands among numbers"
        raise errors.InputError(problem, "correct it, or leave it blank")
    if cuts and texts:
        raise errors.InputError(f"{texts[0]!r} is no number to cut at {cuts[0]:g}", "correct it")
    if cuts:
        names, place = cut_names(cuts), np.searchsorted(cuts, numbers, side="right")
        for number in set(range(len(names))) - set(place.tolist()):
            raise errors.InputError(f"no item is {names[number]}", "cut at other numbers")
        note = f"{column} was cut at {' and '.join(f'{cut:g}' for cut in cuts)}"
    elif not texts and len(labels) > MOST_UNCUT_NUMBERS:
        # Bins have about as many items; equal numbers stay together.
        place = pd.qcut(numbers, BINS, labels=False, duplicates="drop")
        bins = [numbers[place == number] for number in range(place.max() + 1)]
        names = [f"{x.min():g} to {x.max():g}" if x.size else "" for x in bins]
        note = f"{column} was cut at its quantiles into {len(set(place))} groups"
    elif len(labels) > MOST_GROUPS:
        problem = f"it has {len(labels)} different values, as {labels[0]!r} and {labels[1]!r}"
        raise errors.InputError(problem, f"join them into {MOST_GROUPS} groups or fewer")
    else:
        return values, ""
    # Numbered, so that they stay in their order.
    numbered = np.array([f"{number}: {name}" for number, name in enumerate(names, 1)], dtype=object)
    named = np.full(len(values), "", dtype=object)
    named[is_there] = numbered[place]
    return named, note
