"""Results: the answers of all commands, one long table with a row for each number."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import cycle
from typing import TYPE_CHECKING, Any

from lehner.core.errors import InputError, Warning
from lehner.core.estimate import COLUMNS, ESTIMANDS, KEYS, NUMBERS, IntervalEstimate, Row, to_plain
from lehner.core.lazy import pd, plt

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Of a row of a forest plot, in inches.
HEIGHT = 0.35
BASE_RATES = ("base_rates",)
# Part of the room of a row that its methods take.
SPREAD = 0.7
# The marker of methods that have none of their own, and those that they get where they are drawn.
DOT = "."
MARKERS = "osDv^P"


@dataclass(frozen=True)
class Look:
    """How a method looks in figures.

    Parameters
    ----------
    name : str
        Name of the method.
    label : str
        Printed name, by default the name with spaces.
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
            object.__setattr__(self, "label", self.name.replace("_", " "))


def tabulate(rows: "Iterable[Row] | pd.DataFrame") -> "pd.DataFrame":
    """Make the table of rows.

    Parameters
    ----------
    rows : iterable of dict, or pandas.DataFrame
        With some of `COLUMNS`.

    Returns
    -------
    pandas.DataFrame
        With `COLUMNS`: texts are empty, and numbers NaN, where there are none.
    """
    rows = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows), columns=[*COLUMNS])
    table = rows.reindex(columns=[*COLUMNS])
    texts, numbers = [*KEYS, "kind"], [*NUMBERS, "standard_error", "probability", "n_items"]
    table[texts] = table[texts].astype(object).where(table[texts].notna(), "").astype(str)
    table[numbers] = table[numbers].astype(float)
    table["corrected"] = table["corrected"].eq(True)
    return table


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Results:
    """Estimates of one or several systems by one or several methods.

    Parameters
    ----------
    ratings : Ratings or None
        With all systems, and gold labels; None if the numbers are of a table of counts.
    table : pandas.DataFrame
        One row a number, with `COLUMNS`: which number it is (`system`, `method`, `quantity`,
        `grouping`, `group`, `rater`, `category`, `response`, and `versus`, the second of a
        difference), `estimate`, `lower`, `upper`, `level` and `kind` of its interval, `corrected`
        (whether gold labels correct or entered it), `probability` (of a difference that it is
        above zero) and `n_items` (how many items it is of).
    warnings : tuple of Warning
        What the user should know before using the numbers, the gravest first.
    fits : mapping of (system, method) to Estimate
        What each method gave; `fits[system, method].draws` are the posterior draws, if there are.
    options : object
        What was asked for.
    looks : callable
        A function from the name of a method to its `Look`, or what has the fields of a `Look`.
    """

    ratings: Any
    table: "pd.DataFrame"
    warnings: tuple[Warning, ...] = ()
    fits: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    options: Any = None
    looks: Callable[[str], Any] = Look

    @cached_property
    def final(self) -> "pd.DataFrame":
        """The table with each number once: corrected by gold labels where that is possible."""
        if not len(self.table):
            return self.table
        rows = self.table.groupby(list(KEYS), sort=False)["corrected"].idxmax()
        return self.table.loc[rows]

    def select(self, **columns: Any) -> "pd.DataFrame":
        """Choose rows of `final`.

        Parameters
        ----------
        **columns
            The value of a column, or a list of values.

        Returns
        -------
        pandas.DataFrame
        """
        table = self.final
        for name, value in columns.items():
            wanted = value if isinstance(value, list | tuple) else [value]
            table = table[table[name].isin([str(label) for label in wanted])]
        return table

    def value(self, quantity: str, **columns: Any) -> IntervalEstimate:
        """Look one number up.

        Parameters
        ----------
        quantity : str
            A name in the column `quantity` of the table.
        **columns
            Values of other columns; those that say which number it is, other than system and
            method, are empty unless they are given.

        Returns
        -------
        IntervalEstimate

        Raises
        ------
        InputError
            If not exactly one row is such.
        """
        empty = dict.fromkeys(KEYS[4:] if "group" in columns else KEYS[3:], "")
        rows = self.select(quantity=quantity, **(empty | columns))
        if len(rows) != 1:
            named = ", ".join(f"{name}={value!r}" for name, value in columns.items())
            problem = f"{len(rows)} rows have quantity={quantity!r}{named and ', '}{named}"
            remedy = "name system and method, and see results.table for what there is"
            raise InputError(problem, remedy)
        return read_value(rows.iloc[0])

    def pivot(self, *quantities: str, columns: str = "method", **selected: Any) -> "pd.DataFrame":
        """Write numbers with their intervals side by side.

        Parameters
        ----------
        *quantities : str
            Names in the column `quantity`; by default the accuracies of the system, of results
            without them the base rates, or all.
        columns : str
            The column of the table whose values stand side by side.
        **selected
            As `select` takes them; by default numbers of groups and of single raters are left out.

        Returns
        -------
        pandas.DataFrame
            Of texts, as "0.864 [0.808, 0.915]".

        Examples
        --------
        >>> import lehner
        >>> results = lehner.estimate(lehner.load_dataset("lehner_table2"), "algebraic")
        >>> results.pivot("recall").loc["A", "algebraic"]
        '0.686 [0.000, 1.000]'
        """
        selected = {"grouping": "", "rater": ""} | selected
        rows = self.select(quantity=quantities or self._list_quantities(), **selected)
        keys = [name for name in KEYS if name != columns and rows[name].nunique() > 1]
        texts = [str(read_value(record)) for record in rows.to_dict("records")]
        index = "method" if columns == "quantity" else "quantity"
        wide = rows.assign(text=texts).pivot_table(
            "text", keys or [index], columns, aggfunc="first", sort=False
        )
        return wide.fillna("")

    def to_latex(self, *quantities: str, **options: Any) -> str:
        """Write numbers as a LaTeX table, for the package booktabs.

        Parameters
        ----------
        *quantities : str
            Names in the column `quantity`; by default the accuracies of the system, of results
            without them the base rates, or all.
        **options
            As `pivot` takes them.

        Returns
        -------
        str
        """
        return str(_escape(self.pivot(*quantities, **options), "latex").to_latex(hrules=True))

    def to_html(self, *quantities: str, **options: Any) -> str:
        """Write numbers as an HTML table.

        Parameters
        ----------
        *quantities : str
            Names in the column `quantity`; by default the accuracies of the system, of results
            without them the base rates, or all.
        **options
            As `pivot` takes them.

        Returns
        -------
        str
        """
        return str(_escape(self.pivot(*quantities, **options), "html").to_html())

    def plot(
        self, quantity: str = "system_accuracy", *, ax: "Axes | None" = None, **selected: Any
    ) -> "Axes":
        """Draw a forest plot of numbers with their intervals, a colour for each method.

        Parameters
        ----------
        quantity : str
            A name in the column `quantity` of the table.
        ax : matplotlib.axes.Axes, optional
            By default those of a new figure.
        **selected
            As `pivot` takes them.

        Returns
        -------
        matplotlib.axes.Axes
        """
        selected = {"grouping": "", "rater": ""} | selected
        return plot_forest(self.select(quantity=quantity, **selected), ax, looks=self.looks)

    def _list_quantities(self) -> tuple[str, ...]:
        """List what is shown by default: accuracies of the system, base rates, or all there is."""
        there = tuple(self.table["quantity"].unique())
        defaults = (ESTIMANDS, BASE_RATES)
        return next((names for names in defaults if set(names) & {*there}), there)

    def __repr__(self) -> str:
        shown, options = self._list_quantities(), dict[str, Any]()
        if shown in (ESTIMANDS, BASE_RATES):
            options = {"columns": "quantity", "grouping": ["", "group"]}
            options |= {"group": ""} if shown == ESTIMANDS else {}
        else:
            options = {"grouping": list(self.table["grouping"].unique())}
        wide = self.pivot(*shown, **options)
        lines = [f"Results: {len(self.table)} rows in results.table", wide.to_string(na_rep="")]
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self.warnings)])

    def _repr_html_(self) -> str:
        return str(self.final[list(COLUMNS)].to_html(index=False, na_rep="", max_rows=60))

    def to_dict(self) -> dict[str, Any]:
        """Write it in plain types, ready for JSON.

        Returns
        -------
        dict
            `data`, what the ratings are; `rows`, the table; `warnings`; and the `version` of
            lehner. What is undefined or infinite is None.
        """
        import lehner

        of_data = "n_items n_raters n_ratings raters systems categories ordered notes".split()
        return {
            "data": {"name": getattr(self.options, "name", "")}
            | {name: to_plain(getattr(self.ratings, name, None)) for name in of_data},
            "rows": to_plain(self.table.to_dict("records")),
            "warnings": to_plain(self.warnings),
            "version": lehner.__version__,
        }

    def to_json(self, **options: Any) -> str:
        """Write it as JSON, see `to_dict`.

        Parameters
        ----------
        **options
            Those of `json.dumps`.

        Returns
        -------
        str
        """
        return json.dumps(self.to_dict(), allow_nan=False, **options)


