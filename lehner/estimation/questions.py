"""Questions of estimates: each is a function that yields rows of the table, and warnings.

A question of your own is such a function, `ask(fit, options)`, given as `questions=` to
`lehner.estimate`. Where a method cannot give what a question asks for, it yields nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.contrasts.contrast import TIED, by_name, contrast, rank
from lehner.core import lazy
from lehner.core.errors import Warning, warn
from lehner.core.estimate import ESTIMANDS, Estimate, Replicates, Row, number, row, uses_truths
from lehner.core.resampling import DoAll, do_here
from lehner.data.ratings import Ratings
from lehner.dependence.check import Dependence
from lehner.estimation.methods import Method
from lehner.latent_class.em import known_truths
from lehner.performance import measures

if TYPE_CHECKING:
    from lehner.contrasts.groups import GroupColumn
    from lehner.contrasts.systems import JointDraws

by_column, systems = map(lazy.load, ("lehner.contrasts.groups", "lehner.contrasts.systems"))
misleading = lazy.load("lehner.dependence.sensitivity")
crowds = lazy.load("lehner.empirical_prior.calibrated")

RESAMPLES = 1000
MANY_CATEGORIES = 100
"""Above these there are half the resamples, each of which has a matrix of K × K cells."""
MOST_COMPARED = 50
"""Raters whose accuracies are compared two by two."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Options:
    """What results are asked for.

    Parameters
    ----------
    name : str
        Name of the data, for titles.
    level : float
        Probability of the intervals.
    seed : int
        The same seed gives the same numbers.
    resamples : int
        Of the items, where a method has none of its own.
    positive : PositiveCategory, optional
        The positive category of two.
    groups, populations : GroupColumn, optional
        To which group, and population, each row belongs.
    sensitivity : bool
        Whether models are fitted again with the system's slope on difficulty fixed.
    do_all : callable
        Does fits that do not depend on one another, see `lehner.estimate`.
    """

    name: str = "ratings"
    level: float = 0.9
    seed: int = 1
    resamples: int = RESAMPLES
    positive: measures.PositiveCategory | None = None
    groups: "GroupColumn | None" = None
    populations: "GroupColumn | None" = None
    sensitivity: bool = False
    do_all: DoAll = do_here


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """What one method gave for one system.

    Parameters
    ----------
    ratings : Ratings
        With this system only, and with gold labels.
    estimate : Estimate
    method : Method
        What the method can give. Its `estimate` and `joint_draws` have their options.
    seen : Ratings, optional
        What the method saw of the ratings.
    dependence : Dependence, optional
        Which raters make correlated errors, if this is asked.
    """

    ratings: Ratings
    estimate: Estimate
    method: Method
    seen: Ratings | None = None
    dependence: Dependence | None = None

    @cached_property
    def replicates(self) -> Callable[..., Replicates | None]:
        """From `resamples` and `seed` to the parameters that measures follow from, made once."""
        of_fit = {"ratings": self.ratings, "estimate": self.estimate}
        return cache(partial(self.method.replicates, **of_fit))

    @cached_property
    def n_answered(self) -> int:
        """Number of items that the system answered."""
        return int(self.ratings.weights[np.asarray(self.ratings.system) >= 0].sum())

    def can_be_corrected(self) -> bool:
        """Tell whether there are gold labels of some items that the method has not seen."""
        ratings, estimate = self.ratings, self.estimate
        if ratings.truth is None or ratings.system is None or not known_truths(ratings):
            return False
        labelled = (ratings.system >= 0) & (ratings.truth >= 0) & (ratings.weights > 0)
        probable = "truth_probabilities" in estimate.arrays
        estimated = estimate.system_accuracy.estimate is not None
        return bool(labelled.any()) and probable and estimated and not uses_truths(estimate)


type Answer = Iterable[Row | Warning]
type Question = Callable[[Fit, Options], Answer]


def ask_accuracy(fit: Fit, options: Options) -> Answer:
    """Give the expected accuracy, and the proportion of these items that the system got right."""
    about: Row = {"n_items": fit.n_answered}
    about |= {"corrected": True} if uses_truths(fit.estimate) else {}
    yield from [row(name, getattr(fit.estimate, name), **about) for name in ESTIMANDS]
    yield from fit.estimate.warnings
    if fit.dependence is not None:
        pair = fit.ratings.dependent if "dependent_pair" in fit.method.takes else None
        yield from fit.dependence.warnings_of_estimates(pair or ())


