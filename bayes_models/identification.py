"""What the data can tell about the parameters of a model, before it is sampled."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_models.models import spec
from bayes_models.models.assemble import observe
from bayes_models.models.registry import choose_priors, find_model
from bayes_models.models.spec import OF_A_RATER, OF_THE_SYSTEM, Priors, name_distribution
from bayes_models.sampling.start import start_at_vote
from lehner import Patterns, Ratings
from lehner.core.arrays import Floats
from lehner.core.errors import Warning, warn
from lehner.core.text import to_percent


@dataclass(frozen=True, kw_only=True, eq=False)
class Identification:
    """How much the data can tell about the parameters of a model.

    Parameters
    ----------
    parameters : int
        Number of probabilities in base rates and confusion matrices that the model leaves free.
    degrees_of_freedom : int
        Number of free probabilities of rating patterns: for each set of raters who rated items of a
        population together, one less than the number of patterns that they can give. It is at most
        the number of items with two ratings.
    warnings : tuple of Warning
        What the prior decides and not the data, and priors of confusion matrices that outweigh
        these ratings, or whose weight is not known.
    """

    parameters: int
    degrees_of_freedom: int
    warnings: tuple[Warning, ...]


def identify(model: str, ratings: Ratings, priors: Priors = None) -> Identification:
    """Report what the data can tell about the parameters of a model, before it is sampled.

    Counts are necessary conditions, not sufficient ones: a model with fewer parameters than
    degrees of freedom may still be barely identified, as `dawid_skene` is with three raters.

    Parameters
    ----------
    model : str
        Name of the model, as in `MODELS`.
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        As the model takes them, or `json.loads(tree.attrs["priors"])` of a fit. Spreads fixed at
        zero leave fewer parameters free, and the numbers of a prior are its weight.

    Returns
    -------
    Identification
        Number of parameters, degrees of freedom, and the weight of the priors.

    Raises
    ------
    InputError
        If there is no such model or prior, or the ratings cannot be fitted (see `observe`).

    References
    ----------
    Goodman (1974), https://doi.org/10.1093/biomet/61.2.215, for the count of parameters.

    Examples
    --------
    >>> import lehner
    >>> report = identify("dawid_skene", lehner.load_dataset("lehner_table2"))
    >>> report.parameters, report.degrees_of_freedom
    (63, 10)
    """
    declared, all_priors = find_model(model), choose_priors(model, priors)
    patterns = observe(ratings)
    n_populations = max(1, len(patterns.populations))
    # Two populations tell accuracy from agreement where two raters are enough (Hui & Walter).
    enough = 3 if n_populations == 1 else 2
    n_parameters = n_populations * (patterns.n_categories - 1)
    n_parameters += declared.n_parameters(all_priors, patterns)
    degrees = _count_degrees_of_freedom(patterns)
    # Items with a label need no ratings.
    few = (np.diff(patterns.starts) < enough) & (patterns.truths < 0)
    too_few = float(patterns.counts[few].sum() / max(1, int(patterns.counts.sum())))
    warnings = []
    if n_parameters > degrees:
        text = (
            f"{n_parameters} parameters but only {degrees} degrees of freedom: the ratings cannot "
            "determine all parameters, and the prior decides the rest"
        )
        warnings.append(warn("prior-decides", text))
    if too_few > 0.5:
        text = (
            f"{to_percent(too_few, 0)} of the items have fewer than "
            f"{'three' if n_populations == 1 else 'two'} ratings, including the system's: the "
            "prior decides how accurate raters and system are"
        )
        warnings.append(warn("items-with-few-ratings", text))
    return Identification(
        parameters=n_parameters,
        degrees_of_freedom=degrees,
        warnings=(*warnings, *_weigh_priors(declared, all_priors, patterns)),
    )


def _count_degrees_of_freedom(patterns: Patterns) -> int:
    """Count the free probabilities of rating patterns, at most one for each item."""
    k = patterns.n_categories
    lengths, raters = np.diff(patterns.starts), patterns.votes.rater_index
    by_pattern = np.split(raters, patterns.starts[1:-1])
    sets = {(p, *rated) for p, rated in zip(patterns.population, by_pattern, strict=True)}
    n_items = int(patterns.counts[lengths >= 2].sum())
    return int(min(sum(k ** (len(rated) - 1) - 1 for rated in sets), n_items))


def _weigh_priors(
    model: spec.ModelSpec, priors: Mapping[str, Any], observed: Patterns
) -> Iterator[Warning]:
    """Warn where a prior of confusion matrices outweighs the ratings in them.

    Ratings are expected numbers by rater and true category. A prior of a row counts as many ratings
    as its Dirichlet concentration sums to. If each rater has a matrix, it is the median rater's.
    """
    ratings = start_at_vote(observed).ratings.sum(axis=2)
    counts_by_source = {OF_A_RATER: np.median(ratings, axis=0)}
    if observed.has_system:
        counts_by_source[OF_THE_SYSTEM] = ratings[-1]
    for variable in model.variables:
        if variable.ratings in counts_by_source:
            counts = counts_by_source[variable.ratings]
            problem = _weigh_prior(variable, priors[variable.name], counts, ratings.shape, observed)
            if problem is not None:
                yield problem


def _weigh_prior(
    variable: spec.Variable, prior: Any, counts: Floats, shape: tuple[int, ...], observed: Patterns
) -> Warning | None:
    """Warn if the prior of a variable outweighs the ratings of some true categories."""
    rows = [
        f"{category} ({count:.1f} {variable.ratings})"
        for category, count in zip(observed.categories, counts, strict=True)
    ]
    distribution, of_a_rater = name_distribution(prior), variable.ratings == OF_A_RATER
    if distribution:
        return warn(
            "prior-weight-unknown",
            f"the prior of {variable.name} is {distribution}, whose weight beside the ratings is "
            f"not known; there are fewest ratings of true category {rows[int(counts.argmin())]}",
        )
    if not of_a_rater:
        shape = shape[1:]
    numbers = variable.family.check_numbers(variable.name, prior, (*shape, observed.n_categories))
    weight = np.broadcast_to(numbers.sum(axis=-1), shape)
    if of_a_rater:
        weight = np.median(weight, axis=0)
    outweighed = np.flatnonzero(counts < weight)
    if len(outweighed) == 0:
        return None
    least, most = f"{weight[outweighed].min():.3g}", f"{weight[outweighed].max():.3g}"
    n_ratings = least if least == most else f"{least} to {most}"
    return warn(
        "prior-outweighs-data",
        f"the prior{'' if of_a_rater else f' of {variable.name}'}, which counts as {n_ratings} "
        f"ratings, outweighs the data in the confusion {'matrices' if of_a_rater else 'matrix'} of "
        f"true category {', '.join(rows[row] for row in outweighed)}",
    )
