"""Arguments that several commands take, and their checks."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, signature
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from lehner.dependence.shared_mistakes import SharedMistakes


def _check_interval(interval: float) -> float:
    if not 0 < interval < 1:
        from lehner import InputError

        raise InputError(f"--interval is {interval}", "give a number between 0 and 1, as in 0.9")
    return interval


def _check_seed(seed: int) -> int:
    if seed < 0:
        from lehner import InputError

        raise InputError(f"--seed is {seed}", "give a whole number, 0 or more")
    return seed


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A ratings file (CSV, Excel, JSON or Parquet), or the name of a bundled data set.",
    ),
]
System = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The column or rater that is the system to evaluate."),
]
Systems = Annotated[
    list[str] | None,
    typer.Option(
        "--system",
        metavar="NAMES",
        help="The column or rater that is the system to evaluate; several systems are separated "
        "by commas or stand in several --system.",
    ),
]
Truth = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The column of known true categories, or a file with the columns item and truth.",
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


def split_names(given: Sequence[str] | None) -> list[str]:
    """Give the names in an option that takes repeats and commas.

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


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The options that say how a ratings file is to be read.

    Options of several names hold texts as typed, which `split_names` splits.
    """

    item: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column that names the items.")
    ] = None
    raters: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="The columns of the raters, separated by commas or in several --raters. "
            "Default: all columns that have no other part.",
        ),
    ] = None
    counts: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The column that says how many items each row stands for."
        ),
    ] = None
    categories: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="All categories in their order, separated by commas or in several --categories. "
            "Default: those that occur, sorted.",
        ),
    ] = None
    ordered: Annotated[
        bool, typer.Option("--ordered", help="The order of the categories means something.")
    ] = False
    missing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABELS",
            help="Labels that stand for a missing rating, separated by commas or in several "
            "--missing; blanks, NA, NaN and null always do.",
        ),
    ] = None
    repeated: Annotated[
        bool,
        typer.Option(
            "--repeated",
            help="A rater may rate an item more than once, row by row. The rater's most frequent "
            "rating counts, and none where two are equally frequent.",
        ),
    ] = False
    fold_case: Annotated[
        bool, typer.Option("--fold-case", help="Labels that differ in case or spaces only are one.")
    ] = False
    order: Annotated[
        str | None,
        typer.Option(
            help="Column that says the order (AB, BA) in which a judge saw the two answers. A "
            "judge who prefers different answers in the two orders has no vote."
        ),
    ] = None
    swapped_back: Annotated[
        bool,
        typer.Option(
            "--swapped-back",
            help="With --order: ratings name the answer, whatever its position.",
        ),
    ] = False


def with_reading(command: Callable[..., None], *, leave_out: str = "") -> Callable[..., None]:
    """Give a command the options of `Reading` where it has the parameter `reading`.

    Parameters
    ----------
    command : callable
    leave_out : str
        An option that it does not take.
    """
    options = [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
        for field in fields(Reading)
        if field.name != leave_out
    ]
    parameters: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        own = [parameter.replace(kind=Parameter.KEYWORD_ONLY)]
        parameters += options if parameter.name == "reading" else own

    @wraps(command)
    def with_options(**given: Any) -> None:
        reading = Reading(**{option.name: given.pop(option.name) for option in options})
        command(reading=reading, **given)

    # Typer makes its options of these two.
    with_options.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {one.name: one.annotation for one in parameters}
    return with_options
