"""Names which show that a column, or a rater of a long table, is not a rater."""

import re
from collections.abc import Sequence

from lehner.core.errors import InputError
from lehner.data.spelling import fold, value_or_folded

TRUTH = frozenset(
    ("gold", "golden", "goldstandard", "truth", "groundtruth", "true", "gt", "reference")
) | {"adjudicated", "adjudication", "consensus", "correct", "target", "majority"}
OF_TRUTH = frozenset(
    ("label", "labels", "standard", "ground", "class", "category", "answer", "value", "vote", "y")
)
ITEM_WORDS = frozenset(
    ("item", "items", "id", "index", "task", "case", "unit", "subject", "unnamed")
)
OF_ITEM = frozenset(("id", "no", "nr", "number", "name", "0"))
COUNT = frozenset(("count", "counts", "freq", "frequency"))
REMARK = frozenset(
    ("confidence", "certainty", "comment", "comments", "remark", "remarks", "note", "notes")
) | {"timestamp", "date", "time", "duration", "seconds", "text"}
SYSTEM_WORDS = frozenset(("system", "model", "ai", "classifier", "algorithm", "machine", "bot")) | {
    *("pred", "prediction", "predicted", "predictions")
}
OF_SYSTEM = frozenset(("label", "answer", "class", "category", "output", "y"))
VERSION = frozenset(
    ("mini", "nano", "turbo", "base", "small", "large", "pro", "flash", "lite", "instruct")
) | {"opus", "sonnet", "haiku", "preview", "new", "old"}
DOUBTFUL = frozenset(("expert", "label", "class", "final"))


def refuse_other_columns(raters: Sequence[str], systems: Sequence[str]) -> None:
    """Raise an InputError if the name of a column shows that it is not a rater.

    Parameters
    ----------
    raters : sequence of str
        The columns that would be raters because they have no other role.
    systems : sequence of str
        The systems' columns.
    """
    alike = named_like_systems(raters)
    for name in raters:
        part = part_by_name(name, systems, named_like_systems=alike)
        if part is not None:
            what, remedy = part
            raise InputError(
                f"its name is that of {what}, and it would count as a rater",
                (f"say what it is ({remedy}) or " if remedy else "") + "name the raters' columns "
                "(raters=…)",
                column=name,
            )


def named_like_systems(raters: Sequence[str]) -> bool:
    """Whether all raters are named like systems, which are then the raters."""
    return all(_of_system(_words(rater)) for rater in raters)


def part_by_name(
    name: str, systems: Sequence[str], *, named_like_systems: bool = False
) -> tuple[str, str] | None:
    """Tell what a column is by its name, and the argument to declare it; None for a rater.

    Parameters
    ----------
    name : str
    systems : sequence of str
        The systems' columns.
    named_like_systems : bool
        Whether all raters are named like systems.

    Returns
    -------
    tuple of two str, or None

    Examples
    --------
    >>> part_by_name("label_true", ["gpt"])
    ('known truths', "truth='label_true'")
    >>> part_by_name("model_b", ["model_a"], named_like_systems=True)
    """
    words = _words(name)
    if not words:
        return None
    if TRUTH & set(words) and set(words) <= TRUTH | OF_TRUTH:
        return "known truths", f"truth={name!r}"
    if words[0] in ITEM_WORDS and set(words) <= ITEM_WORDS | OF_ITEM:
        return "the items", f"item={name!r}"
    if words[0] in COUNT and len(words) == 1:
        return "numbers of items", f"counts={name!r}"
    if words[0] in REMARK and len(words) == 1:
        return "a remark", ""
    if _of_system(words) and not named_like_systems:
        what = "another system" if systems else "a system"
        return what, f"system={name!r}" + (", too" if systems else "")
    return None


def say_doubtful_names(raters: Sequence[str], systems: Sequence[str]) -> tuple[str, ...]:
    """Name raters whose names suggest that they are something else, or one rater twice.

    Parameters
    ----------
    raters, systems : sequence of str

    Returns
    -------
    tuple of str
    """
    sentences = []
    for name in raters:
        if fold(name) in DOUBTFUL:
            sentences.append(
                f"{name!r} counts as a rater; if it has known truths, say so (truth={name!r})"
            )
    kin = {name: _kin(name, systems) for name in raters}
    family = {name: system for name, system in kin.items() if system is not None}
    if 2 * len(family) < len(raters):
        sentences += [
            f"{name!r} counts as a rater though its name is like the system's, {system!r}; if it "
            f"is another system, name it, too (system={name!r}), or leave it out"
            for name, system in family.items()
        ]
    first: dict[str, str] = {}
    for name in raters:
        other = first.setdefault(value_or_folded(name), name)
        if other != name:
            sentences.append(
                f"the raters {other!r} and {name!r} count as two; if they are one, write "
                "the name alike"
            )
    return tuple(sentences)


def say_other_raters(raters: Sequence[str], systems: Sequence[str]) -> tuple[str, ...]:
    """Name raters of a table with a row per rating whose names are not those of raters.

    Parameters
    ----------
    raters, systems : sequence of str

    Returns
    -------
    tuple of str
    """
    alike = named_like_systems(raters)
    parts = [(name, part_by_name(name, systems, named_like_systems=alike)) for name in raters]
    return tuple(
        f"the rater {name!r} counts as a rater though the name is that of {part[0]}; if it is not "
        "a rater, delete its rows"
        for name, part in parts
        if part is not None
    )


def _words(name: str) -> list[str]:
    return re.findall(r"[0-9]+|[^\s0-9_.,;:/()#-]+", name.casefold())


def _of_system(words: list[str]) -> bool:
    if not words or not SYSTEM_WORDS & set(words):
        return False
    short = {word for word in words if len(word) <= 2 or word.isdigit()}
    named = words[0] in ("system", "model") and len(words) > 1
    return named or set(words) <= SYSTEM_WORDS | OF_SYSTEM | VERSION | short


def _kin(name: str, systems: Sequence[str]) -> str | None:
    """Give a system with a name of the same family."""
    return next((system for system in systems if _same_family(name, system)), None)


def _same_family(name: str, system: str) -> bool:
    one, other = _words(name), _words(system)
    if not one or not other or one[0] != other[0] or one[0].isdigit():
        return False
    rest = {*one[1:], *other[1:]}
    return all(word.isdigit() or len(word) <= 2 or word in VERSION for word in rest)
