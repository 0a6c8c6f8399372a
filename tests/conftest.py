import os
import sys

# As the command does: compiling takes longer than sampling. Before Numba is imported.
os.environ.setdefault("NUMBA_OPT", "1")
# What tests evaluate once is evaluated in Python: no C compiler. Before PyTensor is imported.
os.environ.setdefault("PYTENSOR_FLAGS", "cxx=")

import pytest
from hypothesis import HealthCheck, settings

import lehner
from lehner.command import main as cli
from tests.rows import draw_for_pages_only

# No test asserts a time. Each run has other examples, so that those of many runs add up.
slowly = [HealthCheck.too_slow]
settings.register_profile("few", deadline=None, max_examples=10, suppress_health_check=slowly)
settings.load_profile("few")

# They take longest.
LONGEST = ("tests/test_imports", "bayes_models/test_calibration")


def pytest_collection_modifyitems(items):
    """Start with what takes longest, so that no processor waits for it in the end."""
    items.sort(key=lambda item: not any(name in item.nodeid for name in LONGEST))


@pytest.fixture(scope="session")
def anesthesia_fit():
    """The anesthesia data without a system, sampled long enough for three decimals.

    By Gibbs, which needs no compilation; that NUTS draws the same is tested where models are small.
    """
    import bayes_models

    data = lehner.load_dataset("anesthesia").with_independent_repeats()
    return bayes_models.fit("dawid_skene", data, seed=1, engine="gibbs", draws=10_000)


@pytest.fixture(scope="session")
def table_2_fit():
    """The paper's Table 2, with its system."""
    import bayes_models

    return bayes_models.fit("dawid_skene", lehner.load_dataset("lehner_table2"), seed=1)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command, or another main; give exit code, standard output and standard error."""
    monkeypatch.setattr("lehner.report.files.draw_bytes", draw_for_pages_only)
    # On a busy computer the imports alone take longer, and it would be said.
    monkeypatch.setattr("lehner.core.resampling.SILENCE", 1e6)

    def call(*arguments, main=cli.main):
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.setattr(sys, "argv", ["lehner", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return call
