"""A gate of a pipeline: whether an accuracy, a rate or a difference is as high as it must be."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.contrasts.groups import GroupColumn, make_column, take_groups
from lehner.contrasts.systems import find_common, require_common_items
from lehner.core.arrays import Floats
from lehner.core.errors import InputError, check_number, compose, find, list_cautions
from lehner.core.estimate import IntervalEstimate, to_plain
from lehner.core.results import Results
from lehner.core.text import pluralise
from lehner.data.columns import Label
from lehner.data.counts import count_codes
from lehner.data.estimable import count_truths
from lehner.data.ratings import Ratings
from lehner.data.reading import to_names
from lehner.estimation.estimate import ALL_ITEMS, compare, estimate, find_sets
from lehner.estimation.gold_labels import METHOD
from lehner.known_truths.anytime import estimate_anytime, list_items, require_sequence, share_votes
from lehner.known_truths.one_judge import find_answers

PASSES, FAILS, OPEN = "passes", "fails", "open"
# The places of estimate, upper and lower end, as they are turned by a minus.
TURNED = [0, 2, 1]
# What is tested of systems and of groups, and where the number of its gold labels stands.
QUANTITIES = {
    "system": ("system_accuracy", "accuracy_on_known_items"),
    "group": ("base_rates", "base_rates_on_known_items"),
}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether a number is as high as it must be.

    Parameters
    ----------
    quantity : str
        What the number is.
    value : IntervalEstimate
        Each end of its interval is right with the certainty asked for.
    at_least : float
        How high the number must be.
    n_labels : int
        How many gold labels it rests on.
    cautions : tuple of str
        What may make the number wrong.

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
    cautions: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """One of "passes", "fails" and "open"."""
        lower, upper = self.value.lower, self.value.upper
        if lower is not None and lower >= self.at_least:
            return PASSES
        if upper is not None and upper < self.at_least:
            return FAILS
        return OPEN

    @property
    def labels_needed(self) -> int | None:
        """How many more gold labels would tell, if the estimate stayed; None if none would."""
        lower, upper, estimate = self.value.lower, self.value.upper, self.value.estimate
        if self.outcome != OPEN:
            return 0
        if lower is None or upper is None or estimate is None or not self.n_labels:
            return None
        gap, reach = estimate - self.at_least, estimate - lower
        if gap < 0:
            gap, reach = -gap, upper - estimate
        # The interval of four times as many labels is half as wide.
        return max(1, round(self.n_labels * ((reach / gap) ** 2 - 1))) if gap else None

    def to_dict(self) -> dict[str, Any]:
        """Give the fields, the outcome and the labels that are needed.

        Returns
        -------
        dict
            In plain types, ready for JSON.
        """
        more = {"outcome": self.outcome, "labels_needed": self.labels_needed}
        return {name: to_plain(value) for name, value in vars(self).items()} | more

    def __str__(self) -> str:
        text = f"{self.quantity} {self.value}, at least {self.at_least:g}: {self.outcome}"
        needed = self.labels_needed
        more = f"; about {needed:,} more would tell" if needed else ""
        return f"{text} ({pluralise(self.n_labels, 'gold label')}{more})"


def gate(
    ratings: Ratings,
    at_least: float,
    *,
    than: str | None = None,
    good: Label | Sequence[Label] | None = None,
    groups: ArrayLike | GroupColumn | None = None,
    certainty: float = 0.95,
    anytime: bool = False,
    seed: int = 1,
) -> list[Verdict]:
    """Test whether systems are accurate enough, or whether enough items are good.

    A number passes if it is high enough with the certainty asked for, and fails if it is too low
    with this certainty; otherwise it is open. Where there are gold labels, the accuracy of a system
    rests on these and on its own answers. The rate of good items rests on the gold labels of each
    group, weighted by what the judge, or most judges, say: a judge who favours a group raises no
    false alarm. Intervals are those of `lehner.estimate` and `lehner.compare`, with half a label
    more at each end.

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
    anytime : bool
        Test these items by a confidence sequence, which is right if the test is repeated after each
        new label. Labels must be drawn at random, and their order must be that of the rows.
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
    check_number("at_least", at_least, 0.0 if than is None else -1.0, 1.0)
    level = round(2 * certainty - 1, 9)
    if to_names(good):
        ratings = _name_groups(ratings.without_system(), groups)
        ((label, codes),) = find_sets(ratings, to_names(good)).items()
        key, names, what = "group", ratings.populations, f"{label} in {{}}"
    elif ratings.systems and groups is None:
        key, names, what = "system", ratings.systems, "accuracy of {}"
    else:
        remedy = compose("name what is good ({good}), or a system ({system}) and no groups")
        raise InputError("it is not said which number is tested", remedy)
    if than is not None:
        find(key, than, dict.fromkeys(names))
        what += f" less that of {than}"
    cautions: tuple[str, ...] = ()
    if anytime:
        if not count_truths(ratings):
            raise InputError("no item has a gold label", compose("label some of them ({truth})"))
        require_sequence(ratings)
        bet = partial(_bet_on_group, codes=codes) if key == "group" else bet_on_system
        numbers = [(name, *bet(ratings, name, than, level)) for name in names if name != than]
        what += " (these items, anytime)"
    else:
        asked: dict[str, Any] = {"level": level, "seed": seed}
        if key == "group":
            results = _compare(ratings, good, **asked)
        else:
            method = METHOD if count_truths(ratings) else "learned_prior"
            results = estimate(ratings, method, questions=["accuracy", "systems"], **asked)
        numbers = list(_read_numbers(results, key, than))
        doubts = [x for x in results.warnings if x.code != "ranked-by-accuracy"]
        cautions = tuple(list_cautions(doubts))
    if not numbers:
        problem = f"there is nothing to compare with {than!r}"
        raise InputError(problem, "name systems that answered the same items, or another group")
    verdicts = []
    for name, ends, n_labels in numbers:
        point, lower, upper = (None if np.isnan(x) else float(x) for x in ends)
        value = IntervalEstimate(point, lower, upper, level, corrected=n_labels > 0)
        tested: dict[str, Any] = {"quantity": what.format(name), "value": value}
        verdicts.append(Verdict(**tested, at_least=at_least, n_labels=n_labels, cautions=cautions))
    return verdicts


