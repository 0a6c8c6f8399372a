"""What is to be known of the data, in terms of the command's options."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from experiments.reporting.options import as_options

if TYPE_CHECKING:
    from lehner import Ratings


def data_notes(ratings: "Ratings") -> list[str]:
    """What is to be known of the data, in terms of the command's options."""
    return [as_options(note) for note in ratings.notes]


def header_lines(notes: Iterable[str]) -> list[str]:
    """What is to be known of the data as lines above a command's results."""
    return [f"Data: {note}" for note in notes]
