"""Imports: `import lehner` stays light, and commands import nothing that they do not use."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lehner import Scenario, simulate

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
