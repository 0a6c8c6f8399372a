r"""The latent-class models by name, and the confusion matrices that each allows.

In the t-a-p model a rater knows the true category with probability a, and otherwise guesses l with
probability p, whatever the truth:

.. math:: \theta_{kl} = a [k = l] + (1 - a) p_l

Such a matrix is kept as its mixture, a followed by (1 - a) p, which sums to 1 and on which the
matrix depends linearly.

As names of methods, `dawid_skene_ml` is the model fitted by maximum likelihood, and `dawid_skene`
the Bayesian model, which `bayes_models` builds: both have the same confusion matrices.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lehner.core.arrays import TINY, Floats
from lehner.core.errors import find

BY_LIKELIHOOD = "_ml"


@dataclass(frozen=True, kw_only=True)
class LatentClassModel:
    """A row of `models.toml`.

    Parameters
    ----------
    summary : str
        What the model assumes about the raters, in a few words.
    form : {"accuracy", "category_accuracy", "knowledge", "full", ""}
        The confusion matrices: one accuracy and equal errors; an accuracy for each category and
        equal errors; knowledge of the true category and guesses; unrestricted; or none of these.
    shared : bool
        Whether all raters, except the system, share one confusion matrix.
    sampled_only : bool
        Whether there is no maximum likelihood fit.
    label : str
        Printed name, by default the name with spaces.
    color, marker : str
        Look in figures, as Matplotlib takes them.
    """

    summary: str
    form: str = ""
    shared: bool = False
    sampled_only: bool = False
    label: str = ""
    color: str = "black"
    marker: str = "."


FILE = Path(__file__).with_name("models.toml")
MODELS = {
    name: LatentClassModel(**row)
    for name, row in tomllib.loads(FILE.read_text(encoding="utf-8")).items()
}
POOLED_TAP = LatentClassModel(
    summary="all raters know the truth equally often, or guess", form="knowledge", shared=True
)
_FITTED = {name: row for name, row in MODELS.items() if row.form and not row.sampled_only}
# Latent-class models by maximum likelihood: names of methods, and names in `fit_latent_class`.
LIKELIHOOD_METHODS = {name + BY_LIKELIHOOD: name for name in _FITTED}
# Models that `fit_latent_class` fits. The t-a-p model of all raters alike is no method.
LATENT_CLASS_MODELS = _FITTED | {"pooled_tap": POOLED_TAP}


def find_latent_class_model(name: str) -> LatentClassModel:
    """Look up a model that is fitted by maximum likelihood, or raise an InputError."""
    return find("latent-class model", name, LATENT_CLASS_MODELS)


# ----- Knowledge and guesses, t-a-p -----

# Less knowledge is none: a rater without any has nearly as high a likelihood.
LEAST_KNOWLEDGE = 1e-9
ROUNDING = 1e-12
# The relative error of knowledge.
PRECISION = 1e-10
MOST_STEPS = 60


def to_confusion(mixture: Floats) -> Floats:
    """Give the confusion matrices, (..., k, k), of mixtures, (..., k + 1)."""
    right = mixture[..., :1, None] * np.eye(mixture.shape[-1] - 1)
    return np.asarray(right + mixture[..., None, 1:])


def to_mixture(confusion: Floats) -> Floats:
    """Give the mixtures, (..., k + 1), of confusion matrices, (..., k, k)."""
    category = np.arange(confusion.shape[-1])
    guesses = confusion[..., category - 1, category]
    knowledge = (confusion[..., category, category] - guesses).min(axis=-1, keepdims=True)
    return np.concatenate([np.maximum(knowledge, 0.0), guesses], axis=-1)


def maximise_mixture(counts: Floats) -> Floats:
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
    >>> maximise_mixture(np.array([[70.0, 30.0], [20.0, 80.0]])).round(3)
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
    guesses, _ = _solve_guesses(knowledge, right, wrong)
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
    guesses, root = _solve_guesses(knowledge, right, wrong)
    total = (right / np.maximum(knowledge[:, None] + guesses, TINY)).sum(axis=1)
    return total, 1 + ((wrong - guesses) / np.maximum(root, TINY)).sum(axis=1)


def _solve_guesses(knowledge: Floats, right: Floats, wrong: Floats) -> tuple[Floats, Floats]:
    """Compute the positive root of g^2 + (a - r - m) g - m a = 0, and that of its discriminant."""
    a = knowledge[:, None]
    excess = right + wrong - a
    root = np.sqrt(excess**2 + 4 * wrong * a)
    other = 2 * wrong * a / np.maximum(root - excess, TINY)
    return np.where(excess > 0, (excess + root) / 2, other), root
