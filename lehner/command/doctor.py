"""The command `lehner doctor`: what is in a file, how it is read, and what it permits."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.text import Text

from lehner.command.load import call_quietly, load, read_groups
from lehner.core.errors import InputError, list_few
from lehner.core.resampling import wilson_interval
from lehner.core.table import list_table
from lehner.core.text import (
    cut,
    make_line,
    pluralise,
    print_wide,
    quote,
    to_options,
    write_command,
    write_data_lines,
    write_option,
)
from lehner.data.checks import describe
from lehner.data.columns import Column
from lehner.data.estimable import count_truths, require_estimable, require_pairs
from lehner.data.ratings import Ratings
from lehner.data.reading import Reading
from lehner.data.roles import SINGLE, list_words, may_be, role_of
from lehner.estimation.gold_labels import is_only_labelled
from lehner.reading import read
from lehner.report.answer import Report, to_terminal

MOST_NOTES, MOST_COLUMNS, MOST_EXAMPLES = 3, 40, 3
LONGEST_EXAMPLE, LONGEST_NAME = 16, 40
# Presets of files that no tool exported.
NO_EXPORT = (None, "none")
# Names of a category that is compared; without one, the last is.
GOOD = {"good", "pass", "c", "correct", "yes", "true", "1"}
N_TRUTHS, ENOUGH_TRUTHS = 20, 10

# A question, why the file permits it, the line that answers it, or that gets what is missing.
type FileQuestion = dict[str, str]
# From a question, a command and its words to the question with its line.
type Ask = Callable[..., FileQuestion]


def examine(data: str, reading: Reading, *, quiet: bool) -> Report:
    """List the columns of a file, how each is read, and what the file permits.

    Parameters
    ----------
    data : str
        A file, or the name of a bundled data set.
    reading : Reading
        Completed where no command would read the file by it.
    quiet : bool
        Whether columns of a file that cannot be read are not printed.

    Returns
    -------
    Report
    """
    declared, reasons = propose_reading(data, reading, quiet=quiet)
    ratings = load(data, declared)
    table, roles = ratings.source or ({}, declared)
    raters = map(str, ratings.categories if roles.category_counts else ratings.raters)
    listed = describe_columns(table, roles, declared, reading, list(raters))
    free = [column for column in listed if not column["role"] and roles.order is None]
    groups = [column["column"] for column in free if _groups_items(ratings, column)]
    already = reading.to_dict()
    proposed = {name: x for name, x in declared.to_dict().items() if already.get(name) != x}
    content = {"data": data, "columns": listed, "proposed": proposed, "reasons": reasons}
    content["questions"] = list_questions(data, ratings, declared, groups)
    screen = partial(_render, content, ratings)
    return Report(title=data, content=content, sections=[], screen=screen)


def propose_reading(data: str, reading: Reading, *, quiet: bool) -> tuple[Reading, list[str]]:
    """Complete a reading so that a file is read, and say why each option is needed.

    If no reading is found, the columns are printed before the error, unless `quiet`.
    """
    if not os.path.exists(data):
        return reading, []
    try:
        _, declared, reasons = call_quietly(read.propose, data, reading)
        return declared, reasons
    except InputError:
        with suppress(InputError):
            table, opened = read.open_table(data, reading)
            if not quiet:
                listed = describe_columns(table, opened, reading, reading, ())
                print_wide(_list_columns(listed, 100))
        raise


def describe_columns(
    table: Mapping[str, Column],
    roles: Reading,
    proposed: Reading,
    declared: Reading,
    raters: Sequence[str],
) -> list[dict[str, Any]]:
    """List the columns of a table: kind, number of values, examples, role, and why.

    Parameters
    ----------
    table : Table
    roles : Reading
        The roles that were found.
    proposed, declared : Reading
        The roles that were proposed, and those that the user named.
    raters : sequence of str
        The raters, if there are ratings.

    Returns
    -------
    list of dict
        `column`, `kind`, `n_values`, `examples`, `role` and `why` of each.
    """
    role_by_column, listed = _name_roles(roles, raters), list[dict[str, Any]]()
    of_proposal, named = (_name_roles(reading, reading.raters) for reading in (proposed, declared))
    for name in table:
        role, by_name = role_by_column.get(name, ""), role_of(name)
        reasons = {"": not role, "declared": name in named, "proposed": name in of_proposal}
        reasons |= {"made of the others": roles.preset not in NO_EXPORT and role == name}
        reasons |= {"no other role": role == "rater" != by_name}
        reasons |= {"its name": role in (by_name, name.casefold()), "its values": True}
        why = next(reason for reason, holds in reasons.items() if holds)
        with suppress(InputError):  # a column that holds no labels
            column = table[name]
            examples = [str(label)[:LONGEST_EXAMPLE] for label in column.labels[:MOST_EXAMPLES]]
            content = {"kind": describe(column), "n_values": len(column.labels)}
            content |= {"examples": examples, "role": role, "why": why}
            listed.append({"column": name} | content)
    return listed


def _name_roles(roles: Reading, raters: Sequence[str]) -> dict[str, str]:
    """Name the role of each column that has one."""
    role_by_column = {getattr(roles, name): name.replace("_", " ") for name in SINGLE}
    role_by_column |= dict.fromkeys(roles.item, "item") | dict.fromkeys(roles.leave_out, "left out")
    if roles.rater is None:
        role_by_column |= dict.fromkeys(raters, "category" if roles.category_counts else "rater")
        role_by_column |= dict.fromkeys(roles.system, "system")
    return role_by_column


def list_questions(
    data: str, ratings: Ratings, declared: Reading, groups: Sequence[str]
) -> list[FileQuestion]:
    """List the questions that the ratings answer, and those for which one thing is missing."""
    ask = partial(_ask, data, declared)
    if ratings.systems:
        return _ask_of_systems(ask, ratings, groups)
    if ratings.n_raters == 1 and ratings.truth is not None:
        return _ask_of_judge(ask, ratings, str(declared.truth), groups)
    questions = _ask_of_raters(ask, ratings, groups)
    if questions[0]["missing"] or ratings.anonymous:
        return questions
    accuracy = _ask_of_candidates(ask, ratings, declared)
    return questions if accuracy["missing"] and ratings.n_raters < 3 else [accuracy, *questions]


def _ask(
    data: str,
    declared: Reading,
    question: str,
    command: str = "",
    *words: str,
    why: str = "",
    missing: str = "",
    **roles: Any,
) -> FileQuestion:
    """Ask a question by a command, if there is one, with the options of reading and some others."""
    options = replace(declared, **roles).to_dict().items()
    of_reading = [word for name, value in options for word in write_option(name, value)]
    line = write_command(command, data, [*of_reading, *words]) if command else ""
    return {"question": question, "why": why, "command": line, "missing": missing}


def _groups_items(ratings: Ratings, column: Mapping[str, Any]) -> bool:
    """Tell whether a column makes groups of items."""
    name = column["column"]
    of_rater = any(name.startswith(f"{rater}_") for rater in ratings.all_raters)
    identifies = name.casefold().endswith(("_id", " id")) or "." in name
    has_role = role_of(name) not in (None, "system", "group") or column["kind"] == "numbers"
    few = 2 <= column["n_values"] <= ratings.n_items / 2
    if of_rater or identifies or has_role or not few:
        return False
    with suppress(InputError):
        return len({*read_groups(Path(), [name], ratings).names} - {""}) > 1
    return False


def _compare_groups(ask: Ask, ratings: Ratings, groups: Sequence[str]) -> FileQuestion:
    """Ask which group has more items of the good category."""
    good = _find_good(ratings)
    question = f"which {' or '.join(groups) or 'group'} has more {good}"
    if not groups:
        return ask(question, missing="a column that groups items, for --group")
    options = [*write_option("group", groups[0]), *write_option("good", [good])]
    return ask(question, "compare", *options, why=f"{groups[0]} makes groups of items")


def _find_good(ratings: Ratings) -> str:
    """Find the category that is compared: one that is named so, else the last."""
    categories = list(map(str, ratings.categories))
    return next((name for name in categories if name.casefold() in GOOD), categories[-1])


def _ask_of_raters(ask: Ask, ratings: Ratings, groups: Sequence[str]) -> list[FileQuestion]:
    """List questions about ratings without a system."""
    agree, rates = "how far raters agree", "base rates and the raters' accuracy"
    try:
        require_pairs(ratings)
    except InputError as error:
        return [ask(agree, missing=f"what estimates need: {to_options(str(error))}")]
    why = f"{pluralise(ratings.n_raters, 'rater')} rated the same items, and none of them need be "
    questions = [ask(agree, "agreement", why=f"{why}right")]
    if ratings.anonymous:
        return questions
    why = "raters count by how well they agree with the others"
    questions.append(ask("the category of each item", "label", "--output", "labels.csv", why=why))
    questions.append(_compare_groups(ask, ratings, groups))
    if ratings.n_raters > 2 or ratings.truth is not None:
        why = "their agreement shows how often each errs, if errors are independent"
        questions.append(ask(rates, "compare", why=why))
    elif not groups:  # Groups with other base rates tell it, too: Hui & Walter (1980).
        need = "a third rater or gold labels: two raters do not tell which of them is more accurate"
        questions.append(ask(rates, missing=need))
    return questions


def _ask_of_systems(ask: Ask, ratings: Ratings, groups: Sequence[str]) -> list[FileQuestion]:
    """List questions about the answers of systems."""
    one, n_truths = len(ratings.systems) == 1, count_truths(ratings)
    accuracy = f"the accuracy of {' and '.join(ratings.systems)}"
    rated = f"{pluralise(ratings.n_raters, 'rater')} rated the same items"
    rated = "" if not ratings.n_raters or is_only_labelled(ratings) else rated
    labelled = f"{n_truths} have gold labels" * (n_truths > 0)
    better = "" if one else ", and which is better"
    why = ", ".join(filter(None, (rated, labelled)))
    question = ask(accuracy + better, "estimate", why=why)
    if not ratings.n_raters and n_truths:
        return [question]
    try:
        require_estimable(ratings)
    except InputError as error:
        return [ask(accuracy, missing=f"what estimates need: {to_options(str(error))}")]
    questions = [*(_ask_of_raters(ask, ratings, groups)[:2] if one else []), question]
    if groups:
        why, by = f"{groups[0]} makes groups of items", f"{accuracy} by {' or '.join(groups)}"
        questions.append(ask(by, "estimate", "--group", groups[0], why=why))
    if one and n_truths < ENOUGH_TRUTHS and not ratings.grouped:
        n = min(N_TRUTHS, ratings.n_rows - n_truths)
        low, high = wilson_interval(0.5, n, z=1.645)
        missing = f"{ENOUGH_TRUTHS} or more gold labels (there are {n_truths})"
        missing = missing if n_truths else "gold labels: accuracy rests on learned_prior"
        missing += f"; {n} of random items give ±{(high - low) / 2:.2f} by themselves"
        by_labels = "the accuracy by gold labels alone"
        questions.append(ask(by_labels, "ask", "--n", str(n), missing=missing))
    return questions


def _ask_of_judge(
    ask: Ask, ratings: Ratings, truth: str, groups: Sequence[str]
) -> list[FileQuestion]:
    """List questions about one judge and gold labels."""
    (judge,), good = ratings.raters, _find_good(ratings)
    why = f"the {pluralise(count_truths(ratings), 'gold label')} show how often {judge} errs"
    as_system: dict[str, Any] = {"system": (judge,), "raters": ()}
    accuracy = f"the accuracy of {judge}, if"
    questions = [
        _compare_groups(ask, ratings, groups),
        ask(f"how many items are {good}", "compare", *write_option("good", [good]), why=why),
        ask(f"{accuracy} it is a system", "estimate", why=why, **as_system),
    ]
    if "reference" in list_words(truth) and ratings.n_categories == 2:
        option = ("--reference", f"{truth}=SENSITIVITY,SPECIFICITY")
        missing = f"how often {truth} errs, for {accuracy} {truth} errs, too"
        as_system |= {"truth": None, "missing": missing}
        questions.append(ask(f"{accuracy} {truth} errs, too", "estimate", *option, **as_system))
    return questions


def _ask_of_candidates(ask: Ask, ratings: Ratings, declared: Reading) -> FileQuestion:
    """Ask for the accuracy of those raters whose names are those of systems."""
    systems = tuple(name for name in ratings.raters if may_be("system", name))
    people = tuple(name for name in ratings.raters if name not in systems)
    if not systems or not people:
        missing = "a system to evaluate: name the column or rater by --system, if there is one"
        return ask("the accuracy of a system", missing=missing)
    condition = "they are systems" if len(systems) > 1 else "it is a system"
    roles: dict[str, Any] = {"raters": people if declared.raters else ()}
    if len(people) == 1 and ratings.truth is None:
        condition += f" and {people[0]} gives gold labels"
        roles = {"truth": people[0], "raters": ()}
    what = f"the accuracy of {' and '.join(systems)}, if {condition}"
    why = f"{list_few(people, 4)} rated the same items"
    return ask(what, "estimate", why=why, system=systems, **roles)


def _render(content: Mapping[str, Any], ratings: Ratings, width: int) -> list[Text]:
    """Lay out the columns, the options that are proposed, notes, and the commands."""
    lines = [make_line(f"{content['data']}: {repr(ratings).removeprefix('Ratings: ')}")]
    lines += _list_columns(content["columns"], width)
    if content["reasons"]:
        proposed = content["proposed"].items()
        words = " ".join(quote(word) for name, x in proposed for word in write_option(name, x))
        head = f"As it is, this file is refused; it is read with {words}, because"
        lines += [make_line(), make_line(head)]
        lines += [make_line(f"  {reason}") for reason in content["reasons"]]
    lines += [make_line(), *map(make_line, write_data_lines(ratings.notes)[:MOST_NOTES])]
    answered = [(f"{x['question']}: {x['why']}", x) for x in content["questions"] if x["why"]]
    missing = [(x["missing"], x) for x in content["questions"] if x["missing"]]
    for title, steps in (("You can run", answered), ("Missing", missing)):
        lines += [make_line(), make_line(title)] if steps else []
        for said, step in steps:
            command = [make_line(f"    {step['command']}")] if step["command"] else []
            lines += [make_line(f"  {said}"), *command]
    for line in lines:
        # A command is copied as a whole.
        line.no_wrap, line.overflow = True, "ignore"
    return lines


def _list_columns(listed: Sequence[Mapping[str, Any]], width: int) -> list[Text]:
    """Lay out a table of the columns."""
    if not listed:
        return []
    rows = []
    for column in listed[:MOST_COLUMNS]:
        name, examples = cut(column["column"], LONGEST_NAME), ", ".join(column["examples"])
        role = f"{column['role'] or '-'}{column['why'] and f' ({column["why"]})'}"
        rows.append((name, f"{column['n_values']} {column['kind']}", examples, role))
    more = len(listed) - len(rows)
    lines = to_terminal(list_table(("column", "values", "examples", "role"), rows), width)
    return [*lines, *([make_line(f"and {more} more columns")] if more else [])]
