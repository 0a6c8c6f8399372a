"""`lehner label`: the probability of each category for each item."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from experiments.cli.estimate import as_sentence
from experiments.cli.options import AsJson, Data, Interval, Reading, Seed, System
from experiments.report.terminal import json_text, print_data

if TYPE_CHECKING:
    import pandas as pd

    from lehner import Ratings, SoftLabels, Warning

DIGITS, ROUNDING = 6, 1e-9
MEDIAN = "median"


def label(
    data: Data,
    system: System = None,
    without_system: bool = False,
    method: str | None = None,
    interval: Interval = 0.9,
    seed: Seed = 1,
    *,
    reading: Reading,
    output: Path | None = None,
    raters_output: Path | None = None,
    as_json: AsJson = False,
) -> None:
    """Label each item with the probability of each category: soft labels to train a system on.

    Each row is an item: its name, a column for each category, and the most probable category
    (several are joined by | if they tie). Of ordered categories the last column is the median; the
    probabilities do not use the order. No system is needed, and its answers are no part of the
    labels, but for the Bayesian models and those by maximum likelihood, which count the system as
    one more rater: to train that system on their labels, use --without-system.

    Errors of raters are often correlated, and models of independent ones are then too sure:
    probabilities by variational models are tempered by a power that was learned on public data sets
    (crowds) with gold labels.

    Parameters
    ----------
    without_system : bool
        The system's answers are left out of the labels.
    method : NAME
        A method from the list below. Default: dawid_skene_vb; majority for anonymous raters.
    output : FILE
        The CSV file. Default: standard output.
    raters_output : FILE
        A CSV file with the number of ratings, the accuracy and the confusion matrix of each rater:
        the expected proportion of their ratings that are right, if these labels are, with its
        interval.

    Examples
    --------
    lehner label ratings.csv --output labels.csv
    lehner label ratings.csv --system gpt --without-system --method dawid_skene
    """
    from experiments.cli.load import load
    from experiments.cli.progress_lines import progress_lines
    from experiments.report.files import write_csv
    from experiments.report.labels import label_items
    from experiments.report.options import data_notes, header_lines
    from lehner import InputError
    from lehner.core.estimate import plain, require_pairs
    from lehner.core.warning import by_severity
    from lehner.labels.raters import describe_raters

    ratings = load(data, reading.options(system), require=require_pairs)
    if raters_output is not None and ratings.anonymous:
        raise InputError("raters are anonymous: none has an accuracy", "leave out --raters-output")
    if without_system:
        ratings = ratings.without_system()
    with progress_lines():
        labels = label_items(ratings, method, seed)
    table, raters = _table(labels, ratings), describe_raters(labels, ratings, interval)
    for text in header_lines(data_notes(ratings)):
        print(text, file=sys.stderr)
    for one in by_severity([*labels.warnings, *_notes(labels, ratings)]):
        print(f"{labels.method}: {one}", file=sys.stderr)
    if not labels.defined and not as_json:
        raise typer.Exit(1)
    if as_json:
        content = {
            "data": {"name": data, "notes": data_notes(ratings)},
            "method": labels.method,
            "uses_system": labels.uses_system,
            "warnings": plain(labels.warnings),
            "raters": plain(raters.to_dict("records")),
            "labels": plain(table.to_dict("records")),
        }
        print(json_text(content))
        if not labels.defined:
            raise typer.Exit(1)
    # Significant digits, so that a small probability does not become 0.
    numbers = table.select_dtypes("float").columns.difference(["item"])
    table[numbers] = table[numbers].map(lambda number: float(f"{number:.{DIGITS}g}"))
    for frame, file in ((table, output), (raters, raters_output)):
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            print(f"wrote {write_csv(frame, file)}", file=sys.stderr)
    if output is None and not as_json:
        print_data(table.to_csv(index=False, lineterminator="\n"))


def _table(labels: "SoftLabels", ratings: "Ratings") -> "pd.DataFrame":
    """Give a row for each item; of ordered categories with the median."""
    import numpy as np

    from lehner import InputError

    table = labels.to_frame()
    names = table.columns[1:-1]
    if ratings.ordered:
        if MEDIAN in names:
            raise InputError(f"a category is called {MEDIAN!r}, as a column is", "rename it")
        reached = np.cumsum(labels.truth_probabilities.values, axis=1) >= 0.5 - ROUNDING
        table[MEDIAN] = [names[place] for place in reached.argmax(axis=1)]
    return table


def _notes(labels: "SoftLabels", ratings: "Ratings") -> list["Warning"]:
    from lehner.core.text import counted
    from lehner.core.warning import warn

    tied = sum(len(names) > 1 for names in labels.most_probable())
    text = f"most probable categories tie in {counted(tied, 'row')}"
    notes = [warn("labels-tied", text)] if tied else []
    if ratings.system is not None:
        part = "part of these labels; --without-system leaves them out"
        which = part if labels.uses_system else "no part of these labels"
        notes.append(warn("labels-and-system", f"the system's answers are {which}"))
    return notes


def list_label_methods() -> list[tuple[str, str]]:
    """List the methods of labelling and what each of them does."""
    from experiments.report.labels import label_methods

    return [(name, as_sentence(summary)) for name, summary in label_methods().items()]
