"""Imports: `import lehner` stays light. `lint-imports` checks what may import what."""

import json
import subprocess
import sys
from pathlib import Path

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
