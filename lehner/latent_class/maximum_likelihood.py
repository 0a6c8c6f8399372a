"""Latent-class models fitted to ratings by maximum likelihood; t-a-p at each cut of categories."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.checks import check_choice, check_number, check_whole_number
from lehner.core.errors import InputError
from lehner.core.seeds import Seed, child_seeds
from lehner.core.wording import counted, counted_categories
from lehner.data.categories import Label
from lehner.data.ratings import Ratings
from lehner.latent_class.accelerated_em import FROM_FAR, Search
from lehner.latent_class.expectation_maximisation import (
    LatentClasses,
    align_labels,
    fit_starts,
    random_start,
    vote_start,
)
from lehner.latent_class.maximum import Maximum
from lehner.latent_class.models import (
    LATENT_CLASS_MODELS,
    LatentClassModel,
    find_latent_class_model,
)
from lehner.latent_class.pattern_table import PatternTable, known_truths, tabulate
from lehner.latent_class.result import LatentClassFit, label_fit

type Start = Literal["votes", "random"]

RANDOM_STARTS = 20


def fit_latent_class(
    ratings: Ratings,
    model: str = "dawid_skene",
    *,
    start: Start = "votes",
    restarts: int = 0,
    seed: Seed = 1,
    tolerance: float = FROM_FAR.tolerance,
    max_iterations: int = FROM_FAR.max_iterations,
) -> LatentClassFit:
    r"""Fit a latent-class model by maximum likelihood.

    Given an item's class the ratings are independent. The system, if there is one, is one more
    rater. Ratings may be missing at random given the class. Of ratings that a rater repeats the
    most frequent counts (`Ratings.flat`), unless they are taken for independent, as Dawid and Skene
    took them (`Ratings.with_independent_repeats`). If some truths are known they enter as data; if
    all are known they are not used, as in the Bayesian models.

    With few items the highest maximum of the likelihood may have classes that do not correspond to
    the categories, and the estimates are then biased. The notes of the fit tell whether this
    happened. The prior of a Bayesian model keeps classes and categories together.

    Parameters
    ----------
    ratings : Ratings
        With or without a system. Items of different populations (`Ratings.with_populations`) have
        different base rates, and the raters the same confusion matrices in all of them.
    model : str
        The model of the confusion matrices: "one_coin", "one_coin_by_rater", "class_conditional",
        "pooled", "dawid_skene", "tap" or "pooled_tap". In the t-a-p models a rater knows the true
        category or guesses; each has their own knowledge and guesses in "tap", and all the same in
        "pooled_tap".
    start : {"votes", "random"}
        Where EM starts: at each item's proportions of votes; or at base rates and confusion
        matrices drawn from flat Dirichlet distributions.
    restarts : int
        Number of random starts besides the votes, 0 or more. With `start="random"`, 0 means 20.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Seed of the random starts.
    tolerance : float
        EM stops when a step increases the log-likelihood by less than this proportion of its size,
        and no growing probability near 0 can increase it. With 0 it continues until no parameter
        changes by 1e-10.
    max_iterations : int
        Greatest number of steps of EM from a start, rounded up to a multiple of 3.

    Returns
    -------
    LatentClassFit
        The highest of the maxima that were reached.

    Raises
    ------
    InputError
        If there are not two categories, if no item has two ratings, if it is unknown who gave which
        rating in a model in which raters differ, or if an argument is not as above.

    Notes
    -----
    In t-a-p, with knowledge a and guesses p,

    .. math:: P(\text{rating} = l \mid \text{truth} = k) = a [k = l] + (1 - a) p_l

    so that raters are never less accurate than by guessing, and the classes are the categories.
    Numbers that the ratings do not determine are NaN, as in two ratings of each item in two
    categories, which give two frequencies for three parameters of "pooled_tap"; and all are if
    raters agree no more than by chance.

    The Kappa Zoo prints the guesses with the index of the true category; it should be that of the
    rating. Its M-step equates the diagonal and the column sums of the expected cross-table of truth
    and rating. The result is the maximum of the likelihood for two categories if every item has
    equally many ratings, and else near it. Here the M-step is exact. If raters guess each category
    as often as it occurs, Fleiss' kappa is :math:`a^2`, whatever the number of categories.

    References
    ----------
    Dawid & Skene (1979), https://doi.org/10.2307/2346806. T-a-p: Eubanks, The Kappa Zoo,
    https://kappazoo.com, chapters 2 and 9. With populations: Hui & Walter (1980),
    https://doi.org/10.2307/2530508

    Examples
    --------
    >>> from lehner import load_dataset
    >>> fit = fit_latent_class(load_dataset("anesthesia").with_independent_repeats())
    >>> round(fit.log_likelihood, 4)
    -192.8909
    >>> fit.base_rates.values.round(2).tolist()
    [0.4, 0.42, 0.11, 0.07]
    >>> fit = fit_latent_class(load_dataset("kappazoo_wine"), "pooled_tap")
    >>> round(fit.log_likelihood, 3)
    -243.357
    >>> fit.base_rates.values.round(3).tolist()
    [0.265, 0.735]
    >>> fit.knowledge.values.round(3).tolist()
    [0.542, 0.542, 0.542, 0.542]
    >>> float(fit.guessing.sel(rater="rating 1", response="above 1").round(3))
    0.783
    """
    chosen = find_latent_class_model(model)
    check_choice("start", start, ("votes", "random"))
    check_whole_number("restarts", restarts, 0)
    check_number("tolerance", tolerance, 0, 1, "give a number from 0 to 1, as in 1e-13")
    check_whole_number("max_iterations", max_iterations, 1)
    known = known_truths(ratings)
    _require_ratings(ratings, model, known)
    table, inverse = tabulate(ratings, ratings.population, truths=known > 0)
    points = {"votes": vote_start(table)} if start == "votes" else {}
    n_random = restarts if points else restarts or RANDOM_STARTS
    for i, child in enumerate(child_seeds(seed, n_random)):
        rng = np.random.default_rng(child)
        points[f"random {i + 1}"] = random_start(table, chosen, rng)
    search = Search(tolerance=tolerance, max_iterations=max_iterations)
    found = fit_starts(table, list(points.values()), chosen, search)
    fits = dict(zip(points, found, strict=True))
    best = _order_classes(table, max(fits.values(), key=lambda fit: fit.log_likelihood), chosen)
    maximum = Maximum(name=model, model=chosen, table=table, found=best)
    return label_fit(maximum, ratings, inverse, fits)


def _require_ratings(ratings: Ratings, model: str, known: int) -> None:
    k = ratings.n_categories
    if ratings.n_items == 0 or k < 2:
        raise InputError(
            f"the ratings are of {counted(ratings.n_items, 'item')} in {counted_categories(k)}",
            "give items, and two or more categories",
        )
    if ratings.anonymous and not LATENT_CLASS_MODELS[model].shared:
        raise InputError(
            f"it is unknown who gave which rating, and in {model} raters differ",
            "choose one_coin, pooled or pooled_tap, or use data in which raters are named",
        )
    per_row = ratings.votes().sum(axis=1)
    if ratings.system is not None:
        per_row = per_row + (ratings.system >= 0)
    most = int(per_row[ratings.weights > 0].max())
    if most < (1 if known else 2):
        raise InputError("no item has two ratings", "give two or more ratings for some items")


def _order_classes(
    table: PatternTable, classes: LatentClasses, model: LatentClassModel
) -> LatentClasses:
    """Put classes into the order of their names, unless the data determine it."""
    # With equal errors it is known which category a class is, except with two categories. In t-a-p
    # no rater is worse than by guessing, so that it is always known.
    exchangeable = model.form == "full" or (table.n_categories == 2 and model.form != "knowledge")
    if exchangeable and table.truths is None:
        return align_labels(table, classes)
    return classes


def cut_ratings(ratings: Ratings, cut: Label) -> Ratings:
    """Convert ordered categories to two: at or below a cut, and above it.

    Parameters
    ----------
    ratings : Ratings
        With ordered categories.
    cut : str or int
        The last category of the lower part; it cannot be the last category of all.

    Returns
    -------
    Ratings
        With two ordered categories, "at or below" and "above" the cut.

    Raises
    ------
    InputError
        If the categories are not ordered, or there is no such cut.

    References
    ----------
    Eubanks, The Kappa Zoo, https://kappazoo.com, chapter 7.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> wine = load_dataset("wine")
    >>> wine.categories, cut_ratings(wine, 1).categories
    ((1, 2, 3, 4), ('at or below 1', 'above 1'))
    """
    if not ratings.ordered:
        raise InputError(
            "the categories are not ordered, and a cut needs their order",
            "read the ratings with ordered=True and the categories from lowest to highest",
        )
    if cut not in ratings.categories[:-1]:
        raise InputError(
            f"there is no cut after {cut!r}",
            f"choose among {', '.join(map(str, ratings.categories[:-1])) or 'more categories'}",
        )
    at = ratings.categories.index(cut)

    def halve(codes: Integers) -> Integers:
        return np.where(codes < 0, -1, (codes > at).astype(np.int64))

    return ratings._replace(
        codes=replace(ratings.given, category_index=halve(ratings.given.category_index)),
        categories=(f"at or below {cut}", f"above {cut}"),
        system=halve(ratings.answers),
        truth=None if ratings.truth is None else halve(ratings.truth),
    )


def fit_tap_by_cut(ratings: Ratings, **options: Any) -> dict[Label, LatentClassFit]:
    """Fit a t-a-p model of two categories at each cut of ordered categories.

    If raters know little at a cut, they hardly distinguish the categories on its two sides. The
    cuts are fitted one by one, so that the base rates of "at or below" need not increase from cut
    to cut.

    Parameters
    ----------
    ratings : Ratings
        With ordered categories.
    **options
        Options of `lehner.fit_latent_class`, whose model is "pooled_tap" by default.

    Returns
    -------
    dict
        The fit of each cut, by the last category below it.

    Raises
    ------
    InputError
        If the categories are not ordered.

    References
    ----------
    Eubanks, The Kappa Zoo, https://kappazoo.com, chapter 7.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> fits = fit_tap_by_cut(load_dataset("wine"))
    >>> {cut: round(float(fit.knowledge[0]), 2) for cut, fit in fits.items()}
    {1: 0.54, 2: 0.44, 3: 0.25}
    """
    options = {"model": "pooled_tap", **options}
    return {
        cut: fit_latent_class(cut_ratings(ratings, cut), **options)
        for cut in ratings.categories[:-1]
    }
