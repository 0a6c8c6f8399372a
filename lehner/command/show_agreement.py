"""What `lehner agreement` answers: of all items, and by group, criterion or rater."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import hypot
from pathlib import Path
from typing import Any

import numpy as np

from lehner import InputError, Ratings, __version__, agreement
from lehner.contrasts.groups import GroupColumn
from lehner.core.estimate import IntervalEstimate, to_plain
from lehner.core.lazy import load, special
from lehner.core.text import format_p, pluralise, to_percent
from lehner.interrater.agreement import Agreement, SetAgreement
from lehner.interrater.coefficients import Coefficient, name_coefficient
from lehner.interrater.doubts import warn_of_raters
from lehner.interrater.weights import BY_NAME
from lehner.report.answer import Answer, Section
from lehner.report.sentences import write_apa
from lehner.report.table import Column, Table
from lehner.report.terminal import list_data_notes, write_data_lines

figures = load("lehner.report.figures")

COEFFICIENTS = ("percent_agreement", "krippendorff_alpha", "gwet_ac1")
MOST_PAIRS = 15
USUAL = "krippendorff_alpha"

# Coefficients of each part of the data, by its name.
type Parts = Mapping[str, Sequence[Coefficient]]


def name_parts(measured: SetAgreement) -> Parts:
    """Name the parts of an agreement of sets of labels."""
    measures = {"equal": "equal sets", "jaccard": "Jaccard", "masi": "MASI"}
    parts: dict[str, Sequence[Coefficient]] = {
        title: [measured.similarity[name], measured.alpha[name]] for name, title in measures.items()
    }
    return parts | {f"label {label}": [alpha] for label, alpha in measured.by_label.items()}


def compare_conditions(
    ratings: Ratings, groups: GroupColumn, level: float, **options: Any
) -> tuple[Parts, Parts]:
    """Measure the agreement on the items of each group, and how much groups differ.

    Parameters
    ----------
    ratings : Ratings
    groups : GroupColumn
        The group of each row. Items of two groups are taken to be sampled independently.
    level : float
        Probability of the intervals, of differences by Welch's degrees of freedom.
    **options
        Options of `lehner.agreement`; by default percent agreement, Krippendorff's alpha and Gwet's
        AC1.

    Returns
    -------
    coefficients, differences : mapping of str to sequence of Coefficient
        By group, and by the names of two groups.

    Raises
    ------
    InputError
        If there is one group, or a cluster has items of two groups.

    References
    ----------
    Gwet (2014), chapter 9, for coefficients of independent samples; Welch (1947),
    https://doi.org/10.1093/biomet/34.1-2.28
    """
    names = sorted({*groups.names} - {""})
    if len(names) < 2:
        raise InputError("it has one group", "name a column of two or more", column=groups.column)
    own = {name: ratings.take(np.flatnonzero(groups.names == name)) for name in names}
    clusters = {name: np.asarray(part.cluster) for name, part in own.items()}
    pairs = list(combinations(names, 2))
    if ratings.cluster is not None and any(
        np.intersect1d(clusters[first], clusters[second]).size for first, second in pairs
    ):
        raise InputError(
            f"a cluster has items of two groups of {groups.column}",
            "compare groups that have no cluster in common, or leave out the clusters",
        )
    usual: dict[str, Any] = {"coefficients": COEFFICIENTS, "weights": "identity", "level": level}
    parts = {name: agreement(own[name], **(usual | options)).coefficients for name in names}
    differences = {
        f"{first} − {second}": [
            _subtract(*both, own[first].n_rows, own[second].n_rows, level)
            for both in zip(parts[first], parts[second], strict=True)
        ]
        for first, second in pairs
    }
    return parts, differences


def _subtract(
    first: Coefficient, second: Coefficient, n_first: int, n_second: int, level: float
) -> Coefficient:
    """Subtract coefficients of independent samples of so many items."""
    difference = Coefficient(name=first.name, weights=first.weights, estimate=None)
    if first.estimate is None or second.estimate is None:
        return difference
    estimate = first.estimate - second.estimate
    if not first.standard_error or not second.standard_error:
        return replace(difference, estimate=estimate)
    error = hypot(first.standard_error, second.standard_error)
    shares = first.standard_error**4 / (n_first - 1) + second.standard_error**4 / (n_second - 1)
    degrees = error**4 / shares
    half = error * float(special.stdtrit(degrees, (1 + level) / 2))
    return replace(
        difference,
        estimate=estimate,
        standard_error=error,
        p_value=2 * float(special.stdtr(degrees, -abs(estimate) / error)),
        lower=estimate - half,
        upper=estimate + half,
    )


def answer_parts(
    name: str,
    ratings: Ratings,
    part: str,
    coefficients: Parts,
    differences: Parts | None = None,
    *,
    level: float,
) -> Answer:
    """Answer with a table of coefficients for each part of the data, and of their differences.

    Parameters
    ----------
    name : str
        Of the data.
    ratings : Ratings
    part : str
        What the parts are, as "criterion".
    coefficients : mapping of str to sequence of Coefficient
        By part.
    differences : mapping of str to sequence of Coefficient, optional
        Of two parts, by their names.
    level : float
        Of the intervals.

    Returns
    -------
    Answer
    """
    tables = {"agreement": _tabulate(part, coefficients, level)}
    notes = tuple(warn_of_raters(ratings))
    about = {"data_notes": list_data_notes(ratings), "notes": to_plain(notes)}
    content = {"data": name, "by": part, **about, "agreement": to_plain(coefficients)}
    if differences:
        tables["differences"] = _tabulate("difference", differences, level)
        content["differences"] = to_plain(differences)
    sentences = [
        f"{name_coefficient(own.name)}, {of}: {write_apa(_give_interval(own, level))}."
        for of, each in (differences or coefficients).items()
        for own in each
        if own.estimate is not None
    ]
    section = _make_section(f"Agreement by {part}", list(tables.values()), coefficients, level)
    section = replace(section, warnings=notes)
    shown: dict[str, Any] = {"sentences": sentences, "frames": tables, "warnings": notes}
    return _answer(name, ratings, [section], content=content, **shown)


def answer_agreement(name: str, ratings: Ratings, **options: Any) -> Answer:
    """Measure the agreement of raters on all items.

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
    result, selected = agreement(ratings, **options), bool(options.get("coefficients"))
    parts, weights = {"": result.coefficients}, _name_weights(result)
    tables = [_tabulate("", parts, result.level)]
    section = _make_section(f"Coefficients of agreement{weights}", tables, parts, result.level)
    sections = [replace(section, warnings=result.notes)]
    frames = {"agreement": result.to_frame()}
    if result.pairs is not None:
        frames["pairs"] = result.pairs
        if not selected:
            tables = [_tabulate_pairs(result.pairs, result.level)]
            title = f"Pairs of raters{weights}"
            sections.append(Section(name="pairs", title=title, tables=tables, most=MOST_PAIRS))
    data = {"name": name, "categories": list(ratings.categories), "notes": list_data_notes(ratings)}
    return _answer(
        name,
        ratings,
        sections,
        content={"data": data, **result.to_dict()},
        sentences=[_write_sentence(result, ratings, selected=selected)],
        warnings=result.notes,
        frames=frames,
        failed=all(measured.estimate is None for measured in result.coefficients),
    )


