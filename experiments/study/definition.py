"""A study file: aims, data-generating mechanisms, estimands, methods, measures (ADEMP)."""

import itertools
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from experiments.study.identity import FORMAT, digest, method_id, scenario_id
from experiments.study.options import MethodChoice, check_text, choose_method
from experiments.study.user_code import Generated, UserCode, freeze, read_code
from lehner import InputError, Scenario, __version__
from lehner.core.errors import (
    check_number,
    check_probability,
    check_whole_number,
    find,
    wrong,
)

CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "name": check_text,
    "aims": partial(check_text, empty=True),
    "seed": partial(check_whole_number, least=0),
    "replicates": partial(check_whole_number, least=1),
    "level": partial(check_number, lowest=0.5, highest=0.999),
    "null": check_probability,
}
REQUIRED = ("name", "seed", "replicates", "scenarios")
FUNCTIONS = ("experiment", "table", "figure")
"""Keys that name a function in a file."""
MOST_ESTIMATES = 10_000_000
"""Scenarios times replicates times methods: a table of some 7 GB in memory."""

FIELDS = {field.name: field for field in fields(Scenario)}
OF_THE_TABLE = ("name", "grid", "sweep", "generator")
OF_RESULTS = ("scenario_id", "scenario", "replicate")
STUDIES = ("studies", "simulations")
"""Folders of the studies that are shipped."""
MOST_SCENARIOS = 10_000
"""That a table of a study file may stand for."""


@dataclass(frozen=True, kw_only=True)
class StudyCell:
    """A scenario of a study.

    Parameters
    ----------
    name : str
        Of the table in the study file, and of the values that are varied.
    fields : tuple of str
        That the grid or sweep sets.
    scenario : Scenario or Generated
    """

    name: str
    fields: tuple[str, ...]
    scenario: Scenario | Generated

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The fields of its scenario by name."""
        if isinstance(self.scenario, Scenario):
            return asdict(self.scenario)
        return {"generator": self.scenario.code.text, **dict(self.scenario.fields)}

    @property
    def varied(self) -> dict[str, Any]:
        """Fields that the grid or sweep sets, and their values; of an experiment all fields."""
        settings = self.settings
        names = list(self.fields)
        if "generator" in settings:
            names += [name for name in settings if name not in (*names, "generator")]
        return {name: settings[name] for name in names}


@dataclass(frozen=True, kw_only=True)
class Study:
    """A simulation study.

    Parameters
    ----------
    name : str
        Of the study, in its report.
    aims : str
        What the study is to find out.
    seed : int
        Whole number, 0 or more: the same seed gives the same results.
    replicates : int
        Samples of each scenario.
    level : float
        Probability of the intervals, from .5 to .999.
    null : float, optional
        An accuracy; power is the proportion of intervals that do not contain it.
    methods : tuple of MethodChoice
        Names, or tables of a name and options; a function of your own, as in "mine.py:estimate".
    experiment : UserCode, optional
        In place of methods a function of your own, as in "mine.py:try": from a seed and the fields
        of a scenario to the rows of a replicate.
    table : UserCode, optional
        Of an experiment: a function from its results to the table, or tables by name, of a report.
    figure : UserCode, optional
        Of an experiment: a function from that to figures by name.
    cells : tuple of StudyCell
        The scenarios, grids and sweeps expanded.
    """

    name: str
    aims: str = ""
    seed: int
    replicates: int
    level: float = 0.9
    null: float | None = None
    methods: tuple[MethodChoice, ...] = ()
    experiment: UserCode | None = None
    table: UserCode | None = None
    figure: UserCode | None = None
    cells: tuple[StudyCell, ...]

    @property
    def code(self) -> list[UserCode]:
        """Functions of a user's own that it names, each file once."""
        scenarios = [cell.scenario for cell in self.cells]
        codes = [method.code for method in self.methods]
        codes += [scenario.code for scenario in scenarios if isinstance(scenario, Generated)]
        codes += [self.experiment, self.table, self.figure]
        return list({code.file: code for code in codes if code is not None}.values())

    @property
    def hash(self) -> str:
        """Twelve hexadecimal digits that stand for all results of the study."""
        keys = (self.method_keys, self.scenario_keys)
        return digest([self.name, self.replicates, *keys])

    @cached_property
    def method_keys(self) -> dict[str, str]:
        """What stored results of each method are known by."""
        return {method.label: method_id(method, self.level) for method in self.methods}

    @cached_property
    def scenario_keys(self) -> dict[str, str]:
        """What stored results of each scenario are known by: also by seed and version."""
        return {
            cell.name: digest([__version__, FORMAT, self.seed, scenario_id(cell.scenario)])
            for cell in self.cells
        }


