"""`Results` made of answers, and what they say in short: a sentence, and the first table."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lehner import __version__
from lehner.core.errors import Warning, list_few, sort_warnings
from lehner.core.estimate import ESTIMANDS, IntervalEstimate, Row, uses_truths
from lehner.core.resampling import with_progress
from lehner.core.results import Results, read_value, tabulate
from lehner.core.table import PrintedTable, TableColumn, to_latex
from lehner.core.text import format_p, pluralise, to_percent, to_short
from lehner.data.ratings import Ratings
from lehner.empirical_prior import prior
from lehner.estimation.methods import get_look, get_method
from lehner.estimation.views import (
    ACCURACIES,
    ANY,
    WITH_GOLD,
    PlacedCell,
    Record,
    View,
    arrange,
    lay_out,
    make_cells,
    order_rows,
    view_systems,
    write_short,
)
from lehner.known_truths.one_judge import JUDGED_BY
from lehner.performance import measures

# Rows of the first table, after which the gold labels alone stand, and pairs of groups.
MOST_METHODS, MOST_PAIRS = 5, 4
# What the prior of `learned_prior` says of the system beside its raters.
SYSTEM_IS = {
    "like": "assuming that the system is like its raters",
    "better": "assuming that the system is mostly better than its raters",
    "unknown": "without assuming that the system is better than its raters",
}
# Those on which it was learned, by who rates.
CROWDS = {"people": "public crowds", "models": "public panels of language models"}
# Measures beside the accuracies of several systems: of the positive one of two categories, or all.
BESIDE_ACCURACY = ("precision", "recall", "f1")
OF_ALL = ("balanced_accuracy", "mcc", "kappa_with_truth")
PROPORTIONS = {
    "base_rates": "proportion",
    "base_rates_on_known_items": "gold labels",
    "base_rates_rank": "rank, P(best)",
}
FAVOURS = {"favour": "by the other raters", "favour_by_truths": "by gold labels"}
PROPORTION_DIFFERENCES = {"base_rates_difference": "difference, P(higher)"}


def write_sentences(results: Results) -> list[str]:
    """Report the accuracy of each system, or the proportions of groups, in sentences for a paper.

    Parameters
    ----------
    results : Results

    Returns
    -------
    list of str
    """
    views = view_systems(results)
    if views[0].system:
        return list(map(write_accuracy, views))
    return list(write_proportions(views[0]))


def write_accuracy(view: View) -> str:
    """Report a system's accuracy on these items in a sentence for a paper.

    Parameters
    ----------
    view : View

    Returns
    -------
    str
        By the method to report, or why there is no estimate.
    """
    ratings, method = view.results.ratings, view.reported
    if not method:
        return f"The accuracy of {view.system} cannot be estimated from these ratings."
    value = read_value(view.first("system_accuracy_in_sample", method=method))
    rated = f"{pluralise(ratings.n_ratings, 'rating')} by {pluralise(ratings.n_raters, 'rater')}"
    sources = [rated] if ratings.n_raters else []
    if view.gold is not None and value.corrected:
        sources.append(pluralise(int(view.gold["n_items"]), "gold label"))
    learned, assumed = describe_prior(view, method), get_method(method).assumes
    by = basis = ""
    if learned:
        agreement = view.results.fits[view.system, method].diagnostics["agreement"]
        agrees = f"its agreement of {to_short(agreement, 2)} with the majority"
        basis = f" Given {agrees}, this follows from {learned}."
    elif ratings.n_raters:
        by = f", by the method “{get_look(method).label}”"
        if value.corrected:
            fitted = uses_truths(view.results.fits[view.system, method])
            by += f", {'fitted to' if fitted else 'corrected by'} the gold labels"
        by += f", if {assumed}" if assumed else ""
    return (
        f"On these {pluralise(ratings.n_items, 'item')} the accuracy of {view.system} was "
        f"estimated at {write_apa(value)} from {' and '.join(sources)}{by} (lehner {__version__})."
        f"{basis}{_write_as_a_test(view)}"
    )


def _write_as_a_test(view: View) -> str:
    """Report sensitivity and specificity in one more sentence, if there are two categories."""
    titles = [(x, title) for (name, x), title in view.test_measures.items() if name == "recall"]
    values = {
        title: read_value(row)
        for category, title in titles
        if (row := view.first("recall", category=category, method=view.detailed)) is not None
    }
    if view.positive is None or any(value.lower is None for value in values.values()):
        return ""
    parts = " and ".join(f"a {title} of {write_apa(value)}" for title, value in values.items())
    by = ""
    if view.detailed != view.reported:
        by = f"; by the method “{get_look(view.detailed).label}”"
    return f" For {view.positive.name} it had {parts}{by}." if parts else ""


def write_proportions(view: View) -> Iterator[str]:
    """Say which group is ahead, or that it is open, and by how much; or else all proportions."""
    columns: dict[str, Any] = {"method": view.methods[0], "grouping": "group", "group": ANY}
    by = f"by the method “{get_look(view.methods[0]).label}”"
    rates, contenders = view.pick("base_rates", **columns), list_contenders(view)
    if not contenders:
        for row in rates:
            group = f" in {row['group']}" if row["group"] else ""
            yield f"{row['category']}{group}: {write_apa(read_value(row))}, {by}."
        return
    best = next(row for row in rates if row["group"] == contenders[0])
    value, category = write_apa(read_value(best)), best["category"]
    if len(contenders) == 1:
        yield f"{contenders[0]} has the highest proportion of {category}: {value}, {by}."
    else:
        rank = view.pick("base_rates_rank", **columns)[0]
        yield (
            f"Which group has the highest proportion of {category} is open: "
            f"{list_few(contenders, MOST_PAIRS)}. That of {contenders[0]} is estimated at {value}, "
            f"and is the highest with a probability of {to_short(rank['probability'], 2)}, {by}."
        )
    for row in view.pick("base_rates_difference", **columns)[:MOST_PAIRS]:
        if contenders[0] in (row["group"], row["versus"]):
            yield f"{row['group']} minus {row['versus']}: {write_apa(read_value(row))}."


def list_contenders(view: View) -> list[str]:
    """List the groups that may be ahead, the best one first; none if groups have no ranks.

    A group is ahead if the probability that it is the best is that of the intervals, or more.
    """
    columns: dict[str, Any] = {"method": view.methods[0], "grouping": "group", "group": ANY}
    ranks = view.pick("base_rates_rank", **columns)
    if ranks and ranks[0]["probability"] >= view.level:
        return [ranks[0]["group"]]
    return [row["group"] for place, row in enumerate(ranks) if place < 2 or not row["lower"] > 1]


def name_leader(view: View) -> Iterator[str]:
    """Say in a few words which group is ahead, or that it is open."""
    contenders = list_contenders(view)
    if len(contenders) == 1:
        yield f"Ahead: {contenders[0]}"
    elif contenders:
        yield f"It is open which is ahead: {list_few(contenders, MOST_PAIRS)}"


def write_apa(value: IntervalEstimate) -> str:
    """Write a proportion as APA style does.

    Examples
    --------
    >>> write_apa(IntervalEstimate(estimate=0.65, lower=0.56, upper=0.74, level=0.95))
    '.65, 95% CI [.56, .74]'
    """
    if value.lower is None or value.level is None:
        return to_short(value.estimate, 2)
    ends = f"[{to_short(value.lower, 2)}, {to_short(value.upper, 2)}]"
    return f"{to_short(value.estimate, 2)}, {to_percent(value.level)} CI {ends}"


def describe_prior(view: View, method: str) -> str:
    """Say what a method learned on which crowds; nothing of one that learned nothing."""
    crowds = name_crowds(view, method)
    learned = view.results.fits[view.system, method].diagnostics
    people = ", if these are people" * learned.get("assumes_people", False)
    return crowds and (
        f"an empirical prior learned on {crowds} ({learned['families']} families) whose true "
        f"categories are known, {SYSTEM_IS[learned['system_is']]}{people}"
    )


def name_crowds(view: View, method: str) -> str:
    """Name the crowds on which a method's prior was learned; nothing if it has none."""
    learned = view.results.fits[view.system, method].diagnostics
    if "system_is" not in learned:
        return ""
    if not learned["shipped"]:
        return f"{learned['crowds']} crowds of your own"
    families = prior.read_priors()[learned["raters_are"]][learned["system_is"]].families
    among = " (this one among them)" * (view.results.name.casefold() in map(str.casefold, families))
    return f"{learned['crowds']} {CROWDS[learned['raters_are']]}{among}"


