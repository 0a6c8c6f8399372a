"""The help of the command: the commands in the order of work, examples, lists of methods."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from typer import Typer
from typer.core import TyperCommand, TyperGroup

from experiments.cli.arguments import Reading, with_options

SECTIONS = {
    "Your ratings": "datasets doctor agreement check estimate compare scores bounds ask label",
    "Before you collect": "plan",
    "Research": "study paper train-prior",
}
ORDER = " ".join(SECTIONS.values()).split()
ASSUMED = {
    *"system_is priors truths_in_model sensitivity systems_rate".split(),
    *"earlier_studies study_weight dependent".split(),
}
OUTPUT = {
    *"output raters_output report checklist as_json sentence full".split(),
    *"workers dask help".split(),
}
PANELS = ("Arguments", "The question", "What is assumed", "The file", "Output")


class InOrderOfWork(TyperGroup):
    """A group whose help lists its commands by what they are for, each with a full sentence."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the commands: first those of `ORDER`, then the others as they were registered."""
        return sorted(self.commands, key=lambda name: ORDER.index(name) if name in ORDER else 99)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the first paragraph of each command's help, however long."""
        for title, names in SECTIONS.items():
            listed = [(name, self.commands[name].help or "") for name in names.split()]
            with formatter.section(title):
                formatter.write_dl([(name, _first_paragraph(text)) for name, text in listed])


def add_command(
    app: Typer,
    command: Callable[..., None],
    *examples: str,
    methods: Callable[[], Sequence[tuple[str, str]]] | None = None,
    asked: Sequence[type[Any]] = (),
) -> None:
    """Add a command whose help ends with examples.

    Parameters
    ----------
    app : typer.Typer
        To which it is added.
    command : callable
        As `with_options` takes it.
    *examples : str
        Lines as they are typed.
    methods : callable, optional
        Gives names and summaries of methods, a list above the examples; called when the help is
        shown and not before.
    asked : sequence of type
        Records whose options the command takes.
    """

    class WithMethods(TyperCommand):
        def format_options(self, ctx: Any, formatter: Any) -> None:
            panels: dict[str, list[tuple[str, str]]] = {}
            for parameter in self.get_params(ctx):
                record = parameter.get_help_record(ctx)
                if record is not None:
                    panels.setdefault(_panel(parameter), []).append(record)
            for title in PANELS:
                if title in panels:
                    with formatter.section(title):
                        formatter.write_dl(panels[title])

        def format_epilog(self, ctx: Any, formatter: Any) -> None:
            if methods is not None:
                with formatter.section("Methods"):
                    formatter.write_dl(methods())
            super().format_epilog(ctx, formatter)

    # The backspace keeps the help from being wrapped.
    epilog = "\n  ".join(["\b\nExamples:", *examples])
    app.command(cls=WithMethods, epilog=epilog)(with_options(command, asked))


def _panel(parameter: Any) -> str:
    """Tell under which title the help lists an argument or option."""
    if parameter.param_type_name == "argument":
        return "Arguments"
    name = str(parameter.name)
    if name in OUTPUT:
        return "Output"
    if name in ASSUMED:
        return "What is assumed"
    of_file = {one.name for one in fields(Reading)} | {"system"}
    return "The file" if name in of_file else "The question"


def as_sentence(summary: str) -> str:
    """Write what a method does as a sentence.

    Examples
    --------
    >>> as_sentence("a rater knows the truth or guesses")
    'A rater knows the truth or guesses.'
    """
    return f"{summary[0].upper()}{summary[1:]}."


def _first_paragraph(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split())
