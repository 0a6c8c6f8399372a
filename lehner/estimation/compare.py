"""Groups of items compared without a system: which has more of a category."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.errors import InputError, check_level, check_whole_number, suggest
from lehner.core.estimate import require_pairs
from lehner.core.seeds import generator
from lehner.core.text import first_few
from lehner.core.warning import Warning, warn
from lehner.data.categories import Label
from lehner.data.clusters import cluster_warnings
from lehner.data.ratings import Ratings
from lehner.data.reading import names_of
from lehner.dependence.check import check_dependence
from lehner.estimation.groups import column_of
from lehner.estimation.methods import find_method, list_methods
from lehner.estimation.proportion_summary import Sets, summarise_proportions
from lehner.estimation.proportions import MethodProportions, Proportions
from lehner.groups.base_rates import (
    FEW_ITEMS,
    BaseRates,
    likelihood_base_rates,
    majority_base_rates,
)
from lehner.groups.membership import GroupColumn
from lehner.known_truths.random_sample import examine_known
from lehner.labels.mean_field import MAJORITY
from lehner.latent_class.models import LIKELIHOOD_METHODS

ALL_ITEMS = "all items"
MOST_NAMED = 4


def compare(
    ratings: Ratings,
    good: Label | Sequence[Label] | None = None,
    groups: ArrayLike | GroupColumn | None = None,
    methods: str | Sequence[str] | None = None,
    *,
    name: str = "ratings",
    level: float = 0.9,
    seed: int = 1,
) -> Proportions:
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
        "dawid_skene" ("pooled_ml" if it is unknown who gave which rating) and "majority".
    name : str
        Name of the data, for titles.
    level : float
        Probability of the intervals, between 0 and 1.
    seed : int
        The same seed gives the same numbers.

    Returns
    -------
    Proportions
        With a `MethodProportions` for each method in `results`, `to_frame()` and `to_dict()`.

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
    >>> found = compare(ratings, "A", np.repeat(["x", "y"], 100), "majority")
    >>> [(one.group, one.rank) for one in found.results[0].groups]
    [('x', 2), ('y', 1)]
    """
    check_level(level)
    check_whole_number("seed", seed, 0)
    ratings = ratings.without_system()
    if groups is None and ratings.population is not None:
        groups = np.array(ratings.populations)[ratings.population]
    column = column_of(groups, ratings, "group")
    names = np.full(ratings.n_rows, ALL_ITEMS) if column is None else column.names
    inside = (names != "") & (ratings.weights > 0)
    ratings = ratings.take(inside).with_populations(names[inside])
    require_pairs(ratings)
    sets = _sets(ratings, names_of(good))
    default = ("pooled_ml" if ratings.anonymous else "dawid_skene", MAJORITY)
    results: list[MethodProportions] = []
    order: tuple[str, ...] = ()
    for method in dict.fromkeys(names_of(methods) or default):
        found, rng = _base_rates(method, ratings.with_truth(None), seed), generator(seed)
        results.append(
            summarise_proportions(method, ratings, found, sets, level, order=order, rng=rng)
        )
        pairs = (one.groups for one in results[0].differences)
        order = tuple(dict.fromkeys(name for pair in pairs for name in pair))
    return Proportions(
        name=name,
        ratings=ratings,
        grouped_by="" if column is None else column.column,
        good="" if good is None else next(iter(sets)),
        level=level,
        results=tuple(results),
        warnings=tuple(_data_warnings(ratings, column)),
    )


def _sets(ratings: Ratings, good: Sequence[str]) -> Sets:
    """Find the codes of the good categories, or of each category alone if none are named."""
    names = [str(label) for label in ratings.categories]
    for label in good:
        if label not in names:
            raise InputError(f"there is no category {label!r}", suggest(label, names))
    codes = sorted({names.index(label) for label in good})
    if len(codes) == len(names):
        raise InputError("all categories are called good", "leave one or more out")
    if codes:
        return {" or ".join(names[code] for code in codes): codes}
    return {label: [code] for code, label in enumerate(names)}


def _base_rates(method: str, ratings: Ratings, seed: int) -> BaseRates:
    if method == MAJORITY:
        return majority_base_rates(ratings, seed=seed)
    if method in LIKELIHOOD_METHODS:
        return likelihood_base_rates(ratings, LIKELIHOOD_METHODS[method], seed=seed)
    posterior = find_method(method).posterior
    if posterior is None:
        raise InputError(f"{method} needs a system", f"choose among {', '.join(compare_methods())}")
    return posterior.estimate_base_rates(method, ratings, seed=seed)


def compare_methods() -> dict[str, str]:
    """Give the methods of `compare`, and what each does."""
    models = {
        name: one.summary
        for name, one in list_methods().items()
        if one.posterior is not None or name in LIKELIHOOD_METHODS
    }
    return {MAJORITY: "the majority of the raters is taken for the truth"} | models


def _data_warnings(ratings: Ratings, column: GroupColumn | None) -> Iterator[Warning]:
    """Warn of what concerns every method."""
    dependence, names = check_dependence(ratings), ratings.populations
    yield from (*dependence.warnings(), *dependence.warnings_of_estimates())
    yield from cluster_warnings(ratings, "intervals by Bayesian models and by the majority")
    if column is not None and len(names) == 1:
        yield warn("one-group", f"{names[0]!r} is the only group: there is nothing to compare")
    if column is not None and column.note:
        yield warn("groups-made", column.note)
    sizes = np.bincount(np.asarray(ratings.population), ratings.weights).astype(int)
    small = [f"{name} ({n})" for name, n in zip(names, sizes, strict=True) if n < FEW_ITEMS]
    if small:
        text = f"fewer than {FEW_ITEMS} items: {first_few(small, MOST_NAMED)}"
        yield warn("groups-small", f"{text}; their intervals depend on the prior")
    given = ratings.weights @ ratings.votes()
    never = [str(label) for label, n in zip(ratings.categories, given, strict=True) if not n]
    if never:
        text = f"no rater gave {first_few(never, MOST_NAMED)}, of which only the prior is known"
        yield warn("category-never-rated", text)
    if ratings.truth is not None and not (sample := examine_known(ratings)).random:
        text = f"{sample.doubt}, and the correction assumes that they are: {sample}"
        yield warn("truths-not-random", text)
