"""Pairs shown in both orders: answers swapped back, and the position bias."""

import pytest

import lehner
from lehner import InputError, read_ratings

HEADER = "item,rater,order,rating\n"


def both(answers, rater="gpt"):
    """Give columns of one rater's answers (in the first order, in the swapped one)."""
    items = [item for item in range(len(answers)) for _ in range(2)]
    return {
        "item": items,
        "rater": [rater] * len(items),
        "order": ["AB", "BA"] * len(answers),
        "rating": [answer for pair in answers for answer in pair],
    }


def bias(columns):
    notes = read_ratings(columns, order="order").notes
    return [note for note in notes if note.startswith("position bias")]


def test_numbers_by_hand():
    # Always first, always the same answer, always second, a tie and a choice.
    pairs = [("A", "A"), ("A", "B"), ("B", "A"), ("B", "B"), ("tie", "A"), ("A", "A")]
    # Choices of the first: (1 + 0.5 + 0.5 + 0 + 0.75 + 1) / 6; equal answers: 2 of 6.
    expected = (
        "position bias of gpt: chooses the answer shown first in 62% of the choices (50% without "
        "bias), and the same answer in both orders in 33% of 6 items"
    )
    assert bias(both(pairs)) == [expected]
    # A blank choice is missing, and no tie.
    assert bias(both([*pairs, (None, None), ("A", ""), (None, "B")])) == [expected]


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
    assert ratings.count_votes().tolist() == [[2, 0], [1, 0]]
    said = [note for note in ratings.notes if "position bias" in note]
    assert len(said) == 1 and said[0].startswith("position bias of gpt: ")
    assert "of 2 items" in said[0]
    assert lehner.label(ratings, "majority").find_most_probable() == [("A",), ("A",)]


def test_a_file_that_names_answers_is_suspected_and_can_be_said(tmp_path):
    file = tmp_path / "judges.csv"
    rows = [f"{i},{rater},{order},A" for i in range(4) for rater in "xy" for order in ("AB", "BA")]
    rows += ["4,x,AB,B", "4,x,BA,B", "4,y,AB,B", "4,y,BA,B"]
    file.write_text(HEADER + "\n".join(rows) + "\n")
    taken = read_ratings(file, order="order", categories=["A", "B"])
    assert any("if the file names the answers" in note for note in taken.notes)
    said = read_ratings(file, occasion="order", categories=["A", "B"])
    assert said.count_votes().tolist() == [[2, 0]] * 4 + [[0, 2]]


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
