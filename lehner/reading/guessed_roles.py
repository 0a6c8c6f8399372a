"""Guesses of the roles of columns that the user has not named, by their names and contents."""

from collections import Counter
from dataclasses import replace
from typing import Any

from lehner.data.categories import encode, fold
from lehner.data.checks.columns import MAYBE_TRUTH, role_by_name
from lehner.data.options import ReadingOptions
from lehner.reading.column_roles import ITEM_COLUMNS, find_roles, named

KNOWN, SYSTEM = "known truths", "a system"
FEWEST_RATERS = 2


def guess_roles(
    columns: dict[str, Any], options: ReadingOptions
) -> tuple[ReadingOptions, list[str]]:
    """Guess which columns of a table with a row per item are raters, systems and known truths.

    A column holds ratings if half of its labels are in most of the columns that share labels. Of
    these, one that is named like known truths or a system is so read, as is one named like an
    expert if it is mostly blank, and the others are raters.
    In a table with a row per rating, nothing is guessed.

    Parameters
    ----------
    columns : dict of str to column
        The table.
    options : ReadingOptions
        The columns that the user names.

    Returns
    -------
    options : ReadingOptions
        With the columns that were guessed.
    others : list of str
        The columns without a role, which may be groups of items.

    Examples
    --------
    >>> table = {"id": [1, 2], "Ann": ["no", "yes"], "Bo": ["no", "no"], "gold": ["no", ""]}
    >>> roles, others = guess_roles(table | {"site": ["north", "south"]}, ReadingOptions())
    >>> roles.raters, roles.truth, others
    (('Ann', 'Bo'), 'gold', ['site'])
    """
    roles = find_roles(columns, options)
    taken = [roles.item, roles.truth, roles.counts, roles.order, *roles.system]
    taken += [roles.rater, roles.rating, roles.occasion]
    left = [name for name in columns if name not in taken]
    if roles.rater is not None:
        return options, left
    coded = {name: encode(columns[name], name) for name in left}
    labels = {name: set(map(str, one.labels)) for name, one in coded.items()}
    holders = Counter(label for mine in labels.values() for label in mine)
    most = max(holders.values(), default=0)
    shared = {label for label, n in holders.items() if 2 * n > most}
    rated = [name for name in left if 2 * len(labels[name] & shared) >= len(labels[name]) > 0]
    others = [name for name in left if name not in (*rated, *(options.raters or ()))]
    by_name = {name: (role_by_name(name, ()) or ("",))[0] for name in rated}
    mostly_blank = {name for name in rated if (coded[name].codes < 0).mean() > 0.5}
    maybe = [name for name in rated if fold(name) in MAYBE_TRUTH and name in mostly_blank]
    truths = [name for name in rated if by_name[name] == KNOWN] or maybe
    found = replace(options, truth=options.truth or next(iter(truths), None))
    if options.raters is not None or options.order is not None:
        return found, others
    systems = [name for name in rated if by_name[name] == SYSTEM]
    raters = [name for name in rated if name not in (*systems, *truths)]
    if len(raters) < FEWEST_RATERS:  # systems are each other's raters
        raters, systems = [*raters, *systems], []
    found = replace(found, system=options.system or tuple(systems))
    if {*left} - {*found.system, found.truth} != {*raters}:  # else raters are found by themselves
        item = None if roles.item == named(columns, *ITEM_COLUMNS) else roles.item
        found = replace(found, raters=tuple(raters), item=options.item or item)
    return found, others
