"""The command `lehner doctor`: what is in a file, how it is read, and what it permits."""

import csv
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.cli.options import AsJson, Data, Reading, Systems
from experiments.report.terminal import json_text
from experiments.report.words import quote

if TYPE_CHECKING:
    from lehner import InputError, Ratings
    from lehner.data import reading as data_reading
    from lehner.data.columns import Column, Table

MOST_NOTES = 3
MOST_COLUMNS = 40
MOST_EXAMPLES = 3
LONGEST_EXAMPLE = 16
LONGEST_NAME = 40
EXPORT = "the file is read as an export of"
GOOD = {"good", "pass", "c", "correct", "yes", "true", "1"}
"""Names of a category that is compared; without one, the last is."""
N_TRUTHS, ENOUGH_TRUTHS = 20, 10
QUANTILE = 1.645
"""Of the normal distribution, for intervals of 90%."""

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
    from experiments.cli.load import load
    from lehner import InputError
    from lehner.core.estimate import require_pairs, require_systems
    from lehner.reading.read import propose

    declared, reasons, listed = reading.options(system), list[str](), list[dict[str, Any]]()
    if Path(data).exists():
        try:
            _, proposed, reasons = _quietly(propose, data, declared)
        except InputError as error:
            _end(data, declared, error, as_json=as_json)
        declared = proposed
    ratings = load(data, declared)
    roles = declared
    if ratings.source is not None:
        table, roles = ratings.source
        columns = ratings.categories if roles.category_counts else ratings.raters
        listed = list_columns(table, roles, declared, list(map(str, columns)))
    line = partial(_line, data, declared, ratings.systems)
    free = [one for one in listed if not one["role"] and roles.order is None]
    groups = [one["column"] for one in free if _groups_items(ratings, one)]
    try:
        (require_systems if ratings.systems else require_pairs)(ratings)
        commands, lacks = _commands(ratings, groups, line), _lacks(ratings, line)
    except InputError as error:
        commands, lacks = {}, {f"what estimates need: {_as_typed(error)}": ""}
    if write is not None:
        from experiments.report.files import write_text

        made = any(note.startswith(EXPORT) for note in ratings.notes)
        kept = roles_to_write(roles, declared, table_is_made=made)
        write_text(kept.to_toml() + "\n", write)
        print(f"wrote {write}", file=sys.stderr)
    if as_json:
        content = {"data": data, "columns": listed, "proposed": _added(declared, reading, system)}
        content |= {"reasons": reasons, "commands": commands, "lacks": lacks}
        print(json_text(content))
    else:
        _show(data, ratings, listed, _added(declared, reading, system), reasons, commands, lacks)


def _quietly(function: Callable[..., Any], *arguments: Any) -> Any:
    import warnings

    from lehner import DataWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return function(*arguments)


def _as_typed(error: "InputError") -> str:
    from experiments.report.words import as_options

    return as_options(str(error))


def _end(
    data: str, declared: "data_reading.Reading", error: "InputError", *, as_json: bool
) -> None:
    """List the columns of a file for which there is no proposal, and raise the error."""
    from lehner import InputError
    from lehner.reading.read import open_table

    if not as_json:
        try:
            table, _ = open_table(data, declared)
            _print_columns(list_columns(table, declared, declared))
        except InputError:
            pass
    raise error


