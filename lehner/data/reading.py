"""How a table of ratings is read: the role of each column, what labels mean, and which rows count.

A condition on rows is written as in Python, `site == 'north' and score >= 3`. Python's parser reads
it, and what is not in the grammar is refused, so that nothing ever runs as code. A name from a file
is put into a condition, never into text.
"""

import ast
import json
import keyword
import re
import tomllib
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from math import inf
from pathlib import Path
from typing import Any

from lehner.core.errors import InputError, suggest

# Conditions on rows

GRAMMAR = (
    "compare columns with texts, numbers, True or False by ==, !=, <, <=, > and >=, or with lists "
    "of these by in and not in; join comparisons by and, or, not and parentheses; write a name "
    "such as `a b` in backticks; for example: site == 'north' and `age group` not in ['young']"
)
OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
}
# A text in quotation marks, or a name in backticks, in which two backticks stand for one.
QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`((?:[^`]|``)+)`""", re.DOTALL)
MOST_NESTED, MOST_SHOWN = 20, 200

type Constant = str | int | float | bool


@dataclass(frozen=True)
class Name:
    """The name of a column."""

    name: str

    def __str__(self) -> str:
        plain = self.name.isascii() and self.name.isidentifier()
        if plain and not keyword.iskeyword(self.name):
            return self.name
        return f"`{self.name.replace('`', '``')}`"


@dataclass(frozen=True, repr=False)
class Comparison:
    """A column compared with a constant, some constants or another column.

    Examples
    --------
    >>> print(Comparison(Name("age group"), "not in", ("young",)))
    `age group` not in ['young']
    """

    column: Name
    operator: str
    value: Constant | tuple[Constant, ...] | Name

    def __str__(self) -> str:
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        text = str(value) if isinstance(value, Name) else repr(value)
        return f"{self.column} {self.operator} {text}"

    def __repr__(self) -> str:
        return repr(str(self))


@dataclass(frozen=True, repr=False)
class Joined:
    """Conditions joined by `and` or `or`, or one of which `not` gives the opposite.

    Examples
    --------
    >>> print(Joined("not", (Comparison(Name("score"), ">", 3),)))
    not (score > 3)
    """

    word: str
    parts: tuple["Condition", ...]

    def __str__(self) -> str:
        parts = [f"({part})" if isinstance(part, Joined) else str(part) for part in self.parts]
        return f"not ({self.parts[0]})" if self.word == "not" else f" {self.word} ".join(parts)

    def __repr__(self) -> str:
        return repr(str(self))


type Condition = Comparison | Joined


def parse_condition(text: str) -> Condition:
    """Read a condition that somebody typed.

    Parameters
    ----------
    text : str

    Returns
    -------
    Comparison or Joined

    Raises
    ------
    InputError
        If it has something that the grammar does not.

    Examples
    --------
    >>> parse_condition("score >= 3 and not `asked by` in ['Ann']")
    "score >= 3 and (not (`asked by` in ['Ann']))"
    """
    names: dict[str, str] = {}
    symbol = "name"
    while symbol in text:
        symbol += "_"

    def bind(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        names[f"{symbol}{len(names)}"] = match[1].replace("``", "`")
        return f" {list(names)[-1]} "

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            tree = ast.parse(QUOTED.sub(bind, text).strip(), mode="eval")
        return _build(tree.body, names, MOST_NESTED)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise InputError(f"the condition {text[:MOST_SHOWN]!r} cannot be read", GRAMMAR) from None


def list_columns(condition: Condition) -> list[str]:
    """List the names of the columns in a condition, each once."""
    names: dict[str, str] = {}
    rename_columns(condition, lambda name: names.setdefault(name, name))
    return list(names)


