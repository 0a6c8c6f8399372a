r"""The latent-class models by name, and the confusion matrices that each allows.

A name has the same confusion matrices in both. As names of methods, `dawid_skene_ml` is the model
fitted by maximum likelihood, and `dawid_skene` the Bayesian model, which the file of that name in
`bayes_models` builds.

In the t-a-p model a rater knows the true category with probability a, and otherwise guesses l with
probability p, whatever the truth:

.. math:: \theta_{kl} = a [k = l] + (1 - a) p_l

Such a matrix is kept as its mixture, a followed by (1 - a) p, which sums to 1 and on which the
matrix depends linearly.
"""

from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import TINY, Floats
from lehner.core.errors import find

BY_LIKELIHOOD = "_ml"


@dataclass(frozen=True, kw_only=True)
class LatentClassModel:
    """Which confusion matrices a model allows.

    Parameters
    ----------
    shared : bool
        Whether all raters, except the system, share one confusion matrix.
    form : {"accuracy", "category_accuracy", "knowledge", "full"}
        One accuracy and equal errors; an accuracy for each category and equal errors; knowledge of
        the true category and guesses; or an unrestricted matrix.
    """

    shared: bool
    form: str


@dataclass(frozen=True, kw_only=True)
class ModelRow:
    """A row of the table of models.

    Parameters
    ----------
    summary : str
        What the model assumes about the raters, in a few words.
    matrices : LatentClassModel, optional
        The confusion matrices; None if they are not that simple.
    sampled_only : bool
        Whether there is no maximum likelihood fit.
    label : str
        Printed name, by default the name with spaces.
    color, marker : str
        Look in figures, as Matplotlib takes them.
    """

    summary: str
    matrices: LatentClassModel | None = None
    sampled_only: bool = False
    label: str = ""
    color: str = "black"
    marker: str = "."


MODELS = {
    "one_coin": ModelRow(
        summary="all raters have the same accuracy, and all errors are equally probable",
        matrices=LatentClassModel(shared=True, form="accuracy"),
        label="One coin",
        color="#f38d01",
        marker="v",
    ),
    "one_coin_by_rater": ModelRow(
        summary="each rater has their own accuracy, and all errors are equally probable",
        matrices=LatentClassModel(shared=False, form="accuracy"),
        label="One coin per rater",
        color="#753900",
        marker="<",
    ),
    "pooled": ModelRow(
        summary="all raters have the same confusion matrix",
        matrices=LatentClassModel(shared=True, form="full"),
        label="Pooled Dawid–Skene",
        color="#ad663c",
        marker=">",
    ),
    "class_conditional": ModelRow(
        summary="each rater has an accuracy in each category; all errors are equally probable",
        matrices=LatentClassModel(shared=False, form="category_accuracy"),
        label="Class-conditional",
        color="#50138e",
        marker="H",
    ),
    "dawid_skene": ModelRow(
        summary="each rater has their own confusion matrix",
        matrices=LatentClassModel(shared=False, form="full"),
        label="Dawid–Skene",
        color="#d55e00",
        marker="s",
    ),
    "hierarchical_dawid_skene": ModelRow(
        summary="each rater's confusion matrix comes from a population of raters",
        matrices=LatentClassModel(shared=False, form="full"),
        sampled_only=True,
        label="Hierarchical Dawid–Skene",
        color="#bf98b9",
        marker="d",
    ),
    "tap": ModelRow(
        summary="a rater knows the truth or guesses",
        matrices=LatentClassModel(shared=False, form="knowledge"),
        label="t-a-p",
        color="#60422c",
        marker="h",
    ),
    "relaxed_k": ModelRow(
        summary="each assumption of the algebra is relaxed as far as the ratings require it",
        label="Relaxed K",
        color="#009e73",
        marker="^",
    ),
}
_FITTED = {
    name: row.matrices for name, row in MODELS.items() if row.matrices and not row.sampled_only
}
LIKELIHOOD_METHODS = {name + BY_LIKELIHOOD: name for name in _FITTED}
"""Latent-class models by maximum likelihood: names of methods, and names in `fit_latent_class`."""
LATENT_CLASS_MODELS = _FITTED | {"pooled_tap": LatentClassModel(shared=True, form="knowledge")}
"""Models that `fit_latent_class` fits. The t-a-p model of all raters alike is no method."""


