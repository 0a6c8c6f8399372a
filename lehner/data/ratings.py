"""Ratings: which rater put which item into which category, and the system's answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Floats, Integers, check_integers, to_array
from lehner.core.errors import InputError, find
from lehner.core.lazy import pd, xr
from lehner.core.text import count_categories, list_few, pluralise
from lehner.data import checks, columns, patterns, tables
from lehner.data.columns import LEAST_PROBABILITY, Label, encode, number_or_nan
from lehner.data.patterns import CollapsedVotes, FlatRatings, Patterns

SYSTEM = "system"
# Attributes with an entry for each row, or None.
PER_ROW = ("items", "answers", "truth", "population", "cluster", "truth_probability")
# Other attributes that are the same in equal ratings.
COMPARED = tuple(
    "categories raters systems counts ordered anonymous populations dependent several_votes".split()
)


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
    ratings : FlatRatings
        All ratings one after another, sorted by item and rater.
    votes : FlatRatings
        The votes, from which everything is estimated: one for each rater and item. A rater who
        rated an item more than once votes for the category that the rater gave most often, and
        for none if two were equally frequent. Without such raters it is `ratings`.
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
    n_rows, n_items, n_raters, n_categories : int
        Numbers of rows (of items, or in grouped data of patterns), of items (in grouped data the
        sum of the counts), of raters without the system, and of categories, used or not.
    all_raters : tuple of str
        Names of the raters, and after them of the system or systems.
    weights : ndarray of int, shape (n_rows,)
        Number of items of each row.
    grouped : bool
        Whether a row may represent several items.
    repeated, several_votes : bool
        Whether some rater rated some item more than once, and whether these are several votes.

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
    >>> ratings.count_votes().tolist()
    [[2, 1], [0, 2]]
    """

    ratings: FlatRatings
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
    # What follows from these is computed once, by `_set`.
    votes: FlatRatings
    n_rows: int
    n_items: int
    n_raters: int
    n_categories: int
    all_raters: tuple[str, ...]
    weights: Integers
    grouped: bool
    repeated: bool
    several_votes: bool
    # What methods add.
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
        categories = columns.check_categories(categories)
        k = len(categories)
        if isinstance(codes, FlatRatings):
            n_rows = int(codes.item_index.max(initial=-1)) + 1 if items is None else len(items)
            n_raters = int(codes.rater_index.max(initial=-1)) + 1 if raters is None else len(raters)
            ratings = patterns.check_flat(codes, n_rows, n_raters, k)
        else:
            ratings, n_rows, n_raters = patterns.flatten(codes, k)
        items = np.arange(n_rows) if items is None else to_array(items, "items")
        if items.shape != (n_rows,):
            raise InputError(f"{len(items)} names for {n_rows} items", "name each item once")
        answers = np.empty((n_rows, 0), int) if system is None else to_array(system, "system")
        answers = answers if answers.ndim > 1 else np.atleast_1d(answers)[:, None]
        n_systems = answers.shape[1]
        numbered = [SYSTEM] if n_systems == 1 else [f"{SYSTEM} {j + 1}" for j in range(n_systems)]
        systems = _check_names(numbered if systems is None else systems, n_systems, "system")
        raters = range(1, n_raters + 1) if raters is None else raters
        raters = _check_names(raters, n_raters, "rater")
        if both := set(raters) & set(systems):
            problem = f"a rater is named {both.pop()!r}, as the system is"
            raise InputError(problem, "rename the rater")
        if truth is not None:
            truth = check_integers(truth, "truth", (n_rows,), -1, k - 1)
        if cluster is not None:
            cluster = _check_cluster(cluster, n_rows)
        self._set(
            ratings=ratings,
            categories=categories,
            raters=raters,
            items=items,
            systems=systems,
            answers=check_integers(answers, "system", (n_rows, n_systems), -1, k - 1),
            truth=truth,
            counts=None if counts is None else patterns.check_counts(counts, (n_rows,)),
            ordered=ordered,
            anonymous=anonymous,
            cluster=cluster,
            truth_probability=_check_chances(truth_probability, items, truth),
            noticed=tuple(noticed),
        )

    def _set(self, **attributes: Any) -> None:
        """Set attributes, as a frozen dataclass sets them, and what follows from them."""
        vars(self).update(attributes)
        n_rows, counts, ratings = len(self.items), self.counts, self.ratings
        repeated = bool(ratings.is_repeated.any())
        vars(self).update(
            votes=ratings if self.independent_repeats else ratings.one_vote_each,
            n_rows=n_rows,
            n_items=n_rows if counts is None else int(counts.sum()),
            n_raters=len(self.raters),
            n_categories=len(self.categories),
            all_raters=(*self.raters, *self.systems),
            weights=np.ones(n_rows, np.int64) if counts is None else counts,
            grouped=counts is not None,
            repeated=repeated,
            several_votes=repeated and self.independent_repeats,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name in _NAMES} | {
            "source": None
        }

    def __repr__(self) -> str:
        rows = f" in {pluralise(self.n_rows, 'row')}" if self.grouped else ""
        categories = count_categories(self.n_categories, ordered=self.ordered)
        parts = [
            pluralise(self.n_items, "item") + rows,
            pluralise(self.n_raters, "anonymous rater" if self.anonymous else "rater"),
            pluralise(self.n_ratings, "rating"),
            f"{categories} ({list_few(self.categories, 8)})",
            pluralise(len(self.systems), "system").removeprefix("1 ") if self.systems else "",
            "truth" if self.truth is not None else "",
            pluralise(len(self.populations), "population") if self.populations else "",
            pluralise(self.n_clusters, "cluster") if self.cluster is not None else "",
        ]
        return "Ratings: " + ", ".join(filter(None, parts))

    @cached_property
    def n_clusters(self) -> int:
        """Number of clusters of which there are items; without clusters the number of items."""
        if self.cluster is None:
            return self.n_items
        return len(np.unique(self.cluster[self.weights > 0]))

    @cached_property
    def n_ratings(self) -> int:
        """Number of ratings by raters, repeated ones too; in grouped data with the counts."""
        return int(self.weights[self.ratings.item_index].sum())

    @cached_property
    def system(self) -> Integers | None:
        """Category index of the system's answers, shape (n_rows,); None without a system.

        Raises
        ------
        InputError
            If there are several systems: see `for_system`, `answers`.
        """
        if len(self.systems) > 1:
            problem = f"there are {len(self.systems)} systems ({list_few(self.systems, 8)})"
            remedy = f"choose one of them, as in ratings.select_system({self.systems[0]!r})"
            raise InputError(problem, remedy)
        return self.answers[:, 0] if self.systems else None

    @cached_property
    def all_votes(self) -> FlatRatings:
        """The votes one after another, with the answers of systems as those of last raters."""
        return self.votes.add_raters(self.answers, self.n_raters)

    @cached_property
    def all_ratings(self) -> FlatRatings:
        """All ratings one after another, with the answers of systems as those of last raters."""
        return self.ratings.add_raters(self.answers, self.n_raters)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about the data, one sentence for each point.

        They tell how each column was interpreted, what looked odd (also given as a `DataWarning`),
        and how many answers are missing.
        """
        return (*self.noticed, *checks.count_gaps(self))

    @cached_property
    def indexes(self) -> dict[str, Any]:
        """Names along each dimension of arrays, which take longer to make than the arrays."""
        categories = list(self.categories)
        names = {
            "item": self.items,
            "rater": list(self.all_raters),
            "category": categories,
            "response": categories,
            "group": list(self.populations),
        }
        return {dim: xr.IndexVariable(dim, of_dim) for dim, of_dim in names.items()}

    @cached_property
    def collapsed_votes(self) -> CollapsedVotes:
        """Combinations of votes and system answer, without a system as if it did not answer."""
        return patterns.collapse_votes(self)

    @property
    def codes(self) -> Integers:
        """Category index per item and rater, -1 where missing, shape (n_items, n_raters).

        Raises
        ------
        InputError
            If a rater rated an item more than once: see `ratings` or `to_long` instead.
        """
        if self.repeated:
            raise InputError("raters rated items more than once", "use .ratings or .to_long()")
        dense = np.full((self.n_rows, self.n_raters), -1)
        dense[self.votes.item_index, self.votes.rater_index] = self.votes.category_index
        return dense

    def count_votes(self) -> Integers:
        """Count the votes of each row for each category; the system's answers are left out.

        Returns
        -------
        ndarray of int, shape (n_rows, n_categories)
            Number of raters whose rating it is, or the most frequent of whose ratings.

        Examples
        --------
        >>> Ratings([[0, 0, 1], [1, 1, -1]], ["no", "yes"]).count_votes().tolist()
        [[2, 1], [0, 2]]
        """
        item, category = self.votes.item_index, self.votes.category_index
        return patterns.count_categories(item, category, self.n_rows, self.n_categories)

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
        rows = patterns.find_rows(rows, self.n_rows)
        per_row = {name: getattr(self, name) for name in PER_ROW}
        changes = {name: values[rows] for name, values in per_row.items() if values is not None}
        if counts is not None:
            changes["counts"] = patterns.check_counts(counts, rows.shape)
        elif self.grouped:
            changes["counts"] = self.weights[rows]
        if self.cluster is not None:
            changes["cluster"] = patterns.factorize(changes["cluster"])[0]
        return self.replace(ratings=self.ratings.take_rows(rows, self.n_rows), **changes)

    def to_patterns(self, *, truth: bool = True) -> Patterns:
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
        >>> patterns = Ratings([[0, 1], [1, 1], [0, 1]], ["no", "yes"]).to_patterns()
        >>> patterns.counts, patterns.inverse
        (array([2, 1]), array([0, 1, 0]))
        """
        return patterns.collapse_patterns(self, truth=truth)

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
        unique = patterns.collapse_patterns(self, truth=truth, apart=(self.cluster, chances))
        votes = self.replace(ratings=self.votes, truth=self.truth if truth else None)
        return votes.take(unique.first, unique.counts)

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
        return self.take(np.repeat(np.arange(self.n_rows), self.weights)).replace(counts=None)

    def replace(self, **changes: Any) -> "Ratings":
        """Give a copy with other attributes, which are not checked again.

        Parameters
        ----------
        **changes
            The new attributes by name: those of `Ratings` that do not follow from others.

        Returns
        -------
        Ratings

        Examples
        --------
        >>> ratings = Ratings([[0, 1], [1, 1]], ["no", "yes"])
        >>> ratings.replace(raters=("Ann", "Bo")).raters
        ('Ann', 'Bo')
        """
        new = object.__new__(Ratings)
        new._set(**{name: value for name, value in vars(self).items() if name in _NAMES} | changes)
        return new

    def note(self, *texts: str) -> "Ratings":
        """Give a copy with further notes.

        Parameters
        ----------
        *texts : str
            Sentences about what was noticed in the data.

        Returns
        -------
        Ratings

        Examples
        --------
        >>> Ratings([[0, 1]], ["no", "yes"]).note("the file has one row").notes
        ('the file has one row',)
        """
        return self.replace(noticed=(*self.noticed, *texts)) if texts else self

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
        chances = _check_chances(probability, self.items, truth)
        if truth is not None:
            truth = check_integers(truth, "truth", (self.n_rows,), -1, self.n_categories - 1)
        return self.replace(truth=truth, truth_probability=chances)

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
        >>> ratings.count_votes().tolist()
        [[1, 1]]
        >>> ratings.with_independent_repeats().count_votes().tolist()
        [[2, 1]]
        """
        if independent == self.independent_repeats or not self.repeated:
            return self
        return self.replace(independent_repeats=independent)

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
        parts = ("item_index", "rater_index", "category_index")
        pairs = [(getattr(self, name), getattr(other, name)) for name in (*PER_ROW, *COMPARED)]
        pairs += [(getattr(self.ratings, name), getattr(other.ratings, name)) for name in parts]
        return all(np.array_equal(*pair) for pair in pairs)

    def with_system(self, *raters: Any) -> "Ratings":
        """Take one of the raters, or several, as the system or systems.

        Parameters
        ----------
        *raters : str
            Names of the raters.

        Returns
        -------
        Ratings
            The other raters, with the ratings of these raters as the answers of systems.

        Raises
        ------
        InputError
            If there is no such rater, if raters are anonymous, if the rater rated an item more than
            once, if there is already a system, or if the rater has no category in common with the
            others.

        Examples
        --------
        >>> ratings = Ratings([[0, 0, 1], [1, 1, 1]], ["no", "yes"], raters=["Ann", "Bo", "AI"])
        >>> ratings.with_system("AI")
        Ratings: 2 items, 2 raters, 4 ratings, 2 categories (no, yes), system
        """
        names = tuple(map(str, raters))
        if not names:
            raise InputError("no rater is named as the system", "name a rater, or several")
        if self.systems:
            problem = f"the ratings already have a system, whose answers {names[0]!r} would replace"
            raise InputError(problem, "leave them out first, by without_system()")
        self._require_names(names)
        place = {rater: j for j, rater in enumerate(self.raters)}
        places = [find("column or rater", name, place) for name in names]
        answers = [self.ratings.take_answers(place[name], name, self.items) for name in names]
        others = np.setdiff1d(np.arange(self.n_raters), places)
        ratings = self.replace(
            ratings=self.ratings.take_raters(others),
            raters=tuple(self.raters[j] for j in others),
            answers=np.stack(answers, axis=1),
            systems=names,
        )
        taken = "the raters {} are taken as systems"
        taken = taken if len(names) > 1 else "the rater {} is taken as the system"
        return checks.check_coding(ratings.note(taken.format(", ".join(map(repr, names)))))

    def _require_names(self, names: Sequence[str]) -> None:
        """Raise an InputError if it is unknown who gave which rating."""
        if self.anonymous:
            problem = f"{list_few(names, 2)} cannot be told from others: it is unknown who gave "
            raise InputError(f"{problem}which rating", "use data in which raters are named")

    def select_system(self, name: str) -> "Ratings":
        """Keep one of several systems as the system.

        Parameters
        ----------
        name : str
            Name of the system.

        Returns
        -------
        Ratings
            With one system.

        Raises
        ------
        InputError
            If there is no such system.

        Examples
        --------
        >>> answers = [[0, 1], [1, 1]]
        >>> ratings = Ratings([[0], [1]], ["no", "yes"], system=answers, systems=["gpt", "base"])
        >>> ratings.select_system("base").system.tolist()
        [1, 1]
        """
        (place,) = self._find_systems([name])
        return self.replace(answers=self.answers[:, [place]], systems=(name,))

    def select_common_items(self, *systems: str) -> "Ratings":
        """Keep the answers of systems only where all of them answered.

        Systems that answered different items, perhaps easier ones, are then compared on the same.

        Parameters
        ----------
        *systems : str
            Names of the systems; by default all. The answers of others stay.

        Returns
        -------
        Ratings
            With all items and ratings.

        Raises
        ------
        InputError
            If there is no such system.

        Examples
        --------
        >>> answers = [[0, -1], [1, 1]]
        >>> ratings = Ratings([[0], [1]], ["no", "yes"], system=answers, systems=["gpt", "base"])
        >>> ratings.select_common_items().answers.tolist()
        [[-1, -1], [1, 1]]
        """
        places = self._find_systems(systems or self.systems)
        answers = self.answers.copy()
        answers[np.ix_((answers[:, places] < 0).any(axis=1), places)] = -1
        return self.replace(answers=answers)

    def _find_systems(self, names: Iterable[str]) -> list[int]:
        place = {name: j for j, name in enumerate(self.systems)}
        return [find("system", name, place) for name in names]

    def without_system(self) -> "Ratings":
        """Leave the answers of systems out.

        Returns
        -------
        Ratings
            The same ratings by the raters.

        Examples
        --------
        >>> Ratings([[0, 0], [1, 1]], ["no", "yes"], system=[0, 1]).without_system()
        Ratings: 2 items, 2 raters, 4 ratings, 2 categories (no, yes)
        """
        if not self.systems:
            return self
        whose = "the system's answers" if len(self.systems) == 1 else "the answers of systems"
        return self.replace(answers=self.answers[:, :0], systems=()).note(f"{whose} are left out")

    def with_populations(self, names: ArrayLike | None) -> "Ratings":
        """Assign items to populations.

        In latent-class models, Bayesian or by maximum likelihood, each population then has its own
        base rates, and raters and system have the same confusion matrices in all populations.
        Populations with different base rates help to identify the matrices. Other methods pool the
        items of all populations.

        Parameters
        ----------
        names : array_like, shape (n_rows,), or None
            The name of each row's population; None for no populations.

        Returns
        -------
        Ratings
            The same ratings of items from these populations.

        Raises
        ------
        InputError
            If there is not one name for each row.

        References
        ----------
        Hui & Walter (1980), https://doi.org/10.2307/2530508

        Examples
        --------
        >>> Ratings([[0, 0], [1, 1]], ["no", "yes"]).with_populations(["south", "north"])
        Ratings: 2 items, 2 raters, 4 ratings, 2 categories (no, yes), 2 populations
        """
        if names is None:
            return self.replace(population=None, populations=())
        index, populations = number_groups(names, self.n_rows, "population")
        missing = np.flatnonzero(index < 0)
        if missing.size:
            problem = f"item {self.items[missing[0]]} has no population"
            raise InputError(problem, "name the population of each row, or leave such items out")
        return self.replace(population=index, populations=populations)

    def with_clusters(self, names: ArrayLike | None) -> "Ratings":
        """Assign items to clusters, as lesions to patients or answers to conversations.

        Clusters, and not items, are then the sample: resamples draw whole clusters, and standard
        errors and intervals allow for items of a cluster that are alike. What takes the items for
        independent nevertheless says so in a warning.

        Parameters
        ----------
        names : array_like, shape (n_rows,), or None
            The name of each row's cluster; None if items are independent.

        Returns
        -------
        Ratings
            The same ratings of items in these clusters.

        Raises
        ------
        InputError
            If there is not one name for each row, or only one cluster.

        Examples
        --------
        >>> Ratings([[0, 0], [1, 1], [0, 1]], ["no", "yes"]).with_clusters(["Ann", "Ann", "Bo"])
        Ratings: 3 items, 2 raters, 6 ratings, 2 categories (no, yes), 2 clusters
        """
        if names is None:
            return self.replace(cluster=None)
        cluster = _check_cluster(encode(names, "cluster").items[0], self.n_rows)
        return self.replace(cluster=patterns.require_several_clusters(cluster))

    def with_dependent_pair(self, names: Sequence[str] | None) -> "Ratings":
        """Name two raters, or a rater and the system, who may share answers.

        The models `dawid_skene` and `one_coin_by_rater` then estimate how often the two answer
        alike beyond what the true category explains. Other methods estimate as without the pair.

        Parameters
        ----------
        names : sequence of two str, or None
            Names of raters or systems; None for no pair.

        Returns
        -------
        Ratings
            The same ratings.

        Raises
        ------
        InputError
            If these are not two, there is no such rater or system, or raters are anonymous.

        Examples
        --------
        >>> ratings = Ratings([[0, 0], [1, 1]], ["no", "yes"], ["Ann", "Bo"], system=[0, 1])
        >>> ratings.with_dependent_pair(["Ann", "system"]).dependent
        ('Ann', 'system')
        """
        pair = tuple(str(name) for name in names or ())
        if not pair:
            return self.replace(dependent=())
        if len(set(pair)) != 2 or len(pair) != 2:
            raise InputError(f"the dependent pair is {', '.join(pair)}", "name two, as in ana,gpt")
        self._require_names(pair)
        for name in pair:
            find("rater or system", name, dict.fromkeys(self.all_raters))
        return self.replace(dependent=pair)

    def to_wide(self) -> "pd.DataFrame":
        """Make a table with a row per item and a column per rater, blanks where missing.

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
            problem = f"a rater is named {clash.pop()!r}, as another column is"
            raise InputError(problem, "rename them")
        by_rater = np.column_stack([self.codes, self.answers]).T
        columns: dict[str, Any] = {"item": self.items}
        for name, codes in zip(self.all_raters, by_rater, strict=True):
            columns[name] = self._name_codes(codes)
        if self.truth is not None:
            columns["truth"] = self._name_codes(self.truth)
        if self.counts is not None:
            columns["count"] = self.counts
        return pd.DataFrame(columns)

    def to_long(self) -> "pd.DataFrame":
        """Make a table with a row per rating, systems as raters.

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
        ratings = self.all_ratings
        columns = {
            "item": self.items[ratings.item_index],
            "rater": np.array(self.all_raters, dtype=object)[ratings.rater_index],
            "occasion": ratings.occasion + 1,
            "rating": self._name_codes(ratings.category_index),
        }
        if self.truth is not None:
            columns["truth"] = self._name_codes(self.truth[ratings.item_index])
        return pd.DataFrame(columns)

    def _name_codes(self, codes: Integers) -> Any:
        return pd.Categorical.from_codes(codes, list(self.categories), ordered=self.ordered)

    from_wide = classmethod(tables.from_wide)
    from_long = classmethod(tables.from_long)
    from_counts = classmethod(tables.from_counts)


_NAMES = frozenset(attribute.name for attribute in fields(Ratings))


def number_groups(
    values: ArrayLike | Sequence[Any], n_rows: int, kind: str = "group"
) -> tuple[Integers, tuple[str, ...]]:
    """Number each row's group, (n_rows,), -1 where it is missing, and give the names.

    Parameters
    ----------
    values : array_like, shape (n_rows,)
        Missing are what is missing among ratings: None, NaN of any type, blanks and the like.
    n_rows : int
    kind : str
        What the groups are, for the error.

    Returns
    -------
    index : ndarray of int, shape (n_rows,)
    names : tuple of str
        Numbers by size, then the rest by the alphabet.

    Raises
    ------
    InputError
        If there is not one value for each row.
    """
    column = encode(values, f"{kind}s")
    if len(column) != n_rows:
        rows = pluralise(len(column), "row")
        problem = f"{kind}s are given for {rows}, but the ratings have {n_rows}"
        raise InputError(problem, f"name the {kind} of each row")
    texts = list(map(str, column.labels))
    used = {texts[code] for code in np.unique(column.codes) if code >= 0}
    numbers = {name: number_or_nan(name) for name in used}
    in_order = sorted(name for name in used if np.isnan(numbers[name]))
    in_order = sorted(used - {*in_order}, key=lambda name: (numbers[name], name)) + in_order
    place = {name: code for code, name in enumerate(in_order)}
    return column.look_up([place.get(text, -1) for text in texts], -1), tuple(in_order)


def _check_names(names: Iterable[Any], n: int, kind: str) -> tuple[str, ...]:
    texts = tuple(map(str, names))
    if len(texts) != n or len(set(texts)) < n:
        raise InputError(f"{n} {kind}s are named {list(texts)}", f"name each {kind} once")
    return texts


def _check_cluster(cluster: ArrayLike, n_rows: int) -> Integers:
    """Number the cluster of each row, (n_rows,), in order of appearance."""
    checked = check_integers(cluster, "cluster", (n_rows,), 0, patterns.MOST_ITEMS)
    return patterns.factorize(checked)[0]


def _check_chances(
    chances: ArrayLike | None, items: NDArray[Any], truth: ArrayLike | None
) -> Floats | None:
    """Check the probability with which each item was chosen to get a gold label, (n_rows,)."""
    if chances is None:
        return None
    array = to_array(chances, "truth_probability")
    if array.shape != items.shape or array.dtype.kind not in "iuf":
        problem = f"truth_probability has shape {array.shape} and type {array.dtype}"
        raise InputError(problem, "give one probability per item")
    unknown = np.zeros(items.shape, bool) if truth is None else np.asarray(truth) < 0
    outside = ~((array >= LEAST_PROBABILITY) & (array <= 1))
    remedy = "give each item the probability, from 0.000001 to 1, with which its truth is found out"
    for row in np.flatnonzero(outside | ((array == 1) & unknown))[:1]:
        problem = f"item {items[row]} was chosen with probability {array[row]:g}"
        problem += "" if outside[row] else ", and its truth is not known"
        raise InputError(problem, remedy)
    return array.astype(float)
