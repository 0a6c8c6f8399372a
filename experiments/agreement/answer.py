"""What `lehner agreement` answers: coefficients, pairs of raters, and a sentence for a paper."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from experiments.report.answer import Answer, Section
from experiments.report.options import data_notes, header_lines
from experiments.report.sentences import write_apa
from experiments.report.table import Column, Table
from lehner import Ratings, __version__, agreement
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import counted, percent, probability
from lehner.interrater.agreement import Agreement
from lehner.interrater.coefficients import Coefficient, printed_name

MOST_PAIRS = 15
USUAL = "krippendorff_alpha"
PLAIN = ("identity", "nominal")


def answer_agreement(name: str, ratings: Ratings, **options: Any) -> Answer:
    """Measure the agreement of raters.

    Parameters
    ----------
    name : str
        Of the data.
    ratings : Ratings
        With or without a system.
    **options
        Options of `lehner.agreement`.

    Returns
    -------
    Answer
    """
    result, notes = agreement(ratings, **options), data_notes(ratings)
    selected = bool(options.get("coefficients"))
    content, frames = result.to_dict(), {"agreement": result.to_frame()}
    sections = [
        Section(
            name="agreement",
            title=f"Coefficients of agreement{_of_weights(result)}",
            tables=[_coefficients_table(result)],
            figure=partial(plot_coefficients, result.coefficients, result.level),
            warnings=result.notes,
        )
    ]
    if result.rater_pairs is not None:
        frames["pairs"] = result.pairs_frame()
        if not selected:
            title, tables = f"Pairs of raters{_of_weights(result)}", [_pairs_table(result)]
            sections.append(Section(name="pairs", title=title, tables=tables, most=MOST_PAIRS))
    data = {"name": name, "categories": list(ratings.categories), "notes": notes}
    return Answer(
        title=f"Agreement: {Path(name).name}",
        content={"data": data, **content},
        heading=[f"{name}: {repr(ratings).removeprefix('Ratings: ')}", *header_lines(notes)],
        sentences=[_sentence(result, ratings, selected=selected)],
        sections=sections,
        warnings=result.notes,
        frames=frames,
    )


def interval_of(one: Coefficient, level: float) -> IntervalEstimate:
    """Give a coefficient with its interval."""
    return IntervalEstimate(estimate=one.estimate, lower=one.lower, upper=one.upper, level=level)


def plot_coefficients(
    coefficients: Sequence[Coefficient], level: float, labels: Sequence[str] = ()
) -> Any:
    """Draw coefficients with their intervals, each below its name."""
    from experiments.report.figures import plot_forest

    drawn = [one for one in coefficients if one.estimate is not None]
    names = labels or [_name(one) for one in drawn]
    values = [interval_of(one, level) for one in drawn]
    xlabel = f"value, with {percent(level)} interval"
    return plot_forest(names, {"": values}, xlabel=xlabel, legend=False)


def _coefficients_table(result: Agreement) -> Table:
    """Coefficients under the weights they have, each note once."""
    noted = {one.note: one.name for one in reversed(result.coefficients) if one.note}
    columns = [
        Column("weights", names=_plain_words),
        Column("coefficient", names=printed_name),
        Column("estimate", f"value [{percent(result.level)} interval]"),
        Column("standard_error", "SE"),
        Column("p_value", "p", probability),
        Column("chance_agreement", "chance"),
    ]
    rows: list[list[Any]] = [
        [
            one.weights,
            one.name,
            interval_of(one, result.level),
            one.standard_error,
            one.p_value,
            one.chance_agreement,
        ]
        for one in result.coefficients
    ]
    notes = [f"{printed_name(name)}: {note}" for note, name in reversed(noted.items())]
    return _without_one_kind(Table(columns=columns, rows=rows, keys=2, notes=notes))


def _of_weights(result: Agreement) -> str:
    """Name the weights if they are of one kind and not the usual ones."""
    kinds = {one.weights for one in result.coefficients}
    return (
        f", {_plain_words(min(kinds))} weights"
        if len(kinds) == 1 and kinds.isdisjoint(PLAIN)
        else ""
    )


def _plain_words(name: str) -> str:
    return name.replace("_", " ")


def _pairs_table(result: Agreement) -> Table:
    """Pairs of raters below the weights they have."""
    interval = f"[{percent(result.level)} interval]"
    rows = [
        (
            one.weights,
            one.rater,
            one.other_rater,
            one.n_items,
            one.percent_agreement,
            IntervalEstimate(estimate=one.cohen_kappa, lower=one.lower, upper=one.upper),
        )
        for one in result.pairs_frame().itertuples()
    ]
    table = Table(
        columns=[
            Column("weights", names=_plain_words),
            Column("rater"),
            Column("other_rater"),
            Column("n_items", "items", "{:g}".format),
            Column("percent_agreement"),
            Column("cohen_kappa", f"{printed_name('cohen_kappa')} {interval}"),
        ],
        rows=rows,
        keys=3,
    )
    return _without_one_kind(table)


def _without_one_kind(table: Table) -> Table:
    """Leave out the column of weights if all are of one kind."""
    if len({row[0] for row in table.rows}) > 1:
        return table
    rows = [row[1:] for row in table.rows]
    return replace(table, columns=table.columns[1:], rows=rows, keys=table.keys - 1)


def _sentence(result: Agreement, ratings: Ratings, *, selected: bool) -> str:
    """Report the selected coefficients, or Krippendorff's alpha: of ordered categories ordinal."""
    reported = result.coefficients
    if not selected:
        weights = reported[-1].weights
        reported = tuple(c for c in reported if c.name == USUAL and c.weights == weights)
    *values, last = (_value(one, result.level) for one in reported)
    listed = f"{', '.join(values)} and {last}" if values else last
    return (
        f"In {counted(ratings.n_ratings, 'rating')} by {counted(ratings.n_raters, 'rater')} of "
        f"{counted(result.n_items or 0, 'item')} "
        f"({counted(ratings.n_categories, 'category', 'categories')}), agreement was {listed}, "
        f"computed with lehner {__version__}."
    )


def _name(one: Coefficient) -> str:
    weights = "" if one.weights in PLAIN else f" with {one.weights.replace('_', ' ')} weights"
    return f"{printed_name(one.name)}{weights}"


def _value(one: Coefficient, level: float) -> str:
    if one.estimate is None:
        return f"{_name(one)} ({one.note})"
    return f"{_name(one)} = {write_apa(interval_of(one, level))}"
