"""Options of commands, whose help is in docstrings, and those that several commands take."""

import csv
import re
import shlex
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, getdoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from lehner.data.options import ReadingOptions

PARAMETERS = "\n\nParameters\n----------\n"
DESCRIPTION = re.compile(r"^(\w+) : (.+)\n((?: {4}.+\n?)+)", re.MULTILINE)
"""A parameter in a docstring: its name, its type and what it means."""


def _check_interval(interval: float) -> float:
    from lehner.core.errors import check_level

    return check_level(interval)


def _check_seed(seed: int) -> int:
    from lehner.core.errors import check_whole_number

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


def typed() -> str:
    """Give the command as it was typed, with quotes that a shell takes."""
    return shlex.join(["lehner", *sys.argv[1:]])


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A ratings file (CSV, Excel, JSON, JSON Lines or Parquet), a log of an evaluation "
        "tool or a folder of logs, or the name of a bundled data set.",
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

System = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The column or rater that is the system to evaluate."),
]
Systems = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES",
        help="The column or rater that is the system to evaluate; several systems are separated by "
        "commas or stand in several --system.",
        callback=split_names,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a ratings file is read.

    Parameters
    ----------
    truth : NAME
        The column of known true categories, or a file with columns item and truth.
    truth_probability : NAME
        The column of the probability, above 0, with which each item was chosen to have its truth
        found out, if these differ: known truths are then weighted by its inverse.
    item : NAME
        The column that names the items.
    cluster : NAME
        The column of the cluster of each item, as the patient of a lesion or the conversation of an
        answer: intervals then allow for items of a cluster that are alike.
    raters : NAMES
        The raters, or their columns, separated by commas or in several --raters. Default: all
        raters, or all columns that have no other part.
    counts : NAME
        The column that says how many items each row stands for.
    categories : NAMES
        All categories in their order, separated by commas or in several --categories. Default:
        those that occur, sorted.
    ordered : bool
        The order of the categories means something.
    missing : NAMES
        Labels that stand for a missing rating, separated by commas or in several --missing; blanks,
        NA, NaN and null always do.
    repeated : bool
        A rater may rate an item more than once, row by row. The rater's most frequent rating
        counts, and none where two are equally frequent.
    fold_case : bool
        Labels that differ in case or spaces only are one.
    order : NAME
        Column that says the order (AB, BA) in which a judge saw the two answers; or, for columns as
        gpt_AB and gpt_BA, their endings AB,BA. A judge who prefers different answers in the two
        orders has no vote.
    swapped_back : bool
        With --order: ratings name the answer, whatever its position.
    """

    truth: str | None = None
    truth_probability: str | None = None
    item: str | None = None
    cluster: str | None = None
    raters: list[str] | None = None
    counts: str | None = None
    categories: list[str] | None = None
    ordered: bool = False
    missing: list[str] | None = None
    repeated: bool = False
    fold_case: bool = False
    order: str | None = None
    swapped_back: bool = False

    def options(self, system: str | list[str] | None) -> "ReadingOptions":
        """Those that are given, as the library takes them."""
        from lehner.data.options import options_of

        given = {"system": system} | vars(self)
        return options_of({name: value or None for name, value in given.items()})


def with_options(
    command: Callable[..., None], asked: Sequence[type[Any]] = ()
) -> Callable[..., None]:
    """Make a command whose options have their help from docstrings.

    The type of a parameter in the docstring of the command is the option's placeholder, if it is in
    capitals. A parameter that is a dataclass stands for an option for each field, and the parameter
    `asked` for those of several dataclasses, of which the command takes a list.

    Parameters
    ----------
    command : callable
        Parameters that are annotated for Typer are left as they are.
    asked : sequence of type
        The dataclasses in place of the parameter `asked`.
    """
    records: dict[str, Sequence[type[Any]]] = {}
    parameters: list[Parameter] = []
    for parameter in _options(command):
        kinds = asked if parameter.name == "asked" else [parameter.annotation]
        if all(map(is_dataclass, kinds)):
            records[parameter.name] = kinds
            parameters += [option for kind in kinds for option in _options(kind)]
        else:
            parameters.append(parameter)

    folders = {one.name for one in parameters if "FOLDER" in _metavars(one)}

    @wraps(command)
    def with_help(**given: Any) -> None:
        def record(kind: type[Any]) -> Any:
            return kind(**{one.name: given.pop(one.name) for one in fields(kind)})

        _check_outputs(given, folders)
        made = {name: [record(kind) for kind in kinds] for name, kinds in records.items()}
        for name, several in made.items():
            given[name] = several if name == "asked" else several[0]
        command(**given)

    # Typer makes its options and its help of these.
    with_help.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    with_help.__annotations__ = {one.name: one.annotation for one in parameters}
    with_help.__doc__ = (getdoc(command) or "").partition(PARAMETERS)[0]
    return with_help


OUTPUTS = ("output", "report", "raters_output")


def _check_outputs(given: Mapping[str, Any], folders: Container[str]) -> None:
    """Check the options that name outputs against those that may name a file that is read."""
    files, into = dict[str, Path](), dict[str, Path]()
    for name in OUTPUTS:
        if given.get(name) is not None:
            option = f"--{name.replace('_', '-')}"
            (into if name in folders else files)[option] = Path(given[name])
    if not files and not into:
        return
    from experiments.reporting.files import check_outputs

    others = [value for name, value in given.items() if name not in OUTPUTS]
    texts = [text for value in others for text in (value if isinstance(value, list) else [value])]
    check_outputs(files, into, [Path(text) for text in texts if isinstance(text, str | Path)])


def _metavars(parameter: Parameter) -> list[str]:
    marks = getattr(parameter.annotation, "__metadata__", ())
    return [getattr(mark, "metavar", None) or "" for mark in marks]


def _options(documented: Callable[..., Any]) -> Iterator[Parameter]:
    described = (getdoc(documented) or "").partition(PARAMETERS)[2]
    said = {name: rest for name, *rest in DESCRIPTION.findall(described)}
    for one in signature(documented).parameters.values():
        if one.name in said:
            one = one.replace(annotation=_option(one, *said[one.name]))
        yield one.replace(kind=Parameter.KEYWORD_ONLY)


def _option(parameter: Parameter, metavar: str, text: str) -> Any:
    options: dict[str, Any] = {"help": " ".join(text.split())}
    # Without a flag of its own, a switch would have a second one to turn it off.
    flags = [f"--{parameter.name.replace('_', '-')}"] if parameter.annotation is bool else []
    if metavar.isupper():
        options["metavar"] = metavar
    if parameter.annotation == list[str] | None:
        options["callback"] = split_names
    return Annotated[parameter.annotation, typer.Option(*flags, **options)]
