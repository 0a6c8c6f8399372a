"""Imports: `import lehner` stays light, and commands import nothing that they do not use."""

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient

import lehner
from lehner import Scenario, simulate
from tests.rows import pick_rows

ROOT = Path(__file__).parents[1]
HEAVY = {*"pymc pytensor arviz nutpie matplotlib pandas xarray pyarrow scipy".split()}


def test_nothing_heavy_is_loaded_with_all_names_of_lehner():
    code = (
        "import json, sys, lehner; [getattr(lehner, name) for name in lehner.__all__]; "
        "print(json.dumps(sorted(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(run.stdout)}
    assert {"lehner", "numpy"} <= loaded
    assert not loaded & HEAVY


MODELS = {"pymc", "pytensor", "arviz", "nutpie", "numba", "bayes_models"}
COSTLY = MODELS | {"matplotlib", "h5py", "dask"}
RUN = """
import json, sys
sys.modules["dask"] = None  # xarray loads Dask where it is installed, and Dask loads SciPy
from lehner.command.main import main
sys.argv = ["lehner", *json.loads(sys.argv[1])]
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
print("MODULES", json.dumps([name for name in sys.modules if sys.modules[name]]))
"""


def loaded_by(arguments):
    command = [sys.executable, "-c", RUN, json.dumps(arguments)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    answer, _, modules = run.stdout.partition("MODULES ")
    assert answer.strip()
    return set(json.loads(modules))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "unused"),
    [
        (
            ["estimate", "lehner_table2", "--system", "System", "--method", "algebraic"],
            {"scipy", "xarray"},
        ),
        (["agreement", "lehner_table2"], set()),
        (["--help"], {"numpy", "pydantic", "scipy", "pandas", "xarray"}),
    ],
    ids=["estimate", "agreement", "help"],
)
def test_a_command_loads_only_what_it_uses(arguments, unused):
    assert not loaded_by(arguments) & (COSTLY | unused)


def test_files_are_read_and_checked_without_models(tmp_path):
    ratings, file = simulate(Scenario(n_items=200), seed=1), tmp_path / "ratings.csv"
    ratings.with_truth(None).to_long().to_csv(file, index=False)
    loaded = loaded_by(["check", str(file), "--replicates", "199"])
    assert not loaded & COSTLY


# Every notebook runs from top to bottom, and its script and saved form agree.


FOLDER = Path(__file__).parents[1] / "notebooks"
SCRIPTS = sorted(FOLDER.glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_notebook_runs(script):
    notebook = jupytext.read(script)
    NotebookClient(notebook, timeout=900, resources={"metadata": {"path": str(FOLDER)}}).execute()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_saved_notebook_has_the_code_of_its_script_and_its_outputs(script):
    saved = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    cells = [(cell.cell_type, cell.source) for cell in saved.cells]
    assert cells == [(cell.cell_type, cell.source) for cell in jupytext.read(script).cells]
    assert all(cell.execution_count for cell in saved.cells if cell.cell_type == "code")


# What is published: it builds, and does its work where the repository is not.


CLEAN = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}


def run(*command, cwd, **more):
    words, env = list(map(str, command)), CLEAN | more
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_version_stands_in_one_place_and_its_release_in_the_changelog():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dynamic"] == ["version"] and "version" not in project
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    released = citation.partition("date-released: ")[2].split()[0]
    assert f"\n## [{lehner.__version__}] - {released}\n" in changelog
    assert f"\nversion: {lehner.__version__}\n" in citation


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return sorted(folder.iterdir())


@pytest.mark.slow
def test_wheel_and_source_distribution_pass_the_checks_of_the_index(distributions):
    source, wheel = sorted(distributions, key=lambda path: path.suffix)
    assert (source.suffix, wheel.suffix) == (".gz", ".whl")
    run(sys.executable, "-m", "twine", "check", "--strict", source, wheel, cwd=source.parent)
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"lehner", "bayes_models", f"lehner-{lehner.__version__}.dist-info"}
    assert "lehner/py.typed" in names
    top = source.name.removesuffix(".tar.gz")
    with tarfile.open(source) as archive:
        files = archive.getnames()
    # The pages of the site show them.
    shown = [*ROOT.glob("docs/figures/*.png"), *ROOT.glob("notebooks/*.ipynb")]
    assert {f"{top}/{path.relative_to(ROOT)}" for path in shown} <= set(files)


@pytest.fixture(scope="module")
def bin_folder(distributions, tmp_path_factory):
    """An environment with the wheel, which finds other packages where the tests do."""
    (wheel,) = (path for path in distributions if path.suffix == ".whl")
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, with_pip=True)
    bin_folder = folder / ("Scripts" if os.name == "nt" else "bin")
    install = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel)
    run(bin_folder / "python", *install, cwd=folder)
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    purelib = run(bin_folder / "python", "-c", ask, cwd=folder).strip()
    Path(purelib, "others.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return bin_folder


@pytest.mark.slow
@pytest.mark.parametrize("is_package", [False, True])
def test_a_folder_experiments_of_the_user_is_no_matter(bin_folder, tmp_path, is_package):
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "run1.py").write_text("import lehner\nprint('mine')\n")
    if is_package:
        (tmp_path / "experiments" / "__init__.py").write_text("")
    code = "import experiments.run1"
    for more in ({}, {"PYTHONPATH": "."}):
        assert run(bin_folder / "python", "-c", code, cwd=tmp_path, **more) == "mine\n"
        assert "agreement" in run(bin_folder / "lehner", "--help", cwd=tmp_path, **more)
        assert "agreement" in run(bin_folder / "python", "-m", "lehner", cwd=tmp_path, **more)


@pytest.mark.slow
def test_the_wheel_does_its_work_without_the_repository(bin_folder, tmp_path):
    python, command = bin_folder / "python", bin_folder / "lehner"
    code = "import lehner, bayes_models; print(lehner.__file__, bayes_models.__file__)"
    files = run(python, "-c", code, cwd=tmp_path).split()
    assert all(Path(file).is_relative_to(bin_folder.parent) for file in files)
    assert run(command, "--version", cwd=tmp_path) == f"lehner {lehner.__version__}\n"
    options = ("--system", "System", "--method", "algebraic,dawid_skene", "--json")
    out = run(command, "estimate", "lehner_table2", *options, "--output", "out", cwd=tmp_path)
    algebra, model = pick_rows(out, "system_accuracy")
    assert algebra["estimate"] == pytest.approx(0.8040, abs=1e-4)
    assert 0.4 < model["estimate"] < 0.9
    assert (tmp_path / "out" / "estimates.pdf").stat().st_size > 1000
    assert "System" in run(command, "agreement", "lehner_table2", cwd=tmp_path)
    assert "anesthesia" in run(command, "datasets", cwd=tmp_path)
    small = "import lehner; print(lehner.Study.read('quick', replicates=1).replicates)"
    assert run(python, "-c", small, cwd=tmp_path) == "1\n"
