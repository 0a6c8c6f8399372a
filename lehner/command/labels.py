"""The commands `lehner ask` and `lehner label`: items to label, and labels that ratings imply."""

import json
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

import lehner
from lehner.command import options
from lehner.core.errors import InputError, check_number, compose, sort_warnings, warn
from lehner.core.text import (
    escape,
    pluralise,
    print_lines,
    say,
    to_decimal,
    to_json,
    to_options,
    to_percent,
    to_short,
    write_data_lines,
)
from lehner.data.reading import Reading

TO_LABEL = Path("to_label.csv")
DIGITS, ROUNDING = 6, 1e-9
MEDIAN = "median"
# The columns of labels in sets beside a column for each label.
OF_SETS = {"item", "most_probable", "certainty"}
WIDTHS = ("width_before", "expected_width", "n_until")
HALF_WIDTH = 0.05


def ask(
    data: str,
    n: int = 20,
    seed: int = 1,
    level: float = 0.9,
    until: float | None = None,
    enrich: str | None = None,
    raters_are: str = "unknown",
    *,
    reading: Reading,
    output: Path = TO_LABEL,
    as_json: bool = False,
) -> None:
    """Choose the items whose truth an expert should find out, and say how much that will tell.

    The chosen items stand for all: each item that the system answered (without a system, each that
    was rated) has the same chance. If several systems are named, items are chosen on which they
    differ: only these tell which is better, and they tell nothing of how accurate each is. The file
    has a row for each item, with an empty column `truth`. Fill it in without looking at the
    ratings, leave it blank where you cannot tell, and give the file to `lehner estimate` as
    --truth. How many labels are needed is computed by Wilson's interval of the gold labels alone:
    ratings make the interval narrower, as far as they are right.

    With --enrich, items of a rare category have a higher chance. The file then has all items: those
    to label stand first, with yes in the column `ask`. Its column `truth_probability` has the
    chance of each, which `lehner estimate` and `lehner compare` read.

    With --until, items are drawn one after another, in an order that the seed decides, so that you
    can ask again whenever some more are labelled: with --truth, the command gives the interval of
    the accuracy by all labels. It is right however often you look, and you can stop when it is
    narrow enough. It is wider than that of `lehner estimate`, which is right for one look only.

    Parameters
    ----------
    n : N
        How many items an expert can label.
    until : HALF-WIDTH
        The half-width of the interval at which you stop. Label from the top of the file, and give
        the same seed each time.
    enrich : CATEGORY
        A rare category, of which a random sample would hold hardly any item. Half of the items are
        then drawn from those that a rater or a system takes for it, and half from all others.
    raters_are : people|models|unknown
        Who rates: people or language models. The width of the interval now depends on it: see
        `lehner estimate --help`.
    output : FILE
        The CSV file for the expert; a file that exists is not overwritten. With --until, the labels
        that there are stand first.

    Examples
    --------
    lehner ask ratings.csv --system gpt --n 20
    lehner estimate ratings.csv --system gpt --truth to_label.csv
    lehner ask ratings.csv --system gpt --truth to_label.csv --until .05 --output next.csv
    """
    from lehner.command.load import load
    from lehner.core.estimate import to_plain
    from lehner.core.lazy import pd
    from lehner.estimation.gold_labels import expect_widths
    from lehner.known_truths.correction import inclusion_probabilities

    goal = HALF_WIDTH if until is None else check_number("until", until, 0.001, 0.5)
    if output.exists():
        problem = "this file exists and may contain an expert's labels"
        raise InputError(problem, "name another with --output, or delete it", file=output)
    ratings = load(data, reading, require=_require_askable)
    in_turn = until is not None
    rows = lehner.choose_items(ratings, n, enrich=enrich, in_turn=in_turn, seed=seed)
    content = dict[str, Any](n=n, seed=seed, level=level, until=goal, enrich=enrich)
    if in_turn:
        content |= _follow(ratings, level, goal, seed)
    elif len(ratings.systems) == 1 and enrich is None:
        asked: Any = {"n": n, "level": level, "raters_are": raters_are}
        widths = expect_widths(ratings, goal, **asked) or (None,) * len(WIDTHS)
        content |= dict(zip(WIDTHS, widths, strict=True))
    table = pd.DataFrame({"item": ratings.items[rows], "truth": ""})
    if in_turn and ratings.truth is not None:
        earlier = ratings.truth >= 0
        labels = [ratings.categories[code] for code in ratings.truth[earlier]]
        labelled = pd.DataFrame({"item": ratings.items[earlier], "truth": labels})
        table = pd.concat([labelled, table])
    if enrich is not None:
        table = pd.DataFrame({"item": ratings.items, "ask": "no", "truth": ""})
        table["truth_probability"] = inclusion_probabilities(ratings, n, enrich)
        table.loc[rows, "ask"] = "yes"
        table = table.sort_values("ask", ascending=False, kind="stable")
    options.write_file(table, output)
    for line in write_data_lines(ratings.notes):
        say(line)
    if as_json:
        print(to_json(to_plain(content | {"items": list(map(str, ratings.items[rows]))})))
    else:
        print_lines(_describe_choice(content, ratings))
    say(f"wrote {output}; fill in its column truth, and then run")
    command = "estimate" if ratings.systems else "compare"
    command = "ask" if in_turn else command
    say(f"  lehner {command} {data} … --truth {output}")


