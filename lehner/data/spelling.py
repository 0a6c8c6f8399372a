"""Spellings of one label: case, white space and Unicode forms made alike."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lehner.core.checks import wrong
from lehner.data.categories import Column, merge_labels, plain_label, unify

INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
NUMBER = re.compile(r"[-+]?[0-9]{1,15}([.,][0-9]{1,15})?")
THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+")


def fold(label: Any) -> str:
    r"""Give a label in lower case, one kind of white space and one Unicode form.

    Numbers stay as they are written: 1,000, 1 and 1.0 are three labels, and 10\u00b2 is not 102.

    Parameters
    ----------
    label : str, int or float

    Returns
    -------
    str

    Examples
    --------
    >>> fold(" Not\u00a0 Sure"), fold("\uff2e\uff2f"), fold("1,000")
    ('not sure', 'no', '1,000')
    """
    text = str(label)
    if text.isascii():
        return " ".join(text.casefold().split())
    text = _one_form(text.translate(INVISIBLE)).casefold()
    return _one_form(" ".join(text.split()))


def _one_form(text: str) -> str:
    """Give a text in one Unicode form, powers and fractions as they are."""
    plain = (
        c if c.isnumeric() and not c.isdecimal() else unicodedata.normalize("NFKC", c) for c in text
    )
    return unicodedata.normalize("NFC", "".join(plain))


def value_or_folded(label: Any) -> str:
    """Give a text that is equal for labels which may be one: numbers by their value, others folded.

    Examples
    --------
    >>> value_or_folded("2.0"), value_or_folded("02"), value_or_folded("2,0")
    ('2', '2', '2')
    >>> value_or_folded("1,000"), value_or_folded(" Yes")
    ('1000', 'yes')
    """
    text = fold(label)
    if THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    return f"{float(text.replace(',', '.')):.15g}" if NUMBER.fullmatch(text) else text


def reread(
    columns: Mapping[str, Column],
    categories: Sequence[Any] | None,
    *,
    missing: Any,
    fold_case: bool,
) -> tuple[dict[str, Column], tuple[str, ...]]:
    """Read labels again: remove texts for missing ratings, and merge spellings.

    Parameters
    ----------
    columns : mapping of str to Column
        Columns of raters, system and truth.
    categories : sequence, optional
        Labels as the user spells them.
    missing : label or sequence of labels
        Labels for a missing rating.
    fold_case : bool
        Whether labels that `fold` makes equal are one category: that among `categories`, else the
        folded text.

    Returns
    -------
    columns : dict of str to Column
    unused : tuple of str
        A sentence for each text in `missing` that does not occur.
    """
    if isinstance(categories, str):
        raise wrong("categories", categories, "give a list of names, as in ['no', 'yes']")
    if isinstance(missing, str) or not isinstance(missing, Iterable):
        missing = [missing]
    absent = {
        _plain_text(text, fold_case=fold_case): str(text)
        for text in missing
        if plain_label(text) is not None
    }
    if not absent and not fold_case:
        return dict(columns), ()
    given = () if categories is None else categories
    spelled = {fold(label): label for label in given} if fold_case else {}
    texts = {
        name: [_plain_text(label, fold_case=fold_case) for label in one.labels]
        for name, one in columns.items()
    }
    spellings = {text for several in texts.values() for text in several}
    unused = [
        f"no cell has the value {shown!r}, which was given as a label for missing ratings"
        for text, shown in absent.items()
        if text not in spellings
    ]
    read = {}
    for name, column in columns.items():
        labels = list(map(fold, column.labels)) if fold_case else column.labels
        kept = [
            None if text in absent else spelled.get(label, label)
            for text, label in zip(texts[name], labels, strict=True)
        ]
        codes, merged = merge_labels(column.codes, kept)
        read[name] = replace(column, codes=codes, labels=merged)
    return read, tuple(unused)


def _plain_text(label: Any, *, fold_case: bool) -> str:
    """Give a label as text, 99.0 as 99."""
    text = str(unify([label])[label])
    return fold(text) if fold_case else text
