"""Rows of results from what each question answered."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lehner.core.estimate import ESTIMANDS, Estimate
from lehner.core.warning import Warning
from lehner.data.ratings import Ratings
from lehner.dependence.bounds import MistakesNeeded
from lehner.dependence.check import Dependence
from lehner.dependence.sensitivity import Sensitivity
from lehner.estimation.known_truths import Corrected, KnownTruth
from lehner.estimation.proportions import Proportions
from lehner.estimation.result import Comparison, MethodResult, SystemResult
from lehner.estimation.results import Results, Row, merge_warnings, row, tabulate
from lehner.groups.result import GroupEstimates
from lehner.performance.result import RaterPerformance, SystemPerformance
from lehner.systems.comparison import SystemDifference, SystemRank

LABELS = {
    "confusion": ("category", "response"),
    "rater_accuracy": ("rater",),
    "accuracy": ("rater",),
}
"""The columns that name an array's places; otherwise the category."""


def results_of(comparison: Comparison, options: Any = None) -> Results:
    """Put all numbers of a comparison in one table."""
    several = len(comparison.systems) > 1
    rows = [one for system in comparison.systems for one in _of_system(system)]
    if several:
        rows += _of_systems(comparison)
    methods = [one.method for one in comparison.systems[0].results]
    warnings = merge_warnings(
        (one for system in comparison.systems for one in _warnings(system)),
        methods,
        [one.system for one in comparison.systems],
    )
    fits = {
        (one.system, result.method): result.without_truths.estimate
        for one in comparison.systems
        for result in one.results
    }
    return Results(
        ratings=comparison.ratings,
        table=tabulate(rows),
        warnings=warnings,
        fits=fits,
        options=options,
    )


def _of_system(system: SystemResult) -> Iterator[Row]:
    head = {"system": system.system, "method": ""}
    for one in _without_method(system):
        yield head | one
    by_method: dict[str, list[Row]] = {
        one.method: list(_of_method(one, system)) for one in system.results
    }
    for one in system.k_properties:
        by_method["relaxed_k"] += _k_property(one)
    for one in system.predictions:
        by_method[one.method] += _prediction(one)
    for pair in system.disagreements:
        kind = {None: "", True: "inside", False: "outside"}[pair.inside]
        names = {"versus": pair.methods[0], "kind": kind, "n_items": pair.n_items}
        by_method[pair.methods[1]].append(
            row("method_difference", estimate=pair.difference, **names)
        )
    if system.slopes is not None:
        for slope, fixed in system.slopes.items():
            for name in ESTIMANDS:
                by_method["relaxed_k"].append(
                    row(
                        f"{name}_if_slope",
                        getattr(fixed, name),
                        versus=f"system_slope={slope:g}",
                    )
                )
    for method, rows in by_method.items():
        for one in rows:
            yield head | {"method": method} | one


def _without_method(system: SystemResult) -> Iterator[Row]:
    agreement = system.agreement
    yield row("percent_agreement", estimate=agreement.agreement)
    yield row("brennan_prediger", estimate=agreement.kappa)
    yield row("n_pairs", estimate=agreement.n_pairs)
    if system.dependence is not None:
        yield from _dependence(system.dependence)
    if system.mistakes_needed is not None:
        yield from _mistakes_needed(system.mistakes_needed)
    if system.known_truth is not None:
        yield from _known_items(system.known_truth)
    for one in system.results:
        if one.corrected is not None:
            for part in one.corrected.parts:
                if part.part == "groups":
                    yield row(
                        "known_items_of_group",
                        grouping="group",
                        group=part.label,
                        n_items=part.n_known,
                    )
            break


def _dependence(found: Dependence) -> Iterator[Row]:
    for pair in found.pairs:
        first, second = pair.raters
        names: Row = {"rater": first, "versus": second, "n_items": pair.n_items}
        yield row("pair_agreement", estimate=pair.agreement, **names)
        yield row("pair_agreement_expected", estimate=pair.expected, **names)
        kind = "stands out" if pair.stands_out else ""
        yield row("pair_agreement_test", probability=pair.p_value, kind=kind, **names)
    yield row("dependence_test", probability=found.p_value)
    yield row("dependence_together_test", probability=found.p_value_together)
    effective = found.effective_raters
    about = {"kind": effective.source, "n_items": effective.n_items}
    yield row("effective_raters", estimate=effective.effective, **about)
    yield row("mistake_correlation", estimate=effective.correlation, **about)
    yield row("raters_per_item", estimate=effective.n_raters)


