"""Questions of estimates: each is a function that yields rows of the table, and warnings.

A question of your own is such a function, `ask(fit, options)`, given as `questions=` to
`lehner.estimate`. Where a method cannot give what a question asks for, it yields nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from lehner.contrasts import systems
from lehner.contrasts.contrast import MOST_COMPARED, TIED, contrast, find_highest, pair_names, rank
from lehner.contrasts.groups import GroupColumn, list_group_rows, list_measured, take_groups
from lehner.core.arrays import Floats, derive_seeds, make_rng
from lehner.core.errors import InputError, Warning, compose, warn
from lehner.core.estimate import (
    ESTIMANDS,
    Draws,
    Estimate,
    Row,
    make_rows,
    number,
    row,
    uses_truths,
)
from lehner.core.lazy import special
from lehner.core.resampling import DoAll, do_pieces, with_progress
from lehner.data.estimable import is_partly_labelled
from lehner.data.ratings import Ratings
from lehner.dependence.bounds import find_tipping_point
from lehner.dependence.check import Dependence, check_dependence, predict_effective_raters
from lehner.empirical_prior.learned_prior import draw_learned_prior
from lehner.estimation.methods import Method
from lehner.known_truths.partly_known import RECALIBRATED
from lehner.performance import measures
from lehner.performance.replicates import draw_corrected, take_parameters

# A trend that one may look at while labels come in.
ANYTIME = "anytime"
RESAMPLES = 1000
# Below this share of answers accuracies say little of the positive category.
RARE = 0.1
ALIKE = warn("raters-alike", "all raters are taken for equally accurate")
# In this part of the public crowds raters are worth as much as is said.
CROWDS_LEVEL = 0.9
# Raters may be better by so much, since a system costs less: crowd workers, skilled raters and
# experts, as the authors suggest.
EPSILONS = (0.1, 0.15, 0.2)
FEWEST_RATERS, FEWEST_ITEMS, FALSE_DISCOVERIES = 3, 30, 0.05


@dataclass(frozen=True, kw_only=True, eq=False)
class Options:
    """What results are asked for.

    Parameters
    ----------
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
    questions : sequence of str
        What is asked, by name.
    truths_in_model : bool
        Whether all methods see the gold labels.
    measure : Measure, optional
        By which systems and groups are compared, beside the accuracy.
    with_trend : bool or "anytime"
        Whether it is asked how each system changes over ordered groups.
    chances_estimated : bool
        Whether probabilities of gold labels are estimated from votes and answers.
    do_all : callable
        Does fits that do not depend on one another, see `lehner.estimate`.
    on_interrupt : callable, optional
        Called if Ctrl-C ends the fits of methods, of which those that are done are kept.
    """

    level: float = 0.9
    seed: int = 1
    resamples: int = RESAMPLES
    positive: measures.PositiveCategory | None = None
    groups: GroupColumn | None = None
    populations: GroupColumn | None = None
    questions: Sequence[str] = ()
    truths_in_model: bool = False
    measure: measures.Measure | None = None
    with_trend: bool | str = False
    chances_estimated: bool = False
    do_all: DoAll = do_pieces
    on_interrupt: Callable[[], Any] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """What one method gave for one system.

    Parameters
    ----------
    ratings : Ratings
        With this system only, and with gold labels.
    estimate : Estimate
    method : Method
        What the method can give. Its `fit` and its draws of systems have their options.
    dependence : Dependence, optional
        Which raters make correlated errors, if this is asked.
    """

    ratings: Ratings
    estimate: Estimate
    method: Method
    dependence: Dependence | None = None

    @property
    def was_stopped(self) -> bool:
        """Whether Ctrl-C ended the fits before this one was done."""
        return any(warning.code == "interrupted" for warning in self.estimate.warnings)

    @cached_property
    def draw_parameters(self) -> Callable[..., Draws | None]:
        """From `resamples` and `seed` to the parameters that measures follow from, made once."""
        draw = self.method.functions.get("parameters", take_parameters)
        return cache(partial(draw, self.ratings, self.estimate))

    @cached_property
    def seen(self) -> Ratings:
        """What the method saw of the ratings."""
        return self.ratings if uses_truths(self.estimate) else self.ratings.with_truth(None)

    @cached_property
    def n_answered(self) -> int:
        """Number of items that the system answered."""
        return int(self.ratings.weights[np.asarray(self.ratings.system) >= 0].sum())

    def can_be_corrected(self) -> bool:
        """Tell whether there are gold labels of some items that the method has not seen."""
        ratings, estimate = self.ratings, self.estimate
        if ratings.truth is None or ratings.system is None or not is_partly_labelled(ratings):
            return False
        labelled = (ratings.system >= 0) & (ratings.truth >= 0) & (ratings.weights > 0)
        probable = "truth_probabilities" in estimate.arrays
        estimated = estimate.system_accuracy.estimate is not None
        return bool(labelled.any()) and probable and estimated and not uses_truths(estimate)


type Answer = Iterable[Row | Warning]
type Question = Callable[[Fit, Options], Answer]
type DrawSystems = Callable[[tuple[str, ...]], Draws | None]


def ask_agreement(fit: Fit, options: Options) -> Answer:
    """Say how often raters agree, whose errors are correlated, and how many they are worth."""
    if fit.ratings.n_raters < 2:
        return
    dependence = fit.dependence or check_dependence(fit.ratings)
    agreement, effective = dependence.agreement, dependence.effective_raters
    p_value, about = dependence.p_value, {"kind": effective.source, "n_items": effective.n_items}
    worth: Row = {"estimate": effective.effective} | about
    if effective.effective is None:
        lower, upper = predict_effective_raters(effective.n_raters, CROWDS_LEVEL)
        worth = {"lower": lower, "upper": upper, "level": CROWDS_LEVEL, "kind": "public crowds"}
    yield {"quantity": "percent_agreement", "estimate": agreement.agreement}
    yield {"quantity": "brennan_prediger", "estimate": agreement.kappa}
    yield {"quantity": "n_pairs", "estimate": agreement.n_pairs}
    for pair in dependence.pairs:
        names: Row = dict(zip(("rater", "versus"), pair.raters, strict=True))
        names["n_items"] = pair.n_items
        yield {"quantity": "pair_agreement", "estimate": pair.agreement} | names
        yield {"quantity": "pair_agreement_expected", "estimate": pair.expected} | names
        kind = "stands out" if pair.stands_out else ""
        tested = {"quantity": "pair_agreement_test", "probability": pair.p_value, "kind": kind}
        yield tested | names
    yield {"quantity": "dependence_test", "probability": p_value}
    yield {"quantity": "dependence_together_test", "probability": dependence.p_value_together}
    yield {"quantity": "effective_raters"} | worth
    yield {"quantity": "mistake_correlation", "estimate": effective.correlation} | about
    yield {"quantity": "raters_per_item", "estimate": effective.n_raters}


def ask_bounds(fit: Fit, options: Options) -> Answer:
    """Say how much errors must correlate for the accuracy to be low."""
    with suppress(InputError):  # No item has two ratings and an answer of the system.
        yield from find_tipping_point(fit.ratings).list_rows()


def ask_annotators(fit: Fit, options: Options) -> Answer:
    """Test for each rater whether the system agrees with the others as well as this rater does.

    On each item the system and one rater are compared by how many of the other raters give the same
    answer. The advantage probability of the system is the proportion of the items on which it
    agrees with as many as the rater does, or more. The winning rate is the proportion of raters for
    whom a t-test, by the procedure of Benjamini and Yekutieli with a false discovery rate of .05,
    says that this probability is above that of the rater less ε. With .5 or more the system may
    replace a rater.

    Parameters
    ----------
    fit : Fit
        Whose ratings are used: of three raters or more, who are named.
    options : Options

    Yields
    ------
    dict
        `advantage_probability` and `advantage_difference` (the system's less the rater's, by
        Student's t) for each rater with 30 items or more; `advantage_probability_mean`, and
        `winning_rate` for each ε. Items are taken to be independent.

    References
    ----------
    Calderon, Reichart & Dror (2025), The alternative annotator test for LLM-as-a-judge,
    https://arxiv.org/abs/2501.10970, section 3.
    """
    ratings, level = fit.ratings, options.level
    if ratings.anonymous or ratings.n_raters < FEWEST_RATERS:
        return
    n, wins, difference, error = _compare_with_system(ratings)
    tested = np.flatnonzero(n >= FEWEST_ITEMS)
    if not tested.size:
        return
    n, wins, difference, error = n[tested], wins[tested], difference[tested], error[tested]
    half = special.stdtrit(n - 1, (1 + level) / 2) * error
    raters = [ratings.raters[j] for j in tested]
    for rater, share in zip(raters, wins.tolist(), strict=True):
        yield {"quantity": "advantage_probability", "rater": rater, "estimate": share}
    values = np.stack([difference, difference - half, difference + half], axis=-1)
    names = {"rater": raters}
    yield from make_rows("advantage_difference", values, names, level=level, kind="Student")
    yield {"quantity": "advantage_probability_mean", "estimate": wins.mean()}
    for epsilon in EPSILONS:
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (-difference - epsilon) / error
        p_values = np.nan_to_num(special.stdtr(n - 1, t), nan=1.0)
        # The procedure of Benjamini and Yekutieli; importing scipy.stats takes a second or two.
        rank = np.arange(1, len(raters) + 1)
        most = FALSE_DISCOVERIES * rank / (len(raters) * (1 / rank).sum())
        n_won = rank[np.sort(p_values) <= most].max(initial=0)
        about = {"versus": f"epsilon={epsilon:g}", "estimate": n_won / len(raters)}
        yield {"quantity": "winning_rate"} | about


def _compare_with_system(ratings: Ratings) -> tuple[Floats, Floats, Floats, Floats]:
    """Number of items of each rater, the system's advantage, its difference and standard error."""
    flat, system, votes = ratings.votes, np.asarray(ratings.system), ratings.count_votes()
    item = flat.item_index
    used = ((system >= 0) & (votes.sum(axis=1) >= 2))[item]
    item, rater, answer = item[used], flat.rater_index[used], flat.category_index[used]
    of_system = votes[item, system[item]] - (answer == system[item])
    of_rater = votes[item, answer] - 1
    ahead = np.sign(of_system - of_rater)

    def add(values: Floats) -> Floats:
        return np.bincount(rater, ratings.weights[item] * values, ratings.n_raters)

    n = add(np.ones(len(item)))
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = add(ahead) / n
        variance = (add(ahead**2) - n * difference**2) / (n - 1)
        return n, add(ahead >= 0) / n, difference, np.sqrt(np.maximum(variance, 0) / n)


def ask_accuracy(fit: Fit, options: Options) -> Answer:
    """Give the expected accuracy, and the proportion of these items that the system got right."""
    about: Row = {"n_items": fit.n_answered}
    about |= {"corrected": True} if uses_truths(fit.estimate) else {}
    rows = [row(name, getattr(fit.estimate, name), **about) for name in ESTIMANDS]
    doubts = fit.dependence.warn_of_estimates() if fit.dependence else ()
    yield from rows
    yield from (*fit.estimate.warnings, *doubts)


def ask_performance(fit: Fit, options: Options) -> Answer:
    """Give the system's confusion matrix, recall, precision and other measures.

    Where base rates and confusion matrix imply another accuracy than step 4 of the algebra, a
    warning says so. Of methods without such draws, rater accuracies and base rates have no
    interval.
    """
    draws = fit.draw_parameters(resamples=options.resamples, seed=options.seed)
    estimate = fit.estimate
    measured: list[Row | Warning] = []
    if draws is not None:
        asked: Row = {"positive": options.positive, "level": options.level}
        measured = measures.list_performance(fit.ratings, draws, **asked)
        yield from [*measured, *measures.warn_of_two_accuracies(estimate, draws.point)]
    quantities = {part["quantity"] for part in measured if not isinstance(part, Warning)}
    for quantity, column in (("rater_accuracy", "rater"), ("base_rates", "category")):
        if quantity in estimate.arrays and quantity not in quantities:
            array = estimate.arrays[quantity]
            for name, value in zip(array[column].values, array.values, strict=True):
                yield {"quantity": quantity, column: str(name), "estimate": number(value)}


def ask_raters(fit: Fit, options: Options) -> Answer:
    """Give each rater's measures, and say if all raters are taken for equally accurate."""
    ratings = fit.ratings
    draws = fit.draw_parameters(resamples=options.resamples, seed=options.seed)
    if draws is None or ratings.anonymous or np.isnan(draws.point["rater_accuracy"]).all():
        return
    if "rater_recall" in draws.point:
        asked: Row = {"positive": options.positive, "level": options.level}
        yield from measures.list_raters(ratings, draws, **asked)
    if draws.drawn and ratings.n_raters > 1:
        spread = np.ptp(draws.drawn["rater_accuracy"], axis=-1)
        if not (spread > TIED).any():
            yield ALIKE


def ask_groups(fit: Fit, options: Options, grouping: str = "group") -> Answer:
    """Estimate accuracies in each group or population of items, by a method that can.

    For populations they are those of the fit that the estimate is of, with base rates.
    """
    column, draw = getattr(options, f"{grouping}s"), fit.method.functions.get(f"{grouping}s")
    if column is None or draw is None or fit.estimate.system_accuracy.estimate is None:
        return
    # A model that has populations is fitted to all items, each of which must be from one.
    if "populations" in fit.method.functions and (column.names == "").any():
        return
    members = take_groups(fit.seen, column)
    asked: dict[str, Any] = {"level": options.level, "grouping": grouping}
    asked["with_trend"] = options.with_trend and grouping == "group"
    draws = draw(members, estimate=fit.estimate, level=options.level, seed=options.seed)
    if draws is None:
        return
    yield from list_group_rows(draws, **asked)
    if options.measure is not None and grouping == "group":
        alone = _fit_each_alone(fit, members, options)
        fields: dict[str, Any] = {"coords": {"group": members.populations}, "kind": draws.kind}
        measured = measures.draw_measure(alone, options.measure, members.categories, **fields)
        yield from list_measured(measured, options.measure, **asked)


def _fit_each_alone(fit: Fit, members: Ratings, options: Options) -> list[Draws | None]:
    """Fit each group alone, so that the system may err otherwise there, and draw parameters."""
    parts = []
    for group, seed in enumerate(derive_seeds(options.seed, len(members.populations))):
        ratings = members.take(members.population == group).with_populations(None)
        alone = replace(fit, ratings=ratings, estimate=fit.method.fit(ratings))
        parts.append(alone.draw_parameters(resamples=options.resamples, seed=seed))
    return parts


def ask_systems(fits: Mapping[str, Fit], ratings: Ratings, options: Options) -> Answer:
    """Give the difference of each two systems by one method, and the ranks of all.

    Parameters
    ----------
    fits : mapping of str to Fit
        Of each system, from its own items, by one method.
    ratings : Ratings
        With all systems, and gold labels.
    options : Options

    Yields
    ------
    dict or Warning
        Differences on the items that both systems answered, and ranks on the items that all
        answered, if the method has joint draws. A method that has not seen the gold labels is
        corrected by them: its numbers are followed by those of the method `learned_prior`.
    """
    draws: list[DrawSystems] = [partial(_draw_together, fits, ratings, options)]
    if all(fit.can_be_corrected() for fit in fits.values()):
        draws.append(partial(_draw_corrected, ratings, options))
        if options.measure is not None and systems.have_same_items(ratings, list(fits)):
            draws.append(partial(_draw_measured, fits, options, options.measure))
    yield from contrast_systems(ratings, draws, options.level, options.measure)


def warn_of_rare(ratings: Ratings, options: Options) -> Answer:
    """Warn of ranks by accuracy where systems seldom give the positive category."""
    if len(ratings.systems) < 2 or options.measure is not None or options.positive is None:
        return
    code = ratings.categories.index(options.positive.name)
    answered = (ratings.answers >= 0) * ratings.weights[:, None]
    share = answered[ratings.answers == code].sum() / answered.sum()
    if share < RARE:
        rare = f"{options.positive.name}, {share:.0%} of the answers"
        remedy = compose("rank by its F1 ({by_measure=f1})")
        text = compose("ranks by accuracy say little of {}: {}", rare, remedy)
        yield warn("ranked-by-accuracy", text)


def contrast_systems(
    ratings: Ratings,
    draws: Sequence[DrawSystems],
    level: float,
    measure: measures.Measure | None = None,
) -> Answer:
    """Give the differences of each two systems, and the ranks of all, from joint draws.

    More than 50 systems are each compared with the one of the highest estimate.

    Parameters
    ----------
    ratings : Ratings
        With all systems.
    draws : sequence of callable
        Functions that take the names of systems, and give joint draws from the items that all of
        these answered, or None. Differences are by each of them, and ranks by the last that can.
    level : float
        Probability of the intervals.
    measure : Measure, optional
        By which systems are compared, too.

    Yields
    ------
    dict or Warning
    """
    names = tuple(ratings.systems)
    of_all = [draw(names) for draw in draws]
    points = [drawn.point for drawn in of_all if drawn is not None and ESTIMANDS[0] in drawn.point]
    best = find_highest(names, points[-1][ESTIMANDS[0]]) if points else names[0]
    if len(names) > MOST_COMPARED:
        text = f"each of {len(names)} systems is compared with {best} only, the highest of all"
        yield warn("not-compared", text)
    compared = dict.fromkeys(ESTIMANDS, "") | ({measure.name: measure.category} if measure else {})
    alike = systems.group_pairs(ratings, pair_names(names, best))
    for pairs in with_progress("pairs of systems", alike):
        between: Row = {"n_items": systems.count_common(ratings, pairs[0])}
        if not between["n_items"]:
            yield from _say_that_none_are_common(pairs)
            continue
        between |= {"pairs": pairs, "level": level}
        members = tuple(name for name in names if any(name in pair for pair in pairs))
        for drawn in of_all if members == names else [draw(members) for draw in draws]:
            if drawn is not None:
                yield from _contrast_pairs(drawn, compared, **between)
    n_common = systems.count_common(ratings, names)
    for quantity, category in compared.items():
        able = [drawn for drawn in of_all if drawn is not None and quantity in drawn.point]
        if quantity == ESTIMANDS[1] or not able or quantity not in able[-1].drawn:
            continue
        joint, sign = able[-1], -1.0 if quantity == measures.LOSS else 1.0
        between = {"n_items": n_common, "level": level, "corrected": joint.corrected}
        values = (sign * part[quantity] for part in (joint.point, joint.drawn))
        ranked = joint.coords["system"]
        yield from rank(quantity, "system", ranked, *values, category=category, **between)


def _contrast_pairs(draws: Draws, compared: Mapping[str, str], **columns: Any) -> Iterable[Row]:
    """Give the differences of systems in both accuracies, and in a measure of a category."""
    columns |= {"kind": draws.kind, "corrected": draws.corrected}
    for quantity, category in compared.items():
        if quantity in draws.point:
            values = draws.point[quantity], draws.drawn.get(quantity)
            names = draws.coords["system"]
            yield from contrast(quantity, "system", names, *values, category=category, **columns)


def _say_that_none_are_common(pairs: Sequence[tuple[str, str]]) -> Answer:
    """Say that systems which answered no item in common have no difference."""
    for first, second in pairs:
        for name in ESTIMANDS:
            between = {"system": first, "versus": second, "n_items": 0}
            yield {"quantity": f"{name}_difference"} | between
        text = "no item was answered by both systems, so that there is no difference"
        yield warn("no-common-items", f"{first} and {second}: {text}")


def _draw_together(
    fits: Mapping[str, Fit], ratings: Ratings, options: Options, names: tuple[str, ...]
) -> Draws | None:
    """Estimate systems from the items that all of them answered; None if there are none.

    Of a method without joint draws there are only the estimates.
    """
    method = fits[names[0]].method
    seen = ratings if sees_labels(method, ratings, options) else ratings.with_truth(None)
    common = seen.select_common_items(*names)
    n_common = systems.count_common(common, names)
    if not n_common:
        return None
    fewer = [name for name in names if systems.count_common(ratings, [name]) > n_common]
    fitted = options.do_all([partial(method.fit, common.select_system(name)) for name in fewer])
    estimates = {name: fits[name].estimate for name in names}
    estimates |= dict(zip(fewer, fitted, strict=True))
    draw = method.functions.get("systems")
    draws = draw and draw(estimates, common, do_all=options.do_all)
    draws = draws or Draws(point={}, coords={"system": names})
    if draws.point:
        return draws
    values = [[getattr(x, name).estimate for x in estimates.values()] for name in ESTIMANDS]
    point = dict(zip(ESTIMANDS, np.array(values, dtype=float), strict=True))
    draws = replace(draws, point=point, corrected=any(map(uses_truths, estimates.values())))
    if options.measure is None:
        return draws
    joined = [
        replace(fits[name], ratings=common.select_system(name), estimate=estimate)
        for name, estimate in estimates.items()
    ]
    return _add_measure(draws, joined, options.measure, options)


def _add_measure(
    draws: Draws, fits: Sequence[Fit], measure: measures.Measure, options: Options
) -> Draws:
    """Add a measure to joint draws of accuracies, if the method has draws of it.

    The draws of each system are in the order of its accuracy. Measures of two systems are therefore
    correlated as far as their accuracies explain, and differences have no narrower intervals.
    """
    seed, parts = options.seed, []
    for i, fit in enumerate(fits):
        part = fit.draw_parameters(resamples=options.resamples, seed=seed)
        if part is None or not part.drawn or not draws.drawn:
            return draws
        right = np.diagonal(part.drawn["confusion"], axis1=1, axis2=2)
        order = np.argsort(np.nansum(part.drawn["base_rates"] * right, axis=1), kind="stable")
        accuracies = draws.drawn[ESTIMANDS[0]][:, i]
        ranks = accuracies.argsort(kind="stable").argsort(kind="stable")
        chosen = order[ranks * len(order) // len(ranks)]
        parts.append(replace(part, drawn={key: x[chosen] for key, x in part.drawn.items()}))
    added = measures.draw_measure(parts, measure, fits[0].ratings.categories)
    point, drawn = {**draws.point, **added.point}, {**draws.drawn, **added.drawn}
    return replace(draws, point=point, drawn=drawn)


def _draw_corrected(ratings: Ratings, options: Options, names: tuple[str, ...]) -> Draws | None:
    """Draw systems by what held on other crowds, if gold labels say something of them."""
    if not systems.find_common(ratings, names).any():
        return None
    draws = draw_learned_prior(ratings, systems=names, level=options.level, seed=options.seed)
    return draws if draws.corrected else None


def _draw_measured(
    fits: Mapping[str, Fit], options: Options, measure: measures.Measure, names: tuple[str, ...]
) -> Draws:
    """Draw a measure of systems, corrected by gold labels, of each independently of the others."""
    parts, rng = [], make_rng(options.seed)
    for fit in (fits[name] for name in names):
        ratings = drop_chances(fit.ratings, options)
        tables = draw_corrected(ratings, fit.estimate, seed=options.seed)
        order = rng.permutation(len(tables["base_rates"]))
        drawn = {key: values[order] for key, values in tables.items()}
        parts.append(Draws(point={}, drawn=drawn, posterior=True))
    fields: dict[str, Any] = {"coords": {"system": names}, "kind": RECALIBRATED, "corrected": True}
    return measures.draw_measure(parts, measure, fit.ratings.categories, **fields)


def sees_labels(method: Method, ratings: Ratings, options: Options) -> bool:
    """Tell whether a method is given the gold labels: those of some items, or all in the model."""
    return options.truths_in_model or ("truths" in method.takes and is_partly_labelled(ratings))


def drop_chances(ratings: Ratings, options: Options) -> Ratings:
    """Take gold labels for a random sample if their probabilities were only estimated.

    Among items with one answer, what the votes say of the truth also says who was labelled.
    """
    return ratings.with_truth(ratings.truth) if options.chances_estimated else ratings


# Questions that are asked of the ratings of a system, whatever the method.
OF_RATINGS: dict[str, Question] = {
    "agreement": ask_agreement,
    "bounds": ask_bounds,
    "annotators": ask_annotators,
}
# Questions that are asked of each fit, before those that only its method answers.
OF_FITS: dict[str, Question] = {
    "accuracy": ask_accuracy,
    "details": ask_performance,
    "raters": ask_raters,
    "groups": ask_groups,
    "populations": partial(ask_groups, grouping="population"),
}
