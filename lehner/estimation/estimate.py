"""Estimates of the accuracy of one or several systems, by one or several methods."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from lehner.contrasts.groups import GroupColumn, Groups, count_answers
from lehner.core.errors import InputError, check_level, check_probability, find
from lehner.core.estimate import require_systems
from lehner.core.progress import DoAll, do_here
from lehner.core.rows import Row
from lehner.core.text import counted
from lehner.core.warning import Warning
from lehner.data.categories import Label
from lehner.data.ratings import Ratings
from lehner.data.votes import rated_rows
from lehner.estimation.accuracy import ask_accuracy, ask_sensitivity
from lehner.estimation.annotators import ask_annotators
from lehner.estimation.details import ask_performance, ask_raters
from lehner.estimation.earlier_studies import read_studies
from lehner.estimation.groups import (
    ask_groups,
    ask_populations,
    ask_rater_groups,
    column_of,
    population_names,
)
from lehner.estimation.known_truths import ask_known_truths
from lehner.estimation.methods import (
    DEFAULT_METHODS,
    Method,
    MethodLike,
    find_methods,
    list_methods,
)
from lehner.estimation.methods_compared import ask_methods
from lehner.estimation.models import (
    ask_dependent_pair,
    ask_earlier_studies,
    ask_k_properties,
    ask_slopes,
)
from lehner.estimation.one_judge import estimate_by_labels, is_only_labelled
from lehner.estimation.question import RESAMPLES, Answer, Fit, Options, Question
from lehner.estimation.ratings_rows import ask_agreement, ask_bounds, ask_known_items
from lehner.estimation.results import Results, merge_warnings, tabulate
from lehner.estimation.systems import Systems, ask_systems
from lehner.performance.positive import find_positive

OF_A_SYSTEM: dict[str, Callable[[Sequence[Fit], Options], Answer]] = {
    "agreement": ask_agreement,
    "bounds": ask_bounds,
    "annotators": ask_annotators,
    "data": ask_known_items,
}
"""Questions that are asked of all fits of a system together."""
OF_A_FIT: dict[str, Question] = {
    "accuracy": ask_accuracy,
    "details": ask_performance,
    "raters": ask_raters,
    "groups": ask_groups,
    "populations": ask_populations,
    "rater_groups": ask_rater_groups,
    "sensitivity": ask_sensitivity,
    "slopes": ask_slopes,
    "k_properties": ask_k_properties,
    "earlier_studies": ask_earlier_studies,
    "dependent_pair": ask_dependent_pair,
    "known_truths": ask_known_truths,
}
"""Questions that are asked of each fit."""
QUESTIONS = (*OF_A_SYSTEM, *OF_A_FIT, "predictions", "systems")
"""All questions: these, how methods of a system differ, and how systems do by each method."""
FEW_SYSTEMS = 4
"""With more systems than these, fits are as long as those of studies."""


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
    study_weight: float = 0.5,
    model_priors: str | None = None,
    dependent: Sequence[str] | None = None,
    truths_in_model: bool = False,
    sensitivity: bool = False,
    systems_rate: bool = False,
    positive: Label | None = None,
    groups: ArrayLike | GroupColumn | None = None,
    populations: ArrayLike | GroupColumn | None = None,
    rater_groups: Mapping[str, str] | None = None,
    questions: Iterable[str | Question] = (),
    resamples: int = RESAMPLES,
    do_all: DoAll = do_here,
) -> Results:
    """Estimate the accuracy of the system, or of each system, by several methods.

    The result is what `lehner estimate` prints, as an object.

    Parameters
    ----------
    ratings : Ratings
        With one or more systems. Gold labels of some items correct each method's estimate. Two
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
        By the name of a rater or system: what an earlier study with gold labels found, as
        `read_studies` takes it. It enters the prior of the methods that can have it, "dawid_skene".
    study_weight : float
        How much an item of an earlier study counts, from 0 (it is ignored) to 1: the exponent of a
        power prior.
    model_priors : str, optional
        Name of a set of priors of the Bayesian models, as "flat"; by default each has its own.
    dependent : sequence of two str, optional
        Names of two raters, or of a rater and a system, who may share answers beyond what the true
        category explains, see `Ratings.with_dependent_pair`. The methods "dawid_skene" and
        "one_coin_by_rater" estimate how often; others estimate as without. By default the pair of
        the ratings.
    truths_in_model : bool
        Whether models are fitted to the gold labels, instead of being corrected by them.
    sensitivity : bool
        Whether `relaxed_k` is fitted twice more, with the system's slope on difficulty at 0 and 1.
    systems_rate : bool
        Whether the other systems serve as raters of each system. This assumes that systems err
        independently of one another, as raters do.
    positive : str or int, optional
        Which of two categories is the positive one, for sensitivity, specificity, predictive values
        and likelihood ratios. By default it is guessed from the names, as "malignant" or "yes", or
        it is the category that raters give less often.
    groups : array_like of str, shape (n_rows,), optional
        To which group each row belongs: accuracies and differences are estimated for them.
    populations : array_like of str, shape (n_rows,), optional
        From which population each row is: in latent-class models, Bayesian or by maximum
        likelihood, each population has its own base rates. By default those of the ratings.
    rater_groups : mapping of str to str, optional
        From the name of a rater to that of its group: accuracies of groups of raters, and their
        differences, are estimated, and some models draw raters toward their group, see
        `Ratings.with_rater_groups`. By default the groups of the ratings.
    questions : iterable of str or callable
        What is asked of the estimates: names in `lehner.estimation.estimate.QUESTIONS`, by default
        all; and, besides, questions of your own, `ask(fit, options)`, that yield rows: see
        `lehner.estimation.question`.
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
    for question in questions:
        if isinstance(question, str):
            find("question", question, dict.fromkeys(QUESTIONS))
    of_rows = population_names(ratings) if populations is None else populations
    options = Options(
        name=name,
        level=level,
        seed=seed,
        resamples=resamples,
        positive=find_positive(ratings, positive),
        groups=column_of(groups, ratings, "group"),
        populations=column_of(of_rows, ratings, "population"),
        systems_rate=systems_rate,
    )
    if options.populations is not None:
        ratings = ratings.with_populations(options.populations.names)
    if is_only_labelled(ratings) and methods in (None, DEFAULT_METHODS):
        return estimate_by_labels(ratings, options)
    _require_answers(ratings)
    of_methods: dict[str, Any] = {
        "system_is": system_is,
        "priors": priors,
        "model_priors": model_priors,
        "earlier_studies": earlier_studies and read_studies(earlier_studies, ratings, positive),
        "study_weight": check_probability("study_weight", study_weight),
    }
    asked = find_methods(DEFAULT_METHODS if methods is None else methods)
    if earlier_studies and model_priors:
        raise InputError("earlier_studies and model_priors both are priors", "give one of them")
    for what, option, in_words in (
        ("earlier_studies", earlier_studies, "earlier studies as its prior"),
        ("model_priors", model_priors, "other priors"),
        ("dependent_pair", dependent, "a dependent pair"),
    ):
        if option and not any(what in method.takes for method in asked):
            able = [method.name for method in list_methods().values() if what in method.takes]
            raise InputError(f"no method takes {in_words}", f"add {' or '.join(able)}")
    asked = [
        method.with_options(**{name: of_methods[name] for name in method.takes & of_methods.keys()})
        if method.with_options is not None
        else method
        for method in asked
    ]
    if not systems_rate and not any(method.made for method in asked):
        ratings, options = _without_unrated(ratings, options)
    if dependent is not None:
        ratings = ratings.with_dependent_pair(dependent)
    if rater_groups is not None:
        ratings = ratings.with_rater_groups(rater_groups)
    if len(ratings.systems) > FEW_SYSTEMS and not earlier_studies:
        asked = [replace(one, estimate=one.shortly or one.estimate) for one in asked]
    seen = ratings if truths_in_model else ratings.with_truth(None)
    fits = _fit_all(ratings, seen, asked, options, do_all, slopes=sensitivity)
    return _collect(ratings, seen, fits, options, questions, do_all)


