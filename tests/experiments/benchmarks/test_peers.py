"""Other packages compute what we compute: those that are installed, and the committed table.

The page on other packages shows the table.
"""

import sys

import numpy as np
import pandas as pd
import pytest

import lehner
from experiments.benchmarks import speed as command
from lehner.known_truths.partly_known import PartlyKnown, prediction_powered

COMMITTED = pd.read_csv("experiments/benchmarks/peers.csv")


def check(peer, quantity, ours, theirs):
    """Compare with the peer, within the tolerance of the table, and with the table itself."""
    of_peer = COMMITTED["peer"].str.startswith(f"{peer} ")
    (row,) = COMMITTED[of_peer & (COMMITTED["quantity"] == quantity)].to_dict("records")
    assert ours == pytest.approx(theirs, abs=row["tolerance"]), quantity
    assert ours == pytest.approx(row["lehner"], abs=1e-9), quantity


def caries():
    """A row for each tooth, a column for each dentist."""
    return lehner.load_dataset("caries").to_ungrouped().to_wide().drop(columns="item").astype(int)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_krippendorff_on_his_own_example_with_missing_ratings(level):
    peer = pytest.importorskip("krippendorff")
    ratings = lehner.load_dataset("krippendorff")
    units = ratings.to_wide().set_index("item").to_numpy(dtype=float).T
    ours = lehner.agreement(ratings, weights=level).select(quantity="krippendorff_alpha")
    ours = ours["estimate"].item()
    theirs = peer.alpha(reliability_data=units, level_of_measurement=level)
    check("krippendorff", f"Krippendorff’s α, {level}", ours, theirs)


def test_statsmodels_on_the_example_of_fleiss():
    peer = pytest.importorskip("statsmodels.stats.inter_rater")
    ratings = lehner.load_dataset("fleiss1971")
    ours = lehner.agreement(ratings).value("fleiss_kappa").estimate
    check("statsmodels", "Fleiss’ κ", ours, peer.fleiss_kappa(ratings.count_votes()))


def test_sklearn_on_two_dentists():
    peer = pytest.importorskip("sklearn.metrics")
    table = caries().iloc[:, :2]
    ours = lehner.agreement(lehner.Ratings.from_wide(table)).value("cohen_kappa").estimate
    check(
        "scikit-learn",
        "Cohen’s κ, dentists 1 and 2",
        ours,
        peer.cohen_kappa_score(*table.to_numpy().T),
    )


@pytest.mark.filterwarnings("ignore")
def test_crowd_kit_on_all_dentists():
    peer = pytest.importorskip("crowdkit.aggregation")
    table = caries()
    ours = lehner.fit_latent_class(lehner.Ratings.from_wide(table), "dawid_skene")
    long = table.stack().rename_axis(["task", "worker"]).rename("label").reset_index()
    theirs = peer.DawidSkene(n_iter=100_000, tol=1e-12).fit(long)
    check("crowd-kit", "Dawid–Skene, prevalence", float(ours.base_rates[1]), theirs.priors_[1])
    recall = theirs.errors_.loc[(table.columns[0], 1), 1]
    check(
        "crowd-kit", "Dawid–Skene, sensitivity of dentist 1", float(ours.confusion[0, 1, 1]), recall
    )


def test_ppi_of_a_population_that_is_almost_infinite():
    peer = pytest.importorskip("ppi_py")
    rng = np.random.default_rng(1)
    probability = rng.beta(4, 2, 1_000_000)
    labelled = np.arange(len(probability)) < 300
    holds = (rng.random(len(probability)) < probability) & labelled
    counts = np.ones(len(probability))
    items = PartlyKnown(probability=probability, counts=counts, labelled=labelled, holds=holds)
    arrays = holds[labelled].astype(float), probability[labelled], probability[~labelled]
    ours, (lower, upper) = prediction_powered(items), peer.ppi_mean_ci(*arrays, alpha=0.1)
    check(
        "ppi-python", "PPI++, estimate", ours.estimate, peer.ppi_mean_pointestimate(*arrays).item()
    )
    check("ppi-python", "PPI++, lower limit", ours.lower, lower.item())
    check("ppi-python", "PPI++, upper limit", ours.upper, upper.item())


def test_the_table_has_every_number_within_its_tolerance():
    assert ((COMMITTED["lehner"] - COMMITTED["peers_number"]).abs() <= COMMITTED["tolerance"]).all()


# The command of the speed bars: with and without names.


@pytest.mark.parametrize("names", [[], ["toy"]])
def test_the_bars_are_measured_and_printed(monkeypatch, capsys, names):
    bar = command.make_row("a toy", "import toy", [(1.0, 2.0), (3.0, 2.0)], most=1.2)
    monkeypatch.setattr(command, "MEASURED", {"toy": lambda: iter([bar])})
    monkeypatch.setattr(sys, "argv", ["benchmarks", *names])
    command.main()
    *_, row = capsys.readouterr().out.splitlines()
    assert row.split() == "a toy 2.00 import toy 2.00 1.00 1.50 at most 1.2 met".split()


def test_a_name_that_is_not_there_is_said(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "comands"])
    with pytest.raises(lehner.InputError, match="comands"):
        command.main()


# Which of two systems is better: the kept table.


def test_in_the_kept_table_of_real_pairs_only_learned_prior_covers():
    rows = pd.read_csv("experiments/benchmarks/real/pairs.csv").query("design == 'like'")
    inside = (rows["lower"] <= rows["truth"] + 1e-4) & (rows["truth"] <= rows["upper"] + 1e-4)
    coverage = inside.groupby(rows["method"]).mean()
    is_learned_prior = coverage.index.str.startswith("learned_prior")
    assert coverage[is_learned_prior].min() > 0.84 and coverage[~is_learned_prior].max() < 0.7
