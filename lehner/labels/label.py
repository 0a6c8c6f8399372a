"""Labels of items, by a model that is chosen for these ratings, or by one that the user names.

They are compared with the majority's labels, by a better model and by most ratings of like items.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from lehner.algebra.soft_labels import SoftLabels, accuracy_of_raters, label_algebraic
from lehner.algebra.steps import TIE
from lehner.core.arrays import Floats
from lehner.core.errors import InputError, check_choice
from lehner.core.estimate import labelled, require_pairs
from lehner.core.seeds import Seed
from lehner.core.text import percent
from lehner.core.warning import Warning, warn
from lehner.data.categories import Label
from lehner.data.ratings import Ratings
from lehner.labels.choice import Choice, choose_models
from lehner.labels.mean_field import LABEL_MODELS, MAJORITY, MeanField, fit_starts
from lehner.latent_class.fit import fit_latent_class, known_truths_used
from lehner.latent_class.models import LIKELIHOOD_METHODS
from lehner.latent_class.pattern_table import PatternTable, known_truths, tabulate

LEAST_MOVED = 0.01
"""Proportion of items from which on contradicted ratings give a warning."""
AUTOMATIC = "automatic"
ALGEBRAIC = "algebraic"
QUICK_METHODS = (AUTOMATIC, *LABEL_MODELS, ALGEBRAIC, *LIKELIHOOD_METHODS)
"""Methods that label without sampling."""


def label(
    ratings: Ratings, method: str = AUTOMATIC, *, seed: Seed = 1, compare: bool = True
) -> SoftLabels:
    """Label items: the probability of each category of each of them.

    No model gives the best labels for all data. Full confusion matrices are inaccurate if raters
    have few ratings, a single accuracy for each rater is inaccurate for other data, and raters who
    share mistakes mislead both. "automatic" chooses between the majority and models fitted by
    variational Bayes, by how well they predict held-out ratings, and a warning names the choice
    (see `lehner.labels.choice`).

    Parameters
    ----------
    ratings : Ratings
        With or without systems. Only the methods by maximum likelihood use the system's answers, as
        those of one more rater. Known truths of some items are used as data, except by the algebra.
    method : str
        "automatic"; "majority", "one_coin_vb", "one_coin_by_rater_vb", "dawid_skene_vb" and
        "ebcc", by variational Bayes; "algebraic"; or a model by maximum likelihood, as
        "dawid_skene_ml".
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Seed of the held-out ratings, and of the subtypes with which "ebcc" starts.
    compare : bool
        Whether labels by a method that was named are compared with the automatic labels, and a
        warning is given if they may be worse than the majority. It takes the time of the automatic
        labels.

    Returns
    -------
    SoftLabels
        The labels; `method` is the method that was used, also if it was chosen automatically.

    Raises
    ------
    InputError
        If there is no such method, if there are not two raters, two categories and an item rated
        by two raters, or if it is unknown who gave which rating in a model in which raters differ.

    References
    ----------
    Kim & Ghahramani (2012), Bayesian classifier combination. Li, Rubinstein & Cohn (2019),
    Exploiting worker correlation for label aggregation in crowdsourcing (EBCC).

    Examples
    --------
    >>> from lehner import load_dataset
    >>> labels = label(load_dataset("lehner_table2"))
    >>> labels.method, labels.most_probable()[0]
    ('majority', ('C',))
    """
    check_choice("method", method, QUICK_METHODS)
    require_pairs(ratings)
    if method == AUTOMATIC:
        return _label_automatically(ratings, seed)
    labels = _label(ratings, method, seed)
    return warn_if_worse(labels, ratings, seed) if compare else labels


def warn_if_worse(labels: SoftLabels, ratings: Ratings, seed: Seed = 1) -> SoftLabels:
    """Add a warning to labels if they may be worse than the majority.

    They may be if, according to the automatic labels, fewer of them are right than of the
    majority's.

    Parameters
    ----------
    labels : SoftLabels
    ratings : Ratings
        The ratings that were labelled.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Seed of the automatic labels.

    Returns
    -------
    SoftLabels
    """
    if labels.method == MAJORITY or not labels.defined:
        return labels
    reference = _label_automatically(ratings, seed)
    worse = warn_if_majority_is_better(labels, reference, ratings)
    return replace(labels, warnings=(*labels.warnings, *worse))


def _label_automatically(ratings: Ratings, seed: Seed) -> SoftLabels:
    choice = choose_models(ratings.without_system(), seed)
    left_out: list[str] = []
    for name in choice.models:
        labels = _label(ratings, name, seed)
        contradicts = any(one.code == "labels-contradict-ratings" for one in labels.warnings)
        if not contradicts or name == choice.models[-1]:
            break
        left_out.append(name)
    chosen = warn("label-model", _say_choice(choice, left_out))
    return replace(labels, warnings=(chosen, *labels.warnings))


def _label(ratings: Ratings, method: str, seed: Seed) -> SoftLabels:
    if method == ALGEBRAIC:
        return label_algebraic(ratings)
    if method not in LIKELIHOOD_METHODS:
        return _label_by_mean_field(ratings.without_system(), method, seed)
    fit = fit_latent_class(ratings, LIKELIHOOD_METHODS[method])
    return SoftLabels(
        method=method,
        truth_probabilities=fit.truth_probabilities,
        uses_system=ratings.system is not None,
        rater_accuracy=accuracy_of_raters(fit.truth_probabilities, ratings),
        warnings=fit.notes,
    )


def _label_by_mean_field(ratings: Ratings, method: str, seed: Seed) -> SoftLabels:
    if ratings.anonymous and LABEL_MODELS[method].rows != "one":
        raise InputError(
            f"it is unknown who gave which rating, and in {method} raters differ",
            f"choose {MAJORITY} or one_coin_vb, or use data in which raters are named",
        )
    known = known_truths(ratings)
    table, pattern = tabulate(ratings, truths=known > 0)
    fits = fit_starts(table, LABEL_MODELS[method], seed)
    classes = np.mean([fit.classes for fit in fits], axis=0)
    truth = labelled(classes[pattern], ratings, "item", "category")
    return SoftLabels(
        method=method,
        truth_probabilities=truth,
        uses_system=False,
        rater_accuracy=accuracy_of_raters(truth, ratings),
        warnings=(
            *known_truths_used(known),
            *contradicted_ratings(table, fits, ratings.categories),
        ),
    )


def _say_choice(choice: Choice, left_out: list[str]) -> str:
    reason = choice.reason
    if left_out:
        reason = (
            f"{', '.join(left_out)} would predict ratings better, but their categories do not "
            "correspond to the raters' labels"
        )
    if not choice.means:
        return f"chosen automatically: {reason}"
    means = ", ".join(f"{name} {mean:.3f}" for name, mean in choice.means.items())
    return (
        f"chosen automatically: {reason} (mean log probability of {choice.n_held_out:,} ratings: "
        f"{means})"
    )


def warn_if_majority_is_better(
    labels: SoftLabels, reference: SoftLabels, ratings: Ratings
) -> tuple[Warning, ...]:
    """Warn if, according to a reference, fewer of these labels are right than of the majority's.

    Parameters
    ----------
    labels : SoftLabels
    reference : SoftLabels
        The automatic labels of the same ratings.
    ratings : Ratings

    Returns
    -------
    tuple of Warning
        A warning or none.
    """
    believed = np.asarray(reference.truth_probabilities.values)
    own = expected_proportion_right(labels.truth_probabilities.values, believed, ratings.weights)
    majority = expected_proportion_right(ratings.votes(), believed, ratings.weights)
    if own >= majority:
        return ()
    text = (
        f"these labels may be worse than the majority: according to {reference.method}, which "
        f"predicts ratings better, {own:.3f} of them are right, and {majority:.3f} of the "
        "majority's"
    )
    return (warn("labels-worse-than-majority", text),)


def expected_proportion_right(values: ArrayLike, believed: Floats, weights: ArrayLike) -> float:
    """Expected proportion of items whose most probable category is the true one.

    Parameters
    ----------
    values : array_like, shape (n_rows, n_categories)
        Probabilities or votes; categories that tie for the most share the item.
    believed : ndarray, shape (n_rows, n_categories)
        Probability of each category.
    weights : array_like, shape (n_rows,)
        Numbers of items.

    Returns
    -------
    float

    Examples
    --------
    >>> believed = np.array([[0.9, 0.1], [0.4, 0.6]])
    >>> expected_proportion_right([[3, 0], [1, 1]], believed, [1, 1])
    0.7
    """
    values = np.asarray(values, dtype=float)
    best = values >= values.max(axis=1, keepdims=True) - TIE
    right = (best * believed).sum(axis=1) / best.sum(axis=1)
    return float(np.average(right, weights=np.asarray(weights)))


def contradicted_ratings(
    table: PatternTable, fits: Sequence[MeanField], categories: Sequence[Label]
) -> tuple[Warning, ...]:
    """Warn if many items are of a kind to which most raters give another label than the model.

    Parameters
    ----------
    table : PatternTable
    fits : sequence of MeanField
        Fits from several starts.
    categories : sequence

    Returns
    -------
    tuple of Warning
        A warning or none.
    """
    k = len(categories)
    moved = np.zeros((k, k))
    for fit in fits:
        np.add.at(moved, (fit.category, fit.said.argmax(axis=1)), fit.components @ table.weights)
    moved /= len(fits) * table.weights.sum()
    np.fill_diagonal(moved, 0)
    if moved.sum() < LEAST_MOVED:
        return ()
    labelled, called = divmod(int(moved.argmax()), k)
    text = (
        f"labels contradict most ratings: {percent(moved.sum(), 0)} of the items get another label "
        f"than most ratings of items of their kind, for example {categories[labelled]} where most "
        f"ratings are {categories[called]}"
    )
    return (warn("labels-contradict-ratings", text),)
