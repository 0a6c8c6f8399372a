"""The command `lehner doctor`: what is in a file, how it is read, and what it permits."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lehner.command.load import call_quietly, load, read_groups
from lehner.command.options import Reading
from lehner.core import errors, lazy
from lehner.report.terminal import (
    quote,
    to_json,
    to_options,
    write_command,
    write_data_lines,
    write_option,
)

if TYPE_CHECKING:
    from lehner import Ratings
    from lehner.data import reading as data_reading
    from lehner.data.columns import Table

outputs = lazy.load("lehner.report.files")
estimable, resampling = lazy.load("lehner.data.estimable"), lazy.load("lehner.core.resampling")
checks = lazy.load("lehner.data.checks")
classify, reader = lazy.load("lehner.data.classify"), lazy.load("lehner.reading.read")

MOST_NOTES, MOST_COLUMNS, MOST_EXAMPLES = 3, 40, 3
LONGEST_EXAMPLE, LONGEST_NAME = 16, 40
# Presets of what is no tool's export.
NO_EXPORT = (None, "none")
# Names of a category that is compared; without one, the last is.
GOOD = {"good", "pass", "c", "correct", "yes", "true", "1"}
N_TRUTHS, ENOUGH_TRUTHS = 20, 10
# Roles that are written if they were certain.
KEPT = ("item", "rater", "rating", "truth", "counts", "occasion", "system")

type Line = Callable[..., str]


def doctor(
    data: str, *, reading: Reading, write: Path | None = None, as_json: bool = False
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
    typed = reading.to_options()
    declared, reasons, listed = typed, list[str](), list[dict[str, Any]]()
    if os.path.exists(data):
        try:
            _, declared, reasons = call_quietly(reader.propose, data, typed)
        except errors.InputError:
            with suppress(errors.InputError):  # the columns are listed if there is no proposal
                table, opened = reader.open_table(data, typed)
                if not as_json:
                    _print_columns(list_columns(table, opened, typed, typed, ()))
            raise
    ratings = load(data, declared)
    roles = declared
    if ratings.source is not None:
        table, roles = ratings.source
        columns = ratings.categories if roles.category_counts else ratings.raters
        listed = list_columns(table, roles, declared, typed, list(map(str, columns)))
    line = partial(_write_line, data, declared)
    free = [column for column in listed if not column["role"] and roles.order is None]
    groups = [column["column"] for column in free if _groups_items(ratings, column)]
    one_judge = not ratings.systems and ratings.n_raters == 1 and ratings.truth is not None
    try:
        if not one_judge:
            require = estimable.require_estimable if ratings.systems else estimable.require_pairs
            require(ratings)
        commands, lacks = _list_commands(ratings, groups, line), _list_lacks(ratings, line)
        of_systems = _list_systems(data, ratings, declared)
        commands, lacks = commands | of_systems, lacks if not of_systems else {}
    except errors.InputError as error:
        commands, lacks = {}, {f"what estimates need: {to_options(str(error))}": ""}
    if write is not None:
        _write_reading(roles, declared, write)
    already = typed.to_dict()
    proposed = {name: x for name, x in declared.to_dict().items() if already.get(name) != x}
    if as_json:
        if "where" in proposed:
            proposed["where"] = str(proposed["where"])
        content = {"data": data, "columns": listed, "proposed": proposed, "reasons": reasons}
        print(to_json(content | {"commands": commands, "lacks": lacks}))
        return
    print(f"{data}: {repr(ratings).removeprefix('Ratings: ')}")
    _print_columns(listed)
    if reasons:
        words = [word for name, value in proposed.items() for word in write_option(name, value)]
        options = " ".join(map(quote, words))
        print(f"\nAs it is, this file is refused; it is read with {options}, because")
        print("\n".join(f"  {reason}" for reason in reasons))
    print("\n".join(["", *write_data_lines(ratings)[:MOST_NOTES]]))
    for title, lines in (("You can run", commands), ("Missing", lacks)):
        if lines:
            print(f"\n{title}")
        for what, command in lines.items():
            print(f"  {what}\n    {command}" if command else f"  {what}")


def _write_reading(
    roles: "data_reading.Reading", declared: "data_reading.Reading", path: Path
) -> None:
    """Write what is declared, and roles that were certain, unless columns were made for them."""
    is_made = declared.order or declared.pair or declared.items or declared.cross_table
    if not is_made and roles.preset in NO_EXPORT:
        certain = {name: getattr(roles, name) for name in KEPT}
        declared = declared.combine_first(type(declared)(**certain))
    outputs.write_text(declared.to_toml() + "\n", path)
    print(f"wrote {path}", file=sys.stderr)


def list_columns(
    table: "Table",
    roles: "data_reading.Reading",
    proposed: "data_reading.Reading",
    declared: "data_reading.Reading",
    raters: Sequence[str],
) -> list[dict[str, Any]]:
    """List the columns of a table: kind, number of values, examples, role, and why.

    Parameters
    ----------
    table : Table
    roles : Reading
        As they were found.
    proposed, declared : Reading
        As they were proposed, and as they were named.
    raters : sequence of str
        Whom the ratings are by, if there are ratings.

    Returns
    -------
    list of dict
        `column`, `kind`, `n_values`, `examples`, `role` and `why` of each.
    """
    by_column = _name_roles(roles, raters)
    of_proposal, named = (_name_roles(reading, reading.raters) for reading in (proposed, declared))
    listed = []
    for name in table:
        role, by_name = by_column.get(name, ""), classify.role_of(name)
        why = "its name" if role in (by_name, name.casefold()) else "its values"
        why = "no other role" if role == "rater" != by_name else why
        why = "made of the others" if roles.preset not in NO_EXPORT and role == name else why
        why = "proposed" if name in of_proposal else why
        why = "declared" if name in named else why
        with suppress(errors.InputError):  # a column that holds no labels
            column = table[name]
            examples = [str(label)[:LONGEST_EXAMPLE] for label in column.labels[:MOST_EXAMPLES]]
            about = {
                "column": name,
                "kind": checks.describe(column),
                "n_values": len(column.labels),
            }
            listed.append(about | {"examples": examples, "role": role, "why": why if role else ""})
    return listed


def _name_roles(roles: "data_reading.Reading", raters: Sequence[str]) -> dict[str, str]:
    """Name the role of each column that has one."""
    by_column = {getattr(roles, name): name.replace("_", " ") for name in classify.SINGLE}
    by_column |= dict.fromkeys(roles.item, "item") | dict.fromkeys(roles.leave_out, "left out")
    if roles.rater is None:
        by_column |= dict.fromkeys(raters, "category" if roles.category_counts else "rater")
        by_column |= dict.fromkeys(roles.system, "system")
    return by_column


def _print_columns(listed: list[dict[str, Any]]) -> None:
    """Print a table of the columns."""
    rows = [("column", "values", "examples", "role")] if listed else []
    for column in listed[:MOST_COLUMNS]:
        role = column["role"] or "-"
        role += f" ({column['why']})" if column["why"] else ""
        values, examples = f"{column['n_values']} {column['kind']}", ", ".join(column["examples"])
        rows.append((" ".join(column["column"].split())[:LONGEST_NAME], values, examples, role))
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        print(f"  {'  '.join(map(str.ljust, row, widths))}".rstrip())
    if len(listed) > MOST_COLUMNS:
        print(f"  and {len(listed) - MOST_COLUMNS} more columns")


def _groups_items(ratings: "Ratings", listed: Mapping[str, Any]) -> bool:
    """Tell whether a column makes groups of items."""
    name = listed["column"]
    of_rater = any(name.startswith(f"{rater}_") for rater in ratings.all_raters)
    identifies = name.casefold().endswith(("_id", " id")) or "." in name
    named = classify.role_of(name) not in (None, "system", "group")
    few = 2 <= listed["n_values"] <= ratings.n_items / 2
    if of_rater or identifies or named or not few:
        return False
    with suppress(errors.InputError):
        return len({*read_groups(Path(), name, ratings).names} - {""}) > 1
    return False


def _list_commands(ratings: "Ratings", groups: Sequence[str], line: Line) -> dict[str, str]:
    """List what the ratings permit, and the commands."""
    of, n_systems = " and ".join(ratings.systems), len(ratings.systems)
    several = ratings.n_raters > 1
    categories = list(map(str, ratings.categories))
    good = next((name for name in categories if name.casefold() in GOOD), categories[-1])
    first, either = [*groups, ""][0], " or ".join(groups)
    compare = [*write_option("group", first), *write_option("good", [good])]
    labels = ["--output", "labels.csv"]
    named, tests = not ratings.anonymous, "tests of the algebra's assumptions"
    rows = [
        (n_systems < 2 and several, "how far raters agree", "agreement", []),
        (n_systems < 2 and named and several, "the category of each item", "label", labels),
        (not of and named and groups, f"which {either} has more {good}", "compare", compare),
        (not of and named and several, "base rates and the raters' accuracy", "compare", []),
        (not of and not several, f"how many items are {good}", "compare", ["--good", good]),
        (of, f"the accuracy of {of}", "estimate", []),
        (of and groups, f"the accuracy of {of} by {either}", "estimate", ["--by", first]),
        (n_systems == 1, "bounds of it without a model", "bounds", []),
        (n_systems == 1 and ratings.n_raters > 2, tests, "check", []),
    ]
    return {what: line(command, more) for permitted, what, command, more in rows if permitted}


def _list_systems(
    data: str, ratings: "Ratings", declared: "data_reading.Reading"
) -> dict[str, str]:
    """List the command for the accuracy of those raters whose names are those of systems."""
    raters = ratings.raters
    systems = tuple(name for name in raters if classify.may_be("system", name))
    if len(raters) == 1 and ratings.truth is not None:
        systems = raters  # the one judge
    known = len(systems) < len(raters) - 1 or ratings.truth is not None
    if ratings.systems or ratings.anonymous or not systems or not known:
        return {}
    others = tuple(name for name in raters if name not in systems)
    reading = replace(declared, system=systems, raters=others if declared.raters else ())
    are = "they are systems" if len(systems) > 1 else "it is a system"
    what = f"the accuracy of {' and '.join(systems)}, if {are}"
    return {what: _write_line(data, reading, "estimate", [])}


def _list_lacks(ratings: "Ratings", line: Line) -> dict[str, str]:
    """List what is not in the file, and the command that gets it if there is one."""
    lacks, systems = {}, ratings.systems
    if not systems and ratings.n_raters > 2 and not ratings.anonymous:
        lacks["a system to evaluate: name the column or rater by --system, if there is one"] = ""
    n_known = 0 if ratings.truth is None else int((ratings.truth >= 0).sum())
    if n_known < ENOUGH_TRUTHS and len(systems) == 1:
        n = min(N_TRUTHS, ratings.n_rows - n_known)
        low, high = resampling.wilson_interval(0.5, n, z=1.645)
        what = f"{ENOUGH_TRUTHS} or more gold labels (there are {n_known})"
        what = what if n_known else "gold labels: accuracy rests on calibrated"
        what += f"; {n} of random items give ±{(high - low) / 2:.2f} by themselves"
        lacks[what] = line("ask", ["--n", str(n)])
    if ratings.n_raters == 2:
        lacks["a third rater: two do not tell which of them is more accurate"] = ""
    return lacks


def _write_line(
    data: str, declared: "data_reading.Reading", command: str, more: Sequence[str]
) -> str:
    """Write a command as it is typed, with the options of reading."""
    words = [word for name, x in declared.to_dict().items() for word in write_option(name, x)]
    return write_command(command, data, [*words, *more])
