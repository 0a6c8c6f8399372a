r"""The terminal: text that it shows rather than obeys, how wide it is, and streams that fail.

A name in a file of ratings may hold control characters and escape sequences, with which a terminal
would change colours, move its cursor or set its title. All that the command prints goes through the
streams of this file, on which they are seen, as in `\x1b`.
"""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.segment import Segment
    from rich.table import Table
    from rich.text import Text

NARROWEST, END_OF_NAME = 18, 6
LEAST_WIDTH = 60
"""A number that is cut would be another number: a narrower terminal wraps lines itself."""
WIDTH_OF_FILES = 100
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters but for tab and line feed; line separators; marks that turn text around."""


def visible(text: str) -> str:
    r"""Write control characters as they are escaped in Python; tabs and lines stay.

    Examples
    --------
    >>> print(visible("\x1b[31mred\x1b[0m"))
    \x1b[31mred\x1b[0m
    """
    return CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    r"""Write control characters, tabs and ends of lines as they are escaped in Python.

    Examples
    --------
    >>> print(one_line("a\nb\u202ec"))
    a\nb\u202ec
    """
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


class _Shown:
    """A stream on which control characters are seen; `styled` is the same, and obeys them.

    Once it failed it takes no more, so that what else is to be done is done.
    """

    def __init__(self, stream: TextIO, *, escaped: bool = True) -> None:
        self._stream = stream
        self.styled = _Shown(stream, escaped=False) if escaped else self
        self.error: OSError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        if self.styled is not self:
            return self.styled.write(visible(text))
        self._try(self._stream.write, text)
        return len(text)

    def flush(self) -> None:
        self.styled._try(self._stream.flush)

    def _try(self, function: Callable[..., object], *arguments: str) -> None:
        try:
            function(*arguments)
        except OSError as error:
            self.error = self.error or error
            # What is still in the buffer would fail again when Python ends.
            with suppress(OSError):
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, self._stream.fileno())
                os.close(null)


@contextmanager
def standard_streams() -> Iterator[None]:
    """Let standard output and standard error show control characters, and go on if they fail."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, _Shown(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def failure_of_output() -> OSError | None:
    """Write out what waits for standard output, and give the reason if it could not be written."""
    sys.stdout.flush()
    return getattr(styled(sys.stdout), "error", None)


def styled(stream: TextIO) -> TextIO:
    """Give the stream that obeys control characters, of one on which they are seen."""
    return getattr(stream, "styled", stream)


def print_data(text: str) -> None:
    """Print data: as they are into a file or a pipe, as a terminal can show them on a terminal."""
    (sys.stdout if sys.stdout.isatty() else styled(sys.stdout)).write(text)


def json_text(value: object) -> str:
    r"""Write JSON that a terminal can show.

    Examples
    --------
    >>> print(json_text({"a": "\x7f"}))
    {
      "a": "\u007f"
    }
    """
    return json.dumps(value, indent=2, allow_nan=False).replace("\x7f", r"\u007f")


def terminal_width() -> int:
    """Width of the terminal, or of text that is no terminal's."""
    return max(shutil.get_terminal_size((WIDTH_OF_FILES, 0)).columns, LEAST_WIDTH)


def console(stream: TextIO, **options: Any) -> "Console":
    """Rich console on a standard stream."""
    from rich.console import Console

    return Console(file=styled(stream), highlight=False, width=terminal_width(), **options)


def line(text: str = "", style: str = "") -> "Text":
    """Line for a rich console."""
    from rich.text import Text

    return Text(one_line(text), style=style)


def render_lines(content: "Table", width: int) -> "list[list[Segment]]":
    """Lay a rich table out in lines of a width."""
    from rich.console import Console

    return Console(width=width).render_lines(content, pad=False)


def print_wide(content: "Group") -> None:
    """Print to standard output, its text wrapped on a terminal and in long lines in a file."""
    console(sys.stdout, soft_wrap=not sys.stdout.isatty()).print(content)


def wrapped(text: str, width: int, most: int) -> list[str]:
    """Fill at most so many lines, the later ones indented; what is left out becomes an ellipsis.

    Parameters
    ----------
    text : str
    width, most : int
        Of a line, and number of lines.

    Returns
    -------
    list of str
    """
    from textwrap import wrap

    return wrap(text, width, max_lines=most, placeholder=" …", subsequent_indent="  ")


def cut(name: object, most: int = 22) -> str:
    """Cut a name in its middle: long names often differ at their ends."""
    from rich.cells import cell_len

    text = one_line(str(name))
    if cell_len(text) <= most:
        return text
    begin, end = line(text), text[-END_OF_NAME:]
    begin.truncate(most - cell_len(end), overflow="ellipsis")
    return f"{begin}{end}"