def rename_columns(condition: Condition, rename: Callable[[str], str]) -> Condition:
    """Give each column in a condition the name that a function makes of its name."""
    if isinstance(condition, Joined):
        parts = tuple(rename_columns(part, rename) for part in condition.parts)
        return replace(condition, parts=parts)
    value = condition.value
    value = Name(rename(value.name)) if isinstance(value, Name) else value
    return Comparison(Name(rename(condition.column.name)), condition.operator, value)


def join_conditions(word: str, conditions: Iterable[Condition | None]) -> Condition:
    """Join conditions, of which some are none, by `and` or `or`; one alone stays as it is."""
    parts = tuple(condition for condition in conditions if condition is not None)
    return parts[0] if len(parts) == 1 else Joined(word, parts)


def _build(node: ast.expr, names: dict[str, str], depth: int) -> Condition:
    """Make a condition of the tree of Python's parser; raise a ValueError if it is none."""
    if isinstance(node, ast.BoolOp) and depth:
        word = "and" if isinstance(node.op, ast.And) else "or"
        return Joined(word, tuple(_build(part, names, depth - 1) for part in node.values))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and depth:
        return Joined("not", (_build(node.operand, names, depth - 1),))
    if not isinstance(node, ast.Compare) or len(node.ops) > 1:
        raise ValueError
    column, operator = _build_side(node.left, names), OPERATORS.get(type(node.ops[0]), "is")
    value = _build_side(node.comparators[0], names)
    of_list, has_order = operator in ("in", "not in"), operator[0] in "<>"
    is_other = isinstance(value, tuple) != of_list or (has_order and isinstance(value, bool))
    if is_other or operator == "is" or not isinstance(column, Name):
        raise ValueError
    return Comparison(column, operator, value)


def _build_side(node: ast.expr, names: dict[str, str]) -> Constant | tuple[Constant, ...] | Name:
    """Make a name, a constant or several constants of one side of a comparison."""
    if isinstance(node, ast.Name):
        return Name(names.get(node.id, node.id))
    # Despite its name, this function of Python calls nothing.
    value = ast.literal_eval(node)
    several = value if isinstance(value, list) else [value]
    for constant in several:
        if not isinstance(constant, str | int | float) or constant in (inf, -inf):
            raise ValueError
    return tuple(several) if isinstance(value, list) else value


# Options

