"""The STARD-BLCM checklist: its items filled in from Bayesian estimates, or left to the author."""

import csv
import inspect
import io
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.estimate import details, methods, raters, sensitivity
from experiments.estimate.dependent_pair import pair_tables
from experiments.estimate.earlier_studies import study_tables
from experiments.estimate.page import warning_blocks
from experiments.estimate.sentence import sentences
from experiments.reporting.data_notes import data_notes, header_lines
from experiments.reporting.document import (
    Block,
    Heading,
    Paragraph,
    Screen,
    to_html,
    to_markdown,
)
from experiments.reporting.files import write_text
from experiments.reporting.method_style import method_label
from experiments.reporting.options import as_options
from experiments.reporting.origin import origin, versions
from experiments.reporting.table import Cell, simple_table
from lehner import Comparison, InputError
from lehner.core.text import counted, percent
from lehner.estimation.methods import get_method
from lehner.estimation.result import MethodResult, SystemResult

if TYPE_CHECKING:
    import pandas as pd

MOST_PATTERNS = 40
EQUATIONS = re.compile(r"\.\. math::(?: (.+)|\n+((?: {4}.*\n|\n)+))")
FILE = Path(__file__).with_name("stard_blcm.csv")
"""Number and topic of each item, and what is left to the author."""


def write_checklist(
    comparison: Comparison, folder: Path, command: str, files: Iterable[Path]
) -> list[Path]:
    """Write the checklist as Markdown and as an HTML page.

    Parameters
    ----------
    comparison : Comparison
        As `lehner.estimate` returns it, with a Bayesian model among its methods.
    folder : Path
        Made if it is not there.
    command : str
        As a shell takes it.
    files : iterable of Path
        What it read.

    Returns
    -------
    list of Path
        `stard_blcm.md` and `stard_blcm.html`.

    Raises
    ------
    InputError
        If no method is a Bayesian model.

    References
    ----------
    Kostoulas et al. (2017), https://doi.org/10.1016/j.prevetmed.2017.01.006
    """
    title = f"STARD-BLCM: {Path(comparison.name).name}"
    blocks = [*_blocks(comparison), *origin(command, files)]
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"md": to_markdown(title, blocks), "html": to_html(title, blocks, {})}
    return [write_text(text, folder / f"stard_blcm.{kind}") for kind, text in texts.items()]


def items() -> list[list[str]]:
    """Read number and topic of each item, and what is left to the author."""
    return list(csv.reader(FILE.read_text(encoding="utf-8").splitlines()))[1:]


def _blocks(comparison: Comparison) -> Iterator[Block]:
    if all(one.estimate.draws is None for one in comparison.results):
        raise InputError(
            "the checklist is for Bayesian latent class models, and no method is one",
            "add one, as dawid_skene",
        )
    yield Paragraph(
        "The items of Kostoulas et al. (2017), https://doi.org/10.1016/j.prevetmed.2017.01.006, by "
        "number and topic, which say less than the article. Tests are the system and its raters; "
        "patients are items. What is left to the author stands in the table at the end."
    )
    left = []
    for number, topic, to_write in items():
        found = list(FILLED[number](comparison)) if number in FILLED else []
        if found:
            yield from (Heading(f"{number} {topic}"), *found)
        if to_write:
            left.append((number, topic, "in part" if found else "no", to_write))
    yield Heading("Left to the author")
    yield simple_table(("item", "topic", "filled in", "to be written"), left)


def _models(comparison: Comparison) -> Iterator[tuple[str, SystemResult, MethodResult, Any]]:
    """Yield each fit with its name, and of several systems the system's."""
    for system in comparison.systems:
        for one in system.results:
            if one.estimate.draws is not None:
                of = f" of {system.system}" if len(comparison.systems) > 1 else ""
                yield f"{one.method}{of}", system, one, one.estimate.draws


def _abstract(comparison: Comparison) -> Iterator[Block]:
    yield from map(Paragraph, sentences(comparison))


def _categories(comparison: Comparison) -> Iterator[Block]:
    ratings = comparison.ratings
    order = "in their order" if ratings.ordered else "without an order"
    yield Paragraph(f"The categories are {', '.join(map(str, ratings.categories))}, {order}.")
    known = [one.details.positive for one in comparison.results if one.details]
    yield from (Paragraph(as_options(str(one))) for one in known[:1] if one is not None)


def _model(comparison: Comparison) -> Iterator[Block]:
    for name in dict.fromkeys(one.method for _, _, one, _ in _models(comparison)):
        yield from _equations(name)
    yield Paragraph("The unknown true category of each item is summed out of the likelihood.")
    yield from _identification(comparison)
    yield Paragraph("Dependence of raters and system given the true category:")
    for system in comparison.systems:
        lines = system.dependence.lines() if system.dependence else ("it was not tested",)
        yield from (Paragraph(f"{system.system}: {text}.") for text in lines)
    yield from _convergence(comparison)


