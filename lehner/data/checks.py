"""Checks of a table before ratings are made of it: names of columns, and labels in cells.

Each check of labels is a small function over the labels of all columns and how many cells have
them. Each check of columns raises an `InputError` that names the remedy.
"""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from lehner.core.errors import InputError
from lehner.core.text import counted, first_few
from lehner.data.columns import Column
from lehner.data.labels import MISSING, Label, fold, unify, value_or_folded
from lehner.data.reading import Reading

MOST_SHOWN = 8
FEWEST_ROWS = 5
"""A table of fewer rows is too short to judge its columns by their labels."""
MANY_LABELS = 10
MANY_RATERS, TIMES_MORE_RATERS = 100, 10
"""With so many raters, and so many times as many raters as items, rows are raters."""
MOST_DECIMALS, MOST_WHOLE_NUMBERS = 20, 100
"""More different numbers than these are scores."""
FEWEST_TEXTS = 20
WIDEST_GAP = 3
SENTINELS = (9, 77, 88, 97, 98, 99, 777, 888, 998, 999, 7777, 8888, 9999)
SURE_PLACEHOLDERS = {text.casefold() for text in MISSING} | {
    *"- -- --- – — ? ?? ??? . .. ... … * _ / n.a. n.a n.d. #n/a #na #null! #value! #ref!".split(),
    *"#name? #div/0! -nan 1.#ind -1.#ind 1.#qnan (null) (blank) <missing> undefined".split(),
}
"""Texts, in lower case, that are a category only if the user names it."""
LIKELY_PLACEHOLDERS = {
    *("unknown", "missing", "blank", "skipped", "unanswered", "unrated", "not available"),
    *("not applicable", "no answer", "no response", "no rating", "not rated", "abstain", "skip"),
    *("cannot decide", "i cannot decide", "cannot tell", "can't tell", "can't say", "cannot say"),
}
"""Texts, in lower case, that may be a category."""
MAYBE_TRUTH = {
    *("expert", "label", "class", "final", "consensus", "adjudicated", "adjudication"),
    *("biopsy", "histology", "pathology", "autopsy", "surgery"),
}
"""Names, in lower case, that gold labels may have, and a rater, too."""
RESPONDENT = re.compile("respondent|responseid|e-?mail", re.IGNORECASE)
"""The name of a column that names who answered a survey: each row is a rater, however many."""
SCORE = re.compile(r"[-+]?[0-9]*[.,]?[0-9]+([eE][-+]?[0-9]+)?\s*%?")
WHOLE_NUMBER = re.compile(r"[-+]?[0-9]+")
DECIMAL_COMMA = re.compile(r"[-+]?[0-9]{1,3},[0-9]{1,2}")
SEVERAL_NUMBERS = re.compile(r"[0-9]+(\.[0-9]+)?\s*[-/–]\s*[0-9]+(\.[0-9]+)?")
SIGNS = r"[\s\[\](){}<>*_`.:;,!\"']*"
AROUND_LABEL = re.compile(
    rf"^((final )?(answer|verdict|label|rating|score)( is)? *[:=])?{SIGNS}|{SIGNS}$"
)
NAME_ALL = "name all categories (categories=…)"
NAME_RATERS = "name the raters' columns (raters=…)"

type Cells = Mapping[Label, int]
"""How many cells each label is in."""
type Problem = tuple[Label, str, str, Mapping[str, Any]]
"""A label that is a mistake, what is wrong with it, and the remedy, also as reading options."""


def check_labels(
    columns: Mapping[str, Column], names: Mapping[Any, Label], *, refuse: bool
) -> list[str]:
    """Raise an InputError if categories are probably an error, and name those that look odd.

    Parameters
    ----------
    columns : mapping of str to Column
        The columns of raters, systems and gold labels.
    names : mapping
        From label as found to category.
    refuse : bool
        Whether to raise errors; else there are only warnings, for example if the categories of all
        columns were declared (a pandas categorical).

    Returns
    -------
    list of str
        What looks odd, one sentence for each point.
    """
    counts: Counter[Label] = Counter()
    for column in columns.values():
        uses = np.bincount(column.codes + 1, minlength=len(column.labels) + 1)[1:]
        for label, n in zip(column.labels, uses.tolist(), strict=True):
            counts[names[label]] += n
    cells, odd = +counts, []
    for label, problem, remedy, change in (one for check in CHECKS for one in check(cells)):
        for name, column in columns.items() if refuse else ():
            has_label = column.lookup([names[own] == label for own in column.labels], False)
            if has_label.any():
                row = int(np.argmax(has_label))
                raise InputError(problem, remedy, row=row, column=name, change=change)
        odd.append(f"{problem}; {remedy}")
        break
    return odd + [
        f"{str(label)!r} ({counted(cells[label], 'cell')}) counts as a category; if it means a "
        f"missing rating, read it as one (missing=[{str(label)!r}])"
        for label in cells
        if str(label).casefold() in LIKELY_PLACEHOLDERS or (str(label) == "None" and len(cells) > 2)
    ]


