"""Soft labels by any method that has truth probabilities."""

from dataclasses import replace

from lehner import InputError, Ratings, SoftLabels, label
from lehner.algebra.soft_labels import accuracy_of_raters
from lehner.core.errors import find
from lehner.core.estimate import require_pairs
from lehner.estimation.methods import ALGEBRAIC, list_methods
from lehner.labels.label import QUICK_METHODS
from lehner.labels.mean_field import LABEL_MODELS
from lehner.latent_class.models import LIKELIHOOD_METHODS, MODELS


def label_items(ratings: Ratings, method: str | None = None, seed: int = 1) -> SoftLabels:
    """Label items: the probability of each category for each of them.

    As `lehner.label`, and by the Bayesian models. These take the system for one more rater, as
    models by maximum likelihood do: its answers are evidence in the labels, as in
    `Estimate.truth_probabilities`. To train the system on labels of such a model, fit ratings
    without the system: `ratings.without_system()`.

    Parameters
    ----------
    ratings : Ratings
        With or without a system. Gold labels of some items enter the models, not the algebra.
    method : str, optional
        Among `label_methods()`, by default as in `lehner.label`; the algebra's three differ in step
        4 only, not in their labels.
    seed : int

    Returns
    -------
    SoftLabels

    Raises
    ------
    InputError
        If the method has no truth probabilities, or the ratings are too few.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> label_items(load_dataset("lehner_table2")).most_probable()[0]
    ('C',)
    """
    require_pairs(ratings)
    if method is None:
        return label(ratings)
    _require_label_method(method)
    if method in ALGEBRAIC:
        return replace(label(ratings, "algebraic"), method=method)
    if method in QUICK_METHODS:
        return label(ratings, method)
    return _label_by_sampling(ratings, method, seed)


def _label_by_sampling(ratings: Ratings, model: str, seed: int) -> SoftLabels:
    from bayes_models.methods import fit_and_check, options_of_large

    tree, warnings = fit_and_check(model, ratings, seed, **options_of_large(model, ratings))
    truth = tree["truth"].to_dataset()["truth_probabilities"].transpose("item", "category")
    return SoftLabels(
        method=model,
        truth_probabilities=truth,
        uses_system=ratings.system is not None,
        rater_accuracy=accuracy_of_raters(truth, ratings),
        warnings=warnings,
    )


def label_methods() -> dict[str, str]:
    """Give the methods that have truth probabilities, and what each does.

    Returns
    -------
    dict of str to str
        Variational Bayes, the algebra's, maximum likelihood, and each
        Bayesian model.
    """
    known = list_methods()
    return {
        **{name: f"{model.summary}, variational" for name, model in LABEL_MODELS.items()},
        **{name: known[name].summary for name in (*ALGEBRAIC, *LIKELIHOOD_METHODS, *MODELS)},
    }


def _require_label_method(name: str) -> None:
    """Raise an InputError unless there is such a method and it has truth probabilities."""
    if name in list_methods() and name not in label_methods():
        raise InputError(
            f"{name} has no probabilities of categories",
            f"choose among {', '.join(label_methods())}",
        )
    find("method", name, label_methods())
