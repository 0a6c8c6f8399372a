r"""Text that people read: numbers and names in one format, options as they are typed, lines.

A name in a file of ratings may hold control characters and escape sequences, with which a terminal
would change colours, move its cursor or set its title. All that the command prints goes through
`print_lines`, `say` or `make_line`, which show them, as in `\x1b`.
"""

import csv
import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Container, Iterable, Mapping
from decimal import Decimal
from io import StringIO
from math import isnan
from numbers import Integral
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TextIO

from lehner.core.errors import list_parts, show_value
from lehner.core.lazy import load

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text
# Loaded late, because some commands print nothing by it.
rich_console, rich_text, rich_cells = map(load, ("rich.console", "rich.text", "rich.cells"))

# Stands for a number that is not known.
DASH = "–"
# Control characters but for tab and line feed; line separators; marks that turn text around.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
END_OF_NAME = 6
# A number that is cut would be another number: a narrower terminal wraps lines itself.
LEAST_WIDTH = 60
WIDTH_OF_FILES = 100
# Options that are not called as the argument.
OPTION_OF = {"n_categories": "categories", "n_raters": "raters"}


def to_decimal(value: float | None, digits: int = 3, *, sign: bool = False) -> str:
    """Write a number with a fixed number of decimals.

    Parameters
    ----------
    value : float or None
    digits : int
        Decimals, 0 or more.
    sign : bool
        Whether a positive number has a plus, as a difference has.

    Returns
    -------
    str
        A dash for None and NaN, ∞ for infinity. A number that rounds to zero has no sign.

    Examples
    --------
    >>> to_decimal(10.25, 2), to_decimal(-20), to_decimal(None), to_decimal(0.0304, sign=True)
    ('10.25', '-20.000', '–', '+0.030')
    >>> to_decimal(-0.0004), to_decimal(1e-17, sign=True)
    ('0.000', '0.000')
    """
    if value is None or isnan(value):
        return DASH
    text = f"{value:z.{digits}f}".replace("inf", "∞")
    return f"+{text}" if sign and value > 0 and text.strip("0.") else text


def format_number(value: float) -> str:
    """Write a count as it is, and any other number with three decimals.

    Examples
    --------
    >>> format_number(3), format_number(0.25)
    ('3', '0.250')
    """
    return str(value) if isinstance(value, Integral) else to_decimal(value)


def to_short(value: float | None, digits: int = 3) -> str:
    """Write a number as the tables of the field do, without the zero before the point.

    Parameters
    ----------
    value : float or None
    digits : int
        Decimals, 0 or more.

    Returns
    -------
    str
        As `decimal` gives it, with a true minus.

    Examples
    --------
    >>> to_short(0.25, 2), to_short(-0.0304), to_short(float("nan"))
    ('.25', '−.030', '–')
    >>> to_short(10.25, 2), to_short(-20, 2), to_short(-0.0004)
    ('10.25', '−20.00', '.000')
    """
    text = to_decimal(value, digits)
    minus, size = ("−", text[1:]) if text.startswith("-") else ("", text)
    return minus + (size[1:] if size.startswith("0.") else size)


def with_interval(
    estimate: float | None,
    lower: float | None,
    upper: float | None,
    write: Callable[[float | None], str] = to_decimal,
) -> str:
    """Write an estimate with the ends of its interval, where it has one.

    Parameters
    ----------
    estimate, lower, upper : float or None
    write : callable
        From a number to its text.

    Returns
    -------
    str

    Examples
    --------
    >>> with_interval(0.9, 0.85, 0.94), with_interval(0.9, None, None)
    ('0.900 [0.850, 0.940]', '0.900')
    """
    if estimate is None or lower is None or upper is None:
        return write(estimate)
    return f"{write(estimate)} [{write(lower)}, {write(upper)}]"


def format_p(value: float | None, digits: int = 3) -> str:
    """Write a probability or a p-value, which is never said to be 0 or 1.

    Parameters
    ----------
    value : float or None
        From 0 to 1.
    digits : int
        Decimals, 1 or more.

    Returns
    -------
    str

    Examples
    --------
    >>> format_p(0.0431), format_p(0.0004), format_p(1.0, 2)
    ('0.043', '< .001', '> .99')
    """
    least = 10.0**-digits
    if value is not None and value < least:
        return f"< {to_short(least, digits)}"
    if value is not None and value > 1 - least:
        return f"> {to_short(1 - least, digits)}"
    return to_decimal(value, digits)


def write_p(value: float) -> str:
    """Write a p-value with its letter, as it stands in a sentence.

    Examples
    --------
    >>> write_p(0.0431), write_p(1e-17)
    ('p = 0.043', 'p < .001')
    """
    shown = format_p(value)
    return f"p {shown}" if shown[0] in "<>" else f"p = {shown}"


