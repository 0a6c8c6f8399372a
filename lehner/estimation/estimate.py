"""Estimates of the accuracy of one or several systems, by one or several methods."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.algebra.steps import pairwise_agreement
from lehner.core.arrays import Floats
from lehner.core.errors import InputError, check_level, check_probability
from lehner.core.estimate import ESTIMANDS, Estimate
from lehner.core.progress import DoAll, do_here
from lehner.core.text import counted
from lehner.core.warning import Warning, warn
from lehner.data.categories import Label
from lehner.data.clusters import cluster_warnings
from lehner.data.ratings import Ratings
from lehner.data.votes import rated_rows
from lehner.dependence.bounds import MistakesNeeded, mistakes_needed
from lehner.dependence.check import check_dependence
from lehner.dependence.missing_ratings import check_missing_ratings
from lehner.estimation.details import DETAILS
from lehner.estimation.disagreement import disagreement
from lehner.estimation.earlier_studies import read_studies
from lehner.estimation.groups import (
    GROUPS,
    POPULATIONS,
    RATER_GROUPS,
    column_of,
    require_answers,
)
from lehner.estimation.known_truths import (
    KNOWN_TRUTHS,
    corrected_details,
    corrected_groups,
    known_truth,
    uses_truths,
)
from lehner.estimation.methods import (
    DEFAULT_METHODS,
    Estimator,
    Method,
    MethodLike,
    Posterior,
    calibrated,
    find_method,
    find_methods,
    get_method,
)
from lehner.estimation.question import Options, Question
from lehner.estimation.result import Comparison, MethodResult, SystemResult
from lehner.estimation.sensitivity import DIFFICULTY, SENSITIVITY, SLOPED
from lehner.estimation.systems import SystemsByMethod, compare_by_method
from lehner.groups.membership import GroupColumn
from lehner.known_truths.correction import TruthCorrection
from lehner.performance.costs import check_costs
from lehner.performance.positive import find_positive

QUESTIONS = (DETAILS, GROUPS, POPULATIONS, RATER_GROUPS, KNOWN_TRUTHS, SENSITIVITY)
"""What every estimate is asked, in the order of its fields in JSON."""

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
) -> Comparison:
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
    questions : sequence of Question
        Questions of your own that each estimate is asked.
    do_all : callable
        Has fits that do not depend on one another done: it takes functions without arguments, and
        gives their results in the same order. By default they are called one after another. Those
        that take long can be pickled for other processes.

    Returns
    -------
    Comparison
        With `systems`, which have a `MethodResult` for each method, `estimates`, `to_frame()` and
        `to_dict()`; of several systems also `differences` and `ranks`.

    Raises
    ------
    InputError
        If there is no system or no such method, or if the ratings cannot be estimated.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.load_dataset("lehner_table2")
    >>> compared = lehner.estimate(ratings, ["majority_agreement", "algebraic"])
    >>> [round(one.system_accuracy.estimate, 3) for one in compared.estimates]
    [0.5, 0.804]
    """
    check_level(level)
    if populations is None and ratings.population is not None:
        populations = np.array(ratings.populations)[ratings.population]
    find_positive(ratings, positive)
    asked = Options(
        level=level,
        seed=seed,
        costs=None if costs is None else check_costs(costs, ratings.categories),
        positive=positive,
        groups=column_of(groups, ratings, "group"),
        populations=column_of(populations, ratings, "population"),
    )
    if asked.populations is not None:
        ratings = ratings.with_populations(asked.populations.names)
    require_answers(ratings)
    if not systems_rate:
        ratings, asked = _without_unrated(ratings, asked)
    chosen = [
        calibrated(system_is, priors) if one.name == "calibrated" else one
        for one in find_methods(DEFAULT_METHODS if methods is None else methods)
    ]
    if earlier_studies:
        studies = read_studies(earlier_studies, ratings, positive)
        chosen = _with_studies(chosen, studies, check_probability("study_weight", study_weight))
    if dependent is not None:
        ratings = ratings.with_dependent_pair(dependent)
        if not any(one.takes_pair for one in chosen):
            remedy = "add dawid_skene or one_coin_by_rater"
            raise InputError("no method takes a dependent pair", remedy)
    if rater_groups is not None:
        ratings = ratings.with_rater_groups(rater_groups)
    seen = ratings if truths_in_model else ratings.with_truth(None)
    given = {one: ratings.for_system(one, systems_rate=systems_rate) for one in ratings.systems}
    judged = {one: seen.for_system(one, systems_rate=systems_rate) for one in ratings.systems}
    many = len(judged) > FEW_SYSTEMS and not earlier_studies
    estimators = [partial(_estimator(one, many=many), level=level, seed=seed) for one in chosen]
    fitted = do_all(
        [
            partial(estimator, (given if method.takes_truths else judged)[system])
            for system in judged
            for method, estimator in zip(chosen, estimators, strict=True)
        ]
    )
    by_system = {
        system: fitted[place * len(chosen) :][: len(chosen)] for place, system in enumerate(judged)
    }
    slopes: dict[str, Mapping[float, Estimate]] = {}
    if sensitivity:
        at_slopes = partial(_posterior_of(SLOPED).estimate_at_slopes, level=level, seed=seed)
        found = do_all([partial(at_slopes, data) for data in judged.values()])
        slopes = dict(zip(judged, found, strict=True))
    posteriors = {one.name: one.posterior for one in chosen if one.posterior is not None}
    systems = tuple(
        _answer(
            given[system],
            estimates,
            replace(asked, slopes=slopes.get(system), posteriors=posteriors),
            (*QUESTIONS, *questions),
        )
        for system, estimates in by_system.items()
    )
    if len(systems) == 1:
        return Comparison(name=name, ratings=systems[0].ratings, systems=systems)
    compared = [
        compare_by_method(
            SystemsByMethod(
                ratings=ratings if method.takes_truths else seen,
                estimates={system: by_system[system][place] for system in judged},
                again=estimators[place],
                posterior=method.posterior,
                jointly=method.joint_draws,
                level=level,
                seed=seed,
                systems_rate=systems_rate,
                common_items=common_items,
                do_all=do_all,
                known=ratings if all(one.results[place].corrected for one in systems) else None,
            )
        )
        for place, method in enumerate(chosen)
    ]
    return Comparison(
        name=name,
        ratings=ratings,
        systems=systems,
        differences=tuple(one for differences, _ in compared for one in differences),
        ranks=tuple(one for _, ranks in compared for one in ranks),
        systems_rate=systems_rate,
        common_items=common_items,
    )


