"""Warnings about odd data, which point to the user's line that read them."""

import warnings
from collections.abc import Iterable
from pathlib import Path

from lehner.core.errors import DataWarning

PACKAGE = str(Path(__file__).parents[2])


def warn_of_data(texts: Iterable[str]) -> None:
    """Give each warning, with the line outside this package that read the data."""
    for text in texts:
        warnings.warn(text, DataWarning, skip_file_prefixes=(PACKAGE,))
