"""The answers to questions in one table: `Results`."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from lehner.core.errors import Warning, sort_warnings
from lehner.core.estimate import Row
from lehner.core.results import Results, tabulate
from lehner.data.ratings import Ratings
from lehner.estimation.methods import get_look
from lehner.estimation.summary import summarise_results, write_sentences


def collect(
    ratings: Ratings,
    answers: Iterable[tuple[Mapping[str, str], Iterable[Row | Warning]]],
    options: Any,
    fits: Mapping[tuple[str, str], Any] | None = None,
) -> Results:
    """Put the answers to questions in one table.

    Parameters
    ----------
    ratings : Ratings
    answers : iterable of (mapping, iterable of dict or Warning)
        Whose an answer is, by the columns `system` and `method` and the field `about` of warnings;
        and the rows and warnings of the answer.
    options : object
        What was asked for.
    fits : mapping of (system, method) to Estimate, optional

    Returns
    -------
    Results
    """
    rows: list[Row] = []
    warnings: list[Warning] = []
    names: dict[str, set[str]] = {"method": set(), "system": set()}
    for described, answer in answers:
        for field in names.keys() & described.keys():
            names[field].add(described[field])
        for part in answer:
            if isinstance(part, Warning):
                warnings.append(replace(part, **described))  # type: ignore[arg-type]
            else:
                rows.append({**described, **part})
    return Results(
        ratings=ratings,
        table=tabulate(rows),
        warnings=_merge(warnings, names),
        fits=fits or {},
        options=options,
        looks=get_look,
        sentences=write_sentences,
        tables=summarise_results,
    )


def _merge(warnings: Iterable[Warning], names: Mapping[str, set[str]]) -> tuple[Warning, ...]:
    """Order warnings by severity, each once: those of all methods, or all systems, name none."""
    for field, every in names.items():
        whom: dict[Warning, set[str]] = defaultdict(set)
        pairs = [(text, replace(text, **{field: ""})) for text in warnings]  # type: ignore[arg-type]
        for text, unnamed in pairs:
            whom[unnamed].add(getattr(text, field))
        if len(every) > 1:
            warnings = [unnamed if whom[unnamed] >= every else text for text, unnamed in pairs]
    return tuple(sort_warnings(warnings))
