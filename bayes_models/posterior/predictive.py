"""What a model predicts before and after a fit, and whether the ratings are as predicted."""

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import xarray as xr

from bayes_models.models.assemble import observe
from bayes_models.models.spec import Priors
from bayes_models.posterior.draws import infer_truth, label_draws, read_group, take_states
from lehner import Patterns, Ratings
from lehner.core.arrays import Floats, Seed, derive_seeds, draw_categories
from lehner.core.errors import Warning, compose, list_few, warn
from lehner.core.lazy import sparse, special
from lehner.core.text import pluralise
from lehner.data.counts import UNKNOWN

PAIR_SIGNIFICANCE = 0.01
IMPROBABLE = 0.05
SUSPICIOUS_TAIL = 0.05
MOST_NAMED = 8
MOST_DRAWS = 200


def draw_ratings(
    ratings: Ratings, rates: Floats, confusion: Floats, rng: np.random.Generator
) -> Ratings:
    """Draw true categories, then new ratings by the same raters of the same items.

    Parameters
    ----------
    ratings : Ratings
        Determines which rater rates which item, and which items the system answers. A grouped row
        becomes as many rows as it has items.
    rates : ndarray, shape (n_states,) or (n_populations, n_states)
        Probability of each state: a category, or a level of difficulty and a category. With a row
        for each population, each item has that of its own.
    confusion : ndarray, shape (n_raters, n_states, n_responses)
        The system is the last rater.

    Returns
    -------
    Ratings
        Ratings with the true categories that were drawn.
    """
    single = ratings.to_ungrouped()
    n_rows, votes, system = single.n_rows, single.votes, single.system
    if rates.ndim == 1:
        state = rng.choice(len(rates), size=n_rows, p=rates / rates.sum())
    else:
        state = draw_categories(rates, rng.random(n_rows), single.population)
    item, rater, luck = votes.item_index, votes.rater_index, rng.random(len(votes.item_index))
    if system is not None:
        answered = np.flatnonzero(system >= 0)
        item = np.append(item, answered)
        rater = np.append(rater, np.full(len(answered), single.n_raters))
        luck = np.append(luck, rng.random(n_rows)[answered])
    answer = draw_categories(confusion, luck, rater, state[item])
    if system is not None:
        system = np.full(n_rows, -1)
        system[answered] = answer[len(votes.item_index) :]
    return single.replace(
        entries=replace(votes, category_index=answer[: len(votes.item_index)]),
        items=np.arange(n_rows),
        answers=single.answers if system is None else system[:, None],
        truth=state % single.n_categories,
        truth_probability=None,
        cluster=None,
        reading_notes=(),
    )


def mask_truths(design: Ratings, simulated: Ratings) -> Ratings:
    """Keep the truths of those simulated items only whose truth the design knows."""
    if design.truth is None or simulated.truth is None:
        return simulated.with_truth(None)
    labelled = np.repeat(design.truth, design.weights) != UNKNOWN
    return simulated.with_truth(np.where(labelled, simulated.truth, UNKNOWN))


def draw_from_prior(
    model: str, ratings: Ratings, n: int, *, priors: Priors = None, seed: Seed = 1
) -> xr.Dataset:
    """Draw parameters from the prior of a model.

    Parameters
    ----------
    model : str
        Name of the model, as in `MODELS`.
    ratings : Ratings
        Ratings with the raters and categories of the model.
    n : int
        How many.
    priors : str or mapping, optional
        As the model takes them.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same draws.

    Returns
    -------
    xarray.Dataset
        All variables of the model, dimensions `chain` (one), `draw` and those of the variable.

    Raises
    ------
    InputError
        If there is no such model or prior, or if the ratings cannot be fitted.

    Examples
    --------
    >>> import lehner
    >>> drawn = draw_from_prior("one_coin", lehner.load_dataset("anesthesia"), 10)
    >>> dict(drawn["base_rates"].sizes)
    {'chain': 1, 'draw': 10, 'true_category': 4}
    """
    # PyMC, which takes seconds to load, is needed here only.
    from bayes_models.models import graph

    built, (child,) = graph.build_model(model, ratings, priors), derive_seeds(seed, 1)
    named = graph.draw_variables(built, n, int(child.generate_state(1)[0]))
    return label_draws(named, built.coords)


