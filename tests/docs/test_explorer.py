"""The bias explorer computes in the browser what `lehner.population_value` computes."""

import re
from collections.abc import Sequence
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lehner
from lehner.simulation import draw
from lehner.simulation import scenario as parameters
from lehner.simulation.draw import count_patterns
from lehner.simulation.scenario import DrawnParameters, normalise, vary_errors
from tests.docs.explorer_page import (
    CHROMIUM,
    FITTED_SAMPLES,
    FOLDER,
    MODEL_LIMITS,
    NODE,
    SPREADS,
    THROUGH_ADDRESS,
    VOTE_LIMITS,
    dump_page,
    run_in_node,
)

VOTE_METHODS = ("majority_agreement", "algebraic", "algebraic_paper")
MODELS = ("one_coin_ml", "dawid_skene_ml")
SVG = "http://www.w3.org/2000/svg"  # a name, which no browser opens
# The paper's step 4 is applied to random samples of 10^14 items, in Python as in the browser.
TOLERANCE = dict.fromkeys(VOTE_METHODS, 1e-9) | {"algebraic_paper": 1e-5}
# Where the likelihood is flat, both stop a little before its maximum.
MODEL_TOLERANCE = 1e-5

needs_node = pytest.mark.skipif(NODE is None, reason="Node.js is not installed")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


def random_settings(n: int, *, least_accuracy: float, seed: int) -> list[dict[str, Any]]:
    """Draw settings of all sliders; a quarter of the values are at an end of the slider."""
    rng, of_errors = (np.random.default_rng(entropy) for entropy in (seed, [seed, 1]))

    def slide(low: float, high: float) -> float:
        ends = rng.random() < 0.25
        return float(rng.choice([low, high]) if ends else round(rng.uniform(low, high), 2))

    return [
        {
            "categories": int(rng.integers(2, 6)),
            "raters": [slide(least_accuracy, 1) for _ in range(rng.integers(2, 6))],
            "system": slide(0, 1),
            "skew": slide(1, 4),
            "difficultyRange": slide(0, 0.5),
            "systemFindsDifficult": bool(rng.integers(2)),
            "nearErrors": slide(1, 5),
            "errorRange": max(0.0, round(of_errors.uniform(-0.5, 1), 2)),
            "sharedMistakes": slide(0, 0.5),
        }
        for _ in range(n)
    ]


def scenario(settings: dict[str, Any], n_items: int = 200) -> lehner.Scenario:
    rates = settings["skew"] ** -np.arange(settings["categories"], dtype=float)
    change = settings["difficultyRange"]
    return lehner.Scenario(
        n_categories=settings["categories"],
        n_items=n_items,
        initial_rater_accuracy=tuple(settings["raters"]),
        initial_system_accuracy=settings["system"],
        easiness=(-change, 0, change) if change else (0,),
        easiness_affects="both" if settings["systemFindsDifficult"] else "raters",
        asymmetric_dispersion=settings["nearErrors"],
        proportional_error_range=settings.get("errorRange", 0.0),
        base_rates=tuple(rates / rates.sum()),
        misleading=settings["sharedMistakes"],
    )


@cache
def browser_noise() -> np.ndarray:
    """Give the random numbers, from -1 to 1, by which the page varies errors."""
    draws = run_in_node("((r) => settings.map(() => r()))(seededRandom(ERRORS_SEED))", [{}] * 450)
    return 2 * np.array(draws) - 1


def draw_as_browser(scenario: lehner.Scenario, n_samples: int, _: Any) -> DrawnParameters:
    accuracy, dispersed = parameters._disperse(scenario)
    rates = np.array(scenario.base_rates)
    noise = browser_noise()[: dispersed.size].reshape(dispersed.shape)
    varied = vary_errors(dispersed, scenario.proportional_error_range, noise)
    matrices = normalise(varied, accuracy, rates)
    return DrawnParameters(base_rates=rates[None], confusion=matrices[None])


