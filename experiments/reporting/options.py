"""Options of the command in place of Python's arguments, in what the library says."""

import re

ARGUMENT = re.compile(
    r"\b(system|truth|item|raters|counts|categories|ordered|missing|fold_case|repeated|order|"
    r"swapped_back)="
    r"(?:…|True|\[?(['\"])(.*?)\2\]?)"
)
PHRASES = {
    "population_size is": "--population-size is",
}


def as_options(text: str) -> str:
    """Name options where a message of the library names arguments.

    Examples
    --------
    >>> as_options("name the raters' columns (raters=…), or say so (truth='gold')")
    "name the raters' columns (--raters), or say so (--truth gold)"
    >>> as_options("read it as no rating (missing=['-']) or as one (fold_case=True)")
    'read it as no rating (--missing=-) or as one (--fold-case)'
    """
    for phrase, of_command in PHRASES.items():
        text = text.replace(phrase, of_command)
    return ARGUMENT.sub(_option, text)


def _option(match: re.Match[str]) -> str:
    name, _, value = match.groups()
    option = f"--{name.replace('_', '-')}"
    if value is None:
        return option
    # A label may begin with a hyphen, as if it were an option.
    return f"{option}={value}" if name == "missing" else f"{option} {value}"
