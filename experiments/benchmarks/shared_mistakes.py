"""Two extensions for raters who share mistakes, each beside the model that it extends.

A rater repeats another's answer, or each category has subtypes. Simulated data, and crowds of
`experiments.benchmarks.real` with FOLDER as there. The table goes to OUTPUT.

Run in a clone: `python -m experiments.benchmarks.shared_mistakes OUTPUT FOLDER`
"""

import argparse
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.benchmarks.copying_raters import Copying, Draws, sample_copying
from experiments.benchmarks.ebcc import sample_ebcc
from experiments.benchmarks.real.protocol import choose_systems, deal, seed_of
from experiments.benchmarks.real.sources import SOURCES, read_crowd
from experiments.benchmarks.settings import SETTINGS
from lehner import Ratings

TAILS = (0.05, 0.95)
SPARSE = (1.0, 9.0)
BASES = {
    "one_coin": Copying(by_rater=False),
    "one_coin_by_rater": Copying(),
    "common_preferences": Copying(preferences=True),
}
COPYING = {
    name: replace(BASES[name.partition(" + ")[0]], copying=SPARSE, with_system=with_system)
    for name, with_system in (
        ("one_coin_by_rater + copying", False),
        ("common_preferences + copying", False),
        ("one_coin_by_rater + copying with system", True),
        ("common_preferences + copying with system", True),
    )
}
SUBTYPES = {"dawid_skene": 1, "3 subtypes": 3, "10 subtypes": 10}
EXTENDED = {name: name.partition(" + ")[0] for name in COPYING} | {
    "3 subtypes": "dawid_skene",
    "10 subtypes": "dawid_skene",
}
# Data sets with each system accuracy.
COPYING_SETTINGS = {
    "H copying": 40,
    "figure 3": 12,
    "figure 10": 12,
    "A shared difficulty": 20,
    "C random matrices": 20,
    "F two raters": 20,
    "I errors to neighbours": 20,
    "K favourite category": 20,
}
SUBTYPE_SETTINGS = {"E two of eight are spammers": 20, "G crowd": 20}
COPYING_CROWDS = ("dog", "web", "CF_amt", "MS", "relevance", "adult")
SUBTYPE_CROWDS = (*COPYING_CROWDS, "rte", "temp", "SP_amt", "ZenCrowd_us")
SEED = 1

type Models = Mapping[str, Copying | int]
type Row = dict[str, Any]
type Floats = NDArray[np.float64]


def main() -> None:
    """Fit every model to every data set, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("folder", type=Path, help="with a folder for each repository of crowds")
    chosen = parser.parse_args()
    copying: Models = {**BASES, **COPYING}
    rows = [*_simulated(COPYING_SETTINGS, copying), *_simulated(SUBTYPE_SETTINGS, SUBTYPES)]
    rows += _of_crowds(chosen.folder, COPYING_CROWDS, "3", copying)
    rows += _of_crowds(chosen.folder, COPYING_CROWDS, "5", copying)
    rows += _of_crowds(chosen.folder, SUBTYPE_CROWDS, "5", SUBTYPES)
    table = compare(pd.DataFrame(rows))
    table.round(4).to_csv(chosen.output, index=False)
    print(table.round(3).to_string(index=False))


def compare(rows: pd.DataFrame) -> pd.DataFrame:
    """Compare each extension with the model that it extends, on the same data.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns `data`, `data_set`, `model`, `estimate`, `lower`, `upper`, `truth` and `copied`.

    Returns
    -------
    pandas.DataFrame
        A row for each kind of data and extension: `n` data sets; RMSE, bias and coverage of 90%
        intervals of the model and, with `new_`, of its extension; `difference` of the RMSEs and
        its Monte Carlo standard error by jackknife; and the mean of `copied`.
    """
    errors = rows.assign(
        error=rows["estimate"] - rows["truth"],
        covers=rows["truth"].between(rows["lower"], rows["upper"]),
    )
    found = []
    for (data, model), new in errors.groupby(["data", "model"], sort=False):
        if model not in EXTENDED:
            continue
        same = (errors["data"] == data) & (errors["model"] == EXTENDED[model])
        old = errors[same].set_index("data_set").loc[new["data_set"]]
        change, standard_error = _difference(new["error"].to_numpy(), old["error"].to_numpy())
        found.append(
            {
                "data": data,
                "model": model,
                "n": len(new),
                "rmse": _rmse(old["error"].to_numpy()),
                "new_rmse": _rmse(new["error"].to_numpy()),
                "difference": change,
                "standard_error": standard_error,
                "bias": old["error"].mean(),
                "new_bias": new["error"].mean(),
                "coverage": old["covers"].mean(),
                "new_coverage": new["covers"].mean(),
                "copied": new["copied"].mean(),
            }
        )
    return pd.DataFrame(found)


def _rmse(errors: Floats) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def _difference(new: Floats, old: Floats) -> tuple[float, float]:
    """Give the difference of two RMSEs, and its standard error by jackknife."""
    n = len(new)
    left_out = [np.sqrt(((one**2).sum() - one**2) / (n - 1)) for one in (new, old)]
    return _rmse(new) - _rmse(old), float((n - 1) / np.sqrt(n) * np.std(left_out[0] - left_out[1]))


def _simulated(settings: Mapping[str, int], models: Models) -> Iterator[Row]:
    for name, replicates in settings.items():
        for accuracy in SETTINGS[name].system_accuracies:
            for replicate in range(replicates):
                # As in `experiments.benchmarks.estimators`, so that its methods see the same data.
                entropy = [zlib.crc32(name.encode()), round(10 * accuracy), replicate]
                seed = np.random.SeedSequence(entropy)
                ratings, truth = SETTINGS[name].draw(accuracy, seed)
                for model, draws in _fit(ratings, models, seed):
                    yield _row(name, f"{accuracy} {replicate}", model, draws.accuracy, truth, draws)


def _of_crowds(
    folder: Path, names: tuple[str, ...], per_item: str, models: Models
) -> Iterator[Row]:
    for name in names:
        crowd = read_crowd(SOURCES[name], folder)
        for system in choose_systems(crowd):
            seed = seed_of(SEED, name, system)
            dealt = deal(crowd, system, per_item, seed)
            if dealt is None:
                continue
            truth = float(dealt.right.mean())
            for model, draws in _fit(dealt.ratings, models, seed):
                yield _row(f"{name}, {per_item}", system, model, draws.in_sample, truth, draws)


def _fit(
    ratings: Ratings, models: Models, seed: np.random.SeedSequence
) -> Iterator[tuple[str, Draws]]:
    for name, model in models.items():
        rng = np.random.default_rng(seed)
        if isinstance(model, Copying):
            yield name, sample_copying(ratings, model, rng)
        else:
            yield name, sample_ebcc(ratings, model, rng)


def _row(data: str, data_set: str, model: str, values: Floats, truth: float, draws: Draws) -> Row:
    lower, upper = np.quantile(values, TAILS)
    return {
        "data": data,
        "data_set": data_set,
        "model": model,
        "estimate": values.mean(),
        "lower": lower,
        "upper": upper,
        "truth": truth,
        "copied": draws.copied.mean(),
    }


if __name__ == "__main__":
    main()
