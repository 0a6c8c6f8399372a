"""Every method on real ratings with gold labels: bias, RMSE, coverage and width.

Nothing is fetched: the files of `--list` are to be in FOLDER. Results are kept one by one, so
that the same command goes on where it was stopped, and tables are of all that is kept.

Run in a clone: `python -m experiments.benchmarks.real FOLDER --output OUTPUT`
Compare a method of your own: `… --method majority_agreement mine.py:function`
Train the priors that are shipped: `… FOLDER --train lehner/empirical_prior/priors.json`
"""

import argparse
import os
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

# As the command does: compiling takes longer than sampling. Before Numba is imported.
os.environ.setdefault("NUMBA_OPT", "1")

from experiments.benchmarks.real.fits import (
    correction_cells,
    known_folder,
    list_tasks,
    method_labels,
    size_cell,
)
from experiments.benchmarks.real.report import write_report
from experiments.benchmarks.real.sources import (
    OUTCOMES,
    Source,
    describe,
    draw_all,
    find_sources,
    missing_files,
    read_outcomes,
)
from experiments.report.files import write_csv, write_text
from experiments.study.cells import Cell, read_cells, run_cells
from lehner import InputError
from lehner.empirical_prior.designs import DESIGNS, MOST_SYSTEMS, RATINGS_PER_ITEM
from lehner.empirical_prior.prior import priors_text, train_priors
from lehner.estimation.methods import list_methods

METHODS = ("majority_agreement", "algebraic", "one_coin_by_rater_ml", "dawid_skene_ml")


def main() -> int:
    """Run what is missing, and write the tables; give the exit code."""
    options = _parser().parse_args()
    try:
        sources = find_sources(options.crowd)
        if options.list:
            print("\n".join(describe(sources)))
            return 0
        if options.folder is None or (options.output or options.train) is None:
            raise InputError("a folder is missing", "give FOLDER, with the files, and --output")
        if options.split:
            sources = [source for source in sources if source.split == options.split]
        missing = missing_files(sources, options.folder)
        if missing:
            print(*missing, sep="\n", file=sys.stderr)
            return 2
        warnings.simplefilter("ignore")
        if options.train:
            _train(options, sources)
        else:
            _run(options, sources)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _train(options: argparse.Namespace, sources: list[Source]) -> None:
    outcomes = options.output / OUTCOMES.name if options.output else OUTCOMES
    write_csv(draw_all(sources, options.folder), outcomes)
    text = priors_text(train_priors(read_outcomes(outcomes)))
    _name([outcomes, write_text(text, options.train)])


def _run(options: argparse.Namespace, sources: list[Source]) -> None:
    folder, output, seed = options.folder, options.output, options.seed
    compute = partial(_compute, seed=seed, workers=options.workers, dask=options.dask)
    methods = method_labels(options.method)
    compute([size_cell(source.name, folder) for source in sources], output / "crowds")
    tasks = list_tasks(
        sources, folder, options.per_item, list(methods), seed, options.design, options.systems
    )
    fits = [task.cell(folder, methods[task.method]) for task in tasks]
    compute(fits, output / "parts")
    corrections = correction_cells(read_cells(output / "parts", fits, seed), folder, options.draws)
    compute(corrections, known_folder(output, options.draws))
    _name(write_report(output, seed, options.draws))


def _name(written: list[Path]) -> None:
    for path in written:
        print(f"wrote {path}", file=sys.stderr)


def _compute(cells: list[Cell], folder: Path, **options: Any) -> None:
    for cell, _ in run_cells(cells, folder, **options):
        print(f"{folder.name}: {cell.name}", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.benchmarks.real", description=__doc__.splitlines()[0]
    )
    parser.add_argument("folder", type=Path, nargs="?", help="with a folder for each repository")
    parser.add_argument("--output", type=Path, help="folder for results; they are added to")
    parser.add_argument("--train", type=Path, metavar="FILE", help="write the priors, and leave")
    parser.add_argument("--list", action="store_true", help="print which files go where, and leave")
    parser.add_argument("--crowd", nargs="+", default=[], help="these crowds; default: all")
    parser.add_argument("--split", choices=("choose", "report"), help="these crowds only")
    parser.add_argument("--design", nargs="+", default=DESIGNS, choices=DESIGNS)
    parser.add_argument("--per-item", nargs="+", default=RATINGS_PER_ITEM, choices=RATINGS_PER_ITEM)
    parser.add_argument("--method", nargs="+", default=METHODS, help=", ".join(list_methods()))
    parser.add_argument("--systems", type=int, default=MOST_SYSTEMS, help="of a crowd, at most")
    parser.add_argument("--draws", type=int, default=2, help="of labelled items, for each fit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1, help="processes at work")
    parser.add_argument("--dask", metavar="ADDRESS", help="of a scheduler, or local")
    return parser


if __name__ == "__main__":
    sys.exit(main())