def _name_groups(ratings: Ratings, groups: ArrayLike | GroupColumn | None) -> Ratings:
    """Name the groups of items as populations; without groups all items are one."""
    if groups is not None:
        return take_groups(ratings, make_column(groups, ratings))
    if ratings.population is not None:
        return ratings
    return ratings.with_populations([ALL_ITEMS] * ratings.n_rows)


def _compare(ratings: Ratings, good: Any, **options: Any) -> Results:
    """Estimate rates by what most judges say and gold labels of each group, if there are any."""
    if not count_truths(ratings) or not ratings.n_raters:
        return compare(ratings, good, **options)
    said = find_answers(ratings)[:, None] % (ratings.n_categories + 1)
    said = np.where(said < ratings.n_categories, said, -1)
    entries = count_codes(said, ratings.n_categories)
    judged = ratings.replace(entries=entries, raters=ratings.raters[:1])
    return compare(judged, good, None, "post_stratified", **options)


def _read_numbers(
    results: Results, key: str, than: str | None
) -> Iterator[tuple[str, Floats, int]]:
    """Read the number of each system or group with its ends, and on how many labels it rests."""
    quantity, labelled = QUANTITIES[key]
    rows = results.select(quantity=labelled)
    counts = dict(zip(rows[key], rows["n_items"].astype(int), strict=True))
    quantity += "_difference" if than is not None else ""
    rows = results.select(quantity=quantity, grouping="group" if key == "group" else "")
    rows = rows[rows["method"].isin(rows["method"].unique()[:1])]
    for row in rows.to_dict("records"):
        name, versus = row[key], row["versus"]
        value = np.array([row["estimate"], row["lower"], row["upper"]])
        if than not in (None, name, versus):
            continue
        if name == than:
            name, value = versus, -value[TURNED]
        used = [counts.get(member, 0) for member in {name, than or name}]
        # Systems are compared by labels of the same items, and groups each have labels of theirs.
        used = used if key == "group" else [min(used)]
        yield name, allow_half_a_label(value, used, 0.0 if than is None else -1.0), sum(used)


