"""What the data can tell about the parameters of a model, before it is sampled."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayes_models.likelihood.observations import observe
from bayes_models.models.priors import Priors, choose_priors
from bayes_models.models.spec import find_model
from bayes_models.posterior.prior_worth import PriorWorth, prior_worth
from bayes_models.sampling.modes import expected_numbers
from lehner import Patterns, Ratings
from lehner.core.number_format import percent
from lehner.core.warning import Warning, warn


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
    ratings_per_item : float
        Mean number of ratings of an item, the system's included.
    too_few : float
        Proportion of the items, 0 to 1, with fewer than three ratings, including the system's, and
        without a known truth. In general so few ratings of an item do not tell how accurate raters
        are. For `one_coin`, which needs only two ratings, both by raters, it is an upper bound.
        With two or more populations of items it is the proportion with fewer than two ratings.
    support : xarray.DataArray, dims (rater, category)
        Expected number of ratings by rater and true category.
    prior_worth : tuple of PriorWorth
        How the priors of confusion matrices compare with these ratings in weight.
    """

    model: str
    parameters: int
    degrees_of_freedom: int
    ratings_per_item: float
    too_few: float
    support: xr.DataArray
    prior_worth: tuple[PriorWorth, ...]

    def warnings(self) -> tuple[Warning, ...]:
        """Describe what the prior decides and not the data.

        Returns
        -------
        tuple of Warning
            One for each such thing; empty if there is none.
        """
        warnings = []
        if self.parameters > self.degrees_of_freedom:
            text = (
                f"{self.parameters} parameters but only {self.degrees_of_freedom} degrees of "
                "freedom: the ratings cannot determine all parameters, and the prior decides the "
                "rest"
            )
            warnings.append(warn("prior-decides", text))
        if self.too_few > 0.5:
            text = (
                f"{percent(self.too_few, 0)} of the items have fewer than three ratings, "
                "including the system's: the prior decides how accurate raters and system are"
            )
            warnings.append(warn("items-with-few-ratings", text))
        return (*warnings, *filter(None, (prior.warning() for prior in self.prior_worth)))


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
    spec = find_model(model)
    chosen = choose_priors(model, priors)
    patterns = observe(ratings)
    support = _support(patterns)
    lengths = np.diff(patterns.starts)
    n_items = int(patterns.counts.sum())
    n_populations = max(1, len(patterns.populations))
    of_base_rates = n_populations * (patterns.n_categories - 1)
    # Two populations tell accuracy from agreement where two raters are enough (Hui & Walter).
    enough = 3 if n_populations == 1 else 2
    return Identification(
        model=model,
        parameters=of_base_rates + spec.n_parameters(chosen, patterns),
        degrees_of_freedom=_degrees_of_freedom(patterns),
        ratings_per_item=float(lengths @ patterns.counts / n_items),
        too_few=float(patterns.counts[(lengths < enough) & (patterns.truths < 0)].sum() / n_items),
        support=support,
        prior_worth=prior_worth(spec, chosen, support, patterns),
    )


def _degrees_of_freedom(patterns: Patterns) -> int:
    k = patterns.n_categories
    lengths, raters = np.diff(patterns.starts), patterns.flat.rater_index
    sets = {
        (population, *raters[first : first + length])
        for first, length, population in zip(
            patterns.starts[:-1], lengths, patterns.population, strict=True
        )
    }
    n_items = int(patterns.counts[lengths >= 2].sum())
    return int(min(sum(k ** (len(one) - 1) - 1 for one in sets), n_items))


def _support(patterns: Patterns) -> xr.DataArray:
    _, ratings = expected_numbers(patterns)
    coords = {"rater": list(patterns.raters), "category": list(patterns.categories)}
    return xr.DataArray(ratings.sum(axis=2), coords, ("rater", "category"), name="support")
