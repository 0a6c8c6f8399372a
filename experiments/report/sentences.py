"""Sentences that read the results: for a paper, and on how to read each section."""

import math
from collections.abc import Iterator, Sequence

from experiments.report.views import (
    ABOUT,
    ANY,
    View,
    allows_shared_mistakes,
    assumption,
    is_known,
    number,
    view_systems,
)
from experiments.reporting.method_style import method_label
from lehner import __version__
from lehner.contrasts.common_items import answered_the_same, n_common_items
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import counted, decimal, first_few, percent, short
from lehner.dependence.bounds import MistakesNeeded
from lehner.estimation.results import Results

MOST_NAMED = 4
CROWDS_OF = {
    "like": "assuming that the system is like its raters",
    "better": "assuming that the system is mostly better than its raters",
    "unknown": "without assuming that the system is better than its raters",
}
BY_PPI = (
    "PPI++: with 20 known truths its intervals that should hold in 90% held in 83% of real systems."
)
NOT_RANDOM = (
    "The known items are probably no random sample: PPI++ and the known items alone rest on it; "
    "the others depend on it less."
)


def write_sentences(results: Results) -> list[str]:
    """Report each system's accuracy on these items in a sentence for a paper.

    Parameters
    ----------
    results : Results

    Returns
    -------
    list of str
        One for each system, by the method to report, or why there is no estimate.
    """
    return [_sentence(view) for view in view_systems(results)]


def _sentence(view: View) -> str:
    ratings = view.results.ratings
    if not view.reported:
        return f"The accuracy of {view.system} cannot be estimated from these ratings."
    value = view.value("system_accuracy_in_sample", method=view.reported)
    rated = f"{counted(ratings.n_ratings, 'rating')} by {counted(ratings.n_raters, 'rater')}"
    known = view.first("accuracy_on_known_items", method="")
    used = known is not None and value.corrected
    truths = f" and {counted(int(known['n_items']), 'known truth')}" if known and used else ""
    return (
        f"On these {counted(ratings.n_items, 'item')} the accuracy of {view.system} was estimated "
        f"at {apa(value)} from {rated}{truths}, {_how(view, value)} (lehner {__version__})."
    )


def apa(value: IntervalEstimate, digits: int = 2) -> str:
    """Write a proportion as APA style does.

    Examples
    --------
    >>> apa(IntervalEstimate(estimate=0.65, lower=0.56, upper=0.74, level=0.95))
    '.65, 95% CI [.56, .74]'
    """
    if value.lower is None or value.level is None:
        return short(value.estimate, digits)
    ends = f"[{short(value.lower, digits)}, {short(value.upper, digits)}]"
    return f"{short(value.estimate, digits)}, {percent(value.level)} CI {ends}"


def _how(view: View, value: IntervalEstimate) -> str:
    found = view.results.fits[view.system, view.reported].diagnostics
    if "system_is" not in found:
        assumed = assumption(view.reported)
        rests = f", if {assumed}" if assumed else ""
        corrected = ", corrected by the known truths" if value.corrected else ""
        return f"by the method “{method_label(view.reported)}”{corrected}{rests}"
    return (
        f"given its agreement of {short(found['agreement'], 2)} with the majority, by an empirical "
        f"prior learned on {found['crowds']} crowds of {found['families']} families whose truth is "
        f"known, {CROWDS_OF[found['system_is']]}"
    )


def on_data(results: Results) -> str:
    """Say what the ratings are."""
    ratings, first = results.ratings, view_systems(results)[0]
    agree, kappa, pairs = (
        number(first.first(name, method="", versus=""))
        for name in ("percent_agreement", "brennan_prediger", "n_pairs")
    )
    others = (
        ", the other systems among them," if getattr(results.options, "systems_rate", False) else ""
    )
    return (
        f"Raters{others} agree on {decimal(agree)} of {counted(int(pairs), 'pair')} of ratings; "
        f"beyond the chance of 1/{ratings.n_categories} that is kappa {decimal(kappa)}"
    )


