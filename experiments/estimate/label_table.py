"""Soft labels by any method that has truth probabilities."""

from dataclasses import replace

from experiments.estimate.methods import ALGEBRAIC, find_method, fit_and_check
from lehner import InputError, Ratings, SoftLabels, label_algebraic
from lehner.core.estimate import require_pairs
from lehner.latent_class.models import MODELS


def label_items(ratings: Ratings, method: str = "algebraic", seed: int = 1) -> SoftLabels:
    """Label items: the probability of each category for each of them.

    The models take the system for one more rater: its answers are evidence in the labels, as in
    `Estimate.truth_probabilities`. The algebra never uses them. To train the system on labels of
    a model, fit ratings without the system: `ratings.without_system()`.

    Parameters
    ----------
    ratings : Ratings
        With or without a system. Known truths of some items enter the models, not the algebra.
    method : str
        Among `label_methods()`; the algebra's three differ in step 4 only, not in their labels.
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
    require_label_method(method)
    require_pairs(ratings)
    if method in ALGEBRAIC:
        return replace(label_algebraic(ratings), method=method)
    tree, said = fit_and_check(method, ratings, seed)
    return SoftLabels(
        method=method,
        truth_probabilities=tree["truth"].to_dataset()["truth_probabilities"],
        uses_system=ratings.system is not None,
        warnings=said,
    )


def label_methods() -> tuple[str, ...]:
    """Name the methods that have truth probabilities: the algebra's, and each model."""
    return (*ALGEBRAIC, *MODELS)


def require_label_method(name: str) -> None:
    """Raise an InputError unless there is such a method and it has truth probabilities."""
    find_method(name)
    if name not in label_methods():
        raise InputError(
            f"{name} has no probabilities of categories",
            f"choose among {', '.join(label_methods())}",
        )
