"""What is told of estimates, part by part: tables, a figure and numbers, for files and the page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.estimate import (
    dependent_pair,
    details,
    earlier_studies,
    groups,
    known_truths,
    methods,
    raters,
    sensitivity,
    systems,
)
from experiments.reporting.method_style import method_label
from experiments.reporting.options import as_options
from experiments.reporting.table import Table
from lehner import Comparison
from lehner.estimation.result import SystemResult

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from lehner.groups.membership import GroupColumn


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """The answer to one question.

    Parameters
    ----------
    name : str
        Of its files, without their endings.
    title : str
        What it is about.
    text : str
        How to read it.
    tables : sequence of Table
        Written to LaTeX, and shown on the page.
    figure : matplotlib.figure.Figure, optional
        Written to PDF and PNG, and shown on the page.
    frame : pandas.DataFrame, optional
        Written to CSV.
    """

    name: str
    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    figure: "Figure | None" = None
    frame: "pd.DataFrame | None" = None


def parts_of_several(comparison: Comparison) -> Iterator[Part]:
    """Tell how several systems compare."""
    from experiments.estimate.rows_figure import plot_systems

    yield Part(
        name="estimates",
        title="Accuracy of each system",
        tables=[systems.accuracy_table(comparison, method_label)],
        frame=comparison.to_frame(),
    )
    yield Part(
        name="systems", title="Systems side by side", figure=_whole(plot_systems(comparison))
    )
    yield Part(
        name="differences",
        title="Ranks and differences",
        tables=systems.systems_tables(comparison)[1:],
        frame=comparison.differences_frame(),
    )


def parts_of_one(system: SystemResult, name: str) -> Iterator[Part]:
    """Tell what is known of one system; `name` is that of the data."""
    from experiments.estimate.details_figure import plot_confusion
    from experiments.estimate.methods_figure import plot_intervals

    results, in_detail = system.results, [one.details for one in system.results]
    accuracies = methods.accuracy_table(system, method_label)
    yield Part(
        name="estimates",
        title="Estimates by each method",
        tables=[accuracies, *methods.rater_tables(system, method_label)],
        frame=system.to_frame(),
    )
    yield Part(
        name="intervals",
        title="Accuracy of the system by each method",
        figure=plot_intervals(system, name),
    )
    if any(one.correction is not None for one in results):
        tables = [
            known_truths.correction_table(results),
            methods.accuracy_table(system, method_label, truths=False),
            known_truths.uncorrected_table(results),
        ]
        yield Part(name="corrected", title="Corrected by the known truths", tables=tables)
    yield Part(
        name="details",
        title="Measures of the system",
        tables=[details.details_table(in_detail)],
        frame=details.details_frame(in_detail),
    )
    yield Part(
        name="confusion",
        title="Confusion matrix of the system",
        tables=[details.confusion_matrices(in_detail)],
        figure=plot_confusion(in_detail),
    )
    known = [one for one in in_detail if one is not None]
    if known:
        positive = known[0].positive
        yield Part(
            name="raters",
            title="Measures of the raters",
            text="" if positive is None else as_options(str(positive)),
            tables=raters.rater_tables(known),
            frame=raters.raters_frame(known),
        )
    yield from _shared_mistakes(system, name)
    items, populations = system.group_column, system.population_column
    for part in (
        _in_groups("groups", "Groups of items", items, [one.groups for one in results]),
        _in_groups(
            "populations", "Populations of items", populations, [one.populations for one in results]
        ),
        _in_groups("rater_groups", "Groups of raters", None, [one.rater_groups for one in results]),
    ):
        yield from part
    studies = earlier_studies.study_tables(system)
    if studies:
        text = earlier_studies.TITLE
        yield Part(name="earlier_studies", title="Earlier studies", text=text, tables=studies)
    pair = dependent_pair.pair_tables(system)
    if pair:
        text = dependent_pair.TITLE
        yield Part(name="dependent_pair", title="Dependent pair", text=text, tables=pair)
    if system.predictions:
        table = methods.prediction_table(system.predictions)
        yield Part(
            name="predictions", title="Predictions", text=methods.PREDICTIONS, tables=[table]
        )
    if system.k_properties:
        table = methods.k_property_table(system.k_properties)
        text = f"{methods.K_PROPERTIES} {methods.BAYES_FACTORS}"
        yield Part(name="k_properties", title="K-properties", text=text, tables=[table])


def _shared_mistakes(system: SystemResult, name: str) -> Iterator[Part]:
    from experiments.estimate.sensitivity_figure import plot_sensitivity

    moved = [
        one.without_truths.estimate for one in system.results if not one.allows_shared_mistakes
    ]
    if moved:
        curves = sensitivity.curves(moved, system.ratings.n_categories)
        yield Part(
            name="shared_mistakes",
            title="Mistakes that raters and system share",
            text=sensitivity.misled_heading(system),
            tables=sensitivity.misled_tables(system),
            figure=_whole(plot_sensitivity(curves, name, level=system.level)),
            frame=curves,
        )


def _in_groups(
    name: str, title: str, column: "GroupColumn | None", found: groups.Groups
) -> Iterator[Part]:
    from experiments.estimate.rows_figure import plot_groups

    if any(found):
        yield Part(
            name=name,
            title=title if column is None else f"{title}, by {column.column}",
            tables=[groups.groups_table(column, found)],
            figure=None if column is None else plot_groups(column, found),
            frame=groups.groups_frame(found),
        )


def _whole(drawn: Any) -> "Figure":
    figure = drawn.get_figure(root=True)
    assert figure is not None
    return figure
