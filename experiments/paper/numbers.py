"""What the paper prints, in `printed.csv`, its simulations, and our numbers beside every one."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike
from scipy.stats import binom

from lehner import InputError, Scenario, estimate_algebraic, load_dataset, simulate_estimates
from lehner.core.arrays import Seed, derive_seeds
from lehner.core.estimate import Row
from lehner.simulation.scenario import disperse, draw_parameters
from lehner.study.performance import estimate_proportion

COLUMNS = ("place", "quantity", "printed", "ours", "standard_error", "z", "verdict", "note")
MATCHES, MISPRINT, UNMATCHED = "matches", "misprint", "cannot be matched"
MOST_STANDARD_ERRORS = 3.0
PRESETS = (0.1, 0.3, 0.5, 0.7, 0.9)
PAPER_RUNS = 50
METHOD = "algebraic_paper"
# A third of the items is harder and a third easier by .2.
EASINESS = (-0.2, 0.0, 0.2)

VIOLATIONS: dict[str, Any] = {
    "easiness": EASINESS,
    "asymmetric_dispersion": 2.0,
    "proportional_error_range": 1.0,
}


PRINTED = pd.read_csv(
    Path(__file__).with_name("printed.csv"), dtype=str, keep_default_na=False
).set_index(["place", "quantity"])


def compare_printed(
    place: str,
    quantity: str,
    ours: float,
    *,
    standard_error: float = 0.0,
    printed_standard_error: float = 0.0,
    tried: str = "",
) -> Row:
    """Give a row of a number of ours, to be put beside the printed one by `judge`.

    Parameters
    ----------
    place, quantity : str
        As `printed.csv` has them.
    ours : float
    standard_error : float
        Monte Carlo standard error of ours; 0 where ours is exact.
    printed_standard_error : float
        That of the printed number, from our spread of runs and the paper's number of them.
    tried : str
        Where it cannot be matched, what we tried; otherwise a remark.

    Returns
    -------
    dict
    """
    errors = {"standard_error": standard_error, "printed_standard_error": printed_standard_error}
    return {"place": place, "quantity": quantity, "ours": float(ours), **errors, "tried": tried}


def judge(rows: Iterable[Row], printed: pd.DataFrame = PRINTED) -> pd.DataFrame:
    """Put the printed numbers beside ours, and say whether they agree.

    Parameters
    ----------
    rows : iterable of dict
        As `compare_printed` gives them.
    printed : pandas.DataFrame
        By place and quantity: `printed`, as text; `at_least`, not empty where the paper claims no
        more than that ours is not below it; and `misprint`, why it is one, or empty.

    Returns
    -------
    pandas.DataFrame
        A row for each number: `place`, `quantity`, `printed`, `ours`, `standard_error`; `z`,
        printed minus ours in standard errors, rounding included, NaN where both are exact;
        `verdict`, whether ours rounds to the printed number, or is within three standard errors;
        `note`; and `digits`, the number of decimals printed.
    """
    table = pd.DataFrame(rows).join(printed, on=["place", "quantity"])
    digits = table["printed"].str.partition(".")[2].str.len()
    number, rounding = table["printed"].astype(float), 10.0**-digits
    errors = table["standard_error"] ** 2 + table["printed_standard_error"] ** 2
    z = (number - table["ours"]) / np.sqrt(errors + rounding**2 / 12)
    far = z.abs().where(table["at_least"] == "", z)
    rounds = (number - table["ours"]).abs() <= rounding / 2 + 1e-9
    near = rounds.where(errors == 0, far <= MOST_STANDARD_ERRORS)
    misprinted = table["misprint"] != ""
    verdict = pd.Series(np.where(near, MATCHES, UNMATCHED)).mask(misprinted, MISPRINT)
    note = table["misprint"].where(misprinted, table["tried"])
    judged = table.assign(
        printed=number, z=z.where(errors > 0), verdict=verdict, note=note, digits=digits
    )
    return judged[[*COLUMNS, "digits"]]


# The figures of the paper, by their numbers: estimated against true system accuracy.
FIGURES = {
    number: Scenario(
        n_items=n_items, initial_rater_accuracy=raters, **(VIOLATIONS if number > 7 else {})
    )
    for number, raters, n_items in (
        (1, (0.6, 0.6, 0.6), 5000),
        (2, (0.4, 0.4, 0.4), 200),
        (3, (0.6, 0.6, 0.6), 200),
        (4, (0.8, 0.8, 0.8), 200),
        (5, (0.4, 0.4, 0.4), 50),
        (6, (0.6, 0.6, 0.6), 50),
        (7, (0.8, 0.8, 0.8), 50),
        (8, (0.5, 0.6, 0.7), 5000),
        (9, (0.3, 0.4, 0.5), 200),
        (10, (0.5, 0.6, 0.7), 200),
        (11, (0.7, 0.8, 0.9), 200),
        (12, (0.3, 0.4, 0.5), 50),
        (13, (0.5, 0.6, 0.7), 50),
        (14, (0.7, 0.8, 0.9), 50),
    )
}


def simulate_figure(scenario: Scenario, runs: int = PAPER_RUNS, seed: Seed = 1) -> xr.Dataset:
    """Simulate the runs of a figure, equally many at each preset system accuracy.

    Parameters
    ----------
    scenario : Scenario
        One of `FIGURES`, whose system has each preset accuracy in turn.
    runs : int
        Number of samples, a multiple of 5; the paper has 50.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same runs.

    Returns
    -------
    xarray.Dataset
        Dimension `run`: `preset`, `algebraic_paper` (the estimate), `system_accuracy`
        (expected), `system_accuracy_in_sample`, `kappa` and `rater_accuracy`. The first runs of
        each preset do not depend on `runs`.

    Raises
    ------
    InputError
        If the number of runs is not a multiple of 5, above 0.

    References
    ----------
    Lehner (2015), Figures 1 to 14.

    Examples
    --------
    The paper prints a mean kappa of .305 under Figure 8.

    >>> round(float(simulate_figure(FIGURES[8]).kappa.mean()), 3)
    0.303
    """
    if runs < 1 or runs % len(PRESETS):
        raise InputError(f"there are {runs} runs", f"give a multiple of {len(PRESETS)}")
    parts = []
    for preset, child in zip(PRESETS, derive_seeds(seed, len(PRESETS)), strict=True):
        changed = replace(scenario, initial_system_accuracy=preset)
        part = simulate_estimates(changed, runs // len(PRESETS), methods=[METHOD], seed=child)
        part = part.rename(replicate="run")
        parts.append(part.assign(preset=("run", np.full(part.sizes["run"], preset))))
    return xr.concat(parts, "run").assign_coords(run=np.arange(1, runs + 1))


CATEGORIES = "ABCDE"
# Bins of Table 4 as they are printed, by the lower ends of ours.
BINS = {0.9: ".9-1.0", 0.8: ".8-.9", 0.6: ".6-.7", 0.5: ".5-.6", 0.3: ".2-.3"}

RUNS = 1000
LARGE_RUN = 5000
# The paper does not say how many runs of 5,000 items are behind the numbers in its text.
PRINTED_RUNS = 10

TABLE_7_DRAWS = 20_000
# The spread is that of the diagonal of the printed table.
TABLE_7_SPREAD = float(np.std([0.349, 0.439, 0.377, 0.512, 0.415], ddof=1))

VIOLATION_BIASES: dict[str, dict[str, Any]] = {
    "rater accuracy .4 .6 .8": {"initial_rater_accuracy": (0.4, 0.6, 0.8)},
    "problem difficulty ±.2": {"easiness": EASINESS, "easiness_affects": "raters"},
    "error range 100%": {"proportional_error_range": 1.0, "errors_affect": "raters"},
    "asymmetric dispersion 2": {"asymmetric_dispersion": 2.0, "errors_affect": "raters"},
}


def replicate_paper(seed: Seed = 1, runs: int = RUNS) -> pd.DataFrame:
    """Recompute every number the paper prints.

    Parameters
    ----------
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of what is simulated: the same seed gives the same numbers.
    runs : int
        Number of runs of each figure, a multiple of 5; the numbers in the text take 20 times as
        many.

    Returns
    -------
    pandas.DataFrame
        A row for each printed number, with ours, and whether they agree: see `judge`.

    Raises
    ------
    InputError
        If the number of runs is not a multiple of 5, above 0.

    References
    ----------
    Lehner (2015), https://doi.org/10.22237/jmasm/1430453520

    Examples
    --------
    >>> numbers = replicate_paper(runs=5)
    >>> numbers.set_index("quantity").loc["system accuracy", "verdict"]
    'matches'
    """
    seeds = derive_seeds(seed, 5)
    return judge(
        [
            *work_example(),
            *compute_confusion_tables(),
            simulate_table_7(seeds[0]),
            *simulate_figure_numbers(seeds[1], runs),
            *compute_binomial_claims(),
            *simulate_violation_biases(seeds[2], 20 * runs),
            *simulate_sample_size_claims(seeds[3], 20 * runs),
            simulate_low_accuracy_claim(seeds[4], 20 * runs),
        ]
    )


def work_example() -> Iterator[Row]:
    """Compute Tables 2 to 4 and the numbers of the text around them, which involve no chance."""
    ratings = load_dataset("lehner_table2")
    estimate = estimate_algebraic(ratings, aggregation="paper", interval=None)
    assert estimate.rater_accuracy is not None and estimate.base_rates is not None
    assert estimate.truth_probabilities is not None and estimate.bins is not None
    accuracy, rates = float(estimate.rater_accuracy[0]), estimate.base_rates.values
    yield compare_printed("Table 2", "agreement of pairs", estimate.diagnostics["agreement"])
    yield compare_printed("text, step 1", "rater accuracy", accuracy)
    place, votes = "text, step 2", ratings.count_votes()
    for category, count in zip("ABCD", votes.sum(axis=0), strict=True):
        yield compare_printed(place, f"ratings in category {category}", count)
    observed = accuracy * rates[0] + (1 - accuracy) / 3 * (1 - rates[0])
    yield compare_printed("Eq. 3", 'P("A") at P(A) = .325, P_c = .5', observed)
    for category, rate in zip("ABCD", rates, strict=True):
        yield compare_printed(place, f"base rate of {category}", rate)
    place, error = "text, step 3", (1 - accuracy) / 3
    yield compare_printed(place, "probability of an error", error)
    products = rates * accuracy ** votes[0] * error ** (votes[0].sum() - votes[0])
    for category, product in zip("ABCD", products, strict=True):
        yield compare_printed(place, f"product for {category}, case 1", product)
    for (case, k), probability in np.ndenumerate(estimate.truth_probabilities.values):
        yield compare_printed("Table 3", f"case {case + 1}, {CATEGORIES[k]}", probability)
    for lower, name in BINS.items():
        row = estimate.bins.isel(bin=int(np.argmin(np.abs(estimate.bins.lower.values - lower))))
        for quantity in ("mean_probability", "n_items", "agreement", "accuracy"):
            in_bin = f"bin {name}, {quantity.replace('_', ' ')}"
            yield compare_printed("Table 4", in_bin, float(row[quantity]))
    yield compare_printed("Table 4", "lower end of the last bin", float(row["lower"]))
    yield compare_printed("Table 4", "system accuracy", estimate.system_accuracy.estimate or 0.0)
    quantity = "mean truth probability of the system's answers"
    of_answers = estimate.truth_probabilities.values[np.arange(ratings.n_rows), ratings.system]
    yield compare_printed("text, step 4", quantity, float(of_answers.mean()))
    yield compare_printed("text, step 4", "kappa", estimate.diagnostics["kappa"])


def compute_confusion_tables() -> Iterator[Row]:
    """Compute Tables 5 and 6."""
    for place, matrix in (("Table 5", disperse(0.6, 5, 1)), ("Table 6", disperse(0.6 - 0.2, 5, 2))):
        for (row, column), probability in np.ndenumerate(matrix):
            yield compare_printed(
                place, f'P("{CATEGORIES[column]}"|{CATEGORIES[row]})', probability
            )


def compute_binomial_claims() -> Iterator[Row]:
    """Compute what the 2014 report says of the proportion right in a sample."""
    for n, spread in ((50, 0.1), (200, 0.05)):
        lowest, highest = round(n * (0.7 - spread)), round(n * (0.7 + spread))
        inside = float(binom.cdf(highest, n, 0.7) - binom.cdf(lowest - 1, n, 0.7))
        quantity = f"share of samples of {n} within {spread:g} of .7"
        yield compare_printed("2014 report, Figures 6 and 7", quantity, inside)


def compare_mean(
    place: str,
    quantity: str,
    values: ArrayLike,
    *,
    printed_runs: float = PAPER_RUNS,
    tried: str = "",
) -> Row:
    """Compare a mean over some runs of the paper with the mean of ours that are defined."""
    runs = np.asarray(values, dtype=float)
    defined = runs[~np.isnan(runs)]
    spread = float(defined.std())
    return compare_printed(
        place,
        quantity,
        defined.mean(),
        standard_error=float(spread / np.sqrt(len(defined))),
        printed_standard_error=float(spread / np.sqrt(printed_runs)),
        tried=tried,
    )


def simulate_figure_numbers(seed: Seed, runs: int = RUNS) -> Iterator[Row]:
    """Simulate the kappa under each figure, and what the text says of Figures 1 and 8."""
    for number, child in zip(FIGURES, derive_seeds(seed, len(FIGURES)), strict=True):
        samples = simulate_figure(FIGURES[number], runs, child)
        yield compare_mean(f"Figure {number}", "kappa", samples.kappa)
        place, quantity = f"text on Figure {number}", "estimated rater accuracy"
        if (place, quantity) in PRINTED.index:
            yield compare_mean(place, quantity, samples.rater_accuracy)
        if number == 8:
            for preset in (0.1, 0.9):
                quantity = f"expected accuracy preset to {preset:g}"
                accuracy = samples.system_accuracy[samples.preset == preset]
                row = compare_mean(place, quantity, accuracy, printed_runs=np.inf)
                # It is the same in all runs but for rounding.
                yield row | {"standard_error": round(row["standard_error"], 12)}


def simulate_table_7(seed: Seed) -> Row:
    """Simulate the spread of the diagonal of Table 7, one random matrix."""
    rater = replace(FIGURES[8], initial_rater_accuracy=(0.6, 0.6), easiness=(-0.2,))
    # Each matrix has its own base rates.
    drawn = draw_parameters(rater, TABLE_7_DRAWS, np.random.default_rng(seed))
    diagonal = np.diagonal(drawn.confusion[:, 0, 0], axis1=1, axis2=2)
    spread = diagonal.std(axis=1, ddof=1)
    smaller = np.mean(spread <= TABLE_7_SPREAD)
    tried = f"one random matrix: as small a spread has probability {smaller:.2f}"
    quantity = "standard deviation of the diagonal"
    return compare_mean("Table 7", quantity, spread, printed_runs=1, tried=tried)


def simulate_violation_biases(seed: Seed, runs: int = 20 * RUNS) -> Iterator[Row]:
    """Simulate the bias of each violation alone, the system at .9 being left as it is."""
    seeds = derive_seeds(seed, len(VIOLATION_BIASES))
    for (name, changes), child in zip(VIOLATION_BIASES.items(), seeds, strict=True):
        affected = {key: "both" for key in changes if key.endswith(("affects", "affect"))}
        system_too = np.nanmean(_simulate_errors(changes | affected, child, runs))
        yield compare_mean(
            "text on Figure 8",
            f"bias by {name} alone",
            _simulate_errors(changes, child, runs),
            printed_runs=PRINTED_RUNS,
            tried=f"takes the printed number for a mean of {PRINTED_RUNS} runs of {LARGE_RUN:,} "
            f"items, the paper does not say; {system_too:+.3f} if the system is affected too",
        )


def _simulate_errors(changes: dict[str, Any], seed: Seed, runs: int) -> np.ndarray:
    """Compute the errors of the algebra for a system at .9 in samples of 5,000 items."""
    scenario = Scenario(n_items=LARGE_RUN, initial_system_accuracy=0.9, **changes)
    samples = simulate_estimates(scenario, runs, methods=[METHOD], in_sample=False, seed=seed)
    return np.asarray(samples[METHOD] - samples.system_accuracy)


def simulate_sample_size_claims(seed: Seed, runs: int = 20 * RUNS) -> Iterator[Row]:
    """Simulate how often estimates are within .1 of the truth, on which the paper recommends."""
    for number, n_items, kappa in ((10, 200, ".3"), (11, 100, ".55")):
        scenario = replace(FIGURES[number], n_items=n_items)
        samples = simulate_figure(scenario, runs, seed)
        mean = (float(np.mean(scenario.initial_rater_accuracy)),) * 3
        plain = replace(FIGURES[3], n_items=n_items, initial_rater_accuracy=mean)
        within = _are_near(samples, "system_accuracy")
        near, error = estimate_proportion(within)
        by_preset = ", ".join(f"{within[samples.preset.values == p].mean():.2f}" for p in PRESETS)
        in_sample = _are_near(samples, "system_accuracy_in_sample").mean()
        k_properties = _are_near(simulate_figure(plain, runs, seed), "system_accuracy").mean()
        yield compare_printed(
            "discussion",
            f"share within .1 of the truth, {n_items} items, kappa {kappa}",
            near,
            standard_error=error,
            tried=f"by preset accuracy {by_preset}; of the share right in the sample "
            f"{in_sample:.2f}; with the K-properties {k_properties:.2f}",
        )


def _are_near(samples: xr.Dataset, estimand: str) -> np.ndarray:
    return np.asarray(np.abs(samples[METHOD] - samples[estimand]) <= 0.1)


def simulate_low_accuracy_claim(seed: Seed, runs: int = 20 * RUNS) -> Row:
    """Compare "around .6" where the system is at .9 and the raters around .4."""
    options: dict[str, Any] = {"methods": [METHOD], "in_sample": False, "seed": seed}
    ours = simulate_estimates(FIGURES[9], runs, **options)[METHOD]
    of_fewer = simulate_estimates(FIGURES[12], runs, **options)[METHOD]
    quantity = "estimate at system accuracy .9, raters .3 .4 .5"
    tried = f"with 200 items; {float(of_fewer.mean()):.3f} with 50"
    return compare_mean("discussion", quantity, ours, printed_runs=np.inf, tried=tried)