def list_columns(
    table: "Table",
    roles: "data_reading.Reading",
    declared: "data_reading.Reading",
    raters: Sequence[str] = (),
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

    by_column = _roles_by_column(roles, raters)
    named = set(_roles_by_column(declared, declared.raters))
    export = any(note.startswith(EXPORT) for note in table.notes)
    made = ("item", "rater", "rating", "truth", "cluster") if export else ()
    rows = []
    for name in table:
        role = by_column.get(name, "")
        try:
            column = table[name]
        except InputError:
            continue
        why = "" if not role else "declared" if name in named else _why(name, role)
        why = "made of the others" if role and name in made else why
        examples = [str(label)[:LONGEST_EXAMPLE] for label in column.labels[:MOST_EXAMPLES]]
        rows.append(
            {
                "column": name,
                "kind": _kind(column),
                "n_values": len(column.labels),
                "examples": examples,
                "role": role,
                "why": why,
            }
        )
    return rows


def _roles_by_column(roles: "data_reading.Reading", raters: Sequence[str]) -> dict[str, str]:
    """The role of each column that has one."""
    single = ("rater", "rating", "truth", "truth_probability", "counts", "cluster", "order")
    by_column = {getattr(roles, name): name.replace("_", " ") for name in (*single, "occasion")}
    by_column |= dict.fromkeys(roles.item, "item") | dict.fromkeys(roles.leave_out, "left out")
    if roles.rater is None:
        by_column |= dict.fromkeys(raters, "category" if roles.category_counts else "rater")
        by_column |= dict.fromkeys(roles.system, "system")
    return by_column


def _why(name: str, role: str) -> str:
    from lehner.data.checks import role_of

    if role == "rater" and role_of(name) != "rater":
        return "no other role"
    return "its name" if role_of(name) == role or name.casefold() == role else "its values"


def _kind(column: "Column") -> str:
    from lehner.data.categories import as_numbers
    from lehner.data.checks import list_of

    labels = column.labels
    if not labels:
        return "blank"
    if as_numbers(labels) is not None:
        whole = all("." not in str(label) for label in labels)
        return "whole numbers" if whole else "numbers"
    if any(str(label).startswith("[") and len(list_of(label)) > 1 for label in labels[:100]):
        return "lists"
    return "text"


def _added(
    declared: "data_reading.Reading", reading: Reading, system: Sequence[str] | None
) -> dict[str, Any]:
    """The options that were proposed."""
    typed = reading.options(system).given()
    return {name: value for name, value in declared.given().items() if typed.get(name) != value}


def roles_to_write(
    roles: "data_reading.Reading", declared: "data_reading.Reading", *, table_is_made: bool
) -> "data_reading.Reading":
    """Give the reading that a paper keeps: what is declared, and the roles that were certain."""
    from lehner.data import reading as data_reading

    if declared.order or declared.pair or declared.items or table_is_made:
        return declared
    names = ("item", "rater", "rating", "truth", "counts", "occasion", "system")
    found = {name: getattr(roles, name) for name in names if getattr(roles, name)}
    return data_reading.Reading(**(found | declared.given()))


def _show(
    data: str,
    ratings: "Ratings",
    listed: list[dict[str, Any]],
    proposed: Mapping[str, Any],
    reasons: Sequence[str],
    commands: Mapping[str, str],
    lacks: Mapping[str, str],
) -> None:
    from experiments.report.words import data_notes, header_lines

    print(f"{data}: {repr(ratings).removeprefix('Ratings: ')}")
    _print_columns(listed)
    if reasons:
        options = " ".join(word for name, value in proposed.items() for word in _typed(name, value))
        print(f"\nAs it is, this file is refused; it is read with {options}, because")
        print("\n".join(f"  {reason}" for reason in reasons))
    print("\n".join(["", *header_lines(data_notes(ratings)[:MOST_NOTES])]))
    for title, lines in (("You can run", commands), ("Missing", lacks)):
        if lines:
            print(f"\n{title}")
        for what, command in lines.items():
            print(f"  {what}\n    {command}" if command else f"  {what}")


def _print_columns(listed: list[dict[str, Any]]) -> None:
    """Print a table of the columns."""
    rows = [("column", "values", "examples", "role")]
    for one in listed[:MOST_COLUMNS]:
        why = f" ({one['why']})" if one["why"] else ""
        values = f"{one['n_values']} {one['kind']}"
        examples = ", ".join(one["examples"])
        rows.append((one["column"][:LONGEST_NAME], values, examples, f"{one['role'] or '-'}{why}"))
    widths = [max(len(row[j]) for row in rows) for j in range(3)]
    for row in rows:
        cells = [text.ljust(width) for text, width in zip(row, widths, strict=False)]
        print("  " + "  ".join([*cells, row[3]]))
    if len(listed) > MOST_COLUMNS:
        print(f"  and {len(listed) - MOST_COLUMNS} more columns")


def _groups_items(ratings: "Ratings", listed: Mapping[str, Any]) -> bool:
    """Whether a column makes groups of items."""
    from experiments.cli.columns import read_groups
    from lehner import InputError
    from lehner.data.checks import role_of

    name = listed["column"]
    if "." in name or any(name.startswith(f"{rater}_") for rater in ratings.all_raters):
        return False
    identifies = name.casefold().endswith(("_id", " id"))
    if identifies or role_of(name) not in (None, "system") or not 1 < listed["n_values"]:
        return False
    try:
        return len({*read_groups(Path(), name, ratings).names} - {""}) > 1
    except InputError:
        return False


def _commands(ratings: "Ratings", groups: Sequence[str], line: Line) -> dict[str, str]:
    """What the ratings permit, and the commands."""
    of, n_systems = " and ".join(ratings.systems), len(ratings.systems)
    categories = list(map(str, ratings.categories))
    good = next((name for name in categories if name.casefold() in GOOD), categories[-1])
    first, either = [*groups, None][0], " or ".join(groups)
    by, compare = _option("by", first), [*_option("group", first), *_option("good", [good])]
    named = not ratings.anonymous
    rows = [
        (n_systems < 2, "how far raters agree", "agreement", []),
        (n_systems < 2 and named, "the category of each item", "label", ["--output", "labels.csv"]),
        (not of and named and groups, f"which {either} has more {good}", "compare", compare),
        (not of and named, "base rates and the raters' accuracy", "compare", []),
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
        lacks["a system to evaluate: name the column or rater by --system, if there is one"] = ""
    n_known = 0 if ratings.truth is None else int((ratings.truth >= 0).sum())
    if n_known < ENOUGH_TRUTHS and len(systems) == 1:
        n = min(N_TRUTHS, ratings.n_rows - n_known)
        low, high = wilson_interval(0.5, n, z=QUANTILE)
        rests = f"{ENOUGH_TRUTHS} or more gold labels (there are {n_known})"
        if not n_known:
            rests = "gold labels: accuracy rests on calibrated"
        what = f"{rests}; {n} of random items give ±{decimal((high - low) / 2, 2)} by themselves"
        lacks[what] = line("ask", ["--n", str(n)])
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
        if name not in ("system", "repeated") or (name == "repeated" and value):
            words += _option(name, value)
    path = f"./{data}" if data.startswith("-") else data
    return " ".join(map(_quoted, ["lehner", command, path, *words, *more]))


def _quoted(word: str) -> str:
    return word if word == shlex.quote(word) else quote(word)


def _typed(name: str, value: Any) -> list[str]:
    return [_quoted(word) for word in _option(name, value)]


def _option(name: str, value: Any) -> list[str]:
    name = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{name}"] * value
    if isinstance(value, list | tuple):
        text = StringIO()
        numbers = [f"{one:g}" if isinstance(one, float) else one for one in value]
        csv.writer(text, lineterminator="").writerow(numbers)
        value = text.getvalue()
    if not value:
        return []
    return [f"--{name}={value}"] if value.startswith("-") else [f"--{name}", value]