def name_basis(view: View, row: Record) -> str:
    """Say what the accuracy by a method rests on."""
    method = row["method"]
    if not view.results.ratings.n_raters:
        expected = view.first("system_accuracy", method=method)
        if expected is not None and math.isnan(row["lower"]):
            if len(view.results.ratings.systems) > 1:
                return "known: all items are labelled"
            return f"known: all items are labelled; of others like these {read_value(expected)}"
        return str(row["kind"])
    crowds, assumed = name_crowds(view, method), get_method(method).assumes
    parts = [f"learned on {crowds} with true labels"] if crowds else []
    if view.results.fits[view.system, method].diagnostics.get("assumes_people"):
        parts.append("if raters are people")
    if row["corrected"]:
        corrects = any(before["method"] == method for before in view.uncorrected)
        parts.append(f"{'corrected by' if corrects else 'with'} the gold labels")
    elif assumed:
        parts.append(f"if {assumed}")
    return ", ".join(parts)


def summarise_results(results: Results) -> list[PrintedTable]:
    """Make the table of the first screen: accuracies of systems, or proportions of groups."""
    views = view_systems(results)
    if not views[0].system:
        return tabulate_proportions(views[0], grouping="group", group=ANY)
    return tabulate_systems(views) if len(views) > 1 else tabulate_methods(views[0])


