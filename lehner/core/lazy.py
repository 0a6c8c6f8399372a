"""What is loaded when it is first used: libraries, so that commands start quickly; a user's code.

>>> from lehner.core.lazy import pd, xr
>>> pd.Series([1, 2]).sum().item()
3

Annotations that use them are written in quotes, as ``"xr.DataArray"``. A library that is not here
is loaded by ``rich = lazy.load("rich")``.
"""

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lehner.core.errors import InputError, suggest

if TYPE_CHECKING:
    import matplotlib.pyplot as plt
    import pandas as pd
    import pyarrow as pa
    import xarray as xr
    from scipy import linalg, optimize, sparse, special, stats

__all__ = ["linalg", "load", "optimize", "pa", "pd", "plt", "sparse", "special", "stats", "xr"]

SEPARATOR = ".py:"


class LazyModule(ModuleType):
    """A module that is imported when one of its names is first used.

    Parameters
    ----------
    name : str
        Full name of the module, as "pyarrow.parquet".

    Examples
    --------
    >>> load("math").gcd(6, 4)
    2
    """

    def __getattr__(self, name: str) -> Any:
        module = importlib.import_module(self.__name__)
        vars(self).update(vars(module))
        return getattr(module, name)


load: Callable[[str], Any] = LazyModule

if not TYPE_CHECKING:
    plt, pd, pa, xr = map(load, ("matplotlib.pyplot", "pandas", "pyarrow", "xarray"))
    linalg, optimize, sparse = map(load, ("scipy.linalg", "scipy.optimize", "scipy.sparse"))
    special, stats = map(load, ("scipy.special", "scipy.stats"))


# A user may name a function in a file, as `file.py:function`.


def names_function(text: object) -> bool:
    """Tell whether a text names a function in a file, as "mine.py:estimate" does.

    Examples
    --------
    >>> names_function("mine.py:estimate"), names_function("algebraic")
    (True, False)
    """
    return isinstance(text, str) and SEPARATOR in text


def split_function(text: str) -> tuple[str, str]:
    """Split a text into the file and the function that it names, or raise an InputError.

    Examples
    --------
    >>> split_function("mine.py:estimate")
    ('mine.py', 'estimate')
    """
    file, _, name = text.rpartition(":")
    if not file.endswith(".py") or not name.isidentifier():
        raise InputError(
            f"{text!r} names no function in a file", "write file.py:function, as in mine.py:f"
        )
    return file, name


def load_function(text: str, folder: str | Path = ".") -> tuple[Callable[..., Any], str]:
    r"""Load a function from a file of Python code, which is run.

    Call this only with what the user's own command or study file names.

    Parameters
    ----------
    text : str
        File and function, as in "mine.py:estimate". The file must stand on its own: it may import
        installed packages but not its neighbours, so that its hash is that of all its code.
    folder : str or Path
        The folder that a relative path starts from.

    Returns
    -------
    function : callable
    source_hash : str
        SHA-256 of the file's bytes, 64 hexadecimal digits.

    Raises
    ------
    InputError
        If the text is of another form, if there is no such file or function, if running the file
        raises an exception, or if the name is not that of a function.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "mine.py").write_text("def twice(x):\n    return 2 * x\n")
    >>> twice, source_hash = load_function("mine.py:twice", folder)
    >>> twice(21)
    42
    """
    file, name = split_function(text)
    path = Path(folder, file).absolute()
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = "there is no such file" if not path.exists() else f"{error.strerror}"
        raise InputError(reason, f"{text} needs it: correct its path", file=path) from None
    content_hash = hashlib.sha256(content).hexdigest()
    module = _run(path, content, content_hash)
    function = vars(module).get(name)
    if not callable(function):
        functions = [key for key, value in vars(module).items() if callable(value)]
        raise InputError(f"it has no function {name!r}", suggest(name, functions), file=path)
    return function, content_hash


def _run(path: Path, content: bytes, content_hash: str) -> ModuleType:
    """Run a file once; the same file with the same content is the same module."""
    where = hashlib.sha256(str(path).encode()).hexdigest()
    module_name = f"{path.stem}_{where[:8]}_{content_hash[:16]}"
    if module_name in sys.modules:
        return sys.modules[module_name]
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickles look a function's module up.
    sys.modules[module_name] = module
    try:
        # What is run is what was hashed, even if the file is written meanwhile.
        exec(compile(content, str(path), "exec"), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[module_name]
        raise InputError(
            f"running it raises {type(error).__name__}: {error}", "correct the file", file=path
        ) from error
    return module
