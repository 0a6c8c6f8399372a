"""Pairs shown in both orders: answers swapped back, and the position bias with its interval."""

import numpy as np
import pytest

import lehner
from lehner import InputError, position_bias, read_ratings

HEADER = "item,rater,order,rating\n"


def both(answers, rater="gpt"):
    """Give columns of one rater's answers (in the first order, in the swapped one)."""
    items = np.repeat(np.arange(len(answers)), 2)
    return {
        "item": items.tolist(),
        "rater": [rater] * len(items),
        "order": ["AB", "BA"] * len(answers),
        "rating": [answer for pair in answers for answer in pair],
    }


def judge(rng, n_items, right, first):
    """Simulate positions chosen by a judge who, with some probability, chooses a place blindly."""
    blind = rng.random((n_items, 2)) < 0.3
    good = rng.random(n_items) < right
    named = np.column_stack([good, ~good])  # whether the first place holds the answer preferred
    chosen_first = np.where(blind, rng.random((n_items, 2)) < first, named)
    return np.where(chosen_first, "A", "B")


def test_numbers_by_hand():
    # Always first, always the same answer, always second, a tie and a choice.
    columns = both([("A", "A"), ("A", "B"), ("B", "A"), ("B", "B"), ("tie", "A"), ("A", "A")])
    (result,) = position_bias(columns)
    assert result.n_items == 6
    shares = [1, 0.5, 0.5, 0, 0.75, 1]
    assert result.chooses_first.estimate == pytest.approx(np.mean(shares))
    assert result.consistent.estimate == pytest.approx(2 / 6)
    # Agresti & Min (2005): 0.5 is added to each cell of the matched pairs.
    d = np.array([*shares, 1, 0]) - 0.5
    weights = np.array([1] * 6 + [0.5, 0.5])
    n = 8
    middle = (weights * d).sum() / n
    error = np.sqrt((weights * d**2).sum() / n - middle**2) / np.sqrt(n)
    expected = 0.5 + middle + 1.6448536 * error * np.array([-1, 1])
    assert [result.chooses_first.lower, result.chooses_first.upper] == pytest.approx(expected)


def test_a_blank_choice_is_missing_and_no_tie():
    complete = both([("A", "A"), ("A", "B"), ("tie", "tie"), ("B", "A")])
    blanks = both(
        [("A", "A"), ("A", "B"), ("tie", "tie"), ("B", "A"), (None, None), ("A", ""), (None, "B")]
    )
    assert position_bias(blanks) == position_bias(complete)
    # The blank of a pair that was judged again counts for nothing either.
    again = {name: [*values, values[0]] for name, values in complete.items()}
    again["rating"][-1] = None
    assert position_bias(again) == position_bias(complete)


def test_without_ties_it_is_the_interval_of_matched_proportions():
    n_first, n_same, n_second = 12, 70, 5
    columns = both([("A", "A")] * n_first + [("A", "B")] * n_same + [("B", "B")] * n_second)
    (result,) = position_bias(columns, level=0.95)
    b, c, n = n_first + 0.5, n_second + 0.5, n_first + n_same + n_second + 2
    difference = (b - c) / n
    error = np.sqrt(b + c - (b - c) ** 2 / n) / n
    ends = [result.chooses_first.lower, result.chooses_first.upper]
    expected = 0.5 + (difference + 1.9599640 * error * np.array([-1, 1])) / 2
    assert ends == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize("n_items", [30, 200])
def test_intervals_hold_in_simulations(n_items):
    rng = np.random.default_rng(1)
    truth = 0.7 * 0.5 + 0.3 * 0.8
    held = 0
    for _ in range(400):
        (result,) = position_bias(both(judge(rng, n_items, 0.7, 0.8).tolist()))
        held += result.chooses_first.lower <= truth <= result.chooses_first.upper
    assert abs(held / 400 - 0.9) < 0.05


