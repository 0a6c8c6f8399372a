"""What a model predicts of the same items and raters, and whether the data are as predicted.

Predictions are by the posterior and by the prior, laid out as ArviZ compares them with the data.
"""

from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
import xarray as xr

from bayes_models.models import pm
from bayes_models.models.assemble import SHARE, find_parameters, observe
from bayes_models.models.spec import (
    DISTRIBUTION,
    FAMILIES,
    Priors,
    choose_priors,
    find_model,
    graph,
    read_priors,
)
from bayes_models.posterior.draws import PAIRS, infer_truth, label_draws, read_group, take_states
from lehner import InputError, Patterns, Ratings
from lehner.core.arrays import Floats, Integers, Seed, child_seeds, draw_categories, generator
from lehner.core.errors import Warning, warn
from lehner.core.lazy import sparse, special
from lehner.core.text import counted, first_few
from lehner.data.patterns import UNKNOWN, find_pair
from lehner.latent_class.em import known_truths

MOST_STORED_RATINGS = 10_000_000
MOST_PREDICTED = 50_000_000
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
        The system is the last rater; further rows are as `take_states` gives them for a dependent
        pair.

    Returns
    -------
    Ratings
        Ratings with the true categories that were drawn.
    """
    k = ratings.n_categories
    single = ratings.expand()
    rows, flat = np.arange(single.n_rows), single.flat
    if rates.ndim == 1:
        state = rng.choice(len(rates), size=len(rows), p=rates / rates.sum())
    else:
        state = draw_categories(rates, rng.random(len(rows)), single.population)
    luck = rng.random(len(flat.item_index))
    answers = draw_categories(confusion, luck, flat.rater_index, state[flat.item_index])
    system = single.system
    if system is not None:
        drawn = draw_categories(confusion[len(ratings.raters)], rng.random(len(rows)), state)
        system = np.where(system >= 0, drawn, -1)
    if len(confusion) > len(ratings.all_raters):
        _redraw_second(single, answers, system, confusion, state, rng)
    return single._replace(
        given=replace(flat, category_index=answers),
        items=np.arange(len(rows)),
        answers=single.answers if system is None else system[:, None],
        truth=state % k,
        truth_probability=None,
        cluster=None,
        noticed=(),
    )


def _redraw_second(
    single: Ratings,
    answers: Integers,
    system: Integers | None,
    confusion: Floats,
    state: Integers,
    rng: np.random.Generator,
) -> None:
    """Draw the answers of the second of a dependent pair anew, given the first's, in place."""
    pair, flat = find_pair(single), single.flat
    assert pair is not None
    rows, places, of_pair = [], [], []
    for member in pair:
        if member == single.n_raters and system is not None:
            rows.append(np.flatnonzero(system >= 0))
            places.append(rows[-1])
            of_pair.append(system)
        else:
            places.append(np.flatnonzero(flat.rater_index == member))
            rows.append(flat.item_index[places[-1]])
            of_pair.append(answers)
    both, first, second = np.intersect1d(rows[0], rows[1], return_indices=True)
    after = len(single.all_raters) + of_pair[0][places[0][first]]
    drawn = draw_categories(confusion, rng.random(len(both)), after, state[both])
    of_pair[1][places[1][second]] = drawn


def mask_truths(design: Ratings, simulated: Ratings) -> Ratings:
    """Keep the truths of those simulated items only whose truth the design knows.

    If the design knows no truths, nothing is removed.
    """
    if design.truth is None or simulated.truth is None:
        return simulated
    labelled = np.repeat(design.truth, design.weights) != UNKNOWN
    return simulated.with_truth(np.where(labelled, simulated.truth, UNKNOWN))


