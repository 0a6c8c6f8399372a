"""Functions of a user's own in a study: methods, and generators of ratings, by `file.py:function`.

Reading a study reads their files; only a run or a draw runs them. Their text is part of what a
method or a scenario is known by, and is kept beside the results in the folder `functions`.
"""

import hashlib
import inspect
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments.report.machine import is_of_the_machine
from lehner import InputError, Ratings
from lehner.core.errors import wrong
from lehner.core.estimate import ESTIMANDS
from lehner.core.user_functions import load_function, names_function
from lehner.estimation.methods import Method, find_method

CELLS, FOLDER = "cells", "functions"
"""In a folder of results: the numbers, and the files of functions."""
type Truths = dict[str, float | None]


@dataclass(frozen=True, kw_only=True)
class UserCode:
    """A function in a file of a user's own, read and not yet run.

    Parameters
    ----------
    file : str
        As the study file has it.
    function : str
    content : bytes
        Of the file.
    """

    file: str
    function: str
    content: bytes = field(repr=False)

    @property
    def text(self) -> str:
        """The function as the study file names it."""
        return f"{self.file}:{self.function}"

    @property
    def hash(self) -> str:
        """SHA-256 of the file, by which another text is another function."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Generated:
    """A scenario whose ratings a user's function simulates.

    Parameters
    ----------
    code : UserCode
        A function `(seed, **fields)` that returns Ratings with a system and the truth of each item,
        or these and the expected accuracy of the system.
    fields : tuple of (str, value)
        That the function is given.
    """

    code: UserCode
    fields: tuple[tuple[str, Any], ...]


def read_code(text: str, folder: Path) -> UserCode:
    """Read the file of a function; no code is run.

    Parameters
    ----------
    text : str
        As in "mine.py:simulate".
    folder : Path
        Of the study file, from which relative paths start. In a folder of results the file that
        was kept there is read.
    """
    file, _, function = text.rpartition(":")
    if not names_function(text) or not function.isidentifier():
        raise InputError(
            f"{text!r} names no function in a file", "write file.py:function, as in mine.py:f"
        )
    of_results = (folder / CELLS).is_dir()
    path = kept_code(folder, file) if of_results else folder / file
    try:
        content = path.read_bytes()
    except OSError as error:
        problem = f"{text} cannot be read: {error.strerror}: {path}"
        raise InputError(problem, "correct its path, which starts from the study file") from None
    return UserCode(file=file, function=function, content=content)


def kept_code(folder: Path, file: str) -> Path:
    """Where a folder of results keeps a file of functions."""
    return folder / FOLDER / file.replace("/", "_").replace("\\", "_").replace(":", "_")


@cache
def user_method(code: UserCode) -> Method:
    """Run the file of a method, and make a method of its function."""
    method: Method = _run(code, lambda text, folder: find_method(text, folder=folder))
    return method


@cache
def user_function(code: UserCode) -> Callable[..., Any]:
    """Run the file of a generator or an experiment, and give its function."""
    function: Callable[..., Any] = _run(code, load_function).function
    return function


def _run(code: UserCode, use: Callable[[str, Path], Any]) -> Any:
    """Run a file from its text, which other processes have even where they have no such file."""
    name = Path(code.file).name
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(code.content)
        try:
            return use(f"{name}:{code.function}", Path(folder))
        except InputError as error:
            raise InputError(error.problem, error.remedy, file=code.file) from error


def check_fields(scenario: Generated) -> None:
    """Raise an InputError if a generator does not take the fields of a scenario, or lacks some."""
    code = scenario.code
    try:
        inspect.signature(user_function(code)).bind(0, **dict(scenario.fields))
    except TypeError as error:
        problem = f"{code.text} cannot be called as {code.function}(seed, **fields): {error}"
        raise InputError(problem, "give the fields that it takes") from None


def generate(scenario: Generated, seed: int) -> tuple[Ratings, Truths]:
    """Simulate ratings by a user's function, and give what is true of them.

    Parameters
    ----------
    scenario : Generated
    seed : int

    Returns
    -------
    ratings : Ratings
        With truth.
    truths : dict
        By estimand; the expected accuracy is None where the function does not give it.

    Raises
    ------
    InputError
        If the function raises an exception or returns no Ratings with system and truth.
    """
    code, remedy = scenario.code, "correct the generator; what was finished is kept"
    try:
        made = user_function(code)(seed, **dict(scenario.fields))
    except Exception as error:
        if is_of_the_machine(error):
            raise
        problem = f"{code.text} raises {type(error).__name__} with seed {seed}: {error}"
        raise InputError(problem, remedy) from error
    ratings, expected = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
    if not isinstance(ratings, Ratings):
        problem = f"{code.text} returns a {type(ratings).__name__}"
        raise InputError(problem, "return lehner.Ratings with a system and truth")
    system, truth = ratings.system, ratings.truth
    for name, values in (("a system", system), ("truth", truth)):
        if values is None:
            raise InputError(f"{code.text} returns ratings without {name}", "add it")
    system, truth = np.asarray(system), np.asarray(truth)
    if (truth < 0).any() or (system < 0).all():
        lacking = "the truth of each item" if (system >= 0).any() else "an answer of the system"
        raise InputError(f"{code.text} returns ratings without {lacking}", remedy)
    answered = system >= 0
    in_sample = float((system == truth)[answered].mean())
    if expected is not None and not 0 <= float(expected) <= 1:
        raise wrong("the accuracy that a generator returns", expected, "give one from 0 to 1")
    truths = (None if expected is None else float(expected), in_sample)
    return ratings, dict(zip(ESTIMANDS, truths, strict=True))


def freeze(name: str, value: Any) -> Any:
    """Make a value of a study file one that does not change: lists become tuples."""
    if isinstance(value, list):
        return tuple(freeze(name, element) for element in value)
    if not isinstance(value, str | int | float) or isinstance(value, Mapping):
        raise wrong(name, value, "give numbers, texts, true or false, or lists of them")
    return value
