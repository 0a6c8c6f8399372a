"""Cells of a study: files whole or not at all, and whatever is damaged computed again."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from tests.studies import export, read_results, run_study

STUDY = """
name = "draws"
seed = 1
replicates = 20
experiment = "draws.py:draw"
[[scenarios]]
name = "draws"
grid = { n = [2, 3] }
"""
DRAWS = """
import numpy as np

def draw(seed, n):
    for x in np.random.default_rng(seed).random(n):
        yield {"drawn": x, "lacking": None if n == 2 else 1.5, "all": [x, 2 * x]}
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "draws.py").write_text(DRAWS)
    (tmp_path / "draws.toml").write_text(STUDY)
    return partial(run_study, tmp_path / "draws.toml")


def read_files(folder):
    return {path.name: path.read_bytes() for path in (folder / "cells").glob("*.parquet")}


def test_columns_that_a_cell_lacks_are_empty_and_numbers_stay_numbers(run, tmp_path):
    rows = run(tmp_path / "out")
    assert rows["lacking"].dtype == float
    assert (rows["lacking"].isna() == (rows["n"] == 2)).all()
    assert rows["all"][0].tolist() == [rows["drawn"][0], 2 * rows["drawn"][0]]


def test_files_are_the_same_for_any_number_of_workers(run, tmp_path):
    run(tmp_path / "here")
    run(tmp_path / "there", workers=2)
    assert read_files(tmp_path / "here") == read_files(tmp_path / "there")
    assert len(read_files(tmp_path / "here")) == 4


def test_a_file_that_is_damaged_is_named_and_computed_again(run, tmp_path, caplog):
    out = tmp_path / "out"
    whole, before = run(out), read_files(out)
    for number in range(10):
        rng = np.random.default_rng([20261123, number])
        path = sorted((out / "cells").glob("*.parquet"))[rng.integers(4)]
        content = bytearray(path.read_bytes())
        content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        path.write_bytes(content if number % 2 else content[: rng.integers(len(content))])
        caplog.clear()
        export(out, tmp_path / "out.csv")
        assert "draws is damaged: it has 30 of 40 results, because" in caplog.text
        assert repr(path.name) in caplog.text
        assert len(read_results(out)) < len(whole)
        pd.testing.assert_frame_equal(run(out), whole)
        assert read_files(out) == before


def test_another_text_of_a_function_sees_the_same_random_numbers(run, tmp_path):
    before = run(tmp_path / "out")
    (tmp_path / "draws.py").write_text(DRAWS.replace("yield", 'yield {"text": "new"} |'))
    pd.testing.assert_series_equal(run(tmp_path / "out")["drawn"], before["drawn"])
    assert len(read_files(tmp_path / "out")) == 8
