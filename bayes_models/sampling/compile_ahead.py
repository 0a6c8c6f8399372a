"""Models compiled by other processes, while this process compiles and samples others.

Such a process saves the compiled model on disk, where this process finds it.
"""

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from bayes_models.models.priors import choose_priors
from bayes_models.sampling.compiled import compile_model, load_model, logger
from bayes_models.sampling.kept_models import can_keep
from bayes_models.sampling.special_case import general_case
from lehner import Patterns

COMMAND = (sys.executable, "-m", "bayes_models.sampling.compile_ahead")


@contextmanager
def compile_ahead(models: Sequence[str], observed: Patterns) -> Iterator[Callable[[str], None]]:
    """Compile models that were not compiled before, as many at once as there are processors.

    Parameters
    ----------
    models : sequence of str
        Names of the models, in the order in which they will be needed. This process compiles the
        first one itself.
    observed : Patterns

    Yields
    ------
    callable
        A function that takes the name of a model and returns when its compilation has ended. It
        returns at once if compilation has not started or has failed; this process then compiles the
        model itself.
    """
    compiled = {
        model: _compiled_for(model, observed) for model in models if not load_model(model, observed)
    }
    missing = [name for name in dict.fromkeys(compiled.values()) if not load_model(name, observed)]
    others = min(_processors(), len(missing)) - 1
    if others < 1 or not can_keep():
        yield lambda model: None
        return
    running: list[subprocess.Popen[bytes]] = []
    over = threading.Event()
    with ThreadPoolExecutor(others) as pool:
        jobs = {
            model: pool.submit(_compile_elsewhere, model, observed, running, over)
            for model in missing[1:]
        }

        def wait(model: str) -> None:
            job = jobs.get(compiled.get(model, model))
            if job and not job.cancel():
                # If compilation failed, this process compiles the model itself.
                job.exception()

        try:
            yield wait
        finally:
            over.set()
            pool.shutdown(wait=False, cancel_futures=True)
            for process in running:
                process.kill()


def _compiled_for(model: str, observed: Patterns) -> str:
    """Name what is compiled for a model: a special case needs no process of its own."""
    general = general_case(model, observed, choose_priors(model))
    return model if general is None else general[0]


def _compile_elsewhere(
    model: str, observed: Patterns, running: list[subprocess.Popen[bytes]], over: threading.Event
) -> None:
    logger.info("%s: compiling in a separate process", model)
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere
    ) as process:
        running.append(process)
        if over.is_set():
            # The process was started while the running ones were being ended.
            process.kill()
        process.communicate(pickle.dumps((model, observed)))


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


if __name__ == "__main__":
    # Within the compiler the exception of Ctrl-C would come late.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    compile_model(*pickle.load(sys.stdin.buffer))
