"""The command `lehner doctor`: what is in a file, how it is read, and what it permits."""

import csv
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.cli.options import AsJson, Data, Reading, Systems
from experiments.report.terminal import json_text
from experiments.report.words import as_options, data_notes, header_lines, quote

if TYPE_CHECKING:
    from lehner import Ratings
    from lehner.data import reading as data_reading
    from lehner.data.columns import Column, Table

MOST_NOTES, MOST_COLUMNS, MOST_EXAMPLES = 3, 40, 3
LONGEST_EXAMPLE, LONGEST_NAME = 16, 40
EXPORT = "the file is read as an export of"
GOOD = {"good", "pass", "c", "correct", "yes", "true", "1"}
"""Names of a category that is compared; without one, the last is."""
N_TRUTHS, ENOUGH_TRUTHS = 20, 10
SINGLE = ("rater", "rating", "truth", "truth_probability", "counts", "cluster", "order", "occasion")
"""Roles of one column."""
KEPT = ("item", "rater", "rating", "truth", "counts", "occasion", "system")
"""Roles that are written if they were certain."""

type Line = Callable[..., str]


def doctor(
    data: Data,
    system: Systems = None,
    *,
    reading: Reading,
    write: Path | None = None,
    as_json: AsJson = False,
) -> None:
    """List the columns of a file, how each is read, and what the file permits, with the commands.

    The file is read as all commands read it. If they refuse it, options are proposed with which
    it is read, and the commands have them. Nothing is estimated.

    Parameters
    ----------
    write : FILE
        Write the reading as a TOML file, which all commands take as --reading FILE.

    Examples
    --------
    lehner doctor ratings.csv
    lehner doctor logs/ --system gpt
    """
    from experiments.cli.load import load, quietly
    from lehner import InputError
    from lehner.core.estimate import require_pairs, require_systems
    from lehner.reading.read import open_table, propose

    typed = reading.options(system)
    declared, reasons, listed = typed, list[str](), list[dict[str, Any]]()
    if Path(data).exists():
        try:
            _, declared, reasons = quietly(propose, data, typed)
        except InputError:
            with suppress(InputError):  # the columns are listed if there is no proposal
                table, opened = open_table(data, typed)
                if not as_json:
                    _print_columns(list_columns(table, opened, typed, ()))
                    _print_criteria(table, typed, partial(_line, data, typed, typed.system))
            raise
    ratings = load(data, declared)
    roles, is_export = declared, any(note.startswith(EXPORT) for note in ratings.notes)
    if ratings.source is not None:
        table, roles = ratings.source
        columns = ratings.categories if roles.category_counts else ratings.raters
        listed = list_columns(table, roles, declared, list(map(str, columns)))
    line = partial(_line, data, declared, ratings.systems)
    free = [one for one in listed if not one["role"] and roles.order is None]
    groups = [one["column"] for one in free if _groups_items(ratings, one)]
    try:
        (require_systems if ratings.systems else require_pairs)(ratings)
        commands, lacks = _list_commands(ratings, groups, line), _list_lacks(ratings, line)
    except InputError as error:
        commands, lacks = {}, {f"what estimates need: {as_options(str(error))}": ""}
    if write is not None:
        from experiments.report.files import write_text

        certain = {name: getattr(roles, name) for name in KEPT}
        is_made = declared.order or declared.pair or declared.items or is_export
        kept = declared if is_made else declared.over(type(declared)(**certain))
        write_text(kept.to_toml() + "\n", write)
        print(f"wrote {write}", file=sys.stderr)
    given = typed.given()
    proposed = {name: one for name, one in declared.given().items() if given.get(name) != one}
    if as_json:
        content = {"data": data, "columns": listed, "proposed": proposed, "reasons": reasons}
        print(json_text(content | {"commands": commands, "lacks": lacks}))
        return
    print(f"{data}: {repr(ratings).removeprefix('Ratings: ')}")
    _print_columns(listed)
    if reasons:
        words = [word for name, value in proposed.items() for word in _option(name, value)]
        options = " ".join(map(_quote, words))
        print(f"\nAs it is, this file is refused; it is read with {options}, because")
        print("\n".join(f"  {reason}" for reason in reasons))
    print("\n".join(["", *header_lines(data_notes(ratings)[:MOST_NOTES])]))
    for title, lines in (("You can run", commands), ("Missing", lacks)):
        if lines:
            print(f"\n{title}")
        for what, command in lines.items():
            print(f"  {what}\n    {command}" if command else f"  {what}")