def _equations(model: str) -> Iterator[Block]:
    """Quote a model's equations and sources from its documentation."""
    from bayes_models.models.spec import find_model

    known = get_method(model)
    yield Paragraph(f"{method_label(model)} ({model}), if {known.assumes if known else ''}:")
    document = inspect.getdoc(find_model(model).build) or ""
    equations = EQUATIONS.search(document)
    if equations is not None:
        yield Screen(dedent(equations[1] or equations[2]).strip("\n"))
    sources = document.partition("References\n----------\n")[2].partition("\n\n")[0]
    if sources:
        yield Paragraph(" ".join(sources.split()))


def _identification(comparison: Comparison) -> Iterator[Block]:
    from bayes_models import identify
    from bayes_models.models.priors import kept_priors

    rows: list[tuple[Cell, ...]] = []
    said: list[str] = []
    for name, system, one, tree in _models(comparison):
        seen = system.ratings if tree.attrs["known_truths"] else system.ratings.with_truth(None)
        found = identify(one.method, seen, kept_priors(tree))
        counts = found.parameters, found.degrees_of_freedom, found.ratings_per_item
        rows.append((name, *counts, percent(found.too_few)))
        said += [f"{name}: {warning.text}." for warning in found.warnings()]
    yield Paragraph(
        "Identification: parameters beside what the ratings can determine, and the proportion of "
        "the items with too few ratings to tell how accurate raters are."
    )
    names = ("model", "parameters", "degrees of freedom", "ratings per item", "too few")
    yield simple_table(names, rows)
    yield from map(Paragraph, said)


def _convergence(comparison: Comparison) -> Iterator[Block]:
    rows: list[tuple[Cell, ...]] = []
    for name, _, one, tree in _models(comparison):
        size, found = tree["posterior"].sizes, one.estimate.diagnostics
        effective = round(found["ess_bulk"]), round(found["ess_tail"])
        draws = tree.attrs["engine"], size["chain"], size["draw"]
        rows.append((name, *draws, found["r_hat"], *effective, found["divergences"]))
    yield Paragraph("Sampling, with the draws of a chain, and the worst convergence of a variable.")
    names = ("model", "sampler", "chains", "draws", "R-hat", "ESS bulk", "ESS tail", "divergences")
    yield simple_table(names, rows)
    seeds = dict.fromkeys(tree.attrs["seed"] for *_, tree in _models(comparison))
    yield Paragraph(f"Seed {', '.join(seeds)}; {versions()}.")


def _priors(comparison: Comparison) -> Iterator[Block]:
    from bayes_models.models.priors import kept_priors, priors_as_json
    from bayes_models.models.spec import find_model

    rows: list[tuple[Cell, ...]] = []
    moved: list[tuple[Cell, ...]] = []
    k = comparison.ratings.n_categories
    for name, system, one, tree in _models(comparison):
        default, kept = json.loads(priors_as_json(one.method)), kept_priors(tree)
        for variable in find_model(one.method).variables if system is comparison.systems[0] else ():
            prior = kept[variable.name]
            chosen = "default of the model" if prior == default[variable.name] else "given"
            told = _prior(prior, variable.family_name, k)
            rows.append((one.method, variable.name, told, chosen))
        if "log_prior" in tree and "log_likelihood" in tree:
            moved += [(name, *row) for row in _power_scaled(tree)]
    yield simple_table(("model", "variable", "prior", "where it comes from"), rows, keys=2)
    for system in comparison.systems:
        yield from study_tables(system)
        yield from pair_tables(system)
    if moved:
        yield Paragraph(
            "Sensitivity of the posterior to prior and likelihood raised to a power near 1 "
            "(Kallioinen et al. 2024, https://doi.org/10.1007/s11222-023-10366-5): above .05 a "
            "small change of the prior matters."
        )
        yield simple_table(("model", "quantity", "prior", "likelihood", "diagnosis"), moved, keys=2)
    for system in comparison.systems:
        yield Paragraph(sensitivity.misled_heading(system))
        yield from sensitivity.misled_tables(system)
        lines = [*sensitivity.sensitivity_lines(system), *methods.disagreement_lines(system)]
        yield from map(Paragraph, lines)


def _prior(prior: Any, family: str, k: int) -> str:
    """Describe a prior by its family and numbers."""
    from bayes_models.models.families import STRENGTH, diagonal_concentration
    from bayes_models.models.priors import distribution_name

    if distribution_name(prior):
        return distribution_name(prior)
    if family == "answers":
        return "counts of earlier studies, below" if np.any(prior) else "none"
    if np.ndim(prior) > 1:
        return "Dirichlet with the counts of earlier studies, below"
    if isinstance(prior, str):
        row = diagonal_concentration(k, strength=STRENGTH[prior])[0]
        return f"Dirichlet: {row[0]:.3g} for the right answer, {row[1]:.3g} for each other"
    return f"{family.replace('_', ' ')}: {prior}"


