"""Numbers of other packages beside ours, where both compute the same thing.

Run in a clone: `python -m uv run --group benchmark python -m experiments.benchmarks.peers`. It
writes `peers.csv`, of which the page on other packages is made.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

import lehner
from experiments.reporting.files import write_csv
from lehner.known_truths.partly_known import PartlyKnown, prediction_powered

CARIES = 1
RESULTS = Path(__file__).with_name("peers.csv")
EXACT, SEARCHED, LARGE_SAMPLE = 1e-9, 1e-4, 1e-3
"""Tolerances: of formulas, of what a search finds, and of what only large samples share."""

type Row = tuple[str, str, float | None, float, float]
"""What is computed, of which data, our number, the peer's, and by how much they may differ."""


def against_krippendorff() -> Iterator[Row]:
    """Krippendorff's alpha of his own example, with missing ratings."""
    import krippendorff

    ratings = lehner.load_dataset("krippendorff")
    units = ratings.to_wide().set_index("item").to_numpy(dtype=float).T
    for level in ("nominal", "ordinal", "interval", "ratio"):
        ours = lehner.agreement(ratings, weights=level)["krippendorff_alpha"].estimate
        theirs = krippendorff.alpha(reliability_data=units, level_of_measurement=level)
        yield f"Krippendorff’s α, {level}", "krippendorff", ours, theirs, EXACT


def against_statsmodels() -> Iterator[Row]:
    """Fleiss' kappa of his own example."""
    from statsmodels.stats.inter_rater import fleiss_kappa

    ratings = lehner.load_dataset("fleiss1971")
    ours = lehner.agreement(ratings)["fleiss_kappa"].estimate
    yield "Fleiss’ κ", "fleiss1971", ours, fleiss_kappa(ratings.votes()), EXACT


def against_sklearn() -> Iterator[Row]:
    """Cohen's kappa of the first two dentists."""
    from sklearn.metrics import cohen_kappa_score

    table = _caries().iloc[:, :2]
    ours = lehner.agreement(lehner.Ratings.from_wide(table))["cohen_kappa"].estimate
    theirs = cohen_kappa_score(*table.to_numpy().T)
    yield "Cohen’s κ, dentists 1 and 2", "caries", ours, theirs, EXACT


def against_crowd_kit() -> Iterator[Row]:
    """The Dawid-Skene model by maximum likelihood: base rates and an accuracy."""
    from crowdkit.aggregation import DawidSkene

    table = _caries()
    ours = lehner.fit_latent_class(lehner.Ratings.from_wide(table), "dawid_skene")
    long = table.stack().rename_axis(["task", "worker"]).rename("label").reset_index()
    theirs = DawidSkene(n_iter=100_000, tol=1e-12).fit(long)
    rate, recall = float(ours.base_rates[1]), float(ours.confusion[0, 1, 1])
    first = table.columns[0]
    theirs_recall = theirs.errors_.loc[(first, CARIES), CARIES]
    yield "Dawid–Skene, prevalence", "caries", rate, theirs.priors_[CARIES], SEARCHED
    yield "Dawid–Skene, sensitivity of dentist 1", "caries", recall, theirs_recall, SEARCHED


def against_stepmix() -> Iterator[Row]:
    """Two latent classes of the five dentists' answers."""
    from stepmix.stepmix import StepMix

    table = _caries()
    ours = lehner.fit_latent_class(lehner.Ratings.from_wide(table), "dawid_skene")
    model = StepMix(
        measurement="bernoulli",
        n_init=5,
        random_state=1,
        abs_tol=1e-12,
        max_iter=9999,
        progress_bar=0,
    )
    model.fit(table)
    theirs = model.score(table) * len(table)
    yield "Two latent classes, log-likelihood", "caries", ours.log_likelihood, theirs, SEARCHED
    rate = float(ours.base_rates[1])
    yield "Two latent classes, prevalence", "caries", rate, model.weights_.min(), SEARCHED


def against_ppi() -> Iterator[Row]:
    """PPI++ of a proportion; ours is of a finite population, theirs of an infinite one."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    rng = np.random.default_rng(1)
    probability = rng.beta(4, 2, 1_000_000)
    holds = rng.random(len(probability)) < probability
    known = np.arange(len(probability)) < 300
    ours = prediction_powered(
        PartlyKnown(
            probability=probability,
            counts=np.ones(len(probability)),
            known=known,
            holds=holds & known,
        )
    )
    given = holds[known].astype(float), probability[known], probability[~known]
    lower, upper = ppi_mean_ci(*given, alpha=0.1)
    data = "simulated, 300 of 10⁶ known"
    estimate = ppi_mean_pointestimate(*given)
    yield "PPI++, estimate", data, ours.estimate, estimate.item(), LARGE_SAMPLE
    yield "PPI++, lower limit", data, ours.lower, lower.item(), LARGE_SAMPLE
    yield "PPI++, upper limit", data, ours.upper, upper.item(), LARGE_SAMPLE


PEERS: dict[str, Callable[[], Iterator[Row]]] = {
    "krippendorff": against_krippendorff,
    "statsmodels": against_statsmodels,
    "scikit-learn": against_sklearn,
    "crowd-kit": against_crowd_kit,
    "stepmix": against_stepmix,
    "ppi-python": against_ppi,
}


def compare_peers() -> pd.DataFrame:
    """Compute each number twice.

    Returns
    -------
    pandas.DataFrame
        Columns `quantity`, `data`, `lehner`, `peer` (name and version), `peers_number` and
        `tolerance`.
    """
    rows = [
        {
            "quantity": quantity,
            "data": data,
            "lehner": ours,
            "peer": f"{name} {version(name)}",
            "peers_number": theirs,
            "tolerance": tolerance,
        }
        for name, against in PEERS.items()
        for quantity, data, ours, theirs, tolerance in against()
    ]
    return pd.DataFrame(rows)


def _caries() -> pd.DataFrame:
    """A row for each tooth, a column for each dentist."""
    return lehner.load_dataset("caries").expand().to_wide().drop(columns="item").astype(int)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(f"wrote {write_csv(compare_peers(), RESULTS)}", file=sys.stderr)
