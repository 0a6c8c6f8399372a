"""Soft labels: the probability of each category for each item, to train a system on."""

from dataclasses import dataclass

import numpy as np

from lehner.algebra.algebraic import first_warnings
from lehner.algebra.steps import TIE, first_steps
from lehner.core.errors import InputError
from lehner.core.estimate import labelled, require_pairs
from lehner.core.lazy import pd, xr
from lehner.core.warning import Warning
from lehner.data.patterns import collapse_votes
from lehner.data.ratings import Ratings


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftLabels:
    """Probability of each category for each item.

    Parameters
    ----------
    method : str
        Name of the method that estimated them.
    truth_probabilities : xarray.DataArray, dims (item, category)
        NaN where undefined; `warnings` gives the reason.
    uses_system : bool
        Whether the probabilities also depend on the system's answers. A system that is trained on
        such labels learns its own errors.
    rater_accuracy : xarray.DataArray, dims (rater,), optional
        The expected proportion of each rater's ratings that are right, given these probabilities.
        The coordinate `n_ratings` says of how many. None if raters are anonymous.
    warnings : tuple of Warning
        What the user should know before using the labels.
    """

    method: str
    truth_probabilities: "xr.DataArray"
    uses_system: bool
    rater_accuracy: "xr.DataArray | None" = None
    warnings: tuple[Warning, ...] = ()

    @property
    def defined(self) -> bool:
        """Whether there are any labels."""
        return not bool(self.truth_probabilities.isnull().any())

    def most_probable(self) -> list[tuple[str, ...]]:
        """Each item's most probable category, or all that tie for it.

        Returns
        -------
        list of tuple of str
            A tuple for each row; an empty one where probabilities are undefined.
        """
        probability = self.truth_probabilities.values
        tied = probability >= probability.max(axis=1, keepdims=True) - TIE
        names = np.array([str(name) for name in self.truth_probabilities.category.values])
        return [tuple(str(name) for name in names[row]) for row in tied]

    def to_frame(self) -> "pd.DataFrame":
        """Table with a row per item: its name, the probabilities, the most probable category.

        Categories that tie for the most probable are joined by "|".

        Returns
        -------
        pandas.DataFrame
            Columns `item`, the names of the categories, `most_probable`.

        Raises
        ------
        InputError
            If a category has the name of one of the other columns.
        """
        values = self.truth_probabilities
        names = [str(name) for name in values.category.values]
        for taken in {"item", "most_probable"} & set(names):
            raise InputError(f"a category is called {taken!r}, as a column is", "rename it")
        table = pd.DataFrame(values.values, columns=names)
        table.insert(0, "item", values["item"].values)
        table["most_probable"] = ["|".join(tied) for tied in self.most_probable()]
        return table

    def raters_to_frame(self) -> "pd.DataFrame":
        """Table with a row per rater.

        Returns
        -------
        pandas.DataFrame
            Columns `rater`, `n_ratings`, `rater_accuracy`; without rows if raters are anonymous.
        """
        if self.rater_accuracy is None:
            return pd.DataFrame(columns=["rater", "n_ratings", "rater_accuracy"])
        return self.rater_accuracy.to_dataframe("rater_accuracy").reset_index()


def accuracy_of_raters(
    truth_probabilities: "xr.DataArray", ratings: Ratings
) -> "xr.DataArray | None":
    """Expected proportion of each rater's ratings that are right.

    Parameters
    ----------
    truth_probabilities : xarray.DataArray, dims (item, category)
    ratings : Ratings
        The ratings that were labelled.

    Returns
    -------
    xarray.DataArray or None
        Dims (rater,), with the coordinate `n_ratings`; NaN of a rater without ratings, and None if
        raters are anonymous.

    Examples
    --------
    >>> ratings = Ratings([[0, 1], [1, 1]], ["no", "yes"])
    >>> labels = labelled([[0.75, 0.25], [0, 1]], ratings, "item", "category")
    >>> accuracy_of_raters(labels, ratings).values.tolist()
    [0.875, 0.625]
    """
    if ratings.anonymous:
        return None
    flat, probability = ratings.flat, np.asarray(truth_probabilities.values)
    n_items = ratings.weights[flat.item_index].astype(float)
    right = n_items * probability[flat.item_index, flat.category_index]
    n_right = np.bincount(flat.rater_index, right, ratings.n_raters)
    n_ratings = np.bincount(flat.rater_index, n_items, ratings.n_raters).astype(np.int64)
    accuracy = np.where(n_ratings > 0, n_right / np.maximum(n_ratings, 1), np.nan)
    return labelled(accuracy, ratings, "rater").assign_coords(n_ratings=("rater", n_ratings))


def label_algebraic(ratings: Ratings) -> SoftLabels:
    """Label items by steps 1 to 3 of Lehner's algebra, which do not use the system's answers.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.

    Returns
    -------
    SoftLabels
        Probability of each category for each item.

    Raises
    ------
    InputError
        If there are not two raters, two categories and an item rated by two raters.

    References
    ----------
    Lehner (2015), Table 3, and "Recommended use and uses to avoid", which suggests such labels for
    training.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> labels = label_algebraic(load_dataset("lehner_table2"))
    >>> labels.truth_probabilities.values[0].round(3).tolist(), labels.most_probable()[0]
    ([0.041, 0.032, 0.86, 0.067], ('C',))
    """
    require_pairs(ratings)
    collapsed = collapse_votes(ratings)
    counts = collapsed.counts(collapsed.weights[None].astype(float))
    steps = first_steps(collapsed.table, counts.sum(axis=-1))
    truth = labelled(steps.truth[0][collapsed.row], ratings, "item", "category")
    return SoftLabels(
        method="algebraic",
        truth_probabilities=truth,
        uses_system=False,
        rater_accuracy=accuracy_of_raters(truth, ratings),
        warnings=tuple(first_warnings(steps, ratings)),
    )
