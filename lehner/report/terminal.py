r"""The terminal: names that it shows rather than obeys, options as they are typed, and lines.

A name in a file of ratings may hold control characters and escape sequences, with which a terminal
would change colours, move its cursor or set its title. All that the command prints goes through
`print_lines`, `say` or `make_line`, which show them, as in `\x1b`.
"""

import csv
import json
import shlex
import shutil
import sys
from collections.abc import Container, Iterable, Mapping
from io import StringIO
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TextIO

from lehner.core.errors import list_parts, show_value
from lehner.core.lazy import load
from lehner.core.text import escape, escape_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from lehner import Ratings

# Loaded late, because some commands print nothing by it.
rich_console, rich_text, rich_cells = map(load, ("rich.console", "rich.text", "rich.cells"))

END_OF_NAME = 6
# A number that is cut would be another number: a narrower terminal wraps lines itself.
LEAST_WIDTH = 60
WIDTH_OF_FILES = 100
# Options that are not called as the argument.
OPTION_OF = {"n_categories": "categories", "n_raters": "raters"}


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


def list_data_notes(ratings: "Ratings") -> list[str]:
    """List what is to be known of the data, in terms of the command's options."""
    return [to_options(note) for note in ratings.notes]


def write_data_lines(ratings: "Ratings") -> list[str]:
    """Write what is to be known of the data as lines above a command's results."""
    return [f"Data: {note}" for note in list_data_notes(ratings)]


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
    for segments in rich_console.Console(width=width).render_lines(content, pad=False):
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