def in_python(setting: dict[str, Any], methods: Sequence[str]) -> dict[str, draw.PopulationValue]:
    """Compute the values with the preferences among errors that the page draws."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draw, "draw_parameters", draw_as_browser)
        return {
            method: draw.population_value(scenario(setting), method, replicates=1)
            for method in methods
        }


def assert_same(
    settings: list[dict[str, Any]], expected: list[dict[str, Any]], methods: Sequence[str]
) -> None:
    for setting, browser in zip(settings, expected, strict=True):
        for method, value in in_python(setting, methods).items():
            wanted = value.estimate
            if wanted is not None:
                wanted = pytest.approx(wanted, abs=TOLERANCE.get(method, MODEL_TOLERANCE))
            assert browser[method] == wanted, (method, setting)
            truth = pytest.approx(value.system_accuracy, abs=1e-9)
            assert browser.get("truth", truth) == truth


ANY_SETTINGS = random_settings(40, least_accuracy=0, seed=1)
# Of raters near chance the likelihood is all but flat, and where the search stops is arbitrary.
MODEL_SETTINGS = [
    setting
    for setting in random_settings(60, least_accuracy=0.55, seed=2)
    if count_patterns(scenario(setting)) <= 300 and 0.1 < setting["system"] < 1
]


@needs_node
def test_large_sample_values_are_those_of_python():
    sizes = {setting["categories"] for setting in ANY_SETTINGS}
    assert sizes == {2, 3, 4, 5}
    browser = run_in_node(VOTE_LIMITS, ANY_SETTINGS)
    assert_same(ANY_SETTINGS, browser, VOTE_METHODS)
    assert all("truth" in values for values in browser)


@needs_node
def test_models_go_where_they_go_in_python():
    assert len(MODEL_SETTINGS) >= 15
    assert_same(MODEL_SETTINGS, run_in_node(MODEL_LIMITS, MODEL_SETTINGS), MODELS)


@needs_node
def test_dawid_skene_has_no_value_where_it_is_not_identified():
    settings = ANY_SETTINGS[0] | {"categories": 2, "raters": [0.5, 0.8], "difficultyRange": 0}
    assert run_in_node(MODEL_LIMITS, [settings])[0]["dawid_skene_ml"] is None


@needs_node
def test_spread_is_that_of_simulated_samples():
    """Means, standard deviations and shares undefined agree within four standard errors."""
    same = {"systemFindsDifficult": True, "sharedMistakes": 0.1, "items": 100, "samples": 2000}
    settings = [
        same | {"categories": 2, "raters": [0.6, 0.6, 0.7], "system": 0.8, "skew": 1,
                "difficultyRange": 0, "nearErrors": 1},
        same | {"categories": 5, "raters": [0.5, 0.6], "system": 0.9, "skew": 1.5,
                "difficultyRange": 0.2, "nearErrors": 3},
        same | {"categories": 3, "raters": [0.7, 0.6, 0.6, 0.5, 0.8], "system": 0.6, "skew": 2,
                "difficultyRange": 0.1, "nearErrors": 2},
    ]  # fmt: skip
    for setting, browser in zip(settings, run_in_node(SPREADS, settings), strict=True):
        samples = lehner.simulate_estimates(
            scenario(setting, 100), 20_000, methods=VOTE_METHODS, in_sample=False
        )
        for method, spread in browser.items():
            values = samples[method].dropna("replicate").values
            n = setting["samples"] * (1 - spread["undefined"])
            error = values.std() * np.sqrt(1 / n + 1 / len(values))
            kurtosis = ((values - values.mean()) ** 4).mean() / values.var() ** 2
            error_of_sd = error * np.sqrt((kurtosis - 1) / 4)
            undefined = float(samples[method].isnull().mean())
            rarely = np.sqrt(max(undefined, 1e-3) / setting["samples"])
            assert spread["mean"] == pytest.approx(values.mean(), abs=4 * error)
            assert spread["standardError"] == pytest.approx(values.std(), abs=4 * error_of_sd)
            assert spread["undefined"] == pytest.approx(undefined, abs=4 * rarely)


@needs_node
def test_each_sample_has_the_estimates_of_python():
    settings = {
        "categories": 3, "raters": [0.6, 0.7, 0.8], "system": 0.85, "skew": 1.5, "items": 200,
        "difficultyRange": 0, "systemFindsDifficult": True, "nearErrors": 2, "sharedMistakes": 0,
        "samples": 5,
    }  # fmt: skip
    patterns = np.indices((3,) * 4).reshape(4, -1).T
    for sample in run_in_node(FITTED_SAMPLES, [settings])[0]:
        counts = np.array(sample["counts"], dtype=int)
        held = counts > 0
        ratings = lehner.Ratings(
            patterns[held, :3], "ABC", system=patterns[held, 3], counts=counts[held]
        )
        algebra = lehner.estimate_algebraic(ratings, interval=None)
        assert sample["algebraic"] == pytest.approx(algebra.system_accuracy.estimate, abs=1e-9)
        for model in MODELS:
            fit = lehner.fit_latent_class(ratings, model.removesuffix("_ml"))
            assert sample[model] == pytest.approx(float(fit.accuracy[-1]), abs=1e-4)


@needs_node
def test_address_holds_the_setting():
    settings = [setting | {"items": 1000} for setting in ANY_SETTINGS]
    assert run_in_node(THROUGH_ADDRESS, settings) == settings


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("least_accuracy, seed", [(0.6, 3), (0.6, 4)])
def test_page_shows_the_setting_of_its_address(least_accuracy: float, seed: int, tmp_path: Path):
    """Opened from a file, the page fills its table with the numbers of Python."""
    setting = random_settings(1, least_accuracy=least_accuracy, seed=seed)[0]
    setting = {**setting, "skew": round(setting["skew"], 1)}
    setting = {**setting, "nearErrors": round(setting["nearErrors"], 1)}
    words = {
        name: ",".join(map(str, value)) if name == "raters" else str(value).lower()
        for name, value in setting.items()
    }
    hash_ = "&".join(f"{name}={value}" for name, value in words.items())
    shown = dump_page(f"{(FOLDER / 'index.html').as_uri()}#{hash_}", tmp_path)
    assert 'data-state="done"' in shown
    for method, value in in_python(setting, (*VOTE_METHODS, *MODELS)).items():
        row = re.search(f'<tr [^>]*id="{method}".*?class="number estimate">([^<]*)<', shown)
        assert row
        wanted = "none" if value.estimate is None else f"{value.estimate:.3f}"
        assert unescape(row[1]) == wanted, (method, setting)


def test_page_asks_for_nothing_from_elsewhere():
    text = "".join(path.read_text() for path in sorted(FOLDER.iterdir()))
    assert set(re.findall(r"""(?:https?:)?//[^\s"'`]+\.[^\s"'`]+""", text)) == {SVG}
    assert not re.search(r"\bfetch\(|XMLHttpRequest|@import|url\(", text)
