"""A gate of a pipeline: whether an accuracy, a rate or a difference is as high as it must be."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.contrasts.groups import GroupColumn
from lehner.core.errors import InputError, check_number, find
from lehner.core.estimate import IntervalEstimate, to_plain
from lehner.core.results import Results, read_value
from lehner.core.text import pluralise
from lehner.data.columns import Label
from lehner.data.estimable import count_truths
from lehner.data.ratings import Ratings
from lehner.data.reading import to_names
from lehner.estimation.estimate import compare, estimate
from lehner.known_truths.one_judge import is_judged

PASSES, FAILS, OPEN = "passes", "fails", "open"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether a number is as high as it must be.

    Parameters
    ----------
    quantity : str
        What the number is.
    value : IntervalEstimate
        Its lower end is below the truth, and its upper end above it, with the certainty asked for.
    at_least : float
        How high it must be.
    n_labels : int
        How many gold labels it rests on.

    Examples
    --------
    >>> value = IntervalEstimate(0.9, 0.85, 0.94, level=0.9)
    >>> print(Verdict(quantity="accuracy of gpt", value=value, at_least=0.8, n_labels=90))
    accuracy of gpt 0.900 [0.850, 0.940], at least 0.8: passes (90 gold labels)
    """

    quantity: str
    value: IntervalEstimate
    at_least: float
    n_labels: int

    @property
    def outcome(self) -> str:
        """One of "passes", "fails" and "open"."""
        lower, upper = self.value.lower, self.value.upper
        if lower is not None and lower >= self.at_least:
            return PASSES
        if upper is not None and upper <= self.at_least:
            return FAILS
        return OPEN

    @property
    def labels_needed(self) -> int | None:
        """How many more gold labels would tell, if the estimate stayed; None if none would."""
        lower, upper, estimate = self.value.lower, self.value.upper, self.value.estimate
        if self.outcome != OPEN:
            return 0
        if lower is None or upper is None or estimate is None or estimate == self.at_least:
            return None
        reach = estimate - lower if estimate > self.at_least else upper - estimate
        factor = (reach / (estimate - self.at_least)) ** 2
        return max(1, round(self.n_labels * (factor - 1))) if self.n_labels else None

    def to_dict(self) -> dict[str, Any]:
        """Give the fields, the outcome and the labels that are needed as a plain dict."""
        more = {"outcome": self.outcome, "labels_needed": self.labels_needed}
        return {name: to_plain(value) for name, value in vars(self).items()} | more

    def __str__(self) -> str:
        text = f"{self.quantity} {self.value}, at least {self.at_least:g}: {self.outcome}"
        labels = pluralise(self.n_labels, "gold label")
        more = self.labels_needed
        return f"{text} ({labels}{f'; about {more} more would tell' if more else ''})"


