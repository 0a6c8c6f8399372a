"""What fits say while they go on: a line on standard error for each step, with the time since."""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

STEPS = "bayes_models"


@contextmanager
def progress_lines() -> Iterator[None]:
    """Show which model is being compiled, found on disk or sampled."""
    logger, handler = logging.getLogger(STEPS), _Lines()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


class _Lines(logging.Handler):
    """As `relaxed_k: sampling … (12 s)`."""

    def __init__(self) -> None:
        super().__init__()
        self._start = time.monotonic()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        seconds = time.monotonic() - self._start
        text = f"{record.getMessage()} … ({seconds:.0f} s)\n"
        print(text, end="", file=sys.stderr, flush=True)
