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
from typing import Annotated, Any

import typer

from lehner.data import reading

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
    typer.Option(
        metavar="P",
        help="The probability of the intervals.",
        envvar="LEHNER_INTERVAL",
        callback=_check_interval,
    ),
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
class Reading(reading.Reading):
    """How a ratings file is read, as typed or in a file."""

    reading_file: Path | None = None

    def options(self, system: str | Sequence[str] | None) -> reading.Reading:
        """Give what is read as what, as the library takes it."""
        given = {name: value for name, value in self.given().items() if name != "reading_file"}
        if system:
            given["system"] = reading.names_of(system)
        own = reading.Reading(**given)
        if self.reading_file is None:
            return own
        return own.over(reading.Reading.from_file(self.reading_file))


READING_FILE = """reading_file : FILE
    A TOML file with these options as keys, as `lehner doctor --write` makes it; options that are
    typed come first."""
Reading.__doc__ = f"{getdoc(reading.Reading)}\n{READING_FILE}"


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
    options_of: dict[type[Any], set[str]] = {}
    parameters: list[Parameter] = []
    for parameter in _options(command):
        kinds = asked if parameter.name == "asked" else [parameter.annotation]
        if all(map(is_dataclass, kinds)):
            records[parameter.name] = kinds
            for kind in kinds:
                own = [one for one in _options(kind) if one.name != "system"]
                options_of[kind] = {one.name for one in own}
                parameters += own
        else:
            parameters.append(parameter)

    folders = {one.name for one in parameters if "FOLDER" in _metavars(one)}

    @wraps(command)
    def with_help(**given: Any) -> None:
        def record(kind: type[Any]) -> Any:
            known = [one.name for one in fields(kind) if one.name in options_of[kind]]
            return kind(**{name: given.pop(name) for name in known})

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
    kind = parameter.annotation
    # Without a flag of its own, a switch would have a second one to turn it off.
    flags = [f"--{parameter.name.replace('_', '-')}"] if kind is bool else []
    if parameter.name == "reading_file":
        flags = ["--reading"]
    if metavar.isupper():
        options["metavar"] = metavar
    if kind in (list[str] | None, tuple[str, ...], tuple[Any, ...]):
        kind, options["callback"] = list[str] | None, split_names
    return Annotated[kind, typer.Option(*flags, **options)]
