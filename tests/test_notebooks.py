"""Every notebook runs from top to bottom, and its script and saved form agree."""

from pathlib import Path

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient

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
