"""The STARD-BLCM checklist: a template over the results, with what is left to the author."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lehner.core.errors import InputError
from lehner.core.lazy import pd
from lehner.core.results import Results
from lehner.core.text import pluralise, to_percent
from lehner.data.ratings import Ratings
from lehner.estimation.methods import get_method
from lehner.report import sentences
from lehner.report.answer import HERE, fill_template, name_warnings
from lehner.report.files import list_versions, write_text
from lehner.report.style import name_method
from lehner.report.table import Column, Table, make_table, to_markdown
from lehner.report.terminal import to_options
from lehner.report.views import ANY, View, tabulate, view_systems

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
    if all(get_method(method).describe is None for _, method in results.fits):
        problem = "the checklist is for Bayesian latent class models, and no method is one"
        raise InputError(problem, "add one, as dawid_skene")
    each = view_systems(results, name_method)
    described = [list(_describe_models(view)) for view in each]

    def write_tables(*names: str, **of: Any) -> str:
        return _write(t for view in each for name in names for t in tabulate(view, name, **of))

    items = (HERE / "stard_blcm.csv").read_text(encoding="utf-8").splitlines()
    text = fill_template(
        "stard_blcm.md.jinja",
        items=csv.DictReader(items),
        results=results,
        sentences=map(sentences.write_sentence, each),
        heading=list(map(to_options, sentences.describe_data(each[0]))),
        models=[model for models in described for model in models],
        priors=_write(map(_tabulate_priors, described)),
        shared=[text for view in each for text in sentences.read_correlated_errors(view)],
        tables=write_tables,
        any=ANY,
        counts=_write(_count_answers(results.ratings)),
        warnings=name_warnings(results.warnings),
        command=command,
        versions=list_versions(),
        to_percent=to_percent,
    )
    folder.mkdir(parents=True, exist_ok=True)
    return write_text(text, folder / "stard_blcm.md")


def _write(tables: Iterable[Table]) -> str:
    return "\n\n".join(to_markdown(table) for table in tables if table.rows)


def _describe_models(view: View) -> Iterator[dict[str, Any]]:
    """Describe each fit of a Bayesian model, as it was fitted."""
    ratings = view.results.ratings
    several = len(ratings.systems) > 1
    for method in view.methods:
        estimate, describe = view.results.fits[view.system, method], get_method(method).describe
        tree = estimate.draws
        if tree is None or describe is None:
            continue
        own = ratings.with_system(view.system) if several else ratings
        seen = own if tree.attrs["known_truths"] else own.with_truth(None)
        described = describe(estimate, seen)
        yield {
            "method": name_method(method),
            "name": f"{name_method(method)} of {view.system}" if several else name_method(method),
            "assumes": get_method(method).assumes,
            "told": estimate.diagnostics,
            "populations": seen.populations,
            "identified": described["identified"],
            "priors": described["priors"],
            "fit": tree.attrs,
            "sizes": tree["posterior"].sizes,
        }


def _tabulate_priors(models: Iterable[Mapping[str, Any]]) -> Table:
    """Make the table of priors; raters without an earlier study have none of its counts."""
    rows = [(own["method"], *prior) for own in models for prior in own["priors"].items()]
    return make_table(("model", "variable", "prior"), rows, keys=2)


def _count_answers(ratings: Ratings) -> list[Table]:
    """Count the items that each rated, and the items with the same answers of all."""
    names = [str(name) for name in ratings.all_raters]
    labels = np.array([*map(str, ratings.categories), NO_ANSWER])
    codes, votes = np.full((ratings.n_rows, len(names)), -1), ratings.all_votes
    codes[votes.item_index, votes.rater_index] = votes.category_index
    wide = pd.DataFrame(labels[codes], columns=names).assign(items=ratings.weights)
    rated = [(name, int(wide.loc[wide[name] != NO_ANSWER, "items"].sum())) for name in names]
    patterns = wide.groupby(names)["items"].sum().sort_values(ascending=False, kind="stable")
    rows = [(*pattern, int(n)) for pattern, n in patterns.head(MOST_PATTERNS).items()]
    left = len(patterns) - len(rows)
    notes = [f"{pluralise(left, 'rarer pattern')} of answers are left out."] if left else []
    columns = list(map(Column, [*names, "items"]))
    return [
        make_table(("rater or system", "items rated"), rated),
        Table(columns=columns, rows=rows, keys=len(names), notes=notes),
    ]
