"""Numbers of other packages beside ours, where both compute the same thing.

Run in a clone: `python -m uv run --group benchmark python -m experiments.benchmarks.peers`. It
writes `peers.csv`, of which the page on other packages is made. The rows of packages that are not
installed stay as they are. Those of packages of R, stepmix, glide-py and ntqr are finished: version
0.2.0 made them.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pandas as pd

import lehner
from experiments.report.files import write_csv
from lehner.known_truths.partly_known import PartlyKnown, prediction_powered

type Row = tuple[str, str, float | None, float, float]
"""What is computed, of which data, our number, the peer's, and by how much they may differ."""
CARIES = 1
RESULTS = Path(__file__).with_name("peers.csv")
EXACT, SEARCHED, LARGE_SAMPLE = 1e-9, 1e-4, 1e-3
"""Tolerances: of formulas, of what a search finds, and of what only large samples share."""


def caries() -> pd.DataFrame:
    """A row for each tooth, a column for each dentist."""
    return lehner.load_dataset("caries").expand().to_wide().drop(columns="item").astype(int)


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

    table = caries().iloc[:, :2]
    ours = lehner.agreement(lehner.Ratings.from_wide(table))["cohen_kappa"].estimate
    theirs = cohen_kappa_score(*table.to_numpy().T)
    yield "Cohen’s κ, dentists 1 and 2", "caries", ours, theirs, EXACT


def against_crowd_kit() -> Iterator[Row]:
    """The Dawid-Skene model by maximum likelihood: base rates and an accuracy."""
    from crowdkit.aggregation import DawidSkene

    table = caries()
    ours = lehner.fit_latent_class(lehner.Ratings.from_wide(table), "dawid_skene")
    long = table.stack().rename_axis(["task", "worker"]).rename("label").reset_index()
    theirs = DawidSkene(n_iter=100_000, tol=1e-12).fit(long)
    rate, recall = float(ours.base_rates[1]), float(ours.confusion[0, 1, 1])
    first = table.columns[0]
    theirs_recall = theirs.errors_.loc[(first, CARIES), CARIES]
    yield "Dawid–Skene, prevalence", "caries", rate, theirs.priors_[CARIES], SEARCHED
    yield "Dawid–Skene, sensitivity of dentist 1", "caries", recall, theirs_recall, SEARCHED


def against_ppi() -> Iterator[Row]:
    """PPI++ of a proportion; ours is of a finite population, theirs of an infinite one."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    items = _mostly_unknown()
    labelled = items.known
    arrays = (
        items.holds[labelled].astype(float),
        items.probability[labelled],
        items.probability[~labelled],
    )
    lower, upper = ppi_mean_ci(*arrays, alpha=0.1)
    ours, data = prediction_powered(items), "simulated, 300 of 10⁶ known"
    estimate = ppi_mean_pointestimate(*arrays).item()
    yield "PPI++, estimate", data, ours.estimate, estimate, LARGE_SAMPLE
    yield "PPI++, lower limit", data, ours.lower, lower.item(), LARGE_SAMPLE
    yield "PPI++, upper limit", data, ours.upper, upper.item(), LARGE_SAMPLE


def _mostly_unknown() -> PartlyKnown:
    """A million items of which 300 are known, so that the population is almost infinite."""
    rng = np.random.default_rng(1)
    probability = rng.beta(4, 2, 1_000_000)
    labelled = np.arange(len(probability)) < 300
    return PartlyKnown(
        probability=probability,
        counts=np.ones(len(probability)),
        known=labelled,
        holds=(rng.random(len(probability)) < probability) & labelled,
    )


PEERS: dict[str, Callable[[], Iterator[Row]]] = {
    "krippendorff": against_krippendorff,
    "statsmodels": against_statsmodels,
    "scikit-learn": against_sklearn,
    "crowd-kit": against_crowd_kit,
    "ppi-python": against_ppi,
}


def compare(peer: str) -> pd.DataFrame:
    """Compute each number twice.

    Parameters
    ----------
    peer : str
        Of `PEERS`.

    Returns
    -------
    pandas.DataFrame
        Columns `quantity`, `data`, `lehner`, `peer` (name and version), `peers_number` and
        `tolerance`; no row if the peer is not installed.
    """
    try:
        release, rows = version(peer), list(PEERS[peer]())
    except PackageNotFoundError:
        rows = []
    columns = ["quantity", "data", "lehner", "peers_number", "tolerance"]
    table = pd.DataFrame(rows, columns=columns)
    if rows:
        table.insert(3, "peer", f"{peer} {release}")
    return table


def compare_all() -> pd.DataFrame:
    """Compare with each peer that is installed; the rows of others, and of packages of R, stay.

    Returns
    -------
    pandas.DataFrame
        As of `compare`.
    """
    committed = pd.read_csv(RESULTS)
    of_peer = committed.peer.str.rsplit(" ", n=1).str[0]
    tables = [committed[~of_peer.isin(list(PEERS))]]
    for peer in PEERS:
        compared = compare(peer)
        if compared.empty:
            print(f"{peer} is not installed: its rows are kept", file=sys.stderr)
            compared = committed[of_peer == peer]
        tables.append(compared)
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(f"wrote {write_csv(compare_all(), RESULTS)}", file=sys.stderr)