def find_latent_class_model(name: str) -> LatentClassModel:
    """Look up a model that is fitted by maximum likelihood, or raise an InputError."""
    return find("latent-class model", name, LATENT_CLASS_MODELS)


EMPTY = 1e-14
"""Added to expected numbers of ratings, so that rows without ratings have equal probabilities."""
LEAST_KNOWLEDGE = 1e-9
"""Less knowledge is none: a rater without any has nearly as high a likelihood."""
ROUNDING = 1e-12
PRECISION = 1e-10
"""The relative error of knowledge."""
MOST_STEPS = 60


def most_likely_confusion(
    counts: Floats, model: LatentClassModel, *, has_system: bool = True
) -> Floats:
    """Estimate confusion matrices from numbers of ratings, with the restrictions of a model.

    Parameters
    ----------
    counts : ndarray, shape (..., n_raters, n_classes, n_categories)
    model : LatentClassModel
    has_system : bool
        Whether the last rater is the system.

    Returns
    -------
    ndarray, shape (..., n_raters, n_classes, n_categories)
    """
    if model.shared:
        n_shared = counts.shape[-3] - has_system
        raters = counts[..., :n_shared, :, :]
        pooled = np.broadcast_to(raters.sum(axis=-3, keepdims=True), raters.shape)
        counts = np.concatenate([pooled, counts[..., n_shared:, :, :]], axis=-3)
    if model.form == "knowledge":
        used = counts.sum(axis=-2, keepdims=True) > 0
        return mixture_to_confusion(most_likely_mixture(counts + EMPTY * used))
    if model.form != "full":
        counts = _equal_errors(counts, by_category=model.form == "category_accuracy")
    counts = counts + EMPTY
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


def _equal_errors(counts: Floats, *, by_category: bool) -> Floats:
    k = counts.shape[-1]
    right = np.diagonal(counts, axis1=-2, axis2=-1)
    total = counts.sum(axis=-1)
    if not by_category:
        right = np.broadcast_to(right.sum(axis=-1, keepdims=True), total.shape)
        total = np.broadcast_to(total.sum(axis=-1, keepdims=True), total.shape)
    eye = np.eye(k)
    return right[..., None] * eye + (total - right)[..., None] * (1 - eye) / (k - 1)


def to_parameters(confusion: Floats, model: LatentClassModel) -> Floats:
    """Parameters of confusion matrices, in rows that sum to 1.

    Parameters
    ----------
    confusion : ndarray, shape (..., n_classes, n_categories)
    model : LatentClassModel

    Returns
    -------
    ndarray, shape (..., n_categories + 1) for t-a-p, else that of confusion
    """
    return confusion_to_mixture(confusion) if model.form == "knowledge" else confusion


def to_confusion(parameters: Floats, model: LatentClassModel) -> Floats:
    """Confusion matrices of parameters that `to_parameters` gives."""
    return mixture_to_confusion(parameters) if model.form == "knowledge" else parameters


def mixture_to_confusion(mixture: Floats) -> Floats:
    """Confusion matrices, (..., k, k), of mixtures, (..., k + 1)."""
    right = mixture[..., :1, None] * np.eye(mixture.shape[-1] - 1)
    return np.asarray(right + mixture[..., None, 1:])


