"""The role of each column of a table, in a sentence."""

from collections.abc import Iterable, Sequence

from lehner.core.wording import counted

MOST_COLUMNS_SHOWN = 8
MANY_RATERS = 100
FEWEST_TIMES = 10
NAMES_OF_ROWS = ("rater", "rating")


def say_columns(
    raters: Sequence[str],
    *,
    systems: Sequence[str],
    truth: str | None,
    item: str | None,
    ignored: Iterable[str],
    by_rating: tuple[str, str] = NAMES_OF_ROWS,
) -> str:
    """Tell who the raters and the system are, and the role of other columns.

    Parameters
    ----------
    raters : sequence of str
    systems : sequence of str
        The columns, or in a table with a row per rating the raters, that are systems.
    truth, item : str, optional
        The columns of known truths and of the names of items.
    ignored : iterable of str
        The columns that were not read.
    by_rating : tuple of two str
        In a table with a row per rating, the columns of the rater and of the rating.

    Returns
    -------
    str

    Examples
    --------
    >>> say_columns(["Ann", "Bo"], systems=["gpt"], truth=None, item="id", ignored=["time"])
    'raters are Ann, Bo; the system is gpt; items are named by id; ignored: time'
    """
    parts = [f"raters are {_shown(raters)}"]
    if len(systems) == 1:
        parts.append(f"the system is {systems[0]}")
    elif systems:
        parts.append(f"the systems are {_shown(systems)}")
    parts += ["items are numbered" if item is None else f"items are named by {item}"]
    parts += [] if truth is None else [f"known truths are in {truth}"]
    if by_rating != NAMES_OF_ROWS:
        parts.append(
            f"each row is a rating: the rater is in {by_rating[0]}, the rating in {by_rating[1]}"
        )
    left = [name or "(a column without a name)" for name in ignored]
    parts += [f"ignored: {_shown(left)}"] if left else []
    return "; ".join(parts)


def say_if_transposed(n_raters: int, n_rows: int) -> tuple[str, ...]:
    """Warn of a table that has many more columns than rows.

    Examples
    --------
    >>> say_if_transposed(20_000, 10), say_if_transposed(300, 200)
    (('there are 20000 raters of 10 items; if the columns are items, transpose the table',), ())
    """
    if n_raters < MANY_RATERS or n_raters < FEWEST_TIMES * n_rows:
        return ()
    return (
        f"there are {n_raters} raters of {counted(n_rows, 'item')}; if the columns are items, "
        "transpose the table",
    )


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_COLUMNS_SHOWN} more" if len(names) > MOST_COLUMNS_SHOWN else ""
    return ", ".join(names[:MOST_COLUMNS_SHOWN]) + more
