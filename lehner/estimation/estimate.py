"""Estimates of the accuracy of systems by several methods, and of groups of items without one."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.contrasts.contrast import contrast, pair_names, rank
from lehner.contrasts.favour import find_favours, find_favours_by_truths
from lehner.contrasts.groups import (
    FEW_ITEMS,
    GroupColumn,
    count_answers,
    make_column,
    warn_of_accuracy,
)
from lehner.core import errors
from lehner.core.arrays import Floats, make_rng
from lehner.core.errors import InputError, Warning, compose, find, list_few, warn
from lehner.core.estimate import Draws, Estimate, Row, tabulate_draws
from lehner.core.resampling import DoAll, Threaded, do_pieces, show_if_long, with_progress
from lehner.core.results import Results
from lehner.core.text import pluralise
from lehner.data import estimable
from lehner.data.columns import Label
from lehner.data.ratings import Ratings
from lehner.data.reading import to_names
from lehner.dependence.check import check_dependence
from lehner.estimation import gold_labels
from lehner.estimation.methods import (
    DEFAULT_METHODS,
    OWN_METHODS,
    Given,
    Method,
    MethodLike,
    choose_methods,
    describe_methods,
    find_method,
    gives,
    list_methods,
    require_takers,
)
from lehner.estimation.questions import (
    ANYTIME,
    OF_FITS,
    OF_RATINGS,
    RESAMPLES,
    Answer,
    Fit,
    Options,
    Question,
    ask_systems,
    sees_labels,
    warn_of_rare,
)
from lehner.estimation.summary import collect
from lehner.interrater.coefficients import warn_of_raters
from lehner.known_truths import correction, one_judge
from lehner.known_truths.one_judge import JudgedItems
from lehner.known_truths.partly_known import RECALIBRATED, WEIGHTED, collect_known, weigh_labels
from lehner.performance.measures import find_measure, find_positive
from lehner.performance.replicates import BY_REFERENCE, find_reference

NOTHING_GIVEN = Given()
# Questions about the ratings of a system, whatever the method.
FIRST = OF_RATINGS | {"data": gold_labels.ask_data}
# This question comes last, because it corrects the answers to the others.
LAST = {"known_truths": gold_labels.ask_known_truths}
# Stands for the questions that only some methods answer.
OF_METHOD = "of_method"
# All questions: these, and how systems differ by each method.
QUESTIONS = (*FIRST, *OF_FITS, OF_METHOD, *LAST, "systems")
# Above these there are half the resamples, each of which has a matrix of K × K cells.
MANY_CATEGORIES = 100
# Of several systems with more items than these relaxed_k is no default.
MANY_ITEMS = 5000
# With more systems than these, fits are as long as those of studies.
FEW_SYSTEMS = 4
# What the winner of a battle is called.
FIRST_OF_TWO = re.compile("(model|answer|response|assistant|output)[ _-]?[a1]", re.IGNORECASE)
ALL_ITEMS = "all items"
MOST_NAMED = 4

# Codes of the categories whose base rates are asked for together, by what they are called.
type Sets = Mapping[str, list[int]]


@show_if_long()
def estimate(
    ratings: Ratings,
    methods: MethodLike | Iterable[MethodLike] | None = None,
    *,
    level: float = 0.9,
    seed: int = 1,
    groups: ArrayLike | GroupColumn | None = None,
    by_measure: str | None = None,
    trend: bool | str = False,
    given: Given = NOTHING_GIVEN,
    questions: Iterable[str | Question] = (),
    do_all: DoAll = do_pieces,
    on_interrupt: Callable[[], Any] | None = None,
) -> Results:
    """Estimate the accuracy of the system, or of each system, by several methods.

    The result is what `lehner estimate` prints, as an object. In a terminal or a notebook, messages
    say how far fits are that take longer than five seconds. Without a system the result is that
    of `lehner.compare`: base rates, and the raters' accuracy.

    Parameters
    ----------
    ratings : Ratings
        With one or more systems, or none. Gold labels of some items correct each method's estimate;
        those that can be no random sample are weighted, see
        `known_truths.partly_known.weigh_labels`. Two systems are compared on the items that both
        answered, and ranked on those that all answered. Without raters, gold labels of some items
        alone tell the accuracy of systems.
    methods : str, callable, Method, or several of these, optional
        Names, as `lehner estimate --help` lists them, where "all" stands for all; functions
        `f(ratings, *, seed)` that return an `Estimate`, and take `level` too if they have
        intervals; and texts "file.py:function", whose file is run as Python code. By default
        "learned_prior", "majority_agreement", "algebraic", "dawid_skene" and "relaxed_k", the last
        for one system or up to 5,000 items. Without a system names, as `lehner.compare` takes them.
    level : float
        Probability of the intervals, between 0 and 1.
    seed : int
        The same seed gives the same numbers.
    groups : array_like of str, shape (n_rows,), optional
        To which group each row belongs: accuracies and differences are estimated for them.
    by_measure : str, optional
        By which measure systems, and groups, are compared besides the accuracy: "f1", "recall",
        "precision" or "specificity" of the positive one of two categories, of more categories their
        mean; "balanced_accuracy", "mcc", "kappa_with_truth"; or "weighted_loss" of ordered
        categories, of which the lowest is the best.
    trend : bool or "anytime"
        Whether it is asked how each system changes from the first group to the last: the rise of a
        straight line through all groups, see `lehner.contrasts.contrast.trend`. Groups are in the
        order of numbers, or of the alphabet. "anytime" gives the change of the accuracy in these
        items by gold labels alone, with an interval that is right however often you look while
        labels are drawn one by one, as `choose_items(..., in_turn=True)` does by the same seed.
    given : Given
        What is known or assumed beside the ratings, as priors, or which category is positive.
    questions : iterable of str or callable
        What is asked of the estimates: names in `lehner.estimation.estimate.QUESTIONS`, by default
        all; and, besides, questions of your own, `ask(fit, options)`, that yield rows: see
        `lehner.estimation.questions`.
    do_all : callable
        Has fits that do not depend on one another done: it takes functions without arguments, and
        gives their results in the same order. By default two threads share those of the methods of
        lehner itself, and the others are called one after another. Those that take long can be
        pickled for other processes.
    on_interrupt : callable, optional
        Called if Ctrl-C ends the fits of methods when some are done. These are kept, and the others
        have no estimate, but the warning "interrupted". By default KeyboardInterrupt is raised. If
        a `do_all` is given, too, it gets this as a second argument, and gives an exception for each
        fit that is not done.

    Returns
    -------
    Results
        `table` has a row for each number; `fits` what each method gave.

    Raises
    ------
    InputError
        If there is no such method, if no method takes something that is given, or if the ratings
        cannot be estimated.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.load_dataset("lehner_table2")
    >>> results = lehner.estimate(ratings, ["majority_agreement", "algebraic"])
    >>> results.select(quantity="system_accuracy")["estimate"].round(3).tolist()
    [0.5, 0.804]
    """
    errors.check_level(level)
    errors.check_whole_number("seed", seed, 0)
    questions = list(questions)
    wanted = [question for question in questions if isinstance(question, str)]
    for question in wanted:
        find("question", question, dict.fromkeys(QUESTIONS))
    ratings, of_groups, of_populations = _name_groups(ratings, groups, given.populations)
    options = Options(
        level=level,
        seed=seed,
        resamples=RESAMPLES if ratings.n_categories <= MANY_CATEGORIES else RESAMPLES // 2,
        questions=wanted or QUESTIONS,
        truths_in_model=given.truths_in_model,
        groups=of_groups,
        populations=of_populations,
        do_all=do_all,
        on_interrupt=on_interrupt,
    )
    _check_compared(ratings, by_measure, groups is not None, trend)
    if not ratings.systems:
        options = replace(options, groups=options.groups or options.populations, populations=None)
        _check_request(ratings, given)
        ratings, answers = _ask_groups_alone(ratings, methods, options, given)
        return collect(ratings, answers, options)
    options = replace(options, positive=find_positive(ratings, given.positive), with_trend=trend)
    options = replace(options, measure=find_measure(by_measure, ratings, options.positive))
    further: gold_labels.Answers = [({}, warn_of_rare(ratings, options))]
    if trend == ANYTIME:
        further += gold_labels.follow_trends(ratings, methods, options)
    by_one = given.reference is not None or len(ratings.populations) > 1
    needs_raters = by_one or given.list_options() or given.truths_in_model
    alone = gold_labels.is_only_labelled(ratings) and not (needs_raters and ratings.n_raters)
    by_labels = methods == gold_labels.METHOD and estimable.count_truths(ratings)
    if trend == ANYTIME or by_labels or (methods is None and alone):
        ratings = gold_labels.leave_out_raters(ratings)
        answers, estimates = gold_labels.ask_labels_alone(ratings, options)
        return collect(ratings, [*answers, *further], options, estimates)
    estimable.require_estimable(ratings, by_one=by_one)
    _check_request(ratings, given)
    if given.reference is not None:
        known: Any = find_reference(ratings, given.reference, options.positive)
        given = replace(given, reference=known)
    if methods is None:
        ratings, methods = _choose_defaults(ratings, given)
    shortly = len(ratings.systems) > FEW_SYSTEMS and not given.earlier_studies
    selected = choose_methods(methods, given, level=level, seed=seed, shortly=shortly)
    ratings, options = _leave_out_unrated(ratings, options)
    ratings, doubts = weigh_labels(ratings, in_model=given.truths_in_model)
    weighted = any(doubt.code == "truths-weighted" for doubt in doubts)
    options = replace(options, chances_estimated=weighted)
    fits = _fit_all(ratings, selected, options)
    answers = _ask_all(ratings, fits, options, [ask for ask in questions if callable(ask)])
    answers += [*further, ({"about": "data"}, [*doubts, *gold_labels.warn_of_unnamed(ratings)])]
    return collect(ratings, answers, options, {names: fit.estimate for names, fit in fits.items()})


def compare(
    ratings: Ratings,
    good: Label | Sequence[Label] | None = None,
    groups: ArrayLike | GroupColumn | None = None,
    methods: str | Sequence[str] | None = None,
    *,
    level: float = 0.9,
    seed: int = 1,
    given: Given = NOTHING_GIVEN,
    on_interrupt: Callable[[], Any] | None = None,
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
        "dawid_skene" ("pooled_ml" if it is unknown who gave which rating) and "majority"; with gold
        labels of some items "post_stratified" before them, and of one rater, a judge, all methods
        in `lehner.known_truths.one_judge`.
    level : float
        Probability of the intervals, between 0 and 1.
    seed : int
        The same seed gives the same numbers.
    given : Given
        Its `earlier_studies` are priors of the raters, by the method "dawid_skene".
    on_interrupt : callable, optional
        As of `lehner.estimate`.

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
    >>> import numpy as np
    >>> scenario = lehner.Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3)
    >>> ratings = lehner.simulate(scenario, 1).with_truth(None)
    >>> results = compare(ratings, "A", np.repeat(["x", "y"], 100), "majority")
    >>> results.select(quantity="base_rates_rank")[["group", "estimate"]].values.tolist()
    [['y', 1.0], ['x', 2.0]]
    """
    items = ratings.without_system()
    given = replace(given, positive=good)
    asked: dict[str, Any] = {"level": level, "seed": seed, "on_interrupt": on_interrupt}
    return estimate(items, methods, groups=groups, given=given, **asked)