def allow_half_a_label(value: Floats, counts: Sequence[int], least: float = -1.0) -> Floats:
    """Widen an interval by half a label at each end, as tests are corrected for continuity.

    Without it a little more than one in twenty numbers at the border would pass, and as many fail.

    Parameters
    ----------
    value : ndarray, shape (3,)
        The estimate and the ends.
    counts : sequence of int
        How many gold labels there are of each group that the number compares, or of one.
    least : float
        The least that the number can be.
    """
    half = sum(0.5 / count for count in counts if count)
    return np.clip(value + half * np.array([0, -1, 1]), least, 1.0)


def bet_on_system(
    ratings: Ratings, name: str, than: str | None, level: float
) -> tuple[Floats, int]:
    """Give the accuracy of a system, or how much higher it is than another, and count labels.

    Where both gave the same answer there is no difference, which needs no label.

    Parameters
    ----------
    ratings : Ratings
        Labels were drawn in the order of the rows.
    name, than : str
        The system, and the one that it is compared with, if there is one.
    level : float
        Probability with which all intervals of the sequence cover the number in these items.

    Returns
    -------
    value : ndarray, shape (3,)
        The estimate and the ends, see `estimate_anytime`.
    n_labels : int

    Examples
    --------
    >>> truth = [0, 1, 1, 0, 1, 0, 1, 1, -1, -1]
    >>> ratings = Ratings(np.empty((10, 0)), ["no", "yes"], system=[0, 1] * 5, truth=truth)
    >>> value, n_labels = bet_on_system(ratings, "system", None, 0.9)
    >>> value.round(2).tolist(), n_labels
    ([0.38, 0.3, 0.5], 8)
    """
    systems = [name] if than is None else [name, than]
    require_common_items(ratings, systems)
    rows = list_items(ratings, find_common(ratings, systems))
    truth = np.asarray(ratings.truth)[rows, None]
    answers = ratings.answers[np.ix_(rows, [ratings.systems.index(system) for system in systems])]
    right = np.where(truth >= 0, answers == truth, np.nan)
    predicted = np.take_along_axis(share_votes(ratings)[rows], answers, axis=1)
    n_labels = int((truth >= 0).sum())
    if than is None:
        return estimate_anytime(right[:, 0], predicted[:, 0], level), n_labels
    differ = answers[:, 0] != answers[:, 1]
    values, control = ((1 + x[differ] @ [1, -1]) / 2 for x in (right, predicted))
    return differ.mean() * (2 * estimate_anytime(values, control, level) - 1), n_labels


def _bet_on_group(
    ratings: Ratings, name: str, than: str | None, level: float, codes: Sequence[int]
) -> tuple[Floats, int]:
    """Give the rate of a group, or how much higher it is than that of another, and count labels.

    The intervals of both groups cover together with the probability that is asked for.
    """
    rates, n_labels = [], 0
    for group in (name,) if than is None else (name, than):
        inside = np.asarray(ratings.population) == ratings.populations.index(group)
        rows = list_items(ratings, inside)
        truth = np.asarray(ratings.truth)[rows]
        values = np.where(truth >= 0, np.isin(truth, codes), np.nan)
        control = share_votes(ratings)[np.ix_(rows, codes)].sum(axis=1)
        rates.append(estimate_anytime(values, control, level if than is None else (1 + level) / 2))
        n_labels += int((truth >= 0).sum())
    return rates[0] if than is None else rates[0] - rates[1][TURNED], n_labels
