"""Whether the model predicts how raters agree, and whether their errors are independent.

These are posterior predictive checks. Latent-class models and the algebra assume that raters err
independently of one another given the true category. Raters who make correlated errors agree more
often, and these methods then overestimate their accuracy.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import xarray as xr

from bayes_models.models.observations import observe
from bayes_models.posterior.draws import group
from bayes_models.posterior.predictive import draw_ratings, mask_truths
from bayes_models.posterior.truth import infer_truth, states
from lehner import Patterns, Ratings
from lehner.core.arrays import Floats, Seed, child_seeds, draw_categories
from lehner.core.errors import Warning, warn
from lehner.core.lazy import sparse
from lehner.core.text import decimal
from lehner.data.patterns import FlatRatings

PAIR_SIGNIFICANCE = 0.01
MOST_PREDICTED_RATINGS = 50_000_000
FEWEST_PREDICTED = 25


@dataclass(frozen=True, kw_only=True, eq=False)
class PredictiveChecks:
    """What was observed and what a model predicts, for each pair of raters.

    Parameters
    ----------
    table : xarray.Dataset, dims (rater, other_rater)
        `agreement`: proportion of the items on which the pair agrees. `agreement_predicted` and
        `agreement_sd`: its mean and standard deviation among predicted data. `correlation`: mean
        correlation of the pair's errors that the true category does not explain. `correlation_z`:
        by how many standard deviations it exceeds that of predicted data. NaN for pairs without an
        item in common, and for a dependent pair that the model takes.
    draws : int
        Number of posterior draws that were used.
    """

    table: xr.Dataset
    draws: int

    def warnings(self) -> tuple[Warning, ...]:
        """Name the pairs of raters that the model does not describe.

        A pair is named if, were the model right, a difference as large would occur for any of the
        pairs in 1% of the data sets at most.

        Returns
        -------
        tuple of Warning
            One for each finding; empty if there is none.
        """
        agreement, predicted, sd, correlation, z = (
            values.values for values in self.table.data_vars.values()
        )
        with np.errstate(all="ignore"):
            difference = np.where(sd > 0, (agreement - predicted) / sd, np.nan)
        problems = []
        for pair, names in self._pairs(abs(difference)):
            more = "more" if difference[pair] > 0 else "less"
            text = (
                f"{names} agree on {agreement[pair]:.3f} of their items, {more} than the model "
                f"predicts ({predicted[pair]:.3f} ± {sd[pair]:.3f})"
            )
            problems.append(warn("agreement-not-predicted", text))
        for pair, names in self._pairs(z):
            text = (
                f"errors of {names} are correlated (residual correlation "
                f"{decimal(correlation[pair], 2)}): raters are not independent, and accuracies may "
                "be overestimated"
            )
            problems.append(warn("mistakes-correlated", text))
        return tuple(problems)

    def _pairs(self, z: Floats) -> Iterator[tuple[tuple[int, int], str]]:
        """Find the pairs that differ by more than is expected by chance among so many pairs."""
        upper, names = np.triu_indices(len(z), 1), self.table["rater"].values
        n_pairs = np.isfinite(z[upper]).sum()
        limit = -NormalDist().inv_cdf(PAIR_SIGNIFICANCE / 2 / max(1, n_pairs))
        for i, j in np.transpose(upper).tolist():
            if z[i, j] > limit:
                yield (i, j), f"{names[i]} and {names[j]}"


def predictive_checks(
    tree: xr.DataTree, ratings: Ratings, *, draws: int = 200, seed: Seed = 1
) -> PredictiveChecks:
    """Compare a fit with data that it predicts.

    The predicted agreement of a pair follows from the parameters of some posterior draws. To
    compare errors, new ratings of the same items by the same raters are drawn from these
    parameters. As the truth is unknown, true categories are drawn given the ratings, the observed
    as well as the predicted ones, and errors are ratings that differ from these.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.
    ratings : Ratings
        The ratings that were fitted.
    draws : int
        Greatest number of posterior draws that are used; it falls to 25 for millions of ratings.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Seed of the predicted data: the same seed gives the same result.

    Returns
    -------
    PredictiveChecks
        Agreement and correlated errors of each pair of raters.

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`).

    References
    ----------
    Gelman, Meng & Stern (1996), Posterior predictive assessment of model fitness via realized
    discrepancies; Mimno, Blei & Engelhardt (2015), https://doi.org/10.1073/pnas.1412301112

    Examples
    --------
    The second rater copies the first in 60% of the items.

    >>> import lehner
    >>> from bayes_models import fit
    >>> scenario = lehner.Scenario(
    ...     n_categories=3, initial_rater_accuracy=(0.8,) * 3, copying=(0, 0.6, 0)
    ... )
    >>> ratings = lehner.simulate(scenario, seed=1)
    >>> tree = fit("pooled", ratings, engine="gibbs", chains=2, checks=False)
    >>> predictive_checks(tree, ratings, draws=50).warnings()[-1].code
    'mistakes-correlated'
    """
    observed = observe(ratings)
    rates, confusion = states(group(tree, "posterior"), observed.dependent)
    affordable = max(FEWEST_PREDICTED, MOST_PREDICTED_RATINGS // max(1, ratings.n_ratings))
    n_draws = min(draws, affordable, len(rates))
    (child,) = child_seeds(seed, 1)
    rng = np.random.default_rng(child)
    correlated, total, squares = (np.zeros(()) for _ in range(3))
    used = np.linspace(0, len(rates) - 1, n_draws).astype(int)
    for draw in used:
        parameters = rates[draw], confusion[draw]
        predicted = observe(mask_truths(ratings, draw_ratings(ratings, *parameters, rng)))
        correlation = _residual_correlation(observed, *parameters, rng)
        difference = correlation - _residual_correlation(predicted, *parameters, rng)
        correlated = correlated + correlation
        total, squares = total + difference, squares + difference**2
    mean = total / n_draws
    sd = np.sqrt(np.maximum(squares / n_draws - mean**2, 0))
    agreement, items = _agreement(observed)
    of_raters = confusion[used, : len(observed.raters)]
    predicted_mean, predicted_sd = _predicted_agreement(rates[used], of_raters, items)
    table = {
        "agreement": agreement,
        "agreement_predicted": predicted_mean,
        "agreement_sd": predicted_sd,
        "correlation": correlated / n_draws,
        "correlation_z": mean / np.where(sd > 0, sd, np.nan),
    }
    if observed.dependent is not None and confusion.shape[1] > len(observed.raters):
        first, second = observed.dependent
        for values in table.values():
            values[[first, second], [second, first]] = np.nan
    dims = ("rater", "other_rater")
    variables = {name: (dims, values) for name, values in table.items()}
    names = {dim: list(observed.raters) for dim in dims}
    return PredictiveChecks(table=xr.Dataset(variables, names), draws=n_draws)


def _agreement(patterns: Patterns) -> tuple[Floats, Floats]:
    """Proportion of pairs of ratings that agree, by pair of raters, and the items of both."""
    flat, counts = patterns.flat, patterns.counts[:, None]
    shape = len(counts), len(patterns.raters)
    n_ratings = _by_rater(np.ones(len(flat.item_index)), flat, shape)
    agreeing = np.zeros((shape[1], shape[1]))
    for category in range(patterns.n_categories):
        in_category = _by_rater((flat.category_index == category) * 1.0, flat, shape)
        agreeing += (in_category.T @ (in_category * counts)).toarray()
    rated = (n_ratings > 0) * 1.0
    items = (rated.T @ (rated * counts)).toarray()
    return _without_diagonal(agreeing, (n_ratings.T @ (n_ratings * counts)).toarray()), items


def _predicted_agreement(rates: Floats, confusion: Floats, items: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the agreement among predicted data.

    Given the parameters, the number of agreements is binomial, so that nothing has to be drawn.
    """
    shared = np.einsum("ds,disl,djsl->dij", rates, confusion, confusion, optimize=True)
    within = (shared * (1 - shared)).mean(axis=0) / np.where(items > 0, items, np.nan)
    mean = np.where(items > 0, shared.mean(axis=0), np.nan)
    sd = np.sqrt(np.maximum(within + shared.var(axis=0), 0))
    for values in (mean, sd):
        np.fill_diagonal(values, np.nan)
    return mean, sd


def _residual_correlation(
    patterns: Patterns, rates: Floats, confusion: Floats, rng: np.random.Generator
) -> Floats:
    """Correlate the errors of each pair of raters, beyond what the true category explains."""
    k, n_raters = patterns.n_categories, len(patterns.raters)
    probability = infer_truth(patterns, rates[None], confusion[None])[0][0]
    pattern = np.repeat(np.arange(len(patterns.counts)), patterns.counts)
    truth = draw_categories(probability, rng.random(len(pattern)), pattern)
    # Items of one pattern and one true category have the same errors.
    n_items = np.bincount(pattern * k + truth, minlength=len(patterns.counts) * k)
    drawn = np.flatnonzero(n_items)
    pattern, truth = np.divmod(drawn, k)
    counts = n_items[drawn, None]
    by_level = confusion[:n_raters].reshape(n_raters, -1, k, k)
    wrong = 1 - np.einsum("rmkk->rk", by_level) / by_level.shape[1]
    flat = patterns.flat.take_rows(pattern, len(patterns.counts))
    true = truth[flat.item_index]
    surprise = (flat.category_index != true) - wrong[flat.rater_index, true]
    shape = (len(pattern), n_raters)
    residual = _by_rater(surprise, flat, shape)
    rated = (_by_rater(np.ones(len(surprise)), flat, shape) > 0) * 1.0
    together = (residual.T @ (residual * counts)).toarray()
    squared = ((residual * residual).T @ (rated * counts)).toarray()
    return _without_diagonal(together, np.sqrt(squared * squared.T))


def _by_rater(values: Floats, flat: FlatRatings, shape: tuple[int, int]) -> "sparse.csr_array":
    """Put a value for each rating into a table of items and raters."""
    return sparse.csr_array((values, (flat.item_index, flat.rater_index)), shape=shape)


def _without_diagonal(numerator: Floats, denominator: Floats) -> Floats:
    with np.errstate(all="ignore"):
        proportion = np.where(denominator > 0, numerator / denominator, np.nan)
    np.fill_diagonal(proportion, np.nan)
    return proportion
