"""A comparison in LaTeX: tables that fit the width of a page."""

from experiments.estimate.comparison import Comparison
from experiments.estimate.method_tables import accuracy_rows, rater_rows
from experiments.reporting.latex import latex_tables
from experiments.reporting.method_style import method_label


def latex(comparison: Comparison) -> str:
    """Give a comparison in LaTeX, for the booktabs package.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    str
        The system's accuracy with a row a method, then recall, precision, raters and base rates,
        all with their intervals; tables that would be wider than a page are split.
    """
    names = {one.method: method_label(one.method) for one in comparison.estimates}
    tables = []
    for rows in filter(None, [accuracy_rows(comparison), rater_rows(comparison, limit=None)]):
        head, *body = [[names.get(cell, cell) for cell in row] for row in rows]
        tables.append((head, body))
    return latex_tables(tables)