NAMES = ("system", "item", "raters", "items", "pair", "leave_out")
# Options with several values, of which those of `NAMES` name columns or raters.
SEVERAL = (*NAMES, "categories", "missing", "labels", "cut")
# A key that a reading file may have, too: the probability of the commands' intervals.
LEVEL = "level"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a file or table of ratings is read.

    A paper can keep it as a TOML file with these names as keys: see `from_file`.

    Parameters
    ----------
    system : NAMES
        The columns (where each row is a rating, the raters) that are systems to evaluate.
    truth : NAME
        The column of gold labels, blank where there is none; or, where each row is a rating, the
        rater whose ratings are the gold labels; or a file with columns item and truth, or a file
        and its column, as in gold.csv:label.
    truth_item : NAME
        The column that names the items in a file of gold labels. Default: that of the ratings.
    truth_probability : NAME
        The column of the probability, above 0, with which each item was chosen to get its gold
        label. Gold labels are then weighted by its inverse.
    item : NAMES
        The column that names the items. Several columns are joined.
    rater : NAME
        The column that names the raters, where each row is a rating (or, with --items, a rater).
    rating : NAME
        The column of the ratings, where each row is a rating; or several, as in cat,dog,none, or
        a pattern such as 'Answer.*', of which one is ticked in each row.
    raters : NAMES
        The raters' columns, or patterns such as 'Q*'; where each row is a rating, the raters who
        are read. In a JSON file 'labels.*' are the labels in a list. Default: all raters, or all
        columns without another role.
    items : NAMES
        The items' columns, or patterns such as 'Q*', where each row is a rater.
    counts : NAME
        The column that says how many items each row stands for.
    category_counts : bool
        Each column is a category, and each cell says how many raters chose it for the item.
    cross_table : bool
        Rows are the categories of one rater, columns those of another, and cells numbers of items.
    cluster : NAME
        The column of the cluster of each item, as the patient of a lesion, the conversation of an
        answer, or the sample of repeated answers: intervals then allow for items that are alike.
    order : NAME
        The column that says the order (AB, BA) in which a judge saw two answers. A judge who
        prefers different answers in the two orders has no vote.
    pair : NAMES
        Two columns with the names of the answers that were compared. The item is then the pair,
        and the order in which it was shown is allowed for.
    occasion : NAME
        The column that tells a rater's repeated ratings of an item apart.
    repeated : CHOICE
        A rater may rate an item more than once: the most frequent rating counts (vote; none where
        two are equally frequent), the first, or the last.
    categories : NAMES
        All categories in their order. Default: those that occur, sorted.
    ordered : bool
        The order of the categories means something.
    missing : NAMES
        Labels that stand for a missing rating, besides blanks, NA, NaN and null.
    fold_case : bool
        Labels that differ only in case, spaces or Unicode form are one.
    labels : NAMES
        What is written for which category, as in '[[A]]=A,A.=A'; or a file with columns label and
        category.
    only : bool
        With --labels: refuse a label that is not listed.
    sets : bool
        Each cell is a list of labels, as "[1, 2]" or "a, b": a set of them is a category.
    cut : NUMBERS
        Ratings are scores, which are cut into categories at these numbers; a number at a cut
        belongs to the category above it.
    where : CONDITION
        Only rows for which this holds are read, as in "status == 'submitted'". Comparisons
        (==, !=, <, <=, >, >=, in, not in) are joined by and, or, not; a name such as `a b` stands
        in backticks.
    split : PATTERN
        Makes columns from the text of one, as in "record_id=(?P<item>.+)--(?P<rater>.+)" (a
        regular expression with named groups).
    header : ROWS
        The row with the names of the columns; 1-3 if the rows 2 and 3 are no data, but for names
        where row 1 has none; none if there are no names, and columns are called 1, 2, 3.
    sheet : NAME
        The sheet of an Excel file that is read; each, if every sheet is a rater.
    decimal : CHARACTER
        The decimal comma, if numbers are written with one.
    encoding : NAME
        The encoding of a text file, as cp1252. Default: UTF-8.
    preset : NAME
        The tool that wrote the file. Default: found by the names of the columns; none for no tool.
    keep_totals : bool
        The last rows are items, also where they are named Total, Sum or Mean, or add up the others.
    leave_out : NAMES
        Columns that do not belong to the ratings.
    """

    system: tuple[str, ...] = ()
    truth: str | None = None
    truth_item: str | None = None
    truth_probability: str | None = None
    item: tuple[str, ...] = ()
    rater: str | None = None
    rating: str | None = None
    raters: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    counts: str | None = None
    category_counts: bool = False
    cross_table: bool = False
    cluster: str | None = None
    order: str | None = None
    pair: tuple[str, ...] = ()
    occasion: str | None = None
    repeated: str | None = None
    categories: tuple[Any, ...] = ()
    ordered: bool = False
    missing: tuple[Any, ...] = ()
    fold_case: bool = False
    labels: tuple[Any, ...] = ()
    only: bool = False
    sets: bool = False
    cut: tuple[Any, ...] = ()
    where: Condition | None = None
    split: str | None = None
    header: str | None = None
    sheet: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    preset: str | None = None
    keep_totals: bool = False
    leave_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.categories, str):
            remedy = "give a list of names, as in ['no', 'yes']"
            raise InputError(f"categories is {self.categories!r}", remedy)
        values: dict[str, Any] = {name: _to_tuple(getattr(self, name)) for name in SEVERAL}
        for name in NAMES:
            values[name] = tuple(map(str, values[name]))
        if isinstance(self.labels, Mapping):
            values["labels"] = tuple(f"{text}={label}" for text, label in self.labels.items())
        if isinstance(self.where, str):
            values["where"] = parse_condition(self.where)
        values["header"] = None if self.header is None else str(self.header)
        values["repeated"] = {True: "vote", False: None}.get(self.repeated, self.repeated)  # type: ignore[call-overload]
        if values["repeated"] not in (None, "vote", "first", "last"):
            raise InputError(f"repeated is {self.repeated!r}", "choose among vote, first, last")
        try:
            values["cut"] = tuple(sorted(map(float, values["cut"])))
        except (TypeError, ValueError):
            raise InputError(f"cut is {self.cut!r}", "give numbers, as in 0.5,1") from None
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def to_dict(self) -> dict[str, Any]:
        """Give the options that differ from the default, by name.

        Returns
        -------
        dict

        Examples
        --------
        >>> Reading(item="id", ordered=True).to_dict()
        {'item': ('id',), 'ordered': True}
        """
        values = {option: getattr(self, option.name) for option in fields(self)}
        return {x.name: value for x, value in values.items() if value != x.default}

    def combine_first(self, other: "Reading") -> "Reading":
        """Take from another reading what is not declared here.

        Parameters
        ----------
        other : Reading
            Whose options count where this one has none.

        Returns
        -------
        Reading

        Examples
        --------
        >>> Reading(item="id").combine_first(Reading(item="nr", rater="who")).to_dict()
        {'item': ('id',), 'rater': 'who'}
        """
        return replace(other, **self.to_dict())

    @classmethod
    def from_file(cls, path: str | Path) -> "Reading":
        """Read a TOML file with the names of these parameters as keys.

        Parameters
        ----------
        path : str or Path
            Of the file.

        Returns
        -------
        Reading

        Raises
        ------
        InputError
            If it cannot be read, or has a key that is no parameter.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "reading.toml"
        >>> _ = path.write_text(Reading(item="id", ordered=True).to_toml())
        >>> Reading.from_file(path) == Reading(item="id", ordered=True)
        True
        """
        names = [field.name for field in fields(cls)]
        options = {name.replace("-", "_"): value for name, value in load_options(path).items()}
        for name in options:
            if name not in (*names, LEVEL):
                remedy = suggest(name, names)
                raise InputError(f"{name!r} is not an option of reading", remedy, file=path)
        try:
            return cls(**{name: value for name, value in options.items() if name != LEVEL})
        except InputError as error:
            error.file = path
            raise

    def to_toml(self) -> str:
        """Write the options that differ from the default as the text of a TOML file.

        Returns
        -------
        str

        Examples
        --------
        >>> print(Reading(item="id", raters=["Ann", "Bo"], ordered=True).to_toml())
        item = ["id"]
        raters = ["Ann", "Bo"]
        ordered = true
        """
        # A condition is written as its text.
        kinds: dict[str, Any] = {"ensure_ascii": False, "default": str}
        texts = {name: json.dumps(value, **kinds) for name, value in self.to_dict().items()}
        # JSON leaves this character as it is, and TOML allows it only as an escape.
        return "\n".join(f"{name} = {x}" for name, x in texts.items()).replace("\x7f", "\\u007f")


def load_options(path: str | Path) -> dict[str, Any]:
    """Load a TOML file of options, or raise an InputError."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"it is not read as TOML ({reason})", "correct it", file=path) from None


def _to_tuple(names: Any) -> tuple[Any, ...]:
    if names is None:
        return ()
    several = isinstance(names, Iterable) and not isinstance(names, str | Mapping)
    return tuple(names) if several else (names,)


def to_names(names: Any) -> tuple[str, ...]:
    """Write one name, several or none as a tuple of texts.

    Examples
    --------
    >>> to_names("gpt"), to_names(["gpt", "base"]), to_names(2), to_names(None)
    (('gpt',), ('gpt', 'base'), ('2',), ())
    """
    return tuple(map(str, _to_tuple(names)))