def confusion_to_mixture(confusion: Floats) -> Floats:
    """Mixtures, (..., k + 1), of confusion matrices, (..., k, k)."""
    category = np.arange(confusion.shape[-1])
    guesses = confusion[..., category - 1, category]
    knowledge = (confusion[..., category, category] - guesses).min(axis=-1, keepdims=True)
    return np.concatenate([np.maximum(knowledge, 0.0), guesses], axis=-1)


def most_likely_mixture(counts: Floats) -> Floats:
    r"""Estimate knowledge and guesses from numbers of ratings by class and category.

    With r and m the proportions of the ratings that are right and wrong answers l, the likelihood
    has its maximum where

    .. math:: \sum_l \frac{r_l}{a + g_l} = 1, \qquad \frac{r_l}{a + g_l} + \frac{m_l}{g_l} = 1

    with g = (1 - a) p. Given a, g is the root of a quadratic. The equation for a is solved by
    Newton's method, from above. If the sum is at most 1 for a = 0, the rater knows nothing.

    Parameters
    ----------
    counts : ndarray, shape (..., n_classes, n_categories)

    Returns
    -------
    ndarray, shape (..., n_categories + 1)
        Knowledge, followed by the probabilities of guessing each category.

    Examples
    --------
    >>> most_likely_mixture(np.array([[70.0, 30.0], [20.0, 80.0]])).round(3)
    array([0.5, 0.2, 0.3])
    """
    k = counts.shape[-1]
    by_rater = counts.reshape(-1, k, k)
    total = by_rater.sum(axis=(1, 2))[:, None]
    right = np.diagonal(by_rater, axis1=1, axis2=2) / np.maximum(total, TINY)
    # A difference to all ratings would have a rounding error larger than very few wrong ones.
    wrong = (by_rater * (1 - np.eye(k))).sum(axis=1) / np.maximum(total, TINY)
    knowledge = np.zeros(len(right))
    some = _sum_known(np.full(len(right), LEAST_KNOWLEDGE), right, wrong)[0] > 1 + ROUNDING
    knowledge[some] = _solve(right[some], wrong[some])
    guesses, _ = _guesses(knowledge, right, wrong)
    mixture = np.column_stack([knowledge, np.where(total > 0, guesses, 1 / k)])
    mixture /= mixture.sum(axis=1, keepdims=True)
    return np.asarray(mixture.reshape(*counts.shape[:-2], k + 1))


def _solve(right: Floats, wrong: Floats) -> Floats:
    """Find the knowledge at which the sum of r / (a + g) is 1."""
    knowledge = right.sum(axis=1)
    moving = np.arange(len(knowledge))
    for _ in range(MOST_STEPS):
        current = knowledge[moving]
        total, slope = _sum_known(current, right[moving], wrong[moving])
        # The function is convex, so that no step from above goes beyond its root.
        step = np.where(slope > ROUNDING, current * (1 - total) / np.maximum(slope, ROUNDING), 0.0)
        knowledge[moving] -= step
        moving = moving[step > PRECISION * current]
        if not moving.size:
            break
    return knowledge


def _sum_known(knowledge: Floats, right: Floats, wrong: Floats) -> tuple[Floats, Floats]:
    """Sum of r / (a + g), and the slope of a + sum(g) - 1, which is a times (1 - sum)."""
    guesses, root = _guesses(knowledge, right, wrong)
    total = (right / np.maximum(knowledge[:, None] + guesses, TINY)).sum(axis=1)
    return total, 1 + ((wrong - guesses) / np.maximum(root, TINY)).sum(axis=1)


def _guesses(knowledge: Floats, right: Floats, wrong: Floats) -> tuple[Floats, Floats]:
    """Positive root of g^2 + (a - r - m) g - m a = 0, and that of its discriminant."""
    a = knowledge[:, None]
    excess = right + wrong - a
    root = np.sqrt(excess**2 + 4 * wrong * a)
    other = 2 * wrong * a / np.maximum(root - excess, TINY)
    return np.where(excess > 0, (excess + root) / 2, other), root
