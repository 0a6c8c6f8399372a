"""The likelihood every model shares: ratings with the true category summed out.

Items are collapsed to unique patterns of ratings with counts; the system is one more rater. A
pattern's ratings stand in slots: slot s of pattern p holds a category and the rater who gave it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray
from pytensor.gradient import disconnected_grad
from scipy.sparse import csr_array

from lehner import InputError, Patterns, Ratings

EMPTY = -1
SYSTEM = "system"


@dataclass(frozen=True, kw_only=True)
class RatingSlots:
    """Unique patterns of ratings, the system's included, in rectangular form.

    Parameters
    ----------
    codes : ndarray of int, shape (n_patterns, n_slots)
        Category of the rating in each slot, -1 where the slot is empty.
    rater_index : ndarray of int, shape (n_patterns, n_slots)
        Who gave it, -1 where the slot is empty.
    counts : ndarray of int, shape (n_patterns,)
        How many items have the pattern.
    raters : tuple of str
        Names of the raters; the system, if there is one, is the last and named `system`.
    patterns : Patterns
        The patterns as ratings, and which item has which.
    """

    codes: NDArray[np.int64]
    rater_index: NDArray[np.int64]
    counts: NDArray[np.int64]
    raters: tuple[str, ...]
    patterns: Patterns


def rating_slots(ratings: Ratings) -> RatingSlots:
    """Collapse ratings to patterns and put the system among the raters.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    RatingSlots

    Raises
    ------
    InputError
        If it is unknown who gave which rating: each rater has a confusion matrix.
    """
    if ratings.anonymous:
        raise InputError(
            "it is unknown who gave which rating, and each rater has a confusion matrix",
            "use data in which raters are named",
        )
    patterns = ratings.patterns(truth=False)
    unique, flat = patterns.ratings, patterns.ratings.flat
    lengths = np.bincount(flat.item_index, minlength=len(unique.items))
    slot = np.arange(len(flat.item_index)) - (np.cumsum(lengths) - lengths)[flat.item_index]
    shape = (len(unique.items), int(lengths.max(initial=0)))
    codes, raters = np.full(shape, EMPTY), np.full(shape, EMPTY)
    codes[flat.item_index, slot] = flat.category_index
    raters[flat.item_index, slot] = flat.rater_index
    names = ratings.raters
    if unique.system is not None:
        answer = np.where(unique.system >= 0, ratings.n_raters, EMPTY)
        codes = np.column_stack([codes, unique.system])
        raters = np.column_stack([raters, answer])
        names = (*names, SYSTEM)
    return RatingSlots(
        codes=codes,
        rater_index=raters,
        counts=unique.weights,
        raters=names,
        patterns=patterns,
    )


def model_coords(slots: RatingSlots) -> dict[str, Any]:
    """Give the coordinates every model has."""
    categories = list(slots.patterns.ratings.categories)
    return {
        "rater": list(slots.raters),
        "category": categories,
        "response": categories,
        "pattern": np.arange(len(slots.counts)),
        "slot": np.arange(slots.codes.shape[1]),
    }


def add_ratings(slots: RatingSlots, base_rates: Any, confusion: Any) -> None:
    r"""Add the observed ratings to the model in context.

    .. math:: \log p(y) = \sum_p n_p \log \sum_k \pi_k \prod_s \theta_{r_{ps}, k, y_{ps}}

    Parameters
    ----------
    slots : RatingSlots
    base_rates : TensorVariable, shape (n_categories,)
    confusion : TensorVariable, shape (n_raters, n_categories, n_responses)

    References
    ----------
    Dawid & Skene (1979), https://doi.org/10.2307/2346806
    """
    codes = pm.Data("codes", slots.codes, dims=("pattern", "slot"))
    rater_index = pm.Data("rater_index", slots.rater_index, dims=("pattern", "slot"))
    counts = pm.Data("counts", slots.counts, dims="pattern")
    pm.CustomDist(
        "ratings",
        base_rates,
        confusion,
        rater_index,
        counts,
        logp=_logp,
        random=_draw_ratings,
        signature="(k),(r,k,l),(s),()->(s)",
        dtype="int64",
        observed=codes,
        dims=("pattern", "slot"),
    )


def _logp(codes: Any, base_rates: Any, confusion: Any, rater_index: Any, counts: Any) -> Any:
    # Parameters arrive with a leading broadcast dimension. Written with few kinds of operation:
    # each takes a second or more to compile.
    base_rates, confusion = base_rates[0], confusion[0]
    n_raters, n_categories = confusion.shape[0], confusion.shape[1]
    table = pt.log(confusion).dimshuffle(0, 2, 1).reshape((n_raters * n_categories, n_categories))
    by_slot = table[rater_index * n_categories + codes]
    by_slot = pt.switch((codes >= 0)[..., None], by_slot, 0.0)
    joint = pt.log(base_rates) + by_slot.sum(axis=-2)
    top = disconnected_grad(joint.max(axis=-1, keepdims=True))
    return counts * (pt.log(pt.exp(joint - top).sum(axis=-1)) + top[..., 0])


def _draw_ratings(
    base_rates: NDArray[np.float64],
    confusion: NDArray[np.float64],
    rater_index: NDArray[np.int64],
    counts: NDArray[np.int64],
    rng: np.random.Generator,
    size: Any = None,
) -> NDArray[np.int64]:
    """Draw a truth for each pattern, then its ratings; empty slots stay empty."""
    shape = np.broadcast_shapes(rater_index.shape[:-1], counts.shape, tuple(size or ()))
    rater = np.broadcast_to(rater_index, (*shape, rater_index.shape[-1]))
    base_rates, confusion = np.squeeze(base_rates), confusion.reshape(confusion.shape[-3:])
    truth = (rng.random((*shape, 1)) > np.cumsum(base_rates)[:-1]).sum(axis=-1)
    cumulative = np.cumsum(confusion, axis=-1)[rater, truth[..., None]]
    answer = (rng.random((*rater.shape, 1)) > cumulative[..., :-1]).sum(axis=-1)
    return np.where(rater == EMPTY, EMPTY, answer)


def response_counts(slots: RatingSlots) -> csr_array:
    """Count each pattern's ratings by rater and response.

    Parameters
    ----------
    slots : RatingSlots

    Returns
    -------
    scipy.sparse.csr_array, shape (n_patterns, n_raters * n_responses)
        So that its product with log confusion matrices, categories in columns, is the log
        probability of the ratings given each category.
    """
    n_categories = slots.patterns.ratings.n_categories
    pattern, slot = np.nonzero(slots.codes >= 0)
    cell = slots.rater_index[pattern, slot] * n_categories + slots.codes[pattern, slot]
    shape = (len(slots.counts), len(slots.raters) * n_categories)
    return csr_array((np.ones(len(cell)), (pattern, cell)), shape=shape)
