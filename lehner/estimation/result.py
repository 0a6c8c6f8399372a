"""Results of `estimate`: of each method, of each system, and of systems compared."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lehner.algebra.steps import PairwiseAgreement
from lehner.core.estimate import ESTIMANDS, Estimate, IntervalEstimate, ends, plain
from lehner.data.ratings import Ratings
from lehner.dependence.bounds import MistakesNeeded
from lehner.dependence.check import Dependence
from lehner.dependence.sensitivity import Sensitivity
from lehner.estimation.disagreement import Disagreement
from lehner.estimation.known_truths import Corrected, KnownTruth
from lehner.estimation.methods import get_method
from lehner.estimation.question import Question
from lehner.groups.membership import GroupColumn
from lehner.groups.result import GroupEstimates
from lehner.known_truths.correction import TruthCorrection
from lehner.performance.result import RaterPerformance, SystemPerformance
from lehner.systems.common_items import n_common_items
from lehner.systems.comparison import SystemDifference, SystemRank

if TYPE_CHECKING:
    import pandas as pd

OF_DIFFERENCE = ("lower", "upper", "level", "corrected")


@dataclass(frozen=True, kw_only=True, eq=False)
class MethodResult:
    """What one method says of one system.

    Parameters
    ----------
    estimate : Estimate
        The estimate, with all warnings.
    answers : mapping of str to object
        The answer to each question by its name; None where the method has none.
    questions : tuple of Question
        The questions that were asked.
    uncorrected : MethodResult, optional
        The same without the known truths, where they correct it.
    """

    estimate: Estimate
    answers: Mapping[str, Any]
    questions: tuple[Question, ...]
    uncorrected: "MethodResult | None" = None

    @property
    def method(self) -> str:
        """Name of the method."""
        return self.estimate.method

    @property
    def without_truths(self) -> "MethodResult":
        """The result without the known truths that correct it; itself if none do."""
        return self.uncorrected or self

    @property
    def assumes(self) -> str:
        """What the estimate rests on, to be read after "if"; empty for methods of one's own."""
        known = get_method(self.method)
        return "" if known is None else known.assumes

    @property
    def allows_shared_mistakes(self) -> bool:
        """Whether the interval is meant to hold though raters and system share mistakes."""
        known = get_method(self.method)
        return known is not None and "shared_mistakes" in known.gives

    @property
    def details(self) -> SystemPerformance | None:
        """The system's confusion matrix and other measures."""
        return self.answers["details"]

    @property
    def raters(self) -> RaterPerformance | None:
        """The raters' accuracy and recall, and who is less accurate."""
        return None if self.details is None else self.details.raters

    @property
    def groups(self) -> GroupEstimates | None:
        """Accuracies in groups of items."""
        return self.answers["groups"]

    @property
    def populations(self) -> GroupEstimates | None:
        """Base rates and accuracies in populations of items."""
        return self.answers["populations"]

    @property
    def rater_groups(self) -> GroupEstimates | None:
        """Accuracies of groups of raters."""
        return self.answers["rater_groups"]

    @property
    def corrected(self) -> Corrected | None:
        """The estimate corrected by known truths, in all items and in parts of them."""
        return self.answers["corrected"]

    @property
    def correction(self) -> TruthCorrection | None:
        """The accuracy in all items, corrected by known truths."""
        return None if self.corrected is None else self.corrected.correction

    @property
    def sensitivity(self) -> Sensitivity:
        """What the estimate would be if items misled the raters."""
        return self.answers["sensitivity"].misled

    def with_intervals(self, quantity: str) -> dict[str, IntervalEstimate]:
        """Look up rater accuracies or base rates by name, with intervals where there are any.

        Parameters
        ----------
        quantity : {"rater_accuracy", "base_rates"}
            Which of the two.

        Returns
        -------
        dict of str to IntervalEstimate
            By the name of the rater or category.
        """
        numbers = self.estimate.to_dict()[quantity]
        details = self.details
        if details is None or quantity not in details.arrays:
            return {name: IntervalEstimate(estimate=value) for name, value in numbers.items()}
        (names, _) = details.arrays[quantity].names.values()
        by_name = {str(name): details.value(quantity, name) for name in names}
        return {name: by_name[name] for name in numbers}

    def to_dict(self) -> dict[str, Any]:
        """Write the estimate with all answers in plain types, ready for JSON.

        Returns
        -------
        dict
            The fields of `Estimate.to_dict` and of each question; where known truths correct
            these, `without_known_truths` has what they were before.
        """
        found = self.estimate.to_dict()
        for question in self.questions:
            found |= question.to_dict(self.answers[question.name])
        return found | {"without_known_truths": self.uncorrected and self.uncorrected.brief()}

    def brief(self) -> dict[str, Any]:
        """Write the accuracies, recall and precision in plain types.

        Returns
        -------
        dict
            `system_accuracy`, `system_accuracy_in_sample`, and `recall` and `precision` of each
            category.
        """
        found = {name: ends(getattr(self.estimate, name)) for name in ESTIMANDS}
        details = {} if self.details is None else self.details.to_dict()
        return found | {name: details.get(name) for name in ("recall", "precision")}

    def groups_to_dicts(self) -> Iterator[dict[str, Any]]:
        """Iterate over the estimates in groups of items, in plain types.

        Yields
        ------
        dict
            Of one group.
        """
        if self.groups is None:
            return
        names = {"method": self.groups.method, "system": self.groups.system}
        for one in self.groups.to_dict()["groups"]:
            yield names | one

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over all quantities as rows of a table.

        Yields
        ------
        dict
            A value for each column.
        """
        head = {"method": self.method, "system": self.estimate.system}
        for quantity in ESTIMANDS:
            value = getattr(self.estimate, quantity)
            before = self.uncorrected and getattr(self.uncorrected.estimate, quantity).estimate
            places = {"quantity": quantity, "label": ""}
            yield head | places | vars(value) | {"uncorrected": before}
        for quantity in ("rater_accuracy", "base_rates"):
            for label, value in self.with_intervals(quantity).items():
                yield head | {"quantity": quantity, "label": label} | vars(value)


@dataclass(frozen=True, kw_only=True, eq=False)
class SystemResult:
    """What all methods say of one system.

    Parameters
    ----------
    ratings : Ratings
        With this system only.
    level : float
        Probability of the intervals.
    agreement : PairwiseAgreement
        How often raters agree.
    results : tuple of MethodResult
        Of each method.
    disagreements : tuple of Disagreement
        Between each two methods that say which category is true.
    known_truth : KnownTruth, optional
        How the system does on the items whose truth is known.
    predictions : tuple
        How well models with draws predict items left out, the best first; empty unless there are
        two or more.
    k_properties : tuple
        What the draws of `relaxed_k` say of each K-property.
    slopes : mapping of float to Estimate, optional
        Estimates with the system's slope on difficulty fixed, by slope.
    mistakes_needed : MistakesNeeded, optional
        How much mistakes must correlate for the accuracy to be low, without any model.
    dependence : Dependence, optional
        What the agreement of raters says about mistakes that they share.
    group_column, population_column : GroupColumn, optional
        The columns by which items are grouped.
    """

    ratings: Ratings
    level: float
    agreement: PairwiseAgreement
    results: tuple[MethodResult, ...]
    disagreements: tuple[Disagreement, ...]
    known_truth: KnownTruth | None
    predictions: tuple[Any, ...] = ()
    k_properties: tuple[Any, ...] = ()
    slopes: Mapping[float, Estimate] | None = None
    mistakes_needed: MistakesNeeded | None = None
    dependence: Dependence | None = None
    group_column: GroupColumn | None = None
    population_column: GroupColumn | None = None

    @property
    def system(self) -> str:
        """Name of the system."""
        return self.ratings.systems[0]

    @property
    def reported(self) -> MethodResult | None:
        """The result to report: by `calibrated`, else by the first method with an estimate."""
        known = [
            one
            for one in self.results
            if one.estimate.system_accuracy_in_sample.estimate is not None
        ]
        return min(known, key=lambda one: not one.allows_shared_mistakes, default=None)

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """The estimate of each method."""
        return tuple(one.estimate for one in self.results)

    def to_dict(self) -> dict[str, Any]:
        """Write what concerns several methods in plain types, ready for JSON."""
        return {
            "known_truth": plain(self.known_truth),
            "disagreements": plain(self.disagreements),
            "predictions": plain(self.predictions),
            "k_properties": [plain(one) | {"verdict": one.verdict()} for one in self.k_properties],
            "mistakes_needed": plain(self.mistakes_needed),
            "dependence": None if self.dependence is None else self.dependence.to_dict(),
        }

    def rows(self) -> list[dict[str, Any]]:
        """List all quantities by all methods as rows of a table."""
        return [row for one in self.results for row in one.rows()]

    def to_frame(self) -> "pd.DataFrame":
        """Make a table of all quantities, as `Comparison.to_frame` does."""
        import pandas as pd

        return pd.DataFrame(self.rows())


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Estimates of one or several systems by one or several methods.

    Parameters
    ----------
    name : str
        Name of the data.
    ratings : Ratings
        With all systems.
    systems : tuple of SystemResult
        What is known of each system.
    differences : tuple of SystemDifference
        Of each two systems by each method.
    ranks : tuple of SystemRank
        Of each system by each method with intervals, if there are several.
    systems_rate : bool
        Whether the other systems served as raters of each system.
    common_items : bool
        Whether systems are compared on the items that they have in common.
    """

    name: str
    ratings: Ratings
    systems: tuple[SystemResult, ...]
    differences: tuple[SystemDifference, ...] = field(default=())
    ranks: tuple[SystemRank, ...] = field(default=())
    systems_rate: bool = False
    common_items: bool = True

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """All estimates, system by system."""
        return tuple(one for system in self.systems for one in system.estimates)

    @property
    def results(self) -> tuple[MethodResult, ...]:
        """All results, system by system."""
        return tuple(one for system in self.systems for one in system.results)

    def to_dict(self) -> dict[str, Any]:
        """Write everything in plain types, ready for JSON.

        Returns
        -------
        dict
            Keys `data`, `agreement`, `estimates`, `comparisons` (differences between systems) and
            `ranks`; of one system also `disagreements`, `predictions`, `k_properties` and
            `dependence`, which `systems` has of each of several.
        """
        each = [one.to_dict() for one in self.systems]
        estimates: list[dict[str, Any]] = []
        for system in self.systems:
            estimates += [one.to_dict() for one in system.results]
            estimates += [group for one in system.results for group in one.groups_to_dicts()]
        data = self._data()
        if len(each) == 1:
            data["known_truth"] = each[0].pop("known_truth")
            several = {"comparisons": []} | each[0]
        else:
            data |= {
                "systems_rate": self.systems_rate,
                "common_items": self.common_items,
                "n_common_items": n_common_items(self.ratings, self.ratings.systems),
            }
            several = {
                "comparisons": plain(self.differences),
                "ranks": plain(self.ranks),
                "systems": [
                    {"system": system.system} | one
                    for system, one in zip(self.systems, each, strict=True)
                ],
            }
        agreement = plain(self.systems[0].agreement)
        return {"data": data, "agreement": agreement, "estimates": estimates} | several

    def _data(self) -> dict[str, Any]:
        ratings, one = self.ratings, self.systems[0].ratings
        missing = None if one.repeated else one.n_items * one.n_raters - one.n_ratings
        sizes = {name: getattr(ratings, name) for name in ("n_items", "n_raters", "n_ratings")}
        names = ("raters", "systems", "categories", "ordered", "notes")
        of_all = {name: plain(getattr(ratings, name)) for name in names}
        return {"name": self.name} | sizes | {"n_missing": missing} | of_all

    def to_frame(self) -> "pd.DataFrame":
        """Make a table with a row for each system, method and quantity.

        Returns
        -------
        pandas.DataFrame
            Columns `method`, `system`, `quantity`, `label` (the rater or category), `estimate`,
            `lower`, `upper`, `level`, `kind`, `standard_error`, `corrected` (whether known truths
            correct the number, or entered it), `uncorrected` (the estimate without them).
        """
        import pandas as pd

        return pd.DataFrame([row for one in self.systems for row in one.rows()])

    def differences_frame(self) -> "pd.DataFrame":
        """Make a table with a row for each method, pair of systems and quantity.

        Returns
        -------
        pandas.DataFrame
            Columns `method`, `first`, `second`, `quantity`, `difference`, `lower`, `upper`,
            `level`, `corrected` (whether known truths correct the difference, or entered it),
            `uncorrected` (the difference without them), `probability_better`, `n_common_items`
            (that both systems answered), `reason` (why there is no difference).
        """
        import pandas as pd

        rows = []
        for one in self.differences:
            for quantity in ESTIMANDS:
                of = quantity.removeprefix("system_accuracy")
                difference = getattr(one, f"difference{of}")
                before = one.uncorrected and getattr(one.uncorrected, f"difference{of}").estimate
                names = {"method": one.method, "first": one.systems[0], "second": one.systems[1]}
                rows.append(
                    names
                    | {"quantity": quantity, "difference": difference.estimate}
                    | {name: getattr(difference, name) for name in OF_DIFFERENCE}
                    | {"uncorrected": before}
                    | {"probability_better": getattr(one, f"probability_better{of}")}
                    | {"n_common_items": one.n_common_items}
                    | {"reason": one.reason if difference.estimate is None else ""}
                )
        return pd.DataFrame(rows)
