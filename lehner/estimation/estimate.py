"""Estimates of the accuracy of one or several systems, by one or several methods."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.contrasts.membership import GroupColumn
from lehner.core.arrays import Floats
from lehner.core.errors import InputError, check_level, check_probability
from lehner.core.estimate import Estimate
from lehner.core.lazy import pd
from lehner.core.progress import DoAll, do_here
from lehner.core.rows import Row
from lehner.core.text import counted
from lehner.core.warning import Warning
from lehner.data.categories import Label
from lehner.data.ratings import Ratings
from lehner.data.votes import rated_rows
from lehner.estimation.accuracy import ask_accuracy, ask_sensitivity
from lehner.estimation.details import ask_performance, ask_raters
from lehner.estimation.earlier_studies import read_studies
from lehner.estimation.groups import (
    ask_groups,
    ask_populations,
    ask_rater_groups,
    column_of,
    require_answers,
)
from lehner.estimation.known_truths import ask_known_truths, can_correct
from lehner.estimation.methods import (
    DEFAULT_METHODS,
    Method,
    MethodLike,
    find_methods,
    list_methods,
    method_of,
)
from lehner.estimation.methods_compared import ask_methods
from lehner.estimation.models import ask_dependent_pair, ask_earlier_studies, ask_k_properties
from lehner.estimation.question import RESAMPLES, Fit, Options, Question
from lehner.estimation.ratings_rows import ask_ratings
from lehner.estimation.results import Results, merge_warnings, tabulate, value_of
from lehner.estimation.systems import Systems, ask_systems
from lehner.performance.costs import check_costs
from lehner.performance.positive import find_positive

QUESTIONS: dict[str, Question] = {
    "": ask_accuracy,
    "details": ask_performance,
    "raters": ask_raters,
    "groups": ask_groups,
    "populations": ask_populations,
    "rater_groups": ask_rater_groups,
    "sensitivity": ask_sensitivity,
    "k_properties": ask_k_properties,
    "earlier_studies": ask_earlier_studies,
    "dependent_pair": ask_dependent_pair,
    "known_truths": ask_known_truths,
}
"""What every estimate is asked, by what its warnings are about."""

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
    dependent: Sequence[str] | None = None,
    truths_in_model: bool = False,
    sensitivity: bool = False,
    systems_rate: bool = False,
    common_items: bool = True,
    costs: Floats | None = None,
    positive: Label | None = None,
    groups: ArrayLike | GroupColumn | None = None,
    populations: ArrayLike | GroupColumn | None = None,
    rater_groups: Mapping[str, str] | None = None,
    questions: Sequence[Question] = (),
    do_all: DoAll = do_here,
) -> Results:
    """Estimate the accuracy of the system, or of each system, by several methods.

    The result is what `lehner estimate` prints, as an object.

    Parameters
    ----------
    ratings : Ratings
        With one or more systems. Known truths of some items correct each method's estimate.
    methods : str, callable, Method, or several of these, optional
        Names, as `lehner estimate --help` lists them, where "all" stands for all; functions
        `f(ratings, *, seed)` that return an `Estimate`, and take `level` too if they have
        intervals; texts "file.py:function", whose file is run as Python code. By default
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
        By the name of a rater or system: what an earlier study with known truths found, as
        `read_studies` takes it. It enters the prior of the methods that can have it, "dawid_skene".
    study_weight : float
        How much an item of an earlier study counts, from 0 (it is ignored) to 1: the exponent of a
        power prior.
    dependent : sequence of two str, optional
        Names of two raters, or of a rater and a system, who may share answers beyond what the true
        category explains, see `Ratings.with_dependent_pair`. The methods "dawid_skene" and
        "one_coin_by_rater" estimate how often; others estimate as without. By default the pair of
        the ratings.
    truths_in_model : bool
        Whether models are fitted to the known truths, instead of being corrected by them.
    sensitivity : bool
        Whether `relaxed_k` is fitted twice more, with the system's slope on difficulty at 0 and 1.
    systems_rate : bool
        Whether the other systems serve as raters of each system. This assumes that systems err
        independently of one another, as raters do.
    common_items : bool
        Whether systems that answered different items are compared on the items that they have in
        common: two on those that both answered, ranks on those that all answered. If not, each is
        judged by its own items. That assumes, as the models do, that a system which answers some
        items only would be as accurate on the others of the same categories.
    costs : array_like, shape (n_categories, n_categories), optional
        What each answer (column) costs when each category (row) is true.
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
    questions : sequence of callable
        Questions of your own, `ask(fit, options)`, that yield rows: see
        `lehner.estimation.question`.
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
    if populations is None and ratings.population is not None:
        populations = np.array(ratings.populations)[ratings.population]
    options = Options(
        name=name,
        level=level,
        seed=seed,
        costs=None if costs is None else check_costs(costs, ratings.categories),
        positive=find_positive(ratings, positive),
        groups=column_of(groups, ratings, "group"),
        populations=column_of(populations, ratings, "population"),
        systems_rate=systems_rate,
        common_items=common_items,
    )
    if options.populations is not None:
        ratings = ratings.with_populations(options.populations.names)
    require_answers(ratings)
    if not systems_rate:
        ratings, options = _without_unrated(ratings, options)
    asked = [
        one.with_options(system_is, priors) if one.with_options is not None else one
        for one in find_methods(DEFAULT_METHODS if methods is None else methods)
    ]
    if earlier_studies:
        studies = read_studies(earlier_studies, ratings, positive)
        asked = _with_studies(asked, studies, check_probability("study_weight", study_weight))
    if dependent is not None:
        ratings = ratings.with_dependent_pair(dependent)
        _require(asked, "dependent_pair", "a dependent pair")
    if rater_groups is not None:
        ratings = ratings.with_rater_groups(rater_groups)
    seen = ratings if truths_in_model else ratings.with_truth(None)
    if len(ratings.systems) > FEW_SYSTEMS and not earlier_studies:
        asked = [
            one if one.shortly is None else replace(one, estimate=one.shortly) for one in asked
        ]
    fits = _fit_all(ratings, seen, asked, options, do_all, slopes=sensitivity)
    results = collect_results(ratings, fits, options, questions)
    if len(ratings.systems) == 1:
        return results
    return _add_systems(results, ratings, seen, fits, options, do_all)


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


