"""Parts of a study: scenarios, methods, functions of a user's own, and seeds.

Seeds depend on the study's seed, the scenario and the method, so that a study can grow, and be done
in any order by any number of workers, without a number changing.
"""

import hashlib
import inspect
import itertools
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from lehner.core import errors
from lehner.core.errors import InputError
from lehner.core.estimate import to_plain
from lehner.core.lazy import names_function, split_function, write_source
from lehner.empirical_prior.prior import RATERS_ARE, SYSTEM_IS
from lehner.estimation.methods import Method, find_method
from lehner.simulation.scenario import Scenario

type Check = Callable[[str, Any], Any]


def check_text(key: str, value: Any, *, empty: bool = False) -> str:
    """Raise an InputError unless a value is text, and has letters if it may not be empty."""
    if not isinstance(value, str) or not (value.strip() or empty):
        raise errors.make_error(key, value, "give text in quotes")
    return value.strip()


def check_function(key: str, value: Any) -> Any:
    """Raise an InputError unless a value is a function, or text; None is none."""
    return value if value is None or callable(value) else check_text(key, value)


def check_estimand(key: str, value: Any) -> Any:
    """Raise an InputError unless a value is a function, or names one or an estimand."""
    return value if names_code(value) else errors.check_choice(key, value, ESTIMANDS)


def names_code(value: Any) -> bool:
    """Tell whether a value is a function, or names one in a file."""
    return callable(value) or names_function(value)


def check_priors(key: str, value: Any) -> None:
    """Raise an InputError unless a value is the name of a set of priors, or numbers."""
    if not isinstance(value, (str, Mapping)):
        raise errors.make_error(key, value, "give the name of a set, or numbers by variable")


KEYS: dict[str, Check] = {
    "name": check_text,
    "aims": partial(check_text, empty=True),
    "seed": partial(errors.check_whole_number, least=0),
    "replicates": partial(errors.check_whole_number, least=1),
    "level": partial(errors.check_number, lowest=0.5, highest=0.999),
}
REQUIRED = ("name", "seed", "replicates", "scenarios")
# Keys whose value is a function of the user's.
FUNCTIONS: dict[str, Check] = {
    "experiment": check_function,
    "table": check_function,
    "estimand": check_estimand,
}
# Estimands that need no function of the user's.
ESTIMANDS = ("accuracy", "weighted_loss")
SCENARIO_FIELDS = {field.name: field for field in fields(Scenario)}
TABLE_KEYS = ("name", "grid", "sweep", "generator")
RESULT_COLUMNS = ("scenario", "replicate")
# A folder of results has one folder of numbers and one of files of functions.
CELLS_FOLDER, CODE_FOLDER = "cells", "functions"
# A key of TOML that needs no quotes.
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# A table of a study file may stand for so many scenarios.
MOST_SCENARIOS = 10_000

COUNT = partial(errors.check_whole_number, least=1)
# What checks the options of methods.
OPTIONS: dict[str, Check] = {
    "interval": partial(errors.check_choice, choices=("percentile", "none")),
    "resamples": COUNT,
    "restarts": partial(errors.check_whole_number, least=0),
    "system_is": partial(errors.check_choice, choices=SYSTEM_IS),
    "raters_are": partial(errors.check_choice, choices=RATERS_ARE),
}
# The next ones check the options of Bayesian models.
SAMPLER_OPTIONS: dict[str, Check] = {
    "priors": check_priors,
    "engine": partial(errors.check_choice, choices=("nuts", "gibbs")),
    "draws": partial(errors.check_whole_number, least=4),
    "tune": COUNT,
    "chains": COUNT,
    "tries": COUNT,
}
DEFAULTS = {"interval": "percentile", "restarts": 0}
# The names of fields under which the seeds of the committed tables were made.
FIRST_NAMES = {
    "initial_rater_accuracy": "rater_accuracy",
    "initial_system_accuracy": "system_accuracy",
    "easiness": "difficulty",
    "easiness_affects": "difficulty_affects",
}


