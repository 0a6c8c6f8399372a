"""Sections of a report: what is told of the results, for `--full`, for files and for the page."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from experiments.report import models, sentences, views
from experiments.report.answer import Section
from experiments.report.views import View, view_systems
from experiments.reporting.options import as_options
from lehner.estimation.results import Results

if TYPE_CHECKING:
    pass


def list_sections(
    results: Results, *, names: Any = str, most: int | None = None, detailed: bool = True
) -> list[Section]:
    """List what is told of results.

    Parameters
    ----------
    results : Results
    names : callable
        From the name of a method to what people read.
    most : int, optional
        How many rows under a heading are shown at most.
    detailed : bool
        Whether the confusion matrix and further measures are told.

    Returns
    -------
    list of Section
        Those that have a table or a figure: of several systems first how they compare.
    """
    each = view_systems(results, names)
    several = len(each) > 1
    found = list(_of_several(results, each, names)) if several else []
    for view in each:
        for one in _of_one(view, most, detailed, several=several):
            if one.tables or one.figure is not None:
                found.append(one)
    return found


def _of_several(results: Results, each: Sequence[View], names: Any) -> Iterator[Section]:
    from experiments.report import figures

    yield Section(
        name="systems",
        title="Systems compared",
        warnings=[one for one in results.warnings if one.about == "systems"],
        text=sentences.on_systems(results),
        tables=views.systems(results, names),
        figure=partial(figures.plot_systems, each),
    )


def _of_one(view: View, most: int | None, detailed: bool, *, several: bool) -> Iterator[Section]:
    from experiments.report import figures

    about = f"{view.system}: " if several else ""
    make = partial(Section, folder=view.system if several else "")
    yield make(
        name="estimates",
        title=f"{about}accuracy by each method" if several else "Accuracy by each method",
        warnings=view.warnings("", "known_truths", "data"),
        text=sentences.on_accuracy(view),
        tables=views.accuracies(view),
        figure=partial(figures.plot_methods, view),
    )
    positive = view.results.options.positive
    tables = views.tests(view, most)
    if positive is None:
        tables = [*views.by_category(view, most), *tables]
    else:
        tables = [*tables, *models.prevalence(view)]
    yield make(
        name="raters",
        title=f"{about}The system, the raters and the categories",
        warnings=view.warnings("raters", "details"),
        text=[] if positive is None else [as_options(str(positive))],
        tables=tables,
    )
    if detailed:
        yield make(
            name="details",
            title=f"{about}The system in detail",
            tables=[*views.confusion(view), *views.in_detail(view)],
            figure=partial(figures.plot_confusion, view) if views.confusion(view) else None,
        )
    for grouping, title in views.GROUPINGS.items():
        tables = views.groups(view, grouping, most=most)
        drawn = partial(figures.plot_groups, view, grouping) if tables else None
        yield make(
            name=f"{grouping}s",
            title=f"{about}{title}",
            warnings=view.warnings(f"{grouping}s"),
            text=sentences.on_groups(view, grouping) if tables else [],
            tables=tables,
            figure=drawn,
        )
    yield from _of_models(view, about, make)
    shared = views.misled(view)
    yield make(
        name="shared_mistakes",
        title=f"{about}Mistakes that raters and system share",
        text=sentences.on_shared_mistakes(view),
        tables=shared,
        figure=partial(figures.plot_shared_mistakes, view) if shared else None,
    )
    if view.is_corrected:
        yield make(
            name="without_truths",
            title=f"{about}Without the known truths",
            tables=views.by_category(view, most, corrected=False),
        )


def _of_models(view: View, about: str, make: Any) -> Iterator[Section]:
    for name, title, text, tables in (
        ("earlier_studies", "Earlier studies", models.STUDIES, models.earlier_studies(view)),
        ("dependent_pair", "The dependent pair", models.PAIR, models.dependent_pair(view)),
        ("predictions", "Predictions", models.PREDICTIONS, models.predictions(view)),
        ("k_properties", "K-properties", models.K_PROPERTIES, models.k_properties(view)),
        ("slopes", "Difficulty for the system", models.SLOPES, models.slopes(view)),
    ):
        warnings = view.warnings(name)
        yield make(
            name=name, title=f"{about}{title}", text=[text], tables=tables, warnings=warnings
        )
