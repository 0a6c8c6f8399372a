"""How each method is drawn, and what it is called, in every figure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lehner.estimation.methods import get_method

if TYPE_CHECKING:
    from matplotlib.lines import Line2D


@dataclass(frozen=True, kw_only=True)
class MethodStyle:
    """The look of a method.

    Parameters
    ----------
    label : str
        Its name as people write it.
    color : str
    marker : str
    filled : bool
        Whether the marker is filled: by posterior draws or closed form it is, by maximum
        likelihood it is open.
    """

    label: str
    color: str
    marker: str
    filled: bool = True

    def options(self) -> dict[str, Any]:
        """Options of `Axes.plot` and `Axes.errorbar`, without the label."""
        return {
            "color": self.color,
            "marker": self.marker,
            "markeredgecolor": self.color,
            "markerfacecolor": self.color if self.filled else "white",
        }


# Any two colours of methods differ by 17 units of CIELAB or more, also to people without one kind
# of cones (Machado, Oliveira & Fernandes 2009); markers tell apart what is printed in grey.
OF_NO_METHOD = {
    "majority": MethodStyle(label="Majority", color="#4d4d4d", marker="X"),
}


def method_style(name: str) -> MethodStyle:
    """Look of a method.

    Parameters
    ----------
    name : str
        As in `lehner.estimation.methods.list_methods`. A name that is not known,
        as of a model of one's own, is drawn in black and called as it is.

    Returns
    -------
    MethodStyle

    Examples
    --------
    >>> method_style("dawid_skene").label, method_style("dawid_skene_ml").label
    ('Dawid–Skene', 'Dawid–Skene, ML')
    >>> method_style("my_own_model").label
    'my own model'
    """
    if name in OF_NO_METHOD:
        return OF_NO_METHOD[name]
    method = get_method(name)
    if method is None:
        return MethodStyle(label=name.replace("_", " "), color="black", marker=".")
    return MethodStyle(
        label=method.label, color=method.color, marker=method.marker, filled=method.filled
    )


def method_label(name: str) -> str:
    """Name of a method as people write it."""
    return method_style(name).label


def legend_handles(styles: Iterable[MethodStyle], *, line: str = "-") -> "list[Line2D]":
    """Make what a figure's one legend takes: marker, line and name of each method."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], ls=line, label=style.label, **style.options()) for style in styles]