def _name_groups(
    ratings: Ratings,
    groups: ArrayLike | GroupColumn | None,
    populations: ArrayLike | GroupColumn | None,
) -> tuple[Ratings, GroupColumn | None, GroupColumn | None]:
    """Name the group and the population of each row."""
    column = None if groups is None else make_column(groups, ratings)
    if populations is None and ratings.population is None:
        return ratings, column, None
    named = make_column(populations, ratings, "population")
    return ratings.with_populations(named.names), column, named


def _check_compared(
    ratings: Ratings, by_measure: str | None, grouped: bool, trend: bool | str
) -> None:
    """Raise an InputError if there is nothing to compare by a measure, or no groups for a trend."""
    find("trend", str(trend), dict.fromkeys(("False", "True", ANYTIME)))
    if not ratings.systems and (by_measure or trend):
        problem = "a measure, or a trend, is of a system, and there is none"
        raise InputError(problem, compose("name it with {system}"))
    if trend and not grouped:
        raise InputError("a trend is over groups, and there are none", "name their column")
    if by_measure and not grouped and len(ratings.systems) < 2:
        problem = f"there is one system, which has nothing to be compared with by {by_measure}"
        raise InputError(problem, "name another system, or groups")


def _choose_defaults(ratings: Ratings, given: Given) -> tuple[Ratings, Sequence[str]]:
    """Choose methods where none is named: of one rater, those that can do with one.

    What takes minutes for several systems is left out, which a note says.
    """
    if given.reference is not None:
        return ratings, (BY_REFERENCE, "majority_agreement")
    if ratings.n_raters < 2:
        return ratings, ("dawid_skene", "dawid_skene_ml")
    if len(ratings.systems) == 1 or ratings.n_rows <= MANY_ITEMS:
        return ratings, DEFAULT_METHODS
    text = compose("relaxed_k takes minutes with so many items: ask for it ({method=relaxed_k})")
    ratings = ratings.replace(reading_notes=(text, *ratings.reading_notes))
    return ratings, DEFAULT_METHODS[:-1]


