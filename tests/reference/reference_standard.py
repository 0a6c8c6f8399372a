"""An imperfect reference standard: Staquet's formulas, and bounds by linear programs."""

import numpy as np
from scipy.optimize import linprog


def correct(table, sensitivity, specificity):
    """Give sensitivity, specificity and prevalence, as Staquet et al. (1981) write them.

    The table has the reference's answers in rows and the test's in columns, the positive ones last.
    """
    (d, b), (c, a) = table
    n, e = a + b + c + d, a + c
    youden = sensitivity + specificity - 1
    diseased = e - n * (1 - specificity)
    healthy = n * sensitivity - e
    return (
        ((a + b) * specificity - b) / diseased,
        ((c + d) * sensitivity - c) / healthy,
        diseased / (n * youden),
    )


def bound(table, sensitivity, specificity):
    """Bound sensitivity and specificity over all joint distributions of truth and both answers."""
    share = np.asarray(table) / np.sum(table)
    prevalence = (share[1].sum() + specificity - 1) / (sensitivity + specificity - 1)
    cells = [(d, r, t) for d in range(2) for r in range(2) for t in range(2)]
    rows, sums = [], []
    for r in range(2):
        for t in range(2):
            rows.append([float(cell[1:] == (r, t)) for cell in cells])
            sums.append(share[r, t])
    for d, rate, right in ((0, 1 - prevalence, specificity), (1, prevalence, sensitivity)):
        rows.append([float(cell[:2] == (d, d)) for cell in cells])
        sums.append(rate * right)
    bounds = []
    for d, rate in ((1, prevalence), (0, 1 - prevalence)):
        cost = np.array([float(cell[0] == d and cell[2] == d) for cell in cells])
        ends = [sign * linprog(sign * cost, A_eq=rows, b_eq=sums).fun for sign in (1, -1)]
        bounds.append(np.array(ends) / rate)
    return bounds
