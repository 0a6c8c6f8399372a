"""How often labels are right, and how sure they may be: the power by which they are tempered.

On each crowd, with all ratings and with three of each item, the log loss of a model's labels is
computed at several powers. Each family is judged at the power that is best on the other families.
Run in a clone: `python -m experiments.benchmarks.real.labels FOLDER`.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.benchmarks.real.outcomes import SEED
from experiments.benchmarks.real.sources import Source, find_sources, read_crowd
from experiments.reporting.files import write_text
from experiments.reporting.renderers import to_markdown
from experiments.reporting.table import Column, Table
from lehner import Ratings
from lehner.core.arrays import Floats, Integers
from lehner.core.seeds import seed_of
from lehner.core.text import short
from lehner.data.flat import FlatRatings
from lehner.labels.label import temper
from lehner.labels.mean_field import LABEL_MODELS, fit_mean_field
from lehner.latent_class.pattern_table import tabulate

MODELS = ("majority", "one_coin_by_rater_vb", "dawid_skene_vb")
POWERS = np.round(np.arange(0.05, 1.01, 0.05), 2)
FEW = 3
SURE = 0.95
LEAST = 1e-9
"""Probability that a true category has at least, lest one item decide a log loss."""
MEASURES = {
    "right": "right",
    "loss": "log loss",
    "sure": "≥ .95 sure",
    "right_sure": "of these right",
}


def measure(source: Source, folder: Path) -> Iterator[dict[str, object]]:
    """Label a crowd by each model, a row for each power."""
    crowd = read_crowd(source, folder)
    truth = np.asarray(crowd.truth)
    flat, rng = crowd.flat, np.random.default_rng(seed_of(SEED, source.name))
    place = pd.Series(rng.random(crowd.n_ratings)).groupby(flat.item_index).rank()
    few = FlatRatings(**{name: values[place <= FEW] for name, values in vars(flat).items()})
    thinned = Ratings(few, crowd.categories, crowd.raters, crowd.items)
    for ratings, design in ((crowd.with_truth(None), "all ratings"), (thinned, "3 per item")):
        if design != "all ratings" and thinned.n_ratings > 0.9 * crowd.n_ratings:
            continue
        table, pattern = tabulate(ratings, truths=False)
        for model in MODELS:
            fit = fit_mean_field(table, LABEL_MODELS[model])
            classes = fit.classes[pattern][truth >= 0]
            for power in POWERS:
                yield {
                    "family": source.family,
                    "crowd": source.name,
                    "design": design,
                    "model": model,
                    "power": power,
                } | score(temper(classes, power), truth[truth >= 0])


def score(probabilities: Floats, truth: Integers) -> dict[str, float]:
    """Score labels of items: how many are right, the log loss, and those that are called sure."""
    best = probabilities.max(axis=1)
    tied = probabilities >= best[:, None] - 1e-9
    of_truth = np.arange(len(truth)), truth
    right = tied[of_truth] / tied.sum(axis=1)
    sure = best >= SURE
    return {
        "right": right.mean(),
        "loss": -np.log(np.maximum(probabilities[of_truth], LEAST)).mean(),
        "sure": sure.mean(),
        "right_sure": right[sure].mean() if sure.any() else np.nan,
    }


def tabulate_families(rows: pd.DataFrame) -> tuple[Table, float]:
    """Tabulate means over families, each at the best power of the others; give that of all."""
    keys = ["family", "design", "model", "power"]
    families = rows.groupby(keys, sort=False)[list(MEASURES)].mean().reset_index()
    table = []
    for (model, design), some in families.groupby(["model", "design"], sort=False):
        of_model = families[families["model"] == model]
        kept = [
            group[group["power"] == best_power(of_model[of_model["family"] != family])]
            for family, group in some.groupby("family")
        ]
        untempered = some[some["power"] == 1]
        for power, found in (("1", untempered), ("learned", pd.concat(kept))):
            values = [short(found[name].mean()) for name in MEASURES]
            table.append((design, model, power, *values))
    titles = ("ratings", "model", "power", *MEASURES.values())
    columns = [Column(title) for title in titles]
    ordered = sorted(table, key=lambda row: row[0] != "all ratings")
    default = families[families["model"] == MODELS[-1]]
    return Table(columns=columns, rows=ordered, keys=2), best_power(default)


def best_power(families: pd.DataFrame) -> float:
    """Give the power with the least log loss, in the mean over designs of means over families."""
    return float(
        families.groupby(["design", "power"])["loss"].mean().groupby("power").mean().idxmin()
    )


def main() -> None:
    """Measure all crowds in a folder, and write the table; print the power."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="with a folder for each repository")
    folder = parser.parse_args().folder
    warnings.simplefilter("ignore")
    rows = pd.DataFrame(row for source in find_sources() for row in measure(source, folder))
    table, power = tabulate_families(rows)
    write_text(to_markdown(table) + "\n", Path(__file__).with_suffix(".md"))
    print(f"The best power for {MODELS[-1]} on all families is {power:g}.")


if __name__ == "__main__":
    main()
