"""Replicates: simulate once, let every method estimate, and give a row per estimand.

Of an experiment the rows are those of its function.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import NormalDist

import numpy as np

from bayes_models.methods import fit_as_in_studies
from experiments.report.document import versions
from experiments.report.files import write_atomically
from experiments.report.machine import is_of_the_machine
from experiments.study.cells import Cell, Row
from experiments.study.definition import Study
from experiments.study.identity import digest, method_id, place_of, scenario_id, seed_at
from experiments.study.options import MethodChoice
from experiments.study.user_code import (
    Generated,
    Truths,
    check_fields,
    generate,
    user_function,
    user_method,
)
from lehner import (
    Estimate,
    InputError,
    Ratings,
    Scenario,
    estimate_algebraic,
    estimate_latent_class,
)
from lehner.algebra.algebraic import estimate_from_votes, majority_proportion
from lehner.core.arrays import Floats
from lehner.core.estimate import ESTIMANDS
from lehner.core.resampling import wilson_interval
from lehner.data.patterns import VoteTable, pattern_votes
from lehner.estimation.methods import ALGEBRAIC, calibrated, find_method
from lehner.latent_class.models import LIKELIHOOD_METHODS
from lehner.simulation.draw import SimulatedItems, has_few_patterns, simulate_items

UNDEFINED = "agreement at or below chance, or answers on no informative item"
DIAGNOSTICS = ("r_hat", "ess_bulk", "ess_tail", "divergences", "tries")
UNCONVERGED = {"not-converged", "too-few-draws", "divergences", "tree-depth", "labels-switched"}
"""Codes of warnings about draws whose diagnostics fail."""
NUMBERS = ("estimate", "lower", "upper", "standard_error")
NO_NUMBERS: Row = dict.fromkeys((*NUMBERS, *DIAGNOSTICS))


@dataclass(frozen=True, kw_only=True)
class Task:
    """Replicates of a scenario that a worker does in one go, and which become one file.

    Parameters
    ----------
    scenario : Scenario or Generated
    key : str
        What its results are known by.
    methods : mapping of str to MethodChoice
        By what their results are known by. None of an experiment.
    replicates : range
    level : float
        Probability of the intervals.
    folder : Path
        Where draws are kept.
    """

    scenario: Scenario | Generated
    key: str
    methods: Mapping[str, MethodChoice]
    replicates: range
    level: float
    folder: Path

    @property
    def name(self) -> str:
        """Name of its file."""
        span = f"{self.replicates.start:06}-{self.replicates.stop:06}"
        return f"{self.key}-{span}-{digest(sorted(self.methods))}"

    def cell(self) -> Cell:
        """Make the task a cell, whose seed is that of the scenario."""
        place = place_of(scenario_id(self.scenario))
        return Cell(name=self.name, place=place, simulate=partial(do_task, self))


def do_task(task: Task, seed: np.random.SeedSequence) -> list[Row]:
    """Do all replicates of a task.

    Parameters
    ----------
    task : Task
    seed : numpy.random.SeedSequence
        Of the scenario in the study.

    Returns
    -------
    list of dict
        A row for each replicate, method and estimand.

    Raises
    ------
    InputError
        If the machine lacks memory, disk space or a package: that is no result.
    """
    try:
        return _rows(task, seed)
    except Exception as error:
        if not is_of_the_machine(error):
            raise
        first, last = task.replicates[0], task.replicates[-1]
        which = f"replicate {first}" if first == last else f"replicates {first} to {last}"
        raise InputError(
            f"{which} of scenario {scenario_id(task.scenario)} could not be done: "
            f"{_in_one_line(error)}",
            "what was finished is kept; see to memory, disk space and packages, or take fewer "
            "workers, and run again to go on",
        ) from error


def _rows(task: Task, of_cell: np.random.SeedSequence) -> list[Row]:
    if not task.methods:
        return [
            row for replicate in task.replicates for row in _experiment(task, replicate, of_cell)
        ]
    in_batches = all(method.in_batches for method in task.methods.values())
    if in_batches and isinstance(task.scenario, Scenario) and has_few_patterns(task.scenario):
        return list(_in_batches(task, task.scenario, of_cell))
    return [row for replicate in task.replicates for row in _one_by_one(task, replicate, of_cell)]


def _experiment(task: Task, replicate: int, of_cell: np.random.SeedSequence) -> Iterator[Row]:
    assert isinstance(task.scenario, Generated)
    place = {"scenario_id": task.key, "replicate": replicate, "method_id": ""}
    function = user_function(task.scenario.code)
    for row in function(seed_at(of_cell, replicate), **dict(task.scenario.fields)):
        yield place | row


def simulate_ratings(scenario: Scenario | Generated, seed: int) -> tuple[Ratings, Truths]:
    """Simulate the ratings of a replicate, and give what is true of them by estimand."""
    if not isinstance(scenario, Scenario):
        return generate(scenario, seed)
    items = simulate_items(scenario, np.random.default_rng(seed))
    return items.to_ratings(scenario), _truths(items)


def _one_by_one(task: Task, replicate: int, of_cell: np.random.SeedSequence) -> Iterator[Row]:
    seed = seed_at(of_cell, replicate)
    ratings, truths = simulate_ratings(task.scenario, seed)
    for key, method in task.methods.items():
        start = time.perf_counter()
        of_method = seed_at(of_cell, replicate, int(method_id(method, task.level), 16))
        try:
            estimate: Estimate | str = _estimate(task, method, replicate, ratings, of_method)
        except Exception as error:
            # A study of a night is not to be lost for one data set.
            if is_of_the_machine(error):
                raise
            estimate = _in_one_line(error)
        seconds = time.perf_counter() - start
        kept = _row(task, key, replicate) | {"seed": seed, "seconds": seconds}
        for estimand, truth in truths.items():
            numbers = _numbers(estimate, estimand)
            yield kept | {"estimand": estimand, "truth": truth} | numbers


def _in_one_line(error: Exception) -> str:
    # The sampler adds a trace of itself, which differs between machines.
    text = str(error).split("Stack backtrace:")[0]
    return f"{type(error).__name__}: {' '.join(text.split())}"


def _estimate(
    task: Task, choice: MethodChoice, replicate: int, ratings: Ratings, seed: int
) -> Estimate:
    if choice.code is not None or not isinstance(task.scenario, Scenario):
        ratings = ratings.with_truth(None)
    if choice.code is not None:
        return user_method(choice.code).estimate(ratings, level=task.level, seed=seed)
    options = dict(choice.options)
    if choice.bayesian:
        import bayes_models

        keep = options.pop("keep", 0)
        tree = fit_as_in_studies(choice.method, ratings, seed, **options)
        if replicate < keep:
            name = f"{scenario_id(task.scenario)}-{method_id(choice, task.level)}-{replicate}.nc"
            write = partial(tree.to_netcdf, engine="h5netcdf")
            write_atomically(task.folder / "fits" / name, write)
        return bayes_models.estimate_from_draws(tree, level=task.level)
    if choice.method == "calibrated":
        return calibrated(**options).estimate(ratings, level=task.level, seed=seed)
    options |= {"level": task.level, "seed": seed}
    if options.get("interval") == "none":
        options["interval"] = None
    if choice.method in ALGEBRAIC:
        return estimate_algebraic(ratings, aggregation=ALGEBRAIC[choice.method], **options)
    if choice.method in LIKELIHOOD_METHODS:
        return estimate_latent_class(ratings, LIKELIHOOD_METHODS[choice.method], **options)
    return find_method(choice.method).estimate(ratings, **options)


def _numbers(estimate: Estimate | str, estimand: str) -> Row:
    if isinstance(estimate, str):
        return NO_NUMBERS | {"status": "failed", "reason": estimate}
    value, diagnostics = getattr(estimate, estimand), estimate.diagnostics or {}
    status = "ok"
    if value.estimate is None:
        status = "undefined"
    elif "r_hat" in diagnostics and UNCONVERGED & {one.code for one in estimate.warnings}:
        status = "unconverged"
    numbers = {name: getattr(value, name) for name in NUMBERS}
    numbers |= {name: diagnostics.get(name) for name in DIAGNOSTICS}
    return numbers | {"status": status, "reason": "; ".join(map(str, estimate.warnings))}


def _in_batches(task: Task, scenario: Scenario, of_cell: np.random.SeedSequence) -> Iterator[Row]:
    start, k = time.perf_counter(), scenario.n_categories
    votes = pattern_votes(scenario.n_raters, k, missing=scenario.missing > 0)
    n_votes = len(votes.table.votes)
    place = (k + (scenario.missing > 0)) ** np.arange(scenario.n_raters)[::-1]
    answers = np.empty((len(task.replicates), n_votes, k))
    samples = []
    for i, replicate in enumerate(task.replicates):
        seed = seed_at(of_cell, replicate)
        items = simulate_items(scenario, np.random.default_rng(seed))
        pattern = np.where(items.codes < 0, k, items.codes) @ place
        cell = votes.votes_of_pattern[pattern] * k + items.system
        answers[i] = np.bincount(cell, minlength=n_votes * k).reshape(n_votes, k)
        samples.append((replicate, seed, _truths(items)))
    names = [method.method for method in task.methods.values()]
    estimates = estimate_from_votes(votes.table, answers, names)
    lower, upper = _majority_intervals(votes.table, answers, task.level)
    seconds = (time.perf_counter() - start) / len(task.replicates)
    for i, (replicate, seed, truths) in enumerate(samples):
        for key, method in task.methods.items():
            value = float(estimates[method.method][i])
            kept = _row(task, key, replicate) | {"seed": seed, "seconds": seconds} | NO_NUMBERS
            if np.isnan(value):
                kept |= {"status": "undefined", "reason": UNDEFINED}
            else:
                kept |= {"estimate": value, "status": "ok", "reason": ""}
            for estimand, truth in truths.items():
                row = kept | {"estimand": estimand, "truth": truth}
                # Of the accuracy in the sample it states none, here as for one data set.
                if method.method == "majority_agreement" and estimand == "system_accuracy":
                    row |= {"lower": float(lower[i]), "upper": float(upper[i])}
                yield row


def _majority_intervals(table: VoteTable, answers: Floats, level: float) -> Floats:
    """Wilson's interval of each sample's agreement with the majority, as `majority_agreement`'s."""
    rated = answers[:, table.votes.sum(axis=1) > 0].sum(axis=(1, 2))
    z = NormalDist().inv_cdf((1 + level) / 2)
    return wilson_interval(majority_proportion(table.votes, answers), rated, z=z)


def _truths(items: SimulatedItems) -> Truths:
    in_sample = float((items.truth == items.system).mean())
    return dict(zip(ESTIMANDS, (items.system_accuracy, in_sample), strict=True))


def _row(task: Task, method: str, replicate: int) -> Row:
    """Columns that all estimands of a replicate and method have in common."""
    place = {"scenario_id": task.key, "replicate": replicate, "method_id": method}
    return place | {"versions": versions()}


def check_code(study: Study) -> None:
    """Run a user's files, and raise an InputError if one of them cannot do what it is for."""
    for method in study.methods:
        if method.code is not None:
            user_method(method.code)
    for code in (study.table, study.figure):
        if code is not None:
            user_function(code)
    for cell in study.cells:
        if isinstance(cell.scenario, Generated):
            check_fields(cell.scenario)


def task_size(methods: Sequence[MethodChoice], scenario: Scenario | Generated) -> int:
    """Number of replicates of a task, so that it takes seconds and little is lost."""
    if not methods:
        return 10
    if all(method.in_batches for method in methods) and isinstance(scenario, Scenario):
        return 1000
    if any(method.bayesian and dict(method.options).get("engine") != "gibbs" for method in methods):
        return 4
    return 50