def _mistakes_needed(found: MistakesNeeded) -> Iterator[Row]:
    yield row("system_accuracy_above", estimate=found.above)
    yield row("mistake_correlation_needed", estimate=found.correlation)
    yield row("crowds_beyond", estimate=found.crowds_beyond, n_items=found.n_crowds)


def _known_items(truth: KnownTruth) -> Iterator[Row]:
    yield row(
        "accuracy_on_known_items",
        estimate=truth.system_accuracy,
        lower=truth.lower,
        upper=truth.upper,
        level=truth.level,
        kind=truth.kind,
        n_items=truth.n_items,
    )
    for quantity, counts in (("recall", truth.by_truth), ("precision", truth.by_answer)):
        for category, (right, n_items) in counts.items():
            yield row(
                f"{quantity}_on_known_items",
                category=category,
                estimate=right / n_items if n_items else None,
                n_items=n_items,
            )


def _of_method(result: MethodResult, system: SystemResult) -> Iterator[Row]:
    own = result.without_truths
    n_answered = _n_answered(system.ratings)
    for name in ESTIMANDS:
        yield row(name, getattr(own.estimate, name), n_items=n_answered)
    if own.details is not None:
        yield from _performance(own.details)
    yield from _points(own)
    if own.raters is not None:
        yield from _raters(own.raters)
    for grouping, found in (("group", own.groups), ("population", own.populations)):
        if found is not None:
            yield from _item_groups(found, grouping)
    if own.rater_groups is not None:
        yield from _rater_groups(own.rater_groups)
    yield from _shared_mistakes(result.sensitivity)
    yield from _earlier_studies(own.estimate)
    yield from _dependent_pair(own.estimate)
    if result.corrected is not None:
        yield from _corrected(result, result.corrected, n_answered)


def _n_answered(ratings: Ratings) -> int:
    return int(ratings.weights[np.asarray(ratings.system) >= 0].sum())


def _performance(found: SystemPerformance | RaterPerformance) -> Iterator[Row]:
    for quantity, places, value in found.rows():
        columns = LABELS.get(quantity, ("category",))
        yield row(quantity, value, **dict(zip(columns, map(str, places), strict=False)))


def _points(result: MethodResult) -> Iterator[Row]:
    """Give accuracies of raters and base rates of methods that have no intervals of them."""
    known = {} if result.details is None else result.details.arrays
    for quantity, column in (("rater_accuracy", "rater"), ("base_rates", "category")):
        if quantity in known:
            continue
        for label, value in result.with_intervals(quantity).items():
            yield row(quantity, value, **{column: label})


def _raters(found: RaterPerformance) -> Iterator[Row]:
    for quantity, places, value in found.rows():
        if quantity != "accuracy":
            rater, category = map(str, places)
            yield row(quantity, value, rater=rater, category=category)
    for place, rater in enumerate(found.names):
        lower = found.less_accurate(rater)
        for other in found.names[place + 1 :]:
            if other in lower:
                yield row(
                    "rater_accuracy_difference",
                    rater=rater,
                    versus=other,
                    probability=1 - lower[other],
                )
    for rater in found.names:
        if found.probability_lowest is not None:
            yield row("rater_accuracy_lowest", rater=rater, probability=found.lowest(rater))


def _item_groups(found: GroupEstimates, grouping: str, *, corrected: bool = False) -> Iterator[Row]:
    for one in found.groups:
        names = {"grouping": grouping, "group": one.group}
        for name in ESTIMANDS:
            value = getattr(one, name)
            if value.corrected or not corrected:
                yield row(name, value, **names, n_items=one.n_answered)
        if corrected:
            continue
        for quantity, column in (("base_rates", "category"), ("rater_accuracy", "rater")):
            for label, value in getattr(one, quantity).items():
                yield row(quantity, value, **names, **{column: str(label)}, n_items=one.n_items)
    for pair in found.differences:
        names = {"grouping": grouping, "group": pair.groups[0], "versus": pair.groups[1]}
        both = (pair.difference, pair.difference_in_sample)
        for name, value in zip(ESTIMANDS, both, strict=True):
            higher = pair.probability_higher if name == ESTIMANDS[0] else None
            yield row(f"{name}_difference", value, **names, probability=higher)


