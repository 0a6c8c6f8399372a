"""A latent-class model fitted to many weightings of the same patterns at once, as resamples."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lehner.core.arrays import TINY, Booleans, Floats, Integers
from lehner.core.class_posterior import class_posterior

if TYPE_CHECKING:
    from scipy.sparse import csr_array

POSTERIOR_CELLS_AT_ONCE = 400_000
"""Number of class probabilities in memory at once; more do not fit into the processor's cache."""
STILL = 1e-6
"""A sample has converged when a step of EM changes no probability by more."""
LEAST_GAIN = 1e-9
"""It has also converged when a step adds less than this share to the log-likelihood."""
MOST_CYCLES = 500
INWARDS = 0.02
"""The start is moved by this share toward equal probabilities, because EM cannot leave 0."""
STRIDE = 1.0
"""The least stride of the extrapolation is 1: a step of EM."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledModel:
    """A model whose parameters are base rates and, flattened, those of the confusion matrices.

    Parameters
    ----------
    answers : scipy.sparse.csr_array, shape (n_patterns, n_raters * n_categories)
        How often each rater gave each category.
    possible : ndarray of bool, shape (n_patterns, n_classes), optional
        Which classes a pattern can have, if some truths are known.
    shape : tuple of int
        Shape of the parameters of one sample, without the base rates.
    confusion : callable
        A function that takes parameters, shape (n_samples, *shape), and returns confusion matrices,
        shape (n_samples, n_raters, n_classes, n_categories).
    maximise : callable
        A function that takes expected ratings, of the shape of the confusion matrices, and returns
        parameters.
    population : ndarray of int, shape (n_patterns,), optional
        The population of each pattern, if populations have different base rates.
    """

    answers: "csr_array"
    possible: Booleans | None
    shape: tuple[int, ...]
    confusion: Callable[[Floats], Floats]
    maximise: Callable[[Floats], Floats]
    population: Integers | None = None

    def sum_populations(self, values: Floats, n_populations: int) -> Floats:
        """Sum values (n_patterns, ...) over patterns, (n_populations, ...)."""
        if self.population is None:
            return values.sum(axis=0)[None]
        return np.stack([values[self.population == p].sum(axis=0) for p in range(n_populations)])


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Samples of the same patterns, and pseudo-items and pseudo-ratings that are added to each.

    Parameters
    ----------
    weights : ndarray, shape (n_samples, n_patterns)
        Number of items of each pattern in each sample.
    items : ndarray, shape (n_samples, n_populations, n_classes)
        Pseudo-items, added to the numbers of items of each class that are expected.
    ratings : ndarray, shape (n_samples, n_raters, n_classes, n_categories)
        Pseudo-ratings, added to the numbers of ratings that are expected.
    """

    weights: Floats
    items: Floats
    ratings: Floats

    def take(self, chosen: Booleans | slice) -> "Samples":
        """Give some of the samples."""
        return Samples(
            weights=self.weights[chosen], items=self.items[chosen], ratings=self.ratings[chosen]
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledFits:
    """The fit to each sample.

    Parameters
    ----------
    base_rates : ndarray, shape (n_samples, n_classes)
        Base rates of all populations together.
    population_rates : ndarray, shape (n_samples, n_populations, n_classes)
        Base rates of each population, NaN in samples without items of it; without populations there
        is one.
    confusion : ndarray, shape (n_samples, n_raters, n_classes, n_categories)
    classes : ndarray, shape (n_patterns, n_classes, n_samples)
        Probability of each class given a pattern.
    converged : ndarray of bool, shape (n_samples,)
    """

    base_rates: Floats
    population_rates: Floats
    confusion: Floats
    classes: Floats
    converged: Booleans


def fit_samples(
    model: SampledModel, base_rates: Floats, parameters: Floats, samples: Samples
) -> Iterator[SampledFits]:
    """Maximise the likelihood of each of many samples of the same patterns and pseudo-ratings.

    Each sample has its own steps of EM and extrapolations (SQUAREM), until it has converged. It
    ends at the maximum that is reached from the start, which keeps the order of the classes.

    Parameters
    ----------
    model : SampledModel
    base_rates : ndarray, shape (n_classes,) or (n_populations, n_classes)
        Start of all samples, for example the fit to the data from which they were drawn.
    parameters : ndarray, shape `model.shape`
    samples : Samples

    Yields
    ------
    SampledFits
        The fits of some samples at a time, in order.

    References
    ----------
    Varadhan & Roland (2008), Scandinavian Journal of Statistics 35, 335-353, for SQUAREM.
    """
    base_rates = np.atleast_2d(base_rates)
    start = np.append(base_rates, parameters)
    sizes = np.bincount(rows := _rows(model, base_rates.shape))
    start = (1 - INWARDS) * start + INWARDS / sizes[rows]
    n_samples, n_patterns = samples.weights.shape
    size = max(1, POSTERIOR_CELLS_AT_ONCE // max(1, n_patterns * base_rates.shape[1]))
    for first in range(0, n_samples, size):
        chunk = samples.take(slice(first, first + size))
        points, converged = _climb(model, start, chunk)
        rates, rest = _split(points, base_rates.shape, model.shape)
        confusion = model.confusion(rest)
        classes, _ = _expect(model, rates, confusion)
        n_items = model.sum_populations(chunk.weights.T, len(base_rates)).T
        yield SampledFits(
            base_rates=np.einsum("sp,spk->sk", n_items / n_items.sum(axis=1, keepdims=True), rates),
            population_rates=np.where(n_items[..., None] > 0, rates, np.nan),
            confusion=confusion,
            classes=classes,
            converged=converged,
        )


def _climb(model: SampledModel, start: Floats, samples: Samples) -> tuple[Floats, Booleans]:
    """Give the maxima, (n_parameters, n_samples), and whether they were reached."""
    n_samples = len(samples.weights)
    best = np.tile(start[:, None], n_samples)
    converged = np.zeros(n_samples, dtype=bool)
    active = np.arange(n_samples)
    points = best
    for _ in range(MOST_CYCLES):
        first, before = _step(model, points, samples)
        second, reached = _step(model, first, samples)
        done = np.abs(second - first).max(axis=0) < STILL
        done |= reached - before < LEAST_GAIN * np.abs(reached)
        best[:, active[done]], converged[active[done]] = second[:, done], True
        if done.all():
            return best, converged
        active, samples = active[~done], samples.take(~done)
        points, first, second = points[:, ~done], first[:, ~done], second[:, ~done]
        far = _extrapolate(points, first, second, _rows(model, samples.items.shape[1:]))
        landed, there = _step(model, far, samples)
        points = np.where(there >= reached[~done], landed, second)
    best[:, active] = points
    return best, converged


def _step(model: SampledModel, points: Floats, samples: Samples) -> tuple[Floats, Floats]:
    """Take a step of EM in each sample; the log-likelihoods that are returned are those before it.

    Pseudo-items and pseudo-ratings count in both.
    """
    of_rates = samples.items.shape[1:]
    rates, parameters = _split(points, of_rates, model.shape)
    confusion = model.confusion(parameters)
    classes, log_probability = _expect(model, rates, confusion)
    weights = np.ascontiguousarray(samples.weights.T)
    classes *= weights[:, None]
    n_items = model.sum_populations(classes, of_rates[0]) + samples.items.transpose(1, 2, 0)
    moved_rates = n_items / np.maximum(n_items.sum(axis=1, keepdims=True), TINY)
    n_patterns, n_classes, n_samples = classes.shape
    counts = model.answers.T @ classes.reshape(n_patterns, -1)
    # The axes were (rater and category, class and sample); samples stay contiguous in memory.
    counts = counts.reshape(-1, _n_categories(model, n_classes), n_classes, n_samples)
    moved = model.maximise(counts.transpose(3, 0, 2, 1) + samples.ratings)
    points = np.concatenate([moved_rates.reshape(-1, n_samples), moved.reshape(n_samples, -1).T])
    added = (samples.items * np.log(np.maximum(rates, TINY))).sum(axis=(1, 2))
    added += (samples.ratings * np.log(np.maximum(confusion, TINY))).sum(axis=(1, 2, 3))
    return points, (weights * log_probability).sum(axis=0) + added


def _expect(model: SampledModel, rates: Floats, confusion: Floats) -> tuple[Floats, Floats]:
    """Give probabilities of classes, (n_patterns, n_classes, n_samples), and of patterns."""
    n_samples, _, n_classes = rates.shape
    log = np.log(np.maximum(confusion, TINY)).transpose(1, 3, 2, 0)
    joint = model.answers @ log.reshape(-1, n_classes * n_samples)
    joint = joint.reshape(-1, n_classes, n_samples)
    log_rates = np.log(np.maximum(rates, TINY)).transpose(1, 2, 0)
    joint += log_rates[0 if model.population is None else model.population]
    if model.possible is not None:
        joint[~model.possible] = -np.inf
    return class_posterior(joint, axis=1)


def _split(
    points: Floats, of_rates: tuple[int, ...], shape: tuple[int, ...]
) -> tuple[Floats, Floats]:
    end = int(np.prod(of_rates))
    return points[:end].T.reshape(-1, *of_rates), points[end:].T.reshape(-1, *shape)


def _n_categories(model: SampledModel, n_classes: int) -> int:
    return int(model.answers.shape[1]) // model.shape[0]


def _rows(model: SampledModel, of_rates: tuple[int, ...]) -> Integers:
    """Give the index of the distribution of each parameter."""
    first = np.repeat(np.arange(of_rates[0]), of_rates[1])
    n_rows = int(np.prod(model.shape[:-1]))
    return np.append(first, np.repeat(of_rates[0] + np.arange(n_rows), model.shape[-1]))


def _extrapolate(start: Floats, first: Floats, second: Floats, rows: Integers) -> Floats:
    """Extrapolate two steps, in logarithms, so that no point leaves the simplex."""
    logs = [np.log(np.maximum(point, TINY)) for point in (start, first, second)]
    pace, bend = logs[1] - logs[0], logs[2] - 2 * logs[1] + logs[0]
    turn = (second * bend**2).sum(axis=0)
    length = (second * pace**2).sum(axis=0)
    size = np.sqrt(np.divide(length, turn, out=np.ones_like(turn), where=turn > TINY))
    size = np.maximum(size, STRIDE)
    far = np.exp(np.clip(logs[0] + 2 * size * pace + size**2 * bend, -600.0, 0.0))
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    return np.asarray(far / np.add.reduceat(far, starts, axis=0)[rows])
