"""How a table of ratings is read: the role of each column, what labels mean, and which rows count.

A condition on rows is written as in Python, `site == 'north' and score >= 3`. Python's parser reads
it, and what is not in the grammar is refused, so that nothing ever runs as code. A name from a file
stands in backticks.
"""

import ast
import keyword
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from math import inf
from operator import eq, ge, gt, le, lt
from typing import Any

from lehner.core.errors import InputError

# Conditions on rows

GRAMMAR = (
    "compare columns with texts, numbers, True or False by ==, !=, <, <=, > and >=, or with lists "
    "of these by in and not in; join comparisons by and, or, not and parentheses; write a name "
    "such as `a b` in backticks; for example: site == 'north' and `age group` not in ['young']"
)
# How a label is compared, where the opposite of what is found is meant by `!=` and `not in`.
OPERATORS: dict[type, Callable[[Any, Any], bool]] = {
    **{ast.Eq: eq, ast.NotEq: eq, ast.In: eq, ast.NotIn: eq},
    **{ast.Lt: lt, ast.LtE: le, ast.Gt: gt, ast.GtE: ge},
}
# A text in quotation marks, or a name in backticks, in which two backticks stand for one.
QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`((?:[^`]|``)*)`""", re.DOTALL)
MOST_NESTED, MOST_SHOWN = 20, 200


def parse_condition(text: str) -> Any:
    """Parse a condition that somebody typed.

    Parameters
    ----------
    text : str

    Returns
    -------
    ast.expr
        The tree of Python's parser, in which a name is that of a column.

    Raises
    ------
    InputError
        If it has something that the grammar does not.

    Examples
    --------
    >>> parse_condition("`asked by` in ['Ann']").left.id
    'asked by'
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
            tree = ast.parse(QUOTED.sub(bind, text).strip(), mode="eval").body
        _check_condition(tree, MOST_NESTED)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise InputError(f"the condition {text[:MOST_SHOWN]!r} cannot be read", GRAMMAR) from None
    for node in _list_names(tree):
        node.id = names.get(node.id, node.id)
    return tree


def _list_names(tree: ast.expr) -> list[ast.Name]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Name)]


def _check_condition(node: ast.expr, depth: int) -> None:
    """Raise a ValueError if the tree of Python's parser is no condition."""
    if isinstance(node, ast.BoolOp | ast.UnaryOp) and depth:
        for part in node.values if isinstance(node, ast.BoolOp) else [node.operand]:
            _check_condition(part, depth - 1)
        if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
            raise ValueError
        return
    if not isinstance(node, ast.Compare) or not isinstance(node.left, ast.Name):
        raise ValueError
    (operator,), (value,) = node.ops, node.comparators
    compare = OPERATORS.get(type(operator))
    if compare is None or isinstance(value, ast.List) != isinstance(operator, ast.In | ast.NotIn):
        raise ValueError
    for constant in read_constants(value):
        is_constant = isinstance(constant, str | int | float) and constant not in (inf, -inf)
        if not is_constant or (isinstance(constant, bool) and compare is not eq):
            raise ValueError


def read_constants(node: ast.expr) -> list[Any]:
    """Read the constant, or the list of constants, with which a column is compared."""
    value = ast.literal_eval(node)  # which calls nothing, despite its name
    return value if isinstance(value, list) else [value]


def list_columns(condition: str) -> list[str]:
    """List the names of the columns in a condition, each once."""
    return list(dict.fromkeys(node.id for node in _list_names(parse_condition(condition))))


def rename_columns(condition: str, rename: Callable[[str], str]) -> str:
    """Give each column in a condition the name that a function makes of its name.

    Examples
    --------
    >>> rename_columns("not `a b` in ['x']", str.upper)
    "not `A B` in ['x']"
    """
    tree = parse_condition(condition)
    for node in _list_names(tree):
        node.id = write_name(rename(node.id))
    return ast.unparse(tree)


def write_name(name: str) -> str:
    """Write the name of a column in a condition."""
    plain = name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
    return name if plain else f"`{name.replace('`', '``')}`"


def join_conditions(word: str, conditions: Iterable[str | None]) -> str:
    """Join conditions, of which some are none, by `and` or `or`."""
    text = f" {word} ".join(f"({condition})" for condition in conditions if condition)
    return rename_columns(text, str)


# Options

NAMES = ("system", "item", "raters", "items", "pair", "leave_out")
# Options with several values, of which those of `NAMES` name columns or raters.
SEVERAL = (*NAMES, "categories", "missing", "labels", "cut")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a file or table of ratings is read.

    Parameters
    ----------
    system : NAMES
        The systems to evaluate: their columns or, where each row is a rating, their names among the
        raters. A file of their answers will do as well, or a file and its column, as in
        answers.csv:gpt.
    truth : NAME
        The column of gold labels, blank where there is none; or, where each row is a rating, the
        rater whose ratings are the gold labels. A file with the columns item and truth will do as
        well, or a file and its column, as in gold.csv:label.
    truth_item : NAME
        The column that names the items in a file of gold labels or of systems' answers. Default: it
        has the same name as in the ratings file.
    truth_probability : NAME
        The column of the probability, above 0, with which each item was chosen to get its gold
        label. Each gold label is then weighted by the inverse of this probability.
    item : NAMES
        The column that names the items. If several are named, their values are joined to one name.
    rater : NAME
        The column that names the raters, where each row is a rating or, with --items, a rater.
    rating : NAME
        The column of the ratings, where each row is a rating. Several columns, as in cat,dog,none,
        or a pattern such as 'Answer.*', are boxes, of which one is ticked in each row.
    raters : NAMES
        The raters' columns, or patterns such as 'Q*'; where each row is a rating, the names of the
        raters to read. In a JSON file, 'labels.*' stands for the labels in a list. Default: all
        raters, or all columns without another role.
    items : NAMES
        The items' columns, or patterns such as 'Q*', where each row is a rater.
    counts : NAME
        The column that says how many items each row stands for.
    category_counts : bool
        Each column is a category, and each cell says how many raters chose it for the item.
    cluster : NAME
        The column that names the cluster of each item, such as the patient of a lesion, the
        conversation of an answer, or the question that was answered several times. Intervals then
        allow for the likeness of a cluster's items.
    order : NAME
        The column that says in which order (AB or BA) a judge saw two answers. A judge whose
        preference changes with the order has no vote.
    pair : NAMES
        The two columns that name the two answers that were compared. The item is then the pair, and
        the order in which its answers were shown is allowed for.
    occasion : NAME
        The column that tells a rater's repeated ratings of an item apart, such as their date.
    repeated : CHOICE
        Which rating counts where a rater rated an item more than once: the most frequent one (vote;
        none if two are equally frequent), the first, or the last. Default: such a file is refused.
    categories : NAMES
        All categories, in their order. Default: those that occur, sorted.
    ordered : bool
        The categories are ordered, as grades are, and not only named.
    missing : NAMES
        Labels that stand for a missing rating, besides blanks, NA, N/A, NaN and null.
    labels : NAMES
        Which text of the file is which category, as in '[[A]]=A,A.=A'.
    sets : bool
        Each cell is a list of labels, such as "[1, 2]" or "a, b". Each set of labels is a category.
    cut : NUMBERS
        The ratings are scores, which are cut into categories at these numbers. A score at a cut
        belongs to the category above it.
    where : CONDITION
        The condition that a row must meet to be read, as in "status == 'submitted'". Comparisons
        (==, !=, <, <=, >, >=, in, not in) are joined by and, or, not; a name such as `a b` stands
        in backticks.
    header : ROWS
        The row with the names of the columns. 1-3 says that rows 2 and 3 hold no data, and complete
        the names if row 1 has gaps; none says that there are no names, and the columns are called
        1, 2, 3.
    sheet : NAME
        The sheet of an Excel file to read, or each if every sheet is a rater. Default: the first.
    decimal : CHARACTER
        The decimal comma (--decimal ,), if numbers are written with one.
    encoding : NAME
        The encoding of a text file, such as cp1252. Default: UTF-8.
    preset : NAME
        The tool that wrote the file, or none. Default: the names of the columns show it.
    keep_totals : bool
        Rows at the end are items, even if they are named Total, Sum or Mean, or add up the others.
        Default: such a file is refused.
    leave_out : NAMES
        The columns that do not belong to the ratings.
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
    cluster: str | None = None
    order: str | None = None
    pair: tuple[str, ...] = ()
    occasion: str | None = None
    repeated: str | None = None
    categories: tuple[Any, ...] = ()
    ordered: bool = False
    missing: tuple[Any, ...] = ()
    labels: tuple[Any, ...] = ()
    sets: bool = False
    cut: tuple[Any, ...] = ()
    where: str | None = None
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
        if self.where is not None:
            values["where"] = rename_columns(self.where, str)
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
