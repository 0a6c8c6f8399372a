"""A study file: aims, data-generating mechanisms, estimands, methods, measures (ADEMP)."""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from experiments.study.grid import StudyCell, expand
from experiments.study.identity import digest, method_id, scenario_id
from experiments.study.options import MethodChoice, choose_method
from experiments.study.user_code import Generated, UserCode
from lehner import InputError
from lehner.core.checks import (
    check_number,
    check_positive,
    check_probability,
    check_whole_number,
    find,
    wrong,
)


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise wrong(key, value, "give text in quotes")
    return value.strip()


CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "name": _text,
    "aims": _text,
    "seed": partial(check_whole_number, least=0),
    "replicates": partial(check_whole_number, least=1),
    "target_se": check_positive,
    "level": partial(check_number, lowest=0.5, highest=0.999),
    "null": check_probability,
}
KEYS = (*CHECKS, "methods", "scenarios")
REQUIRED = ("name", "seed", "methods", "scenarios")
MOST_REPLICATES = 100_000
MOST_ESTIMATES = 10_000_000
"""Scenarios times replicates times methods: a table of some 7 GB in memory."""
MOST_NESTED = 20
DEEP_KEY = re.compile(rf"(?:\.[\w-]+){{{MOST_NESTED},}}\s*[\].=]")


@dataclass(frozen=True, kw_only=True)
class Study:
    """A simulation study.

    Parameters
    ----------
    name : str
    aims : str
        What the study is to find out.
    seed : int
    replicates : int
        Samples of each cell; with `target_se` the most of them.
    target_se : float, optional
        Go on until every bias has a Monte Carlo standard error of this or less.
    level : float
        Probability of the intervals.
    null : float, optional
        An accuracy; power is the proportion of intervals that do not contain it.
    methods : tuple of MethodChoice
    cells : tuple of StudyCell
        The scenarios, grids and sweeps expanded.
    """

    name: str
    aims: str = ""
    seed: int
    replicates: int = MOST_REPLICATES
    target_se: float | None = None
    level: float = 0.9
    null: float | None = None
    methods: tuple[MethodChoice, ...]
    cells: tuple[StudyCell, ...]

    @property
    def code(self) -> list[UserCode]:
        """Functions of a user's own that it names, each file once."""
        of_methods = [method.code for method in self.methods if method.code is not None]
        scenarios = [cell.scenario for cell in self.cells]
        generators = [one.code for one in scenarios if isinstance(one, Generated)]
        return list({one.file: one for one in (*of_methods, *generators)}.values())

    @property
    def hash(self) -> str:
        """Twelve hexadecimal digits that stand for all that is in the study."""
        return digest(
            {
                "name": self.name,
                "aims": self.aims,
                "seed": self.seed,
                "replicates": self.replicates,
                "target_se": self.target_se,
                "methods": [[one.label, method_id(one, self.level)] for one in self.methods],
                "scenarios": [[cell.name, scenario_id(cell.scenario)] for cell in self.cells],
            }
        )


def read_study(path: str | Path) -> Study:
    """Read a study file.

    Parameters
    ----------
    path : str or Path
        A TOML file, or the name of a study that is shipped, as in "quick". It has keys `name`,
        `aims`, `seed`, `replicates` or `target_se`, `level`, `null`, `methods` (names, or
        tables with `name` and options) and tables `[[scenarios]]` with the fields of
        `lehner.Scenario`, a `name`, and perhaps a `grid` (all combinations of the values given) or
        a `sweep` (one field after another). A method may be a function of your own, as in
        "mine.py:estimate", and a scenario may have a `generator`, as in "mine.py:simulate", and
        the fields that this function takes. Paths start from the folder of the study file. The
        files are read here; they are run as Python code when the study is run or replayed.

    Returns
    -------
    Study
        Its seed, methods and cells: the scenarios, with grids and sweeps expanded.

    Raises
    ------
    InputError
        If there is no such file, if it is not TOML, or if a key or a value in it is wrong. The
        error names the file, the line and the key.

    References
    ----------
    Morris, White & Crowther (2019), https://doi.org/10.1002/sim.8086, for aims, data-generating
    mechanisms, estimands, methods and performance measures.

    Examples
    --------
    >>> study = read_study("quick")
    >>> study.name, len(study.cells)
    ('quick', 5)
    """
    path = find_study(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start} is not UTF-8", "save it as UTF-8", file=path
        ) from None
    deep = DEEP_KEY.search(text)
    if deep:  # Reading it would take minutes.
        raise _nested(path, 1 + text.count("\n", 0, deep.start()))
    try:
        content = tomllib.loads(text)
    except RecursionError:
        raise _nested(path, None) from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        row = int(line[1]) if line else text.count("\n") + 1
        raise InputError(f"this is not TOML: {error}", "correct it", file=path, row=row) from None
    where: list[str | int] = []
    try:
        return _study(content, where, path.parent)
    except InputError as error:
        raise InputError(
            error.problem, error.remedy, file=path, row=_line_of(text, where)
        ) from None