@dataclass(frozen=True, kw_only=True, eq=False)
class PredictiveChecks:
    """What was observed and what a model predicts, for each pair of raters.

    Parameters
    ----------
    table : xarray.Dataset, dims (rater, other_rater)
        `agreement`: proportion of the items on which the pair agrees. `agreement_predicted` and
        `agreement_sd`: its mean and standard deviation among predicted data. NaN for pairs without
        an item in common.
    """

    table: xr.Dataset

    def list_warnings(self) -> tuple[Warning, ...]:
        """Name the pairs of raters that the model does not describe.

        A pair is named if, were the model right, a difference as large would occur for any of the
        pairs in 1% of the data sets at most.

        Returns
        -------
        tuple of Warning
            One for each pair; empty if there is none.
        """
        agreement, predicted, sd = (values.values for values in self.table.data_vars.values())
        with np.errstate(all="ignore"):
            z = np.where(sd > 0, (agreement - predicted) / sd, np.nan)
        upper, names = np.triu_indices(len(z), 1), self.table["rater"].values
        n_pairs = np.isfinite(z[upper]).sum()
        limit = -NormalDist().inv_cdf(PAIR_SIGNIFICANCE / 2 / max(1, n_pairs))
        problems = []
        for i, j in np.transpose(upper)[abs(z[upper]) > limit].tolist():
            text = (
                f"{names[i]} and {names[j]} agree on {agreement[i, j]:.3f} of their items, "
                f"{'more' if z[i, j] > 0 else 'less'} than the model predicts "
                f"({predicted[i, j]:.3f} ± {sd[i, j]:.3f})"
            )
            problems.append(warn("agreement-not-predicted", text))
        return tuple(problems)


def check_predictions(tree: xr.DataTree, ratings: Ratings, *, draws: int = 200) -> PredictiveChecks:
    """Compare how often raters agree with what a fit predicts.

    Given the parameters, the number of agreements of a pair is binomial, so that nothing has to be
    drawn.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.
    ratings : Ratings
        The ratings that were fitted.
    draws : int
        Greatest number of posterior draws that are used.

    Returns
    -------
    PredictiveChecks
        Agreement of each pair of raters.

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`).

    References
    ----------
    Gelman, Meng & Stern (1996), Posterior predictive assessment of model fitness via realized
    discrepancies

    Examples
    --------
    The second rater copies the first in 60% of the items.

    >>> import lehner
    >>> from bayes_models import fit
    >>> scenario = lehner.Scenario(
    ...     n_categories=3, initial_rater_accuracy=(0.8,) * 3, copying=(0, 0.6, 0)
    ... )
    >>> ratings = lehner.simulate(scenario, seed=1).with_truth(None)
    >>> tree = fit("one_coin", ratings, checks=False, progressbar=False)
    >>> str(check_predictions(tree, ratings).list_warnings()[0])[:34]
    'Rater 1 and Rater 2 agree on 0.855'
    """
    observed = observe(ratings)
    rates, confusion = take_states(read_group(tree, "posterior"))
    used = np.linspace(0, len(rates) - 1, min(draws, len(rates))).astype(int)
    rates, confusion = rates[used], confusion[used]
    agreement, items = _measure_agreement(observed)
    shared = np.einsum("ds,disl,djsl->dij", rates, confusion, confusion, optimize=True)
    within = (shared * (1 - shared)).mean(axis=0) / np.where(items > 0, items, np.nan)
    table = {
        "agreement": agreement,
        "agreement_predicted": np.where(items > 0, shared.mean(axis=0), np.nan),
        "agreement_sd": np.sqrt(within + shared.var(axis=0)),
    }
    for values in table.values():
        np.fill_diagonal(values, np.nan)
    dims = ("rater", "other_rater")
    variables = {name: (dims, values) for name, values in table.items()}
    names = {dim: list(observed.raters) for dim in dims}
    return PredictiveChecks(table=xr.Dataset(variables, names))


