"""What `lehner agreement`, `check` and `bounds` answer."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import combinations
from math import hypot, isnan
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

import lehner
from lehner import InputError, Ratings, Results, __version__
from lehner.command.load import load, read_groups
from lehner.contrasts.groups import GroupColumn
from lehner.core.errors import check_probability, compose
from lehner.core.estimate import KEYS, to_plain
from lehner.core.lazy import pd, special
from lehner.core.results import read_value, tabulate
from lehner.core.table import PrintedTable, TableColumn, list_table
from lehner.core.text import (
    format_p,
    pluralise,
    to_decimal,
    to_options,
    to_percent,
    write_data_lines,
)
from lehner.data.estimable import require_pairs
from lehner.data.reading import Reading
from lehner.dependence.bounds import name_caps
from lehner.estimation.summary import write_apa
from lehner.estimation.views import Record
from lehner.interrater.coefficients import name_coefficient, warn_of_raters
from lehner.k_properties.check import KPropertyTest
from lehner.report.answer import Report, Section, answer_briefly
from lehner.report.figures import draw_forest

COEFFICIENTS = ("percent_agreement", "krippendorff_alpha", "gwet_ac1")
MOST_PAIRS = 15
USUAL = "krippendorff_alpha"
CHANCE, DIFFERENCE = "_chance", "_difference"
# Measures of the similarity of sets of labels, which are the weights of coefficients.
SETS = {"equal": "equal sets", "jaccard": "Jaccard", "masi": "MASI"}
CORRELATIONS = (0.1, 0.25, 0.5)
ASSUMED = "The only assumption is that the ratings are more often right than wrong."
# What the JSON of the tests says of the ratings.
DESCRIBED = ("n_items", "n_raters", "n_ratings", "raters", "categories", "ordered")


def compare_conditions(
    ratings: Ratings, groups: GroupColumn, level: float, **options: Any
) -> Results:
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
    Results
        Coefficients by group, and differences of two groups, `group` and `versus`.

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
    parts = {name: ratings.take(np.flatnonzero(groups.names == name)) for name in names}
    pairs = list(combinations(names, 2))
    if ratings.cluster is not None:
        n_in_parts = sum(len(np.unique(np.asarray(x.cluster))) for x in parts.values())
        if n_in_parts > len(np.unique(ratings.cluster[groups.names != ""])):
            problem = f"a cluster has items of two groups of {groups.column}"
            remedy = "compare groups that have no cluster in common, or leave out the clusters"
            raise InputError(problem, remedy)
    table = tabulate_parts("group", parts, level, **({"weights": "identity"} | options))
    measured = table[~table["quantity"].str.endswith(CHANCE)]
    of_group = {name: measured[measured["group"] == name].to_dict("records") for name in names}
    differences = [
        _subtract(*both, parts[first].n_clusters, parts[second].n_clusters, level)
        for first, second in pairs
        for both in zip(of_group[first], of_group[second], strict=True)
    ]
    table = pd.concat([table, tabulate(differences)], ignore_index=True)
    return Results(ratings=ratings, table=table, warnings=tuple(warn_of_raters(ratings)))


def tabulate_parts(
    grouping: str, parts: Mapping[str, Ratings], level: float, **options: Any
) -> "pd.DataFrame":
    """Measure the agreement of each part of the data, as the ratings by each criterion.

    Parameters
    ----------
    grouping : str
        What the parts are.
    parts : mapping of str to Ratings
        The ratings of each part.
    level : float
    **options
        Options of `lehner.agreement`; by default percent agreement, Krippendorff's alpha and Gwet's
        AC1.

    Returns
    -------
    pandas.DataFrame
        The table of `Results`.
    """
    options = {"coefficients": COEFFICIENTS} | options
    tables = []
    for name, ratings in parts.items():
        table = lehner.agreement(ratings, level=level, pairs=False, **options).table
        tables.append(table.assign(grouping=grouping, group=name))
    return pd.concat(tables, ignore_index=True)


def _subtract(first: Record, second: Record, n_first: int, n_second: int, level: float) -> Record:
    """Subtract coefficients of independent samples of so many items, or clusters of items."""
    keys = {name: first[name] for name in ("grouping", "group", "category", "weights")}
    difference = {"quantity": f"{first['quantity']}{DIFFERENCE}", "versus": second["group"]}
    difference |= keys | {"estimate": first["estimate"] - second["estimate"]}
    errors = (first["standard_error"], second["standard_error"])
    error = hypot(*errors)
    if isnan(error):
        return difference
    shares = errors[0] ** 4 / (n_first - 1) + errors[1] ** 4 / (n_second - 1)
    degrees = error**4 / shares
    half = error * float(special.stdtrit(degrees, (1 + level) / 2))
    estimate = difference["estimate"]
    p_value = 2 * float(special.stdtr(degrees, -abs(estimate) / error))
    ends = {"lower": estimate - half, "upper": estimate + half, "level": level, "kind": "Welch"}
    return difference | ends | {"standard_error": error, "probability": p_value}


def answer_agreement(
    data: str,
    reading: Reading,
    level: float,
    *,
    group: Sequence[str] | None = None,
    criteria: Sequence[str] | None = None,
    pairs: bool = False,
    within_rater: bool = False,
    **selected: Any,
) -> Report:
    """Measure agreement: of all, in groups, by criterion, within raters, or of sets of labels.

    Parameters
    ----------
    data : str
        A file, or the name of a bundled data set.
    reading : Reading
    level : float
        Probability of the intervals.
    group : sequence of str, optional
        The columns of the groups.
    criteria : sequence of str, optional
        Columns of ratings by several criteria.
    pairs : bool
        Whether raters are compared in pairs, however many they are.
    within_rater : bool
        Whether the agreement of each rater with himself is measured.
    **selected
        Coefficients and weights, as `lehner.agreement` takes them.

    Returns
    -------
    Report
    """
    options = {name: value for name, value in selected.items() if value}
    if pairs and (group or criteria or within_rater or reading.sets):
        remedy = compose("leave out {pairs=True}, or what divides the ratings")
        raise InputError("pairs of raters are compared on all items and by one criterion", remedy)
    if group:
        ratings = load(data, reading, columns={"group": group})
        groups = read_groups(Path(data), group, ratings)
        part, results = groups.column, compare_conditions(ratings, groups, level, **options)
    elif criteria:
        rated = {name: load(data, replace(reading, rating=name)) for name in criteria}
        part, table = "criterion", tabulate_parts("criterion", rated, level, **options)
        warnings = tuple(
            replace(warning, text=compose("{}: {}", name, warning.text))
            for name, ratings in rated.items()
            for warning in warn_of_raters(ratings)
        )
        results = Results(ratings=rated[criteria[-1]], table=table, warnings=warnings)
    elif within_rater:
        ratings = load(data, replace(reading, repeated=reading.repeated or "vote"))
        part, results = "rater", lehner.within_rater_agreement(ratings, level=level)
    elif reading.sets:
        part, results = "of", lehner.set_agreement(load(data, reading), level=level)
    else:
        ratings = load(data, reading)
        part, results = "", lehner.agreement(ratings, level=level, pairs=pairs or None, **options)
    return _answer(data, results, part, level, selected="coefficients" in options)


def _answer(name: str, results: Results, part: str, level: float, *, selected: bool) -> Report:
    """Answer with the coefficients of all data, and pairs of raters; or of parts, which differ."""
    rows = [_name_part(row, part) for row in _list_rows(results)]
    measured = [row for row in rows if not row["versus"]]
    compared = [row for row in rows if row["versus"]]
    notes = [str(warning) for warning in results.warnings if warning.code == "coefficient"]
    warnings = [warning for warning in results.warnings if warning.code != "coefficient"]
    drawn = [row for row in measured if not isnan(row["estimate"])]
    labels = [f"{_name(row)}{row['part'] and f', {row["part"]}'}" for row in drawn]
    xlabel = f"value, with {to_percent(level)} interval"
    draw = partial(draw_forest, drawn, labels, xlabel=xlabel, legend=False)
    weights, tables = _name_weights(measured), [_tabulate(part, measured, level, notes=notes)]
    pairs: list[PrintedTable] = []
    if part:
        title = f"Agreement by {part}"
        said = [row for row in compared or measured if not isnan(row["estimate"])]
        sentences = [f"{_name(x)}, {x['part']}: {write_apa(read_value(x))}." for x in said]
        tables += [_tabulate("difference", compared, level)] if compared else []
    else:
        title = f"Coefficients of agreement{weights}"
        sentences = [_write_sentence(measured, results, selected=selected)]
        pairs += [_tabulate_pairs(compared, level)] if compared and not selected else []
    of_all = Section(name="agreement", title=title, tables=tables, figure=draw, warnings=warnings)
    title = f"Pairs of raters{weights}"
    of_pairs = Section(name="pairs", title=title, tables=pairs, most=MOST_PAIRS)
    heading = f"{name}: {repr(results.ratings).removeprefix('Ratings: ')}"
    return Report(
        title=f"Agreement: {Path(name).name}",
        heading=[heading, *write_data_lines(results.ratings.notes)],
        sections=[of_all, of_pairs],
        sentences=sentences,
        warnings=results.warnings if part else warnings,
        content=replace(results, name=name).to_dict(),
        frames={"agreement": results.table},
        failed=not drawn and not part,
    )


def _list_rows(results: Results) -> list[Record]:
    """List the rows of coefficients and of differences, each with what is expected by chance."""
    rows = results.table.to_dict("records")
    keys = itemgetter(*KEYS)
    chance = {keys(row): row["estimate"] for row in rows}
    return [
        row | {"chance": chance.get(keys(row | {"quantity": f"{row['quantity']}{CHANCE}"}))}
        for row in rows
        if not row["quantity"].endswith(CHANCE)
    ]


def _name_part(row: Record, part: str) -> Record:
    """Name the part of the data that a row is of, which then has no other name."""
    if not part:
        return row | {"part": ""}
    name = row["group"] or row["rater"]
    if name:
        return row | {"part": f"{name} − {row['versus']}" if row["versus"] else name}
    name = SETS.get(row["weights"], f"label {row['category']}")
    return row | {"part": name, "weights": "", "category": ""}


def _tabulate(part: str, rows: Sequence[Record], level: float, **options: Any) -> PrintedTable:
    """Make a table of coefficients; of all data with what is expected by chance."""
    columns = [TableColumn("part", part)] if part else []
    columns += [TableColumn("weights", names=_write_weights), TableColumn("coefficient")]
    columns += [TableColumn("value", f"value [{to_percent(level)} interval]")]
    columns += [TableColumn("standard_error", "SE")]
    if not part:
        columns += [TableColumn("probability", "p", format_p), TableColumn("chance")]
    rows = [row | {"coefficient": _name_alone(row), "value": read_value(row)} for row in rows]
    return _make_table(columns, rows, keys=2 if part else 1, **options)


def _tabulate_pairs(rows: Sequence[Record], level: float) -> PrintedTable:
    """Make a table of pairs of raters."""
    pairs: dict[tuple[str, ...], Record] = {}
    for row in rows:
        pair = pairs.setdefault((row["weights"], row["rater"], row["versus"]), dict(row))
        pair[row["quantity"]] = read_value(row)
    kappa = f"{name_coefficient('cohen_kappa')} [{to_percent(level)} interval]"
    columns = [TableColumn("weights", names=_write_weights), TableColumn("rater")]
    columns += [TableColumn("versus", "other rater")]
    columns += [TableColumn("n_items", "items", "{:g}".format)]
    columns += [TableColumn("percent_agreement"), TableColumn("cohen_kappa", kappa)]
    return _make_table(columns, list(pairs.values()), keys=2)


def _make_table(
    columns: Sequence[TableColumn], rows: Sequence[Record], keys: int, **options: Any
) -> PrintedTable:
    """Make a table; the weights have a column, one more key, if they are of several kinds."""
    several = len({row["weights"] for row in rows}) > 1
    shown = [column for column in columns if several or column.name != "weights"]
    cells = [[_leave_blank(row[column.name]) for column in shown] for row in rows]
    return PrintedTable(columns=shown, rows=cells, keys=keys + several, **options)


def _leave_blank(cell: Any) -> Any:
    """Leave a cell blank that has no number."""
    return None if isinstance(cell, float) and isnan(cell) else cell


def _write_weights(name: str) -> str:
    return name.replace("_", " ") or "identity"


def _name_weights(rows: Sequence[Record]) -> str:
    """Name the weights if they are of one kind and not the usual ones."""
    kinds = {row["weights"] for row in rows}
    return "" if len(kinds) > 1 or "" in kinds else f", {_write_weights(min(kinds))} weights"


def _write_sentence(rows: Sequence[Record], results: Results, *, selected: bool) -> str:
    """Report the selected coefficients, or Krippendorff's alpha: of ordered categories ordinal."""
    ratings, reported = results.ratings, rows
    if not selected:
        weights = rows[-1]["weights"]
        reported = [row for row in rows if (row["quantity"], row["weights"]) == (USUAL, weights)]
    *values, last = map(_write_value, reported)
    return (
        f"In {pluralise(ratings.n_ratings, 'rating')} by {pluralise(ratings.n_raters, 'rater')} of "
        f"{pluralise(int(rows[0]['n_items']), 'item')} "
        f"({pluralise(ratings.n_categories, 'category', 'categories')}), agreement was "
        f"{', '.join(values)}{' and ' if values else ''}{last}, computed with lehner {__version__}."
    )


