"""The role of each column: told in a sentence, and doubted where names or labels tell otherwise."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from lehner.core.errors import InputError
from lehner.core.text import counted, first_few
from lehner.data.categories import Column, fold, unify, value_or_folded
from lehner.data.checks.labels import no_categories
from lehner.data.options import ReadingOptions

MOST_COLUMNS_SHOWN = 8
MANY_RATERS = 100
FEWEST_TIMES = 10
FEWEST_ROWS = 5
MANY_LABELS = 10
MOST_STRAY_SHOWN = 3
NAMES_OF_ROWS = ("rater", "rating")

TRUTH = {
    *("gold", "golden", "goldstandard", "truth", "groundtruth", "true", "gt", "reference"),
    *("adjudicated", "adjudication", "consensus", "correct", "target", "majority"),
}
OF_TRUTH = {
    *("label", "labels", "standard", "ground", "class", "category", "answer", "value", "vote", "y")
}
MAYBE_TRUTH = {
    *("expert", "label", "class", "final", "consensus", "adjudicated", "adjudication"),
    *("biopsy", "histology", "pathology", "autopsy", "surgery"),
}
ITEM = {"item", "items", "id", "index", "task", "case", "unit", "subject", "unnamed"}
OF_ITEM = {"id", "no", "nr", "number", "name", "0"}
COUNT = {"count", "counts", "freq", "frequency"}
REMARK = {
    *("confidence", "certainty", "comment", "comments", "remark", "remarks", "note", "notes"),
    *("timestamp", "date", "time", "duration", "seconds", "text"),
}
SYSTEM = {
    *("system", "model", "ai", "classifier", "algorithm", "machine", "bot"),
    *("pred", "prediction", "predicted", "predictions"),
}
OF_SYSTEM = {"label", "answer", "class", "category", "output", "y"}


def say_columns(raters: Sequence[str], ignored: Iterable[str], options: ReadingOptions) -> str:
    """Say who the raters and the systems are, and the role of other columns.

    Parameters
    ----------
    raters : sequence of str
        Names of the raters.
    ignored : iterable of str
        The columns that were not read.
    options : ReadingOptions
        The other roles.

    Returns
    -------
    str

    Examples
    --------
    >>> options = ReadingOptions(system=("gpt",), item="id")
    >>> say_columns(["Ann", "Bo"], ["time"], options)
    'raters are Ann, Bo; the system is gpt; items are named by id; ignored: time'
    """
    systems, by_rating = options.system, (options.rater, options.rating)
    parts = [f"raters are {_shown(raters)}"]
    if systems:
        which = "the system is" if len(systems) == 1 else "the systems are"
        parts.append(f"{which} {_shown(systems)}")
    parts.append(f"items are named by {options.item}" if options.item else "items are numbered")
    if options.truth is not None:
        parts.append(f"known truths are in {options.truth}")
    if options.truth_probability is not None:
        parts.append(f"they were chosen with the probabilities in {options.truth_probability}")
    if options.cluster is not None:
        parts.append(f"items are clustered by {options.cluster}")
    if options.rater is not None and by_rating != NAMES_OF_ROWS:
        parts.append(
            f"each row is a rating: the rater is in {by_rating[0]}, the rating in {by_rating[1]}"
        )
    left = [name or "(a column without a name)" for name in ignored]
    return "; ".join(parts + ([f"ignored: {_shown(left)}"] if left else []))


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_COLUMNS_SHOWN} more" if len(names) > MOST_COLUMNS_SHOWN else ""
    return ", ".join(names[:MOST_COLUMNS_SHOWN]) + more


def say_if_transposed(n_raters: int, n_rows: int) -> list[str]:
    """Warn of a table that has many more columns than rows.

    Examples
    --------
    >>> say_if_transposed(20_000, 10), say_if_transposed(300, 200)
    (['there are 20000 raters of 10 items; if the columns are items, transpose the table'], [])
    """
    if n_raters < MANY_RATERS or n_raters < FEWEST_TIMES * n_rows:
        return []
    return [
        f"there are {n_raters} raters of {counted(n_rows, 'item')}; if the columns are items, "
        "transpose the table"
    ]


def role_by_name(
    name: str, systems: Sequence[str], *, systems_rate: bool = False
) -> tuple[str, str] | None:
    """Guess what a column is by its name, and the argument to declare it; None for a rater.

    Parameters
    ----------
    name : str
        Name of the column.
    systems : sequence of str
        The systems' columns.
    systems_rate : bool
        Whether all raters are named like systems.

    Returns
    -------
    tuple of two str, or None

    Examples
    --------
    >>> role_by_name("label_true", ["gpt"])
    ('known truths', "truth='label_true'")
    >>> role_by_name("model_b", ["model_a"], systems_rate=True)
    """
    words = _words(name)
    if TRUTH & set(words) and set(words) <= TRUTH | OF_TRUTH:
        return "known truths", f"truth={name!r}"
    if words and words[0] in ITEM and set(words) <= ITEM | OF_ITEM:
        return "the items", f"item={name!r}"
    if len(words) == 1 and words[0] in COUNT:
        return "numbers of items", f"counts={name!r}"
    if len(words) == 1 and words[0] in REMARK:
        return "a remark", ""
    if is_named_like_system(name) and not systems_rate:
        what = "another system" if systems else "a system"
        return what, f"system={name!r}" + (", too" if systems else "")
    return None


def is_named_like_system(name: str) -> bool:
    """Whether a rater has the name of a system, as `model_b` or `AI 2`."""
    words = _words(name)
    if not SYSTEM & set(words) or "graded" in words:  # a scorer of Inspect is model_graded_qa
        return False
    short = {word for word in words if len(word) <= 2 or word.isdigit()}
    numbered = words[0] in ("system", "model") and len(words) > 1
    return numbered or set(words) <= SYSTEM | OF_SYSTEM | short


def _words(name: str) -> list[str]:
    return re.findall(r"[0-9]+|[^\s0-9_.,;:/()#-]+", name.casefold())


def _roles_by_name(
    raters: Sequence[str], systems: Sequence[str]
) -> list[tuple[str, tuple[str, str]]]:
    """Raters whose names are those of something else, and of what."""
    systems_rate = all(map(is_named_like_system, raters))
    roles = {name: role_by_name(name, systems, systems_rate=systems_rate) for name in raters}
    return [(name, role) for name, role in roles.items() if role is not None]


def refuse_other_columns(raters: Sequence[str], systems: Sequence[str]) -> None:
    """Raise an InputError if the name of a column that would be a rater shows that it is not."""
    for name, (what, remedy) in _roles_by_name(raters, systems)[:1]:
        raise InputError(
            f"its name is that of {what}, and it would count as a rater",
            (f"say what it is ({remedy}) or " if remedy else "") + "name the raters' columns "
            "(raters=…)",
            column=name,
        )


def say_other_raters(raters: Sequence[str], systems: Sequence[str]) -> list[str]:
    """Name raters of a table with a row per rating whose names are not those of raters."""
    return [
        f"the rater {name!r} counts as a rater though the name is that of {what}; if it is not "
        "a rater, delete its rows"
        for name, (what, _) in _roles_by_name(raters, systems)
    ]


def say_doubtful_names(raters: Sequence[str], systems: Sequence[str]) -> list[str]:
    """Name raters who may be known truths, another system, or one rater twice."""
    sentences = [
        f"{name!r} counts as a rater; if it has known truths, say so (truth={name!r})"
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


def refuse_stray_columns(columns: Mapping[str, Column], raters: Sequence[str]) -> None:
    """Raise an InputError if a column is probably not a rater, but an identifier, a date or a note.

    Such a column has no labels in common with others (or less than half of its labels, if it has
    many); or it has a different label in each row, while others have at most half as many labels.

    Parameters
    ----------
    columns : mapping of str to Column
        Columns of the raters and of the systems.
    raters : sequence of str
        The columns that would be raters because they have no other role.
    """
    if len(columns) < 2 or len(next(iter(columns.values())).codes) < FEWEST_ROWS:
        return
    if all(_holds_scores(columns[name]) for name in raters):
        return
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
        elif many and len(mine) == len(columns[name].codes) >= 2 * others:
            problem, or_code = "it has a different label in each row", ""
        else:
            continue
        raise InputError(
            f"{problem}, so it is probably not a rater",
            f"name the raters' columns (raters=…) or the items' column (item=…){or_code}",
            column=name,
        )


def _holds_scores(column: Column) -> bool:
    """Whether a column has many numbers, which are not accepted as categories."""
    return bool(no_categories(dict.fromkeys(column.labels, MANY_LABELS)))


def _labels_shown(labels: Iterable[object]) -> str:
    return first_few(sorted(map(str, labels)), MOST_STRAY_SHOWN)
