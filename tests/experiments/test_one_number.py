"""One number from one source: screen, LaTeX, CSV, JSON and Python say the same, to the last digit.

The names and the costs of the data strain each format. Tables are read back from what is printed,
and each number in them is looked up in the JSON object by the names of its row and column.
"""

import json
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import lehner
from experiments.estimate import report
from experiments.reporting.method_style import method_label
from experiments.reporting.renderers import LATEX
from experiments.reporting.table import MARKED
from experiments.reporting.terminal import one_line

RATERS = ["../x", "a|b", "r_1&%"]
SYSTEMS = ["=1+1", "gpt_4"]
CATEGORIES = ["<script>", "\x1b[31mred", "x_y%"]
METHODS = ["majority_agreement", "algebraic", "dawid_skene_ml"]
COSTS = [[11.25, 11.4, 11.3], [-9, 11.1, 13.995], [11.4, 1e-17, 11.2]]
LEVEL = "99.5%"
BY_CATEGORY = {"recall": "recall", "precision": "precision", "specificity": "specificity"}
BY_CATEGORY |= {"F1": "f1", "rater accuracy": "rater_accuracy", "base rate": "base_rates"}
OF_ALL = {
    "balanced accuracy": "balanced_accuracy",
    "MCC": "mcc",
    "kappa with the truth": "kappa_with_truth",
    "expected cost": "expected_cost",
}
ESTIMANDS = {"system accuracy": "system_accuracy", "in this sample": "system_accuracy_in_sample"}
ALONE = "without the known truths"
NUMBER = re.compile(r"[-+−]?\d*\.\d+")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Ratings with missing values by raters, systems and categories with difficult names."""
    folder = tmp_path_factory.mktemp("one_number")
    scenario = lehner.Scenario(
        n_categories=3, n_items=60, initial_rater_accuracy=(0.5, 0.7, 0.8), missing=0.1
    )
    tables = [lehner.simulate(scenario, seed).to_wide() for seed in (3, 4)]
    table = tables[0].rename(columns=dict(zip(tables[0].columns[1:4], RATERS, strict=True)))
    table = table.rename(columns={"system": SYSTEMS[0]}).assign(**{SYSTEMS[1]: tables[1]["system"]})
    names = dict(zip("ABC", CATEGORIES, strict=True))
    for column in table.columns[1:]:
        table[column] = table[column].map(names)
    table["domain_"] = np.resize(["g/1 & co", "-5", "$a_b$"], 60)
    table.loc[:24, ["item", "truth"]].to_csv(folder / "truths.csv", index=False)
    table.drop(columns="truth").to_csv(folder / "ratings.csv", index=False)
    costs = pd.DataFrame(COSTS, index=CATEGORIES, columns=CATEGORIES)
    costs.to_csv(folder / "costs.csv", index_label="truth")
    return folder


def arguments(data, systems, *more):
    return [
        *("estimate", "--full", data / "ratings.csv", "--system", ",".join(systems)),
        *("--raters", ",".join(RATERS), "--categories", ",".join(CATEGORIES)),
        *("--method", ",".join(METHODS), "--by", "domain_", "--interval", "0.995", "--details"),
        *more,
    ]


def rows_on_screen(text):
    """Give each cell of each table: title, head of the first column, section, label, head, cell.

    Cells are found by where they end, and two blanks or more stand between them.
    """
    title = corner = section = head = None
    for line in text.splitlines():
        cells = {one.end(): one[0] for one in re.finditer(r"\S+(?: \S+)*", line)}
        if line == MARKED:
            continue
        if not line:
            head = None
        elif len(cells) == 1:
            title, section = (title, line) if head else (line, None)
        elif not NUMBER.search(line.replace(LEVEL, "")):
            corner = "" if line.startswith(" ") else cells.pop(min(cells))
            head, section = cells, None
        else:
            label = cells.pop(min(cells))
            for end, cell in cells.items():
                column = None if label in OF_ALL else head[end]
                yield title, corner, section, label, column, cell


def rows_in_latex(text):
    """Give the same of tables in LaTeX, whose methods are called as on the screen."""
    written = {one: chr(character) for character, one in LATEX.items()}
    undo = re.compile("|".join(map(re.escape, sorted(written, key=len, reverse=True))))
    names = {method_label(name): name for name in METHODS}

    def plain(cell):
        cell = undo.sub(lambda found: written[found[0]], cell.replace(r"\quad", "").strip())
        return names.get(cell, cell).replace("−", "-")

    for table in re.findall(r"\\toprule\n(.*?)\\bottomrule", text, re.S):
        head = section = None
        for line in table.replace("\\midrule\n", "").splitlines():
            line = line.removesuffix(r" \\").removeprefix("{}")
            across = re.fullmatch(r"\\multicolumn\{\d+\}\{l\}\{(.*)\}", line)
            if across:
                section = plain(across[1])
                continue
            label, *cells = map(plain, re.split(r" & ", line))
            if head is None:
                corner, head = label, cells
                continue
            for column, cell in zip(head, cells, strict=True):
                yield section, corner, section, label, column, cell


class Found:
    """Numbers of the JSON object by the names that stand in tables."""

    def __init__(self, found):
        self.whole = {
            (one["method"], one["system"]): one
            for one in found["estimates"]
            if one["group"] is None
        }
        self.in_group = {
            (one["method"], one["system"], one_line(one["group"])): one
            for one in found["estimates"]
            if one["group"] is not None
        }
        self.differences = {(one["method"], *one["systems"]): one for one in found["comparisons"]}
        self.ranks = {(one["method"], one["system"]): one for one in found.get("ranks", [])}
        self.names = {one_line(name): name for name in (*CATEGORIES, *RATERS)}

    def number(self, system, title, corner, section, label, column):
        """Look up an estimate, with or without its interval, and a probability beside it."""
        name = self.names.get(label, label)
        if corner.startswith("rank"):
            rank = self.ranks[column, label]
            return (rank["rank"], rank["lower"], rank["upper"]), rank["probability_best"]
        between = section in METHODS and " – " in label
        if column in ("difference", "P(better)") or between:
            one = self.differences[section, *label.split(" – ")]
            if column == "P(better)":
                return (), one["probability_better"]
            value = one["difference_in_sample" if column == "in this sample" else "difference"]
            return value, None
        if label in SYSTEMS:
            return self.whole[column, label][ESTIMANDS[section]], None
        if label in METHODS:
            one = self.whole[label, system]
            if column in MISLED:
                value = one["sensitivity"]
                return MISLED[column](one), None
            if column == "the same by PPI++":
                return one["known_truth_details"]["prediction_powered"], None
            if column == "nobody misled" or corner.startswith(ALONE):
                one = one["without_known_truths"] or one
            return one[ESTIMANDS[column]], None
        if label == "known items alone":
            return self.whole["algebraic", system]["known_truth_details"]["known_items_alone"], None
        if label in OF_ALL:
            method = column or title.split(":")[0]
            return self.whole[method, system][OF_ALL[label]], None
        if column.startswith("recall of ") or column == "P(least accurate)" or label in RATERS:
            if section == "rater accuracy":
                return self.whole[column, system]["rater_accuracy_intervals"][name], None
            rater = self.whole[title.split(":")[0], system]["raters"][name]
            if column.startswith("recall of "):
                return rater["recall"][self.names[column.removeprefix("recall of ")]], None
            if column == "P(least accurate)":
                return (), rater["probability_lowest"]
            return (), rater["probability_lower"][self.names[column]]
        if column in BY_CATEGORY or column in self.names:
            one = self.whole[title.split(":")[0], system]
            if column in self.names:
                return one["confusion"][name][self.names[column]], None
            return one[BY_CATEGORY[column]][name], None
        one = self.whole[column, system]
        if corner.startswith(ALONE):
            return one["without_known_truths"][section][name], None
        if corner.startswith("difference") or section == "difference":
            for pair in one["group_differences"]:
                if " – ".join(pair["groups"]) == label:
                    return pair["difference"], pair["probability_higher"]
        if corner.startswith(f"{system} by"):
            name = re.sub(r" \(\d+\)$", "", label)
            return self.in_group[column, system, name][ESTIMANDS[section]], None
        quantity = BY_CATEGORY[section]
        with_ends = {"base_rates": "base_rate_intervals"} | {
            "rater_accuracy": "rater_accuracy_intervals"
        }
        return (one[with_ends.get(quantity, quantity)] or one[quantity])[name], None


MISLED = {
    "nobody misled": lambda one: (one["without_known_truths"] or one)["system_accuracy"][
        "estimate"
    ],
    "system too": lambda one: one["sensitivity"]["estimate"],
    "raters alone": lambda one: one["sensitivity"]["raters_alone"]["estimate"],
}


def check(cell, value, probability):
    """Compare a cell with the numbers it stands for."""
    if probability is not None:
        cell, shown = re.fullmatch(r"(?:(.*), )?([<>]? ?\d*\.\d+)", cell).groups(default="")
        check_probability(shown, probability)
    if isinstance(value, dict):
        value = [value[end] for end in ("estimate", "lower", "upper")]
    value = [one for one in np.atleast_1d(value).tolist() if one is not None]
    shown = re.findall(r"[-+−]?(?:\d*\.)?\d+", cell)
    assert len(shown) == len(value), (cell, value)
    for text, one in zip(shown, value, strict=True):
        read = Decimal(text.replace("−", "-"))
        half = Decimal(5).scaleb(-len(text.partition(".")[2]) - 1)
        assert abs(read - Decimal(one)) <= half, (cell, value)


def check_probability(shown, probability):
    if shown[0] in "<>":
        limit = float(shown[2:])
        assert probability < limit if shown[0] == "<" else probability > limit
    else:
        check(shown, probability, None)


def check_all(rows, found, system):
    """Check all cells that have numbers, and give how many there are."""
    n = 0
    for *place, cell in rows:
        if cell and cell != "–":
            value, probability = found.number(system, *place)
            check(cell, value, probability)
            n += 1
    return n


def read_in_python(data, systems):
    """Read the same ratings and groups in Python."""
    ratings = lehner.read_ratings(
        data / "ratings.csv",
        system=systems,
        raters=RATERS,
        categories=CATEGORIES,
        leave_out=["domain_"],
    )
    table = pd.read_csv(data / "ratings.csv", dtype=str)
    groups = table.set_index("item")["domain_"][[str(item) for item in ratings.items]]
    return ratings, groups.to_numpy()


@pytest.fixture(scope="module")
def one_system(data):
    truths = ("--truth", data / "truths.csv", "--costs", data / "costs.csv")
    return arguments(data, SYSTEMS[:1], *truths)


@pytest.fixture(autouse=True)
def no_figures(monkeypatch):
    """Save the time to draw them."""
    monkeypatch.setattr(report, "write_figure", lambda *_: [])


def numbers_in(found):
    """Give all numbers of a JSON object."""
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, list):
        return {number for one in found for number in numbers_in(one)}
    return {found} if isinstance(found, float) else set()


def test_all_numbers_of_one_system_are_one(run, one_system, tmp_path):
    code, out, err = run(*one_system, "--output", tmp_path)
    assert code == 0, err
    levels = re.findall(r"[\d.]+%(?= interval)", out)
    assert len(levels) > 4 and set(levels) == {LEVEL}
    found = json.loads(run(*one_system, "--json")[1])
    by_name = Found(found)
    assert check_all(rows_on_screen(out), by_name, SYSTEMS[0]) > 100
    # The zero of ten is no zero before the point.
    assert re.search(r"expected cost  .*\b10\.\d\d", out)
    in_latex = list(tmp_path.glob("*.tex"))
    assert len(in_latex) == 7
    for file in in_latex:
        assert check_all(rows_in_latex(file.read_text()), by_name, SYSTEMS[0]) > 8
    for name in ("estimates", "details", "raters", "groups"):
        table = pd.read_csv(tmp_path / f"{name}.csv", dtype=str)
        numbers = set(table[["estimate", "lower", "upper"]].stack().dropna().map(float))
        # JSON has no infinity, which a likelihood ratio may be.
        assert len(numbers) > 30 and not numbers - numbers_in(found) - {0.0, 1.0, np.inf}
        assert set(table["level"].dropna()) == {"0.995"}
        assert set(table["system"]) == {SYSTEMS[0]}


@pytest.mark.parametrize("truths", [False, True])
def test_all_numbers_of_two_systems_are_one(run, data, tmp_path, truths):
    command = arguments(data, SYSTEMS, *(("--truth", data / "truths.csv") if truths else ()))
    code, out, err = run(*command, "--output", tmp_path)
    assert code == 0, err
    found = json.loads(run(*command, "--json")[1])
    by_name = Found(found)
    tables, *details = re.split(r"\n(?=\S+: \S+ in detail)", out)
    assert check_all(rows_on_screen(tables), by_name, "") > 25
    assert len(re.findall(r"\d \[\d, \d\]\*", tables)) == (4 if truths else 0)
    table = pd.read_csv(tmp_path / "differences.csv", dtype=str)
    numbers = table[["difference", "lower", "upper", "probability_better", "uncorrected"]]
    assert not set(numbers.stack().dropna().map(float)) - numbers_in(found["comparisons"])
    corrected = set(table[table.corrected == "True"]["method"])
    assert corrected == (set(METHODS[1:]) if truths else set())
    for part in details:
        system = part.split()[1]
        part = part.split(f"\n{SYSTEMS[0]} by ")[0]
        assert check_all(rows_on_screen(part), by_name, system) > 15
    assert check_all(rows_in_latex((tmp_path / "estimates.tex").read_text()), by_name, "") == 12
    folders = json.loads((tmp_path / "manifest.json").read_text())["systems"]
    for system, folder in folders.items():
        for file in (tmp_path / folder).glob("*.tex"):
            assert check_all(rows_in_latex(file.read_text()), by_name, system) > 8


def test_python_gives_the_object_that_the_command_prints(run, data):
    _, out, _ = run(*arguments(data, SYSTEMS), "--seed", "3", "--json")
    found = json.loads(out)
    ratings, groups = read_in_python(data, SYSTEMS)
    compared = lehner.estimate(ratings, METHODS, level=0.995, groups=groups, seed=3)
    same = json.loads(json.dumps(compared.to_dict()))
    for of_python, of_command in zip(same["estimates"], found["estimates"], strict=True):
        assert of_python == of_command
    assert same["comparisons"] == found["comparisons"] and same["ranks"] == found["ranks"]


def test_the_level_in_the_text_is_the_one_computed(run, data):
    command = ["estimate", "--full", data / "ratings.csv", "--system", SYSTEMS[0]]
    command += ["--raters", ",".join(RATERS)]
    _, out, _ = run(
        *command,
        *("--truth", data / "truths.csv", "--method", "majority_agreement", "--interval", ".5"),
    )
    assert "(50% interval by Wilson" in out and "90%" not in out