def tabulate_methods(view: View) -> list[PrintedTable]:
    """Make the table of the accuracy by each method, the one to report first."""
    accuracies = view.pick("system_accuracy_in_sample")
    accuracies.sort(key=lambda row: row["method"] != view.reported)
    accuracies = [row for row in accuracies if not math.isnan(row["estimate"])]
    rows: list[tuple[Any, ...]] = [
        (row["method"], cell, name_basis(view, row))
        for row, cell in zip(accuracies, make_cells(accuracies, marked=False), strict=True)
    ]
    if view.gold is not None and view.results.ratings.n_raters:
        rows.insert(MOST_METHODS, ("gold labels alone", read_value(view.gold), view.gold_alone))
    columns = [TableColumn("accuracy"), TableColumn("on_these_items"), TableColumn("basis", "")]
    return [PrintedTable(columns=columns, rows=rows)] if rows else []


def tabulate_accuracies(view: View) -> list[PrintedTable]:
    """Make the table of the system's accuracy by each method, beside what methods assume."""
    every = view.pick(*ACCURACIES, rows=[*view.rows, *view.uncorrected])
    every.sort(key=lambda row: view.methods.index(row["method"]))
    with_labels, without = list[PlacedCell](), list[PlacedCell]()
    for row, cell in zip(every, make_cells(every, marked=False), strict=True):
        name, assumed = view.names(row["method"]), get_method(row["method"]).assumes
        heading = f"if {assumed}" if assumed else "without gold labels"
        if row["corrected"]:
            with_labels.append((WITH_GOLD, name, row["quantity"], cell))
        else:
            without.append((heading, name, row["quantity"], cell))
    in_sample, expected = ACCURACIES
    if with_labels:
        # What rests on gold labels in another way stands below what these correct.
        with_labels += [
            ("by PPI++", view.names(row["method"]), expected, read_value(row))
            for row in view.pick("prediction_powered")
        ]
        # Without raters the only method is the gold labels alone.
        if view.gold and view.results.ratings.n_raters:
            doubt = view.gold_alone.partition(", ")[2]
            name = f"gold labels alone ({doubt})" if doubt else "gold labels alone"
            with_labels.append((WITH_GOLD, name, in_sample, read_value(view.gold)))
    columns = [TableColumn(name, title) for name, title in ACCURACIES.items()]
    return arrange([*with_labels, *without], columns, title="method")


