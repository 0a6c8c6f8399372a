"""Bootstrap intervals against NumPy and SciPy, and how far a long computation is."""

import logging
import sys
import time
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest

import lehner.core.resampling
from lehner import InputError, Ratings, estimate_algebraic, load_dataset
from lehner.core import resampling
from lehner.core.arrays import make_rng
from lehner.core.resampling import bootstrap_interval, draw_counts
from tests.reference.algebraic import algebraic

# Thirty very skewed scores in [0, 1] without ties, far from normal.
SKEWED = np.linspace(0.1, 1, 30) ** 6


def mean_of(scores):
    return lambda weights: weights @ scores / weights.sum(axis=1)


def bootstrap(statistic, counts, estimate, level, resamples, seed):
    many = draw_counts(counts, resamples, make_rng(seed))
    values = np.concatenate([statistic(weights) for weights in many])
    return bootstrap_interval(values, counts, estimate, level)


def interval_of_mean(scores, counts=None, level=0.9, resamples=500, seed=1):
    counts = np.ones(len(scores), dtype=np.int64) if counts is None else np.array(counts)
    statistic = mean_of(np.asarray(scores, dtype=float))
    estimate = float(statistic(counts[None, :])[0])
    return bootstrap(statistic, counts, estimate, level, resamples, seed)[0]


def ends(interval):
    return np.array([interval.lower, interval.upper])


# ----- The interval -----


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_percentile_interval_is_quantiles_over_multinomial_resamples(level):
    counts, scores = np.array([5, 1, 14]), np.array([0.1, 0.9, 0.4])
    draws = np.random.default_rng(7).multinomial(20, counts / 20, size=300)
    tails = [(1 - level) / 2, (1 + level) / 2]
    interval = interval_of_mean(scores, counts, level=level, resamples=300, seed=7)
    np.testing.assert_allclose(ends(interval), np.quantile(draws @ scores / 20, tails), atol=1e-12)
    assert (interval.level, interval.kind) == (level, "percentile bootstrap")


def test_rows_that_stand_for_no_item_change_nothing():
    without = interval_of_mean([0.2, 0.7], [4, 6])
    # The last row has a probability of 0 whatever is drawn for the others.
    assert ends(interval_of_mean([0.2, 0.7, 1], [4, 6, 0])) == pytest.approx(ends(without))


# ----- Seeds and chunks -----


def test_the_same_seed_whatever_its_kind_gives_the_same_interval_and_another_another():
    first, other = (interval_of_mean(SKEWED, seed=seed) for seed in (5, 6))
    for seed in (5, np.random.default_rng(5), np.random.SeedSequence(5)):
        assert interval_of_mean(SKEWED, seed=seed) == first != other


