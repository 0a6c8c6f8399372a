"""The Dawid-Skene model: base rates, and a full confusion matrix for each rater."""

import numpy as np
import pymc as pm
from numpy.typing import ArrayLike, NDArray

from bayes_models.likelihood import add_ratings, model_coords, rating_slots
from lehner import InputError, Ratings


def dawid_skene(
    ratings: Ratings,
    *,
    base_rate_concentration: ArrayLike = 3.0,
    confusion_concentration: ArrayLike | None = None,
) -> pm.Model:
    r"""Build the Bayesian Dawid-Skene model, the system being one more rater.

    .. math::
        \pi \sim \mathrm{Dirichlet}, \quad \theta_{jk} \sim \mathrm{Dirichlet}, \quad
        z_i \sim \mathrm{Categorical}(\pi), \quad y_{ij} \sim \mathrm{Categorical}(\theta_{j z_i})

    The true categories z are summed out. The likelihood is the same if categories are renamed;
    the prior, whose raters are right more often than wrong, breaks the tie.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    base_rate_concentration : array_like, scalar or shape (n_categories,)
        Dirichlet concentration of the base rates.
    confusion_concentration : array_like, shape (n_categories, n_categories) or with a leading \
            dimension for raters and system, optional
        Dirichlet concentration of the confusion matrices; by default `diagonal_concentration`.

    Returns
    -------
    pymc.Model
        Variables `base_rates` (category), `confusion` (rater, category, response), `accuracy`
        (rater) and, with a system, `system_accuracy`; the system is the rater `system`.

    References
    ----------
    Dawid & Skene (1979), https://doi.org/10.2307/2346806; priors as in Pullin, Gurrin &
    Vukcevic (2023), https://doi.org/10.32614/RJ-2023-064

    Examples
    --------
    >>> import lehner
    >>> model = dawid_skene(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs]
    ['base_rates', 'confusion']
    """
    slots = rating_slots(ratings)
    k = ratings.n_categories
    if confusion_concentration is None:
        confusion_concentration = diagonal_concentration(k)
    shape = (len(slots.raters), k, k)
    with pm.Model(coords=model_coords(slots)) as model:
        base_rates = pm.Dirichlet(
            "base_rates", _positive(base_rate_concentration, (k,)), dims="category"
        )
        confusion = pm.Dirichlet(
            "confusion",
            _positive(confusion_concentration, shape),
            dims=("rater", "category", "response"),
        )
        right = (confusion * np.eye(k) * base_rates[:, None]).sum(axis=(1, 2))
        accuracy = pm.Deterministic("accuracy", right, dims="rater")
        if ratings.system is not None:
            pm.Deterministic("system_accuracy", accuracy[-1])
        add_ratings(slots, base_rates, confusion)
    return model


def diagonal_concentration(
    n_categories: int, *, strength: float = 8.0, accuracy: float = 0.6
) -> NDArray[np.float64]:
    """Give the Dirichlet concentration of raters who are right with a given mean probability.

    Parameters
    ----------
    n_categories : int
        K, 2 or more.
    strength : float
        Sum of each row: the number of ratings the prior is worth.
    accuracy : float
        Prior mean of the diagonal, between 0 and 1.

    Returns
    -------
    ndarray, shape (n_categories, n_categories)

    Examples
    --------
    >>> diagonal_concentration(3).round(2).tolist()
    [[4.8, 1.6, 1.6], [1.6, 4.8, 1.6], [1.6, 1.6, 4.8]]
    """
    wrong = strength * (1 - accuracy) / (n_categories - 1)
    matrix = np.full((n_categories, n_categories), wrong)
    np.fill_diagonal(matrix, strength * accuracy)
    return matrix


def _positive(concentration: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    values = np.asarray(concentration, dtype=float)
    try:
        values = np.broadcast_to(values, shape)
    except ValueError:
        raise InputError(
            f"a prior concentration has shape {values.shape}", f"give one that fits {shape}"
        ) from None
    if not (np.isfinite(values) & (values > 0)).all():
        raise InputError("a prior concentration is not positive", "give positive numbers")
    return values.copy()