def list_columns(
    table: "Table",
    roles: "data_reading.Reading",
    declared: "data_reading.Reading",
    raters: Sequence[str],
) -> list[dict[str, Any]]:
    """List the columns of a table: kind, number of values, examples, role, and why.

    Parameters
    ----------
    table : Table
    roles : Reading
        As they were found.
    declared : Reading
        As they were named or proposed.
    raters : sequence of str
        Whom the ratings are by, if there are ratings.

    Returns
    -------
    list of dict
        `column`, `kind`, `n_values`, `examples`, `role` and `why` of each.
    """
    from lehner import InputError
    from lehner.data.checks import role_of

    by_column, named = _roles_by_column(roles, raters), _roles_by_column(declared, declared.raters)
    is_export = any(note.startswith(EXPORT) for note in table.notes)
    rows = []
    for name in table:
        role, by_name = by_column.get(name, ""), role_of(name)
        why = "its name" if role in (by_name, name.casefold()) else "its values"
        why = "no other role" if role == "rater" != by_name else why
        why = "made of the others" if is_export and role == name else why
        why = "declared" if name in named else why
        with suppress(InputError):  # a column that holds no labels
            column = table[name]
            examples = [str(label)[:LONGEST_EXAMPLE] for label in column.labels[:MOST_EXAMPLES]]
            row = {"column": name, "kind": _kind(column), "n_values": len(column.labels)}
            rows.append(row | {"examples": examples, "role": role, "why": why if role else ""})
    return rows


def _roles_by_column(roles: "data_reading.Reading", raters: Sequence[str]) -> dict[str, str]:
    """The role of each column that has one."""
    by_column = {getattr(roles, name): name.replace("_", " ") for name in SINGLE}
    by_column |= dict.fromkeys(roles.item, "item") | dict.fromkeys(roles.leave_out, "left out")
    if roles.rater is None:
        by_column |= dict.fromkeys(raters, "category" if roles.category_counts else "rater")
        by_column |= dict.fromkeys(roles.system, "system")
    return by_column


def _kind(column: "Column") -> str:
    from lehner.data.checks import list_of
    from lehner.data.labels import as_numbers

    labels = column.labels
    if as_numbers(labels) is not None:
        return "numbers" if any("." in str(label) for label in labels) else "whole numbers"
    if any(str(label).startswith("[") and len(list_of(label)) > 1 for label in labels[:100]):
        return "lists"
    return "text" if labels else "blank"


def _print_columns(listed: list[dict[str, Any]]) -> None:
    """Print a table of the columns."""
    rows = [("column", "values", "examples", "role")] if listed else []
    for one in listed[:MOST_COLUMNS]:
        role = f"{one['role'] or '-'} ({one['why']})" if one["why"] else one["role"] or "-"
        values, examples = f"{one['n_values']} {one['kind']}", ", ".join(one["examples"])
        column = " ".join(one["column"].split())[:LONGEST_NAME]
        rows.append((column, values, examples, role))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = map(str.ljust, row, widths)
        print(f"  {'  '.join(cells)}".rstrip())
    if len(listed) > MOST_COLUMNS:
        print(f"  and {len(listed) - MOST_COLUMNS} more columns")


def _print_criteria(table: "Table", typed: "data_reading.Reading", line: Line) -> None:
    """Print the command for columns that may be ratings by several criteria."""
    from lehner.data.checks import role_of
    from lehner.reading.roles import propose_columns

    people = [name for name in table if role_of(name) == "rater"]
    if len(people) == 1 and typed.rating is None:
        proposed = propose_columns(table.without(people), typed)
        criteria = [x for x in (proposed.raters if proposed else ()) if len(table[x].labels) > 1]
        if len(criteria) > 1:
            names = ", ".join(criteria)
            print(f"\nIf {names} are criteria, each of which {people[0]} rated")
            print(f"    {line('agreement', _option('criteria', criteria))}\n")