def _require_answers(ratings: Ratings) -> None:
    """Raise an InputError unless each system answered items of each population."""
    require_systems(ratings)
    if ratings.population is not None:
        members = Groups(names=ratings.populations, index=ratings.population)
        for system in ratings.systems:
            count_answers(ratings.for_system(system), members)


def _without_unrated(ratings: Ratings, options: Options) -> tuple[Ratings, Options]:
    """Leave out the items that no rater rated, and note how many they are."""
    rows = rated_rows(ratings)
    n = int(ratings.weights[~rows].sum())
    if not n or not rows.any():
        return ratings, options
    which = "which no rater rated, are" if n > 1 else "which no rater rated, is"
    text = f"{n} of {counted(ratings.n_items, 'item')}, {which} left out of all estimates"
    kept = {
        name: replace(column, names=column.names[rows])
        for name in ("groups", "populations")
        if (column := getattr(options, name)) is not None
    }
    ratings = ratings.take(rows)._replace(noticed=(*ratings.noticed, text))
    return ratings, replace(options, **kept)


def _fit_all(
    ratings: Ratings,
    seen: Ratings,
    methods: Sequence[Method],
    options: Options,
    do_all: DoAll,
    *,
    slopes: bool,
) -> dict[tuple[str, str], Fit]:
    """Have every method estimate every system, from what it may see of the ratings."""
    with_truth, without = (
        {
            system: data.for_system(system, systems_rate=options.systems_rate)
            for system in ratings.systems
        }
        for data in (ratings, seen)
    )
    asked: dict[str, Any] = {"level": options.level, "seed": options.seed}
    fits = {(system, method.name): method for system in without for method in methods}
    pieces = []
    for (system, _), method in fits.items():
        own = with_truth if "truths" in method.takes else without
        pieces.append(partial(method.estimate, own[system], **asked))
    sloped = {
        (system, name): partial(method.at_slopes, without[system], **asked)
        for (system, name), method in fits.items()
        if slopes and method.at_slopes is not None
    }
    estimates = do_all(pieces)
    at_slopes = dict(zip(sloped, do_all(list(sloped.values())), strict=True))
    return {
        names: Fit(
            ratings=with_truth[names[0]],
            estimate=estimate,
            method=method,
            at_slopes=at_slopes.get(names, {}),
        )
        for (names, method), estimate in zip(fits.items(), estimates, strict=True)
    }