def add_data(tree: xr.DataTree, ratings: Ratings) -> None:
    """Add the data of a fit, unless they are more than ten million ratings.

    Group `observed_data` gets `agreeing_pairs` (item): how many pairs of the item's ratings agree,
    the system's answer among them. Group `constant_data` gets `ratings` (rating), the category
    index of each rating, with its item and rater as coordinates, and `known_truth` (item): the
    category index of each truth that entered the fit, -1 where unknown.

    Parameters
    ----------
    tree : xarray.DataTree
        Changed in place.
    ratings : Ratings
        The ratings that were fitted.
    """
    if ratings.n_ratings + ratings.n_items > MOST_STORED_RATINGS:
        return
    single = ratings.expand()
    flat, items = single.all_flat, {"item": single.items}
    observed = {PAIRS: ("item", count_agreeing_pairs(single))}
    tree["observed_data"] = xr.DataTree(xr.Dataset(observed, items))
    labels = single.truth if known_truths(single) else np.full(single.n_rows, UNKNOWN)
    constant = {"ratings": ("rating", flat.category_index), "known_truth": ("item", labels)}
    coords: dict[str, Any] = items | {
        "rating": np.arange(len(flat.item_index)),
        "item_of_rating": ("rating", single.items[flat.item_index]),
        "rater_of_rating": ("rating", np.array(single.all_raters)[flat.rater_index]),
    }
    tree["constant_data"] = xr.DataTree(xr.Dataset(constant, coords))