@dataclass(frozen=True, kw_only=True)
class UserCode:
    """A function of a user's own, in a file that is not yet run, or defined in Python.

    Parameters
    ----------
    file : str
        As the study file has it; of a function that was defined in Python, the name of the file
        into which its text is written.
    function : str
    content : bytes
        Of the file.
    path : Path
        Where it was read, which says nothing about what it does.
    defined : callable, optional
        The function itself, if it was defined in Python.
    """

    file: str
    function: str
    content: bytes = field(repr=False)
    path: Path = field(compare=False)
    defined: Callable[..., Any] | None = field(default=None, repr=False, compare=False)

    @property
    def text(self) -> str:
        """The function as a study file names it."""
        return f"{self.file}:{self.function}"

    @property
    def hash(self) -> str:
        """SHA-256 of the file, by which another text is another function."""
        return hashlib.sha256(self.content).hexdigest()


# What a study is about, unless it says otherwise: the accuracy of the system.
ACCURACY = "accuracy"


@dataclass(frozen=True, kw_only=True)
class Generated:
    """A scenario whose ratings a user's function simulates, or of an experiment.

    Parameters
    ----------
    code : UserCode
        A function `(seed, **fields)` that returns Ratings with a system and the truth of each item,
        or these and the expected accuracy of the system; of an experiment the rows of a replicate.
    fields : tuple of (str, value)
        That the function takes.
    """

    code: UserCode
    fields: tuple[tuple[str, Any], ...]


def read_code(function: str | Callable[..., Any], folder: Path) -> UserCode:
    """Read the text of a function; no code is run.

    Parameters
    ----------
    function : str or callable
        As in "mine.py:simulate", or the function itself.
    folder : Path
        Of the study file, from which relative paths start. In a folder of results the file that
        was kept there is read.
    """
    if callable(function):
        content = write_source(function).encode()
        name = function.__name__
        file = f"{name}.py"
        path = Path(inspect.getfile(function))
        return UserCode(file=file, function=name, content=content, path=path, defined=function)
    file, name = split_function(function)
    path = locate_code(folder, file) if (folder / CELLS_FOLDER).is_dir() else folder / file
    try:
        content = path.read_bytes()
    except OSError as error:
        problem = f"{function} cannot be read: {error.strerror}: {path}"
        raise InputError(problem, "correct its path, which starts from the study file") from None
    return UserCode(file=file, function=name, content=content, path=path)


def locate_code(folder: Path, file: str) -> Path:
    """Give the place where a folder of results keeps a file of functions."""
    return folder / CODE_FOLDER / file.replace("/", "_").replace("\\", "_").replace(":", "_")


@dataclass(frozen=True, kw_only=True)
class MethodChoice:
    """A method of a study.

    Parameters
    ----------
    method : str
        Name, as in `lehner.estimation.methods.list_methods`.
    label : str
        What it is called in the results: its name, unless the study says another.
    options : tuple of (str, value)
        As `list_options` has them.
    code : UserCode, optional
        Of a function of a user's own.
    """

    method: str
    label: str
    options: tuple[tuple[str, Any], ...] = ()
    code: UserCode | None = None

    @property
    def bayesian(self) -> bool:
        """Whether it samples a posterior."""
        return self.code is None and "in_study" in find_method(self.method).takes

    def identify(self, level: float) -> str:
        """Give twelve hexadecimal digits that stand for the method, its options and its intervals.

        A user's function is identified by the text of its file, too.
        """
        options = [[name, value] for name, value in self.options]
        return digest([self.method, options, level, *([self.code.hash] if self.code else [])])


def list_options(method: Method) -> Mapping[str, Check]:
    """List the options that a study may give a method: those that its functions take."""
    if "in_study" in method.takes:
        return SAMPLER_OPTIONS
    return {name: check for name, check in OPTIONS.items() if name in method.takes}


def choose_method(choice: Any, folder: Path = Path()) -> MethodChoice:
    """Read a method of a study.

    Parameters
    ----------
    choice : str, callable or mapping
        Its name, or a table with `name`, options, and perhaps a `label`. A function of a user's
        own, or its name as in "mine.py:estimate", has no options.
    folder : Path
        From which paths of such functions start.

    Returns
    -------
    MethodChoice

    Raises
    ------
    InputError
        If there is no such method or option.

    Examples
    --------
    >>> choose_method({"name": "algebraic", "interval": "none"}).options
    (('interval', 'none'),)
    """
    options = dict(choice) if isinstance(choice, Mapping) else {"name": choice}
    name, code = options.pop("name", None), None
    allowed: Mapping[str, Check] = {}
    if names_code(name):
        code = read_code(name, folder)
        name = code.function
    elif isinstance(name, str):
        method = find_method(name)
        name, allowed = method.name, list_options(method)
    else:
        remedy = "give a name or a function, or a table with a name and options"
        raise errors.make_error("methods", choice, remedy)
    label = check_text("label", options.pop("label", name))
    for key, value in options.items():
        errors.find(f"option of {name} called", key, allowed)(key, value)
    options |= {key: value for key, value in DEFAULTS.items() if key in allowed.keys() - options}
    return MethodChoice(method=name, label=label, options=tuple(sorted(options.items())), code=code)


