"""The accuracy in groups, in populations and on any chosen items, after a fit to all of them.

In groups the raters' matrices stay as drawn, and the rest is drawn by Gibbs sampling. Each group
has its own base rates. Its log odds of a right answer are those of the fit plus a shift that is
common to all raters, and another shift for the system. Two priors pool the groups partly:

- base rates of a group ~ Dirichlet(c × those of the draw), with c from 2 to 2,000;
- shifts ~ Normal(0, τ²), with one τ for raters and one for the system, whose prior density
  τ exp(-τ²/2) avoids 0: two groups show little of τ, and a τ near 0 would make all groups alike.

From each draw of the fit starts a chain, in which true states, base rates, shifts, c and τ are
drawn in turn from their conditional distributions (that of τ has the shifts integrated out). c, τ
and shifts are drawn on grids. Confusion matrices and levels of difficulty stay as drawn, except for
the shifts.

Chung et al. (2013), https://doi.org/10.1007/s11336-013-9328-2, for priors that avoid 0.
"""

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from bayes_models.models.assemble import BY_POPULATION
from bayes_models.models.observations import observe
from bayes_models.posterior.draws import group, values_by_draw
from bayes_models.posterior.truth import LEAST, draw_right, fitted_ratings, infer_truths, states
from lehner import InputError, Patterns, Ratings
from lehner.contrasts.groups import GroupDraws, GroupReplicates, Groups, count_answers, find_groups
from lehner.core.arrays import Floats, Integers, Seed, child_seeds, generator
from lehner.core.errors import warn
from lehner.core.lazy import special
from lehner.latent_class.em import PatternTable, e_step

CREDIBLE = "equal-tailed credible"
POOLED_ACCURACY = warn(
    "groups-pooled",
    "base rates and accuracies of groups are partially pooled, so that differences between small "
    "groups are too small; all raters shift alike",
)
SAME_MATRICES = warn(
    "groups-alike",
    "raters and system are assumed to have the same confusion matrices in all populations, so "
    "that accuracies differ by base rates alone",
)
MOST_GROUP_DRAWS, LEAST_DRAWS = 400, 100
PATTERNS_AND_DRAWS = 200_000
"""With more patterns than this allows, fewer draws are used."""
GIBBS_SWEEPS = 40
KEPT_SWEEPS = (15, 20, 25, 30, 35, 40)
LOG_ODDS_GRID = np.linspace(-3.5, 3.5, 57)
SPREAD_GRID = np.geomspace(0.1, 3.0, 18)
CONCENTRATIONS = np.geomspace(2.0, 2000.0, 16)
NUMBERS_AT_ONCE = 20_000_000
_DENSITY = np.exp(-((LOG_ODDS_GRID / SPREAD_GRID[:, None]) ** 2) / 2) + LEAST
SHIFT_PRIOR = _DENSITY / _DENSITY.sum(axis=1, keepdims=True)
"""Probability of each shift of the grid for each τ, (n_spreads, n_grid)."""
# On a grid that is even in the logarithm of τ.
LOG_SPREAD_PRIOR = 2 * np.log(SPREAD_GRID) - SPREAD_GRID**2 / 2


