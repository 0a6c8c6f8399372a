"""Groups of items compared without a system: which has more of a category."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import Any

import numpy as np

from lehner.contrasts.base_rates import FEW_ITEMS, warn_of_accuracy
from lehner.contrasts.contrast import contrast, pair_names, rank
from lehner.contrasts.favour import find_favours, find_favours_by_truths
from lehner.contrasts.groups import GroupColumn
from lehner.core import errors
from lehner.core.arrays import Floats, make_rng
from lehner.core.errors import InputError, Warning, find, warn
from lehner.core.estimate import Draws, Row, tabulate_draws
from lehner.core.text import list_few
from lehner.data.estimable import count_truths, require_pairs, warn_of_clusters
from lehner.data.ratings import Ratings
from lehner.data.reading import to_names
from lehner.dependence.check import check_dependence
from lehner.estimation import gold_labels
from lehner.estimation.methods import (
    Given,
    describe_methods,
    find_method,
    gives,
    list_methods,
    require_takers,
)
from lehner.estimation.questions import Answer, Options
from lehner.interrater.agreement import warn_of_raters
from lehner.known_truths import correction, one_judge
from lehner.known_truths.one_judge import JudgedItems
from lehner.known_truths.partly_known import RECALIBRATED, WEIGHTED, collect_known, weigh_labels

# What the winner of a battle is called.
FIRST = re.compile("(model|answer|response|assistant|output)[ _-]?[a1]", re.IGNORECASE)
ALL_ITEMS = "all items"
MOST_NAMED = 4
# The method that needs no system and no model.
MAJORITY = "majority"

# Codes of the categories whose base rates are asked for together, by what they are called.
type Sets = Mapping[str, list[int]]


def ask_groups_alone(
    ratings: Ratings, methods: Any, good: Sequence[str], options: Options, given: Given
) -> tuple[Ratings, list[tuple[dict[str, str], Answer]]]:
    """Estimate base rates of groups of items without a system, and compare them.

    Parameters
    ----------
    ratings : Ratings
        Without a system.
    methods : str or sequence of str, optional
        Names; by default those that `lehner.compare` names.
    good : sequence of str
        Categories that count together; if there are none, each category is asked for alone.
    options : Options
        With groups, if there are any.
    given : Given
        What is known beside the ratings.

    Returns
    -------
    ratings : Ratings
        The items that belong to a group, each group as a population.
    answers : list of (mapping, iterable of dict or Warning)
        Whose each answer is, and the answer.
    """
    column = options.groups
    names = np.full(ratings.n_rows, ALL_ITEMS) if column is None else column.names
    inside = (names != "") & (ratings.weights > 0)
    ratings = ratings.take(inside).with_populations(names[inside])
    require_comparable(ratings)
    sets, one = find_sets(ratings, good), one_judge.is_judged(ratings)
    doubts: list[Warning] = []
    if not one:
        ratings, doubts = weigh_labels(ratings)
    items, of_judges = None, list(list_methods("judge"))
    methods_of_raters = ["pooled_ml" if ratings.anonymous else "dawid_skene", MAJORITY]
    if count_truths(ratings):
        items = one_judge.count_judged(ratings, options.level)
        methods_of_raters.insert(0, of_judges[0])
    if one and items is not None:
        doubts = list(gold_labels.warn_of_answers(ratings, items, ratings.raters[0]))
    defaults = of_judges if one else methods_of_raters
    methods = list(dict.fromkeys(to_names(methods) or defaults))
    known = given.list_options()
    require_takers([find_method(method) for method in methods], known)
    answers: list[tuple[dict[str, str], Answer]] = [
        ({}, [*doubts, *_warn_of_data(ratings, column)])
    ]
    order, stated = list[str](), list[Row]()
    for method in methods:
        judged = items if gives(find_method(method), "judge") else None
        draws = _draw_base_rates(method, ratings, judged, sets, options, known)
        by_judges = judged is not None
        answer = list(_ask_base_rates(ratings, draws, sets, options, order, by_judges=by_judges))
        answers.append(({"method": method}, answer))
        rows = [part | {"method": method} for part in answer if not isinstance(part, Warning)]
        rates_only = (part for part in rows if part["quantity"] == "base_rates")
        stated += [part for part in rates_only if part["corrected"] and part["lower"] is not None]
        order = order or [part["group"] for part in rows if part["quantity"] == "base_rates_rank"]
    label, codes = list(sets.items())[-1]
    if column is not None and (len(sets) == 1 or ratings.n_categories == 2):
        found = [find_favours(ratings, codes, label, options.level)]
        if items is not None and not one:
            found.append(
                find_favours_by_truths(ratings, codes, label, options.level, seed=options.seed)
            )
        answers += [({}, chain(*parts)) for parts in found]
    if one and items is not None:
        answers.append(({}, gold_labels.ask_judge(ratings, items, sets, options, methods[0])))
    if items is not None:
        answers.append(({}, _warn_of_methods(stated, items, ratings)))
    return ratings, answers


def find_sets(ratings: Ratings, good: Sequence[str]) -> Sets:
    """Find the codes of the good categories, or of each category alone if none are named."""
    codes = {str(label): code for code, label in enumerate(ratings.categories)}
    together = {find("category", label, codes): label for label in good}
    if len(together) == len(codes):
        raise InputError("all categories are called good", "leave one or more out")
    if together:
        return {" or ".join(together[code] for code in sorted(together)): sorted(together)}
    return {label: [code] for label, code in codes.items()}


def require_comparable(ratings: Ratings) -> None:
    """Raise an InputError for battles, and unless there are two raters, or one and gold labels."""
    if ratings.n_raters == 1 and not count_truths(ratings):
        remedy = errors.compose("give two or more, or gold labels of some items ({truth})")
        raise InputError("there is 1 rater", remedy)
    first = next((name for name in map(str, ratings.categories) if FIRST.fullmatch(name)), None)
    if first is not None:
        problem = f"the ratings say who won, so that the proportion of {first!r} is how often the "
        problem += "first of two answers won, whichever model gave it"
        way = "rank the models by a Bradley-Terry model; if one is always the first, name it"
        raise InputError(problem, errors.compose("{} ({labels})", way))
    if not one_judge.is_judged(ratings):
        require_pairs(ratings)


def describe_comparisons() -> dict[str, str]:
    """Give the methods that need no system, and what each does."""
    return describe_methods("populations") | describe_methods("judge")


def _draw_base_rates(
    name: str,
    ratings: Ratings,
    items: JudgedItems | None,
    sets: Sets,
    options: Options,
    known: Mapping[str, Any],
) -> Draws:
    """Estimate base rates of each set of categories by a method that needs no system."""
    method, several = find_method(name), ratings.n_raters > 1
    if items is not None:
        return method.functions["judge"](items, ratings, sets, seed=options.seed)
    if not several or not gives(method, "populations"):
        needed = "gold labels" if gives(method, "judge") else "a system"
        if gives(method, "populations"):
            needed = "several raters"
        choice = describe_methods("populations") if several else {}
        choice |= describe_methods("judge") if count_truths(ratings) else {}
        raise InputError(f"{name} needs {needed}", f"choose among {', '.join(choice)}")
    draw = method.functions["populations"]
    taken = {option: known[option] for option in known if option in method.takes}
    return draw(ratings.with_truth(None), level=options.level, seed=options.seed, **taken)


def _ask_base_rates(
    ratings: Ratings,
    draws: Draws,
    sets: Sets,
    options: Options,
    order: Sequence[str],
    *,
    by_judges: bool,
) -> Answer:
    """Give base rates of each group; of one set of categories also ranks and differences.

    The order of the groups in differences is that of their ranks by the first method.
    """
    yield from (*draws.warnings, *warn_of_accuracy(ratings, draws))
    groups = ratings.populations
    rates = draws if by_judges else _join_categories(draws, sets)
    versions = [rates]
    if count_truths(ratings) and not by_judges and not np.isnan(rates.point["base_rates"]).any():
        truth = draws.point["truth_probabilities"]
        versions.append(_correct(ratings, truth, sets, rates, make_rng(options.seed)))
        yield from versions[-1].warnings
    sizes = _count_items(ratings, answered=by_judges and not draws.corrected)
    for version in versions:
        made: Row = {"level": options.level, "corrected": version.corrected, "grouping": "group"}
        for part in tabulate_draws(version, "base_rates", **made):
            yield part | {"n_items": sizes[part["group"]]}
    yield from _count_gold_labels(ratings, sets)
    if len(sets) == 1 and len(groups) > 1:
        of_groups = groups, version.point["base_rates"][:, 0], version.drawn["base_rates"][..., 0]
        made["category"] = next(iter(sets))
        ranks = list(rank("base_rates", "group", *of_groups, **made))
        yield from ranks
        order = list(dict.fromkeys([*(order or [part["group"] for part in ranks]), *groups]))
        made |= {"kind": version.kind, "pairs": pair_names(order, order[0])}
        yield from contrast("base_rates", "group", *of_groups, **made)
    for quantity, name in (("rater_accuracy", "rater_accuracy"), ("rater_recall", "recall")):
        if quantity in draws.point:
            rows = tabulate_draws(draws, quantity, level=options.level)
            yield from (part | {"quantity": name} for part in rows)


def _join_categories(draws: Draws, sets: Sets) -> Draws:
    """Sum the base rates of each set of categories, and leave out what else there is."""
    joined = [
        np.stack([rates[..., codes].sum(axis=-1) for codes in sets.values()], axis=-1)
        for rates in (draws.point["base_rates"], draws.drawn["base_rates"])
    ]
    coords = {"group": draws.coords["group"], "category": list(sets)}
    point, drawn = ({"base_rates": rates} for rates in joined)
    return replace(draws, point=point, drawn=drawn, coords=coords)


def _count_items(ratings: Ratings, *, answered: bool = False) -> dict[str, int]:
    """Count the items of each group; where judges are believed, those with an answer."""
    counts = ratings.weights
    if answered:
        said = one_judge.find_answers(ratings)
        counts = counts * (said != ratings.n_categories)
    sizes = np.bincount(np.asarray(ratings.population), counts, len(ratings.populations))
    return dict(zip(ratings.populations, sizes.astype(int).tolist(), strict=True))


def _count_gold_labels(ratings: Ratings, sets: Sets) -> Iterator[Row]:
    """Give how many labelled items of each group are of each category."""
    truth = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth
    for g, group in enumerate(ratings.populations):
        counts = ratings.weights * (ratings.population == g)
        n = int(counts[truth >= 0].sum())
        for label, codes in sets.items():
            share = counts[np.isin(truth, codes)].sum() / n if n else None
            about: Row = {"grouping": "group", "group": group, "category": label, "n_items": n}
            yield {"quantity": "base_rates_on_known_items", "estimate": share} | about


def _correct(
    ratings: Ratings, truth: Floats, sets: Sets, rates: Draws, rng: np.random.Generator
) -> Draws:
    """Recalibrate the probabilities in each group by its own gold labels."""
    drawn = rates.drawn["base_rates"]
    point, corrected, p_values = np.empty(drawn.shape[1:]), np.empty_like(drawn), []
    gold, codes = np.asarray(ratings.truth), list(sets.values())
    for g, s in np.ndindex(point.shape):
        rows = (ratings.population == g) & (ratings.weights > 0)
        probability = np.clip(truth[:, codes[s]].sum(axis=1), 0.0, 1.0)
        items = collect_known(ratings, rows, probability, np.isin(gold, codes[s]))
        variance, n = float(np.nanvar(drawn[:, g, s])), items.n_items
        posterior = correction.infer_proportion(items, variance)
        holding = n * rng.choice(posterior.values, len(drawn), p=posterior.probability)
        corrected[:, g, s] = rng.beta(holding + 0.5, n - holding + 0.5)
        point[g, s] = (n * posterior.mean + 0.5) / (n + 1)
        by_chance = items.mean * (1 - items.mean) / n + items.variance_of_proportion
        if items.n_known:
            p_values.append(correction.check_contradiction(items, max(0.0, variance - by_chance)))
    contradicted = min(p_values) * len(p_values) < correction.SUSPICIOUS_P_VALUE
    text = "the gold labels contradict the method; rely on the corrected proportions"
    return replace(
        rates,
        point={"base_rates": point},
        drawn={"base_rates": corrected},
        kind=RECALIBRATED if ratings.truth_probability is None else WEIGHTED,
        corrected=True,
        warnings=(warn("truths-contradict", text),) if contradicted else (),
    )


def _warn_of_methods(
    stated: Sequence[Row], judged: JudgedItems, ratings: Ratings
) -> Iterator[Warning]:
    """Warn of disjoint intervals of methods of one judge, and say of what intervals are."""
    apart = [
        f"{first['method']} and {second['method']} in {first['group']}"
        for first, second in combinations(stated, 2)
        if (first["group"], first["category"]) == (second["group"], second["category"])
        if first["lower"] > second["upper"] or second["lower"] > first["upper"]
    ]
    if apart:
        which = list_few(dict.fromkeys(apart), MOST_NAMED)
        yield warn("methods-disagree", f"methods have intervals without a common number: {which}")
    labelled = ((judged.labelled >= 1) | (judged.answers == 0)).all(axis=1)
    if labelled.any():
        of = f" of {list_few(np.array(ratings.populations)[labelled], MOST_NAMED)}"
        text = f"all items{'' if labelled.all() else of} have a gold label: their proportions are "
        yield warn("proportions-known", f"{text}known, and intervals are of other items like these")


def _warn_of_data(ratings: Ratings, column: GroupColumn | None) -> Iterator[Warning]:
    """Warn of what concerns every method."""
    names = ratings.populations
    if not one_judge.is_judged(ratings):
        dependence = check_dependence(ratings)
        yield from (*dependence.list_warnings(), *dependence.warn_of_estimates())
        yield from warn_of_raters(ratings)
        yield from warn_of_clusters(ratings, "accuracies of raters by Bayesian models")
    if column is not None and len(names) == 1:
        yield warn("one-group", f"{names[0]!r} is the only group: there is nothing to compare")
    if column is not None and column.note:
        yield warn("groups-made", column.note)
    small = [f"{name} ({n})" for name, n in _count_items(ratings).items() if n < FEW_ITEMS]
    if small:
        text = f"fewer than {FEW_ITEMS} items: {list_few(small, MOST_NAMED)}"
        yield warn("groups-small", f"{text}; their intervals depend on the prior")
    counts = ratings.weights @ ratings.count_votes()
    never = [str(label) for label, n in zip(ratings.categories, counts, strict=True) if not n]
    if never:
        text = f"no rater gave {list_few(never, MOST_NAMED)}, of which only the prior is known"
        yield warn("category-never-rated", text)