@pytest.mark.parametrize("chunk", [1, 100, 10_000])
def test_chunks_do_not_change_results(monkeypatch, chunk):
    expected = interval_of_mean(SKEWED)
    shapes = []

    def statistic(weights):
        shapes.append(weights.shape)
        return mean_of(SKEWED)(weights)

    monkeypatch.setattr(lehner.core.resampling, "RESAMPLED_ROWS_AT_ONCE", chunk)
    counts = np.ones(30, dtype=np.int64)
    interval, _ = bootstrap(statistic, counts, SKEWED.mean(), 0.9, 500, 1)
    assert ends(interval) == pytest.approx(ends(expected), abs=1e-12)
    assert max(n for n, _ in shapes) == max(1, chunk // 30)


# ----- Undefined resamples -----


@pytest.mark.parametrize("n_zeros", [1, 4])
def test_undefined_resamples_count_as_0_for_the_lower_end_and_1_for_the_upper(n_zeros):
    # Undefined unless one of the first rows' items is drawn: (1 - n_zeros/10)^10, .35 or .006.
    counts, scores = np.array([n_zeros, 10 - n_zeros]), np.array([0.2, 0.6])

    def statistic(weights):
        return np.where(weights[:, 0] > 0, mean_of(scores)(weights), np.nan)

    draws = np.random.default_rng(3).multinomial(10, counts / 10, size=2000)
    undefined = draws[:, 0] == 0
    values = draws @ scores / 10
    interval, proportion = bootstrap(statistic, counts, 0.5, 0.9, 2000, 3)
    assert proportion == undefined.mean() > 0
    assert interval.lower == pytest.approx(np.quantile(np.where(undefined, 0, values), 0.05))
    assert interval.upper == pytest.approx(np.quantile(np.where(undefined, 1, values), 0.95))
    assert interval.kind == "percentile bootstrap"
    assert (interval.upper == 1) == (n_zeros == 1)


def test_algebra_reports_resamples_at_or_below_chance():
    estimate = estimate_algebraic(load_dataset("lehner_table2"), resamples=400)
    share = estimate.diagnostics["undefined_resamples"]
    assert share > 0.05  # 10 items with kappa .111
    assert (estimate.system_accuracy.lower, estimate.system_accuracy.upper) == (0, 1)
    (warning,) = (warning for warning in estimate.warnings if warning.code == "undefined-resamples")
    assert f"undefined in {share:.1%} of the" in str(warning)


# ----- The algebra's interval -----


def grouped(counts):
    """Raters of accuracy about .8 and a system of about .8."""
    codes = [[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 0, 1], [0, 0, 0], [1, 1, 1]]
    return Ratings(codes, range(2), system=[0, 0, 1, 1, 1, 0], counts=counts)


def test_every_resample_goes_through_all_steps_of_the_algebra():
    counts = np.array([20, 15, 20, 10, 7, 8])
    ratings = grouped(counts)
    rows = [list(enumerate(row)) for row in ratings.codes.tolist()]
    draws = np.random.default_rng(4).multinomial(80, counts / 80, size=1000)
    values = [
        algebraic(rows, ratings.system.tolist(), [0, 1], "weighted", weights)["system_accuracy"]
        for weights in draws.tolist()
    ]
    interval = estimate_algebraic(ratings, aggregation="weighted").system_accuracy
    error = 4 * np.std(values) * np.sqrt(0.05 * 0.95 * (1 / 1000 + 1 / 2000)) / 0.103
    np.testing.assert_allclose(ends(interval), np.quantile(values, [0.05, 0.95]), atol=error)


# ----- Bad arguments -----


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"level": 0}, "level is 0"),
        ({"level": 1}, "level is 1"),
        ({"level": 90}, "level is 90"),
        ({"level": float("nan")}, "level is nan"),
        ({"level": "0.9"}, "level is '0.9'"),
        ({"interval": "normal"}, "interval is 'normal'; choose among percentile"),
        ({"resamples": 0}, "resamples is 0"),
        ({"resamples": 10.5}, "resamples is 10.5"),
        ({"resamples": "9"}, "resamples is '9'"),
        ({"resamples": True}, "resamples is True"),
    ],
)
def test_bad_arguments_are_refused(argument, message):
    with pytest.raises(InputError, match=message):
        estimate_algebraic(load_dataset("lehner_table2"), **argument)


def test_one_undefined_resample_does_not_take_the_standard_error_away() -> None:
    counts = np.array([30, 70])

    def share(weights: np.ndarray) -> np.ndarray:
        values = weights[:, 0] / weights.sum(axis=1)
        return np.where(values < 0.2, np.nan, values)

    interval, undefined = bootstrap(share, counts, 0.3, 0.9, 2000, 1)
    drawn = np.random.default_rng(1).multinomial(100, counts / 100, size=2000)[:, 0] / 100
    assert 0 < undefined < 0.05
    assert interval.standard_error == pytest.approx(drawn[drawn >= 0.2].std(ddof=1))
    values = np.where(drawn < 0.4, np.nan, 0.5)
    mostly, _ = bootstrap_interval(values, counts, 0.3, 0.9)
    assert mostly.standard_error is None


# How far a long computation is.


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


def test_a_notebook_has_one_bar_of_what_takes_long(monkeypatch):
    for logger in (logging.getLogger(name) for name in ("lehner", "bayes_models")):
        monkeypatch.setattr(logger, "propagate", False)
    monkeypatch.setattr(resampling, "EVERY", 0.0)
    monkeypatch.setitem(sys.modules, "ipykernel", None)
    drawn = []
    handle = SimpleNamespace(display=drawn.append, update=lambda *what, **_: drawn.extend(what))
    monkeypatch.setattr("IPython.display.DisplayHandle", lambda: handle)
    with resampling.show_if_long():
        list(resampling.with_progress("fits [b]", range(4)))
        logging.getLogger("lehner.reading").warning("reading")
    *bars, last = drawn
    (share,) = {task.completed for bar in bars[:2] for task in bar.tasks}
    assert share == 0.25 and bars[1].tasks[0].description.startswith("fits [b]: 25% done, ")
    assert bars[-1].tasks[0].total is None and last == {"text/plain": ""}


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
