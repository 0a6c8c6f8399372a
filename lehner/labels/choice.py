"""The choice of the model that labels items, by how well it predicts held-out ratings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.lazy import sparse
from lehner.core.progress import progress_of
from lehner.core.seeds import Seed, child_seeds, generator
from lehner.data.ratings import Ratings
from lehner.dependence.check import check_dependence, from_pairs
from lehner.labels.mean_field import LABEL_MODELS, MAJORITY, fit_mean_field
from lehner.latent_class.pattern_table import PatternTable

ALIKE = (MAJORITY, "one_coin_vb")
"""Models in which all raters are equal."""
APART = ("one_coin_by_rater_vb", "dawid_skene_vb")
"""Models in which raters differ and err independently."""
SHARING = "ebcc"
FEW_RATERS = 10
CLEARLY = 3.0
"""Standard errors by which another model has to predict better than equal raters."""
CLEARLY_SHARED = 2.0
"""The same for a model of shared mistakes; it is lower, because equal raters are a small risk."""
MUCH = 0.2
"""Shared mistakes matter if they add to prediction this proportion of what unequal raters add."""
CLEARLY_DEPENDENT, LIKELY_SHARED = 0.05, 0.1
"""Greatest p-value of the test that raters err independently; and, if they do not, greatest p-value
of a pair, not adjusted, that is taken to share mistakes."""
WORTH = 0.9
"""Pairs who share mistakes matter if J_eff is less than this proportion of the number of raters."""
PARTS = 10
ROUNDS = 3
"""How often ratings are divided into tenths, lest a choice depend on one division."""
ENOUGH = 8000
"""Number of ratings to hold out; tenths are held out in turn until there are so many."""
MOST_COMPARED = 100_000


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The models that may label, the best first, and the reason.

    Parameters
    ----------
    models : tuple of str
        Names of the models. A later one is used if the categories of those before it do not
        correspond to the raters' labels.
    means : mapping of str to float
        Mean log probability of the held-out ratings, by model.
    n_held_out : int
    reason : str
        The reason why the first model is preferred.
    """

    models: tuple[str, ...]
    means: Mapping[str, float]
    n_held_out: int
    reason: str


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldOut:
    """Log probabilities of held-out ratings.

    Parameters
    ----------
    n_ratings : int
        Number of different ratings that were held out.
    item_index : ndarray of int, shape (n_held_out,)
        The item of each held-out rating.
    log_probability : mapping of str to ndarray, shape (n_held_out,)
        Log probabilities by model, given the ratings that were not held out.
    """

    n_ratings: int
    item_index: Integers
    log_probability: Mapping[str, Floats]

    def mean(self, model: str) -> float:
        """Mean log probability."""
        return float(self.log_probability[model].mean())

    def standard_errors_between(self, model: str, other: str) -> float:
        """How many standard errors a model's mean is above another's.

        Ratings of an item are not independent, so that the standard error is computed over items.
        """
        gain = self.log_probability[model] - self.log_probability[other]
        by_item = np.bincount(self.item_index, gain - gain.mean())
        error = np.sqrt((by_item**2).sum())
        return float(gain.sum() / error) if error > 0 else 0.0


def choose_models(ratings: Ratings, seed: Seed) -> Choice:
    """Choose the model that labels, by held-out ratings.

    Raters count the same unless a model in which they differ predicts held-out ratings better by
    three standard errors; the best of these is chosen, and with fewer than ten raters the best
    without subtypes of items. If subtypes predict clearly better than all other models, by a
    fifth or more of what is gained by raters who differ, then raters share so many mistakes that
    a rater may seem accurate only because of that: raters then count the same. They also count the
    same if there are fewer than ten raters, and some pairs agree more than their accuracies explain
    (p < .05), so much that the effective number of independent raters is less than .9 times the
    number of raters (`lehner.check_dependence`).

    Parameters
    ----------
    ratings : Ratings
        Without a system.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    Choice
    """
    (of_parts,) = child_seeds(seed, 1)
    names = ALIKE if ratings.anonymous else tuple(LABEL_MODELS)
    held_out = hold_out(ratings, names, of_parts)
    if held_out.n_ratings == 0:
        reason = "there are too few ratings to hold any out"
        return Choice(models=(MAJORITY,), means={}, n_held_out=0, reason=reason)
    means = {name: held_out.mean(name) for name in names}
    models, reason = _choose(held_out, means, ratings)
    return Choice(models=models, means=means, n_held_out=held_out.n_ratings, reason=reason)