def read_study(path: str | Path) -> Study:
    """Read a study file.

    Parameters
    ----------
    path : str or Path
        A TOML file, or the name of a study that is shipped, as in "quick". It has keys `name`,
        `aims`, `seed`, `replicates`, `level`, `null`, `methods` (names, or
        tables with `name` and options) and tables `[[scenarios]]` with the fields of
        `lehner.Scenario`, a `name`, and perhaps a `grid` (all combinations of the values given) or
        a `sweep` (one field after another), whose values may have names. A method may be a
        function of your own, as in "mine.py:estimate", and a scenario may have a `generator`, as in
        "mine.py:simulate", and the fields that this function takes. In place of `methods` there may
        be an `experiment`, a function of your own that takes the fields of all scenarios. Paths
        start from the folder of the study file. The files are read here; they are run as Python
        code when the study is run or a replicate drawn.

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
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        line = re.search(r"line (\d+)", str(error))
        row = int(line[1]) if line else None
        problem = f"this is not TOML in UTF-8: {error}"
        raise InputError(problem, "correct it", file=path, row=row) from None
    where: list[str | int] = []
    try:
        return _study(content, path.parent, where)
    except InputError as error:
        row = _line_of(text, error.problem, where)
        raise InputError(error.problem, error.remedy, file=path, row=row) from None


def find_study(path: str | Path) -> Path:
    """Find a study file, or one that is shipped by its name."""
    path = Path(path)
    folders = (Path(__file__).parents[1] / name for name in STUDIES)
    shipped = {file.stem: file for folder in folders for file in folder.glob("*.toml")}
    if path.is_file():
        return path
    if str(path) in shipped:
        return shipped[str(path)]
    names = ", ".join(sorted(shipped))
    raise InputError("there is no such file", f"give a TOML file, or one of {names}", file=path)


def _study(content: Mapping[str, Any], folder: Path, where: list[str | int]) -> Study:
    """Build a study; `where` says what is being read, for the line of an error."""
    for key in content:
        find("key", key, dict.fromkeys((*CHECKS, *REQUIRED, "methods", *FUNCTIONS)))
    for key in REQUIRED:
        if key not in content:
            raise InputError(f"there is no {key!r}", f"a study has {', '.join(REQUIRED)}")
    if ("methods" in content) == ("experiment" in content):
        raise InputError("there are 'methods' and 'experiment', or neither", "give one of them")
    values = {key: check(key, content[key]) for key, check in CHECKS.items() if key in content}
    for key in FUNCTIONS:
        if key in content:
            values[key] = read_code(check_text(key, content[key]), folder)
    where[:] = ["methods"]
    listed = _list("methods", content["methods"]) if "methods" in content else []
    methods = tuple(choose_method(choice, folder) for choice in listed)
    _require_unique("methods", [method.label for method in methods])
    cells: list[StudyCell] = []
    for i, table in enumerate(_list("scenarios", content["scenarios"])):
        where[:] = ["scenarios", i]
        cells += expand(table, f"scenario {i + 1}", folder, values.get("experiment"))
    _require_unique("scenarios", [cell.name for cell in cells])
    where[:] = ["replicates"]
    study = Study(methods=methods, cells=tuple(cells), **values)
    number = len(cells) * study.replicates * max(len(methods), 1)
    if number > MOST_ESTIMATES:
        size = f"{len(cells):,} scenarios × {study.replicates:,} replicates"
        raise InputError(
            f"{size} × {len(methods)} methods are {number:,} estimates, "
            f"and a study can have {MOST_ESTIMATES:,}",
            "take fewer, or make several studies",
        )
    return study


def expand(
    table: Any,
    unnamed: str = "scenario",
    folder: Path = Path(),
    experiment: UserCode | None = None,
) -> Iterator[StudyCell]:
    """Expand a table of scenarios.

    Parameters
    ----------
    table : mapping
        Fields of `Scenario`, `name`, `grid` (fields with lists of values: all combinations) and
        `sweep` (the same: one field after another, the others as the table has them). In place of
        a list, a table of values by name gives the scenarios these names. With a `generator`, as
        in "mine.py:simulate", the fields are those of this function.
    unnamed : str
        Name of a table that has none.
    folder : Path
        From which the path of a generator starts.
    experiment : UserCode, optional
        The function that the fields are of.

    Yields
    ------
    StudyCell

    Raises
    ------
    InputError
        If a field or value is wrong, or there are more than 10,000 scenarios.

    Examples
    --------
    >>> table = {"name": "few", "sweep": {"n_items": [50, 100], "missing": {"with gaps": 0.1}}}
    >>> [cell.name for cell in expand(table)]
    ['few, n_items 50', 'few, n_items 100', 'few, with gaps']
    """
    if not isinstance(table, Mapping):
        raise wrong("scenarios", table, "give tables under [[scenarios]]")
    make: Callable[..., Scenario | Generated] = Scenario
    if experiment is not None:
        make = partial(_generated, experiment)
    elif "generator" in table:
        generator = check_text("generator", table["generator"])
        make = partial(_generated, read_code(generator, folder))
    base = {key: value for key, value in table.items() if key not in OF_THE_TABLE}
    name = check_text("name", table.get("name", unnamed))
    grid, sweep = (_varied(key, table.get(key, {})) for key in ("grid", "sweep"))
    for key in (*base, *grid, *sweep):
        if make is Scenario:
            find("field of a scenario called", key, FIELDS)
        elif key in OF_RESULTS:
            raise InputError(f"a field cannot be called {key!r}", "give it a name of its own")
    number = math.prod(map(len, grid.values())) * max(sum(map(len, sweep.values())), 1)
    if number > MOST_SCENARIOS:
        problem = f"{'grid' if grid else 'sweep'} makes {number:,} scenarios"
        remedy = "vary fewer fields at once, or give fewer values"
        raise InputError(f"{problem}, and a table can have {MOST_SCENARIOS:,}", remedy)
    swept = [{field: value} for field, values in sweep.items() for value in values] or [{}]
    for values, moved in itertools.product(itertools.product(*grid.values()), swept):
        varied = dict(zip(grid, values, strict=True)) | moved
        changes = {field: value for field, (_, value) in varied.items()}
        parts = (label for label, _ in varied.values())
        scenario = make(**(base | changes))
        yield StudyCell(name=", ".join([name, *parts]), fields=tuple(varied), scenario=scenario)


def _generated(code: UserCode, /, **values: Any) -> Generated:
    fields = {name: freeze(name, value) for name, value in sorted(values.items())}
    return Generated(code=code, fields=tuple(fields.items()))


def _varied(key: str, varied: Any) -> dict[str, list[tuple[str, Any]]]:
    """List the values of each field with labels: their names, or the field and the value."""
    if not isinstance(varied, Mapping):
        raise wrong(key, varied, "give fields with lists of values, as in { n_items = [50, 100] }")
    labelled = {}
    for field, values in varied.items():
        if isinstance(values, Mapping) and values:
            names = [check_text("name of a value", name) for name in values]
            labelled[field] = list(zip(names, values.values(), strict=True))
        else:
            labelled[field] = [(f"{field} {shown(x)}", x) for x in _list(field, values)]
    return labelled


def _list(key: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise wrong(key, value, "give a list of values, one or more")
    return value


def _require_unique(key: str, names: list[str]) -> None:
    twice = [name for name, number in Counter(names).items() if number > 1]
    if twice:
        raise InputError(f"{key} has {twice[0]!r} twice", "give each a name of its own")


def shown(value: Any) -> str:
    """Write the value of a field as names, tables and figures have it."""
    if isinstance(value, list | tuple):
        return " ".join(x if isinstance(x, str) else f"{x:g}" for x in value)
    return str(value)


def _line_of(text: str, problem: str, where: list[str | int]) -> int | None:
    """Line of what a problem names, in quotes or first, in the table that was read, or its own."""
    lines = text.splitlines()
    headers = [i for i, line in enumerate(lines) if re.match(r"\s*\[\[\s*scenarios\b", line)]
    first, last = 0, len(lines)
    if len(where) > 1 and int(where[1]) < len(headers):
        first, last = [*headers, last][int(where[1]) :][:2]
    names = [*re.findall(r"'([^']+)'", problem), problem.split()[0], *map(str, where[:1])]
    for name in filter(str.isidentifier, names):
        for i in range(first, last):
            if re.search(rf"(^|[{{\[,\s.]){name}[\"']?\s*[=\]]", lines[i]):
                return i + 1
    return None