def _answer(name: str, ratings: Ratings, sections: Sequence[Section], **about: Any) -> Answer:
    heading = [f"{name}: {repr(ratings).removeprefix('Ratings: ')}", *write_data_lines(ratings)]
    title = f"Agreement: {Path(name).name}"
    return Answer(title=title, heading=heading, sections=sections, **about)


def _make_section(title: str, tables: Sequence[Table], parts: Parts, level: float) -> Section:
    """Make a section of coefficients, each of which its figure has below its name and part."""
    each = [(of, own) for of, several in parts.items() for own in several]
    each = [(of, own) for of, own in each if own.estimate is not None]
    labels = [f"{_name(own)}{of and f', {of}'}" for of, own in each]
    rows = [vars(own) | {"method": ""} for _, own in each]
    xlabel = f"value, with {to_percent(level)} interval"

    def draw() -> Any:
        return figures.draw_forest(rows, labels, xlabel=xlabel, legend=False)

    return Section(name="agreement", title=title, tables=tables, figure=draw)


def _give_interval(measured: Coefficient, level: float) -> IntervalEstimate:
    return IntervalEstimate(
        estimate=measured.estimate, lower=measured.lower, upper=measured.upper, level=level
    )


def _tabulate(part: str, parts: Parts, level: float) -> Table:
    """Make a table of coefficients; of all data with what is expected by chance, and notes."""
    each = [(of, measured) for of, own in parts.items() for measured in own]
    rows = [
        vars(own) | {part: of, "coefficient": own.name, "estimate": _give_interval(own, level)}
        for of, own in each
    ]
    columns = [
        *([Column(part)] if part else []),
        Column("weights", names=_write_in_words),
        Column("coefficient", names=name_coefficient),
        Column("estimate", f"value [{to_percent(level)} interval]"),
        Column("standard_error", "SE"),
    ]
    if part:
        return _make_table(columns, rows, keys=2)
    columns += [Column("p_value", "p", format_p), Column("chance_agreement", "chance")]
    notes = {own.note: own.name for _, own in reversed(each) if own.note}
    shown = [f"{name_coefficient(name)}: {note}" for note, name in reversed(notes.items())]
    return _make_table(columns, rows, keys=1, notes=shown)


