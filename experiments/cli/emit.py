"""What every command does with its result: print it, or its JSON, and write its files."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from experiments.reporting.options import as_options
from experiments.reporting.terminal import json_text


def emit(
    to_dict: Callable[[], Any],
    show: Callable[[], object],
    *,
    as_json: bool,
    output: Path | None = None,
    write: Callable[[Path], Iterable[Path]] | None = None,
    report: Path | None = None,
    page: Callable[[], str] | None = None,
) -> None:
    """Print a result and write its files.

    Parameters
    ----------
    to_dict : callable
        Gives the result in plain types, for `--json`.
    show : callable
        Prints it for people.
    as_json : bool
    output : Path, optional
        The folder of `--output`, into which `write` writes files.
    write : callable, optional
    report : Path, optional
        The file of `--report`, into which the text of `page` goes.
    page : callable, optional
    """
    if as_json:
        print(as_options(json_text(to_dict())))
    else:
        show()
    if output is not None and write is not None:
        for path in write(output):
            print(f"wrote {path}", file=sys.stderr)
    if report is not None and page is not None:
        from experiments.reporting.files import write_text

        report.parent.mkdir(parents=True, exist_ok=True)
        print(f"wrote {write_text(page(), report)}", file=sys.stderr)
