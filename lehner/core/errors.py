"""Bad input: the one exception, and checks that raise it; warnings, with a code for programs."""

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from itertools import batched, islice
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, get_args

# Exit code of a command that Ctrl-C ended.
INTERRUPTED = 130
GAP = re.compile(r"\{(\w*)=?([^}]*)\}")

# A part of a message: text, or options of a function by name, None for a value that the user knows.
type Part = str | Mapping[str, Any]


class Message(str):
    """A text with options in it, which Python shows as keywords and the command as they are typed.

    Data are parts of their own, in which nothing is looked for.

    Parameters
    ----------
    parts : iterable of str and mappings
        In their order; a mapping holds options by name.

    Examples
    --------
    >>> Message(["say so (", {"truth": "gold", "raters": None}, ")"])
    "say so (truth='gold', raters=…)"
    """

    parts: tuple[Part, ...]

    def __new__(cls, parts: Iterable[Part]) -> "Message":
        """Write the options as keywords."""
        parts = tuple(parts)
        shown = (part if isinstance(part, str) else _show_options(part) for part in parts)
        message = super().__new__(cls, "".join(shown))
        message.parts = parts
        return message

    def __getnewargs__(self) -> Any:
        return (self.parts,)


def compose(template: str, *values: Part) -> Message:
    """Compose a message: texts, other messages and options fill the gaps of a template.

    Parameters
    ----------
    template : str
        With gaps {}, and options such as {header=2}, {ordered=True} or {raters}, whose value the
        user knows. Data, in which such a text may occur, are no part of it.
    *values : str or mapping
        One for each gap {}.

    Returns
    -------
    Message

    Examples
    --------
    >>> compose("say whether {} is a rater ({}), or name all ({raters})", "{}", {"truth": "{}"})
    "say whether {} is a rater (truth='{}'), or name all (raters=…)"
    """
    first, *rest = GAP.split(template)
    parts, left = [first], list(values)
    for name, value, text in batched(rest, 3):
        option = {name: {"": None, "True": True}.get(value, value)}
        parts += [*list_parts(option if name else left.pop(0)), text]
    return Message(parts)


def list_parts(text: Part) -> tuple[Part, ...]:
    """List the parts of a message; a plain text is one part."""
    return getattr(text, "parts", (text,))


