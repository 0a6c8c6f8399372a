"""The confusion matrices that a model allows: the most likely, and their parameters."""

import numpy as np

from lehner.core.arrays import Floats
from lehner.latent_class.knowledge import (
    confusion_to_mixture,
    mixture_to_confusion,
    most_likely_mixture,
)
from lehner.latent_class.models import LatentClassModel

EMPTY = 1e-14
"""Added to expected numbers of ratings, so that rows without ratings have equal probabilities."""


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
    """Give the parameters of confusion matrices, in rows that sum to 1.

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
    """Give the confusion matrices of parameters that `to_parameters` gives."""
    return mixture_to_confusion(parameters) if model.form == "knowledge" else parameters
