"""The nested loop plot: a measure over all scenarios as steps, and what they vary beneath."""

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from experiments.reporting.figure_style import REFERENCE, figure_style, limits
from experiments.reporting.method_style import MethodStyle, legend_handles
from experiments.reporting.panels import MOST_TOGETHER
from experiments.study.definition import Study, StudyCell, shown
from experiments.study.measure_figure import IN_PERCENT, by_method, measure_name
from experiments.study.method_styles import study_styles

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

BEHIND = "0.87"
LINE = 0.145
"""Inches of a line of letters."""

LETTERS = 118
STEPS = 0.2
"""Inches of the steps of a field."""


def plot_nested_loop(study: Study, measures: "pd.DataFrame", measure: str = "bias") -> Figure:
    """Draw a measure over all scenarios as steps, and what they vary beneath.

    Parameters
    ----------
    study : Study
        As `read_study` gives it.
    measures : pandas.DataFrame
        As `measure` gives it for the results of the study.
    measure : str
        Name of the measure, as in "bias" or "coverage".

    Returns
    -------
    matplotlib.figure.Figure
        A line for each method above; of more than four methods each has a panel, with the others
        behind in grey. Below, what differs between scenarios: steps up through the values of each
        field, which are listed from the lowest step up, base values as well as those varied.

    References
    ----------
    Rücker & Schwarzer (2014), https://doi.org/10.1186/1471-2288-14-129

    Examples
    --------
    >>> import pandas as pd
    >>> from experiments.study import measure, read_study
    >>> study = read_study("quick")
    >>> cells = [(cell.name, method.label) for cell in study.cells for method in study.methods]
    >>> results = pd.DataFrame(cells * 2, columns=["scenario", "method"])
    >>> results = results.assign(estimand="system_accuracy", truth=0.7, estimate=0.6)
    >>> top, *fields = plot_nested_loop(study, measure(results)).axes
    >>> for panel in fields:
    ...     print(panel.get_title(loc="left"))
    initial system accuracy: 0.5, 0.7, 0.9
    initial rater accuracy: 0.6 0.6 0.6, 0.5 0.6 0.7, 0.4 0.6 0.8
    """
    styles = study_styles(study)
    scale = 100 if measure in IN_PERCENT else 1
    values = by_method(study, measures, measure)
    lines = {label: scale * values[label]["value"].to_numpy(dtype=float) for label in styles}
    together = len(styles) <= MOST_TOGETHER
    groups = [list(styles)] if together else [[label] for label in styles]
    titles = {name: _title(name, study.cells) for name in _differing(study.cells)}
    heights = [2.6 if together else 0.62] * len(groups)
    heights += [STEPS + LINE * (1 + title.count("\n")) for title in titles.values()]
    with figure_style() as width:
        figure = Figure(figsize=(width, sum(heights) + 0.5), layout="constrained")
        axes = figure.subplots(
            len(heights), 1, sharex=True, squeeze=False, height_ratios=heights
        ).ravel()
        ends = limits(*lines.values(), 0, within=None)
        for ax, group in zip(axes, groups, strict=False):
            for label in styles if not together else ():
                _line(ax, lines[label], BEHIND)
            for label in group:
                _line(ax, lines[label], styles[label].color, styles[label])
            if not together:
                ax.set_title(styles[group[0]].label, loc="left", pad=1)
            ax.axhline(0, color=REFERENCE, lw=0.8, zorder=1)
            ax.grid(axis="y")
            ax.set_ylim(ends)
            ax.tick_params(axis="x", length=0, labelbottom=False)
        for ax, (name, title) in zip(axes[len(groups) :], titles.items(), strict=True):
            _field(ax, _levels(name, study.cells), title)
        axes[0].set_xlim(-0.5, len(study.cells) - 0.5)
        figure.supxlabel("Scenarios, side by side; values are listed from the lowest step up")
        name = measure_name(measure)
        if together:
            axes[0].set_ylabel(name)
            handles = legend_handles(styles.values())
            figure.legend(handles=handles, loc="outside upper center", ncols=4)
        else:
            figure.suptitle(name)
    figure.set_label(
        f"{name} of {', '.join(style.label for style in styles.values())} over "
        f"{len(study.cells)} scenarios of the study {study.name}, as steps; beneath, "
        f"{'; '.join(title.replace(chr(10), ' ') for title in titles.values())}."
    )
    return figure


def _line(ax: "Axes", values: np.ndarray, color: Any, style: MethodStyle | None = None) -> None:
    edges = np.arange(len(values) + 1) - 0.5
    ax.stairs(values, edges, color=color, lw=1.4 if style else 0.7, baseline=None)
    if style is not None:
        ax.plot(np.arange(len(values)), values, ls="", ms=3, **style.options())


def _differing(cells: tuple[StudyCell, ...]) -> list[str]:
    """Name the fields in which scenarios differ, those that change least often first."""
    names = dict.fromkeys(name for cell in cells for name in cell.settings)
    changes = {name: int(np.count_nonzero(np.diff(_levels(name, cells)))) for name in names}
    return sorted((name for name in names if changes[name]), key=changes.__getitem__)


def _values(name: str, cells: tuple[StudyCell, ...]) -> list[Any]:
    """Values that a field has, from the lowest step up."""
    values = list(dict.fromkeys(cell.settings.get(name) for cell in cells))
    numbers = all(isinstance(value, int | float) for value in values)
    return sorted(values) if numbers else values


def _levels(name: str, cells: tuple[StudyCell, ...]) -> np.ndarray:
    values = _values(name, cells)
    return np.array([values.index(cell.settings.get(name)) for cell in cells])


def _title(name: str, cells: tuple[StudyCell, ...]) -> str:
    values = ", ".join(map(shown, _values(name, cells)))
    return textwrap.fill(f"{name.replace('_', ' ')}: {values}", LETTERS)


def _field(ax: "Axes", levels: np.ndarray, title: str) -> None:
    ax.stairs(levels, np.arange(len(levels) + 1) - 0.5, color="0.3", lw=1, baseline=None)
    ax.set(yticks=[], ylim=(-0.4, levels.max() + 0.4))
    ax.set_title(title, loc="left", size=7, pad=1)
    ax.spines[:].set_visible(False)
    ax.tick_params(axis="x", length=0, labelbottom=False)
