"""Square tables of two raters, as ratings of grouped items, and coefficients in results."""

import numpy as np

from lehner import Ratings, agreement


def agreement_of_table(table, **options):
    """Give the agreement of two raters of whom a table counts the answers, rows and columns."""
    table = np.array(table)
    codes = np.indices(table.shape).reshape(2, -1).T
    names = range(1, len(table) + 1)
    return agreement(Ratings(codes, names, counts=table.ravel().astype(int)), **options)


def of_all(results):
    """The rows of coefficients of all raters, without what is expected by chance."""
    table = results.table
    return table[(table["rater"] == "") & ~table["quantity"].str.endswith("_chance")]


def find(results, name, weights="identity"):
    """The row of a coefficient, as "fleiss_kappa[category]"."""
    name, _, category = name.removesuffix("]").partition("[")
    keys = {"category": category, "weights": weights.replace("identity", "")}
    return results.select(quantity=name, rater="", **keys).iloc[0]


def find_pairs(results):
    """The pairs of raters: their kappas, with `percent_agreement`."""
    rows = results.table[results.table["rater"] != ""]
    agreeing, kappas = (
        rows[rows["quantity"] == name].set_index(["weights", "rater", "versus"])
        for name in ("percent_agreement", "cohen_kappa")
    )
    return kappas.assign(percent_agreement=agreeing["estimate"])


def notes_of(results):
    """What is said of coefficients, without their names."""
    notes = [warning.text for warning in results.warnings if warning.code == "coefficient"]
    return [note.partition(": ")[2] for note in notes]
