"""Compiled models on disk, so that another process need neither build nor compile them.

A file is pickled content. Its name has two hashes: of everything that determines the content (the
model and its priors, the numbers of raters and categories, the source of this package, the versions
of the compilers and the processor), and of the content. It contains no data of the user. Files are
in the folder that the environment variable `LEHNER_CACHE` names, or else in `~/.cache/lehner`; if
that cannot be written, nothing is kept.

Pickled content can run any program, so that nothing is read that another user may have written:
file and folder must belong to the user, and nobody else may write to them, or to a folder that they
are in.
"""

import functools
import hashlib
import logging
import os
import pickle
import platform
import stat
import tempfile
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba

logger = logging.getLogger(__name__)

PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "pytensor", "pymc", "nutpie")
SETTINGS = ("NUMBA_", "PYTENSOR_")
COMPILED = ("models", "likelihood", "sampling")
MOST_FILES = 200


def find_kept(*identity: Any) -> Any:
    """Load what was kept on disk.

    Parameters
    ----------
    *identity
        What identifies the content; the `repr` of these values must differ between contents.

    Returns
    -------
    object
        What was kept; None if there is no file, or it is damaged.
    """
    try:
        kept = sorted(_folder().glob(f"{_name(identity)}-*.model"), key=_written)
        content = kept and _read(kept[-1])
    except (OSError, RuntimeError):
        return None
    if not content:
        return None
    try:
        return pickle.loads(content)
    except Exception as error:  # Internal names of Numba may have changed: compile again.
        logger.info("the compiled model on disk cannot be loaded: %s", error)
        return None


def _read(path: Path) -> bytes:
    """Read a file, or nothing if it is damaged or others could have written it."""
    with path.open("rb") as file:
        writable = _writable_by_others(path.parent, os.fstat(file.fileno()))
        content = file.read()
    if writable:
        logger.warning(
            "%s is not used, because others can write to it or to a folder that it is in; they "
            "must be yours, and `chmod go-w`, or name another folder by LEHNER_CACHE",
            path,
        )
        return b""
    return content if path.stem.endswith(f"-{hashlib.sha256(content).hexdigest()}") else b""


def keep(content: Any, *identity: Any) -> None:
    """Keep something on disk, if it can be pickled and written.

    Parameters
    ----------
    content : object
        Any object that can be pickled.
    *identity
        As `find_kept` takes it.
    """
    try:
        pickled = pickle.dumps(content)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        logger.info("the compiled model is not kept on disk: %s", error)
        return
    with suppress(OSError, RuntimeError):
        _make_folder()
        content_hash = hashlib.sha256(pickled).hexdigest()
        path = _folder() / f"{_name(identity)}-{content_hash}.model"
        # The file is renamed into place, so that another process finds a whole file or none.
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".writing-") as folder:
            temporary = Path(folder) / path.name
            temporary.touch(mode=0o600)
            temporary.write_bytes(pickled)
            os.replace(temporary, path)
        for file in sorted(_folder().glob("*.model"), key=_written)[:-MOST_FILES]:
            file.unlink(missing_ok=True)


def can_keep() -> bool:
    """Tell whether another process will find what is kept here.

    Returns
    -------
    bool
    """
    try:
        _make_folder()
        return os.access(_folder(), os.W_OK)
    except (OSError, RuntimeError):
        return False


def _name(identity: tuple[Any, ...]) -> str:
    return hashlib.sha256(repr((_circumstances(), identity)).encode()).hexdigest()


def _written(path: Path) -> float:
    """When a file was written; long ago if it has just been removed."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _folder() -> Path:
    chosen = os.environ.get("LEHNER_CACHE")
    return Path(chosen) if chosen else Path.home() / ".cache" / "lehner"


def _make_folder() -> None:
    _folder().parent.mkdir(parents=True, exist_ok=True)
    _folder().mkdir(mode=0o700, exist_ok=True)


def _writable_by_others(folder: Path, file: os.stat_result) -> bool:
    """Whether another user can write to a file, to its folder, or to a folder that this is in."""
    if os.name != "posix":
        return False
    user, others = os.getuid(), stat.S_IWGRP | stat.S_IWOTH
    own = (file, folder.stat())
    if any(status.st_uid != user or status.st_mode & others for status in own):
        return True
    # In a folder with the sticky bit, as /tmp, nobody can rename what belongs to another.
    above = (parent.stat() for parent in folder.resolve().parents)
    return any(
        status.st_uid not in {0, user}
        or (status.st_mode & others and not status.st_mode & stat.S_ISVTX)
        for status in above
    )


def _circumstances() -> tuple[Any, ...]:
    """List what compiled code depends on besides the model."""
    settings = sorted((k, v) for k, v in os.environ.items() if k.startswith(SETTINGS))
    return (*_installed(), _processor(), numba.config.OPT, settings)


@functools.cache
def _installed() -> tuple[Any, ...]:
    versions = tuple(version(package) for package in PACKAGES)
    return platform.python_version(), versions, _source()


def _processor() -> tuple[str, ...]:
    """Describe the processor for which code is compiled here."""
    llvm = llvmlite.binding
    features = llvm.get_host_cpu_features().flatten()
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), features


def _source() -> str:
    """Hash the source of the compiled parts, which excludes modules that read draws later."""
    package = Path(__file__).parents[1]
    files = sorted(file for folder in COMPILED for file in (package / folder).rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