def accuracy_by_group(
    tree: xr.DataTree, ratings: Ratings, groups: ArrayLike, *, seed: Seed = 1
) -> GroupDraws:
    """Estimate the accuracy of system and raters in groups of items.

    Nothing is fitted again. Each draw of the fit keeps its confusion matrices, but each group has
    its own base rates, one shift of the raters' log odds of a right answer that is common to all
    raters, and another shift for the system; true categories are drawn again. Base rates and shifts
    are partially pooled: they are shrunk toward those of all items, most in small groups and if
    groups differ little. It is assumed that a group makes all raters better or worse by the same
    shift, and that the proportions of their errors are the same in all groups.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.
    ratings : Ratings
        The ratings that were fitted, with a system.
    groups : array_like, shape (n_rows,)
        The name of each row's group; None, NaN or "" for rows that belong to none.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same numbers.

    Returns
    -------
    GroupDraws
        Draws of accuracies and base rates, joint for all groups. A single group has no shifts: its
        accuracies are those of the fit. `lehner.estimate(groups=...)` gives their means, intervals
        and differences.

    Raises
    ------
    InputError
        If these are not the ratings of the fit, if there is no system, or if it answered no item of
        a group.

    Notes
    -----
    Groups must be defined by what is known before the items are rated, as domains and lengths are.

    In a simulation (`experiments/simulations/item_groups.csv`, `dawid_skene`, 60 data sets; a
    third of the items are in a group in which the system's accuracy is .75 instead of .95) the
    estimated difference is .09 too small with 50 items, .06 with 200 and .02 with 1,000. Its 90%
    intervals contain the true difference in .78, .83 and .80 (± .05) of the data sets; if the
    raters, too, are less accurate in that group, in .88, .88 and .90; and if there is no
    difference, zero in 1.00, 1.00 and .85. The partial pooling and the priors of the confusion
    matrices draw groups toward one another. The algebra does not, and has wider intervals: use it
    where groups are small and may differ much.

    Confusion matrices are those of a fit that ignored the groups, and the groups do not change them
    (this is called a cut posterior). If groups differ much and are large, fit them one by one.

    Examples
    --------
    >>> import lehner
    >>> import numpy as np
    >>> from bayes_models import fit
    >>> scenario = lehner.Scenario(n_categories=3, initial_rater_accuracy=(0.8,) * 3)
    >>> ratings = lehner.simulate(scenario, seed=2).with_truth(None)
    >>> tree = fit("pooled", ratings, engine="gibbs", chains=2, checks=False)
    >>> domain = np.where(np.arange(200) < 120, "law", "sport")
    >>> accuracy_by_group(tree, ratings, domain).groups.names
    ('law', 'sport')
    """
    posterior = group(tree, "posterior")
    patterns = observe(fitted_ratings(tree, ratings))
    membership = find_groups(ratings, groups)
    sizes = count_answers(ratings, membership)
    replicates = _sample_groups(
        posterior, patterns, ratings.weights, membership.index, len(membership), seed
    )
    return GroupDraws(
        groups=membership, sizes=sizes, drawn=replicates, kind=CREDIBLE, note=POOLED_ACCURACY
    )


