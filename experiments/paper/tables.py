"""Tables 2 to 6 and the worked example: numbers that involve no chance."""

from collections.abc import Iterator

import numpy as np
import xarray as xr
from scipy.stats import binom

from experiments.paper.number import PrintedNumber
from lehner import estimate_algebraic, load_dataset, mean_posterior
from lehner.simulation.scenario import disperse

TABLE_3 = (
    (0.041, 0.032, 0.860, 0.067),
    (0.084, 0.195, 0.584, 0.136),
    (0.041, 0.032, 0.860, 0.067),
    (0.074, 0.511, 0.057, 0.358),
    (0.120, 0.828, 0.031, 0.021),
    (0.325, 0.250, 0.250, 0.175),
    (0.975, 0.009, 0.009, 0.006),
    (0.325, 0.250, 0.250, 0.175),
    (0.657, 0.169, 0.056, 0.118),
    (0.657, 0.169, 0.056, 0.118),
)
TABLE_4 = {
    # lower end of our bin: bin as printed, mean probability, items, agreement, accuracy
    0.9: (".9-1.0", 0.975, 1, 1.000, 1.000),
    0.8: (".8-.9", 0.849, 3, 0.667, 0.776),
    0.6: (".6-.7", 0.657, 2, 0.000, 0.000),
    0.5: (".5-.6", 0.548, 2, 0.333, 0.452),
    0.3: (".2-.3", 0.325, 2, 0.500, 1.000),
}
TABLE_4_MISPRINTS = {
    (".8-.9", "accuracy"): "Eq. 7 of the printed agreement .667 and probability .849 is .771",
    (".5-.6", "agreement"): "cases 2 and 4 fall into this bin, and in both the system answers the "
    "most probable category",
    (".5-.6", "accuracy"): "follows from the agreement; Eq. 7 gives 2.14, clipped to 1. Only with "
    "1.000 is the weighted average the printed .731",
}
QUANTITIES = ("mean_probability", "n_items", "agreement", "accuracy")
COUNTED = (
    "Table 2 has 11, 10, 10 and 9 ratings in A, B, C, D; the printed base rates follow from "
    "these, not from 11 of each"
)
TABLE_5 = np.where(np.eye(5) > 0, 0.6, 0.1)
TABLE_6 = (
    (0.400, 0.320, 0.160, 0.080, 0.040),
    (0.218, 0.400, 0.218, 0.109, 0.055),
    (0.100, 0.200, 0.400, 0.200, 0.100),
    (0.055, 0.109, 0.218, 0.400, 0.218),
    (0.040, 0.080, 0.160, 0.320, 0.400),
)
BASE_RATES = (0.325, 0.25, 0.25, 0.175)
CASE_1_PRODUCTS = (0.00025, 0.00019, 0.00521, 0.00041)
CATEGORIES = "ABCDE"


def worked_example() -> Iterator[PrintedNumber]:
    """Tables 2 to 4 and the numbers of the text around them."""
    ratings = load_dataset("lehner_table2")
    estimate = estimate_algebraic(ratings, aggregation="paper", interval=None)
    assert estimate.rater_accuracy is not None and estimate.base_rates is not None
    assert estimate.truth_probabilities is not None and estimate.bins is not None
    accuracy, rates = float(estimate.rater_accuracy[0]), estimate.base_rates.values
    agreement, kappa = estimate.diagnostics["agreement"], estimate.diagnostics["kappa"]
    yield PrintedNumber("Table 2", "agreement of pairs", 0.33, agreement, digits=2)
    yield PrintedNumber("text, step 1", "rater accuracy", 0.5, accuracy, digits=1)
    yield from _step_2(ratings.votes().sum(axis=0), accuracy, rates)
    yield from _step_3(ratings.votes()[0], accuracy, rates)
    for (case, k), printed in np.ndenumerate(TABLE_3):
        ours = float(estimate.truth_probabilities[case, k])
        yield PrintedNumber("Table 3", f"case {case + 1}, {CATEGORIES[k]}", float(printed), ours)
    yield from _table_4(estimate.bins)
    quantity = "mean truth probability of the system's answers"
    for place, name, value, method_estimate in (
        ("Table 4", "system accuracy", 0.731, estimate),
        ("text, step 4", quantity, 0.466, mean_posterior(ratings)),
    ):
        yield PrintedNumber(place, name, value, method_estimate.system_accuracy.estimate or 0.0)
    yield PrintedNumber("text, step 4", "kappa", 0.11, kappa, digits=2)


