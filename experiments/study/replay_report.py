"""What is printed of a replicate that was made again."""

from rich.console import Group

from experiments.reporting.renderers import to_terminal
from experiments.reporting.table import Column, Table
from experiments.reporting.terminal import line, print_wide, terminal_width
from experiments.study.replay import Replayed


def show(again: Replayed) -> None:
    """Print the stored result beside the one that was made again."""
    rows = [
        (row.estimand, row.quantity, _shown(row.stored), _shown(row.again), _differs(row.same))
        for row in again.table.itertuples()
    ]
    columns = [Column("", ""), Column("", ""), Column("stored"), Column("again"), Column("", "")]
    table = Table(columns=columns, rows=rows, keys=2)
    of = f"{again.scenario}: replicate {again.replicate} by {again.method}, seed {again.seed}"
    said = [f"the result {'is the same' if again.same else 'differs'}", *again.notes]
    said += [f"{again.method}: {again.reason}"] * bool(again.reason)
    shown = to_terminal(table, terminal_width())
    print_wide(Group(line(of), line(), *shown, line(), *map(line, said)))


def _shown(value: object) -> str:
    if value is None or value != value:
        return "–"
    return f"{value:.6f}" if isinstance(value, float) else str(value)


def _differs(same: bool) -> str:
    return "" if same else "differs"