def _check_request(ratings: Ratings, given: Given) -> None:
    """Raise an InputError unless populations, earlier studies and priors are possible."""
    if ratings.population is not None:
        for system in ratings.systems:
            count_answers(ratings.select_system(system))
    for study in given.earlier_studies or ():
        find("rater or system", study, dict.fromkeys(map(str, ratings.all_raters)))
    if given.model_priors and not ratings.systems:
        raise InputError("model_priors are for the accuracy of a system", "name a system")
    if given.earlier_studies and given.model_priors:
        raise InputError("earlier_studies and model_priors both are priors", "give one of them")


def _leave_out_unrated(ratings: Ratings, options: Options) -> tuple[Ratings, Options]:
    """Leave out the items that no rater rated, and note how many they are."""
    rows = estimable.find_rated_rows(ratings)
    n = int(ratings.weights[~rows].sum())
    if not n or not rows.any():
        return ratings, options
    which = "which no rater rated, are" if n > 1 else "which no rater rated, is"
    text = f"{n} of {pluralise(ratings.n_items, 'item')}, {which} left out of all estimates"
    kept = {
        name: replace(column, names=column.names[rows])
        for name in ("groups", "populations")
        if (column := getattr(options, name)) is not None
    }
    ratings = ratings.take(rows).note(text)
    return ratings, replace(options, **kept)


