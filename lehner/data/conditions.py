"""Conditions on the rows of a table: a small grammar, of which nothing ever runs as code.

A condition is written as in Python, `site == 'north' and score >= 3`. Python's parser reads it, and
what is not in the grammar is refused. A name from a file is put into a condition, never into text.
"""

import ast
import keyword
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf

from lehner.core.errors import InputError

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
    if isinstance(condition, Joined):
        names = [name for part in condition.parts for name in list_columns(part)]
    else:
        both = (condition.column, condition.value)
        names = [side.name for side in both if isinstance(side, Name)]
    return list(dict.fromkeys(names))


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
