"""Public docstrings name every parameter, say what is returned, and have an example that runs."""

import importlib
import inspect
import pkgutil
import re
from functools import cached_property

import pytest

PACKAGES = ("lehner", "bayes_models", "experiments.study", "experiments.paper", "experiments.atlas")
USED_IN_NOTEBOOKS = (
    "experiments.atlas.atlas_figure:plot_violation",
    "experiments.estimate.comparison:compare",
    "experiments.estimate.comparison_figure:plot_intervals",
    "experiments.estimate.methods:list_methods",
    "experiments.paper.bias_figure:plot_figure",
    "experiments.paper.readings:score_readings",
    "experiments.paper.replication:kappas_together",
    "experiments.paper.replication:replication_table",
    "experiments.study.study_figures:plot_bias",
    "experiments.study.study_figures:plot_nested_loop",
)
# Other classes are results, which functions give, or warnings.
MADE_BY_USERS = ("lehner:InputError", "lehner:IntervalEstimate", "lehner:Ratings", "lehner:Scenario")
HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^(\S.*)\n((?:    .*\n|\n)*)", re.MULTILINE)
RUNS = re.compile(r"^>>> (?!import |from |.*doctest: \+SKIP)", re.MULTILINE)
NAME = re.compile(r"`((?:lehner|bayes_models|experiments)\.[\w.]+)`")


def public(name):
    """Give what is public by its name: functions, classes, and their methods and properties."""
    thing = pkgutil.resolve_name(name)
    found = {name: thing} if callable(thing) else {}
    if not inspect.isclass(thing) or issubclass(thing, Warning):
        return found
    for member, value in vars(thing).items():
        function = getattr(value, "fget", None) or getattr(value, "__func__", value)
        if isinstance(value, cached_property):
            function = value.func
        if not member.startswith("_") and inspect.isfunction(function):
            found[f"{name}.{member}"] = function if function is value else value
    return found


def all_public():
    exported = [f"{pkg}:{n}" for pkg in PACKAGES for n in importlib.import_module(pkg).__all__]
    return {k: v for name in (*exported, *USED_IN_NOTEBOOKS) for k, v in public(name).items()}


PUBLIC = all_public()


def sections(docstring):
    """Split a numpydoc docstring into its sections by heading."""
    parts = HEADING.split(docstring + "\n")
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def described(section):
    """Read the entries of a section: descriptions by name, `lower, upper : float` being two."""
    entries = {}
    for head, description in ENTRY.findall(section):
        for name in head.split(" : ")[0].split(", "):
            entries[name.strip("*")] = description.strip()
    return entries


def is_property(thing):
    return isinstance(thing, property | cached_property)


def signature(thing):
    return inspect.signature(getattr(thing, "__func__", thing))


def parameters(thing):
    """Name the parameters that users may give."""
    names = signature(thing).parameters
    return {name for name in names if name not in ("self", "cls") and not name.startswith("_")}


def test_sections_and_entries_are_read():
    docstring = "Do it.\n\nParameters\n----------\na, b : int\n    Two.\n**c\n\nReturns\n-------\nint"
    found = sections(docstring)
    assert list(found) == ["Parameters", "Returns"]
    assert described(found["Parameters"]) == {"a": "Two.", "b": "Two.", "c": ""}


@pytest.mark.parametrize("name", PUBLIC)
def test_summary_is_one_sentence_in_a_line(name):
    summary = inspect.getdoc(PUBLIC[name]).split("\n\n")[0]
    assert re.fullmatch(r"[^\n]+\.", summary)


@pytest.mark.parametrize("name", [n for n, thing in PUBLIC.items() if not is_property(thing)])
def test_parameters_and_returns_are_those_of_the_signature(name):
    thing = PUBLIC[name]
    if inspect.isclass(thing) and issubclass(thing, Warning):
        return
    found = sections(inspect.getdoc(thing))
    entries = described(found.get("Parameters", ""))
    assert set(entries) == parameters(thing)
    assert all(entries.values()), [entry for entry, text in entries.items() if not text]
    nothing = inspect.isclass(thing) or signature(thing).return_annotation in (None, "None")
    assert nothing or {"Returns", "Yields"} & set(found)


@pytest.mark.parametrize(
    "name", [n for n, thing in PUBLIC.items() if inspect.isfunction(thing) and "." not in n.split(":")[1]]
)
def test_functions_have_an_example_that_runs(name):
    assert RUNS.search(sections(inspect.getdoc(PUBLIC[name])).get("Examples", ""))


@pytest.mark.parametrize("name", MADE_BY_USERS)
def test_what_users_make_has_an_example(name):
    assert RUNS.search(sections(inspect.getdoc(PUBLIC[name])).get("Examples", ""))


@pytest.mark.parametrize("name", PUBLIC)
def test_names_in_docstrings_exist(name):
    for other in NAME.findall(inspect.getdoc(PUBLIC[name])):
        pkgutil.resolve_name(other)
