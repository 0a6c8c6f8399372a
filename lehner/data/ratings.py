"""Ratings: which rater put which item into which category, and what the system said."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Integers
from lehner.core.errors import InputError
from lehner.core.wording import counted, counted_categories, first_few
from lehner.data.categories import (
    Label,
    check_categories,
    choose_categories,
    declared_column,
    encode,
    recode,
    unify,
)
from lehner.data.checks.categories import check_found_categories
from lehner.data.checks.coding import check_coding
from lehner.data.checks.column_labels import refuse_stray_columns
from lehner.data.checks.column_names import (
    refuse_other_columns,
    say_doubtful_names,
    say_other_raters,
)
from lehner.data.checks.columns import say_columns
from lehner.data.checks.counts import count_gaps
from lehner.data.checks.warn import warn_of_data
from lehner.data.columns import (
    columns_of,
    count_column,
    encode_items,
    long_frame,
    refuse_duplicates,
    require_columns,
    require_complete,
    truth_per_item,
    unique_items,
    wide_frame,
)
from lehner.data.flat import (
    FlatRatings,
    add_rater,
    as_array,
    check_codes,
    check_counts,
    check_flat,
    count_categories,
    flatten,
    sort_ratings,
    take_rows,
)
from lehner.data.patterns import UNKNOWN, Patterns, number_patterns
from lehner.data.spelling import reread

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

SYSTEM = "system"


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Ratings:
    """Ratings of items by raters, with the system's answers and the known truths if there are any.

    Ratings do not change: each method gives a new object. Usually they are read from a file by
    `lehner.read_ratings`, or from a table by `from_wide`, `from_long`, `from_patterns` or
    `from_counts`.

    Parameters
    ----------
    codes : array_like of int, shape (n_rows, n_raters), or FlatRatings
        Category index of each rating, from 0; -1 where a rating is missing.
    categories : sequence of str or int, length n_categories
        Names of the categories, used or not.
    raters : sequence of str, length n_raters, optional
        Names of the raters; by default "1", "2" and so on.
    items : sequence, length n_rows, optional
        Names of the items; by default 0, 1 and so on.
    system : array_like of int, shape (n_rows,), optional
        Category index of the system's answer, -1 where it is missing.
    truth : array_like of int, shape (n_rows,), optional
        Category index of the true category, -1 where it is unknown.
    counts : array_like of int, shape (n_rows,), optional
        For grouped data: how many items each row stands for, 0 or more.
    ordered : bool
        Whether the order of the categories means something.
    anonymous : bool
        Whether it is unknown who gave which rating, as in tables of counts per category.
    noticed : sequence of str
        What was noticed when the data were read, see `notes`.

    Attributes
    ----------
    flat : FlatRatings
        The ratings one after another, sorted by item and rater.

    Raises
    ------
    InputError
        If an index is no category, if lengths do not fit one another, if two raters or categories
        have the same name, or if counts are not whole numbers.

    Examples
    --------
    >>> ratings = Ratings([[0, 0, 1], [1, 1, -1]], ["no", "yes"], system=[0, 1])
    >>> ratings
    Ratings: 2 items, 3 raters, 5 ratings, 2 categories (no, yes), system
    >>> ratings.votes().tolist()
    [[2, 1], [0, 2]]
    """

    flat: FlatRatings
    categories: tuple[Label, ...]
    raters: tuple[str, ...]
    items: NDArray[Any]
    system: Integers | None
    truth: Integers | None
    counts: Integers | None
    ordered: bool
    anonymous: bool
    noticed: tuple[str, ...]

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
        noticed: Sequence[str] = (),
    ) -> None:
        categories = check_categories(categories)
        k = len(categories)
        if isinstance(codes, FlatRatings):
            n_rows = _length(items, codes.item_index)
            n_raters = _length(raters, codes.rater_index)
            flat = check_flat(codes, n_rows, n_raters, k)
        else:
            flat, n_rows, n_raters = flatten(codes, k)
        names = np.arange(n_rows) if items is None else as_array(items, "items")
        if names.shape != (n_rows,):
            raise InputError(f"{len(names)} names for {n_rows} items", "name each item once")
        # As a frozen dataclass sets them.
        vars(self).update(
            flat=flat,
            categories=categories,
            raters=_rater_names(raters, n_raters, has_system=system is not None),
            items=names,
            system=_code_per_row(system, n_rows, k, "system"),
            truth=_code_per_row(truth, n_rows, k, "truth"),
            counts=None if counts is None else check_counts(counts, (n_rows,)),
            ordered=ordered,
            anonymous=anonymous,
            noticed=tuple(noticed),
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
        if self.system is not None:
            parts.append("system")
        if self.truth is not None:
            parts.append("truth")
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
        """Number of raters, the system not included."""
        return len(self.raters)

    @property
    def n_categories(self) -> int:
        """Number of categories, used or not."""
        return len(self.categories)

    @property
    def n_ratings(self) -> int:
        """Number of ratings by raters; in grouped data with the counts."""
        return int(self.weights[self.flat.item_index].sum())

    @property
    def grouped(self) -> bool:
        """Whether a row stands for several items."""
        return self.counts is not None

    @property
    def weights(self) -> Integers:
        """How many items each row stands for, shape (n_rows,)."""
        return np.ones(self.n_rows, np.int64) if self.counts is None else self.counts

    @property
    def repeated(self) -> bool:
        """Whether some rater rated some item more than once."""
        item, rater = self.flat.item_index, self.flat.rater_index
        return bool(((item[1:] == item[:-1]) & (rater[1:] == rater[:-1])).any())

    @property
    def all_raters(self) -> tuple[str, ...]:
        """Names of the raters, with `"system"` as the last if there is a system."""
        return self.raters if self.system is None else (*self.raters, SYSTEM)

    @property
    def all_flat(self) -> FlatRatings:
        """The ratings one after another, with the system's answers as those of a last rater."""
        if self.system is None:
            return self.flat
        return add_rater(self.flat, self.system, self.n_raters)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of the data, a sentence each.

        Which columns were read as what, what looked odd (a `DataWarning` too), and how many
        answers are missing.
        """
        return (*self.noticed, *count_gaps(self))

    @property
    def codes(self) -> Integers:
        """Category index per item and rater, -1 where missing, shape (n_items, n_raters).

        Raises
        ------
        InputError
            If a rater rated an item more than once: see `flat` or `to_long` instead.
        """
        if self.repeated:
            raise InputError("some raters rated an item more than once", "use .flat or .to_long()")
        dense = np.full((self.n_rows, self.n_raters), -1)
        dense[self.flat.item_index, self.flat.rater_index] = self.flat.category_index
        return dense

    def votes(self) -> Integers:
        """Count the ratings of each row in each category; the system's answers are left out.

        Returns
        -------
        ndarray of int, shape (n_rows, n_categories)
            Number of ratings.

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
            Positions of the rows, of which one may occur more than once; or a mask.
        counts : array_like of int, shape (n_selected,), optional
            How many items each selected row stands for; by default as before.

        Returns
        -------
        Ratings
            The selected rows under their names.

        Raises
        ------
        InputError
            If counts are not whole numbers, one for each row.

        Examples
        --------
        >>> ratings = Ratings([[0, 0], [0, 1], [1, 1]], ["no", "yes"])
        >>> ratings.take([2, 0]).codes.tolist()
        [[1, 1], [0, 0]]
        """
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)
        return self._replace(
            codes=take_rows(self.flat, rows, self.n_rows),
            items=self.items[rows],
            system=None if self.system is None else self.system[rows],
            truth=None if self.truth is None else self.truth[rows],
            counts=self.weights[rows] if counts is None and self.grouped else counts,
        )

    def patterns(self, *, truth: bool = True) -> Patterns:
        """Collapse items with the same ratings, system answer and known truth.

        It takes time and memory in proportion to the number of ratings.

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
        flat, known = self.all_flat, self.truth if truth else None
        inverse, first = number_patterns(
            flat, known, self.n_rows, len(self.all_raters), self.n_categories
        )
        counts = np.bincount(inverse, weights=self.weights, minlength=len(first))
        return Patterns(
            flat=take_rows(flat, first, self.n_rows),
            counts=counts.astype(np.int64),
            truths=np.full(len(first), UNKNOWN) if known is None else known[first],
            first=first,
            inverse=inverse,
            raters=self.all_raters,
            categories=self.categories,
            ordered=self.ordered,
            has_system=self.system is not None,
        )

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
            Grouped data: a row for each pattern of ratings, with its number of items.

        Examples
        --------
        >>> Ratings([[0, 1], [1, 1], [0, 1]], ["no", "yes"]).collapse()
        Ratings: 3 items in 2 rows, 2 raters, 6 ratings, 2 categories (no, yes)
        """
        patterns = self.patterns(truth=truth)
        known = self if truth else self.with_truth(None)
        return known.take(patterns.first, patterns.counts)

    def _replace(self, **changes: Any) -> "Ratings":
        fields: dict[str, Any] = {
            "codes": self.flat,
            "categories": self.categories,
            "raters": self.raters,
            "items": self.items,
            "system": self.system,
            "truth": self.truth,
            "counts": self.counts,
            "ordered": self.ordered,
            "anonymous": self.anonymous,
            "noticed": self.noticed,
        }
        return Ratings(**(fields | changes))

    def with_system(self, rater: Any) -> "Ratings":
        """Take one of the raters as the system.

        Parameters
        ----------
        rater : str
            Name of the rater.

        Returns
        -------
        Ratings
            The other raters, with this rater's ratings as the system's answers.

        Raises
        ------
        InputError
            If there is no such rater, if raters are anonymous, if the rater rated an item more
            than once, if there is a system already, or if no other rater gives a category that
            this one gives.

        Examples
        --------
        >>> ratings = Ratings([[0, 0, 1], [1, 1, 1]], ["no", "yes"], raters=["Ann", "Bo", "AI"])
        >>> ratings.with_system("AI")
        Ratings: 2 items, 2 raters, 4 ratings, 2 categories (no, yes), system
        """
        if self.system is not None:
            raise InputError(
                f"the ratings have a system already, whose answers {str(rater)!r} would replace",
                "leave them out first, by without_system()",
            )
        taken = self._take_system(rater)
        return taken._note(f"the rater {str(rater)!r} is taken as the system")._check_coding()

    def _take_system(self, rater: Any) -> "Ratings":
        if self.anonymous:
            raise InputError(
                f"{rater!r} cannot be the system: it is unknown who gave which rating",
                "use data in which raters are named",
            )
        if str(rater) not in self.raters:
            raise InputError(
                f"there is no column or rater {str(rater)!r}",
                f"choose the system among {', '.join(self.raters)}",
            )
        chosen = self.raters.index(str(rater))
        mine = self.flat.rater_index == chosen
        rows = self.flat.item_index[mine]
        twice = np.flatnonzero(np.diff(rows) == 0)
        if twice.size:
            raise InputError(
                f"rater {str(rater)!r} rated item {self.items[rows[twice[0]]]} more than once, "
                "and a system gives one answer per item",
                "choose another rater as the system",
            )
        system = np.full(self.n_rows, -1)
        system[rows] = self.flat.category_index[mine]
        index = self.flat.rater_index[~mine]
        flat = FlatRatings(
            item_index=self.flat.item_index[~mine],
            rater_index=index - (index > chosen),
            category_index=self.flat.category_index[~mine],
        )
        raters = [name for j, name in enumerate(self.raters) if j != chosen]
        return self._replace(codes=flat, raters=raters, system=system)

    def without_system(self) -> "Ratings":
        """Leave the system's answers out.

        Returns
        -------
        Ratings
            The same ratings by the raters.

        Examples
        --------
        >>> Ratings([[0, 0], [1, 1]], ["no", "yes"], system=[0, 1]).without_system()
        Ratings: 2 items, 2 raters, 4 ratings, 2 categories (no, yes)
        """
        if self.system is None:
            return self
        return self._replace(system=None)._note("the system's answers are left out")

    def _note(self, *texts: str) -> "Ratings":
        """Add what was noticed."""
        return self._replace(noticed=(*self.noticed, *texts))

    def _check_coding(self, *, refuse: bool = True) -> "Ratings":
        """Refuse, or note and warn of, answers coded otherwise than the raters' ratings."""
        odd = check_coding(self, refuse=refuse)
        warn_of_data(odd)
        return self._note(*odd) if odd else self

    def with_truth(self, truth: ArrayLike | None) -> "Ratings":
        """Give the items these known truths, or none, in the place of those that are known.

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

    def with_items(self, items: Sequence[Any] | NDArray[Any]) -> "Ratings":
        """Give the items these names.

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
        """Tell whether two objects hold the same ratings under the same names.

        Parameters
        ----------
        other : Ratings
            What to compare with.

        Returns
        -------
        bool
            True if codes, names, system, truths, counts and the meaning of the order are the same.

        Examples
        --------
        >>> ratings = Ratings([[0, 0], [1, 1]], ["no", "yes"], system=[0, 1])
        >>> ratings.equals(Ratings.from_xarray(ratings.to_xarray()))
        True
        >>> ratings.equals(ratings.without_system())
        False
        """
        arrays = ("items", "system", "truth", "counts")
        flat = ("item_index", "rater_index", "category_index")
        return (
            (self.categories, self.raters, self.ordered, self.anonymous)
            == (other.categories, other.raters, other.ordered, other.anonymous)
            and all(np.array_equal(getattr(self, a), getattr(other, a)) for a in arrays)
            and all(np.array_equal(getattr(self.flat, a), getattr(other.flat, a)) for a in flat)
        )

    @classmethod
    def from_wide(
        cls,
        data: Any,
        *,
        raters: Sequence[str] | None = None,
        item: str | None = None,
        system: str | None = None,
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
        item, system, truth, counts : str, optional
            Columns that name the items, hold the system's answers, the known truths, and how
            many items a row stands for.
        categories : sequence, optional
            All categories in order; by default those that occur, sorted.
        ordered : bool
            Whether their order means something.
        missing : sequence of str
            Labels that stand for no rating, besides blanks, NA, NaN and null.
        fold_case : bool
            Whether labels that differ only in case, white space or Unicode form are one.

        Returns
        -------
        Ratings
            A row for each row of the table.

        Raises
        ------
        InputError
            If the data are no table with a row per item, or if they are probably not meant as they
            stand: a system coded otherwise than the raters, one category spelled in two ways, or a
            column that holds no ratings. What only looks odd is a `DataWarning`, and stands in
            `notes`.

        Examples
        --------
        >>> Ratings.from_wide({"Ann": ["a", "b"], "Bo": ["a", None], "AI": ["b", "b"]}, system="AI")
        Ratings: 2 items, 2 raters, 3 ratings, 2 categories (a, b), system
        """
        columns = columns_of(data, raters)
        special = [name for name in (item, system, truth, counts) if name is not None]
        chosen = [name for name in columns if name not in special] if raters is None else raters
        require_columns(columns, [*special, *chosen])
        if raters is None:
            refuse_other_columns(chosen, system)
        labelled = [*chosen, *(name for name in (system, truth) if name is not None)]
        found = {name: encode(columns[name], name) for name in labelled}
        roles, odd = reread(found, categories, missing=missing, fold_case=fold_case)
        fixed = categories is not None or declared_column(roles) is not None
        if raters is None and not fixed:
            answers = {name: column for name, column in roles.items() if name != truth}
            refuse_stray_columns(answers, chosen)
        cats, names, ordered = choose_categories(roles, categories, ordered=ordered)
        if categories is None:
            odd += check_found_categories(roles, names, refuse=not fixed)
        if raters is None:
            odd += say_doubtful_names(chosen, system)
        used = {*special, *chosen}
        said = say_columns(
            chosen,
            system=system,
            truth=truth,
            item=item,
            ignored=[name for name in columns if name not in used],
        )
        codes = {name: recode(column, name, cats, names) for name, column in roles.items()}
        n_rows = len(next(iter(columns.values())))
        dense = np.stack([codes[r] for r in chosen], axis=1) if chosen else np.empty((n_rows, 0))
        ratings = cls(
            dense.astype(np.int64),
            cats,
            chosen,
            None if item is None else unique_items(columns[item], item),
            None if system is None else codes[system],
            None if truth is None else codes[truth],
            counts=None if counts is None else count_column(columns[counts], counts),
            ordered=ordered,
            noticed=(said, *odd),
        )
        warn_of_data(odd)
        return ratings._check_coding(refuse=not fixed)

    @classmethod
    def from_long(
        cls,
        data: Any,
        *,
        item: str = "item",
        rater: str = "rater",
        rating: str = "rating",
        system: str | None = None,
        truth: str | None = None,
        occasion: str | None = None,
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
            Names of the columns that hold the item, the rater and the rater's label.
        system : str, optional
            The rater who is the system.
        truth : str, optional
            Column with the item's known truth, the same or blank in all rows of an item.
        occasion : str, optional
            Column that tells repeated ratings of an item by a rater apart; without it a
            repetition is an error.
        categories : sequence, optional
            All categories in order; by default those that occur, sorted.
        ordered : bool
            Whether their order means something.
        missing : sequence of str
            Labels that stand for no rating, besides blanks, NA, NaN and null.
        fold_case : bool
            Whether labels that differ only in case, white space or Unicode form are one.

        Returns
        -------
        Ratings
            A row for each item.

        Raises
        ------
        InputError
            As of `from_wide`, and if a rater rated an item twice without an `occasion`.

        Examples
        --------
        >>> Ratings.from_long({"item": [1, 1, 2], "rater": ["x", "y", "x"], "rating": "aba"})
        Ratings: 2 items, 2 raters, 3 ratings, 2 categories (a, b)
        """
        columns = columns_of(data)
        optional = [name for name in (truth, occasion) if name is not None]
        require_columns(columns, [item, rater, rating, *optional])
        item_index, items = encode_items(columns[item], item)
        rated_by = require_complete(encode(columns[rater], rater), rater)
        when = None if occasion is None else encode_items(columns[occasion], occasion)[0]
        labelled = [rating] if truth is None else [rating, truth]
        found = {name: encode(columns[name], name) for name in labelled}
        roles, odd = reread(found, categories, missing=missing, fold_case=fold_case)
        fixed = categories is not None or declared_column(roles) is not None
        cats, names, ordered = choose_categories(roles, categories, ordered=ordered)
        if categories is None:
            odd += check_found_categories(roles, names, refuse=not fixed)
        codes = {name: recode(column, name, cats, names) for name, column in roles.items()}
        refuse_duplicates(item_index, rated_by, when, codes[rating])
        rated = codes[rating] >= 0
        flat = sort_ratings(
            item_index[rated], rated_by.codes[rated], codes[rating][rated], len(cats)
        )
        rater_names = unify(rated_by.labels)
        ratings = cls(
            flat,
            cats,
            [rater_names[label] for label in rated_by.labels],
            items,
            ordered=ordered,
        )
        if truth is not None:
            known = truth_per_item(item_index, codes[truth], len(items), truth, cats)
            ratings = ratings.with_truth(known)
        if system is not None:
            ratings = ratings._take_system(system)
        odd += say_doubtful_names(ratings.raters, system)
        odd += say_other_raters(ratings.raters, system)
        used = {item, rater, rating, *optional}
        said = say_columns(
            ratings.raters,
            system=system,
            truth=truth,
            item=item,
            ignored=[name for name in columns if name not in used],
        )
        warn_of_data(odd)
        return ratings._note(said, *odd)._check_coding(refuse=not fixed)

    @classmethod
    def from_patterns(cls, data: Any, *, counts: str = "count", **columns: Any) -> "Ratings":
        """Read a grouped table: a row per pattern of ratings with the number of such items.

        Parameters
        ----------
        data : pandas.DataFrame, pyarrow.Table or mapping of columns
            The table, with a column for each rater.
        counts : str
            Name of the column that says how many items a row stands for.
        **columns
            As of `from_wide`.

        Returns
        -------
        Ratings
            Grouped data: a row for each row of the table.

        Raises
        ------
        InputError
            As of `from_wide`, and if a count is not a whole number, 0 or more.

        Examples
        --------
        >>> Ratings.from_patterns({"Ann": [0, 0], "Bo": [0, 1], "count": [70, 30]})
        Ratings: 100 items in 2 rows, 2 raters, 200 ratings, 2 categories (0, 1)
        """
        return cls.from_wide(data, counts=counts, **columns)

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
        """Read how many anonymous raters put each item into each category.

        Parameters
        ----------
        counts : array_like of int, shape (n_rows, n_categories)
            Number of ratings of each item in each category, 0 or more.
        categories : sequence of str or int, length n_categories
            Names of the categories, in the order of the columns.
        items : sequence, length n_rows, optional
            Names of the items.
        item_counts : array_like of int, shape (n_rows,), optional
            How many items each row stands for.
        ordered : bool
            Whether the order of the categories means something.

        Returns
        -------
        Ratings
            With anonymous raters: it is unknown who gave which rating.

        Raises
        ------
        InputError
            If a count is not a whole number, 0 or more, or if lengths do not fit one another.

        Examples
        --------
        >>> Ratings.from_counts([[3, 0], [1, 2]], ["no", "yes"])
        Ratings: 2 items, 3 anonymous raters, 6 ratings, 2 categories (no, yes)
        """
        table = as_array(counts, "counts")
        n_items, n_categories = (len(table), len(categories)) if table.ndim else (0, 0)
        table = check_counts(table, (n_items, n_categories))
        item = np.repeat(np.arange(n_items), table.sum(axis=1))
        category = np.repeat(np.tile(np.arange(n_categories), n_items), table.ravel())
        starts = np.cumsum(table.sum(axis=1)) - table.sum(axis=1)
        slot = np.arange(len(item)) - starts[item]
        flat = FlatRatings(item_index=item, rater_index=slot, category_index=category)
        raters = [f"rating {j + 1}" for j in range(int(table.sum(axis=1).max(initial=0)))]
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
            Columns `item`, the raters, and `system`, `truth`, `count` where there are any.

        Raises
        ------
        InputError
            If a rater rated an item more than once, or has the name of another column.
        """
        return wide_frame(self)

    def to_long(self) -> "pd.DataFrame":
        """Give a table with a row per rating, the system as the rater `system`.

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
            `ratings` (item, rater), and `system`, `truth`, `count` (item) where there are any:
            indices into the coordinate `category`, -1 where missing.

        Raises
        ------
        InputError
            If a rater rated an item more than once.
        """
        import xarray as xr

        data: dict[str, Any] = {"ratings": (("item", "rater"), self.codes)}
        for name, values in (("system", self.system), ("truth", self.truth)):
            data |= {} if values is None else {name: ("item", values)}
        data |= {} if self.counts is None else {"count": ("item", self.counts)}
        coords = {"item": self.items, "rater": list(self.raters), "category": list(self.categories)}
        flags = {"ordered": int(self.ordered), "anonymous": int(self.anonymous)}
        return xr.Dataset(data, coords, flags)

    @classmethod
    def from_xarray(cls, dataset: "xr.Dataset") -> "Ratings":
        """Read what `to_xarray` gave.

        Parameters
        ----------
        dataset : xarray.Dataset
            With the variables and attributes that `to_xarray` gives, also after it was stored.

        Returns
        -------
        Ratings
            The same ratings as before.

        Raises
        ------
        InputError
            If the dataset has no variable `ratings`, or one that `Ratings` refuses.
        """
        if "ratings" not in dataset:
            raise InputError("the dataset has no variable 'ratings'", "give what to_xarray gave")
        return cls(
            dataset["ratings"].transpose("item", "rater").values,
            dataset["category"].values.tolist(),
            dataset["rater"].values.tolist(),
            dataset["item"].values,
            dataset["system"].values if "system" in dataset else None,
            dataset["truth"].values if "truth" in dataset else None,
            counts=dataset["count"].values if "count" in dataset else None,
            ordered=bool(dataset.attrs.get("ordered", False)),
            anonymous=bool(dataset.attrs.get("anonymous", False)),
        )


def _code_per_row(codes: ArrayLike | None, n_rows: int, k: int, name: str) -> Integers | None:
    if codes is None:
        return None
    array = as_array(codes, name)
    if array.shape != (n_rows,):
        raise InputError(
            f"{name} has shape {array.shape} for {n_rows} items", f"give one {name} code per item"
        )
    return check_codes(array, k, name)


def _length(names: Sequence[Any] | NDArray[Any] | None, index: Integers) -> int:
    return int(index.max(initial=-1)) + 1 if names is None else len(names)


def _rater_names(
    raters: Sequence[Any] | None, n_raters: int, *, has_system: bool
) -> tuple[str, ...]:
    names = tuple(map(str, range(1, n_raters + 1) if raters is None else raters))
    if len(names) != n_raters or len(set(names)) < n_raters:
        raise InputError(f"{n_raters} raters are named {list(names)}", "name each rater once")
    if has_system and SYSTEM in names:
        raise InputError(f"a rater is named {SYSTEM!r}, as the system is", "rename the rater")
    return names
