"""Results of what `lehner.estimate` and `lehner.compare` give, until they give results."""

from types import SimpleNamespace
from typing import Any

from lehner.estimation.results import Results


def to_results(found: Any) -> Results:
    """Put a comparison into results; results stay as they are."""
    if isinstance(found, Results):
        return found
    from lehner.estimation.proportions import Proportions
    from lehner.estimation.rows import results_of, results_of_proportions

    options = {"name": found.name, "positive": None, "populations": None}
    if isinstance(found, Proportions):
        column = SimpleNamespace(column=found.grouped_by) if found.grouped_by else None
        more = {"level": found.level, "groups": column}
        return results_of_proportions(found, SimpleNamespace(**options, **more))
    first = found.systems[0]
    known = [one.details.positive for one in first.results if one.details is not None]
    options |= {
        "positive": known[0] if known else None,
        "level": first.level,
        "groups": first.group_column,
        "populations": first.population_column,
        "systems_rate": found.systems_rate,
        "common_items": found.common_items,
    }
    return results_of(found, SimpleNamespace(**options))
