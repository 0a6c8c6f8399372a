"""The look of all figures, and forests of numbers with intervals."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.errors import list_few
from lehner.core.estimate import IntervalEstimate
from lehner.core.lazy import load, pd, plt
from lehner.core.results import plot_forest, read_value
from lehner.core.table import CORRECTED_NOTE
from lehner.core.text import escape, pluralise, to_percent, to_short
from lehner.estimation.methods import get_look
from lehner.estimation.views import ANY, Record, View, name_rows
from lehner.report.tables import REPORT

# Loaded late: the names of methods are wanted without Matplotlib, too.
looks, ticker = load("matplotlib.style"), load("matplotlib.ticker")

# The width of one and of two columns of a journal, in inches.
WIDTHS = {1: 3.35, 2: 7.0}

GRID = "0.88"
# The room that an axis has beside what is drawn, as a proportion of its range.
ROOM = 0.05
# The distances between ticks of proportions, and how many of them an axis has at most.
STEPS, MOST_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2), 8

STYLE = Path(__file__).with_name("lehner.mplstyle")


@contextmanager
def use_style(*, columns: int = 2) -> Iterator[float]:
    """Draw what is drawn in this context in the style of all figures, whatever else is set.

    Parameters
    ----------
    columns : {1, 2}
        Of a journal, over which the figure goes.

    Yields
    ------
    float
        Width of the figure in inches: 3.35 or 7.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> with use_style(columns=1) as width:
    ...     figure = Figure(figsize=(width, 2.4), layout="constrained")
    >>> float(figure.get_figwidth())
    3.35
    """
    with looks.context(["default", STYLE]):
        yield WIDTHS[columns]


def span(*values: ArrayLike, within: tuple[float, float] | None = (0, 1)) -> tuple[float, float]:
    """Ends of an axis that leaves no part of its range unused.

    Parameters
    ----------
    *values : array_like of float
        What is drawn; NaN and infinite values are passed over.
    within : tuple of float, optional
        Ends of the possible values; beyond them only points are given room.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> span([0.6, 0.8], [0.7, float("nan")])
    (0.59, 0.81)
    >>> span([0.6, 1.0])
    (0.58, 1.01)
    """
    drawn = np.concatenate([np.ravel(np.asarray(value, dtype=float)) for value in values])
    drawn = drawn[np.isfinite(drawn)]
    if not drawn.size:
        return within or (0, 1)
    low, high = float(drawn.min()), float(drawn.max())
    room = ROOM * ((high - low) or 0.2)
    low, high = low - room, high + room
    if within is not None:
        edge = 0.01 * (within[1] - within[0])
        low, high = max(low, within[0] - edge), min(high, within[1] + edge)
    return round(low, 6), round(high, 6)


def set_proportion_ticks(axis: Any) -> None:
    """Put ticks at proportions of at most two decimals, once the axis has its ends.

    They are written as papers write them, without the zero before the point.

    Parameters
    ----------
    axis : matplotlib.axis.Axis

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> _ = ax.set_xlim(0.897, 0.955)
    >>> set_proportion_ticks(ax.xaxis)
    >>> [round(float(tick), 6) for tick in ax.get_xticks() if 0.897 <= tick <= 0.955]
    [0.9, 0.91, 0.92, 0.93, 0.94, 0.95]
    >>> ax.xaxis.get_major_formatter()(0.9)
    '.90'
    """
    low, high = axis.get_view_interval()
    step = next((size for size in STEPS if (high - low) / size <= MOST_STEPS), STEPS[-1])
    axis.set_major_locator(ticker.MultipleLocator(step))
    axis.set_major_formatter(partial(_write_tick, 1 if step >= 0.1 else 2))


def _write_tick(digits: int, value: float, _: int = 0) -> str:
    return to_short(value, digits) if round(value, digits) else "0"


def name_method(name: str) -> str:
    """Name of a method as people write it."""
    return get_look(name).label


def list_handles(ax: "plt.Axes") -> dict[str, Any]:
    """List what is drawn in a panel by its label; there is no key for a single thing."""
    points, names = ax.get_legend_handles_labels()
    handles = dict(zip(names, points, strict=True))
    return handles if len(handles) > 1 else {}


def add_legend(figure: "plt.Figure", handles: Mapping[str, Any], title: str) -> None:
    """Put the title of all axes below a figure, and under it the legend if there is one."""
    if not handles:
        figure.supxlabel(title)
        return
    key = figure.legend(
        handles=list(handles.values()),
        labels=list(handles),
        title=title,
        loc="outside lower center",
        ncols=2 if figure.get_figwidth() < WIDTHS[2] else 4,
    )
    key.get_title().set_multialignment("center")


# Loaded late: a command that draws nothing needs no Matplotlib.
mpl_figure, mpl_lines = load("matplotlib.figure"), load("matplotlib.lines")

# How many of the smallest letters stand on an inch.
LETTERS = 15
LONGEST_LABEL = 26
# Inches of a line of text, between rows, and of what is below the rows.
LINE, ROW, HEAD = 0.125, 0.1, 0.75
MOST_NAMED, MOST_RATERS = 4, 40
NUMBERS = {"quantity": "", "method": "", "lower": np.nan, "upper": np.nan, "corrected": False}


def wrap_title(text: str, inches: float) -> str:
    """Break an axis title into lines that fit beside its axis."""
    width = max(int(LETTERS * inches), 12)
    return "\n".join(fill(part, width) for part in escape(text).split("\n"))


def draw_forest(
    rows: Sequence[Record],
    labels: Sequence[str],
    *,
    xlabel: str,
    ylabel: str = "",
    reference: IntervalEstimate | None = None,
    legend: bool = True,
) -> "plt.Figure":
    """Make a figure of a forest plot, with a legend below it.

    Parameters
    ----------
    rows : sequence of dict
        Rows of the table of results, of which `estimate` is needed.
    labels : sequence of str
        One for each; long ones go over several lines. Rows with one label stand together.
    xlabel, ylabel : str
    reference : IntervalEstimate, optional
        What the gold labels alone say, as `plot_forest` takes it.
    legend : bool
        Whether the legend names the methods.

    Returns
    -------
    matplotlib.figure.Figure
        One column of a journal wide, which a phone shows in full.
    """
    table = pd.DataFrame([NUMBERS | row for row in rows])
    shown = [fill(escape(label), LONGEST_LABEL) for label in labels]
    methods = table["method"].unique() if legend and table["method"].nunique() > 1 else []
    tallest = max(LINE * (label.count("\n") + 1) for label in shown)
    height = HEAD + 2 * LINE * (xlabel.count("\n") + (reference is not None))
    height += 0.15 * len(methods)
    height += len(set(shown)) * (max(tallest, 0.1 * len(methods)) + ROW)
    with use_style(columns=1) as width:
        figure = mpl_figure.Figure(figsize=(width, height), layout="constrained")
        ax = plot_forest(table, figure.subplots(), shown, looks=get_look, reference=reference)
        handles = list_handles(ax)
        if not legend:
            for name in table["method"].unique():
                handles.pop(name_method(name), None)
        if table["corrected"].any():
            handles[CORRECTED_NOTE] = mpl_lines.Line2D([], [], ls="", label=CORRECTED_NOTE)
        ends: list[Any] = [table[["estimate", "lower", "upper"]]]
        if reference is not None:
            ends.append((reference.estimate, reference.lower, reference.upper))
        ax.set(xlim=span(*ends), xlabel="")
        ax.set_ylabel(wrap_title(ylabel, height - 0.6))
        ax.grid(axis="x")
        separators = np.arange(1, len(set(shown))) - 0.5
        ax.hlines(separators, 0, 1, transform=ax.get_yaxis_transform(), color=GRID)
        ax.tick_params(axis="y", length=0)
        set_proportion_ticks(ax.xaxis)
        # Below the names too: the axis alone may be narrower than its title.
        title = wrap_title(xlabel, 0.9 * width)
        add_legend(figure, handles, title)
    figure.set_label(f"{xlabel.replace('\n', ', ')}: {'; '.join(_name_points(rows, labels))}.")
    return figure


def _name_points(rows: Sequence[Record], labels: Sequence[str]) -> list[str]:
    """Name each number of a forest, for those who do not see it."""
    names = [name_method(row["method"]) if row.get("method") else "" for row in rows]
    return [
        f"{label} {read_value(row)}{f' by {name}' if name not in ('', label) else ''}"
        for row, label, name in zip(rows, labels, names, strict=True)
        if row["estimate"] == row["estimate"]
    ]


def draw_methods(view: View) -> "plt.Figure | None":
    """Draw the accuracy of a system by each method, beside that on the gold labels alone.

    Parameters
    ----------
    view : View
        Of the system.

    Returns
    -------
    matplotlib.figure.Figure
        None if there are no accuracies.

    Examples
    --------
    >>> import lehner
    >>> from lehner.estimation.views import view_systems
    >>> ratings = lehner.load_dataset("lehner_table2")
    >>> (view,) = view_systems(lehner.estimate(ratings, "majority_agreement"))
    >>> [label.get_text() for label in draw_methods(view).axes[0].get_yticklabels()]
    ['Majority agreement']
    """
    rows = view.pick("system_accuracy_in_sample")
    labels = [name_method(row["method"]) for row in rows]
    gold = read_value(view.gold) if view.gold else None
    return _draw_rows(view, "methods", rows, labels, reference=gold, legend=False)


def draw_systems(view: View, rows: Sequence[Record]) -> "plt.Figure | None":
    """Draw the accuracy of each system by each method."""
    rows = view.pick("system_accuracy", rows=rows)
    return _draw_rows(view, "systems", rows, name_rows("{system}", rows))


def draw_raters(view: View) -> "plt.Figure | None":
    """Draw the accuracy of each rater by each method, unless they are too many."""
    rows = view.pick("rater_accuracy", rater=ANY)
    labels = name_rows("{rater}", rows)
    return _draw_rows(view, "raters", rows, labels) if len(set(labels)) <= MOST_RATERS else None


def draw_groups(view: View, **columns: Any) -> "plt.Figure | None":
    """Draw the accuracy of a system in each group."""
    rows = view.pick("system_accuracy", **columns)
    ylabel = _name_column(view, columns["grouping"])
    return _draw_rows(view, "groups", rows, name_rows("{group}", rows), ylabel=ylabel)


def draw_base_rates(view: View, **columns: Any) -> "plt.Figure | None":
    """Draw the proportion of categories in each group, the one with the first rank at the top."""
    ranks = view.pick("base_rates_rank", **columns | {"method": view.methods[0]})
    order = {row["group"]: place for place, row in enumerate(ranks)}
    rows = sorted(view.pick("base_rates", **columns), key=lambda row: order.get(row["group"], 0))
    ylabel = _name_column(view, columns["grouping"])
    return _draw_rows(view, "base_rates", rows, name_rows("{group}{of}", rows), ylabel=ylabel)


def _name_column(view: View, grouping: str) -> str:
    column = view.find_column(grouping)
    return "" if column is None else str(column.column)


def _draw_rows(
    view: View, name: str, rows: Sequence[Record], labels: Sequence[str], **options: Any
) -> "plt.Figure | None":
    """Draw a forest with its title in `report.toml`; None if there are no rows."""
    if not rows:
        return None
    title = REPORT["forest"][name].format(
        system=view.system,
        n_items=pluralise(view.results.ratings.n_items, "item"),
        categories=list_few(dict.fromkeys(row["category"] for row in rows), MOST_NAMED),
    )
    methods = {row["method"] for row in rows}
    if len(methods) == 1 and options.get("legend", True):
        title = f"{title} ({name_method(*methods)})"
    xlabel = f"{title}\nwith {to_percent(view.level)} intervals"
    return draw_forest(rows, labels, xlabel=xlabel, **options)