def to_percent(proportion: float, digits: int | None = None) -> str:
    """Write a proportion in percent.

    Parameters
    ----------
    proportion : float
    digits : int, optional
        Decimals of the percentage; by default all that the number has, as the level of an interval
        must be written.

    Returns
    -------
    str
        A proportion that is neither 0 nor 1 is not rounded to them.

    Examples
    --------
    >>> to_percent(0.9), to_percent(0.995), to_percent(0.07)
    ('90%', '99.5%', '7%')
    >>> to_percent(0.254, 0), to_percent(0.004, 0), to_percent(0.9999, 1), to_percent(1, 0)
    ('25%', '< 1%', '> 99.9%', '100%')
    """
    exact = Decimal(repr(float(proportion))) * 100
    if digits is None:
        text = f"{exact:f}"
        return f"{text.rstrip('0').rstrip('.') if '.' in text else text}%"
    text, least = to_decimal(float(exact), digits), Decimal(1).scaleb(-digits)
    if proportion > 0 and float(text) == 0:
        return f"< {least}%"
    if proportion < 1 and float(text) == 100:
        return f"> {100 - least}%"
    return f"{text}%"


def pluralise(number: float, singular: str, plural: str = "") -> str:
    """Write a number with its noun.

    Parameters
    ----------
    number : int or float
    singular : str
    plural : str, optional
        By default the singular with an s.

    Returns
    -------
    str

    Examples
    --------
    >>> pluralise(1, "item"), pluralise(0, "item"), pluralise(2, "category", "categories")
    ('1 item', '0 items', '2 categories')
    """
    shown = f"{number:.10g}" if isinstance(number, float) else str(number)
    return f"{shown} {singular if number == 1 else plural or singular + 's'}"


def count_categories(number: int, *, ordered: bool = False) -> str:
    """Write a number of categories.

    Examples
    --------
    >>> count_categories(1), count_categories(3, ordered=True)
    ('1 category', '3 ordered categories')
    """
    order = "ordered " if ordered else ""
    return pluralise(number, f"{order}category", f"{order}categories")


def name_raters(n_raters: int) -> list[str]:
    """Name raters "Rater 1", "Rater 2" and so on."""
    return [f"Rater {j + 1}" for j in range(n_raters)]


def escape(text: str) -> str:
    r"""Write control characters as they are escaped in Python; tabs and lines stay.

    Examples
    --------
    >>> print(escape("\x1b[31mred\x1b[0m"))
    \x1b[31mred\x1b[0m
    """
    return CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def escape_line(text: str) -> str:
    r"""Write control characters, tabs and ends of lines as they are escaped in Python.

    Examples
    --------
    >>> print(escape_line("a\nb\u202ec"))
    a\nb\u202ec
    """
    return escape(text).replace("\n", "\\n").replace("\t", "\\t")


def to_options(text: str) -> str:
    """Write a message of the library with its options as they are typed.

    Examples
    --------
    >>> from lehner.core.errors import compose
    >>> options = {"truth": "gold", "missing": ["-"], "keep_totals": True, "raters": None}
    >>> to_options(compose("'{}' may be read otherwise ({})", "rating='a'", options))
    "'rating='a'' may be read otherwise (--truth gold --missing=- --keep-totals --raters)"
    """
    parts = list_parts(text)
    return "".join(part if isinstance(part, str) else _write_options(part) for part in parts)


def name_flag(parameter: str) -> str:
    """Name the option of a parameter, as `--keep-totals`."""
    return f"--{parameter.replace('_', '-')}"


def name_option(text: str, options: Container[str]) -> str:
    """Name the option in "level is 2", what is wrong with an argument, if it is one of these.

    Examples
    --------
    >>> name_option("n_raters is 1; give 2 or more", ["raters"])
    '--raters is 1; give 2 or more'
    """
    argument, is_, value = text.partition(" is ")
    name = OPTION_OF.get(argument, argument)
    return f"{name_flag(name)}{is_}{value}" if name in options else text


def _write_options(options: Mapping[str, Any]) -> str:
    words: list[str] = []
    for name, value in options.items():
        if value is False:
            words += ["without", name_flag(name)]
        elif show_value(value) == "…":
            words.append(name_flag(name))
        else:
            words += map(quote, write_option(name, value))
    return " ".join(words)


