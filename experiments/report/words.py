"""What the library says, with the command's options in place of Python's arguments."""

import re
import shlex
from collections.abc import Container, Iterable
from dataclasses import fields
from typing import TYPE_CHECKING

from lehner.data.reading import Reading

if TYPE_CHECKING:
    from lehner import Ratings

OTHERS = ("criteria", "sensitivity", "positive", "group", "score_of")
NAMES = (*(one.name for one in fields(Reading)), *OTHERS)
ARGUMENT = re.compile(rf"\b({'|'.join(NAMES)})=(?:…|True|\[?(['\"])(.*?)\2\]?(?=[\s,;)]|$))")
SWITCHED_OFF = re.compile(r"lehner\.estimate with (\w+)=False")
OPTION_OF = {"level": "interval", "n_categories": "categories", "n_raters": "raters"}
"""Options that are not called as the argument."""


def as_options(text: str) -> str:
    """Name options where a message of the library names arguments.

    Examples
    --------
    >>> as_options("name the raters' columns (raters=…), or say so (truth='gold')")
    "name the raters' columns (--raters), or say so (--truth gold)"
    >>> as_options("read it as no rating (missing=['-']) or as one (fold_case=True)")
    'read it as no rating (--missing=-) or as one (--fold-case)'
    """
    return SWITCHED_OFF.sub(_left_out, ARGUMENT.sub(_option, text))


def name_option(text: str, options: Container[str]) -> str:
    """Name the option in "level is 2", what is wrong with an argument, if it is one of these.

    Examples
    --------
    >>> name_option("n_raters is 1; give 2 or more", ["raters"])
    '--raters is 1; give 2 or more'
    """
    argument, is_, value = text.partition(" is ")
    name = OPTION_OF.get(argument, argument)
    return f"--{name.replace('_', '-')}{is_}{value}" if name in options else text


def _option(match: re.Match[str]) -> str:
    name, _, value = match.groups()
    option = f"--{name.replace('_', '-')}"
    if value is None:
        return option
    quoted = quote(value)
    # A label may begin with a hyphen, as if it were an option.
    return f"{option}={quoted}" if value.startswith("-") else f"{option} {quoted}"


def quote(text: str) -> str:
    """Quote a text for a shell, with double quotes where it has single ones.

    Examples
    --------
    >>> print(quote("name == 'a'"))
    "name == 'a'"
    """
    return f'"{text}"' if "'" in text and not set(text) & set('"$`\\\\!') else shlex.quote(text)


def _left_out(match: re.Match[str]) -> str:
    return f"in the command without --{match[1].replace('_', '-')}"


def data_notes(ratings: "Ratings") -> list[str]:
    """What is to be known of the data, in terms of the command's options."""
    return [as_options(note) for note in ratings.notes]


def header_lines(notes: Iterable[str]) -> list[str]:
    """What is to be known of the data as lines above a command's results."""
    return [f"Data: {note}" for note in notes]
