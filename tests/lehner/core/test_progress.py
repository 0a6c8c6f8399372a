"""How far a long computation is."""

import logging
import sys
import time
from io import StringIO

import pytest

from lehner.core import resampling


@pytest.fixture
def said(caplog, monkeypatch):
    """What is logged, as if each look at the clock were two seconds after the one before."""
    caplog.set_level(logging.INFO, "lehner")
    seconds = iter(range(0, 10**6, 2))
    monkeypatch.setattr(resampling.time, "monotonic", lambda: next(seconds))
    return caplog


def test_proportion_and_time_left_are_told_every_five_seconds(said):
    tell = resampling.log_progress("resampling", 10)
    for done in range(11):
        tell(done)
    # At 6, 12 and 18 seconds, when 2, 5 and 8 of 10 are done; not at the end.
    expected = ["20% done, 24 s left", "50% done, 12 s left", "80% done, 4 s left"]
    assert said.messages == [f"resampling: {text}" for text in expected]


def test_a_step_without_parts_is_named_every_five_seconds(monkeypatch, caplog):
    monkeypatch.setattr(resampling, "SILENCE", 0.01)
    screen, logger = StringIO(), logging.getLogger("lehner.reading")
    caplog.set_level(logging.DEBUG)
    with resampling.handle_messages(logging.StreamHandler(screen)):
        for text in ("reading 5% of a.csv", "fits: 60% done, 6 s left"):
            logger.debug(text)
            while f"{text.removesuffix(', 6 s left')}\n" not in screen.getvalue():
                time.sleep(0.01)
        assert "left" not in screen.getvalue()
        logger.info("fits: 80% done, 9 s left", extra={"end": time.monotonic() + 90})
        while "fits: 80% done, 8" not in screen.getvalue():
            time.sleep(0.01)
    # The handlers of the root logger are a user's own.
    assert not caplog.records and logging.getLogger("lehner").propagate


@pytest.mark.parametrize("in_terminal", [True, False])
def test_a_terminal_shows_what_takes_long(monkeypatch, in_terminal):
    for logger in (logging.getLogger(name) for name in ("lehner", "bayes_models")):
        monkeypatch.setattr(logger, "propagate", False)
    monkeypatch.setattr(resampling, "EVERY", 0.0)
    screen = StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: in_terminal, raising=False)
    monkeypatch.setattr(sys, "stderr", screen)
    with resampling.show_if_long():
        list(resampling.with_progress("fits", [1, 2]))
    assert ("fits: 50% done" in screen.getvalue()) == in_terminal
    assert not logging.getLogger("lehner").handlers
