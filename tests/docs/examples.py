r"""The examples of README and documentation: read, run, compared, and written again.

A block ```` ```console ```` holds commands (`$ lehner …`), each with what it prints; a line `...`
stands for any lines. A block ```` ```pycon ```` is a doctest, ```` ```python ```` is run. The
blocks of a page run in order in one folder with the data of `docs/data/`. A block after the comment
`<!-- slow -->` is run by the slow tests, one after `<!-- not run -->` by none.

`python tests/docs/examples.py docs/get_started.md` writes what commands print into a page, after a
change of what they print. Look at the difference before you commit it.
"""

import difflib
import doctest
import io
import linecache
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(
    r"(?:<!-- (slow|not run) -->\n)?```(console|pycon|python)\n(.*?)^```$", re.M | re.S
)
NUMBER = re.compile(r"(?<![\w.])[-−]?\d*\.\d+")
WIDTH = "100"
INSTALL = "python -m pip install -q uv && python -m uv run -q --no-dev "
SLOW_TOLERANCE = 0.03
"""Of what is sampled: another processor may draw otherwise."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """A block of examples and the line where it starts."""

    language: str
    text: str
    line: int
    slow: bool


def list_pages() -> list[Path]:
    """List the pages that are written by hand."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in pages if not {"_build", "generated"} & set(page.parts)]


def read_blocks(page: Path) -> list[Block]:
    """Read the blocks of a page that are run."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            language=result[2],
            text=result[3],
            line=text[: result.start(3)].count("\n") + 1,
            slow=result[1] == "slow",
        )
        for result in BLOCK.finditer(text)
        if result[1] != "not run"
    ]


def lay_out(folder: Path) -> None:
    """Put the data where commands of README and pages look for them."""
    for path in (ROOT / "docs" / "data").glob("*.[ct][so][vm]*"):
        (folder / "docs" / "data").mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder)
        shutil.copy(path, folder / "docs" / "data")


def run_block(block: Block, names: dict) -> Iterator[str]:
    """Run a block, and say where it does not do what it shows."""
    if block.language == "python":
        where = f"line {block.line}"
        # Functions in it have a source, as those of a notebook have.
        linecache.cache[where] = (0, None, block.text.splitlines(keepends=True), where)
        exec(compile(block.text, where, "exec"), names)
    elif block.language == "pycon":
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        test = doctest.DocTestParser().get_doctest(block.text, names, "page", None, block.line)
        said = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=flags)
        if runner.run(test, out=said.write, clear_globs=False).failed:
            yield said.getvalue()
        names.update(test.globs)
    else:
        for command, shown in read_commands(block.text):
            printed = run_command(command)
            missing = find_missing(shown, printed, SLOW_TOLERANCE if block.slow else None)
            if missing is not None:
                yield f"$ {command}\nshows:   {missing}\nprints:\n{printed}"


def read_commands(text: str) -> list[tuple[str, str]]:
    """Split a console block into commands and what each prints."""
    parts = re.split(r"^\$ (.*(?:\\\n.*)*)\n", text, flags=re.M)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def run_command(command: str) -> str:
    """Run a `lehner` command in this process; what it reports on standard error is left out."""
    from lehner.command.main import main

    command = command.removeprefix(INSTALL).replace("\\\n", " ")
    words = shlex.split(command, comments=True)
    if words[0] != "lehner":
        raise ValueError(f"{words[0]}: only lehner commands are examples; use ```sh for others")
    printed, errors = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", words),
        patch.dict(os.environ, {"COLUMNS": WIDTH}),
        redirect_stdout(printed),
        redirect_stderr(errors),
    ):
        try:
            main()
        except SystemExit as end:
            if end.code == 2:
                return "\n".join(x for x in errors.getvalue().splitlines() if " … (" not in x)
            if end.code:
                raise AssertionError(f"{command}\n{errors.getvalue()}") from end
    return printed.getvalue()


def find_missing(shown: str, printed: str, tolerance: float | None) -> str | None:
    """Find the first line that is shown and not printed, in order; `...` stands for any lines."""
    lines = [line for line in printed.splitlines() if line.strip()]
    anywhere = False
    for line in shown.splitlines():
        if not line.strip():
            continue
        if line.strip() == "...":
            anywhere = True
            continue
        while lines and anywhere and not same(line, lines[0], tolerance):
            lines.pop(0)
        if not lines or not same(line, lines.pop(0), tolerance):
            return line
        anywhere = False
    return None if anywhere or not lines or not shown.strip() else f"(the end, not {lines[0]!r})"


def same(shown: str, printed: str, tolerance: float | None) -> bool:
    """Compare words exactly and numbers to a unit of their last digit, or to a tolerance."""
    if NUMBER.sub("#", shown).split() != NUMBER.sub("#", printed).split():
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    return all(_near(number, other, tolerance) for number, other in pairs)


def _near(number: str, other: str, tolerance: float | None) -> bool:
    unit = 10.0 ** -len(number.partition(".")[2])
    difference = float(number.replace("−", "-")) - float(other.replace("−", "-"))
    return abs(difference) < (1.5 * unit if tolerance is None else max(tolerance, 1.5 * unit))


def write_again(page: Path) -> None:
    """Put what commands print now in the place of the lines that a page shows."""
    text = page.read_text(encoding="utf-8")
    names: dict = {}
    for block in read_blocks(page):
        if block.language != "console":
            # It may make what later commands read; what it shows is a test's to compare.
            list(run_block(block, names))
            continue
        new = ""
        for command, shown in read_commands(block.text):
            new += f"$ {command}\n" + _refresh(shown, run_command(command))
        text = text.replace(block.text, new)
    page.write_text(text, encoding="utf-8")


def _refresh(shown: str, printed: str) -> str:
    if not shown.strip():
        return shown
    if "..." not in shown.split():
        return printed.strip("\n") + "\n"
    masked: dict[str, list[str]] = {}
    for line in printed.splitlines():
        masked.setdefault(NUMBER.sub("#", line), []).append(line.rstrip())
    lines = []
    for line in shown.splitlines():
        near = difflib.get_close_matches(NUMBER.sub("#", line), masked, 1)
        if near and line.strip() != "...":
            # Lines that differ in numbers alone are told apart by these.
            (line,) = difflib.get_close_matches(line, masked[near[0]], 1, cutoff=0)
        lines.append(line)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    import tempfile

    pages = [Path(name).resolve() for name in sys.argv[1:]] or list_pages()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        lay_out(Path(folder))
        for page in pages:
            write_again(page)
