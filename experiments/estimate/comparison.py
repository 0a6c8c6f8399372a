"""Methods on the same ratings, side by side, and where they disagree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from experiments.estimate.details import describe_systems, details_dict
from experiments.estimate.disagreement import Disagreement, disagreement
from experiments.estimate.group_column import GroupColumn
from experiments.estimate.groups import all_items_dict, estimate_in_groups, group_dicts
from experiments.estimate.known_truth import KnownTruth, known_truth
from experiments.estimate.part_corrections import (
    PartCorrection,
    correct_parts,
    group_correction,
    part_records,
    precision_correction,
)
from experiments.estimate.populations import estimate_in_populations, populations_dict
from experiments.estimate.quantities import quantity_rows
from experiments.estimate.rater_groups import estimate_in_rater_groups, rater_groups_dict
from experiments.estimate.sensitivity import sensitivity_dict
from experiments.estimate.truth_corrections import add_warnings, correction_dict, truth_corrections
from experiments.reporting.data_notes import data_notes
from lehner import (
    Dependence,
    Estimate,
    GroupEstimates,
    PairwiseAgreement,
    RaterGroupEstimates,
    Ratings,
    Sensitivity,
    SystemPerformance,
    TruthCorrection,
    check_dependence,
    pairwise_agreement,
    sensitivity,
)
from lehner.core.arrays import Floats
from lehner.core.estimate import plain
from lehner.dependence.widened_interval import SharedMistakes

if TYPE_CHECKING:
    import pandas as pd

    from bayes_models import KPropertyParameter
    from bayes_models.posterior.predictions import Prediction


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Estimates of several methods from the same ratings.

    Parameters
    ----------
    name : str
        Of the data.
    ratings : Ratings
    level : float
        Probability of the intervals.
    agreement : PairwiseAgreement
    estimates : tuple of Estimate
    disagreements : tuple of Disagreement
        Between each two methods that say which category is true.
    known_truth : KnownTruth, optional
    predictions : tuple of Prediction
        How well the models with draws predict items left out, the best first; empty unless there
        are two or more.
    dials : tuple of KPropertyParameter
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
    population_column : GroupColumn, optional
        The populations of items that were asked for.
    populations : tuple of GroupEstimates or None
        Estimates in each population by each method; None for methods that have none.
    rater_groups : tuple of RaterGroupEstimates or None
        Accuracies of groups of raters by each method; None for methods that do not tell raters
        apart.
    part_corrections : tuple of PartCorrection
        Precision, and accuracy in groups, corrected by known truths.
    """

    name: str
    ratings: Ratings
    level: float
    agreement: PairwiseAgreement
    estimates: tuple[Estimate, ...]
    disagreements: tuple[Disagreement, ...]
    known_truth: KnownTruth | None
    predictions: "tuple[Prediction, ...]" = ()
    dials: "tuple[KPropertyParameter, ...]" = ()
    corrections: dict[str, TruthCorrection] = field(default_factory=dict)
    sensitivities: tuple[Sensitivity, ...] = ()
    slopes: Mapping[float, Estimate] | None = None
    dependence: Dependence | None = None
    details: tuple[SystemPerformance | None, ...] = ()
    group_column: GroupColumn | None = None
    groups: tuple[GroupEstimates | None, ...] = ()
    population_column: GroupColumn | None = None
    populations: tuple[GroupEstimates | None, ...] = ()
    rater_groups: tuple[RaterGroupEstimates | None, ...] = ()
    part_corrections: tuple[PartCorrection, ...] = ()

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
                | all_items_dict(groups)
                | populations_dict(populations)
                | rater_groups_dict(rater_groups)
                | correction_dict(
                    ratings, estimate, self.corrections.get(estimate.method), self.level
                )
                | precision_correction(self.part_corrections, estimate.method)
                | {"sensitivity": sensitivity_dict(one, estimate, self.slopes)}
                for estimate, details, groups, populations, rater_groups, one in zip(
                    self.estimates,
                    self.details,
                    self.groups,
                    self.populations,
                    self.rater_groups,
                    self.sensitivities,
                    strict=True,
                )
            ]
            + self._group_dicts(),
            "comparisons": [],
            "disagreements": plain(self.disagreements),
            "predictions": plain(self.predictions),
            "dials": [plain(dial) | {"verdict": dial.verdict()} for dial in self.dials],
            "dependence": None if self.dependence is None else self.dependence.to_dict(),
        }

    def _group_dicts(self) -> list[dict[str, Any]]:
        return [
            one | group_correction(self.part_corrections, one["method"], one["group"])
            for groups in self.groups
            if groups is not None
            for one in group_dicts(groups)
        ]

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
            for row in quantity_rows(estimate, details)
        ]
        for method, correction in self.corrections.items():
            for quantity in ("system_accuracy", "system_accuracy_in_sample"):
                values = {
                    "method": method,
                    "system": self.ratings.systems[0],
                    "quantity": f"{quantity}_with_known_truth",
                    "label": "",
                }
                rows.append(values | vars(getattr(correction, quantity)))
        rows += part_records(self.part_corrections, self.ratings.systems[0])
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
    populations: GroupColumn | None = None,
    level: float | None = None,
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
        As `bayes_models.slope_sensitivity` gives them.
    costs : ndarray, shape (n_categories, n_categories), optional
        What each answer (column) costs when each category (row) is true.
    groups : GroupColumn, optional
        To which group each row belongs.
    populations : GroupColumn, optional
        The column that the populations of the ratings are from.
    level : float, optional
        Probability of the intervals that are computed here, by default that of the estimates', or
        .9.
    seed : int
        Of what is drawn here: for the system in detail, groups, populations and shared mistakes.

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
    level = level or _level(estimates)
    corrections = truth_corrections(ratings, estimates, level)
    estimates = [add_warnings(estimate, corrections) for estimate in estimates]
    with_truth = [one for one in estimates if "truth_probabilities" in one.arrays]
    return Comparison(
        name=name,
        ratings=ratings,
        level=level,
        agreement=pairwise_agreement(ratings),
        estimates=tuple(estimates),
        disagreements=tuple(disagreement(ratings, *two) for two in combinations(with_truth, 2)),
        known_truth=known_truth(ratings, level),
        predictions=_predictions(estimates),
        dials=_dials(estimates, level),
        corrections=corrections,
        sensitivities=tuple(
            sensitivity(estimate, ratings.n_categories, shared_mistakes=shared_mistakes)
            for estimate in estimates
        ),
        slopes=slopes,
        dependence=check_dependence(ratings),
        details=describe_systems(ratings, estimates, costs=costs, level=level, seed=seed),
        group_column=groups,
        groups=estimate_in_groups(ratings, estimates, groups, level=level, seed=seed),
        rater_groups=estimate_in_rater_groups(ratings, estimates, level=level, seed=seed),
        part_corrections=correct_parts(ratings, estimates, corrections, groups, level),
        population_column=populations,
        populations=estimate_in_populations(ratings, estimates, level=level, seed=seed),
    )


def _predictions(estimates: Sequence[Estimate]) -> "tuple[Prediction, ...]":
    if all(estimate.draws is None for estimate in estimates):
        return ()
    from bayes_models.posterior.predictions import compare_predictions

    return compare_predictions(estimates)


def _dials(estimates: Sequence[Estimate], level: float) -> "tuple[KPropertyParameter, ...]":
    for estimate in estimates:
        if estimate.method == "relaxed_k" and estimate.draws is not None:
            from bayes_models import read_k_properties

            return read_k_properties(estimate.draws, level=level)
    return ()


def _level(estimates: Sequence[Estimate]) -> float:
    levels = [one.system_accuracy.level for one in estimates if one.system_accuracy.level]
    return levels[0] if levels else 0.9