def find_spellings(cells: Cells) -> Iterator[Problem]:
    """Find categories that differ only in case, space, Unicode form or how numbers are written."""
    alike: dict[str, list[Label]] = {}
    for label in sorted(cells, key=lambda label: (cells[label], str(label))):
        alike.setdefault(value_or_folded(label), []).append(label)
    same = [labels for labels in alike.values() if len(labels) > 1]
    if same:
        spellings = ["/".join(f"{str(label)!r}" for label in labels) for labels in same]
        counts = ["/".join(str(cells[label]) for label in labels) for labels in same]
        # Folding makes one category of some spellings, as it does not of numbers.
        foldable = any(len(set(map(fold, labels))) < len(labels) for labels in same)
        yield (
            same[0][0],
            f"the categories {', '.join(spellings)} (in {', '.join(counts)} cells) differ only "
            "in how they are written",
            f"write them alike,{' read them as one (fold_case=True),' * foldable} or, if they are "
            f"several, {NAME_ALL}",
            {"fold_case": True} if foldable else {},
        )


def find_placeholders(cells: Cells) -> Iterator[Problem]:
    """Find labels that mean a missing rating unless the user names them as categories."""
    for label in list_placeholders(cells):
        yield (
            label,
            f"{str(label)!r} ({counted(cells[label], 'cell')}) would count as a category",
            f"read it as no rating (missing=[{str(label)!r}]) or, if it is one, {NAME_ALL}",
            {"missing": (str(label),)},
        )


def list_placeholders(labels: Iterable[Label]) -> list[Label]:
    """List labels that mean a missing rating: signs, None or -1 among numbers, 99 far above them.

    Examples
    --------
    >>> list_placeholders([1, 2, 3, 99]), list_placeholders([-1, 0, 1])
    ([99], [-1])
    >>> list_placeholders(["none", "mild", "?"]), list_placeholders(["None", 1, 2])
    (['?'], ['None'])
    >>> list_placeholders(["+", "-"])
    []
    """
    plain = {label: str(label).casefold() for label in labels}
    numbers = sorted(int(text) for text in plain.values() if re.fullmatch(r"-?[0-9]{1,9}", text))
    others = set(plain.values()) - {str(number) for number in numbers}
    signs = any(set(text) == {"+"} for text in plain.values())  # then - is a result too
    absent = {text for text in SURE_PLACEHOLDERS if not (signs and set(text) == {"-"})}
    if others == {"none"} and numbers:
        absent |= others
    if not others and len(numbers) > 2:
        lowest, second, last_but_one, highest = (numbers[place] for place in (0, 1, -2, -1))
        far_below = lowest == -1 or (-lowest != highest and second - lowest > WIDEST_GAP)
        if lowest < 0 <= second and far_below:
            absent.add(str(lowest))
        if highest in SENTINELS and lowest >= 0 and highest - last_but_one > WIDEST_GAP:
            absent.add(str(highest))
    return [label for label, text in plain.items() if text in absent]


def find_lists(cells: Cells) -> Iterator[Problem]:
    """Find a cell with several labels."""
    for label in cells:
        if str(label).startswith("[") and len(list_of(label)) != 1:
            problem = f"{str(label)[:40]!r} is a list: an item has several labels"
            remedy = "compare sets of labels (sets=True), or make each label a column of yes and no"
            yield label, problem, remedy, {}


def list_of(label: object) -> list[Any]:
    """Read the list that a cell holds; a cell with another text is a list of one.

    Examples
    --------
    >>> list_of("[1, 2]"), list_of("['a']"), list_of("a")
    ([1, 2], ['a'], ['a'])
    """
    text = str(label)
    for form in (text, text.replace("'", '"')):
        try:
            content = json.loads(form)
        except ValueError:
            continue
        return content if isinstance(content, list) else [content]
    return [text]


