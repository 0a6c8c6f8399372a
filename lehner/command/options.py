"""Options of commands, and what each command does: say how far it is, print, and write its files.

Options are parameters of a command's function, or fields of records that stand for several of them.
"""

import csv
import logging
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import wraps
from inspect import Parameter, getdoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand

from lehner.core import errors
from lehner.core.text import escape, make_console, name_flag, print_lines, say, to_json
from lehner.data import reading

if TYPE_CHECKING:
    from lehner.report.answer import Report

PARAMETERS = "\n\nParameters\n----------\n"
EXAMPLES = "\n\nExamples\n--------\n"
# A parameter in a docstring: its name, its type and what it means.
DESCRIPTION = re.compile(r"^(\w+) : (.+)\n((?: {4}.+\n?)+)", re.MULTILINE)
# Parameters that are arguments of a command; all others are options.
ARGUMENTS = ("data", "study", "folder")
OUTPUTS = ("output", "report", "junit")
# Options that stand in the panel of outputs, whatever the command.
AFTER = (*OUTPUTS, "as_json")
QUESTION, ASSUMED, FILE, OUTPUT = "The question", "What is assumed", "The file", "Output"
# Titles under which the help of a command has its options; arguments have none.
PANELS = (None, QUESTION, ASSUMED, FILE, OUTPUT)


def split_names(texts: Iterable[str] | None) -> list[str]:
    """Split the names in an option that takes repeats and commas.

    Parameters
    ----------
    texts : iterable of str
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
    for text in texts or ():
        try:
            (fields,) = csv.reader([text], skipinitialspace=True)
        except (csv.Error, ValueError):
            remedy = "separate names by commas, and write a name that holds a comma or a line "
            remedy += "break in double quotes"
            raise errors.InputError(f"{text!r} is not read as names", remedy) from None
        names += [name.strip() for name in fields]
    return names


class Common:
    """Options of many commands, described once.

    Parameters
    ----------
    data : DATA
        A ratings file (CSV, Excel, JSON, JSON Lines or Parquet), a log of an evaluation tool, a
        folder of logs, or the name of a bundled data set.
    level : P
        The probability of the intervals: 0.9 gives 90% intervals.
    seed : N
        The seed of random numbers: the same seed gives the same results.
    as_json : bool
        Print the results as one JSON object.
    study : STUDY
        A study file (TOML), or quick for a small study that is installed with lehner.
    folder : FOLDER
        The folder with the results of a study.
    """


# What else such options have.
MORE: dict[str, dict[str, Any]] = {
    "level": {"callback": lambda level: errors.check_level(level)},
    "seed": {"callback": lambda seed: errors.check_whole_number("seed", seed, 0)},
}


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where results go.

    Parameters
    ----------
    output : FOLDER
        The folder into which tables, as CSV and LaTeX, and figures are written.
    report : FILE
        The HTML file of a report that you can send: the answer first, then figures, tables and
        warnings, and how it was made.
    as_json : bool
        Print the results as one JSON object.
    sentence : bool
        Print only the answer, in sentences for a paper.
    """

    panel: ClassVar[str] = OUTPUT
    output: Path | None = None
    report: Path | None = None
    as_json: bool = False
    sentence: bool = False


def emit(answer: "Report", output: Output, *inputs: str | Path | None) -> None:
    """Print an answer and write its files; the exit code is not 0 if it has no numbers.

    Parameters
    ----------
    answer : Report
    output : Output
    *inputs : str or Path
        Texts that name what was read, as a file or data set; others are ignored.
    """
    # Files come first, so that they are there if nobody reads what is printed.
    written = [] if output.output is None else list(answer.write(output.output))
    if output.report is not None:
        command = shlex.join(["lehner", *sys.argv[1:]])
        page = answer.write_page(command, _find_files(inputs))
        written.append(write_file(page, output.report))
    if output.as_json:
        print(to_json(answer.to_dict()))
    elif output.sentence:
        print_lines(answer.list_sentences())
    else:
        answer.show()
    for path in written:
        say(f"wrote {path}")
    if answer.failed:
        raise typer.Exit(answer.failed)


def write_file(content: Any, path: Path) -> Path:
    """Write a text, or a table as CSV, whose folder is made if it is not there."""
    from lehner.report.files import write_csv, write_text

    path.parent.mkdir(parents=True, exist_ok=True)
    return write_text(content, path) if isinstance(content, str) else write_csv(content, path)


def _find_files(inputs: Iterable[str | Path | None]) -> Iterator[Path]:
    """Find the files and data sets among texts, as in `ana=study.csv` and `mine.py:method`."""
    from lehner.datasets import FOLDER

    for text in map(str, filter(None, inputs)):
        names = (text, text.rpartition("=")[2], text.rpartition(":")[0])
        paths = [*map(Path, names), FOLDER / f"{text}.csv"]
        yield from [path for path in paths if path.is_file()][:1]


class ProgressFormatter(logging.Formatter):
    """Writes a step with the seconds since the start, as `relaxed_k: sampling … (12 s)`."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record; a warning has no time."""
        seconds = record.relativeCreated / 1000
        passed = "" if record.levelno >= logging.WARNING else f" … ({seconds:.0f} s)"
        return escape(f"{record.getMessage()}{passed}")


