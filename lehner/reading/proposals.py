"""What a file that is refused may mean: proposals for the user to confirm."""

from collections import Counter
from dataclasses import replace
from typing import Any

from lehner.core.errors import InputError
from lehner.data.categories import fold
from lehner.data.checks.columns import MAYBE_TRUTH, role_of
from lehner.data.columns import Table
from lehner.data.ratings import Ratings
from lehner.data.reading import Reading
from lehner.reading.read import make_ratings, open_table
from lehner.reading.roles import find_items

MOST_CHANGES = 8
FEWEST_RATERS = 2
MANY_VALUES = ("missing", "labels", "system", "leave_out")
"""Options whose proposals add up."""


def propose(source: Any, reading: Reading) -> tuple[Ratings, Reading, list[str]]:
    """Read a file as it may be meant.

    Parameters
    ----------
    source : object
        As `lehner.read_ratings` takes it.
    reading : Reading
        What is declared.

    Returns
    -------
    ratings : Ratings
    reading : Reading
        What is declared, and what was proposed: with it the file is read.
    reasons : list of str
        Why the file is refused without each proposal; empty if it is read as it is.

    Raises
    ------
    InputError
        If there is no proposal for what is wrong.
    """
    reasons: list[str] = []
    while True:
        table: Table | None = None
        try:
            table, prepared = open_table(source, reading)
            return make_ratings(table, prepared), reading, reasons
        except InputError as error:
            changed = _change(reading, error)
            if changed is None and table is not None:
                changed = propose_columns(table, reading)
            if changed in (None, reading) or len(reasons) >= MOST_CHANGES:
                raise
            reasons.append(error.problem)
            reading = changed


def _change(reading: Reading, error: InputError) -> Reading | None:
    """Change a reading by the remedy of an error."""
    if not error.change:
        return None
    (name, value), *others = error.change.items()
    if name in MANY_VALUES:
        value = (*getattr(reading, name), *value)
    elif isinstance(value, tuple) and name in ("truth", "counts"):
        (value,) = value
    return replace(reading, **{name: value, **dict(others)})


def propose_columns(table: Table, reading: Reading) -> Reading | None:
    """Propose raters, systems and gold labels of a table with a row per item.

    A column holds ratings if half of its labels are in most of the columns that share labels. Of
    these, one that is named like gold labels or a system is proposed as such, as is one named like
    an expert if it is mostly blank; the others are raters.

    Parameters
    ----------
    table : Table
    reading : Reading
        What is declared.

    Returns
    -------
    Reading or None
        None if no two columns hold ratings.

    Examples
    --------
    >>> table = {"id": [1, 2], "Ann": ["no", "yes"], "Bo": ["no", "no"], "gold": ["no", ""]}
    >>> proposed = propose_columns(Table(table | {"site": ["north", "south"]}), Reading())
    >>> proposed.raters, proposed.truth
    (('Ann', 'Bo'), 'gold')
    """
    if reading.raters or reading.rater or reading.rating or reading.order or reading.items:
        return None
    taken = [*reading.item, reading.truth, reading.counts, reading.cluster, *reading.leave_out]
    free = [name for name in table if name not in taken and name not in reading.system]
    free = [name for name in free if role_of(name) not in ("item", "remark", "counts")]
    labels = {name: set(map(str, table[name].labels)) for name in free}
    for name in free:
        others = set().union(*(labels[other] for other in free if other != name))
        if role_of(name) == "rater" and not labels[name] & others:
            return None  # each row is a rating or a rater
    holders = Counter(label for mine in labels.values() for label in mine)
    most = max(holders.values(), default=0)
    shared = {label for label, n in holders.items() if 2 * n > most}
    rated = [name for name in free if 2 * len(labels[name] & shared) >= len(labels[name]) > 0]
    blank = {name for name in rated if (table[name].codes < 0).mean() > 0.5}
    truths = [name for name in rated if role_of(name) == "truth"]
    truths = truths or [name for name in rated if fold(name) in MAYBE_TRUTH and name in blank]
    systems = list(reading.system) or [name for name in rated if role_of(name) == "system"]
    raters = [name for name in rated if name not in (*systems, *truths)]
    if len(raters) < FEWEST_RATERS:  # systems are each other's raters
        raters, systems = [*raters, *(name for name in systems if name in rated)], []
    if len(raters) < FEWEST_RATERS:
        return None
    found: dict[str, Any] = {"truth": reading.truth or next(iter(truths), None)}
    found["item"] = reading.item or find_items(table, reading)
    return replace(reading, raters=tuple(raters), system=tuple(systems), **found)
