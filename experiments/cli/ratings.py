"""The commands of ratings as they are: datasets, agreement, check, bounds and scores."""

from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import lehner
from experiments.cli.load import load
from experiments.cli.options import (
    Data,
    Interval,
    Output,
    Reading,
    Seed,
    System,
    emit,
    progress_lines,
)
from experiments.report.terminal import as_options, data_lines, data_notes
from lehner.core import lazy
from lehner.core.lazy import pd

if TYPE_CHECKING:
    from experiments.report.answer import Answer
    from lehner.data import reading as data_reading
    from lehner.scores.performance import ScorePerformance

file_columns = lazy.load("experiments.cli.load")
answers, tables, figures = (
    lazy.load(f"experiments.report.{name}") for name in ("answer", "table", "figures")
)
agreements = lazy.load("experiments.agreement")
errors, estimates, text = (lazy.load(f"lehner.core.{x}") for x in ("errors", "estimate", "text"))

CORRELATIONS = (0.1, 0.25, 0.5)
ASSUMED = "The only assumption is that the ratings are more often right than wrong."
TITLES = {
    "auc": "AUC",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "brier_score": "Brier score",
    "mean_score_error": "mean score − proportion",
}
"""What measures of scores are called."""


def datasets() -> None:
    """List the data sets that come with lehner, with their sizes and sources.

    Examples
    --------
    lehner datasets
    """
    for dataset in lehner.list_datasets():
        ratings = lehner.load_dataset(dataset.name)
        print(f"{dataset.name}\n  {dataset.title}\n  {ratings}\n  {dataset.source}")
        if dataset.doi:
            print(f"  https://doi.org/{dataset.doi}")
        if dataset.licence:
            print(f"  licence: {dataset.licence}")


@dataclass(frozen=True, kw_only=True)
class Coefficients:
    """Which coefficients, of what.

    Parameters
    ----------
    coefficients : NAMES
        Only these, in this order, separated by commas, as alpha,ac1: a name as in the JSON, or a
        word of it that no other has.
    weights : NAMES
        Weights of disagreements, separated by commas: identity; by position linear, quadratic,
        ordinal; by value linear_by_value, interval, ratio.
        Default: identity; for ordered categories identity, linear, quadratic and ordinal.
    by : COLUMN
        The column of the file that groups the items, as their condition: the agreement in each
        group, and differences.
    criteria : NAMES
        Columns of ratings by several criteria: the agreement by each.
    within_rater : bool
        The agreement of each rater with himself, where he rated an item more than once.
    """

    coefficients: list[str] | None = None
    weights: list[str] | None = None
    by: str | None = None
    criteria: list[str] | None = None
    within_rater: bool = False


def agreement(
    data: Data,
    system: System = None,
    interval: Interval = 0.9,
    *,
    asked: Coefficients,
    reading: Reading,
    output: Output,
) -> None:
    """Measure how much raters agree, by every usual coefficient with its interval.

    Examples
    --------
    lehner agreement ratings.csv
    lehner agreement ratings.csv --ordered --weights quadratic --output results/
    lehner agreement ratings.csv --coefficients alpha,ac1 --sentence
    lehner agreement ratings.csv --by condition --report agreement.html
    """
    answer = _answer_agreement(data, asked, reading.options(system), interval)
    emit(answer, output, data)
    coefficients = answer.to_dict().get("coefficients", [])
    if coefficients and all(row["estimate"] is None for row in coefficients):
        raise typer.Exit(1)


