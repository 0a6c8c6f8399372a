"""Training of the empirical prior: designs drawn from crowds with gold labels."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.errors import InputError
from lehner.core.text import counted
from lehner.empirical_prior.prior import DIFFERENCE, SYSTEM_IS, EmpiricalPrior, log_odds

DESIGN_WEIGHTS: dict[str, dict[str, float]] = {
    "like": {"like": 1.0},
    "better": {"better": 1.0, "like": 0.5},
    "unknown": {"like": 1.0, "better": 1.0},
    DIFFERENCE: {"two like": 1.0, "two better": 0.5},
}
"""How much the designs count for what is known of the system, and for differences. How much better
it is differs from family to family, so that the prior for better systems is not learned on these
alone."""
RIDGE = 0.02
DEVIATIONS = 40
FEWEST_FAMILIES = 3


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A design drawn from a crowd, and how the system did.

    Parameters
    ----------
    crowd : str
    family : str
        Shared by crowds that rated the same items or came from the same study.
    design : {"like", "better", "worse", "two like", "two better"}
        How the system compares with its raters, or two systems do.
    n_items, n_categories : int
        Of two systems, the items on which they differ.
    ratings_per_item : float
        Mean number of ratings per item.
    agreement : float
        The system's agreement with the majority of the raters; of two, see
        `lehner.empirical_prior.differences.Disagreement`.
    accuracy : float
        Proportion of the items that the system got right; of two, on which the first is right and
        the second is not, and half of those on which neither is.
    """

    crowd: str
    family: str
    design: str
    n_items: int
    n_categories: int
    ratings_per_item: float
    agreement: float
    accuracy: float


def train_priors(outcomes: Sequence[Outcome]) -> dict[str, EmpiricalPrior]:
    """Train a prior for each answer to what the system is, and for differences: `train_prior`.

    There is none for differences if fewer than three families have two systems to compare.
    """
    pairs = {one.family for one in outcomes if one.design in DESIGN_WEIGHTS[DIFFERENCE]}
    names = (*SYSTEM_IS, DIFFERENCE) if len(pairs) >= FEWEST_FAMILIES else SYSTEM_IS
    return {name: train_prior(outcomes, name) for name in names}


def priors_text(priors: Mapping[str, EmpiricalPrior]) -> str:
    """Write priors as JSON that `read_priors` reads, a line for each."""
    lines = (f"{json.dumps(name)}: {json.dumps(asdict(prior))}" for name, prior in priors.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def train_prior(outcomes: Sequence[Outcome], system_is: str = "unknown") -> EmpiricalPrior:
    """Learn a line and deviations from it; families count equally, and so do crowds in a family.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Of three families or more.
    system_is : {"like", "better", "unknown", "difference"}
        Which designs count, see `DESIGN_WEIGHTS`.

    Returns
    -------
    EmpiricalPrior
        Its deviations are those of each family from the line through the others.

    Raises
    ------
    InputError
        If there are fewer than three families.
    """
    used = [one for one in outcomes if one.design in DESIGN_WEIGHTS[system_is]]
    families = np.array([one.family for one in used])
    if len(set(families)) < FEWEST_FAMILIES:
        raise InputError(
            f"the crowds are of {counted(len(set(families)), 'family', 'families')}",
            f"give crowds of {FEWEST_FAMILIES} families or more",
        )
    n = np.array([one.n_items for one in used])
    x = log_odds(n * np.array([one.agreement for one in used]), n)
    y = log_odds(n * np.array([one.accuracy for one in used]), n)
    weights = _weights(used, DESIGN_WEIGHTS[system_is])
    deviations = np.empty(len(used))
    for family in set(families):
        left_out = families == family
        intercept, slope = _line(x, y, np.where(left_out, 0.0, weights))
        deviations[left_out] = y[left_out] - intercept - slope * x[left_out]
    intercept, slope = _line(x, y, weights)
    return EmpiricalPrior(
        intercept=round(intercept, 6),
        slope=round(slope, 6),
        deviations=tuple(_quantiles(deviations, weights).round(4).tolist()),
        families=tuple(sorted(set(families.tolist()))),
        n_crowds=len({one.crowd for one in used}),
        n_data_sets=len(used),
        n_items=_range([one.n_items for one in used]),
        ratings_per_item=_range([one.ratings_per_item for one in used]),
        n_categories=_range([one.n_categories for one in used]),
        agreement=_range([one.agreement for one in used]),
    )


def _weights(outcomes: Sequence[Outcome], designs: Mapping[str, float]) -> Floats:
    crowds: dict[str, set[str]] = {}
    sizes: dict[tuple[str, str], int] = {}
    for one in outcomes:
        crowds.setdefault(one.family, set()).add(one.crowd)
        sizes[one.crowd, one.design] = sizes.get((one.crowd, one.design), 0) + 1
    weights = np.array(
        [
            designs[one.design] / len(crowds[one.family]) / sizes[one.crowd, one.design]
            for one in outcomes
        ]
    )
    return np.asarray(weights / weights.sum())


def _line(x: Floats, y: Floats, weights: Floats) -> tuple[float, float]:
    """Weighted least squares, the slope drawn a little toward 0."""
    weights = weights / weights.sum()
    centre = weights @ x
    slope = weights @ ((x - centre) * y) / (weights @ (x - centre) ** 2 + RIDGE)
    return float(weights @ y - slope * centre), float(slope)


def _quantiles(values: Floats, weights: Floats) -> Floats:
    # Equal deviations go by their weights: processors sort equal values into other orders.
    order = np.lexsort((-weights, values.round(9)))
    reached = np.cumsum(weights[order]) - weights[order] / 2
    return np.interp((np.arange(DEVIATIONS) + 0.5) / DEVIATIONS, reached, values[order])


def _range(values: Sequence[float]) -> tuple[float, float]:
    return round(min(values), 4), round(max(values), 4)
