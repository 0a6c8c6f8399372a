"""The command `lehner doctor`: what a file permits, with the commands, and what it lacks."""

import csv
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.cli.arguments import AsJson, Data, Reading, Systems
from experiments.reporting.terminal import json_text

if TYPE_CHECKING:
    from lehner import Ratings

MOST_NOTES = 3
GOOD = {"good", "pass", "c", "correct", "yes", "true", "1"}
"""Names of a category that is compared; without one, the last is."""
N_TRUTHS, ENOUGH_TRUTHS = 20, 10
QUANTILE = 1.645
"""Of the normal distribution, for intervals of 90%."""

type Line = Callable[..., str]


def doctor(
    data: Data, system: Systems = None, *, reading: Reading, as_json: AsJson = False
) -> None:
    """Say what a file permits, with the commands to type, and what it lacks.

    Columns that you do not name are guessed by their names and contents. Nothing is estimated.
    """
    from experiments.cli.load import load
    from experiments.reporting.data_notes import data_notes, header_lines
    from experiments.reporting.options import as_options
    from lehner import InputError
    from lehner.core.estimate import require_pairs, require_systems

    systems, others = list(system or ()), list[str]()
    if Path(data).exists():
        reading, systems, others = _guess(Path(data), reading, systems)
    ratings = load(data, reading.options(systems))
    groups = [name for name in others if _groups_items(Path(data), name, ratings, reading.item)]
    line = partial(_line, data, reading, ratings.systems)
    try:
        (require_systems if ratings.systems else require_pairs)(ratings)
        commands, lacks = _commands(ratings, groups, line), _lacks(ratings, line)
    except InputError as error:
        commands, lacks = {}, {f"what estimates need: {as_options(str(error))}": ""}
    if as_json:
        print(json_text({"data": data, "commands": commands, "lacks": lacks}))
        return
    print(f"{data}: {repr(ratings).removeprefix('Ratings: ')}")
    print("\n".join(header_lines(data_notes(ratings)[:MOST_NOTES])))
    for title, lines in (("This file permits", commands), ("It lacks", lacks)):
        if lines:
            print(f"\n{title}")
        for what, command in lines.items():
            print(f"  {what}\n    {command}" if command else f"  {what}")


def _guess(path: Path, reading: Reading, system: list[str]) -> tuple[Reading, list[str], list[str]]:
    """Guess roles that the user has not named; list systems, and columns without a role."""
    from lehner.reading.guessed_roles import guess_roles
    from lehner.reading.read import read_columns

    with read_columns(path) as columns:
        found, others = guess_roles(columns, reading.options(system))
    raters = None if found.raters is None else list(found.raters)
    reading = replace(reading, truth=found.truth, raters=raters, item=found.item)
    return reading, list(found.system), others


def _groups_items(path: Path, name: str, ratings: "Ratings", item: str | None) -> bool:
    """Whether a column makes groups of items."""
    from experiments.cli.group_column import read_groups
    from lehner import InputError
    from lehner.data.checks.columns import role_by_name

    if role_by_name(name, ()) == ("a remark", ""):
        return False
    try:
        return len({*read_groups(path, name, ratings, item).names} - {""}) > 1
    except InputError:
        return False


def _commands(ratings: "Ratings", groups: Sequence[str], line: Line) -> dict[str, str]:
    """What the ratings permit, and the commands."""
    of, n_systems = " and ".join(ratings.systems), len(ratings.systems)
    categories = list(map(str, ratings.categories))
    good = next((name for name in categories if name.casefold() in GOOD), categories[-1])
    first, either = [*groups, None][0], " or ".join(groups)
    by, compare = _option("by", first), [*_option("group", first), *_option("good", [good])]
    rows = [
        (n_systems < 2, "how far raters agree", "agreement", []),
        (n_systems < 2, "the category of each item", "label", ["--output", "labels.csv"]),
        (not of and groups, f"which {either} has more {good}", "compare", compare),
        (not of, "base rates and the raters' accuracy", "compare", []),
        (of, f"the accuracy of {of}", "estimate", []),
        (of and groups, f"the accuracy of {of} by {either}", "estimate", by),
        (n_systems == 1, "bounds of it without a model", "bounds", []),
        (
            n_systems == 1 and ratings.n_raters > 2,
            "tests of the algebra's assumptions",
            "check",
            [],
        ),
    ]
    return {what: line(command, more) for permitted, what, command, more in rows if permitted}


def _lacks(ratings: "Ratings", line: Line) -> dict[str, str]:
    """What is not in the file, and the command that gets it if there is one."""
    from lehner.core.resampling import wilson_interval
    from lehner.core.text import decimal

    lacks, systems = {}, ratings.systems
    if not systems and ratings.n_raters > 2 and not ratings.anonymous:
        last = ratings.raters[-1]
        lacks[f"a system to evaluate; if {last} is one"] = line("estimate", [], last)
    n_known = 0 if ratings.truth is None else int((ratings.truth >= 0).sum())
    if n_known < ENOUGH_TRUTHS and len(systems) == 1:
        n = min(N_TRUTHS, ratings.n_rows - n_known)
        low, high = wilson_interval(0.5, n, z=QUANTILE)
        rests = f"{ENOUGH_TRUTHS} or more known truths (there are {n_known})"
        if not n_known:
            rests = "known truths: accuracy rests on calibrated"
        what = f"{rests}; {n} of random items give ±{decimal((high - low) / 2, 2)} by themselves"
        lacks[what] = line("ask", ["--n", str(n)])
    if ratings.n_raters == 2:
        lacks["a third rater: two do not tell which of them is more accurate"] = ""
    return lacks


def _line(
    data: str,
    reading: Reading,
    systems: Sequence[str],
    command: str,
    more: Sequence[str],
    instead: str = "",
) -> str:
    """Write a command as it is typed, with the options of reading; a rater may be the system."""
    names = [instead] if instead else list(systems)
    # Only estimate takes several systems, separated by commas.
    words = _option("system", names if command == "estimate" else "".join(names))
    for name, value in vars(reading).items():
        if name == "raters" and value:
            value = [rater for rater in value if rater != instead]
        words += _option(name.replace("_", "-"), value)
    path = f"./{data}" if data.startswith("-") else data
    return shlex.join(["lehner", command, path, *words, *more])


def _option(name: str, value: str | list[str] | bool | None) -> list[str]:
    if isinstance(value, bool):
        return [f"--{name}"] * value
    if isinstance(value, list):
        text = StringIO()
        csv.writer(text, lineterminator="").writerow(value)
        value = text.getvalue()
    if not value:
        return []
    return [f"--{name}={value}"] if value.startswith("-") else [f"--{name}", value]