def ask_sensitivity(fit: Fit, options: Options) -> Answer:
    """Say what the estimate would be if items misled the raters, and perhaps the system."""
    misled = misleading.sensitivity(fit.estimate, fit.ratings.n_categories)
    assumed = {"versus": f"misleading_share={misled.misleading_share:g}"}
    alone = (misled.raters_alone, misled.raters_alone_in_sample)
    for name in ESTIMANDS:
        yield row(f"{name}_if_all_misled", getattr(misled, name), **assumed)
    for name, value in zip(ESTIMANDS, alone, strict=True):
        if value is not None:
            yield row(f"{name}_if_raters_misled", value, **assumed)
    if misled.raters_alone_bounds is not None:
        ends = dict(zip(("lower", "upper"), misled.raters_alone_bounds, strict=True))
        yield {"quantity": "system_accuracy_if_raters_misled_bounds"} | ends | assumed


def _replicates(fit: Fit, options: Options) -> Replicates | None:
    """Give the parameters from which measures are computed."""
    many = fit.ratings.n_categories > MANY_CATEGORIES
    resamples = options.resamples // 2 if many else options.resamples
    return fit.replicates(resamples=resamples, seed=options.seed)


def ask_performance(fit: Fit, options: Options) -> Answer:
    """Give the system's confusion matrix, recall, precision and other measures.

    Where base rates and confusion matrix imply another accuracy than step 4 of the algebra, a
    warning says so. Of methods without such replicates, rater accuracies and base rates have no
    interval.
    """
    replicates, estimate = _replicates(fit, options), fit.estimate
    measured: list[Row | Warning] = []
    if replicates is not None:
        asked: Row = {"positive": options.positive, "level": options.level}
        measured = measures.performance_rows(fit.ratings, replicates, **asked)
        yield from [*measured, *measures.warn_of_two_accuracies(estimate, replicates.point)]
    quantities = {part["quantity"] for part in measured if not isinstance(part, Warning)}
    for quantity, column in (("rater_accuracy", "rater"), ("base_rates", "category")):
        array = estimate.arrays.get(quantity)
        if array is not None and quantity not in quantities:
            for name, value in zip(array[column].values, array.values, strict=True):
                yield {"quantity": quantity, column: str(name), "estimate": number(value)}


def ask_raters(fit: Fit, options: Options) -> Answer:
    """Give each rater's measures, differences of their accuracies, and who is least accurate."""
    replicates, level = _replicates(fit, options), options.level
    if replicates is None or fit.ratings.anonymous:
        return
    if np.isnan(replicates.point.rater_accuracy).all():
        return
    asked: Row = {"positive": options.positive, "level": level}
    if replicates.point.rater_recall is not None:
        yield from measures.rater_rows(fit.ratings, replicates, **asked)
    if replicates.drawn is None:
        return
    raters, accuracy = fit.ratings.raters, replicates.drawn.rater_accuracy
    if not (np.ptp(accuracy, axis=-1) > TIED).any():
        yield warn("raters-alike", "all raters are taken for equally accurate")
        return
    if len(raters) <= MOST_COMPARED:
        points = by_name(raters, replicates.point.rater_accuracy)
        drawn, kind = by_name(raters, accuracy), replicates.kind
        yield from contrast("rater_accuracy", "rater", points, drawn, level=level, kind=kind)
    lowest = accuracy < accuracy.min(axis=1, keepdims=True) + TIED
    share = (lowest / lowest.sum(axis=1, keepdims=True)).mean(axis=0)
    for rater, probability in zip(raters, share.tolist(), strict=True):
        yield {"quantity": "rater_accuracy_lowest", "rater": rater, "probability": probability}


def ask_groups(fit: Fit, options: Options, grouping: str = "group") -> Answer:
    """Estimate accuracies in each group or population of items, by a method that can.

    For populations they are those of the fit that the estimate is of, with base rates.
    """
    column, ask = getattr(options, f"{grouping}s"), getattr(fit.method, f"by_{grouping}")
    if column is None or ask is None or fit.estimate.system_accuracy.estimate is None:
        return
    ratings = fit.ratings if uses_truths(fit.estimate) else fit.ratings.with_truth(None)
    asked = {"ratings": ratings, "estimate": fit.estimate, "seed": options.seed}
    draws = ask(groups=column.names, **asked)
    if draws is not None:
        yield from by_column.group_rows(draws, fit.ratings, grouping=grouping, level=options.level)


