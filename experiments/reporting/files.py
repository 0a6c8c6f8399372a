"""Files written whole or not at all."""

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def write_atomically(path: Path, write: Callable[[Path], object]) -> Path:
    """Write a file under a temporary name and rename it.

    Parameters
    ----------
    path : Path
        In a folder that exists.
    write : callable
        Writes to the path it is given.

    Returns
    -------
    Path
    """
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".writing-") as folder:
        temporary = Path(folder) / path.name
        write(temporary)
        os.replace(temporary, path)
    return path


def write_text(text: str, path: Path) -> Path:
    """Write a text as UTF-8, as a whole or not at all, into a folder that exists."""
    return write_atomically(path, lambda temporary: temporary.write_text(text, "utf-8"))


def write_csv(table: "pd.DataFrame", path: Path) -> Path:
    """Write a table without its index, as a whole or not at all.

    Parameters
    ----------
    table : pandas.DataFrame
    path : Path
        In a folder that exists.

    Returns
    -------
    Path
    """
    return write_atomically(path, lambda temporary: table.to_csv(temporary, index=False))


def write_figure(figure: "Figure", folder: Path, name: str, *, dpi: int) -> list[Path]:
    """Write a figure as PDF and as PNG, with so many dots an inch, into a folder that exists."""
    return [
        write_atomically(folder / f"{name}.pdf", figure.savefig),
        write_atomically(folder / f"{name}.png", partial(figure.savefig, dpi=dpi)),
    ]
