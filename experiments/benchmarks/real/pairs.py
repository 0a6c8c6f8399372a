"""Which of two systems is better: what each method says of pairs of workers whose truth is known.

Two workers of a crowd are the systems, three others rate each item. `calibrated` is trained without
the family, or the domain, of the crowd. In the simulated pairs it meets errors that it was not
trained on. Run in a clone: `python -m experiments.benchmarks.real.pairs FOLDER [METHOD …]`, which
replaces the rows of these methods, by default of all.
"""

import argparse
import os
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

# As the command does: compiling takes longer than sampling. Before Numba is imported.
os.environ.setdefault("NUMBA_OPT", "1")

import numpy as np
import pandas as pd

from experiments.benchmarks.real.fits import estimate_as_in_studies
from experiments.benchmarks.real.sources import SEED, SOURCES, read_crowd, read_outcomes
from lehner import Ratings
from lehner.contrasts.systems import JointDraws
from lehner.core.arrays import derive_seed
from lehner.core.errors import find
from lehner.core.text import to_short
from lehner.empirical_prior.calibrated import draw_calibrated
from lehner.empirical_prior.designs import choose_pairs, draw_design
from lehner.empirical_prior.prior import SHIPPED, format_priors, train_priors
from lehner.estimation.methods import find_method
from lehner.report.files import write_csv, write_text
from lehner.report.table import Column, Table, to_markdown

LABELS = 20
LABELLED, OTHER_DOMAINS = f"calibrated, {LABELS} labels", "calibrated, domain left out"
SLOW = "relaxed_k"
METHODS = (
    *("majority_agreement", "algebraic", "dawid_skene_ml", "dawid_skene", SLOW),
    *("calibrated", LABELLED, OTHER_DOMAINS),
)
# Of each crowd and design.
MOST_PAIRS, MOST_PAIRS_OF_SLOW = 6, 3
RESAMPLES = 200
LEVEL = 0.9
SIMULATED_PAIRS, SIMULATED_ITEMS = 100, 200
# Part of the simulated items that mislead raters and systems, each with probability .8.
SIMULATED = {"independent errors": 0.0, "correlated errors": 0.25}
ROWS = Path(__file__).with_suffix(".csv")


@cache
def train_priors_without(attribute: str, name: str) -> Path:
    """Train priors on the crowds that are not of this family or domain, in a temporary file."""
    group_of = {source.name: getattr(source, attribute) for source in SOURCES.values()}
    outcomes = read_outcomes()
    others = outcomes[outcomes["crowd"].map(group_of) != name]
    file = Path(tempfile.mkdtemp()) / "priors.json"
    return write_text(format_priors(train_priors(others)), file)


def measure(method: str, folder: Path) -> Iterator[dict[str, object]]:
    """Compare the pairs of all crowds and the simulated ones by a method, a row for each.

    `relaxed_k` has fewer pairs and none that are simulated: `calibrated` is given the shipped
    priors for these.
    """
    left_out = "domain" if method == OTHER_DOMAINS else "family"
    most = MOST_PAIRS_OF_SLOW if method == SLOW else MOST_PAIRS
    for source in SOURCES.values():
        crowd = read_crowd(source, folder)
        priors = train_priors_without(left_out, getattr(source, left_out))
        for design in ("like", "better"):
            for panel in choose_pairs(crowd, design)[:most]:
                seed = derive_seed(SEED, source.name, *panel.systems)
                ratings = draw_design(panel, "3", seed)
                if ratings is not None:
                    row = {"crowd": source.name, "family": source.family, "design": design}
                    yield row | describe_pair(ratings, draw_pair(method, ratings, priors, seed))
    for design, misleading in SIMULATED.items():
        for seed in np.random.SeedSequence(SEED).spawn(SIMULATED_PAIRS):
            if method not in (SLOW, OTHER_DOMAINS):
                ratings = simulate_pair(np.random.default_rng(seed), misleading)
                row = {"crowd": "simulated", "family": "simulated", "design": design}
                yield row | describe_pair(ratings, draw_pair(method, ratings, SHIPPED, seed))


def draw_pair(
    method: str, ratings: Ratings, priors: Path, seed: np.random.SeedSequence
) -> JointDraws:
    """Draw the accuracies of two systems by a method, which sees no truth but gold labels."""
    unseen = ratings.with_truth(None)
    if method == LABELLED:
        return draw_calibrated(label_differing(ratings, seed), priors=priors)
    if method.startswith("calibrated"):
        return draw_calibrated(unseen, priors=priors)
    registered = find_method(method)
    assert registered.joint_draws is not None
    if not registered.has_draws:
        draws = registered.joint_draws(unseen.systems, unseen, resamples=RESAMPLES)
    else:
        fits = {
            name: estimate_as_in_studies(method, unseen.select_system(name), SEED)
            for name in unseen.systems
        }
        draws = registered.joint_draws(fits, unseen, seed=SEED)
    assert draws is not None
    return draws


