"""Read ratings: from a file, or a folder of files, to a table, to roles, to ratings."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.errors import InputError, compose, find, list_few
from lehner.core.text import pluralise
from lehner.data import roles as column_roles
from lehner.data.columns import Table, make_table, read_probabilities, refuse_first, require_columns
from lehner.data.ratings import Ratings
from lehner.data.reading import Reading, join_conditions, write_name
from lehner.data.tables import code_labels, name_each_once
from lehner.reading import formats, rows
from lehner.reading.nested import load_json, read_tags, read_tokens, table_of_json
from lehner.reading.rows import Preset

# The endings of files that are read in a folder, and the signs of a pattern of names.
FILES = re.compile(r"\.(jsonl?|ndjson|csv|tsv|parquet|xlsx|xml)(\.gz)?$|\.eval$")
WILD = re.compile(r"[*?[]")
# The name of a file of samples of lm-evaluation-harness.
TASK = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT")
MOST_CHANGES, LAST_ROWS = 8, 3
# So many raters with this share of a system's answers, beside so many others, may be systems.
FEWEST_RIVALS, ALIKE, FEWEST_OTHERS = 2, 0.9, 5
# The column of probabilities in a file of gold labels.
CHANCES = "truth_probability"
# Options whose proposals add up.
ADDED_UP = ("missing", "labels", "system", "leave_out")

# A table, the tool that wrote it, and how it is read, with the full names of columns.
type Read = tuple[Table, Preset | None, Reading]


def read_ratings(source: Any, *, reading: Reading | None = None, **options: Any) -> Ratings:
    r"""Read ratings from a CSV, Excel, JSON or Parquet file, or from a table in memory.

    A column's role is declared, or certain, else the table is refused with the columns to choose
    from. A table has a row per rating if columns for rater or rating are named, or have usual names
    (`rater`, `annotator`, `judge`, …; `rating`, `label`, `verdict`, …) and items occur more than
    once. Any other table has a row per item, and a column per rater. Columns (where a row is a
    rating, a rater) named `system`, and columns named `item`, `truth`, `count` and `occasion` have
    these roles.

    Parameters
    ----------
    source : str, Path, pandas.DataFrame, pyarrow.Table or mapping of columns
        The table, or its file: CSV, Excel, JSON, JSON Lines, Parquet, Stata or SPSS, told apart by
        how it begins, else by its ending. It may be compressed by gzip, or a folder of such files,
        or a pattern that chooses files, as `labels/*.jsonl`; those in folders below are read if
        they are a tool's or the only ones. Nested JSON is flattened: names are joined by dots, and
        lists of records become rows. Files of many tools are known.
    reading : Reading, optional
        Options together. Those that are named here come first.
    **options
        The parameters of `lehner.Reading`, each of which is described there: the roles of columns
        (`system`, `truth`, `item`, `rater`, `rating`, `raters`, `items`, `counts`, `cluster`,
        `order`, `pair`, `occasion`, …), the meaning of labels (`categories`, `ordered`, `missing`,
        `labels`, `cut`, …), and how the file is read (`where`, `split`, `header`, `sheet`,
        `encoding`, `preset`, …).

    Returns
    -------
    Ratings
        The ratings, with `notes` that tell how each column was interpreted.

    Raises
    ------
    InputError
        If there is no such file or no such table in it, if the role of a column is not clear, or if
        the data are probably an error (see `Ratings.from_wide`). The error names file, row,
        column, value and remedy. Data that only look odd give a `DataWarning` and an entry in
        `notes`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "ratings.csv"
    >>> _ = file.write_text("item,Ann,Bo,system\n1,yes,no,yes\n2,no,no,no\n")
    >>> read_ratings(file, system="system")
    Ratings: 2 items, 2 raters, 4 ratings, 2 categories (no, yes), system
    >>> read_ratings({"Ann": ["yes", "no"], "Bo": ["no", "no"], "gpt": ["yes", "no"]}, system="gpt")
    Ratings: 2 items, 2 raters, 4 ratings, 2 categories (no, yes), system
    """
    declared = Reading(**options).combine_first(reading or Reading())
    return make_ratings(*open_table(source, declared))


def open_table(source: Any, reading: Reading) -> tuple[Table, Reading]:
    """Open a file or a table, and do what the tool's preset and the reading do with its rows.

    Parameters
    ----------
    source : object
        As `read_ratings` takes it.
    reading : Reading

    Returns
    -------
    table : Table
    reading : Reading
        What is declared, with columns by their full names.
    """
    if isinstance(source, str | Path):
        table, preset, reading = read_file(Path(source), reading)
    else:
        table = make_table(source)
        # A table in memory is no tool's file, unless that is said.
        preset = rows.find_preset(table, reading) if reading.preset else None
    require_columns(table, reading.leave_out)
    with locating(table):
        if reading.where is not None:
            table = rows.keep_rows(table, reading.where)
        if preset and not reading.items and column_roles.are_people(reading.raters, table):
            table, reading = rows.apply_preset(table, preset, reading)
        if not (reading.rater or reading.rating or reading.raters or reading.item):
            rows.refuse_parallel_lists(table)
        if preset is None and reading.where is None and not reading.items:
            free = column_roles.list_free(table, reading)
            criteria = list(filter(rows.CRITERION.fullmatch, free))
            if criteria and all(len(column.labels) < table.n_rows for column in table.values()):
                rows.refuse_criteria(table, criteria)
        return rows.shape_rows(table, reading)


def make_ratings(opened: Table, declared: Reading) -> Ratings:
    """Make ratings of a table that was opened, or raise an InputError."""
    table = opened.without(declared.leave_out)
    gold = None if str(declared.truth) in table else open_gold(declared)
    files = [name for name in declared.system if name not in table and split_file(name)]
    systems = tuple(name for name in declared.system if name not in files)
    reading = replace(declared, system=systems, truth=None if gold else declared.truth)
    with locating(table):
        roles = column_roles.find_roles(table, reading)
        if roles.rater is None and (roles.repeated or roles.order is not None):
            problem = "repeated ratings and orders of presentation need a table with a row per "
            problem += "rating, and this is another table"
            remedy = compose("name its columns ({item}, {rater}, {rating}), or leave it out")
            raise InputError(problem, remedy)
        if roles.order is not None:
            table, roles = rows.join_orders(table, roles)
        if gold and roles.system and not (roles.rater or roles.raters):
            require_columns(table, roles.system)
            ignored = column_roles.list_needless(table, roles, _count_gold(*gold))
            if ignored:
                table = table.without(ignored).note(f"ignored: {list_few(ignored, 5)}")
        _refuse_totals(table, roles)
        ratings = Ratings.from_table(table, roles)
        if roles.system and not declared.raters:
            _refuse_rivals(ratings)
    notes = ratings.reading_notes
    if roles.item and roles.rater is None and roles.item != reading.item:
        if column_roles.role_of(roles.item[0]) != "item":
            notes += (f"{roles.item[0]} names the items: each row has another label there",)
    items = ratings.items if roles.item or ratings.anonymous else ratings.items + 1
    notes += table.notes
    ratings = ratings.replace(items=items, reading_notes=notes, source=(opened, roles))
    ratings = ratings if gold is None else add_gold(ratings, *gold, declared)
    for file in files:
        ratings = add_systems(ratings, file, declared)
    return ratings


def open_gold(reading: Reading) -> tuple[Table, str | None] | None:
    """Open the file of gold labels, and give the column that is named; None if there is no file."""
    path, column = split_file(reading.truth) or (None, None)
    if path is None:
        return None
    return read_file(path, Reading(encoding=reading.encoding, preset="none"))[0], column


def _count_gold(table: Table, column: str | None) -> int:
    """Count the gold labels in the table of a file."""
    names = [x for x in table if x == column or (not column and x.casefold() == "truth")]
    with locating(table):
        return sum(int((table[name].codes >= 0).sum()) for name in names)


def _refuse_totals(table: Table, roles: Reading) -> None:
    """Raise an InputError at a row at the end that sums up the others."""
    for column in (table[name] for name in roles.item if name in table and not roles.keep_totals):
        for row in range(max(table.n_rows - LAST_ROWS, 1), table.n_rows):
            label = str(column.labels[column.codes[row]]) if column.codes[row] >= 0 else ""
            if column_roles.is_total(label) or (label and _adds_up(table, roles, row)):
                condition = f"{write_name(column.name)} not in {[label]}"
                change = {"where": join_conditions("and", [roles.where, condition])}
                remedy = "leave it out ({}), or say that it is an item ({keep_totals=True})"
                problem = f"{label!r} sums up the others"
                raise InputError(problem, remedy, row=row, column=column.name, change=change)


def _adds_up(table: Table, roles: Reading, row: int) -> bool:
    """Tell whether a row has the sums of those above it, in two columns or more."""
    names = roles.raters or column_roles.list_free(table, roles)
    columns = [table[name] for name in names if name in table and table[name].codes[row] >= 0]
    cells = (np.nan_to_num(column.numbers[: row + 1]) for column in columns)
    return len(columns) > 1 and all(x[-1] == x[:-1].sum() > x[:-1].max() for x in cells)


def _refuse_rivals(ratings: Ratings) -> None:
    """Raise an InputError if raters answered as many items as the systems, and many others few."""
    votes = ratings.votes.one_vote_each
    rated = np.bincount(votes.rater_index, minlength=ratings.n_raters)
    many = rated >= ALIKE * (ratings.answers >= 0).sum(axis=0).max()
    if ratings.anonymous or many.sum() < FEWEST_RIVALS or (~many).sum() < FEWEST_OTHERS:
        return
    if rated[~many].max() <= rated[many].min() / 2:
        rivals = [name for name, rival in zip(ratings.raters, many, strict=True) if rival]
        problem = f"{list_few(rivals, 4)} would be raters, but answered as many items as "
        problem += f"{list_few(ratings.systems, 2)}, and the other raters far fewer"
        remedy = "if they are systems, say so ({}); else name all raters ({raters})"
        raise InputError(problem, remedy, change={"system": (*ratings.systems, *rivals)})


def split_file(text: Any) -> tuple[Path, str | None] | None:
    """Split a text such as gold.csv:Tag into file and column; None if it names no file.

    Examples
    --------
    >>> split_file("gold.csv:Tag") == (Path("gold.csv"), "Tag"), split_file("a:b")
    (True, None)
    """
    file, _, column = str(text).rpartition(":")
    if formats.is_file(str(text)):
        return Path(text), None
    return (Path(file), column) if formats.is_file(file) else None


def find_rows(ratings: Ratings, items: Iterable[object]) -> Integers:
    """Find the row of each item by its name, -1 where the ratings have no such item."""
    row_of = {str(item): row for row, item in enumerate(ratings.items)}
    return np.array([row_of.get(str(item), -1) for item in items], dtype=np.int64)


def match_items(ratings: Ratings, table: Table, reading: Reading) -> tuple[str, ...]:
    """Find the column that names the items of a file of gold labels or of systems."""
    item = ratings.source[1].item if ratings.source else ()
    item = (reading.truth_item,) if reading.truth_item else item
    return item if reading.truth_item or {*item} <= {*table} else ()


def add_gold(ratings: Ratings, table: Table, column: str | None, reading: Reading) -> Ratings:
    """Add the gold labels of a file with a row per item, whose categories are the ratings'.

    Parameters
    ----------
    ratings : Ratings
    table : Table
        Its column truth_probability, if there is one, says how probably each item was chosen.
    column : str or None
        Of the gold labels; None stands for truth.
    reading : Reading
        How the ratings were read. Its `truth_item` names the items of the file; else the column
        does that names the items of the ratings, or one of a usual name.

    Returns
    -------
    Ratings
    """
    with locating(table):
        plain = Reading(raters=(column or "truth",), item=match_items(ratings, table, reading))
        roles = column_roles.find_roles(table, plain)
        column = column or roles.truth
        if column is None:
            way = {"truth": f"{reading.truth}:COLUMN"}
            remedy = compose("name the column that has them ({})", way)
            raise InputError("no column is named truth", remedy)
        name = (*roles.item, "item")[0]
        require_columns(table, [name, column])
        rows = find_rows(ratings, name_each_once(table[name]))
        problem = "the ratings have no item {value}"
        refuse_first(rows < 0, table[name], problem, "name items as they do")
        fixed = replace(reading, categories=ratings.categories)
        labels = code_labels({column: table[column]}, fixed).codes[column]
        truths = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth.copy()
        differs = (labels >= 0) & (truths[rows] >= 0) & (truths[rows] != labels)
        problem = "the item has the gold label {value} here and another in the ratings file"
        refuse_first(differs, table[column], problem, "give each item one gold label")
        truths[rows] = np.where(labels >= 0, labels, truths[rows])
        chances = ratings.truth_probability
        if CHANCES in table:
            chances = np.zeros(ratings.n_rows)
            chances[rows] = read_probabilities(table[CHANCES])
            for row in np.flatnonzero(chances == 0)[:1]:
                problem = f"the item {str(ratings.items[row])!r} of the ratings has no probability"
                raise InputError(problem, "give that of each, labelled or not", column=CHANCES)
        return ratings.with_truth(truths, chances)


def add_systems(ratings: Ratings, file: str, reading: Reading) -> Ratings:
    """Add systems whose answers are in a file, with a row per item or per answer.

    Parameters
    ----------
    ratings : Ratings
    file : str
        All its columns of answers are systems; or file and column, as "answers.csv:gpt".
    reading : Reading
        How the ratings were read. Its `truth_item` names the items of the file; else the column
        does that names the items of the ratings, or one of a usual name.

    Returns
    -------
    Ratings
        Items of the file that the ratings do not have are left out, and so are columns without a
        label of the ratings, which notes say.
    """
    path, column = split_file(file) or (Path(file), None)
    alike = {name: getattr(reading, name) for name in ("missing", "labels", "encoding")}
    raters = () if column is None else (column,)
    table, plain = open_table(path, Reading(raters=raters, preset="none", **alike))
    codes = {str(label): code for code, label in enumerate(ratings.categories)}
    with locating(table):
        plain = replace(plain, item=match_items(ratings, table, reading))
        plain = column_roles.find_roles(table, plain)
        free = column_roles.list_free(table, plain)
        like = column_roles.list_sharing(table, plain, ratings.categories)
        if like and not (plain.rater or plain.labels):
            plain = replace(plain, leave_out=tuple(name for name in free if name not in like))
        answers = make_ratings(table, plain)
        rows = find_rows(ratings, answers.items)
        if (rows < 0).all():
            problem = f"the ratings have no item {str(answers.items[0])!r}, and none of the others"
            remedy = compose("name items as they do, or their column ({truth_item})")
            raise InputError(problem, remedy)
        recoded = np.array([*(find("category", str(x), codes) for x in answers.categories), -1])
        taken = np.full((ratings.n_rows, len(answers.all_raters)), -1)
        taken[rows[rows >= 0]] = recoded[np.c_[answers.codes, answers.answers]][rows >= 0]
        names = (*ratings.systems, *answers.all_raters)
        ratings = ratings.replace(answers=np.c_[ratings.answers, taken], systems=names)
    left = int((rows < 0).sum())
    text = f"{pluralise(left, 'item')} of {path.name} have no ratings: they are left out"
    ignored = f"ignored in {path.name}: {list_few(plain.leave_out, 5)}"
    return ratings.note(*[text] if left else [], *[ignored] if plain.leave_out else [])


@contextmanager
def read_columns(path: Path, reading: Reading | None = None) -> Iterator[Table]:
    """Read the columns of a file by name; errors in the block are located in the file."""
    table, _, _ = read_file(path, reading or Reading(preset="none"))
    with locating(table):
        yield table


@contextmanager
def locating(table: Table) -> Iterator[None]:
    """Name in the errors of a block the place in the file."""
    try:
        yield
    except InputError as error:
        table.locate(error)
        raise


def propose(source: Any, reading: Reading) -> tuple[Ratings, Reading, list[str]]:
    """Read a file as it may be meant, where it is refused: proposals for the user to confirm.

    Parameters
    ----------
    source : object
        As `lehner.read_ratings` takes it.
    reading : Reading
        What is declared.

    Returns
    -------
    ratings : Ratings
    reading : Reading
        What is declared, and what was proposed: with it the file is read.
    reasons : list of str
        Why the file is refused without each proposal; empty if it is read as it is.

    Raises
    ------
    InputError
        If there is no proposal for what is wrong.
    """
    reasons: list[str] = []
    while True:
        try:
            return make_ratings(*open_table(source, reading)), reading, reasons
        except InputError as error:
            changes = dict(error.change or {})
            for name in set(ADDED_UP) & set(changes):
                changes[name] = tuple(dict.fromkeys((*getattr(reading, name), *changes[name])))
            changed = replace(reading, **changes)
            if changed == reading or len(reasons) >= MOST_CHANGES:
                raise
            where = "" if error.column is None else f"{error.column}: "
            reasons.append(where + error.problem)
            reading = changed


def read_file(path: Path, reading: Reading) -> Read:
    """Read a file, the files in a folder, or those that a pattern of names chooses.

    Parameters
    ----------
    path : Path
    reading : Reading
        How the file is read; the roles of columns are no matter here.

    Returns
    -------
    table : Table
        It locates errors in the file.
    preset : Preset or None
    reading : Reading
    """
    try:
        if os.path.isdir(path):  # which tells of a name that is too long, too
            return _read_files(path, list_paths(path), reading)
        if WILD.search(str(path)) and not os.path.exists(path):
            chosen = list_paths(path)
            folder = next(x for x in path.parents if not WILD.search(str(x)))
            return _read_files(folder, chosen, reading)
        data, name = formats.read_bytes(path, reading.encoding)
        return _read_content(path, data, formats.kind_of(data, name), reading)
    except InputError as error:
        error.file = error.file or path
        raise


def _read_content(path: Path, data: bytes, kind: str, reading: Reading) -> Read:
    """Read the content of a file as a table, and find the tool that wrote it."""
    stem, content = path.name.removesuffix(".gz").rpartition(".")[0], None
    if kind in (formats.JSON, formats.JSON_LINES):
        content = load_json(data, lines=kind == formats.JSON_LINES)
        preset = rows.find_preset(content, reading)
    else:
        table, reading = _read_columns(data, kind, reading)
        preset = rows.find_preset(table, reading)
        if preset is not None and preset.parse:
            content = rows.parse_cells(table, preset)
    if content is not None:
        table, reading = table_of_json(content, preset, reading, stem)
    if not table or not table.n_rows:
        raise InputError("it has no rows below the header", "add ratings")
    if "" in table and not table[""].labels:  # a spreadsheet's empty last column
        table = table.without([""])
    if preset is not None:
        task = TASK.match(path.name)
        where = {"file": stem, "folder": path.parent.resolve().name}
        where |= {"task": task[1]} if task else {}
        missing = [name for name in where if name in preset.columns and name not in table]
        table = table.assign({name: [where[name]] * table.n_rows for name in missing})

    def forget_row(error: InputError) -> None:
        error.row = None

    return replace(table, place=table.place or forget_row, file=path), preset, reading


def _read_columns(data: bytes, kind: str, reading: Reading) -> tuple[Table, Reading]:
    """Read a file whose columns have names, or one without names."""
    if kind == formats.EXCEL:
        tables, note = formats.read_excel(data, reading.sheet, reading.header)
        if reading.sheet == formats.EACH:
            reading = replace(reading, rater=reading.rater or "sheet")
            return rows.stack_tables(tables, "sheet"), reading
        (table,) = tables.values()
        return table.note(note) if note else table, reading
    if kind == formats.CSV:
        return formats.read_csv(data, reading.header), reading
    read = {formats.CVAT: read_tags, formats.WEBANNO: read_tokens}.get(kind)
    return read(data) if read else formats.read_typed(data, kind), reading


def list_paths(path: Path) -> list[Path]:
    """List the files that a pattern chooses, or those of ratings in a folder.

    Those in folders below are listed unless there are tables in the folder.
    """
    if not os.path.isdir(path):
        chosen = [Path(name) for name in sorted(glob(str(path))) if os.path.isfile(name)]
        if not chosen:
            raise InputError("no file has such a name", "check the pattern", file=path)
        return chosen
    paths = [found for found in sorted(path.rglob("*")) if FILES.search(found.name.lower())]
    paths = [x for x in paths if x.is_file() and "/." not in f"/{x.relative_to(path).as_posix()}"]
    here = [found for found in paths if found.parent == path]
    return here if any(".json" not in found.name.lower() for found in here) else paths


def _read_files(folder: Path, paths: Sequence[Path], reading: Reading) -> Read:
    """Read files as one table.

    If a tool's files are among them, others are left out; else all must have the same columns, but
    for files of another ending.
    """
    files: dict[Path, Read] = {}
    failed: dict[Path, InputError] = {}
    for path in paths:
        try:
            files[path] = read_file(path, reading)
        except InputError as error:
            if error.row is not None:
                raise
            failed[path] = error  # a summary beside the files of a tool
    tools = sorted({preset.tool for _, preset, _ in files.values() if preset})
    if len(tools) > 1:
        remedy = f"name a file, a folder of one tool, or a pattern, as in '{folder}/*.jsonl'"
        raise InputError(f"this is a folder with files of {' and '.join(tools)}", remedy)
    tables = {path: table for path, (table, preset, _) in files.items() if preset or not tools}
    if not tools:
        tables = _leave_out_foreign(tables, failed)
    if not tables:
        raise InputError("this is a folder with no files of ratings", "name a file, or a pattern")
    _, preset, reading = files[next(iter(tables))]
    if preset is None and reading.rater is None and not reading.raters:
        reading = replace(reading, rater="file")
    left = [path.name for path in paths if path not in tables]
    note = f"read in this folder: {pluralise(len(tables), 'file')}{' of '.join(['', *tools])}"
    note += f"; others were not: {list_few(left, 5)}" if left else ""
    by_name = {path.stem: table for path, table in tables.items()}
    if len(by_name) < len(tables):
        by_name = {str(path.relative_to(folder)): table for path, table in tables.items()}
    stacked = rows.stack_tables(by_name, "file").note(note)
    return replace(stacked, file=folder), preset, reading


def _leave_out_foreign(
    tables: Mapping[Path, Table], failed: Mapping[Path, InputError]
) -> dict[Path, Table]:
    """Leave out files of another ending than two or more that have the same columns."""
    columns = Counter(frozenset(table) for table in tables.values())
    usual, n_files = columns.most_common(1)[0] if columns else (frozenset(), 0)
    kept = {path: table for path, table in tables.items() if set(table) == usual}
    endings = {path.suffix for path in kept}
    for path in (*failed, *tables):
        if path in kept or (n_files > 1 and path.suffix not in endings):
            continue
        if path in failed:
            raise failed[path]
        first = next(iter(kept))
        problem = f"its columns are {list_few(tables[path], 5)}, and those of {first.name} "
        remedy = "give files with the same columns, name one file, or choose some by a pattern, "
        remedy += f"as in '{first.parent}/*{first.suffix}'"
        raise InputError(problem + list_few(kept[first], 5), remedy, file=path)
    return kept
