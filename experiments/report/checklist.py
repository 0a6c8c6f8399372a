"""The STARD-BLCM checklist: a template over the results, with what is left to the author."""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments.report import sentences
from experiments.report.answer import name_warnings
from experiments.report.document import HERE, fill_template, versions
from experiments.report.files import write_text
from experiments.report.style import method_label
from experiments.report.table import Table, simple_table, to_markdown
from experiments.report.views import ANY, View, assumption, make_tables, view_systems
from experiments.report.words import as_options
from lehner.core.errors import InputError
from lehner.core.lazy import load, pd
from lehner.core.text import counted, percent
from lehner.data.ratings import Ratings
from lehner.estimation.results import Results

bayes_models, priors = load("bayes_models"), load("bayes_models.models.spec")

MOST_PATTERNS = 40
NO_ANSWER = "–"


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

    def write_tables(*names: str, **of: Any) -> str:
        return _markdown(
            t for view in each for name in names for t in make_tables(view, name, **of)
        )

    each = view_systems(results, method_label)
    text = fill_template(
        "stard_blcm.md.jinja",
        items=list_items(),
        results=results,
        sentences=sentences.write_sentences(results),
        heading=[as_options(one) for one in sentences.describe_data(results)],
        models=list(_describe_models(results)),
        priors=_markdown(table for view in each for table in _tabulate_priors(view)),
        shared=[one for view in each for one in sentences.on_correlated_errors(view)],
        tables=write_tables,
        any=ANY,
        counts=_markdown(_count_answers(results.ratings)),
        warnings=name_warnings(results.warnings),
        command=command,
        versions=versions(),
        percent=percent,
    )
    folder.mkdir(parents=True, exist_ok=True)
    return write_text(text, folder / "stard_blcm.md")


def list_items() -> list[dict[str, str]]:
    """Read number and topic of each item, and what is left to the author."""
    return list(csv.DictReader((HERE / "stard_blcm.csv").read_text(encoding="utf-8").splitlines()))


def _markdown(tables: Iterable[Table]) -> str:
    return "\n\n".join(map(to_markdown, tables))


def _describe_models(results: Results) -> Iterator[dict[str, Any]]:
    """Describe each fit of a Bayesian model, as it was fitted."""
    several = len(results.ratings.systems) > 1
    for (system, method), estimate in results.fits.items():
        tree = estimate.draws
        if tree is None:
            continue
        ratings = results.ratings.with_system(system) if several else results.ratings
        seen = ratings if tree.attrs["known_truths"] else ratings.with_truth(None)
        yield {
            "name": f"{method_label(method)} of {system}" if several else method_label(method),
            "assumes": assumption(method),
            "told": estimate.diagnostics,
            "populations": seen.populations,
            "identified": bayes_models.identify(method, seen, priors.read_priors(tree)),
            "fit": tree.attrs,
            "sizes": tree["posterior"].sizes,
        }


def _tabulate_priors(view: View) -> list[Table]:
    """Make the table of priors; raters without an earlier study have none of its counts."""
    rows = []
    for method in view.methods:
        draws = view.results.fits[view.system, method].draws
        if draws is None:
            continue
        kept = priors.read_priors(draws)
        studied = view.pick("recall_prior", rater=ANY, method=method)
        raters = ", ".join(dict.fromkeys(row["rater"] for row in studied))
        for variable in bayes_models.find_model(method).variables:
            prior, family = kept[variable.name], variable.family_name.replace("_", " ")
            shown = priors.name_distribution(prior) or f"{family}: {prior}"
            if np.ndim(prior) > 1:
                of = f"counts of earlier studies of {raters}; no study of others"
                shown = of if raters else f"{family}, by category"
            rows.append((method_label(method), variable.name, shown))
    return [simple_table(("model", "variable", "prior"), rows, keys=2)] if rows else []


def _count_answers(ratings: Ratings) -> list[Table]:
    """Count the items that each rated, and the items with the same answers of all."""
    flat = ratings.all_flat
    names = [str(name) for name in ratings.all_raters]
    categories = np.array([str(name) for name in ratings.categories])
    answers = np.full((ratings.n_rows, len(names)), NO_ANSWER, dtype=object)
    answers[flat.item_index, flat.rater_index] = categories[flat.category_index]
    wide = pd.DataFrame(answers, columns=names).assign(items=ratings.weights)
    rated = [(name, int(wide.loc[wide[name] != NO_ANSWER, "items"].sum())) for name in names]
    patterns = wide.groupby(names)["items"].sum().sort_values(ascending=False, kind="stable")
    rows = [(*answers, int(n)) for answers, n in patterns.head(MOST_PATTERNS).items()]
    left = len(patterns) - len(rows)
    notes = [f"{counted(left, 'rarer pattern')} of answers are left out."] if left else []
    table = simple_table([*names, "items"], rows, keys=len(names))
    return [
        simple_table(("rater or system", "items rated"), rated),
        Table(columns=table.columns, rows=table.rows, keys=table.keys, notes=notes),
    ]
