"""Earlier studies of raters and systems: counts of answers by true category."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.errors import InputError, check_number, suggest
from lehner.core.lazy import optimize, special
from lehner.core.text import first_few
from lehner.data.categories import Label
from lehner.data.ratings import Ratings
from lehner.performance.positive import find_positive
from lehner.reading.read import read_columns

LEVEL = 0.95
MOST_ITEMS = 1e9
FORM = "write it as in sensitivity .85 (.80 to .90) and specificity .92 (.88 to .95)"
NUMBER = r"(\d*\.?\d+)"
MEASURE = re.compile(rf"(sensitivity|specificity)\s+{NUMBER}\s*\(\s*{NUMBER}\s+to\s+{NUMBER}\s*\)")
BEGIN = re.compile(r"\s*(sensitivity|specificity)\b")


def read_studies(
    studies: Mapping[str, Any], ratings: Ratings, positive: Label | None = None
) -> dict[str, Floats]:
    """Read what earlier studies found of raters and systems.

    Parameters
    ----------
    studies : mapping of str to array_like, str or Path
        By the name of a rater or system: an array of shape (n_categories, n_categories), how many
        items of each true category (row) got each answer (column); a file with such a table, whose
        first column names the true categories; or, with two categories, a text as "sensitivity .85
        (.80 to .90) and specificity .92 (.88 to .95)", with intervals of 95%.
    ratings : Ratings
        Whose raters, systems and categories these are.
    positive : str or int, optional
        The positive category of two, as `find_positive` takes it.

    Returns
    -------
    dict of str to ndarray, shape (n_categories, n_categories)
        Counts by true category and answer.

    Raises
    ------
    InputError
        Naming rater, file, row, column, value and remedy.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.Ratings([[0, 0], [1, 1]], ["no", "yes"], raters=["ana", "ben"])
    >>> read_studies({"ana": [[90, 10], [6, 34]]}, ratings)["ana"].tolist()
    [[90.0, 10.0], [6.0, 34.0]]
    >>> read_studies({"ana": "sensitivity .85 (.80 to .90)"}, ratings)["ana"].round().tolist()
    [[0.0, 0.0], [29.0, 165.0]]
    """
    names = [str(name) for name in (*ratings.raters, *ratings.systems)]
    for name in studies:
        if name not in names:
            raise InputError(f"there is no rater or system {name!r}", suggest(name, names))
    return {name: _counts(name, study, ratings, positive) for name, study in studies.items()}


def _counts(name: str, study: Any, ratings: Ratings, positive: Label | None) -> Floats:
    if isinstance(study, str) and BEGIN.match(study):
        return _of_text(study, ratings, positive)
    file = study if isinstance(study, str | Path) else None
    if file is not None:
        study = _read_counts(Path(file), ratings.categories)
    k = ratings.n_categories
    try:
        counts = np.asarray(study, dtype=float)
    except (TypeError, ValueError):
        counts = np.array(np.nan)
    if counts.shape != (k, k) or not (np.isfinite(counts) & (counts >= 0)).all():
        raise InputError(
            f"the counts of the earlier study of {name!r} are no table of numbers, 0 or more",
            f"give {k} rows (true categories) and {k} columns (answers)",
            file=file,
        )
    return counts


def _read_counts(file: Path, categories: Sequence[Label]) -> Floats:
    """Read a row for each true category, its name first, and a column for each answer."""
    names = list(map(str, categories))
    with read_columns(file) as columns:
        first, *answers = columns
        truths = columns[first].texts.tolist()
        if sorted(answers) != sorted(names) or sorted(truths) != sorted(names):
            header = first_few([first, *names], 4)
            raise InputError(
                "its rows and columns are not the categories of the ratings",
                f"give each category a row (truth) and a column (answer), as in {header}",
            )
        rows = [truths.index(name) for name in names]
        return np.column_stack([columns[name].numbers[rows] for name in names])


def _of_text(text: str, ratings: Ratings, positive: Label | None) -> Floats:
    """Read sensitivity and specificity with their intervals."""
    measures = MEASURE.findall(text)
    rest = MEASURE.sub("", text).replace("and", "").strip(" ,;")
    if rest or not measures or len({name for name, *_ in measures}) < len(measures):
        raise InputError(f"{text!r} is not read as sensitivity and specificity", FORM)
    category = find_positive(ratings, positive)
    if category is None:
        raise InputError(
            f"{text!r} is said of two categories, and there are {ratings.n_categories}",
            "give a table of counts",
        )
    counts = np.zeros((2, 2))
    place = ratings.categories.index(category.name)
    for name, *numbers in measures:
        row = place if name == "sensitivity" else 1 - place
        counts[row, row], counts[row, 1 - row] = matched_beta(*map(float, numbers))
    return counts


def matched_beta(mean: float, lower: float, upper: float) -> tuple[float, float]:
    """Find the Beta distribution of a mean whose central 95% interval is as wide as one given.

    Parameters
    ----------
    mean : float
        Between the ends of the interval.
    lower, upper : float
        Ends of the interval, between 0 and 1.

    Returns
    -------
    successes, failures : float

    Raises
    ------
    InputError
        If the numbers are not in this order, or no such distribution counts at least 2 items.

    Examples
    --------
    >>> [round(number, 1) for number in matched_beta(0.5, 0.4, 0.6)]
    [47.3, 47.3]
    """
    check_number("lower", lower, 0, mean, f"{FORM}: an interval is around its number")
    check_number("upper", upper, mean, 1, f"{FORM}: an interval is around its number")
    ends = np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])

    def too_wide(log_n: float) -> float:
        n = np.exp(log_n)
        return float(
            np.diff(special.betaincinv(n * mean, n * (1 - mean), ends))[0] - (upper - lower)
        )

    # The width need not fall with n where the mean is near 0 or 1, so the largest n is looked for.
    steps = np.linspace(np.log(MOST_ITEMS), np.log(2.0), 200)
    wide = [0 < mean < 1 and too_wide(step) >= 0 for step in steps]
    if wide[0] or not any(wide):
        raise InputError(
            f"no Beta distribution has the mean {mean:g} and an interval as wide as from "
            f"{lower:g} to {upper:g}",
            "check the numbers, or give a table of counts",
        )
    first = wide.index(True)
    n = float(np.exp(optimize.brentq(too_wide, steps[first], steps[first - 1])))
    return n * mean, n * (1 - mean)
