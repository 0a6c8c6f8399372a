"""The raters' performance by any method that tells them apart: recall, measures, who is worse."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lehner.core.arrays import Booleans, Floats
from lehner.core.estimate import NamedArray, Parameters, Replicates
from lehner.core.text import first_few
from lehner.core.warning import Warning, warn
from lehner.data.ratings import Ratings
from lehner.performance.intervals import infinite_notes, with_bounds
from lehner.performance.measures import RATIOS, occurring, performance_measures
from lehner.performance.positive import PositiveCategory
from lehner.performance.result import BOUNDS, RaterPerformance

OF_TWO = ("recall", "precision", "specificity", *RATIOS)
"""Measures of raters by category, if there are two."""
MOST_COMPARED = 50
"""Raters whose accuracies are compared two by two; of more, each is compared with all."""
SAME = 1e-9
"""Accuracies that differ by less are one parameter."""
MOST_NAMED = 5


def describe_raters(
    ratings: Ratings,
    method: str,
    replicates: Replicates,
    rated: Booleans,
    positive: PositiveCategory | None,
    level: float,
) -> RaterPerformance | None:
    """Give each rater's measures with intervals; None if the method says nothing of raters."""
    if ratings.anonymous or np.isnan(replicates.point.rater_accuracy).all():
        return None
    answered = _answered(ratings)
    points = _quantities(replicates.point, rated, answered)
    drawn = None if replicates.drawn is None else _quantities(replicates.drawn, rated, answered)
    names: dict[str, list[Any]] = {"rater": list(ratings.raters)}
    names |= {"category": list(ratings.categories), "bound": list(BOUNDS)}
    arrays = {}
    for name, point in points.items():
        sample = None if drawn is None else drawn[name]
        values = with_bounds(name, point, sample, level, replicates)
        dims = (*("rater", "category")[: point.ndim], "bound")
        arrays[name] = NamedArray(values=values, names={dim: names[dim] for dim in dims})
    differ = drawn is not None and bool((np.ptp(drawn["accuracy"], axis=-1) > SAME).any())
    return RaterPerformance(
        method=method,
        system=ratings.all_raters[-1],
        level=None if drawn is None else level,
        kind=replicates.kind,
        arrays=arrays,
        positive=positive,
        notes=tuple(
            _notes(ratings, method, arrays, answered, positive, alike=bool(drawn) and not differ)
        ),
        **(_compare(drawn["accuracy"], ratings.raters) if drawn and differ else {}),
    )


def _quantities(parameters: Parameters, rated: Booleans, answered: Booleans) -> dict[str, Floats]:
    found = {"accuracy": parameters.rater_accuracy}
    rates, recall = parameters.base_rates[..., None, :], parameters.rater_recall
    if recall is None:
        return found
    if recall.shape[-1] != 2:
        return found | {"recall": np.where(occurring(rates) & rated, recall, np.nan)}
    right = recall[..., None]
    matrices = np.where(np.eye(2), right, 1 - right)
    measures = performance_measures(rates, matrices, rated=rated, answered=answered)
    return found | {name: measures[name] for name in OF_TWO}


def _answered(ratings: Ratings) -> Booleans:
    """Which answers each rater gives, (n_raters, n_categories)."""
    flat, shape = ratings.flat, (ratings.n_raters, ratings.n_categories)
    counted = ratings.weights[flat.item_index] > 0
    answered = np.zeros(shape, dtype=bool)
    answered[flat.rater_index[counted], flat.category_index[counted]] = True
    return answered


def _compare(accuracy: Floats, raters: Sequence[str]) -> dict[str, NamedArray]:
    """Compare accuracies, (n_replicates, n_raters); raters who tie share the lowest place."""
    lowest = accuracy < accuracy.min(axis=1, keepdims=True) + SAME
    share = (lowest / lowest.sum(axis=1, keepdims=True)).mean(axis=0)
    names = list(raters)
    found = {"probability_lowest": NamedArray(values=share, names={"rater": names})}
    if len(names) > MOST_COMPARED:
        return found
    pairs = np.full((len(names), len(names)), np.nan)
    for place, own in enumerate(accuracy.T):
        less = accuracy - own[:, None]
        pairs[place] = ((less > SAME) + 0.5 * (np.abs(less) <= SAME)).mean(axis=0)
    np.fill_diagonal(pairs, np.nan)
    both = {"rater": names, "other_rater": names}
    return found | {"probability_lower": NamedArray(values=pairs, names=both)}


def _notes(
    ratings: Ratings,
    method: str,
    arrays: Mapping[str, NamedArray],
    answered: Booleans,
    positive: PositiveCategory | None,
    *,
    alike: bool,
) -> Iterator[Warning]:
    """Say why numbers are missing."""
    if alike:
        yield warn("raters-alike", f"{method} takes all raters for equally accurate")
    if "recall" not in arrays:
        return
    undefined = np.isnan(arrays["recall"].values[..., 0])
    for place, name in enumerate(ratings.categories):
        who = [ratings.raters[j] for j in np.flatnonzero(undefined[:, place])]
        if who:
            about = "all raters" if len(who) == ratings.n_raters else first_few(who, MOST_NAMED)
            reason = f"no ratings tell how {about} rate items of {name}: recall is undefined there"
            yield warn("measure-undefined", reason)
    if "precision" not in arrays:
        return
    for place, name in enumerate(ratings.categories):
        who = [ratings.raters[j] for j in np.flatnonzero(~answered[:, place])]
        if who:
            text = f"{first_few(who, MOST_NAMED)} never answered {name}: what it means is undefined"
            yield warn("measure-undefined", text)
    yield from infinite_notes(arrays, positive)
