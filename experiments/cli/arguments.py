"""Arguments that several commands take, and their checks."""

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[str, typer.Argument(help="Ratings file (CSV or Parquet), or a data set.")]
System = Annotated[str | None, typer.Option(help="Column or rater that is the system.")]
Truth = Annotated[
    str | None, typer.Option(help="Column of known truths, or a file with columns item, truth.")
]
Item = Annotated[str | None, typer.Option(help="Column that names the items.")]
Raters = Annotated[str | None, typer.Option(help="Rater columns, comma-separated.")]
Counts = Annotated[str | None, typer.Option(help="Column of numbers of items.")]
Categories = Annotated[str | None, typer.Option(help="All categories in order, comma-separated.")]
Missing = Annotated[
    str | None, typer.Option(help="Labels that stand for no rating, comma-separated.")
]
FoldCase = Annotated[
    bool, typer.Option("--fold-case", help="Read labels that differ in case or spaces as one.")
]
Ordered = Annotated[bool, typer.Option("--ordered", help="Categories are ordered.")]
Interval = Annotated[float, typer.Option(help="Probability of the intervals.")]
Seed = Annotated[int, typer.Option(help="Same seed, same numbers.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Output = Annotated[Path | None, typer.Option(help="Folder for tables and figures.")]


def check_interval(interval: float) -> None:
    """Raise an InputError unless the probability of an interval is between 0 and 1."""
    if not 0 < interval < 1:
        from lehner import InputError

        raise InputError(f"--interval is {interval}", "give a number between 0 and 1, as in 0.9")


def check_seed(seed: int) -> None:
    """Raise an InputError unless a seed is 0 or more."""
    if seed < 0:
        from lehner import InputError

        raise InputError(f"--seed is {seed}", "give a whole number, 0 or more")
