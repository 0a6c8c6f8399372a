"""What commands print and write over the documentation's files, kept and compared.

`python tests/golden/outputs.py` runs all of `commands.toml` again, writes a file for each, and
says which numbers are new and which are gone; names of commands may follow. Look at the difference
before you commit it.
"""

import io
import json
import math
import os
import re
import shlex
import shutil
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from html import unescape
from pathlib import Path
from unittest.mock import patch

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "docs" / "data"
COMMANDS = tomllib.loads((HERE / "commands.toml").read_text(encoding="utf-8"))
NUMBER = re.compile(r"(?<![\w.])[-−]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?(?!\w)")
DRAWN = re.compile(r"<(style|script|svg|metadata)\b.*?</\1>", re.DOTALL)
MACHINE = re.compile(
    r"[Pp]ython 3[\d.]*|(?:\w+ )?\d+\.\d+\.\d+\S*|\b[0-9a-f]{40,}\b|20\d\d-\d\d-\d\d\S*"
)
"""Versions, checksums and dates."""
DIGITS = 8


def run_command(name: str) -> str:
    """Run a command in this process and give all that it says, as one text."""
    from lehner.command.main import main
    from tests.rows import draw_for_pages_only

    case = COMMANDS[name]
    printed, errors = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for file in DATA.glob("*.csv"):
            shutil.copy(file, folder)
        with (
            patch.object(sys, "argv", ["lehner", *shlex.split(case["run"])]),
            patch.dict(os.environ, {"COLUMNS": "100"}),
            redirect_stdout(printed),
            redirect_stderr(errors),
            patch("lehner.report.files.draw_bytes", draw_for_pages_only),
        ):
            try:
                main()
            except SystemExit as end:
                if end.code == 2:
                    raise AssertionError(errors.getvalue()) from end
        parts = [f"$ lehner {case['run']}", _text(printed.getvalue())]
        if case.get("errors"):
            parts.append("\n".join(x for x in errors.getvalue().splitlines() if "…" not in x))
        for pattern in case.get("files", ()):
            for path in sorted(Path().glob(pattern)):
                text = path.read_text(encoding="utf-8")
                parts += [f"=== {path.as_posix()}", _page(text) if path.suffix == ".html" else text]
    lines = "\n".join(parts).splitlines()
    return MACHINE.sub("…", "\n".join(line.rstrip() for line in lines if line.strip())) + "\n"


def _text(printed: str) -> str:
    """Lay JSON out as a line for each value, with its path; other text stays as it is."""
    if not printed.startswith("{"):
        return printed
    result = json.loads(printed)
    rows = [] if "version" not in result else result.pop("rows")
    lines = [f"{path.strip('.')}: {value}" for path, value in _leaves(result)]
    return "\n".join([*lines, *map(_row, rows)])


def _row(row: dict[str, object]) -> str:
    """Write a row of results: what is in it, in the order of its columns."""
    shown = (_rounded(value) for value in row.values() if value not in ("", None, False))
    return " | ".join(map(str, shown))


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}")
    elif isinstance(value, list) and any(isinstance(inner, dict | list) for inner in value):
        for place, inner in enumerate(value):
            yield from _leaves(inner, f"{path}.{place}")
    elif isinstance(value, list):
        yield path, ", ".join(str(_rounded(inner)) for inner in value)
    else:
        yield path, _rounded(value)


def _rounded(value: object) -> object:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _page(html: str) -> str:
    """Keep what is read on a page."""
    text = re.sub(r"</(?:tr|p|h\d|figcaption|pre|li)>", "\n", DRAWN.sub("", html))
    text = re.sub(r"</t[dh]>", "  ", text)
    return unescape(re.sub(r"<[^>]+>", "", text))


def read_kept(name: str) -> str:
    """Read the output of a command as it is kept."""
    return (HERE / f"{name}.txt").read_text(encoding="utf-8")


def numbers(text: str) -> list[str]:
    """Find the numbers of a text in their order, each as it is written."""
    return NUMBER.findall(text)


def words(text: str) -> list[str]:
    """Find what stands between the numbers, whatever the space between."""
    return NUMBER.sub("#", text).split()


def same_number(kept: str, new: str) -> bool:
    """Compare digit by digit; of more digits than people read, to a part in a million."""
    if kept == new:
        return True
    if min(len(kept), len(new)) < DIGITS:
        return False
    kept, new = (text.replace("−", "-").replace(",", "") for text in (kept, new))
    return math.isclose(float(kept), float(new), rel_tol=1e-6, abs_tol=1e-12)


def compare_numbers(kept: str, new: str) -> tuple[Counter[str], Counter[str]]:
    """Count the numbers that are gone and those that are new, wherever they stand."""
    gone, more = Counter(numbers(kept)), Counter(numbers(new))
    return gone - more, more - gone


def main(names: list[str]) -> None:
    """Write the outputs again, and say which numbers changed."""
    for name in names or COMMANDS:
        path = HERE / f"{name}.txt"
        kept = path.read_text(encoding="utf-8") if path.exists() else ""
        new = run_command(name)
        path.write_text(new, encoding="utf-8")
        gone, more = compare_numbers(kept, new)
        if kept and kept != new:
            print(f"{name}: gone {dict(gone)}, new {dict(more)}", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parents[1]))
    os.environ.setdefault("NUMBA_OPT", "1")
    main(sys.argv[1:])