def _fit_all(
    ratings: Ratings, methods: Sequence[Method], options: Options
) -> dict[tuple[str, str], Fit]:
    """Have every method estimate every system, from what it may see of the ratings."""
    parts: list[dict[str, Any]] = []
    pieces = []
    for system in with_progress("systems", ratings.systems):
        labelled = ratings.select_system(system)
        unlabelled = labelled.with_truth(None)
        dependence = check_dependence(labelled) if labelled.n_raters > 1 else None
        for method in methods:
            parts.append({"ratings": labelled, "method": method, "dependence": dependence})
            seen = labelled if sees_labels(method, ratings, options) else unlabelled
            # Other packages' and users' functions may have threads, or need to be alone.
            make = Threaded if method.name in OWN_METHODS else partial
            pieces.append(make(method.fit, seen))
    kept = () if options.on_interrupt is None else (options.on_interrupt,)
    fits = {}
    for part, estimate in zip(parts, options.do_all(pieces, *kept), strict=True):
        key = part["ratings"].systems[0], part["method"].name
        if isinstance(estimate, BaseException):
            estimate = Estimate(method=key[1], system=key[0], warnings=(warn_of_stop(estimate),))
        fits[key] = Fit(estimate=estimate, **part)
    return fits


def warn_of_stop(error: BaseException) -> Warning:
    """Warn that a fit was not done when this ended the fits."""
    return warn("interrupted", str(error) or "it was not done before Ctrl-C; run again")


def _ask_all(
    ratings: Ratings,
    fits: Mapping[tuple[str, str], Fit],
    options: Options,
    more: Sequence[Question],
) -> gold_labels.Answers:
    """Ask the questions, and say whose each answer is."""
    answers: gold_labels.Answers = []
    first, general, last = (
        {name: ask for name, ask in listed.items() if name in options.questions}
        for listed in (FIRST, OF_FITS, LAST)
    )
    of_user = {getattr(ask, "__name__", "own"): ask for ask in more}
    for system in ratings.systems:
        of_system = [fit for (name, _), fit in fits.items() if name == system]
        for name, ask in first.items():
            answers.append(({"system": system, "about": name}, ask(of_system[0], options)))
        for fit in of_system:
            of_method = fit.method.questions if OF_METHOD in options.questions else {}
            asked = {**general, **of_method, **last, **of_user}
            if fit.was_stopped:
                asked = {name: ask for name, ask in asked.items() if name == "accuracy"}
            for name, ask in asked.items():
                topic = "" if name == "accuracy" else name
                described = {"system": system, "method": fit.method.name, "about": topic}
                answers.append((described, ask(fit, options)))
    if "systems" in options.questions and len(ratings.systems) > 1:
        for method in dict.fromkeys(name for _, name in fits):
            of_systems = {system: fits[system, method] for system in ratings.systems}
            described = {"method": method, "about": "systems"}
            if not any(fit.was_stopped for fit in of_systems.values()):
                answers.append((described, ask_systems(of_systems, ratings, options)))
    return answers


