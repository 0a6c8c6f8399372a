"""AUC of scores on the real crowds that have scores, by few known truths or none.

    python -m experiments.benchmarks.real.scores CROWDS > scores.csv

Scores are how sure a reader is, from 1 to 5, that a scan is abnormal; how probable a reward model's
rewards make it that the first answer of two is better; and how toxic a comment is to a language
model, from 0 to 9. Three at a time of the others are raters: their scores are cut in the middle.
The AUC in the sample is estimated by `score_performance`; from the known items alone; and by taking
the majority for the truth of the others. Crowds whose files are not in the folder are left out.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.benchmarks.real.readers import read_data_frame
from experiments.benchmarks.real.sources import Source, find_sources
from experiments.study.cells import result_row
from experiments.study.performance import measure_rows
from lehner import Ratings, score_performance
from lehner.algebra.algebraic import majority_credit
from lehner.core.estimate import IntervalEstimate
from lehner.core.seeds import seed_of
from lehner.scores.monotone_score import ScoreRanks
from lehner.scores.performance import score_measures

KNOWN, DRAWS, SYSTEMS, RATERS = (0, 10, 20, 40), 2, 6, 3
MOST_ITEMS, RESAMPLES = 300, 100


def certainties(source: Source, files: Sequence[Path]) -> pd.DataFrame:
    """How sure readers are, a row for each case and a column for each reader, and `truth`."""
    frame = read_data_frame(files[0]).astype({"treatment": str, "truth": int})
    frame = frame[frame["treatment"] == source.name.rpartition("_")[2]]
    scores = frame.pivot(index="case", columns="reader", values="rating").astype(float)
    return ((scores - 1) / 4).assign(truth=frame.groupby("case")["truth"].first())


def rewards(source: Source, files: Sequence[Path]) -> pd.DataFrame:
    """Probability that the first answer is better, and for a judge without rewards its answer."""
    columns: dict[str, dict[str, float]] = {}
    for path in files:
        for line in path.read_text(encoding="utf-8").splitlines():
            pair = json.loads(line)
            judged = pair["judgments"][0] or {}
            first, second = judged.get("judgment", {}).get("scores", (None, None))
            if first is None:
                value = {"A>B": 1.0, "B>A": 0.0}.get(str(judged.get("decision")), np.nan)
            else:
                value = 1 / (1 + np.exp(second - first))
            columns.setdefault("truth", {})[pair["pair_id"]] = int(pair["label"] == "A>B")
            columns.setdefault(path.stem, {})[pair["pair_id"]] = value
    return pd.DataFrame(columns)


def toxicity(source: Source, files: Sequence[Path]) -> pd.DataFrame:
    """How toxic comments are to language models."""
    tables = {path.stem: pd.read_csv(path) for path in files}
    columns = {
        name: pd.to_numeric(table["parsed_output"], errors="coerce") / 9
        for name, table in tables.items()
    }
    truth = next(iter(tables.values()))["label"].astype(int)
    return pd.DataFrame(columns | {"truth": truth})


READERS = {
    "MRMCaov": ("readers of scans", certainties),
    "JudgeBench": ("reward models", rewards),
    "CARE": ("language models", toxicity),
}


def crowd_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Estimates of each system of each crowd."""
    for source in find_sources():
        files = source.paths(folder)
        if source.repository.folder not in READERS or not all(map(Path.exists, files)):
            continue
        kind, read = READERS[source.repository.folder]
        table = read(source, files)
        raters = [name for name in table if name != "truth"]
        scored = [name for name in raters if table[name].nunique() > 2]
        rng = np.random.default_rng(seed_of(1, source.name, kind))
        some = rng.permutation(len(scored))[:SYSTEMS]
        for system in (scored[i] for i in some):
            others = [name for name in raters if name != system]
            for _ in range(DRAWS):
                for row in _rows(table, system, others, rng):
                    yield {"scores": kind} | row


def _rows(
    table: pd.DataFrame, system: Any, others: Sequence[Any], rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Estimate the AUC of a system with three of the others as raters."""
    chosen = [others[i] for i in rng.permutation(len(others))[:RATERS]]
    some = table[table[system].notna() & table[chosen].notna().any(axis=1)]
    some = some.iloc[rng.permutation(len(some))[:MOST_ITEMS]]
    scores, truth = some[system].to_numpy(), some["truth"].to_numpy()
    votes = some[chosen].to_numpy()
    codes = np.where(np.isnan(votes), -1, votes >= 0.5).astype(int)
    ratings = Ratings(codes, ["no", "yes"], truth=truth)
    # Ties count as halves, which no truth can be; a coin decides.
    credit = majority_credit(ratings.votes())[:, 1]
    majority = (credit + rng.uniform(-0.1, 0.1, len(credit)) > 0.5).astype(int)
    ranks, one = ScoreRanks.of(scores), np.ones(len(some))
    right = score_measures(truth.astype(float), ranks, one, 0.5, (1, 1))[0]
    order = rng.permutation(len(some))
    for known in KNOWN:
        sample = order[:known]
        seen = np.full(len(some), -1)
        seen[sample] = truth[sample]
        by_method = {
            "scores": (ratings.with_truth(seen), scores),
            "majority": (ratings.with_truth(np.where(seen < 0, majority, seen)), scores),
        }
        if len(np.unique(truth[sample])) == 2:
            alone = ratings.take(sample)
            by_method["known items alone"] = (alone, scores[sample])
        for method, (data, values) in by_method.items():
            yield result_row(right, _auc(data, values), known=known, method=method)


def _auc(ratings: Ratings, scores: Any) -> IntervalEstimate:
    found = score_performance(ratings, scores, positive="yes", resamples=RESAMPLES)
    return found.measures["auc"]


if __name__ == "__main__":
    found = pd.DataFrame(crowd_rows(Path(sys.argv[1])))
    table = measure_rows(found, ("bias", "rmse", "coverage", "interval_width"))
    print(table.round(4).to_csv(index=False), end="")
