"""Cells of a study: replicates of a scenario, simulated and estimated by a method in one go.

A row for each replicate, method and estimand; of an experiment the rows are those of its function.
"""

import logging
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from lehner import __version__
from lehner.core.arrays import Floats
from lehner.core.errors import InputError, check_probability
from lehner.core.estimate import ESTIMANDS, Estimate, IntervalEstimate, number
from lehner.core.lazy import load_function, names_function, pa, pd
from lehner.data.ratings import Ratings
from lehner.estimation.methods import Method, MethodLike, find_method
from lehner.performance.replicates import take_parameters
from lehner.report.files import is_of_the_machine, list_versions
from lehner.simulation.draw import simulate_items
from lehner.simulation.scenario import Scenario, expect_joint
from lehner.study import definition
from lehner.study.definition import ACCURACY
from lehner.study.performance import Row

logger = logging.getLogger(__name__)
# The format of stored results is raised when a method gives other estimates before the next
# version.
FORMAT = 6
# By default, of methods that resample.
RESAMPLES = 2000
DIAGNOSTICS = ("r_hat", "ess_bulk", "ess_tail", "divergences", "tries")
# Codes of warnings about draws whose diagnostics fail.
UNCONVERGED = {"not-converged", "too-few-draws", "divergences", "tree-depth", "labels-switched"}
NUMBERS = ("estimate", "lower", "upper", "standard_error")
NO_NUMBERS: Row = dict.fromkeys((*NUMBERS, *DIAGNOSTICS))
type Truths = dict[str, float | None]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Replicates of a scenario that a worker does in one go, and which become one file.

    Parameters
    ----------
    scenario : StudyScenario
    method : MethodChoice, optional
        None of an experiment.
    replicates : range
    level : float
        Probability of the intervals.
    seed : int
        Of the study.
    estimand : str or UserCode
        What is estimated.
    """

    scenario: definition.StudyScenario
    method: definition.MethodChoice | None
    replicates: range
    level: float
    seed: int
    estimand: str | definition.UserCode

    @cached_property
    def scenario_seed(self) -> np.random.SeedSequence:
        """Seed of the scenario in the study."""
        return definition.derive_scenario_seed(self.seed, self.scenario.scenario)

    @property
    def stem(self) -> str:
        """Beginning of the name of its file, which stands for all that its rows depend on."""
        text = "" if self.scenario.code is None else self.scenario.code.hash
        options = "" if self.method is None else self.method.identify(self.level)
        if self.estimand != ACCURACY:
            options += getattr(self.estimand, "hash", str(self.estimand))
        identity = definition.digest([__version__, FORMAT, self.seed, text, options])
        span = f"{self.replicates.start:06}-{self.replicates.stop:06}"
        return f"{definition.identify_scenario(self.scenario.scenario)}-{identity}-{span}"

    def compute(self) -> "tuple[Cell, pa.Table]":
        """Do all its replicates.

        Raises
        ------
        InputError
            If the machine lacks memory, disk space or a package: that is no result.
        """
        try:
            rows = [row for number in self.replicates for row in run_replicate(self, number)]
        except Exception as error:
            if not is_of_the_machine(error):
                raise
            which = f"replicates {self.replicates[0]} to {self.replicates[-1]}"
            problem = f"{which} of the scenario {self.scenario.name} could not be done"
            remedy = "what was finished is kept; see to memory, disk space and packages, or take "
            remedy += "fewer workers, and run again to go on"
            raise InputError(f"{problem}: {_write_in_one_line(error)}", remedy) from error
        table = pa.Table.from_pandas(pd.DataFrame(rows), preserve_index=False)
        return self, table.replace_schema_metadata(None)

    def try_out(self) -> None:
        """Do its first replicate, to see whether functions of the user's run.

        Raises
        ------
        InputError
            If one breaks. A method that raises an InputError has no estimate of these data, which
            is a result.
        """
        number = self.replicates.start
        seed = definition.derive_cell_seed(self.scenario_seed, number)
        ratings, _ = simulate_ratings(self.scenario.scenario, seed, self.estimand)
        if self.method is None or self.method.code is None:
            return
        load_user_method(self.method.code)
        try:
            _estimate(self, number, ratings)
        except (Exception, SystemExit) as error:
            if isinstance(error, InputError) and not isinstance(error, TypeError):
                return
            where = f"in its first sample of the scenario {self.scenario.name!r}"
            problem = f"{self.method.code.text} breaks {where}: {_write_in_one_line(error)}"
            remedy = "correct it, or raise a lehner.InputError where the data support no estimate"
            raise InputError(problem, remedy) from error


def divide(replicates: int, method: definition.MethodChoice | None) -> list[range]:
    """Divide the replicates of a scenario into blocks of a method, or of an experiment.

    A block of replicates, which takes seconds, begins at the same number however many there are, so
    that a study that grows does at most one block of each scenario and method again.
    """
    size = 10 if method is None else 50
    if method is not None and method.bayesian and dict(method.options).get("engine") != "gibbs":
        size = 4
    return [range(start, min(start + size, replicates)) for start in range(0, replicates, size)]


def find_trials(cells: Iterable[Cell]) -> list[Cell]:
    """Choose a cell of each scenario and method to try, where a user's function takes part."""
    trials: dict[tuple[str, str], Cell] = {}
    for cell in cells:
        if cell.method is not None:
            code = cell.method.code
            if code is not None or cell.scenario.code is not None:
                trials.setdefault((cell.scenario.name, "" if code is None else code.text), cell)
    return list(trials.values())


