"""The probability with which each truth was found out: read, kept, and refused where it is none."""

import numpy as np
import pytest

from lehner import InputError, Ratings, read_ratings
from lehner.command.load import load
from lehner.data.reading import Reading

WIDE = {
    **{"ann": list("xyy"), "bo": list("xyx"), "gpt": list("xxy"), "truth": ["x", "", "y"]},
    "chance": [0.5, 0.25, 1],
}


def test_a_column_of_a_wide_table_and_of_a_long_one():
    wide = read_ratings(WIDE, system="gpt", truth_probability="chance")
    assert wide.truth_probability.tolist() == [0.5, 0.25, 1.0] and wide.raters == ("ann", "bo")
    assert "chosen with the probabilities in chance" in wide.notes[0]
    long = {
        "item": [1, 1, 2, 2],
        "rater": list("abab"),
        "rating": list("xyxx"),
        "p": [1, 1, 0.2, 0.2],
    }
    assert read_ratings(long, truth_probability="p").truth_probability.tolist() == [1.0, 0.2]
    with pytest.raises(InputError, match=r"row 3.*probability is '0.3' here and '0.2'"):
        read_ratings(long | {"p": [1, 1, 0.2, 0.3]}, truth_probability="p")


@pytest.mark.parametrize("value", [0, -0.1, 1.01, "", "often", float("nan"), "inf"])
def test_a_bad_value_is_named_with_its_file_row_and_column(value, tmp_path):
    file = tmp_path / "a.csv"
    rows = ["item,ann,bo,gpt,truth,p", "1,x,x,x,x,.5", "2,y,y,x,,.5", f"3,x,y,x,,{value}"]
    file.write_text("\n".join(rows))
    shown = "" if value != value else value
    with pytest.raises(InputError, match=rf"a\.csv.*4.*'p'.*'{shown}' is not the prob.*give"):
        read_ratings(file, system="gpt", truth_probability="p")


@pytest.mark.parametrize("probability", [[0.5], ["a", "b"], [[0.5, 0.5]]])
def test_other_arrays_are_refused(probability):
    with pytest.raises(InputError, match="one probability per item"):
        Ratings([[0], [1]], ["x", "y"], truth_probability=probability)
    with pytest.raises(InputError, match="item 1 was chosen with probability 0"):
        Ratings([[0], [1]], ["x", "y"]).with_truth([0, 1], [0.5, 0])


def test_it_is_kept():
    ratings = read_ratings(WIDE, system="gpt", truth_probability="chance")
    assert not ratings.equals(ratings.with_truth(ratings.truth))
    assert ratings.with_truth(None).truth_probability is None
    assert ratings.take([2, 0]).truth_probability.tolist() == [1.0, 0.5]
    assert ratings.without_system().truth_probability.tolist() == [0.5, 0.25, 1.0]
    twice = ratings.take([0, 0, 1, 0])
    chances = np.array([0.5, 0.5, 0.25, 0.1])
    collapsed = twice.with_truth(twice.truth, chances).to_grouped()
    assert collapsed.counts.tolist() == [2, 1, 1]
    assert collapsed.truth_probability.tolist() == [0.5, 0.25, 0.1]
    assert collapsed.to_ungrouped().truth_probability.tolist() == [0.5, 0.5, 0.25, 0.1]


def test_probabilities_without_truths_are_refused(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("item,ann,bo,gpt,p\n1,x,x,x,.5\n2,y,y,x,.5\n")
    with pytest.raises(InputError, match="no gold labels; name their column"):
        load(str(file), Reading(system=("gpt",), truth_probability="p"))
