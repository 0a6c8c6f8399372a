"""The paper's two recommendations on sample size, and ours beside them.

Run in a clone: `python -m experiments.planning.claims [FOLDER]`; without a folder the files kept
in the repository are made again.
"""

import argparse
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from experiments.paper.figure_scenarios import FIGURES, PRESETS
from experiments.planning.plan import Plan, Question, plan_scenarios
from experiments.planning.plan_report import NONE, number_of_items
from experiments.reporting.files import write_csv, write_text
from experiments.reporting.markdown import markdown_table
from experiments.study.proportions import proportion
from lehner import Scenario, simulate_estimates
from lehner.core.estimate import ESTIMANDS
from lehner.core.seeds import child_seeds
from lehner.planning.nearness import ERROR_ROUNDING, Estimand

METHODS = ("algebraic_paper", "algebraic")
SAMPLES = 20_000
REPLICATES = 20_000
WITHIN = 0.1 + ERROR_ROUNDING


@dataclass(frozen=True, kw_only=True)
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


CLAIMS = (Claim(kappa=0.3, n_items=200, figure=10), Claim(kappa=0.55, n_items=100, figure=11))


def conditions(claim: Claim) -> dict[str, tuple[Scenario, ...]]:
    """Give what the claim may mean: a scenario for each accuracy of the system."""
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
    several = zip(scenarios, child_seeds(seed, len(scenarios)), strict=True)
    drawn = [
        simulate_estimates(
            replace(scenario, n_items=claim.n_items), SAMPLES, methods=METHODS, seed=one
        )
        for scenario, one in several
    ]
    for method, estimand in product(METHODS, ESTIMANDS):
        near = [np.abs(one[method].values - one[estimand].values) <= WITHIN for one in drawn]
        shares, errors = map(np.array, zip(*map(proportion, near), strict=True))
        question = Question(kappa=claim.kappa, method=method, estimand=cast(Estimand, estimand))
        plan = plan_scenarios(question, scenarios, replicates=REPLICATES, seed=seed)
        yield {
            "method": method,
            "estimand": estimand,
            "probability": shares.mean(),
            "probability_se": np.sqrt((errors**2).sum()) / len(errors),
            "lowest_probability": shares.min(),
            **_needed(plan),
        }


def _needed(plan: Plan) -> dict[str, Any]:
    assert plan.worst is not None
    worst = plan.worst[1]
    return {
        "needed_items": plan.mean.n_items,
        "needed_se": plan.mean.standard_error,
        "worst_needed_items": worst.n_items,
        "worst_needed_se": worst.standard_error,
    }


def page(table: pd.DataFrame) -> str:
    """Write the table as a Markdown page."""
    head = (
        "kappa",
        "claimed",
        "condition",
        "method",
        "truth",
        "probability with that many",
        "lowest of five",
        "needed on average",
        "needed at worst",
    )
    rows = [
        (
            f"{row.kappa:g}",
            f"{row.claimed_items}",
            row.condition,
            row.method,
            "expected" if row.estimand == "system_accuracy" else "in sample",
            f"{row.probability:.3f} ± {row.probability_se:.3f}",
            f"{row.lowest_probability:.2f}",
            _with_error(row.needed_items, row.needed_se),
            _with_error(row.worst_needed_items, row.worst_needed_se),
        )
        for row in table.itertuples()
    ]
    return INTRODUCTION.replace("@FOUND@", _finding(table)) + markdown_table(head, rows) + "\n"


def _finding(table: pd.DataFrame) -> str:
    """Say whether the paper's own method reaches 90% in the paper's own settings."""
    parts = []
    for claim in CLAIMS:
        row = table[
            (table["condition"] == f"Figure {claim.figure}")
            & (table["method"] == "algebraic_paper")
            & (table["estimand"] == "system_accuracy")
        ].iloc[0]
        parts.append(
            f"{row['probability']:.2f} with {row['claimed_items']} cases at kappa {claim.kappa:g}"
        )
    said = (
        "With the paper's method, in the paper's settings, the probability for the expected "
        f"accuracy is {' and '.join(parts)}."
    )
    return textwrap.fill(said, 100)


def _with_error(n_items: Any, error: Any) -> str:
    return NONE if pd.isna(n_items) or pd.isna(error) else number_of_items(n_items, error)


INTRODUCTION = """# The paper's two sample sizes

Are the sample sizes that the paper recommends large enough? Lehner (2015), "Recommended use", says
that for five categories and three raters 200 cases are enough for 90% "confidence" that the
estimate is within .1 of the true accuracy if kappa is around .3, and 100 if it is around .55.
@FOUND@

The columns are:

- *condition*: `Figure 10` and `Figure 11` are the paper's own settings, with raters of accuracy .5,
  .6, .7 and .7, .8, .9 (their kappas are .30 and .58) and systems of initial accuracy .1, .3, .5,
  .7 and .9. `violation 1` has the same violations of the K-properties, raters with exactly that
  kappa, and systems of expected accuracy .1, .3, .5, .7 and .9. In `violation 0` the K-properties
  hold.
- *method*: `algebraic_paper` has the paper's step 4; in that of `algebraic` an item weighs more the
  clearer its truth is.
- *truth*: whether the estimate is compared with the expected accuracy or with that in the sample.
- *probability with that many*: the probability, averaged over the five systems, that the estimate
  is within .1 of the truth with the number of items claimed; ± is its Monte Carlo standard error.
- *lowest of five*: the same for the system for which it is lowest.
- *needed on average*, *needed at worst*: the number of items with which the average, or each of the
  five, reaches 90%. A dash means that no number up to 100,000 is enough, or that near 90% the
  probability grows too slowly for the number to be found.

Made by `python -m experiments.planning.claims`.

"""


def main() -> None:
    """Compute the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path(__file__).parent)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    table = _check_claims().round(4)
    write_csv(table, folder / "claims.csv")
    write_text(page(table), folder / "claims.md")


if __name__ == "__main__":
    main()
