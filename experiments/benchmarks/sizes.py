"""What commands take as ratings grow: CPU time and memory of a process, by the size of a file.

Run in a clone on Linux: `python -m experiments.benchmarks.sizes [COMMAND …]`. Each command reads a
CSV file in a process of its own. Its row of `sizes.csv`, of which a page is made, is replaced at
once.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.report.files import write_csv
from lehner.core.errors import find

KEYS = ["items", "raters", "categories", "command"]
RESULTS = Path(__file__).with_name("sizes.csv")
PER_ITEM = 5
RIGHT = 0.7
MOST_SECONDS, MOST_BYTES = 120, 10 * 10**9
LEHNER = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({MOST_SECONDS}, {MOST_SECONDS}))
resource.setrlimit(resource.RLIMIT_DATA, ({MOST_BYTES}, {MOST_BYTES}))
from experiments.cli.main import main
try:
    main()
finally:
    # What getrusage gives counts the process that started this one, too.
    with open("/proc/self/status") as status:
        print(*(line.split()[1] for line in status if line.startswith("VmHWM")), file=sys.stderr)
"""
OF_CROWDS = {"estimate, dawid_skene": (100_000, 1000), "estimate, relaxed_k": (300, 270)}
"""What samples a model is measured for so many items and raters only."""
BY_METHOD = ("majority_agreement", "algebraic", "calibrated", "dawid_skene_ml")
COMMANDS = {
    **{f"estimate, {name}": ["estimate", "{ratings}", "--method", name] for name in BY_METHOD},
    "agreement": ["agreement", "{ratings}"],
    "label": ["label", "{ratings}", "--output", os.devnull],
    "check": ["check", "{ratings}"],
    "compare": ["compare", "{grouped}", "--group", "group"],
    **{name: ["estimate", "{ratings}", "--method", name.split()[1]] for name in OF_CROWDS},
}


@dataclass(frozen=True)
class Size:
    """How many items a file has, of how many raters, of whom five rate each, and categories."""

    items: int
    raters: int
    categories: int

    def write(self, ratings: Path, grouped: Path) -> None:
        """Write ratings and answers of a system, 70% of them right, and with four groups."""
        rng = np.random.default_rng(1)
        truth = rng.integers(self.categories, size=self.items)
        answers = rng.integers(self.categories, size=(self.items, PER_ITEM + 1))
        right = rng.random(answers.shape) < RIGHT
        labels = np.array([f"c{k:03}" for k in range(self.categories)])
        answers = labels[np.where(right, truth[:, None], answers)]
        raters = rng.integers(self.raters, size=self.items)[:, None] + np.arange(PER_ITEM)
        table = pd.DataFrame(answers, columns=[*map(str, range(1, PER_ITEM + 1)), "system"])
        table.insert(0, "item", np.arange(self.items))
        group = rng.integers(4, size=self.items)
        if self.raters > PER_ITEM:
            table = table.melt("item", var_name="rater", value_name="rating")
            names = [*(raters % self.raters).T.astype(str), ["system"] * self.items]
            table["rater"] = np.concatenate(names)
            group = np.tile(group, PER_ITEM + 1)
        table.to_csv(ratings, index=False)
        table.assign(group=group).to_csv(grouped, index=False)


SIZES = (
    *(Size(n, 5, 4) for n in (10_000, 100_000, 1_000_000)),
    *(Size(n, j, 4) for n, j in ((10_000, 100), (10_000, 1000), (100_000, 1000))),
    *(Size(10_000, 5, k) for k in (20, 200)),
    Size(300, 270, 4),
)


def measure(names: list[str], sizes: tuple[Size, ...] = SIZES) -> Iterator[dict[str, Any]]:
    """Measure commands; a cell is missing where one takes more than two minutes or 10 GB."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, f"{name}.csv") for name in ("ratings", "grouped")}
        for size in sizes:
            size.write(**files)
            for name in names:
                if OF_CROWDS.get(name, (size.items, size.raters)) != (size.items, size.raters):
                    continue
                arguments = [one.format(**files) for one in COMMANDS[name]]
                seconds, megabytes = _run(arguments)
                row = asdict(size) | {"command": name, "seconds": seconds, "megabytes": megabytes}
                print(*row.values(), file=sys.stderr, flush=True)
                yield row


def _run(arguments: list[str]) -> tuple[float, float]:
    command = [sys.executable, "-c", LEHNER, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    with process.stderr:
        said = process.stderr.read().split()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        return float("nan"), float("nan")
    return round(usage.ru_utime + usage.ru_stime, 1), round(int(said[-1]) / 1024)


def main() -> None:
    """Measure, and replace what `sizes.csv` has of the same commands and sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", nargs="*", help="; ".join(COMMANDS))
    names = parser.parse_args().command or list(COMMANDS)
    for name in names:
        find("command", name, COMMANDS)
    for row in measure(names):
        before = [pd.read_csv(RESULTS)] if RESULTS.exists() else []
        table = pd.concat([*before, pd.DataFrame([row])])
        write_csv(table.drop_duplicates(KEYS, keep="last").sort_values(KEYS), RESULTS)


if __name__ == "__main__":
    main()
