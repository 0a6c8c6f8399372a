"""Estimates of the accuracy of systems by several methods, and of groups of items without one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from lehner.contrasts.groups import GroupColumn, count_answers, make_column
from lehner.core.errors import InputError, check_level, check_whole_number, compose, find
from lehner.core.estimate import Estimate
from lehner.core.resampling import DoAll, do_here, show_if_long, with_progress
from lehner.core.results import Results
from lehner.core.text import pluralise
from lehner.data.columns import Label
from lehner.data.estimable import find_rated_rows, is_partly_labelled, require_estimable
from lehner.data.ratings import Ratings
from lehner.data.reading import to_names
from lehner.dependence.check import check_dependence
from lehner.estimation import gold_labels
from lehner.estimation.compare import ask_groups_alone
from lehner.estimation.methods import DEFAULT_METHODS, Given, Method, MethodLike, choose_methods
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
    warn_of_rare,
)
from lehner.estimation.summary import collect
from lehner.known_truths.partly_known import weigh_labels
from lehner.performance.measures import find_measure, find_positive
from lehner.performance.replicates import BY_REFERENCE, find_reference

NOTHING_GIVEN = Given()
# Questions about the ratings of a system, whatever the method.
FIRST = OF_RATINGS | {"data": gold_labels.ask_data}
# This question comes last, because it corrects the answers to the others.
LAST = {"known_truths": gold_labels.ask_known_truths}
# Questions whose answers need to know which raters make correlated errors.
ON_DEPENDENCE = {"agreement", "accuracy"}
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


@show_if_long()
def estimate(
    ratings: Ratings,
    methods: MethodLike | Iterable[MethodLike] | None = None,
    *,
    level: float = 0.9,
    seed: int = 1,
    positive: Label | Sequence[Label] | None = None,
    groups: ArrayLike | GroupColumn | None = None,
    populations: ArrayLike | GroupColumn | None = None,
    by_measure: str | None = None,
    trend: bool | str = False,
    given: Given = NOTHING_GIVEN,
    questions: Iterable[str | Question] = (),
    do_all: DoAll = do_here,
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
    methods : str, callable, Method, Estimate, or several of these, optional
        Names, as `lehner estimate --help` lists them, where "all" stands for all; functions
        `f(ratings, *, seed)` that return an `Estimate`, and take `level` too if they have
        intervals; texts "file.py:function", whose file is run as Python code; and estimates of one
        system that there are already, as `lehner.estimate_algebraic` gives them. By default
        "learned_prior", "majority_agreement", "algebraic", "dawid_skene" and "relaxed_k", the last
        for one system or up to 5,000 items. Without a system names, as `lehner.compare` takes them.
    level : float
        Probability of the intervals, between 0 and 1.
    seed : int
        The same seed gives the same numbers.
    positive : str or int, optional
        Which of two categories is the positive one, for sensitivity, specificity, predictive values
        and likelihood ratios. By default it is guessed from the names, as "malignant" or "yes", or
        it is the category that raters give less often. Without a system it is `good` of
        `lehner.compare`.
    groups : array_like of str, shape (n_rows,), optional
        To which group each row belongs: accuracies and differences are estimated for them.
    populations : array_like of str, shape (n_rows,), optional
        From which population each row is: in latent-class models, Bayesian or by maximum
        likelihood, each population has its own base rates. By default those of the ratings.
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
        What is known or assumed beside the ratings, as priors.
    questions : iterable of str or callable
        What is asked of the estimates: names in `lehner.estimation.estimate.QUESTIONS`, by default
        all; and, besides, questions of your own, `ask(fit, options)`, that yield rows: see
        `lehner.estimation.questions`.
    do_all : callable
        Has fits that do not depend on one another done: it takes functions without arguments, and
        gives their results in the same order. By default they are called one after another. Those
        that take long can be pickled for other processes.

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
    check_level(level)
    check_whole_number("seed", seed, 0)
    questions = list(questions)
    wanted = [question for question in questions if isinstance(question, str)]
    for question in wanted:
        find("question", question, dict.fromkeys(QUESTIONS))
    ratings, of_groups, of_populations = _name_groups(ratings, groups, populations)
    options = Options(
        level=level,
        seed=seed,
        resamples=RESAMPLES if ratings.n_categories <= MANY_CATEGORIES else RESAMPLES // 2,
        questions=wanted or QUESTIONS,
        truths_in_model=given.truths_in_model,
        groups=of_groups,
        populations=of_populations,
        do_all=do_all,
    )
    _check_compared(ratings, by_measure, groups is not None, trend)
    if not ratings.systems:
        options = replace(options, groups=options.groups or options.populations, populations=None)
        _check_request(ratings, given)
        ratings, answers = ask_groups_alone(ratings, methods, to_names(positive), options, given)
        return collect(ratings, answers, options)
    options = replace(options, positive=find_positive(ratings, positive), with_trend=trend)
    options = replace(options, measure=find_measure(by_measure, ratings, options.positive))
    further: list[tuple[dict[str, str], Answer]] = [({}, warn_of_rare(ratings, options))]
    if trend == ANYTIME:
        further += gold_labels.follow_trends(ratings, methods, options)
    by_one = given.reference is not None or len(ratings.populations) > 1
    by_labels = methods in (None, gold_labels.METHOD) and gold_labels.is_only_labelled(ratings)
    if trend == ANYTIME or (by_labels and not (by_one and ratings.n_raters)):
        ratings = gold_labels.leave_out_rater(ratings)
        answers, estimates = gold_labels.ask_labels_alone(ratings, options)
        return collect(ratings, [*answers, *further], options, estimates)
    require_estimable(ratings, by_one=by_one)
    _check_request(ratings, given)
    if given.reference is not None:
        known: Any = find_reference(ratings, given.reference, options.positive)
        given = replace(given, reference=known)
    if methods is None:
        ratings, methods = _choose_defaults(ratings, given)
    if isinstance(methods, str) or not isinstance(methods, Iterable):
        methods = [methods]
    methods, shortly = list(methods), len(ratings.systems) > FEW_SYSTEMS
    shortly = shortly and not given.earlier_studies
    selected = choose_methods(methods, given, level=level, seed=seed, shortly=shortly)
    if not any(isinstance(method, Estimate) for method in methods):
        ratings, options = _leave_out_unrated(ratings, options)
    ratings, doubts = weigh_labels(ratings, in_model=given.truths_in_model)
    weighted = any(doubt.code == "truths-weighted" for doubt in doubts)
    options = replace(options, chances_estimated=weighted)
    fits = _fit_all(ratings, selected, options)
    answers = _ask_all(ratings, fits, options, [ask for ask in questions if callable(ask)])
    answers += [*further, ({"about": "data"}, doubts)]
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
    >>>     >>> scenario = lehner.Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3)
    >>> ratings = lehner.simulate(scenario, 1).with_truth(None)
    >>> results = compare(ratings, "A", np.repeat(["x", "y"], 100), "majority")
    >>> results.select(quantity="base_rates_rank")[["group", "estimate"]].values.tolist()
    [['y', 1.0], ['x', 2.0]]
    """
    items = ratings.without_system()
    asked: dict[str, Any] = {"level": level, "seed": seed, "given": given}
    return estimate(items, methods, positive=good, groups=groups, **asked)


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
    rows = find_rated_rows(ratings)
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
        unlabelled = labelled if options.truths_in_model else labelled.with_truth(None)
        doubted = not ON_DEPENDENCE.isdisjoint(options.questions)
        doubted = doubted and labelled.n_raters > 1
        dependence = check_dependence(labelled) if doubted else None
        for method in methods:
            parts.append({"ratings": labelled, "method": method, "dependence": dependence})
            uses_labels = "truths" in method.takes and is_partly_labelled(ratings)
            seen = labelled if uses_labels else unlabelled
            pieces.append(partial(method.fit, seen))
    estimates = options.do_all(pieces)
    fits = [Fit(estimate=estimate, **part) for estimate, part in zip(estimates, parts, strict=True)]
    return {(fit.ratings.systems[0], fit.method.name): fit for fit in fits}


