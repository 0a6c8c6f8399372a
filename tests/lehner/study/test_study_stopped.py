"""A study that is stopped, at any moment of any method, resumes to the same table."""

import importlib
import multiprocessing
import os
import random
import signal
import sys
import threading
import time

import pytest

import bayes_models
from bayes_models.sampling import nuts
from lehner import Scenario, simulate
from lehner.command import main as cli
from lehner.study import replicate
from lehner.study import study as running
from tests.studies import read_results, run_study, table

# The package has a function of the same name.
fitting = importlib.import_module("bayes_models.sampling.fit")

STUDY = """\
name = "stopped"
seed = 3
replicates = {replicates}
methods = [{methods}]

[[scenarios]]
name = "raters differ"
n_items = 40
n_categories = 3
initial_rater_accuracy = [0.5, 0.6, 0.7]
"""
GIBBS = '{ name = "dawid_skene", engine = "gibbs", draws = 100, tune = 20, tries = 1 }'
NUTS = '{ name = "one_coin", draws = 50, tune = 50, chains = 2, tries = 1 }'
METHODS_OF_STUDY = ('"majority_agreement"', '{ name = "algebraic", resamples = 50 }', GIBBS, NUTS)
FEW = '"majority_agreement", { name = "algebraic", resamples = 20 }, ' + NUTS
METHODS = ", ".join(METHODS_OF_STUDY)
REPLICATES = 6
SCENARIO = Scenario(n_items=40, n_categories=3, initial_rater_accuracy=(0.5, 0.6, 0.7))


def write(tmp_path, methods, replicates):
    path = tmp_path / "study.toml"
    path.write_text(STUDY.format(methods=methods, replicates=replicates))
    return path


def start(path, out, workers):
    """Run the command in a process that starts quickly, PyMC being loaded."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["bayes_models", "lehner.study.study"])
    command = ["lehner", "study", "run", path, "--output", out, "--workers", workers]
    process = context.Process(target=_command, args=(list(map(str, command)),))
    process.start()
    return process


def _command(arguments):
    os.setsid()
    # A shell that runs the tests in the background has all they start ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # The server of processes has them blocked if a study with workers started it.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT, signal.SIGTERM])
    sys.argv = arguments
    cli.main()


def wait_for_parts(out, process, rng, number=1):
    """Let it run until it has written some parts, and up to a second longer.

    After the first part it has three seconds for the others, in which it cannot come to its end.
    """
    before = len(list(out.glob("cells/*.parquet")))
    deadline = time.monotonic() + 300
    while process.is_alive() and time.monotonic() < deadline:
        time.sleep(0.02)
        new = len(list(out.glob("cells/*.parquet"))) - before
        if new >= number:
            break
        if new:
            deadline = min(deadline, time.monotonic() + 3)
    time.sleep(rng.random())


@pytest.fixture
def interruptible():
    """Have signals raise KeyboardInterrupt, as the command does."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {n: signal.signal(n, signal.default_int_handler) for n in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The table of the study undisturbed."""
    path = tmp_path_factory.mktemp("whole")
    run_study(write(path, METHODS, REPLICATES), path / "out")
    return table(path / "out")


@pytest.mark.parametrize("draws, tune", [(4, 200_000), (200_000, 4)], ids=["warm-up", "sampling"])
@pytest.mark.parametrize("cores", [1, 2])
def test_a_fit_that_is_interrupted_is_no_result(interruptible, whole, draws, tune, cores):
    ratings = simulate(SCENARIO, 1)
    options = {"chains": 2, "tries": 1, "cores": cores}
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        bayes_models.fit("one_coin", ratings, draws=draws, tune=tune, **options)
    timer.join()


