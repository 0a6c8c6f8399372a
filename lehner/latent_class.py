"""Latent-class models fitted by expectation-maximisation over patterns of ratings."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lehner.checks import find

type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]

TINY = 1e-300


@dataclass(frozen=True, kw_only=True)
class LatentClassModel:
    """Which confusion matrices a model allows.

    Parameters
    ----------
    shared : bool
        Whether all raters, the system apart, have one confusion matrix.
    form : {"accuracy", "category_accuracy", "full"}
        One accuracy and equal errors; an accuracy for each category and equal errors; any.
    """

    shared: bool
    form: str


LATENT_CLASS_MODELS = {
    "one_coin": LatentClassModel(shared=True, form="accuracy"),
    "one_coin_by_rater": LatentClassModel(shared=False, form="accuracy"),
    "class_conditional": LatentClassModel(shared=False, form="category_accuracy"),
    "pooled": LatentClassModel(shared=True, form="full"),
    "dawid_skene": LatentClassModel(shared=False, form="full"),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class LatentClasses:
    """Base rates and confusion matrices, and how likely they make the patterns.

    Parameters
    ----------
    base_rates : ndarray, shape (n_categories,)
    confusion : ndarray, shape (n_raters, n_categories, n_categories)
    log_likelihood : float
        Sum over patterns of weight times log probability.
    converged : bool
    iterations : int
    """

    base_rates: Floats
    confusion: Floats
    log_likelihood: float = -np.inf
    converged: bool = False
    iterations: int = 0


def find_latent_class_model(name: str) -> LatentClassModel:
    """Look a model up, or raise an InputError."""
    return find("latent-class model", name, LATENT_CLASS_MODELS)


def fit_patterns(
    codes: Integers,
    weights: Floats,
    start: LatentClasses,
    model: LatentClassModel,
    *,
    tolerance: float = 1e-10,
    most_iterations: int = 20_000,
) -> LatentClasses:
    """Maximise the likelihood of weighted patterns from a start.

    Each step is two of EM and an extrapolation from them, taken only where it does not lower the
    likelihood.

    Parameters
    ----------
    codes : ndarray of int, shape (n_patterns, n_raters)
        Category index, -1 where missing; the last rater is the system.
    weights : ndarray, shape (n_patterns,)
        Numbers or proportions of items.
    start : LatentClasses
    model : LatentClassModel
    tolerance : float
        Stop when no parameter moves by more in a step of EM.
    most_iterations : int

    Returns
    -------
    LatentClasses

    References
    ----------
    Dawid & Skene (1979), Eq. 2.3-2.5. Varadhan & Roland (2008), Simple and globally convergent
    methods for accelerating the convergence of any EM algorithm.
    """
    answered = _one_hot(codes, len(start.base_rates))
    current, converged, iteration = start, False, 0
    current, _ = _em_step(answered, weights, current, model)
    while iteration < most_iterations and not converged:
        first, log_likelihood = _em_step(answered, weights, current, model)
        second, _ = _em_step(answered, weights, first, model)
        converged = _distance(first, second) < tolerance
        iteration += 2
        leap = _extrapolate(current, first, second)
        current = second
        if leap is not None and not converged:
            landed, reached = _em_step(answered, weights, leap, model)
            iteration += 1
            current = landed if reached >= log_likelihood else second
    log_likelihood = _em_step(answered, weights, current, model)[1]
    return replace(
        current, log_likelihood=log_likelihood, converged=converged, iterations=iteration
    )


def vote_start(codes: Integers, weights: Floats, n_categories: int) -> LatentClasses:
    """Start from each item's share of votes, as Dawid and Skene did (1979, Eq. 3.1)."""
    answered = _one_hot(codes, n_categories)
    votes = answered.reshape(len(codes), -1, n_categories).sum(axis=1) + TINY
    share = votes / votes.sum(axis=1, keepdims=True)
    return _maximise(answered, weights[:, None] * share, LATENT_CLASS_MODELS["dawid_skene"])