def add_command(
    app: typer.Typer,
    function: Callable[..., None],
    panel: str | None = None,
    methods: Callable[[], Mapping[str, str]] = dict,
    steps: Sequence[str] = (),
) -> None:
    """Add a function as a command, whose help and the help of its options are in docstrings.

    The type of a parameter in the docstring is the placeholder of the option, if it is in capitals
    or lists choices (a|b). A parameter that is a dataclass stands for an option for each field; its
    `panel` is the title under which the help has them. The docstring ends with examples of the
    command.

    Parameters
    ----------
    app : typer.Typer
        To which it is added.
    function : callable
        Parameters that are annotated for Typer are left as they are.
    panel : str, optional
        Under which title the help of `app` lists it.
    methods : callable
        Gives the summaries of methods by name for the help; called when the help is shown.
    steps : sequence of str
        Names of the loggers that say how far it is; by default those of the packages.
    """
    text, _, examples = (getdoc(function) or "").partition(EXAMPLES)

    class Command(TyperCommand):
        def get_help_option(self, ctx: Any) -> Any:
            option = super().get_help_option(ctx)
            option.rich_help_panel = OUTPUT  # type: ignore[union-attr]
            return option

        def format_help(self, ctx: Any, formatter: Any) -> None:
            super().format_help(ctx, formatter)
            rows = [(name, to_sentence(text)) for name, text in methods().items()]
            _print_panel("Methods", rows)
            _print_panel("Examples", [(line,) for line in examples.splitlines()])

    name = function.__name__.replace("_", "-")
    paragraphs = text.partition(PARAMETERS)[0].split("\n\n")
    described = "\n\n".join(" ".join(part.split()) for part in paragraphs)
    add = app.command(name, cls=Command, help=described, rich_help_panel=panel)
    add(with_options(function, steps))


def to_sentence(summary: str) -> str:
    """Write what a method does as a sentence.

    Examples
    --------
    >>> to_sentence("a rater knows the truth or guesses")
    'A rater knows the truth or guesses.'
    """
    return f"{summary[0].upper()}{summary[1:]}."


def _print_panel(title: str, rows: Sequence[tuple[str, ...]]) -> None:
    from rich.panel import Panel
    from rich.table import Table

    if rows:
        table = Table.grid(padding=(0, 2))
        for row in rows:
            table.add_row(*row)
        panel = Panel(table, title=title, title_align="left", border_style="dim")
        make_console().print(panel)


def with_options(function: Callable[..., None], steps: Sequence[str] = ()) -> Callable[..., None]:
    """Make a function whose parameters Typer takes as options; see `add_command`."""
    records: dict[str, tuple[Any, list[str]]] = {}
    parameters: list[Parameter] = []
    for parameter in _list_options(function):
        kind: Any = parameter.annotation
        fields = list(_list_options(kind)) if is_dataclass(kind) else []
        if fields:
            records[parameter.name] = kind, [field.name for field in fields]
        parameters += fields or [parameter]
    parameters.sort(key=lambda parameter: PANELS.index(_find_mark(parameter).rich_help_panel))
    folders = {option.name for option in parameters if _find_mark(option).metavar == "FOLDER"}

    @wraps(function)
    def command(**typed: Any) -> None:
        from lehner.core.resampling import handle_messages

        if any(typed.get(name) is not None for name in OUTPUTS):
            _check_outputs(typed, folders)
        for name, (kind, fields) in records.items():
            typed[name] = kind(**{field: typed.pop(field) for field in fields})
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(ProgressFormatter())
        with handle_messages(handler, *steps):
            function(**typed)

    # Typer makes its options of these.
    command.__signature__ = signature(function).replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _find_mark(parameter: Parameter) -> Any:
    """Find what is said of an option; of an argument there is no panel."""
    return next(iter(getattr(parameter.annotation, "__metadata__", ())), typer.Argument())


def _list_options(documented: Any) -> Iterator[Parameter]:
    """List the parameters of a function, or the fields of a record, with their help."""
    kinds = (Common, *reversed(getattr(documented, "__mro__", (documented,))))
    texts = [(getdoc(kind) or "").partition(PARAMETERS)[2] for kind in kinds]
    described = {name: rest for text in texts for name, *rest in DESCRIPTION.findall(text)}
    panel = FILE if documented is reading.Reading else QUESTION
    panel = getattr(documented, "panel", panel)
    for parameter in signature(documented).parameters.values():
        if parameter.name in described:
            metavar, text = described[parameter.name]
            option = _make_option(parameter, metavar, text, panel)
            parameter = parameter.replace(annotation=option)
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)


def _make_option(parameter: Parameter, metavar: str, text: str, panel: str) -> Any:
    name, kind = parameter.name, parameter.annotation
    help_text = " ".join(text.split())
    if name in ARGUMENTS:
        return Annotated[kind, typer.Argument(metavar=metavar, help=help_text)]
    options: dict[str, Any] = {
        "help": help_text,
        "rich_help_panel": OUTPUT if name in AFTER else panel,
        "metavar": metavar if metavar.isupper() or "|" in metavar else None,
        **MORE.get(name, {}),
    }
    # Without a flag of its own, a switch would have a second one to turn it off.
    flag = "--json" if name == "as_json" else name_flag(name)
    if kind in (list[str] | None, tuple[str, ...], tuple[Any, ...]):
        kind, options["callback"] = list[str] | None, split_names
    return Annotated[kind, typer.Option(flag, **options)]


def _check_outputs(typed: Mapping[str, Any], folders: Iterable[str]) -> None:
    """Check the options that name outputs against those that may name a file that is read."""
    from lehner.report.files import check_outputs

    outputs = {name_flag(x): Path(typed[x]) for x in OUTPUTS if typed.get(x) is not None}
    values = [value for name, value in typed.items() if name not in OUTPUTS]
    texts = [text for value in values for text in (value if isinstance(value, list) else [value])]
    read = [Path(text) for text in texts if isinstance(text, str | Path)]
    check_outputs(outputs, set(map(name_flag, folders)), read)
