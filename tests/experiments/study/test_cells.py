"""The harness of simulations: cells computed once, from seeds by place, whole or not at all."""

import multiprocessing
import os
import signal
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest

from experiments.study.cells import Cell, read_cells, run_cells
from lehner import InputError


def draw(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"drawn": rng.random(n), "of": "x", "lacking": None})


def cells(simulate=draw, sizes=(2, 3, 4)):
    return [
        Cell(name=f"draw {n}", place=(7, n), values={"n": n}, simulate=partial(simulate, n))
        for n in sizes
    ]


def kept(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


def test_seeds_are_by_place_and_rows_follow_the_order_of_the_cells(tmp_path):
    first, second = reversed(cells(sizes=(2, 3)))
    assert [cell.name for cell, _ in run_cells([first, second], tmp_path, 5)] == [
        "draw 3",
        "draw 2",
    ]
    rows = read_cells(tmp_path, [second, first], 5)
    assert list(rows) == ["n", "drawn", "of", "lacking"] and rows["n"].tolist() == [2, 2, 3, 3, 3]
    for n in (2, 3):
        seed = np.random.SeedSequence(5, spawn_key=(7, n))
        expected = np.random.default_rng(seed).random(n)
        np.testing.assert_array_equal(rows.loc[rows["n"] == n, "drawn"], expected)


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    done = []

    def stopped(n, seed):
        done.append(n)
        if n == 3 and len(done) == 2:
            raise KeyboardInterrupt
        return draw(n, seed)

    with pytest.raises(KeyboardInterrupt):
        list(run_cells(cells(stopped), tmp_path))
    with pytest.raises(InputError, match=r"the cell draw_3-\w+ is not there, or its file is"):
        read_cells(tmp_path, cells())
    assert [cell.name for cell, _ in run_cells(cells(stopped), tmp_path)] == ["draw 3", "draw 4"]
    assert done == [2, 3, 3, 4] and list(run_cells(cells(stopped), tmp_path)) == []


def test_an_interrupt_that_a_cell_swallows_is_no_result(tmp_path):
    def swallow(n, seed):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            pass
        return draw(n, seed)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            list(run_cells(cells(swallow), tmp_path))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert kept(tmp_path) == {}


@pytest.mark.parametrize("workers, dask", [(2, None), (2, "local")])
def test_files_are_the_same_for_any_number_of_workers(tmp_path, workers, dask):
    if dask:
        pytest.importorskip("distributed")
    list(run_cells(cells(), tmp_path / "one", 1))
    list(run_cells(cells(), tmp_path / "more", 1, workers=workers, dask=dask))
    assert kept(tmp_path / "one") == kept(tmp_path / "more") and len(kept(tmp_path / "one")) == 3


@pytest.mark.parametrize("number", range(20))
def test_a_file_that_is_damaged_is_computed_again(tmp_path, number):
    list(run_cells(cells(), tmp_path))
    before, rng = kept(tmp_path), np.random.default_rng([20261123, number])
    path = sorted(tmp_path.glob("*.parquet"))[rng.integers(3)]
    content = bytearray(path.read_bytes())
    content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
    path.write_bytes(content if number % 2 else content[: rng.integers(len(content))])
    with pytest.raises(InputError, match="is not there, or its file is damaged"):
        read_cells(tmp_path, cells())
    ((again, _),) = run_cells(cells(), tmp_path)
    assert path.name.startswith(again.stem(1)) and kept(tmp_path) == before


def test_what_a_cell_is_known_by_makes_it_another_cell(tmp_path):
    (plain,) = cells(sizes=(2,))
    list(run_cells([plain], tmp_path))
    changed = [
        Cell(name="draw 2!", place=plain.place, values=plain.values, simulate=plain.simulate),
        Cell(name=plain.name, place=(7, 9), values=plain.values, simulate=plain.simulate),
        Cell(name=plain.name, place=plain.place, values={"n": 2.5}, simulate=plain.simulate),
    ]
    assert [cell for cell, _ in run_cells([plain, *changed], tmp_path)] == changed
    assert [cell for cell, _ in run_cells([plain], tmp_path, seed=2)] == [plain]
    assert len(read_cells(tmp_path)) == 10


def test_columns_that_a_cell_lacks_are_empty_and_numbers_stay_numbers(tmp_path):
    both = [
        Cell(name="a", place=(0,), simulate=lambda seed: [{"x": None, "right": [0.5, 1.0]}]),
        Cell(name="b", place=(1,), simulate=lambda seed: [{"x": 1.5, "more": True}]),
        Cell(name="none", place=(2,), simulate=lambda seed: []),
    ]
    list(run_cells(both, tmp_path))
    rows = read_cells(tmp_path, both)
    assert rows["x"].dtype == float and rows["x"].isna().tolist() == [True, False]
    assert rows["right"][0].tolist() == [0.5, 1.0] and rows["more"][1] is True


def slowly(n, seed):
    time.sleep(0.05)
    return draw(n, seed)


def _run(folder):
    list(run_cells(cells(slowly, range(2, 40)), folder))


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_to_the_same_rows(tmp_path):
    many = cells(slowly, range(2, 40))
    process = multiprocessing.get_context("forkserver").Process(target=_run, args=(tmp_path,))
    process.start()
    while len(kept(tmp_path)) < 3:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert 3 <= len(kept(tmp_path)) < 38
    list(run_cells(many, tmp_path))
    list(run_cells(many, tmp_path / "whole"))
    assert kept(tmp_path) == kept(tmp_path / "whole")
