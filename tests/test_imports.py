"""Imports: `import lehner` stays light, and packages depend in one direction only."""

import ast
import json
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHARED = Path(__file__).parent / "shared_names.toml"
HEAVY = {"pymc", "pytensor", "arviz", "nutpie", "matplotlib", "pandas", "xarray", "pyarrow"}


def test_import_lehner_loads_nothing_heavy():
    code = "import json, sys, lehner; print(json.dumps(sorted(sys.modules)))"
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(run.stdout)}
    assert {"lehner", "numpy"} <= loaded
    assert not loaded & HEAVY


def imported_packages(source):
    """Give the top-level packages that a file imports, at any depth of nesting."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(node.module.split(".")[0])
        elif isinstance(node, ast.ImportFrom) and node.level > 0:
            found.add("relative")
    return found


def test_imported_packages_finds_nested_imports():
    source = "import a.b as c\ndef f():\n    from d.e import g\n    import h, i\nfrom . import j\n"
    assert imported_packages(source) == {"a", "d", "h", "i", "relative"}


@pytest.mark.parametrize(
    ("package", "forbidden"),
    [
        ("lehner", {"bayes_models", "experiments", "tests"}),
        ("bayes_models", {"experiments", "tests"}),
        # What is installed has no tests.
        ("experiments", {"tests"}),
    ],
)
def test_lower_packages_do_not_import_higher_ones(package, forbidden):
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    for file in files:
        found = imported_packages(file.read_text(encoding="utf-8"))
        assert not found & (forbidden | {"relative"}), file


def imported_modules(file, modules):
    """Give the modules of this repository that a file needs to be imported."""
    found = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names} & modules
            found |= names or ({node.module} & modules)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & modules
    return found


def test_no_module_needs_itself():
    files = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts): file
        for package in ("lehner", "bayes_models", "experiments")
        for file in (ROOT / package).rglob("*.py")
        if file.name != "__init__.py"
    }
    needed = {name: imported_modules(file, set(files)) for name, file in files.items()}
    order = list(TopologicalSorter(needed).static_order())
    assert set(order) == set(files)


def imported_folders(file):
    """Give the folders from which a file imports, imports for type hints left out."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    hints = {
        inner
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    froms = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n not in hints]
    return {".".join(node.module.split(".")[:2]) for node in froms}


def imported_names(file):
    """Give the modules of this repository that a file imports from, and what it takes of each."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module, {alias.name for alias in node.names}


def shared_names():
    """Give what packages use of one another's folders, beside what these packages export."""
    used = {}
    for package in ("bayes_models", "experiments"):
        for file in (ROOT / package).rglob("*.py"):
            for module, names in imported_names(file):
                top, _, rest = module.partition(".")
                if rest and top in {"lehner", "bayes_models"} - {package}:
                    folder = ".".join(module.split(".")[:2])
                    used[folder] = used.get(folder, set()) | names
    return {folder: sorted(used[folder]) for folder in sorted(used)}


def test_what_packages_use_of_one_anothers_folders_is_listed():
    """`python tests/test_imports.py` lists it; look at the difference."""
    assert shared_names() == tomllib.loads(SHARED.read_text(encoding="utf-8"))


def test_names_with_an_underscore_stay_in_their_module():
    for package in ("lehner", "bayes_models", "experiments"):
        for file in (ROOT / package).rglob("*.py"):
            for module, names in imported_names(file):
                ours = module.partition(".")[0] in {"lehner", "bayes_models", "experiments"}
                private = {name for name in names if name.startswith("_") and name[1] != "_"}
                assert not (ours and private), (file, private)


def test_a_folder_uses_only_those_that_the_architecture_names_before_it():
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for package in ("lehner", "bayes_models", "experiments"):
        part = page[page.index(f"**`{package}/`**") :]
        folders = [path.parent for path in (ROOT / package).glob("*/__init__.py")]
        place = {f"{package}.{folder.name}": part.find(f"`{folder.name}/`") for folder in folders}
        assert min(place.values()) >= 0, place
        for folder in folders:
            own = f"{package}.{folder.name}"
            used = {name for file in folder.rglob("*.py") for name in imported_folders(file)}
            after = {name for name in used & set(place) if place[name] > place[own]}
            assert not after, (own, after)


if __name__ == "__main__":
    lists = [
        f'"{folder}" = [\n' + "".join(f'    "{name}",\n' for name in names) + "]\n"
        for folder, names in shared_names().items()
    ]
    SHARED.write_text(
        "# What packages use of one another's folders, beside what these packages export.\n\n"
        + "".join(lists),
        encoding="utf-8",
    )
