"""Public docstrings name every parameter, what is returned and raised, and show what runs."""

import ast
import importlib
import inspect
import io
import pkgutil
import re
import tokenize
from collections import defaultdict
from functools import cached_property
from pathlib import Path

import pytest

PACKAGES = ("lehner", "bayes_models", "lehner.study", "experiments.paper")
USED_IN_NOTEBOOKS = (
    "lehner.report.figures:draw_methods",
    "lehner.estimation.methods:list_methods",
    "experiments.paper.__main__:combine_kappas",
)
# Other classes are warnings, or results that functions give.
MADE_BY_USERS = ("InputError", "IntervalEstimate", "Ratings", "Scenario", "Study")
HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
STRAY_HEADING = re.compile(r"\S -{4,}|-{4,} \S")
ENTRY = re.compile(r"^(\S.*)\n((?:    .*\n|\n)*)", re.MULTILINE)
RUNS = re.compile(r"^>>> (?!import |from |.*doctest: \+SKIP)", re.MULTILINE)
RAISES = re.compile(
    r"\braise [\w.]+\(|\b(check|require)_\w+\(|\bfind(_(methods?|model|pair|positive))?\("
    r"|\bmake_rng\(|\bobserve\("
)
NAME = re.compile(r"`((?:lehner|bayes_models|experiments)\.[\w.]+)`")


def list_public(name):
    """List what is public by its name: a function, or a class and its members."""
    thing = pkgutil.resolve_name(name)
    if not callable(thing):
        return {}
    if not inspect.isclass(thing):
        return {name: thing}
    members = {
        f"{name}.{member}": getattr(value, "__func__", value)
        for member, value in vars(thing).items()
        if not member.startswith("_")
    }
    described = (property, cached_property)
    return {name: thing} | {
        member: value
        for member, value in members.items()
        if inspect.isfunction(value) or isinstance(value, described)
    }


EXPORTED = [f"{pkg}:{n}" for pkg in PACKAGES for n in importlib.import_module(pkg).__all__]
PUBLIC = {k: v for name in (*EXPORTED, *USED_IN_NOTEBOOKS) for k, v in list_public(name).items()}
FUNCTIONS = [name for name, thing in PUBLIC.items() if inspect.isfunction(thing)]
CLASSES = [
    name
    for name, thing in PUBLIC.items()
    if inspect.isclass(thing) and not issubclass(thing, Warning)
]


def sections(docstring):
    """Split a numpydoc docstring into its sections by heading."""
    parts = HEADING.split(docstring + "\n")
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def entries(section):
    """Read the descriptions in a section by name, `lower, upper : float` being two."""
    return {
        name.strip("*"): description.strip()
        for head, description in ENTRY.findall(section)
        for name in head.split(" : ")[0].split(", ")
    }


def sections_of(name):
    return sections(inspect.getdoc(PUBLIC[name]))


def test_sections_and_entries_are_read():
    docstring = "Do it.\n\nParameters\n----------\na, b : int\n    Two.\n**c\n\nReturns\n-------\nx"
    result = sections(docstring)
    assert list(result) == ["Parameters", "Returns"]
    assert entries(result["Parameters"]) == {"a": "Two.", "b": "Two.", "c": ""}


@pytest.mark.parametrize("name", PUBLIC)
def test_summary_is_one_line_and_headings_stand_alone(name):
    docstring = inspect.getdoc(PUBLIC[name])
    assert re.fullmatch(r"[^\n]+\.", docstring.split("\n\n")[0])
    assert not STRAY_HEADING.search(docstring)


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_parameters_are_those_of_the_signature_and_each_is_described(name):
    taken = inspect.signature(PUBLIC[name]).parameters
    public = {arg for arg in taken if arg not in ("self", "cls") and not arg.startswith("_")}
    described = entries(sections_of(name).get("Parameters", ""))
    assert set(described) == public
    assert all(described.values()), described


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_returned_is_described(name):
    result = sections_of(name)
    nothing = inspect.signature(PUBLIC[name]).return_annotation in (None, "None")
    assert nothing or {"Returns", "Yields"} & set(result)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_are_described_where_arguments_are_checked(name):
    code = inspect.getsource(PUBLIC[name]).rpartition('"""')[2]
    assert not RAISES.search(code) or "InputError" in sections_of(name)["Raises"]


@pytest.mark.parametrize(
    "name",
    [name for name in FUNCTIONS if "." not in name.partition(":")[2]]
    + [f"lehner:{name}" for name in MADE_BY_USERS],
)
def test_what_users_call_has_an_example_that_runs(name):
    assert RUNS.search(sections_of(name)["Examples"])


@pytest.mark.parametrize("name", PUBLIC)
def test_names_in_docstrings_exist(name):
    for other in NAME.findall(inspect.getdoc(PUBLIC[name])):
        pkgutil.resolve_name(other)


ROOT = Path(__file__).parents[1]
FOLDERS = ("lehner", "bayes_models", "experiments")
SOURCES = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
UNDOTTED = re.compile(r"(?<![`:])`([A-Za-z_]\w*)(?:\(\))?`(?!`)")
# Columns and rows whose names are put together of others.
PUT_TOGETHER = re.compile(r"\w+_(estimate|chance|if_(all|raters)_misled)")
# What is also a command has the name of the function that it calls.
COMMANDS = "agreement compare draw estimate gate label main".split()


def test_undotted_names_in_docstrings_exist():
    docstrings, words = {}, set()
    for path in SOURCES:
        source = path.read_text(encoding="utf-8")
        documented = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                if ast.get_docstring(node) is not None:
                    docstrings[path, node.body[0].lineno] = ast.get_docstring(node)
                    documented |= {*range(node.body[0].lineno, node.body[0].end_lineno + 1)}
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.start[0] not in documented and token.type != tokenize.COMMENT:
                words |= set(re.findall(r"\w+", token.string))
    for table in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.toml")):
        words |= set(re.findall(r"\w+", table.read_text(encoding="utf-8")))
    named = {(where, name) for where, text in docstrings.items() for name in UNDOTTED.findall(text)}
    gone = {(where, name) for where, name in named if name not in words}
    assert not {(where, name) for where, name in gone if not PUT_TOGETHER.fullmatch(name)}


def test_a_public_name_has_one_meaning():
    modules = defaultdict(list)
    for path in SOURCES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.TypeAlias):
                name = node.name.id if isinstance(node, ast.TypeAlias) else node.name
                modules[name].append(path)
    twice = {name for name, paths in modules.items() if len(paths) > 1 and name[0] != "_"}
    assert twice <= set(COMMANDS)