@pytest.mark.parametrize(
    ("orders", "pair"),
    [(("original", "Swapped"), ("1", "2")), (("0", "1"), ("model_a", "model_b"))],
)
def test_other_names_of_orders_and_places(orders, pair):
    columns = {"item": list("xyz"), "order": [*orders, orders[0]], "rater": ["gpt"] * 3}
    ratings = read_ratings(columns | {"rating": [pair[0], pair[0], pair[1]]}, order="order")
    assert ratings.to_long()["rating"].astype(str).tolist() == [*pair, pair[1]]


def test_both_orders_are_repeated_ratings_of_one_rater(tmp_path):
    file = tmp_path / "judges.csv"
    rows = ["1,gpt,AB,A", "1,gpt,BA,B", "2,gpt,AB,A", "2,gpt,BA,A", "1,Bo,AB,A", "2,Bo,BA,B"]
    file.write_text(HEADER + "\n".join(rows) + "\n")
    ratings = read_ratings(file, order="order")
    assert ratings.repeated and ratings.n_ratings == 6
    # Item 1: gpt says A twice, Bo A. Item 2: gpt A and B, Bo A (B of a swapped pair).
    assert ratings.votes().tolist() == [[2, 0], [1, 0]]
    said = [note for note in ratings.notes if "position bias" in note]
    assert len(said) == 1 and said[0].startswith("position bias of gpt: ")
    assert "of 2 items" in said[0]
    assert lehner.label(ratings, "majority").most_probable() == [("A",), ("A",)]


def test_a_file_that_names_answers_is_suspected_and_can_be_said(tmp_path):
    file = tmp_path / "judges.csv"
    rows = [f"{i},{rater},{order},A" for i in range(4) for rater in "xy" for order in ("AB", "BA")]
    rows += ["4,x,AB,B", "4,x,BA,B", "4,y,AB,B", "4,y,BA,B"]
    file.write_text(HEADER + "\n".join(rows) + "\n")
    taken = read_ratings(file, order="order", categories=["A", "B"])
    assert any("0% of the answers are the same in both orders" in note for note in taken.notes)
    said = read_ratings(file, occasion="order", categories=["A", "B"])
    assert said.votes().tolist() == [[2, 0]] * 4 + [[0, 2]]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("1,x,AB,A\n1,x,XY,B\n", "'order' has the values AB, XY"),
        ("1,x,AB,A\n1,x,,B\n", "the order is blank"),
        (
            "1,x,AB,good\n1,x,BA,bad\n2,x,AB,ugly\n",
            "the ratings good, bad, ugly are not two answers, and ties",
        ),
        ("1,x,AB,A\n1,x,AB,B\n", "rates the item a second time"),
    ],
)
def test_bad_orders(tmp_path, rows, said):
    file = tmp_path / "judges.csv"
    file.write_text(HEADER + rows)
    with pytest.raises(InputError, match=said):
        read_ratings(file, order="order")


def write(tmp_path, name, lines):
    file = tmp_path / name
    file.write_text("\n".join(lines) + "\n")
    return file


def test_any_two_answers_and_ties(tmp_path):
    rows = ["1,x,AB,this", "1,x,BA,that", "2,x,AB,Tie", "2,x,BA,this", "2,y,AB,that"]
    ratings = read_ratings(write(tmp_path, "j.csv", [HEADER.strip(), *rows]), order="order")
    assert any(note.startswith("that and this are read as the first") for note in ratings.notes)
    frame = ratings.to_long().astype(str)
    assert list(frame["rating"]) == ["this", "this", "Tie", "that", "that"]


def test_the_order_is_a_column_that_exists(tmp_path):
    file = write(tmp_path, "judges.csv", ["item,rater,rating", "1,x,A"])
    with pytest.raises(InputError, match="there is no column 'order'"):
        read_ratings(file, order="order")
    wide = write(tmp_path, "wide.csv", ["item,x AB,x BA", "1,A,B", "2,A,A"])
    with pytest.raises(InputError, match="need a table with a row per rating"):
        read_ratings(wide, order="AB,BA")
