"""Base rates in groups of items that one judge rated, by the gold labels of some of them.

The judge's answer to every item, and the gold labels of a random sample, are two ways to the same
base rates. Methods that pool the labels of all groups assume that the judge errs alike in each.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lehner.contrasts.base_rates import DRAWS, PSEUDO_ITEMS, BaseRates
from lehner.core.arrays import Floats, Seed, make_rng
from lehner.core.errors import InputError, warn
from lehner.core.lazy import stats
from lehner.core.text import list_few
from lehner.data.patterns import find_mean_widening
from lehner.data.ratings import Ratings

CHAINS, TUNE, KEPT = 100, 300, 40
# So many unlabelled items for each labelled one count in `confusion_posterior`: more would tell
# of the judge's answers what is known already, and Gibbs sampling would need as many more steps.
MOST_UNLABELLED = 30
# Random tables behind the p-value of whether the judge errs alike.
TABLES = 4000
LEAST_DETERMINANT, ROUNDING = 1e-6, 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedItems:
    """How often one judge gave which answer, and what gold labels say of it.

    Where items are clustered, or labels were drawn with unequal probabilities, numbers are those of
    as many independent items as tell as much.

    Parameters
    ----------
    answers : ndarray, shape (n_groups, n_categories)
        How many items got each answer.
    labels : ndarray, shape (n_groups, n_categories, n_categories)
        How many labelled items of each true category got each answer (last).
    """

    answers: Floats
    labels: Floats


def has_gold_labels(ratings: Ratings) -> bool:
    """Tell whether the truth of some items is known."""
    return ratings.truth is not None and bool(ratings.weights[ratings.truth >= 0].any())


def is_judged(ratings: Ratings) -> bool:
    """Tell whether there is one rater, and gold labels of some items."""
    return ratings.n_raters == 1 and has_gold_labels(ratings)


def count_judged(ratings: Ratings, level: float = 0.9) -> JudgedItems:
    """Count the answers of the only rater; items without one answer are left out.

    Parameters
    ----------
    ratings : Ratings
        With one rater, and populations, which are the groups.
    level : float
        Probability of the intervals, on which the allowance for few clusters depends.

    Returns
    -------
    JudgedItems

    Raises
    ------
    InputError
        If no item that the rater rated has a gold label.
    """
    votes, truth = ratings.count_votes(), np.asarray(ratings.truth)
    group = np.asarray(ratings.population)
    answered = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) == 1
    said, n_items = votes.argmax(axis=1), ratings.weights * answered.astype(float)
    weight = np.where(truth >= 0, n_items, 0.0)
    if not weight.any():
        raise InputError("no item that the judge rated has a gold label", "label some of them")
    if ratings.truth_probability is not None:
        weight /= np.where(truth >= 0, ratings.truth_probability, 1.0)
    n, k = len(ratings.populations), ratings.n_categories
    answers, labels = np.zeros((n, k)), np.zeros((n, k, k))
    for g in range(n):
        own = ratings.weights * (group == g)
        answers[g] = np.bincount(said, n_items * (group == g), k)
        labelled = (group == g) & (weight > 0)
        np.add.at(labels[g], (truth[labelled], said[labelled]), weight[labelled])
        usual = (said == answers[g].argmax()).astype(float)
        answers[g] /= find_mean_widening(ratings, usual, own, level) ** 2
        if labelled.any():
            n_equal = weight[labelled].sum() / (weight[labelled] ** 2 / n_items[labelled]).sum()
            most = (truth == labels[g].sum(axis=1).argmax()).astype(float)
            labels[g] *= n_equal / find_mean_widening(ratings, most, own * labelled, level) ** 2
    return JudgedItems(answers=answers, labels=labels)


def _draw(counts: Floats, rng: np.random.Generator, draws: int = DRAWS) -> Floats:
    """Draw proportions by Jeffreys' prior, (draws, *shape of the counts)."""
    drawn = rng.standard_gamma(counts + PSEUDO_ITEMS, (draws, *counts.shape))
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