def align_labels(found: LatentClasses) -> LatentClasses:
    """Order the classes so that raters are most often right.

    A likelihood does not know which class is which; names for them come from the ratings.

    Parameters
    ----------
    found : LatentClasses

    Returns
    -------
    LatentClasses
    """
    from scipy.optimize import linear_sum_assignment

    agreement = found.base_rates[:, None] * found.confusion[:-1].sum(axis=0)
    classes, names = linear_sum_assignment(-agreement)
    order = classes[np.argsort(names)]
    return replace(found, base_rates=found.base_rates[order], confusion=found.confusion[:, order])


def _one_hot(codes: Integers, n_categories: int) -> Floats:
    """Give (n_patterns, n_raters * n_categories): 1 where the rater gave the category."""
    hot = codes[:, :, None] == np.arange(n_categories)
    return hot.reshape(len(codes), -1).astype(float)


def _em_step(
    answered: Floats, weights: Floats, current: LatentClasses, model: LatentClassModel
) -> tuple[LatentClasses, float]:
    """Take one step; the log-likelihood given is that before it."""
    k = len(current.base_rates)
    log_confusion = np.log(np.maximum(current.confusion, TINY))
    log = answered @ log_confusion.swapaxes(1, 2).reshape(-1, k)
    log += np.log(np.maximum(current.base_rates, TINY))
    top = log.max(axis=1, keepdims=True)
    joint = np.exp(log - top)
    total = joint.sum(axis=1, keepdims=True)
    log_likelihood = float(weights @ (np.log(total) + top)[:, 0])
    return _maximise(answered, weights[:, None] * joint / total, model), log_likelihood


def _maximise(answered: Floats, expected: Floats, model: LatentClassModel) -> LatentClasses:
    """Estimate parameters from expected numbers of items, shape (n_patterns, n_categories)."""
    k = expected.shape[1]
    counts = (answered.T @ expected).reshape(-1, k, k).swapaxes(1, 2)
    if model.shared:
        pooled = np.broadcast_to(counts[:-1].sum(axis=0), counts[:-1].shape)
        counts = np.concatenate([pooled, counts[-1:]])
    if model.form != "full":
        counts = _equal_errors(counts, by_category=model.form == "category_accuracy")
    base_rates = expected.sum(axis=0)
    return LatentClasses(
        base_rates=base_rates / base_rates.sum(),
        confusion=(counts + TINY) / (counts + TINY).sum(axis=2, keepdims=True),
    )


def _equal_errors(counts: Floats, *, by_category: bool) -> Floats:
    k = counts.shape[-1]
    right = np.diagonal(counts, axis1=1, axis2=2)
    total = counts.sum(axis=2)
    if not by_category:
        right = np.broadcast_to(right.sum(axis=1, keepdims=True), total.shape)
        total = np.broadcast_to(total.sum(axis=1, keepdims=True), total.shape)
    eye = np.eye(k)
    return right[..., None] * eye + (total - right)[..., None] * (1 - eye) / (k - 1)


def _distance(one: LatentClasses, other: LatentClasses) -> float:
    return max(
        float(np.abs(one.base_rates - other.base_rates).max()),
        float(np.abs(one.confusion - other.confusion).max()),
    )


def _extrapolate(
    start: LatentClasses, first: LatentClasses, second: LatentClasses
) -> LatentClasses | None:
    """Go on in the direction of two EM steps, or None if that leaves the simplex."""
    points = [np.append(p.base_rates, p.confusion.ravel()) for p in (start, first, second)]
    step, bend = points[1] - points[0], points[2] - 2 * points[1] + points[0]
    length = float(np.linalg.norm(bend))
    if length == 0:
        return None
    size = max(1.0, float(np.linalg.norm(step)) / length)
    leap = points[0] + 2 * size * step + size**2 * bend
    if leap.min() < 0:
        return None
    k = len(start.base_rates)
    return LatentClasses(base_rates=leap[:k], confusion=leap[k:].reshape(start.confusion.shape))