def _measure_agreement(patterns: Patterns) -> tuple[Floats, Floats]:
    """Give the share of pairs of ratings that agree, by pair of raters, and the items of both."""

    def count_pairs(rated: "sparse.csr_array") -> Floats:
        return np.asarray((rated.T @ (rated * patterns.counts[:, None])).toarray())

    answers, k = sparse.csr_array(patterns.answers), patterns.n_categories
    by_category = [answers[:, code::k] for code in range(k)]
    n_ratings = sum(by_category)
    agreeing, pairs = sum(map(count_pairs, by_category)), count_pairs(n_ratings)
    with np.errstate(all="ignore"):
        agreement = np.where(pairs > 0, agreeing / pairs, np.nan)
    return agreement, count_pairs((n_ratings > 0) * 1.0)


def find_contradictions(tree: xr.DataTree, ratings: Ratings) -> tuple[Warning, ...]:
    """Name the gold labels that are improbable given the ratings of their items.

    The probability of an item's true category is computed from the item's ratings and the
    parameters of the fit. The item's gold label is not used for that; but the parameters were
    fitted with all gold labels, its own among them.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.
    ratings : Ratings
        The ratings that were fitted.

    Returns
    -------
    tuple of Warning
        One, if more gold labels have probabilities below .05 than the fit predicts, by
        more than chance explains. Empty otherwise, and if no gold label entered the fit.

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`).

    Examples
    --------
    Thirty truths are known, of which the first six are wrong.

    >>> import lehner
    >>> from bayes_models import fit
    >>> scenario = lehner.Scenario(n_categories=3, initial_rater_accuracy=(0.8,) * 3)
    >>> ratings = lehner.simulate(scenario, seed=1)
    >>> labels = np.where(np.arange(200) < 30, ratings.truth, -1)
    >>> labels[:6] = (labels[:6] + 1) % 3
    >>> some = ratings.with_truth(labels)
    >>> tree = fit("dawid_skene", some, engine="gibbs", chains=2, checks=False)
    >>> [str(warning).split(":")[0] for warning in find_contradictions(tree, some)]
    ['the gold labels of 4 items contradict the fit']
    """
    if ratings.truth is None or not tree.attrs["known_truths"]:
        return ()
    has_truth = ratings.truth >= 0
    if ratings.system is not None:
        has_truth &= ratings.system >= 0
    if not has_truth.any():
        return ()
    labelled = ratings.take(has_truth)
    probability = _infer_from_ratings_alone(tree, labelled)
    improbable = np.where(probability < IMPROBABLE, probability, 0.0)
    contradicted = improbable[np.arange(labelled.n_rows), labelled.truth] > 0
    expected, n = float(improbable.sum()), int(contradicted.sum())
    if n == 0 or special.pdtrc(n - 1, expected) > SUSPICIOUS_TAIL:
        return ()
    named = list_few(labelled.items[contradicted], MOST_NAMED)
    text = compose(
        "{}; an estimate without them ({}), corrected by them, relies less on the model",
        f"the gold labels of {pluralise(n, 'item')} contradict the fit: given their ratings "
        f"these labels have probabilities below {IMPROBABLE:g}, and the fit predicts "
        f"{expected:.1f} such items (items {named})",
        {"truths_in_model": False},
    )
    return (warn("truths-contradict", text),)


def _infer_from_ratings_alone(tree: xr.DataTree, ratings: Ratings) -> Floats:
    """Infer the probability of each category for each item, without using its gold label."""
    patterns = observe(ratings.with_truth(None))
    rates, confusion = take_states(read_group(tree, "posterior"), by_population=True)
    draws = np.unique(np.linspace(0, len(rates) - 1, MOST_DRAWS).astype(int))
    probability, _ = infer_truth(patterns, rates[draws], confusion[draws])
    return np.asarray(probability.mean(axis=0)[patterns.inverse])