def _divide(counts: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


def _post_stratify(items: JudgedItems, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Weight the truth of labelled items with each answer by how often the judge gives it."""
    by_answer = items.labels.swapaxes(1, 2)
    drawn = np.einsum("dga,dgat->dgt", _draw(items.answers, rng), _draw(by_answer, rng))
    answers, truths = (_divide(counts + PSEUDO_ITEMS) for counts in (items.answers, by_answer))
    return np.einsum("ga,gat->gt", answers, truths), drawn


def _rogan_gladen(items: JudgedItems, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Solve the judge's answers for the base rates that give them; draw both for the interval."""
    labels = items.labels.sum(axis=0)
    drawn = _solve(_draw(items.answers, rng), _draw(labels, rng)[:, None])
    return _solve(_divide(items.answers), np.nan_to_num(_divide(labels))), drawn


def _solve(answers: Floats, confusion: Floats) -> Floats:
    """Compute the base rates that give these answers; NaN if these do not rise with the truth."""
    rises = np.linalg.det(confusion) > LEAST_DETERMINANT
    usable = np.where(rises[..., None, None], confusion, np.eye(confusion.shape[-1]))
    rates = np.einsum("...at,...a->...t", np.linalg.inv(usable), answers)
    return np.where(rises[..., None], np.clip(rates, 0, 1), np.nan)


def _draw_confusion(items: JudgedItems, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw base rates and the judge's confusion matrix, the same in all groups, by Gibbs sampling.

    Tanner & Wong (1987), https://doi.org/10.1080/01621459.1987.10478458: the unknown categories are
    drawn, and then the parameters as if these were known.
    """
    others = np.maximum(items.answers - items.labels.sum(axis=1), 0)
    fewer = min(1.0, MOST_UNLABELLED * items.labels.sum() / max(others.sum(), 1.0))
    unlabelled = np.rint(others * fewer).astype(np.int64)
    confusion = _draw(items.labels.sum(axis=0), rng, CHAINS)
    rates, kept = _draw(items.labels.sum(axis=2), rng, CHAINS), []
    for step in range(TUNE + KEPT):
        joint = np.einsum("cgt,cta->cgat", rates, confusion)
        truths = rng.multinomial(unlabelled, joint / joint.sum(axis=-1, keepdims=True))
        together = items.labels + truths.swapaxes(-1, -2)
        rates = _draw(together.sum(axis=-1), rng, 1)[0]
        confusion = _draw(together.sum(axis=1), rng, 1)[0]
        if step >= TUNE:
            kept.append(rates)
    drawn = np.concatenate(kept)
    return drawn.mean(axis=0), drawn


def _prediction_powered(items: JudgedItems, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Add λ times the judge's answers to the other items to the labelled ones' residual: PPI++."""
    shape = items.answers.shape
    rates, drawn = np.full(shape, np.nan), np.full((DRAWS, *shape), np.nan)
    for g in np.flatnonzero(items.labels.sum(axis=(1, 2)) > 1):
        joint, answers = _divide(items.labels[g].ravel()).reshape(shape[1], -1), items.answers[g]
        m = items.labels[g].sum()
        others = np.maximum(answers - items.labels[g].sum(axis=0), 0)
        n_others, everywhere = max(others.sum(), ROUNDING), _covary(np.diag(_divide(answers)))
        true, said = joint.sum(axis=1), joint.sum(axis=0)
        together = joint - np.outer(true, said)
        variance = np.maximum(np.diag(everywhere) * (1 + m / n_others), ROUNDING)
        power = np.diag(np.clip(np.diag(together) / variance, 0, 1))
        rates[g] = true + power @ (others / n_others - said)
        of_labels = _covary(np.diag(true)) + power @ _covary(np.diag(said)) @ power
        of_labels -= together @ power + power @ together.T
        spread = power @ everywhere @ power / n_others + of_labels / m
        drawn[:, g] = rng.multivariate_normal(rates[g], spread, DRAWS, method="eigh")
    return np.clip(rates, 0, 1), np.clip(drawn, 0, 1)


def _covary(joint: Floats) -> Floats:
    return np.asarray(joint - np.outer(joint.sum(axis=1), joint.sum(axis=0)))


def _use_labels_alone(items: JudgedItems, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Take the labelled items alone."""
    counts = items.labels.sum(axis=2)
    return _divide(counts), _draw(counts, rng)


def _believe_judge(items: JudgedItems, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Take the judge's answers for the truth."""
    return _divide(items.answers), _draw(items.answers, rng)


@dataclass(frozen=True)
class JudgedMethod:
    """A way to base rates.

    Parameters
    ----------
    ask : callable
        From judged items to base rates, (n_groups, n_categories), and draws of them.
    summary, kind : str
        What it does, and how its intervals are made.
    alike : bool
        Whether the judge is assumed to err alike in all groups.
    by_truths : bool
        Whether gold labels correct it.
    """

    ask: Callable[[JudgedItems, np.random.Generator], tuple[Floats, Floats]]
    summary: str
    kind: str = "Jeffreys"
    alike: bool = False
    by_truths: bool = True


# Methods of `compare` for one judge; the first is the one to report.
METHODS = {
    "post_stratified": JudgedMethod(
        _post_stratify, "one judge: the truth of labelled items with each answer, by group"
    ),
    "confusion_posterior": JudgedMethod(
        _draw_confusion, "one judge, who errs alike in all groups: Bayesian", "credible", alike=True
    ),
    "rogan_gladen": JudgedMethod(
        _rogan_gladen, "one judge, who errs alike in all groups", "propagated", alike=True
    ),
    "prediction_powered": JudgedMethod(
        _prediction_powered, "one judge: prediction-powered inference (PPI++), by group", "PPI++"
    ),
    "gold_labels": JudgedMethod(_use_labels_alone, "the gold labels of each group alone"),
    "judge": JudgedMethod(_believe_judge, "one judge is taken for the truth", by_truths=False),
}


def estimate_judged(
    method: str, items: JudgedItems, ratings: Ratings, *, seed: Seed = 1
) -> BaseRates:
    """Estimate the base rates of each group from the answers of one judge and gold labels.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    items : JudgedItems
        What `count_judged` counts in these ratings.
    ratings : Ratings
        With one rater, populations, and the truth of some items: a random sample of each group, or
        chosen with the probabilities that the ratings have.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    BaseRates
        NaN for groups of which the labels do not tell.

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
    >>> estimate_judged("gold_labels", count_judged(judged), judged).base_rates.round(2)
    array([[0.67, 0.33]])
    """
    how = METHODS[method]
    rates, drawn = how.ask(items, make_rng(seed))
    empty = items.labels.sum(axis=(1, 2)) == 0
    if how.by_truths and not how.alike:
        rates[empty], drawn[:, empty] = np.nan, np.nan
    unlabelled = [name for name, no in zip(ratings.populations, empty, strict=True) if no]
    text = f"no gold label of {list_few(unlabelled, 4)}: its numbers rest on other groups"
    return BaseRates(
        base_rates=rates,
        drawn_base_rates=drawn,
        truth_probabilities=np.eye(ratings.n_categories)[ratings.count_votes().argmax(axis=1)],
        kind=how.kind,
        by_clusters=True,
        by_truths=how.by_truths,
        warnings=(warn("judge-unseen", text),) if unlabelled and how.by_truths else (),
    )


def judge_differs(items: JudgedItems, *, seed: Seed = 1) -> float:
    """Test whether the judge errs alike in all groups, by the gold labels.

    Parameters
    ----------
    items : JudgedItems
        With independent labels.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    float
        The p-value of Pearson's statistic of the answers to items of one true category by group,
        summed over categories, among tables with the same margins (Patefield 1981,
        https://doi.org/10.2307/2346669). 1 where no category has labels in two groups.
    """
    rng, seen, by_chance = make_rng(seed), 0.0, np.zeros(TABLES)
    for table in np.rint(items.labels).astype(int).swapaxes(0, 1):
        if not table.any():
            continue
        margins = table.sum(axis=1), table.sum(axis=0)
        expected = np.maximum(np.outer(*margins) / table.sum(), ROUNDING)
        tables = stats.random_table(*margins).rvs(TABLES, random_state=rng)
        seen += float(((table - expected) ** 2 / expected).sum())
        by_chance += ((tables - expected) ** 2 / expected).sum(axis=(1, 2))
    return float((1 + (by_chance >= seen - ROUNDING).sum()) / (1 + TABLES))
