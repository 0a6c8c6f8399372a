"""Ratings: which rater put which item into which category, and the system's answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Floats, Integers, check_integers, to_array
from lehner.core.errors import InputError, find, list_few
from lehner.core.lazy import pd
from lehner.core.resampling import ItemCounts
from lehner.core.text import count_categories, pluralise
from lehner.data import checks, tables
from lehner.data import counts as counting
from lehner.data.checks import FEW_RATINGS, FEWEST_TO_JUDGE, MOST_NAMED
from lehner.data.columns import (
    LEAST_PROBABILITY,
    Label,
    Table,
    check_categories,
    encode,
    make_table,
    number_or_nan,
)
from lehner.data.counts import UNKNOWN, CollapsedVotes, Counts, Patterns, count_codes
from lehner.data.reading import Reading

SYSTEM = "system"
MOST_COUNTED_CELLS = 10_000_000
# The table of items: attributes with an entry for each row, or None.
COLUMNS = ("items", "answers", "truth", "counts", "population", "cluster", "truth_probability")
# Other attributes that are the same in equal ratings, and those that need not be.
COMPARED = ("categories", "raters", "systems", "ordered", "anonymous", "populations")
NOT_COMPARED = ("independent_repeats", "reading_notes", "source")


class Ratings:
    """Ratings of items by raters, with the system's answers and the gold labels if there are any.

    Ratings do not change: each method gives a new object. Usually they are read from a file by
    `lehner.read_ratings`, or from a table by `from_wide`, `from_long` or `from_counts`.

    Parameters
    ----------
    codes : array_like of int, shape (n_rows, n_raters), or Counts
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
    population : array_like of int, shape (n_rows,), optional
        Index of the population of each row; see `with_populations`.
    populations : sequence of str
        Names of the populations.
    cluster : array_like of int, shape (n_rows,), optional
        Index of the cluster that each item is of; see `with_clusters`.
    truth_probability : array_like, shape (n_rows,), optional
        Probability with which each item was chosen to have its truth found out; see `with_truth`.
    independent_repeats : bool
        Whether each of a rater's ratings of the same item is a vote; see
        `with_independent_repeats`.
    reading_notes : sequence of str
        Sentences about how the data were read; `notes` has more.
    source : optional
        The table that the ratings were read from, and how; it is not compared.

    Attributes
    ----------
    entries : Counts
        All ratings, also those that a rater repeated: the entries of a sparse table.
    answers : ndarray of int, shape (n_rows, n_systems)
        Category index of each system's answer, -1 where it is missing.
    n_rows, n_raters, n_categories : int
        Numbers of rows (of items, or in grouped data of patterns), of raters without the system,
        and of categories, used or not.
    all_raters : tuple of str
        Names of the raters, and after them of the system or systems.

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

    def __init__(
        self,
        codes: ArrayLike | Counts,
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
        population: ArrayLike | None = None,
        populations: Sequence[str] = (),
        cluster: ArrayLike | None = None,
        truth_probability: ArrayLike | None = None,
        independent_repeats: bool = False,
        reading_notes: Sequence[str] = (),
        source: Any = None,
    ) -> None:
        self.categories = check_categories(categories)
        k = len(self.categories)
        self.entries = codes.check(k) if isinstance(codes, Counts) else count_codes(codes, k)
        self.n_rows, self.n_raters, self.n_categories = n_rows, n_raters, _ = self.entries.shape
        self.items: NDArray[Any] = to_array(np.arange(n_rows) if items is None else items, "items")
        if self.items.shape != (n_rows,):
            problem = f"{len(self.items)} names for {n_rows} items"
            raise InputError(problem, "name each item once")
        self.answers = _check_answers(system, n_rows, k)
        n_systems = self.answers.shape[1]
        numbered = [SYSTEM] if n_systems == 1 else [f"{SYSTEM} {j + 1}" for j in range(n_systems)]
        self.systems = _check_names(numbered if systems is None else systems, n_systems, "system")
        names = range(1, n_raters + 1) if raters is None else raters
        self.raters = _check_names(names, n_raters, "rater")
        if both := set(self.raters) & set(self.systems):
            problem = f"a rater is named {both.pop()!r}, as the system is"
            raise InputError(problem, "rename the rater")
        self.all_raters = (*self.raters, *self.systems)

        def per_row(values: ArrayLike | None, name: str, least: int, most: int) -> Integers | None:
            return None if values is None else check_integers(values, name, (n_rows,), least, most)

        self.truth = per_row(truth, "truth", -1, k - 1)
        self.counts = None if counts is None else counting.check_counts(counts, (n_rows,))
        self.populations = tuple(populations)
        self.population = per_row(population, "population", 0, len(self.populations) - 1)
        numbers = per_row(cluster, "cluster", 0, counting.MOST_ITEMS)
        self.cluster = None if numbers is None else counting.factorize(numbers)[0]
        self.truth_probability = _check_chances(truth_probability, self.items, self.truth)
        self.ordered, self.anonymous, self.source = ordered, anonymous, source
        self.reading_notes = tuple(reading_notes)
        self.independent_repeats = independent_repeats

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self):
            raise AttributeError(f"ratings do not change: replace({name}=…) gives others")
        super().__setattr__(name, value)

    def __reduce__(self) -> Any:
        return _make_ratings, (self._list_attributes() | {"source": None},)

    def _list_attributes(self) -> dict[str, Any]:
        """List the attributes that determine all others."""
        names = ("entries", *COLUMNS, *COMPARED, *NOT_COMPARED)
        return {name: getattr(self, name) for name in names}

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
    def votes(self) -> Counts:
        """The votes, from which everything is estimated: one for each rater and item.

        A rater who rated an item more than once votes for the category that the rater gave most
        often, and for none if two were equally frequent. Without such raters it is `entries`.
        """
        return self.entries if self.independent_repeats else self.entries.one_vote_each

    @property
    def all_votes(self) -> Counts:
        """The votes, with the answers of systems as those of last raters."""
        return self.votes.add_raters(self.answers) if self.systems else self.votes

    @cached_property
    def weights(self) -> Integers:
        """Number of items of each row, (n_rows,)."""
        return np.ones(self.n_rows, np.int64) if self.counts is None else self.counts

    @property
    def grouped(self) -> bool:
        """Whether a row may represent several items."""
        return self.counts is not None

    @cached_property
    def n_items(self) -> int:
        """Number of items; in grouped data the sum of the counts."""
        return int(self.weights.sum())

    @cached_property
    def repeated(self) -> bool:
        """Whether some rater rated some item more than once."""
        return bool(self.entries.is_repeated.any())

    @cached_property
    def n_clusters(self) -> int:
        """Number of clusters of which there are items; without clusters the number of items."""
        if self.cluster is None:
            return self.n_items
        return len(np.unique(self.cluster[self.weights > 0]))

    @cached_property
    def n_ratings(self) -> int:
        """Number of ratings by raters, repeated ones too; in grouped data with the counts."""
        return int(self.weights[self.entries.item_index].sum())

    @cached_property
    def system(self) -> Integers | None:
        """Category index of the system's answers, shape (n_rows,); None without a system.

        Raises
        ------
        InputError
            If there are several systems: see `select_system`, `answers`.
        """
        if len(self.systems) > 1:
            problem = f"there are {len(self.systems)} systems ({list_few(self.systems, 8)})"
            remedy = f"choose one of them, as in ratings.select_system({self.systems[0]!r})"
            raise InputError(problem, remedy)
        return self.answers[:, 0] if self.systems else None

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about the data, one sentence for each point.

        They tell how each column was interpreted, what looked odd (also given as a `DataWarning`),
        and how many answers are missing.
        """
        return (*self.reading_notes, *_say_repeats(self), *_count_gaps(self))

    @cached_property
    def collapsed_votes(self) -> CollapsedVotes:
        """Combinations of votes and system answer, without a system as if it did not answer."""
        return counting.collapse_votes(self.votes, self.system, self.weights, self.cluster)

    @property
    def codes(self) -> Integers:
        """Category index per item and rater, -1 where missing, shape (n_items, n_raters).

        Raises
        ------
        InputError
            If a rater rated an item more than once: see `entries` or `to_long` instead.
        """
        if self.repeated:
            raise InputError("raters rated items more than once", "use .entries or .to_long()")
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
        return self.votes.count_votes()

    def count_items(self, cell: Integers, n_cells: int) -> ItemCounts:
        """Count the items in each cell, or of each cluster in each cell: see `lehner.data.counts`.

        Parameters
        ----------
        cell : ndarray of int, shape (n_rows,)
            The cell of each row, as its pattern of ratings.
        n_cells : int
            How many cells there are.

        Returns
        -------
        ndarray of int, shape (n_cells,), or scipy.sparse.csr_array, shape (n_clusters, n_cells)
        """
        return counting.count_items(cell, n_cells, self.weights, self.cluster)

    @cached_property
    def uses(self) -> Integers:
        """Cells of the raters, systems and gold labels in each category, (n_writers, n_categories).

        There is a row for each rater, or one for all if they are anonymous or too many, then for
        each system, and for the gold labels.
        """
        k, n_raters, rater = self.n_categories, self.n_raters, self.entries.rater_index
        if self.anonymous or n_raters * k > MOST_COUNTED_CELLS:
            rater, n_raters = np.zeros_like(rater), 1
        cells, weights = rater * k + self.entries.category_index, self.weights
        counted = weights[self.entries.item_index] if self.grouped else None
        uses = np.bincount(cells, counted, n_raters * k)
        labels = [*self.answers.T, *([] if self.truth is None else [self.truth])]
        rows = [np.bincount(codes + 1, weights, k + 1)[1:] for codes in labels]
        return np.vstack([uses.reshape(n_raters, k), *rows]).astype(np.int64)

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
        rows = counting.find_positions(rows, self.n_rows)
        columns = {name: getattr(self, name) for name in COLUMNS}
        changes = {name: x if x is None else x[rows] for name, x in columns.items()}
        if counts is not None:
            changes["counts"] = counting.check_counts(counts, rows.shape)
        return self.replace(entries=self.entries.take(rows), **changes)

    def to_patterns(self, *, truth: bool = True, by_content: bool = False) -> Patterns:
        """Collapse items of a population with the same ratings, system answer and gold label.

        Time and memory are proportional to the number of ratings.

        Parameters
        ----------
        truth : bool
            Whether items that differ only in their gold label are kept apart. If not, no truth is
            known of the patterns.
        by_content : bool
            Whether patterns are in the order of what they contain, and not of appearance.

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
        votes, truths, population = self.all_votes, self.truth if truth else None, self.population
        inverse, first = votes.number_patterns((truths, population), by_content=by_content)
        n_items = np.bincount(inverse, weights=self.weights, minlength=len(first))
        return Patterns(
            votes=votes.take(first),
            counts=n_items.astype(np.int64),
            truths=np.full(len(first), UNKNOWN) if truths is None else truths[first],
            inverse=inverse,
            raters=self.all_raters,
            categories=self.categories,
            has_system=self.system is not None,
            population=np.zeros_like(first) if population is None else population[first],
            populations=self.populations,
            ordered=self.ordered,
        )

    def to_grouped(self, *, truth: bool = True) -> "Ratings":
        """Group items with the same ratings, answers of systems and gold label into one row.

        Items of different populations or clusters stay apart, and those whose truths were found
        out with different probabilities.

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
        >>> Ratings([[0, 1], [1, 1], [0, 1]], ["no", "yes"]).to_grouped()
        Ratings: 3 items in 2 rows, 2 raters, 6 ratings, 2 categories (no, yes)
        """
        chance = self.truth_probability if truth else None
        chances = None if chance is None else np.unique(chance, return_inverse=True)[1]
        truths = self.truth if truth else None
        apart = (truths, self.population, self.cluster, chances)
        inverse, first = self.all_votes.number_patterns(apart)
        n_items = np.bincount(inverse, weights=self.weights, minlength=len(first))
        votes = self.replace(entries=self.votes, truth=truths, truth_probability=chance)
        return votes.take(first, n_items.astype(np.int64))

    def to_ungrouped(self) -> "Ratings":
        """Give each item of grouped data a row.

        Returns
        -------
        Ratings
            With a row for each item. Items of one row have its name in common.

        Examples
        --------
        >>> Ratings([[0, 1], [1, 1]], ["no", "yes"], counts=[2, 1]).to_ungrouped()
        Ratings: 3 items, 2 raters, 6 ratings, 2 categories (no, yes)
        """
        if not self.grouped:
            return self
        return self.take(np.repeat(np.arange(self.n_rows), self.weights)).replace(counts=None)

    def replace(self, **changes: Any) -> "Ratings":
        """Give a copy with other attributes, which are checked as those of new ratings are.

        Parameters
        ----------
        **changes
            The new attributes by name: `entries`, `answers`, and others that `Ratings` takes.

        Returns
        -------
        Ratings

        Raises
        ------
        InputError
            If there is no such attribute, or if it is not as `Ratings` takes it.

        Examples
        --------
        >>> ratings = Ratings([[0, 1], [1, 1]], ["no", "yes"])
        >>> ratings.replace(raters=("Ann", "Bo")).raters
        ('Ann', 'Bo')
        """
        kept = self._list_attributes()
        for name in changes:
            find("attribute of ratings", name, kept)
        return _make_ratings(kept | changes)

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
        notes = (*self.reading_notes, *texts)
        return self.replace(reading_notes=notes) if texts else self

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
        return self.replace(truth=truth, truth_probability=probability)

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
            clusters and `ordered` are the same.

        Examples
        --------
        >>> ratings = Ratings([[0, 0], [1, 1]], ["no", "yes"], system=[0, 1])
        >>> ratings.equals(ratings.take([0, 1]))
        True
        >>> ratings.equals(ratings.without_system())
        False
        """
        parts = ("item_index", "rater_index", "category_index")
        pairs = [(getattr(self, name), getattr(other, name)) for name in (*COLUMNS, *COMPARED)]
        pairs += [(getattr(self.entries, name), getattr(other.entries, name)) for name in parts]
        # Whether repeated ratings are several votes matters only if there are any.
        if self.repeated and self.independent_repeats != other.independent_repeats:
            return False
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
        if self.anonymous:
            problem = f"{list_few(names, 2)} cannot be told from others: it is unknown who gave "
            raise InputError(f"{problem}which rating", "use data in which raters are named")
        index = {rater: j for j, rater in enumerate(self.raters)}
        taken = [find("column or rater", name, index) for name in names]
        answers = [self.entries.take_answers(index[name], name, self.items) for name in names]
        left = np.setdiff1d(np.arange(self.n_raters), taken)
        ratings = self.replace(
            entries=self.entries.take_raters(left),
            raters=tuple(self.raters[j] for j in left),
            answers=np.stack(answers, axis=1),
            systems=names,
        )
        text = "the raters {} are taken as systems"
        text = text if len(names) > 1 else "the rater {} is taken as the system"
        return ratings.note(text.format(", ".join(map(repr, names))))._check_coding()

    def _check_coding(self, *, fixed: bool = False) -> "Ratings":
        """Raise an error, or warn and note, if answers are coded differently from ratings."""
        raters = self.raters[: len(self.uses) - len(self.systems) - (self.truth is not None)]
        odd = checks.find_other_coding(self.uses, raters, self.systems, self.categories, fixed)
        checks.warn_of_data(odd)
        return self.note(*odd)

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
        answers = self.answers[:, self._find_systems([name])]
        return self.replace(answers=answers, systems=(name,))

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
        compared = self._find_systems(systems or self.systems)
        answers = self.answers.copy()
        answers[np.ix_((answers[:, compared] < 0).any(axis=1), compared)] = -1
        return self.replace(answers=answers)

    def _find_systems(self, names: Iterable[str]) -> list[int]:
        index = {name: j for j, name in enumerate(self.systems)}
        return [find("system", name, index) for name in names]

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
        answers = "the system's answers" if len(self.systems) == 1 else "the answers of systems"
        return self.replace(answers=None, systems=()).note(f"{answers} are left out")

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
        cluster = counting.require_several_clusters(encode(names, "cluster").items[0])
        return self.replace(cluster=cluster)

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
        entries = self.entries.add_raters(self.answers)
        columns = {
            "item": self.items[entries.item_index],
            "rater": np.array(self.all_raters, dtype=object)[entries.rater_index],
            "occasion": entries.occasion + 1,
            "rating": self._name_codes(entries.category_index),
        }
        if self.truth is not None:
            columns["truth"] = self._name_codes(self.truth[entries.item_index])
        return pd.DataFrame(columns)

    def _name_codes(self, codes: Integers) -> Any:
        return pd.Categorical.from_codes(codes, list(self.categories), ordered=self.ordered)

    @classmethod
    def from_wide(cls, data: Any, **options: Any) -> "Ratings":
        """Read a table with a row per item and a column per rater.

        Parameters
        ----------
        data : pandas.DataFrame, pyarrow.Table or mapping of columns
            The labels of the ratings.
        **options
            The roles of columns and the meaning of labels, as in `lehner.Reading`: `raters`
            (by default all columns without another role), `item`, `system`,
            `truth`, `truth_probability`, `counts`, `cluster`, `categories`, `ordered`, `missing`,
            `labels` and others.

        Returns
        -------
        Ratings
            A row for each row of the table.

        Raises
        ------
        InputError
            If the data are not a table with a row per item, or if they are probably an error: a
            system that is coded differently from the raters, a category with two spellings, or a
            column without ratings. Data that only look odd give a `DataWarning` and an entry in
            `notes`.

        Examples
        --------
        >>> Ratings.from_wide({"Ann": ["a", "b"], "Bo": ["a", None], "AI": ["b", "b"]}, system="AI")
        Ratings: 2 items, 2 raters, 3 ratings, 2 categories (a, b), system
        >>> Ratings.from_wide({"Ann": [0, 0], "Bo": [0, 1], "n": [70, 30]}, counts="n")
        Ratings: 100 items in 2 rows, 2 raters, 200 ratings, 2 categories (0, 1)
        """
        return cls.from_table(make_table(data), Reading(**options))

    @classmethod
    def from_long(cls, data: Any, **options: Any) -> "Ratings":
        """Read a table with a row per rating.

        Parameters
        ----------
        data : pandas.DataFrame, pyarrow.Table or mapping of columns
            The table.
        **options
            The roles of columns and the meaning of labels, as in `lehner.Reading`: `item`, `rater`
            and `rating` (by default the columns of these names), `system` and `truth` (which may
            name raters), `truth_probability`, `cluster`, `occasion`, `repeated`, `categories`,
            `ordered`, `missing`, `labels` and others. What is said of an item, as its gold
            label, is the same or blank in all its rows. A rater who rates an item again, which is
            an error without `occasion` or `repeated`, has one vote: the most frequent rating, and
            none if two are equally frequent. A note gives the numbers.

        Returns
        -------
        Ratings
            A row for each item.

        Raises
        ------
        InputError
            For the same reasons as in `from_wide`, and if a rater rated an item twice without an
            `occasion` and without `repeated`.

        Examples
        --------
        >>> Ratings.from_long({"item": [1, 1, 2], "rater": ["x", "y", "x"], "rating": "aba"})
        Ratings: 2 items, 2 raters, 3 ratings, 2 categories (a, b)
        """
        usual = {"item": "item", "rater": "rater", "rating": "rating"}
        return cls.from_table(make_table(data), Reading(**usual | options))

    @classmethod
    def from_table(cls, table: Table, reading: Reading) -> "Ratings":
        """Make ratings of a table whose columns' roles are known.

        Parameters
        ----------
        table : lehner.data.columns.Table
            The columns.
        reading : Reading
            A row is a rating if `rater` and `rating` are named, else an item.

        Returns
        -------
        Ratings

        Raises
        ------
        InputError
            See `from_wide` and `from_long`.
        """
        arguments, odd, fixed = tables.read_table(table, reading)
        ratings = cls(**arguments)._check_coding(fixed=fixed)
        apart = len(ratings.uses) >= len(ratings.all_raters)
        raters = ratings.raters if apart else ("the raters",)
        writers = (*raters, *ratings.systems, "gold labels")
        uses = (ratings.categories, ratings.uses, writers)
        slips = [] if fixed else checks.describe_categories(*uses, apart=apart)
        checks.warn_of_data((*odd, *slips))
        return ratings.note(*slips)

    @classmethod
    def from_counts(
        cls,
        counts: ArrayLike,
        categories: Sequence[Label],
        *,
        items: Sequence[Any] | None = None,
        item_counts: ArrayLike | None = None,
        ordered: bool = False,
    ) -> "Ratings":
        """Read the number of anonymous raters who put each item into each category.

        Parameters
        ----------
        counts : array_like of int, shape (n_rows, n_categories)
            Number of ratings of each item in each category, 0 or more.
        categories : sequence of str or int, length n_categories
            Names of the categories, in the order of the columns.
        items : sequence, length n_rows, optional
            Names of the items.
        item_counts : array_like of int, shape (n_rows,), optional
            Number of items of each row.
        ordered : bool
            Whether the order of the categories is meaningful.

        Returns
        -------
        Ratings
            With anonymous raters: it is unknown who gave which rating.

        Raises
        ------
        InputError
            If a count is not a whole number of 0 or more, or if lengths are inconsistent.

        Examples
        --------
        >>> Ratings.from_counts([[3, 0], [1, 2]], ["no", "yes"])
        Ratings: 2 items, 3 anonymous raters, 6 ratings, 2 categories (no, yes)
        """
        arguments = tables.read_anonymous(counts, categories, items)
        return cls(**arguments, counts=item_counts, ordered=ordered)


def _make_ratings(attributes: Mapping[str, Any]) -> Ratings:
    arguments = dict(attributes)
    codes, answers = arguments.pop("entries"), arguments.pop("answers")
    return Ratings(codes, system=answers, **arguments)


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
    texts = column.texts
    numbers = {name: number_or_nan(name) for name in set(texts) - {""}}
    in_order = sorted(numbers, key=lambda x: (np.isnan(numbers[x]), np.nan_to_num(numbers[x]), x))
    return pd.Index(in_order, dtype=object).get_indexer(texts), tuple(in_order)


def _check_names(names: Iterable[Any], n: int, kind: str) -> tuple[str, ...]:
    texts = tuple(map(str, names))
    if len(texts) != n or len(set(texts)) < n:
        raise InputError(f"{n} {kind}s are named {list(texts)}", f"name each {kind} once")
    return texts


def _check_answers(answers: ArrayLike | None, n_rows: int, n_categories: int) -> Integers:
    """Check the answers of systems, and give them in an array (n_rows, n_systems)."""
    array = np.empty((n_rows, 0), int) if answers is None else to_array(answers, "system")
    array = array if array.ndim > 1 else np.atleast_1d(array)[:, None]
    return check_integers(array, "system", (n_rows, array.shape[1]), -1, n_categories - 1)


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


# Notes of what is missing


def _count_gaps(ratings: Ratings) -> Iterator[str]:
    """Count repeated ratings, unanswered items, items with one rating or none, and lazy raters.

    Parameters
    ----------
    ratings : Ratings

    Yields
    ------
    str
        A sentence for each; none if nothing is missing and nothing repeated.

    Examples
    --------
    >>> for text in _count_gaps(Ratings([[0, 1], [1, -1]], ["no", "yes"], system=[0, -1])):
    ...     print(text)
    the system did not answer 1 of 2 items
    1 of 2 items has one rating, which tells nothing of agreement
    """
    weights, flat = ratings.weights, ratings.votes
    of_items = f"of {pluralise(ratings.n_items, 'item')}"
    # A rater whose repeated ratings tie has rated, and has no vote.
    unit = "vote" if ratings.repeated else "rating"
    for name, answers in zip(ratings.systems, ratings.answers.T, strict=True):
        who = "the system" if len(ratings.systems) == 1 else f"the system {name}"
        n_blank = int(weights[answers < 0].sum())
        if n_blank:
            yield f"{who} did not answer {n_blank} {of_items}"
    for length, what in ((1, f"one {unit}, which tells nothing of agreement"), (0, f"no {unit}")):
        n_items = int(weights[flat.n_ratings == length].sum())
        if n_items and ratings.n_raters > length:
            yield f"{n_items} {of_items} {'has' if n_items == 1 else 'have'} {what}"
    votes = np.bincount(flat.rater_index, weights[flat.item_index], minlength=ratings.n_raters)
    few = np.flatnonzero(votes < FEW_RATINGS)
    if len(few) and not ratings.anonymous and ratings.n_items >= FEWEST_TO_JUDGE:
        shown = list_few((f"{ratings.raters[j]} {votes[j]:.0f}" for j in few), MOST_NAMED)
        who = f"{len(few)} of {pluralise(ratings.n_raters, 'rater')}"
        gave = "gave" if len(few) == 1 else "each gave"
        yield f"{who} {gave} fewer than {FEW_RATINGS} {unit}s: {shown}"


def _say_repeats(ratings: Ratings) -> Iterator[str]:
    """Say how often a rater rated an item again, and what becomes of such ratings."""
    again = ratings.entries.is_repeated
    weights = ratings.weights[ratings.entries.item_index]
    n_again = int(weights[again].sum())
    text = "each counts as a vote of its own"
    if not ratings.independent_repeats:
        n_votes = int(ratings.weights[ratings.votes.item_index].sum())
        tied = int(weights[~again].sum()) - n_votes
        text = "a rater has one vote for an item, the rating that the rater gave most often"
        if tied:
            text += f", and none where two are equally frequent ({pluralise(tied, 'time')})"
    if n_again:
        are = "is" if n_again == 1 else "are"
        n_ratings = pluralise(ratings.n_ratings, "rating")
        yield f"{n_again} of {n_ratings} {are} of an item that the same rater rated before: {text}"