def test_chains_that_are_short_are_no_result(monkeypatch, whole):
    class Stopped:
        def __init__(self, sampler):
            self.sampler = sampler

        def wait(self):
            return self.sampler.abort()

        def cancel(self):
            pass

    sample = nuts.nutpie.sample
    monkeypatch.setattr(
        nuts.nutpie, "sample", lambda *arguments, **options: Stopped(sample(*arguments, **options))
    )
    with pytest.raises(KeyboardInterrupt, match="sampling was stopped: the chains have"):
        bayes_models.fit(
            "one_coin", simulate(SCENARIO, 1).with_truth(None), draws=200_000, tune=4, tries=1
        )


def raise_signal(number):
    """Send a signal before a call of a function."""
    signal.raise_signal(number)


def raise_late(number):
    """Send a signal a moment after a call of a function."""
    threading.Timer(0.01, os.kill, (os.getpid(), number)).start()


def swallow(number):
    """Send a signal amid a call of a function that takes it for a failure."""
    try:
        signal.raise_signal(number)
    except KeyboardInterrupt:
        raise ValueError("all input arrays must have the same shape") from None


def disturb_call(disturb, number, function, call):
    """Disturb a call of a function, by its number."""
    calls = []

    def disturbed(*arguments, **options):
        calls.append(1)
        if len(calls) == call:
            disturb(number)
        return function(*arguments, **options)

    return disturbed


QUICK = [
    (swallow, nuts.nutpie, "sample", 3),
    (swallow, replicate, "_estimate", 7),
    (raise_signal, running, "_write_table", 2),
]
OTHERS = [
    (raise_signal, fitting, "add_truth", 3),
    (raise_signal, nuts, "_compile_density", 1),
    (swallow, nuts, "_compile_density", 1),
    (raise_late, nuts.nutpie, "sample", 2),
    (swallow, fitting, "sample_conjugate", 2),
    (raise_signal, replicate, "_estimate", 9),
]
MOMENTS = [
    *((*moment, signal.SIGINT) for moment in QUICK),
    *(pytest.param(*moment, signal.SIGTERM, marks=pytest.mark.slow) for moment in QUICK),
    *(pytest.param(*moment, signal.SIGINT, marks=pytest.mark.slow) for moment in OTHERS),
]


@pytest.mark.parametrize(("disturb", "module", "name", "call", "number"), MOMENTS)
def test_a_stopped_study_resumes_to_the_same_table(
    interruptible, monkeypatch, tmp_path, whole, disturb, module, name, call, number
):
    path, out = write(tmp_path, METHODS, REPLICATES), tmp_path / "out"
    monkeypatch.setattr(module, name, disturb_call(disturb, number, getattr(module, name), call))
    with pytest.raises(KeyboardInterrupt):
        run_study(path, out)
    monkeypatch.undo()
    assert signal.getsignal(number) is signal.default_int_handler
    done = read_results(out)
    assert len(done) < len(METHODS_OF_STUDY) * REPLICATES * 2
    assert "failed" not in set(done["status"])
    run_study(path, out)
    assert table(out) == whole


@pytest.mark.slow
def test_twenty_signals_at_random_moments_change_nothing(tmp_path):
    """Ten of Ctrl-C, ten of a scheduler, to workers too; every fifth run has two of them."""
    path = write(tmp_path, FEW, 800)
    rng, out, ends = random.Random(1), tmp_path / "out", []
    signals = [signal.SIGINT, signal.SIGTERM] * 10
    rng.shuffle(signals)
    for i, number in enumerate(signals):
        process = start(path, out, 1 + (i % 5 == 4))
        wait_for_parts(out, process, rng, 1 + i % 4)
        os.killpg(process.pid, number)
        process.join(300)
        ends.append(process.exitcode)
        results = read_results(out)
        print(number.name, process.exitcode, len(results), flush=True)
        assert "failed" not in set(results["status"])
    assert ends == [130] * 20
    assert len(results) < 800 * 3 * 2
    run_study(path, out, workers=2)
    run_study(path, tmp_path / "whole", workers=2)
    assert table(out) == table(tmp_path / "whole")
