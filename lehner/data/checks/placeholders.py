"""Categories that may stand for a missing rating."""

from collections.abc import Iterable

from lehner.data.categories import MISSING, Label

SURE_PLACEHOLDERS = frozenset(text.casefold() for text in MISSING) | {
    *("-", "--", "---", "–", "—", "?", "??", "???", ".", "..", "...", "…", "*", "_", "/"),
    *("n.a.", "n.a", "n.d.", "#n/a", "#na", "#null!", "#value!", "#ref!", "#name?", "#div/0!"),
    *("-nan", "1.#ind", "-1.#ind", "1.#qnan", "(null)", "(blank)", "<missing>", "undefined"),
}
"""Texts, in lower case, that are a category only if the user names it."""

LIKELY = frozenset(("unknown", "missing", "blank", "skipped", "unanswered", "unrated")) | {
    "not available",
    "not applicable",
    "no answer",
    "no response",
    "no rating",
    "not rated",
}
"""Texts, in lower case, that may be a category."""

SENTINELS = (9, 77, 88, 97, 98, 99, 777, 888, 998, 999, 7777, 8888, 9999)
WIDEST_GAP = 3


def sure_placeholders(labels: Iterable[Label]) -> list[Label]:
    """Give the labels that mean a missing rating unless the user names them as categories."""
    plain = {label: str(label).casefold() for label in labels}
    signs = any(set(text) == {"+"} for text in plain.values())  # then - is a result too
    return [
        label
        for label, text in plain.items()
        if text in SURE_PLACEHOLDERS and not (signs and set(text) == {"-"})
    ]


def likely_placeholders(labels: Iterable[Label]) -> list[Label]:
    """Give the labels that may mean a missing rating: words, and numbers far from the others.

    Examples
    --------
    >>> likely_placeholders(["yes", "no", "unknown"]), likely_placeholders([1, 2, 3, 99])
    (['unknown'], [99])
    >>> likely_placeholders([-1, 0, 1]), likely_placeholders([0, 1, 2, 3, -9])
    ([], [-9])
    """
    likely = list(labels)
    words = [label for label in likely if str(label).casefold() in LIKELY]
    words += [label for label in likely if _is_none(label, likely)]
    numbers = [label for label in likely if isinstance(label, int)]
    return words + _far_numbers(numbers) if len(numbers) == len(likely) else words


def _is_none(label: Label, labels: list[Label]) -> bool:
    """Whether "none" means no rating: it does among numbers, or, as Python's None, among words."""
    others = [str(other) for other in labels if other != label]
    if not others or str(label).casefold() != "none":
        return False
    numbers = all(other.lstrip("-").isdigit() for other in others)
    return numbers or (label == "None" and all(other == other.lower() for other in others))


def _far_numbers(numbers: list[int]) -> list[Label]:
    if len(numbers) < 3:
        return []
    lowest, second, *_ = sorted(numbers)
    *_, last_but_one, highest = sorted(numbers)
    far: list[Label] = []
    if lowest < 0 <= second and -lowest != highest and (lowest == -1 or second - lowest > 3):
        far += [lowest] if highest >= 2 else []
    if highest in SENTINELS and lowest >= 0 and highest - last_but_one > WIDEST_GAP:
        far.append(highest)
    return far
