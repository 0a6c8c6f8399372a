"""Test statistics of the K-properties."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lehner.core.arrays import Floats
from lehner.k_properties.agreement_totals import Design, Totals
from lehner.k_properties.model import (
    KModel,
    disagreement_proportions,
    expected_triples,
)

type Statistic = Callable[[Totals, KModel, Design], Floats]
type Tail = Literal["greater", "two-sided"]
type NullName = Literal["one_accuracy", "own_accuracies"]


@dataclass(frozen=True, kw_only=True)
class KTest:
    """A test of a K-property.

    Parameters
    ----------
    k_property : str
        The property that is tested, in plain words.
    statistic : callable
    null : {"one_accuracy", "own_accuracies"}
        Whether all raters have the same accuracy in the null model or each has their own.
    tail : {"greater", "two-sided"}
    """

    k_property: str
    statistic: Statistic
    null: NullName = "one_accuracy"
    tail: Tail = "greater"


def equal_errors(totals: Totals, model: KModel, design: Design) -> Floats:
    """Chi-square of disagreements by pair of categories, compared with the fitted model."""
    expected = totals.disagreeing.sum(axis=1, keepdims=True) * disagreement_proportions(model)
    squared = (totals.disagreeing - expected) ** 2
    return np.divide(squared, expected, out=np.zeros_like(squared), where=expected > 0).sum(axis=1)


def error_distance(totals: Totals, model: KModel, design: Design) -> Floats:
    """Mean distance between disagreeing ratings, minus that of the fitted model."""
    expected = disagreement_proportions(model) @ _distances(design)
    return mean_distance(totals, design) - expected


def mean_distance(totals: Totals, design: Design) -> Floats:
    """Mean number of steps between two ratings that disagree, shape (n_samples,)."""
    total = np.maximum(totals.disagreeing.sum(axis=1), 1)
    return np.asarray(totals.disagreeing @ _distances(design) / total)


def equal_accuracy(totals: Totals, model: KModel, design: Design) -> Floats:
    """Chi-square of each rater's agreement with the others, compared with that of all pairs."""
    agreeing, pairs = rater_agreement(totals, design)
    mean = (totals.agreeing.sum(axis=1) / totals.pairs.sum())[:, None]
    squared, scale = (agreeing - pairs * mean) ** 2, pairs * mean * (1 - mean)
    return np.divide(squared, scale, out=np.zeros_like(squared), where=scale > 0).sum(axis=1)


def rater_agreement(totals: Totals, design: Design) -> tuple[Floats, Floats]:
    """Count, for each rater, the agreeing pairs of ratings with others, and all pairs.

    Returns
    -------
    agreeing : ndarray, shape (n_samples, n_raters)
    pairs : ndarray, shape (n_raters,)
    """
    everybody = np.arange(design.n_raters)
    member = (design.first[:, None] == everybody) | (design.second[:, None] == everybody)
    return totals.agreeing @ member.astype(float), totals.pairs @ member


def equal_difficulty(totals: Totals, model: KModel, design: Design) -> Floats:
    """Proportion of triples of ratings that all agree, minus that of the fitted model."""
    return (totals.agreeing_triples - expected_triples(model, design)) / totals.triples


K_TESTS: dict[str, KTest] = {
    "equal_errors": KTest(k_property="equal error probabilities", statistic=equal_errors),
    "error_distance": KTest(
        k_property="equal error probabilities", statistic=error_distance, tail="two-sided"
    ),
    "equal_accuracy": KTest(k_property="equal rater accuracy", statistic=equal_accuracy),
    "equal_difficulty": KTest(
        k_property="equal difficulty", statistic=equal_difficulty, null="own_accuracies"
    ),
}


def _distances(design: Design) -> Floats:
    a, b = np.triu_indices(design.n_categories, 1)
    return (b - a).astype(float)
