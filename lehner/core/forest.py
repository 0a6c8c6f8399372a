"""A forest plot: numbers with their intervals below one another, a colour for each method."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from lehner.core.estimate import KEYS, IntervalEstimate
from lehner.core.lazy import pd, plt

# The height of a row, in inches, and the part of it that the methods take.
HEIGHT, SPREAD = 0.35, 0.7
# The marker of methods that have none of their own, and those that they get where they are drawn.
DOT = "."
MARKERS = "osDv^P"
# The grey of a line to compare with, and of the band about it.
REFERENCE, BAND = "0.35", "0.9"


@dataclass(frozen=True)
class Look:
    """How a method looks in figures.

    Parameters
    ----------
    name : str
        Name of the method.
    label : str
        Printed name, in figures, LaTeX and pages: the words of the name, as people write them. By
        default the name with spaces and a capital.
    color, marker : str
        As Matplotlib takes them.
    filled : bool
        Whether the marker is filled.
    """

    name: str
    label: str = ""
    color: str = "black"
    marker: str = DOT
    filled: bool = True

    def __post_init__(self) -> None:
        if not self.label:
            words = self.name.replace("_", " ")
            object.__setattr__(self, "label", words[:1].upper() + words[1:])


# Any two colours of methods differ by 17 units of CIELAB or more, also to people without one kind
# of cones (Machado, Oliveira & Fernandes 2009); markers tell apart what is printed in grey.
def line_style(look: Any) -> dict[str, Any]:
    """Give the options of `Axes.plot` and `Axes.errorbar` for a `Look`, without the label.

    Examples
    --------
    >>> line_style(Look("dawid_skene_ml", filled=False))["markerfacecolor"]
    'white'
    """
    return {
        "color": look.color,
        "marker": look.marker,
        "markeredgecolor": look.color,
        "markerfacecolor": look.color if look.filled else "white",
    }


def plot_forest(
    rows: "pd.DataFrame",
    ax: "plt.Axes | None" = None,
    labels: Sequence[str] = (),
    *,
    looks: Callable[[str], Any] = Look,
    reference: IntervalEstimate | None = None,
) -> "plt.Axes":
    """Draw numbers of the table of results, the first at the top.

    Parameters
    ----------
    rows : pandas.DataFrame
        With the columns of the table of results. A column `mark` has what stands after a point: by
        default a star where gold labels correct the number.
    ax : matplotlib.axes.Axes, optional
        By default those of a new figure.
    labels : sequence of str, optional
        What stands beside each number; numbers with one label share a row. By default what tells
        the numbers apart.
    looks : callable
        A function from the name of a method to its `Look`, or what has the fields of a `Look`.
    reference : IntervalEstimate, optional
        What the gold labels alone say: a dashed line with a band.

    Returns
    -------
    matplotlib.axes.Axes
        The points are labelled as their methods are called.
    """
    by_method = {name: looks(name) for name in rows["method"].unique()}
    labels = labels or _name_rows(rows, by_method)
    names = list(dict.fromkeys(labels))
    if ax is None:
        size = (6.5, 1 + HEIGHT * max(len(names), 1))
        _, ax = plt.subplots(figsize=size, layout="constrained")
    rows = rows.assign(label=labels)
    rows = rows[rows["estimate"].notna()]
    unmarked = [name for name, look in by_method.items() if look.marker == DOT]
    markers = dict(zip(unmarked, cycle(MARKERS), strict=False))
    for record, height in zip(rows.to_dict("records"), _spread(rows, names), strict=True):
        look = by_method[record["method"]]
        point = line_style(look) | {"marker": markers.get(record["method"], look.marker)}
        ax.hlines(height, record["lower"], record["upper"], color=look.color, zorder=1.5)
        ax.plot(record["estimate"], height, ls="", label=look.label, **point)
        mark = record.get("mark", "*" if record["corrected"] else "")
        if mark:
            end = max(record["estimate"], record["upper"])
            ax.annotate(mark, (end, height), (2, -2), textcoords="offset points")
    if reference is not None and reference.estimate is not None:
        line: dict[str, Any] = {"color": REFERENCE, "lw": 1, "ls": "--", "zorder": 1}
        ax.axvline(reference.estimate, label="gold labels alone", **line)
        if reference.lower is not None and reference.upper is not None:
            band: dict[str, Any] = {"color": BAND, "lw": 0, "zorder": 0}
            ax.axvspan(reference.lower, reference.upper, label="their interval", **band)
    quantity = rows["quantity"].iloc[0] if len(rows) else ""
    ax.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    ax.set_xlabel(quantity.replace("_", " "))
    return ax


def _spread(rows: "pd.DataFrame", names: Sequence[str]) -> "pd.Series[float]":
    """Give the height of each number: those with one label stand closely below one another."""
    groups = rows.groupby("label")
    sizes = groups["label"].transform("size")
    return rows["label"].map(names.index) + SPREAD * (groups.cumcount() - (sizes - 1) / 2) / sizes


def _name_rows(rows: "pd.DataFrame", by_method: Mapping[str, Any]) -> list[str]:
    """Name what tells numbers apart, the method by its label."""
    varying = [name for name in KEYS if name != "method" and rows[name].nunique() > 1]
    several = not varying or rows["method"].nunique() > 1
    names = []
    for record in rows.to_dict("records"):
        by = [by_method[record["method"]].label] if several else []
        names.append(", ".join([*(record[key] for key in varying), *by]))
    return names
