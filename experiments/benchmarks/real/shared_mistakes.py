"""Where real crowds lie: how much the mistakes of raters, and of a system, correlate in each.

Data sets with three ratings of each item are dealt as for the priors; the truth is known.

Run in a clone: `python -m experiments.benchmarks.real.shared_mistakes FOLDER`
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.benchmarks.real.sources import Source, find_sources, read_crowd
from experiments.reporting.files import write_csv
from lehner.core.seeds import seed_of
from lehner.dependence.mistakes import mistake_correlations
from lehner.dependence.mistakes_needed import REAL_CROWDS
from lehner.empirical_prior.deals import DEALS, choose_panels, deal

KINDS = {
    "MRMCaov": "experts",
    "LLMBar": "language models",
    "JudgeBench": "language models",
    "CARE": "language models",
}
"""Who the raters are, by the repository; elsewhere they are a crowd."""
PER_ITEM = "3"
SEED = 1
BY = ["crowd", "family", "kind", "deal"]


def measure(source: Source, folder: Path) -> Iterator[dict[str, Any]]:
    """Measure correlations of mistakes in each data set that is dealt from a crowd.

    Parameters
    ----------
    source : Source
    folder : Path
        With a folder for each repository.

    Yields
    ------
    dict
        `crowd`, `family`, `kind`, `deal`, `raters`, `system`, `accuracy` of the system.
    """
    crowd = read_crowd(source, folder)
    kind = KINDS.get(source.repository.folder, "crowd")
    for how in DEALS:
        for panel in choose_panels(crowd, how):
            dealt = deal(panel, PER_ITEM, seed_of(SEED, source.name, panel.system))
            if dealt is None:
                continue
            raters, system = mistake_correlations(dealt)
            yield dict(zip(BY, (source.name, source.family, kind, how), strict=True)) | {
                "raters": raters,
                "system": system,
                "accuracy": float(np.mean(dealt.system == dealt.truth)),
            }


def main() -> None:
    """Measure all crowds in a folder, and write the means over systems."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="with a folder for each repository")
    folder = parser.parse_args().folder
    measured = [row for source in find_sources() for row in measure(source, folder)]
    groups = pd.DataFrame(measured).groupby(BY, sort=False)
    means = groups.mean().assign(systems=groups.size()).reset_index().dropna()
    print(f"wrote {write_csv(means.round(3), REAL_CROWDS)}", file=sys.stderr)


if __name__ == "__main__":
    main()
