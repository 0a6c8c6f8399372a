"""Estimates of the accuracy of one or several systems, by one or several methods."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from lehner.core import lazy
from lehner.core.errors import InputError, check_level, find
from lehner.core.resampling import DoAll, do_here, with_progress
from lehner.core.results import Results
from lehner.core.text import pluralise
from lehner.data.columns import Label
from lehner.data.estimable import find_rated_rows, require_estimable
from lehner.data.ratings import Ratings
from lehner.dependence.check import check_dependence
from lehner.estimation import gold_labels
from lehner.estimation.collect import collect
from lehner.estimation.methods import DEFAULT_METHODS, Method, MethodLike, choose_methods
from lehner.estimation.questions import (
    OF_FITS,
    OF_RATINGS,
    RESAMPLES,
    Answer,
    Fit,
    Options,
    Question,
    ask_systems,
)
from lehner.known_truths.partly_known import weigh_labels
from lehner.latent_class.em import is_partly_labelled
from lehner.performance.measures import find_positive

if TYPE_CHECKING:
    from lehner.contrasts.groups import GroupColumn

by_column = lazy.load("lehner.contrasts.groups")

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
# With more systems than these, fits are as long as those of studies.
FEW_SYSTEMS = 4


def estimate(
    ratings: Ratings,
    methods: MethodLike | Iterable[MethodLike] | None = None,
    *,
    name: str = "ratings",
    level: float = 0.9,
    seed: int = 1,
    system_is: str = "unknown",
    priors: str | Path | None = None,
    earlier_studies: Mapping[str, Any] | None = None,
    model_priors: str | None = None,
    dependent: Sequence[str] | None = None,
    truths_in_model: bool = False,
    positive: Label | None = None,
    groups: "ArrayLike | GroupColumn | None" = None,
    populations: "ArrayLike | GroupColumn | None" = None,
    questions: Iterable[str | Question] = (),
    resamples: int = RESAMPLES,
    do_all: DoAll = do_here,
) -> Results:
    """Estimate the accuracy of the system, or of each system, by several methods.

    The result is what `lehner estimate` prints, as an object.

    Parameters
    ----------
    ratings : Ratings
        With one or more systems. Gold labels of some items correct each method's estimate; those
        that can be no random sample are weighted, see `known_truths.partly_known.weigh_labels`. Two
        systems are compared on the items that both answered, and ranked on those that all answered.
    methods : str, callable, Method, Estimate, or several of these, optional
        Names, as `lehner estimate --help` lists them, where "all" stands for all; functions
        `f(ratings, *, seed)` that return an `Estimate`, and take `level` too if they have
        intervals; texts "file.py:function", whose file is run as Python code; and estimates of one
        system that there are already, as `lehner.estimate_algebraic` gives them. By default
        "calibrated", "majority_agreement", "algebraic", "dawid_skene" and "relaxed_k".
    name : str
        Name of the data, for titles.
    level : float
        Probability of the intervals, between 0 and 1.
    seed : int
        The same seed gives the same numbers.
    system_is : {"like", "better", "unknown"}
        What is known of the system beside its raters: like them, better than them, or neither. The
        method "calibrated" then rests on crowds in which this was so.
    priors : str or Path, optional
        A file that `lehner train-prior` wrote, for the method "calibrated"; by default it rests on
        the crowds that are shipped.
    earlier_studies : mapping of str to array_like, str or Path, optional
        By the name of a rater or system: how many items of each true category (row) got each
        answer (column) in an earlier study with gold labels, or a file with this table. It enters
        the prior of the methods that can have it, "dawid_skene", where two of its items count as
        one (a power prior).
    model_priors : str, optional
        Name of a set of priors of the Bayesian models, as "flat"; by default each has its own.
    dependent : sequence of two str, optional
        Names of two raters, or of a rater and a system, who may share answers beyond what the true
        category explains, see `Ratings.with_dependent_pair`. The methods "dawid_skene" and
        "one_coin_by_rater" estimate how often; others estimate as without. By default the pair of
        the ratings.
    truths_in_model : bool
        Whether models are fitted to the gold labels, instead of being corrected by them.
    positive : str or int, optional
        Which of two categories is the positive one, for sensitivity, specificity, predictive values
        and likelihood ratios. By default it is guessed from the names, as "malignant" or "yes", or
        it is the category that raters give less often.
    groups : array_like of str, shape (n_rows,), optional
        To which group each row belongs: accuracies and differences are estimated for them.
    populations : array_like of str, shape (n_rows,), optional
        From which population each row is: in latent-class models, Bayesian or by maximum
        likelihood, each population has its own base rates. By default those of the ratings.
    questions : iterable of str or callable
        What is asked of the estimates: names in `lehner.estimation.estimate.QUESTIONS`, by default
        all; and, besides, questions of your own, `ask(fit, options)`, that yield rows: see
        `lehner.estimation.questions`.
    resamples : int
        Of the items, for what is derived from methods that have none of their own.
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
        If there is no system or no such method, or if the ratings cannot be estimated.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.load_dataset("lehner_table2")
    >>> results = lehner.estimate(ratings, ["majority_agreement", "algebraic"])
    >>> results.select(quantity="system_accuracy")["estimate"].round(3).tolist()
    [0.5, 0.804]
    """
    check_level(level)
    questions = list(questions)
    wanted = [question for question in questions if isinstance(question, str)]
    for question in wanted:
        find("question", question, dict.fromkeys(QUESTIONS))
    ratings, columns = _name_groups(ratings, groups, populations)
    options = Options(
        name=name,
        level=level,
        seed=seed,
        resamples=resamples if ratings.n_categories <= MANY_CATEGORIES else resamples // 2,
        positive=find_positive(ratings, positive),
        questions=wanted or QUESTIONS,
        truths_in_model=truths_in_model,
        chances_estimated=False,
        do_all=do_all,
        **columns,
    )
    methods = DEFAULT_METHODS if methods is None else methods
    if methods is DEFAULT_METHODS and gold_labels.is_only_labelled(ratings):
        return gold_labels.estimate_by_labels(ratings, options)
    require_estimable(ratings)
    _check_request(ratings, earlier_studies, model_priors)
    of_methods = {
        "system_is": system_is,
        "priors": priors,
        "model_priors": model_priors,
        "earlier_studies": earlier_studies,
        "dependent_pair": dependent,
        "shortly": len(ratings.systems) > FEW_SYSTEMS and not earlier_studies,
    }
    selected = choose_methods(methods, of_methods, level, seed)
    if not any(method.made for method in selected):
        ratings, options = _leave_out_unrated(ratings, options)
    if dependent is not None:
        ratings = ratings.with_dependent_pair(dependent)
    ratings, doubts = weigh_labels(ratings, in_model=truths_in_model)
    estimated = any(doubt.code == "truths-weighted" for doubt in doubts)
    options = replace(options, chances_estimated=estimated)
    fits = _fit_all(ratings, selected, options)
    own = {getattr(ask, "__name__", "own"): ask for ask in questions if callable(ask)}
    estimates = {names: fit.estimate for names, fit in fits.items()}
    answers = [*_ask_all(ratings, fits, options, own), ({"about": "data"}, doubts)]
    return collect(ratings, answers, options, estimates)


def _name_groups(
    ratings: Ratings,
    groups: "ArrayLike | GroupColumn | None",
    populations: "ArrayLike | GroupColumn | None",
) -> "tuple[Ratings, dict[str, GroupColumn]]":
    """Name the group and the population of each row."""
    columns: dict[str, GroupColumn] = {}
    if groups is not None:
        columns["groups"] = by_column.make_column(groups, ratings)
    if populations is not None or ratings.population is not None:
        columns["populations"] = by_column.make_column(populations, ratings, "population")
        ratings = ratings.with_populations(columns["populations"].names)
    return ratings, columns


def _check_request(
    ratings: Ratings, earlier_studies: Mapping[str, Any] | None, model_priors: str | None
) -> None:
    """Raise an InputError unless populations, earlier studies and priors are possible."""
    if ratings.population is not None:
        for system in ratings.systems:
            by_column.count_answers(ratings.select_system(system))
    for study in earlier_studies or ():
        find("rater or system", study, dict.fromkeys(map(str, ratings.all_raters)))
    if earlier_studies and model_priors:
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
        asked = not ON_DEPENDENCE.isdisjoint(options.questions)
        dependence = check_dependence(labelled) if asked else None
        for method in methods:
            parts.append({"ratings": labelled, "method": method, "dependence": dependence})
            told = "truths" in method.takes and is_partly_labelled(ratings)
            seen = labelled if told else unlabelled
            pieces.append(partial(method.estimate, seen))
    estimates = options.do_all(pieces)
    fits = [Fit(estimate=estimate, **part) for estimate, part in zip(estimates, parts, strict=True)]
    return {(fit.ratings.systems[0], fit.method.name): fit for fit in fits}


def _ask_all(
    ratings: Ratings,
    fits: Mapping[tuple[str, str], Fit],
    options: Options,
    own: Mapping[str, Question],
) -> list[tuple[dict[str, str], Answer]]:
    """Ask the questions, and say whose each answer is."""
    answers: list[tuple[dict[str, str], Answer]] = []
    first, general, last = (
        {name: ask for name, ask in asked.items() if name in options.questions}
        for asked in (FIRST, OF_FITS, LAST)
    )
    for system in with_progress("answers", ratings.systems):
        of_system = [fit for (name, _), fit in fits.items() if name == system]
        for about, ask in first.items():
            answers.append(({"system": system, "about": about}, ask(of_system[0], options)))
        for fit in of_system:
            of_method = fit.method.questions if OF_METHOD in options.questions else {}
            for name, ask in {**general, **of_method, **last, **own}.items():
                about = "" if name == "accuracy" else name
                whose = {"system": system, "method": fit.method.name, "about": about}
                answers.append((whose, ask(fit, options)))
    if "systems" in options.questions and len(ratings.systems) > 1:
        for method in dict.fromkeys(name for _, name in fits):
            of_systems = {system: fits[system, method] for system in ratings.systems}
            whose = {"method": method, "about": "systems"}
            answers.append((whose, ask_systems(of_systems, ratings, options)))
    return answers
