"""Ratings in JSON, and pairs that a judge saw in both orders."""

import json

import pytest

import lehner
from lehner import InputError, read_ratings

TABLE = {
    ("q1", "Ann"): "yes",
    ("q1", "Bo"): "no",
    ("q2", "Ann"): "no",
    ("q2", "Bo"): "no",
    ("q3", "Ann"): "yes",
}


def write(tmp_path, content):
    file = tmp_path / "ratings.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def nested(*, by_item):
    result = {}
    for (item, rater), rating in TABLE.items():
        outer, inner = (item, rater) if by_item else (rater, item)
        result.setdefault(outer, {})[inner] = rating
    return result


def read_as_table(file, **options):
    ratings = read_ratings(file, **options)
    frame = ratings.to_long()
    rows = zip(frame["item"], frame["rater"], frame["rating"], strict=True)
    return {(item, rater): rating for item, rater, rating in rows}, ratings


@pytest.mark.parametrize("by_item", [True, False])
def test_the_level_with_more_names_is_the_items(tmp_path, by_item):
    result, ratings = read_as_table(write(tmp_path, nested(by_item=by_item)))
    assert result == TABLE
    level = "outer" if by_item else "inner"
    assert any(
        note.startswith(f"{level} names of the JSON file are items") for note in ratings.notes
    )


def test_numbers_and_missing_labels(tmp_path):
    _, ratings = read_as_table(
        write(tmp_path, {"0": {"0": 1, "1": 0}, "1": {"0": None, "1": 1}, "2": {"0": 1}})
    )
    assert ratings.categories == (0, 1)
    assert ratings.n_ratings == 4


def test_one_rater_has_the_name_of_the_file(tmp_path):
    _, ratings = read_as_table(write(tmp_path, {"q1": "A", "q2": "B"}))
    assert ratings.raters == ("ratings",)


def test_as_many_items_as_raters_are_told_apart_by_the_user(tmp_path):
    file = write(tmp_path, {"a": {"x": "1", "y": "2"}, "b": {"x": "1", "y": "1"}})
    with pytest.raises(InputError, match="item='outer' or item='inner'"):
        read_ratings(file)
    assert read_ratings(file, item="outer").raters == ("x", "y")
    assert read_ratings(file, item="inner").raters == ("a", "b")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "it is not JSON"),
        ("{}", "it holds no ratings"),
        ("[]", "it is not a list of records"),
        ("3", "it holds no ratings"),
        ('{"a": {"x": 1}, "a": {"y": 2}}', "the name 'a' occurs twice"),
        ('{"a": {"x": 1}, "b": 2}', "'b' has no ratings, as others have"),
        ('{"a": {"x": [1]}, "b": {"x": 1}}', r"the rating of a by x is \[1\]"),
        ('{"a": [1, 2], "b": [1]}', "its lists are not of equal length"),
        ('{"a": {}, "b": {}}', "it holds no ratings"),
    ],
)
def test_bad_files(tmp_path, content, said):
    file = write(tmp_path, content)
    with pytest.raises(InputError, match=said) as caught:
        read_ratings(file)
    assert caught.value.file == file


def test_lists_of_records_are_rows_and_names_are_joined_by_dots(tmp_path):
    tasks = [
        {
            "id": i,
            "meta": {"cost": 1},
            "log": [{"role": "user"}],
            "answers": [{"by": {"name": r}, "is": {"label": [label]}} for r, label in answers],
        }
        for i, answers in enumerate([[("x", "good"), ("y", "bad")], [("x", "bad")], []])
    ]
    file = tmp_path / "ratings.jsonl"
    file.write_text("\n".join(map(json.dumps, tasks)))
    for rater, rating in (("answers.by.name", "answers.is.label"), ("name", "label")):
        ratings = read_ratings(file, item="id", rater=rater, rating=rating)
        assert ratings.codes.tolist() == [[1, 0], [0, -1]]
        assert ratings.notes[0].endswith("ignored: meta.cost, log, answers.position")
    tasks[0]["answers"][0]["is"]["label"] = ["good", "bad"]
    file.write_text("\n".join(map(json.dumps, tasks)))
    with pytest.raises(InputError, match=r"'\[\"good\", \"bad\"\]' is a list"):
        read_ratings(file, item="id", rater="name", rating="label")


def test_lists_in_two_fields_of_a_record_are_raters_and_their_ratings(tmp_path):
    """As in the data of Le-Wi-Di, where an object in one field is no rating."""
    said = {"1": ("a,b,c", "1,0,1"), "2": ("b,d", "0,0"), "3": ("a", "1"), "4": ("c,d", "1,1")}
    said |= {"5": ("a,d", "0,1")}
    records = {
        item: {"text": f"so, {item}", "annotators": who, "annotations": labels, "soft": {"0": 0.5}}
        for item, (who, labels) in said.items()
    }
    file = write(tmp_path, records)
    with pytest.raises(InputError, match="hold lists that belong together") as caught:
        read_ratings(file)
    assert caught.value.change == {"rater": "annotators", "rating": "annotations"}
    result, ratings = read_as_table(file, **caught.value.change)
    assert ratings.categories == (0, 1) and ratings.raters == ("a", "b", "c", "d")
    cells = [(item, zip(a.split(","), b.split(","), strict=True)) for item, (a, b) in said.items()]
    expected = {(int(item), who): int(x) for item, pairs in cells for who, x in pairs}
    assert {key: int(x) for key, x in result.items()} == expected
    records["2"]["annotations"] = "0,0,1"
    with pytest.raises(InputError, match="the list '0,0,1' is not as long as that of 'annotators'"):
        read_ratings(write(tmp_path, records), **caught.value.change)


def test_of_several_lists_of_records_the_much_longer_one_is_read(tmp_path):
    items = [{"id": i, "Ann": "ab"[i % 2], "Bo": "ab"[i % 3 > 0]} for i in range(20)]
    file = write(tmp_path, {"data": "x", "annotations": [{"metric": "m"}], "instances": items})
    (tmp_path / "other").mkdir()
    assert read_ratings(file).equals(read_ratings(write(tmp_path / "other", items)))


# Pairs shown in both orders: answers swapped back, and the position bias.


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


def write_pairs(tmp_path, name, lines):
    file = tmp_path / name
    file.write_text("\n".join(lines) + "\n")
    return file


def test_any_two_answers_and_ties(tmp_path):
    rows = ["1,x,AB,this", "1,x,BA,that", "2,x,AB,Tie", "2,x,BA,this", "2,y,AB,that"]
    ratings = read_ratings(write_pairs(tmp_path, "j.csv", [HEADER.strip(), *rows]), order="order")
    assert any(note.startswith("that and this are read as the first") for note in ratings.notes)
    frame = ratings.to_long().astype(str)
    assert list(frame["rating"]) == ["this", "this", "Tie", "that", "that"]


def test_the_order_is_a_column_that_exists(tmp_path):
    file = write_pairs(tmp_path, "judges.csv", ["item,rater,rating", "1,x,A"])
    with pytest.raises(InputError, match="there is no column 'order'"):
        read_ratings(file, order="order")
    wide = write_pairs(tmp_path, "wide.csv", ["item,x AB,x BA", "1,A,B", "2,A,A"])
    with pytest.raises(InputError, match="need a table with a row per rating"):
        read_ratings(wide, order="AB,BA")