def _sample_groups(
    posterior: xr.Dataset,
    patterns: Patterns,
    weights: Integers,
    group: Integers,
    n_groups: int,
    seed: Seed,
) -> GroupReplicates:
    """Draw accuracies and base rates of groups of items.

    Parameters
    ----------
    weights : ndarray of int, shape (n_rows,)
        The number of items of each row.
    group : ndarray of int, shape (n_rows,)
        The group of each row, -1 for a row without a group.
    n_groups : int
        A single group has no shifts.

    Returns
    -------
    GroupReplicates
        Six draws of each group for each of 100 to 400 draws of the fit.
    """
    rates, confusion = states(posterior)
    counts = np.array(
        [
            np.bincount(patterns.inverse, weights * (group == g), len(patterns.counts))
            for g in range(n_groups)
        ]
    ).astype(np.int64)
    affordable = PATTERNS_AND_DRAWS // np.count_nonzero(counts)
    n_draws = min(len(rates), int(np.clip(affordable, LEAST_DRAWS, MOST_GROUP_DRAWS)))
    used = np.linspace(0, len(rates) - 1, n_draws).astype(int)
    most = np.count_nonzero(counts, axis=1).max()
    per_draw = rates.shape[1] * max(most, confusion.shape[1] * len(LOG_ODDS_GRID))
    n_parts = -(-len(used) * per_draw // NUMBERS_AT_ONCE)
    parts = np.array_split(used, min(n_parts, len(used)))
    drawn = [
        _Chains(patterns, counts, rates[part], confusion[part], np.random.default_rng(child)).run()
        for part, child in zip(parts, child_seeds(seed, len(parts)), strict=True)
    ]
    return GroupReplicates(**_join(drawn))


def _join(parts: list[dict[str, Floats]]) -> dict[str, Floats]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


class _Chains:
    """Chains side by side, draws being the last axis of every array."""

    def __init__(
        self,
        patterns: Patterns,
        counts: Integers,
        rates: Floats,
        confusion: Floats,
        rng: np.random.Generator,
    ) -> None:
        self.rng, self.k = rng, patterns.n_categories
        self.n_draws, self.n_raters, n_states = confusion.shape[:3]
        self.states = np.arange(n_states)
        self.category = self.states % self.k
        by_category = rates.reshape(self.n_draws, -1, self.k).sum(axis=1).T
        self.centre = np.maximum(by_category, LEAST)
        # (rater, state, response, draw)
        self.confusion = np.maximum(confusion.transpose(1, 2, 3, 0), LEAST)
        right = self.confusion[:, self.states, self.category]
        self.log_odds = np.log(right) - np.log(np.maximum(1 - right, 1e-12))
        moved = self.log_odds[:, None] + LOG_ODDS_GRID[:, None, None]
        # (rater, grid, state, draw)
        self.hit, self.miss = special.log_expit(moved), special.log_expit(-moved)
        # The last rater is the system, which has a shift of its own.
        self.shifted = [np.arange(self.n_raters - 1), np.array([self.n_raters - 1])]
        self.rates = np.repeat(self.centre[None], len(counts), axis=0)
        self.shifts = np.zeros((2, len(counts), self.n_draws))
        # The patterns of the items of each group, and how many items have each.
        hot, places = patterns.one_hot(), [np.flatnonzero(of_group) for of_group in counts]
        self.systems = [patterns.system[place] for place in places]
        self.tables = [
            PatternTable(
                answers=hot[place],
                weights=of_group[place],
                n_categories=self.k,
                truths=patterns.truths[place],
            )
            for place, of_group in zip(places, counts, strict=True)
        ]

    def run(self) -> dict[str, Floats]:
        """Sample, and keep what some of the later sweeps give."""
        kept = []
        for sweep in range(1, GIBBS_SWEEPS + 1):
            sample = self._sweep()
            if sweep in KEPT_SWEEPS:
                kept.append(sample | self._expect())
        return _join(kept)

    def _sweep(self) -> dict[str, Floats]:
        in_sample, items, right, wrong = [], [], [], []
        for place, (table, system) in enumerate(zip(self.tables, self.systems, strict=True)):
            counts = self._draw_states(place)
            by_category = counts.reshape(len(counts), -1, self.k, self.n_draws).sum(axis=1)
            items.append(by_category.sum(axis=0))
            answered = np.flatnonzero(system >= 0)
            n_right = by_category[answered, system[answered]].sum(axis=0)
            in_sample.append(n_right / table.weights[answered].sum())
            ratings = table.sum_patterns(counts.reshape(len(counts), -1))
            ratings = ratings.reshape(self.n_raters, self.k, len(self.states), self.n_draws)
            hit = ratings[:, self.category, self.states]
            right.append(hit)
            wrong.append(ratings.sum(axis=1) - hit)
        self._draw_base_rates(np.stack(items))
        if len(self.tables) > 1:
            self._draw_shifts(right, wrong)
        return {"system_accuracy_in_sample": np.stack(in_sample, axis=1)}

    def _right(self, group: int) -> Floats:
        """Probability of being right, (n_raters, n_states, n_draws)."""
        shift = np.empty((self.n_raters, 1, self.n_draws))
        for kind, raters in enumerate(self.shifted):
            shift[raters] = self.shifts[kind, group]
        return np.asarray(special.expit(self.log_odds + shift))

    def _draw_states(self, group: int) -> Floats:
        """Draw how many items of each pattern are in each state, by pattern, state and draw."""
        right, before = self._right(group), special.expit(self.log_odds)
        confusion = self.confusion * ((1 - right) / np.maximum(1 - before, 1e-12))[:, :, None]
        confusion[:, self.states, self.category] = right
        log_confusion = np.log(np.maximum(confusion, LEAST)).transpose(0, 2, 1, 3)
        log_rates = np.log(np.maximum(self.rates[group], LEAST))[self.category]
        table = self.tables[group]
        probability, _ = e_step(table, log_rates, log_confusion, self.category)
        n_items = table.weights.astype(np.int64)[:, None]
        drawn = self.rng.multinomial(n_items, probability.transpose(0, 2, 1))
        return drawn.transpose(0, 2, 1).astype(float)

    def _draw_base_rates(self, items: Floats) -> None:
        """Draw base rates of groups and how alike they are, given items (group, category, draw)."""
        totals = CONCENTRATIONS[:, None, None]
        prior, log_gamma = totals[..., None] * self.centre, special.gammaln
        log = (log_gamma(prior + items) - log_gamma(prior)).sum(axis=(1, 2))
        log += (log_gamma(totals) - log_gamma(totals + items.sum(axis=1))).sum(axis=1)
        concentration = CONCENTRATIONS[self._choose(log)]
        gamma = self.rng.standard_gamma(concentration * self.centre + items) + LEAST
        self.rates = gamma / gamma.sum(axis=1, keepdims=True)

    def _draw_shifts(self, right: list[Floats], wrong: list[Floats]) -> None:
        """Draw τ with the shifts integrated out, then the shifts.

        Shifts near zero make τ be drawn near zero, and a τ near zero makes the shifts be drawn near
        zero: a chain that drew them in turn would hardly leave zero.
        """
        width = LOG_ODDS_GRID[1] - LOG_ODDS_GRID[0]
        for kind, raters in enumerate(self.shifted):
            log = np.zeros((len(self.tables), len(LOG_ODDS_GRID), self.n_draws))
            for place in range(len(self.tables)):
                for rater in raters:
                    log[place] += (right[place][rater] * self.hit[rater]).sum(axis=1)
                    log[place] += (wrong[place][rater] * self.miss[rater]).sum(axis=1)
            top = log.max(axis=1, keepdims=True)
            evidence = np.log(SHIFT_PRIOR @ np.exp(log - top)).sum(axis=0)
            spread = self._choose(evidence + LOG_SPREAD_PRIOR[:, None])
            log += np.log(SHIFT_PRIOR[spread]).T
            for place in range(len(self.tables)):
                middle = LOG_ODDS_GRID[self._choose(log[place])]
                within = self.rng.uniform(-width / 2, width / 2, self.n_draws)
                self.shifts[kind, place] = middle + within

    def _choose(self, log: Floats) -> Integers:
        """Draw an index of the first axis with these log probabilities."""
        return np.asarray((log + self.rng.gumbel(size=log.shape)).argmax(axis=0))

    def _expect(self) -> dict[str, Floats]:
        accuracy = []
        for place, rates in enumerate(self.rates):
            right = self._right(place).reshape(self.n_raters, -1, self.k, self.n_draws)
            accuracy.append((right.mean(axis=1) * rates).sum(axis=1).T)
        by_group = np.stack(accuracy, axis=1)
        return {
            "system_accuracy": by_group[..., -1],
            "rater_accuracy": by_group[..., :-1],
            "base_rates": self.rates.transpose(2, 0, 1),
        }


def accuracy_by_population(tree: xr.DataTree, ratings: Ratings, *, seed: Seed = 1) -> GroupDraws:
    """Estimate base rates and accuracies in each population of the items of a fit.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.
    ratings : Ratings
        The ratings that were fitted, with a system and with populations, see
        `Ratings.with_populations`.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the truths that are drawn: the same seed gives the same numbers.

    Returns
    -------
    GroupDraws
        With a group for each population.

    Raises
    ------
    InputError
        If these are not the ratings of the fit, if there is no system, if items are from no
        populations, or if the system answered no item of one.

    References
    ----------
    Hui & Walter (1980), https://doi.org/10.2307/2530508

    Examples
    --------
    >>> import lehner
    >>> from bayes_models import fit
    >>> scenario = lehner.Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 2)
    >>> ratings = lehner.simulate(scenario, seed=2).with_truth(None)
    >>> ratings = ratings.with_populations(np.repeat(["x", "y"], 100))
    >>> tree = fit("dawid_skene", ratings, engine="gibbs", checks=False, tries=1)
    >>> accuracy_by_population(tree, ratings).groups.names
    ('x', 'y')
    """
    fitted = fitted_ratings(tree, ratings)
    if ratings.population is None:
        raise InputError("items are from no populations", "name them by with_populations")
    groups = Groups(names=ratings.populations, index=ratings.population)
    sizes = count_answers(ratings, groups)
    posterior = group(tree, "posterior")
    rates = values_by_draw(posterior, BY_POPULATION, "population", "category")
    matrices = values_by_draw(posterior, "confusion", "rater", "category", "response")
    accuracy = np.einsum("dpk,djk->dpj", rates, np.diagonal(matrices, axis1=2, axis2=3))
    replicates = GroupReplicates(
        system_accuracy=accuracy[..., -1],
        system_accuracy_in_sample=_proportions_right(posterior, fitted, seed),
        base_rates=rates,
        rater_accuracy=accuracy[..., :-1],
    )
    return GroupDraws(
        groups=groups, sizes=sizes, drawn=replicates, kind=CREDIBLE, note=SAME_MATRICES
    )


def _proportions_right(posterior: xr.Dataset, ratings: Ratings, seed: Seed) -> Floats:
    """Draw the proportion of right answers in each population, (n_draws, n_populations)."""
    patterns, rng = observe(ratings), generator(seed)
    member = patterns.population[:, None] == np.arange(len(patterns.populations))
    member = member[patterns.system >= 0]
    right = [
        draw_right(probability, patterns, patterns.counts, rng) @ member
        for probability, _ in infer_truths(posterior, patterns)
    ]
    return np.asarray(np.concatenate(right) / (patterns.counts[patterns.system >= 0] @ member))