def summarise(
    ratings: Ratings,
    estimates: Estimate | Sequence[Estimate],
    *,
    level: float | None = None,
    seed: int = 1,
    resamples: int = RESAMPLES,
    costs: Floats | None = None,
    positive: Label | None = None,
    groups: ArrayLike | GroupColumn | None = None,
    questions: Sequence[Question] = (),
) -> Results:
    """Ask estimates of one system that are there already what `estimate` asks.

    Parameters
    ----------
    ratings : Ratings
        The data that all estimates are of.
    estimates : Estimate or sequence of Estimate
        By different methods.
    level : float, optional
        Probability of the intervals that are computed here, by default that of the estimates', or
        .9.
    seed : int
        Of what is drawn here: for the system in detail, and groups.
    resamples : int
        Of the items, where a method has none of its own.
    costs, positive, groups, questions
        As in `estimate`.

    Returns
    -------
    Results

    Raises
    ------
    InputError
        If there are not two raters, two categories and an item rated by two raters.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.load_dataset("lehner_table2")
    >>> results = summarise(ratings, lehner.estimate_algebraic(ratings), resamples=100)
    >>> results.value("recall", category="A").estimate is not None
    True
    """
    estimates = [estimates] if isinstance(estimates, Estimate) else estimates
    levels = [one.system_accuracy.level for one in estimates if one.system_accuracy.level]
    level = check_level(level or (levels[0] if levels else 0.9))
    require_answers(ratings)
    populations = None
    if ratings.population is not None:
        populations = column_of(
            np.array(ratings.populations)[ratings.population], ratings, "population"
        )
    options = Options(
        level=level,
        seed=seed,
        resamples=resamples,
        costs=None if costs is None else check_costs(costs, ratings.categories),
        positive=find_positive(ratings, positive),
        groups=column_of(groups, ratings, "group"),
        populations=populations,
    )
    fits = {
        (ratings.systems[0], one.method): Fit(ratings=ratings, estimate=one, method=method_of(one))
        for one in estimates
    }
    return collect_results(ratings, fits, options, questions)


def _with_studies(
    methods: Sequence[Method], studies: Mapping[str, Floats], weight: float
) -> list[Method]:
    """Give earlier studies to the methods that take them."""
    _require(methods, "earlier_studies", "earlier studies as its prior")
    return [
        one
        if one.with_studies is None
        else replace(one, estimate=partial(one.with_studies, studies=studies, weight=weight))
        for one in methods
    ]


def _require(methods: Sequence[Method], what: str, in_words: str) -> None:
    """Raise an InputError unless some method takes something."""
    if not any(what in one.takes for one in methods):
        able = [one.name for one in list_methods().values() if what in one.takes]
        raise InputError(f"no method takes {in_words}", f"add {' or '.join(able)}")


