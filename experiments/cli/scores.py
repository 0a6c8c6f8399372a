"""The command `lehner scores`."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from experiments.cli.emit import emit
from experiments.cli.options import Data, Interval, Output, Reading, Seed, System

if TYPE_CHECKING:
    from experiments.report.answer import Answer
    from experiments.report.table import Table
    from lehner.scores.performance import ScorePerformance

TITLES = {
    "auc": "AUC",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "brier_score": "Brier score",
    "mean_score_error": "mean score − proportion",
}


def scores(
    data: Data,
    score: str,
    system: System = None,
    positive: str | None = None,
    score_of: str | None = None,
    threshold: float = 0.5,
    interval: Interval = 0.9,
    seed: Seed = 1,
    *,
    reading: Reading,
    output: Output,
) -> None:
    """Evaluate a system's scores: how well they rank items, and whether they are calibrated.

    Parameters
    ----------
    score : COLUMN
        The column with the system's probability of a category, from 0 to 1.
    positive : NAME
        The category that the scores are the probability of. Of two it is guessed, and said.
    score_of : CHOICE
        Whether scores are the probability of that category (category), or the confidence of the
        system in its answer (answer), which --system names.
    threshold : P
        Scores of at least this are answers that an item is of this category.

    Examples
    --------
    lehner scores ratings.csv --score p_yes --positive yes
    lehner scores ratings.csv --score p_yes --truth gold --output scores/
    """
    from experiments.cli.columns import read_scores
    from experiments.cli.load import load
    from lehner import InputError, score_performance
    from lehner.core.estimate import require_pairs

    ratings = load(data, reading.options(system), require=require_pairs, columns={"score": score})
    try:
        performance = score_performance(
            ratings,
            read_scores(ratings, score),
            positive=positive,
            score_of=score_of,
            threshold=threshold,
            level=interval,
            seed=seed,
        )
    except InputError as error:
        error.file = data
        raise
    emit(_answer(data, score, performance, ratings.n_categories), output, data, reading.truth)


def _answer(data: str, score: str, found: "ScorePerformance", n_categories: int) -> "Answer":
    from experiments.report.answer import Answer, Section
    from experiments.report.figures import plot_calibration
    from lehner.core.text import with_interval

    others = " (against all other categories)" if n_categories > 2 else ""
    truths = f", {found.n_known} gold labels" if found.n_known else ""
    area, table = found.measures["auc"], _table(found)
    auc = with_interval(area.estimate, area.lower, area.upper)
    return Answer(
        title=f"Scores of {found.positive}: {data}",
        content={"data": data, "score": score} | found.to_dict(),
        heading=[
            f"{data}: {score} as the probability of {found.positive}{others}, "
            f"{found.n_items} items{truths}"
        ],
        sentences=[f"The area under the ROC curve (AUC) of {score} is {auc}."],
        sections=[
            Section(
                name="scores",
                title="Measures",
                tables=[table],
                warnings=found.warnings,
                figure=partial(plot_calibration, found),
            )
        ],
        warnings=found.warnings,
        frames={"scores": table, "calibration": found.calibration.to_dataframe().reset_index()},
    )


def _table(found: "ScorePerformance") -> "Table":
    from experiments.report.table import Column, Table
    from lehner.core.text import percent

    known = bool(found.n_known)
    columns = [
        Column("measure", f"[{percent(found.level)} interval]", names=lambda name: TITLES[name]),
        Column("estimate"),
    ]
    if known:
        columns.append(Column("known_alone", "gold labels alone"))
    rows = [
        (name, replace(one, corrected=known), *([found.known_alone[name]] if known else []))
        for name, one in found.measures.items()
    ]
    return Table(columns=columns, rows=rows)
