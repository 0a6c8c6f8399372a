"""What ratings say of raters without a method: agreement, correlated errors, the system as one."""

from contextlib import suppress

import numpy as np

from lehner.algebra.steps import pairwise_agreement
from lehner.core.arrays import Floats
from lehner.core.errors import InputError
from lehner.core.estimate import Row, rows_of
from lehner.core.lazy import special, stats
from lehner.data.ratings import Ratings
from lehner.dependence.bounds import mistakes_needed
from lehner.dependence.check import check_dependence, effective_in_crowds
from lehner.estimation.questions import Answer, Fit, Options

CROWDS_LEVEL = 0.9
"""Part of the public crowds in which raters are worth as much as is said."""
EPSILONS = (0.1, 0.15, 0.2)
"""What raters may be better by, since a system costs less: for crowd workers, skilled raters and
experts, as the authors suggest."""
FEWEST_RATERS, FEWEST_ITEMS, FALSE_DISCOVERIES = 3, 30, 0.05


def ask_agreement(fit: Fit, options: Options) -> Answer:
    """Say how often raters agree, whose errors are correlated, and how many they are worth."""
    dependence = fit.dependence or check_dependence(fit.ratings)
    agreement, effective = pairwise_agreement(fit.ratings), dependence.effective_raters
    p_value, about = dependence.p_value, {"kind": effective.source, "n_items": effective.n_items}
    worth: Row = {"estimate": effective.effective} | about
    if effective.effective is None:
        lower, upper = effective_in_crowds(effective.n_raters, CROWDS_LEVEL)
        worth = {"lower": lower, "upper": upper, "level": CROWDS_LEVEL, "kind": "public crowds"}
    yield {"quantity": "percent_agreement", "estimate": agreement.agreement}
    yield {"quantity": "brennan_prediger", "estimate": agreement.kappa}
    yield {"quantity": "n_pairs", "estimate": agreement.n_pairs}
    for pair in dependence.pairs:
        names: Row = dict(zip(("rater", "versus"), pair.raters, strict=True))
        names["n_items"] = pair.n_items
        yield {"quantity": "pair_agreement", "estimate": pair.agreement} | names
        yield {"quantity": "pair_agreement_expected", "estimate": pair.expected} | names
        kind = "stands out" if pair.stands_out else ""
        tested = {"quantity": "pair_agreement_test", "probability": pair.p_value, "kind": kind}
        yield tested | names
    yield {"quantity": "dependence_test", "probability": p_value}
    yield {"quantity": "dependence_together_test", "probability": dependence.p_value_together}
    yield {"quantity": "effective_raters"} | worth
    yield {"quantity": "mistake_correlation", "estimate": effective.correlation} | about
    yield {"quantity": "raters_per_item", "estimate": effective.n_raters}


def ask_bounds(fit: Fit, options: Options) -> Answer:
    """Say how much errors must correlate for the accuracy to be low."""
    with suppress(InputError):  # No item has two ratings and an answer of the system.
        needed = mistakes_needed(fit.ratings)
        beyond = {"estimate": needed.crowds_beyond, "n_items": needed.n_crowds}
        yield {"quantity": "system_accuracy_above", "estimate": needed.above}
        yield {"quantity": "mistake_correlation_needed", "estimate": needed.correlation}
        yield {"quantity": "crowds_beyond"} | beyond


def ask_annotators(fit: Fit, options: Options) -> Answer:
    """Test for each rater whether the system agrees with the others as well as this rater does.

    On each item the system and one rater are compared by how many of the other raters give the same
    answer. The advantage probability of the system is the proportion of the items on which it
    agrees with as many as the rater does, or more. The winning rate is the proportion of raters for
    whom a t-test, by the procedure of Benjamini and Yekutieli with a false discovery rate of .05,
    says that this probability is above that of the rater less ε. With .5 or more the system may
    replace a rater.

    Parameters
    ----------
    fit : Fit
        Whose ratings are used: of three raters or more, who are named.
    options : Options

    Yields
    ------
    dict
        `advantage_probability` and `advantage_difference` (the system's less the rater's, by
        Student's t) for each rater with 30 items or more; `advantage_probability_mean`, and
        `winning_rate` for each ε. Items are taken to be independent.

    References
    ----------
    Calderon, Reichart & Dror (2025), The alternative annotator test for LLM-as-a-judge,
    https://arxiv.org/abs/2501.10970, section 3.
    """
    ratings, level = fit.ratings, options.level
    if ratings.anonymous or ratings.n_raters < FEWEST_RATERS:
        return
    n, wins, difference, error = _compare_with_system(ratings)
    tested = np.flatnonzero(n >= FEWEST_ITEMS)
    if not tested.size:
        return
    n, wins, difference, error = n[tested], wins[tested], difference[tested], error[tested]
    half = special.stdtrit(n - 1, (1 + level) / 2) * error
    raters = [ratings.raters[j] for j in tested]
    for rater, share in zip(raters, wins.tolist(), strict=True):
        yield {"quantity": "advantage_probability", "rater": rater, "estimate": share}
    values = np.stack([difference, difference - half, difference + half], axis=-1)
    names = {"rater": raters}
    yield from rows_of("advantage_difference", values, names, level=level, kind="Student")
    yield {"quantity": "advantage_probability_mean", "estimate": wins.mean()}
    for epsilon in EPSILONS:
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (-difference - epsilon) / error
        p_values = np.nan_to_num(special.stdtr(n - 1, t), nan=1.0)
        won = stats.false_discovery_control(p_values, method="by") <= FALSE_DISCOVERIES
        about = {"versus": f"epsilon={epsilon:g}", "estimate": won.mean()}
        yield {"quantity": "winning_rate"} | about


def _compare_with_system(ratings: Ratings) -> tuple[Floats, Floats, Floats, Floats]:
    """Number of items of each rater, the system's advantage, its difference and standard error."""
    flat, system, votes = ratings.flat, np.asarray(ratings.system), ratings.votes()
    item = flat.item_index
    used = (system[item] >= 0) & (votes[item].sum(axis=1) >= 2)
    item, rater, answer = item[used], flat.rater_index[used], flat.category_index[used]
    of_system = votes[item, system[item]] - (answer == system[item])
    of_rater = votes[item, answer] - 1
    ahead = np.sign(of_system - of_rater)

    def total(values: Floats) -> Floats:
        return np.bincount(rater, ratings.weights[item] * values, ratings.n_raters)

    n = total(np.ones(len(item)))
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = total(ahead) / n
        variance = (total(ahead**2) - n * difference**2) / (n - 1)
        return n, total(ahead >= 0) / n, difference, np.sqrt(np.maximum(variance, 0) / n)