def write_option(name: str, value: Any) -> list[str]:
    """Write an option of the command as words, none if it has no value.

    Examples
    --------
    >>> write_option("keep_totals", True), write_option("raters", ["Ann", "Lee, Bo"])
    (['--keep-totals'], ['--raters', 'Ann,"Lee, Bo"'])
    """
    option = name_flag(name)
    if isinstance(value, list | tuple):
        text = StringIO()
        numbers = [f"{x:g}" if isinstance(x, float) else x for x in value]
        csv.writer(text, lineterminator="").writerow(numbers)
        value = text.getvalue()
    if not value or value is True:
        return [option] * bool(value)
    value = str(value)
    # A label may begin with a hyphen, as if it were an option.
    return [f"{option}={value}"] if value.startswith("-") else [option, value]


def quote(text: str) -> str:
    """Quote a text for a shell, with double quotes where it has single ones.

    Examples
    --------
    >>> print(quote("name == 'a'"))
    "name == 'a'"
    """
    return f'"{text}"' if "'" in text and not set(text) & set('"$`\\\\!') else shlex.quote(text)


def write_command(command: str, data: str, words: Iterable[str] = ()) -> str:
    """Write a command about a file, so that a shell runs it and nothing else.

    Examples
    --------
    >>> print(write_command("compare", "-my file.csv; ls", ["--good", "$(ls)"]))
    lehner compare './-my file.csv; ls' --good '$(ls)'
    """
    # A name may begin with a hyphen, as if it were an option.
    path = f"./{data}" if data.startswith("-") else data
    return " ".join(map(quote, ["lehner", command, path, *words]))


def write_data_lines(notes: Iterable[str]) -> list[str]:
    """Write what is to be known of the data as lines above a command's results."""
    return [f"Data: {to_options(note)}" for note in notes]


def say(text: object) -> None:
    """Write a line to standard error; control characters in it are shown, as in `print_lines`."""
    print_lines([str(text)], sys.stderr)


def print_lines(lines: Iterable[str], stream: TextIO | None = None) -> None:
    r"""Print lines to standard output, or to another stream, with control characters escaped.

    Examples
    --------
    >>> print_lines(["\x1b[31mred"])
    \x1b[31mred
    """
    print(escape("\n".join(lines)), file=stream)


def to_json(value: object) -> str:
    r"""Write JSON that a terminal can show, with the options of messages as they are typed.

    Examples
    --------
    >>> print(to_json({"a": "\x7f"}))
    {
      "a": "\u007f"
    }
    """
    text = json.dumps(_show_messages(value), indent=2, allow_nan=False)
    return text.replace("\x7f", r"\u007f")


def _show_messages(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _show_messages(x) for name, x in value.items()}
    if isinstance(value, list | tuple):
        return list(map(_show_messages, value))
    return to_options(value) if isinstance(value, str) else value


def measure_width() -> int:
    """Give the width of the terminal, or of text that is no terminal's."""
    return max(shutil.get_terminal_size((WIDTH_OF_FILES, 0)).columns, LEAST_WIDTH)


def make_console(**options: Any) -> "Console":
    """Make a rich console on standard output."""
    options = {"highlight": False, "width": measure_width()} | options
    return rich_console.Console(**options)


def print_wide(lines: "list[Text]") -> None:
    """Print to standard output, its text wrapped on a terminal and in long lines in a file."""
    console = make_console(soft_wrap=not sys.stdout.isatty())
    with console.capture() as captured:
        console.print(*lines, sep="\n")
    sys.stdout.write(captured.get())


def make_line(text: str = "", style: str = "") -> "Text":
    """Make a line for a rich console."""
    return rich_text.Text(escape_line(to_options(text)), style=style)


def render_lines(content: "RenderableType", width: int) -> "list[Text]":
    """Lay something of rich out in lines of a width, without blanks at their ends."""
    lines = []
    for segments in make_console(width=width).render_lines(content, pad=False):
        parts = ((segment.text, segment.style or "") for segment in segments)
        lines.append(rich_text.Text.assemble(*parts))
        lines[-1].rstrip()
    return lines


def make_paragraphs(
    texts: Iterable[str], width: int, most: int = 2, style: str = ""
) -> "list[list[Text]]":
    """Make at most so many lines of each text, the later ones indented; of none a blank line."""
    options: Any = {"max_lines": most, "placeholder": " …", "subsequent_indent": "  "}
    parts = [wrap(escape_line(to_options(text)), width, **options) or [""] for text in texts]
    return [[make_line(line, style) for line in lines] for lines in parts]


def cut(name: object, most: int = 22) -> str:
    """Cut a name in its middle: long names often differ at their ends."""
    text = escape_line(str(name))
    if rich_cells.cell_len(text) <= most:
        return text
    begin, end = make_line(text), text[-END_OF_NAME:]
    begin.truncate(most - rich_cells.cell_len(end), overflow="ellipsis")
    return f"{begin}{end}"
