"""The command `lehner scores`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.cli.arguments import AsJson, Data, Interval, Output, Reading, Seed
from experiments.reporting.terminal import json_text

if TYPE_CHECKING:
    from experiments.reporting.table import Table
    from lehner.scores.performance import ScorePerformance

TITLES = {
    "auc": "AUC",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "brier_score": "Brier score",
    "mean_score_error": "mean score − proportion",
    "expected_cost": "expected cost of an item",
}


def scores(
    data: Data,
    score: str,
    positive: str | None = None,
    threshold: float = 0.5,
    cost: tuple[float, float] = (1.0, 1.0),
    interval: Interval = 0.9,
    seed: Seed = 1,
    *,
    reading: Reading,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate a system's scores: how well they rank items, and whether they are calibrated.

    Parameters
    ----------
    score : COLUMN
        The column with the system's probability of a category, from 0 to 1.
    positive : NAME
        The category that the scores are the probability of. Of two it is guessed, and said.
    threshold : P
        Scores of at least this are answers that an item is of this category.
    cost : MISSED FALSE
        The costs of an item of the category with a lower score, and of another with a score of at
        least the threshold.
    """
    from experiments.cli.item_column import read_scores
    from experiments.cli.load import load
    from lehner import InputError, score_performance
    from lehner.core.estimate import require_pairs

    ratings = load(data, reading.options(None), require=require_pairs, columns={"score": score})
    try:
        values = read_scores(ratings, score)
        found = score_performance(
            ratings,
            values,
            positive=positive,
            threshold=threshold,
            costs=cost,
            level=interval,
            seed=seed,
        )
    except InputError as error:
        error.file = data
        raise
    if as_json:
        print(json_text({"data": data, "score": score} | found.to_dict()))
    else:
        _show(data, score, found, ratings.n_categories)
    if output is not None:
        for path in _write(found, output):
            print(f"wrote {path}", file=sys.stderr)


def _show(data: str, score: str, found: "ScorePerformance", n_categories: int) -> None:
    from rich.console import Group

    from experiments.reporting.renderers import to_terminal
    from experiments.reporting.terminal import line, print_wide, terminal_width
    from lehner.core.warning import by_severity

    heading = f"{data}: {score} as the probability of {found.positive}"
    if n_categories > 2:
        heading += " (against all other categories)"
    heading += f", {found.n_items} items"
    if found.n_known:
        heading += f", {found.n_known} known truths"
    table = to_terminal(_table(found), terminal_width())
    print_wide(
        Group(line(heading), line(), *table, *map(line, map(str, by_severity(found.warnings))))
    )


def _table(found: "ScorePerformance") -> "Table":
    from dataclasses import replace

    from experiments.reporting.table import Column, Table
    from lehner.core.text import percent

    known = bool(found.n_known)
    columns = [
        Column("measure", f"[{percent(found.level)} interval]", names=lambda name: TITLES[name]),
        Column("estimate"),
    ]
    if known:
        columns.append(Column("known_alone", "known items alone"))
    rows = [
        (name, replace(one, corrected=known), *([found.known_alone[name]] if known else []))
        for name, one in found.measures.items()
    ]
    return Table(columns=columns, rows=rows)


def _write(found: "ScorePerformance", folder: Path) -> list[Path]:
    from experiments.reporting.calibration_figure import plot_calibration
    from experiments.reporting.files import write_figure, write_text
    from experiments.reporting.renderers import to_csv, to_latex

    folder.mkdir(parents=True, exist_ok=True)
    curve = found.calibration.to_dataframe().to_csv()
    return [
        write_text(to_csv(_table(found)), folder / "scores.csv"),
        write_text(to_latex(_table(found)), folder / "scores.tex"),
        write_text(curve, folder / "calibration.csv"),
        *write_figure(plot_calibration(found), folder, "calibration"),
    ]
