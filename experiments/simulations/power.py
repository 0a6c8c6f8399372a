"""How often each test of a K-property rejects: where it holds (size) and where not (power)."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.report.style import REFERENCE, figure_style, panels, shade
from experiments.study.performance import Z, proportion
from lehner import Ratings, Scenario, check_dependence
from lehner.core.resampling import wilson_interval
from lehner.core.seeds import Seed, generator
from lehner.data.categories import category_names
from lehner.k_properties.check import INDEPENDENCE, SIGNIFICANCE, adjust_by_holm
from lehner.k_properties.statistics import K_TESTS, Outcome, run_k_tests
from lehner.k_properties.totals import find_design, observed_totals
from lehner.simulation.draw import simulate_items

HOLD = Scenario(n_categories=5, initial_rater_accuracy=(0.6, 0.6, 0.6), initial_system_accuracy=0.9)
LEVELS = (-0.2, 0.0, 0.2)
COMBINED = replace(HOLD, easiness=LEVELS, asymmetric_dispersion=2.0, proportional_error_range=1.0)
CELLS: dict[str, Scenario] = {
    "K-properties hold, equal base rates": replace(HOLD, base_rates="equal"),
    "K-properties hold": HOLD,
    "errors near the truth (AD 2)": replace(HOLD, asymmetric_dispersion=2.0),
    "random error preferences (PER 1)": replace(HOLD, proportional_error_range=1.0),
    "raters .4, .6 and .8": replace(HOLD, initial_rater_accuracy=(0.4, 0.6, 0.8)),
    "unequal difficulty (PDA ±.2)": replace(HOLD, easiness=LEVELS),
    "all fail, raters .3, .4, .5 (Figure 9)": replace(
        COMBINED, initial_rater_accuracy=(0.3, 0.4, 0.5)
    ),
    "all fail, raters .5, .6, .7 (Figure 10)": replace(
        COMBINED, initial_rater_accuracy=(0.5, 0.6, 0.7)
    ),
    "rater 2 copies 30% of rater 1": replace(HOLD, copying=(0.0, 0.3, 0.0)),
    "15% of items mislead everybody": replace(HOLD, misleading=0.15),
}
"""Base rates are drawn from a flat Dirichlet distribution where nothing else is said."""

REPLICATES = 199
PLAIN, ANY = "plain_chi_square", "any, Holm"
TESTS = (*K_TESTS, INDEPENDENCE, ANY, PLAIN)


MARKERS = "osD^v"
TITLES = {
    "equal_errors": "Equal errors",
    "error_distance": "Distance of errors",
    "equal_accuracy": "Equal accuracy",
    "equal_difficulty": "Equal difficulty",
    "independence": "Independence",
    "any, Holm": "Any of these (Holm)",
    "plain_chi_square": "Paper’s chi-square",
}
ACROSS = 4


def reject(seed: Seed, cell: str, items: int) -> Iterator[dict[str, float]]:
    """Test one simulated data set of a cell."""
    yield rejections(replace(CELLS[cell], n_items=items), seed)


def rejections(scenario: Scenario, seed: Seed) -> dict[str, float]:
    """Tests of one simulated data set.

    Parameters
    ----------
    scenario : Scenario
    seed : int or numpy.random.SeedSequence

    Returns
    -------
    dict
        By test, 1 where it rejects at the 5% level, 0 where not, NaN where it cannot be made. The
        verdict as a whole rejects if any test does after Holm's adjustment; the plain chi-square is
        the paper's and no part of it.
    """
    items = simulate_items(scenario, generator(seed))
    names = category_names(scenario.n_categories)
    ratings = Ratings(items.codes, names, system=items.system, ordered=True)
    patterns = ratings.collapse()
    outcomes = run_k_tests(patterns, REPLICATES, seed)
    p = {
        name: outcome.p_value for name, outcome in outcomes.items() if isinstance(outcome, Outcome)
    }
    plain = plain_chi_square(patterns)
    pairs = check_dependence(ratings).p_value
    if pairs is not None:
        p[INDEPENDENCE] = pairs
    rejected = {name: float(value <= SIGNIFICANCE) for name, value in p.items()}
    if p:
        rejected[ANY] = float(min(adjust_by_holm(p).values()) <= SIGNIFICANCE)
    if plain is not None:
        rejected[PLAIN] = float(plain <= SIGNIFICANCE)
    return dict.fromkeys(TESTS, np.nan) | rejected


def plain_chi_square(ratings: Ratings) -> float | None:
    """p-value of the paper's test that all pairwise disagreements are equally likely.

    The paper claims that equal error probabilities imply equally likely disagreements: "AB" would
    be as likely as "AE". That is true only if base rates are equal, too: the probability that two
    raters give A and B is proportional to p e (π_A + π_B) + e² (1 - π_A - π_B). Besides, pairs of
    ratings of an item are not independent. The test rejects most data sets for which the
    K-properties hold. `check_k_properties` does without it.

    Parameters
    ----------
    ratings : Ratings
        With or without a system, whose answers are not used.

    Returns
    -------
    float or None
        None with two categories, or if raters never disagree.

    References
    ----------
    Lehner (2015), section "Recommended use and uses to avoid".
    """
    from scipy.stats import chisquare

    disagreeing = observed_totals(find_design(ratings.collapse())).disagreeing[0]
    if len(disagreeing) < 2 or not disagreeing.any():
        return None
    return float(chisquare(disagreeing).pvalue)


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Rate of rejection of each test with its Monte Carlo standard error.

    A test that cannot be made does not reject.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns `cell`, `items` and those of `rejections`.

    Returns
    -------
    pandas.DataFrame
        Columns `cell`, `items`, `test`, `rejected`, `se`, `not_tested` (proportion of the data
        sets), `data_sets`.
    """
    table = []
    for place, group in rows.groupby(["cell", "items"], sort=False):
        for test in TESTS:
            rejected = (*proportion(group[test] == 1), group[test].isna().mean(), len(group))
            table.append((*place, test, *rejected))
    names = ["cell", "items", "test", "rejected", "se", "not_tested", "data_sets"]
    return pd.DataFrame(table, columns=names)


