"""Warnings: what the user should know before using a result, with a code for programs."""

import json
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

from lehner.core.errors import check_choice, find

type Severity = Literal["changes", "limits", "note"]

SEVERITIES: tuple[Severity, ...] = get_args(Severity.__value__)
"""A warning changes the conclusion, limits it, or is good to know."""


@dataclass(frozen=True)
class Warning:
    """What the user should know before using a result; `str` gives the text.

    Parameters
    ----------
    code : str
        What it is about, for programs: see `lehner.core.warning.CODES`.
    text : str
        What was found in these data, in a sentence.
    severity : {"changes", "limits", "note"}
        Whether it changes the conclusion, limits it, or is good to know.
    system, method : str
        Which system and method it concerns; empty if it concerns all of them.
    about : str
        The question whose numbers it concerns, as "raters"; empty for the estimate itself.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.Ratings([[0, 1], [1, 0]], ["no", "yes"], system=[0, 1])
    >>> (warning,) = lehner.estimate_algebraic(ratings).warnings
    >>> warning.code, warning.severity
    ('agreement-at-chance', 'changes')
    """

    code: str
    text: str
    severity: Severity = "note"
    system: str = ""
    method: str = ""
    about: str = ""

    def __post_init__(self) -> None:
        """Raise an InputError if there is no such severity."""
        if self.severity not in SEVERITIES:
            check_choice("severity", self.severity, SEVERITIES)

    def __str__(self) -> str:
        return self.text


def warn(code: str, text: str) -> Warning:
    """Make a warning with a code of `CODES`, which gives its severity.

    Examples
    --------
    >>> warn("not-converged", "EM had not converged after 10 steps").severity
    'changes'
    """
    severity, _ = CODES.get(code) or find("warning", code, CODES)
    return Warning(code, text, severity)


def by_severity(warnings: Iterable[Warning]) -> list[Warning]:
    """Order warnings, those that change the conclusion first, and each once."""
    return sorted(dict.fromkeys(warnings), key=lambda warning: SEVERITIES.index(warning.severity))


def warnings_to_json(warnings: Iterable[Warning]) -> str:
    """Write warnings as JSON, as a file of draws keeps them."""
    return json.dumps([asdict(warning) for warning in warnings])


def warnings_from_json(text: str) -> tuple[Warning, ...]:
    """Read what `warnings_to_json` wrote."""
    return tuple(Warning(**fields) for fields in json.loads(text))


FILE = Path(__file__).with_name("warnings.toml")
MEANINGS = tomllib.loads(FILE.read_text(encoding="utf-8"))
CODES: dict[str, tuple[Severity, str]] = {
    code: (severity, meaning)
    for severity in SEVERITIES
    for code, meaning in MEANINGS[severity].items()
}
"""For each code, its severity, and what it means and what to do about it."""