def count_agreeing_pairs(single: Ratings) -> Integers:
    """Count the pairs of each item's ratings, the system's answer among them, that agree.

    Examples
    --------
    >>> count_agreeing_pairs(Ratings([[0, 0, 1], [1, 1, 1]], ["no", "yes"], system=[0, 0])).tolist()
    [3, 3]
    """
    flat, k = single.all_flat, single.n_categories
    cells = np.bincount(flat.item_index * k + flat.category_index, minlength=single.n_rows * k)
    counts = cells.reshape(-1, k)
    return np.asarray((counts * (counts - 1) // 2).sum(axis=1))


def add_posterior_predictive(tree: xr.DataTree, ratings: Ratings, *, seed: Seed = 1) -> None:
    """Add what the model predicts of other items like these, rated by the same raters.

    Group `posterior_predictive` gets `agreeing_pairs` (chain, draw, item): in each draw, true
    categories are drawn from the base rates and ratings from the confusion matrices, and this is
    how many pairs of the item's ratings agree. It has the name and the items of the data and of
    the log likelihood, which is that of all ratings of an item, so that ArviZ compares them.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`. Changed in place.
    ratings : Ratings
        The ratings that were fitted.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same predictions.

    Raises
    ------
    InputError
        If there are more than 50 million numbers to predict.

    Examples
    --------
    >>> import lehner
    >>> from bayes_models import fit
    >>> ratings = lehner.load_dataset("anesthesia")
    >>> tree = fit("pooled", ratings, engine="gibbs", chains=2, draws=50, checks=False, tries=1)
    >>> add_posterior_predictive(tree, ratings)
    >>> dict(tree["posterior_predictive"]["agreeing_pairs"].sizes)
    {'chain': 2, 'draw': 50, 'item': 45}
    """
    drawn = predict(read_group(tree, "posterior"), ratings, seed)
    tree["posterior_predictive"] = xr.DataTree(drawn)


def predict(parameters: xr.Dataset, ratings: Ratings, seed: Seed) -> xr.Dataset:
    """Draw the pairs that agree for each draw of parameters, from the posterior or the prior."""
    shape = (parameters.sizes["chain"], parameters.sizes["draw"], ratings.n_items)
    if np.prod(shape) > MOST_PREDICTED:
        raise InputError(
            f"there are {ratings.n_items} items and {shape[0] * shape[1]} draws to predict them",
            "predict part of the items, or by fewer draws",
        )
    rng, single = generator(seed), ratings.expand()
    drawn = np.empty((shape[0] * shape[1], shape[2]), np.int32)
    of_draws = zip(*take_states(parameters, find_pair(single), by_population=True), strict=True)
    for row, parameters_of_draw in zip(drawn, of_draws, strict=True):
        row[:] = count_agreeing_pairs(draw_ratings(single, *parameters_of_draw, rng))
    coords = {"chain": parameters["chain"], "draw": parameters["draw"], "item": single.items}
    return xr.Dataset({PAIRS: (tuple(coords), np.reshape(drawn, shape))}, coords)


def add_prior(
    tree: xr.DataTree, ratings: Ratings, *, draws: int = 1000, priors: Priors = None, seed: Seed = 1
) -> None:
    """Add draws from the priors of a fit, and what they predict, to compare with the posterior.

    Group `prior` gets those variables of the posterior that have a prior in the model, with
    dimensions (chain, draw, ...), and group `prior_predictive` what `add_posterior_predictive`
    adds for the posterior.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`. Changed in place.
    ratings : Ratings
        The ratings that were fitted.
    draws : int
        How many.
    priors : str or mapping, optional
        By default the priors that the fit stores. They must be given again if one of them is a PyMC
        distribution.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same draws.

    Raises
    ------
    InputError
        If a prior was a PyMC distribution and is not given again.

    Examples
    --------
    >>> import lehner
    >>> from bayes_models import fit
    >>> ratings = lehner.load_dataset("anesthesia")
    >>> tree = fit("pooled", ratings, engine="gibbs", chains=2, draws=50, checks=False, tries=1)
    >>> add_prior(tree, ratings, draws=20)
    >>> dict(tree["prior"]["base_rates"].sizes)
    {'chain': 1, 'draw': 20, 'category': 4}
    """
    priors_of_fit = read_priors(tree) if priors is None else priors
    for name, prior in () if isinstance(priors_of_fit, str) else priors_of_fit.items():
        if isinstance(prior, dict) and DISTRIBUTION in prior:
            raise InputError(
                f"the prior of {name} was a PyMC distribution, {prior[DISTRIBUTION]}, which cannot "
                "be made from its name",
                "give the priors again (priors=…)",
            )
    prior_seed, predictive_seed = child_seeds(seed, 2)
    drawn = prior_draws(tree.attrs["model"], ratings, draws, priors=priors_of_fit, seed=prior_seed)
    shared = [name for name in drawn if name in read_group(tree, "posterior")]
    tree["prior"] = xr.DataTree(drawn[shared])
    tree["prior_predictive"] = xr.DataTree(predict(drawn, ratings, predictive_seed))


def prior_draws(
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
    >>> drawn = prior_draws("one_coin", lehner.load_dataset("anesthesia"), 10)
    >>> dict(drawn["base_rates"].sizes)
    {'chain': 1, 'draw': 10, 'category': 4}
    """
    built = find_model(model).build(ratings, priors)
    variables = [*built.free_RVs, *built.deterministics]
    (child,) = child_seeds(seed, 1)
    # Because to compile the draws would take longer than to make them.
    with graph.without_c_compiler():
        drawn = pm.draw(
            variables, n, random_seed=int(child.generate_state(1)[0]), mode="FAST_COMPILE"
        )
    named = {}
    for variable, values in zip(variables, drawn, strict=True):
        dims = tuple(built.named_vars_to_dims.get(variable.name, ()))
        named[variable.name] = dims, np.reshape(values, (1, n, *np.shape(values)[n > 1 :]))
    if SHARE in named:
        # A pair that is named is dependent with probability one half.
        dims, shares = named[SHARE]
        named[SHARE] = dims, shares * (np.random.default_rng(child).random((1, n, 1)) < 0.5)
    return label_draws(named, built.coords)


def compute_log_prior(
    model: str, posterior: xr.Dataset, patterns: Patterns, priors: Any = None
) -> xr.Dataset:
    """Compute the log density of each prior that is given by numbers, summed over its elements.

    It leaves out the effects of raters and categories, which have standard normal priors whatever
    the user chooses; a user scales the priors of their spreads.

    Parameters
    ----------
    model : str
        Name of the model.
    posterior : xarray.Dataset
        Draws of its variables.
    patterns : Patterns
        Of the ratings that were fitted.
    priors : str or mapping, optional
        The priors that were given to the fit.

    Returns
    -------
    xarray.Dataset
        By variable, dims (chain, draw); without the priors that are PyMC distributions.
    """
    parameters = find_parameters(find_model(model), patterns, choose_priors(model, priors))
    by_draw = {}
    for parameter in parameters.values():
        if parameter.variable and parameter.family in FAMILIES:
            values = posterior[parameter.name].transpose("chain", "draw", *parameter.dims).values
            density = FAMILIES[parameter.family].log_density(values, parameter.numbers)
            total = density.reshape(*density.shape[:2], -1).sum(axis=-1)
            by_draw[parameter.variable] = (("chain", "draw"), total)
    return xr.Dataset(by_draw, {dim: posterior[dim] for dim in ("chain", "draw")})


@dataclass(frozen=True, kw_only=True, eq=False)
class PredictiveChecks:
    """What was observed and what a model predicts, for each pair of raters.

    Parameters
    ----------
    table : xarray.Dataset, dims (rater, other_rater)
        `agreement`: proportion of the items on which the pair agrees. `agreement_predicted` and
        `agreement_sd`: its mean and standard deviation among predicted data. NaN for pairs without
        an item in common, and for a dependent pair that the model takes.
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


def predictive_checks(tree: xr.DataTree, ratings: Ratings, *, draws: int = 200) -> PredictiveChecks:
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
    >>> ratings = lehner.simulate(scenario, seed=1)
    >>> tree = fit("pooled", ratings, engine="gibbs", chains=2, checks=False)
    >>> str(predictive_checks(tree, ratings).warnings()[0])[:34]
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
    pair = observed.dependent if SHARE in tree["posterior"] else None
    for values in table.values():
        np.fill_diagonal(values, np.nan)
        if pair is not None:
            values[pair, pair[::-1]] = np.nan
    dims = ("rater", "other_rater")
    variables = {name: (dims, values) for name, values in table.items()}
    names = {dim: list(observed.raters) for dim in dims}
    return PredictiveChecks(table=xr.Dataset(variables, names), draws=len(used))


def _measure_agreement(patterns: Patterns) -> tuple[Floats, Floats]:
    """Give the share of pairs of ratings that agree, by pair of raters, and the items of both."""
    flat, counts = patterns.flat, patterns.counts[:, None]

    def tabulate(values: Floats) -> "sparse.csr_array":
        shape = len(counts), len(patterns.raters)
        return sparse.csr_array((values, (flat.item_index, flat.rater_index)), shape=shape)

    n_ratings = tabulate(np.ones(len(flat.item_index)))
    agreeing = np.zeros((len(patterns.raters),) * 2)
    for category in range(patterns.n_categories):
        in_category = tabulate((flat.category_index == category) * 1.0)
        agreeing += (in_category.T @ (in_category * counts)).toarray()
    pairs = (n_ratings.T @ (n_ratings * counts)).toarray()
    rated = (n_ratings > 0) * 1.0
    with np.errstate(all="ignore"):
        agreement = np.where(pairs > 0, agreeing / pairs, np.nan)
    return agreement, (rated.T @ (rated * counts)).toarray()


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
    >>> labels = np.where(np.arange(200) < 30, ratings.truth, -1)
    >>> labels[:6] = (labels[:6] + 1) % 3
    >>> some = ratings.with_truth(labels)
    >>> tree = fit("pooled", some, engine="gibbs", chains=2, checks=False)
    >>> [str(warning).split(":")[0] for warning in contradictions(tree, some)]
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
    rates, confusion = take_states(
        read_group(tree, "posterior"), patterns.dependent, by_population=True
    )
    draws = np.unique(np.linspace(0, len(rates) - 1, MOST_DRAWS).astype(int))
    probability, _ = infer_truth(patterns, rates[draws], confusion[draws])
    return np.asarray(probability.mean(axis=0)[patterns.inverse])
