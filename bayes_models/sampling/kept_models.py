"""Compiled models on disk, so that another process need neither build nor compile them.

A file consists of a checksum and pickled content. Its name is a hash of everything that determines
the content: the model and its priors, the numbers of raters and categories, the source of this
package, the versions of the compilers and the processor. It contains no data of the user. Files are
in the folder that the environment variable `LEHNER_CACHE` names, or else in `~/.cache/lehner`; if
that cannot be written, nothing is kept.

Pickled content can run any program, so that nothing is read that another user may have written:
file and folder must belong to the user, and nobody else may write to them.
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

import numba

from bayes_models.sampling.machine_code import processor

logger = logging.getLogger(__name__)

PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "pytensor", "pymc", "nutpie")
SETTINGS = ("NUMBA_", "PYTENSOR_")
COMPILED = ("models", "likelihood", "sampling")
MOST_FILES = 200
CHECKSUM = hashlib.sha256().digest_size


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
        path = _path(identity)
        content = path.read_bytes()
        if not _only_ours(path) or not _only_ours(path.parent):
            logger.warning(
                "%s is not used, because others can write to it or its folder; it must be yours, "
                "and `chmod go-w` for both",
                path,
            )
            return None
    except (OSError, RuntimeError):
        return None
    checksum, pickled = content[:CHECKSUM], content[CHECKSUM:]
    if hashlib.sha256(pickled).digest() != checksum:
        return None
    try:
        return pickle.loads(pickled)
    except Exception as error:  # Internal names of Numba may have changed: compile again.
        logger.info("the compiled model on disk cannot be loaded: %s", error)
        return None


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
        path = _path(identity)
        _make_folder()
        # The file is renamed into place, so that another process finds a whole file or none.
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".writing-") as folder:
            temporary = Path(folder) / path.name
            temporary.touch(mode=0o600)
            temporary.write_bytes(hashlib.sha256(pickled).digest() + pickled)
            os.replace(temporary, path)
        _leave_newest(path.parent)


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


def _path(identity: tuple[Any, ...]) -> Path:
    name = hashlib.sha256(repr((_circumstances(), identity)).encode()).hexdigest()
    return _folder() / f"{name}.model"


def _folder() -> Path:
    chosen = os.environ.get("LEHNER_CACHE")
    return Path(chosen) if chosen else Path.home() / ".cache" / "lehner"


def _make_folder() -> None:
    _folder().parent.mkdir(parents=True, exist_ok=True)
    _folder().mkdir(mode=0o700, exist_ok=True)


def _only_ours(path: Path) -> bool:
    """Whether a file or folder is the user's, and no other user can write to it."""
    if os.name != "posix":
        return True
    status = path.stat()
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _circumstances() -> tuple[Any, ...]:
    """List what compiled code depends on besides the model."""
    settings = sorted((k, v) for k, v in os.environ.items() if k.startswith(SETTINGS))
    return (*_installed(), processor(), numba.config.OPT, settings)


@functools.cache
def _installed() -> tuple[Any, ...]:
    versions = tuple(version(package) for package in PACKAGES)
    return platform.python_version(), versions, _source()


def _source() -> str:
    """Hash the source of the compiled parts, which excludes modules that read draws later."""
    package = Path(__file__).parents[1]
    files = sorted(file for folder in COMPILED for file in (package / folder).rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _leave_newest(folder: Path) -> None:
    by_age = sorted(folder.glob("*.model"), key=lambda path: path.stat().st_mtime)
    for path in by_age[:-MOST_FILES]:
        path.unlink(missing_ok=True)
