"""What the data can tell about the parameters of a model, before it is sampled."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_models.models import spec
from bayes_models.models.assemble import observe
from bayes_models.models.registry import choose_priors, drop_pair, find_model
from bayes_models.models.spec import OF_A_RATER
from bayes_models.sampling.start import start_at_vote
from lehner import Patterns, Ratings
from lehner.core.arrays import Floats
from lehner.core.errors import Warning, warn
from lehner.core.text import to_percent


def _weigh_priors(
    model: spec.ModelSpec, priors: Mapping[str, Any], ratings: Floats, observed: Patterns
) -> Iterator[Warning]:
    """Warn where a prior of confusion matrices outweighs the ratings in them.

    Ratings are expected numbers by rater and true category. A prior of a row counts as many ratings
    as its Dirichlet concentration sums to. If each rater has a matrix, it is the median rater's.
    """
    k = observed.n_categories
    by_source = {
        OF_A_RATER: np.median(ratings, axis=0),
        spec.OF_ALL: ratings[: observed.n_raters].sum(axis=0),
    }
    if observed.has_system:
        by_source[spec.OF_THE_SYSTEM] = ratings[-1]
    for variable in model.variables:
        if variable.ratings not in by_source:
            continue
        name, prior, counts = variable.name, priors[variable.name], by_source[variable.ratings]
        rows = [
            f"{category} ({count:.1f} {variable.ratings})"
            for category, count in zip(observed.categories, counts, strict=True)
        ]
        distribution = spec.name_distribution(prior)
        if distribution:
            yield warn(
                "prior-weight-unknown",
                f"the prior of {name} is {distribution}, whose weight beside the ratings is not "
                f"known; there are fewest ratings of true category {rows[int(counts.argmin())]}",
            )
            continue
        of_a_rater = variable.ratings == OF_A_RATER
        shape = (len(ratings), k, k) if of_a_rater else (k, k)
        numbers = variable.family.check_numbers(name, prior, shape)
        worth = np.broadcast_to(numbers.sum(axis=-1), shape[:-1])
        worth = np.median(worth, axis=0) if of_a_rater else worth
        thin = np.flatnonzero(counts < worth)
        if len(thin):
            ends = (f"{worth[thin].min():.3g}", f"{worth[thin].max():.3g}")
            yield warn(
                "prior-outweighs-data",
                f"the prior{'' if of_a_rater else f' of {name}'}, which counts as "
                f"{' to '.join(dict.fromkeys(ends))} ratings, outweighs the data in the confusion "
                f"{'matrices' if of_a_rater else 'matrix'} of true category "
                f"{', '.join(rows[row] for row in thin)}",
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class Identification:
    """How much the data can tell about the parameters of a model.

    Parameters
    ----------
    model : str
        Name of the model.
    parameters : int
        Number of probabilities in base rates and confusion matrices that the model leaves free.
    degrees_of_freedom : int
        Number of free probabilities of rating patterns: for each set of raters who rated items of a
        population together, one less than the number of patterns that they can give. It is at most
        the number of items with two ratings.
    too_few : float
        Proportion of the items, 0 to 1, with fewer than three ratings, including the system's, and
        without a gold label. In general so few ratings of an item do not tell how accurate raters
        are. For `one_coin`, which needs only two ratings, both by raters, it is an upper bound.
        With two or more populations of items it is the proportion with fewer than two ratings.
    strong_priors : tuple of Warning
        Of the priors of confusion matrices that outweigh these ratings, or whose weight is not
        known.
    dependent : tuple of str
        The dependent pair, if the model takes it.
    pair_alone : float
        Proportion of the items that both of the pair rated, 0 to 1, with fewer than two other
        ratings and without a gold label. In general these do not tell answers that the two share
        from accuracy. With two or more populations it is the proportion without another rating.
    populations : int
        Number of populations of items, 1 or more.
    """

    model: str
    parameters: int
    degrees_of_freedom: int
    too_few: float
    strong_priors: tuple[Warning, ...]
    dependent: tuple[str, ...] = ()
    pair_alone: float = 0.0
    populations: int = 1

    def list_warnings(self) -> tuple[Warning, ...]:
        """Describe what the prior decides and not the data.

        Returns
        -------
        tuple of Warning
            One for each such thing; empty if there is none.
        """
        warnings, alone = [], self.populations == 1
        if self.parameters > self.degrees_of_freedom:
            text = (
                f"{self.parameters} parameters but only {self.degrees_of_freedom} degrees of "
                "freedom: the ratings cannot determine all parameters, and the prior decides the "
                "rest"
            )
            warnings.append(warn("prior-decides", text))
        if self.too_few > 0.5:
            text = (
                f"{to_percent(self.too_few, 0)} of the items have fewer than "
                f"{'three' if alone else 'two'} ratings, including the system's: "
                "the prior decides how accurate raters and system are"
            )
            warnings.append(warn("items-with-few-ratings", text))
        if self.pair_alone > 0.5:
            few = "fewer than two other ratings" if alone else "no other rating"
            text = (
                f"{to_percent(self.pair_alone, 0)} of the items that {' and '.join(self.dependent)}"
                f" rated have {few}: the prior decides how often the two share answers"
            )
            warnings.append(warn("pair-rests-on-prior", text))
        return (*warnings, *self.strong_priors)


def identify(model: str, ratings: Ratings, priors: spec.Priors = None) -> Identification:
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
    patterns = drop_pair(model, observe(ratings))
    counts = start_at_vote(patterns).ratings.sum(axis=2)
    lengths = np.diff(patterns.starts)
    n_items = int(patterns.counts.sum())
    n_populations = max(1, len(patterns.populations))
    of_base_rates = n_populations * (patterns.n_categories - 1)
    of_pair = 0 if patterns.dependent is None else patterns.n_categories
    # Two populations tell accuracy from agreement where two raters are enough (Hui & Walter).
    enough = 3 if n_populations == 1 else 2
    return Identification(
        model=model,
        parameters=of_base_rates + of_pair + declared.n_parameters(all_priors, patterns),
        degrees_of_freedom=_count_degrees_of_freedom(patterns),
        too_few=float(patterns.counts[(lengths < enough) & (patterns.truths < 0)].sum() / n_items),
        strong_priors=tuple(_weigh_priors(declared, all_priors, counts, patterns)),
        dependent=tuple(patterns.raters[rater] for rater in patterns.dependent or ()),
        pair_alone=_share_alone(patterns, enough + 1),
        populations=n_populations,
    )


def _count_degrees_of_freedom(patterns: Patterns) -> int:
    k = patterns.n_categories
    lengths, raters = np.diff(patterns.starts), patterns.votes.rater_index
    by_pattern = np.split(raters, patterns.starts[1:-1])
    sets = {(p, *rated) for p, rated in zip(patterns.population, by_pattern, strict=True)}
    n_items = int(patterns.counts[lengths >= 2].sum())
    return int(min(sum(k ** (len(rated) - 1) - 1 for rated in sets), n_items))


def _share_alone(patterns: Patterns, enough: int) -> float:
    if patterns.dependent is None:
        return 0.0
    item, rater = patterns.votes.item_index, patterns.votes.rater_index
    first, second = (
        np.isin(np.arange(len(patterns.counts)), item[rater == member])
        for member in patterns.dependent
    )
    both, lengths = first & second, np.diff(patterns.starts)
    alone = both & (lengths < enough) & (patterns.truths < 0)
    return float(patterns.counts[alone].sum() / max(1, int(patterns.counts[both].sum())))
