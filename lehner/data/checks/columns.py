"""The role of each column: told in a sentence, and doubted where names or labels tell otherwise."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from lehner.core.errors import InputError
from lehner.core.text import counted, first_few
from lehner.data.categories import fold, unify, value_or_folded
from lehner.data.checks.labels import no_categories, refuse_odd_labels
from lehner.data.columns import Column
from lehner.data.reading import Reading

MOST_COLUMNS_SHOWN = 8
MANY_RATERS = 100
FEWEST_TIMES = 10
FEWEST_ROWS = 5
MANY_LABELS = 10
MOST_STRAY_SHOWN = 3
NAMES_OF_ROWS = ("rater", "rating")
MAYBE_TRUTH = {
    *("expert", "label", "class", "final", "consensus", "adjudicated", "adjudication"),
    *("biopsy", "histology", "pathology", "autopsy", "surgery"),
}


def say_columns(raters: Sequence[str], ignored: Iterable[str], reading: Reading) -> str:
    """Say who the raters and the systems are, and the role of other columns.

    Parameters
    ----------
    raters : sequence of str
        Names of the raters.
    ignored : iterable of str
        The columns that were not read.
    reading : Reading
        The other roles.

    Returns
    -------
    str

    Examples
    --------
    >>> say_columns(["Ann", "Bo"], ["time"], Reading(system="gpt", item="id"))
    'raters are Ann, Bo; the system is gpt; items are named by id; ignored: time'
    """
    systems, by_rating = reading.system, (reading.rater, reading.rating)
    parts = [f"raters are {_shown(raters)}"] if raters else []
    if systems:
        which = "the system is" if len(systems) == 1 else "the systems are"
        parts.append(f"{which} {_shown(systems)}")
    item = " and ".join(reading.item)
    parts.append(f"items are named by {item}" if item else "items are numbered")
    if reading.truth is not None:
        parts.append(f"known truths are in {reading.truth}")
    if reading.truth_probability is not None:
        parts.append(f"they were chosen with the probabilities in {reading.truth_probability}")
    if reading.cluster is not None:
        parts.append(f"items are clustered by {reading.cluster}")
    if reading.rater is not None and by_rating != NAMES_OF_ROWS:
        parts.append(
            f"each row is a rating: the rater is in {by_rating[0]}, the rating in {by_rating[1]}"
        )
    left = [name or "(a column without a name)" for name in ignored]
    return "; ".join(parts + ([f"ignored: {_shown(left)}"] if left else []))


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_COLUMNS_SHOWN} more" if len(names) > MOST_COLUMNS_SHOWN else ""
    return ", ".join(names[:MOST_COLUMNS_SHOWN]) + more


@cache
def _vocabulary() -> dict[str, Any]:
    text = files("lehner.data").joinpath("names.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def role_of(name: str) -> str | None:
    """Role of a column by its name, as `names.toml` lists them; None if the name has none.

    Examples
    --------
    >>> role_of("label_true"), role_of("Annotator ID"), role_of("verdict"), role_of("Ann")
    ('truth', 'rater', 'rating', None)
    """
    if re.fullmatch(r"\w+(\.\w+)+", name):
        name = name.rpartition(".")[2]  # of a nested file
    words = _words(name)
    if name == "":
        return "item"  # the index that pandas writes
    for role, known in _vocabulary().items():
        if role == "system" and is_named_like_system(name):
            return role
        of, others = set(known["of"]), set(known["with"])
        if role == "remark":  # Confidence (1-5)
            others |= {word for word in words if word.isdigit()}
        if of & set(words) and set(words) <= of | others and (role != "item" or words[0] in of):
            return str(role)
    return None


def is_named_like_system(name: str) -> bool:
    """Whether a rater has the name of a system, as `model_b` or `AI 2`."""
    known, words = _vocabulary()["system"], _words(name)
    if not set(known["of"]) & set(words) or "graded" in words:  # Inspect's model_graded_qa
        return False
    short = {word for word in words if len(word) <= 2 or word.isdigit()}
    numbered = words[0] in ("system", "model") and len(words) > 1
    return numbered or set(words) <= {*known["of"], *known["with"]} | short


def _words(name: str) -> list[str]:
    return re.findall(r"[0-9]+|[^\s0-9_.,;:/()#-]+", name.casefold())


def _other_roles(raters: Sequence[str]) -> dict[str, str]:
    """Raters whose names are those of something else, and its role."""
    systems_rate = all(map(is_named_like_system, raters))
    roles = {name: role_of(name) for name in raters}
    return {
        name: role
        for name, role in roles.items()
        if role in ("truth", "item", "counts", "remark") or (role == "system" and not systems_rate)
    }


def refuse_other_columns(raters: Sequence[str], systems: Sequence[str]) -> None:
    """Raise an InputError if the name of a column that would be a rater shows that it is not."""
    for name, role in _other_roles(raters).items():
        what = _vocabulary()[role]["what"]
        if role == "system" and systems:
            what = "another system"
        say = "" if role == "remark" else f"say what it is ({role}={name!r}) or "
        raise InputError(
            f"its name is that of {what}, and it would count as a rater",
            f"{say}name the raters' columns (raters=…)",
            column=name,
            change={} if role == "remark" else {role: (name,)},
        )


def refuse_other_raters(raters: Sequence[str]) -> None:
    """Raise an InputError for a rater of a table with a row per rating who is probably none."""
    for name, role in _other_roles(raters).items():
        if role in ("truth", "system"):
            raise InputError(
                f"there is a rater {name!r}, whose name is that of {_vocabulary()[role]['what']}",
                f"say so ({role}={name!r}), or name the raters (raters=…)",
                change={role: (name,)},
            )


def say_doubtful_names(raters: Sequence[str], systems: Sequence[str]) -> list[str]:
    """Name raters who may be gold labels, another system, or one rater twice."""
    sentences = [
        f"{name!r} counts as a rater; if it has gold labels, say so (truth={name!r})"
        for name in raters
        if fold(name) in MAYBE_TRUTH
    ]
    family = {
        word: system for system in systems for word in _words(system)[:1] if not word.isdigit()
    }
    alike = {name: family[word] for name in raters for word in _words(name)[:1] if word in family}
    if 2 * len(alike) < len(raters):
        sentences += [
            f"{name!r} counts as a rater though its name is like the system's, {system!r}; if it "
            f"is another system, name it, too (system={name!r}), or leave it out"
            for name, system in alike.items()
        ]
    first: dict[str, str] = {}
    for name in raters:
        other = first.setdefault(value_or_folded(name), name)
        if other != name:
            sentences.append(
                f"the raters {other!r} and {name!r} count as two; if they are one, write "
                "the name alike"
            )
    return sentences


def refuse_rows_of_raters(columns: Mapping[str, Column], n_rows: int, item: str | None) -> None:
    """Raise an InputError if each row of a table is probably a rater, and not an item."""
    n_raters = len(columns)
    named = item is not None and role_of(item) == "rater"
    many = n_raters >= MANY_RATERS and n_raters >= FEWEST_TIMES * n_rows
    if many or (named and n_raters > n_rows):
        first = next(iter(columns))
        raise InputError(
            f"there are {n_raters} raters of {counted(n_rows, 'item')}, so that each row is "
            "probably a rater, and each column an item",
            f"say so (rater={item or 'the column of their names'!r}, items=…, as in "
            f"{re.sub('[0-9]+.*', '*', first)!r}), or name the raters' columns (raters=…)",
        )


def refuse_counts(columns: Mapping[str, Column]) -> None:
    """Raise an InputError if columns are categories and cells are counts: all rows have one sum."""
    n_rows = len(next(iter(columns.values()), ()))
    if len(columns) < 2 or n_rows < FEWEST_ROWS:
        return
    labels = {label for column in columns.values() for label in column.labels}
    if not all(str(label).isascii() and str(label).isdigit() for label in labels):
        return
    cells = np.array([_whole(column) for column in columns.values()])
    sums = cells.sum(axis=0)
    if (cells >= 0).all() and len(set(sums.tolist())) == 1 and sums[0] > 1 and cells.max() > 1:
        if len({tuple(row) for row in cells.T.tolist()}) > 2:
            raise InputError(
                f"all rows have the sum {sums[0]}, so that each column is probably a category, and "
                "each cell a number of raters",
                "say so (category_counts=True), or name the raters' columns (raters=…)",
                change={"category_counts": True},
            )


def _whole(column: Column) -> Any:
    return np.array([*(int(str(label)) for label in column.labels), -1])[column.codes]


def refuse_stray_columns(
    columns: Mapping[str, Column], raters: Sequence[str], decimal: str | None = None
) -> None:
    """Raise an InputError if a column is probably not a rater, but an identifier, a date or a note.

    Such a column has no labels in common with others (or less than half of its labels, if it has
    many); or it has a different label in each row, while others have at most half as many labels.

    Parameters
    ----------
    columns : mapping of str to Column
        Columns of the raters and of the systems.
    raters : sequence of str
        The columns that would be raters because they have no other role.
    decimal : str, optional
        "," if numbers have a decimal comma.
    """
    if len(columns) < 2 or len(next(iter(columns.values()))) < FEWEST_ROWS:
        return
    if decimal is None:
        refuse_odd_labels(columns)
    if all(_holds_scores(columns[name]) for name in raters):
        return
    _refuse_named_after(columns, raters)
    same = unify(label for column in columns.values() for label in column.labels)
    labels = {name: {same[label] for label in column.labels} for name, column in columns.items()}
    holders = Counter(label for mine in labels.values() for label in mine)
    *_, second, most = sorted(map(len, labels.values()))
    for name in raters:
        mine = labels[name]
        alone = {label for label in mine if holders[label] == 1}
        many = len(mine) >= MANY_LABELS
        others = second if len(mine) == most else most
        if alone and (alone == mine or (many and 2 * len(alone) > len(mine))):
            elsewhere = set(holders) - alone if alone == mine else ()
            problem = f"labels such as {_labels_shown(alone)} occur in no other column" + (
                f", where they are {_labels_shown(elsewhere)}" if elsewhere else ""
            )
            or_code = ", or code all raters alike"
        elif many and len(mine) == len(columns[name]) >= 2 * others:
            problem, or_code = "it has a different label in each row", ""
        else:
            continue
        raise InputError(
            f"{problem}, so it is probably not a rater",
            f"name the raters' columns (raters=…) or the items' column (item=…){or_code}; if each "
            "row is a rating, name its columns (rater=…, rating=…)",
            column=name,
        )


def _refuse_named_after(columns: Mapping[str, Column], raters: Sequence[str]) -> None:
    """Raise an InputError for a column such as R1_conf beside R1, if its labels are others."""
    for name in raters:
        for end in (place.start() for place in re.finditer(r"[ _.:-]", name)):
            rater = name[:end]
            if rater in columns and set(columns[rater].labels) != set(columns[name].labels):
                raise InputError(
                    f"it is named after the column {rater!r} and has other labels, so it is "
                    "probably not a rater",
                    "name the raters' columns (raters=…)",
                    column=name,
                )


def _holds_scores(column: Column) -> bool:
    """Whether a column has many numbers, which are not accepted as categories."""
    return bool(no_categories(dict.fromkeys(column.labels, MANY_LABELS)))


def _labels_shown(labels: Iterable[object]) -> str:
    return first_few(sorted(map(str, labels)), MOST_STRAY_SHOWN)