def label_differing(ratings: Ratings, seed: np.random.SeedSequence) -> Ratings:
    """Keep the truth of 20 random items on which the two systems differ."""
    differ = np.flatnonzero(ratings.answers[:, 0] != ratings.answers[:, 1])
    labelled = np.random.default_rng(seed).permutation(differ)[:LABELS]
    labels = np.full(ratings.n_items, -1)
    labels[labelled] = np.asarray(ratings.truth)[labelled]
    return ratings.with_truth(labels)


def describe_pair(ratings: Ratings, draws: JointDraws) -> dict[str, object]:
    """Put the difference of two systems by their draws beside the true one."""
    first, second = (draws.in_sample[name] for name in ratings.systems)
    difference = first - second
    difference = difference[np.isfinite(difference)]
    if not len(difference):
        difference = np.array([-1.0, 1.0])
    right = ratings.answers == np.asarray(ratings.truth)[:, None]
    lower, upper = np.quantile(difference, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return {
        "truth": float((right @ [1, -1]).mean()),
        "estimate": float(difference.mean()),
        "lower": float(lower),
        "upper": float(upper),
        "probability": float(((np.sign(difference.round(9)) + 1) / 2).mean()),
    }


def simulate_pair(rng: np.random.Generator, misleading: float) -> Ratings:
    """Simulate three raters and two systems; a part of the items may mislead all of them."""
    n = SIMULATED_ITEMS
    truth = rng.integers(2, size=n)
    skill = np.where(rng.random((n, 1)) < misleading, 0.2, rng.uniform(0.55, 0.95, 5)[None, :])
    right = rng.random((n, 5)) < skill
    answers = np.where(right, truth[:, None], 1 - truth[:, None])
    return Ratings(answers[:, :3], ["no", "yes"], system=answers[:, 3:], truth=truth)


def tabulate(rows: pd.DataFrame) -> Table:
    """Tabulate coverage, width, how often P(better) is right, and the slope of the truth."""
    table = []
    designs = {name: place for place, name in enumerate(("like", "better", *SIMULATED))}
    rows = rows.sort_values("design", key=lambda names: names.map(designs), kind="stable")
    for (design, method), group in rows.groupby(["design", "method"], sort=False):
        lower, upper, truth = group["lower"], group["upper"], group["truth"]
        covered = (lower <= truth + 1e-9) & (truth <= upper + 1e-9)
        by_family = covered.groupby(group["family"]).agg(["sum", "size"])
        residual = by_family["sum"] - covered.mean() * by_family["size"]
        error = np.sqrt((residual**2).sum()) / len(group)
        if len(by_family) == 1:
            error = covered.std() / np.sqrt(len(group))
        slope = (truth @ group["estimate"]) / (group["estimate"] @ group["estimate"])
        sure = [_count_right(group, least) for least in (0.8, 0.9, 0.99)]
        coverage = f"{to_short(covered.mean())} ({to_short(error)})"
        width = to_short((upper - lower).mean())
        table.append((design, method, len(group), coverage, width, *sure, to_short(slope)))
    titles = ("systems", "method", "pairs", "coverage", "width", "P ≥ .8", "P ≥ .9", "P ≥ .99")
    return Table(columns=[Column(title) for title in (*titles, "slope")], rows=table, keys=2)


def _count_right(rows: pd.DataFrame, least: float) -> str:
    """Count in which part of the pairs, of how many, the better one got such a probability."""
    sign = np.sign(rows["probability"] - 0.5)
    sure = np.maximum(rows["probability"], 1 - rows["probability"]) >= least
    right = (1 + np.sign(rows["truth"].round(9)) * sign) / 2
    return f"{to_short(right[sure].mean())} of {sure.sum()}" if sure.any() else "– of 0"


def main() -> None:
    """Measure all crowds in a folder and the simulated pairs; write the rows and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="with a folder for each repository")
    parser.add_argument("method", nargs="*", default=METHODS, help=", ".join(METHODS))
    options = parser.parse_args()
    methods = [find("method", name, dict.fromkeys(METHODS, name)) for name in options.method]
    warnings.simplefilter("ignore")
    for method in methods:
        measured = pd.DataFrame(measure(method, options.folder)).round(4)
        measured.insert(3, "method", method)
        kept = pd.read_csv(ROWS)
        rows = pd.concat([kept[kept["method"] != method], measured])
        order = {name: place for place, name in enumerate(METHODS)}
        rows = rows.sort_values("method", key=lambda names: names.map(order), kind="stable")
        write_csv(rows, ROWS)
        write_text(to_markdown(tabulate(rows)) + "\n", ROWS.with_suffix(".md"))


if __name__ == "__main__":
    main()
