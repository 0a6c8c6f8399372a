"""Base rates in groups of items that judges rated, by the gold labels of some of them.

The judge's answer to every item, and the gold labels of a random sample, are two ways to the same
base rates. Methods that pool the labels of all groups assume that the judge errs alike in each.
Several judges answer together: what most of them say, and whether all say it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from lehner.core.arrays import Booleans, Floats, Integers, Seed, make_rng
from lehner.core.errors import InputError, find, list_few, warn
from lehner.core.estimate import Draws
from lehner.data.estimable import count_truths, find_mean_widening
from lehner.data.ratings import Ratings

DRAWS, LEAST_RISE, ROUNDING = 4000, 1e-6, 1e-9
# The prior counts as so many items of each category in each population, as Jeffreys' does. A prior
# that counts as more items would draw all populations together toward equal base rates.
PSEUDO_ITEMS = 0.5
# The normal interval of PPI++ is not given for fewer labels, as is usual for proportions.
FEW_LABELS, FEW_OF_STRATUM = 5, 3
MOST_NAMED = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedItems:
    """How often judges gave which answer, and what gold labels say of it.

    Where items are clustered, or labels were drawn with unequal probabilities, labels are those of
    as many independent items as tell as much. No answer is one more answer, the last. Several
    judges have as many answers again: those that most of them gave, and not all.

    Parameters
    ----------
    answers : ndarray, shape (n_groups, n_answers)
        How many items got each answer.
    independent : ndarray, shape (n_groups, n_answers)
        How many independent items with each answer would tell as much of how often it is given.
    labels : ndarray, shape (n_groups, n_categories, n_answers)
        How many labelled items of each true category got each answer.
    by_answer : ndarray, shape (n_groups, n_categories, n_answers)
        The same, where labels with one answer are as many independent items as tell as much of it.
    labelled : ndarray, shape (n_groups, n_answers)
        What part of the items with each answer is labelled.
    """

    answers: Floats
    independent: Floats
    labels: Floats
    by_answer: Floats
    labelled: Floats

    @property
    def said(self) -> Integers:
        """The category of each answer; several answers have the same one."""
        return np.resize(np.arange(self.labels.shape[1] + 1), self.answers.shape[1])


def is_judged(ratings: Ratings) -> bool:
    """Tell whether there is one rater, and gold labels of some items."""
    return ratings.n_raters == 1 and count_truths(ratings) > 0


def count_judged(ratings: Ratings, level: float = 0.9) -> JudgedItems:
    """Count the answers of the raters.

    Parameters
    ----------
    ratings : Ratings
        With populations, which are the groups.
    level : float
        Probability of the intervals, on which the allowance for few clusters depends.

    Returns
    -------
    JudgedItems

    Raises
    ------
    InputError
        If no item that the raters rated has a gold label.
    """
    truth, group = np.asarray(ratings.truth), np.asarray(ratings.population)
    said, n_items = find_answers(ratings), ratings.weights.astype(float)
    weight = np.where(truth >= 0, n_items, 0.0)
    n, k = len(ratings.populations), ratings.n_categories
    n_answers = (k + 1) * (1 if ratings.n_raters == 1 else 2)
    if not weight[ratings.count_votes().any(axis=1)].any():
        raise InputError("no item that was rated has a gold label", "label some of them")
    if ratings.truth_probability is not None:
        weight /= np.where(truth >= 0, ratings.truth_probability, 1.0)
    answers, seen, labels = (np.zeros((n, *shape, n_answers)) for shape in ((), (), (k,)))
    np.add.at(answers, (group, said), n_items)
    np.add.at(seen, (group, said), n_items * (truth >= 0))
    labelled, effect = seen / np.maximum(answers, ROUNDING), np.ones((n, 1))
    by_answer = labels.copy()
    for g in range(n):
        inside = n_items * (group == g)
        rows = (group == g) & (weight > 0)
        np.add.at(labels[g], (truth[rows], said[rows]), weight[rows])
        usual = (said == answers[g].argmax()).astype(float)
        effect[g] = find_mean_widening(ratings, usual, inside, level) ** 2
        if rows.any():
            squares = np.bincount(said[rows], weight[rows] ** 2 / n_items[rows], n_answers)
            sums = labels[g].sum(axis=0)
            most = (truth == labels[g].sum(axis=1).argmax()).astype(float)
            effect_of_labels = find_mean_widening(ratings, most, inside * rows, level) ** 2
            by_answer[g] = labels[g] * (sums / np.maximum(squares, ROUNDING) / effect_of_labels)
            labels[g] *= sums.sum() / squares.sum() / effect_of_labels
    counts = {"answers": answers, "labels": labels, "by_answer": by_answer}
    return JudgedItems(**counts, independent=answers / effect, labelled=labelled)


def find_answers(ratings: Ratings) -> Integers:
    """Give the code of the raters' answer to each item; without one, the number of codes.

    Codes of answers that most raters gave, and not as many as rate an item at most, come behind it.
    """
    votes = ratings.count_votes()
    highest = votes.max(axis=1, keepdims=True)
    answered = ((votes == highest) & (highest > 0)).sum(axis=1) == 1
    divided = answered & (highest[:, 0] < votes.sum(axis=1).max(initial=0)) & (ratings.n_raters > 1)
    said = np.where(answered, votes.argmax(axis=1), ratings.n_categories)
    return said + divided * (ratings.n_categories + 1)


def pool_groups(items: JudgedItems) -> JudgedItems:
    """Take all groups for one, in which each answer in each group is an answer of its own."""
    by_truth = {
        name: counts.swapaxes(0, 1).reshape(1, counts.shape[1], -1)
        for name, counts in (("labels", items.labels), ("by_answer", items.by_answer))
    }
    answers, labelled = items.answers.reshape(1, -1), items.labelled.reshape(1, -1)
    independent = answers / (answers.sum() / items.independent.sum())
    return JudgedItems(answers=answers, independent=independent, labelled=labelled, **by_truth)


def _weigh_strata(
    items: JudgedItems, holds: Floats, strata: ArrayLike, rng: Generator, *, finite: bool = False
) -> tuple[Floats, Floats]:
    """Find how frequent strata of answers are, and in which proportion of each something holds.

    In a stratum each answer weighs as often as the judge gives it, if an item with it is labelled.

    Parameters
    ----------
    items : JudgedItems
    holds : ndarray, shape (n_groups, n_answers)
        For how many labelled items with each answer it holds.
    strata : array_like of bool, shape (n_strata, n_answers)
        Which answers are of each stratum.
    rng : numpy.random.Generator
    finite : bool
        Whether it is asked of these items alone, and not of items like these.

    Returns
    -------
    shares, proportions : ndarray, shape (1 + DRAWS, n_groups, n_strata)
        The estimates come first, and then draws from posteriors by a prior that counts as one item
        for the proportion of each stratum, and as one for the shares.
    """
    strata, n = np.asarray(strata), items.by_answer.sum(axis=1)
    weight = items.answers[:, None] * (strata & (n > 0)[:, None])
    total, size = weight.sum(axis=-1), items.independent @ strata.T
    n = np.maximum(n, ROUNDING)[:, None]
    n_equal = total**2 / np.maximum((weight**2 / n).sum(axis=-1), ROUNDING)
    holding = (weight * holds[:, None] / n).sum(axis=-1)
    point = np.where(total > 0, holding / np.maximum(total, ROUNDING), 0.5)
    if finite:
        labelled = (weight * items.labelled[:, None]).sum(axis=-1) / np.maximum(total, ROUNDING)
        n_equal /= np.maximum(1 - labelled, ROUNDING)
    both = PSEUDO_ITEMS + n_equal * point, PSEUDO_ITEMS + n_equal * (1 - point)
    proportions = rng.beta(*both, (DRAWS, *point.shape))
    drawn = rng.standard_gamma(size + 1 / len(strata), (DRAWS, *size.shape))
    shares = np.concatenate([size[None], np.broadcast_to(size, drawn.shape) if finite else drawn])
    return shares / shares.sum(axis=-1, keepdims=True), np.concatenate([point[None], proportions])


def estimate_accuracy(items: JudgedItems, rng: Generator, *, finite: bool = False) -> Floats:
    """Estimate the judge's accuracy from its answers, (1 + DRAWS, n_groups), the estimate first.

    Labelled items count as often as the judge gives their answer: those with the most frequent
    answer, and the others.
    """
    said, k = items.said, items.labels.shape[1]
    right = np.where(
        said < k, items.by_answer[:, np.minimum(said, k - 1), np.arange(len(said))], 0.0
    )
    usual = said == np.bincount(said, items.answers.sum(axis=0))[:k].argmax()
    weighed = _weigh_strata(items, right, [usual, ~usual & (said < k)], rng, finite=finite)
    return np.asarray(np.multiply(*weighed).sum(axis=-1))


def estimate_recall(items: JudgedItems, seed: int) -> Floats:
    """Estimate the judge's recalls, (1 + DRAWS, n_groups, n_categories), the estimate first.

    By Bayes' rule, as Begg & Greenes (1983), https://doi.org/10.2307/2530820: how often the judge
    gives an answer, and how often it is then right.
    """
    recalls = []
    for category in range(items.labels.shape[1]):
        strata = [items.said == category, ~np.isin(items.said, [category, items.labels.shape[1]])]
        weighed = _weigh_strata(items, items.by_answer[:, category], strata, make_rng(seed))
        both = np.multiply(*weighed)
        with np.errstate(invalid="ignore"):
            recalls.append(both[..., 0] / both.sum(axis=-1))
    return np.stack(recalls, axis=-1)


def _post_stratify(items: JudgedItems, good: Booleans, rng: Generator) -> tuple[Floats, Floats]:
    """Weight the truth of labelled items with each answer by how often the judge gives it."""
    named, answered = np.append(good, False), np.arange(len(good) + 1) < len(good)
    strata = np.stack([named, answered & ~named, ~answered])[:, items.said]
    strata = _join_small(items, strata[(items.answers @ strata.T).any(axis=0)])
    weighed = _weigh_strata(items, items.by_answer[:, good].sum(axis=1), strata, rng)
    rates = np.multiply(*weighed).sum(axis=-1)
    return rates[0], rates[1:]


def _join_small(items: JudgedItems, strata: Booleans) -> Booleans:
    """Join strata in which few labels are to be expected with the largest one.

    The prior of such a stratum would draw the rate to 1/2. Answers weigh as much as before.
    """
    sizes, n_labels = items.answers @ strata.T, items.by_answer.sum(axis=(1, 2))
    shares = sizes / np.maximum(sizes.sum(axis=1, keepdims=True), ROUNDING)
    small = (n_labels[:, None] * shares).mean(axis=0) < FEW_OF_STRATUM
    small[sizes.sum(axis=0).argmax()] = True
    return np.stack([strata[small].any(axis=0), *strata[~small]])


def join_categories(items: JudgedItems, good: Booleans) -> tuple[Floats, Floats]:
    """Count answers, (n_groups, 2), and labels by truth and answer, (n_groups, 2, 2).

    The last of two is that it is one of the good categories. No answer is not to call it one.
    """
    truth = np.stack([~good, good]).astype(float)
    answer = np.stack([np.append(~good, True), np.append(good, False)]).astype(float)
    answer = answer[:, items.said]
    return items.independent @ answer.T, np.einsum("gta,st,ba->gsb", items.labels, truth, answer)


def _draw(counts: Floats, rng: Generator) -> Floats:
    """Draw the proportion of the last of two counts by Jeffreys' prior, (DRAWS, ...)."""
    other, holding = np.moveaxis(counts + PSEUDO_ITEMS, -1, 0)
    return rng.beta(holding, other, (DRAWS, *holding.shape))