def _require_askable(ratings: "lehner.Ratings") -> None:
    """Raise an InputError unless the systems, if there are any, can be compared with the raters."""
    from lehner.data.estimable import require_estimable

    if ratings.systems and ratings.n_raters:
        require_estimable(ratings)


def _follow(ratings: "lehner.Ratings", level: float, until: float, seed: int) -> dict[str, Any]:
    """Give the accuracy by the labels so far, and about how many more lead to a half-width."""
    from lehner.core.estimate import IntervalEstimate
    from lehner.data.estimable import count_truths
    from lehner.estimation.gate import bet_on_system
    from lehner.known_truths.anytime import require_sequence
    from lehner.known_truths.correction import draw_order

    if len(ratings.systems) != 1:
        problem = "until an interval is narrow, items are drawn for one system"
        raise InputError(problem, compose("name one ({system}), or leave out {until}"))
    require_sequence(ratings)
    if not count_truths(ratings):
        return {"n_labels": 0, "accuracy": None, "n_until": None}
    ratings = ratings.take(draw_order(ratings, seed))
    ends, n_labels = bet_on_system(ratings, ratings.systems[0], None, level)
    # The interval of four times as many labels is half as wide.
    needed = n_labels * (float(ends[2] - ends[1]) ** 2 / (2 * until) ** 2 - 1)
    value = IntervalEstimate(float(ends[0]), float(ends[1]), float(ends[2]), level)
    return {"n_labels": n_labels, "accuracy": value, "n_until": max(0, math.ceil(needed))}


def _describe_accuracy(content: dict[str, Any], goal: str) -> Iterator[str]:
    """Say how accurate the system is by the labels so far, and whether one can stop."""
    if content["accuracy"] is None:
        yield "No item has a gold label so far: label from the top, and ask again with --truth."
        return
    level, labels = to_percent(content["level"]), pluralise(content["n_labels"], "gold label")
    yield f"The accuracy in this sample is {content['accuracy']} by {labels}."
    yield f"This {level} interval is right however often you look, and whatever makes you stop."
    if content["n_until"]:
        yield f"About {pluralise(content['n_until'], 'more gold label')} would give ±{goal}."
    else:
        yield f"It is within ±{goal}: you can stop."


def _describe_choice(content: dict[str, Any], ratings: "lehner.Ratings") -> Iterator[str]:
    from lehner.known_truths.correction import find_unlabelled

    several, n = len(ratings.systems) > 1, content["n"]
    if content["enrich"] is not None:
        yield f"{pluralise(n, 'item')} were chosen with seed {content['seed']}: half of them, or as"
        yield f"many as there are, from those that somebody calls {content['enrich']}."
        return
    which = "the systems answered differently" if several else "the system answered"
    which = which if ratings.systems else "were rated"
    n_all, seed = len(find_unlabelled(ratings)), content["seed"]
    goal = to_short(content["until"]).rstrip("0")
    followed = "accuracy" in content
    how = "drawn at random" + ("" if followed else ", stratified by the raters' votes")
    items = f"{pluralise(n, 'item')} of the {n_all} that {which} and that have no gold label"
    yield f"{items} were {how}, with seed {seed}."
    if followed:
        yield from _describe_accuracy(content, goal)
        return
    if len(ratings.systems) != 1:
        return
    if content["width_before"] is None:
        yield "The ratings give no accuracy to start from, so that no widths can be expected."
        return
    before, after = (to_decimal(content[name], 2) for name in WIDTHS[:2])
    level = to_percent(content["level"])
    yield f"The {level} interval of the accuracy in this sample has the width"
    yield f"  {before} now, by the method learned_prior"
    yield f"  {after} with {n} more gold labels, by the labels alone (Wilson's interval)"
    if content["n_until"] == 0:
        yield f"The interval of the gold labels alone is within ±{goal}."
        return
    needed = pluralise(content["n_until"], "more gold label")
    yield f"{needed} would give ±{goal}, whatever the ratings are worth."


