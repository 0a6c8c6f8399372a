"""What is loaded when it is first used: libraries, so that commands start quickly; a user's code.

>>> from lehner.core.lazy import pd, xr
>>> pd.Series([1, 2]).sum().item()
3

Annotations that use them are written in quotes, as ``"xr.DataArray"``. A library that is not here
is loaded by ``rich = lazy.load("rich")``.
"""

import ast
import hashlib
import importlib
import importlib.util
import inspect
import pickle
import sys
import sysconfig
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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


# Optional packages that a library looks for when it is imported, for as long as the rest takes.
LEFT_OUT = {"arviz_stats.base": ("jax", "numpyro")}


@contextmanager
def leave_out(*names: str) -> Iterator[None]:
    """Have what is imported in the block import these packages only when it uses them.

    Examples
    --------
    >>> with leave_out("jax"):
    ...     import jax
    """
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update({name: LazyModule(name) for name in absent})
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


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
        with leave_out(*LEFT_OUT.get(self.__name__, ())):
            module = importlib.import_module(self.__name__)
        vars(self).update(vars(module))
        return getattr(module, name)


load: Callable[[str], Any] = LazyModule
# The help of the command needs no NumPy.
np = load("numpy")

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
        problem = f"{text!r} names no function in a file"
        raise InputError(problem, "write file.py:function, as in mine.py:f")
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
    content_hash = _hash(content)
    module = _run(path, content, content_hash)
    function = vars(module).get(name)
    if not callable(function):
        functions = [key for key, value in vars(module).items() if callable(value)]
        raise InputError(f"it has no function {name!r}", suggest(name, functions), file=path)
    return function, content_hash


def write_source(function: Callable[..., Any]) -> str:
    """Write a function as a file that stands on its own, with all of the user's that it uses.

    Another text means another function. A constant that has no text, as a table, stands there as
    a comment with the hash of its content.

    Parameters
    ----------
    function : callable
        Defined with def in a notebook, a script, or a file beside it.

    Returns
    -------
    str
        Imports, constants, functions and classes that it uses, and then the function.

    Raises
    ------
    InputError
        If it, or what it uses, has no name or no source.

    Examples
    --------
    >>> write_source(names_function).splitlines()[:3]
    ["SEPARATOR = '.py:'", '', 'def names_function(text: object) -> bool:']
    """
    name = getattr(function, "__name__", "")
    if not name.isidentifier():
        raise InputError(f"{function!r} has no name", "define it with def")
    parts: dict[str, str] = {}
    _add_source(name, function, function.__module__, parts)
    return "\n".join(parts.values()) + "\n"


def _add_source(name: str, value: Any, home: str, parts: dict[str, str]) -> None:
    """Add what defines a name, after what defines the names that are used in it."""
    if name in parts:
        return
    parts[name] = ""
    if isinstance(value, ModuleType):
        text = f"import {value.__name__} as {name}"
        if _is_of_the_user(value, home):
            text += f"  # {_hash(Path(str(value.__file__)).read_bytes())}"
    elif not (inspect.isroutine(value) or inspect.isclass(value)):
        text = _write_constant(name, value)
    elif not _is_of_the_user(sys.modules.get(value.__module__), home):
        text = f"from {value.__module__} import {value.__qualname__}"
        text += f" as {name}" if name != value.__qualname__ else ""
    else:
        source = _read_source(value)
        scope = _list_names(value)
        used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
        for inner in sorted(used & scope.keys()):
            _add_source(inner, scope[inner], home, parts)
        text = f"\n{source}"
        if value.__name__.isidentifier() and value.__name__ != name:
            text += f"\n{name} = {value.__name__}"
    # It stands after what it uses.
    del parts[name]
    parts[name] = text


def _is_of_the_user(module: ModuleType | None, home: str) -> bool:
    """Tell whether a module is a notebook, script or single file of the user, not installed."""
    if module is None or module.__name__ in ("__main__", home):
        return True
    file, paths = getattr(module, "__file__", None), sysconfig.get_paths()
    if file is None or module.__package__:
        return False
    return not any(Path(file).is_relative_to(paths[name]) for name in ("stdlib", "purelib"))


def _read_source(value: Any) -> str:
    try:
        return textwrap.dedent(inspect.getsource(value)).rstrip()
    except (OSError, TypeError):
        if not inspect.isclass(value):
            remedy = "define it in a file, or in a cell of a notebook"
            raise InputError(f"{value.__name__} has no source", remedy) from None
    # Python does not find the source of a class in a notebook, but that of its methods.
    methods = [_read_source(method) for method in vars(value).values() if _has_source(method)]
    fields = str(getattr(value, "__annotations__", ""))
    return f"# class {value.__name__}: {_hash(''.join([fields, *methods]).encode())}"


def _has_source(method: Any) -> bool:
    with suppress(OSError, TypeError):
        return inspect.isfunction(method) and bool(inspect.getsource(method))
    return False


def _list_names(value: Any) -> dict[str, Any]:
    """List what a function or class sees by name, of its module and of functions around it."""
    function = inspect.unwrap(value)
    if not inspect.isfunction(function):
        return vars(sys.modules[value.__module__])
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return function.__globals__ | {name: cell.cell_contents for name, cell in cells}


def _write_constant(name: str, value: Any) -> str:
    """Write a constant, or, if it has no text, the hash of its content as a comment."""
    is_array = isinstance(value, np.ndarray)
    text = repr(value.tolist() if is_array else value)
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        try:
            content = pickle.dumps(value)
        except Exception as error:
            problem = f"a function of yours uses {name}, a {type(value).__name__} that has no text"
            raise InputError(problem, "make it in the function") from error
        return f"# {name}: a {type(value).__name__} with SHA-256 {_hash(content)}"
    return f"import numpy\n{name} = numpy.array({text})" if is_array else f"{name} = {text}"


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _run(path: Path, content: bytes, content_hash: str) -> ModuleType:
    """Run a file once; the same file with the same content is the same module."""
    where = _hash(str(path).encode())
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
        problem = f"running it raises {type(error).__name__}: {error}"
        raise InputError(problem, "correct the file", file=path) from error
    return module