@dataclass(frozen=True, kw_only=True)
class StudyScenario:
    """A scenario of a study.

    Parameters
    ----------
    name : str
        Of the table in the study file, and of the values that are varied.
    fields : tuple of str
        That the grid or sweep sets; of a function all its fields.
    scenario : Scenario or Generated
    """

    name: str
    fields: tuple[str, ...]
    scenario: Scenario | Generated

    @property
    def code(self) -> UserCode | None:
        """The user's function that simulates it."""
        return None if isinstance(self.scenario, Scenario) else self.scenario.code

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The fields of its scenario by name."""
        if isinstance(self.scenario, Scenario):
            return asdict(self.scenario)
        return {"generator": self.scenario.code.text, **dict(self.scenario.fields)}

    @property
    def varied(self) -> dict[str, Any]:
        """The fields that are varied, and their values."""
        return {name: self.settings[name] for name in self.fields}


def digest(value: Any) -> str:
    """Give twelve hexadecimal digits that stand for anything JSON can say."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@lru_cache(maxsize=4096)
def identify_scenario(scenario: Scenario | Generated) -> str:
    """Give twelve hexadecimal digits that stand for what differs from the default in a scenario.

    They give the seeds. One that a user's function simulates is identified by the function's name
    and the fields: another text of the function sees the same random numbers.
    """
    if not isinstance(scenario, Scenario):
        return digest(["generated", scenario.code.function, scenario.fields])
    # Known by equality here and by its text on disk: `Scenario` writes what is equal alike.
    changed = list_changes(scenario).items()
    return digest({FIRST_NAMES.get(name, name): value for name, value in changed})


def list_changes(scenario: Scenario) -> dict[str, Any]:
    """List the fields of a scenario that are not as by default."""
    plain = {entry.name: entry.default for entry in fields(scenario)}
    return {name: value for name, value in asdict(scenario).items() if value != plain[name]}


def derive_scenario_seed(seed: int, scenario: Scenario | Generated) -> np.random.SeedSequence:
    """Seed of a scenario in a study of this seed, whatever other scenarios there are."""
    return np.random.SeedSequence(seed, spawn_key=(int(identify_scenario(scenario), 16),))


def derive_cell_seed(scenario: np.random.SeedSequence, *place: int) -> int:
    """Seed of a replicate of a scenario, or of a replicate and a method."""
    key = (*scenario.spawn_key, *place)
    state = np.random.SeedSequence(scenario.entropy, spawn_key=key).generate_state(1, np.uint64)
    return int(state[0] >> np.uint64(1))


def list_tables(scenarios: Any) -> list[Any]:
    """List scenarios as the tables of a study file.

    Examples
    --------
    >>> list_tables({"few": Scenario(n_items=50), "many": {"n_items": 500}})
    [{'name': 'few', 'n_items': 50}, {'name': 'many', 'n_items': 500}]
    """
    if isinstance(scenarios, Mapping):
        named = zip(scenarios, list_tables(list(scenarios.values())), strict=True)
        return [{"name": name} | table for name, table in named]
    tables = [list_changes(x) if isinstance(x, Scenario) else x for x in scenarios]
    return check_list("scenarios", to_plain(tables))


def expand_tables(
    tables: list[Any], folder: Path = Path(), experiment: UserCode | None = None
) -> Iterator[StudyScenario]:
    """Expand the tables of scenarios of a study; an error says which table it is of."""
    for number, table in enumerate(tables, 1):
        try:
            yield from expand_scenarios(table, f"scenario {number}", folder, experiment)
        except InputError as error:
            error.problem = f"{error.problem}, in [[scenarios]] number {number}"
            raise


