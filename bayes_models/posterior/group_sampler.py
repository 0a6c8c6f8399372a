"""Groups of items given the draws of a fit: Gibbs sampling with the raters' matrices as drawn.

Each group has its own base rates. Its log odds of a right answer are those of the fit plus a shift
that is common to all raters, and another shift for the system. Two priors pool the groups partly:

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
from scipy.special import expit, gammaln, log_expit

from bayes_models.posterior.truth import LEAST, states
from lehner import Patterns
from lehner.contrasts.groups import GroupReplicates
from lehner.core.arrays import Floats, Integers, class_posterior
from lehner.core.seeds import Seed, child_seeds
from lehner.data.patterns import UNKNOWN

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


def sample_groups(
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
    n_states = rates.shape[1]
    most = np.count_nonzero(counts, axis=1).max()
    per_draw = n_states * max(most, confusion.shape[1] * len(LOG_ODDS_GRID))
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
        self.patterns, self.rng = patterns, rng
        # The patterns of the items of each group, and how many items have each.
        self.cells = [np.flatnonzero(of_group) for of_group in counts]
        self.counts = [of_group[of_group > 0] for of_group in counts]
        self.k = patterns.n_categories
        self.n_draws, self.n_raters, self.n_states = confusion.shape[:3]
        self.category = np.arange(self.n_states) % self.k
        self.n_levels = self.n_states // self.k
        by_category = rates.reshape(self.n_draws, self.n_levels, self.k).sum(axis=1).T
        self.centre = np.maximum(by_category, LEAST)
        # (rater, state, response, draw)
        self.confusion = np.maximum(confusion.transpose(1, 2, 3, 0), LEAST)
        right = self.confusion[:, np.arange(self.n_states), self.category]
        self.log_odds = np.log(right) - np.log(np.maximum(1 - right, 1e-12))
        moved = self.log_odds[:, None] + LOG_ODDS_GRID[:, None, None]
        # (rater, grid, state, draw)
        self.hit, self.miss = log_expit(moved), log_expit(-moved)
        # The last rater is the system, which has a shift of its own.
        self.shifted = [np.arange(self.n_raters - 1), np.array([self.n_raters - 1])]
        self.rates = np.repeat(self.centre[None], len(counts), axis=0)
        self.shifts = np.zeros((2, len(counts), self.n_draws))
        self.one_hot = [patterns.one_hot()[cells] for cells in self.cells]

    def run(self) -> dict[str, Floats]:
        """Sample, and keep what some of the later sweeps give."""
        kept = []
        for sweep in range(1, GIBBS_SWEEPS + 1):
            sample = self._sweep()
            if sweep in KEPT_SWEEPS:
                kept.append(sample | self._expected())
        return _join(kept)

    def _sweep(self) -> dict[str, Floats]:
        right_in_sample, items, right, wrong = [], [], [], []
        for group in range(len(self.cells)):
            counts = self._draw_states(group)
            by_category = counts.reshape(-1, self.n_levels, self.k, self.n_draws).sum(axis=1)
            items.append(by_category.sum(axis=0))
            right_in_sample.append(self._proportion_right(group, by_category))
            ratings = self.one_hot[group].T @ counts.reshape(len(counts), -1)
            ratings = ratings.reshape(self.n_raters, self.k, self.n_states, self.n_draws)
            hit = ratings[:, self.category, np.arange(self.n_states)]
            right.append(hit)
            wrong.append(ratings.sum(axis=1) - hit)
        self._draw_base_rates(np.stack(items))
        if len(self.cells) > 1:
            self._draw_shifts(right, wrong)
        return {"system_accuracy_in_sample": np.stack(right_in_sample, axis=1)}

    def _right(self, group: int) -> Floats:
        """Probability of being right, (n_raters, n_states, n_draws)."""
        shift = np.empty((self.n_raters, 1, self.n_draws))
        for kind, raters in enumerate(self.shifted):
            shift[raters] = self.shifts[kind, group]
        return np.asarray(expit(self.log_odds + shift))

    def _draw_states(self, group: int) -> Floats:
        """Draw how many items of each cell are in each state, (n_cells, n_states, n_draws)."""
        right = self._right(group)
        before = expit(self.log_odds)
        confusion = self.confusion * ((1 - right) / np.maximum(1 - before, 1e-12))[:, :, None]
        confusion[:, np.arange(self.n_states), self.category] = right
        log_confusion = np.log(np.maximum(confusion, LEAST)).transpose(0, 2, 1, 3)
        log = self.one_hot[group] @ log_confusion.reshape(self.n_raters * self.k, -1)
        log = log.reshape(-1, self.n_states, self.n_draws)
        log += np.log(np.maximum(self.rates[group], LEAST))[self.category]
        truths = self.patterns.truths[self.cells[group]][:, None]
        log[(truths != UNKNOWN) & (truths != self.category)] = -np.inf
        probability = class_posterior(log, axis=1)[0]
        drawn = self.rng.multinomial(self.counts[group][:, None], probability.transpose(0, 2, 1))
        return drawn.transpose(0, 2, 1).astype(float)

    def _proportion_right(self, group: int, by_category: Floats) -> Floats:
        system = self.patterns.system[self.cells[group]]
        answered = np.flatnonzero(system >= 0)
        n_right = by_category[answered, system[answered]].sum(axis=0)
        return np.asarray(n_right / self.counts[group][answered].sum())

    def _draw_base_rates(self, items: Floats) -> None:
        """Draw base rates of groups and how alike they are, given items (group, category, draw)."""
        totals = CONCENTRATIONS[:, None, None]
        prior = totals[..., None] * self.centre
        log = (gammaln(prior + items) - gammaln(prior)).sum(axis=(1, 2))
        log += (gammaln(totals) - gammaln(totals + items.sum(axis=1))).sum(axis=1)
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
            log = np.zeros((len(self.cells), len(LOG_ODDS_GRID), self.n_draws))
            for group in range(len(self.cells)):
                for rater in raters:
                    log[group] += (right[group][rater] * self.hit[rater]).sum(axis=1)
                    log[group] += (wrong[group][rater] * self.miss[rater]).sum(axis=1)
            top = log.max(axis=1, keepdims=True)
            evidence = np.log(SHIFT_PRIOR @ np.exp(log - top)).sum(axis=0)
            spread = self._choose(evidence + LOG_SPREAD_PRIOR[:, None])
            log += np.log(SHIFT_PRIOR[spread]).T
            for group in range(len(self.cells)):
                place = self._choose(log[group])
                within = self.rng.uniform(-width / 2, width / 2, self.n_draws)
                self.shifts[kind, group] = LOG_ODDS_GRID[place] + within

    def _choose(self, log: Floats) -> Integers:
        """Draw an index of the first axis with these log probabilities."""
        return np.asarray((log + self.rng.gumbel(size=log.shape)).argmax(axis=0))

    def _expected(self) -> dict[str, Floats]:
        accuracy = []
        for group in range(len(self.cells)):
            right = self._right(group).reshape(-1, self.n_levels, self.k, self.n_draws)
            accuracy.append((right.mean(axis=1) * self.rates[group]).sum(axis=1).T)
        by_group = np.stack(accuracy, axis=1)
        return {
            "system_accuracy": by_group[..., -1],
            "rater_accuracy": by_group[..., :-1],
            "base_rates": self.rates.transpose(2, 0, 1),
        }
