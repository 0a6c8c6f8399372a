"""What is printed of a replicate that was made again."""

from rich.console import Group

from experiments.reporting.terminal import line, print_wide
from experiments.reporting.text_table import bold_table
from experiments.study.replay import Replayed


def show(again: Replayed) -> None:
    """Print the stored result beside the one that was made again."""
    rows = [["", "", "stored", "again", ""]]
    for one in again.table.itertuples():
        same = "" if one.same else "differs"
        rows.append([one.estimand, one.quantity, _shown(one.stored), _shown(one.again), same])
    parts = [
        line(f"{again.scenario}: replicate {again.replicate} by {again.method}, seed {again.seed}"),
        line(),
        *bold_table(rows, left=(1, 4)),
        line(),
        line("the result is the same" if again.same else "the result differs"),
        *map(line, again.notes),
    ]
    if again.reason:
        parts.append(line(f"{again.method}: {again.reason}"))
    print_wide(Group(*parts))


def _shown(value: object) -> str:
    if value is None or value != value:
        return "–"
    return f"{value:.6f}" if isinstance(value, float) else str(value)
