"""The fields of a study file, as the code that reads it defines and describes them."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from inspect import getdoc
from typing import Any

import bayes_models
import lehner
from bayes_models.sampling.fit import FOR_STUDIES
from lehner import Scenario, Study
from lehner.command.options import DESCRIPTION
from lehner.core.table import PrintedTable, TableColumn, to_markdown
from lehner.estimation.methods import find_method
from lehner.study.definition import KEYS, REQUIRED, choose_method, list_options

KINDS = {
    "algebraic": ("algebraic", lehner.estimate_algebraic),
    "by likelihood": ("dawid_skene_ml", lehner.estimate_latent_class),
    "learned_prior": ("learned_prior", lehner.estimate_learned_prior),
    "Bayesian": ("dawid_skene", bayes_models.fit),
}
"""A method of each kind, and the function whose options it takes."""


def study_fields() -> Iterator[tuple[str, str]]:
    """Tables of the keys of a study, the options of methods and the fields of scenarios."""
    keys = [(name, *_described(Study, name)) for name in KEYS]
    yield "study_keys", _table("key", keys)
    rows = []
    for kind, (name, function) in KINDS.items():
        parameters = inspect.signature(function).parameters.values()
        defaults = {parameter.name: parameter.default for parameter in parameters}
        described = re.findall(r"^([\w, ]+) : .+\n((?: {4}.+\n?)+)", getdoc(function) or "", re.M)
        meaning = {name: text for names, text in described for name in names.split(", ")}
        if kind == "Bayesian":
            defaults |= FOR_STUDIES
        defaults |= dict(choose_method(name).options)
        rows += [
            (kind, f"`{option}`", _written(defaults.get(option)), " ".join(meaning[option].split()))
            for option in list_options(find_method(name))
        ]
    head = ("methods", "option", "default", "what it is")
    yield (
        "study_options",
        to_markdown(PrintedTable(columns=list(map(TableColumn, head)), rows=rows, keys=2)),
    )
    scenario = [(field.name, *_described(Scenario, field.name)) for field in fields(Scenario)]
    yield "study_scenario", _table("field", scenario)


def _table(key: str, rows: list[tuple[str, str, str, str]]) -> str:
    columns = [
        TableColumn(key, names="`{}`".format),
        *map(TableColumn, ("value", "default", "what it is")),
    ]
    return to_markdown(PrintedTable(columns=columns, rows=rows))


def _described(record: type[Any], name: str) -> tuple[str, str, str]:
    """Give the values of a field, its default and what the docstring says of it."""
    (kind, text), *_ = (
        rest for field, *rest in DESCRIPTION.findall(getdoc(record) or "") if field == name
    )
    default = next(field.default for field in fields(record) if field.name == name)
    needed = record is Study and name in REQUIRED
    written = "needed" if needed else _written(default)
    kind = re.sub(r"^str$", "text", kind.removesuffix(", optional")).replace("tuple", "list")
    return re.sub("[{}]", "", kind), written, " ".join(text.split())


def _written(default: object) -> str:
    if default in (None, (), ""):
        return "none"
    return f"`{list(default) if isinstance(default, tuple) else default}`"
