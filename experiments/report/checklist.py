"""The STARD-BLCM checklist: a template over the results, with what is left to the author."""

import csv
import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np

from experiments.report import models, views
from experiments.report.answer import name_warnings
from experiments.report.report import heading
from experiments.report.sentences import on_shared_mistakes, write_sentences
from experiments.report.views import View, assumption, view_systems
from experiments.reporting.files import write_text
from experiments.reporting.method_style import method_label
from experiments.reporting.options import as_options
from experiments.reporting.origin import versions
from experiments.reporting.renderers import to_markdown
from experiments.reporting.table import Table, simple_table
from lehner.core.errors import InputError
from lehner.core.lazy import load
from lehner.core.text import percent
from lehner.estimation.results import Results

jinja2 = load("jinja2")

HERE = Path(__file__).parent
MOST_PATTERNS = 40
EQUATIONS = re.compile(r"\.\. math::(?: (.+)|\n+((?: {4}.*\n|\n)+))")


def write_checklist(results: Results, folder: Path, command: str) -> Path:
    """Write the checklist as Markdown.

    Parameters
    ----------
    results : Results
        With a Bayesian model among the methods.
    folder : Path
        Made if it is not there.
    command : str
        As a shell takes it.

    Returns
    -------
    Path
        `stard_blcm.md`.

    Raises
    ------
    InputError
        If no method is a Bayesian model.

    References
    ----------
    Kostoulas et al. (2017), https://doi.org/10.1016/j.prevetmed.2017.01.006
    """
    if all(one.draws is None for one in results.fits.values()):
        raise InputError(
            "the checklist is for Bayesian latent class models, and no method is one",
            "add one, as dawid_skene",
        )
    template = jinja2.Template(
        (HERE / "stard_blcm.md.jinja").read_text(encoding="utf-8"),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    each = view_systems(results, method_label)
    text = template.render(
        items=list_items(),
        results=results,
        sentences=write_sentences(results),
        heading=[as_options(one) for one in heading(results)],
        models=list(_models(results)),
        priors=_markdown([_priors(results)]),
        shared=[one for view in each for one in on_shared_mistakes(view)],
        sensitivity=_markdown(t for view in each for t in _sensitivity(view)),
        prevalence=_markdown(t for view in each for t in _base_rates(view)),
        estimates=_markdown(t for view in each for t in _estimates(view)),
        rated=_markdown([_rated(results)]),
        cross_table=_markdown([_cross_table(results)]),
        warnings=[as_options(one) for one in name_warnings(results.warnings)],
        command=command,
        versions=versions(),
    )
    folder.mkdir(parents=True, exist_ok=True)
    return write_text(text, folder / "stard_blcm.md")


def list_items() -> list[dict[str, str]]:
    """Read number and topic of each item, and what is left to the author."""
    return list(csv.DictReader((HERE / "stard_blcm.csv").read_text(encoding="utf-8").splitlines()))


def _markdown(tables: Iterable[Table]) -> str:
    return "\n\n".join(map(to_markdown, tables))


def _models(results: Results) -> Iterator[dict[str, Any]]:
    """Describe each fit of a Bayesian model, as it was fitted."""
    from bayes_models import identify
    from bayes_models.models.priors import kept_priors
    from bayes_models.models.spec import find_model

    several = len(results.ratings.systems) > 1
    for (system, method), estimate in results.fits.items():
        tree = estimate.draws
        if tree is None:
            continue
        document = inspect.getdoc(find_model(method).build) or ""
        equations = EQUATIONS.search(document)
        seen = _ratings_of(results, system)
        found = identify(method, seen, kept_priors(tree))
        yield {
            "name": f"{method_label(method)} of {system}" if several else method_label(method),
            "assumes": assumption(method),
            "pair": " and ".join(estimate.diagnostics.get("dependent_pair", {}).get("pair", ())),
            "populations": ", ".join(map(str, seen.populations)),
            "equations": dedent(equations[1] or equations[2]).strip("\n") if equations else "",
            "parameters": found.parameters,
            "degrees_of_freedom": found.degrees_of_freedom,
            "too_few": percent(found.too_few, 0),
            "said": [one.text for one in found.warnings()],
            "engine": tree.attrs["engine"],
            "seed": tree.attrs["seed"],
            "chains": tree["posterior"].sizes["chain"],
            "draws": tree["posterior"].sizes["draw"],
            **{name: estimate.diagnostics[name] for name in ("r_hat", "ess_bulk", "ess_tail")},
        }


def _ratings_of(results: Results, system: str) -> Any:
    ratings = results.ratings
    truths = any(
        tree is not None and tree.attrs["known_truths"]
        for tree in (one.draws for one in results.fits.values())
    )
    own = ratings if len(ratings.systems) == 1 else ratings.with_system(system)
    return own if truths else own.with_truth(None)


def _priors(results: Results) -> Table:
    from bayes_models.models.priors import distribution_name, kept_priors
    from bayes_models.models.spec import find_model

    rows = []
    for (_, method), estimate in results.fits.items():
        if estimate.draws is None:
            continue
        kept = kept_priors(estimate.draws)
        studies = "earlier_studies" in estimate.diagnostics
        for variable in find_model(method).variables:
            prior, family = kept[variable.name], variable.family_name.replace("_", " ")
            if distribution_name(prior):
                shown = distribution_name(prior)
            elif family == "answers":
                shown = "counts of earlier studies" if studies and np.any(prior) else "none"
            elif np.ndim(prior) > 1:
                shown = "counts of earlier studies" if studies else f"{family}, by category"
            else:
                shown = f"{family}: {prior}"
            rows.append((method_label(method), variable.name, shown))
    return simple_table(("model", "variable", "prior"), list(dict.fromkeys(rows)), keys=2)


def _sensitivity(view: View) -> Iterator[Table]:
    yield from models.earlier_studies(view)
    yield from models.dependent_pair(view)
    yield from views.misled(view)


def _base_rates(view: View) -> Iterator[Table]:
    yield from views.groups(view, "population")
    yield from views.by_category(view)


def _estimates(view: View) -> Iterator[Table]:
    yield from views.accuracies(view)
    yield from views.tests(view)


def _rated(results: Results) -> Table:
    """Count the items that each rater and each system rated."""
    flat, ratings = results.ratings.all_flat, results.ratings
    rows = []
    for place, name in enumerate(ratings.all_raters):
        items = np.unique(flat.item_index[flat.rater_index == place])
        rows.append((str(name), int(ratings.weights[items].sum())))
    return simple_table(("rater or system", "items rated"), rows)


def _cross_table(results: Results) -> Table:
    """Count items by all answers, or, of many patterns, by two answers."""
    ratings, flat = results.ratings, results.ratings.all_flat
    names = [*map(str, ratings.categories), "–"]
    answers = np.full((ratings.n_rows, len(ratings.all_raters)), len(names) - 1)
    answers[flat.item_index, flat.rater_index] = flat.category_index
    patterns, which = np.unique(answers, axis=0, return_inverse=True)
    counts = np.bincount(which.ravel(), ratings.weights).astype(int)
    if len(patterns) <= MOST_PATTERNS:
        rows = [(*(names[k] for k in one), int(n)) for one, n in zip(patterns, counts, strict=True)]
        heads = [*map(str, ratings.all_raters), "items"]
        return simple_table(heads, rows, keys=len(heads) - 1)
    rows = []
    for place, rater in enumerate(ratings.all_raters[:-1]):
        table = np.zeros((len(names), len(names)), dtype=int)
        np.add.at(table, (patterns[:, -1], patterns[:, place]), counts)
        rows += [(str(rater), names[k], *map(int, row)) for k, row in enumerate(table)]
    return simple_table(("rater", str(ratings.all_raters[-1]), *names), rows, keys=2)