def _answer_agreement(
    data: str, asked: Coefficients, read_as: "data_reading.Reading", level: float
) -> "Answer":
    """Measure agreement: of all, in groups, by criterion, within raters, or of sets of labels."""
    wanted = {"coefficients": asked.coefficients, "weights": asked.weights}
    options: dict[str, Any] = {name: value for name, value in wanted.items() if value}
    if asked.by:
        ratings = load(data, read_as, columns={"by": file_columns.split_cuts(asked.by)[0]})
        groups = file_columns.read_groups(Path(data), asked.by, ratings)
        made, part = agreements.compare_conditions(ratings, groups, level, **options), groups.column
    elif asked.criteria:
        options = {"coefficients": agreements.COEFFICIENTS} | options
        rated = {name: load(data, replace(read_as, rating=name)) for name in asked.criteria}
        ratings, part = rated[asked.criteria[-1]], "criterion"
        made = [
            {
                name: lehner.agreement(own, level=level, **options).coefficients
                for name, own in rated.items()
            }
        ]
    elif asked.within_rater:
        ratings = load(data, replace(read_as, repeated=read_as.repeated or "vote"))
        by_rater = lehner.within_rater_agreement(ratings, level=level)
        made, part = [{name: own.coefficients for name, own in by_rater.items()}], "rater"
    elif read_as.sets:
        ratings = load(data, read_as)
        made, part = [agreements.parts_of_sets(lehner.set_agreement(ratings, level=level))], "of"
    else:
        return agreements.answer_agreement(data, load(data, read_as), level=level, **options)
    return agreements.answer_parts(data, ratings, part, *made, level=level)


def check(
    data: Data,
    system: System = None,
    replicates: int = 999,
    seed: Seed = 1,
    *,
    reading: Reading,
    output: Output,
) -> None:
    """Test the assumptions of the algebra.

    These are the K-properties: all raters are equally accurate, all their errors are equally
    probable, and all items are equally difficult. The exit code is 1 if none can be tested.

    Parameters
    ----------
    replicates : N
        The number of simulated data sets behind each p-value.

    Examples
    --------
    lehner check ratings.csv --system gpt
    lehner check lehner_table2 --system System --replicates 9999
    """
    ratings = load(data, reading.options(system), require=estimates.require_pairs)
    with progress_lines():
        properties = lehner.check_k_properties(ratings, replicates=replicates, seed=seed)
    notes, tests = data_notes(ratings), properties.tests.values()
    names = ("n_items", "n_raters", "n_ratings", "raters", "categories", "ordered")
    described = {name: estimates.plain(getattr(ratings, name)) for name in names}
    answer = answers.answer_briefly(
        "check",
        frames={"check": pd.DataFrame(map(asdict, tests))},
        title=f"Assumptions of the algebra: {data}",
        content={"data": {"name": data} | described | {"notes": notes}} | properties.to_dict(),
        heading=[
            f"{data}: {repr(ratings).removeprefix('Ratings: ')}; p-values from "
            f"{text.counted(properties.replicates, 'simulated data set')}, adjusted for their "
            "number by Holm's method",
            *data_lines(ratings),
        ],
        sentences=properties.verdict,
        table=tables.Table(
            columns=[
                tables.Column("test"),
                tables.Column("p_value", "p", _write_p),
                tables.Column("adjusted_p_value", "adjusted", text.probability),
                tables.Column("verdict"),
                tables.Column("note", "what was seen"),
            ],
            rows=[
                (
                    test.name,
                    (test.p_value, test.p_value_se),
                    (test.adjusted_p_value,),
                    test.verdict,
                    as_options(test.note),
                )
                for test in tests
            ],
        ),
    )
    emit(answer, output, data, reading.truth)
    if all(test.p_value is None for test in tests):
        raise typer.Exit(1)


def _write_p(value: float | None, error: float | None) -> str:
    shown: str = text.probability(value)
    # Beside "< .001" the standard error would be as small.
    exact = error is not None and shown[0].isdigit()
    return f"{shown} ± {text.decimal(error)}" if exact else shown


