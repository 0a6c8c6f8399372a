"""The `relaxed_k` of version 0.1.0 on the data sets of `experiments.benchmarks.estimators`.

Run in a clone that has another clone beside it, at commit a9dcdaa (version 0.1.0):
`python -m experiments.benchmarks.first_version FOLDER CHECKOUT [--group NAME]`. It writes parts
into the folder, which `estimators` then puts into its table as the method `relaxed_k 0.1.0`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd

from experiments.benchmarks.estimators import (
    add_options,
    chosen_settings,
    draw_data,
    part_path,
    replicates_of,
)
from experiments.benchmarks.settings import SETTINGS
from experiments.reporting.files import write_csv

METHOD = "relaxed_k 0.1.0"
SCRIPT = Path(__file__).with_name("first_version_fit.py")


def main() -> None:
    """Compute the missing parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("checkout", type=Path)
    add_options(parser)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(chosen.workers) as pool:
        done = [
            pool.submit(_write_parts, chosen.folder, chosen.checkout, name, chosen.data_sets)
            for name in chosen_settings(chosen)
        ]
        for part in done:
            part.result()


def _write_parts(folder: Path, checkout: Path, setting: str, data_sets: int) -> None:
    """Fit all data sets of a setting in one process, which compiles the model once."""
    replicates = replicates_of(setting, data_sets)
    accuracies = SETTINGS[setting].system_accuracies
    paths = {
        accuracy: part_path(folder, setting, METHOD, accuracy, replicates)
        for accuracy in accuracies
    }
    missing = [accuracy for accuracy in accuracies if not paths[accuracy].exists()]
    if not missing:
        return
    data = [
        _as_json(setting, accuracy, replicate)
        for accuracy in missing
        for replicate in range(replicates)
    ]
    with tempfile.TemporaryDirectory() as temporary:
        source, target = Path(temporary, "data.json"), Path(temporary, "rows.csv")
        source.write_text(json.dumps(data))
        environment = os.environ | {"PYTHONPATH": str(checkout.resolve()), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, str(SCRIPT), str(source), str(target)]
        subprocess.run(command, cwd=temporary, env=environment, check=True)
        rows = pd.read_csv(target)
    rows = rows.assign(setting=setting, method=METHOD)
    rows["system"] = [accuracy for accuracy in missing for _ in range(2 * replicates)]
    for accuracy in missing:
        write_csv(rows[rows["system"] == accuracy], paths[accuracy])


def _as_json(setting: str, accuracy: float, replicate: int) -> dict[str, object]:
    ratings, truth = draw_data(setting, accuracy, replicate)
    table = ratings.with_truth(None).to_long()
    return {
        "replicate": replicate,
        "ratings": table.astype(str).to_dict(orient="list"),
        "categories": [str(category) for category in ratings.categories],
        "ordered": ratings.ordered,
        "truth": truth,
    }


if __name__ == "__main__":
    main()