def _groups_items(ratings: "Ratings", listed: Mapping[str, Any]) -> bool:
    """Whether a column makes groups of items."""
    from experiments.cli.columns import read_groups
    from lehner import InputError
    from lehner.data.checks import role_of

    name = listed["column"]
    of_rater = any(name.startswith(f"{rater}_") for rater in ratings.all_raters)
    identifies = name.casefold().endswith(("_id", " id")) or "." in name
    if of_rater or identifies or role_of(name) not in (None, "system") or listed["n_values"] < 2:
        return False
    with suppress(InputError):
        return len({*read_groups(Path(), name, ratings).names} - {""}) > 1
    return False


def _list_commands(ratings: "Ratings", groups: Sequence[str], line: Line) -> dict[str, str]:
    """What the ratings permit, and the commands."""
    of, n_systems = " and ".join(ratings.systems), len(ratings.systems)
    categories = list(map(str, ratings.categories))
    good = next((name for name in categories if name.casefold() in GOOD), categories[-1])
    first, either = [*groups, ""][0], " or ".join(groups)
    compare = [*_option("group", first), *_option("good", [good])]
    named, tests = not ratings.anonymous, "tests of the algebra's assumptions"
    rows = [
        (n_systems < 2, "how far raters agree", "agreement", []),
        (n_systems < 2 and named, "the category of each item", "label", ["--output", "labels.csv"]),
        (not of and named and groups, f"which {either} has more {good}", "compare", compare),
        (not of and named, "base rates and the raters' accuracy", "compare", []),
        (of, f"the accuracy of {of}", "estimate", []),
        (of and groups, f"the accuracy of {of} by {either}", "estimate", _option("by", first)),
        (n_systems == 1, "bounds of it without a model", "bounds", []),
        (n_systems == 1 and ratings.n_raters > 2, tests, "check", []),
    ]
    return {what: line(command, more) for permitted, what, command, more in rows if permitted}


def _list_lacks(ratings: "Ratings", line: Line) -> dict[str, str]:
    """What is not in the file, and the command that gets it if there is one."""
    from lehner.core.resampling import wilson_interval
    from lehner.core.text import decimal

    lacks, systems = {}, ratings.systems
    if not systems and ratings.n_raters > 2 and not ratings.anonymous:
        lacks["a system to evaluate: name the column or rater by --system, if there is one"] = ""
    n_known = 0 if ratings.truth is None else int((ratings.truth >= 0).sum())
    if n_known < ENOUGH_TRUTHS and len(systems) == 1:
        n = min(N_TRUTHS, ratings.n_rows - n_known)
        low, high = wilson_interval(0.5, n, z=1.645)
        what = f"{ENOUGH_TRUTHS} or more gold labels (there are {n_known})"
        what = what if n_known else "gold labels: accuracy rests on calibrated"
        half = decimal((high - low) / 2, 2)
        lacks[f"{what}; {n} of random items give ±{half} by themselves"] = line(
            "ask", ["--n", str(n)]
        )
    if ratings.n_raters == 2:
        lacks["a third rater: two do not tell which of them is more accurate"] = ""
    return lacks


def _line(
    data: str,
    declared: "data_reading.Reading",
    systems: Sequence[str],
    command: str,
    more: Sequence[str],
) -> str:
    """Write a command as it is typed, with the options of reading."""
    # Only estimate takes several systems, separated by commas.
    names = list(systems) if declared.system or len(systems) > 1 else []
    words = _option("system", names if command == "estimate" else "".join(names))
    for name, value in declared.given().items():
        words += [] if name == "system" else _option(name, value)
    path = f"./{data}" if data.startswith("-") else data
    return " ".join(map(_quote, ["lehner", command, path, *words, *more]))


def _quote(word: str) -> str:
    return word if word == shlex.quote(word) else quote(word)


def _option(name: str, value: Any) -> list[str]:
    """Write an option as words, none if it has no value."""
    option = f"--{name.replace('_', '-')}"
    if isinstance(value, list | tuple):
        text = StringIO()
        numbers = [f"{one:g}" if isinstance(one, float) else one for one in value]
        csv.writer(text, lineterminator="").writerow(numbers)
        value = text.getvalue()
    if not value or value is True:
        return [option] * bool(value)
    return [f"{option}={value}"] if value.startswith("-") else [option, value]
