"""The `lehner` command."""

import errno
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from traceback import extract_tb
from typing import Annotated, Any

import typer

from lehner import __version__
from lehner.command.estimate import compare, estimate, gate
from lehner.command.labels import ask, label
from lehner.command.options import add_command
from lehner.command.ratings import agreement, bounds, check, datasets, doctor
from lehner.command.study import study_app
from lehner.core.errors import INTERRUPTED, InputError
from lehner.core.lazy import names_function
from lehner.core.text import name_option, say, to_options

# How long a command may take to end by itself, and how soon after a signal another is the same one,
# which programs such as `timeout` send to a command and to its group.
SECONDS_TO_LEAVE, SAME_SIGNAL = 5.0, 0.1
# As of a program that SIGPIPE ends.
CLOSED_PIPE = 141
REMEDIES = {
    errno.ENOSPC: "; make room on this disk, and run again",
    errno.EACCES: "; change its permissions, or name another place",
    errno.EEXIST: "; move it away",
    errno.EISDIR: "; move it away",
    errno.ENOTDIR: "; name another place",
}
# An option that stands anywhere in a command.
TRACEBACK = "--traceback"
COMMANDS = (datasets, doctor, agreement, check, estimate, compare, gate, bounds, ask, label)


def write_methods(command: str) -> Mapping[str, str]:
    """Say what each method of a command does, for its help; other commands have none."""
    from lehner.estimation import methods

    able = {"estimate": ("fit",), "label": ("items",), "compare": ("populations", "judge")}
    return methods.describe_methods(*able.get(command, ()))


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
for command in COMMANDS:
    add_command(app, command, "Your ratings", partial(write_methods, command.__name__))
app.add_typer(study_app, name="study", rich_help_panel="Research")


@app.callback(invoke_without_command=True)
def lehner(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version of lehner and exit.")
    ] = False,
    traceback: Annotated[
        bool, typer.Option(TRACEBACK, help="Show where a function of yours raised an error.")
    ] = False,
) -> None:
    """Estimate how accurate a classification system is, without a gold standard.

    The ratings of several raters, who may be less accurate than the system, are enough.

    `lehner COMMAND --help` explains a command.
    """
    if version:
        print(f"lehner {__version__}")
    elif context.invoked_subcommand is None:
        context.get_help()


# Made once: it takes a tenth of a second.
command_line: Any = typer.main.get_command(app)


def main(command: Any = command_line, program: str = "lehner") -> None:
    """Run the command; bad input ends in one line on standard error and exit code 2."""
    # Compiling takes longer than sampling: optimise less. The draws are the same.
    os.environ.setdefault("NUMBA_OPT", "1")
    # Matrices are small: threads take ten times as long together as one alone.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")
    if sys.stdout is None:
        sys.exit(_complain("standard output is closed: nothing was done"))
    if sys.flags.optimize > 1:
        sys.exit(_complain("options are made of texts that -OO (PYTHONOPTIMIZE=2) removes; use -O"))
    for stream in (sys.stdout, sys.stderr):
        # Consoles and pipes of Windows may lack characters such as the minus sign.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    with end_when_interrupted() as say_stopped:
        code = _run(command, program)
        if code == INTERRUPTED:
            say_stopped()
    sys.exit(code)


@contextmanager
def end_when_interrupted() -> Iterator[Callable[[], None]]:
    """End the process soon after a signal that interrupts, even if the exception is lost.

    The exception that Ctrl-C raises is raised late in compiled code, and compilers, destructors and
    callbacks may catch it and go on. A thread hears of the signal at once, and ends the process if
    it has not ended by itself. Files are written whole or not at all, so nothing is lost but the
    work in hand.

    Yields
    ------
    callable
        Says, once, that the command is stopped.
    """
    receiving, telling = socket.socketpair()
    telling.setblocking(False)
    unsaid = ["lehner: stopped; only files that were finished are kept\n"]

    def say() -> None:
        if unsaid:
            print(unsaid.pop(), end="", file=sys.stderr, flush=True)

    def leave_when_told() -> None:
        with receiving:
            while number := receiving.recv(1):
                if number[0] in (signal.SIGINT, signal.SIGTERM):
                    for seconds in (SAME_SIGNAL, SECONDS_TO_LEAVE):
                        receiving.settimeout(seconds)
                        # A second signal ends the wait; where the command has ended, none comes.
                        with suppress(TimeoutError):
                            if not receiving.recv(64):
                                time.sleep(seconds)
                    # The command goes on with what is done, until the next Ctrl-C.
                    if signal.getsignal(signal.SIGINT) is not signal.SIG_DFL:
                        say()
                        os._exit(INTERRUPTED)
                    receiving.settimeout(None)

    handler = signal.getsignal(signal.SIGINT)
    before = signal.set_wakeup_fd(telling.fileno(), warn_on_full_buffer=False)
    with suppress(RuntimeError):  # where no thread can start
        threading.Thread(target=leave_when_told, daemon=True).start()
    try:
        yield say
    finally:
        signal.set_wakeup_fd(before)
        signal.signal(signal.SIGINT, handler)
        telling.close()


def _run(command: Any, program: str) -> int:
    """Run the command and give its exit code."""
    try:
        words = [word for word in sys.argv[1:] if word != TRACEBACK]
        code: int = command(words, prog_name=program, standalone_mode=False) or 0
        sys.stdout.flush()
        return code
    except SystemExit:  # as Typer ends where nobody reads on
        return CLOSED_PIPE
    except typer.TyperException as error:
        message = getattr(error, "format_message", error.__str__)()
        return _complain(f"{message} {_find_called(command, program)[0]}")
    except OSError as error:
        return CLOSED_PIPE if isinstance(error, BrokenPipeError) else _explain(error)
    except ValueError as error:
        if not isinstance(error, InputError):
            raise
        text = to_options(str(error))
        # Of a file the message says all; the options are explained in the help.
        if error.file is not None:
            return _complain(text)
        pointer, options = _find_called(command, program)
        return _complain(f"{name_option(text, options)} {pointer}")
    except Exception as error:
        from lehner.report.files import is_of_the_machine

        place, what = _place_in_own_file(error), f"{type(error).__name__}: {error}"
        if place and TRACEBACK not in sys.argv:
            return _complain(f"{place}: {what} ({TRACEBACK} shows how it came there)")
        if not is_of_the_machine(error):
            raise
        return _complain(f"memory or another resource of the computer is exhausted: {what}")


def _explain(error: OSError) -> int:
    """Say which file could not be read or written."""
    if error.filename is None:
        with suppress(OSError):
            # What is still in the buffer would fail again when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    place = error.filename or "standard output, or a file"
    return _complain(f"{place}: {error.strerror or error}{REMEDIES.get(error.errno or 0, '')}")


def _place_in_own_file(error: Exception) -> str:
    """Find the line at which a function of the user's, named as FILE.py:FUNCTION, raised."""
    words = ",".join(word.removeprefix("--method=") for word in sys.argv).split(",")
    own = {str(Path(word.rpartition(":")[0]).absolute()) for word in words if names_function(word)}
    frames = [frame for frame in extract_tb(error.__traceback__) if frame.filename in own]
    return f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else ""


def _find_called(command: Any, program: str) -> tuple[str, set[str]]:
    """Find where the help of the command that was called is, and the names of its options."""
    called = [program]
    for word in sys.argv[1:]:
        if word not in getattr(command, "commands", {}):
            break
        command = command.commands[word]
        called.append(word)
    return f"(see `{' '.join(called)} --help`)", {option.name for option in command.params}


def _complain(text: str) -> int:
    say(f"lehner: {' '.join(text.split())}")
    return 2
