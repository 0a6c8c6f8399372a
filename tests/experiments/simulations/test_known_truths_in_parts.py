"""Known truths in parts of the items: what the simulation found."""

from pathlib import Path

import pandas as pd

from experiments.simulations import known_truths_in_parts

TABLE = Path(known_truths_in_parts.__file__).parent / "known_truths_in_parts.csv"


def test_where_items_mislead_everybody_known_truths_take_most_of_the_error_away():
    table = pd.read_csv(TABLE)
    misled = table[table["misleading"] == 0.3]
    before = misled[misled["method"] == "without them"]["rmse"].mean()
    after = misled[misled["method"] == "corrected"]["rmse"].mean()
    assert after < 0.6 * before


def test_intervals_hold_nearly_as_often_as_they_say():
    corrected = pd.read_csv(TABLE).query("method == 'corrected'")
    assert (corrected["coverage"] > 0.75).all()
    assert (corrected[corrected["misleading"] < 0.3]["coverage"] > 0.85).all()
    uncorrected = pd.read_csv(TABLE).query("method == 'without them'")
    assert uncorrected["coverage"].isna().all()
