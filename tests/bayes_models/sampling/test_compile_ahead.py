"""Models compiled by processes of their own: which, how many at once, and what becomes of them."""

import sys
import time

import pytest

from bayes_models import MODELS, observe
from bayes_models.sampling import compile_ahead as ahead
from lehner import load_dataset

# Leaves a file of the model's name after a while, in place of a compiled model.
CHILD = """
import pathlib, pickle, sys, time
model, observed = pickle.load(sys.stdin.buffer)
pathlib.Path({folder!r}, model + ".begun").touch()
time.sleep({seconds})
pathlib.Path({folder!r}, model).touch()
"""


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """Set how long a process takes, and of what there is no need."""

    def change(seconds=0.3, processors=2, compiled=(), writable=True):
        child = CHILD.format(folder=str(tmp_path), seconds=seconds)
        monkeypatch.setattr(ahead, "COMMAND", (sys.executable, "-c", child))
        monkeypatch.setattr(ahead, "_processors", lambda: processors)
        monkeypatch.setattr(ahead, "load_model", lambda model, observed: model in compiled)
        monkeypatch.setattr(ahead, "can_keep", lambda: writable)
        monkeypatch.setattr(ahead, "_compiled_for", lambda model, observed: model[0])
        return tmp_path

    return change


def test_what_is_waited_for_is_there_and_what_had_no_turn_is_left(elsewhere):
    folder = elsewhere()
    with ahead.compile_ahead(["a", "b", "c"], None) as wait:
        wait("a")
        wait("b")
        assert (folder / "b").exists()
        wait("")
    assert not (folder / "a.begun").exists()
    folder = elsewhere(seconds=30)
    with ahead.compile_ahead(["d", "e", "f", "g"], None) as wait:
        start = time.monotonic()
        wait("f")
        wait("g")
        assert time.monotonic() - start < 20
    assert not any((folder / f"{model}.begun").exists() for model in "dfg")


def test_a_special_case_waits_for_the_model_that_is_compiled_for_it(elsewhere):
    folder = elsewhere()
    with ahead.compile_ahead(["a", "a special", "b special", "b"], None) as wait:
        wait("a special")
        wait("b special")
        assert (folder / "b").exists()
    assert sorted(path.name for path in folder.iterdir()) == ["b", "b.begun"]


def test_one_coin_is_compiled_as_one_coin_by_rater():
    observed = observe(load_dataset("lehner_table2"))
    special = {model: ahead._compiled_for(model, observed) for model in MODELS}
    assert {own: other for own, other in special.items() if own != other} == {
        "one_coin": "one_coin_by_rater"
    }


def test_processes_do_not_outlive_what_they_work_for(elsewhere):
    folder = elsewhere(seconds=30)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), ahead.compile_ahead(["a", "b"], None):
        while not (folder / "b.begun").exists():
            time.sleep(0.01)
        raise KeyboardInterrupt
    assert time.monotonic() - start < 20 and not (folder / "b").exists()


@pytest.mark.parametrize(
    "changes", [{"processors": 1}, {"compiled": ("a",)}, {"compiled": "ab"}, {"writable": False}]
)
def test_no_process_is_started_where_none_would_help(elsewhere, changes):
    folder = elsewhere(**changes)
    with ahead.compile_ahead(["a", "b"], None) as wait:
        wait("a")
        wait("b")
    assert not list(folder.iterdir())
