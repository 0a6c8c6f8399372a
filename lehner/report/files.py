"""Files written whole or not at all, and what the machine lacks where that fails."""

import importlib.metadata
import io
import os
import pickle
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from lehner.core.errors import InputError
from lehner.core.lazy import pd, plt
from lehner.core.text import escape
from lehner.report.figures import use_style

# How many characters the name of a folder has at most.
LONGEST = 100
# The beginning of a formula of a spreadsheet; the last four characters are so in East Asia.
FORMULA = re.compile(r"(?![+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$)[=+@\-＝＋－＠].", re.DOTALL)
LACKS = (MemoryError, OSError, ImportError)
# An error of compiled code is put down to the machine if it has less memory or disk space.
LEAST_BYTES = 2**28


def check_outputs(
    outputs: Mapping[str, Path], folders: Container[str], read: Iterable[Path]
) -> None:
    """Raise an InputError if outputs cannot be written, or would replace what is read.

    Commands call it before they compute anything.

    Parameters
    ----------
    outputs : mapping of str to Path
        By the name of the option.
    folders : container of str
        The options that name folders; all others name files.
    read : iterable of Path
        The files that the command reads.
    """
    # Names of columns are among these, and may be too long for a file: `Path.is_file` would raise.
    inputs = {path.resolve() for path in read if os.path.isfile(path)}
    options: dict[Path, str] = {}
    for option, path in outputs.items():
        target = path.resolve()
        if target in inputs:
            problem, remedy = f"{option} would replace this file, which is read", "name another"
        elif target in options:
            problem = f"{options[target]} and {option} are written to the same place"
            remedy = "name another for one of them"
        elif option not in folders and path.is_dir():
            problem, remedy = f"{option} is a folder", "name a file in it"
        elif option in folders and path.is_file():
            problem, remedy = f"{option} is a file", "name a folder"
        else:
            problem, remedy = _check_target(path)
        if problem:
            raise InputError(problem, remedy, file=path)
        options[target] = option


def _check_target(path: Path) -> tuple[str, str]:
    """Say why nothing can be written to a path, and what to do; nothing if it can be."""
    target = path.resolve()
    nearest = next(parent for parent in (target, *target.parents) if parent.exists())
    if nearest != target and not nearest.is_dir():
        return f"{nearest} is a file", "name another folder"
    is_device = path.exists() and not (path.is_file() or path.is_dir())
    if not is_device and not os.access(nearest if nearest.is_dir() else nearest.parent, os.W_OK):
        return f"nothing can be written in {nearest}", "name another place"
    return "", ""


def name_folders(names: Iterable[str]) -> dict[str, str]:
    """Name a folder for each name, which any operating system takes.

    A number comes first, so that no two are alike where upper and lower case are; characters other
    than letters, digits and `-_~` are encoded as in addresses of the web.

    Examples
    --------
    >>> name_folders(["gpt-4", "g/4", ".."])
    {'gpt-4': '1_gpt-4', 'g/4': '2_g%2F4', '..': '3_%2E%2E'}
    """
    return {
        name: f"{number}_{quote(name, safe='').replace('.', '%2E')}"[:LONGEST]
        for number, name in enumerate(names, 1)
    }


def write_atomically(path: Path, write: Callable[[Path], object]) -> Path:
    """Write a file under a temporary name, have it on the disk, and rename it.

    Parameters
    ----------
    path : Path
        In a folder that exists.
    write : callable
        Writes to the path it is given.

    Returns
    -------
    Path

    Raises
    ------
    OSError
        If the file cannot be written; it names `path`.
    """
    try:
        # A device or a pipe, as /dev/stdout, is written to: it must not be replaced by a file.
        if path.exists() and not (path.is_file() or path.is_dir()):
            write(path)
            return path
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".writing-") as folder:
            temporary = Path(folder) / path.name
            write(temporary)
            _flush(temporary)
            os.replace(temporary, path)
    except OSError as error:
        # Many say no file, or the temporary one.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    # Windows and some file systems of networks cannot do this for a folder.
    with suppress(OSError):
        _flush(path.parent)
    return path


