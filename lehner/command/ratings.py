"""The commands of ratings as they are: datasets, agreement, check, bounds and scores."""

import math
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lehner
from lehner.command import options
from lehner.command.load import load, read_groups, read_scores, split_cuts
from lehner.command.options import Output, Reading
from lehner.core import errors, lazy, text
from lehner.core.lazy import pd
from lehner.core.results import read_value, tabulate
from lehner.dependence.bounds import name_caps
from lehner.report.terminal import list_data_notes, to_options, write_data_lines

if TYPE_CHECKING:
    from lehner.data import reading as data_reading
    from lehner.report.answer import Answer

answers, tables = lazy.load("lehner.report.answer"), lazy.load("lehner.core.table")
agreements, figures = map(lazy.load, ("lehner.command.show_agreement", "lehner.report.figures"))
estimable, estimates = lazy.load("lehner.data.estimable"), lazy.load("lehner.core.estimate")

CORRELATIONS = (0.1, 0.25, 0.5)
ASSUMED = "The only assumption is that the ratings are more often right than wrong."


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
    data: str, interval: float = 0.9, *, asked: Coefficients, reading: Reading, output: Output
) -> None:
    """Measure how much raters agree, by every usual coefficient with its interval.

    Examples
    --------
    lehner agreement ratings.csv
    lehner agreement ratings.csv --ordered --weights quadratic --output results/
    lehner agreement ratings.csv --coefficients alpha,ac1 --sentence
    lehner agreement ratings.csv --by condition --report agreement.html
    """
    with options.show_progress():
        answer = _answer_agreement(data, asked, reading.to_options(), interval)
    options.emit(answer, output, data)


def _answer_agreement(
    data: str, asked: Coefficients, read_as: "data_reading.Reading", level: float
) -> "Answer":
    """Measure agreement: of all, in groups, by criterion, within raters, or of sets of labels."""
    wanted = {"coefficients": asked.coefficients, "weights": asked.weights}
    named: dict[str, Any] = {name: value for name, value in wanted.items() if value}
    if asked.by:
        ratings = load(data, read_as, columns={"by": split_cuts(asked.by)[0]})
        groups = read_groups(Path(data), asked.by, ratings)
        part = groups.column
        results = agreements.compare_conditions(ratings, groups, level, **named)
    elif asked.criteria:
        rated = {name: load(data, replace(read_as, rating=name)) for name in asked.criteria}
        results, part = agreements.compare_parts("criterion", rated, level, **named), "criterion"
    elif asked.within_rater:
        ratings = load(data, replace(read_as, repeated=read_as.repeated or "vote"))
        results, part = lehner.within_rater_agreement(ratings, level=level), "rater"
    elif read_as.sets:
        results, part = lehner.set_agreement(load(data, read_as), level=level), "of"
    else:
        return agreements.answer_agreement(data, load(data, read_as), level=level, **named)
    return agreements.answer_parts(data, results, part, level)


