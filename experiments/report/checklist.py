"""The STARD-BLCM checklist: a template over the results, with what is left to the author."""

import csv
import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np

from experiments.report import sentences
from experiments.report.answer import name_warnings
from experiments.report.details import make_tables
from experiments.report.document import HERE, fill_template, versions
from experiments.report.files import write_text
from experiments.report.options import as_options
from experiments.report.style import method_label
from experiments.report.table import Table, simple_table, to_markdown
from experiments.report.views import ANY, View, assumption, view_systems
from lehner.core.errors import InputError
from lehner.core.lazy import pd
from lehner.core.text import percent
from lehner.estimation.results import Results

MOST_PATTERNS = 40
NO_ANSWER = "–"
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

    def write_tables(*names: str, **of: Any) -> str:
        return _markdown(t for view in each for name in names for t in make_tables(view, name, of))

    each = view_systems(results, method_label)
    answers = _collect_answers(results)
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
        rated=to_markdown(_count_rated(answers)),
        cross_table=to_markdown(_tabulate_answers(answers)),
        warnings=[as_options(one) for one in name_warnings(results.warnings)],
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
    from bayes_models import identify
    from bayes_models.models.priors import kept_priors
    from bayes_models.models.spec import find_model

    several = len(results.ratings.systems) > 1
    for (system, method), estimate in results.fits.items():
        tree = estimate.draws
        if tree is None:
            continue
        ratings = results.ratings.with_system(system) if several else results.ratings
        seen = ratings if tree.attrs["known_truths"] else ratings.with_truth(None)
        equations = EQUATIONS.search(inspect.getdoc(find_model(method).build) or "")
        yield {
            "name": f"{method_label(method)} of {system}" if several else method_label(method),
            "assumes": assumption(method),
            "told": estimate.diagnostics,
            "populations": seen.populations,
            "equations": dedent(equations[1] or equations[2]).strip("\n") if equations else "",
            "identified": identify(method, seen, kept_priors(tree)),
            "fit": tree.attrs,
            "sizes": tree["posterior"].sizes,
        }


def _tabulate_priors(view: View) -> list[Table]:
    """Make the table of priors; raters without an earlier study have none of its counts."""
    from bayes_models.models.priors import distribution_name, kept_priors
    from bayes_models.models.spec import find_model

    rows = []
    for method in view.methods:
        draws = view.results.fits[view.system, method].draws
        if draws is None:
            continue
        kept = kept_priors(draws)
        studied = view.pick("recall_prior", rater=ANY, method=method)
        raters = ", ".join(dict.fromkeys(row["rater"] for row in studied))
        for variable in find_model(method).variables:
            prior, family = kept[variable.name], variable.family_name.replace("_", " ")
            shown = distribution_name(prior) or f"{family}: {prior}"
            if family == "answers" and not np.any(prior):
                shown = "none"
            elif np.ndim(prior) > 1:
                shown = f"{family}, by category"
                shown = (
                    f"counts of earlier studies of {raters}; no study of others"
                    if raters
                    else shown
                )
            rows.append((method_label(method), variable.name, shown))
    return [simple_table(("model", "variable", "prior"), rows, keys=2)] if rows else []


def _collect_answers(results: Results) -> Any:
    """Answers of all raters, a column for each, with the number of items in the last column."""
    ratings, flat = results.ratings, results.ratings.all_flat
    names = np.array([str(name) for name in ratings.all_raters])
    categories = np.array([str(name) for name in ratings.categories])
    columns = {
        "item": flat.item_index,
        "rater": names[flat.rater_index],
        "answer": categories[flat.category_index],
    }
    long = pd.DataFrame(columns).drop_duplicates(["item", "rater"], keep="last")
    wide = long.pivot(index="item", columns="rater", values="answer")
    wide = wide.reindex(index=range(ratings.n_rows), columns=names).fillna(NO_ANSWER)
    return wide.assign(items=ratings.weights.astype(int))


def _count_rated(answers: Any) -> Table:
    rows = [
        (name, int(answers.loc[answers[name] != NO_ANSWER, "items"].sum()))
        for name in answers.columns[:-1]
    ]
    return simple_table(("rater or system", "items rated"), rows)


def _tabulate_answers(answers: Any) -> Table:
    """Count items by all answers, or, of many patterns, by two answers."""
    *names, last, _ = answers.columns
    counts = answers.groupby([*names, last], sort=True)["items"].sum().reset_index()
    if len(counts) <= MOST_PATTERNS:
        rows = [(*row[:-1], int(row[-1])) for row in counts.itertuples(index=False)]
        return simple_table([*names, last, "items"], rows, keys=len(names) + 1)
    heads = sorted(set(answers[last]))
    rows = []
    for name in names:
        table = answers.pivot_table("items", name, last, aggfunc="sum", fill_value=0)
        rows += [(name, row[0], *map(int, row[1:])) for row in table.itertuples()]
    return simple_table(("rater", str(last), *heads), rows, keys=2)
