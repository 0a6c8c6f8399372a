"""Reading options: which column of a table of ratings has which role, and what its labels mean."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from lehner.data.categories import Label

SEVERAL_NAMES = ("system", "raters", "leave_out")


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """How a table of ratings is read, as the arguments of `lehner.read_ratings` say it.

    Parameters
    ----------
    system : tuple of str
        Columns (in a table with a row per rating, raters) that are systems.
    truth, item, counts : str, optional
        Columns of known truths, of the names of items, and of the number of items of each row.
    truth_probability : str, optional
        Column of the probability with which each item was chosen to have its truth found out.
    cluster : str, optional
        Column of the cluster of each item, as the patient of a lesion.
    raters : tuple of str, optional
        Columns of the raters in a table with a row per item, by default all without another role;
        in one with a row per rating, the raters who are read.
    rater, rating, occasion : str, optional
        Columns of a table with a row per rating; another table has none of these.
    repeated : bool
        Whether a rater may rate an item more than once without `occasion`.
    categories : sequence, optional
        All categories in order; by default those that occur, sorted.
    ordered : bool
        Whether the order of the categories is meaningful.
    missing : sequence of str
        Labels of missing ratings, besides blanks, NA, NaN and null.
    fold_case : bool
        Whether labels that differ only in case, white space or Unicode form are merged.
    order : str, optional
        Column of the order in which a pair was shown, or the two endings of the names of columns.
    swapped_back : bool
        With `order`, whether answers to swapped pairs have already been swapped back.
    leave_out : tuple of str
        Columns that do not belong to the ratings.
    """

    system: tuple[str, ...] = ()
    truth: str | None = None
    truth_probability: str | None = None
    item: str | None = None
    cluster: str | None = None
    raters: tuple[str, ...] | None = None
    counts: str | None = None
    rater: str | None = None
    rating: str | None = None
    occasion: str | None = None
    repeated: bool = False
    categories: Sequence[Label] | None = None
    ordered: bool = False
    missing: Sequence[Label] = ()
    fold_case: bool = False
    order: str | None = None
    swapped_back: bool = False
    leave_out: tuple[str, ...] = ()


def options_of(arguments: Mapping[str, Any]) -> ReadingOptions:
    """Reading options among the arguments of a function; None stands for the default."""
    known = [one.name for one in fields(ReadingOptions)]
    given = {name: arguments[name] for name in known if arguments.get(name) is not None}
    names = {name: names_of(given[name]) for name in SEVERAL_NAMES if name in given}
    return ReadingOptions(**(given | names))


def names_of(names: Any) -> tuple[str, ...]:
    """One name, several or none as a tuple of texts.

    Examples
    --------
    >>> names_of("gpt"), names_of(["gpt", "base"]), names_of(2), names_of(None)
    (('gpt',), ('gpt', 'base'), ('2',), ())
    """
    if names is None:
        return ()
    several = isinstance(names, Iterable) and not isinstance(names, str)
    return tuple(map(str, names)) if several else (str(names),)
