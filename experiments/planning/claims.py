"""The paper's two recommendations on sample size, and ours beside them.

Run in a clone: `python -m experiments.planning.claims [FOLDER]`; without a folder the file kept
in the repository is made again.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from experiments.paper.figure_scenarios import FIGURES, PRESETS
from experiments.planning.plan import MEAN, Question, find_sizes, find_worst
from experiments.report.files import write_csv
from experiments.study.performance import proportion
from lehner import Scenario, simulate_estimates
from lehner.core.estimate import ESTIMANDS
from lehner.core.seeds import child_seeds
from lehner.planning.sample_size import ERROR_ROUNDING, Estimand

METHODS = ("algebraic_paper", "algebraic")
SAMPLES = 20_000
REPLICATES = 20_000
WITHIN = 0.1 + ERROR_ROUNDING


@dataclass(frozen=True)
class Claim:
    """That so many items are enough at so much agreement: five categories, three raters.

    Parameters
    ----------
    kappa : float
        "Around" which the raters are to agree.
    n_items : int
    figure : int
        With the raters of the paper that agree about so much.
    """

    kappa: float
    n_items: int
    figure: int


CLAIMS = (Claim(0.3, 200, 10), Claim(0.55, 100, 11))


def conditions(claim: Claim) -> dict[str, tuple[Scenario, ...]]:
    """What the claim may mean: a scenario for each accuracy of the system."""
    asked = Question(kappa=claim.kappa)
    figure = FIGURES[claim.figure]
    return {
        f"Figure {claim.figure}": tuple(figure.scenario(preset) for preset in PRESETS),
        "violation 1": replace(asked, violation=1.0).scenarios(),
        "violation 0": asked.scenarios(),
    }


def _check_claims() -> pd.DataFrame:
    """Compute the probability that the claims promise, and the items that it takes.

    Returns
    -------
    pandas.DataFrame
        Columns `kappa`, `claimed_items`, `condition`, `method`, `estimand`, `probability`
        (with the items claimed, mean over the accuracies of the system) and its
        `probability_se`, `lowest_probability` (the least of the five), `needed_items` and
        `needed_se`, `worst_needed_items` and `worst_needed_se`; none where no number is enough.
    """
    rows = []
    for claim, claim_seed in zip(CLAIMS, child_seeds(1, len(CLAIMS)), strict=True):
        by_condition = conditions(claim)
        seeds = child_seeds(claim_seed, len(by_condition))
        for (name, scenarios), child in zip(by_condition.items(), seeds, strict=True):
            rows += [
                {"kappa": claim.kappa, "claimed_items": claim.n_items, "condition": name, **row}
                for row in _rows(claim, scenarios, child)
            ]
    return pd.DataFrame(rows).astype({"needed_items": "Int64", "worst_needed_items": "Int64"})


def _rows(
    claim: Claim, scenarios: Sequence[Scenario], seed: np.random.SeedSequence
) -> Iterator[dict[str, Any]]:
    drawn = [
        simulate_estimates(
            replace(scenario, n_items=claim.n_items), SAMPLES, methods=METHODS, seed=one
        )
        for scenario, one in zip(scenarios, child_seeds(seed, len(scenarios)), strict=True)
    ]
    for method, estimand in product(METHODS, ESTIMANDS):
        near = [np.abs(one[method].values - one[estimand].values) <= WITHIN for one in drawn]
        proportions, errors = map(np.array, zip(*map(proportion, near), strict=True))
        question = Question(kappa=claim.kappa, method=method, estimand=cast(Estimand, estimand))
        sizes = find_sizes(question, scenarios, replicates=REPLICATES, seed=seed)
        mean, (_, worst) = sizes[MEAN], find_worst(sizes)
        yield {
            "method": method,
            "estimand": estimand,
            "probability": proportions.mean(),
            "probability_se": np.sqrt((errors**2).sum()) / len(errors),
            "lowest_probability": proportions.min(),
            "needed_items": mean.n_items,
            "needed_se": mean.standard_error,
            "worst_needed_items": worst.n_items,
            "worst_needed_se": worst.standard_error,
        }


def main() -> None:
    """Compute the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path(__file__).parent)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    table = _check_claims().round(4)
    write_csv(table, folder / "claims.csv")


if __name__ == "__main__":
    main()