def _name_alone(row: Record) -> str:
    return name_coefficient(row["quantity"].removesuffix(DIFFERENCE), row["category"])


def _name(row: Record) -> str:
    weights = f" with {_write_weights(row['weights'])} weights" if row["weights"] else ""
    return f"{_name_alone(row)}{weights}"


def _write_value(row: Record) -> str:
    if isnan(row["estimate"]):
        return f"{_name(row)} (undefined)"
    return f"{_name(row)} = {write_apa(read_value(row))}"


def answer_check(data: str, reading: Reading, *, replicates: int, seed: int) -> Report:
    """Test the assumptions of the algebra.

    Parameters
    ----------
    data : str
        A file, or the name of a bundled data set.
    reading : Reading
    replicates, seed
        Passed to `lehner.check_k_properties`.

    Returns
    -------
    Report
    """
    ratings = load(data, reading, require=require_pairs)
    properties = lehner.check_k_properties(ratings, replicates=replicates, seed=seed)
    tests = properties.tests.values()
    described = {name: to_plain(getattr(ratings, name)) for name in DESCRIBED}
    described = {"name": data} | described | {"notes": list(map(to_options, ratings.notes))}
    names = ("test", "p", "adjusted", "verdict", "what was seen")
    rows = [
        (x.name, (_write_p(x),), (format_p(x.adjusted_p_value),), x.verdict, to_options(x.note))
        for x in tests
    ]
    simulated = pluralise(properties.replicates, "simulated data set")
    heading = f"{data}: {repr(ratings).removeprefix('Ratings: ')}; p-values from {simulated}"
    heading += ", adjusted for their number by Holm's method"
    return answer_briefly(
        "check",
        frames={"check": pd.DataFrame(map(asdict, tests))},
        title=f"Assumptions of the algebra: {data}",
        content={"data": described} | properties.to_dict(),
        heading=[heading, *write_data_lines(ratings.notes)],
        sentences=properties.verdict,
        table=list_table(names, rows),
        failed=all(test.p_value is None for test in tests),
    )