def _power_scaled(tree: Any) -> "Iterator[tuple[Cell, ...]]":
    from arviz import psense_summary

    # It also prints what its table says.
    with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        names = ["system_accuracy", "system_accuracy_in_sample"]
        found: pd.DataFrame = psense_summary(tree, var_names=names)
    for name, row in found.iterrows():
        numbers = float(row["prior"]), float(row["likelihood"])
        yield str(name), *numbers, str(row["diagnosis"]).replace("✓", "none")


def _indeterminate(comparison: Comparison) -> Iterator[Block]:
    yield from map(Paragraph, header_lines(data_notes(comparison.ratings)))


def _missing(comparison: Comparison) -> Iterator[Block]:
    missing = comparison.to_dict()["data"]["n_missing"]
    if missing is not None:
        yield Paragraph(
            f"{counted(missing, 'rating')} of the raters are missing. The likelihood has the "
            "others, which is right if, given the true category, it does not depend on the "
            "answer whether it is missing."
        )


def _sample_size(comparison: Comparison) -> Iterator[Block]:
    data, truth = comparison.to_dict()["data"], comparison.systems[0].known_truth
    names = ("items", "raters", "ratings", "known truths")
    counts = (data["n_items"], data["n_raters"], data["n_ratings"], truth.n_items if truth else 0)
    yield simple_table(names, [counts])


def _flow(comparison: Comparison) -> Iterator[Block]:
    """Count the items that each rater and each system rated."""
    rated: dict[str, int] = {}
    for system in comparison.systems:
        observed, names = _patterns(system), (*system.ratings.raters, system.system)
        for place, name in enumerate(names):
            rows = observed.flat.item_index[observed.flat.rater_index == place]
            rated[name] = int(observed.counts[np.unique(rows)].sum())
    yield simple_table(("rater or system", "items rated"), list(rated.items()))


def _patterns(system: SystemResult) -> Any:
    from bayes_models import observe

    return observe(system.ratings)


def _base_rates(comparison: Comparison) -> Iterator[Block]:
    yield Paragraph("Unknown, for which reason the model estimates it:")
    rows: list[tuple[Cell, ...]] = [
        (name, category, value)
        for name, _, one, _ in _models(comparison)
        for category, value in one.with_intervals("base_rates").items()
    ]
    yield simple_table(("model", "category", "base rate"), rows, keys=2)


def _cross_table(comparison: Comparison) -> Iterator[Block]:
    for system in comparison.systems:
        observed, names = _patterns(system), [*system.ratings.raters, system.system]
        flat, categories = observed.flat, [*map(str, observed.categories), "–"]
        none = len(categories) - 1
        answers = np.full((len(observed.counts), len(names)), none)
        answers[flat.item_index, flat.rater_index] = flat.category_index
        if len(observed.counts) <= MOST_PATTERNS:
            yield Paragraph("Items by all answers; – where there is none.")
            columns, heads = answers, [*names, "items"]
            if (observed.truths >= 0).any():
                columns = np.column_stack([observed.truths, answers])
                heads = ["known truth", *heads]
            rows = [
                (*(categories[place] for place in row), int(n))
                for row, n in zip(columns, observed.counts, strict=True)
            ]
            yield simple_table(heads, rows, keys=len(heads) - 1)
        else:
            yield Paragraph(f"Items by the answers of {system.system} (rows) and of each rater.")
            pairs = np.zeros((len(names) - 1, none + 1, none + 1), dtype=int)
            for place, table in enumerate(pairs):
                np.add.at(table, (answers[:, -1], answers[:, place]), observed.counts)
            rows = [
                (names[i], categories[j], *map(int, row))
                for i, table in enumerate(pairs)
                for j, row in enumerate(table)
            ]
            yield simple_table(("rater", "system", *categories), rows, keys=2)


def _estimates(comparison: Comparison) -> Iterator[Block]:
    for system in comparison.systems:
        known = [one.details for one in system.results if one.details is not None]
        yield methods.accuracy_table(system, method_label)
        yield details.details_table(known)
        yield from raters.rater_tables(known)


def _limitations(comparison: Comparison) -> Iterator[Block]:
    yield from list(warning_blocks(comparison))[1:]


FILLED: dict[str, Callable[[Comparison], Iterator[Block]]] = {
    "2": _abstract,
    "12": _categories,
    "14a": _model,
    "14b": _priors,
    "15": _indeterminate,
    "16": _missing,
    "18": _sample_size,
    "19": _flow,
    "21": _base_rates,
    "23": _cross_table,
    "24": _estimates,
    "26": _limitations,
}
"""The items that a result can fill in."""