def expand_scenarios(
    table: Any, unnamed: str = "scenario", folder: Path = Path(), experiment: UserCode | None = None
) -> Iterator[StudyScenario]:
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
    StudyScenario

    Raises
    ------
    InputError
        If a field or value is wrong, or there are more than 10,000 scenarios.

    Examples
    --------
    >>> table = {"name": "few", "sweep": {"n_items": [50, 100], "missing": {"with gaps": 0.1}}}
    >>> [scenario.name for scenario in expand_scenarios(table)]
    ['few, n_items 50', 'few, n_items 100', 'few, with gaps']
    """
    if not isinstance(table, Mapping):
        raise errors.make_error("scenarios", table, "give tables under [[scenarios]]")
    code = experiment
    if code is None and "generator" in table:
        code = read_code(check_function("generator", table["generator"]), folder)
    base = {key: value for key, value in table.items() if key not in TABLE_KEYS}
    name = check_text("name", table.get("name", unnamed))
    grid, sweep = (_label_values(key, table.get(key, {})) for key in ("grid", "sweep"))
    for key in (*base, *grid, *sweep):
        if code is None:
            errors.find("field of a scenario called", key, SCENARIO_FIELDS)
        elif key in RESULT_COLUMNS:
            raise InputError(f"a field cannot be called {key!r}", "give it a name of its own")
    number = math.prod(map(len, grid.values())) * max(sum(map(len, sweep.values())), 1)
    if number > MOST_SCENARIOS:
        problem = f"{'grid' if grid else 'sweep'} makes {number:,} scenarios"
        remedy = "vary fewer fields at once, or give fewer values"
        raise InputError(f"{problem}, and a table can have {MOST_SCENARIOS:,}", remedy)
    swept = [{field: value} for field, values in sweep.items() for value in values] or [{}]
    for values, moved in itertools.product(itertools.product(*grid.values()), swept):
        varied = dict(zip(grid, values, strict=True)) | moved
        settings = base | {field: value for field, (_, value) in varied.items()}
        names: Iterable[str] = varied
        scenario: Scenario | Generated
        if code is None:
            scenario = Scenario(**settings)
        else:
            pairs = tuple((field, _freeze(field, settings[field])) for field in sorted(settings))
            scenario, names = Generated(code=code, fields=pairs), {**varied, **dict(pairs)}
        label = ", ".join([name, *(label for label, _ in varied.values())])
        yield StudyScenario(name=label, fields=tuple(names), scenario=scenario)


def _freeze(name: str, value: Any) -> Any:
    """Make a value of a study file one that does not change: lists become tuples."""
    if isinstance(value, list):
        return tuple(_freeze(name, element) for element in value)
    if not isinstance(value, str | int | float):
        raise errors.make_error(name, value, "give numbers, texts, true or false, or lists of them")
    return value


def _label_values(key: str, varied: Any) -> dict[str, list[tuple[str, Any]]]:
    """List the values of each field with labels: their names, or the field and the value."""
    if not isinstance(varied, Mapping):
        remedy = "give fields with lists of values, as in { n_items = [50, 100] }"
        raise errors.make_error(key, varied, remedy)
    labelled = {}
    for name, values in varied.items():
        if isinstance(values, Mapping) and values:
            labels = [check_text("name of a value", label) for label in values]
            labelled[name] = list(zip(labels, values.values(), strict=True))
        else:
            labelled[name] = [(f"{name} {write_value(x)}", x) for x in check_list(name, values)]
    return labelled


def check_list(key: str, value: Any) -> list[Any]:
    """Raise an InputError unless a value is a list that is not empty."""
    if not isinstance(value, list) or not value:
        raise errors.make_error(key, value, "give a list of values, one or more")
    return value


def write_value(value: Any) -> str:
    """Write the value of a field as names, tables and figures have it."""
    if isinstance(value, list | tuple):
        return " ".join(x if isinstance(x, str) else f"{x:g}" for x in value)
    return str(value)


def write_toml(value: Any) -> str:
    r"""Write a value as TOML: a function by its name, and a mapping as an inline table.

    Examples
    --------
    >>> write_toml({"n items": [50, 1.5], "b": True, "name": 'a "b"'})
    '{ "n items" = [50, 1.5], b = true, name = "a \\"b\\"" }'
    """
    if callable(value):
        value = f"{value.__name__}.py:{value.__name__}"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(write_pairs(value))} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(write_toml, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)


def write_pairs(table: Mapping[str, Any]) -> list[str]:
    """Write each key of a table with its value, as TOML."""
    names = (key if BARE_KEY.fullmatch(key) else write_toml(key) for key in table)
    return [f"{name} = {write_toml(x)}" for name, x in zip(names, table.values(), strict=True)]
