"""`lehner label`: the probability of each category for each item."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from experiments.cli.estimate import as_sentence
from experiments.cli.options import AsJson, Data, Reading, Seed, System
from experiments.report.terminal import json_text, print_data

if TYPE_CHECKING:
    import pandas as pd

    from lehner import Ratings, SoftLabels, Warning

DIGITS = 6


def label(
    data: Data,
    system: System = None,
    without_system: bool = False,
    method: str | None = None,
    seed: Seed = 1,
    *,
    reading: Reading,
    output: Path | None = None,
    raters_output: Path | None = None,
    as_json: AsJson = False,
) -> None:
    """Label each item with the probability of each category: soft labels to train a system on.

    Each row is an item: its name, a column for each category, and the most probable category
    (several are joined by | if they tie). No system is needed, and its answers are no part of the
    labels, but for the Bayesian models and those by maximum likelihood, which count the system as
    one more rater: to train that system on their labels, use --without-system.

    Raters often make the same mistakes, and models of independent ones are then too sure:
    probabilities by variational models are tempered by a power that was learned on crowds with
    known truth.

    Parameters
    ----------
    without_system : bool
        The system's answers are left out of the labels.
    method : NAME
        A method from the list below. Default: dawid_skene_vb; majority for anonymous raters.
    output : FILE
        The CSV file. Default: standard output.
    raters_output : FILE
        A CSV file with the number of ratings and the accuracy of each rater: the expected
        proportion of their ratings that are right, if these labels are.

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
    from lehner.core.estimate import require_pairs
    from lehner.core.warning import by_severity

    ratings = load(data, reading.options(system), require=require_pairs)
    if raters_output is not None and ratings.anonymous:
        raise InputError("raters are anonymous: none has an accuracy", "leave out --raters-output")
    if without_system:
        ratings = ratings.without_system()
    with progress_lines():
        labels = label_items(ratings, method, seed)
    table = _round(labels.to_frame())
    for text in header_lines(data_notes(ratings)):
        print(text, file=sys.stderr)
    for one in by_severity([*labels.warnings, *_notes(labels, ratings)]):
        print(f"{labels.method}: {one}", file=sys.stderr)
    if as_json:
        described = {"data": {"name": data, "notes": data_notes(ratings)}} | _plain(labels)
        print(json_text(described))
    if not labels.defined:
        raise typer.Exit(1)
    for found, file in ((table, output), (labels.raters_to_frame(), raters_output)):
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_csv(found, file)
            print(f"wrote {file}", file=sys.stderr)
    if output is None and not as_json:
        print_data(table.to_csv(index=False, lineterminator="\n"))


def _round(table: "pd.DataFrame") -> "pd.DataFrame":
    """Round to significant digits, so that a small probability does not become 0."""
    names = table.columns[1:-1]
    table[names] = table[names].map(lambda probability: float(f"{probability:.{DIGITS}g}"))
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


def _plain(labels: "SoftLabels") -> dict[str, object]:
    from lehner.core.estimate import plain

    values = labels.truth_probabilities
    names = [str(name) for name in values.category.values]
    rows = zip(values["item"].values, values.values, labels.most_probable(), strict=True)
    return {
        "method": labels.method,
        "uses_system": labels.uses_system,
        "warnings": plain(labels.warnings),
        "raters": plain(labels.raters_to_frame().to_dict("records")),
        "labels": [
            {
                "item": plain(item),
                "probability": dict(zip(names, plain(probability), strict=True)),
                "most_probable": list(best),
            }
            for item, probability, best in rows
        ],
    }


def list_label_methods() -> list[tuple[str, str]]:
    """List the methods of labelling and what each of them does."""
    from experiments.report.labels import label_methods

    return [(name, as_sentence(summary)) for name, summary in label_methods().items()]