def find_written_around(cells: Cells) -> Iterator[Problem]:
    """Find labels with signs or words around another label, as [[A]] and Answer: A."""
    by_core: dict[str, list[Label]] = {}
    for label in sorted(cells, key=lambda label: (len(str(label)), str(label))):
        by_core.setdefault(AROUND_LABEL.sub("", str(label).casefold()), []).append(label)
    several = [labels for core, labels in by_core.items() if core and len(labels) > 1]
    if several:
        pairs = tuple(f"{label}={plain}" for plain, *labels in several for label in labels)
        shown = ", ".join(f"{str(label)!r}" for label in several[0])
        problem = f"the labels {shown} look like one category"
        remedy = f"say what is which (labels={','.join(pairs)!r}), or {NAME_ALL}"
        yield several[0][0], problem, remedy, {"labels": pairs}


def find_other_numbers(cells: Cells) -> Iterator[Problem]:
    """Find numbers that are written as 1,7 or 4/5 or 3-4."""
    for label in cells:
        if DECIMAL_COMMA.fullmatch(str(label)):
            problem = f"{str(label)!r} is a number with a decimal comma"
            yield label, problem, f"say so (decimal=','), or {NAME_ALL}", {"decimal": ","}
    several = [label for label in cells if SEVERAL_NUMBERS.fullmatch(str(label))]
    if several and len(several) < len(cells):
        problem = f"{str(several[0])!r} holds two numbers, where others hold one label"
        remedy = f"say which category it is (labels='{several[0]}=…'), or {NAME_ALL}"
        yield several[0], problem, remedy, {}


def find_no_categories(cells: Cells) -> Iterator[Problem]:
    """Find scores and texts."""
    kind = describe_no_categories(cells)
    if kind:
        remedy = "cut them into few categories (cut=…)"
        remedy = remedy if "numbers" in kind else "join them (labels=…)"
        problem = f"the ratings are {kind}, not categories"
        yield next(iter(cells)), problem, f"{remedy}, or {NAME_ALL}", {}


def describe_no_categories(cells: Cells) -> str:
    """Describe the labels if they are certainly not categories; else the text is empty.

    Examples
    --------
    >>> describe_no_categories({f"{i}.5%": 2 for i in range(300)})
    '300 different numbers'
    """
    texts = [str(label) for label in cells]
    numbers = [text for text in texts if SCORE.fullmatch(text)]
    whole = all(WHOLE_NUMBER.fullmatch(text) for text in numbers)
    if len(numbers) > (MOST_WHOLE_NUMBERS if whole else MOST_DECIMALS):
        return f"{len(numbers)} different numbers"
    if len(texts) >= FEWEST_TEXTS and 2 * len(texts) > sum(cells.values()):
        return f"{len(texts)} different labels in {sum(cells.values())} cells"
    return ""


CHECKS: tuple[Callable[[Cells], Iterator[Problem]], ...] = (
    find_spellings,
    find_placeholders,
    find_lists,
    find_written_around,
    find_other_numbers,
    find_no_categories,
)
"""Each finds mistakes in the labels of all columns together; the first that is found counts."""


def say_columns(raters: Sequence[str], ignored: Iterable[str], reading: Reading) -> str:
    """Say who the raters and the systems are, and the role of other columns.

    Parameters
    ----------
    raters : sequence of str
        Names of the raters.
    ignored : iterable of str
        The columns that were not read.
    reading : Reading
        The other roles.

    Returns
    -------
    str

    Examples
    --------
    >>> say_columns(["Ann", "Bo"], ["time"], Reading(system="gpt", item="id"))
    'the system is gpt; raters are Ann, Bo; items are named by id; ignored: time'
    """
    rating = None if (reading.rater, reading.rating) == ("rater", "rating") else reading.rating
    left = [name or "(a column without a name)" for name in ignored]
    is_or_are = "s are" if len(reading.system) > 1 else " is"
    parts = {
        f"the system{is_or_are} {_shown(reading.system)}": reading.system,
        f"raters are {_shown(raters)}": raters,
        f"items are named by {' and '.join(reading.item)}": reading.item,
        "items are numbered": not reading.item,
        f"gold labels are in {reading.truth}": reading.truth,
        f"they were chosen with the probabilities in {reading.truth_probability}": (
            reading.truth_probability
        ),
        f"items are clustered by {reading.cluster}": reading.cluster,
        f"each row is a rating: the rater is in {reading.rater}, the rating in {rating}": (
            reading.rater and rating
        ),
        f"ignored: {_shown(left)}": left,
    }
    return "; ".join(text for text, is_said in parts.items() if is_said)


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(names[:MOST_SHOWN]) + more