@cache
def load_user_method(code: definition.UserCode) -> Method:
    """Run the file of a method, and make a method of its function."""
    return find_method(load_user_function(code))


def make_portable(method: MethodLike) -> MethodLike:
    """Make a method of a function that a file holds, which other processes can run without it."""
    if not names_function(method):
        return method
    file, _, function = str(method).rpartition(":")
    content = Path(file).read_bytes()
    code = definition.UserCode(file=file, function=function, content=content, path=Path(file))
    return replace(find_method(method), fit=partial(_estimate_by_code, code))


def _estimate_by_code(
    code: definition.UserCode, ratings: Ratings, *, level: float, seed: int
) -> Estimate:
    return load_user_method(code).fit(ratings, level=level, seed=seed)


@cache
def load_user_function(code: definition.UserCode) -> Callable[..., Any]:
    """Run a file from its text, which other processes have even where they have no such file."""
    if code.defined is not None:
        return code.defined
    name = Path(code.file).name
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(code.content)
        try:
            function, _ = load_function(f"{name}:{code.function}", folder)
            return function
        except InputError as error:
            raise InputError(error.problem, error.remedy, file=code.file) from error


def call_user_function(code: definition.UserCode, argument: Any, **fields: Any) -> Any:
    """Call a user's function; what it yields becomes a list, and what it raises one InputError.

    `sys.exit` in it raises an exception, too, which is to end the study no more than others.
    """
    function = load_user_function(code)
    try:
        result = function(argument, **fields)
        return list(result) if isinstance(result, Iterator) else result
    except (Exception, SystemExit) as error:
        if is_of_the_machine(error):
            raise
        seed = f" with seed {argument}" if isinstance(argument, int) else ""
        problem = f"{code.text} raises {type(error).__name__}{seed}: {error}"
        raise InputError(problem, "correct it; what was finished is kept") from error


def announce_code(study: str, codes: Iterable[definition.UserCode]) -> None:
    """Say whose code is about to run, unless it was defined in Python."""
    files = ", ".join(repr(str(code.path.resolve())) for code in codes if code.defined is None)
    if files:
        text = f"{study} runs Python code with your rights: {files}"
        logger.warning(f"{text}; read it first if somebody else wrote it")


def simulate_ratings(
    scenario: Scenario | definition.Generated,
    seed: int,
    estimand: str | definition.UserCode = ACCURACY,
) -> tuple[Ratings, Truths]:
    """Simulate the ratings of a replicate, by lehner or a user's function.

    Parameters
    ----------
    scenario : Scenario or Generated
    seed : int
    estimand : str or UserCode
        What the truths are of.

    Returns
    -------
    ratings : Ratings
        With truth.
    truths : dict
        The expected value and that in the sample by their names; the expected one is None where a
        function does not give it.

    Raises
    ------
    InputError
        If the function raises an exception or returns no Ratings with system and truth.
    """
    expected: float | None
    if isinstance(scenario, Scenario):
        ratings, expected = simulate_items(scenario, np.random.default_rng(seed))
    else:
        ratings, expected = _generate(scenario, seed)
        if expected is not None and estimand == ACCURACY:
            check_probability("the accuracy that a generator returns", expected)
    system, truth = np.asarray(ratings.system), np.asarray(ratings.truth)
    if estimand == ACCURACY:
        in_sample = float((system == truth)[system >= 0].mean())
        return ratings, dict(zip(ESTIMANDS, (expected, in_sample), strict=True))
    name, k = str(getattr(estimand, "function", estimand)), ratings.n_categories
    cells = np.bincount((truth * k + system)[system >= 0], minlength=k * k).reshape(k, k)
    if isinstance(scenario, Scenario):
        expected = measure_joint(estimand, expect_joint(scenario, seed))
    truths = expected, measure_joint(estimand, cells / cells.sum())
    return ratings, dict(zip((name, f"{name}_in_sample"), truths, strict=True))


def measure_joint(estimand: str | definition.UserCode, joint: Floats) -> float:
    """Measure a system by the proportions of items with each truth (row) and answer.

    Examples
    --------
    >>> joint = np.array([[0.3, 0.1, 0.0], [0.0, 0.2, 0.0], [0.1, 0.0, 0.3]])
    >>> round(measure_joint("weighted_loss", joint), 3)
    0.15
    """
    if isinstance(estimand, definition.UserCode):
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(call_user_function(estimand, joint))
    place = np.arange(len(joint))
    return float((joint * abs(place[:, None] - place)).sum() / (len(joint) - 1))


