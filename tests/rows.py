"""Rows of the JSON that a command prints."""

import json

from lehner.report.files import draw_bytes


def pick_rows(out, quantity, **columns):
    """List rows of a quantity; columns that are not named are empty, and `...` is any value."""
    wanted = {"grouping": "", "rater": "", "versus": "", "corrected": False} | columns
    return [
        row
        for row in json.loads(out)["rows"]
        if row["quantity"] == quantity
        and all(value is ... or row[name] == value for name, value in wanted.items())
    ]


def one_row(out, quantity, **columns):
    """Give the one such row."""
    (row,) = pick_rows(out, quantity, **columns)
    return row


def ends(row):
    """Give estimate, lower and upper of a row."""
    return tuple(row[name] for name in ("estimate", "lower", "upper"))


def as_text(lines):
    """Write lines for a console as one text."""
    return "".join(f"{line.plain}\n" for line in lines)


def draw_for_pages_only(figure, kind):
    """Draw a figure of a page; files of figures stay empty, and the tests of `report` draw them."""
    return draw_bytes(figure, kind) if kind == "svg" else b""