def _without_unrated(ratings: Ratings, asked: Options) -> tuple[Ratings, Options]:
    """Leave out the items that no rater rated, and note how many they are."""
    rows = rated_rows(ratings)
    n = int(ratings.weights[~rows].sum())
    if not n or not rows.any():
        return ratings, asked
    which = "which no rater rated, are" if n > 1 else "which no rater rated, is"
    text = f"{n} of {counted(ratings.n_items, 'item')}, {which} left out of all estimates"
    kept = {
        name: replace(column, names=column.names[rows])
        for name in ("groups", "populations")
        if (column := getattr(asked, name)) is not None
    }
    ratings = ratings.take(rows)._replace(noticed=(*ratings.noticed, text))
    return ratings, replace(asked, **kept)


def compare(
    name: str,
    ratings: Ratings,
    estimates: Sequence[Estimate],
    *,
    level: float | None = None,
    seed: int = 1,
    slopes: Mapping[float, Estimate] | None = None,
    costs: Floats | None = None,
    positive: Label | None = None,
    groups: ArrayLike | GroupColumn | None = None,
    populations: ArrayLike | GroupColumn | None = None,
    questions: Sequence[Question] = (),
) -> Comparison:
    """Put estimates of one system that are there already side by side, as `estimate` does.

    Parameters
    ----------
    name : str
        Name of the data.
    ratings : Ratings
        The data that all estimates are of.
    estimates : sequence of Estimate
        Estimates by different methods.
    level : float, optional
        Probability of the intervals that are computed here, by default that of the estimates', or
        .9.
    seed : int
        Of what is drawn here: for the system in detail, groups and populations.
    costs, positive, groups, populations, questions
        As in `estimate`.
    slopes : mapping of float to Estimate, optional
        As `bayes_models.slope_sensitivity` returns them.

    Returns
    -------
    Comparison
        The estimates with what they say about one another, and what known truths say about them.

    Raises
    ------
    InputError
        If there are not two raters, two categories and an item rated by two raters.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.load_dataset("lehner_table2")
    >>> one = lehner.majority_agreement(ratings)
    >>> two = lehner.estimate_algebraic(ratings)
    >>> compare("table 2", ratings, [one, two]).to_frame()["estimate"].round(3).tolist()[:4]
    [0.5, 0.5, 0.804, 0.804]
    """
    levels = [one.system_accuracy.level for one in estimates if one.system_accuracy.level]
    sampled = [get_method(one.method) for one in estimates if one.draws is not None]
    asked = Options(
        level=level or (levels[0] if levels else 0.9),
        seed=seed,
        costs=costs,
        positive=positive,
        groups=column_of(groups, ratings, "group"),
        populations=column_of(populations, ratings, "population"),
        slopes=slopes,
        posteriors={one.name: one.posterior for one in sampled if one and one.posterior},
    )
    result = _answer(ratings, estimates, asked, (*QUESTIONS, *questions))
    return Comparison(name=name, ratings=ratings, systems=(result,))


