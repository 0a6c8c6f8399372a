"""Latent-class models fitted by expectation-maximisation over patterns of ratings."""

from dataclasses import dataclass, replace

import numpy as np

from lehner.core.arrays import TINY, Floats, Integers
from lehner.core.class_posterior import class_posterior
from lehner.latent_class.accelerated_em import MAX_ITERATIONS, TOLERANCE, accelerated_em
from lehner.latent_class.confusion_matrices import (
    most_likely_confusion,
    to_confusion,
    to_parameters,
)
from lehner.latent_class.knowledge import mixture_to_confusion
from lehner.latent_class.models import LATENT_CLASS_MODELS, LatentClassModel
from lehner.latent_class.pattern_table import PatternTable


@dataclass(frozen=True, kw_only=True, eq=False)
class LatentClasses:
    """Base rates and confusion matrices, and the log-likelihood of the patterns with them.

    Parameters
    ----------
    base_rates : ndarray, shape (n_classes,) or (n_groups, n_classes)
    confusion : ndarray, shape (n_raters, n_classes, n_categories)
    log_likelihood : float
        Sum over patterns of their weight times their log probability.
    converged : bool
    iterations : int
    """

    base_rates: Floats
    confusion: Floats
    log_likelihood: float = -np.inf
    converged: bool = False
    iterations: int = 0


