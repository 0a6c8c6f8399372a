"""The public crowds with truth that `sources.toml` lists: who reads them, and what is missing."""

import hashlib
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from experiments.benchmarks.real import readers
from lehner import InputError, Ratings
from lehner.core.errors import find

type Reader = Callable[[Sequence[Path]], Ratings]


@dataclass(frozen=True, kw_only=True)
class Repository:
    """Where files come from.

    Parameters
    ----------
    folder : str
        Its name: what cloning it calls the folder.
    address : str
    licence : str
        As its files say.
    """

    folder: str
    address: str
    licence: str


@dataclass(frozen=True, kw_only=True)
class Source:
    """One crowd.

    Parameters
    ----------
    name : str
    repository : Repository
    files : tuple of str
        Paths in the repository.
    reader : callable
        From these files to ratings with truth.
    family : str
        Shared by crowds that rated the same items or came from the same study.
    domain : {"crowd", "experts", "language models"}
        Who rates.
    """

    name: str
    repository: Repository
    files: tuple[str, ...]
    reader: Reader
    family: str
    domain: str

    @property
    def split(self) -> str:
        """Give "report" for about a third of the families, by a hash of their name, else "choose".

        Models may be chosen by the crowds of "choose". Those of "report" are to be looked at once,
        when everything is chosen.
        """
        digest = hashlib.sha256(self.family.encode()).hexdigest()
        return "report" if int(digest, 16) % 3 == 0 else "choose"

    def paths(self, folder: Path) -> tuple[Path, ...]:
        """Give where its files are expected."""
        return tuple(folder / self.repository.folder / file for file in self.files)


def _read_sources() -> dict[str, Source]:
    listed = tomllib.loads(Path(__file__).with_name("sources.toml").read_text(encoding="utf-8"))
    repositories = {
        folder: Repository(folder=folder, **fields)
        for folder, fields in listed["repositories"].items()
    }
    return {
        name: Source(
            name=name,
            repository=repositories[crowd["repository"]],
            files=tuple(crowd["files"]),
            reader=partial(getattr(readers, crowd["reader"]), **crowd.get("options", {})),
            family=crowd.get("family", name),
            domain=crowd.get("domain", "crowd"),
        )
        for name, crowd in listed["crowds"].items()
    }


SOURCES = _read_sources()


def find_sources(names: Sequence[str] = ()) -> list[Source]:
    """Look crowds up by name; without names, give all.

    Parameters
    ----------
    names : sequence of str

    Returns
    -------
    list of Source

    Raises
    ------
    InputError
        If there is no such crowd, with the nearest name.

    Examples
    --------
    >>> [source.split for source in find_sources(["rte", "face"])]
    ['choose', 'report']
    """
    return [find("crowd", name, SOURCES) for name in names or SOURCES]


def describe(sources: Sequence[Source]) -> Iterator[str]:
    """Say which files come from where, under which licence, and where to put them.

    Parameters
    ----------
    sources : sequence of Source

    Yields
    ------
    str
        Lines of text.
    """
    yield "Clone these repositories into FOLDER, or put the files there under the same paths."
    for repository in dict.fromkeys(source.repository for source in sources):
        yield f"\n{repository.address}  licence: {repository.licence}"
        for source in sources:
            if source.repository == repository:
                yield f"  {source.name} ({source.split})"
                yield from (f"    FOLDER/{repository.folder}/{file}" for file in source.files)


def missing_files(sources: Sequence[Source], folder: Path) -> list[InputError]:
    """Give an error for each file that is not in the folder, saying where it comes from.

    Parameters
    ----------
    sources : sequence of Source
    folder : Path

    Returns
    -------
    list of InputError
    """
    return [
        InputError(
            f"this file of the crowd {source.name} is missing",
            f"put {file} of {source.repository.address} there, or leave the crowd out with --crowd",
            file=path,
        )
        for source in sources
        for file, path in zip(source.files, source.paths(folder), strict=True)
        if not path.is_file()
    ]


def read_crowd(source: Source, folder: Path) -> Ratings:
    """Read a crowd.

    Parameters
    ----------
    source : Source
    folder : Path
        With a folder for each repository.

    Returns
    -------
    Ratings
        With truth, without a system.

    Raises
    ------
    InputError
        If a file is missing or not as it was published.
    """
    for error in missing_files([source], folder):
        raise error
    return source.reader(source.paths(folder))
