"""Numbers of R packages beside ours, if R and the package are installed.

`peers.R` computes theirs. Posterior means are of many draws; the two may differ by the Monte Carlo
error of both. irrCAC rounds to five digits.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

import bayes_models
import lehner

SCRIPT = Path(__file__).with_name("peers.R")
NOT_INSTALLED = 3
ROUNDED, SAMPLED = 5e-6, 0.004

type Row = tuple[str, str, float | None, float, float]
"""What is computed, of which data, our number, the peer's, and by how much they may differ."""


def caries() -> pd.DataFrame:
    """A row for each tooth, a column for each dentist."""
    return lehner.load_dataset("caries").expand().to_wide().drop(columns="item").astype(int)


def against_irrcac(theirs: dict[str, float]) -> Iterator[Row]:
    """Coefficients with missing ratings, and standard errors without."""
    found = lehner.agreement(lehner.load_dataset("krippendorff"))
    named = {
        "Conger’s κ": "conger_kappa",
        "Gwet’s AC1": "gwet_ac1",
        "Brennan–Prediger κ": "brennan_prediger_kappa",
        "Krippendorff’s α": "krippendorff_alpha",
    }
    for quantity, name in named.items():
        yield quantity, "krippendorff", found[name].estimate, theirs[name], ROUNDED
    found = lehner.agreement(lehner.load_dataset("caries"))
    kappa, ac1 = found["fleiss_kappa"], found["gwet_ac1"]
    yield "Fleiss’ κ", "caries", kappa.estimate, theirs["fleiss_kappa"], ROUNDED
    error, ac1_error = theirs["fleiss_kappa_error"], theirs["gwet_ac1_error"]
    yield "Fleiss’ κ, standard error", "caries", kappa.standard_error, error, ROUNDED
    yield "Gwet’s AC1, standard error", "caries", ac1.standard_error, ac1_error, ROUNDED


def against_rater(theirs: dict[str, float]) -> Iterator[Row]:
    """Posterior means of the Bayesian Dawid-Skene model with the priors of `rater`."""
    ratings = lehner.load_dataset("anesthesia").with_independent_repeats()
    ours = _posterior_means(ratings, "rater")
    rate, right = ours["base_rates"][0], ours["confusion"][0, 0, 0]
    data = "anesthesia"
    yield "Bayesian Dawid–Skene, base rate of 1", data, rate, theirs["base_rate"], SAMPLED
    yield "Bayesian Dawid–Skene, rater 1 is right of 1", data, right, theirs["right"], SAMPLED


def against_hui_walter(theirs: dict[str, float]) -> Iterator[Row]:
    """Two tests in two populations, flat priors: Hui & Walter (1980), by JAGS."""
    table = tuberculosis()
    ratings = lehner.Ratings.from_wide(table.drop(columns="Population"))
    ours = _posterior_means(ratings.with_populations(table["Population"]), "flat")
    data = "Hui & Walter (1980)"
    for i, name in enumerate(("Mantoux", "Tine")):
        right = ours["confusion"][i]
        found = f"Hui–Walter, sensitivity of {name}"
        yield found, data, right[1, 1], theirs[f"se[{i + 1}]"], SAMPLED
        found = f"Hui–Walter, specificity of {name}"
        yield found, data, right[0, 0], theirs[f"sp[{i + 1}]"], SAMPLED
    for i, rates in enumerate(ours["base_rates_by_population"].T, 1):
        yield f"Hui–Walter, prevalence in {i}", data, rates[1], theirs[f"prev[{i}]"], SAMPLED


def tuberculosis() -> pd.DataFrame:
    """The Mantoux and Tine tests of Hui & Walter (1980), a row for each person."""
    answers = [(1, 1), (1, 0), (0, 1), (0, 0)]
    counts = {1: (14, 4, 9, 528), 2: (887, 31, 37, 367)}
    rows = [
        (population, *answer)
        for population, of_answers in counts.items()
        for answer, count in zip(answers, of_answers, strict=True)
        for _ in range(count)
    ]
    return pd.DataFrame(rows, columns=["Population", "mantoux", "tine"])


def _posterior_means(ratings: lehner.Ratings, priors: str) -> dict[str, Any]:
    fit = bayes_models.fit(
        "dawid_skene",
        ratings,
        priors=priors,
        engine="gibbs",
        draws=20_000,
        tune=1000,
        progressbar=False,
        log_likelihood=False,
        checks=False,
    )
    means = fit["posterior"].to_dataset().mean(("chain", "draw"))
    return {str(name): variable.to_numpy() for name, variable in means.items()}


IN_R: dict[str, Callable[[dict[str, float]], Iterator[Row]]] = {
    "irrCAC": against_irrcac,
    "rater": against_rater,
    "runjags": against_hui_walter,
}


def compare_in_r(package: str) -> tuple[str, list[Row]]:
    """Compute each number by R and by us.

    Parameters
    ----------
    package : str
        Of `IN_R`.

    Returns
    -------
    version : str
    rows : list of tuple
        None if there is no R or no such package.
    """
    if not shutil.which("Rscript"):
        return "", []
    coders = lehner.load_dataset("krippendorff").to_wide().drop(columns="item")
    rated = lehner.load_dataset("anesthesia").to_long()[["item", "rater", "rating"]]
    with tempfile.TemporaryDirectory() as folder:
        for name, table in {
            "krippendorff": coders,
            "caries": caries(),
            "anesthesia": rated,
            "tuberculosis": tuberculosis(),
        }.items():
            table.to_csv(Path(folder, f"{name}.csv"), index=False)
        done = subprocess.run(
            ["Rscript", str(SCRIPT), package, folder], capture_output=True, text=True
        )
    if done.returncode == NOT_INSTALLED:
        return "", []
    if done.returncode:
        raise RuntimeError(done.stderr)
    release, *lines = (line.split(",") for line in done.stdout.splitlines())
    theirs = {name: float(number) for name, number, *_ in lines}
    return release[1], list(IN_R[package](theirs))
