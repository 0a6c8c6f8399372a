"""How each method is drawn, and what it is called, in every figure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lehner.latent_class.models import BY_LIKELIHOOD

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
        """Give the options of `Axes.plot` and `Axes.errorbar`, without the label."""
        return {
            "color": self.color,
            "marker": self.marker,
            "markeredgecolor": self.color,
            "markerfacecolor": self.color if self.filled else "white",
        }


# Any two of these colours differ by 17 units of CIELAB or more, also to people without one kind
# of cones (Machado, Oliveira & Fernandes 2009); markers tell apart what is printed in grey.
STYLES = {
    "majority_agreement": MethodStyle(label="Majority", color="#4d4d4d", marker="X"),
    "mean_posterior": MethodStyle(label="Mean truth probability", color="#d09a50", marker="P"),
    "algebraic": MethodStyle(label="Lehner’s algebra", color="#0072b2", marker="o"),
    "algebraic_likelihood": MethodStyle(label="Algebra by likelihood", color="#8f71ff", marker="D"),
    "algebraic_paper": MethodStyle(label="Algebra as in the paper", color="#253b6e", marker="p"),
    "algebraic_adjusted": MethodStyle(label="Algebra, adjusted", color="#5e6b8f", marker="*"),
    "least_squares_one_coin": MethodStyle(
        label="Least squares, one coin", color="#7ea3ec", marker="8"
    ),
    "least_squares_distance_decay": MethodStyle(
        label="Least squares, distance decay", color="#7ea3ec", marker="8", filled=False
    ),
    "one_coin": MethodStyle(label="One coin", color="#f38d01", marker="v"),
    "one_coin_by_rater": MethodStyle(label="One coin per rater", color="#753900", marker="<"),
    "pooled": MethodStyle(label="Pooled Dawid–Skene", color="#ad663c", marker=">"),
    "class_conditional": MethodStyle(label="Class-conditional", color="#50138e", marker="H"),
    "dawid_skene": MethodStyle(label="Dawid–Skene", color="#d55e00", marker="s"),
    "hierarchical_dawid_skene": MethodStyle(
        label="Hierarchical Dawid–Skene", color="#bf98b9", marker="d"
    ),
    "tap": MethodStyle(label="t-a-p", color="#60422c", marker="h"),
    "relaxed_k": MethodStyle(label="Relaxed K", color="#009e73", marker="^"),
}


def method_style(name: str) -> MethodStyle:
    """Give the look of a method.

    Parameters
    ----------
    name : str
        As in `list_methods`, or of a model fitted by maximum likelihood. A name that is not known,
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
    if name in STYLES:
        return STYLES[name]
    model = STYLES.get(name.removesuffix(BY_LIKELIHOOD))
    if model is not None:
        return replace(model, label=f"{model.label}, ML", filled=False)
    return MethodStyle(label=name.replace("_", " "), color="black", marker=".")


def method_label(name: str) -> str:
    """Give a method's name as people write it."""
    return method_style(name).label


def legend_handles(styles: Iterable[MethodStyle], *, line: str = "-") -> "list[Line2D]":
    """Give what a figure's one legend takes: marker, line and name of each method."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], ls=line, label=style.label, **style.options()) for style in styles]