def _flush(path: Path) -> None:
    """Wait until what was written is on the disk, where it survives a loss of power."""
    # Windows flushes only files that are open for writing; folders cannot be opened so.
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_bytes(content: bytes, path: Path) -> Path:
    """Write bytes, as a whole or not at all, into a folder that exists."""
    return write_atomically(path, lambda temporary: temporary.write_bytes(content))


def write_text(text: str, path: Path) -> Path:
    """Write a text as UTF-8, as a whole or not at all, into a folder that exists."""
    return write_bytes(text.encode(), path)


def write_csv(table: "pd.DataFrame", path: Path) -> Path:
    """Write a table as `to_csv` does, as a whole or not at all, into a folder that exists."""
    return write_text(to_csv(table), path)


def to_csv(table: "pd.DataFrame") -> str:
    r"""Write a table as CSV without its index, in which no text is a formula of a spreadsheet.

    A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@`, unless it is a number. Such a
    text, also the name of a column, is written with a blank before it. Lehner leaves blanks around
    labels out when it reads a file, and so does pandas with `skipinitialspace=True`.

    Examples
    --------
    >>> import pandas as pd
    >>> print(to_csv(pd.DataFrame({"item": ["=1+1", "-1"], "@x": [-0.5, 1]})))
    item, @x
     =1+1,-0.5
    -1,1.0
    <BLANKLINE>
    """

    def keep_text(cell: object) -> object:
        return f" {cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell

    shown = table.rename(columns=keep_text)
    for number, kind in enumerate(shown.dtypes):
        if kind.kind not in "biuf":
            shown.isetitem(number, shown.iloc[:, number].map(keep_text, na_action="ignore"))
    return str(shown.to_csv(index=False, lineterminator="\n"))


def write_figure(figure: "plt.Figure", folder: Path, name: str) -> list[Path]:
    """Write a figure as PDF and as PNG.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Its label (`figure.set_label`) is its text for those who do not see it; it goes into both
        files.
    folder : Path
        That exists.
    name : str
        Of the files, without the ending.

    Returns
    -------
    list of Path
        Each file whole, and the same bytes from the same figure.
    """
    return [
        write_bytes(draw_bytes(figure, kind), folder / f"{name}.{kind}") for kind in ("pdf", "png")
    ]


def draw_bytes(figure: "plt.Figure", kind: str) -> bytes:
    """Draw a figure as a file of a kind, "pdf", "png" or "svg", without a date in it."""
    text = escape(str(figure.get_label()))
    metadata = {
        "pdf": {"Subject": text, "CreationDate": None},
        "png": {"Description": text},
        "svg": {"Description": text, "Date": None},
    }[kind]
    buffer, copy = io.BytesIO(), pickle.loads(pickle.dumps(figure))
    # A copy is drawn: the layout moves what it has placed each time a figure is drawn.
    with use_style():
        copy.savefig(buffer, format=kind, metadata=metadata)
    return buffer.getvalue()


@lru_cache
def list_versions() -> str:
    """Name the versions of what computes."""
    names = ("lehner", "numpy", "scipy", "pymc", "nutpie", "numba")
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


def is_of_the_machine(error: BaseException | None) -> bool:
    """Tell whether memory, a disk or a package is lacking, which says nothing about a method.

    Compiled code raises a RuntimeError, or one of PyArrow, for all that goes wrong. Then what the
    machine still has decides.

    Parameters
    ----------
    error : BaseException or None
        What it was caused by counts as well.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_of_the_machine(MemoryError("9 TiB")), is_of_the_machine(KeyError("a"))
    (True, False)
    """
    while error is not None:
        library = type(error).__module__.partition(".")[0]
        compiled = isinstance(error, RuntimeError) or library == "pyarrow"
        if isinstance(error, LACKS) or (compiled and _is_short()):
            return True
        error = error.__cause__ if error.__suppress_context__ else error.__context__
    return False


def _is_short() -> bool:
    """Tell whether there is no thread, hardly any memory or hardly any disk space left."""
    try:
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()
        bytearray(LEAST_BYTES)
        folders = (".", tempfile.gettempdir())
        return min(shutil.disk_usage(folder).free for folder in folders) < LEAST_BYTES
    except (RuntimeError, MemoryError, OSError):
        return True