def gate(
    ratings: Ratings,
    at_least: float,
    *,
    than: str | None = None,
    good: Label | Sequence[Label] | None = None,
    groups: ArrayLike | GroupColumn | None = None,
    certainty: float = 0.95,
    seed: int = 1,
) -> list[Verdict]:
    """Test whether systems are accurate enough, or whether enough items are good.

    A number passes if it is high enough with the certainty asked for, and fails if it is too low
    with this certainty; otherwise it is open. Where there are gold labels, the accuracy of a system
    rests on these and on its own answers. The rate of good items rests, with one judge, on its
    answers, and on the gold labels of each group: a judge who favours a group gives no false alarm.
    Intervals are those of `lehner.estimate` and `lehner.compare`, with half a label more at each
    end.

    Parameters
    ----------
    ratings : Ratings
        With systems, whose accuracy is tested; or without, where the rate of good items is.
    at_least : float
        How high the accuracy or the rate must be; or how much higher than that of `than`.
    than : str, optional
        The system, or the group, with which each of the others is compared.
    good : str, int, or several of these, optional
        The categories whose rate is tested, which are needed if there is no system.
    groups : array_like of str, shape (n_rows,), optional
        To which group each row belongs. The rate of each group is tested.
    certainty : float
        Probability with which a number must pass or fail, between .5 and 1.
    seed : int
        The same seed gives the same numbers.

    Returns
    -------
    list of Verdict
        One for each system or group.

    Raises
    ------
    InputError
        If there is no such system or group, if no category is good, or if the ratings cannot be
        estimated.

    Examples
    --------
    >>> answers, truth = [[0]] * 30 + [[1]] * 30, [0] * 29 + [1] * 31
    >>> ratings = Ratings(np.empty((60, 0)), ["no", "yes"], system=answers, truth=truth)
    >>> print(*gate(ratings, 0.8))
    accuracy of system 0.983 [0.916, 1.000], at least 0.8: passes (60 gold labels)
    """
    check_number("certainty", certainty, 0.5, 0.9999)
    check_number("at_least", at_least, -1.0, 1.0)
    if ratings.systems:
        key, quantity, what = "system", "system_accuracy", "accuracy of {}"
        if groups is not None:
            raise InputError("groups have rates, and systems have accuracies", "give one of these")
    else:
        key, quantity, what = "group", "base_rates", " or ".join(to_names(good)) + " in {}"
        if not to_names(good):
            raise InputError("no category is good", "name those whose rate is tested")
    results = _estimate(ratings, good, groups, level=2 * certainty - 1, seed=seed)
    rows = results.select(quantity=quantity)
    if than is not None:
        find(key, than, dict.fromkeys(rows[key]))
        rows = results.select(quantity=f"{quantity}_difference")
        rows = rows[(rows[key] == than) | (rows["versus"] == than)]
        what += f" less that of {than}"
    verdicts = []
    for row in rows.to_dict("records"):
        value, name = read_value(row), row[key]
        if name == than:
            value, name = _turn(value), row["versus"]
        counts = [_count_labels(results, x) for x in {name, than or name}]
        # Systems have the same labelled items, and groups have their own.
        counts = [min(counts)] if ratings.systems else counts
        n_labels, value = sum(counts), _allow_for_whole_labels(value, counts)
        tested = what.format(name)
        verdicts.append(Verdict(quantity=tested, value=value, at_least=at_least, n_labels=n_labels))
    return verdicts


def _estimate(
    ratings: Ratings, good: Any, groups: ArrayLike | GroupColumn | None, **options: Any
) -> Results:
    """Estimate by the method that holds whatever the raters have in common, if there are labels."""
    labelled, questions = count_truths(ratings) > 0, ["accuracy", "known_truths", "systems"]
    if ratings.systems:
        if labelled:
            none = np.zeros(0, dtype=int)
            ratings = ratings.replace(entries=ratings.entries.take_raters(none), raters=())
        return estimate(
            ratings, None if labelled else "learned_prior", questions=questions, **options
        )
    method = "post_stratified" if is_judged(ratings) else None
    return compare(ratings, good, groups, method, **options)


def _allow_for_whole_labels(value: IntervalEstimate, counts: Sequence[int]) -> IntervalEstimate:
    """Widen an interval by half a label at each end, as tests are corrected for continuity.

    Without it a little more than one in twenty numbers at the border would pass, and as many fail.
    """
    half = sum(0.5 / count for count in counts if count)
    if value.lower is None or value.upper is None:
        return value
    return replace(value, lower=max(-1.0, value.lower - half), upper=min(1.0, value.upper + half))


def _turn(value: IntervalEstimate) -> IntervalEstimate:
    """Give the difference of the second from the first as that of the first from the second."""
    estimate, lower, upper = (
        None if x is None else -x for x in (value.estimate, value.lower, value.upper)
    )
    return replace(value, estimate=estimate, lower=upper, upper=lower)


def _count_labels(results: Results, name: str) -> int:
    """Count the gold labels of a system or a group."""
    for key, quantity in (
        ("system", "accuracy_on_known_items"),
        ("group", "base_rates_on_known_items"),
    ):
        rows = results.select(quantity=quantity, **{key: name})
        if len(rows):
            return int(rows["n_items"].iloc[0])
    return 0
