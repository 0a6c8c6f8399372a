"""What is printed of a replicate that was made again."""

from rich.console import Console, Group
from rich.text import Text

from experiments.reporting.text_table import bold_table
from experiments.study.replay import Replayed


def show(again: Replayed) -> None:
    """Print the stored result beside the one that was made again."""
    rows = [["", "", "stored", "again", ""]]
    for one in again.table.itertuples():
        same = "" if one.same else "differs"
        rows.append([one.estimand, one.quantity, _shown(one.stored), _shown(one.again), same])
    parts = [
        Text(f"{again.scenario}: replicate {again.replicate} by {again.method}, seed {again.seed}"),
        Text(),
        *bold_table(rows, left=(1, 4)),
        Text(),
        Text("the result is the same" if again.same else "the result differs"),
        *map(Text, again.notes),
    ]
    if again.reason:
        parts.append(Text(f"{again.method}: {again.reason}"))
    Console(highlight=False, soft_wrap=True).print(Group(*parts))


def _shown(value: object) -> str:
    if value is None or value != value:
        return "–"
    return f"{value:.6f}" if isinstance(value, float) else str(value)
