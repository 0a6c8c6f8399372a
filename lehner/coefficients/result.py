"""Agreement: coefficients, and every pair of raters."""

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from lehner.coefficients.coefficient import Coefficient
from lehner.coefficients.rater_pairs import RaterPairs
from lehner.core.checks import check_number, find
from lehner.core.estimate import plain
from lehner.core.number_format import percent
from lehner.core.student_t import t_quantile
from lehner.core.warning import Warning
from lehner.core.wording import counted

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Agreement:
    """Coefficients of agreement.

    Parameters
    ----------
    coefficients : tuple of Coefficient
        One for each name and kind of weights; `agreement[name]` and `agreement[name, weights]` find
        one.
    level : float
        Probability of their intervals, between 0 and 1.
    n_items : float or None
        Number of items with a rating; the total of a table of counts; None for a table of
        probabilities.
    rater_pairs : RaterPairs, optional
        Agreement of each pair of raters; the system is the rater `system`.
    notes : tuple of Warning
        Notes that apply to all coefficients.
    """

    coefficients: tuple[Coefficient, ...]
    level: float
    n_items: float | None
    rater_pairs: RaterPairs | None = None
    notes: tuple[Warning, ...] = ()

    @cached_property
    def pairs(self) -> "xr.Dataset | None":
        """Every pair of raters, dims (weights, rater, other_rater).

        `n_items` (without weights), `percent_agreement`, `cohen_kappa` and its `standard_error`;
        NaN if there is nothing to compare, and for a rater with itself.
        """
        return None if self.rater_pairs is None else self.rater_pairs.to_xarray()

    def __getitem__(self, key: str | tuple[str, str]) -> Coefficient:
        """Find a coefficient by its name, or by name and weights; by default the first weights."""
        name, weights = (key, None) if isinstance(key, str) else key
        if weights is not None:
            find("kind of weights", weights, {c.weights: c for c in self.coefficients})
        by_name = {c.name: c for c in reversed(self.coefficients) if weights in (None, c.weights)}
        return find("coefficient", name, by_name)

    def __repr__(self) -> str:
        wide = max((len(c.name) for c in self.coefficients), default=0)
        unknown = "an unknown number of items"
        items = unknown if self.n_items is None else counted(self.n_items, "item")
        lines = [f"Agreement on {items} [{percent(self.level)} interval]"]
        lines += [
            f"  {c.name:<{wide}}  {c.weights:<9}  {c}  {c.note if c.estimate is None else ''}"
            for c in self.coefficients
        ]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(line.rstrip() for line in lines)

    def required_items(self, within: float) -> tuple[int | None, ...]:
        """Number of items with which the interval of each coefficient reaches this far.

        A standard error is inversely proportional to the root of the number of items, if further
        items are like these. A pilot study, or a large simulated sample, tells its factor.

        Parameters
        ----------
        within : float
            From the coefficient to either end of its interval, .001 to 1.

        Returns
        -------
        tuple of int or None
            One for each of the coefficients; None for those without a standard error.

        Raises
        ------
        InputError
            If the distance is not between .001 and 1.

        Examples
        --------
        >>> import lehner
        >>> pilot = lehner.agreement(lehner.load_dataset("fleiss1971"), coefficients="alpha")
        >>> pilot.n_items, pilot.required_items(0.05)
        (30, (97,))
        """
        check_number("within", within, 0.001, 1)
        return tuple(self._required_items(one.standard_error, within) for one in self.coefficients)

    def _required_items(self, error: float | None, within: float) -> int | None:
        if error is None or self.n_items is None:
            return None
        probability = (1 + self.level) / 2
        deviation = error * math.sqrt(self.n_items)
        n = max(2, math.ceil((NormalDist().inv_cdf(probability) * deviation / within) ** 2))
        while t_quantile(probability, n - 1) * deviation / math.sqrt(n) > within:
            n += 1
        return n

    def to_dict(self) -> dict[str, Any]:
        """Result in plain types, undefined numbers as None, ready for JSON.

        Returns
        -------
        dict
            Keys `n_items`, `level`, `coefficients`, `pairs`, `notes`.
        """
        columns = {} if self.rater_pairs is None else self.rater_pairs.columns()
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return {
            "n_items": self.n_items,
            "level": self.level,
            "coefficients": plain(self.coefficients),
            "pairs": plain([dict(zip(columns, row, strict=True)) for row in rows]),
            "notes": plain(self.notes),
        }

    def to_frame(self) -> "pd.DataFrame":
        """Table with a row per coefficient.

        Returns
        -------
        pandas.DataFrame
            The fields of `Coefficient` as columns.
        """
        import pandas as pd

        return pd.DataFrame([vars(coefficient) for coefficient in self.coefficients])

    def pairs_frame(self) -> "pd.DataFrame":
        """Table with a row per pair of raters and kind of weights.

        Returns
        -------
        pandas.DataFrame
            Columns `rater`, `other_rater`, `weights`, `n_items`, `percent_agreement`,
            `cohen_kappa`, `standard_error`.
        """
        import pandas as pd

        return pd.DataFrame({} if self.rater_pairs is None else self.rater_pairs.columns())
