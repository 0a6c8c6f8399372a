"""Arguments that several commands take, and their checks."""

import csv
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, signature
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from lehner.dependence.widened_interval import SharedMistakes


def _check_interval(interval: float) -> float:
    from lehner.core.checks import check_level

    return check_level(interval)


def _check_seed(seed: int) -> int:
    from lehner.core.checks import check_whole_number

    return check_whole_number("seed", seed, 0)


def split_names(given: Sequence[str] | None) -> list[str]:
    """Split the names in an option that takes repeats and commas.

    Parameters
    ----------
    given : sequence of str, optional
        As typed, one text for each time the option stands there. A name that holds a comma or a
        line break stands in double quotes within the text.

    Returns
    -------
    list of str

    Raises
    ------
    InputError
        If a line break stands outside of quotes.

    Examples
    --------
    >>> split_names(["Ann, Bo", "Cy"]), split_names(['"Smith, J",Bo'])
    (['Ann', 'Bo', 'Cy'], ['Smith, J', 'Bo'])
    """
    names: list[str] = []
    for text in given or ():
        try:
            (fields,) = csv.reader([text], skipinitialspace=True)
        except (csv.Error, ValueError):
            from lehner import InputError

            raise InputError(
                f"{text!r} is not read as names",
                "separate names by commas, and write a name that holds a comma or a line break in "
                "double quotes",
            ) from None
        names += [name.strip() for name in fields]
    return names


def names(text: str, *flags: str) -> Any:
    """Make an option of several names, which the command takes as a list."""
    return typer.Option(*flags, metavar="NAMES", help=text, callback=split_names)


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A ratings file (CSV, Excel, JSON or Parquet), or the name of a bundled data set.",
    ),
]
Interval = Annotated[
    float,
    typer.Option(metavar="P", help="The probability of the intervals.", callback=_check_interval),
]
Seed = Annotated[
    int,
    typer.Option(
        metavar="N", help="The seed: the same seed gives the same numbers.", callback=_check_seed
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the results as one JSON object.")]
Output = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="The folder into which tables and figures are written."),
]

SYSTEM: dict[type, str] = {
    str: "The column or rater that is the system to evaluate.",
    list: "The column or rater that is the system to evaluate; several systems are separated by "
    "commas or stand in several --system.",
}
READING: dict[str, tuple[type, str]] = {
    "truth": (str, "The column of known true categories, or a file with columns item and truth."),
    "item": (str, "The column that names the items."),
    "raters": (
        list,
        "The columns of the raters, separated by commas or in several --raters. Default: all "
        "columns that have no other part.",
    ),
    "counts": (str, "The column that says how many items each row stands for."),
    "categories": (
        list,
        "All categories in their order, separated by commas or in several --categories. Default: "
        "those that occur, sorted.",
    ),
    "ordered": (bool, "The order of the categories means something."),
    "missing": (
        list,
        "Labels that stand for a missing rating, separated by commas or in several --missing; "
        "blanks, NA, NaN and null always do.",
    ),
    "repeated": (
        bool,
        "A rater may rate an item more than once, row by row. The rater's most frequent rating "
        "counts, and none where two are equally frequent.",
    ),
    "fold_case": (bool, "Labels that differ in case or spaces only are one."),
    "order": (
        str,
        "Column that says the order (AB, BA) in which a judge saw the two answers. A judge who "
        "prefers different answers in the two orders has no vote.",
    ),
    "swapped_back": (bool, "With --order: ratings name the answer, whatever its position."),
}
"""Options that say how a ratings file is read: the fields of `ReadingOptions`."""


def with_reading(
    command: Callable[..., None], *, several_systems: bool = False
) -> Callable[..., None]:
    """Add to a command the options of a ratings file in place of its parameter `reading`.

    Parameters
    ----------
    command : callable
        Its first parameter names the data.
    several_systems : bool
        Whether it takes several systems.
    """
    kind = list if several_systems else str
    system = _parameter("system", kind, SYSTEM[kind])
    options = [_parameter(name, *option) for name, option in READING.items()]
    own = list(signature(command).parameters.values())
    place = [parameter.name for parameter in own].index("reading")
    parameters = [
        parameter.replace(kind=Parameter.KEYWORD_ONLY)
        for parameter in (own[0], system, *own[1:place], *options, *own[place + 1 :])
    ]

    @wraps(command)
    def with_options(**given: Any) -> None:
        from lehner.data.options import options_of

        said = {name: given.pop(name) or None for name in ("system", *READING)}
        command(reading=options_of(said), **given)

    # Typer makes its options of these two.
    with_options.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {one.name: one.annotation for one in parameters}
    return with_options


def _parameter(name: str, kind: type, text: str) -> Parameter:
    annotation: Any = Annotated[str | None, typer.Option(metavar="NAME", help=text)]
    if kind is list:
        annotation = Annotated[list[str] | None, names(text)]
    elif kind is bool:
        flag = f"--{name.replace('_', '-')}"
        annotation = Annotated[bool, typer.Option(flag, help=text)]
    default = False if kind is bool else None
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def read_shared_mistakes(text: str) -> "SharedMistakes":
    """Read a share, as in "0.1", or the two numbers of its Beta prior, as in "0.5,4.5".

    Examples
    --------
    >>> read_shared_mistakes("0.1"), read_shared_mistakes("0.5,4.5")
    (0.1, (0.5, 4.5))
    """
    remedy = "give a share between 0 and 1, as in 0.1, or a Beta prior of it, as in 0.5,4.5"
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) == 1 and 0 <= numbers[0] <= 1:
        return numbers[0]
    if len(numbers) == 2 and all(0 < number < inf for number in numbers):
        return numbers[0], numbers[1]
    from lehner import InputError

    raise InputError(f"--shared-mistakes is {text}", remedy)