def _rater_groups(found: GroupEstimates) -> Iterator[Row]:
    for one in found.groups:
        yield row("rater_accuracy", one.accuracy, grouping="rater_group", group=one.group)
    for pair in found.differences:
        names = {"grouping": "rater_group", "group": pair.groups[0], "versus": pair.groups[1]}
        yield row(
            "rater_accuracy_difference",
            pair.difference,
            **names,
            probability=pair.probability_higher,
        )


def _shared_mistakes(found: Sensitivity) -> Iterator[Row]:
    assumed = {"versus": f"misleading_share={found.misleading_share:g}"}
    yield row("system_accuracy_if_all_misled", found.system_accuracy, **assumed)
    yield row("system_accuracy_in_sample_if_all_misled", found.system_accuracy_in_sample, **assumed)
    if found.raters_alone is None:
        return
    yield row("system_accuracy_if_raters_misled", found.raters_alone, **assumed)
    yield row("system_accuracy_in_sample_if_raters_misled", found.raters_alone_in_sample, **assumed)
    if found.raters_alone_bounds is not None:
        lower, upper = found.raters_alone_bounds
        name = "system_accuracy_if_raters_misled_bounds"
        yield row(name, lower=lower, upper=upper, **assumed)


def _earlier_studies(estimate: Estimate) -> Iterator[Row]:
    found = estimate.diagnostics.get("earlier_studies")
    if found is None:
        return
    for one in found["raters"]:
        names = {"rater": one["rater"], "category": one["category"] or ""}
        yield row("recall_prior", one["prior"], **names)
        yield row("recall_posterior", one["posterior"], **names)
        yield row("study_right", estimate=one["right"], n_items=one["items"], **names)
    for one in found["by_weight"]:
        for name in ESTIMANDS:
            versus = f"study_weight={one['weight']:g}"
            yield row(f"{name}_if_study_weight", one[name], versus=versus)


def _dependent_pair(estimate: Estimate) -> Iterator[Row]:
    found = estimate.diagnostics.get("dependent_pair")
    if found is None:
        return
    names = {"rater": found["pair"][0], "versus": found["pair"][1]}
    for when in ("if_dependent", "if_independent"):
        for name in ESTIMANDS:
            yield row(f"{name}_{when}", found[when][name], **names)
    log, error = found["log_bayes_factor"], found["log_bayes_factor_error"]
    yield row("log_bayes_factor_dependent", estimate=log, **names)
    yield row("log_bayes_factor_dependent_error", estimate=error, **names)
    for one in found["categories"]:
        for name, key in (
            ("shared_answers_prior", "prior"),
            ("shared_answers", "posterior"),
            ("shared_covariance", "covariance"),
        ):
            yield row(name, one[key], category=one["category"], **names)


def _k_property(one: Any) -> Iterator[Row]:
    name, _, group = one.name.partition("[")
    names = {"grouping": "rater_group", "group": group.rstrip("]")} if group else {}
    direction = one.probability_of_direction
    yield row(name, one.value, versus=one.k_property, probability=direction, **names)
    factor, error = one.bayes_factor, one.bayes_factor_error
    bound = {"estimate": factor}
    if factor is not None and error is not None:
        bound |= {"lower": factor - error, "upper": factor + error}
    if one.is_lower_bound:
        bound = {"lower": factor}
    yield row("bayes_factor_against_zero", versus=one.name, kind=one.verdict(), **bound)


def _prediction(one: Any) -> Iterator[Row]:
    yield row("elpd", estimate=one.elpd)
    yield row("elpd_se", estimate=one.se)
    yield row("elpd_difference", estimate=one.difference)
    yield row("elpd_difference_se", estimate=one.difference_se)
    yield row("stacking_weight", estimate=one.weight)


