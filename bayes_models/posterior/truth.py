"""The true categories, given draws of the parameters, and known ones that contradict them."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from bayes_models.models.assemble import BY_POPULATION
from bayes_models.models.observations import answers_after, observe, split_second
from bayes_models.models.parameters import SHARE
from bayes_models.posterior.draws import PAIRS, group, values_by_draw
from lehner import InputError, Patterns, Ratings
from lehner.core.arrays import Floats, Integers
from lehner.core.errors import Warning, warn
from lehner.core.lazy import special
from lehner.core.text import counted, first_few
from lehner.latent_class.em import e_step

DRAWN_CELLS_AT_ONCE = 2_000_000
MOST_LOG_LIKELIHOODS = 50_000_000
LEAST = np.finfo(float).tiny
IMPROBABLE = 0.05
SUSPICIOUS_TAIL = 0.05
MOST_NAMED = 8
MOST_DRAWS = 200


def add_truth(
    tree: xr.DataTree,
    ratings: Ratings,
    patterns: Patterns,
    rng: np.random.Generator,
    *,
    log_likelihood: bool = True,
) -> None:
    """Add the posterior probabilities of the true categories of the items.

    Group `truth` gets `truth_probabilities` (item, category). With a system, group `posterior` gets
    `system_accuracy_in_sample`: in each draw, true categories of the items are drawn, and it is the
    proportion of the system's answers that equal them. Group `log_likelihood` gets
    `agreeing_pairs` (chain, draw, item), the log density of all ratings of an item, with an entry
    for each item of a grouped row, unless that is more than 50 million numbers. It has the name of
    the number by which ArviZ compares data and predictions, as ArviZ requires.

    Parameters
    ----------
    tree : xarray.DataTree
        With group `posterior`; changed in place.
    ratings : Ratings
        The ratings that were fitted.
    patterns : Patterns
        Of the same ratings.
    log_likelihood : bool
        Whether to add the group `log_likelihood`.
    """
    posterior = group(tree, "posterior")
    truth = np.zeros((len(patterns.counts), patterns.n_categories))
    sample = {"chain": posterior["chain"], "draw": posterior["draw"]}
    shape = tuple(posterior.sizes[name] for name in sample)
    keep = log_likelihood and ratings.n_items * np.prod(shape) <= MOST_LOG_LIKELIHOODS
    likelihood, right = [], []
    for probability, log_probability in infer_truths(posterior, patterns):
        if keep:
            likelihood.append(log_probability)
        truth += probability.sum(axis=0)
        if patterns.has_system:
            right.append(draw_right(probability, patterns, patterns.counts, rng).sum(axis=1))
    truth = truth[patterns.inverse] / np.prod(shape)
    items = {"item": ratings.items, "category": posterior["category"]}
    probabilities = {"truth_probabilities": (("item", "category"), truth)}
    tree["truth"] = xr.DataTree(xr.Dataset(probabilities, items))
    if patterns.has_system:
        n_answered = patterns.counts[patterns.system >= 0].sum()
        draws = (np.concatenate(right) / n_answered).reshape(shape)
        posterior["system_accuracy_in_sample"] = xr.DataArray(draws, sample, tuple(sample))
        tree["posterior"] = xr.DataTree(posterior)
    if keep:
        rows = np.repeat(np.arange(ratings.n_rows), ratings.weights)
        per_item = np.concatenate(likelihood)[:, patterns.inverse[rows]].reshape(*shape, -1)
        densities = {PAIRS: ((*sample, "item"), per_item)}
        items = sample | {"item": ratings.items[rows]}
        tree["log_likelihood"] = xr.DataTree(xr.Dataset(densities, items))


def infer_truth(patterns: Patterns, rates: Floats, confusion: Floats) -> tuple[Floats, Floats]:
    """Infer the true category of each pattern in each draw.

    Parameters
    ----------
    rates : ndarray, shape (n_draws, n_states) or (n_draws, n_populations, n_states)
    confusion : ndarray, shape (n_draws, n_raters, n_states, n_responses)
        As `states` gives it, with further rows for a dependent pair if the model has one.

    Returns
    -------
    probability : ndarray, shape (n_draws, n_patterns, n_categories)
        Of each true category given the ratings of the pattern.
    log_probability : ndarray, shape (n_draws, n_patterns)
        Log probability of these ratings.
    """
    if confusion.shape[1] > len(patterns.raters):
        patterns = split_second(patterns)
    n_states, k = rates.shape[-1], patterns.n_categories
    log_rates = np.log(np.maximum(rates, LEAST)).T
    if rates.ndim == 3:
        log_rates = log_rates.swapaxes(0, 1)[patterns.population]
    log_confusion = np.log(np.maximum(confusion, LEAST)).transpose(1, 3, 2, 0)
    by_state, log_probability = e_step(patterns, log_rates, log_confusion, np.arange(n_states) % k)
    if n_states > k:
        by_level = by_state.reshape(len(by_state), -1, k, by_state.shape[2])
        by_state = by_level.sum(axis=1)
    return by_state.transpose(2, 0, 1), log_probability.T


def states(
    posterior: xr.Dataset, pair: tuple[int, int] | None = None, *, by_population: bool = False
) -> tuple[Floats, Floats]:
    """Probability of each state, and confusion matrices by state, for each draw.

    Parameters
    ----------
    posterior : xarray.Dataset
        With `base_rates` and `confusion` or `confusion_by_level`.
    pair : tuple of int, optional
        The dependent pair of the ratings, if there is one.
    by_population : bool
        Whether rates are those of each population, if there are any, and not of all items.

    Returns
    -------
    rates : ndarray, shape (n_draws, n_states) or (n_draws, n_populations, n_states)
    confusion : ndarray, shape (n_draws, n_raters, n_states, n_responses)
        If the model takes the pair, the rows of its second follow, by the first's answer.
    """
    k = posterior.sizes["category"]
    rates = values_by_draw(posterior, "base_rates", "category")
    if by_population and BY_POPULATION in posterior:
        rates = values_by_draw(posterior, BY_POPULATION, "population", "category")
    name = "confusion_by_level" if "confusion_by_level" in posterior else "confusion"
    confusion = values_by_draw(posterior, name, "rater", ..., "category", "response")
    by_state = confusion.reshape(len(rates), posterior.sizes["rater"], -1, k)
    n_levels = by_state.shape[2] // k
    if SHARE in posterior and pair is not None:
        share = values_by_draw(posterior, SHARE, "category")
        after = answers_after(by_state[:, pair[0]], by_state[:, pair[1]], share, k)
        by_state = np.concatenate([by_state, after], axis=1)
    return np.tile(rates / n_levels, n_levels), by_state


def infer_truths(posterior: xr.Dataset, patterns: Patterns) -> Iterator[tuple[Floats, Floats]]:
    """Yield what `infer_truth` gives of all draws, some of them at a time."""
    rates, confusion = states(posterior, patterns.dependent, by_population=True)
    size = max(1, DRAWN_CELLS_AT_ONCE // (len(patterns.counts) * rates.shape[-1]))
    for start in range(0, len(rates), size):
        part = slice(start, start + size)
        yield infer_truth(patterns, rates[part], confusion[part])


def draw_right(
    probability: Floats, patterns: Patterns, counts: Integers, rng: np.random.Generator
) -> Integers:
    """Draw the number of right answers to so many items of each pattern that has an answer."""
    answered = np.flatnonzero(patterns.system >= 0)
    chance = np.minimum(probability[:, answered, patterns.system[answered]], 1.0)
    return np.asarray(rng.binomial(counts[answered], chance))


def fitted_ratings(tree: xr.DataTree, ratings: Ratings) -> Ratings:
    """Ratings as they entered a fit: without gold labels if these did not.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.
    ratings : Ratings
        The ratings that were fitted.

    Returns
    -------
    Ratings

    Raises
    ------
    InputError
        If there is no system, or if raters, categories, items or populations are not those of the
        fit.
    """
    if ratings.system is None:
        raise InputError(
            "there is no system", "fit ratings with a system, and give the same ratings here"
        )
    posterior = group(tree, "posterior")
    populations = posterior["population"] if "population" in posterior.coords else ()
    pairs = [
        (posterior["rater"], ratings.all_raters),
        (posterior["category"], ratings.categories),
        (group(tree, "truth")["item"], ratings.items),
        (populations, ratings.populations),
    ]
    if not all(np.array_equal(np.asarray(a, str), np.asarray(b, str)) for a, b in pairs):
        raise InputError(
            "raters, categories, items or populations are not those of the fit",
            "give the ratings of the fit",
        )
    return ratings if tree.attrs.get("known_truths", 0) else ratings.with_truth(None)


def contradictions(tree: xr.DataTree, ratings: Ratings) -> tuple[Warning, ...]:
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
    >>> known = np.where(np.arange(200) < 30, ratings.truth, -1)
    >>> known[:6] = (known[:6] + 1) % 3
    >>> some = ratings.with_truth(known)
    >>> tree = fit("pooled", some, engine="gibbs", chains=2, checks=False)
    >>> [str(one).split(":")[0] for one in contradictions(tree, some)]
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
    named = first_few(labelled.items[contradicted], MOST_NAMED)
    text = (
        f"the gold labels of {counted(n, 'item')} contradict the fit: given their ratings "
        f"these labels have probabilities below {IMPROBABLE:g}, and the fit predicts "
        f"{expected:.1f} such items (items {named}); an estimate without them, corrected by them, "
        "relies less on the model (correct_by_truth; lehner.estimate with truths_in_model=False)"
    )
    return (warn("truths-contradict", text),)


def _infer_from_ratings_alone(tree: xr.DataTree, ratings: Ratings) -> Floats:
    """Infer the probability of each category for each item, without using its gold label."""
    patterns = observe(ratings.with_truth(None))
    rates, confusion = states(group(tree, "posterior"), patterns.dependent, by_population=True)
    draws = np.unique(np.linspace(0, len(rates) - 1, MOST_DRAWS).astype(int))
    probability, _ = infer_truth(patterns, rates[draws], confusion[draws])
    return np.asarray(probability.mean(axis=0)[patterns.inverse])
