"""Ratings estimated by several methods, for each of their systems."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from experiments.estimate.comparison import Comparison, compare
from experiments.estimate.group_column import GroupColumn, group_column
from experiments.estimate.populations import require_answers
from experiments.estimate.systems import SystemsComparison, compare_estimates
from experiments.estimate.systems_compared import SystemsByMethod
from lehner import Estimate, InputError, Ratings
from lehner.core.arrays import Floats
from lehner.core.checks import check_level
from lehner.data.item_groups import number_groups
from lehner.dependence.widened_interval import SharedMistakes
from lehner.estimation.methods import DEFAULT_METHODS, Method, find_method, find_methods

FEW_SYSTEMS = 4
"""With more systems than these, fits are as long as those of studies."""


def estimate(
    ratings: Ratings,
    methods: str | Sequence[str] = DEFAULT_METHODS,
    *,
    name: str = "ratings",
    level: float = 0.9,
    seed: int = 1,
    truths_in_model: bool = False,
    shared_mistakes: SharedMistakes | None = None,
    sensitivity: bool = False,
    systems_rate: bool = False,
    common_items: bool = True,
    costs: Floats | None = None,
    groups: ArrayLike | GroupColumn | None = None,
    populations: ArrayLike | GroupColumn | None = None,
    rater_groups: Mapping[str, str] | None = None,
    reword: Callable[[str], str] = str,
) -> Comparison | SystemsComparison:
    """Estimate the accuracy of the system, or of each system, by several methods.

    Parameters
    ----------
    ratings : Ratings
        With one or more systems. Known truths of some items correct each method's estimate.
    methods : str or sequence of str
        One name or several, as `lehner estimate --method` takes them; "all" stands for all.
    name : str
        Of the data, for titles.
    level : float
        Probability of the intervals, between 0 and 1.
    seed : int
        The same seed gives the same numbers.
    truths_in_model : bool
        Whether models are fitted to the known truths, instead of being corrected by them.
    shared_mistakes : float or tuple of float, optional
        Share of items that mislead raters and system alike, or its Beta prior, for which
        intervals are widened.
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
    costs : ndarray, shape (n_categories, n_categories), optional
        What each answer (column) costs when each category (row) is true.
    groups : array_like of str, shape (n_rows,), or GroupColumn, optional
        To which group each row belongs: accuracies and differences are given for them.
    populations : array_like of str, shape (n_rows,), or GroupColumn, optional
        From which population each row is: in latent-class models, Bayesian or by maximum
        likelihood, each population has its own base rates. By default those of the ratings.
    rater_groups : mapping, optional
        From the name of a rater to that of its group: accuracies of groups of raters, and their
        differences, are given too, and some models draw raters toward their group, see
        `Ratings.with_rater_groups`. By default the groups of the ratings.
    reword : callable
        What is done to each warning, as a command names options where Python has arguments.

    Returns
    -------
    Comparison or SystemsComparison
        The latter of two or more systems: a comparison for each, and their differences and ranks.

    Raises
    ------
    InputError
        If there is no system or no such method, or if the ratings cannot be estimated.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.load_dataset("lehner_table2")
    >>> compared = estimate(ratings, ["majority_agreement", "algebraic"])
    >>> [round(one.system_accuracy.estimate, 3) for one in compared.estimates]
    [0.5, 0.804]
    """
    check_level(level)
    column = _group_column(groups, ratings, "group")
    if populations is None and ratings.population is not None:
        populations = np.array(ratings.populations)[ratings.population]
    population_column = _group_column(populations, ratings, "population")
    if population_column is not None:
        ratings = ratings.with_populations(population_column.names)
    chosen = find_methods(methods)
    require_answers(ratings)
    if rater_groups is not None:
        ratings = ratings.with_rater_groups(rater_groups)
    seen = ratings if truths_in_model else ratings.with_truth(None)
    judged = {
        system: seen.for_system(system, systems_rate=systems_rate) for system in ratings.systems
    }
    by_system: dict[str, list[Estimate]] = {}
    slopes: dict[str, Mapping[float, Estimate]] = {}
    with _compile_ahead(chosen, next(iter(judged.values()))) as wait:
        for system, one_system in judged.items():
            by_system[system] = []
            for method in chosen:
                wait(method.name)
                result = _estimate(method, one_system, level, seed, many=len(judged) > FEW_SYSTEMS)
                warnings = tuple(replace(w, text=reword(w.text)) for w in result.warnings)
                by_system[system].append(replace(result, warnings=warnings))
            if sensitivity:
                slopes[system] = _at_slopes(one_system, level, seed)
    comparisons = [
        compare(
            name,
            ratings.for_system(system, systems_rate=systems_rate),
            estimates,
            shared_mistakes=shared_mistakes,
            slopes=slopes.get(system),
            costs=costs,
            groups=column,
            populations=population_column,
            level=level,
            seed=seed,
        )
        for system, estimates in by_system.items()
    ]
    if len(comparisons) == 1:
        return comparisons[0]
    by_method = [
        SystemsByMethod(
            ratings=seen,
            estimates={system: by_system[system][place] for system in judged},
            again=partial(_estimate_again, method, level, seed, systems_rate=systems_rate),
            level=level,
            seed=seed,
            systems_rate=systems_rate,
            common_items=common_items,
        )
        for place, method in enumerate(chosen)
    ]
    return compare_estimates(name, comparisons, ratings, by_method)


def _compile_ahead(
    methods: Sequence[Method], ratings: Ratings
) -> AbstractContextManager[Callable[[str], None]]:
    sampled = [method.name for method in methods if method.posterior]
    for method in methods:
        if method.posterior is not None:
            return method.posterior.compile_ahead(sampled, ratings)
    return nullcontext(lambda name: None)


def _at_slopes(ratings: Ratings, level: float, seed: int) -> Mapping[float, Estimate]:
    posterior = find_method("relaxed_k").posterior
    assert posterior is not None
    return posterior.estimate_at_slopes(ratings, level=level, seed=seed)


def _estimate(method: Method, ratings: Ratings, level: float, seed: int, *, many: bool) -> Estimate:
    if many and method.posterior is not None:
        return method.posterior.estimate_shortly(method.name, ratings, level=level, seed=seed)
    return method.estimate(ratings, level=level, seed=seed)


def _estimate_again(
    method: Method, level: float, seed: int, ratings: Ratings, system: str, *, systems_rate: bool
) -> Estimate:
    one_system = ratings.for_system(system, systems_rate=systems_rate)
    return _estimate(method, one_system, level, seed, many=len(ratings.systems) > FEW_SYSTEMS)


def _group_column(
    groups: ArrayLike | GroupColumn | None, ratings: Ratings, column: str
) -> GroupColumn | None:
    if groups is None or isinstance(groups, GroupColumn):
        return groups
    index, names = number_groups(groups, ratings.n_rows, column)
    if not names:
        raise InputError(f"no item belongs to a {column}", f"name the {column}s of items")
    return group_column(column, np.array([*names, ""], dtype=object)[index])
