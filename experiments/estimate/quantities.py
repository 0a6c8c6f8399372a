"""What a method estimates, number by number with intervals: the rows of tables."""

from typing import Any

from lehner import Estimate, IntervalEstimate, SystemPerformance


def quantity_rows(estimate: Estimate, details: SystemPerformance | None) -> list[dict[str, Any]]:
    """Give a row for each quantity of a method."""
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
    by_name = {str(name): details.value(quantity, name) for name in names}
    return {name: by_name[name] for name in numbers}