def ask_systems(
    fits: Mapping[str, Fit],
    ratings: Ratings,
    options: Options,
    *,
    labelled: Ratings | None = None,
) -> Answer:
    """Give the difference of each two systems, and the ranks of all.

    Parameters
    ----------
    fits : mapping of str to Fit
        Of each system, from its own items, by one method.
    ratings : Ratings
        With all systems, as the method sees them.
    options : Options
    labelled : Ratings, optional
        The same with gold labels that correct the method, which has not seen them.

    Yields
    ------
    dict or Warning
        Differences on the items that both systems answered, and ranks on the items that all
        answered, if the method has joint draws.
    """
    names, level = ratings.systems, options.level
    draw = partial(_draw_together, fits, ratings, labelled, options)
    of_all = draw(names)
    by_pair: dict[tuple[str, str], list[JointDraws]] = {}
    for pairs in systems.pairs_by_items(ratings):
        together = tuple(name for name in names if any(name in pair for pair in pairs))
        by_pair |= dict.fromkeys(pairs, of_all if together == names else draw(together))
    for pair in combinations(names, 2):
        n_items = systems.n_common_items(ratings, pair)
        if not by_pair[pair]:
            between = {"system": pair[0], "versus": pair[1], "n_items": n_items}
            yield from [{"quantity": f"{name}_difference"} | between for name in ESTIMANDS]
            text = "no item was answered by both systems, so that there is no difference"
            yield warn("no-common-items", f"{pair[0]} and {pair[1]}: {text}")
        for joint in by_pair[pair]:
            about: Row = {"corrected": joint.corrected, "n_items": n_items}
            yield from systems.compare_systems(joint, level=level, pairs=[pair], **about)
    if of_all and of_all[-1].expected:
        joint = of_all[-1]
        about = {"corrected": joint.corrected, "n_items": systems.n_common_items(ratings, names)}
        (points, _), drawn = joint.points or ({}, {}), joint.expected
        yield from rank("system_accuracy", "system", points, drawn, level=level, **about)


def _draw_together(
    fits: Mapping[str, Fit],
    ratings: Ratings,
    labelled: Ratings | None,
    options: Options,
    names: tuple[str, ...],
) -> "list[JointDraws]":
    """Estimate systems from the items that all of them answered.

    Returns
    -------
    list of JointDraws
        Empty if there are no such items. The last of two is corrected by gold labels. Of a method
        without joint draws there are only the estimates.
    """
    common, method = ratings.on_common_items(*names), fits[names[0]].method
    n_common = systems.n_common_items(common, names)
    if not n_common:
        return []
    fewer = [name for name in names if systems.n_common_items(ratings, [name]) > n_common]
    again = options.do_all([partial(method.estimate, common.for_system(name)) for name in fewer])
    estimates = {name: fits[name].estimate for name in names}
    estimates |= dict(zip(fewer, again, strict=True))
    joint = method.joint_draws and method.joint_draws(estimates, common, do_all=options.do_all)
    joint = joint or systems.JointDraws(kind="", expected={}, in_sample={})
    if joint.points is None:
        expected, in_sample = (
            {name: _accuracy(made, quantity) for name, made in estimates.items()}
            for quantity in ESTIMANDS
        )
        joint = replace(joint, points=(expected, in_sample))
    if joint.corrected is None:
        joint = replace(joint, corrected=any(map(uses_truths, estimates.values())))
    if labelled is None:
        return [joint]
    asked: dict[str, Any] = {"level": options.level, "seed": options.seed}
    corrected = crowds.draw_calibrated(labelled, systems=names, **asked)
    return [joint, corrected] if corrected.corrected else [joint]


def _accuracy(estimate: Estimate, name: str) -> float:
    value = getattr(estimate, name).estimate
    return np.nan if value is None else value


OF_FITS: dict[str, Question] = {
    "accuracy": ask_accuracy,
    "details": ask_performance,
    "raters": ask_raters,
    "groups": ask_groups,
    "populations": partial(ask_groups, grouping="population"),
    "sensitivity": ask_sensitivity,
}
"""Questions that are asked of each fit, before those that only its method answers."""
