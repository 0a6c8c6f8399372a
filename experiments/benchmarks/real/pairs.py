"""Which of two systems is better: what each method says of pairs of workers whose truth is known.

Two workers of a crowd are the systems, three others rate each item. `calibrated` is trained without
the family, or the domain, of the crowd. In the simulated pairs it meets errors that it was not
trained on. Run in a clone: `python -m experiments.benchmarks.real.pairs FOLDER`.
"""

import argparse
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.benchmarks.real.outcomes import SEED, read_outcomes
from experiments.benchmarks.real.sources import Source, find_sources, read_crowd
from experiments.report.files import write_csv, write_text
from experiments.report.table import Column, Table, to_markdown
from lehner import Ratings
from lehner.contrasts.system_draws import JointDraws
from lehner.core.seeds import seed_of
from lehner.core.text import short
from lehner.empirical_prior.designs import choose_pairs, draw_design
from lehner.empirical_prior.differences import draw_calibrated
from lehner.empirical_prior.prior import SHIPPED
from lehner.empirical_prior.training import priors_text, train_priors
from lehner.estimation.methods import find_method

OTHERS = ("majority_agreement", "algebraic", "dawid_skene_ml")
MOST_PAIRS = 6
LABELS = 20
LEVEL = 0.9
SIMULATED = 200
SHARED = 0.25
"""Part of the simulated items that mislead raters and systems, each with probability .8."""
ROWS = Path(__file__).with_suffix(".csv")


@cache
def priors_without(leave_out: str, name: str) -> Path:
    """Train priors on the crowds that are not of this family or domain, in a temporary file."""
    families = {source.name: getattr(source, leave_out) for source in find_sources()}
    others = [outcome for outcome in read_outcomes() if families[outcome.crowd] != name]
    file = Path(tempfile.mkdtemp()) / "priors.json"
    return write_text(priors_text(train_priors(others)), file)


def measure(source: Source, folder: Path) -> Iterator[dict[str, object]]:
    """Compare pairs of a crowd by all methods, a row for each."""
    crowd = read_crowd(source, folder)
    family, domain = (priors_without(one, getattr(source, one)) for one in ("family", "domain"))
    for how in ("like", "better"):
        for panel in choose_pairs(crowd, how)[:MOST_PAIRS]:
            seed = seed_of(SEED, source.name, *panel.systems)
            drawn = draw_design(panel, "3", seed)
            if drawn is None:
                continue
            pair = {"crowd": source.name, "family": source.family, "design": how}
            for row in compare(drawn, family, seed, OTHERS if how == "like" else OTHERS[:1]):
                yield pair | row
            draws = draw_calibrated(drawn.with_truth(None), priors=domain)
            yield pair | say(drawn, draws, "calibrated, domain left out")


def compare(
    ratings: Ratings, priors: Path, seed: np.random.SeedSequence, others: tuple[str, ...]
) -> Iterator[dict[str, object]]:
    """Compare two systems by all methods, and by `calibrated` with labels of differing items."""
    unseen = ratings.with_truth(None)
    for method in others:
        draw = find_method(method).joint_draws
        resampled = draw and draw(unseen.systems, unseen, resamples=200)
        if resampled is not None:
            yield say(ratings, resampled, method)
    yield say(ratings, draw_calibrated(unseen, priors=priors), "calibrated")
    differ = np.flatnonzero(ratings.answers[:, 0] != ratings.answers[:, 1])
    labelled = np.random.default_rng(seed).permutation(differ)[:LABELS]
    labels = np.full(ratings.n_items, -1)
    labels[labelled] = np.asarray(ratings.truth)[labelled]
    draws = draw_calibrated(ratings.with_truth(labels), priors=priors)
    yield say(ratings, draws, f"calibrated, {LABELS} labels")