def _choose(
    held_out: HeldOut, means: Mapping[str, float], ratings: Ratings
) -> tuple[tuple[str, ...], str]:
    alike = max(ALIKE, key=means.__getitem__)
    if SHARING not in means:
        return (alike,), "it is unknown who gave which rating"
    if _share_mistakes(held_out, means, alike):
        return (alike,), "raters share mistakes, so that one cannot tell who is more accurate"
    few = ratings.n_raters < FEW_RATERS
    better = [
        name
        for name in sorted(APART if few else (*APART, SHARING), key=means.__getitem__, reverse=True)
        if held_out.standard_errors_between(name, alike) > CLEARLY
    ]
    if not better:
        return (alike,), "no model in which raters differ predicts held-out ratings clearly better"
    pairs = _sharing_pairs(ratings) if few else ""
    if pairs:
        return (alike,), (
            f"{pairs}, and raters who share mistakes seem more accurate than they are"
        )
    if LABEL_MODELS[better[0]].rows == "matrix":
        better = [name for name in better if LABEL_MODELS[name].rows == "matrix"]
    return (*better, MAJORITY), "it predicts ratings that were held out best"


def _sharing_pairs(ratings: Ratings) -> str:
    """Which pairs seem to share mistakes; an empty text unless J_eff is small."""
    dependence = check_dependence(ratings.with_truth(None))
    pairs, undecided = dependence.pairs, dependence.undecided
    if dependence.p_value is None or dependence.p_value > CLEARLY_DEPENDENT:
        return ""
    sharing = [pair for pair in pairs if pair.p_value <= LIKELY_SHARED * len(pairs)]
    worth = from_pairs(ratings, pairs, sharing, undecided=undecided)
    if worth.effective is None or worth.effective > WORTH * worth.n_raters:
        return ""
    return dependence.clearest_pair()


def _share_mistakes(held_out: HeldOut, means: Mapping[str, float], alike: str) -> bool:
    """Whether subtypes predict clearly better, also compared with the gain by raters who differ."""
    independent = max((alike, *APART), key=means.__getitem__)
    gain = means[SHARING] - means[independent]
    clear = held_out.standard_errors_between(SHARING, independent) > CLEARLY_SHARED
    return clear and gain > MUCH * (means[independent] - means[alike])


def hold_out(ratings: Ratings, models: Sequence[str], seed: Seed) -> HeldOut:
    """Fit models without some of the ratings, and compute the probabilities of these.

    A rating is used if its item has another one that is not held out. If there are more than
    100,000 items, so many are drawn.

    Parameters
    ----------
    ratings : Ratings
        Without a system.
    models : sequence of str
        Names of `LABEL_MODELS`.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    HeldOut
    """
    of_parts, of_fits = child_seeds(seed, 2)
    rng = generator(of_parts)
    items = _some_items(ratings, rng)
    flat = items.flat
    rating: list[Integers] = []
    densities: dict[str, list[Floats]] = {name: [] for name in models}
    tell = progress_of("comparing models on ratings held out", ENOUGH)
    for drawn in _parts(len(flat.item_index), rng):
        tell(sum(len(one) for one in rating))
        left = np.bincount(flat.item_index[~drawn], minlength=items.n_rows)
        left_out = drawn & (left[flat.item_index] > 0)
        table = _tabulate(items, ~left_out)
        rows = flat.item_index[left_out]
        for name in models:
            fit = fit_mean_field(table, LABEL_MODELS[name], of_fits)
            response = fit.response[flat.rater_index[left_out], :, flat.category_index[left_out]]
            densities[name].append(np.log((fit.components[:, rows] * response.T).sum(axis=0)))
        rating.append(np.flatnonzero(left_out))
        if sum(map(len, rating)) >= ENOUGH:
            break
    together = np.concatenate(rating)
    return HeldOut(
        n_ratings=len(np.unique(together)),
        item_index=flat.item_index[together],
        log_probability={name: np.concatenate(values) for name, values in densities.items()},
    )


def _parts(n_ratings: int, rng: np.random.Generator) -> Iterator[Booleans]:
    """Yield tenths of the ratings, in several divisions."""
    for _ in range(ROUNDS):
        part = rng.integers(PARTS, size=n_ratings)
        for number in range(PARTS):
            yield part == number


def _some_items(ratings: Ratings, rng: np.random.Generator) -> Ratings:
    """Items, each in its own row, or some if there are very many."""
    if ratings.n_items <= MOST_COMPARED:
        return ratings.expand()
    chances = ratings.weights / ratings.weights.sum()
    rows = np.sort(rng.choice(ratings.n_rows, MOST_COMPARED, p=chances))
    return ratings.take(rows, np.ones(len(rows), np.int64))


def _tabulate(ratings: Ratings, kept: Booleans) -> PatternTable:

    flat, k = ratings.flat, ratings.n_categories
    cell = flat.rater_index[kept] * k + flat.category_index[kept]
    shape = (ratings.n_rows, ratings.n_raters * k)
    answers = sparse.csr_array((np.ones(len(cell)), (flat.item_index[kept], cell)), shape=shape)
    weights = np.ones(ratings.n_rows)
    return PatternTable(answers=answers, weights=weights, n_categories=k, has_system=False)
