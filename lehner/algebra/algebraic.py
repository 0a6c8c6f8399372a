"""The algebraic method of Lehner (2015), and a naive measure: methods that need only votes.

The steps are in `lehner.algebra.steps`. The naive measure is agreement with the majority.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal

import numpy as np

from lehner.algebra import steps as algebra
from lehner.core import resampling
from lehner.core.arrays import Floats, Integers, Seed, derive_seeds, make_rng
from lehner.core.errors import Warning, check_level, find, warn
from lehner.core.estimate import ESTIMANDS, Draws, Estimate, IntervalEstimate, join_parts, number
from lehner.core.text import to_percent
from lehner.data import estimable
from lehner.data.counts import VoteTable
from lehner.data.ratings import Ratings
from lehner.data.reading import to_names

# So many items, most of which are rated differently, are resampled one by one as fast as numbers of
# votes are, and fit into 16 bits. With more categories, matrices of all resamples are too many
# numbers to keep.
FEWEST_DRAWN, MOST_DRAWN, FEWEST_PATTERNS, FEW_CATEGORIES = 10_000, 60_000, 0.5, 20


def estimate_algebraic(
    ratings: Ratings,
    *,
    aggregation: algebra.Aggregation = "weighted",
    interval: Literal["percentile"] | None = "percentile",
    level: float = 0.9,
    resamples: int = 2000,
    seed: Seed = 1,
) -> Estimate:
    """Estimate the accuracy of the system by Lehner's algebra.

    The method rests on the K-properties: all raters are equally accurate, all errors are equally
    probable, and all items are equally difficult. It gives one estimate, with one interval, for
    both the expected accuracy and the accuracy in this sample. The interval describes how the
    estimate varies over samples of items, whose true categories vary too. It is therefore wider
    than it needs to be for the accuracy in this sample.

    Parameters
    ----------
    ratings : Ratings
        With a system. Ratings may be missing and items may have different numbers of raters.
    aggregation : {"weighted", "paper"}
        How step 4 combines the items: by Eq. 7 with a weight for the information in each item and
        category (least squares), or in bins of the highest truth probability as in the paper, which
        is not consistent: see `lehner.algebra.steps`.
    interval : {"percentile"}, optional
        The bootstrap interval, from resamples of the items; None for no interval.
    level : float
        Probability of the interval, between 0 and 1.
    resamples : int
        Number of bootstrap resamples.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Seed of the resamples: the same seed gives the same interval.

    Returns
    -------
    Estimate
        With the confusion matrices of the raters, whose errors are equally probable, and of the
        system, whose need not be (see `lehner.algebra.steps`), and with `bins` (the
        paper's Table 4) if `aggregation` is "paper". Numbers that cannot be
        estimated from these data are None or NaN, and `warnings` gives the reason.

    Raises
    ------
    InputError
        If there is no system, if there are not two raters, two categories and an item rated by two
        raters, or if an argument is not as above.

    References
    ----------
    Lehner (2015), Eq. 1-7, https://doi.org/10.22237/jmasm/1430453520

    Examples
    --------
    >>> from lehner import load_dataset
    >>> ratings = load_dataset("lehner_table2")
    >>> round(estimate_algebraic(ratings, interval=None).system_accuracy.estimate, 4)
    0.804

    The number that the paper prints:

    >>> printed = estimate_algebraic(ratings, aggregation="paper", interval=None)
    >>> round(printed.system_accuracy.estimate, 4)
    0.7314
    """
    find("aggregation", aggregation, algebra.AGGREGATIONS)
    if interval is not None:
        resampling.check_bootstrap(interval, level, resamples)
    estimable.require_estimable(ratings)
    ratings = estimable.count_rated(ratings)
    collapsed = ratings.collapsed_votes
    counts = collapsed.lay_out(collapsed.weights[None, :].astype(float))
    answers = counts[..., :-1]
    steps = algebra.take_first_steps(collapsed, counts.sum(axis=-1))
    step_4 = algebra.AGGREGATIONS[aggregation]
    point = float(step_4(steps.truth, answers)[0])
    accuracy = IntervalEstimate(estimate=number(point))
    diagnostics = {"agreement": float(steps.agreement[0]), "kappa": float(steps.kappa[0])}
    drawn, sampled, undefined = None, collapsed.sampled, 0.0
    if interval is not None and accuracy.estimate is not None:
        if _has_many_patterns(ratings):
            drawn = resample_algebra(ratings, resamples=resamples, seed=seed, step_4=step_4)
            values = drawn.drawn[ESTIMANDS[0]]
        else:
            many = resampling.draw_counts(sampled, resamples, make_rng(seed))
            values = join_parts(map(make_replicate(ratings, step_4), many), resamples)[ESTIMANDS[0]]
        accuracy, undefined = resampling.bootstrap_interval(values, sampled, point, level)
        diagnostics |= {"resamples": resamples, "undefined_resamples": undefined}
    return Estimate(
        system=ratings.systems[0],
        method="algebraic" if aggregation == "weighted" else f"algebraic_{aggregation}",
        system_accuracy=accuracy,
        system_accuracy_in_sample=accuracy,
        arrays=estimable.LabelledArrays(
            ratings,
            rater_accuracy=np.full(ratings.n_raters, steps.accuracy[0]),
            base_rates=steps.base_rates[0],
            confusion=_fit_matrices(steps, answers, ratings),
            truth_probabilities=steps.truth[0][collapsed.row],
        ),
        bins=algebra.tabulate_bins(steps.truth, answers) if aggregation == "paper" else None,
        warnings=tuple(_list_warnings(steps, point, ratings, undefined)),
        diagnostics=diagnostics,
        resamples=drawn,
        by_raters_alone=True,
    )


def _fit_matrices(steps: algebra.FirstSteps, answers: Floats, ratings: Ratings) -> Floats:
    """Give the matrices of raters, by the K-properties, and that of the system."""
    k = ratings.n_categories
    raters = np.broadcast_to(algebra.spread_errors(steps.accuracy[:1], k), (ratings.n_raters, k, k))
    system = algebra.regress_on_truth(steps.truth[:1], answers[:1])
    return np.concatenate([raters, system])


def make_replicate(
    ratings: Ratings, step_4: Callable[[Floats, Floats], Floats] = algebra.average_by_weights
) -> Callable[..., dict[str, Floats]]:
    """Make a function that takes all steps for other numbers of items.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    step_4 : callable
        One of `lehner.algebra.steps.AGGREGATIONS`.

    Returns
    -------
    callable
        From numbers of items by cell of the collapsed votes, (n_samples, n_cells), to the numbers
        that the algebra estimates, by name; with the system's confusion matrix by `matrix=True`, in
        which an `rng` draws the matrix toward which the ridge shrinks.
    """
    collapsed, weighted = ratings.collapsed_votes, step_4 is algebra.average_by_weights
    sparse = algebra.find_sparse_votes(collapsed) if weighted else None

    def replicate(
        weights: Floats, rng: np.random.Generator | None = None, *, matrix: bool = False
    ) -> dict[str, Floats]:
        confusion, truth = dict[str, Floats](), None
        if sparse is not None:
            accuracy, rates, truth = sparse.take_steps(weights)
        if sparse is None or truth is None:
            counts = collapsed.lay_out(weights)
            steps = algebra.take_first_steps(collapsed, counts.sum(axis=-1))
            accuracy, rates, answers = steps.accuracy, steps.base_rates, counts[..., :-1]
            right = step_4(steps.truth, answers)
            if matrix:
                confusion["confusion"] = algebra.regress_on_truth(steps.truth, answers, rng)
        else:
            answers = weights.T[sparse.has_answer]
            right = sparse.average(truth, answers)
            if matrix:
                products = sparse.multiply(truth, answers)
                confusion["confusion"] = algebra.solve_regression(*products, right, rng)
        of_raters = np.repeat(accuracy[:, None], ratings.n_raters, axis=1)
        rates_and_raters = {"base_rates": rates, "rater_accuracy": of_raters}
        return dict.fromkeys(ESTIMANDS, right) | rates_and_raters | confusion

    return replicate


def warn_of_first_sample(steps: algebra.FirstSteps, ratings: Ratings) -> list[Warning]:
    """List what the user should know about steps 1 to 3 for the first sample.

    Parameters
    ----------
    steps : algebra.FirstSteps
    ratings : Ratings

    Returns
    -------
    list of Warning
    """
    k, agreement = ratings.n_categories, float(steps.agreement[0])
    if np.isnan(steps.accuracy[0]):
        text = (
            f"raters agree on {agreement:.3f} of pairs, at or below the chance level 1/{k} = "
            f"{1 / k:.3f}: their accuracy and all that follows from it are undefined"
        )
        return [warn("agreement-at-chance", text)]
    raw = steps.raw_base_rates[0]
    negative = [str(c) for c, rate in zip(ratings.categories, raw, strict=True) if rate < -1e-12]
    if not negative:
        return []
    text = (
        f"Eq. 5 gives a negative base rate for {', '.join(negative)}: set to 0, and the others "
        "renormalised"
    )
    return [warn("negative-base-rate", text)]


def _list_warnings(
    steps: algebra.FirstSteps, point: float, ratings: Ratings, undefined: float
) -> list[Warning]:
    """List what the user should know, also of the proportion of undefined resamples."""
    k, warnings = ratings.n_categories, warn_of_first_sample(steps, ratings)
    if steps.agreement[0] > 1 - algebra.CHANCE_TOLERANCE:
        text = (
            "raters agree on every item, so that the method takes them to be always right: system "
            "accuracy is its agreement with them, and the interval ignores their errors"
        )
        warnings.append(warn("raters-always-agree", text))
    if np.isnan(point) and not np.isnan(steps.accuracy[0]):
        text = (
            f"given the ratings, each category that the system answered has probability 1/{k}: "
            "they tell nothing about its answers, and system accuracy is undefined"
        )
        warnings.append(warn("answers-undetermined", text))
    if undefined:
        text = (
            f"the estimate is undefined in {to_percent(undefined, 1)} of the bootstrap resamples "
            "(agreement at or below chance, or answers on no informative item); the interval "
            "counts them as possibly 0 and possibly 1, and the standard error is of the others"
        )
        warnings.append(warn("undefined-resamples", text))
    return warnings


def agree_with_majority(votes: Integers, answers: Floats) -> Floats:
    """Compute the agreement of the system with the majority; tied categories share the item.

    Parameters
    ----------
    votes : ndarray of int, shape (n_votes, n_categories)
    answers : ndarray, shape (n_samples, n_votes, n_categories)
        Number of items with these votes and each system answer.

    Returns
    -------
    ndarray, shape (n_samples,)
    """
    used = (answers * (votes.sum(axis=1) > 0)[:, None]).sum(axis=(-2, -1))
    agreeing = (answers * credit_majority(votes)).sum(axis=(-2, -1))
    return np.asarray(agreeing / np.where(used > 0, used, np.nan))


def credit_majority(votes: Integers) -> Floats:
    """Give what an answer in each category counts, (n_votes, n_categories): 1/m if m are tied."""
    tied = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
    return np.asarray(tied / np.maximum(tied.sum(axis=1, keepdims=True), 1))


type VoteMethod = Callable[[VoteTable, algebra.FirstSteps, Floats], Floats]

VOTE_METHODS: dict[str, VoteMethod] = {
    "algebraic": lambda table, steps, answers: algebra.average_by_weights(steps.truth, answers),
    "algebraic_paper": lambda table, steps, answers: algebra.average_in_bins(steps.truth, answers),
    "majority_agreement": lambda table, steps, answers: agree_with_majority(table.votes, answers),
}


def find_vote_methods(names: str | Sequence[str]) -> tuple[str, ...]:
    """Raise an InputError unless all are names of methods that need only votes."""
    names = to_names(names)
    for name in names:
        find("method that needs only votes called", name, VOTE_METHODS)
    return names


def estimate_from_votes(
    table: VoteTable, answers: Floats, methods: Sequence[str]
) -> dict[str, Floats]:
    """Estimate the system's accuracy in many samples in which the system answered every item.

    Parameters
    ----------
    table : VoteTable
    answers : ndarray, shape (n_samples, n_votes, n_categories)
        Number, or proportion, of items with these votes and each system answer.
    methods : sequence of str
        Names of `VOTE_METHODS`.

    Returns
    -------
    dict
        Arrays (n_samples,): the estimates by method, `kappa` and `rater_accuracy`.
    """
    rated = (table.votes.sum(axis=1) > 0)[:, None]
    # Samples are the last axis in memory, as they are in the truth probabilities.
    answers = np.asarray(answers * rated, dtype=float, order="F")
    steps = algebra.take_first_steps(table, answers.sum(axis=-1))
    estimates = {name: VOTE_METHODS[name](table, steps, answers) for name in methods}
    return estimates | {"kappa": steps.kappa, "rater_accuracy": steps.accuracy}


def majority_agreement(ratings: Ratings, *, level: float = 0.9) -> Estimate:
    """Take the majority of the raters for the truth and report the system's agreement with it.

    Categories that tie for the majority share the item: the system's answer counts 1/m if it
    is one of m. Items without ratings or without an answer of the system are left out.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    level : float
        Probability of the interval.

    Returns
    -------
    Estimate
        The interval of the system's accuracy is Wilson's, as if the majority were never wrong; in
        the sample there would be no error then, and there is no interval.

    Raises
    ------
    InputError
        If there is no system, or if there are neither one rater nor two categories and an item
        rated by two raters.

    References
    ----------
    Lehner (2015) compares the algebra with it.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> majority_agreement(load_dataset("lehner_table2")).system_accuracy.estimate
    0.5
    """
    estimable.require_estimable(ratings, by_one=True)
    check_level(level)
    votes, system = ratings.count_votes(), np.asarray(ratings.system)
    answers = (system[:, None] == np.arange(ratings.n_categories)) * ratings.weights[:, None]
    agreeing, warnings = float(agree_with_majority(votes, answers)), tuple[Warning, ...]()
    accuracy = in_sample = IntervalEstimate(estimate=number(agreeing))
    if np.isnan(agreeing):
        warnings = (warn("too-few-ratings", "no item has both ratings and an answer"),)
    else:
        used = answers.sum(axis=1) * (votes.sum(axis=1) > 0)
        agrees = (credit_majority(votes) * (answers > 0)).sum(axis=1)
        factor = estimable.find_mean_widening(ratings, agrees, used, level)
        accuracy = resampling.estimate_wilson(agreeing, used.sum() / factor**2, level)
    return Estimate(
        method="majority_agreement",
        system=ratings.systems[0],
        system_accuracy=accuracy,
        system_accuracy_in_sample=in_sample,
        warnings=warnings,
    )


def _has_many_patterns(ratings: Ratings) -> bool:
    """Tell whether items are so many, and so different, that they are resampled one by one.

    This depends on the raters alone, so that all systems have the same resamples.
    """
    n_items, few = ratings.n_items, ratings.n_categories <= FEW_CATEGORIES
    if not (few and ratings.cluster is None and FEWEST_DRAWN <= n_items <= MOST_DRAWN):
        return False
    return len(ratings.votes.number_patterns()[1]) >= FEWEST_PATTERNS * n_items


def resample_algebra(
    ratings: Ratings,
    estimate: Estimate | None = None,
    *,
    resamples: int = 2000,
    seed: Seed = 1,
    step_4: Callable[[Floats, Floats], Floats] = algebra.average_by_weights,
) -> Draws:
    """Estimate accuracies, base rates and the system's confusion matrix, with resamples.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    estimate : Estimate, optional
        If it has resamples, the result is these.
    resamples : int
        Number of bootstrap resamples of the items. In each of them two answers in each category are
        drawn from the matrix toward which the ridge shrinks, that is the ridge has this weight and
        its matrix has a Dirichlet distribution, so that intervals are wide for categories with few
        items, of which resamples would otherwise be too alike.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
    step_4 : callable
        As of `make_replicate`.

    Returns
    -------
    Draws
        The estimates and their resamples; NaN if raters agree at or below chance. Of 10,000 to
        60,000 items, most of which are rated differently, all systems have the same resamples.
    """
    if estimate is not None and estimate.resamples is not None:
        return estimate.resamples
    ratings = estimable.count_rated(ratings)
    collapsed, replicate = ratings.collapsed_votes, make_replicate(ratings, step_4)
    if _has_many_patterns(ratings):
        # What else is drawn depends on the system. Names break ties of items.
        of_items, seed = derive_seeds(seed, 2)
        row = np.lexsort((ratings.items.astype(str), collapsed.row))
        of_cell = collapsed.find_cells(np.repeat(row, ratings.weights[row]), "u2")
        drawn = resampling.draw_times(of_cell.shape[1], resamples, make_rng(of_items))
        many: Iterator[Floats] = ((of_cell @ times).T for times in drawn)
        rng = make_rng(seed)
    else:
        n_cells, rng = len(collapsed.votes) * (ratings.n_categories + 1), make_rng(seed)
        many = resampling.draw_counts(collapsed.sampled, resamples, rng, n_cells)
    point = replicate(collapsed.weights[None, :].astype(float), matrix=True)
    return Draws(
        point={name: values[0] for name, values in point.items()},
        drawn=join_parts(map(partial(replicate, rng=rng, matrix=True), many), resamples),
        coords=estimable.name_coords(ratings),
        kind="percentile bootstrap",
    )
