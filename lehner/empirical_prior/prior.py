"""The empirical prior of a system's accuracy, given its agreement with the raters.

On crowds whose truth is known, the log odds of the accuracy are about a line in the log odds of the
agreement: with the majority where people rate; where language models do, also of the agreement that
is corrected for chance. How far families of crowds lie from the line, when the line is drawn
without them, is the prior's spread.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lehner.core.arrays import Floats, Integers
from lehner.core.errors import InputError
from lehner.core.lazy import pd, special
from lehner.core.text import pluralise
from lehner.known_truths.partly_known import ProportionPosterior

# What the user knows of the system beside its raters.
SYSTEM_IS = ("like", "better", "unknown")
# Who the raters are; unknown ones are people, unless all have names of language models.
RATERS_ARE = ("people", "models", "unknown")
# The prior of which of two systems is right on the items on which they differ.
DIFFERENCE = "difference"
# Scale of the logistic kernel around each deviation; results differ little from 0.02 to 0.2.
BANDWIDTH = 0.05
# Prior probability that a crowd is like none of those; any number of right answers may then be.
UNLIKE = 0.005
# The same for a panel of language models with gold labels, which decide: some items are made to
# mislead all models. Without gold labels nothing could be said of such a panel.
UNLIKE_PANELS = 0.3
# The most numbers of right answers at which a posterior is computed.
GRID = 2001
# Numbers of accuracies at which the distribution of the expected accuracy is computed.
BORDERS = 250
# It is a mixture over at most so many numbers of right answers.
MOST_VALUES = 100
NEGLIGIBLE = 1e-6
SHIPPED = Path(__file__).with_name("priors.json")
# How much the designs count for what is known of the system, and for differences. How much better
# it is differs from family to family, so that the prior for better systems is not learned on these
# alone. Among language models an unknown system is taken for one of them.
DESIGN_WEIGHTS: dict[str, dict[str, float]] = {
    "like": {"like": 1.0},
    "better": {"better": 1.0, "like": 0.5},
    "unknown": {"like": 1.0, "better": 1.0},
    "unknown, models": {"like": 1.0},
    DIFFERENCE: {"two like": 1.0, "two better": 0.5},
}
# For language models the line is in the log odds of the agreement with the majority, less so much
# of what the correction for chance takes away from them.
CORRECTION = 0.75
# How much more, in quadrature, panels lie from the line the more the correction takes away.
CORRECTION_SPREAD = 0.5
# Ratings outside what these were in training are not like those that the prior was learned on.
RANGES = ("n_items", "ratings_per_item", "n_categories", "agreement")
RIDGE = 0.02
DEVIATIONS = 40
FEWEST_FAMILIES = 3


@dataclass(frozen=True, kw_only=True)
class EmpiricalPrior:
    """A line with deviations from it, both in log odds, and the crowds that they were learned on.

    Parameters
    ----------
    chance_corrected : bool
        Whether the line is in an agreement that is corrected for chance, see `find_regressor`.
    intercept, slope : float
        The line: log odds of the accuracy, given those of the agreement.
    deviations : sequence of float
        Equally probable deviations from the line.
    families : sequence of str
        Families of crowds on which it was trained, as in studies with the same items.
    n_crowds : int
        How many crowds they have.
    n_items, ratings_per_item, n_categories, agreement : sequence of two numbers
        The smallest and the largest among the data sets that were drawn from these crowds.
    """

    chance_corrected: bool
    intercept: float
    slope: float
    deviations: Sequence[float]
    families: Sequence[str]
    n_crowds: int
    n_items: Sequence[float]
    ratings_per_item: Sequence[float]
    n_categories: Sequence[float]
    agreement: Sequence[float]


def log_odds(right: Any, n: Any) -> Any:
    """Log odds of a proportion, half an item being added on either side."""
    return np.log((np.asarray(right) + 0.5) / (np.asarray(n) - right + 0.5))


def find_regressor(agreeing: Any, corrected: Any, n: Any) -> tuple[Any, Any]:
    """Find where systems are on the line, and how wide the deviations from it are there.

    Where a category is frequent, in truth or because raters are biased toward it, agreement with
    the majority is high and agreement that is corrected for chance is low. The accuracy lies
    between them, and is the less certain the farther they are apart.

    Parameters
    ----------
    agreeing, corrected : float or ndarray
        Items on which a system agrees with the majority, and how many of them the correction for
        chance leaves; as many without a correction.
    n : int or ndarray
        Number of items.

    Returns
    -------
    regressor, scale : float or ndarray

    Examples
    --------
    >>> [round(float(value), 2) for value in find_regressor(agreeing=80, corrected=65, n=100)]
    [0.8, 1.07]
    """
    majority = log_odds(agreeing, n)
    gap = majority - log_odds(corrected, n)
    return majority - CORRECTION * gap, np.sqrt(1 + (CORRECTION_SPREAD * gap) ** 2)


def make_prior(
    prior: EmpiricalPrior,
    agreeing: float,
    n_items: int,
    effect: float = 1.0,
    corrected: float | None = None,
    unlike: float = UNLIKE,
) -> tuple[Integers, Floats]:
    """Compute the prior of how many answers of the system are right, before any gold label is used.

    Parameters
    ----------
    prior : EmpiricalPrior
    agreeing : float
        Items on which the system agrees with the majority; ties count in part.
    n_items : int
        Items that the system answered.
    effect : float
        Design effect of clusters, 1 or more: what it adds to the variance of the log odds of
        agreement is added to the kernel, which is logistic.
    corrected : float, optional
        Items on which it agrees, corrected for chance, for a prior that needs them.
    unlike : float
        Probability that the crowd is like none of those of the prior.

    Returns
    -------
    right : ndarray of int
        Numbers of right answers, all or `GRID` of them.
    probability : ndarray
        Of each; the probability of numbers between two of them is shared by these.
    """
    right = np.unique(np.linspace(0, n_items, min(n_items + 1, GRID)).round().astype(np.int64))
    between = (right[1:] + right[:-1]) / 2
    if corrected is None or not prior.chance_corrected:
        corrected = agreeing
    regressor, scale = find_regressor(agreeing, corrected, n_items)
    middle = prior.intercept + prior.slope * regressor
    distance = log_odds(between, n_items)[:, None] - middle - scale * np.array(prior.deviations)
    extra_variance = (effect - 1) * (n_items + 1) / ((agreeing + 0.5) * (n_items - agreeing + 0.5))
    bandwidth = np.sqrt(BANDWIDTH**2 + extra_variance * 3 / np.pi**2)
    like = (1 / (1 + np.exp(-np.clip(distance / bandwidth, -700, 700)))).mean(axis=1)
    below = (1 - unlike) * like + unlike * (between + 0.5) / (n_items + 1)
    return right, np.diff(below, prepend=0.0, append=1.0)


def update_in_sample(
    right: Integers | Floats, probability: Floats, n_known: float, n_right: float
) -> ProportionPosterior:
    """Compute the posterior of the proportion of these items that the system got right.

    Parameters
    ----------
    right, probability : ndarray
        Both of `make_prior`.
    n_known, n_right : float
        Items whose truth is known, a random sample, and how many of them the system got right;
        halves too. The likelihood is hypergeometric.

    Returns
    -------
    ProportionPosterior

    Examples
    --------
    >>> even = update_in_sample(np.arange(5), np.full(5, 0.2), 2, 1)
    >>> even.values.tolist(), even.probability.round(2).tolist()
    ([0.25, 0.5, 0.75], [0.3, 0.4, 0.3])
    """
    log = _log_likelihood(right, n_known, n_right)
    possible = np.isfinite(log)
    # Where the grid is coarse, all may be known and their number not among those of the grid.
    if not possible.any():
        return ProportionPosterior(values=np.array([n_right / n_known]), probability=np.ones(1))
    likelihood = np.exp(log - log.max())[possible]
    density = probability[possible] * likelihood
    # A prior too small for a float says nothing.
    density = density if density.any() else likelihood
    values = right[possible] / right[-1]
    return ProportionPosterior(values=values, probability=density / density.sum())


def find_unlike(
    right: Integers, probability: Floats, n_known: int, n_right: int, before: float = UNLIKE
) -> float:
    """Compute the probability, with gold labels, that the crowd is like none of those of the prior.

    Parameters are those of `update_in_sample`, and the probability `before` the gold labels. If it
    is like none of them, each number of right answers among the labelled items is equally probable.

    Examples
    --------
    >>> prior = read_priors()["people"]["unknown"]
    >>> numbers = make_prior(prior, agreeing=180, n_items=200)
    >>> [round(find_unlike(*numbers, 20, n_right), 3) for n_right in (18, 10, 0)]
    [0.001, 0.053, 1.0]
    """
    expected = float(probability @ np.exp(_log_likelihood(right, n_known, n_right)))
    unlike = before / (n_known + 1)
    return min(unlike / expected, 1.0) if expected > 0 else 1.0


def _log_likelihood(right: Integers | Floats, n_known: float, n_right: float) -> Floats:
    """Log probability, hypergeometric, of what is known, for each number of right answers."""
    if not n_known:  # Nothing is known, and SciPy need not be loaded to say so.
        return np.zeros(len(right))

    def log_choose(n: Any, k: Any) -> Any:
        return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)

    wrong, n_wrong = right[-1] - right, n_known - n_right
    possible = (right >= n_right) & (wrong >= n_wrong)
    with np.errstate(invalid="ignore"):
        both = log_choose(right, n_right) + log_choose(wrong, n_wrong)
        return np.where(possible, both - log_choose(right[-1], n_known), -np.inf)


def predict_expected(in_sample: ProportionPosterior, n_items: float) -> ProportionPosterior:
    """Compute the posterior of the expected accuracy, on items of which these are a sample.

    It is a beta distribution, with Jeffreys' prior, for each possible number of right answers, and
    their mixture.

    Parameters
    ----------
    in_sample : ProportionPosterior
        Of the proportion of these items that the system got right.
    n_items : float
        Number of these items; fewer if they are clustered, as effective items.

    Returns
    -------
    ProportionPosterior

    Examples
    --------
    Of ten items all are right; one more could be wrong.

    >>> all_right = ProportionPosterior(values=np.ones(1), probability=np.ones(1))
    >>> [round(end, 2) for end in predict_expected(all_right, 10).interval(0.9)]
    [0.83, 1.0]
    """
    likely = in_sample.keep_likely(NEGLIGIBLE)
    # Neighbouring accuracies are joined.
    n = len(likely.values)
    cell = np.arange(n) * min(MOST_VALUES, n) // n
    joined = np.bincount(cell, likely.probability)
    accuracy = np.bincount(cell, likely.values * likely.probability) / joined
    # Borders are dense near 0 and 1, where beta distributions are narrow.
    coarse = np.sin(np.linspace(0, np.pi / 2, BORDERS + 1)) ** 2
    borders = np.sin(np.linspace(0, np.pi / 2, 10 * BORDERS + 1)) ** 2
    below = ProportionPosterior(values=accuracy, probability=joined).mix_betas(n_items, coarse)
    return ProportionPosterior(
        values=(borders[1:] + borders[:-1]) / 2,
        probability=np.diff(np.interp(borders, coarse, below)),
    )


@cache
def read_priors(file: str | Path = SHIPPED) -> Mapping[str, Mapping[str, EmpiricalPrior]]:
    """Read the priors of a file that `format_priors` wrote; by default those shipped.

    Parameters
    ----------
    file : str or Path

    Returns
    -------
    mapping of str to mapping of str to EmpiricalPrior
        By who rates, "people" or "models" or both, and by what is known of the system: "like",
        "better" and "unknown"; and for two systems, if it could be trained, "difference".

    Raises
    ------
    InputError
        If the file cannot be read or is not of that kind.
    """
    remedy = "write one by `format_priors` (see the page learned_prior of the documentation)"
    try:
        kept = json.loads(Path(file).read_text(encoding="utf-8"))
        priors = {}
        for raters_are in (name for name in RATERS_ARE if name in kept):
            by_system = {name: EmpiricalPrior(**x) for name, x in kept[raters_are].items()}
            lines = [(x.intercept, x.slope, *x.deviations) for x in by_system.values()]
            complete = by_system.keys() >= set(SYSTEM_IS)
            if not (complete and np.isfinite(np.concatenate(lines)).all()):
                raise ValueError
            priors[raters_are] = by_system
        if not priors:
            raise ValueError
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", remedy, file=file) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError("is no file of priors", remedy, file=file) from error
    return priors


def train_priors(outcomes: "pd.DataFrame", raters_are: str = "people") -> dict[str, EmpiricalPrior]:
    """Train a prior for each answer to what the system is, and for differences: `train_prior`.

    There is none for differences if fewer than three families have two systems to compare.

    Raises
    ------
    InputError
        If no crowd has a better system, or there are fewer than three families.
    """
    if outcomes.empty or not (outcomes["design"] == "better").any():
        problem = "no crowd has four raters, of whom one is better than three others"
        remedy = "add larger crowds, from which better systems can be learned"
        raise InputError(problem, remedy)
    pairs = outcomes[outcomes["design"].isin(DESIGN_WEIGHTS[DIFFERENCE])]
    enough = pairs["family"].nunique() >= FEWEST_FAMILIES
    names = (*SYSTEM_IS, DIFFERENCE) if enough else SYSTEM_IS
    return {name: train_prior(outcomes, name, raters_are) for name in names}


def format_priors(priors: Mapping[str, Mapping[str, EmpiricalPrior]]) -> str:
    """Write priors, by who rates, as JSON that `read_priors` reads, a line for each."""
    parts = []
    for raters_are, of_raters in priors.items():
        lines = (f'"{name}": {json.dumps(asdict(prior))}' for name, prior in of_raters.items())
        parts.append(f'"{raters_are}": {{\n' + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def train_prior(
    outcomes: "pd.DataFrame", system_is: str = "unknown", raters_are: str = "people"
) -> EmpiricalPrior:
    """Learn a line and deviations from it.

    Families count equally, and so do crowds in a family. Where language models rate, all crowds
    count equally: there are few families, and their crowds are of many kinds.

    Parameters
    ----------
    outcomes : pandas.DataFrame
        As `lehner.empirical_prior.designs.draw_outcomes` makes it, of three families or more.
    system_is : {"like", "better", "unknown", "difference"}
        Which designs count, see `DESIGN_WEIGHTS`.
    raters_are : {"people", "models"}
        Who rated in these crowds.

    Returns
    -------
    EmpiricalPrior
        Its deviations are those of each family from the line through the others.

    Raises
    ------
    InputError
        If there are fewer than three families.
    """
    designs = DESIGN_WEIGHTS.get(f"{system_is}, {raters_are}", DESIGN_WEIGHTS[system_is])
    table = outcomes[outcomes["design"].isin(designs)]
    n_families = table["family"].nunique()
    if n_families < FEWEST_FAMILIES:
        problem = f"the crowds are of {pluralise(n_families, 'family', 'families')}"
        raise InputError(problem, f"give crowds of {FEWEST_FAMILIES} families or more")
    crowds = 1 if raters_are == "models" else table.groupby("family")["crowd"].transform("nunique")
    sizes = table.groupby(["crowd", "design"])["crowd"].transform("size")
    weights = (table["design"].map(designs) / crowds / sizes).to_numpy()
    weights = weights / weights.sum()
    families, n = table["family"].to_numpy(), table["n_items"].to_numpy()
    chance_corrected = raters_are == "models" and system_is != DIFFERENCE
    columns = "agreement", "corrected" if chance_corrected else "agreement", "accuracy"
    agreeing, corrected, right = (n * table[column].to_numpy() for column in columns)
    x, scale = find_regressor(agreeing, corrected, n)
    y = log_odds(right, n)
    deviations = np.empty(len(table))
    for family in set(families):
        left_out = families == family
        intercept, slope = _fit_line(x, y, np.where(left_out, 0.0, weights))
        deviations[left_out] = ((y - intercept - slope * x) / scale)[left_out]
    intercept, slope = _fit_line(x, y, weights)
    return EmpiricalPrior(
        chance_corrected=chance_corrected,
        # Adding 0.0 makes 0.0 of -0.0, of which processors round to either.
        intercept=round(intercept, 6) + 0.0,
        slope=round(slope, 6) + 0.0,
        deviations=(_find_quantiles(deviations, weights).round(4) + 0.0).tolist(),
        families=sorted(set(families)),
        n_crowds=table["crowd"].nunique(),
        **{name: table[name].agg(["min", "max"]).round(4).tolist() for name in RANGES},
    )


def _fit_line(x: Floats, y: Floats, weights: Floats) -> tuple[float, float]:
    """Fit by weighted least squares, with the slope drawn a little toward 0."""
    weights = weights / weights.sum()
    centre = weights @ x
    slope = weights @ ((x - centre) * y) / (weights @ (x - centre) ** 2 + RIDGE)
    return float(weights @ y - slope * centre), float(slope)


def _find_quantiles(values: Floats, weights: Floats) -> Floats:
    # Equal deviations go by their weights: processors sort equal values into other orders.
    order = np.lexsort((-weights, values.round(9)))
    reached = np.cumsum(weights[order]) - weights[order] / 2
    return np.interp((np.arange(DEVIATIONS) + 0.5) / DEVIATIONS, reached, values[order])