def tabulate_systems(views: Sequence[View], cut: Callable[[str], str] = str) -> list[PrintedTable]:
    """Make the table of the accuracy, further measures and the rank of systems, the best first."""
    view = views[0]
    titles = {"system_accuracy_in_sample": "accuracy"} | choose_measures(view)
    rank = f"{view.compared}_rank"
    category = "" if view.positive is None else str(view.positive.name)
    cells: list[PlacedCell] = []
    for row in order_rows(views):
        method = view.detailed if row["quantity"] in measures.COMPARED_BY else view.ranked_by
        whole = not row["grouping"] and not row["rater"] and row["method"] == method
        if whole and row["quantity"] == rank:
            place = f"{row['estimate']:.0f} [{row['lower']:.0f}, {row['upper']:.0f}]"
            shown = f"{place}, {format_p(row['probability'], 2)}"
            cells.append(("", cut(row["system"]), rank, (shown,)))
        elif whole and row["quantity"] in titles and row["category"] in ("", category):
            (cell,) = make_cells([row], marked=False)
            cells.append(("", cut(row["system"]), row["quantity"], cell))
    titles[rank] = "rank, P(best)"
    columns = [TableColumn(name, title, write_short) for name, title in titles.items()]
    # Accuracies may differ by little where one category is rare.
    columns[0] = TableColumn(columns[0].name, "accuracy", to_short)
    return arrange(cells, columns)


def choose_measures(view: View) -> dict[str, str]:
    """Choose the measures of the first table, and what they are called."""
    beside = OF_ALL if view.positive is None else BESIDE_ACCURACY
    chosen = dict.fromkeys((*beside, *([view.compared] if view.compared != ESTIMANDS[0] else [])))
    # One that is asked for takes the place of the first.
    return {name: measures.COMPARED_BY[name] for name in list(chosen)[-len(beside) :]}


def tabulate_proportions(
    view: View, cut: Callable[[str], str] = str, **columns: Any
) -> list[PrintedTable]:
    """Make the table of proportions of groups, their sizes behind their names."""
    column = view.find_column("group")
    title = "" if column is None else cut(column.column)
    columns |= {"across": "quantity", "sized": True, "marked": False}
    return lay_out(view, PROPORTIONS, "{group}{of}", title=title, cut=cut, **columns)


def tabulate_proportion_differences(view: View, **columns: Any) -> list[PrintedTable]:
    """Make the table of differences of groups."""
    return lay_out(view, PROPORTION_DIFFERENCES, "{group} – {versus}", **columns)


def tabulate_favours(
    view: View, *, clearest: bool = False, cut: Callable[[str], str] = str, **columns: Any
) -> list[PrintedTable]:
    """Make the table of which rater calls which group good too often, the lowest p-values first.

    Parameters
    ----------
    view : View
    clearest : bool
        Whether only the first group of each rater is shown.
    cut : callable
        Shortens names.
    **columns
        As `View.pick` takes them.

    Returns
    -------
    list of PrintedTable
    """
    rows = view.pick(*FAVOURS, **columns | {"rater": ANY})
    rows.sort(key=lambda row: (row["probability"], -abs(row["estimate"])))
    if clearest:
        groups = {row["rater"]: row["group"] for row in reversed(rows)}
        rows = [row for row in rows if row["group"] == groups[row["rater"]]]
    title = f"favour of {rows[0]['category']}, adjusted p" if rows else ""
    columns |= {"rater": ANY, "across": "quantity", "rows": rows, "title": title, "cut": cut}
    return lay_out(view, FAVOURS, "{rater} in {group}", **columns)