def on_accuracy(view: View) -> list[str]:
    """Say how to read the accuracies of the methods."""
    lines = []
    known = view.first("accuracy_on_known_items", method="")
    if known is not None:
        lines.append(on_known_items(view))
    if any(is_known(one) for one in view.pick("prediction_powered")):
        lines.append(BY_PPI)
    if any(one.code == "truths-not-random" for one in view.results.warnings):
        lines.append(NOT_RANDOM)
    for method in view.methods:
        found = view.results.fits[view.system, method].diagnostics
        if "system_is" in found:
            lines.append(
                f"{view.names(method)}: what agreement with the majority meant in "
                f"{found['crowds']} crowds of {found['families']} families whose truth is known, "
                f"{CROWDS_OF[found['system_is']]} (--system-is)."
            )
    needed = mistakes_needed_of(view)
    if needed is not None:
        lines.append(f"Without any model, {needed} (lehner bounds).")
    return [*lines, *on_methods(view)]


def on_known_items(view: View) -> str:
    """Say how the system does on the items whose truth is known, and what they are used for."""
    row = view.first("accuracy_on_known_items", method="")
    assert row is not None
    value = view.value("accuracy_on_known_items", method="")
    if value.level is None:
        shown = f"{value}, exact for these items"
    else:
        by = "with weights" if "weight" in value.kind else "by Wilson"
        shown = f"{value} ({percent(value.level)} interval {by} for all these items)"
    if view.is_corrected:
        use = "these truths correct the estimates"
    elif any(one["corrected"] for one in view.pick("system_accuracy")):
        use = "the models use these truths"
    elif value.level is None:
        use = "all truths are known, and the methods do not use them"
    else:
        use = "no estimate here uses these truths"
    n = counted(int(row["n_items"]), "item")
    return f"On the {n} with known truth the system's accuracy is {shown}; {use}."


def mistakes_needed_of(view: View) -> MistakesNeeded | None:
    """Read how much mistakes must correlate for the accuracy to be low, if it was computed."""
    row = view.first("system_accuracy_above", method="")
    crowds = view.first("crowds_beyond", method="")
    if row is None or crowds is None:
        return None
    correlation = number(view.first("mistake_correlation_needed", method=""))
    return MistakesNeeded(
        above=row["estimate"],
        correlation=None if math.isnan(correlation) else correlation,
        crowds_beyond=int(crowds["estimate"]),
        n_crowds=int(crowds["n_items"]),
    )


def on_methods(view: View) -> Iterator[str]:
    """Say how far estimates of the methods are apart, and on how many items they differ."""
    found = {
        one["method"]: one["estimate"] for one in view.pick("system_accuracy") if is_known(one)
    }
    if len(found) < 2:
        return
    low, high = (of(found, key=found.__getitem__) for of in (min, max))
    yield (
        f"Estimates on items like these go from {decimal(found[low])} ({view.names(low)}) to "
        f"{decimal(found[high])} ({view.names(high)})."
    )
    pairs = view.pick("method_difference")
    apart = [f"{one['versus']} and {one['method']}" for one in pairs if one["kind"] == "outside"]
    if apart:
        yield f"One lies outside the other's interval: {first_few(apart, MOST_NAMED)}."
    most = max(pairs, key=lambda one: one["n_items"], default=None)
    if most is not None and most["n_items"]:
        yield (
            f"Methods call another category the most probable on up to {most['n_items']:g} items "
            f"({most['versus']} and {most['method']})."
        )


def on_groups(view: View, grouping: str) -> list[str]:
    """Say what is special about groups."""
    options = view.results.options
    column = {"group": options.groups, "population": options.populations}.get(grouping)
    lines = [column.note] if column is not None and column.note else []
    told = {one["method"] for one in view.rows if one["grouping"] == grouping}
    without = [view.names(one) for one in view.methods if one not in told]
    if without:
        what = {
            "group": "{} has no estimates of groups",
            "population": "{} takes the items of all populations together",
            "rater_group": "{} cannot tell raters apart",
        }[grouping]
        lines.append(what.format(", ".join(without)) + ".")
    return lines