def _ask_groups_alone(
    ratings: Ratings, methods: Any, options: Options, given: Given
) -> tuple[Ratings, gold_labels.Answers]:
    """Estimate base rates of groups of items without a system, and compare them.

    Parameters
    ----------
    ratings : Ratings
        Without a system.
    methods : str or sequence of str, optional
        Names; by default those that `compare` names.
    options : Options
        With groups, if there are any.
    given : Given
        What is known beside the ratings. Its positive categories count together; if there are none,
        each category is asked for alone.

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
    sets, one = find_sets(ratings, to_names(given.positive)), one_judge.is_judged(ratings)
    warnings, items = list[Warning](), None
    if not one:
        ratings, warnings = weigh_labels(ratings)
    defaults = ["pooled_ml" if ratings.anonymous else "dawid_skene", "majority"]
    if estimable.count_truths(ratings):
        items = one_judge.count_judged(ratings, options.level)
        of_judges = list(list_methods("judge"))
        defaults = of_judges if one else [of_judges[0], *defaults]
    if one and items is not None:
        warnings = list(gold_labels.warn_of_answers(ratings, items, ratings.raters[0]))
    names_of_methods = list(dict.fromkeys(to_names(methods) or defaults))
    taken = given.list_options()
    require_takers(list(map(find_method, names_of_methods)), taken)
    answers: gold_labels.Answers = [({}, [*warnings, *_warn_of_data(ratings, column)])]
    order, rows = list[str](), list[Row]()
    asked: tuple[Any, ...] = ratings, items, sets, options, taken
    pieces = [partial(_draw_base_rates, method, *asked) for method in names_of_methods]
    drawn = do_pieces(pieces, options.on_interrupt)
    for method, draws in zip(names_of_methods, drawn, strict=True):
        answer = list(_ask_base_rates(ratings, draws, sets, options, order))
        answers.append(({"method": method}, answer))
        of_method = [part for part in answer if not isinstance(part, Warning)]
        rows += [part | {"method": method} for part in of_method]
        order = order or [x["group"] for x in rows if x["quantity"] == "base_rates_rank"]
    label, codes = list(sets.items())[-1]
    if column is not None and (len(sets) == 1 or ratings.n_categories == 2):
        asked = ratings, codes, label, options.level
        found = [find_favours(*asked)]
        if items is not None and not one:
            found.append(find_favours_by_truths(*asked, seed=options.seed))
        answers += [({}, chain(*parts)) for parts in found]
    if one and items is not None:
        asked = ratings, items, sets, options, names_of_methods[0]
        answers.append(({}, gold_labels.ask_judge(*asked)))
    if items is not None:
        answers.append(({}, _warn_of_methods(rows, items, ratings)))
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
    if ratings.n_raters == 1 and not estimable.count_truths(ratings):
        remedy = compose("give two or more, or gold labels of some items ({truth})")
        raise InputError("there is 1 rater", remedy)
    for first in filter(FIRST_OF_TWO.fullmatch, map(str, ratings.categories)):
        problem = f"the ratings say who won, so that the proportion of {first!r} is how often the "
        problem += "first of two answers won, whichever model gave it"
        way = "rank the models by a Bradley-Terry model; if one is always the first, name it"
        raise InputError(problem, compose("{} ({labels})", way))
    if not one_judge.is_judged(ratings):
        estimable.require_pairs(ratings)


def _draw_base_rates(
    name: str,
    ratings: Ratings,
    items: JudgedItems | None,
    sets: Sets,
    options: Options,
    given: Mapping[str, Any],
) -> Draws:
    """Estimate base rates by a method that needs no system; by a judge's those of each set."""
    method, several = find_method(name), ratings.n_raters > 1
    if items is not None and gives(method, "judge"):
        return method.functions["judge"](items, ratings, sets, seed=options.seed)
    if several and gives(method, "populations"):
        taken = {option: given[option] for option in given if option in method.takes}
        taken |= {"level": options.level, "seed": options.seed}
        return method.functions["populations"](ratings.with_truth(None), **taken)
    needs = {"populations": "several raters", "judge": "gold labels"}
    needed = next((what for able, what in needs.items() if gives(method, able)), "a system")
    able = [*["populations"] * several, *["judge"] * (items is not None)]
    choice = ", ".join(describe_methods(*able))
    raise InputError(f"{name} needs {needed}", f"choose among {choice}")


