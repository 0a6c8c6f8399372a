"""Ratings: which rater put which item into which category, and the system's answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Floats, Integers
from lehner.core.errors import InputError
from lehner.core.lazy import pd
from lehner.core.text import counted, counted_categories, first_few
from lehner.data import groups, tables
from lehner.data import systems as answers_of_systems
from lehner.data.categories import Label, check_categories
from lehner.data.coding import count_gaps
from lehner.data.columns import LEAST_PROBABILITY
from lehner.data.flat import (
    FlatRatings,
    add_rater,
    are_repeated,
    as_array,
    check_counts,
    check_flat,
    check_integers,
    count_categories,
    find_rows,
    flatten,
    number_by_appearance,
    one_vote_each,
    take_rows,
)
from lehner.data.patterns import Patterns, collapse_patterns

SYSTEM = "system"
PER_ROW = ("items", "answers", "truth", "population", "cluster", "truth_probability")
"""Attributes with an entry for each row, or None."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Ratings:
    """Ratings of items by raters, with the system's answers and the gold labels if there are any.

    Ratings do not change: each method gives a new object. Usually they are read from a file by
    `lehner.read_ratings`, or from a table by `from_wide`, `from_long` or `from_counts`.

    Parameters
    ----------
    codes : array_like of int, shape (n_rows, n_raters), or FlatRatings
        Category index of each rating, from 0; -1 if a rating is missing.
    categories : sequence of str or int, length n_categories
        Names of the categories, used or not.
    raters : sequence of str, length n_raters, optional
        Names of the raters; by default "1", "2" and so on.
    items : sequence, length n_rows, optional
        Names of the items; by default 0, 1 and so on.
    system : array_like of int, shape (n_rows,) or (n_rows, n_systems), optional
        Category index of the system's answer, or of each system's, -1 where it is missing.
    truth : array_like of int, shape (n_rows,), optional
        Category index of the true category, -1 where it is unknown.
    counts : array_like of int, shape (n_rows,), optional
        For grouped data: the number of items of each row, 0 or more.
    ordered : bool
        Whether the order of the categories is meaningful.
    anonymous : bool
        Whether it is unknown who gave which rating, as in tables of counts per category.
    systems : sequence of str, length n_systems, optional
        Names of the systems; by default "system" if there is one, "system 1" and so on if there
        are several.
    cluster : array_like of int, shape (n_rows,), optional
        Index of the cluster that each item is of; see `with_clusters`.
    truth_probability : array_like, shape (n_rows,), optional
        Probability with which each item was chosen to have its truth found out; see `with_truth`.
    noticed : sequence of str
        Sentences about what was noticed when the data were read, see `notes`.

    Attributes
    ----------
    given : FlatRatings
        All ratings one after another, sorted by item and rater.
    flat : FlatRatings
        The votes, from which everything is estimated: one for each rater and item. A rater who
        rated an item more than once votes for the category that the rater gave most often, and
        for none if two were equally frequent. Without such raters it is `given`.
    answers : ndarray of int, shape (n_rows, n_systems)
        Category index of each system's answer, -1 where it is missing.
    population, populations
        Index of the population of each row, and names of the populations; see `with_populations`.
    dependent : tuple of str
        Names of a pair who may share answers; see `with_dependent_pair`.
    independent_repeats : bool
        Whether each of a rater's ratings of the same item is a vote; see
        `with_independent_repeats`.
    source
        The table that the ratings were read from, and how; it is not compared.

    Raises
    ------
    InputError
        If an index is not that of a category, if lengths are inconsistent, if two raters or
        categories have the same name, or if counts are not whole numbers.

    Examples
    --------
    >>> ratings = Ratings([[0, 0, 1], [1, 1, -1]], ["no", "yes"], system=[0, 1])
    >>> ratings
    Ratings: 2 items, 3 raters, 5 ratings, 2 categories (no, yes), system
    >>> ratings.votes().tolist()
    [[2, 1], [0, 2]]
    """

    given: FlatRatings
    flat: FlatRatings
    categories: tuple[Label, ...]
    raters: tuple[str, ...]
    items: NDArray[Any]
    systems: tuple[str, ...]
    answers: Integers
    truth: Integers | None
    counts: Integers | None
    ordered: bool
    anonymous: bool
    cluster: Integers | None
    truth_probability: Floats | None
    noticed: tuple[str, ...]
    population: Integers | None = None
    populations: tuple[str, ...] = ()
    dependent: tuple[str, ...] = ()
    independent_repeats: bool = False
    source: Any = None

    def __init__(
        self,
        codes: ArrayLike | FlatRatings,
        categories: Sequence[Label],
        raters: Sequence[Any] | None = None,
        items: Sequence[Any] | NDArray[Any] | None = None,
        system: ArrayLike | None = None,
        truth: ArrayLike | None = None,
        *,
        counts: ArrayLike | None = None,
        ordered: bool = False,
        anonymous: bool = False,
        systems: Sequence[str] | None = None,
        cluster: ArrayLike | None = None,
        truth_probability: ArrayLike | None = None,
        noticed: Sequence[str] = (),
    ) -> None:
        categories = check_categories(categories)
        k = len(categories)
        if isinstance(codes, FlatRatings):
            n_rows = _count_names(items, codes.item_index)
            n_raters = _count_names(raters, codes.rater_index)
            given = check_flat(codes, n_rows, n_raters, k)
        else:
            given, n_rows, n_raters = flatten(codes, k)
        items = np.arange(n_rows) if items is None else as_array(items, "items")
        if items.shape != (n_rows,):
            raise InputError(f"{len(items)} names for {n_rows} items", "name each item once")
        answers = np.empty((n_rows, 0), int) if system is None else as_array(system, "system")
        answers = answers if answers.ndim > 1 else np.atleast_1d(answers)[:, None]
        n_systems = answers.shape[1]
        numbered = [SYSTEM] if n_systems == 1 else [f"{SYSTEM} {j + 1}" for j in range(n_systems)]
        systems = _check_names(numbered if systems is None else systems, n_systems, "system")
        names = range(1, n_raters + 1) if raters is None else raters
        raters = _check_names(names, n_raters, "rater")
        if both := set(raters) & set(systems):
            raise InputError(
                f"a rater is named {both.pop()!r}, as the system is", "rename the rater"
            )
        # Attributes are set as a frozen dataclass sets them.
        vars(self).update(
            given=given,
            flat=one_vote_each(given),
            categories=categories,
            raters=raters,
            items=items,
            systems=systems,
            answers=check_integers(answers, "system", (n_rows, n_systems), -1, k - 1),
            truth=_check_truth(truth, n_rows, k),
            counts=None if counts is None else check_counts(counts, (n_rows,)),
            ordered=ordered,
            anonymous=anonymous,
            cluster=groups.check_cluster(cluster, n_rows),
            truth_probability=_check_chances(truth_probability, items, truth),
            noticed=tuple(noticed),
        )

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"source": None}

    def __repr__(self) -> str:
        parts = [
            counted(self.n_items, "item")
            + (f" in {counted(self.n_rows, 'row')}" if self.grouped else ""),
            counted(self.n_raters, "anonymous rater" if self.anonymous else "rater"),
            counted(self.n_ratings, "rating"),
            counted_categories(self.n_categories, ordered=self.ordered)
            + f" ({first_few(self.categories, 8)})",
        ]
        if self.systems:
            parts.append("system" if len(self.systems) == 1 else f"{len(self.systems)} systems")
        if self.truth is not None:
            parts.append("truth")
        if self.populations:
            parts.append(counted(len(self.populations), "population"))
        if self.cluster is not None:
            parts.append(counted(self.n_clusters, "cluster"))
        return "Ratings: " + ", ".join(parts)

    @property
    def n_items(self) -> int:
        """Number of items; in grouped data the sum of the counts."""
        return self.n_rows if self.counts is None else int(self.counts.sum())

    @property
    def n_rows(self) -> int:
        """Number of rows: of items, or in grouped data of patterns."""
        return len(self.items)

    @property
    def n_raters(self) -> int:
        """Number of raters, without the system."""
        return len(self.raters)

    @property
    def n_clusters(self) -> int:
        """Number of clusters of which there are items; without clusters the number of items."""
        if self.cluster is None:
            return self.n_items
        return len(np.unique(self.cluster[self.weights > 0]))

    @property
    def n_categories(self) -> int:
        """Number of categories, used or not."""
        return len(self.categories)

    @property
    def system(self) -> Integers | None:
        """Category index of the system's answers, shape (n_rows,); None without a system.

        Raises
        ------
        InputError
            If there are several systems: see `for_system`, `answers`.
        """
        if len(self.systems) > 1:
            raise InputError(
                f"there are {len(self.systems)} systems ({first_few(self.systems, 8)})",
                f"choose one of them, as in ratings.for_system({self.systems[0]!r})",
            )
        return self.answers[:, 0] if self.systems else None

    @property
    def n_ratings(self) -> int:
        """Number of ratings by raters, repeated ones too; in grouped data with the counts."""
        return int(self.weights[self.given.item_index].sum())

    @property
    def grouped(self) -> bool:
        """Whether a row may represent several items."""
        return self.counts is not None

    @property
    def weights(self) -> Integers:
        """Number of items of each row, shape (n_rows,)."""
        return np.ones(self.n_rows, np.int64) if self.counts is None else self.counts

    @property
    def repeated(self) -> bool:
        """Whether some rater rated some item more than once."""
        return self.given is not self.flat or self.several_votes

    @property
    def several_votes(self) -> bool:
        """Whether some rater has more than one vote for some item."""
        return self.independent_repeats and bool(are_repeated(self.given).any())

    @property
    def all_raters(self) -> tuple[str, ...]:
        """Names of the raters, and after them of the system or systems."""
        return (*self.raters, *self.systems)

    @property
    def all_flat(self) -> FlatRatings:
        """The votes one after another, with the answers of systems as those of last raters."""
        return self._with_answers(self.flat)

    @property
    def all_given(self) -> FlatRatings:
        """All ratings one after another, with the answers of systems as those of last raters."""
        return self._with_answers(self.given)

    def _with_answers(self, flat: FlatRatings) -> FlatRatings:
        for number, answers in enumerate(self.answers.T, start=self.n_raters):
            flat = add_rater(flat, answers, number)
        return flat

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about the data, one sentence for each point.

        They tell how each column was interpreted, what looked odd (also given as a `DataWarning`),
        and how many answers are missing.
        """
        return (*self.noticed, *count_gaps(self))

    @property
    def codes(self) -> Integers:
        """Category index per item and rater, -1 where missing, shape (n_items, n_raters).

        Raises
        ------
        InputError
            If a rater rated an item more than once: see `given` or `to_long` instead.
        """
        if self.repeated:
            raise InputError("some raters rated an item more than once", "use .given or .to_long()")
        dense = np.full((self.n_rows, self.n_raters), -1)
        dense[self.flat.item_index, self.flat.rater_index] = self.flat.category_index
        return dense

    def votes(self) -> Integers:
        """Count the votes of each row for each category; the system's answers are left out.

        Returns
        -------
        ndarray of int, shape (n_rows, n_categories)
            Number of raters whose rating it is, or the most frequent of whose ratings.

        Examples
        --------
        >>> Ratings([[0, 0, 1], [1, 1, -1]], ["no", "yes"]).votes().tolist()
        [[2, 1], [0, 2]]
        """
        flat = self.flat
        return count_categories(
            flat.item_index, flat.category_index, self.n_rows, self.n_categories
        )

    def take(self, rows: ArrayLike, counts: ArrayLike | None = None) -> "Ratings":
        """Select rows, in the order given.

        Parameters
        ----------
        rows : array_like of int or bool, shape (n_selected,) or (n_rows,)
            Positions of the rows, of which one may occur more than once, below 0 from the end;
            or a mask.
        counts : array_like of int, shape (n_selected,), optional
            Number of items of each selected row; by default as before.

        Returns
        -------
        Ratings
            The selected rows under their names.

        Raises
        ------
        InputError
            If there is no such row, if positions or counts are not whole numbers, or if there is
            not a count for each row.

        Examples
        --------
        >>> ratings = Ratings([[0, 0], [0, 1], [1, 1]], ["no", "yes"])
        >>> ratings.take([2, 0]).codes.tolist()
        [[1, 1], [0, 0]]
        """
        rows = find_rows(rows, self.n_rows)
        per_row = {name: getattr(self, name) for name in PER_ROW}
        changes = {name: values[rows] for name, values in per_row.items() if values is not None}
        if counts is not None:
            counts = check_counts(counts, rows.shape)
        elif self.grouped:
            counts = self.weights[rows]
        if self.cluster is not None:
            changes["cluster"] = number_by_appearance(changes["cluster"])[0]
        given = take_rows(self.given, rows, self.n_rows)
        return self._replace(given=given, counts=counts, **changes)

    def patterns(self, *, truth: bool = True) -> Patterns:
        """Collapse items of a population with the same ratings, system answer and gold label.

        Time and memory are proportional to the number of ratings.

        Parameters
        ----------
        truth : bool
            Whether items that differ only in their gold label are kept apart. If not, no truth is
            known of the patterns.

        Returns
        -------
        Patterns
            Each different row once, with the number of items that have it.

        Examples
        --------
        >>> patterns = Ratings([[0, 1], [1, 1], [0, 1]], ["no", "yes"]).patterns()
        >>> patterns.counts, patterns.inverse
        (array([2, 1]), array([0, 1, 0]))
        """
        return collapse_patterns(self, truth=truth)

    def collapse(self, *, truth: bool = True) -> "Ratings":
        """Group items with the same ratings, system answer and gold label into one row.

        Items of different clusters stay apart, and those whose truths were found out with different
        probabilities.

        Parameters
        ----------
        truth : bool
            Whether items that differ only in their gold label are kept apart. If not, the result
            has no truth.

        Returns
        -------
        Ratings
            Grouped data: a row for each pattern of votes, with its number of items.

        Examples
        --------
        >>> Ratings([[0, 1], [1, 1], [0, 1]], ["no", "yes"]).collapse()
        Ratings: 3 items in 2 rows, 2 raters, 6 ratings, 2 categories (no, yes)
        """
        chance = self.truth_probability
        chances = None if chance is None else np.unique(chance, return_inverse=True)[1]
        patterns = collapse_patterns(self, truth=truth, apart=(self.cluster, chances))
        votes = self._replace(given=self.flat, truth=self.truth if truth else None)
        return votes.take(patterns.first, patterns.counts)

    def expand(self) -> "Ratings":
        """Expand grouped data to a row for each item.

        Returns
        -------
        Ratings
            With a row for each item. Items of one row have its name in common.

        Examples
        --------
        >>> Ratings([[0, 1], [1, 1]], ["no", "yes"], counts=[2, 1]).expand()
        Ratings: 3 items, 2 raters, 6 ratings, 2 categories (no, yes)
        """
        if not self.grouped:
            return self
        rows = np.repeat(np.arange(self.n_rows), self.weights)
        return self.take(rows, np.ones(len(rows), np.int64))._replace(counts=None)

    def _replace(self, **changes: Any) -> "Ratings":
        """Copy with other attributes, which are not checked again."""
        new = object.__new__(Ratings)
        vars(new).update(vars(self) | changes)
        if {"given", "independent_repeats"} & changes.keys():
            votes = new.given if new.independent_repeats else one_vote_each(new.given)
            vars(new)["flat"] = votes
        return new

    def _note(self, *texts: str) -> "Ratings":
        """Add what was noticed."""
        return self._replace(noticed=(*self.noticed, *texts)) if texts else self

    def with_truth(
        self, truth: ArrayLike | None, probability: ArrayLike | None = None
    ) -> "Ratings":
        """Replace the gold labels of the items, or remove them.

        Parameters
        ----------
        truth : array_like of int, shape (n_rows,), or None
            Category index of the true category, -1 where it is unknown; None if no truth is known.
        probability : array_like, shape (n_rows,), optional
            The probability with which each item, with a gold label or not, was chosen to get
            one, above 0 and at most 1. Corrections by gold labels then weight each by
            its inverse. Without it, labelled items are taken to be a simple random sample.

        Returns
        -------
        Ratings
            The same ratings and answers with these truths.

        Raises
        ------
        InputError
            If there is not one index of a category, or -1, and one such probability for each row.

        Examples
        --------
        >>> Ratings([[0, 0], [1, 1]], ["no", "yes"]).with_truth([0, -1]).truth.tolist()
        [0, -1]
        """
        if truth is None and probability is None and self.truth is None:
            return self
        return self._replace(
            truth=_check_truth(truth, self.n_rows, self.n_categories),
            truth_probability=_check_chances(probability, self.items, truth),
        )

    def with_independent_repeats(self, independent: bool = True) -> "Ratings":
        """Count each of a rater's ratings of the same item as a vote.

        By default a rater has one vote for an item, because a rater who rates it again mostly
        repeats the first rating, errors included. Estimates then take the second rating for as
        good as another rater's, and are too sure if it is not. Dawid & Skene (1979) did this.

        Parameters
        ----------
        independent : bool
            Whether each rating is a vote; if not, a rater has one vote for an item again.

        Returns
        -------
        Ratings
            The same ratings.

        References
        ----------
        Dawid & Skene (1979), https://doi.org/10.2307/2346806, whose first anaesthetist rated each
        patient three times.

        Examples
        --------
        >>> twice = {"item": [1, 1, 1], "rater": ["x", "x", "y"], "rating": ["a", "a", "b"]}
        >>> ratings = Ratings.from_long(twice, repeated=True)
        >>> ratings.votes().tolist(), ratings.with_independent_repeats().votes().tolist()
        ([[1, 1]], [[2, 1]])
        """
        if independent == self.independent_repeats or not are_repeated(self.given).any():
            return self
        return self._replace(independent_repeats=independent)

    def equals(self, other: "Ratings") -> bool:
        """Compare two objects: whether they have the same ratings and the same names.

        Parameters
        ----------
        other : Ratings
            The ratings to compare with.

        Returns
        -------
        bool
            True if codes, names, system, truths and their probabilities, counts, populations,
            clusters, dependent pair and `ordered` are the same.

        Examples
        --------
        >>> ratings = Ratings([[0, 0], [1, 1]], ["no", "yes"], system=[0, 1])
        >>> ratings.equals(ratings.take([0, 1]))
        True
        >>> ratings.equals(ratings.without_system())
        False
        """
        plain = (
            *("categories", "all_raters", "ordered", "anonymous", "dependent"),
            *("several_votes", "populations"),
        )
        arrays = (*PER_ROW, "counts")
        return (
            all(getattr(self, name) == getattr(other, name) for name in plain)
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays)
            and all(map(np.array_equal, vars(self.given).values(), vars(other.given).values()))
        )

    def to_wide(self) -> "pd.DataFrame":
        """Table with a row per item and a column per rater, blanks where missing.

        Returns
        -------
        pandas.DataFrame
            Columns `item`, the raters, the systems, and `truth`, `count` where there are any.

        Raises
        ------
        InputError
            If a rater rated an item more than once, or has the name of another column.
        """
        clash = {"item", "truth", "count"} & set(self.all_raters)
        if clash:
            raise InputError(
                f"a rater is named {clash.pop()!r}, as another column is", "rename them"
            )
        by_rater = np.column_stack([self.codes, self.answers]).T
        columns = {"item": self.items} | {
            name: self._name_codes(codes)
            for name, codes in zip(self.all_raters, by_rater, strict=True)
        }
        if self.truth is not None:
            columns["truth"] = self._name_codes(self.truth)
        if self.counts is not None:
            columns["count"] = self.counts
        return pd.DataFrame(columns)

    def to_long(self) -> "pd.DataFrame":
        """Table with a row per rating, systems as raters.

        Returns
        -------
        pandas.DataFrame
            Columns `item`, `rater`, `occasion`, `rating`, and `truth` if some is known.

        Raises
        ------
        InputError
            If rows stand for several items.
        """
        if self.grouped:
            raise InputError("grouped ratings have no row per item", "use to_wide()")
        flat = self.all_given
        item = flat.item_index
        position = np.arange(len(item))
        start = np.maximum.accumulate(np.where(are_repeated(flat), 0, position))
        columns = {
            "item": self.items[item],
            "rater": np.array(self.all_raters, dtype=object)[flat.rater_index],
            "occasion": position - start + 1,
            "rating": self._name_codes(flat.category_index),
        }
        if self.truth is not None:
            columns["truth"] = self._name_codes(self.truth[item])
        return pd.DataFrame(columns)

    def _name_codes(self, codes: Integers) -> Any:
        return pd.Categorical.from_codes(codes, list(self.categories), ordered=self.ordered)

    from_wide = classmethod(tables.from_wide)
    from_long = classmethod(tables.from_long)
    from_counts = classmethod(tables.from_counts)
    with_system = answers_of_systems.with_system
    for_system = answers_of_systems.for_system
    on_common_items = answers_of_systems.on_common_items
    without_system = answers_of_systems.without_system
    with_populations = groups.with_populations
    with_clusters = groups.with_clusters
    with_dependent_pair = groups.with_dependent_pair


def _count_names(names: Any, index: Integers) -> int:
    return int(index.max(initial=-1)) + 1 if names is None else len(names)


def _check_names(names: Iterable[Any], n: int, kind: str) -> tuple[str, ...]:
    texts = tuple(map(str, names))
    if len(texts) != n or len(set(texts)) < n:
        raise InputError(f"{n} {kind}s are named {list(texts)}", f"name each {kind} once")
    return texts


def _check_truth(truth: ArrayLike | None, n_rows: int, n_categories: int) -> Integers | None:
    if truth is None:
        return None
    return check_integers(truth, "truth", (n_rows,), -1, n_categories - 1)


def _check_chances(
    chances: ArrayLike | None, items: NDArray[Any], truth: ArrayLike | None
) -> Floats | None:
    """Check the probability with which each item was chosen to get a gold label, (n_rows,)."""
    if chances is None:
        return None
    array = as_array(chances, "truth_probability")
    if array.shape != items.shape or array.dtype.kind not in "iuf":
        raise InputError(
            f"truth_probability has shape {array.shape} and type {array.dtype}",
            "give one probability per item",
        )
    unknown = np.zeros(items.shape, bool) if truth is None else np.asarray(truth) < 0
    outside = ~((array >= LEAST_PROBABILITY) & (array <= 1))
    for row in np.flatnonzero(outside | ((array == 1) & unknown))[:1]:
        unknown_truth = "" if outside[row] else ", and its truth is not known"
        raise InputError(
            f"item {items[row]} was chosen with probability {array[row]:g}{unknown_truth}",
            "give each item the probability, from 0.000001 to 1, with which its truth is found out",
        )
    return array.astype(float)