def _with_studies(
    methods: Iterable[Method], studies: Mapping[str, Floats], weight: float
) -> list[Method]:
    """Give earlier studies to the methods that take them."""
    chosen = []
    for one in methods:
        if one.takes_studies and one.posterior is not None:
            again = partial(
                one.posterior.estimate_with_studies, one.name, studies=studies, weight=weight
            )
            one = replace(one, estimate=again)
        chosen.append(one)
    if not any(one.takes_studies for one in chosen):
        remedy = "add dawid_skene or one_coin_by_rater"
        raise InputError("no method takes earlier studies as its prior", remedy)
    return chosen


def _answer(
    ratings: Ratings,
    estimates: Sequence[Estimate],
    asked: Options,
    questions: tuple[Question, ...],
) -> SystemResult:
    results = []
    dependence, missing = check_dependence(ratings), check_missing_ratings(ratings)
    found = (*(missing.warnings() if missing else ()), *cluster_warnings(ratings))
    for one in estimates:
        pair = one.diagnostics.get("dependent_pair", {}).get("pair", ())
        found_here = (*dependence.warnings_of_estimates(pair), *found)
        one = replace(one, warnings=(*one.warnings, *found_here, *_assumed_difficulty(one, asked)))
        answers = {question.name: question.answer(ratings, one, asked) for question in questions}
        result = MethodResult(estimate=one, answers=answers, questions=questions)
        results.append(_with_known_truths(result))
    final = [one.estimate for one in results]
    with_truth = [one for one in final if "truth_probabilities" in one.arrays]
    posteriors = asked.posteriors
    predictions = next((one.predictions(final) for one in posteriors.values()), ())
    tested = (_k_properties(one, asked) for one in final)
    return SystemResult(
        ratings=ratings,
        level=asked.level,
        agreement=pairwise_agreement(ratings),
        results=tuple(results),
        disagreements=tuple(disagreement(ratings, *two) for two in combinations(with_truth, 2)),
        known_truth=known_truth(ratings, asked.level),
        predictions=predictions,
        k_properties=next(filter(None, tested), ()),
        slopes=asked.slopes,
        mistakes_needed=_mistakes_needed(ratings),
        dependence=dependence,
        group_column=asked.groups,
        population_column=asked.populations,
    )


def _with_known_truths(result: MethodResult) -> MethodResult:
    """Put corrected numbers in the place of a method's, and mark those that truths entered."""
    found, estimate = result.corrected, result.estimate
    accuracies: Estimate | TruthCorrection = estimate
    if found is not None:
        accuracies = found.correction
        warnings = (*estimate.warnings, *found.correction.warnings)
        answers = result.answers | {  # type: ignore[operator]
            "details": corrected_details(result.details, found),
            "groups": corrected_groups(result.groups, found),
        }
        result = replace(result, uncorrected=result, answers=answers)
        estimate = replace(estimate, warnings=warnings)
    elif not uses_truths(estimate):
        return result
    marked = {name: replace(getattr(accuracies, name), corrected=True) for name in ESTIMANDS}
    return replace(result, estimate=replace(estimate, **marked))


def _k_properties(estimate: Estimate, asked: Options) -> tuple[Any, ...]:
    posterior = asked.posteriors.get(estimate.method)
    return posterior.k_properties(estimate, level=asked.level) if posterior else ()


def _assumed_difficulty(estimate: Estimate, asked: Options) -> tuple[Warning, ...]:
    """Warn if items differ in difficulty, and what this means for the system was not looked at."""
    if estimate.method != SLOPED or asked.slopes is not None:
        return ()
    tests = _k_properties(estimate, asked)
    if not any(one.name == DIFFICULTY and one.verdict() == "rejected" for one in tests):
        return ()
    text = (
        "items differ in difficulty for the raters; how far the system finds the same items "
        "difficult is assumed rather than seen, and the estimate depends on it: look at the "
        "estimates without and with the same difficulty (sensitivity=True)"
    )
    return (warn("difficulty-of-system-assumed", text),)


def _mistakes_needed(ratings: Ratings) -> MistakesNeeded | None:
    try:
        return mistakes_needed(ratings)
    except InputError:
        return None  # No item has two ratings and an answer of the system.


def _posterior_of(name: str) -> Posterior:
    posterior = find_method(name).posterior
    assert posterior is not None
    return posterior


def _estimator(method: Method, *, many: bool) -> Estimator:
    if many and method.posterior is not None:
        return partial(method.posterior.estimate_shortly, method.name)
    return method.estimate
