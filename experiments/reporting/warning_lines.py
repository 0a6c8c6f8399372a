"""Warnings as lines, those that change the conclusion first."""

from collections.abc import Iterable

from lehner.core.warning import SEVERITIES, Warning


def warning_lines(said: Iterable[tuple[str, Warning]]) -> list[str]:
    """Write warnings as lines by severity, and warnings of one code together.

    Parameters
    ----------
    said : iterable of tuple
        Who gives each warning, as the name of a method, and the warning.

    Returns
    -------
    list of str
        A line for each text, after the names of all who give it.

    Examples
    --------
    >>> from lehner.core.warning import warn
    >>> draws, alone = warn("divergences", "3 draws diverged"), warn("starts", "1 of 1")
    >>> warning_lines([("tap", alone), ("pooled", draws), ("tap", draws)])
    ['pooled, tap: 3 draws diverged', 'tap: 1 of 1']
    """
    by_code: dict[str, dict[Warning, list[str]]] = {}
    for name, warning in said:
        names = by_code.setdefault(warning.code, {}).setdefault(warning, [])
        names.extend([] if name in names else [name])
    grouped = [pair for same_code in by_code.values() for pair in same_code.items()]
    grouped.sort(key=lambda pair: SEVERITIES.index(pair[0].severity))
    return [f"{', '.join(names)}: {warning}" for warning, names in grouped]
