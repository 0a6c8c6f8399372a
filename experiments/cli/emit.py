"""What every command does with its answer: print it, or its JSON, and write its files."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.cli.options import Output, typed_command
from experiments.report.options import as_options
from experiments.report.terminal import json_text

if TYPE_CHECKING:
    from experiments.report.answer import Answer


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
        from experiments.report.files import write_text

        output.report.parent.mkdir(parents=True, exist_ok=True)
        page = answer.page(typed_command(), [*_files(inputs)])
        print(f"wrote {write_text(page, output.report)}", file=sys.stderr)


def _files(inputs: Iterable[str | Path | None]) -> Iterator[Path]:
    """Find the files and data sets among texts, as in `ana=study.csv` and `mine.py:method`."""
    from lehner.datasets import FOLDER

    for text in map(str, filter(None, inputs)):
        names = (text, text.rpartition("=")[2], text.rpartition(":")[0])
        paths = [*map(Path, names), FOLDER / f"{text}.csv"]
        yield from [path for path in paths if path.is_file()][:1]
