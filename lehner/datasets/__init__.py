"""Bundled data sets, with their sources."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from lehner.core.errors import find
from lehner.data.ratings import Ratings
from lehner.data.reading import to_names
from lehner.reading.read import read_ratings

FOLDER = Path(str(files("lehner.datasets")))


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A bundled data set.

    Parameters
    ----------
    name : str
    title : str
        What was rated, and by whom.
    source : str
        Reference of the first publication.
    layout : str
        "ratings" for a table of ratings, "votes" for counts per category by anonymous raters.
    doi : str
    licence : str
        Licence under which the data may be passed on; empty for numbers from a publication.
    system : str, optional
        The column of the system, if the data have one.
    ordered : bool
        Whether the categories are ordered.
    """

    name: str
    title: str
    source: str
    layout: str
    doi: str = ""
    licence: str = ""
    system: str | None = None
    ordered: bool = False


def list_datasets() -> tuple[Dataset, ...]:
    """List the bundled data sets.

    Returns
    -------
    tuple of Dataset
        Name, title, source and licence of each.

    Examples
    --------
    >>> [dataset.name for dataset in list_datasets()][:2]
    ['lehner_table2', 'figure10']
    """
    table = tomllib.loads((FOLDER / "sources.toml").read_text(encoding="utf-8"))
    return tuple(Dataset(name=name, **entry) for name, entry in table.items())


def load_dataset(name: str, *, system: str | Sequence[str] | None = None) -> Ratings:
    """Load a bundled data set.

    Parameters
    ----------
    name : str
        Name of the data set, as in `list_datasets`.
    system : str or sequence of str, optional
        The rater, or raters, to use as systems; by default the data set's own system, if it has
        one. If others are named, its own system is one of the raters.

    Returns
    -------
    Ratings
        The data set, with its system if it has one.

    Raises
    ------
    InputError
        If there is no such data set or rater.

    Examples
    --------
    >>> load_dataset("lehner_table2")
    Ratings: 10 items, 4 raters, 40 ratings, 4 categories (A, B, C, D), system
    """
    by_name = {dataset.name: dataset for dataset in list_datasets()}
    systems = to_names(system)
    dataset, path = find("data set", name, by_name), FOLDER / f"{name}.csv"
    if dataset.layout == "votes":
        ratings = read_ratings(path, category_counts=True, ordered=dataset.ordered)
        ratings = ratings.replace(reading_notes=())
        return ratings.with_system(*systems) if systems else ratings
    default = to_names(dataset.system)
    # All but the systems are raters, whose names are known when it has been read.
    names = read_ratings(path, system=default, ordered=dataset.ordered).all_raters
    systems = systems or default
    raters = [name for name in names if name not in systems]
    return read_ratings(path, system=systems, raters=raters, ordered=dataset.ordered)
