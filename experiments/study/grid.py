"""Scenarios of a study: given one by one, as a grid, or as a sweep of one field after another."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from experiments.study.part_file import COLUMNS
from experiments.study.user_code import Generated, UserCode, freeze, read_code
from lehner import InputError, Scenario
from lehner.core.checks import find, wrong

FIELDS = {field.name: field for field in fields(Scenario)}
OF_THE_TABLE = ("name", "grid", "sweep", "generator")
OF_RESULTS = ("scenario", "table", "method")
MOST_SCENARIOS = 10_000
"""That a table of a study file may stand for."""


@dataclass(frozen=True, kw_only=True)
class StudyCell:
    """A scenario of a study.

    Parameters
    ----------
    name : str
        Of the table in the study file, and the values that are varied.
    table : str
        Name of the table.
    varied : tuple of (str, value)
        Fields that the grid or sweep sets, and their values.
    scenario : Scenario
    """

    name: str
    table: str
    varied: tuple[tuple[str, Any], ...]
    scenario: Scenario | Generated

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The fields of its scenario by name."""
        if isinstance(self.scenario, Scenario):
            return asdict(self.scenario)
        return {"generator": self.scenario.code.text, **dict(self.scenario.fields)}


def expand(
    table: Mapping[str, Any], where: list[str | int], folder: Path = Path()
) -> Iterator[StudyCell]:
    """Expand a table of a study file.

    Parameters
    ----------
    table : mapping
        Fields of `Scenario`, `name`, `grid` (fields with lists of values: all combinations) and
        `sweep` (the same: one field after another, the others as the table has them). With a
        `generator`, as in "mine.py:simulate", the fields are those of this function.
    where : list
        What is being read is noted here.
    folder : Path
        From which the path of a generator starts.

    Yields
    ------
    StudyCell

    Raises
    ------
    InputError
        If a field or value is wrong, or there are more than 10,000 scenarios.

    Examples
    --------
    >>> table = {"name": "few", "sweep": {"n_items": [50, 100], "missing": [0.1]}}
    >>> [cell.name for cell in expand(table, [])]
    ['few, n_items 50', 'few, n_items 100', 'few, missing 0.1']
    """
    here = list(where)
    base = {key: value for key, value in table.items() if key not in OF_THE_TABLE}
    make: Callable[..., Scenario | Generated] = Scenario
    if "generator" in table:
        where[:] = [*here, "generator"]
        if not isinstance(table["generator"], str):
            raise wrong("generator", table["generator"], "give text, as in mine.py:simulate")
        make = partial(_generated, read_code(table["generator"], folder))
    for key in base:
        where[:] = [*here, key]
        _check_field(key, make)
    where[:] = [*here, "name"]
    name = table.get("name", f"scenario {int(here[-1]) + 1 if here else 1}")
    if not isinstance(name, str) or not name:
        raise wrong("name", name, "give text in quotes")
    grid, sweep = (_values(table, key, [*here, key], where, make) for key in ("grid", "sweep"))
    number = math.prod(map(len, grid.values())) * max(sum(map(len, sweep.values())), 1)
    if number > MOST_SCENARIOS:
        where[:] = [*here, "grid" if grid else "sweep"]
        raise InputError(
            f"these are {number:,} scenarios, and a table can have {MOST_SCENARIOS:,}",
            "vary fewer fields at once, or give fewer values",
        )
    swept = [[(field, value)] for field, values in sweep.items() for value in values] or [[]]
    crossed = itertools.product(*([(field, value) for value in grid[field]] for field in grid))
    for fixed in crossed:
        for moved in swept:
            varied = (*fixed, *moved)
            try:
                scenario = make(**(base | dict(varied)))
            except InputError as error:
                where[:] = [*here, error.problem.split()[0]]
                raise
            label = ", ".join([name, *(f"{field} {shown(value)}" for field, value in varied)])
            cell = StudyCell(name=label, table=name, varied=(), scenario=scenario)
            frozen = tuple((field, cell.settings[field]) for field, _ in varied)
            yield replace(cell, varied=frozen)


def _generated(code: UserCode, /, **given: Any) -> Generated:
    fields = {name: freeze(name, value) for name, value in sorted(given.items())}
    return Generated(code=code, fields=tuple(fields.items()))


def _check_field(name: str, make: Callable[..., Any]) -> None:
    if make is Scenario:
        find("field of a scenario called", name, FIELDS)
    elif name in (*OF_RESULTS, *COLUMNS):
        raise InputError(f"a field cannot be called {name!r}", "give it a name of its own")


def _values(
    table: Mapping[str, Any],
    key: str,
    here: list[str | int],
    where: list[str | int],
    make: Callable[..., Any],
) -> dict[str, list[Any]]:
    where[:] = here
    varied = table.get(key, {})
    if not isinstance(varied, Mapping):
        raise wrong(key, varied, "give fields with lists of values, as in { n_items = [50, 100] }")
    for field, values in varied.items():
        where[:] = [*here, field]
        _check_field(field, make)
        if not isinstance(values, list) or not values:
            raise wrong(field, values, "give a list of values")
    return dict(varied)


def shown(value: Any) -> str:
    """Write the value of a field as names, tables and figures have it."""
    return " ".join(f"{x:g}" for x in value) if isinstance(value, list | tuple) else str(value)
