"""The help of the command: the commands in the order of work, examples, lists of methods."""

from collections.abc import Callable, Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

ORDER = ("datasets", "agreement", "check", "estimate", "ask", "label", "plan", "study")


class InOrderOfWork(TyperGroup):
    """A group whose help lists its commands in the order of work, each with a full sentence."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the commands: first those of `ORDER`, then the others as they were registered."""
        return sorted(self.commands, key=lambda name: ORDER.index(name) if name in ORDER else 99)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the first paragraph of each command's help, however long."""
        listed = [(name, self.commands[name].help or "") for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, _first_paragraph(text)) for name, text in listed])


def command_with_list(
    title: str, rows: Callable[[], Sequence[tuple[str, str]]]
) -> type[TyperCommand]:
    """Make a class of commands whose help ends with a list.

    Parameters
    ----------
    title : str
    rows : callable
        Gives names and summaries; called when the help is shown and not before.

    Returns
    -------
    type
    """

    class CommandWithList(TyperCommand):
        def format_epilog(self, ctx: Any, formatter: Any) -> None:
            with formatter.section(title):
                formatter.write_dl(rows())
            super().format_epilog(ctx, formatter)

    return CommandWithList


def examples(*lines: str) -> str:
    r"""Examples as they stand below a command's help.

    Examples
    --------
    >>> examples("lehner datasets")
    '\x08\nExamples:\n  lehner datasets'
    """
    # The backspace keeps the help from being wrapped.
    return "\n  ".join(["\b\nExamples:", *lines])


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
