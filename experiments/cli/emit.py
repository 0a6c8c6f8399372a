"""What every command does: say how far it is, print its answer or its JSON, and write its files."""

import logging
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.cli.options import Output, typed_command
from experiments.report.terminal import json_text
from experiments.report.words import as_options
from lehner.core.lazy import load

if TYPE_CHECKING:
    from experiments.report.answer import Answer

files, datasets = load("experiments.report.files"), load("lehner.datasets")


def emit(answer: "Answer", output: Output, *inputs: str | Path | None) -> None:
    """Print an answer and write its files.

    Parameters
    ----------
    answer : Answer
    output : Output
    *inputs : str or Path
        Texts that name what was read, as a file or data set; others are ignored.
    """
    if output.as_json:
        print(as_options(json_text(answer.to_dict())))
    elif output.sentence:
        print("\n".join(answer.list_sentences()))
    else:
        answer.show()
    if output.output is not None:
        for path in answer.write(output.output):
            print(f"wrote {path}", file=sys.stderr)
    if output.plot is not None:
        print(f"wrote {answer.plot(output.plot)}", file=sys.stderr)
    if output.report is not None:
        output.report.parent.mkdir(parents=True, exist_ok=True)
        page = answer.page(typed_command(), [*_find_files(inputs)])
        print(f"wrote {files.write_text(page, output.report)}", file=sys.stderr)


def _find_files(inputs: Iterable[str | Path | None]) -> Iterator[Path]:
    """Find the files and data sets among texts, as in `ana=study.csv` and `mine.py:method`."""
    for text in map(str, filter(None, inputs)):
        names = (text, text.rpartition("=")[2], text.rpartition(":")[0])
        paths = [*map(Path, names), datasets.FOLDER / f"{text}.csv"]
        yield from [path for path in paths if path.is_file()][:1]


@contextmanager
def progress_lines(steps: Sequence[str] = ("bayes_models", "lehner")) -> Iterator[None]:
    """Show which model is compiled, found on disk or sampled, and how far what takes long is.

    A line for each step on standard error, as `relaxed_k: sampling … (12 s)`; a warning without the
    time.
    """
    start, loggers = time.monotonic(), [logging.getLogger(name) for name in steps]
    before, handler = [logger.level for logger in loggers], logging.StreamHandler(sys.stderr)

    def write_line(record: logging.LogRecord) -> str:
        passed = f" … ({time.monotonic() - start:.0f} s)"
        return record.getMessage() + ("" if record.levelno >= logging.WARNING else passed)

    handler.format = write_line  # type: ignore[method-assign]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)