def _fit_all(
    ratings: Ratings,
    seen: Ratings,
    methods: Sequence[Method],
    options: Options,
    do_all: DoAll,
    *,
    slopes: bool,
) -> dict[tuple[str, str], Fit]:
    """Have every method estimate every system."""
    given, judged = (
        {
            system: data.for_system(system, systems_rate=options.systems_rate)
            for system in ratings.systems
        }
        for data in (ratings, seen)
    )
    asked: dict[str, Any] = {"level": options.level, "seed": options.seed}
    places = [(system, method) for system in judged for method in methods]
    estimates = do_all(
        [
            partial(
                method.estimate,
                (given if "truths" in method.takes else judged)[system],
                **asked,
            )
            for system, method in places
        ]
    )
    sloped = {
        (system, method.name): partial(method.at_slopes, judged[system], **asked)
        for system, method in places
        if slopes and method.at_slopes is not None
    }
    by_slope = dict(zip(sloped, do_all(list(sloped.values())), strict=True))
    return {
        (system, method.name): Fit(
            ratings=given[system],
            estimate=estimate,
            method=method,
            at_slopes=by_slope.get((system, method.name), {}),
        )
        for (system, method), estimate in zip(places, estimates, strict=True)
    }


def collect_results(
    ratings: Ratings,
    fits: Mapping[tuple[str, str], Fit],
    options: Options,
    questions: Sequence[Question] = (),
) -> Results:
    """Ask every fit every question, and put the answers in one table."""
    own = {getattr(one, "__name__", "own"): one for one in questions}
    found: list[Row | Warning] = []
    for system in dict.fromkeys(system for system, _ in fits):
        several = [fit for (name, _), fit in fits.items() if name == system]
        found += _named(ask_ratings(several[0].ratings, options), "data", system=system)
        for fit in several:
            names = {"system": system, "method": fit.method.name}
            for about, ask in (QUESTIONS | own).items():
                found += _named(ask(fit, options), about, **names)
        accuracies = [_accuracy(found, system, fit.method.name) for fit in several]
        found += _named(ask_methods(several, accuracies), "predictions", system=system)
    return Results(
        ratings=ratings,
        table=tabulate(one for one in found if not isinstance(one, Warning)),
        warnings=merge_warnings(
            (one for one in found if isinstance(one, Warning)),
            dict.fromkeys(method for _, method in fits),
            dict.fromkeys(system for system, _ in fits),
        ),
        fits={names: fit.estimate for names, fit in fits.items()},
        options=options,
    )


def _named(found: Iterable[Row | Warning], about: str, **names: str) -> Iterator[Row | Warning]:
    """Say of which system and method rows and warnings are."""
    for one in found:
        if isinstance(one, Warning):
            yield replace(one, about=about, **names)  # type: ignore[arg-type]
        else:
            yield names | one


def _accuracy(found: Sequence[Row | Warning], system: str, method: str) -> Any:
    """Find the expected accuracy by a method, corrected if it can be."""
    rows = [
        one
        for one in found
        if not isinstance(one, Warning)
        and one["quantity"] == "system_accuracy"
        and (one["system"], one["method"]) == (system, method)
        and "group" not in one
    ]
    return value_of(rows[-1])


def _add_systems(
    results: Results,
    ratings: Ratings,
    seen: Ratings,
    fits: Mapping[tuple[str, str], Fit],
    options: Options,
    do_all: DoAll,
) -> Results:
    """Add the differences and ranks of several systems."""
    found: list[Row | Warning] = []
    asked: dict[str, Any] = {"level": options.level, "seed": options.seed}
    for name in dict.fromkeys(method for _, method in fits):
        own = {system: fit for (system, method), fit in fits.items() if method == name}
        method = next(iter(own.values())).method
        systems = Systems(
            ratings=ratings if "truths" in method.takes else seen,
            estimates={system: fit.estimate for system, fit in own.items()},
            again=partial(method.estimate, **asked),
            method=method,
            do_all=do_all,
            known=ratings if all(map(can_correct, own.values())) else None,
        )
        found += _named(ask_systems(systems, options), "systems", method=name)
    warnings = (one for one in found if isinstance(one, Warning))
    table = tabulate(one for one in found if not isinstance(one, Warning))
    names = dict.fromkeys(method for _, method in fits)
    return replace(
        results,
        table=pd.concat([results.table, table], ignore_index=True),
        warnings=merge_warnings((*results.warnings, *warnings), names, ratings.systems),
    )
