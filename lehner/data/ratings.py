"""Ratings: which rater put which item into which category, and the system's answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Integers
from lehner.core.errors import InputError
from lehner.core.wording import counted, counted_categories, first_few
from lehner.data.anonymous import flatten_counts
from lehner.data.categories import Label, check_categories
from lehner.data.checks.coding import check_coding
from lehner.data.checks.counts import count_gaps
from lehner.data.checks.spellings import say_slips
from lehner.data.checks.warn import warn_of_data
from lehner.data.columns import long_frame, wide_frame
from lehner.data.fields import (
    check_answers,
    check_index,
    check_items,
    check_rater_names,
    check_ratings,
    check_system_names,
)
from lehner.data.flat import (
    FlatRatings,
    add_rater,
    check_counts,
    check_rows,
    count_categories,
    take_rows,
)
from lehner.data.item_groups import check_populations, number_populations
from lehner.data.labelled import from_dataset, to_dataset
from lehner.data.long_table import read_long
from lehner.data.numbering import order_of_name
from lehner.data.patterns import Patterns, collapse_patterns
from lehner.data.rater_groups import OF_NONE, check_rater_group, name_rater_groups
from lehner.data.repeats import are_repeated, one_vote_each
from lehner.data.systems import answers_in_common, one_system, raters_as_systems
from lehner.data.table import Table, names_of
from lehner.data.wide_table import read_wide

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Ratings:
    """Ratings of items by raters, with the system's answers and the known truths if there are any.

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
    population : array_like of int, shape (n_rows,), optional
        Index of the population that each item is from.
    populations : sequence of str, optional
        Names of the populations, including those without items; see `with_populations`.
    rater_group : sequence of str, length n_raters, optional
        Name of each rater's group, "" for raters of none; see `with_rater_groups`.
    noticed : sequence of str
        Sentences about what was noticed when the data were read, see `notes`.
    independent_repeats : bool
        Whether each of a rater's ratings of the same item is a vote; see
        `with_independent_repeats`.

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
    population: Integers | None
    populations: tuple[str, ...]
    rater_group: tuple[str, ...]
    noticed: tuple[str, ...]
    independent_repeats: bool

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
        population: ArrayLike | None = None,
        populations: Sequence[str] = (),
        rater_group: Sequence[str] = (),
        noticed: Sequence[str] = (),
        independent_repeats: bool = False,
    ) -> None:
        categories = check_categories(categories)
        k = len(categories)
        given, n_rows, n_raters = check_ratings(codes, items, raters, k)
        names = check_items(items, n_rows)
        answers = check_answers(system, n_rows, k)
        system_names = check_system_names(systems, answers.shape[1])
        # Attributes are set as a frozen dataclass sets them.
        vars(self).update(
            given=given,
            flat=given if independent_repeats else one_vote_each(given),
            categories=categories,
            raters=check_rater_names(raters, n_raters, system_names),
            items=names,
            systems=system_names,
            answers=answers,
            truth=check_index(truth, n_rows, k, "truth"),
            counts=None if counts is None else check_counts(counts, (n_rows,)),
            ordered=ordered,
            anonymous=anonymous,
            population=check_index(population, n_rows, len(populations), "population"),
            populations=check_populations(populations),
            rater_group=check_rater_group(rater_group, n_raters),
            noticed=tuple(noticed),
            independent_repeats=independent_repeats,
        )

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
        if self.rater_group:
            parts.append(counted(len(self.rater_groups), "group") + " of raters")
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
    def rater_groups(self) -> tuple[str, ...]:
        """Names of the groups of raters, see `with_rater_groups`."""
        return tuple(sorted(set(self.rater_group) - {OF_NONE}, key=order_of_name))

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
        rows = check_rows(rows, self.n_rows)
        return self._replace(
            codes=take_rows(self.given, rows, self.n_rows),
            items=self.items[rows],
            system=self.answers[rows],
            truth=None if self.truth is None else self.truth[rows],
            population=None if self.population is None else self.population[rows],
            counts=self.weights[rows] if counts is None and self.grouped else counts,
        )

    def patterns(self, *, truth: bool = True) -> Patterns:
        """Collapse items of a population with the same ratings, system answer and known truth.

        Time and memory are proportional to the number of ratings.

        Parameters
        ----------
        truth : bool
            Whether items that differ only in their known truth are kept apart. If not, no truth is
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
        """Group items with the same ratings, system answer and known truth into one row.

        Parameters
        ----------
        truth : bool
            Whether items that differ only in their known truth are kept apart. If not, the result
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
        patterns = self.patterns(truth=truth)
        votes = self._replace(codes=self.flat, truth=self.truth if truth else None)
        return votes.take(patterns.first, patterns.counts)

    def expand(self) -> "Ratings":
        """Give each item of grouped data a row of its own.

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
        fields: dict[str, Any] = {
            "codes": self.given,
            "categories": self.categories,
            "raters": self.raters,
            "items": self.items,
            "system": self.answers,
            "systems": self.systems,
            "truth": self.truth,
            "counts": self.counts,
            "ordered": self.ordered,
            "anonymous": self.anonymous,
            "population": self.population,
            "populations": self.populations,
            "rater_group": self.rater_group,
            "noticed": self.noticed,
            "independent_repeats": self.independent_repeats,
        }
        return Ratings(**(fields | changes))

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
        if not raters:
            raise InputError("no rater is named as the system", "name a rater, or several")
        names = [str(rater) for rater in raters]
        if self.systems:
            raise InputError(
                f"the ratings already have a system, whose answers {names[0]!r} would replace",
                "leave them out first, by without_system()",
            )
        taken = self._replace(**raters_as_systems(self, names))
        sentence = f"the rater {names[0]!r} is taken as the system"
        if len(names) > 1:
            sentence = f"the raters {', '.join(map(repr, names))} are taken as systems"
        return taken._note(sentence)._check_coding()

    def for_system(self, name: str, *, systems_rate: bool = False) -> "Ratings":
        """Keep one of several systems as the system.

        Parameters
        ----------
        name : str
            Name of the system.
        systems_rate : bool
            Whether the other systems serve as raters; else they are left out.

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
        >>> ratings.for_system("base").system.tolist()
        [1, 1]
        >>> ratings.for_system("base", systems_rate=True).raters
        ('1', 'gpt')
        """
        return self._replace(**one_system(self, name, systems_rate=systems_rate))

    def on_common_items(self, *systems: str) -> "Ratings":
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
        >>> ratings.on_common_items().answers.tolist()
        [[-1, -1], [1, 1]]
        """
        return self._replace(system=answers_in_common(self, systems or self.systems))

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
        return self._replace(system=None, systems=None)._note(f"{whose} are left out")

    def _note(self, *texts: str) -> "Ratings":
        """Add what was noticed."""
        return self._replace(noticed=(*self.noticed, *texts))

    def _check_coding(self, *, refuse: bool = True) -> "Ratings":
        """Raise an error, or warn, if answers are coded differently from the raters' ratings."""
        odd = check_coding(self, refuse=refuse)
        warn_of_data(odd)
        return self._note(*odd) if odd else self

    def with_truth(self, truth: ArrayLike | None) -> "Ratings":
        """Replace the known truths of the items, or remove them.

        Parameters
        ----------
        truth : array_like of int, shape (n_rows,), or None
            Category index of the true category, -1 where it is unknown; None if no truth is known.

        Returns
        -------
        Ratings
            The same ratings and answers with these truths.

        Raises
        ------
        InputError
            If there is not one index of a category, or -1, for each row.

        Examples
        --------
        >>> Ratings([[0, 0], [1, 1]], ["no", "yes"]).with_truth([0, -1]).truth.tolist()
        [0, -1]
        """
        return self._replace(truth=truth)

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
            return self._replace(population=None, populations=())
        population, populations = number_populations(names, self.items)
        return self._replace(population=population, populations=populations)

    def with_rater_groups(self, groups: Mapping[str, str] | None) -> "Ratings":
        """Assign raters to groups, such as experts and a crowd.

        The models `hierarchical_dawid_skene`, `one_coin_by_rater` and `relaxed_k` then have other
        parameters of the distribution of raters for each group, and draw raters toward the raters
        of their own group. Other methods estimate accuracies as without groups.

        Parameters
        ----------
        groups : mapping, or None
            The name of the group by the name of the rater; None for no groups. Raters who are not
            named, or whose group is missing, belong to none; models take them as one more group.

        Returns
        -------
        Ratings
            The same ratings by raters of these groups.

        Raises
        ------
        InputError
            If there is no such rater, if no rater belongs to a group, or if raters are anonymous.

        Examples
        --------
        >>> ratings = Ratings([[0, 0, 1]], ["no", "yes"], ["Ann", "Bo", "Cy"])
        >>> grouped = ratings.with_rater_groups({"Ann": "expert", "Bo": "crowd"})
        >>> grouped
        Ratings: 1 item, 3 raters, 3 ratings, 2 categories (no, yes), 2 groups of raters
        >>> grouped.rater_groups, grouped.rater_group
        (('crowd', 'expert'), ('expert', 'crowd', ''))
        """
        named = () if groups is None else name_rater_groups(self, groups)
        return self._replace(rater_group=named)

    def with_independent_repeats(self, independent: bool = True) -> "Ratings":
        """Count each of a rater's ratings of the same item as a vote.

        By default a rater has one vote for an item, because a rater who rates it again mostly
        repeats the first rating, mistakes included. Estimates then take the second rating for as
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
        return self._replace(independent_repeats=independent)

    def with_items(self, items: Sequence[Any] | NDArray[Any]) -> "Ratings":
        """Rename the items.

        Parameters
        ----------
        items : sequence, length n_rows
            A name for each row.

        Returns
        -------
        Ratings
            The same ratings under these names.

        Raises
        ------
        InputError
            If there is not one name for each row.

        Examples
        --------
        >>> Ratings([[0, 0], [1, 1]], ["no", "yes"]).with_items(["x", "y"]).items.tolist()
        ['x', 'y']
        """
        return self._replace(items=items)

    def equals(self, other: "Ratings") -> bool:
        """Tell whether two objects have the same ratings and the same names.

        Parameters
        ----------
        other : Ratings
            The ratings to compare with.

        Returns
        -------
        bool
            True if codes, names, system, truths, counts, populations, groups of raters and
            `ordered` are the same.

        Examples
        --------
        >>> ratings = Ratings([[0, 0], [1, 1]], ["no", "yes"], system=[0, 1])
        >>> ratings.equals(Ratings.from_xarray(ratings.to_xarray()))
        True
        >>> ratings.equals(ratings.without_system())
        False
        """
        arrays = ("items", "answers", "truth", "counts", "population", "populations")
        flat = ("item_index", "rater_index", "category_index")
        return (
            (self.categories, self.all_raters, self.ordered, self.anonymous)
            == (other.categories, other.all_raters, other.ordered, other.anonymous)
            and self.rater_group == other.rater_group
            and all(np.array_equal(getattr(self, a), getattr(other, a)) for a in arrays)
            and self.several_votes == other.several_votes
            and all(np.array_equal(getattr(self.given, a), getattr(other.given, a)) for a in flat)
        )

    @classmethod
    def from_wide(
        cls,
        data: Any,
        *,
        raters: Sequence[str] | None = None,
        item: str | None = None,
        system: str | Sequence[str] | None = None,
        truth: str | None = None,
        counts: str | None = None,
        categories: Sequence[Label] | None = None,
        ordered: bool = False,
        missing: Sequence[Label] = (),
        fold_case: bool = False,
    ) -> "Ratings":
        """Read a table with a row per item and a column per rater.

        Parameters
        ----------
        data : pandas.DataFrame, pyarrow.Table, mapping of columns or ndarray
            The labels of the ratings; an array has raters as columns.
        raters : sequence of str, optional
            The raters' columns; by default all columns not named below. For an array, names.
        item, truth, counts : str, optional
            Columns of the items' names, of known truths, and of the number of items of each row.
        system : str or sequence of str, optional
            Column of the system's answers, or the columns of several systems.
        categories : sequence, optional
            All categories in order; by default those that occur, sorted.
        ordered : bool
            Whether their order is meaningful.
        missing : sequence of str
            Labels of missing ratings, besides blanks, NA, NaN and null.
        fold_case : bool
            Whether labels that differ only in case, white space or Unicode form are one.

        Returns
        -------
        Ratings
            A row for each row of the table.

        Raises
        ------
        InputError
            If the data are not a table with a row per item, or if they are probably a mistake: a
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
        table = read_wide(
            data,
            raters=None if raters is None else names_of(raters),
            item=item,
            systems=names_of(system),
            truth=truth,
            counts=counts,
            categories=categories,
            ordered=ordered,
            missing=missing,
            fold_case=fold_case,
        )
        return cls._of_table(table)

    @classmethod
    def from_long(
        cls,
        data: Any,
        *,
        item: str = "item",
        rater: str = "rater",
        rating: str = "rating",
        system: str | Sequence[str] | None = None,
        truth: str | None = None,
        occasion: str | None = None,
        repeated: bool = False,
        categories: Sequence[Label] | None = None,
        ordered: bool = False,
        missing: Sequence[Label] = (),
        fold_case: bool = False,
    ) -> "Ratings":
        """Read a table with a row per rating.

        Parameters
        ----------
        data : pandas.DataFrame, pyarrow.Table or mapping of columns
            The table.
        item, rater, rating : str
            Names of the columns of the item, the rater and the rater's label.
        system : str or sequence of str, optional
            The rater who is the system, or the raters who are systems.
        truth : str, optional
            Column with the item's known truth, the same or blank in all rows of an item.
        occasion : str, optional
            Column that distinguishes repeated ratings of an item by a rater; without it a
            repetition is an error, unless `repeated` is set. A rater has one vote for an item, the
            most frequent of the ratings, because repeated ratings mostly repeat their mistakes; if
            two are equally frequent, the rater has none. A note gives the numbers.
        repeated : bool
            Whether a rater may rate an item more than once without `occasion`.
        categories : sequence, optional
            All categories in order; by default those that occur, sorted.
        ordered : bool
            Whether their order is meaningful.
        missing : sequence of str
            Labels of missing ratings, besides blanks, NA, NaN and null.
        fold_case : bool
            Whether labels that differ only in case, white space or Unicode form are one.

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
        systems = names_of(system)
        table = read_long(
            data,
            item=item,
            rater=rater,
            rating=rating,
            systems=systems,
            truth=truth,
            occasion=occasion,
            repeated=repeated,
            categories=categories,
            ordered=ordered,
            missing=missing,
            fold_case=fold_case,
        )
        return cls._of_table(table, systems)

    @classmethod
    def _of_table(cls, table: Table, systems: Sequence[str] = ()) -> "Ratings":
        """Make ratings of a table, with some raters as systems; refuse or warn if data look odd."""
        ratings = cls(
            table.ratings,
            table.categories,
            table.raters,
            table.items,
            table.answers,
            table.truth,
            counts=table.counts,
            ordered=table.ordered,
            systems=table.systems,
            noticed=table.noticed,
        )
        if systems:
            ratings = ratings._replace(**raters_as_systems(ratings, systems))
        slips = () if table.fixed else say_slips(ratings)
        warn_of_data((*table.odd, *slips))
        return ratings._note(*slips)._check_coding(refuse=not table.fixed)

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
        flat, raters, n_items = flatten_counts(counts, categories)
        return cls(
            flat,
            categories,
            raters,
            np.arange(1, n_items + 1) if items is None else items,
            counts=item_counts,
            ordered=ordered,
            anonymous=True,
        )

    def to_wide(self) -> "pd.DataFrame":
        """Give a table with a row per item and a column per rater, blanks where missing.

        Returns
        -------
        pandas.DataFrame
            Columns `item`, the raters, the systems, and `truth`, `count` where there are any.

        Raises
        ------
        InputError
            If a rater rated an item more than once, or has the name of another column.
        """
        return wide_frame(self)

    def to_long(self) -> "pd.DataFrame":
        """Give a table with a row per rating, systems as raters.

        Returns
        -------
        pandas.DataFrame
            Columns `item`, `rater`, `occasion`, `rating`, and `truth` if some is known.

        Raises
        ------
        InputError
            If rows stand for several items.
        """
        return long_frame(self)

    def to_xarray(self) -> "xr.Dataset":
        """Give a labelled dataset of codes.

        Returns
        -------
        xarray.Dataset
            `ratings` (item, rater), and `answers` (item, system), `truth` and `count` (item) where
            there are any: indices into the coordinate `category`, -1 where missing. Where items are
            from populations, `population` (item): indices into the attribute `populations`.
            Where raters are in groups, the coordinate `group_of_rater` (rater) names them.

        Raises
        ------
        InputError
            If a rater rated an item more than once.
        """
        return to_dataset(self)

    @classmethod
    def from_xarray(cls, dataset: "xr.Dataset") -> "Ratings":
        """Make ratings of a dataset from `to_xarray`.

        Parameters
        ----------
        dataset : xarray.Dataset
            A dataset with the variables and attributes of `to_xarray`; it may have been stored.

        Returns
        -------
        Ratings
            The same ratings as before.

        Raises
        ------
        InputError
            If the dataset has no variable `ratings`, or an invalid one.
        """
        return cls(**from_dataset(dataset))
