"""Results: what `lehner.estimate` returns, one long table with a row for each number."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.core.errors import InputError
from lehner.core.estimate import ESTIMANDS, IntervalEstimate, plain
from lehner.core.rows import COLUMNS, KEYS, NUMBERS, Row
from lehner.core.warning import Warning, by_severity
from lehner.data.ratings import Ratings

if TYPE_CHECKING:
    import pandas as pd


def tabulate(rows: Iterable[Row]) -> "pd.DataFrame":
    """Make the table of rows.

    Parameters
    ----------
    rows : iterable of dict

    Returns
    -------
    pandas.DataFrame
        With `COLUMNS`: texts are empty, and numbers NaN, where there are none.
    """
    import pandas as pd

    table = pd.DataFrame(list(rows), columns=list(COLUMNS))
    for name in (*KEYS, "kind"):
        table[name] = table[name].astype(object).where(table[name].notna(), "").astype(str)
    for name in (*NUMBERS, "probability", "n_items"):
        table[name] = table[name].astype(float)
    table["corrected"] = table["corrected"].eq(True)
    return table


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Results:
    """Estimates of one or several systems by one or several methods.

    Parameters
    ----------
    ratings : Ratings
        With all systems, and known truths.
    table : pandas.DataFrame
        One row a number, with `COLUMNS`: which number it is (`system`, `method`, `quantity`,
        `grouping`, `group`, `rater`, `category`, `response`, and `versus`, the second of a
        difference), `estimate`, `lower`, `upper`, `level` and `kind` of its interval, `corrected`
        (whether known truths correct or entered it), `probability` (of a difference that it is
        above zero) and `n_items` (how many items it is of).
    warnings : tuple of Warning
        What the user should know before using the numbers, the gravest first.
    fits : mapping of (system, method) to Estimate
        What each method gave; `fits[system, method].draws` are the posterior draws, if there are.
    options : object
        What was asked for.
    """

    ratings: Ratings
    table: "pd.DataFrame"
    warnings: tuple[Warning, ...]
    fits: Mapping[tuple[str, str], Any]
    options: Any = None

    @property
    def final(self) -> "pd.DataFrame":
        """The table with each number once: corrected by known truths where that is possible."""
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
        found = self.final
        for name, value in columns.items():
            wanted = value if isinstance(value, list | tuple) else [value]
            found = found[found[name].isin([str(one) for one in wanted])]
        return found

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
        found = self.select(quantity=quantity, **(empty | columns))
        if len(found) != 1:
            named = ", ".join(f"{name}={value!r}" for name, value in columns.items())
            raise InputError(
                f"{len(found)} rows have quantity={quantity!r}{named and ', '}{named}",
                "name system and method, and see results.table for what there is",
            )
        return value_of(found.iloc[0])

    def __repr__(self) -> str:
        shown = self.select(quantity=list(ESTIMANDS), grouping="")
        if not len(shown):
            shown = self.final
        text = [str(value_of(one)) for _, one in shown.iterrows()]
        keys = [name for name in KEYS if name != "quantity" and (shown[name] != "").any()]
        wide = shown.assign(text=text).pivot_table(
            "text", keys, "quantity", aggfunc="first", sort=False
        )
        lines = [f"Results: {len(self.table)} rows in results.table", wide.to_string(na_rep="")]
        return "\n".join([*lines, *(f"warning: {one}" for one in self.warnings)])

    def _repr_html_(self) -> str:
        return self.final[list(COLUMNS)].to_html(index=False, na_rep="", max_rows=60)

    def to_dict(self) -> dict[str, Any]:
        """Write it in plain types, ready for JSON.

        Returns
        -------
        dict
            `data`, what the ratings are; `rows`, the table; `warnings`; and the `version` of
            lehner. What is undefined or infinite is None.
        """
        import lehner

        records = self.table.to_dict("records")
        return {
            "data": describe_ratings(self.ratings, getattr(self.options, "name", "")),
            "rows": [{str(name): plain(value) for name, value in one.items()} for one in records],
            "warnings": plain(self.warnings),
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


def value_of(one: Any) -> IntervalEstimate:
    """Take the number of a row, with its interval."""
    known = {name: one.get(name) for name in NUMBERS}
    numbers = {
        name: None if value is None or np.isnan(value) else float(value)
        for name, value in known.items()
    }
    corrected = bool(one.get("corrected", False))
    return IntervalEstimate(**numbers, kind=one.get("kind", ""), corrected=corrected)


def describe_ratings(ratings: Ratings, name: str) -> dict[str, Any]:
    """Say in plain types what ratings are."""
    of_all = ("n_items", "n_raters", "n_ratings", "raters", "systems", "categories")
    return {"name": name} | {
        one: plain(getattr(ratings, one)) for one in (*of_all, "ordered", "notes")
    }


def merge_warnings(
    warnings: Iterable[Warning], methods: Iterable[str], systems: Iterable[str]
) -> tuple[Warning, ...]:
    """Order warnings by severity, each once: those of all methods, or all systems, name none."""
    own = list(dict.fromkeys(warnings))
    for field, names in (("method", list(methods)), ("system", list(systems))):
        own = list(dict.fromkeys(_of_all(own, field, names)))
    return tuple(by_severity(own))


def _of_all(warnings: list[Warning], field: str, names: list[str]) -> Iterator[Warning]:
    nobody: dict[str, Any] = {field: ""}
    whom: dict[Warning, set[str]] = {}
    for one in warnings:
        whom.setdefault(replace(one, **nobody), set()).add(getattr(one, field))
    for one in warnings:
        common = replace(one, **nobody)
        several = len(names) > 1 and whom[common] >= set(names)
        yield common if several else one
