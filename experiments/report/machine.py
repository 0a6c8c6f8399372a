"""Whether an error comes of what the machine lacks: memory, threads, disk space or a package."""

import shutil
import tempfile
import threading

LACKS = (MemoryError, OSError, ImportError)
LEAST_BYTES = 2**28
"""With less memory or disk space than this an error of compiled code is put down to the machine."""


def is_of_the_machine(error: BaseException | None) -> bool:
    """Whether memory, a disk or a package is lacking, which says nothing about data or a method.

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
    """Whether there is no thread, hardly any memory or hardly any disk space left."""
    try:
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()
        bytearray(LEAST_BYTES)
        folders = (".", tempfile.gettempdir())
        return min(shutil.disk_usage(folder).free for folder in folders) < LEAST_BYTES
    except (RuntimeError, MemoryError, OSError):
        return True
