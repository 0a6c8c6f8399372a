"""Results: the answers of all commands, a long table with a row for each number; a forest plot."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import cycle
from typing import Any

from lehner.core.errors import InputError, Warning, list_cautions, name_warnings
from lehner.core.estimate import (
    COLUMNS,
    ESTIMANDS,
    KEYS,
    MEANINGS,
    NUMBERS,
    IntervalEstimate,
    Row,
    to_plain,
)
from lehner.core.lazy import pd, plt
from lehner.core.table import PrintedTable, pivot, to_latex, to_table, to_text

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
    heights = [names.index(label) for label in rows["label"]]
    return heights + SPREAD * (groups.cumcount() - (sizes - 1) / 2) / sizes


def _name_rows(rows: "pd.DataFrame", by_method: Mapping[str, Any]) -> list[str]:
    """Name what tells numbers apart, the method by its label."""
    varying = [name for name in KEYS if name != "method" and rows[name].nunique() > 1]
    several = not varying or rows["method"].nunique() > 1
    names = []
    for record in rows.to_dict("records"):
        by = [by_method[record["method"]].label] if several else []
        names.append(", ".join([*(record[key] for key in varying), *by]))
    return names


BASE_RATES = ("base_rates",)


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
    texts = [name for name, (holds, _) in MEANINGS.items() if holds == "text"]
    numbers = [name for name, (holds, _) in MEANINGS.items() if holds == "number or null"]
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
    name : str
        Name of the data, for titles.
    looks : callable
        A function from the name of a method to its `Look`, or what has the fields of a `Look`.
    sentences : callable, optional
        A function of the results that gives the answer in sentences.
    tables : callable, optional
        A function of the results that gives the tables of the first screen.
    latex : callable, optional
        A function of the results that writes the table of a paper.
    """

    ratings: Any
    table: "pd.DataFrame"
    warnings: tuple[Warning, ...] = ()
    fits: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    options: Any = None
    name: str = "ratings"
    looks: Callable[[str], Any] = Look
    sentences: Callable[["Results"], Iterable[str]] | None = None
    tables: Callable[["Results"], Sequence[PrintedTable]] | None = None
    latex: Callable[["Results"], str] | None = None

    @cached_property
    def final(self) -> "pd.DataFrame":
        """The table with each number once: corrected by gold labels where that is possible."""
        if not len(self.table):
            return self.table
        rows = self.table.groupby(list(KEYS), sort=False)["corrected"].idxmax()
        return self.table.loc[rows]

    @cached_property
    def by_system(self) -> dict[str, list[Row]]:
        """The rows of `final` about each system, and about none: ""."""
        names = self.final.columns.tolist()
        columns = [self.final[name].to_numpy(object).tolist() for name in names]
        rows: dict[str, list[Row]] = {}
        for values in zip(*columns, strict=True):
            row = dict(zip(names, values, strict=True))
            rows.setdefault(row["system"], []).append(row)
        return rows

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
        wide = self._arrange(*quantities, columns=columns, **selected)
        return wide.map(lambda value: "" if value is None else str(value))

    def _arrange(
        self, *quantities: str, columns: str = "method", **selected: Any
    ) -> "pd.DataFrame":
        """Put numbers side by side, each as an `IntervalEstimate`."""
        selected = {"grouping": "", "rater": ""} | selected
        rows = self.select(quantity=quantities or self._list_quantities(), **selected)
        keys = [name for name in KEYS if name != columns and rows[name].nunique() > 1]
        rows = rows.assign(cell=list(map(read_value, rows.to_dict("records"))))
        return pivot(rows, keys or ["method" if columns == "quantity" else "quantity"], columns)

    def summary(self) -> "pd.DataFrame":
        """Give the table of the first screen.

        Returns
        -------
        pandas.DataFrame
            Of texts: the accuracy by each method and what it rests on; of several systems their
            accuracies and ranks; of groups of items their proportions; of other questions all
            numbers.

        Examples
        --------
        >>> import lehner
        >>> results = lehner.estimate(lehner.load_dataset("lehner_table2"), "algebraic")
        >>> results.summary().loc["algebraic", "on these items"]
        '0.804 [0.000, 1.000]'
        """
        tables = list(map(to_text, self.tables(self))) if self.tables else []
        return tables[0] if tables else self._show_all()

    def sentence(self) -> str:
        """Give the answer as a paper reports it, with each caution that changes the conclusion.

        Returns
        -------
        str
            A line for each system, or for each group, and for each caution; of other questions the
            cautions alone.

        Examples
        --------
        >>> import lehner
        >>> results = lehner.estimate(lehner.load_dataset("lehner_table2"), "algebraic")
        >>> results.sentence()[:80]
        'On these 10 items the accuracy of System was estimated at .80, 90% CI [.00, 1.00'
        """
        sentences = self.sentences(self) if self.sentences else ()
        return "\n".join([*sentences, *list_cautions(self.warnings)])

    def to_latex(self, *quantities: str, **options: Any) -> str:
        r"""Write the table of a paper in LaTeX, for the package booktabs.

        Parameters
        ----------
        *quantities : str
            Names in the column `quantity`, which are then put side by side as `pivot` does. By
            default it is the table that the command writes into `estimates.tex` or
            `proportions.tex`, with caption, label and note.
        **options
            As `pivot` takes them.

        Returns
        -------
        str

        Examples
        --------
        >>> import lehner
        >>> results = lehner.estimate(lehner.load_dataset("lehner_table2"), "algebraic")
        >>> print(results.to_latex().partition(r"{\footnotesize")[0])
        \begin{table}
        \centering
        \caption{System: accuracy by each method}
        \label{tab:estimates}
        <BLANKLINE>
        """
        if self.latex and not quantities and not options:
            return self.latex(self)
        wide = self._arrange(*quantities, **options)
        if wide.columns.name == "method":
            wide = wide.rename(columns=lambda name: self.looks(name).label)
        return to_latex(to_table(wide))

    def plot(
        self, quantity: str = "system_accuracy", *, ax: "plt.Axes | None" = None, **selected: Any
    ) -> "plt.Axes":
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

    def _show_all(self) -> "pd.DataFrame":
        """Write the numbers that are shown by default side by side, of all groups."""
        shown, options = self._list_quantities(), dict[str, Any]()
        if shown in (ESTIMANDS, BASE_RATES):
            options = {"columns": "quantity", "grouping": ["", "group"]}
            options |= {"group": ""} if shown == ESTIMANDS else {}
        else:
            options = {"grouping": list(self.table["grouping"].unique())}
        return self.pivot(*shown, **options)

    def __repr__(self) -> str:
        wide = self._show_all().to_string(na_rep="")
        warnings = (f"warning: {text}" for text in name_warnings(self.warnings))
        return "\n".join([f"Results: {len(self.table)} rows in results.table", wide, *warnings])

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
            "data": {"name": self.name}
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


def read_value(row: Any) -> IntervalEstimate:
    """Take the number of a row, with its interval."""
    values = {name: row.get(name) for name in (*NUMBERS, "standard_error")}
    numbers = {name: None if pd.isna(value) else float(value) for name, value in values.items()}
    kind, corrected = row.get("kind", ""), bool(row.get("corrected", False))
    return IntervalEstimate(**numbers, kind=kind, corrected=corrected)