def bounds(
    data: Data,
    system: System = None,
    correlation: list[float] | None = None,
    above: float | None = None,
    interval: Interval = 0.9,
    seed: Seed = 1,
    *,
    reading: Reading,
    output: Output,
) -> None:
    """Bound the accuracy by how much errors correlate, without a model of raters and items.

    Parameters
    ----------
    correlation : P
        The greatest correlation of two raters' errors, and of the system's with theirs. The
        option may be repeated. Default: 0.1, 0.25 and 0.5.
    above : P
        The accuracy of which it is said how much errors must correlate for it not to be reached.
        Default: the one that correlations as in half of the real crowds leave standing.

    Examples
    --------
    lehner bounds ratings.csv --system gpt
    lehner bounds ratings.csv --system gpt --above 0.8 --output bounds/
    """
    for cap in correlation or ():
        errors.check_probability("correlation", cap)
    ratings = load(data, reading.options(system))
    by_cap = [
        lehner.accuracy_bounds(ratings, cap, system_cap, level=interval, seed=seed)
        for too in (True, False)
        for cap in correlation or CORRELATIONS
        for system_cap in [cap if too else 1.0]
    ]
    needed = lehner.mistakes_needed(ratings, above)
    sentence = f"{needed}."

    def ends(lower: float | None, upper: float | None) -> str:
        none = lower is None
        return "impossible" if none else f"{text.decimal(lower)} to {text.decimal(upper)}"

    answer = answers.answer_briefly(
        "bounds",
        frames={"bounds": pd.DataFrame(map(asdict, by_cap))},
        title=f"Bounds of the accuracy: {data}",
        content={
            "data": data,
            "bounds": list(map(asdict, by_cap)),
            "needed": asdict(needed),
        },
        heading=[f"{data}: {by_cap[0].n_items} items with two ratings and an answer"],
        sentences=[sentence[0].upper() + sentence[1:]],
        text=[ASSUMED],
        figure=partial(figures.plot_bounds, ratings, needed),
        table=tables.Table(
            columns=[
                tables.Column("errors_of"),
                tables.Column("correlation", "correlate by at most", "{:g}".format),
                tables.Column("in_sample", "accuracy on these items", ends),
                tables.Column("expected", f"expected, {text.percent(interval)}", ends),
            ],
            rows=[
                (
                    "raters" if bounds.system == 1 else "raters and system",
                    bounds.raters,
                    (bounds.lower, bounds.upper),
                    (bounds.expected_lower, bounds.expected_upper),
                )
                for bounds in by_cap
            ],
            keys=2,
        ),
    )
    emit(answer, output, data, reading.truth)


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
    columns = {"score": score}
    ratings = load(data, reading.options(system), require=estimates.require_pairs, columns=columns)
    try:
        performance = lehner.score_performance(
            ratings,
            file_columns.read_scores(ratings, score),
            positive=positive,
            score_of=score_of,
            threshold=threshold,
            level=interval,
            seed=seed,
        )
    except lehner.InputError as error:
        error.file = data
        raise
    answer = _answer_scores(data, score, performance, several=ratings.n_categories > 2)
    emit(answer, output, data, reading.truth)


def _answer_scores(
    data: str, score: str, performance: "ScorePerformance", *, several: bool
) -> "Answer":
    alone, n_known = performance.known_alone, performance.n_known
    columns = [
        tables.Column(
            "measure", f"[{text.percent(performance.level)} interval]", names=TITLES.__getitem__
        ),
        tables.Column("estimate"),
        tables.Column("known_alone", "gold labels alone"),
    ][: 3 if n_known else 2]
    measures = performance.measures.items()
    rows: list[tuple[Any, ...]] = [
        (name, replace(measure, corrected=bool(n_known)), *([alone[name]] if n_known else []))
        for name, measure in measures
    ]
    table, area = tables.Table(columns=columns, rows=rows), performance.measures["auc"]
    auc = text.with_interval(area.estimate, area.lower, area.upper)
    calibration = performance.calibration.to_dataframe().reset_index()
    labels = f", {text.counted(n_known, 'gold label')}" if n_known else ""
    return answers.answer_briefly(
        "scores",
        title=f"Scores of {performance.positive}: {data}",
        content={"data": data, "score": score} | performance.to_dict(),
        heading=[
            f"{data}: {score} as the probability of {performance.positive}"
            f"{' (against all other categories)' if several else ''}, "
            f"{text.counted(performance.n_items, 'item')}{labels}"
        ],
        sentences=[f"The area under the ROC curve (AUC) of {score} is {auc}."],
        warnings=performance.warnings,
        figure=partial(figures.plot_calibration, performance),
        table=table,
        frames={"scores": table, "calibration": calibration},
    )