def _corrected(result: MethodResult, found: Corrected, n_answered: int) -> Iterator[Row]:
    correction = found.correction
    for name in ESTIMANDS:
        yield row(name, getattr(result.estimate, name), n_items=n_answered)
    for (quantity, *places), value in found.measures.items():
        columns = LABELS.get(quantity, ("category",))
        yield row(quantity, value, **dict(zip(columns, places, strict=False)))
    if result.groups is not None and any(part.part == "groups" for part in found.parts):
        for one in _item_groups(result.groups, "group", corrected=True):
            yield one | {"corrected": True}
    n_items = correction.n_known
    yield row("prediction_powered", correction.prediction_powered, n_items=n_items)
    yield row("known_items_right", estimate=correction.right, n_items=n_items)
    yield row("known_items_right_expected", estimate=correction.expected_right, n_items=n_items)
    yield row("known_truths_test", probability=correction.p_value, n_items=n_items)


def _of_systems(comparison: Comparison) -> Iterator[Row]:
    for one in comparison.differences:
        if one.uncorrected is not None:
            yield from _system_difference(one.uncorrected)
        yield from _system_difference(one)
    for rank in comparison.ranks:
        yield _rank(rank)


def _system_difference(one: SystemDifference) -> Iterator[Row]:
    names = {"system": one.systems[0], "versus": one.systems[1], "method": one.method}
    for name in ESTIMANDS:
        of = name.removeprefix("system_accuracy")
        yield row(
            f"{name}_difference",
            getattr(one, f"difference{of}"),
            **names,
            probability=getattr(one, f"probability_better{of}"),
            n_items=one.n_common_items,
        )


def _rank(one: SystemRank) -> Row:
    return row(
        "system_accuracy_rank",
        system=one.system,
        method=one.method,
        estimate=one.rank,
        lower=one.lower,
        upper=one.upper,
        corrected=one.corrected,
        probability=one.probability_best,
        n_items=one.n_common_items,
    )


def _warnings(system: SystemResult) -> Iterator[Warning]:
    for one in system.results:
        of_questions: Mapping[str, Iterable[Warning]] = {
            "": one.without_truths.estimate.warnings,
            "known_truths": () if one.correction is None else one.correction.warnings,
            "details": () if one.details is None else one.details.notes,
            "raters": () if one.raters is None else one.raters.notes,
            "groups": () if one.groups is None else one.groups.notes,
            "populations": () if one.populations is None else one.populations.notes,
            "rater_groups": () if one.rater_groups is None else one.rater_groups.notes,
        }
        for about, found in of_questions.items():
            for warning in found:
                yield replace(warning, system=system.system, method=one.method, about=about)


def results_of_proportions(found: Proportions, options: Any = None) -> Results:
    """Put all numbers of a comparison of groups in one table."""
    rows: list[Row] = []
    for one in found.results:
        rows += [{"method": one.method} | each for each in _proportions(one)]
    warnings = [
        *found.warnings,
        *(replace(w, method=one.method) for one in found.results for w in one.warnings),
    ]
    return Results(
        ratings=found.ratings,
        table=tabulate(rows),
        warnings=merge_warnings(warnings, [one.method for one in found.results], []),
        fits={},
        options=options,
    )


def _proportions(result: Any) -> Iterator[Row]:
    for one in result.groups:
        names = {"grouping": "group", "group": one.group}
        for label, value in one.proportions.items():
            value = replace(value, corrected=result.corrected)
            yield row("base_rates", value, **names, category=label, n_items=one.n_items)
            n_known = one.n_known_of[label]
            yield row(
                "base_rates_on_known_items",
                **names,
                category=label,
                estimate=n_known / one.n_known if one.n_known else None,
                n_items=one.n_known,
            )
        if one.rank is not None:
            lower, upper = one.rank_interval
            yield row(
                "base_rates_rank",
                **names,
                estimate=one.rank,
                lower=lower,
                upper=upper,
                probability=one.probability_best,
                corrected=result.corrected,
            )
    for pair in result.differences:
        names = {"grouping": "group", "group": pair.groups[0], "versus": pair.groups[1]}
        value = replace(pair.difference, corrected=result.corrected)
        yield row("base_rates_difference", value, **names, probability=pair.probability_higher)
    for rater, value in result.rater_accuracy.items():
        yield row("rater_accuracy", value, rater=rater)