def _show_options(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={show_value(value)}" for name, value in options.items())


@dataclass(eq=False, repr=False)
class InputError(ValueError):
    """Bad input, described in one line: where it is, what is wrong, and what to do about it.

    Functions raise this error for data or arguments that they cannot use. It is a `ValueError`.

    Parameters
    ----------
    problem : str
        What is wrong, with the offending value.
    remedy : str
        What the user can do about it; `compose` makes one that has options in it. With a change, a
        plain text is its template: it holds no data, and the options stand for the gap {}.
    file : str or Path, optional
        File the input came from.
    row : int, optional
        Line of the file (the header is row 1), or position for data in memory.
    column : str, optional
        Name of the column.
    change : mapping, optional
        The remedy as options of `lehner.data.reading.Reading`, where it proposes them.

    Examples
    --------
    >>> print(InputError("'X' is not a category", "add it", file="r.csv", row=3, column="Ann"))
    r.csv, row 3, column 'Ann': 'X' is not a category; add it
    >>> print(InputError("it has gold labels", compose("say so ({})", {"truth": "gold"})))
    it has gold labels; say so (truth='gold')
    """

    problem: str
    remedy: str
    _: KW_ONLY
    file: str | Path | None = None
    row: int | None = None
    column: str | None = None
    change: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Put the options that are proposed into a remedy that is a template."""
        if self.change and not isinstance(self.remedy, Message):
            self.remedy = compose(self.remedy, self.change)

    def __str__(self) -> str:
        locations = {"{}": self.file, "row {}": self.row, "column {!r}": self.column}
        where = ", ".join(text.format(part) for text, part in locations.items() if part is not None)
        text = compose("{}; {}", self.problem, self.remedy)
        parts = compose("{}: {}", where, text).parts if where else text.parts
        return Message(SPACE.sub(" ", x) if isinstance(x, str) else x for x in parts)


class LostWorkerError(InputError):
    """A process that did work for others died, or its computer could not be reached."""


class WrongTypeError(InputError, TypeError):
    """A function of the user's returns something of another type."""


def show_value(value: Any) -> str:
    """Write the value of an option, a long list as an ellipsis.

    Examples
    --------
    >>> show_value(("Ann", "Bo")), show_value("Ann"), show_value(tuple("abcdefghij"))
    ("['Ann', 'Bo']", "'Ann'", '…')
    """
    several = isinstance(value, tuple | list)
    if value is None or (several and len(value) > MOST_VALUES_SHOWN):
        return "…"
    return repr(list(value) if several else value)


class DataWarning(UserWarning):
    """Data were read, but look as if something else was meant."""


SPACE = re.compile(r"\s+")
SUM_TOLERANCE = 1e-6
MOST_CHOICES_SHOWN, MOST_VALUES_SHOWN = 30, 8


def make_error(name: str, value: Any, remedy: str) -> InputError:
    """Make the error for an argument."""
    return InputError(f"{name} is {value!r}", remedy)


def check_number(name: str, value: Any, lowest: float, highest: float, remedy: str = "") -> float:
    """Raise an InputError unless a value is a number between two others, these included."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not lowest <= float(value) <= highest:
        raise make_error(name, value, remedy or f"give a number between {lowest:g} and {highest:g}")
    return float(value)


def check_probability(name: str, value: Any) -> float:
    """Raise an InputError unless a value is a number between 0 and 1."""
    return check_number(name, value, 0, 1)


def check_level(level: Any, name: str = "level") -> float:
    """Raise an InputError unless the probability of an interval is from 0.001 to 0.999999."""
    remedy = "give a number between 0 and 1, from 0.001 to 0.999999"
    return check_number(name, level, 0.001, 0.999999, remedy)


def check_whole_number(name: str, value: Any, least: int) -> int:
    """Raise an InputError unless a value is a whole number of at least some size."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < least:
        raise make_error(name, value, f"give a whole number, {least} or more")
    return int(value)


def check_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Raise an InputError unless a value is one of the choices."""
    if value not in choices:
        raise make_error(name, value, f"choose among {', '.join(choices)}")
    return str(value)


def find[T](kind: str, name: Any, things: Mapping[str, T]) -> T:
    """Find something by its name, or raise an InputError that suggests similar names."""
    if name in things:
        return things[name]
    raise InputError(f"there is no {kind} {name!r}", suggest(name, things))


def list_few(things: Iterable[object], most: int) -> str:
    """List things, of many only the first.

    Examples
    --------
    >>> list_few("abc", 3), list_few("abcd", 3)
    ('a, b, c', 'a, b, c, …')
    """
    shown = [str(thing) for thing in islice(things, most + 1)]
    if len(shown) > most:
        shown[-1] = "…"
    return ", ".join(shown)


def suggest(name: object, names: Iterable[str]) -> str:
    """Suggest a similar name, or list the names there are.

    Examples
    --------
    >>> suggest("gtp", ["gpt", "Ann"]), suggest("Claude", ["gpt", "Ann"])
    ("did you mean 'gpt'?", 'choose among gpt, Ann')
    """
    by_fold = {entry.casefold(): entry for entry in reversed(list(names))}
    if not by_fold:
        return "there is none"
    near = difflib.get_close_matches(str(name).casefold(), by_fold, n=1)
    if near:
        return f"did you mean {by_fold[near[0]]!r}?"
    return f"choose among {list_few(names, MOST_CHOICES_SHOWN)}"


def check_numbers(name: str, values: Any) -> tuple[float, ...]:
    """Raise an InputError unless values are a sequence of numbers."""
    try:
        if isinstance(values, str):
            raise TypeError
        return tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise make_error(name, values, "give numbers, as in [0.5, 0.6]") from None


def check_proportions(name: str, values: Any, n: int) -> tuple[float, ...]:
    """Raise an InputError unless values are n numbers, none negative, that sum to 1."""
    numbers = check_numbers(name, values)
    right = len(numbers) == n and min(numbers) >= 0 and abs(sum(numbers) - 1) < SUM_TOLERANCE
    if not right:
        raise make_error(name, values, f"give {n} numbers, 0 or more, that sum to 1")
    return numbers


# Warnings


type Severity = Literal["changes", "limits", "note"]

# A warning changes the conclusion, limits it, or is good to know.
SEVERITIES: tuple[Severity, ...] = get_args(Severity.__value__)


@dataclass(frozen=True)
class Warning:
    """What the user should know before using a result; `str` gives the text.

    Parameters
    ----------
    code : str
        What it is about, for programs: see `lehner.core.errors.CODES`.
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


def sort_warnings(warnings: Iterable[Warning]) -> list[Warning]:
    """Order warnings, those that change the conclusion first, and each once."""
    return sorted(dict.fromkeys(warnings), key=lambda warning: SEVERITIES.index(warning.severity))


def name_warnings(warnings: Iterable[Warning], *, several: bool = False) -> list[str]:
    """Write warnings as lines, those that change the conclusion first, equal texts once.

    Parameters
    ----------
    warnings : iterable of Warning
    several : bool
        Whether the name of the system stands beside that of the method.

    Returns
    -------
    list of str

    Examples
    --------
    >>> names = ("one_coin", "algebraic")
    >>> name_warnings([Warning("starts", "1 of 1", method=name) for name in names])
    ['one_coin, algebraic: 1 of 1']
    """
    subjects: dict[str, list[str]] = {}
    for warning in sort_warnings(warnings):
        subject = " of ".join(filter(None, (warning.method, warning.system if several else "")))
        subjects.setdefault(warning.text, []).append(subject)
    lines = []
    for text, names in subjects.items():
        named = ", ".join(filter(None, dict.fromkeys(names)))
        lines.append(compose("{}: {}", named, text) if named else text)
    return lines


def list_cautions(warnings: Iterable[Warning], severity: Severity = "changes") -> list[str]:
    """Write the warnings of a severity as lines that begin with "Caution"."""
    grave = (warning for warning in warnings if warning.severity == severity)
    return [compose("Caution: {}", text) for text in name_warnings(grave)]


def write_warnings(warnings: Iterable[Warning]) -> str:
    """Write warnings as JSON, as a file of draws keeps them."""
    return json.dumps([asdict(x) | {"text": list_parts(x.text)} for x in warnings])


def read_warnings(text: str) -> tuple[Warning, ...]:
    """Read what `write_warnings` wrote."""
    return tuple(Warning(**x | {"text": Message(x["text"])}) for x in json.loads(text))


FILE = Path(__file__).with_name("warnings.toml")
MEANINGS = tomllib.loads(FILE.read_text(encoding="utf-8"))
# For each code, its severity, and what it means and what to do about it.
CODES: dict[str, tuple[Severity, str]] = {
    code: (severity, meaning)
    for severity in SEVERITIES
    for code, meaning in MEANINGS[severity].items()
}
