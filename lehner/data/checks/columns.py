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
from lehner.data.checks.labels import describe_no_categories, refuse_odd_cells
from lehner.data.columns import Column
from lehner.data.reading import Reading

MOST_COLUMNS_SHOWN = 8
MANY_RATERS = 100
FEWEST_TIMES = 10
FEWEST_ROWS = 5
MANY_LABELS = 10
MOST_STRAY_SHOWN = 3
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
    'the system is gpt; raters are Ann, Bo; items are named by id; ignored: time'
    """
    rating = None if (reading.rater, reading.rating) == ("rater", "rating") else reading.rating
    left = [name or "(a column without a name)" for name in ignored]
    parts = {
        f"the system{'s are' if len(reading.system) > 1 else ' is'} {_shown(reading.system)}": (
            reading.system
        ),
        f"raters are {_shown(raters)}": raters,
        f"items are named by {' and '.join(reading.item)}": reading.item,
        "items are numbered": not reading.item,
        f"gold labels are in {reading.truth}": reading.truth,
        f"they were chosen with the probabilities in {reading.truth_probability}": (
            reading.truth_probability
        ),
        f"items are clustered by {reading.cluster}": reading.cluster,
        f"each row is a rating: the rater is in {reading.rater}, the rating in {rating}": (
            reading.rater and rating
        ),
        f"ignored: {_shown(left)}": left,
    }
    return "; ".join(text for text, said in parts.items() if said)


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


def refuse_other_names(raters: Sequence[str], systems: Sequence[str], *, columns: bool) -> None:
    """Raise an InputError if the name of a rater is that of something else.

    Parameters
    ----------
    raters, systems : sequence of str
    columns : bool
        Whether these are columns' names; else only gold labels and systems are found.
    """
    systems_rate = all(map(is_named_like_system, raters))
    for name in raters:
        role = role_of(name) or "rater"
        if role in ("rater", "rating") or (role == "system" and systems_rate):
            continue
        what = "another system" if role == "system" and systems else _vocabulary()[role]["what"]
        change = {} if role == "remark" else {role: (name,)}
        say = f"say what it is ({role}={name!r}) or " if change else ""
        if columns:
            problem = f"its name is that of {what}, and it would count as a rater"
            remedy = f"{say}name the raters' columns (raters=…)"
            raise InputError(problem, remedy, column=name, change=change)
        if role in ("truth", "system"):
            problem = f"there is a rater {name!r}, whose name is that of {what}"
            remedy = f"say so ({role}={name!r}), or name the raters (raters=…)"
            raise InputError(problem, remedy, change=change)


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


def refuse_rows_of_raters(n_raters: int, n_rows: int, item: str | None, first: str) -> None:
    """Raise an InputError if each row of a table is probably a rater, and not an item."""
    named = item is not None and role_of(item) == "rater"
    many = n_raters >= MANY_RATERS and n_raters >= FEWEST_TIMES * n_rows
    if many or (named and n_raters > n_rows):
        raise InputError(
            f"there are {n_raters} raters of {counted(n_rows, 'item')}, so that each row is "
            "probably a rater, and each column an item",
            f"say so (rater={item or 'the column of their names'!r}, items=…, as in "
            f"{re.sub('[0-9]+.*', '*', first)!r}), or name the raters' columns (raters=…)",
        )


def refuse_counts(columns: Sequence[Column]) -> None:
    """Raise an InputError if columns are categories and cells are counts: all rows have one sum."""
    if len(columns) < 2 or len(columns[0]) < FEWEST_ROWS:
        return
    labels = {str(label) for column in columns for label in column.labels}
    if not all(label.isascii() and label.isdigit() for label in labels):
        return
    cells = np.array([column.numbers for column in columns])
    sums = cells.sum(axis=0)
    if (sums == sums[0]).all() and sums[0] > 1 and cells.max() > 1:
        if len(np.unique(cells, axis=1).T) > 2:
            raise InputError(
                f"all rows have the sum {sums[0]:.0f}, so that each column is probably a category, "
                "and each cell a number of raters",
                "say so (category_counts=True), or name the raters' columns (raters=…)",
                change={"category_counts": True},
            )


def refuse_stray_columns(
    columns: Mapping[str, Column], raters: Sequence[str], decimal: str | None = None
) -> None:
    """Raise an InputError if a column is probably not a rater, but an identifier, a date or a note.

    Such a column has no labels in common with others (or less than half of its labels, if it has
    many); or it has a different label in each row, while others have at most half as many labels;
    or it is named after another, as R1_conf after R1, and has other labels.

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
        refuse_odd_cells(columns)
    scores = dict.fromkeys(raters, MANY_LABELS)
    if all(describe_no_categories(dict.fromkeys(columns[x].labels, n)) for x, n in scores.items()):
        return
    same = unify(label for column in columns.values() for label in column.labels)
    labels = {name: {same[label] for label in column.labels} for name, column in columns.items()}
    holders = Counter(label for own in labels.values() for label in own)
    *_, second, most = sorted(map(len, labels.values()))
    for name in raters:
        own = labels[name]
        alone = {label for label in own if holders[label] == 1}
        many = len(own) >= MANY_LABELS
        others = second if len(own) == most else most
        after = [name[: end.start()] for end in re.finditer(r"[ _.:-]", name)]
        named_after = [rater for rater in after if labels.get(rater, own) != own]
        remedy = "name the raters' columns (raters=…)"
        if named_after:
            problem = f"it is named after the column {named_after[0]!r} and has other labels"
        elif alone and (alone == own or (many and 2 * len(alone) > len(own))):
            elsewhere = set(holders) - alone if alone == own else ()
            problem = f"labels such as {_labels_shown(alone)} occur in no other column"
            problem += f", where they are {_labels_shown(elsewhere)}" if elsewhere else ""
            remedy += " or the items' column (item=…), or code all raters alike"
        elif many and len(own) == len(columns[name]) >= 2 * others:
            problem = "it has a different label in each row"
            remedy += " or the items' column (item=…)"
        else:
            continue
        remedy += "; if each row is a rating, name its columns (rater=…, rating=…)"
        raise InputError(f"{problem}, so it is probably not a rater", remedy, column=name)


def _labels_shown(labels: Iterable[object]) -> str:
    return first_few(sorted(map(str, labels)), MOST_STRAY_SHOWN)
