import pytest


@pytest.fixture
def file(table, tmp_path):
    """The table of a test file, as CSV."""
    path = tmp_path / "ratings.csv"
    table.to_csv(path, index=False)
    return path