def _step_2(used: np.ndarray, accuracy: float, rates: np.ndarray) -> Iterator[PrintedNumber]:
    place = "text, step 2"
    for category, count in zip("ABCD", used, strict=True):
        misprint = "" if category == "A" else COUNTED
        quantity = f"ratings in category {category}"
        yield PrintedNumber(place, quantity, 11, float(count), digits=0, misprint=misprint)
    yield PrintedNumber(
        "Eq. 3",
        'P("A") at P(A) = .325, P_c = .5',
        0.5 * 0.325 + (1 - 0.5 / 3) * (1 - 0.325),
        accuracy * rates[0] + (1 - accuracy) / 3 * (1 - rates[0]),
        misprint='the bracket belongs around 1 - P("A"|A): with it P("A") is the observed '
        "11/40, and Eq. 4 and 5 follow",
    )
    for category, printed, ours in zip("ABCD", BASE_RATES, rates, strict=True):
        yield PrintedNumber(place, f"base rate of {category}", printed, float(ours))


def _step_3(votes: np.ndarray, accuracy: float, rates: np.ndarray) -> Iterator[PrintedNumber]:
    place, error = "text, step 3", (1 - accuracy) / 3
    yield PrintedNumber(place, "probability of an error", 0.167, error)
    products = rates * accuracy**votes * error ** (votes.sum() - votes)
    for category, printed, ours in zip("ABCD", CASE_1_PRODUCTS, products, strict=True):
        quantity = f"product for {category}, case 1"
        yield PrintedNumber(place, quantity, printed, float(ours), digits=5)


def _table_4(bins: xr.Dataset) -> Iterator[PrintedNumber]:
    for lower, (name, *printed) in TABLE_4.items():
        row = bins.isel(bin=int(np.argmin(np.abs(bins.lower.values - lower))))
        for quantity, value in zip(QUANTITIES, printed, strict=True):
            named, ours = f"bin {name}, {quantity.replace('_', ' ')}", float(row[quantity])
            digits = 0 if quantity == "n_items" else 3
            misprint = TABLE_4_MISPRINTS.get((name, quantity), "")
            yield PrintedNumber("Table 4", named, value, ours, digits=digits, misprint=misprint)
    end, misprint = float(row["lower"]), "its mean probability is .325"
    quantity = "lower end of the last bin"
    yield PrintedNumber("Table 4", quantity, 0.2, end, digits=1, misprint=misprint)


def confusion_tables() -> Iterator[PrintedNumber]:
    """Tables 5 and 6."""
    for place, table, ours in (
        ("Table 5", TABLE_5, disperse(0.6, 5, 1)),
        ("Table 6", TABLE_6, disperse(0.6 - 0.2, 5, 2)),
    ):
        for (row, column), printed in np.ndenumerate(table):
            quantity = f'P("{CATEGORIES[column]}"|{CATEGORIES[row]})'
            yield PrintedNumber(place, quantity, float(printed), float(ours[row, column]))


def binomial_claims() -> Iterator[PrintedNumber]:
    """What the 2014 report says of the proportion right in a sample."""
    for n, spread in ((50, 0.1), (200, 0.05)):
        lowest, highest = round(n * (0.7 - spread)), round(n * (0.7 + spread))
        inside = float(binom.cdf(highest, n, 0.7) - binom.cdf(lowest - 1, n, 0.7))
        quantity = f"share of samples of {n} within {spread:g} of .7"
        yield PrintedNumber("2014 report, Figures 6 and 7", quantity, 0.9, inside, digits=1)