def _nested(path: Path, row: int | None) -> InputError:
    return InputError(
        "tables or lists are nested too deeply",
        "a study needs no more than lists in the grid of a scenario",
        file=path,
        row=row,
    )


def find_study(path: str | Path) -> Path:
    """Find a study file, or one that is shipped by its name."""
    path = Path(path)
    shipped = {file.stem: file for file in (Path(__file__).parents[1] / "studies").glob("*.toml")}
    if not path.is_file() and str(path) in shipped:
        return shipped[str(path)]
    if not path.is_file():
        names = ", ".join(sorted(shipped))
        raise InputError("there is no such file", f"give a TOML file, or one of {names}", file=path)
    return path


def _study(content: Mapping[str, Any], where: list[str | int], folder: Path) -> Study:
    """Build a study; `where` says what is being read, for the line of an error."""
    for key in content:
        where[:] = [key]
        find("key", key, dict.fromkeys(KEYS))
    where.clear()
    for key in REQUIRED:
        if key not in content:
            raise InputError(f"there is no {key!r}", f"a study has {', '.join(REQUIRED)}")
    if not {"replicates", "target_se"} & set(content):
        raise InputError("there is no 'replicates'", "give a number, or a 'target_se'")
    values: dict[str, Any] = {}
    for key, check in CHECKS.items():
        where[:] = [key]
        if key in content:
            values[key] = check(key, content[key])
    where[:] = ["methods"]
    methods = tuple(choose_method(one, folder) for one in _list("methods", content["methods"]))
    _require_unique("methods", [method.label for method in methods])
    where[:] = ["scenarios"]
    cells: list[StudyCell] = []
    for i, table in enumerate(_list("scenarios", content["scenarios"])):
        where[:] = ["scenarios", i]
        if not isinstance(table, Mapping):
            raise wrong("scenarios", table, "give tables under [[scenarios]]")
        cells += expand(table, where, folder)
    where[:] = ["scenarios", len(content["scenarios"]) - 1]
    _require_unique("scenarios", [cell.name for cell in cells])
    where[:] = ["replicates"]
    study = Study(methods=methods, cells=tuple(cells), **values)
    # With a target, `replicates` is what no scenario is expected to reach.
    if study.target_se is None:
        _require_feasible(study)
    return study


def _require_feasible(study: Study) -> None:
    number = len(study.cells) * study.replicates * len(study.methods)
    if number > MOST_ESTIMATES:
        raise InputError(
            f"{len(study.cells):,} scenarios × {study.replicates:,} replicates × "
            f"{len(study.methods)} methods are {number:,} estimates, and a study can have "
            f"{MOST_ESTIMATES:,}",
            "take fewer, or make several studies",
        )


def _list(key: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise wrong(key, value, "give a list, not empty")
    return value


def _require_unique(key: str, names: list[str]) -> None:
    twice = [name for name, number in Counter(names).items() if number > 1]
    if twice:
        raise InputError(f"{key} has {twice[0]!r} twice", "give each a name of its own")


def _line_of(text: str, where: list[str | int]) -> int | None:
    """Find the line of a key, within the i-th table of its name if there are several."""
    lines = text.splitlines()
    if not where:
        return None
    first, last = 0, len(lines)
    if len(where) > 1:
        headers = [
            i for i, line in enumerate(lines) if re.match(r"\s*\[\[\s*scenarios\s*\]\]", line)
        ]
        number = int(where[1])
        if number >= len(headers):
            return None
        first = headers[number]
        last = headers[number + 1] if number + 1 < len(headers) else len(lines)
    for key in reversed([str(part) for part in where if isinstance(part, str)]):
        for i in range(first, last):
            if re.search(rf"(^|[{{\[,\s.]){re.escape(key)}[\"']?\s*[=\]]", lines[i]):
                return i + 1
    return first + 1