def _escape(table: "pd.DataFrame", medium: str) -> Any:
    """Give a table a style in which names that are code in a medium are text."""
    style = table.style.format(escape=medium)
    return style.format_index(escape=medium, axis=0).format_index(escape=medium, axis=1)


def read_value(row: Any) -> IntervalEstimate:
    """Take the number of a row, with its interval."""
    values = {name: row.get(name) for name in (*NUMBERS, "standard_error")}
    numbers = {name: None if pd.isna(value) else float(value) for name, value in values.items()}
    kind, corrected = row.get("kind", ""), bool(row.get("corrected", False))
    return IntervalEstimate(**numbers, kind=kind, corrected=corrected)


def plot_forest(
    rows: "pd.DataFrame",
    ax: "Axes | None" = None,
    labels: Sequence[str] = (),
    *,
    looks: Callable[[str], Any] = Look,
) -> "Axes":
    """Draw numbers of the table of results, the first at the top.

    Parameters
    ----------
    rows : pandas.DataFrame
        With the columns of the table of results.
    ax : matplotlib.axes.Axes, optional
        By default those of a new figure.
    labels : sequence of str, optional
        What stands beside each number; numbers with one label share a row. By default what tells
        the numbers apart.
    looks : callable
        As `Results` has it.

    Returns
    -------
    matplotlib.axes.Axes
        A star marks what gold labels correct. The points are labelled as their methods are called.
    """
    look_of = {name: looks(name) for name in rows["method"].unique()}
    labels = labels or _name_rows(rows, look_of)
    names = list(dict.fromkeys(labels))
    if ax is None:
        size = (6.5, 1 + HEIGHT * max(len(names), 1))
        _, ax = plt.subplots(figsize=size, layout="constrained")
    rows = rows.assign(label=labels)
    rows = rows[rows["estimate"].notna()]
    beside = rows.groupby("label")
    places = SPREAD * (beside.cumcount() - (beside["label"].transform("size") - 1) / 2)
    places = rows["label"].map(names.index) + places / beside["label"].transform("size")
    unmarked = [name for name, look in look_of.items() if look.marker == DOT]
    markers = dict(zip(unmarked, cycle(MARKERS), strict=False))
    for record, place in zip(rows.to_dict("records"), places, strict=True):
        look = look_of[record["method"]]
        marker = markers.get(record["method"], look.marker)
        point: dict[str, Any] = {"color": look.color, "label": look.label}
        point["markerfacecolor"] = look.color if look.filled else "white"
        ax.hlines(place, record["lower"], record["upper"], color=look.color, zorder=1.5)
        ax.plot(record["estimate"], place, marker, **point)
        if record["corrected"]:
            end = max(record["estimate"], record["upper"])
            ax.annotate("*", (end, place), (2, -2), textcoords="offset points")
    quantity = rows["quantity"].iloc[0] if len(rows) else ""
    ax.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    ax.set_xlabel(quantity.replace("_", " "))
    return ax


def _name_rows(rows: "pd.DataFrame", look_of: Mapping[str, Any]) -> list[str]:
    """Name what tells numbers apart, the method by its label."""
    varying = [name for name in KEYS if name != "method" and rows[name].nunique() > 1]
    several = not varying or rows["method"].nunique() > 1
    names = []
    for record in rows.to_dict("records"):
        by = [look_of[record["method"]].label] if several else []
        names.append(", ".join([*(record[key] for key in varying), *by]))
    return names
