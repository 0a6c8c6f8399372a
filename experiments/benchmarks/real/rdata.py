"""Data frames from .RData files, as far as reader studies need it: no R is called."""

import gzip
import struct
from pathlib import Path
from typing import Any

from lehner import InputError

REFERENCE, NIL, NAMESPACE = 255, 254, 249
SYMBOL, PAIRS, TEXT, TRUTHS, WHOLE, REAL, TEXTS, LIST = 1, 2, 9, 10, 13, 14, 16, 19
MISSING = -(2**31)

type Columns = dict[str, list[Any]]


def read_data_frame(path: Path) -> Columns:
    """Read the data frame that a file holds.

    Parameters
    ----------
    path : Path
        As `save` of R writes it: XDR, version 2 or 3, compressed by gzip or not at all.

    Returns
    -------
    dict of str to list
        The columns; factors as their labels.

    Raises
    ------
    InputError
        If the file is of another kind, or holds anything but numbers, texts and factors.

    References
    ----------
    R Internals, section 1.8, "Serialization Formats".
    """
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    if content[:7] not in (b"RDX2\nX\n", b"RDX3\nX\n"):
        raise InputError("this is no .RData file in XDR", "take it from its repository", file=path)
    stream = _Stream(content[7:], path)
    if stream.whole(3)[0] == 3:
        stream.take(stream.whole(1)[0])
    ((_, frame),) = stream.item()
    values, attributes = frame
    columns = dict(zip(attributes["names"], values, strict=True))
    return {name: _labels(column) for name, column in columns.items()}


def _labels(column: Any) -> list[Any]:
    if isinstance(column, list):
        return column
    values, attributes = column
    if "levels" not in attributes:
        return list(values)
    return [None if value is None else attributes["levels"][value - 1] for value in values]


class _Stream:
    """What is left to read, and the symbols that were seen."""

    def __init__(self, content: bytes, path: Path) -> None:
        self.content, self.path, self.at = content, path, 0
        self.seen: list[str] = []

    def take(self, n: int) -> bytes:
        self.at += n
        return self.content[self.at - n : self.at]

    def whole(self, n: int) -> tuple[int, ...]:
        return struct.unpack(f">{n}i", self.take(4 * n))

    def item(self) -> Any:
        """Read one item: a list, or if it has attributes a pair of it and these."""
        (flags,) = self.whole(1)
        kind, has_attributes, has_tag = flags & 255, flags & 512, flags & 1024
        if kind == NIL:
            return None
        if kind == REFERENCE:
            return self.seen[(flags >> 8) - 1]
        if kind == SYMBOL:
            self.seen.append(self.item())
            return self.seen[-1]
        if kind == PAIRS:
            return self._pairs(has_attributes, has_tag)
        values = self._vector(kind)
        if kind != TEXT and has_attributes:
            return values, dict(self.item())
        return values

    def _pairs(self, has_attributes: int, has_tag: int) -> list[tuple[str, Any]]:
        if has_attributes:
            self.item()
        tag = self.item() if has_tag else ""
        value = self.item()
        return [(tag, value), *(self.item() or [])]

    def _vector(self, kind: int) -> Any:
        (n,) = self.whole(1)
        if kind == TEXT:
            return None if n == -1 else self.take(n).decode()
        if kind in (TRUTHS, WHOLE):
            return [None if value == MISSING else value for value in self.whole(n)]
        if kind == REAL:
            return list(struct.unpack(f">{n}d", self.take(8 * n)))
        if kind in (TEXTS, LIST):
            return [self.item() for _ in range(n)]
        raise InputError(f"type {kind} of R is not read", "take another file", file=self.path)