def on_shared_mistakes(view: View) -> list[str]:
    """Say what is known of mistakes that raters share, and how to read what they would do."""
    found = view.pick("system_accuracy_if_all_misled")
    share = next((float(one["versus"].partition("=")[2]) for one in found), 0.1)
    corrected = view.is_corrected
    truth = ", of the estimates without the known truths" if corrected else ""
    lines = [
        f"What the system's accuracy would be if {100 * share:.3g}% of the items misled the "
        f"raters, with the system or alone{truth}."
    ]
    lines += [on_pairs(view), on_effective_raters(view)]
    moved = [one for one in view.methods if not allows_shared_mistakes(one)]
    exact = {one["method"] for one in view.pick("system_accuracy_if_raters_misled_bounds")}
    alone = {one["method"] for one in view.pick("system_accuracy_if_raters_misled")}
    if (alone - exact) & set(moved):
        lines.append(
            f"{ABOUT} is an approximation unless all categories are equally frequent, because the "
            "method does not estimate how accurate the system is in each category."
        )
    return [one for one in lines if one]


def on_effective_raters(view: View) -> str:
    """Say how many independent raters would tell as much."""
    row = view.first("effective_raters", method="")
    if row is None:
        return ""
    n = number(view.first("raters_per_item", method=""))
    raters = f"{round(n, 2):.10g} raters of an item"
    if not is_known(row):
        return (
            f"In {percent(row['level'])} of public crowds {raters} are as informative as "
            f"{row['lower']:.2g} to {row['upper']:.2g} independent ones; only gold labels of items "
            "drawn at random show how many these are."
        )
    worth = f"{row['estimate']:.2g} independent raters"
    correlation = decimal(number(view.first("mistake_correlation", method="")), 2)
    if "known" in row["kind"]:
        return (
            f"The {raters} are as informative as {worth}: on {row['n_items']:g} items of known "
            f"truth the mean correlation of two raters' mistakes is {correlation}."
        )
    return (
        f"If the raters who agree more than expected share mistakes, the {raters} are at most as "
        f"informative as {worth}."
    )


def on_pairs(view: View) -> str:
    """Say whether two raters agree more than their accuracies explain."""
    tests = view.pick("pair_agreement_test", rater=ANY)
    if not tests:
        return "Whether raters share mistakes was not tested."
    apart = [f"{one['rater']} and {one['versus']}" for one in tests if one["kind"]]
    if apart:
        return f"More than their accuracies explain agree {first_few(apart, MOST_NAMED)}."
    return (
        "No two raters agree more than their accuracies explain; mistakes that all of them share "
        "cannot be detected."
    )


def on_systems(results: Results) -> list[str]:
    """Say by whom systems are judged, and on which items differences rest."""
    ratings = results.ratings
    names: Sequence[str] = [str(name) for name in ratings.systems]
    if getattr(results.options, "systems_rate", False):
        lines = [
            "Each system is judged by the raters and by the other systems. This assumes that "
            "systems err independently of one another and of the raters: systems that share "
            "mistakes make one another look better."
        ]
    else:
        lines = [
            "Each system is judged by the raters alone: systems do not rate one another "
            "(--systems-rate lets them)."
        ]
    same = answered_the_same(ratings, names)
    n_all = n_common_items(ratings, names)
    if same:
        lines.append(f"Differences rest on the same {counted(n_all, 'item')} and raters.")
        return lines
    own = (f"{name} {n_common_items(ratings, [name])}" for name in names)
    lines.append(
        f"The systems answered different items ({first_few(own, MOST_NAMED)} of "
        f"{ratings.n_items}). The accuracy of each is that on its own items."
    )
    if getattr(results.options, "common_items", True):
        lines.append(
            "Differences rest on the items that both systems answered, and ranks on the "
            f"{counted(n_all, 'item')} that all answered."
        )
    else:
        lines.append(
            "Differences assume that a system would be as accurate on the items that it left out."
        )
    return lines
