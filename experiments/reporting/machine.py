"""Whether an error says that the machine lacks memory, threads, disk space or a package."""

import re

LACKS = (MemoryError, OSError, ImportError)
LACKS_IN_WORDS = re.compile(
    r"MemoryError|OSError|[Cc]annot allocate memory|can't start new thread|"
    "Resource temporarily unavailable|No space left on device"
)


def is_of_the_machine(error: BaseException | None) -> bool:
    """Whether memory, a disk or a package is lacking, which says nothing about data or a method.

    Parameters
    ----------
    error : BaseException or None
        What it was caused by counts as well.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_of_the_machine(RuntimeError("can't start new thread")), is_of_the_machine(KeyError("a"))
    (True, False)
    """
    while error is not None:
        # Compiled code tells what it lacks in words.
        if isinstance(error, LACKS) or _in_words(error):
            return True
        error = error.__cause__ if error.__suppress_context__ else error.__context__
    return False


def _in_words(error: BaseException) -> bool:
    compiled = isinstance(error, RuntimeError) or type(error).__module__.startswith("pyarrow")
    return compiled and LACKS_IN_WORDS.search(str(error)) is not None
