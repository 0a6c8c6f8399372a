"""Fit `relaxed_k` of version 0.1.0 to stored data sets. Run by `first_version`, in its checkout.

It imports nothing that the checkout does not have.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import bayes_models
import lehner

TAILS = (0.05, 0.95)


def main(source: Path, target: Path) -> None:
    """Fit each data set of a file, and write a row for each estimand."""
    warnings.simplefilter("ignore")
    rows = []
    for data in json.loads(source.read_text()):
        ratings = lehner.Ratings.from_long(
            pd.DataFrame(data["ratings"]),
            system="system",
            categories=data["categories"],
            ordered=data["ordered"],
        )
        start = time.process_time()
        (tree,) = bayes_models.fit_many("relaxed_k", [ratings], seed=data["replicate"])
        seconds = time.process_time() - start
        diagnostics = json.loads(tree.attrs["diagnostics"])
        printed = json.loads(tree.attrs.get("warnings", "[]"))
        for estimand, truth in data["truth"].items():
            draws = tree.posterior[estimand].values
            lower, upper = np.quantile(draws, TAILS)
            rows.append(
                {
                    "replicate": data["replicate"],
                    "estimand": estimand,
                    "estimate": float(draws.mean()),
                    "lower": float(lower),
                    "upper": float(upper),
                    "truth": truth,
                    "categories": len(data["categories"]),
                    "converged": diagnostics["r_hat"] <= 1.025 and not diagnostics["divergences"],
                    "warned": bool(printed) or diagnostics["relabelled"] > 0.01,
                    "seconds": seconds,
                    "diagnostics": json.dumps(diagnostics),
                }
            )
    pd.DataFrame(rows).to_csv(target, index=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
