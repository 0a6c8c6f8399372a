"""Estimates by several methods at once, including Bayesian models."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from lehner.data.ratings import Ratings


def estimate(ratings: Ratings, methods: str | Sequence[str] | None = None, **options: Any) -> Any:
    """Estimate the accuracy of the system, or of each system, by several methods.

    The result is what `lehner estimate` prints, as an object.

    Parameters
    ----------
    ratings : Ratings
        With one or more systems. Known truths of some items correct each method's estimate.
    methods : str or sequence of str, optional
        One name or several, as `lehner estimate --help` lists them; "all" stands for all. By
        default "majority_agreement", "algebraic", "dawid_skene" and "relaxed_k".
    **options
        Options of `experiments.estimate.estimate.estimate`: `level` of the intervals, `seed`,
        `systems_rate`, `common_items`, `shared_mistakes`, `truths_in_model`, `sensitivity`,
        `costs`, `groups`, `populations`, `rater_groups`, `name`.

    Returns
    -------
    experiments.estimate.comparison.Comparison, or experiments.estimate.systems.SystemsComparison
        With `estimates`, `to_frame()` and `to_dict()`; of several systems also `differences` and
        `ranks`.

    Raises
    ------
    InputError
        If there is no system or no such method, or if the ratings cannot be estimated.

    Examples
    --------
    >>> from lehner import estimate, load_dataset
    >>> compared = estimate(load_dataset("lehner_table2"), ["majority_agreement", "algebraic"])
    >>> compared.to_frame().query("quantity == 'system_accuracy'")["estimate"].round(3).tolist()
    [0.5, 0.804]
    """
    # Models and comparisons import this package, so they are imported only when they are needed.
    module = import_module("experiments.estimate.estimate")
    chosen = {} if methods is None else {"methods": methods}
    return module.estimate(ratings, **chosen, **options)
