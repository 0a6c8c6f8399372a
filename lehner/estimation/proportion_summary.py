"""Proportions, ranks and differences of groups by one method, corrected by known truths if any."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.estimate import IntervalEstimate
from lehner.core.warning import Warning, warn
from lehner.data.ratings import Ratings
from lehner.estimation.proportions import GroupProportions, MethodProportions
from lehner.groups.base_rates import BaseRates, rater_warnings
from lehner.groups.result import GroupDifference
from lehner.groups.summary import replicate_interval
from lehner.known_truths.correction import SUSPICIOUS_P_VALUE, contradiction
from lehner.known_truths.partly_known import partly_known
from lehner.known_truths.posterior import RECALIBRATED, WEIGHTED
from lehner.known_truths.recalibration import proportion_posterior
from lehner.systems.comparison import JointDraws, compare_systems, rank_systems

type Sets = Mapping[str, list[int]]
"""Codes of the categories whose proportions are asked for together, by what they are called."""


def summarise_proportions(
    method: str,
    ratings: Ratings,
    found: BaseRates,
    sets: Sets,
    level: float,
    *,
    order: Sequence[str],
    rng: np.random.Generator,
) -> MethodProportions:
    """Give the proportions of each group; of one set of categories also ranks and differences.

    Parameters
    ----------
    method : str
    ratings : Ratings
        With a population for each group, and with the known truths.
    found : BaseRates
        By the method, which did not see known truths.
    sets : mapping of str to list of int
    level : float
    order : sequence of str
        Of the groups in differences; if it is empty, the highest proportion is first.
    rng : numpy.random.Generator
        Of draws of corrected proportions.

    Returns
    -------
    MethodProportions
    """
    point, drawn = (
        np.stack([values[..., codes].sum(axis=-1) for codes in sets.values()], axis=-1)
        for values in (found.base_rates, found.drawn_base_rates)
    )
    truth = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth
    groups, kind = ratings.populations, found.kind
    warnings = [*found.warnings, *rater_warnings(ratings, found)]
    if corrected := bool(ratings.weights[truth >= 0].any() and not np.isnan(point).any()):
        point, drawn, doubts = _correct(ratings, found.truth_probabilities, sets, drawn, rng)
        warnings = [*warnings, *doubts]
        kind = RECALIBRATED if ratings.truth_probability is None else WEIGHTED

    def interval(drawn: Floats, point: Floats, kind: str = kind) -> IntervalEstimate:
        return replicate_interval(drawn, float(point), 0.0, level, kind)

    def tell(g: int) -> dict[str, Any]:
        counts = ratings.weights * (ratings.population == g)
        n_of = {label: counts[np.isin(truth, codes)].sum() for label, codes in sets.items()}
        return {
            "n_items": int(counts.sum()),
            "n_known": int(counts[truth >= 0].sum()),
            "n_known_of": {label: int(n) for label, n in n_of.items()},
            "proportions": {
                label: interval(drawn[:, g, s], point[g, s]) for s, label in enumerate(sets)
            },
        }

    told = {group: tell(g) for g, group in enumerate(groups)}
    differences: tuple[GroupDifference, ...] = ()
    if len(sets) == 1 and len(groups) > 1:
        (label,) = sets
        expected = dict(zip(groups, np.moveaxis(drawn[..., 0], 1, 0), strict=True))
        draws = JointDraws(method=method, kind=kind, expected=expected, in_sample=expected)
        estimates = {group: one["proportions"][label] for group, one in told.items()}
        ranks, differences = _compare(estimates, draws, level, order)
        for group, rank in ranks.items():
            told[group] |= rank
    accuracy = {}
    if found.rater_accuracy is not None and found.drawn_rater_accuracy is not None:
        drawn_accuracy = found.drawn_rater_accuracy.T
        each = zip(ratings.raters, drawn_accuracy, found.rater_accuracy, strict=True)
        accuracy = {rater: interval(drawn, point, found.kind) for rater, drawn, point in each}
    return MethodProportions(
        method=method,
        corrected=corrected,
        groups=tuple(GroupProportions(group=group, **one) for group, one in told.items()),
        differences=differences,
        rater_accuracy=accuracy,
        warnings=tuple(warnings),
    )


def _compare(
    estimates: Mapping[str, IntervalEstimate],
    draws: JointDraws,
    level: float,
    order: Sequence[str],
) -> tuple[dict[str, dict[str, Any]], tuple[GroupDifference, ...]]:
    """Give the fields of each group that tell its rank, and the differences."""
    points = {group: one.estimate for group, one in estimates.items()}
    ranks = {
        one.system: {
            "rank": one.rank,
            "rank_interval": (one.lower, one.upper),
            "probability_best": one.probability_best,
        }
        for one in rank_systems(points, draws, level=level)
    }
    order = order or [*ranks, *(group for group in estimates if group not in ranks)]
    # A group has one proportion: it is expected of items like these.
    both = {group: (estimates[group], estimates[group]) for group in order}
    differences = (
        GroupDifference(
            groups=one.systems,
            difference=one.difference,
            probability_higher=one.probability_better,
        )
        for one in compare_systems(both, draws, level=level)
    )
    return ranks, tuple(differences)


def _correct(
    ratings: Ratings, probabilities: Floats, sets: Sets, drawn: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats, list[Warning]]:
    """Recalibrate the probabilities in each group by its own known truths."""
    point, corrected, p_values = np.empty(drawn.shape[1:]), np.empty_like(drawn), []
    for g, s in np.ndindex(point.shape):
        rows = (ratings.population == g) & (ratings.weights > 0)
        truth, codes = np.asarray(ratings.truth), list(sets.values())[s]
        probability = np.clip(probabilities[:, codes].sum(axis=1), 0.0, 1.0)
        items = partly_known(ratings, rows, probability, np.isin(truth, codes))
        variance, n = float(np.nanvar(drawn[:, g, s])), items.n_items
        posterior = proportion_posterior(items, variance)
        holding = n * rng.choice(posterior.values, len(drawn), p=posterior.probability)
        corrected[:, g, s] = rng.beta(holding + 0.5, n - holding + 0.5)
        point[g, s] = (n * posterior.mean + 0.5) / (n + 1)
        by_chance = items.mean * (1 - items.mean) / n + items.variance_of_proportion
        if items.n_known:
            p_values.append(contradiction(items, max(0.0, variance - by_chance)))
    if min(p_values) * len(p_values) >= SUSPICIOUS_P_VALUE:
        return point, corrected, []
    text = "the known truths contradict the method; rely on the corrected proportions"
    return point, corrected, [warn("truths-contradict", text)]