def check(
    data: str, replicates: int = 999, seed: int = 1, *, reading: Reading, output: Output
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
    ratings = load(data, reading.to_options(), require=estimable.require_pairs)
    with options.show_progress():
        properties = lehner.check_k_properties(ratings, replicates=replicates, seed=seed)
    tests = properties.tests.values()
    names = ("n_items", "n_raters", "n_ratings", "raters", "categories", "ordered")
    described = {name: estimates.to_plain(getattr(ratings, name)) for name in names}
    described = {"name": data} | described | {"notes": list_data_notes(ratings)}
    columns = [
        tables.Column("test"),
        tables.Column("p_value", "p", _write_p),
        tables.Column("adjusted_p_value", "adjusted", text.format_p),
        tables.Column("verdict"),
        tables.Column("note", "what was seen", names=to_options),
    ]
    rows = [
        (own.name, (own.p_value, own.p_value_se), (own.adjusted_p_value,), own.verdict, own.note)
        for own in tests
    ]
    answer = answers.answer_briefly(
        "check",
        frames={"check": pd.DataFrame(map(asdict, tests))},
        title=f"Assumptions of the algebra: {data}",
        content={"data": described} | properties.to_dict(),
        heading=[
            f"{data}: {repr(ratings).removeprefix('Ratings: ')}; p-values from "
            f"{text.pluralise(properties.replicates, 'simulated data set')}, adjusted for their "
            "number by Holm's method",
            *write_data_lines(ratings),
        ],
        sentences=properties.verdict,
        table=tables.Table(columns=columns, rows=rows),
        failed=all(test.p_value is None for test in tests),
    )
    options.emit(answer, output, data, reading.truth)


def _write_p(value: float | None, error: float | None) -> str:
    shown: str = text.format_p(value)
    # Beside "< .001" the standard error would be as small.
    exact = error is not None and shown[0].isdigit()
    return f"{shown} ± {text.to_decimal(error)}" if exact else shown


def bounds(
    data: str,
    correlation: list[float] | None = None,
    above: float | None = None,
    interval: float = 0.9,
    seed: int = 1,
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
    ratings = load(data, reading.to_options())
    caps = [(cap, cap) for cap in correlation or CORRELATIONS]
    caps += [(cap, 1.0) for cap, _ in caps]
    results = lehner.bound_accuracy(ratings, *zip(*caps, strict=True), level=interval, seed=seed)
    needed = lehner.find_tipping_point(ratings, above)
    table = pd.concat([results.table, tabulate(needed.list_rows())], ignore_index=True)
    results = replace(results, table=table)
    sentence = f"{needed}."
    columns = [
        tables.Column("errors_of"),
        tables.Column("correlation", "correlate by at most", "{:g}".format),
        tables.Column("in_sample", "accuracy on these items", _write_ends),
        tables.Column("expected", f"expected, {text.to_percent(interval)}", _write_ends),
    ]
    rows = []
    for cap, of_system in caps:
        bounds = results.select(versus=name_caps(cap, of_system))[["lower", "upper"]]
        of_sample, expected = map(tuple, bounds.to_numpy())
        whose = "raters" if of_system == 1 else "raters and system"
        rows.append((whose, cap, of_sample, (*expected, of_sample[0] == of_sample[0])))
    n_items = text.pluralise(int(results.table["n_items"].iloc[0]), "item")
    content = results.to_dict()
    content["data"]["name"] = data
    answer = answers.answer_briefly(
        "bounds",
        frames={"bounds": results.table},
        title=f"Bounds of the accuracy: {data}",
        content=content,
        heading=[f"{data}: {n_items} with two ratings and an answer"],
        sentences=[sentence[0].upper() + sentence[1:]],
        text=[ASSUMED],
        figure=partial(figures.plot_bounds, ratings, needed),
        table=tables.Table(columns=columns, rows=rows, keys=2),
    )
    options.emit(answer, output, data, reading.truth)


def _write_ends(lower: float, upper: float, possible: bool = False) -> str:
    if math.isnan(lower):
        return "–" if possible else "impossible"
    return f"{text.to_decimal(lower)} to {text.to_decimal(upper)}"


def scores(
    data: str,
    score: str,
    positive: str | None = None,
    score_of: str | None = None,
    threshold: float = 0.5,
    interval: float = 0.9,
    seed: int = 1,
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
    ratings = load(
        data, reading.to_options(), require=estimable.require_pairs, columns={"score": score}
    )
    try:
        results = lehner.score_performance(
            ratings,
            read_scores(ratings, score),
            positive=positive,
            score_of=score_of,
            threshold=threshold,
            level=interval,
            seed=seed,
        )
    except lehner.InputError as error:
        error.file = data
        raise
    answer = _answer_scores(data, score, results, threshold)
    options.emit(answer, output, data, reading.truth)


def _answer_scores(data: str, score: str, results: lehner.Results, threshold: float) -> "Answer":
    from lehner.scores.performance import read_curve

    measured = results.select(grouping="", method="").set_index("quantity")
    alone = results.select(method="gold_labels").set_index("quantity")
    first = measured.iloc[0]
    interval = f"[{text.to_percent(first['level'])} interval]"
    columns = [
        tables.Column("measure", interval, names=answers.REPORT["scores"].__getitem__),
        tables.Column("estimate"),
        tables.Column("known_alone", "gold labels alone"),
    ]
    rows = [
        (name, read_value(row), *alone["estimate"].get([name], []))
        for name, row in measured.iterrows()
    ]
    labels = (
        f", {text.pluralise(int(alone['n_items'].iloc[0]), 'gold label')}" if len(alone) else ""
    )
    against = " (against all other categories)" if results.ratings.n_categories > 2 else ""
    content = results.to_dict() | {"score": score, "threshold": threshold}
    content["data"]["name"] = data
    table = tables.Table(columns=columns[: len(rows[0])], rows=rows)
    return answers.answer_briefly(
        "scores",
        title=f"Scores of {first['category']}: {data}",
        content=content,
        heading=[
            f"{data}: {score} as the probability of {first['category']}{against}, "
            f"{text.pluralise(int(first['n_items']), 'item')}{labels}"
        ],
        sentences=[f"The area under the ROC curve (AUC) of {score} is {rows[0][1]}."],
        warnings=results.warnings,
        figure=partial(figures.plot_calibration, results, threshold),
        table=table,
        frames={"scores": table, "calibration": read_curve(results)},
    )