def label(
    data: str,
    without_system: bool = False,
    method: str | None = None,
    seed: int = 1,
    *,
    reading: Reading,
    output: Path | None = None,
    as_json: bool = False,
) -> None:
    """Label each item with the probability of each category: soft labels to train a system on.

    Each item has a row: its name, a column for each category, and the most probable category (if
    several tie, they are joined by |). If the categories are ordered, the last column is the
    median; the probabilities do not use the order. No system is needed, and its answers do not
    enter the labels, except those of the Bayesian models and of maximum likelihood, which count the
    system as one more rater: to train that system on their labels, use --without-system.

    Models of independent errors are too sure if the raters' errors correlate, as they often do. The
    probabilities of the default method are therefore tempered by a power that was learned on public
    data sets (crowds) with gold labels.

    With --sets, each label is estimated by itself. Its column has the probability that it is in the
    item's set, `most_probable` has the labels whose probability is above one half, and `certainty`
    has the probability of the least certain of these decisions.

    Parameters
    ----------
    without_system : bool
        Leave the system's answers out of the labels.
    method : NAME
        A method from the list below. Default: dawid_skene_vb, or majority if raters are anonymous.
    output : FILE
        The CSV file. Default: standard output.

    Examples
    --------
    lehner label ratings.csv --output labels.csv
    lehner label ratings.csv --system gpt --without-system --method dawid_skene
    """
    from lehner.command.load import load
    from lehner.core.estimate import to_plain
    from lehner.data.estimable import require_pairs
    from lehner.interrater.agreement import divide_sets
    from lehner.report.files import to_csv

    ratings = load(data, reading, require=require_pairs)
    if without_system:
        ratings = ratings.without_system()
    parts = divide_sets(ratings) if reading.sets else {"": ratings}
    found = {name: lehner.label(part, method, seed=seed) for name, part in parts.items()}
    warnings = dict.fromkeys(warning for part in found.values() for warning in part.warnings)
    labels = replace(next(iter(found.values())), warnings=tuple(warnings))
    table = _tabulate_sets(found) if reading.sets else _tabulate(labels, ratings)
    for line in write_data_lines(ratings.notes):
        say(line)
    for warning in sort_warnings([*labels.warnings, *_list_notes(labels, ratings)]):
        say(f"{labels.method}: {to_options(warning.text)}")
    if as_json:
        content = {
            "data": {"name": data, "notes": list(map(to_options, ratings.notes))},
            "method": labels.method,
            "uses_system": labels.uses_system,
            "warnings": to_plain(labels.warnings),
            "labels": to_plain(table.to_dict("records")),
        }
        print(to_json(content))
    if not labels.defined:
        raise typer.Exit(1)
    # Significant digits, so that a small probability does not become 0.
    numbers = table.select_dtypes("float").columns.difference(["item"])
    table[numbers] = table[numbers].map(lambda number: float(f"{number:.{DIGITS}g}"))
    if output is not None:
        say(f"wrote {options.write_file(table, output)}")
    elif not as_json:
        csv = to_csv(table)
        # A terminal would obey what a file or a pipe keeps as it is.
        sys.stdout.write(escape(csv) if sys.stdout.isatty() else csv)


def _tabulate(labels: "lehner.SoftLabels", ratings: "lehner.Ratings") -> Any:
    """Give a row for each item; of ordered categories with the median."""
    table = labels.to_frame()
    names = table.columns[1:-1]
    if ratings.ordered:
        if MEDIAN in names:
            raise InputError(f"a category is called {MEDIAN!r}, as a column is", "rename it")
        import numpy as np

        reached = np.cumsum(labels.truth_probabilities.values, axis=1) >= 0.5 - ROUNDING
        table[MEDIAN] = [names[place] for place in reached.argmax(axis=1)]
    return table


def _tabulate_sets(found: "Mapping[str, lehner.SoftLabels]") -> Any:
    """Give a row for each item: the probability of each label, and the set of those above 1/2."""
    from lehner.core.lazy import pd

    table = pd.DataFrame(
        {name: part.truth_probabilities.values[:, 1] for name, part in found.items()}
    )
    names, likely = table.columns, table > 0.5
    for name in OF_SETS & set(names):
        raise InputError(f"a label is called {name!r}, as a column is", "rename it")
    certainty = table.where(likely, 1 - table).min(axis=1)
    table["most_probable"] = [json.dumps([*names[row]]) for row in likely.to_numpy()]
    table["certainty"] = certainty
    table.insert(0, "item", next(iter(found.values())).truth_probabilities["item"].values)
    return table


def _list_notes(labels: "lehner.SoftLabels", ratings: "lehner.Ratings") -> Iterator[Any]:
    tied = sum(len(names) > 1 for names in labels.find_most_probable())
    if tied:
        yield warn("labels-tied", f"most probable categories tie in {pluralise(tied, 'row')}")
    if ratings.system is not None:
        part = "part of these labels; --without-system leaves them out"
        which = part if labels.uses_system else "no part of these labels"
        yield warn("labels-and-system", f"the system's answers are {which}")
