"""Random tables, good and bad, in every format: all ways in agree, or all refuse in a line."""

import gzip
import json
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lehner
from lehner import InputError, Ratings, read_ratings
from lehner.command.load import read_groups
from lehner.data.ratings import number_groups

N_INPUTS, BLOCK = 600, 20
CATEGORIES = (
    ["no", "yes"],
    ["no", "yes", "not sure"],
    ["A", "B", "C"],
    [0, 1],
    [1, 2, 3, 4],
    [-1, 0, 1],
    ["0.5", "1", "1.5"],
    ["+", "-", "0"],
    ["née", "名", "ß"],
    ['say "x"', "a,b", "c;d\te"],
    ["1,000", "1", "10"],
    ["T1", "T2", "T10"],
    ["=1+1", "<b>", "{", "["],
)
ITEMS = (
    lambda i: i + 1,
    lambda i: f"case {i}",
    lambda i: f"{i:03}",
    lambda i: f"a,{i}",
    lambda i: f'"{i}"',
    lambda i: f"i{i}é",
    lambda i: 10**12 + i,
)
RATERS = (
    ["Ann", "Bo", "Cy", "Di"],
    ["r1", "r2", "r3", "r4"],
    ["Smith, J", 'O"Hara', "名", "x;y"],
    ["1", "2", "3", "4"],
)
SYSTEM = "gpt"
MISTAKES = (
    *("spelling", "placeholder", "category", "system", "item", "twice", "number", "scores"),
    *("coding", "categories", "truth"),
)
SITES = ["north", "south", None]


def draw_table(rng):
    """Give a wide frame of items, raters, a system, truths and groups, and how it is to be read."""
    categories = CATEGORIES[rng.integers(len(CATEGORIES))]
    raters = RATERS[rng.integers(len(RATERS))][: rng.integers(2, 5)]
    n, k = int(rng.integers(12, 40)), len(categories)
    truth = np.append(np.arange(k), rng.integers(0, k, n - k))  # each category occurs
    missing = rng.choice([0, 0.2, 0.5])

    def answers(missing):
        codes = np.where(rng.random(n) < 0.7, truth, rng.integers(0, k, n))
        return [None if rng.random() < missing else categories[c] for c in codes]

    name = ITEMS[rng.integers(len(ITEMS))]
    frame = {"item": [name(i) for i in range(n)]}
    frame |= {rater: answers(missing) for rater in raters}
    frame[raters[0]] = [categories[c] for c in truth]
    frame[SYSTEM] = answers(0)
    options = {"system": SYSTEM, "leave_out": ["site"]}
    if rng.random() < 0.5:
        labelled = rng.random(n) < 0.4
        frame["truth"] = [
            categories[c] if seen else None for c, seen in zip(truth, labelled, strict=True)
        ]
    frame["site"] = [SITES[c] for c in rng.integers(0, 3, n)]
    frame["site"][0] = "north"
    # A category that means no rating, or that is not known, is one if it is named.
    if {"-", -1} & set(categories) or rng.random() < 0.3:
        options |= {"categories": categories, "ordered": bool(rng.random() < 0.5)}
    return pd.DataFrame(frame, dtype=object), raters, options


def spoil(frame, raters, options, rng):
    """Make a mistake that every way in has to refuse; give its name."""
    row, rater = int(rng.integers(len(frame))), raters[rng.integers(len(raters))]
    free = {name: value for name, value in options.items() if name not in ("categories", "ordered")}
    mistake = rng.choice(MISTAKES)
    if mistake == "spelling":
        frame.loc[:1, rater], options = ["Maybe", " maybe"], free
    elif mistake == "placeholder":
        frame.loc[row, rater], options = "?", free
    elif mistake == "category":
        frame.loc[row, rater] = "other"
        options = free | {"categories": ["no", "yes", 1]}
    elif mistake == "system":
        options = options | {"system": "nobody"}
    elif mistake == "item":
        frame.loc[row, "item"] = None
    elif mistake == "twice":
        frame.loc[1, "item"] = frame.loc[0, "item"]
    elif mistake == "number":
        frame.loc[:1, rater], options = ["x02", "y"], free
        frame.loc[2:4, rater] = ["7,5", "7.50", "7.5"]
    elif mistake == "scores":
        for name in raters:
            frame[name] = [f"{x:.6f}" for x in rng.random(len(frame))]
        options = free
    elif mistake == "coding":
        frame[SYSTEM], options = [f"code {i % 3}" for i in range(len(frame))], free
    elif mistake == "categories":
        options = free | {"categories": ["no", "no"]}
    else:
        options = free | {"missing": [], "truth": "nothing"}
    return frame, options, str(mistake)