def fit_patterns(
    table: PatternTable,
    start: LatentClasses,
    model: LatentClassModel,
    *,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> LatentClasses:
    """Maximise the likelihood of weighted patterns from a start.

    Parameters
    ----------
    table : PatternTable
    start : LatentClasses
    model : LatentClassModel
    tolerance : float
        EM stops when a step increases the log-likelihood by less than this share of its size; with
        0 it continues until no parameter changes by 1e-10.
    max_iterations : int
        Greatest number of steps of EM, rounded up to a multiple of 3.

    Returns
    -------
    LatentClasses

    References
    ----------
    Dawid & Skene (1979), Eq. 2.3-2.5.
    """
    start, _ = em_step(table, start, model)

    n_rates = start.base_rates.size
    parameters = to_parameters(start.confusion, model)

    def pack(classes: LatentClasses) -> Floats:
        return np.append(classes.base_rates, to_parameters(classes.confusion, model))

    def unpack(point: Floats) -> LatentClasses:
        return LatentClasses(
            base_rates=point[:n_rates].reshape(start.base_rates.shape),
            confusion=to_confusion(point[n_rates:].reshape(parameters.shape), model),
        )

    def step(point: Floats) -> tuple[Floats, float]:
        after, log_likelihood = em_step(table, unpack(point), model)
        return pack(after), log_likelihood

    climb = accelerated_em(
        step,
        pack(start),
        _rows(start.base_rates, parameters),
        tolerance=tolerance,
        max_iterations=max_iterations,
    )
    fitted = unpack(climb.point)
    log_likelihood = _total(table, expect(table, fitted)[1])
    return replace(
        fitted,
        log_likelihood=log_likelihood,
        converged=climb.converged,
        iterations=climb.steps,
    )


def vote_start(table: PatternTable) -> LatentClasses:
    """Start from each item's share of votes, as Dawid and Skene did (1979, Eq. 3.1).

    Parameters
    ----------
    table : PatternTable

    Returns
    -------
    LatentClasses
        The start; the classes are the categories.
    """
    votes = table.answers @ np.tile(np.eye(table.n_categories), (table.n_raters, 1)) + TINY
    share = votes / votes.sum(axis=1, keepdims=True)
    if table.truths is not None:
        share = np.where(table.truths[:, None] < 0, share, table.possible(table.n_categories))
    return _maximise(table, share, LATENT_CLASS_MODELS["dawid_skene"])


def random_start(
    table: PatternTable, n_classes: int, model: LatentClassModel, rng: np.random.Generator
) -> LatentClasses:
    """Start from base rates and confusion matrices drawn from flat Dirichlet distributions.

    For t-a-p guesses are drawn from them, and knowledge from .1 to .9: without knowledge EM would
    not leave the start.

    Parameters
    ----------
    table : PatternTable
    n_classes : int
    model : LatentClassModel
    rng : numpy.random.Generator

    Returns
    -------
    LatentClasses
    """
    shape = (n_classes,) if table.groups is None else (table.n_groups, n_classes)
    base_rates = np.broadcast_to(rng.dirichlet(np.ones(n_classes)), shape)
    if model.form != "knowledge":
        confusion = rng.dirichlet(np.ones(table.n_categories), (table.n_raters, n_classes))
        return LatentClasses(base_rates=base_rates, confusion=confusion)
    guesses = rng.dirichlet(np.ones(table.n_categories), table.n_raters)
    knowledge = rng.uniform(0.1, 0.9, (table.n_raters, 1))
    mixture = np.concatenate([knowledge, (1 - knowledge) * guesses], axis=1)
    return LatentClasses(base_rates=base_rates, confusion=mixture_to_confusion(mixture))


def align_labels(table: PatternTable, fit: LatentClasses) -> LatentClasses:
    """Order the classes so that raters are most often right.

    The likelihood does not depend on the order of the classes; the raters' labels name them. The
    system's answers are not used for that.

    Parameters
    ----------
    table : PatternTable
    fit : LatentClasses

    Returns
    -------
    LatentClasses
    """
    from scipy.optimize import linear_sum_assignment

    ratings = expected_ratings(table, expect(table, fit)[0])
    by_raters = ratings[: table.n_raters - table.has_system].sum(axis=0)
    classes, names = linear_sum_assignment(-by_raters)
    return reorder(fit, classes[np.argsort(names)])


def reorder(fit: LatentClasses, order: Integers) -> LatentClasses:
    """Give the classes in another order."""
    return replace(fit, base_rates=fit.base_rates[..., order], confusion=fit.confusion[:, order])


def expect(table: PatternTable, current: LatentClasses) -> tuple[Floats, Floats]:
    """Give the probability of each class for each pattern, and the log probability of the pattern.

    Parameters
    ----------
    table : PatternTable
    current : LatentClasses

    Returns
    -------
    classes : ndarray, shape (n_patterns, n_classes)
    log_probability : ndarray, shape (n_patterns,)
    """
    n_classes = current.base_rates.shape[-1]
    log_confusion = np.log(np.maximum(current.confusion, TINY)).swapaxes(1, 2)
    log_rates = np.log(np.maximum(current.base_rates, TINY)).T
    log = side_by_side(table.answers @ log_confusion.reshape(-1, n_classes))
    log += log_rates[:, None] if table.groups is None else log_rates[:, table.groups]
    if table.truths is not None:
        log[~table.possible(n_classes).T] = -np.inf
    classes, log_probability = class_posterior(log, axis=0)
    return classes.T, log_probability


def side_by_side(by_pattern: Floats) -> Floats:
    """Transpose a table of patterns, so that the patterns of each class are contiguous in memory.

    Sums over classes, of which there are few, are several times faster then.
    """
    return np.ascontiguousarray(by_pattern.T)


def expected_ratings(table: PatternTable, classes: Floats) -> Floats:
    """Count ratings by rater, class and category, (n_raters, n_classes, n_categories)."""
    counts = table.answers.T @ (table.weights[:, None] * classes)
    return counts.reshape(table.n_raters, table.n_categories, -1).swapaxes(1, 2)


def em_step(
    table: PatternTable, current: LatentClasses, model: LatentClassModel
) -> tuple[LatentClasses, float]:
    """Take one step; the log-likelihood that is returned is that before it."""
    classes, log_probability = expect(table, current)
    return _maximise(table, classes, model), _total(table, log_probability)


def _total(table: PatternTable, log_probability: Floats) -> float:
    # A product of vectors would use several threads, which takes longer than the rest of a step.
    return float((table.weights * log_probability).sum())


def _maximise(table: PatternTable, classes: Floats, model: LatentClassModel) -> LatentClasses:
    """Estimate parameters from probabilities of classes, shape (n_patterns, n_classes)."""
    counts = expected_ratings(table, classes)
    base_rates = table.sum_groups(table.weights[:, None] * classes)
    return LatentClasses(
        base_rates=base_rates / base_rates.sum(axis=-1, keepdims=True),
        confusion=most_likely_confusion(counts, model, has_system=table.has_system),
    )


def _rows(*parameters: Floats) -> Integers:
    """Give the index of the distribution of each parameter."""
    lengths = np.repeat([a.shape[-1] for a in parameters], [a[..., 0].size for a in parameters])
    return np.repeat(np.arange(len(lengths)), lengths)