def _collect(
    ratings: Ratings,
    seen: Ratings,
    fits: Mapping[tuple[str, str], Fit],
    options: Options,
    questions: Sequence[str | Question],
    do_all: DoAll,
) -> Results:
    """Ask the questions, and put the answers in one table."""
    names = [one for one in questions if isinstance(one, str)] or QUESTIONS
    own = {getattr(one, "__name__", "own"): one for one in questions if callable(one)}
    of_a_fit = {name: ask for name, ask in OF_A_FIT.items() if name in names} | own
    rows: list[Row] = []
    warnings: list[Warning] = []

    def keep(answer: Answer, about: str, **whose: str) -> None:
        for one in list(answer):
            if isinstance(one, Warning):
                warnings.append(replace(one, about=about, **whose))  # type: ignore[arg-type]
            else:
                rows.append(whose | one)

    for system in ratings.systems:
        of_system = [fit for (name, _), fit in fits.items() if name == system]
        for name, ask_all in OF_A_SYSTEM.items():
            if name in names:
                keep(ask_all(of_system, options), name, system=system)
        for fit in of_system:
            for name, ask in of_a_fit.items():
                about = "" if name == "accuracy" else name
                keep(ask(fit, options), about, system=system, method=fit.method.name)
        if "predictions" in names:
            so_far = [one for one in rows if one["system"] == system]
            keep(ask_methods(of_system, options, so_far), "predictions", system=system)
    if "systems" in names and len(ratings.systems) > 1:
        for name in dict.fromkeys(name for _, name in fits):
            of_method = {system: fit for (system, method), fit in fits.items() if method == name}
            method = of_method[ratings.systems[0]].method
            systems = Systems(
                ratings=ratings if "truths" in method.takes else seen,
                estimates={system: fit.estimate for system, fit in of_method.items()},
                again=partial(method.estimate, level=options.level, seed=options.seed),
                method=method,
                do_all=do_all,
                known=ratings if all(f.can_be_corrected() for f in of_method.values()) else None,
            )
            keep(ask_systems(systems, options), "systems", method=name)
    return Results(
        ratings=ratings,
        table=tabulate(rows),
        warnings=merge_warnings(warnings, dict.fromkeys(name for _, name in fits), ratings.systems),
        fits={names: fit.estimate for names, fit in fits.items()},
        options=options,
    )
