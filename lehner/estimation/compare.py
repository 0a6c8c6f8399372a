"""Groups of items compared without a system: which has more of a category."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations

import numpy as np
from numpy.typing import ArrayLike

from lehner.contrasts import one_judge
from lehner.contrasts.base_rates import (
    FEW_ITEMS,
    BaseRates,
    allow_for_clusters,
    estimate_by_majority,
    warn_of_raters,
)
from lehner.contrasts.contrast import contrast, rank, split_by_name
from lehner.contrasts.favour import find_favours
from lehner.contrasts.groups import GroupColumn, make_column
from lehner.core import errors
from lehner.core.arrays import Floats, make_rng
from lehner.core.errors import InputError, Warning, check_level, check_whole_number, find, warn
from lehner.core.estimate import Row, make_rows_of_draws
from lehner.core.results import Results
from lehner.core.text import list_few
from lehner.data.columns import Label
from lehner.data.estimable import require_pairs, warn_of_clusters
from lehner.data.ratings import Ratings
from lehner.data.reading import to_names
from lehner.dependence.check import check_dependence
from lehner.estimation import gold_labels
from lehner.estimation.collect import collect
from lehner.estimation.methods import find_method, list_methods
from lehner.estimation.questions import Answer, Options
from lehner.interrater import doubts
from lehner.known_truths import correction
from lehner.known_truths.partly_known import RECALIBRATED, WEIGHTED, collect_known, weigh_labels
from lehner.latent_class.em import count_truths

# What the winner of a battle is called.
FIRST = re.compile("(model|answer|response|assistant|output)[ _-]?[a1]", re.IGNORECASE)
ALL_ITEMS = "all items"
MOST_NAMED = 4
# The method that needs no system and no model.
MAJORITY = "majority"

# Codes of the categories whose base rates are asked for together, by what they are called.
type Sets = Mapping[str, list[int]]


def compare(
    ratings: Ratings,
    good: Label | Sequence[Label] | None = None,
    groups: ArrayLike | GroupColumn | None = None,
    methods: str | Sequence[str] | None = None,
    *,
    name: str = "ratings",
    level: float = 0.9,
    seed: int = 1,
) -> Results:
    """Compare the proportion of a category in groups of items, corrected for the raters' errors.

    No system is evaluated: the items themselves are compared, as the answers of several language
    models that raters called good or bad, or the cases of several sites. Without groups the result
    has the base rates and the raters' accuracy of all items.

    Raters are assumed to be as accurate in one group as in another. The model has a base rate of
    each category for each group, and the same confusion matrices of the raters in all of them.

    Parameters
    ----------
    ratings : Ratings
        Systems are left out. If the truth of some items is known, which must be a random sample,
        base rates and proportions are corrected by it, each group by its own items.
    good : str, int, or several of these, optional
        The category whose proportion is compared, or several that count together, as "good" and
        "excellent". By default each category has its proportion, without ranks and differences.
    groups : array_like of str, shape (n_rows,), optional
        To which group each row belongs; rows that belong to none are left out. By default the
        populations of the ratings.
    methods : str or sequence of str, optional
        "majority", which takes the majority of the raters for the truth; a latent-class model by
        maximum likelihood, as "dawid_skene_ml"; or a Bayesian model, as "dawid_skene". By default
        "dawid_skene" ("pooled_ml" if it is unknown who gave which rating) and "majority". Of one
        rater, a judge, with gold labels of some items: all in `lehner.contrasts.one_judge`.
    name : str
        Name of the data, for titles.
    level : float
        Probability of the intervals, between 0 and 1.
    seed : int
        The same seed gives the same numbers.

    Returns
    -------
    Results
        `table` has base rates by group, their differences and ranks, and the raters' accuracy and
        recall: with two categories, sensitivity and specificity of every test.

    Raises
    ------
    InputError
        If there is no such category or method, if all categories are good, or if there are not two
        raters, two categories and an item rated by two raters.

    Notes
    -----
    Proportions are those of items like these, as base rates are, and not of these items alone.

    References
    ----------
    Hui & Walter (1980), https://doi.org/10.2307/2530508; Dawid & Skene (1979),
    https://doi.org/10.2307/2346806

    Examples
    --------
    >>> import lehner
    >>> scenario = lehner.Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3)
    >>> ratings = lehner.simulate(scenario, 1).with_truth(None)
    >>> results = compare(ratings, "A", np.repeat(["x", "y"], 100), "majority")
    >>> results.select(quantity="base_rates_rank")[["group", "estimate"]].values.tolist()
    [['y', 1.0], ['x', 2.0]]
    """
    check_level(level)
    check_whole_number("seed", seed, 0)
    ratings, column = ratings.without_system(), None
    if groups is not None or ratings.population is not None:
        column = make_column(groups, ratings)
    names = np.full(ratings.n_rows, ALL_ITEMS) if column is None else column.names
    inside = (names != "") & (ratings.weights > 0)
    ratings = ratings.take(inside).with_populations(names[inside])
    require_comparable(ratings)
    sets = _find_sets(ratings, to_names(good))
    options = Options(name=name, level=level, seed=seed, groups=column)
    judged, doubts = None, list[Warning]()
    if one_judge.is_judged(ratings):
        judged = one_judge.count_judged(ratings, level)
        doubts += gold_labels.warn_of_answers(ratings, judged, ratings.raters[0])
    else:
        ratings, doubts = weigh_labels(ratings)
    model = "pooled_ml" if ratings.anonymous else "dawid_skene"
    default = (model, MAJORITY) if judged is None else tuple(one_judge.METHODS)
    selected = list(dict.fromkeys(to_names(methods) or default))
    answers: list[tuple[dict[str, str], Answer]] = [
        ({}, [*doubts, *_warn_of_data(ratings, column)])
    ]
    order, stated = list[str](), list[Row]()
    for method in selected:
        if judged is None:
            rates = _estimate_base_rates(method, ratings, options)
        else:
            asked = list(sets.values())
            rates = one_judge.estimate_judged(method, judged, ratings, asked, seed=seed)
        answer = list(_ask_base_rates(ratings, rates, sets, options, order))
        answers.append(({"method": method}, answer))
        rows = [part | {"method": method} for part in answer if not isinstance(part, Warning)]
        rates_only = (row for row in rows if row["quantity"] == "base_rates" and row["corrected"])
        stated += [row for row in rates_only if row["lower"] is not None]
        order = order or [row["group"] for row in rows if row["quantity"] == "base_rates_rank"]
    label, codes = list(sets.items())[-1]
    if column is not None and (len(sets) == 1 or ratings.n_categories == 2):
        answers.append(({}, chain(*find_favours(ratings, codes, label, level))))
    if judged is not None:
        answers.append(({}, gold_labels.ask_judge(ratings, judged, sets, options, selected[0])))
        answers.append(({}, _warn_of_methods(stated, judged, ratings)))
    return collect(ratings, answers, options)


def _find_sets(ratings: Ratings, good: Sequence[str]) -> Sets:
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


def compare_methods() -> dict[str, str]:
    """Give the methods of `compare`, and what each does."""
    able = {MAJORITY: "the majority of the raters is taken for the truth"}
    listed = list_methods().values()
    able |= {method.name: method.summary for method in listed if method.base_rates is not None}
    return able | {name: judged.summary for name, judged in one_judge.METHODS.items()}


def _estimate_base_rates(name: str, ratings: Ratings, options: Options) -> BaseRates:
    """Estimate base rates by a method that needs no system."""
    estimate = estimate_by_majority if name == MAJORITY else find_method(name).base_rates
    if estimate is None:
        able = ", ".join(compare_methods())
        raise InputError(f"{name} needs a system", f"choose among {able}")
    rates = estimate(ratings.with_truth(None), seed=options.seed)
    return allow_for_clusters(rates, ratings, options.level)


def _ask_base_rates(
    ratings: Ratings, rates: BaseRates, sets: Sets, options: Options, order: Sequence[str]
) -> Answer:
    """Give base rates of each group; of one set of categories also ranks and differences.

    The order of the groups in differences is that of their ranks by the first method.
    """
    yield from (*rates.warnings, *warn_of_raters(ratings, rates))
    point, drawn = rates.base_rates, rates.drawn_base_rates
    if not one_judge.is_judged(ratings):
        point, drawn = (
            np.stack([values[..., codes].sum(axis=-1) for codes in sets.values()], axis=-1)
            for values in (point, drawn)
        )
    made: Row = {"kind": rates.kind, "corrected": rates.by_truths}
    versions = [(point, drawn, made)]
    correctable = count_truths(ratings) and not one_judge.is_judged(ratings)
    if correctable and not np.isnan(point).any():
        rng = make_rng(options.seed)
        point, drawn, doubts = _correct(ratings, rates.truth_probabilities, sets, drawn, rng)
        yield from doubts
        kind = RECALIBRATED if ratings.truth_probability is None else WEIGHTED
        versions.append((point, drawn, {"kind": kind, "corrected": True}))
    groups, sizes = ratings.populations, _count_items(ratings, rates)
    names, about = {"group": groups, "category": list(sets)}, {"grouping": "group"}
    for point, drawn, made in versions:
        made |= about | {"level": options.level}
        for rate in make_rows_of_draws("base_rates", drawn, point, names, **made):
            yield rate | {"n_items": sizes[rate["group"]]}
    yield from _count_gold_labels(ratings, sets)
    if len(sets) == 1 and len(groups) > 1:
        points, by_group = split_by_name(groups, point[:, 0]), split_by_name(groups, drawn[..., 0])
        made["category"], kind = next(iter(sets)), made.pop("kind")
        ranks = list(rank("base_rates", "group", points, by_group, **made))
        yield from ranks
        order = list(dict.fromkeys([*(order or [row["group"] for row in ranks]), *groups]))
        pairs = combinations(order, 2)
        yield from contrast("base_rates", "group", points, by_group, kind=kind, pairs=pairs, **made)
    yield from _ask_raters(ratings, rates, options.level)


def _count_items(ratings: Ratings, rates: BaseRates | None = None) -> dict[str, int]:
    """Count the items of each group; where one judge is believed, those with an answer."""
    counts = ratings.weights
    if rates is not None and one_judge.is_judged(ratings) and not rates.by_truths:
        counts = counts * (one_judge.find_answers(ratings) < ratings.n_categories)
    sizes = np.bincount(np.asarray(ratings.population), counts, len(ratings.populations))
    return dict(zip(ratings.populations, sizes.astype(int).tolist(), strict=True))


def _ask_raters(ratings: Ratings, rates: BaseRates, level: float) -> Answer:
    """Give the raters' accuracy, and their recall of each category."""
    made: Row = {"level": level, "kind": rates.kind}
    names = {"rater": list(ratings.raters)}
    if rates.rater_accuracy is not None and rates.drawn_rater_accuracy is not None:
        drawn, point = rates.drawn_rater_accuracy, rates.rater_accuracy
        yield from make_rows_of_draws("rater_accuracy", drawn, point, names, **made)
    if rates.confusion is not None and rates.drawn_recall is not None:
        recall = np.diagonal(rates.confusion, axis1=-2, axis2=-1)
        names["category"] = list(map(str, ratings.categories))
        yield from make_rows_of_draws("recall", rates.drawn_recall, recall, names, **made)


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
    ratings: Ratings, probabilities: Floats, sets: Sets, drawn: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats, list[Warning]]:
    """Recalibrate the probabilities in each group by its own gold labels."""
    point, corrected, p_values = np.empty(drawn.shape[1:]), np.empty_like(drawn), []
    truth = np.asarray(ratings.truth)
    for g, s in np.ndindex(point.shape):
        codes = list(sets.values())[s]
        rows = (ratings.population == g) & (ratings.weights > 0)
        probability = np.clip(probabilities[:, codes].sum(axis=1), 0.0, 1.0)
        items = collect_known(ratings, rows, probability, np.isin(truth, codes))
        variance, n = float(np.nanvar(drawn[:, g, s])), items.n_items
        posterior = correction.infer_proportion(items, variance)
        holding = n * rng.choice(posterior.values, len(drawn), p=posterior.probability)
        corrected[:, g, s] = rng.beta(holding + 0.5, n - holding + 0.5)
        point[g, s] = (n * posterior.mean + 0.5) / (n + 1)
        by_chance = items.mean * (1 - items.mean) / n + items.variance_of_proportion
        if items.n_known:
            p_values.append(correction.check_contradiction(items, max(0.0, variance - by_chance)))
    if min(p_values) * len(p_values) >= correction.SUSPICIOUS_P_VALUE:
        return point, corrected, []
    text = "the gold labels contradict the method; rely on the corrected proportions"
    return point, corrected, [warn("truths-contradict", text)]


def _warn_of_methods(
    stated: Sequence[Row], judged: one_judge.JudgedItems, ratings: Ratings
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
        yield from doubts.warn_of_raters(ratings)
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