def _write_p(test: KPropertyTest) -> str:
    shown: str = format_p(test.p_value)
    # Beside "< .001" the standard error would be as small.
    exact = test.p_value_se is not None and shown[0].isdigit()
    return f"{shown} ± {to_decimal(test.p_value_se)}" if exact else shown


def answer_bounds(
    data: str,
    reading: Reading,
    correlations: Sequence[float] | None,
    above: float | None,
    *,
    level: float,
    seed: int,
) -> Report:
    """Bound the accuracy by how much errors correlate.

    Parameters
    ----------
    data : str
        A file, or the name of a bundled data set.
    reading : Reading
    correlations : sequence of float, optional
        The greatest correlation of two raters' errors.
    above : float, optional
        The accuracy of which it is said how much errors must correlate for it not to be reached.
    level, seed
        Passed to `lehner.bound_accuracy`.

    Returns
    -------
    Report
    """
    for cap in correlations or ():
        check_probability("correlation", cap)
    ratings = load(data, reading)
    caps = [(cap, cap) for cap in correlations or CORRELATIONS]
    caps += [(cap, 1.0) for cap, _ in caps]
    results = lehner.bound_accuracy(ratings, *zip(*caps, strict=True), level=level, seed=seed)
    needed = lehner.find_tipping_point(ratings, above)
    table = pd.concat([results.table, tabulate(needed.list_rows())], ignore_index=True)
    results = replace(results, name=data, table=table)
    sentence = f"{needed}."
    expected = f"expected, {to_percent(level)}"
    names = ("errors of", "correlate by at most", "accuracy on these items", expected)
    rows = []
    for cap, of_system in caps:
        bounds = results.select(versus=name_caps(cap, of_system))[["lower", "upper"]]
        of_sample, of_others = bounds.to_numpy().tolist()
        possible = not isnan(of_sample[0])
        people = "raters" if of_system == 1 else "raters and system"
        ends = _write_ends(of_sample, False), _write_ends(of_others, possible)
        rows.append((people, (f"{cap:g}",), (ends[0],), (ends[1],)))
    n_items = pluralise(int(results.table["n_items"].iloc[0]), "item")
    return answer_briefly(
        "bounds",
        frames={"bounds": results.table},
        title=f"Bounds of the accuracy: {data}",
        content=results.to_dict(),
        heading=[f"{data}: {n_items} with two ratings and an answer"],
        sentences=[sentence[0].upper() + sentence[1:]],
        text=[ASSUMED],
        table=list_table(names, rows, keys=2),
    )


def _write_ends(ends: Sequence[float], possible: bool) -> str:
    if isnan(ends[0]):
        return "–" if possible else "impossible"
    return " to ".join(map(to_decimal, ends))
