"""Labels of items: the probability of each category, tempered by what shared mistakes cost."""

from collections.abc import Sequence

import numpy as np

from lehner.algebra.soft_labels import SoftLabels, accuracy_of_raters, label_algebraic
from lehner.core.arrays import Floats
from lehner.core.errors import InputError, check_choice
from lehner.core.estimate import labelled, require_pairs
from lehner.core.seeds import Seed
from lehner.core.text import percent
from lehner.core.warning import Warning, warn
from lehner.data.categories import Label
from lehner.data.ratings import Ratings
from lehner.labels.mean_field import LABEL_MODELS, MAJORITY, MeanField, fit_starts
from lehner.latent_class.fit import fit_latent_class, note_known_truths
from lehner.latent_class.models import LIKELIHOOD_METHODS
from lehner.latent_class.pattern_table import PatternTable, known_truths, tabulate

LEAST_MOVED = 0.01
"""Proportion of items from which on contradicted ratings give a warning."""
POWER = 0.2
"""Power to which probabilities by variational Bayes are raised before they are normalised: what
mistakes that raters share cost in crowds with known truth, learned by
`experiments.benchmarks.real.labels`."""
DEFAULT = "dawid_skene_vb"
ALGEBRAIC = "algebraic"
QUICK_METHODS = (*LABEL_MODELS, ALGEBRAIC, *LIKELIHOOD_METHODS)
"""Methods that label without sampling."""


def label(ratings: Ratings, method: str | None = None, *, seed: Seed = 1) -> SoftLabels:
    """Label items: the probability of each category of each of them.

    By default each rater has a confusion matrix, which is drawn toward those of the others
    ("dawid_skene_vb"): of the models, it errs least on public crowds that are left out. Models of
    raters who err independently are far too sure where raters make the same mistakes, so that
    probabilities by variational Bayes are tempered by one power, which was learned on these crowds;
    which category is most probable stays as it is.

    Parameters
    ----------
    ratings : Ratings
        With or without systems. Only the methods by maximum likelihood use the system's answers, as
        those of one more rater. Known truths of some items are used as data, except by the algebra.
    method : str, optional
        "majority", "one_coin_vb", "one_coin_by_rater_vb", "dawid_skene_vb" and "ebcc", by
        variational Bayes; "algebraic"; or a model by maximum likelihood, as "dawid_skene_ml". By
        default "dawid_skene_vb", and "majority" if it is unknown who gave which rating.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Seed of the subtypes with which "ebcc" starts.

    Returns
    -------
    SoftLabels

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
    ('dawid_skene_vb', ('C',))
    """
    if method is None:
        method = MAJORITY if ratings.anonymous else DEFAULT
    check_choice("method", method, QUICK_METHODS)
    require_pairs(ratings)
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
    classes = np.mean([fit.classes for fit in fits], axis=0)[pattern]
    untempered = labelled(classes, ratings, "item", "category")
    return SoftLabels(
        method=method,
        truth_probabilities=labelled(temper(classes), ratings, "item", "category"),
        uses_system=False,
        rater_accuracy=accuracy_of_raters(untempered, ratings),
        warnings=(
            *note_known_truths(known),
            *contradicted_ratings(table, fits, ratings.categories),
        ),
    )


def temper(probabilities: Floats, power: float = POWER) -> Floats:
    """Raise probabilities, (n_rows, n_categories), to a power, and normalise them.

    Examples
    --------
    >>> temper(np.array([[0.98, 0.02], [1.0, 0.0]])).round(2).tolist()
    [[0.69, 0.31], [1.0, 0.0]]
    """
    raised = probabilities**power
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


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