@cache
def list_names() -> dict[str, Any]:
    """List the names by which the role of a column is known, as `names.toml` has them."""
    text = files("lehner.data").joinpath("names.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def role_of(name: str) -> str | None:
    """Role of a column by its name, as `names.toml` lists them; None if the name has none.

    Examples
    --------
    >>> role_of("label_true"), role_of("Annotator ID"), role_of("verdict"), role_of("Ann")
    ('truth', 'rater', 'rating', None)
    """
    if re.fullmatch(r"\w+(\.\w+)+", name):
        name = name.rpartition(".")[2]  # of a nested file
    words = _words(name)
    if name == "":
        return "item"  # the index that pandas writes
    for role, known in list_names().items():
        if role == "system" and is_named_like_system(name):
            return role
        of, others = set(known["of"]), set(known["with"])
        if role == "remark":  # Confidence (1-5)
            others |= {word for word in words if word.isdigit()}
        if of & set(words) and set(words) <= of | others and (role != "item" or words[0] in of):
            return str(role)
    return None


def is_named_like_system(name: str) -> bool:
    """Whether a rater has the name of a system, as `model_b` or `AI 2`."""
    known, words = list_names()["system"], _words(name)
    if not set(known["of"]) & set(words) or "graded" in words:  # Inspect's model_graded_qa
        return False
    short = {word for word in words if len(word) <= 2 or word.isdigit()}
    numbered = words[0] in ("system", "model") and len(words) > 1
    return numbered or set(words) <= {*known["of"], *known["with"]} | short


def _words(name: str) -> list[str]:
    return re.findall(r"[0-9]+|[^\s0-9_.,;:/()#-]+", name.casefold())


def refuse_other_names(raters: Sequence[str], systems: Sequence[str], *, columns: bool) -> None:
    """Raise an InputError if the name of a rater is that of something else.

    Parameters
    ----------
    raters, systems : sequence of str
    columns : bool
        Whether these are columns' names; else only gold labels and systems are found.
    """
    systems_rate = all(map(is_named_like_system, raters))
    for name in raters:
        role = role_of(name) or "rater"
        if role in ("rater", "rating") or (role == "system" and systems_rate):
            continue
        what = "another system" if role == "system" and systems else list_names()[role]["what"]
        change = {} if role == "remark" else {role: (name,)}
        if columns:
            say = f"say what it is ({role}={name!r}) or " if change else ""
            problem = f"its name is that of {what}, and it would count as a rater"
            raise InputError(problem, f"{say}{NAME_RATERS}", column=name, change=change)
        if role in ("truth", "system"):
            problem = f"there is a rater {name!r}, whose name is that of {what}"
            remedy = f"say so ({role}={name!r}), or name the raters (raters=…)"
            raise InputError(problem, remedy, change=change)


def say_doubtful_names(raters: Sequence[str]) -> list[str]:
    """Name raters who may be gold labels, or one rater twice."""
    sentences = [
        f"{name!r} counts as a rater; if it has gold labels, say so (truth={name!r})"
        for name in raters
        if fold(name) in MAYBE_TRUTH
    ]
    first: dict[str, str] = {}
    for name in raters:
        other = first.setdefault(value_or_folded(name), name)
        if other != name:
            sentences.append(
                f"the raters {other!r} and {name!r} count as two; if they are one, write "
                "the name alike"
            )
    return sentences


def refuse_rows_of_raters(columns: Sequence[str], n_rows: int, rater: str | None) -> None:
    """Raise an InputError if each row of a table is probably a rater, and each column an item.

    Parameters
    ----------
    columns : sequence of str
        The columns that would be raters.
    n_rows : int
    rater : str or None
        The column that names the rows.
    """
    named = rater is not None and role_of(rater) == "rater"
    is_survey = named and RESPONDENT.search(str(rater)) is not None
    many = len(columns) >= max(MANY_RATERS, TIMES_MORE_RATERS * n_rows)
    if many or is_survey or (named and len(columns) > n_rows):
        stems = Counter(re.sub("[0-9]+$", "", name) for name in columns if name[-1:].isdigit())
        stem, n_alike = max(stems.items(), key=lambda one: one[1], default=("", 0))
        items = (f"{stem}*",) if stem and 2 * n_alike > len(columns) else tuple(columns)
        raise InputError(
            f"each of {counted(n_rows, 'row')} is probably a rater, and each of "
            f"{counted(len(columns), 'column')} an item",
            f"say so (rater={rater or '…'!r}, items={first_few(items, MOST_SHOWN)!r}), or "
            f"{NAME_RATERS}",
            change={"rater": rater, "items": items} if rater else {},
        )


def refuse_counts(columns: Sequence[Column]) -> None:
    """Raise an InputError if columns are categories and cells are counts: all rows have one sum."""
    if len(columns) < 2 or len(columns[0]) < FEWEST_ROWS:
        return
    labels = {str(label) for column in columns for label in column.labels}
    if not all(label.isascii() and label.isdigit() for label in labels) or labels <= {"0", "1"}:
        return
    few = np.array([column.take(np.arange(FEWEST_ROWS)).numbers for column in columns])
    if (few.sum(axis=0) != few[:, 0].sum()).any():
        return
    cells = np.array([column.numbers for column in columns])
    sums = cells.sum(axis=0)
    if (sums == sums[0]).all() and len(np.unique(cells, axis=1).T) > 2:
        raise InputError(
            f"all rows have the sum {sums[0]:.0f}, so that each column is probably a category, "
            "and each cell a number of raters",
            f"say so (category_counts=True), or {NAME_RATERS}",
            change={"category_counts": True},
        )


def refuse_stray_columns(
    columns: Mapping[str, Column], raters: Sequence[str], decimal: str | None = None
) -> None:
    """Raise an InputError if a column is probably not a rater, but an identifier, a date or a note.

    Such a column has no labels in common with others (or less than half of its labels, if it has
    many); or it has a different label in each row, while others have at most half as many labels;
    or it is named after another, as R1_conf after R1, and has other labels.

    Parameters
    ----------
    columns : mapping of str to Column
        Columns of the raters and of the systems.
    raters : sequence of str
        The columns that would be raters because they have no other role.
    decimal : str, optional
        "," if numbers have a decimal comma.
    """
    if len(columns) < 2 or len(next(iter(columns.values()))) < FEWEST_ROWS:
        return
    for name, column in columns.items() if decimal is None else ():
        cells = dict.fromkeys(column.labels, 1)
        commas = bool(cells) and all(DECIMAL_COMMA.fullmatch(str(label)) for label in cells)
        for _, problem, remedy, change in (find_other_numbers if commas else find_lists)(cells):
            raise InputError(problem, remedy, column=name, change=change)
    if all(
        describe_no_categories(dict.fromkeys(columns[name].labels, MANY_LABELS)) for name in raters
    ):
        return  # all are scores or texts, of which another check tells
    same = unify(label for column in columns.values() for label in column.labels)
    labels = {name: {same[label] for label in column.labels} for name, column in columns.items()}
    holders = Counter(label for own in labels.values() for label in own)
    *_, second, most = sorted(map(len, labels.values()))
    for name in raters:
        own = labels[name]
        alone = {label for label in own if holders[label] == 1}
        many = len(own) >= MANY_LABELS
        before = [name[: end.start()] for end in re.finditer(r"[ _.:-]", name)]
        named_after = [rater for rater in before if labels.get(rater, own) != own]
        if named_after:
            problem = f"it is named after the column {named_after[0]!r} and has other labels"
        elif alone and (alone == own or (many and 2 * len(alone) > len(own))):
            elsewhere = set(holders) - alone if alone == own else ()
            problem = f"labels such as {_labels_shown(alone)} occur in no other column"
            problem += f", where they are {_labels_shown(elsewhere)}" if elsewhere else ""
        elif many and len(own) == len(columns[name]) >= 2 * (second if len(own) == most else most):
            problem = "it has a different label in each row"
        else:
            continue
        remedy = f"{NAME_RATERS} or the items' column (item=…), or code all raters alike; if each "
        remedy += "row is a rating, name its columns (rater=…, rating=…)"
        raise InputError(f"{problem}, so it is probably not a rater", remedy, column=name)


def _labels_shown(labels: Iterable[object]) -> str:
    return first_few(sorted(map(str, labels)), 3)
