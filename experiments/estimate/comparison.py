"""Methods on the same ratings, side by side, and where they disagree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.estimate.details import describe_systems, details_dict
from experiments.estimate.group_column import GroupColumn
from experiments.estimate.groups import estimate_in_groups, groups_dict
from experiments.estimate.predictions import Prediction, compare_predictions
from experiments.estimate.sensitivity import sensitivity_dict
from experiments.reporting.data_notes import data_notes
from lehner import (
    Dependence,
    Estimate,
    GroupEstimates,
    IntervalEstimate,
    PairwiseAgreement,
    Ratings,
    Sensitivity,
    SystemPerformance,
    TruthCorrection,
    check_dependence,
    correct_base_rates,
    correct_by_truth,
    pairwise_agreement,
    probabilities_right,
    sensitivity,
)
from lehner.core.arrays import Floats
from lehner.core.estimate import plain
from lehner.known_truths.correction import own_variance
from lehner.known_truths.partly_known import rightness
from lehner.known_truths.survey import known_items_alone
from lehner.latent_class.pattern_table import known_truths
from lehner.shared_mistakes.prior import SharedMistakes

if TYPE_CHECKING:
    import pandas as pd

    from bayes_models import Dial


@dataclass(frozen=True, kw_only=True)
class KnownTruth:
    """How the system does on the items whose truth is known.

    Parameters
    ----------
    n_items : int
        Items with a known truth and an answer of the system.
    system_accuracy : float
        Proportion of them that the system got right.
    used : bool
        Whether they correct estimates or enter models: unless the truth of all items is known.
    lower, upper, level : float or None
        Wilson's interval for the system's accuracy in this sample, as if these items were drawn
        from it at random; None if the truth of all is known, when the proportion is exact.
    """

    n_items: int
    system_accuracy: float
    used: bool
    lower: float | None = None
    upper: float | None = None
    level: float | None = None


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """Where two methods disagree.

    Parameters
    ----------
    methods : tuple of str
        The two.
    difference : float or None
        Second minus first estimate of the system's expected accuracy.
    inside : bool or None
        Whether each estimate lies in the other's interval.
    items : tuple of str
        Items with a different most probable category.
    n_items : int
        How many those are, a grouped row counting as its items.
    """

    methods: tuple[str, str]
    difference: float | None
    inside: bool | None
    items: tuple[str, ...]
    n_items: int


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Estimates of several methods from the same ratings.

    Parameters
    ----------
    name : str
        Of the data.
    ratings : Ratings
    agreement : PairwiseAgreement
    estimates : tuple of Estimate
    disagreements : tuple of Disagreement
        Between each two methods that say which category is true.
    known_truth : KnownTruth, optional
    predictions : tuple of Prediction
        How well the models with draws predict items left out, the best first; empty unless there
        are two or more.
    dials : tuple of Dial
        Of `relaxed_k`, if it is among the methods.
    corrections : dict
        By method with truth probabilities: its estimate corrected by known truths, if some are
        known and the method has not seen them.
    sensitivities : tuple of Sensitivity
        Of each estimate, to mistakes that raters and system share.
    slopes : mapping, optional
        Estimates by `relaxed_k` with the system's slope on difficulty fixed, by slope.
    dependence : Dependence, optional
        What the agreement of raters says about mistakes that they share.
    details : tuple of SystemPerformance or None
        The system in detail by each method; None for methods that say nothing of it by category.
    group_column : GroupColumn, optional
        The groups of items that were asked for.
    groups : tuple of GroupEstimates or None
        Estimates in each group by each method; None for methods that have none.
    """

    name: str
    ratings: Ratings
    agreement: PairwiseAgreement
    estimates: tuple[Estimate, ...]
    disagreements: tuple[Disagreement, ...]
    known_truth: KnownTruth | None
    predictions: tuple[Prediction, ...] = ()
    dials: "tuple[Dial, ...]" = ()
    corrections: dict[str, TruthCorrection] = field(default_factory=dict)
    sensitivities: tuple[Sensitivity, ...] = ()
    slopes: Mapping[float, Estimate] | None = None
    dependence: Dependence | None = None
    details: tuple[SystemPerformance | None, ...] = ()
    group_column: GroupColumn | None = None
    groups: tuple[GroupEstimates | None, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give the comparison in plain types, ready for JSON."""
        ratings = self.ratings
        return {
            "data": {
                "name": self.name,
                "n_items": ratings.n_items,
                "n_raters": ratings.n_raters,
                "n_ratings": ratings.n_ratings,
                "n_missing": ratings.n_items * ratings.n_raters - ratings.n_ratings
                if not ratings.repeated
                else None,
                "raters": list(ratings.raters),
                "systems": list(ratings.systems),
                "categories": list(ratings.categories),
                "ordered": ratings.ordered,
                "notes": data_notes(ratings),
                "known_truth": plain(self.known_truth),
            },
            "agreement": plain(self.agreement),
            "estimates": [
                estimate.to_dict()
                | details_dict(details)
                | groups_dict(groups)
                | _corrected(ratings, estimate, self.corrections.get(estimate.method))
                | {"sensitivity": sensitivity_dict(one, estimate, self.slopes)}
                for estimate, details, groups, one in zip(
                    self.estimates, self.details, self.groups, self.sensitivities, strict=True
                )
            ],
            "comparisons": [],
            "disagreements": plain(self.disagreements),
            "predictions": plain(self.predictions),
            "dials": [plain(dial) | {"verdict": dial.verdict()} for dial in self.dials],
            "dependence": None if self.dependence is None else self.dependence.to_dict(),
        }

    def to_frame(self) -> "pd.DataFrame":
        """Give a row per method and quantity.

        Returns
        -------
        pandas.DataFrame
            Columns `method`, `system`, `quantity`, `label` (the rater or category), `estimate`,
            `lower`, `upper`, `level`, `kind`, `standard_error`.
        """
        import pandas as pd

        rows = [
            row
            for estimate, details in zip(self.estimates, self.details, strict=True)
            for row in _rows(estimate, details)
        ]
        for method, found in self.corrections.items():
            for quantity in ("system_accuracy", "system_accuracy_in_sample"):
                values = {
                    "method": method,
                    "system": self.ratings.systems[0],
                    "quantity": f"{quantity}_with_known_truth",
                    "label": "",
                }
                rows.append(values | vars(getattr(found, quantity)))
        return pd.DataFrame(rows)


def compare(
    name: str,
    ratings: Ratings,
    estimates: Sequence[Estimate],
    *,
    shared_mistakes: SharedMistakes | None = None,
    slopes: Mapping[float, Estimate] | None = None,
    costs: Floats | None = None,
    groups: GroupColumn | None = None,
    seed: int = 1,
) -> Comparison:
    """Put estimates side by side.

    Parameters
    ----------
    name : str
        Name of the data.
    ratings : Ratings
        The data all estimates are of.
    estimates : sequence of Estimate
        Estimates by different methods.
    shared_mistakes : float or tuple of float, optional
        Share of items that mislead raters and system alike, or its Beta prior, for which
        intervals are widened.
    slopes : mapping, optional
        As `bayes_models.posterior.slope_sensitivity` gives them.
    costs : ndarray, shape (n_categories, n_categories), optional
        What each answer (column) costs when each category (row) is true.
    groups : GroupColumn, optional
        To which group each row belongs.
    seed : int
        Of what is drawn for groups.

    Returns
    -------
    Comparison
        The estimates with what they say about one another, and what known truths say about them.

    Raises
    ------
    InputError
        If there are not two raters, two categories and an item rated by two raters.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.load_dataset("lehner_table2")
    >>> one = lehner.majority_agreement(ratings)
    >>> two = lehner.estimate_algebraic(ratings)
    >>> compare("table 2", ratings, [one, two]).to_frame()["estimate"].round(3).tolist()[:4]
    [0.5, 0.5, 0.804, 0.804]
    """
    corrections = _corrections(ratings, estimates)
    estimates = [_add_warnings(estimate, corrections) for estimate in estimates]
    with_truth = [one for one in estimates if "truth_probabilities" in one.arrays]
    return Comparison(
        name=name,
        ratings=ratings,
        agreement=pairwise_agreement(ratings),
        estimates=tuple(estimates),
        disagreements=tuple(_disagreement(ratings, *two) for two in combinations(with_truth, 2)),
        known_truth=_known_truth(ratings, _level(estimates)),
        predictions=compare_predictions(estimates),
        dials=_dials(estimates),
        corrections=corrections,
        sensitivities=tuple(
            sensitivity(estimate, ratings.n_categories, shared_mistakes=shared_mistakes)
            for estimate in estimates
        ),
        slopes=slopes,
        dependence=check_dependence(ratings),
        details=describe_systems(ratings, estimates, costs=costs, level=_level(estimates)),
        group_column=groups,
        groups=estimate_in_groups(ratings, estimates, groups, level=_level(estimates), seed=seed),
    )


def _corrections(ratings: Ratings, estimates: Sequence[Estimate]) -> dict[str, TruthCorrection]:
    known = _known_truth(ratings)
    if known is None or not known.used:
        return {}
    return {
        estimate.method: correct_by_truth(
            ratings,
            probabilities_right(ratings, estimate),
            variance=own_variance(estimate),
            level=estimate.system_accuracy.level or 0.9,
        )
        for estimate in estimates
        if "truth_probabilities" in estimate.arrays
        and estimate.system_accuracy.estimate is not None
        and not uses_truths(estimate)
    }


def uses_truths(estimate: Estimate) -> bool:
    """Whether known truths entered the fit of a model."""
    if estimate.draws is not None:
        return bool(estimate.draws.attrs.get("known_truths", 0))
    return bool(estimate.diagnostics.get("known_truths", 0))


def _add_warnings(estimate: Estimate, corrections: dict[str, TruthCorrection]) -> Estimate:
    if estimate.method not in corrections:
        return estimate
    return replace(estimate, warnings=(*estimate.warnings, *corrections[estimate.method].warnings))


def _corrected(
    ratings: Ratings, estimate: Estimate, found: TruthCorrection | None
) -> dict[str, Any]:
    """Give a correction for JSON."""
    if found is None or estimate.truth_probabilities is None:
        return {"with_known_truth": None}
    level = found.system_accuracy.level or 0.9
    rates = correct_base_rates(ratings, estimate.truth_probabilities, level=level)

    def ends(value: IntervalEstimate) -> dict[str, Any]:
        return {name: getattr(value, name) for name in ("estimate", "lower", "upper")}

    return {
        "with_known_truth": ends(found.system_accuracy_in_sample) | {"n_known": found.n_known},
        "known_truth_details": {
            "expected_system_accuracy": ends(found.system_accuracy),
            "known_items_alone": ends(found.known_items_alone),
            "prediction_powered": ends(found.prediction_powered),
            "expected_right": found.expected_right,
            "right": found.right,
            "p_value": found.p_value,
            "base_rates": {
                str(c): {name: float(rates[name].sel(category=c)) for name in rates}
                for c in ratings.categories
            },
        },
    }


def _dials(estimates: Sequence[Estimate]) -> "tuple[Dial, ...]":
    for estimate in estimates:
        if estimate.method == "relaxed_k" and estimate.draws is not None:
            from bayes_models import read_dials

            return read_dials(estimate.draws, level=estimate.system_accuracy.level or 0.9)
    return ()


def _level(estimates: Sequence[Estimate]) -> float:
    levels = [one.system_accuracy.level for one in estimates if one.system_accuracy.level]
    return levels[0] if levels else 0.9


def _known_truth(ratings: Ratings, level: float = 0.9) -> KnownTruth | None:
    if ratings.truth is None or ratings.system is None or not (ratings.system >= 0).any():
        return None
    # The known items alone need no method, so that any probabilities will do.
    items = rightness(ratings, np.zeros(len(ratings.system)))
    alone = known_items_alone(items, level)
    if alone.estimate is None:
        return None
    found = KnownTruth(
        n_items=items.n_known, system_accuracy=alone.estimate, used=known_truths(ratings) > 0
    )
    if not found.used:
        return found
    return replace(found, lower=alone.lower, upper=alone.upper, level=alone.level)


def _disagreement(ratings: Ratings, first: Estimate, second: Estimate) -> Disagreement:
    one, two = first.system_accuracy, second.system_accuracy
    difference = inside = None
    if one.estimate is not None and two.estimate is not None:
        difference = two.estimate - one.estimate
        if None not in (one.lower, one.upper, two.lower, two.upper):
            inside = bool(
                one.lower <= two.estimate <= one.upper and two.lower <= one.estimate <= two.upper  # type: ignore[operator]
            )
    rows = _different_truth(first, second)
    return Disagreement(
        methods=(first.method, second.method),
        difference=difference,
        inside=inside,
        items=tuple(str(item) for item in ratings.items[rows]),
        n_items=int(ratings.weights[rows].sum()),
    )


def _different_truth(first: Estimate, second: Estimate) -> np.ndarray:
    """Find rows whose most probable category differs by more than a tie."""
    one, two = (e.arrays["truth_probabilities"].values for e in (first, second))
    if np.isnan(one).any() or np.isnan(two).any():
        return np.array([], dtype=np.int64)
    best_one, best_two = one.argmax(axis=1), two.argmax(axis=1)
    rows = np.arange(len(one))
    tie = np.isclose(one[rows, best_one], one[rows, best_two]) | np.isclose(
        two[rows, best_one], two[rows, best_two]
    )
    return np.flatnonzero((best_one != best_two) & ~tie)


def _rows(estimate: Estimate, details: SystemPerformance | None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    head = {"method": estimate.method, "system": estimate.system}
    for quantity in ("system_accuracy", "system_accuracy_in_sample"):
        values = vars(getattr(estimate, quantity))
        rows.append(head | {"quantity": quantity, "label": ""} | values)
    for quantity in ("rater_accuracy", "base_rates"):
        for label, value in with_intervals(estimate, details, quantity).items():
            rows.append(head | {"quantity": quantity, "label": label} | vars(value))
    return rows


def with_intervals(
    estimate: Estimate, details: SystemPerformance | None, quantity: str
) -> dict[str, IntervalEstimate]:
    """Give rater accuracies or base rates by name, with intervals where there are any."""
    numbers = estimate.to_dict()[quantity]
    if details is None or quantity not in details.arrays:
        return {name: IntervalEstimate(estimate=value) for name, value in numbers.items()}
    (names, _) = details.arrays[quantity].names.values()
    found = {str(name): details.value(quantity, name) for name in names}
    return {name: found[name] for name in numbers}
