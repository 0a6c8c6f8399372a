"""Pictures of the documentation, and what is published elsewhere, are those of today."""

import io
import re
import tomllib
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lehner.report.files import draw_bytes
from tests.docs.examples import ROOT, SLOW_TOLERANCE, lay_out, run_command, same

FOLDER = ROOT / "docs/figures"
COMMANDS = {}
for figure in tomllib.loads((FOLDER / "gallery.toml").read_text("utf-8"))["figure"]:
    COMMANDS.setdefault(figure["command"], []).append(figure)
OTHER_GREY, MOST_OTHER = 64, 0.01
"""A pixel is another if it differs by so much of 255; and how many of all may be others."""


def assert_same_picture(kept: Path, drawn: Path | io.BytesIO, tolerance: float | None) -> None:
    """Compare what pictures say of themselves, which has their numbers, and their pixels."""
    pictures = Image.open(kept), Image.open(drawn)
    said = [" ".join(picture.info["Description"].split()) for picture in pictures]
    assert same(*said, tolerance), said
    grey = [np.asarray(picture.convert("L"), dtype=int) for picture in pictures]
    assert grey[0].shape == grey[1].shape
    assert (abs(grey[0] - grey[1]) > OTHER_GREY).mean() <= MOST_OTHER


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_the_gallery_shows_what_commands_draw(command, tmp_path, monkeypatch):
    # To embed fonts in the PDF takes longest.
    monkeypatch.setattr(
        "lehner.report.files.draw_bytes",
        lambda figure, kind: b"" if kind == "pdf" else draw_bytes(figure, kind),
    )
    lay_out(tmp_path)
    with chdir(tmp_path):
        for part in command.split(" && "):
            run_command(part)
    sampled = None if "--method" in command else SLOW_TOLERANCE
    for figure in COMMANDS[command]:
        assert_same_picture(FOLDER / f"{figure['name']}.png", tmp_path / figure["made"], sampled)


@pytest.mark.slow
def test_pictures_of_committed_tables_are_those_of_today(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    from make_gallery import draw_committed

    for kept, figure in draw_committed().items():
        assert_same_picture(kept, io.BytesIO(draw_bytes(figure, "png")), None)


# What is published elsewhere says what the project says.


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