def _tabulate_pairs(pairs: Any, level: float) -> Table:
    """Make a table of pairs of raters."""
    rows = pairs.to_dict("records")
    for row in rows:
        ends = {"lower": row["lower"], "upper": row["upper"]}
        row["cohen_kappa"] = IntervalEstimate(estimate=row["cohen_kappa"], **ends)
    kappa = f"{name_coefficient('cohen_kappa')} [{to_percent(level)} interval]"
    columns = [Column("weights", names=_write_in_words), Column("rater"), Column("other_rater")]
    columns += [Column("n_items", "items", "{:g}".format), Column("percent_agreement")]
    return _make_table([*columns, Column("cohen_kappa", kappa)], rows, keys=2)


def _make_table(
    columns: Sequence[Column], rows: Sequence[Mapping[str, Any]], keys: int, **options: Any
) -> Table:
    """Make a table; the weights have a column, one more key, if they are of several kinds."""
    several = len({row["weights"] for row in rows}) > 1
    shown = [column for column in columns if several or column.name != "weights"]
    cells = [[row[column.name] for column in shown] for row in rows]
    return Table(columns=shown, rows=cells, keys=keys + several, **options)


def _write_in_words(name: str) -> str:
    return name.replace("_", " ")


def _name_weights(result: Agreement) -> str:
    """Name the weights if they are of one kind and not the usual ones."""
    kinds = {measured.weights for measured in result.coefficients}
    return "" if len(kinds) > 1 or kinds & BY_NAME else f", {_write_in_words(min(kinds))} weights"


def _write_sentence(result: Agreement, ratings: Ratings, *, selected: bool) -> str:
    """Report the selected coefficients, or Krippendorff's alpha: of ordered categories ordinal."""
    reported = result.coefficients
    if not selected:
        weights = reported[-1].weights
        reported = tuple(c for c in reported if c.name == USUAL and c.weights == weights)
    *values, last = (_write_value(measured, result.level) for measured in reported)
    return (
        f"In {pluralise(ratings.n_ratings, 'rating')} by {pluralise(ratings.n_raters, 'rater')} of "
        f"{pluralise(result.n_items or 0, 'item')} "
        f"({pluralise(ratings.n_categories, 'category', 'categories')}), agreement was "
        f"{', '.join(values)}{' and ' if values else ''}{last}, computed with lehner {__version__}."
    )


def _name(own: Coefficient) -> str:
    weights = "" if own.weights in BY_NAME else f" with {_write_in_words(own.weights)} weights"
    return f"{name_coefficient(own.name)}{weights}"


def _write_value(own: Coefficient, level: float) -> str:
    if own.estimate is None:
        return f"{_name(own)} ({own.note})"
    return f"{_name(own)} = {write_apa(_give_interval(own, level))}"