def _ask_base_rates(
    ratings: Ratings, draws: Any, sets: Sets, options: Options, order: Sequence[str]
) -> Answer:
    """Give base rates of each group; of one set of categories also ranks and differences.

    Instead of draws there may be the exception that ended the fits.
    The order of the groups in differences is that of their ranks by the first method.
    """
    if isinstance(draws, BaseException):
        yield warn_of_stop(draws)
        for group in ratings.populations:
            yield {"quantity": "base_rates", "grouping": "group", "group": group}
        return
    yield from (*draws.warnings, *warn_of_accuracy(ratings, draws))
    groups, truth = ratings.populations, draws.point.get("truth_probabilities")
    # Methods that rest on judges say nothing of single items, and give base rates of sets.
    rates = draws if truth is None else _join_categories(draws, sets)
    versions = [rates]
    known = estimable.count_truths(ratings) > 0
    if known and truth is not None and not np.isnan(rates.point["base_rates"]).any():
        versions.append(_correct(ratings, truth, sets, rates, make_rng(options.seed)))
        yield from versions[-1].warnings
    sizes = _count_items(ratings, answered=truth is None and not draws.corrected)
    for version in versions:
        columns: Row = {"level": options.level, "corrected": version.corrected, "grouping": "group"}
        for part in tabulate_draws(version, "base_rates", **columns):
            yield part | {"n_items": sizes[part["group"]]}
    yield from _count_gold_labels(ratings, sets)
    if len(sets) == 1 and len(groups) > 1:
        of_groups = groups, version.point["base_rates"][:, 0], version.drawn["base_rates"][..., 0]
        columns["category"] = next(iter(sets))
        ranks = list(rank("base_rates", "group", *of_groups, **columns))
        yield from ranks
        order = list(dict.fromkeys([*(order or [part["group"] for part in ranks]), *groups]))
        columns |= {"kind": version.kind, "pairs": pair_names(order, order[0])}
        yield from contrast("base_rates", "group", *of_groups, **columns)
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
    rows: Sequence[Row], items: JudgedItems, ratings: Ratings
) -> Iterator[Warning]:
    """Warn of disjoint intervals of corrected base rates, and say of what intervals are."""
    rates = [x for x in rows if x["quantity"] == "base_rates" and x["corrected"]]
    apart = [
        f"{first['method']} and {second['method']} in {first['group']}"
        for first, second in combinations([x for x in rates if x["lower"] is not None], 2)
        if (first["group"], first["category"]) == (second["group"], second["category"])
        if first["lower"] > second["upper"] or second["lower"] > first["upper"]
    ]
    if apart:
        which = list_few(dict.fromkeys(apart), MOST_NAMED)
        text = f"methods have intervals without a common number: {which}"
        yield warn("methods-disagree", text)
    labelled = ((items.labelled >= 1) | (items.answers == 0)).all(axis=1)
    if labelled.any():
        of = f" of {list_few(np.array(ratings.populations)[labelled], MOST_NAMED)}"
        text = f"all items{'' if labelled.all() else of} have a gold label: their proportions are "
        text += "known, and intervals are of other items like these"
        yield warn("proportions-known", text)


def _warn_of_data(ratings: Ratings, column: GroupColumn | None) -> Iterator[Warning]:
    """Warn of what concerns every method."""
    names = ratings.populations
    if not one_judge.is_judged(ratings):
        dependence = check_dependence(ratings)
        yield from (*dependence.list_warnings(), *dependence.warn_of_estimates())
        yield from warn_of_raters(ratings)
        yield from estimable.warn_of_clusters(ratings, "accuracies of raters by Bayesian models")
    if column is not None and len(names) == 1:
        yield warn("groups-small", f"{names[0]!r} is the only group: there is nothing to compare")
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
