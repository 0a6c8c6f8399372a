"""What is published elsewhere says what the project says."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CONDA_NAMES = {"matplotlib": "matplotlib-base", "pymc": "pymc-base", "pytensor": "pytensor-base"}


def test_the_conda_recipe_needs_what_the_package_needs():
    recipe = (ROOT / ".github/conda/recipe.yaml").read_text("utf-8")
    run = re.search(r"  run:\n((?:    - .*\n)+)", recipe)[1]
    needed = {tuple(line.removeprefix("    - ").split(" ")) for line in run.splitlines()}
    expected = {("python", PROJECT["requires-python"])}
    for dependency in PROJECT["dependencies"]:
        name, limits = re.fullmatch(r"([\w-]+)(.*)", dependency).groups()
        expected.add((CONDA_NAMES.get(name, name), limits))
    assert needed == expected


def test_hosted_checks_are_those_of_ci_run():
    checks = (ROOT / ".ci/run").read_text("utf-8").replace(" --locked", "")
    lint = re.search(r"python -m uv run ruff check .*lint-imports\n", checks, re.DOTALL)[0]
    docs = re.search(r"python -m uv run (.*sphinx-build.*html) >", checks)[1]
    workflows = ROOT / ".github/workflows"
    hosted = (workflows / "tests.yml").read_text("utf-8").replace(" --locked", "")
    assert "".join(f"      - run: {line}\n" for line in lint.splitlines()) in hosted
    hosted = (workflows / "docs.yml").read_text("utf-8").replace(" --locked", "")
    assert hosted.endswith(f"run: python -m uv run {docs}\n")
    hosted = (ROOT / ".readthedocs.yaml").read_text("utf-8")
    built = docs.removeprefix("--group docs ").replace("docs/_build", "$READTHEDOCS_OUTPUT")
    assert f"python -m uv run {built}\n" in hosted
    hooks = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    of_lint = re.findall(r"uv run (ruff \w+|[\w-]+)", lint)
    assert re.findall(r"- id: (\S+)", hooks) == [name.replace(" ", "-") for name in of_lint]


def test_each_python_that_is_named_is_tested():
    named = re.findall(r":: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    hosted = (ROOT / ".github/workflows/tests.yml").read_text("utf-8")
    assert re.findall(r'"([\d.]+)"', re.search(r"python: \[.*\]", hosted)[0]) == named
