"""Labels: the probability of each category of each item, and how accurate raters then are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lehner.algebra.algebraic import warn_of_first_sample
from lehner.algebra.steps import TIE, take_first_steps
from lehner.core.arrays import TINY, Floats, Integers
from lehner.core.errors import InputError, Warning, warn
from lehner.core.estimate import Draws
from lehner.core.lazy import pd, special, xr
from lehner.core.text import to_percent
from lehner.data.columns import Label
from lehner.data.counts import Patterns
from lehner.data.estimable import count_truths, label_array
from lehner.data.ratings import Ratings
from lehner.latent_class.em import e_step, expect_ratings
from lehner.latent_class.fit import fit_latent_class, note_known_truths

# The first model labels where raters are named, and differ; the second where they are not named.
DEFAULT, ANONYMOUS_DEFAULT = "dawid_skene_vb", "majority"
STEPS = 200
# Steps with the first prior; an earlier estimate would shrink raters toward one another.
WARM_UP = 30
# Updates stop when the mean change of the probabilities of categories is smaller.
STILL_MOVING = 1e-4
LEAST_PRIOR, MOST_PRIOR = 1e-3, 1e3

# Proportion of items from which on contradicted ratings give a warning.
LEAST_MOVED = 0.01
# Probabilities by variational Bayes are raised to a power before they are normalised: that of an
# item with one rating, and how it falls with more ratings and their correlation. Both were learned
# on two thirds of the families of public crowds with gold labels.
POWER, FALL = 0.3, 2.0
MORE_ITEMS = 50


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

    def find_most_probable(self) -> list[tuple[str, ...]]:
        """Give each item's most probable category, or all that tie for it.

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
        """Make a table with a row per item: its name, probabilities, and most probable category.

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
        table["most_probable"] = ["|".join(tied) for tied in self.find_most_probable()]
        return table


def expect_rater_accuracy(truth: Floats, ratings: Ratings) -> Floats:
    """Compute the expected proportion of each rater's ratings that are right.

    Parameters
    ----------
    truth : ndarray, shape (n_rows, n_categories)
        Probability of each category.
    ratings : Ratings
        The ratings that were labelled, by raters who are named.

    Returns
    -------
    ndarray, shape (n_raters,)
        NaN of a rater without ratings.

    Examples
    --------
    >>> ratings = Ratings([[0, 1], [1, 1]], ["no", "yes"])
    >>> expect_rater_accuracy(np.array([[0.75, 0.25], [0, 1]]), ratings).tolist()
    [0.875, 0.625]
    """
    votes = ratings.votes
    n_items = ratings.weights[votes.item_index].astype(float)
    right = n_items * truth[votes.item_index, votes.category_index]
    n_right = np.bincount(votes.rater_index, right, ratings.n_raters)
    n_ratings = np.bincount(votes.rater_index, n_items, ratings.n_raters).astype(np.int64)
    return np.where(n_ratings > 0, n_right / np.maximum(n_ratings, 1), np.nan)


def infer_by_algebra(ratings: Ratings, *, seed: int) -> Draws:
    """Infer truths by steps 1 to 3 of Lehner's algebra, which do not use the system's answers.

    The algebra takes no gold labels, but none is contradicted.

    References
    ----------
    Lehner (2015), Table 3, and "Recommended use and uses to avoid", which suggests such labels for
    training.
    """
    collapsed = ratings.collapsed_votes
    counts = collapsed.lay_out(collapsed.weights[None].astype(float))
    steps = take_first_steps(collapsed, counts.sum(axis=-1))
    truth = steps.truth[0][collapsed.row]
    if ratings.truth is not None:
        labelled = ratings.truth >= 0
        truth[labelled] = np.eye(ratings.n_categories)[ratings.truth[labelled]]
    warnings = tuple(warn_of_first_sample(steps, ratings))
    return Draws(point={"truth_probabilities": truth}, warnings=warnings)


def infer_by_likelihood(model: str, ratings: Ratings, *, seed: int) -> Draws:
    """Infer truths by a latent-class model by maximum likelihood."""
    fit = fit_latent_class(ratings, model)
    return Draws(point={"truth_probabilities": fit.truth_probabilities.values}, warnings=fit.notes)


def infer_by_mean_field(method: str, ratings: Ratings, *, seed: int) -> Draws:
    """Infer truths by `DEFAULT`, or by `ANONYMOUS_DEFAULT`, tempered."""
    ratings, raters_differ = ratings.without_system(), method == DEFAULT
    if ratings.anonymous and raters_differ:
        problem = f"it is unknown who gave which rating, and in {method} raters differ"
        remedy = f"choose {ANONYMOUS_DEFAULT}, or use data in which raters are named"
        raise InputError(problem, remedy)
    n_truths = count_truths(ratings)
    table = ratings.to_patterns(truth=n_truths > 0, by_content=True)
    classes, counts = fit_mean_field(table, raters_differ=raters_differ)
    probabilities = classes[table.inverse]
    correlation = correlate_right_ratings(table, classes, counts)
    powers = find_powers(table.votes.n_ratings, correlation)[table.inverse]
    contradictions = warn_of_contradictions(table, classes, counts, ratings.categories)
    point = {"truth_probabilities": temper(probabilities, powers)}
    if not ratings.anonymous:
        point["rater_accuracy"] = expect_rater_accuracy(probabilities, ratings)
    return Draws(point=point, warnings=(*note_known_truths(n_truths), *contradictions))


def make_labels(draws: Draws, ratings: Ratings, method: str, *, uses_system: bool) -> SoftLabels:
    """Make labels of the truths that a method infers; see `expect_rater_accuracy`."""
    truth = draws.point["truth_probabilities"]
    accuracy = None
    if not ratings.anonymous:
        expected = draws.point.get("rater_accuracy", expect_rater_accuracy(truth, ratings))
        votes, weights = ratings.votes, ratings.weights.astype(float)
        n = np.bincount(votes.rater_index, weights[votes.item_index], ratings.n_raters)
        accuracy = label_array(expected, ratings, "rater")
        accuracy = accuracy.assign_coords(n_ratings=("rater", n.astype(np.int64)))
    return SoftLabels(
        method=method,
        truth_probabilities=label_array(truth, ratings, "item", "category"),
        uses_system=uses_system,
        rater_accuracy=accuracy,
        warnings=draws.warnings,
    )


def correlate_right_ratings(table: Patterns, classes: Floats, counts: Floats) -> float:
    """Correlate whether two ratings of an item are right, among the items of a category.

    Independent ratings have none. Where items differ in difficulty it is positive. Items on which
    most raters are wrong do not show, so that it is less than the correlation with the truth.

    Parameters
    ----------
    table : Patterns
    classes, counts : ndarray
        As `fit_mean_field` gives them.

    Returns
    -------
    float
        0 if no item has two ratings, or all are right.
    """
    votes = table.votes.count_votes()
    n = votes.sum(axis=1, keepdims=True)
    right = np.diag(counts) / np.maximum(counts.sum(axis=1), TINY)
    both = votes * (votes - 1) - 2 * right * (n - 1) * votes + right**2 * n * (n - 1)
    of_items = table.weights[:, None] * classes
    variance = float((of_items * right * (1 - right) * n * (n - 1)).sum())
    n_items = float(table.weights @ (n[:, 0] > 1))
    # The correlation is drawn toward none by further items: few items say little of it.
    drawn = n_items / (n_items + MORE_ITEMS)
    return drawn * float((of_items * both).sum()) / variance if variance > TINY else 0.0


def find_powers(n_ratings: Integers, correlation: float) -> Floats:
    """Find the powers to which probabilities of items are raised, by the design effect of ratings.

    Parameters
    ----------
    n_ratings : ndarray
        Ratings of each item.
    correlation : float
        As of `correlate_right_ratings`.

    Examples
    --------
    >>> find_powers(np.array([1, 3, 7]), 0.05).round(2).tolist()
    [0.3, 0.25, 0.19]
    """
    more = np.maximum(np.asarray(n_ratings) - 1, 0)
    return np.asarray(POWER / (1 + FALL * max(correlation, 0.0) * more))


def temper(probabilities: Floats, powers: Floats | float) -> Floats:
    """Raise probabilities, (n_rows, n_categories), to a power for each row, and normalise them.

    Examples
    --------
    >>> temper(np.array([[0.98, 0.02], [1.0, 0.0]]), 0.2).round(2).tolist()
    [[0.69, 0.31], [1.0, 0.0]]
    """
    raised = probabilities ** np.reshape(powers, (-1, 1))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def warn_of_contradictions(
    table: Patterns, classes: Floats, counts: Floats, categories: Sequence[Label]
) -> tuple[Warning, ...]:
    """Warn if many items are of a kind to which most raters give another label than the model.

    Parameters
    ----------
    table : Patterns
    classes, counts : ndarray
        As `fit_mean_field` gives them.
    categories : sequence

    Returns
    -------
    tuple of Warning
        A warning or none.
    """
    k = len(categories)
    moved, label = np.zeros((k, k)), classes.argmax(axis=1)
    np.add.at(moved, (label, counts.argmax(axis=1)[label]), table.weights / table.weights.sum())
    np.fill_diagonal(moved, 0)
    if moved.sum() < LEAST_MOVED:
        return ()
    labelled_as, rated_as = divmod(int(moved.argmax()), k)
    text = (
        f"labels contradict most ratings: {to_percent(moved.sum(), 0)} of the items get another "
        "label than most ratings of items of their kind, for example "
        f"{categories[labelled_as]} where most ratings are {categories[rated_as]}"
    )
    return (warn("labels-contradict-ratings", text),)


# ----- Variational Bayes by mean field -----


class RowPrior(NamedTuple):
    """Dirichlet prior of each row: concentration of the right category and of each other one."""

    right: float
    wrong: float


# The prior at which the estimation starts, that of Li, Rubinstein & Cohn (2019).
FIRST_PRIOR = RowPrior(4.0, 1.0)


def update_prior(right: Floats, wrong: Floats, prior: RowPrior) -> RowPrior:
    """Take a step towards the prior under which the expected ratings are most probable.

    Parameters
    ----------
    right : ndarray, shape (n_rows,)
        Expected ratings of the right category, for each row of each confusion matrix.
    wrong : ndarray, shape (n_rows, n_categories - 1)
        Those of each other category.
    prior : RowPrior

    Returns
    -------
    RowPrior

    References
    ----------
    Minka (2000), Estimating a Dirichlet distribution, Eq. 55, with equal parameters of the wrong
    categories.

    Examples
    --------
    >>> right, wrong = np.array([9.0, 1.0] * 50), np.array([[1.0], [9.0]] * 50)
    >>> prior = FIRST_PRIOR
    >>> for _ in range(200):
    ...     prior = update_prior(right, wrong, prior)
    >>> round(prior.right, 2), round(prior.wrong, 2)
    (0.67, 0.67)
    """
    n_wrong = wrong.shape[1]
    total = prior.right + n_wrong * prior.wrong
    rise = _sum_rise(right + wrong.sum(axis=1), total)
    if rise == 0:
        return prior
    new_right = prior.right * _sum_rise(right, prior.right) / rise
    new_wrong = prior.wrong * _sum_rise(wrong, prior.wrong) / (n_wrong * rise)
    return RowPrior(*np.clip([new_right, new_wrong], LEAST_PRIOR, MOST_PRIOR).tolist())


def _sum_rise(counts: Floats, start: float) -> float:
    """Sum the differences of digamma functions, which are 0 without ratings."""
    counts = counts[counts > 0]
    return float((special.digamma(counts + start) - special.digamma(start)).sum())


def expect_log(parameters: Floats) -> Floats:
    """Compute the expectation of the logarithms of probabilities that are Dirichlet distributed."""
    total = parameters.sum(axis=-1, keepdims=True)
    return np.asarray(special.digamma(parameters) - special.digamma(total))


def fit_mean_field(table: Patterns, *, raters_differ: bool = True) -> tuple[Floats, Floats]:
    """Fit a model by coordinate ascent of the evidence lower bound, from the proportions of votes.

    Rows of confusion matrices have Dirichlet priors, with one parameter for the right category and
    one for each wrong category, which are estimated. Base rates have a flat prior.

    Parameters
    ----------
    table : Patterns
    raters_differ : bool
        If not, all raters have one accuracy, with the first prior, and categories are equally
        frequent, as in a majority vote.

    Returns
    -------
    classes : ndarray, shape (n_patterns, n_categories)
        Probability of each category.
    ratings : ndarray, shape (n_categories, n_categories)
        Expected number of ratings by all raters, by category and response.

    References
    ----------
    Kim & Ghahramani (2012), Bayesian classifier combination; here the prior of the rows is
    estimated, and base rates have a flat prior.
    """
    k = table.n_categories
    votes = np.where(table.allows(k), table.votes.count_votes() + TINY, 0) + TINY
    classes, prior = votes / votes.sum(axis=1, keepdims=True), FIRST_PRIOR
    is_right = np.eye(k, dtype=bool)
    for step in range(STEPS):
        counts = expect_ratings(table, classes)
        log_rates = np.zeros(k)
        if not raters_differ:
            log_response = _log_of_one_accuracy(counts)
        else:
            if step >= WARM_UP:
                wrong = counts[:, ~is_right].reshape(-1, k - 1)
                prior = update_prior(counts[:, is_right].ravel(), wrong, prior)
            log_response = expect_log(counts + np.where(is_right, prior.right, prior.wrong))
            log_rates = expect_log(1 + table.weights @ classes)
        log_response = log_response.swapaxes(1, 2)[..., None]
        before, classes = classes, e_step(table, log_rates[:, None], log_response)[0][..., 0]
        moved = table.weights @ np.abs(classes - before).sum(axis=1)
        if step > WARM_UP and moved < k * STILL_MOVING * table.weights.sum():
            break
    return classes, counts.sum(axis=0)


def _log_of_one_accuracy(counts: Floats) -> Floats:
    """Expect the log probability of each response, (n_raters, n_categories, n_categories)."""
    is_right = np.eye(counts.shape[2], dtype=bool)
    right = counts[:, is_right].sum()
    log = expect_log(np.array([right, counts.sum() - right]) + FIRST_PRIOR)
    matrix = np.where(is_right, log[0], log[1] - np.log(counts.shape[2] - 1))
    return np.broadcast_to(matrix, counts.shape)
