"""What the priors of `calibrated` are trained on: how systems did, in all designs of all crowds."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from experiments.benchmarks.real.sources import Source, read_crowd
from lehner.empirical_prior.designs import draw_outcomes
from lehner.empirical_prior.prior import Outcome

OUTCOMES = Path(__file__).with_name("outcomes.csv")
SEED = 2026


def draw_all(sources: Iterable[Source], folder: Path) -> pd.DataFrame:
    """Draw all designs of all crowds, a row for each data set with the fields of `Outcome`."""
    return pd.DataFrame(
        outcome
        for source in sources
        for outcome in draw_outcomes(source.name, source.family, read_crowd(source, folder), SEED)
    )


def read_outcomes(path: Path = OUTCOMES) -> list[Outcome]:
    """Read outcomes that were kept, by default those of the shipped priors."""
    # Some readers of pandas miss the last digit of a number.
    exact = dict.fromkeys(("ratings_per_item", "agreement", "accuracy"), float)
    table = pd.read_csv(path, converters=exact)
    return [Outcome(**row) for row in table.to_dict("records")]
