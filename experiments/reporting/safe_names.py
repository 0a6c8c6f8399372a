"""Names of folders that stand for names in the user's data: safe, unique and reversible."""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable

LONGEST = 255
"""Bytes that file systems allow in the name of a file or folder."""
DEVICES = frozenset(("con", "prn", "aux", "nul")) | {
    f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³"
}
"""Names of devices, which are no names of files in Windows, whatever follows after a dot."""


def safe_names(names: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Find a folder of its own for each name: a single one, in any operating system.

    Letters, digits and `-_.` stay; other characters are percent-encoded as in addresses of the
    web, so that `urllib.parse.unquote` gives the name back. All characters are encoded of names
    that are reserved, begin or end with a dot, or that a file system may take for another name or
    for a file that is taken, because it does not tell upper from lower case or forms of Unicode.
    Names that are then too long for a file are cut, and end in "~" and a hash.

    Parameters
    ----------
    names : iterable of str
        Any texts, none twice.
    taken : iterable of str
        Names of files in the same place.

    Returns
    -------
    dict of str to str
        The name of the folder by the name.

    Examples
    --------
    >>> safe_names(["gpt-4", "g/4", "..", "estimates.csv"], taken=["estimates.csv"])["gpt-4"]
    'gpt-4'
    >>> safe_names(["g/4", "g:4", "..", "GPT", "gpt"])
    {'g/4': 'g%2F4', 'g:4': 'g%3A4', '..': '%2E%2E', 'GPT': '%47%50%54', 'gpt': '%67%70%74'}
    """
    plain = {name: _encode(name, _is_plain) for name in names}
    used = Counter(map(_alike, [*plain.values(), *taken]))
    return {
        name: short if used[_alike(short)] == 1 and _is_safe(short) else _encode_all(name)
        for name, short in plain.items()
    }


def _encode(name: str, keep: Callable[[str], bool]) -> str:
    return "".join(
        c if keep(c) else "".join(f"%{byte:02X}" for byte in c.encode("utf-8", "surrogatepass"))
        for c in name
    )


def _is_plain(character: str) -> bool:
    return character.isalnum() or character in "-_."


def _encode_all(name: str) -> str:
    """Encode all characters of a name; cut what is then too long, or empty."""
    encoded = _encode(name, lambda _: False)
    if 0 < len(encoded) <= LONGEST:
        return encoded
    digest = "~" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    readable = _encode(name, lambda c: c.isascii() and c.isalnum())
    return readable[: LONGEST - len(digest)] + digest


def _alike(name: str) -> str:
    """Fold a name to a text that is equal for names which a file system may not tell apart."""
    folded = unicodedata.normalize("NFD", name).casefold()
    return unicodedata.normalize("NFD", folded)


def _is_safe(name: str) -> bool:
    if not name or len(name.encode()) > LONGEST:
        return False
    return name == name.strip(".") and name.split(".")[0].casefold() not in DEVICES
