"""Spellings of one label: case, white space and Unicode forms made alike."""

import re
import unicodedata
from typing import Any

INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
NUMBER = re.compile(r"[-+]?[0-9]{1,15}([.,][0-9]{1,15})?")
THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+")


def fold(label: Any) -> str:
    r"""Label in lower case, one kind of white space and one Unicode form.

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
    """Text in one Unicode form, powers and fractions as they are."""
    plain = (
        c if c.isnumeric() and not c.isdecimal() else unicodedata.normalize("NFKC", c) for c in text
    )
    return unicodedata.normalize("NFC", "".join(plain))


def value_or_folded(label: Any) -> str:
    """Text that is equal for labels which may be one: numbers by their value, others folded.

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
