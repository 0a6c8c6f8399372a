"""Groups of raters by each method: estimated, and laid out for people and in LaTeX."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from experiments.estimate.groups_report import (
    MOST_DIFFERENCES,
    difference_rows,
    latex_with_differences,
)
from experiments.reporting.terminal import line
from experiments.reporting.text_table import bold_blocks
from experiments.reporting.warning_lines import warning_lines
from lehner import Estimate, RaterGroupEstimates, Ratings
from lehner.core.number_format import percent
from lehner.core.wording import counted, first_few
from lehner.groups.rater_groups import pool_raters
from lehner.groups.rater_membership import find_rater_groups

if TYPE_CHECKING:
    pass

IN_JSON = ("rater_groups", "rater_group_differences")
RESAMPLES = 2000
MOST_NAMED = 8

type RaterGroupsByMethod = Sequence[RaterGroupEstimates | None]


def estimate_in_rater_groups(
    ratings: Ratings,
    estimates: Sequence[Estimate],
    *,
    level: float,
    seed: int,
) -> tuple[RaterGroupEstimates | None, ...]:
    """Estimate the accuracy of groups of raters by each method.

    Parameters
    ----------
    ratings : Ratings
        With one system, and with groups of raters, or there are no estimates.
    estimates : sequence of Estimate
    level : float
    seed : int

    Returns
    -------
    tuple of RaterGroupEstimates or None
        As many as there are estimates; None for methods that do not tell raters apart.
    """
    if not ratings.rater_group:
        return (None,) * len(estimates)
    found = find_rater_groups(ratings)
    return tuple(
        pool_raters(ratings, one, found, level=level, resamples=RESAMPLES, seed=seed)
        for one in estimates
    )


def rater_groups_dict(found: RaterGroupEstimates | None) -> dict[str, Any]:
    """Give groups of raters and their differences for JSON; null where there are none."""
    return dict.fromkeys(IN_JSON) if found is None else found.to_dict()


def render_rater_groups(
    ratings: Ratings, estimates: Sequence[Estimate], found: RaterGroupsByMethod, width: int
) -> list[Text]:
    """Lay the accuracies of groups of raters, and their differences, out for the terminal.

    Parameters
    ----------
    ratings : Ratings
    estimates : sequence of Estimate
    found : sequence of RaterGroupEstimates or None
        For each estimate.
    width : int
        Into which the tables fit.

    Returns
    -------
    list of rich.text.Text
    """
    known = [one for one in found if one is not None]
    if not known:
        return [line("groups of raters: no method here tells how accurate each rater is")]
    lines = bold_blocks(_accuracy_rows(known), width=width)
    if known[0].differences:
        lines += [line(), *bold_blocks(difference_rows(known, MOST_DIFFERENCES), width=width)]
    notes = warning_lines((one.method, note) for one in known for note in one.notes)
    without = [one.method for one, here in zip(estimates, found, strict=True) if here is None]
    if without:
        notes.append(f"groups of raters: {', '.join(without)} cannot tell raters apart")
    return [*lines, *map(line, [*notes, *_raters_of_none(ratings, known[0])])]


def rater_groups_latex(found: RaterGroupsByMethod) -> str:
    """Give the accuracies of groups of raters in LaTeX, for the booktabs package."""
    known = [one for one in found if one is not None]
    return latex_with_differences(_accuracy_rows(known), known)


def _raters_of_none(ratings: Ratings, found: RaterGroupEstimates) -> list[str]:
    named = {rater for group in found.groups for rater in group.raters}
    left = [rater for rater in ratings.raters if rater not in named]
    if not left:
        return []
    names = first_few(left, MOST_NAMED)
    verb = "belongs" if len(left) == 1 else "belong"
    return [f"groups of raters: {counted(len(left), 'rater')} ({names}) {verb} to none"]


def _accuracy_rows(known: list[RaterGroupEstimates]) -> list[list[str]]:
    first = known[0]
    title = f"accuracy of raters [{percent(first.level)} interval]"
    rows = [[title, *(one.method for one in known)]]
    for g, group in enumerate(first.groups):
        cells = (str(one.groups[g].accuracy) for one in known)
        rows.append([f"  {group.group} ({counted(len(group.raters), 'rater')})", *cells])
    return rows
