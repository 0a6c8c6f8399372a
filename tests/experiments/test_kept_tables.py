"""What documentation says of the tables of finished simulations stands in these.

The tables are committed, and no code makes them again: this guards the pages, not the packages.
"""

from pathlib import Path

import pandas as pd
import pytest

# Of each claim the table, its rows, a column, a statistic of it, the least and the greatest value.
CLAIMS = pd.read_csv(Path(__file__).parents[1] / "data" / "claims.csv").to_dict("split")["data"]


@pytest.mark.parametrize(("name", "rows", "column", "statistic", "least", "most"), CLAIMS)
def test_a_claim_stands_in_the_kept_table(name, rows, column, statistic, least, most):
    values = pd.read_csv(f"experiments/simulations/{name}.csv").query(rows)[column]
    assert len(values) and least <= values.agg(statistic) <= most
