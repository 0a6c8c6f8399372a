"""Labels of items, by a model that is chosen for these ratings, or by one that the user names."""

from dataclasses import replace

import numpy as np

from lehner.algebra.soft_labels import SoftLabels, label_algebraic
from lehner.core.checks import check_choice
from lehner.core.errors import InputError
from lehner.core.estimate import labelled, require_pairs
from lehner.core.seeds import Seed
from lehner.core.warning import warn
from lehner.data.ratings import Ratings
from lehner.labels.against_majority import contradicted_ratings, warn_if_majority_is_better
from lehner.labels.choice import Choice, choose_models
from lehner.labels.mean_field import fit_starts
from lehner.labels.models import LABEL_MODELS, MAJORITY
from lehner.latent_class.maximum_likelihood import fit_latent_class
from lehner.latent_class.models import LIKELIHOOD_METHODS
from lehner.latent_class.notes import known_truths_used
from lehner.latent_class.pattern_table import known_truths, tabulate

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
    chosen = warn("label-model", _say_choice(choice, labels.method, left_out))
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
    return SoftLabels(
        method=method,
        truth_probabilities=labelled(classes[pattern], ratings, "item", "category"),
        uses_system=False,
        warnings=(
            *known_truths_used(known),
            *contradicted_ratings(table, fits, ratings.categories),
        ),
    )


def _say_choice(choice: Choice, chosen: str, left_out: list[str]) -> str:
    reason = choice.reason
    if left_out:
        reason = (
            f"{', '.join(left_out)} would predict ratings better, but their categories do not "
            "correspond to the raters' labels"
        )
    if not choice.means:
        return f"labels by {chosen}: {reason}"
    means = ", ".join(f"{name} {mean:.3f}" for name, mean in choice.means.items())
    return (
        f"labels by {chosen}: {reason} (mean log probability of {choice.n_held_out:,} ratings: "
        f"{means})"
    )
