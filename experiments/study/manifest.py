"""The manifest of a folder of results: what they are of, and what computed them."""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from experiments.reporting.files import write_atomically, write_text
from experiments.study.checked_file import UnusableFileError
from experiments.study.definition import Study
from experiments.study.identity import FORMAT, method_id, scenario_id
from experiments.study.part_file import remedy
from lehner import InputError

NAME = "manifest.json"
NEEDED = ("seed", "versions")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a folder.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    dict
        With `seed`, `versions` and more. `defaults` is missing if the results were stored by a
        version that recorded no defaults of methods and no checksums.

    Raises
    ------
    UnusableFileError
        If it is missing or damaged.
    InputError
        If the results are in another format.
    """
    path = folder / NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UnusableFileError("this file is missing", remedy(folder), file=path) from None
    except (ValueError, RecursionError):
        problem = "this file is damaged: it is not JSON"
        raise UnusableFileError(problem, remedy(folder), file=path) from None
    if not _says_what_is_needed(content):
        problem = "this file is damaged: it does not say what the results are of"
        raise UnusableFileError(problem, remedy(folder), file=path)
    _require_format(content, folder)
    return dict(content)


def _says_what_is_needed(content: Any) -> bool:
    if not isinstance(content, Mapping) or any(key not in content for key in NEEDED):
        return False
    defaults = content.get("defaults", {})
    return isinstance(defaults, Mapping) and all(
        isinstance(one, Mapping) for one in defaults.values()
    )


def write_manifest(folder: Path, study: Study, source: Path, defaults: Mapping[str, Any]) -> None:
    """Write the manifest of a study, and a copy of its file.

    Parameters
    ----------
    folder : Path
    study : Study
    source : Path
        The study's file.
    defaults : mapping
        As `experiments.study.defaults.study_defaults` gives them, and of methods that were in the
        study before.
    """
    from experiments.study.replicate import versions

    content = {
        "format": FORMAT,
        "study": study.name,
        "seed": study.seed,
        "hash": study.hash,
        "versions": versions(),
        "scenarios": {cell.name: scenario_id(cell.scenario) for cell in study.cells},
        "methods": {method.label: method_id(method, study.level) for method in study.methods},
        "defaults": defaults,
    }
    text = json.dumps(content, indent=2) + "\n"
    copy = folder / "study.toml"
    if source.resolve() != copy.resolve():
        write_atomically(copy, partial(Path.write_bytes, data=source.read_bytes()))
    write_text(text, folder / NAME)


def _require_format(content: Mapping[str, Any], folder: Path) -> None:
    """Refuse results whose scenarios and methods are known by other hashes, and so other seeds."""
    stored = content.get("format", 1)
    if stored != FORMAT:
        raise InputError(
            f"this folder holds results in format {stored}, of {content['versions']}; this version "
            f"has format {FORMAT}, in which seeds or defaults of methods are others",
            "give a new folder, or read this one with the version that wrote it",
            file=folder,
        )