def _measure_estimate(
    cell: Cell, method: Method, ratings: Ratings, estimate: Estimate, seed: int
) -> Estimate:
    """Put another estimand in the place of the accuracies, with the interval of its draws.

    A user's method that says nothing of confusion matrices gives the estimand itself.
    """
    choice, estimand = cell.method, cell.estimand
    assert choice is not None
    options = {"resamples": RESAMPLES} | dict(choice.options)
    draw = method.functions.get("parameters", take_parameters)
    draws = draw(ratings, estimate, resamples=options["resamples"], seed=seed)
    if draws is None and choice.code is not None:
        return estimate
    value = IntervalEstimate(estimate=None)
    if draws is not None:
        point, *drawn = (
            values["base_rates"][..., None] * values["confusion"]
            for values in (draws.point, draws.drawn)
            if "confusion" in values
        )
        numbers = [measure_joint(estimand, joint) for joint in (drawn[0] if drawn else ())]
        ends = [(1 - cell.level) / 2, (1 + cell.level) / 2]
        finite = [one for one in numbers if np.isfinite(one)]
        enough = 2 * len(finite) > len(numbers)
        lower, upper = np.quantile(finite, ends).tolist() if enough else (None, None)
        of_point = np.mean(finite) if draws.posterior else measure_joint(estimand, point)
        value = IntervalEstimate(number(of_point), lower, upper, cell.level)
    return replace(estimate, system_accuracy=value, system_accuracy_in_sample=value)


def _generate(scenario: definition.Generated, seed: int) -> tuple[Ratings, float | None]:
    """Simulate ratings by a user's function, which may give the expected accuracy, too."""
    text = scenario.code.text
    result = call_user_function(scenario.code, seed, **dict(scenario.fields))
    is_pair = isinstance(result, tuple) and len(result) == 2
    ratings, expected = result if is_pair else (result, None)
    complete = isinstance(ratings, Ratings) and ratings.system is not None
    if not complete or ratings.truth is None or (np.asarray(ratings.truth) < 0).any():
        problem = f"{text} returns no lehner.Ratings with a system and the truth of each item"
        raise InputError(problem, "return such ratings")
    return ratings, None if expected is None else float(expected)


def run_replicate(cell: Cell, number: int) -> Iterator[Row]:
    """Do a replicate by the method of a cell, or by an experiment."""
    scenario, choice = cell.scenario.scenario, cell.method
    seed = definition.derive_cell_seed(cell.scenario_seed, number)
    if choice is None:
        assert isinstance(scenario, definition.Generated)
        for row in call_user_function(scenario.code, seed, **dict(scenario.fields)):
            yield {"replicate": number} | row
        return
    ratings, truths = simulate_ratings(scenario, seed, cell.estimand)
    estimate, reason, start = None, "", time.perf_counter()
    try:
        estimate = _estimate(cell, number, ratings)
    except (Exception, SystemExit) as error:
        # A study of a night is not to be lost for one data set, nor for `sys.exit` in a method.
        if is_of_the_machine(error):
            raise
        reason = _write_in_one_line(error)
    common = {"replicate": number, "seed": seed, "seconds": time.perf_counter() - start}
    for estimand, truth in truths.items():
        row = {"versions": list_versions(), "estimand": estimand, "truth": truth}
        numbers = NO_NUMBERS | {"status": "failed", "reason": reason}
        yield common | row | (_list_numbers(estimate, estimand) if estimate else numbers)


def _write_in_one_line(error: BaseException) -> str:
    # The sampler adds a trace of itself, which differs between machines.
    text = str(error).split("Stack backtrace:")[0]
    return f"{type(error).__name__}: {' '.join(text.split())}"


def _estimate(cell: Cell, number: int, ratings: Ratings) -> Estimate:
    """Estimate by the method of a cell, which does not see the truth."""
    choice = cell.method
    assert choice is not None
    place = number, int(choice.identify(cell.level), 16)
    seed = definition.derive_cell_seed(cell.scenario_seed, *place)
    options, ratings = dict(choice.options), ratings.with_truth(None)
    if choice.code is not None:
        method = load_user_method(choice.code)
    else:
        method = find_method(choice.method)
        if "in_study" in method.takes:
            options["in_study"] = True
        if options.get("interval") == "none":
            options["interval"] = None
    estimate = method.fit(ratings, level=cell.level, seed=seed, **options)
    if cell.estimand == ACCURACY:
        return estimate
    return _measure_estimate(cell, method, ratings, estimate, seed)


def _list_numbers(estimate: Estimate, estimand: str) -> Row:
    """List the numbers of an estimate, and whether they are to be relied on."""
    of_sample = estimand.endswith("_in_sample")
    value = estimate.system_accuracy_in_sample if of_sample else estimate.system_accuracy
    diagnostics, status = estimate.diagnostics or {}, "ok"
    if value.estimate is None:
        status = "undefined"
    elif "r_hat" in diagnostics and UNCONVERGED & {warning.code for warning in estimate.warnings}:
        status = "unconverged"
    numbers = {name: getattr(value, name) for name in NUMBERS}
    numbers |= {name: diagnostics.get(name) for name in DIAGNOSTICS}
    return numbers | {"status": status, "reason": "; ".join(map(str, estimate.warnings))}