def plot_power(table: pd.DataFrame) -> dict[str, Figure]:
    """Draw rates of rejection with Wilson's 95% intervals, a panel per test, a row per scenario.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns `cell`, `items`, `test`, `rejected` and `data_sets`, as in `power.csv`.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
    """
    cells, sizes = list(dict.fromkeys(table["cell"])), sorted(table["items"].unique())
    tests = list(dict.fromkeys(table["test"]))
    titles = [TITLES.get(test, test) for test in tests]
    with figure_style() as width:
        height = 0.35 + 0.2 * len(cells)
        figure, axes = panels(titles, width, height=height, across=ACROSS, more=0.6)
        for ax, test in zip(axes, tests, strict=True):
            ax.axvline(100 * SIGNIFICANCE, color=REFERENCE, lw=0.8, ls="--", zorder=1)
            for place, n_items in enumerate(sizes):
                rows = table[(table["test"] == test) & (table["items"] == n_items)]
                step = 0.32 * (place - (len(sizes) - 1) / 2)
                y = [cells.index(cell) + step for cell in rows["cell"]]
                rates = rows["rejected"].to_numpy()
                low, high = wilson_interval(rates, rows["data_sets"], z=Z)
                ax.errorbar(
                    100 * rates,
                    y,
                    xerr=100 * np.maximum([rates - low, high - rates], 0),
                    fmt=MARKERS[place % len(MARKERS)],
                    ms=2.5,
                    elinewidth=1.2,
                    color=shade(place, len(sizes)),
                    label=f"{n_items} items",
                )
            ax.grid(axis="x")
            ax.tick_params(axis="y", length=0)
        axes[0].set(xlim=(-3, 103), ylim=(len(cells) - 0.5, -0.5))
        axes[0].set_yticks(range(len(cells)), cells)
        figure.supxlabel(
            "Data sets in which the test rejects at the 5% level (%), with Wilson’s 95% intervals"
        )
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(sizes))
    figure.set_label(_alt_text(table, max(sizes)))
    return {"power": figure}


def _alt_text(table: pd.DataFrame, n_items: int) -> str:
    rows = table[table["items"] == n_items].pivot(index="cell", columns="test", values="rejected")
    most = rows[[test for test in rows if test != "plain_chi_square"]].drop(
        columns="any, Holm", errors="ignore"
    )
    parts = [f"{cell}: {most.loc[cell].max():.0%}" for cell in dict.fromkeys(table["cell"])]
    return (
        "How often tests of the K-properties reject at the 5% level. The test that rejects most "
        f"often with {n_items} items: {'; '.join(parts)}."
    )