def _divide(counts: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(counts[..., 1] / counts.sum(axis=-1))


def _rogan_gladen(items: JudgedItems, good: Booleans, rng: Generator) -> tuple[Floats, Floats]:
    """Solve the judge's answers for the base rates that give them; draw both for the interval."""
    answers, labels = join_categories(items, good)
    confusion = labels.sum(axis=0)
    rates = _solve(_divide(answers), _divide(confusion))
    drawn = _solve(_draw(answers, rng), _draw(confusion, rng)[:, None])
    return np.where((rates >= 0) & (rates <= 1), rates, np.nan), np.clip(drawn, 0, 1)


def _solve(said: Floats, by_truth: Floats) -> Floats:
    """Compute the base rate that gives these answers; NaN if these do not rise with the truth."""
    rises = by_truth[..., 1] - by_truth[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rises > LEAST_RISE, (said - by_truth[..., 0]) / rises, np.nan)


def _add_power(items: JudgedItems, good: Booleans, rng: Generator) -> tuple[Floats, Floats]:
    """Add λ times the judge's answers to the other items to the labelled ones' residual: PPI++."""
    answers, labels = join_categories(items, good)
    m, unlabelled = labels.sum(axis=(1, 2)), np.maximum(answers - labels.sum(axis=1), 0)
    n_others = np.maximum(unlabelled.sum(axis=1), ROUNDING)
    with np.errstate(invalid="ignore"):
        true, said = labels[:, 1].sum(axis=1) / m, labels[..., 1].sum(axis=1) / m
        together = labels[:, 1, 1] / m - true * said
    everywhere = _divide(answers) * (1 - _divide(answers))
    power = np.clip(together / np.maximum(everywhere * (1 + m / n_others), ROUNDING), 0, 1)
    rates = true + power * (unlabelled[:, 1] / n_others - said)
    variance = power**2 * everywhere / n_others
    variance += (true * (1 - true) + power**2 * said * (1 - said) - 2 * power * together) / m
    wrong = labels[:, 0, 1] + labels[:, 1, 0]
    usable = (labels.sum(axis=2).min(axis=1) >= FEW_LABELS) & (wrong > 0)
    rates = np.where(usable, np.clip(rates, 0, 1), np.nan)
    return rates, np.clip(rng.normal(rates, np.sqrt(variance), (DRAWS, len(rates))), 0, 1)


def _use_labels_alone(items: JudgedItems, good: Booleans, rng: Generator) -> tuple[Floats, Floats]:
    """Take the labelled items alone."""
    counts = join_categories(items, good)[1].sum(axis=2)
    return _divide(counts), _draw(counts, rng)


def _believe_judge(items: JudgedItems, good: Booleans, rng: Generator) -> tuple[Floats, Floats]:
    """Take the judge's answers for the truth of the items that it answered."""
    kinds = np.stack([np.append(~good, False), np.append(good, False)])[:, items.said]
    counts = items.independent @ kinds.T.astype(float)
    return _divide(counts), _draw(counts, rng)


@dataclass(frozen=True)
class JudgedMethod:
    """A way to base rates.

    Parameters
    ----------
    ask : callable
        From judged items, and which categories count together, to their base rate in each group,
        (n_groups,), NaN where there is none, and draws of it, (n_draws, n_groups).
    summary, kind : str
        What it does, and how its intervals are made.
    undefined : str
        Why it has no estimate of a group.
    alike : bool
        Whether the judge is assumed to err alike in all groups.
    by_truths : bool
        Whether gold labels correct it.
    """

    ask: Callable[[JudgedItems, Booleans, Generator], tuple[Floats, Floats]]
    summary: str
    kind: str = "Jeffreys"
    undefined: str = "no item has what it rests on"
    alike: bool = False
    by_truths: bool = True


NORMAL = (
    "its normal interval needs 5 labels of what is asked, 5 of the rest, and an error of the judge"
)
UNSOLVED = "no base rate from 0 to 1 explains the judge's answers, or the judge guesses"
# The ways to base rates from one judge; the first is the one to report.
JUDGED_BY = {
    "post_stratified": JudgedMethod(_post_stratify, "gold labels weighted by the judges' answers"),
    "gold_labels": JudgedMethod(_use_labels_alone, "the gold labels of each group alone"),
    "prediction_powered": JudgedMethod(
        _add_power, "one judge: prediction-powered inference in each group", "PPI++", NORMAL
    ),
    "judge": JudgedMethod(_believe_judge, "one judge is taken for the truth", by_truths=False),
    "rogan_gladen": JudgedMethod(
        _rogan_gladen, "one judge, who errs alike in each group", "propagated", UNSOLVED, alike=True
    ),
}


def estimate_judged(
    method: str,
    items: JudgedItems,
    ratings: Ratings,
    sets: Mapping[str, Sequence[int]] | None = None,
    *,
    seed: Seed = 1,
) -> Draws:
    """Estimate the base rates of each group from the answers of one judge and gold labels.

    Parameters
    ----------
    method : str
        One of `JUDGED_BY`.
    items : JudgedItems
        What `count_judged` counts in these ratings.
    ratings : Ratings
        With one rater, populations, and the truth of some items: a random sample of each group, or
        chosen with the probabilities that the ratings have.
    sets : mapping of str to sequence of int, optional
        Codes of the categories that count together, by what they are called; by default each
        category is asked for alone.
    seed : int
        The same in each question, so that its answer does not depend on others.

    Returns
    -------
    Draws
        By group, base rates of each set, and NaN for groups of which a method has no estimate; a
        warning says why. Base rates of all categories sum to 1.

    Notes
    -----
    `experiments/simulations/one_judge.csv` has the coverage of intervals where the judge errs alike
    in all groups, and where it favours one. Groups are taken to be independent; where all models
    answered the same questions, intervals of differences are somewhat too wide.

    References
    ----------
    Rogan & Gladen (1978), https://doi.org/10.1093/oxfordjournals.aje.a112510; Lee et al. (2025),
    How to correctly report LLM-as-a-judge evaluations, https://arxiv.org/abs/2511.21140;
    Angelopoulos, Duchi & Zrnic (2023), PPI++, https://arxiv.org/abs/2311.01453; Cochran (1977),
    Sampling Techniques, section 5A.9, for post-stratification.

    Examples
    --------
    >>> judged = Ratings([[0], [0], [1], [1]] * 10, ["no", "yes"], truth=[0, -1, 0, 1] * 10)
    >>> judged = judged.with_populations(["all"] * 40)
    >>> draws = estimate_judged("gold_labels", count_judged(judged), judged)
    >>> draws.point["base_rates"].round(2)
    array([[0.67, 0.33]])
    """
    how, codes = find("method", method, JUDGED_BY), np.arange(ratings.n_categories)
    sets = sets or {str(label): [code] for code, label in enumerate(ratings.categories)}
    answers = [how.ask(items, np.isin(codes, good), make_rng(seed)) for good in sets.values()]
    rates, drawn = (np.stack(parts, axis=-1) for parts in zip(*answers, strict=True))
    without = items.labels.sum(axis=(1, 2)) == 0
    if how.by_truths and not how.alike:
        rates[without] = np.nan
    if len(sets) > 1:
        rates /= rates.sum(axis=-1, keepdims=True)
    warnings, names = [], np.array(ratings.populations)
    if how.alike and without.any():
        groups = list_few(names[without], MOST_NAMED)
        text = f"no gold label of {groups}: its numbers rest on other groups"
        warnings.append(warn("judge-unseen", text))
    if (undefined := np.isnan(rates).any(axis=-1)).any():
        text = f"no estimate of {list_few(names[undefined], MOST_NAMED)}: {how.undefined}"
        warnings.append(warn("method-undefined", text))
    return Draws(
        point={"base_rates": rates},
        drawn={"base_rates": drawn},
        coords={"group": ratings.populations, "category": list(sets)},
        kind=how.kind,
        corrected=how.by_truths,
        warnings=tuple(warnings),
    )
