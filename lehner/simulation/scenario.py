"""Scenario: what is simulated, and by how much it violates the K-properties."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.errors import (
    check_choice,
    check_numbers,
    check_positive,
    check_probability,
    check_proportions,
    check_whole_number,
    wrong,
)

type Normalization = Literal["expected", "scaled_errors", "rows"]
type Affected = Literal["both", "raters", "system"]
type CommonErrors = Literal["none", "levels", "raters"]
type BaseRates = Literal["dirichlet", "uniform", "equal"] | tuple[float, ...]

NORMALIZATIONS: tuple[Normalization, ...] = get_args(Normalization.__value__)
CHOICES = {
    "easiness_affects": ("both", "raters", "system"),
    "errors_affect": ("both", "raters", "system"),
    "common_errors": ("none", "levels", "raters"),
    "normalization": NORMALIZATIONS,
}
NAMED_BASE_RATES = ("dirichlet", "uniform", "equal")


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """How items, raters and the system behave in a simulation.

    Parameters
    ----------
    n_categories : int
        K, 2 or more.
    n_items : int
        Number of items, 1 or more.
    initial_rater_accuracy : tuple of float, length n_raters
        Initial probability that each rater is right (the paper's IPC), 0 to 1. The expected
        accuracy can differ from it, because `easiness` and `normalization` change it.
    initial_system_accuracy : float
        Initial probability that the system is right (IPC), 0 to 1.
    easiness : tuple of float
        What is added to accuracy at each level of difficulty (the paper's PDA), from -1 to 1:
        the higher, the easier the items. Accuracy stays in [0, 1].
    easiness_probabilities : tuple of float, optional
        Proportion of the items at each level; equal by default.
    easiness_affects : {"both", "raters", "system"}
        Whose accuracy the levels change.
    asymmetric_dispersion : float
        How many times more likely an error one step nearer to the truth is (AD), above 0.
    proportional_error_range : float
        Each error probability is multiplied by a uniform draw from 1 ± this number (PER), 0 to 1.
    errors_affect : {"both", "raters", "system"}
        Whose errors AD and PER make unequal.
    common_errors : {"none", "levels", "raters"}
        Which confusion matrices share the draws of PER: no two of them, those of the levels of
        difficulty of each rater, or those of all raters and the system.
    normalization : {"expected", "scaled_errors", "rows"}
        How the paper's step 5 is interpreted, see `lehner.confusion_matrix`.
    base_rates : {"dirichlet", "uniform", "equal"} or tuple of float
        Base rates: drawn for each sample from a flat Dirichlet distribution or as normalised
        uniform numbers, or equal, or given.
    missing : float
        Probability that a rating is missing, 0 to 1.
    copying : tuple of float, length n_raters
        Probability that a rater repeats the first rater's rating; () if none does.
    misleading : float
        Proportion of items that raters and system alike perceive as items of another category,
        0 to 1.

    Raises
    ------
    InputError
        If a field is not as above; the error names it.

    References
    ----------
    Lehner (2015), "Performance and robustness".

    Examples
    --------
    >>> scenario = Scenario(initial_rater_accuracy=(0.5, 0.6, 0.7), easiness=(-0.2, 0, 0.2))
    >>> scenario.k_properties_hold()
    False
    >>> scenario.violations()["difficulty"]
    0.4
    """

    n_categories: int = 5
    n_items: int = 200
    initial_rater_accuracy: tuple[float, ...] = (0.6, 0.6, 0.6)
    initial_system_accuracy: float = 0.9
    easiness: tuple[float, ...] = (0.0,)
    easiness_probabilities: tuple[float, ...] | None = None
    easiness_affects: Affected = "both"
    asymmetric_dispersion: float = 1.0
    proportional_error_range: float = 0.0
    errors_affect: Affected = "both"
    common_errors: CommonErrors = "none"
    normalization: Normalization = "expected"
    base_rates: BaseRates = "dirichlet"
    missing: float = 0.0
    copying: tuple[float, ...] = ()
    misleading: float = 0.0

    def __post_init__(self) -> None:
        self._tuples()
        self._numbers()
        for name, choices in CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        for name in ("initial_rater_accuracy", "copying"):
            for value in getattr(self, name):
                check_probability(name, value)
        if self.n_raters < 2:
            raise wrong(
                "initial_rater_accuracy", self.initial_rater_accuracy, "give two or more raters"
            )
        if not self.easiness or not all(-1 <= level <= 1 for level in self.easiness):
            raise wrong("easiness", self.easiness, "give levels between -1 and 1")
        if self.copying and (len(self.copying) != self.n_raters or self.copying[0] != 0):
            raise wrong("copying", self.copying, f"give {self.n_raters} probabilities, the first 0")
        if self.easiness_probabilities is not None:
            n_levels = len(self.easiness)
            check_proportions("easiness_probabilities", self.easiness_probabilities, n_levels)
        if isinstance(self.base_rates, str):
            check_choice("base_rates", self.base_rates, NAMED_BASE_RATES)
        else:
            check_proportions("base_rates", self.base_rates, self.n_categories)

    def _tuples(self) -> None:
        """Convert lists and arrays to tuples of numbers, and -0.0 to 0.0."""
        names = ["initial_rater_accuracy", "easiness", "copying"]
        if self.easiness_probabilities is not None:
            names.append("easiness_probabilities")
        if not isinstance(self.base_rates, str):
            names.append("base_rates")
        for name in names:
            values = check_numbers(name, getattr(self, name))
            object.__setattr__(self, name, tuple(value + 0.0 for value in values))

    def _numbers(self) -> None:
        """Convert 1 to 1.0 and -0.0 to 0.0, so that equal scenarios are written alike."""
        for name, least in (("n_categories", 2), ("n_items", 1)):
            object.__setattr__(self, name, check_whole_number(name, getattr(self, name), least))
        for name in (
            "initial_system_accuracy",
            "proportional_error_range",
            "missing",
            "misleading",
        ):
            object.__setattr__(self, name, check_probability(name, getattr(self, name)) + 0.0)
        dispersion = check_positive("asymmetric_dispersion", self.asymmetric_dispersion)
        object.__setattr__(self, "asymmetric_dispersion", dispersion)

    @property
    def n_raters(self) -> int:
        """Number of raters, without the system."""
        return len(self.initial_rater_accuracy)

    @property
    def level_probabilities(self) -> Floats:
        """Proportion of the items at each level of difficulty."""
        n_levels = len(self.easiness)
        if self.easiness_probabilities is None:
            return np.full(n_levels, 1 / n_levels)
        return np.array(self.easiness_probabilities) / sum(self.easiness_probabilities)

    @property
    def random_parameters(self) -> bool:
        """Whether base rates or confusion matrices differ between samples."""
        return self.proportional_error_range > 0 or self.base_rates in ("dirichlet", "uniform")

    def violations(self) -> dict[str, float]:
        """Measure by how much the assumptions of the algebra are violated.

        Returns
        -------
        dict
            A number for each kind of violation, 0 if there is none. `rater_accuracy`: range of the
            raters' initial accuracies. `difficulty`: range of the levels. `asymmetric_dispersion`:
            AD - 1, or 1/AD - 1 below 1. `proportional_error_range`: PER. These violate the
            K-properties of equal accuracy, difficulty and errors. `copying`, the greatest
            probability, violates the independence of raters (the paper's AA2). `misleading`, the
            proportion of such items, violates the assumption that raters err independently of one
            another and of the system.
        """
        levels = [
            level for level, p in zip(self.easiness, self.level_probabilities, strict=True) if p
        ]
        dispersion = max(self.asymmetric_dispersion, 1 / self.asymmetric_dispersion)
        return {
            "rater_accuracy": _range(self.initial_rater_accuracy),
            "difficulty": _range(levels),
            "asymmetric_dispersion": dispersion - 1 if self.n_categories > 2 else 0.0,
            "proportional_error_range": self.proportional_error_range,
            "copying": max(self.copying, default=0.0),
            "misleading": self.misleading,
        }

    def k_properties_hold(self) -> bool:
        """Whether all assumptions of the algebra hold, that is, all `violations` are 0.

        Returns
        -------
        bool
            True if they hold.
        """
        return not any(self.violations().values())


def _range(values: Sequence[float]) -> float:
    return round(max(values) - min(values), 12)