def say(ratings: Ratings, draws: JointDraws, method: str) -> dict[str, object]:
    """Say what a method says of two systems, and the truth."""
    first, second = (draws.in_sample[name] for name in ratings.systems)
    difference = first - second
    difference = difference[np.isfinite(difference)]
    if not len(difference):
        difference = np.array([-1.0, 1.0])
    right = ratings.answers == np.asarray(ratings.truth)[:, None]
    lower, upper = np.quantile(difference, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return {
        "method": method,
        "truth": float((right @ [1, -1]).mean()),
        "estimate": float(difference.mean()),
        "lower": float(lower),
        "upper": float(upper),
        "probability": float(((np.sign(difference.round(9)) + 1) / 2).mean()),
    }


def simulate_pair(rng: np.random.Generator, shared: float) -> Ratings:
    """Simulate three raters and two systems; a part of the items may mislead all of them."""
    truth = rng.integers(2, size=SIMULATED)
    skill = np.where(rng.random((SIMULATED, 1)) < shared, 0.2, rng.uniform(0.55, 0.95, 5)[None, :])
    right = rng.random((SIMULATED, 5)) < skill
    answers = np.where(right, truth[:, None], 1 - truth[:, None])
    return Ratings(answers[:, :3], ["no", "yes"], system=answers[:, 3:], truth=truth)


def simulated_rows(pairs: int = 100) -> Iterator[dict[str, object]]:
    """Compare simulated pairs, by the priors that are shipped."""
    for design_name, shared in (("independent mistakes", 0.0), ("shared mistakes", SHARED)):
        for seed in np.random.SeedSequence(SEED).spawn(pairs):
            ratings = simulate_pair(np.random.default_rng(seed), shared)
            for row in compare(ratings, SHIPPED, seed, OTHERS[:2]):
                yield {"crowd": "simulated", "family": "simulated", "design": design_name} | row


def tabulate(rows: pd.DataFrame) -> Table:
    """Tabulate coverage, width, how often P(better) is right, and the slope of the truth."""
    table = []
    for (how, method), some in rows.groupby(["design", "method"], sort=False):
        inside = (some["lower"] <= some["truth"] + 1e-9) & (some["truth"] <= some["upper"] + 1e-9)
        by_family = inside.groupby(some["family"]).agg(["sum", "size"])
        residual = by_family["sum"] - inside.mean() * by_family["size"]
        error = np.sqrt((residual**2).sum()) / len(some)
        if len(by_family) == 1:
            error = inside.std() / np.sqrt(len(some))
        slope = (some["truth"] @ some["estimate"]) / (some["estimate"] @ some["estimate"])
        sure = [_rightness(some, least) for least in (0.8, 0.9, 0.99)]
        coverage = f"{short(inside.mean())} ({short(error)})"
        width = short((some["upper"] - some["lower"]).mean())
        table.append((how, method, len(some), coverage, width, *sure, short(slope)))
    titles = ("systems", "method", "pairs", "coverage", "width", "P ≥ .8", "P ≥ .9", "P ≥ .99")
    return Table(columns=[Column(one) for one in (*titles, "slope")], rows=table, keys=2)


def _rightness(rows: pd.DataFrame, least: float) -> str:
    """In which part of the pairs the better one was named with such a probability, of how many."""
    sign = np.sign(rows["probability"] - 0.5)
    sure = np.maximum(rows["probability"], 1 - rows["probability"]) >= least
    right = (1 + np.sign(rows["truth"].round(9)) * sign) / 2
    return f"{short(right[sure].mean())} of {sure.sum()}" if sure.any() else "– of 0"


def main() -> None:
    """Measure all crowds in a folder and the simulated pairs; write the rows and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="with a folder for each repository")
    folder = parser.parse_args().folder
    warnings.simplefilter("ignore")
    real = (row for source in find_sources() for row in measure(source, folder))
    rows = pd.DataFrame([*real, *simulated_rows()])
    write_csv(rows.round(4), ROWS)
    write_text(to_markdown(tabulate(rows)) + "\n", ROWS.with_suffix(".md"))


if __name__ == "__main__":
    main()
