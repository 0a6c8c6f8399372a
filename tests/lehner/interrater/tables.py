"""Square tables of two raters, as ratings of grouped items."""

import numpy as np

from lehner import Ratings, agreement


def agreement_of_table(table, **options):
    """Give the agreement of two raters of whom a table counts the answers, rows and columns."""
    table = np.array(table)
    codes = np.indices(table.shape).reshape(2, -1).T
    names = range(1, len(table) + 1)
    return agreement(Ratings(codes, names, counts=table.ravel().astype(int)), **options)