def _ask_all(
    ratings: Ratings,
    fits: Mapping[tuple[str, str], Fit],
    options: Options,
    more: Sequence[Question],
) -> list[tuple[dict[str, str], Answer]]:
    """Ask the questions, and say whose each answer is."""
    answers: list[tuple[dict[str, str], Answer]] = []
    first, general, last = (
        {name: ask for name, ask in listed.items() if name in options.questions}
        for listed in (FIRST, OF_FITS, LAST)
    )
    of_user = {getattr(ask, "__name__", "own"): ask for ask in more}
    for system in with_progress("answers", ratings.systems):
        of_system = [fit for (name, _), fit in fits.items() if name == system]
        for name, ask in first.items():
            answers.append(({"system": system, "about": name}, ask(of_system[0], options)))
        for fit in of_system:
            of_method = fit.method.questions if OF_METHOD in options.questions else {}
            for name, ask in {**general, **of_method, **last, **of_user}.items():
                topic = "" if name == "accuracy" else name
                described = {"system": system, "method": fit.method.name, "about": topic}
                answers.append((described, ask(fit, options)))
    if "systems" in options.questions and len(ratings.systems) > 1:
        for method in dict.fromkeys(name for _, name in fits):
            of_systems = {system: fits[system, method] for system in ratings.systems}
            described = {"method": method, "about": "systems"}
            answers.append((described, ask_systems(of_systems, ratings, options)))
    return answers