def write_all(frame, raters, folder):
    """Write a frame in every format; give the files, and the options that each needs."""
    rated = [*raters, SYSTEM]
    kept = [name for name in ("item", "truth", "site") if name in frame]
    long = frame.melt(kept, rated, "rater", "rating").sample(frac=1, random_state=1)
    texts = {
        "wide.csv": frame.to_csv(index=False),
        "wide.tsv": frame.to_csv(index=False, sep="\t"),
        "wide.txt": frame.to_csv(index=False, sep=";", lineterminator="\r\n"),
        "long.csv": long.to_csv(index=False),
        "wide.json": frame.to_json(orient="records"),
        "long.json": long.to_json(orient="records", indent=1),
        "wide.jsonl": frame.to_json(orient="records", lines=True),
        "long.dat": long.to_json(orient="records", lines=True),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    (folder / "long.csv.gz").write_bytes(gzip.compress(texts["long.csv"].encode()))
    (folder / "wide.jsonl.gz").write_bytes(gzip.compress(texts["wide.jsonl"].encode()))
    (folder / "long.ndjson").write_text(_loose_lines(long), encoding="utf-8", newline="")
    if not frame.isin(["=1+1"]).any(axis=None):  # which would be a formula
        texts_only = frame.map(lambda value: value if value is None else str(value))
        texts_only.to_excel(folder / "wide.xlsx", index=False)
    typed = frame.astype({name: "str" for name in frame if _mixed(frame[name])})
    typed.to_parquet(folder / "Wide.PARQUET")
    wide = {"raters": raters, "item": "item"}
    ways = {path: wide if path.name.lower().startswith("wide") else {} for path in folder.iterdir()}
    return ways


def _loose_lines(long):
    """JSON Lines as tools write them: without what is missing, with lists, objects and blanks."""
    records = json.loads(long.to_json(orient="records"))
    first, *others = [record | {"meta": {"cost": [1, None]}} for record in records]
    complete = [{name: x for name, x in other.items() if x is not None} for other in others]
    return "\r\n\n".join(json.dumps(row, ensure_ascii=False) for row in [first, *complete])


def _mixed(column):
    return len({type(value) for value in column if value is not None}) > 1


def content(ratings):
    """Give what ratings say, whatever the order of rows and raters."""
    frame = ratings.all_votes
    items = [str(name) for name in ratings.items]
    labels, raters = ratings.categories, ratings.all_raters
    triples = zip(frame.item_index, frame.rater_index, frame.category_index, strict=True)
    truth = ratings.truth if ratings.truth is not None else np.full(len(items), -1)
    return {
        "items": sorted(items),
        "raters": sorted(ratings.raters),
        "systems": ratings.systems,
        "categories": labels,
        "ordered": ratings.ordered,
        "ratings": sorted((items[i], raters[j], str(labels[k])) for i, j, k in triples),
        "truth": {items[i]: labels[k] for i, k in enumerate(truth) if k >= 0},
    }


def attempt(read):
    """Give what a way of reading says, or None if it refuses in one line."""
    try:
        return read()
    except InputError as error:
        assert str(error) and "\n" not in str(error)
        return None


def groups_of(path, ratings):
    result = read_groups(path, ["site"], ratings).names
    return dict(zip(map(str, ratings.items), result, strict=True))


def check_input(seed, folder):
    """Read one input by all ways; give "accepted", or the mistake for which all refuse."""
    rng = np.random.default_rng(seed)
    frame, raters, options = draw_table(rng)
    expected = "accepted"
    if seed % 3 == 0:
        frame, options, expected = spoil(frame, raters, options, rng)
    ways = write_all(frame, raters, folder)
    plain = {name: value for name, value in options.items() if name != "leave_out"}
    truth = {"truth": "truth"} if "truth" in frame else {}
    reference = attempt(
        lambda: Ratings.from_wide(frame, raters=raters, item="item", **(truth | plain))
    )
    assert (reference is not None) == (expected == "accepted"), (seed, expected)
    for path, own in ways.items():
        read = attempt(lambda path=path, own=own: read_ratings(path, **options, **own))
        assert (read is None) == (reference is None), (seed, expected, path.name)
        if read is not None:
            assert content(read) == content(reference), (seed, path.name)
            sites = dict(zip(map(str, frame["item"]), frame["site"].fillna(""), strict=True))
            assert groups_of(path, read) == sites, (seed, path.name)
    if reference is not None:
        _, groups = number_groups(frame["site"], reference.n_rows)
        assert set(groups) == set(frame["site"].dropna())
    return expected


def run_block(block):
    result = Counter()
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", lehner.DataWarning)
            result[check_input(seed, Path(folder))] += 1
    return result


BLOCKS = [pytest.param(b, marks=[pytest.mark.slow] * (b > 0)) for b in range(N_INPUTS // BLOCK)]


@pytest.mark.parametrize("block", BLOCKS)
def test_all_ways_in_agree_or_all_refuse(block):
    result = run_block(block)
    assert result.total() == BLOCK and result["accepted"] > BLOCK / 2
