"""The pages of the API reference: every public name, under the folder that holds it."""

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
    """Write a page for each package, with its public names by the folder of their source."""
    for package, title in PACKAGES.items():
        lines = [title, "=" * len(title), "", f".. currentmodule:: {package}", ""]
        for heading, names in _by_folder(package).items():
            lines += [heading, "-" * len(heading), ""]
            lines += [".. autosummary::", "   :toctree: generated", ""]
            lines += [f"   {name}" for name in names] + [""]
        text = "\n".join(lines)
        path = folder / f"{package}.rst"
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
