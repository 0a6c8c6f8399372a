import sys

import pytest

from experiments.cli import main as cli
from tests.experiments.rows import draw_for_pages_only


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command; give exit code, standard output and standard error."""
    monkeypatch.setattr("experiments.report.files.draw_bytes", draw_for_pages_only)
    # On a busy computer the imports alone take longer, and it would be said.
    monkeypatch.setattr("experiments.cli.load.EVERY", 600.0)
    monkeypatch.setattr("experiments.cli.load.EVERY", 1e6)

    def call(*arguments):
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.setattr(sys, "argv", ["lehner", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        captured = capsys.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return call