OF_PROPORTIONS = (tabulate_proportions, tabulate_proportion_differences)


def list_apart(view: View) -> list[Record]:
    """List the rows of methods that let one judge err differently in each group."""
    return [
        row
        for row in view.rows
        if row["method"] not in JUDGED_BY or not JUDGED_BY[row["method"]].alike
    ]


def write_latex(results: Results) -> str:
    """Write the table of a paper: accuracies by each method, or proportions of groups."""
    views = view_systems(results, lambda name: get_look(name).label)
    if not views[0].system:
        columns: dict[str, Any] = {"rows": list_apart(views[0]), "grouping": "group", "group": ANY}
        tables = [table for make in OF_PROPORTIONS for table in make(views[0], **columns)]
        column, note = views[0].find_column("group"), describe_sample(views[0])
        caption = "Proportions and their differences" + (f" by {column.column}" if column else "")
        return to_latex(*tables, caption=caption, label="proportions", note=note)
    return "\n".join(
        to_latex(
            *tabulate_accuracies(view),
            caption=f"{view.system}: accuracy by each method",
            label=f"estimates-{number}" if len(views) > 1 else "estimates",
            note=describe_sample(view),
        )
        for number, view in enumerate(views, 1)
    )


def describe_sample(view: View) -> str:
    """Say below the table of a paper which ratings its numbers rest on."""
    ratings, gold = view.results.ratings, view.gold
    items, raters = pluralise(ratings.n_items, "item"), pluralise(ratings.n_raters, "rater")
    labels = f" and {pluralise(int(gold['n_items']), 'gold label')}" if gold else ""
    rated = f"{pluralise(ratings.n_ratings, 'rating')} of {items} by {raters}"
    return f"{rated}{labels}; lehner {__version__}."


def collect(
    ratings: Ratings,
    answers: Sequence[tuple[Mapping[str, str], Iterable[Row | Warning]]],
    options: Any,
    fits: Mapping[tuple[str, str], Any] | None = None,
) -> Results:
    """Put the answers to questions in one table.

    Parameters
    ----------
    ratings : Ratings
    answers : sequence of (mapping, iterable of dict or Warning)
        Whose an answer is, by the columns `system` and `method` and the field `about` of warnings;
        and the rows and warnings of the answer.
    options : object
        What was asked for.
    fits : mapping of (system, method) to Estimate, optional

    Returns
    -------
    Results
    """
    rows: list[Row] = []
    warnings: list[Warning] = []
    names: dict[str, set[str]] = {"method": set(), "system": set()}
    for described, answer in with_progress("answers", answers):
        for field in names.keys() & described.keys():
            names[field].add(described[field])
        for part in answer:
            if isinstance(part, Warning):
                warnings.append(replace(part, **described))  # type: ignore[arg-type]
            else:
                rows.append({**described, **part})
    return Results(
        ratings=ratings,
        table=tabulate(rows),
        warnings=_merge(warnings, names),
        fits=fits or {},
        options=options,
        looks=get_look,
        sentences=write_sentences,
        tables=summarise_results,
        latex=write_latex,
    )


def _merge(warnings: Iterable[Warning], names: Mapping[str, set[str]]) -> tuple[Warning, ...]:
    """Order warnings by severity, each once: those of all methods, or all systems, name none."""
    for field, every in names.items():
        whom: dict[Warning, set[str]] = defaultdict(set)
        pairs = [(text, replace(text, **{field: ""})) for text in warnings]  # type: ignore[arg-type]
        for text, unnamed in pairs:
            whom[unnamed].add(getattr(text, field))
        if len(every) > 1:
            warnings = [unnamed if whom[unnamed] >= every else text for text, unnamed in pairs]
    return tuple(sort_warnings(warnings))
