"""The index of the API: a line for every public name, under the folder that holds it."""

import importlib
import inspect
from collections import defaultdict
from pathlib import Path

PACKAGES = {
    "lehner": "lehner: data, the algebra, agreement, simulation",
    "bayes_models": "bayes_models: Bayesian models in PyMC",
    "lehner.study": "lehner.study: simulation studies",
}


def write_api_pages(folder: Path) -> None:
    """Write the index: a line for each public name, by package and the folder of its source."""
    lines = ["API reference", "=============", ""]
    lines += ["Every public name, and what it is.", ""]
    for package, title in PACKAGES.items():
        lines += [title, "-" * len(title), "", f".. currentmodule:: {package}", ""]
        for heading, names in _by_folder(package).items():
            lines += [heading, "~" * len(heading), ""]
            lines += [".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
            lines += [f"   {name}" for name in names] + [""]
    text, path = "\n".join(lines), folder / "index.rst"
    folder.mkdir(exist_ok=True)
    for page in set(folder.glob("*.rst")) - {path}:
        page.unlink()  # Pages of an earlier build would be in no table of contents.
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def filename_map() -> dict[str, str]:
    """Name apart the pages of names that differ only in case: not all file systems do."""
    renamed = {}
    for package in PACKAGES:
        names = importlib.import_module(package).__all__
        lower = [name.lower() for name in names]
        for name in names:
            if lower.count(name.lower()) > 1 and name != name.lower():
                renamed[f"{package}.{name}"] = f"{package}.{name}-class"
    return renamed


def _by_folder(package: str) -> dict[str, list[str]]:
    module = importlib.import_module(package)
    names = defaultdict(list)
    for name in sorted(module.__all__, key=str.lower):
        names[_heading(getattr(module, name), package)].append(name)
    return dict(sorted(names.items()))


def _heading(thing: object, package: str) -> str:
    """Take the first line of the docstring of the folder in which a name is defined."""
    home = getattr(thing, "__module__", "")
    if not (inspect.isclass(thing) or inspect.isfunction(thing)) or not home.startswith(package):
        return "Tables"
    folder = home.removeprefix(package).lstrip(".").split(".")[0]
    module = importlib.import_module(f"{package}.{folder}")
    return inspect.getdoc(module).splitlines()[0].rstrip(".").replace("`", "")
