"""What early releases of Python 3.12 do wrongly."""

import csv
import io

import pytest


def _quotes_returns() -> bool:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(["\r"])
    return '"' in text.getvalue()


needs_quoted_returns = pytest.mark.skipif(
    not _quotes_returns(), reason="this Python's csv module writes carriage returns unquoted"
)
